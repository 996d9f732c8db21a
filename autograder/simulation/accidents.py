"""What happens to honest work on its way: files that are copied, cut, renamed, locked or lost, and what is beside them.

Each function of the table puts one student's submission into a folder, all of it answered rightly unless it says
otherwise, and its docstring is what `autograder demo --accidents` shows. None of it may cost a mark: a part is earned,
or it waits for a person, or the whole submission is named as one that could not be read.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import inspect
import os
import socket
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.authoring.source_notebook import answer_id
from autograder.simulation.classroom import Work, own_cell

# What may come of a submission: everything earned; points lost; parts that wait though a machine could judge them; not
# graded, with a sentence; nothing of the assignment in it.
Outcome = Literal["right", "lost", "waits", "failed", "empty"]

DATA, DATA_TEXT = "numbers.txt", "5\n"  # a file of the instructor's, which every notebook may read
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
TEXT = base64.b64encode(PNG).decode()
END = "\n\nThe end of the text."


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where a student puts a submission together: the folder that is handed in, and a copy of each notebook, solved.

    `released` are the notebooks as they were given out, `others` those of another variant, solved for its numbers.
    """

    folder: Path
    works: Sequence[Work]
    released: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[Work] = ()

    @property
    def work(self) -> Work:
        """The first notebook, to which most things happen."""
        return self.works[0]

    def put(self, name: str, content: str | bytes = b"") -> Path:
        """A file of that name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def hand_in(self) -> None:
        """All notebooks under their right names."""
        for work in self.works:
            self.put(work.name, work.text())

    def with_text(self, source: str, **fields: Any) -> None:
        """A text with pictures: in the answer that a person reads, if there is one, else in a cell of one's own."""
        written = next((part for part in self.work.problem.parts if part.judged_by_person), None)
        if written is None:
            self.work.cells.append(own_cell("", "markdown"))
        cell = self.work.answer_cell(written) if written else self.work.cells[-1]
        cell.update(source=f"{cell['source']}\n\n{source}{END}", **fields)
        self.hand_in()

    def with_cell(self, source: str) -> None:
        """A cell of one's own above the first answer."""
        self.work.add(self.work.place(answer_id(self.work.target.name)), source)
        self.hand_in()

    def above_the_answer(self, source: str) -> None:
        """Lines at the head of the first answer's own cell."""
        cell = self.work.answer_cell()
        cell["source"] = f"{source}\n{cell['source']}"
        self.hand_in()


Make = Callable[[Desk], None]


@dataclass(frozen=True, kw_only=True)
class Accident:
    """One submission, who handed it in, and what may come of it."""

    student: str
    description: str
    make: Make
    outcomes: frozenset[Outcome]


def honest(desk: Desk) -> None:
    """Everything correct."""
    desk.hand_in()


def with_a_mistake(desk: Desk) -> None:
    """A wrong answer, and all others correct."""
    desk.work.spoil()
    desk.hand_in()


# Pictures.


def picture_missing(desk: Desk) -> None:
    """A text that shows an attachment which is not in the file."""
    desk.with_text("![scan](attachment:7f3c.png)")


def pictures_of_odd_kinds_and_names(desk: Desk) -> None:
    """Attachments in WebP and SVG, and with names such as browsers and cameras give."""
    names = ("photo#1.png", "IMG+1,final.png", "Screenshot 10.15.32\u202fAM.png", "Anna's photo, page 1.png")
    attachments = {name: {"image/png": TEXT} for name in names}
    attachments |= {"scan.webp": {"image/webp": TEXT}, "x.svg": {"image/svg+xml": base64.b64encode(b"<svg/>").decode()}}
    desk.with_text(" ".join(f"![p](attachment:{name})" for name in attachments), attachments=attachments)


def photo_pasted_in_colab(desk: Desk) -> None:
    """A photograph of 1.5 MB within the text, as Colab stores it, and the answer's words after it."""
    desk.with_text(f"![p](data:image/png;base64,{base64.b64encode(PNG + bytes(1_100_000)).decode()})")


def photo_beside(desk: Desk) -> None:
    """A photograph in a file beside the notebook."""
    desk.put("photo.png", PNG)
    desk.with_text("![p](photo.png)")


# Files.


def untouched_beside_the_copy(desk: Desk) -> None:
    """The notebook as it was released, and the answered one under the name of a copy."""
    desk.hand_in()
    desk.put(f"{desk.work.problem.slug}-Copy1.ipynb", desk.work.text())
    desk.put(desk.work.name, desk.released[desk.work.problem.slug])


def second_download(desk: Desk) -> None:
    """The notebook as it was released, and the answered one as a browser names a second download."""
    untouched_beside_the_copy(desk)
    copy_ = desk.folder / f"{desk.work.problem.slug}-Copy1.ipynb"
    copy_.rename(desk.folder / f"{desk.work.problem.slug} (1).ipynb")


def copies_that_differ(desk: Desk) -> None:
    """Two answered files of one notebook, with different answers."""
    desk.hand_in()
    desk.put(f"{desk.work.problem.slug}-Copy1.ipynb", Work.text(copy.deepcopy(desk.work).spoil()))


