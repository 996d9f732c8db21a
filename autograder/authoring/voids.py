"""A part that should not have been asked as it was: what an assignment's file says about it, and what follows.

[void.'ugrnn_gates.parameters']
as = "full"                # or "drop", or further correct answers: ["24", "2*3*4"]
variants = [7]             # the seeds that it holds for; all, if they are not given
reason = "The statement named no unit."
nobody_loses = true        # with "drop": points that were earned are kept
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.core import Outcome, Part, Verdict
from autograder.errors import StaffError, did_you_mean

CHECK = "void"  # the verdict's name
FULL, DROP = "full", "drop"
_KEYS = {"as": (str, list), "variants": list, "reason": str, "nobody_loses": bool}


@dataclass(frozen=True, kw_only=True)
class Void:
    """What holds for one part. `effect` is "full", "drop", or empty where `answers` are correct as well.

    "full": everybody who handed in the notebook has the points. "drop": the part counts nothing, and the other parts'
    points stay as they are.
    """

    effect: str = ""
    answers: tuple[Any, ...] = ()
    variants: tuple[int, ...] = ()
    reason: str = ""
    nobody_loses: bool = True

    def applies(self, seed: int) -> bool:
        """Whether it holds for the variant of a seed."""
        return not self.variants or seed in self.variants

    def sentence(self) -> str:
        """What students and instructors read."""
        words = {
            FULL: "Everybody who handed in this notebook has the points of this part.",
            DROP: "This part does not count."
            + (" Points that were earned in it are kept." if self.nobody_loses else ""),
        }
        also = "Other answers are correct here as well: " + ", ".join(map(str, self.answers)) + "."
        return " ".join(filter(None, (words.get(self.effect, also), self.reason)))

    def worth(self, points: float) -> float:
        """The part's maximum."""
        return 0.0 if self.effect == DROP else points

    def accepting(self, part: Part) -> Part:
        """The part, by which further answers are correct; AuthorError where its kind has none."""
        return part.accepting(self.answers) if self.answers else part

    def settled(self, outcome: Outcome) -> Outcome:
        """What the part comes to, whatever was found. Nothing is left for a person to decide."""
        if not self.effect:
            return dataclasses.replace(outcome, notes=(*outcome.notes, self.sentence()))
        kept = outcome.points if self.nobody_loses else 0.0
        code = f"void_{self.effect}{'' if self.effect == FULL or self.nobody_loses else '_all'}"
        verdict = Verdict(check=CHECK, ok=True, code=code, message=self.sentence())
        return dataclasses.replace(
            outcome,
            standing="earned",
            points=outcome.max_points if self.effect == FULL else kept,
            max_points=self.worth(outcome.max_points),
            verdicts=(verdict, *(item for item in outcome.verdicts if item.ok is not None)),
        )


def is_void(outcome: Outcome) -> bool:
    """Whether a void has settled a part."""
    return any(verdict.check == CHECK for verdict in outcome.verdicts)


def yields_to_void(outcome: Outcome) -> bool:
    """Whether a mark given by hand yields to what was settled: dropped points may be kept, others not."""
    return any(verdict.check == CHECK and verdict.code != f"void_{DROP}" for verdict in outcome.verdicts)


def read_voids(path: Path, table: Mapping[str, Any], problems: Sequence[str]) -> dict[str, dict[str, Void]]:
    """The table `void` of an assignment's file: problem -> part -> what holds; StaffError says what is wrong."""
    voids: dict[str, dict[str, Void]] = {}
    for name, entry in table.items():
        slug, dot, part = name.partition(".")
        if not dot or not isinstance(entry, dict):
            raise StaffError("void", f"{path}: write [void.'problem.part'] with the name in quotes, not [void.{name}]")
        if slug not in problems:
            raise StaffError("void", f"{path}: {slug!r} of [void.'{name}'] is no problem{did_you_mean(slug, problems)}")
        voids.setdefault(slug, {})[part] = _void(f"{path}: [void.'{name}']", entry)
    return voids


def _void(where: str, entry: Mapping[str, Any]) -> Void:
    for key, value in entry.items():
        if key not in _KEYS:
            raise StaffError("void", f"{where}: unknown key {key!r}{did_you_mean(key, _KEYS)}")
        if not isinstance(value, _KEYS[key]):  # type: ignore[arg-type]
            raise StaffError("void", f"{where}: {key} cannot be {value!r}")
    effect = entry.get("as")
    wanted = '"full", "drop", or a list of further correct answers'
    if isinstance(effect, str) and effect not in (FULL, DROP):
        raise StaffError("void", f"{where}: as is {wanted}, not {effect!r}{did_you_mean(effect, (FULL, DROP))}")
    if not effect or not all(_is_answer(item) for item in effect):
        raise StaffError("void", f"{where}: as is {wanted}")
    variants = entry.get("variants")
    if variants is not None and (not variants or not all(type(seed) is int for seed in variants)):
        raise StaffError("void", f"{where}: variants lists seeds, which are whole numbers; leave it out for all")
    return Void(
        effect=effect if isinstance(effect, str) else "",
        answers=tuple(effect) if isinstance(effect, list) else (),
        variants=tuple(variants or ()),
        reason=entry.get("reason", "").strip(),
        nobody_loses=entry.get("nobody_loses", True),
    )


def _is_answer(item: Any) -> bool:
    return isinstance(item, str | int | float) and not isinstance(item, bool)


def not_for_some(path: Path, voids: Mapping[str, Mapping[str, Void]], seeds: Mapping[str, int]) -> None:
    """Refuse to drop a part in some variants only: the maximum is one for the class.

    `seeds` are those by which the whole class has a problem, where that is known.
    """
    for slug, part, void in listed(voids):
        if void.effect == DROP and void.variants and seeds.get(slug) not in void.variants:
            raise StaffError(
                "void",
                f"{path}: [void.'{slug}.{part}'] drops the part in some variants only, but the gradebook has one "
                f'maximum for the whole class; leave variants out, or write as = "full"',
            )


def listed(voids: Mapping[str, Mapping[str, Void]]) -> Iterator[tuple[str, str, Void]]:
    """Problem, part and what holds, one after the other."""
    for slug, parts in voids.items():
        for part, void in parts.items():
            yield slug, part, void
