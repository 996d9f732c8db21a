"""Multiple choice: what the look of the options and their order give away."""

import random
from dataclasses import replace
from pathlib import Path

from autograder.authoring.loading import load
from autograder.authoring.variants import variant

SLUGS = (
    "language_cnn",
    "blank_definition",
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


def every_choice(seeds):
    """Each choice of each problem, with the parameters of these seeds."""
    for folder in sorted(Path(__file__).parents[2].joinpath("problems").glob("*/problem.py")):
        problem = load(folder.parent.name)
        parts = [part for part in problem.parts if part.kind == "choice"]
        for seed in seeds if parts else ():
            p = variant(problem, seed).parameters
            yield from ((part, p) for part in parts)


def test_nothing_in_the_order_tells_which_option_is_right():
    """With a wrong option in the place of the reference, the same texts stand under the same letters."""
    for part, p in every_choice(range(2)):

        def right(p, told=part.reference):
            """A mistake with the text of the right option."""
            return told(p)

        wrong = next(item for item in part.mistakes if part.applies(item, p))
        others = [right if item is wrong else item for item in part.mistakes]
        assert replace(part, reference=wrong, mistakes=others[::-1]).statement(p) == part.statement(p)


def test_the_order_in_the_file_changes_neither_letters_nor_key():
    """However the mistakes are listed, everybody reads the same options and the same letter is right."""
    rng, count = random.Random(0), 0
    for part, p in every_choice(range(3)):
        for _ in range(3):
            other = replace(part, mistakes=rng.sample(list(part.mistakes), len(part.mistakes)))
            assert (other.statement(p), other.right(p)) == (part.statement(p), part.right(p))
        count += 1
    assert count >= 90


def test_letters_differ_between_variants():
    """Who knows the letter of one variant does not know that of another one."""
    rights = {}
    for part, p in every_choice(range(12)):
        rights.setdefault(id(part), set()).add(part.right(p))
    assert len(rights) >= 30 and all(len(letters) > 1 for letters in rights.values())


def test_the_right_option_stands_everywhere_equally_often():
    """Over all choices and 25 variants: at each place, counted from either end, as often as by chance, to four standard
    deviations; and so where the alphabet orders the texts, or the place of the right one in another part is known.
    """
    found, expected, spread = {}, {}, {}
    last = None
    for part, p in every_choice(range(25)):
        options = part.options(p)
        count, place = len(options), sorted(options).index(part.right(p))
        first = min(options, key=lambda letter: str(options[letter](p)))
        events = {"first": place == 0, "second": place == 1, "last": place == count - 1, "as before": place == last,
                  "first by alphabet": sorted(options).index(first) == 0}  # fmt: skip
        for event, happened in events.items():
            chance = 1 / count if event != "as before" or (last is not None and last < count) else 0
            found[event] = found.get(event, 0) + happened
            expected[event] = expected.get(event, 0) + chance
            spread[event] = spread.get(event, 0) + chance * (1 - chance)
        last = place
    for event, number in found.items():
        assert expected[event] > 100 and abs(number - expected[event]) < 4 * spread[event] ** 0.5, event