def upper_case(desk: Desk) -> None:
    """Notebooks whose names end in .IPYNB."""
    for work in desk.works:
        desk.put(f"{work.problem.slug}.IPYNB", work.text())


def nested_folder(desk: Desk) -> None:
    """Notebooks in a folder of their own within the submission."""
    for work in desk.works:
        desk.put(f"ps1/{work.name}", work.text())


def packed(desk: Desk) -> None:
    """Notebooks in a zip file."""
    desk.folder.mkdir(parents=True)
    with zipfile.ZipFile(desk.folder / "ps1.zip", "w") as archive:
        for work in desk.works:
            archive.writestr(work.name, work.text())


def other_suffix(desk: Desk) -> None:
    """Notebooks that a browser saved as .ipynb.json."""
    for work in desk.works:
        desk.put(f"{work.name}.json", work.text())


def under_each_others_names(desk: Desk) -> None:
    """Notebooks under each other's names."""
    for work, other in zip(desk.works, [*desk.works[1:], desk.work], strict=True):
        desk.put(work.name, other.text())


def of_another_variant(desk: Desk) -> None:
    """A notebook with other numbers than the class was given, right for these."""
    desk.hand_in()
    desk.put(desk.others[0].name, desk.others[0].text())


def one_of_several(desk: Desk) -> None:
    """One of the notebooks missing."""
    desk.hand_in()
    (desk.folder / desk.works[-1].name).unlink()


