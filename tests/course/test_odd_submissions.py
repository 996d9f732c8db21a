"""Submissions that hold more, less, or other files than expected: each is graded, or fails alone with a sentence."""

from __future__ import annotations

import base64
import copy
import ctypes
import io
import json
import os
import shutil
import tarfile
import zipfile

import pytest
from nbconvert.exporters import HTMLExporter

from autograder.authoring import building
from autograder.authoring.assignment import read_assignment
from autograder.grading import report
from autograder.nbgrader.course_api import done, opened

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0" + bytes(40)
TEXT = base64.b64encode(PNG).decode()


def attached(name, kind="image/png", content=TEXT):
    """An attachment, and the text that shows it."""
    return {"attachments": {name: {kind: content}}, "source": f"![p](attachment:{name})"}


# A written answer as the student's program stored it, and whether the grader sees its picture.
SEEN = {
    "plain": attached("image.png"),
    "webp": attached("a.webp", "image/webp"),
    "number sign": attached("photo#1.png"),
    "plus and comma": attached("IMG+1,final.png"),
    "mac": attached("Screenshot 2026-01-01 at 10.15.32\u202fAM.png"),
    "quoted": {**attached("a b.png"), "source": "![p](attachment:a%20b.png)"},
    "titled": {**attached("x.png"), "source": '![p](attachment:x.png "my photo")'},
    "jpg": attached("x.jpg", "image/jpg", base64.b64encode(JPEG).decode()),
    "lines": attached("x.png", content=[TEXT[:20], TEXT[20:]]),
    "colab": {"source": f"![image.png](data:image/png;base64,{TEXT})"},
    "colab resized": {"source": f"<img src='data:image/png;base64,{TEXT}' width='300' />"},
    "docs": {"source": f"![p][1]\n\n[1]: <data:image/png;base64,{TEXT}>"},
    "beside": {"source": "![p](photo.jpg)"},
    "beside, html": {"source": '<img src="./photo.jpg" width=200>'},
    "long photo": {"source": f"![p](data:image/png;base64,{base64.b64encode(PNG + bytes(1_500_000)).decode()})"},
}
UNSEEN = {
    "missing": {"source": "![p](attachment:7f3c.png)"},
    "missing beside": {"source": "![p](other.jpg)"},
    "svg": attached("x.svg", "image/svg+xml", base64.b64encode(b"<svg/>").decode()),
    "not base64": attached("x.png", content="<script>"),
    "unbalanced": {"source": "![p](attachment:a(b.png)"},
    "svg within": {"source": f"![p](data:image/svg+xml;base64,{base64.b64encode(b'<svg/>').decode()})"},
}
OTHER_NAMES = ("tiny-Copy1.ipynb", "tiny (1).ipynb", "tiny.IPYNB", "ps1/tiny.ipynb")


def notebook_of(classroom, name="perfect"):
    """A submitted notebook."""
    return json.loads((classroom.path / f"submitted/{name}/ps1/tiny.ipynb").read_text())


