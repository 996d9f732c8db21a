"""Multiple choice: what the look of the options gives away."""

from autograder.authoring.loading import load
from autograder.authoring.variants import variant

SLUGS = (
    "language_cnn",
    "blank_language_model",
    "image_captioning",
    "loss_heads",
    "attention_sheet",
    "language_modeling",
)


def test_the_longest_option_is_no_better_than_a_guess():
    """Who always chooses the longest option, knowing nothing, is right in at most two of five questions."""
    right = []
    for slug in SLUGS:
        problem = load(slug)
        p = variant(problem, 0).parameters
        for part in (part for part in problem.parts if part.kind == "choice"):
            options = {letter: function(p) for letter, function in part.options(p).items()}
            right.append(max(options, key=lambda letter: len(options[letter])) == part.right(p))
    assert len(right) > 15 and sum(right) <= 0.4 * len(right)