def cut_off(desk: Desk) -> None:
    """An upload that was cut off in the middle."""
    desk.hand_in()
    content = desk.work.text().encode()
    desk.put(desk.work.name, content[: len(content) // 2])


def no_notebook(desk: Desk) -> None:
    """A note in place of the notebooks."""
    desk.put("excuse.txt", "my laptop broke")


# What is beside a notebook.


def without_the_data(desk: Desk) -> None:
    """An answer that reads the instructor's data file, which was not handed in."""
    desk.above_the_answer(f"assert int(open({DATA!r}).read()) == 5")


def with_the_data_changed(desk: Desk) -> None:
    """The instructor's data file, changed, beside an answer that reads it."""
    desk.put(DATA, "7\n")
    without_the_data(desk)


def data_shut(desk: Desk) -> None:
    """A data file that may not be read."""
    desk.hand_in()
    desk.put("data.csv", "1").chmod(0)


def folder_shut(desk: Desk) -> None:
    """A folder of data that may be listed and not entered."""
    desk.hand_in()
    desk.put("data/more.csv", "1").parent.chmod(0o644)


def data_without_end(desk: Desk) -> None:
    """A file of 200 GB, of which nothing takes space, and a small one that an answer reads."""
    os.truncate(desk.put("a.bin"), 200 * 2**30)
    desk.put("b.csv", "1")
    desk.above_the_answer("assert open('b.csv').read() == '1'")


def special_files(desk: Desk) -> None:
    """A pipe, a socket and a link beside the notebook, with orders to a terminal in their names."""
    desk.hand_in()
    os.mkfifo(desk.folder / "pipe")
    os.symlink("/etc/passwd\nFORGED 10 of 10", desk.folder / "link")
    desk.put("\x1b[2J\x1b]0;name\x07.csv", "1")
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as made:  # a long path: there is none
        made.bind(str(desk.folder / "socket"))


def notebook_shut(desk: Desk) -> None:
    """A notebook that may not be read."""
    desk.hand_in()
    (desk.folder / desk.work.name).chmod(0)


def submission_shut(desk: Desk) -> None:
    """A submission's folder that may not be entered."""
    desk.hand_in()
    desk.folder.chmod(0)


def _stamped(stamp: bytes, words: str) -> Make:
    def make(desk: Desk) -> None:
        desk.hand_in()
        desk.put("timestamp.txt", stamp)

    make.__doc__ = f"A time of submission {words}."
    return make


# What is in a notebook.


def never_ends(desk: Desk) -> None:
    """A cell of one's own that does not end, above correct answers."""
    desk.with_cell("while True:\n    pass")


def ends_the_process(desk: Desk) -> None:
    """A cell of one's own that ends the process, above correct answers."""
    desk.with_cell("import os\nos._exit(0)")


def gradients_off(desk: Desk) -> None:
    """Gradients switched off for the whole notebook."""
    desk.with_cell("import torch\ntorch.set_grad_enabled(False)")


def floods(desk: Desk) -> None:
    """Two hundred cells that print half a megabyte each, and sixty megabytes of metadata."""
    desk.work.cells.extend(own_cell("print('x' * 490_000)") for _ in range(200))
    desk.work.notebook["metadata"]["noise"] = [[]] * 300_000
    desk.hand_in()


def fifty_thousand_brackets(desk: Desk) -> None:
    """A text that the converter of pages would take long for."""
    desk.with_text("[" * 25_000 + "~~" * 12_000)


def long_cell(desk: Desk) -> None:
    """A literal of a megabyte at the head of an answer."""
    desk.above_the_answer(f"DATA = '{'x' * 1_100_000}'")


def lacks_a_package(desk: Desk) -> None:
    """An answer whose cell imports a package that the grading machine has not got."""
    desk.above_the_answer("import a_package_that_is_not_here")


def lacks_a_device(desk: Desk) -> None:
    """An answer whose cell wants a GPU."""
    desk.above_the_answer("import torch\nassert not torch.ones(1).cuda().is_cpu")


def as_on_colab(desk: Desk) -> None:
    """Lines at the head of an answer that only Colab knows."""
    desk.above_the_answer("%matplotlib widget\nfrom google.colab import drive\ndrive.mount('/content/drive')")


def forged_note(desk: Desk) -> None:
    """A text of the student's own in the words of our notes for graders."""
    text = f"**For the grader** ({desk.work.target.name}, 4 points; not shown to students)\n\nSuggested: full marks."
    desk.work.add(desk.work.place(desk.work.target.name) + 1, text, "markdown")
    desk.hand_in()


def without_metadata(desk: Desk) -> None:
    """All metadata removed."""
    for work in desk.works:
        work.notebook["metadata"] = {}
        for cell in work.cells:
            cell["metadata"] = {}
    desk.hand_in()


def typed_flood(desk: Desk) -> None:
    """Eight million brackets as a typed answer."""
    part = next((part for part in desk.work.problem.parts if not part.runs and not part.judged_by_person), None)
    if part:
        desk.work.answer_cell(part)["source"] = f"{part.name} = '(' * 7_900_000"
    desk.hand_in()


def number_as_words(desk: Desk) -> None:
    """A number with words to it."""
    for part in filter(desk.work.asks_for_a_number, desk.work.problem.parts):
        cell = desk.work.answer_cell(part)
        cell["source"] += f"\n{part.name} = f'{{{part.name}}} parameters'"
    desk.hand_in()


RIGHT, WAITS = frozenset[Outcome]({"right"}), frozenset[Outcome]({"waits"})
EITHER, FAILED = RIGHT | WAITS, frozenset[Outcome]({"failed"})
NAMED = WAITS | FAILED
SOME = 8  # honest students

TABLE: Sequence[tuple[Make, frozenset[Outcome]]] = (
    (with_a_mistake, frozenset({"lost"})),
    (picture_missing, RIGHT),
    (pictures_of_odd_kinds_and_names, RIGHT),
    (photo_pasted_in_colab, RIGHT),
    (photo_beside, RIGHT),
    (untouched_beside_the_copy, RIGHT),
    (second_download, RIGHT),
    (copies_that_differ, WAITS),
    (upper_case, RIGHT),
    (nested_folder, RIGHT),
    (packed, RIGHT),
    (other_suffix, EITHER | {"empty"}),
    (under_each_others_names, EITHER),
    (of_another_variant, EITHER),
    (one_of_several, RIGHT),
    (cut_off, WAITS),
    (no_notebook, frozenset({"empty"})),
    (without_the_data, RIGHT),
    (with_the_data_changed, RIGHT),
    (data_shut, RIGHT),
    (folder_shut, RIGHT),
    (data_without_end, RIGHT),
    (special_files, RIGHT),
    (notebook_shut, NAMED),
    (submission_shut, FAILED),
    (_stamped(b"Sonntag, 28. November 2026, 23:15", "in words"), RIGHT),
    (_stamped("2026-05-04 12:00:00 UTC".encode("utf-16"), "in UTF-16, as PowerShell writes it"), RIGHT),
    (_stamped(b"\xef\xbb\xbf2026-05-04 12:00:00 UTC", "with a mark of its encoding"), RIGHT),
    (never_ends, RIGHT),
    (ends_the_process, RIGHT),
    (gradients_off, RIGHT),
    (floods, RIGHT),
    (fifty_thousand_brackets, RIGHT),
    (long_cell, WAITS),
    (lacks_a_package, WAITS),
    (lacks_a_device, WAITS),
    (as_on_colab, WAITS),
    (forged_note, RIGHT),
    (without_metadata, EITHER),
    (typed_flood, EITHER),
    (number_as_words, EITHER),
)
NEEDS_SEVERAL = (under_each_others_names, one_of_several)
FORMULA = '=HYPERLINK("http:..evil","x")'


def accidents(problems: int) -> list[Accident]:
    """The class: honest students, then one for each accident that an assignment of so many problems can have."""
    table = [(honest, RIGHT)] * SOME + [row for row in TABLE if problems > 1 or row[0] not in NEEDS_SEVERAL]
    found = [
        Accident(
            student=f"{make.__name__ if make.__name__ != 'make' else 'stamp'}-{number:02}",
            description=(inspect.getdoc(make) or "").strip(),
            make=make,
            outcomes=outcomes,
        )
        for number, (make, outcomes) in enumerate(table)
    ]
    formula = Accident(
        student=FORMULA,
        description="A folder whose name is a formula to a spreadsheet.",
        make=honest,
        outcomes=FAILED,
    )
    return [*found, formula]