def with_answer(notebook, fields):
    """The same notebook with a written answer as it is given, and the words THE END below it."""
    changed = copy.deepcopy(notebook)
    cell = next(cell for cell in changed["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == "why")
    cell.update(copy.deepcopy(fields), source=fields["source"] + "\n\nTHE END")
    return changed


def submit(classroom, student, files):
    """Put files into a student's folder, which is new."""
    for name, content in files.items():
        path = classroom.path / "submitted" / student / "ps1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


def alone(classroom):
    """The classroom without anybody's work."""
    shutil.rmtree(classroom.path / "submitted")
    return classroom


def report_of(classroom, student, name="tiny"):
    """What was found."""
    return report.load(report.path_of(classroom.path, "ps1", student, name))


@pytest.fixture(scope="module")
def photographed(built, tmp_path_factory):
    """A class whose written answers are pictures, graded by the command; feedback made again by nbgrader's."""
    folder = tmp_path_factory.mktemp("photographed") / "course"
    shutil.copytree(built.path.parent, folder, symlinks=True)
    classroom = type(built)(folder / "notebooks")
    solved = notebook_of(classroom)
    alone(classroom)
    for number, fields in enumerate([*SEEN.values(), *UNSEEN.values()]):
        submit(classroom, f"s{number}", {"tiny.ipynb": with_answer(solved, fields), "photo.jpg": JPEG})
    figures = classroom.grade()
    again = classroom.nbgrader("generate_feedback", "ps1", "--force")
    return classroom, figures, again


def test_no_picture_stops_grading_or_feedback(photographed):
    """Both commands end well for everybody."""
    _, figures, again = photographed
    assert (figures["failed"], figures["graded"], figures["exit"]) == (0, len(SEEN) + len(UNSEEN), 0)
    assert again.returncode == 0, again.stderr[-2000:]


@pytest.mark.parametrize("case", [*SEEN, *UNSEEN])
def test_a_picture_is_shown_or_named(photographed, case):
    """On nbconvert's page and on the student's: the picture, or words and a flag; and all of the text."""
    classroom, _, _ = photographed
    student = f"s{[*SEEN, *UNSEEN].index(case)}"
    page, _ = HTMLExporter().from_filename(str(classroom.path / f"autograded/{student}/ps1/tiny.ipynb"))
    for text in (page, (classroom.path / f"feedback/{student}/ps1/tiny.html").read_text()):
        assert "THE END" in text
        assert ('src="data:image/' in text) == (case in SEEN)
        assert ("[a picture that was not in the file]" in text) == (case in UNSEEN)
    assert bool(report_of(classroom, student).flags) == (case in UNSEEN)


@pytest.fixture(scope="module")
def doubled(built, tmp_path_factory):
    """Students who handed in more than one file of a notebook; `files` by student."""
    folder = tmp_path_factory.mktemp("doubled") / "course"
    shutil.copytree(built.path.parent, folder, symlinks=True)
    classroom = type(built)(folder / "notebooks")
    solved, half = notebook_of(classroom), notebook_of(classroom, "half_done")
    wrong = notebook_of(classroom, "mistake_centre_over_batch")
    stub = json.loads((classroom.path / "release/ps1/tiny.ipynb").read_text())
    alone(classroom)
    for number, name in enumerate(OTHER_NAMES):
        submit(classroom, f"both{number}", {"tiny.ipynb": stub, name: solved})
        submit(classroom, f"only{number}", {name: solved})
        submit(classroom, f"conflict{number}", {"tiny.ipynb": wrong, name: solved})
    submit(classroom, "half", {"tiny.ipynb": half, "tiny-Copy1.ipynb": solved})
    submit(classroom, "reverse", {"tiny.ipynb": solved, "tiny-Copy1.ipynb": stub})
    submit(classroom, "stranger", {"tiny.ipynb": solved, "scratch.ipynb": {"cells": [], "metadata": {}}})
    submit(classroom, "checkpoint", {"tiny.ipynb": solved, ".ipynb_checkpoints/tiny-checkpoint.ipynb": wrong})
    run = classroom.call("grade", "--json")
    assert run.returncode == 0, run.stderr
    return classroom, run.stderr + run.stdout


ANSWERED = [f"{kind}{number}" for kind in ("both", "only") for number in range(len(OTHER_NAMES))]


@pytest.mark.parametrize("student", [*ANSWERED, "half", "reverse", "stranger", "checkpoint"])
def test_the_answered_copy_counts(doubled, student):
    """An untouched or half-done file beside the answered one costs nothing; what was not used is flagged."""
    found = report_of(doubled[0], student)
    assert all(outcome.standing == ("held" if outcome.part == "why" else "earned") for outcome in found.outcomes)
    unused = any("was not used" in flag for flag in found.flags)
    assert unused == (student not in ("checkpoint", *(f"only{n}" for n in range(len(OTHER_NAMES)))))


@pytest.mark.parametrize("number", range(len(OTHER_NAMES)))
def test_a_person_chooses_between_copies_that_differ(doubled, number):
    """Neither file has all of the other's answers: the part in which they differ is held, the others are not."""
    outcomes = {outcome.part: outcome for outcome in report_of(doubled[0], f"conflict{number}").outcomes}
    assert (outcomes["centre"].standing, outcomes["Layer"].standing) == ("held", "earned")


def test_missing_notebooks_are_named_and_counted(built, tmp_path):
    """In the line, the figures and on the page of whoever handed in one of two; by nbgrader's commands as well."""
    shutil.copytree(built.path.parent, tmp_path / "course", symlinks=True)
    classroom = type(built)(tmp_path / "course/notebooks")
    plan = classroom.path / "ps1.toml"
    plan.write_text(plan.read_text().replace('["tiny"]', '["tiny", "second"]'))
    problems = classroom.path.parent / "problems"
    shutil.copytree(problems / "tiny", problems / "second")
    with opened(classroom.path) as api:
        building.write(classroom.path, read_assignment(classroom.path, "ps1"))
        done("generate_assignment", api.generate_assignment("ps1", force=True))
    second = json.loads((classroom.path / "release/ps1/second.ipynb").read_text())
    submit(classroom, "both", {"tiny.ipynb": notebook_of(classroom), "second.ipynb": second})
    run = classroom.call("grade", "--json", "--student", "perfect", "--student", "both")
    assert "10 of 24 points; not handed in: second" in run.stderr
    assert "1 with notebooks missing" in run.stderr and json.loads(run.stdout)["incomplete"] == 1
    again = classroom.call("grade", "--json", "--resume", "--student", "perfect", "--student", "both")
    assert json.loads(again.stdout)["kept"] == 2 and json.loads(again.stdout)["incomplete"] == 1
    words = "The whole assignment: 10 of 24 points so far; not handed in: second"

    def pages():
        """Whose page says it."""
        return {path.parts[-3] for path in classroom.path.glob("feedback/*/ps1/*.html") if words in path.read_text()}

    assert pages() == {"perfect"}
    shutil.rmtree(classroom.path / "feedback")
    for student in ("perfect", "both"):
        for step in ("autograde", "generate_feedback"):
            run = classroom.nbgrader(step, "ps1", "--force", "--student", student)
            assert run.returncode == 0, run.stderr
            assert ("not handed in: second" in run.stderr) == (step == "autograde" and student == "perfect")
    assert pages() == {"perfect"}


STAMPS = {
    "2026-05-04 12:00:00 UTC": "12:00",
    "\ufeff2026-05-04 12:00:00 UTC": "12:00",
    "Sonntag, 28. November 2026, 23:15": None,
    "05.11.2026 10:00": None,
    "23:15": None,
    "": "",
}


def as_ordinary_user():
    """Give up what lets root read every file: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def test_what_cannot_be_read_stops_nobody(classroom):
    """Data that is shut or too large is left out, a notebook that is shut fails its student, and others are graded."""
    solved = notebook_of(classroom)
    alone(classroom)
    for name in ("good", "data", "huge", "notebook", "folder", "student", "inner", "fifo"):
        submit(classroom, name, {"tiny.ipynb": solved, "data.csv": b"1", "sub/more.csv": b"2", "z.csv": b"3"})
    for number, stamp in enumerate(STAMPS):
        for coding in ("utf-8", "utf-16"):
            submit(classroom, f"{coding}{number}", {"tiny.ipynb": solved, "timestamp.txt": stamp.encode(coding)})
    place = classroom.path / "submitted"
    os.truncate(place / "huge/ps1/data.csv", 200 * 2**30)
    (place / "fifo/ps1/data.csv").unlink()
    os.mkfifo(place / "fifo/ps1/data.csv")
    (place / "good/ps1/\x1b[2Jx.csv").write_text("1")
    os.symlink("/etc/passwd\nFORGED", place / "good/ps1/link")
    for name in ("data/ps1/data.csv", "notebook/ps1/tiny.ipynb", "folder/ps1", "student"):
        (place / name).chmod(0)
    (place / "inner/ps1/sub").chmod(0o644)
    run = classroom.call("grade", "--json", "--no-feedback", preexec_fn=as_ordinary_user)
    assert run.stdout, run.stderr
    figures = json.loads(run.stdout.splitlines()[-1])
    words = {line["student"]: line for line in classroom.lines() if "student" in line}
    failed = {name for name, line in words.items() if line["state"] == "failed"}
    assert failed == {"notebook", "folder", "student"}, run.stderr
    assert all("Permission denied" in words[name]["why"] for name in failed)
    assert figures["empty"] == 0 and "\x1b" not in run.stderr and "\nFORGED" not in run.stderr
    for name, left_out in {"data": "data.csv", "huge": "data.csv", "inner": "sub", "fifo": "data.csv"}.items():
        files = report_of(classroom, name).flags
        assert any(left_out in flag for flag in files), (name, files)
        assert (classroom.path / f"autograded/{name}/ps1/z.csv").is_file()
    times = {row[0]: row[1] for row in classroom.rows("select student_id, timestamp from submitted_assignment")}
    for number, wanted in enumerate(STAMPS.values()):
        for coding in ("utf-8", "utf-16"):
            name = f"{coding}{number}"
            assert (wanted or "") in (times[name] or "") and bool(times[name]) == bool(wanted), name
            assert bool(report_of(classroom, name).flags) == (wanted is None)


def test_a_course_may_have_brackets_in_its_path(classroom):
    """The path is no pattern."""
    folder = classroom.path.parent.with_name("c [x]")
    classroom.path.parent.rename(folder)
    assert type(classroom)(folder / "notebooks").grade("--student", "perfect")["graded"] == 1


def test_what_is_cut_is_flagged_and_held(classroom):
    """A very long literal above a right answer is not a wrong answer."""
    solved = notebook_of(classroom)
    cell = next(c for c in solved["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "centre-answer")
    cell["source"] = f"DATA = '{'x' * 1_100_000}'\n" + "".join(cell["source"])
    submit(classroom, "long", {"tiny.ipynb": solved})
    assert classroom.grade("--student", "long")["exit"] == 0
    found = report_of(classroom, "long")
    assert found.outcomes[0].standing == "held" and any("was cut" in flag for flag in found.flags)


def _times(text):
    return text * (45_000 // len(text))


LARGE = "def centre(x):\n    return torch.ones(3_000_000, dtype=torch.float64).cumsum(0).sin()"
# Fifty thousand characters of a student's own, by the kind of cell; and what takes the place of an answer.
FLOODS = {
    "formulas": {"markdown": _times("$a$ ")},
    "brackets": {"markdown": _times("[[")},
    "headings": {"markdown": _times("# a\n")},
    "code": {"code": "0\n" + _times("a;")},
    "strings": {"code": _times("f'{")},
    "quotes": {"code": _times('"')},
    "prints": {"code": "\n".join(["print('&' * 480_000)"] * 200)},
    "faces": {"code": "for i in range(400): print('\U0001f600' * 100_000)"},
    "controls": {"code": "print('\\x00' * 10**6)"},
    "colours": {"code": "print('\\x1b[31mx' * 10**5)"},
    "error": {"code": "raise Exception('&' * 10**7)"},
    "typed": {"parameters-answer": "parameters = '(' * 7_900_000"},
    "result": {
        "centre-answer": "def centre(x):\n    return torch.ones(3_000_000, dtype=torch.float64).cumsum(0).sin()"
    },
    "raised": {"centre-answer": "def centre(x):\n    raise Exception('<' * 10**7)"},
    "pictures": {"why": "![p](attachment:a)" * 1_000},
    "all": {
        "code": "\n".join(["print('&' * 480_000)"] * 200) + "\n" + "a;" * 12_000,
        "markdown": "$a$ " * 4_000,
        "parameters-answer": "parameters = '(' * 7_900_000",
        "centre-answer": LARGE,
    },
}


def _flooded(solved, flood):
    for place, source in flood.items():
        if place in ("code", "markdown"):
            cell = {"cell_type": place, "metadata": {}, "source": source}
            solved["cells"].append(cell | ({"outputs": [], "execution_count": None} if place == "code" else {}))
            continue
        cell = next(c for c in solved["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == place)
        cell["source"] = source
        if "attachment" in source:
            cell["attachments"] = {"a": {"image/png": base64.b64encode(PNG + bytes(20_000)).decode()}}
    return solved


def test_a_small_submission_has_small_results(classroom):
    """Of fifty kilobytes, whatever they are, come less than two megabytes in all: journal, report, notebook, pages."""
    solved = notebook_of(classroom)
    alone(classroom)
    for name, flood in FLOODS.items():
        submit(classroom, name, {"tiny.ipynb": _flooded(copy.deepcopy(solved), flood)})
    assert classroom.grade()["graded"] == len(FLOODS)
    lines = {line["student"]: line for line in classroom.lines() if line["state"] == "done"}
    for name in FLOODS:
        written = [
            path for step in ("autograded", "feedback", "reports") for path in (classroom.path / step).rglob("*")
        ]
        sizes = [path.stat().st_size for path in written if name in path.parts and path.is_file()]
        assert len(sizes) == 4 and sum(sizes) + len(json.dumps(lines[name])) < 2_000_000, (name, sizes)
    assert (classroom.path / "gradebook.db").stat().st_size < 2_000_000


@pytest.fixture(scope="module")
def beside(built, tmp_path_factory):
    """A course with data of the instructor's, on which right answers rely; each student's `files` by name."""
    folder = tmp_path_factory.mktemp("beside") / "course"
    shutil.copytree(built.path.parent, folder, symlinks=True)
    classroom = type(built)(folder / "notebooks")
    solved, half = notebook_of(classroom), notebook_of(classroom, "half_done")
    stub = json.loads((classroom.path / "release/ps1/tiny.ipynb").read_text())
    alone(classroom)
    (classroom.path / "source/ps1/scale.txt").write_text("1")
    (classroom.path / "source/ps1/data").mkdir()
    (classroom.path / "source/ps1/data/more.txt").write_text("1")
    for student, files in given(solved, half, stub).items():
        submit(classroom, student, files)
    return classroom


def reading(notebook, *files):
    """A solved notebook whose first answer comes out right only if each file holds the number one."""
    changed = copy.deepcopy(notebook)
    cell = next(c for c in changed["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "centre-answer")
    wanted = " and ".join(f"open({name!r}).read() == '1'" for name in files)
    cell["source"] = f"assert {wanted}\n" + "".join(cell["source"])
    return changed


def nameless(notebook):
    """A notebook as Colab saves it for those who rename it: what it is stands in its cells alone."""
    return {**copy.deepcopy(notebook), "metadata": {}}


def zipped(files):
    """A zip file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text if isinstance(text, bytes) else json.dumps(text))
    return content.getvalue()


def tarred(files, mode):
    """A tar file."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for name, text in files.items():
            data = text if isinstance(text, bytes) else json.dumps(text).encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return content.getvalue()


def given(solved, half, stub):
    """Each student's files."""
    needs_own = reading(solved, "own.txt")
    damaged = zipped({"tiny.ipynb": solved})[:-40]
    return {
        "data": {"tiny.ipynb": reading(solved, "scale.txt", "data/more.txt")},
        "data_changed": {"tiny.ipynb": reading(solved, "scale.txt"), "scale.txt": b"7"},
        "nested": {"ps1/tiny.ipynb": needs_own, "ps1/own.txt": b"1", "own.txt.bak": b"2"},
        "nested_beside_stub": {"tiny.ipynb": stub, "ps1/tiny.ipynb": needs_own, "ps1/own.txt": b"1"},
        "zip": {"ps1.zip": zipped({"a/tiny.ipynb": needs_own, "a/own.txt": b"1", "__MACOSX/a/._tiny.ipynb": b"0"})},
        "zip_beside_stub": {"tiny.ipynb": stub, "ps1.ZIP": zipped({"tiny.ipynb": needs_own, "own.txt": b"1"})},
        "zip_in_zip": {"all.zip": zipped({"x/ps1.zip": zipped({"tiny.ipynb": needs_own, "own.txt": b"1"})})},
        "zip_and_data": {"ps1.zip": zipped({"tiny.ipynb": reading(solved, "scale.txt"), "scale.txt": b"7"})},
        "tar": {"ps1.tar.gz": tarred({"a/tiny.ipynb": needs_own, "a/own.txt": b"1"}, "w:gz")},
        "tar_beside_stub": {"tiny.ipynb": stub, "ps1.TAR": tarred({"tiny.ipynb": needs_own, "own.txt": b"1"}, "w")},
        "tar_in_zip": {"all.zip": zipped({"x/ps1.tgz": tarred({"tiny.ipynb": needs_own, "own.txt": b"1"}, "w:gz")})},
        "damaged_tar_beside_half": {"tiny.ipynb": half, "ps1.tar.gz": tarred({"tiny.ipynb": solved}, "w:gz")[:-40]},
        "text": {"tiny.ipynb.txt": solved},
        "json": {"tiny.ipynb.json": solved},
        "case": {"Tiny.ipynb": nameless(solved)},
        "strange": {"homework.ipynb": nameless(solved)},
        "strange_beside_stub": {"tiny.ipynb": stub, "Untitled3.ipynb": nameless(solved)},
        "damaged_zip": {"ps1.zip": damaged},
        "rar": {"ps1.rar": b"Rar!"},
        "damaged_zip_beside_stub": {"tiny.ipynb": stub, "ps1.zip": damaged},
        "damaged_zip_beside_half": {"tiny.ipynb": half, "ps1.zip": damaged},
        "damaged_copy_beside_stub": {"tiny.ipynb": stub, "tiny-Copy1.ipynb": b'{"cells": ['},
        "rar_beside_answers": {"tiny.ipynb": solved, "data.rar": b"Rar!"},
        "large": {"tiny.ipynb": reading(solved, "huge.bin"), "huge.bin": b"", "own.txt": b"1"},
    }


FULL = (
    "data", "data_changed", "nested", "nested_beside_stub", "zip", "zip_beside_stub", "zip_in_zip", "zip_and_data",
    "tar", "tar_beside_stub", "tar_in_zip",
    "text", "json", "case", "strange", "strange_beside_stub", "rar_beside_answers",
)  # fmt: skip
FAILED = ("damaged_zip", "rar")
# What is held beside the written answer, and a word of the reason or the flag.
WAITING = {
    "damaged_zip_beside_stub": ({"centre", "Layer", "parameters", "axis"}, "ps1.zip"),
    "damaged_zip_beside_half": ({"Layer", "axis"}, "ps1.zip"),
    "damaged_tar_beside_half": ({"Layer", "axis"}, "ps1.tar.gz"),
    "damaged_copy_beside_stub": ({"centre", "Layer", "parameters", "axis"}, "tiny-Copy1.ipynb"),
    "large": ({"centre"}, "larger than 32 MB"),
}


@pytest.fixture(scope="module")
def accounted(beside):
    """The class after `autograder grade`, and what it printed."""
    os.truncate(beside.path / "submitted/large/ps1/huge.bin", 33 * 2**20)
    run = beside.call("grade", "--json")
    return beside, run


def standings(classroom, student):
    """How each part of a student's stands."""
    return {outcome.part: outcome.standing for outcome in report_of(classroom, student).outcomes}


@pytest.mark.parametrize("student", FULL)
def test_an_answer_is_found_with_what_lies_beside_it(accounted, student):
    """In folders, archives and files of other names; the instructor's data are there, and come before the student's."""
    classroom, run = accounted
    assert all(
        standing == ("held" if part == "why" else "earned") for part, standing in standings(classroom, student).items()
    )
    assert json.loads(run.stdout.splitlines()[-1])["failed"] == len(FAILED)


@pytest.mark.parametrize("student", WAITING)
def test_what_nobody_has_seen_is_held(accounted, student):
    """Where a file that could not be read may hold an answer, the answer is not lost; what is answered is judged."""
    parts, word = WAITING[student]
    found = standings(accounted[0], student)
    assert {part for part, standing in found.items() if standing == "held"} == parts | {"why"}
    assert any(word in flag for flag in report_of(accounted[0], student).flags)


def test_an_archive_that_cannot_be_opened_fails_its_student(accounted):
    """It is not "nothing was handed in": the line names the archive, and the command ends with 1."""
    classroom, run = accounted
    assert run.returncode == 1
    for line in classroom.lines():
        if line.get("student") in FAILED:
            assert line["state"] == "failed" and "could not be opened: ps1." in line["why"]


def test_the_other_route_gives_the_same_marks(accounted, tmp_path):
    """nbgrader autograde grades with the same files, wherever it sees a notebook at all."""
    shutil.copytree(accounted[0].path.parent, tmp_path / "course", symlinks=True)
    classroom = type(accounted[0])(tmp_path / "course/notebooks")
    ours = {row[:2]: row[2] for row in classroom.rows()}
    for student in ("data", "data_changed", "nested_beside_stub", "zip_beside_stub", "large"):
        run = classroom.nbgrader("autograde", "ps1", "--force", "--student", student)
        assert run.returncode == 0, run.stderr[-2000:]
        assert standings(classroom, student) == standings(accounted[0], student)
    assert {row[:2]: row[2] for row in classroom.rows()} == ours
