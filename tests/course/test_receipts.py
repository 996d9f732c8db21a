"""From a commitment to a mark that is judged again on another machine: what is the same, and what is refused."""

from __future__ import annotations

import dataclasses
import html
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autograder.authoring import commitment, sealing
from autograder.authoring.derived_keys import assignment_key, fingerprint, receipt_key
from autograder.authoring.loading import load
from autograder.authoring.source_notebook import answer_id
from autograder.authoring.variants import course_secret, variant
from autograder.cli import main
from autograder.course import regrading, verifying
from autograder.grading import receipt as receipts
from autograder.grading import report as reports
from autograder.grading.hidden_key import has_own_key
from autograder.grading.notebook import mark
from autograder.protocol.answering import question_key
from autograder.simulation.classroom import Work, hand_in
from tests.course.conftest import Classroom

PEOPLE = ("perfect", "mistake_centre_over_batch", "half_done", "not_json")
BY_HAND = "id,tiny.why\nperfect,1.5\n"


def call(*words: object, code: int = 0) -> str:
    """What a command prints, in this process."""
    done: Result = CliRunner().invoke(main, list(map(str, words)), env={"COLUMNS": "200"}, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def page(course: Path, student: str) -> Path:
    """A feedback page."""
    return course / "feedback" / student / "ps1/tiny.html"


def receipt(course: Path, student: str) -> receipts.Receipt:
    """The receipt on it."""
    return receipts.read(page(course, student).read_text()).receipt


@pytest.fixture(scope="module")
def revealed(build_course, tmp_path_factory) -> Path:
    """A committed course whose marks are decided, one by a person, with its bundle `b.zip`; to be looked at."""
    room: Classroom = build_course(tmp_path_factory.mktemp("receipts") / "course", people=PEOPLE)
    call("commit", "ps1", "--course", room.path)
    assert room.grade()["exit"] == 0
    (room.path / "marks.csv").write_text(BY_HAND)
    assert room.call("marks", str(room.path / "marks.csv")).returncode == 0
    assert room.grade("--resume")["exit"] == 0  # the pages, by the marks of now
    call("reveal", "ps1", "--course", room.path, "--out", room.path / "b.zip")
    return room.path


@pytest.fixture
def course(revealed, tmp_path) -> Path:
    """One of one's own."""
    return Path(shutil.copytree(revealed.parent, tmp_path / "course", symlinks=True)) / "notebooks"


@pytest.fixture
def desk(revealed, tmp_path) -> Path:
    """What a student has, in a folder that is no course: page, notebook, bundle."""
    place = tmp_path / "desk"
    place.mkdir()
    for file in (page(revealed, "perfect"), revealed / "submitted/perfect/ps1/tiny.ipynb", revealed / "b.zip"):
        shutil.copy(file, place)
    return place


def verify(desk: Path, *words: object, code: int = 0, shown: Path | None = None) -> str:
    """`autograder verify` of what lies there."""
    return call(
        "verify", shown or desk / "tiny.html", "--bundle", desk / "b.zip", "--notebook", desk, *words, code=code
    )


@pytest.mark.parametrize("student", PEOPLE)
def test_marks_replay_equal_from_receipt_and_bundle(student, revealed):
    """Right, wrong, half done and unreadable: each verdict is the same again, and what nobody judged is told."""
    notebook = revealed / "submitted" / student / "ps1"
    told = call("verify", page(revealed, student), "--bundle", revealed / "b.zip", "--notebook", notebook)
    assert "OTHER" not in told and "note:" not in told
    count = 0 if student == "not_json" else 4
    assert f"{count} of the {count} parts that the judge decided are the same here" in told
    assert told.count("left to a person") == 5 - count


def test_the_same_hidden_inputs_are_put(revealed, desk, monkeypatch):
    """Each question is, to the last bit, the one that was put when the notebook was graded."""
    graded = []
    monkeypatch.setattr(verifying, "mark", lambda *words: graded.append(mark(*words)) or graded[-1])
    verify(desk)
    before, after = reports.load(reports.path_of(revealed, "ps1", "perfect", "tiny")), graded[0].report
    asked = [
        {outcome.part: [question_key(question) for question, _ in outcome.answers] for outcome in report.outcomes}
        for report in (before, after)
    ]
    assert asked[0] == asked[1] and sum(map(len, asked[0].values())) > 10


def test_a_receipt_tells_a_persons_decision_from_the_judges(revealed, desk):
    """A written part was left to a person, whose points are in the receipt and in no replay."""
    part = receipt(revealed, "perfect").parts["why"]
    assert (part.by, part.points, part.standing, part.judged) == ("person", 1.5, "held", 0.0)
    assert receipt(revealed, "half_done").parts["why"].by in ("nobody", "judge")
    line = next(line for line in verify(desk).splitlines() if line.startswith("  why"))
    assert "left to a person" in line and "1.5 of 2, decided by a person, which no machine repeats" in line


def test_no_page_has_a_receipt_before_a_commitment(graded):
    """A receipt that rests on nothing is none."""
    assert 'id="receipt"' not in page(graded.path, "perfect").read_text()


def test_nbgraders_own_pages_carry_the_same_receipt(course):
    """`nbgrader generate_feedback` makes the page that `autograder grade` has made."""
    before = page(course, "perfect").read_bytes()
    page(course, "perfect").unlink()
    done = Classroom(course).nbgrader("generate_feedback", "ps1", "--student", "perfect", "--force")
    assert done.returncode == 0 and page(course, "perfect").read_bytes() == before


def test_the_line_that_is_published_binds(revealed, desk):
    """The hash of the commitment is accepted, in any case of letters; any other is refused, and nothing is judged."""
    (made,) = commitment.read(revealed, "ps1")
    assert "4 of the 4 parts" in verify(desk, "--commitment", made.hash.upper())
    told = verify(desk, "--commitment", "0" * 64, code=1)
    assert "is not what was committed" in told and "the same" not in told


def rewritten(bundle: Path, change) -> None:
    """The bundle with what `change` makes of each file of it: bytes, or None for one that is left out."""
    with zipfile.ZipFile(bundle) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, data in content.items():
            if (new := change(name, data)) is not None:
                archive.writestr(name, new)


FILES = ("1/problems/tiny/problem.py", "1/problems/tiny/statement.md", "1/source/ps1/tiny.ipynb", "1/ps1.toml")


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_of_the_tests_is_noticed(name, desk):
    """One bit of one byte of any file; the file is named, and nothing of the bundle is run."""
    seen = desk / "it_ran"

    def change(there, data):
        if there == "1/problems/tiny/problem.py" and name == there:
            return data + f"\nopen({str(seen)!r}, 'w')\n".encode()
        return bytes([data[0] ^ 1]) + data[1:] if there == name else data

    rewritten(desk / "b.zip", change)
    told = verify(desk, code=1)
    assert f"{name[2:]} is not what was committed (commitment 1)" in told and not seen.exists()


def as_json(change):
    """A change of a JSON file in a bundle."""

    def changed(data):
        said = json.loads(data)
        change(said)
        return json.dumps(said).encode()

    return changed


SPOILT = {
    "another key": ("bundle.json", as_json(lambda said: said.update(key="00" * 32)), "its key is not the one"),
    "no key": ("bundle.json", as_json(lambda said: said.pop("key")), "KeyError"),
    "a name that leads away": ("bundle.json", as_json(lambda said: said.update(assignment="../x")), "its form"),
    "a million commitments": ("bundle.json", as_json(lambda said: said.update(newest=10**6)), "its form"),
    "no commitment": ("1/commitment.json", lambda data: None, "KeyError"),
    "a commitment of another form": (
        "1/commitment.json", as_json(lambda said: said.update(format=9)), "does not follow",
    ),
    "one of another assignment": (
        "1/commitment.json", as_json(lambda said: said.update(assignment="ps2")), "does not follow",
    ),
    "one that follows on another": (
        "1/commitment.json", as_json(lambda said: said.update(before="0" * 64)), "does not follow",
    ),
    "a list of files with one above": (
        "1/commitment.json", as_json(lambda said: said["files"].update({"problems/../../x": ""})), "no path of",
    ),
    "an absolute path": (
        "1/commitment.json", as_json(lambda said: said["files"].update({"/tmp/x": ""})), "no path of a bundle",
    ),
    "a configuration": (
        "1/commitment.json", as_json(lambda said: said["files"].update({"nbgrader_config.py": ""})), "no path of",
    ),
    "a file less": ("1/ps1.toml", lambda data: None, "KeyError"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "change", "why"), SPOILT.values(), ids=SPOILT)
def test_a_bundle_that_does_not_hold_together_is_refused(name, change, why, desk):
    """A key that was not committed, a chain with a gap, a path that leads out: one sentence, and nothing is run."""
    rewritten(desk / "b.zip", lambda there, data: change(data) if there == name else data)
    told = verify(desk, code=1)
    assert "was refused, and nothing in it was run" in told and why in told


def test_what_is_no_bundle_is_refused(desk):
    """Any file may be called one."""
    (desk / "b.zip").write_bytes(b"PK no zip")
    assert "was refused, and nothing in it was run" in verify(desk, code=1)


def test_a_commitment_that_was_rewritten_bears_no_receipt(desk):
    """Whoever changes tests and their digests alike has another commitment, on which no receipt rests."""
    rewritten(
        desk / "b.zip",
        lambda there, data: (
            as_json(lambda said: said["limits"].update(cell_seconds=9))(data) if there == "1/commitment.json" else data
        ),
    )
    assert "which is not in this bundle" in verify(desk, code=1)


def forged(desk: Path, change, key: bytes | None = None) -> Path:
    """The page's receipt with a change, and the old signature, or one by `key`."""
    said = json.loads(receipts.canonical(json.loads(text_of(desk / "tiny.html"))))
    change(said)
    if key:
        del said["signature"]
        said["signature"] = receipts._private(key).sign(receipts.canonical(said)).hex()
    path = desk / "forged.json"
    path.write_text(json.dumps(said))
    return path


def text_of(path: Path) -> str:
    """The text of the receipt on a page."""
    return html.unescape(path.read_text().split('<pre id="receipt">')[1].split("</pre>")[0])


FORGED = {
    "the points of a part": lambda said: said["parts"]["centre"].update(points=99),
    "a person's decision": lambda said: said["parts"]["why"].update(points=2.0),
    "the student": lambda said: said.update(student="half_done"),
    "the seed": lambda said: said.update(seed=8),
    "what was graded": lambda said: said.update(digest="0" * 64),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["as it was signed", "signed by others"])
def test_a_forged_receipt_is_refused(change, key, desk):
    """Whoever has not the course's key cannot make one, and what is changed in one is noticed."""
    told = verify(desk, shown=forged(desk, change, key), code=1)
    assert "the receipt was refused: it is not signed by the course" in told and "the same" not in told


def test_a_forged_receipt_gives_no_orders_to_a_terminal(desk):
    """What stands in it is shown as text."""
    told = verify(desk, shown=forged(desk, lambda said: said.update(assignment="\x1b[2J")), code=1)
    assert "the receipt is one of \\x1b[2J" in told and "\x1b" not in told


def test_the_key_that_is_told_signs_no_receipt_and_no_seal(revealed, desk):
    """With the bundle nobody can sign a receipt, seal a notebook, or draw what another assignment asks."""
    with zipfile.ZipFile(desk / "b.zip") as archive:
        told = bytes.fromhex(json.loads(archive.read("bundle.json"))["key"])
        content = b"\0".join(archive.read(name) for name in archive.namelist())
    secret = course_secret(revealed)
    assert told == assignment_key(secret, "ps1")
    kept = [secret, assignment_key(secret, "ps2"), receipt_key(secret, "ps1")]
    for key in kept:
        assert key not in content and key.hex().encode() not in content
        assert key not in {assignment_key(told, "ps2"), receipt_key(told, "ps1"), assignment_key(told, "ps1")}
    path = forged(desk, lambda said: said.update(late=-5), told)
    assert "the receipt was refused" in verify(desk, shown=path, code=1)
    notebook = json.loads((desk / "tiny.ipynb").read_text())
    drawn = variant(load("tiny", revealed.parent / "problems"), 8)
    sealing.put(notebook, sealing.identity_of(drawn, assignment="ps1", secret=told), told)
    assert sealing.read(notebook, secret).state == "broken"


def test_another_notebook_is_not_the_one_that_was_graded(desk):
    """A better answer, put in later, is told from a verdict that is another."""
    notebook = json.loads((desk / "tiny.ipynb").read_text())
    cell = next(
        cell
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == answer_id("centre")
    )
    cell["source"] += "\n# better"
    (desk / "tiny.ipynb").write_text(json.dumps(notebook))
    assert "is not the notebook of this receipt" in verify(desk, code=1)


def test_a_verdict_that_is_another_one_here_is_shown(course, desk):
    """A course that signs what its own tests do not bear out is found out."""
    secret, said = course_secret(course), json.loads(text_of(desk / "tiny.html"))
    said.pop("signature"), said.pop("format")
    said["parts"]["centre"].update(standing="lost", judged=0.0, points=0.0, verdicts=[["close", "values", False]])
    shown = receipts._receipt(said)
    (desk / "signed.json").write_text(receipts.signed(shown, receipt_key(secret, "ps1")))
    told = verify(desk, shown=desk / "signed.json", code=1)
    assert "OTHER (here earned, 4 of 4 (correct)); 0 of 4, by the judge" in told
    assert "3 of the 4 parts that the judge decided are the same here" in told


def test_problems_of_this_machine_take_no_part(desk, tmp_path, monkeypatch):
    """AUTOGRADER_PROBLEMS names other tests, and the committed ones judge."""
    (tmp_path / "problems/tiny").mkdir(parents=True)
    (tmp_path / "problems/tiny/problem.py").write_text("raise SystemExit('these are others')")
    monkeypatch.setenv("AUTOGRADER_PROBLEMS", str(tmp_path / "problems"))
    assert "4 of the 4 parts" in verify(desk)


def test_reveal_waits_until_nobody_can_answer_any_more(course):
    """Work that can still be handed in, here or where the same problem is asked, stops it, unless by --force."""
    words = ("reveal", "ps1", "--course", course, "--out", course / "again.zip")
    (course / "resit.toml").write_text('title = "Resit"\nproblems = ["tiny"]\nseed = 8\n')
    assert "tiny stands in resit too, which may still be answered" in call(*words, code=1)
    with (course / "resit.toml").open("a") as file:
        file.write("due = 2020-01-01T00:00:00Z\n")
    call(*words)
    with (course / "ps1.toml").open("a") as file:
        file.write("\ndue = 2999-01-01T00:00:00Z\n")
    assert "ps1 can be handed in until 2999-01-01" in call(*words, code=1)
    assert (course / "again.zip").read_bytes() == (course / "b.zip").read_bytes()
    call(*words, "--force")


def test_nothing_is_revealed_that_was_not_committed(graded, course, tmp_path):
    """Without a commitment there is no bundle; nor with one whose kept bytes were changed."""
    told = call("reveal", "ps1", "--course", graded.path, "--out", tmp_path / "x.zip", code=1)
    assert "nothing was committed for ps1; run autograder commit ps1" in told
    (course / "commitments/ps1/1/ps1.toml").write_text("title = 'x'\n")
    told = call("reveal", "ps1", "--course", course, "--out", tmp_path / "x.zip", code=1)
    assert "ps1.toml is not what was committed" in told


def correct(course: Path) -> None:
    """Take the count without the bias for the right one, and that with it for a mistake."""
    path = course.parent / "problems/tiny/problem.py"
    old, new = "reference={}, mistakes=[{}]".format, ("without_bias", "with_bias")
    text = path.read_text().replace(old(*new[::-1]), old(*new))
    path.write_text(text.replace("def with_bias(p):\n", 'def with_bias(p):\n    """There is no bias."""\n'))


def test_a_problem_that_is_corrected_is_committed_again(course, desk):
    """The second commitment names the first; regraded marks rest on it, and older receipts stay good."""
    correct(course)
    (first,) = commitment.read(course, "ps1")
    call("commit", "ps1", "--course", course)
    assert Classroom(course).call("regrade").returncode == 0
    _, second = commitment.read(course, "ps1")
    assert second.said["before"] == first.hash and receipt(course, "perfect").commitment == second.hash
    assert receipt(course, "not_json").commitment == first.hash  # nothing of it moved
    call("reveal", "ps1", "--course", course, "--out", desk / "b.zip")
    assert "this mark rests on commitment 1 of 2" in verify(desk)
    told = verify(desk, shown=page(course, "perfect"))
    assert "this mark rests" not in told and "4 of the 4 parts" in told and "0 of 2, by the judge" in told


def test_a_correction_that_was_not_committed_has_no_receipt(course):
    """The page of a regraded mark says nothing that nobody could check, and `reveal` counts it."""
    correct(course)
    assert Classroom(course).call("regrade").returncode == 0
    assert 'id="receipt"' not in page(course, "perfect").read_text()
    told = call("reveal", "ps1", "--course", course, "--out", course / "again.zip")
    assert "3 graded notebooks have no receipt: the tests that judged it are in no commitment" in told


def test_committing_twice_is_committing_once(course):
    """Where nothing has changed, the line is the same one."""
    told = call("commit", "ps1", "--course", course)
    (made,) = commitment.read(course, "ps1")
    assert told.splitlines()[-1] == f"ps1 1 {made.hash}" and "unchanged" in told


def test_a_course_that_was_begun_before_keeps_its_marks(build_course, tmp_path, monkeypatch):
    """Reports whose questions followed from the secret itself: regrading moves nobody, and asks nobody anew.

    Whoever is graded later is asked as all others were. Such an assignment cannot be committed.
    """
    room: Classroom = build_course(tmp_path / "course", people=PEOPLE)
    with monkeypatch.context() as before:
        before.setattr("autograder.nbgrader.run_and_judge.hidden_key", lambda course, assignment, secret: secret)
        before.setattr("autograder.nbgrader.folder.hidden_key", lambda course, assignment, secret: secret)
        from autograder.course.run import Options, run

        assert run(room.path, Options(assignment="ps1", students=PEOPLE[1:])).exit_code == 0
    for path in (room.path / "reports/ps1").glob("*/tiny.json"):
        said = json.loads(path.read_text())
        path.write_text(json.dumps({key: said[key] for key in said.keys() - {"key", "tests", "beside"}}))
    again = regrading.run(room.path, "ps1", dry_run=True, feedback=False)
    assert (again.judged, again.moves, again.unasked, again.failed) == (3, [], [], [])
    assert room.grade()["exit"] == 0
    stored = reports.load(reports.path_of(room.path, "ps1", "perfect", "tiny"))
    secret = course_secret(room.path)
    assert stored.key == fingerprint(secret) and stored.points == 10
    assert not has_own_key(room.path, "ps1", secret)
    assert "its key cannot be told" in call("commit", "ps1", "--course", room.path, code=1)
    assert 'id="receipt"' not in page(room.path, "perfect").read_text()


def test_seeds_of_ones_own_are_committed_and_nobody_else_can_tell_them(build_course, tmp_path):
    """Each has a receipt that shows their own seed; the commitment and the bundle name no student and no seed."""
    room: Classroom = build_course(tmp_path / "course", people=())
    (room.path / "roster.csv").write_text("id\nzoe\nyuri\n")
    text = (room.path / "ps1.toml").read_text().replace("seed = 7", 'seed = 7\nvariants = "student"')
    (room.path / "ps1.toml").write_text(text)
    call("build", "ps1", "--course", room.path, "--force")
    call("release", "ps1", "--course", room.path, "--force")
    call("commit", "ps1", "--course", room.path)
    (made,) = commitment.read(room.path, "ps1")
    assert len(made.said["seeds"]) == 2 and "seed" not in made.said["problems"]["tiny"]
    problem = load("tiny", room.path.parent / "problems")
    for student in ("zoe", "yuri"):
        released = json.loads((room.path / f"students/{student}/ps1/tiny.ipynb").read_text())
        p = variant(problem, released["metadata"]["autograder"]["seed"]).parameters
        hand_in(Work(released, problem, p).solve().files(), room.path / f"submitted/{student}/ps1")
    assert room.grade()["exit"] == 0
    call("reveal", "ps1", "--course", room.path, "--out", room.path / "b.zip")
    shown = {student: receipt(room.path, student) for student in ("zoe", "yuri")}
    assert shown["zoe"].seed != shown["yuri"].seed and shown["zoe"].salt != shown["yuri"].salt
    for student, one in shown.items():
        assert student.encode() not in made.text and str(one.seed).encode() not in made.text
        told = call(
            "verify", page(room.path, student), "--bundle", room.path / "b.zip",
            "--notebook", room.path / f"submitted/{student}/ps1",
        )  # fmt: skip
        assert "4 of the 4 parts" in told and "note:" not in told
    swapped = dataclasses.replace(shown["zoe"], who="yuri")
    (tmp_path / "swapped.json").write_text(receipts.signed(swapped, receipt_key(course_secret(room.path), "ps1")))
    told = call(
        "verify", tmp_path / "swapped.json", "--bundle", room.path / "b.zip",
        "--notebook", room.path / "submitted/zoe/ps1",
    )  # fmt: skip
    assert f"the seed {shown['zoe'].seed} of yuri is none of those that were committed" in told


def test_answers_from_paper_are_told_apart(build_course, tmp_path):
    """A seat's seed is committed; the judge's verdicts replay, though a person has decided about each part."""
    room: Classroom = build_course(tmp_path / "course", people=())
    (room.path / "roster.csv").write_text("id\nada\n")
    with (room.path / "ps1.toml").open("a") as file:
        file.write('\n[exam]\nminutes = 60\nversions = "seat"\n')
    call("print", "ps1", "--course", room.path)
    call("commit", "ps1", "--course", room.path)
    (room.path / "t.csv").write_text("seat,part,answer\nA-001,parameters,1\nA-001,axis,a\n")
    call("marks", "ps1", room.path / "t.csv", "--course", room.path)
    assert room.grade()["exit"] == 0
    call("reveal", "ps1", "--course", room.path, "--out", room.path / "b.zip")
    one = receipt(room.path, "ada")
    assert one.transcribed and one.who == "A-001" and {part.by for part in one.parts.values()} == {"nobody"}
    told = call(
        "verify", page(room.path, "ada"), "--bundle", room.path / "b.zip", "--notebook", room.path / "submitted/ada/ps1"
    )
    assert "note: a person typed these answers from paper: compare the notebook with the sheet" in told
    assert "OTHER" not in told and "is none of those that were committed" not in told
    line = next(line for line in told.splitlines() if line.startswith("  parameters"))
    assert "the same verdicts (held whatever the judge says); waits for a person" in line


def test_voids_and_files_beside_a_notebook_are_part_of_it(build_course, tmp_path):
    """What a void gives is replayed; the course's data is in the bundle, and a student's own file lies beside it."""
    room: Classroom = build_course(tmp_path / "course", people=("mistake_centre_over_batch",))
    with (room.path / "ps1.toml").open("a") as file:
        file.write("\n[void.'tiny.centre']\nas = \"full\"\n\n[void.'tiny.axis']\nas = \"drop\"\n")
    handed_in = room.path / "submitted/mistake_centre_over_batch/ps1"
    (room.path / "source/ps1/data.csv").write_text("1,2\n")
    (handed_in / "data.csv").write_text("3,4\n")  # the course's own takes its place
    (handed_in / "own.txt").write_text("mine")
    call("commit", "ps1", "--course", room.path)
    assert room.grade()["exit"] == 0
    call("reveal", "ps1", "--course", room.path, "--out", tmp_path / "b.zip")
    shown = page(room.path, "mistake_centre_over_batch")
    one = receipts.read(shown.read_text()).receipt
    assert sorted(one.beside) == ["data.csv", "own.txt"]
    assert (one.parts["centre"].points, one.parts["axis"].of) == (4, 0)
    told = call("verify", shown, "--bundle", tmp_path / "b.zip", "--notebook", handed_in)
    assert "4 of the 4 parts that the judge decided are the same here" in told and "note:" not in told
    (handed_in / "own.txt").write_text("another")
    told = call("verify", shown, "--bundle", tmp_path / "b.zip", "--notebook", handed_in)
    assert "note: own.txt: not beside the notebook; judged without it" in told
