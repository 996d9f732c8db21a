"""Bulk downloads of Canvas, Moodle and Gradescope: each submission reaches its student, or waits for a person."""

from __future__ import annotations

import io
import json
import shutil
import stat
import zipfile
from pathlib import Path

import pytest

from autograder.course import bulk_download, collecting
from autograder.errors import StaffError
from autograder.nbgrader import collected

ROSTER = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@x.org,4711
bob,Bob,King Jr.,bob@x.org,4712
jose,José,Müller-Weiß,jose@x.org,4713
anna1,Anna,Schmidt,anna.one@x.org,4714
anna2,Anna,Schmidt,anna.two@x.org,4715
0012345,Zoë,O'Hara,zoe@x.org,
"""
CANVAS_ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section,Problem set 1 (33)
    Points Possible,,,,,12
"Lovelace, Ada",4711,ada,ada@x.org,A,
"Schmidt, Anna",4714,anna1,anna.one,A,
"Schmidt, Anna",4715,anna2,anna.two,A,
"Student, Test",9999,,abc,A,
"""
WORKSHEET = """\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)
Participant 501,Ada Lovelace,ada@x.org,Submitted for grading,,12.00,-
Participant 502,Bob King Jr.,bob@x.org,Submitted for grading,,12.00,-
"""
GRADESCOPE = """---
submission_77:
  :submitters:
  - :name: Ada Lovelace
    :sid: '4099'
    :email: ada@x.org
  :created_at: 2026-05-04 12:00:00.123456789 Z
  :score: 0.0
  :status: processed
submission_78:
  :submitters:
  - :name: Zoë O'Hara
    :sid: 0012345
    :email: Zoe@X.org
  - :name: Bob King Jr.
    :sid:
    :email: bob@x.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-05-05 01:30:00.000000000 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: America/New_York
    time: 2026-05-04 21:30:00.000000000 Z
"""
SOLVED = b'{"cells": [], "metadata": {"autograder": {"slug": "tiny"}}, "nbformat": 4, "nbformat_minor": 5}'


def zipped(path: Path, files: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    """A zip file of these members, in this order, doubled names included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **options: None)
        for name, content in files:
            archive.writestr(name, content)
    return path


@pytest.fixture
def course(built, tmp_path):
    """A course without submissions."""
    shutil.copytree(built.path.parent, tmp_path / "course", symlinks=True)
    classroom = type(built)(tmp_path / "course/notebooks")
    shutil.rmtree(classroom.path / "submitted")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return classroom


def collect(course, files, roster=None, **options):
    """Collect a download of these files; the result, and the rows by student or label."""
    download = files if isinstance(files, Path) else zipped(course.path.parent / "download.zip", files)
    roster = roster or course.path.parents[1] / "roster.csv"
    given = collecting.Options(assignment="ps1", download=download, roster=roster, **options)
    result = collecting.run(course.path, given)
    return result, {row.student or row.label: row for row in result.rows}


def there(course, student):
    """A student's files, by name."""
    folder = course.path / "submitted" / student / "ps1"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_canvas(course):
    """Names, resubmissions, LATE, helper files, texts typed online; who is not on the roster is named."""
    result, rows = collect(
        course,
        [
            ("lovelaceada_LATE_4711_99001_tiny-1.ipynb", SOLVED),
            ("lovelaceada_LATE_4711_99002_helper-1.py", b"x = 1"),
            ("kingjrbob_4712_99003_my_work_12_13.ipynb", SOLVED),
            ("müllerweißjosé_4713_99004_tiny.ipynb", SOLVED),
            ("schmidtanna_4715_99005_tiny.ipynb", SOLVED),
            ("oharazoë_4800_text.html", b"<p>my answer</p>"),
            ("nobodynora_4900_99006_tiny.ipynb", SOLVED),
            ("readme.txt", b"?"),
        ],
    )
    assert result.platform == "Canvas" and result.exit_code == 1 and result.strange == ["readme.txt"]
    assert there(course, "ada") == {"tiny.ipynb": SOLVED, "helper.py": b"x = 1", "helper-1.py": b"x = 1"}
    assert there(course, "bob") == {"my_work_12_13.ipynb": SOLVED}
    assert there(course, "jose") == there(course, "anna2") == {"tiny.ipynb": SOLVED}
    assert there(course, "0012345") == {"text.html": b"<p>my answer</p>"} and "no notebook" in rows["0012345"].why
    assert rows["ada"].late and not rows["bob"].late
    nora = rows["nobodynora_4900"]
    assert nora.state == "unmatched" and "--match 'nobodynora_4900=STUDENT'" in nora.why
    assert result.absent == ["anna1"]


def test_canvas_numbers_come_from_its_gradebook(course, tmp_path):
    """In Canvas's own export, the ID is Canvas's number, and the folder is named by the university's."""
    (tmp_path / "canvas.csv").write_text(CANVAS_ROSTER)
    files = [("schmidtanna_4715_1_tiny.ipynb", SOLVED), ("schmidtanna_4714_2_tiny.ipynb", SOLVED + b" ")]
    _, rows = collect(course, files, tmp_path / "canvas.csv")
    assert {row.state for row in rows.values()} == {"new"}
    assert there(course, "anna2")["tiny.ipynb"] == SOLVED and there(course, "anna1")["tiny.ipynb"] == SOLVED + b" "


def test_moodle(course):
    """Folders with and without an underscore at their end, files without folders, texts typed online."""
    result, rows = collect(
        course,
        [
            ("Ada Lovelace_501_assignsubmission_file/tiny.ipynb", SOLVED),
            ("Ada Lovelace_501_assignsubmission_file/data/x.csv", b"1"),
            ("Ada Lovelace_501_assignsubmission_onlinetext/onlinetext.html", b"<p>see file</p>"),
            ("Bob King Jr._502_assignsubmission_file_/tiny.ipynb", SOLVED),
            ("José Müller-Weiß_503_assignsubmission_file_tiny_2_x.ipynb", SOLVED),
            ("Anna Schmidt_504_assignsubmission_file/tiny.ipynb", SOLVED),
            ("Zoe O'Hara_505_assignsubmission_onlinetext_/onlinetext.html", b"<p>text</p>"),
        ],
    )
    assert result.platform == "Moodle" and not result.strange
    assert set(there(course, "ada")) == {"tiny.ipynb", "data/x.csv", "onlinetext.html"}
    assert set(there(course, "bob")) == {"tiny.ipynb"} and set(there(course, "jose")) == {
        "tiny_2_x.ipynb",
        "tiny.ipynb",
    }
    assert set(there(course, "0012345")) == {"onlinetext.html"}
    anna = rows["Anna Schmidt_504"]
    assert anna.state == "ambiguous" and "anna1" in anna.why and "anna2" in anna.why


def test_moodle_without_names(course, tmp_path):
    """Anonymous submissions are matched by Moodle's grading worksheet; its numbers are nobody's ids."""
    (tmp_path / "sheet.csv").write_text(WORKSHEET)
    files = [
        ("Participant_501_assignsubmission_file/tiny.ipynb", SOLVED),
        ("Participant_4711_assignsubmission_file/tiny.ipynb", SOLVED),
    ]
    _, rows = collect(course, files, tmp_path / "sheet.csv")
    assert rows["ada@x.org"].state == "new" and rows["Participant_4711"].state == "unmatched"
    assert collect(course, files)[1]["Participant_4711"].state == "unmatched"


def test_moodle_teams(course):
    """In a team's submission each folder begins with the team's name."""
    files = [
        ("Team 1-Ada Lovelace_501_assignsubmission_file/tiny.ipynb", SOLVED),
        ("Team 1-José Müller-Weiß_503_assignsubmission_file/tiny.ipynb", SOLVED),
    ]
    assert {row.student for row in collect(course, files)[0].rows} == {"ada", "jose"}


def test_gradescope(course):
    """Who and when stand in its metadata, both ways of writing a time; a group's files go to each of it."""
    result, rows = collect(
        course,
        [
            ("assignment_8_export/submission_metadata.yml", GRADESCOPE.encode()),
            ("assignment_8_export/submission_77/tiny.ipynb", SOLVED),
            ("assignment_8_export/submission_77/timestamp.txt", b"2020-01-01 00:00:00 UTC"),
            ("assignment_8_export/submission_77/submission_metadata.yml", b"submission_77: mine"),
            ("assignment_8_export/submission_78/src/tiny.ipynb", SOLVED),
            ("assignment_8_export/submission_79/tiny.ipynb", SOLVED),
        ],
    )
    assert result.platform == "Gradescope"
    assert there(course, "ada")["timestamp.txt"] == b"2026-05-04 12:00:00.123456 UTC"
    assert "not the student's to say" in rows["ada"].why
    assert there(course, "bob") == there(course, "0012345")
    assert there(course, "bob")["timestamp.txt"].startswith(b"2026-05-05 01:30:00")
    assert rows["submission_79"].state == "unmatched" and "does not say whose" in rows["submission_79"].why


def test_a_folder_that_was_unpacked_is_as_good(course, tmp_path):
    """Browsers unpack what they download; what the system adds is left alone."""
    folder = tmp_path / "submissions"
    for name in ("lovelaceada_4711_1_tiny.ipynb", ".DS_Store", "__MACOSX/._lovelaceada_4711_1_tiny.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(SOLVED)
    (folder / "kingjrbob_4712_2_tiny.ipynb").symlink_to("/etc/passwd")
    result, rows = collect(course, folder)
    assert not result.strange and there(course, "ada") == {"tiny.ipynb": SOLVED}
    assert there(course, "bob") == {} and "link" in rows["bob"].why


# What the platform tells of a submitter, and who that is; None: it waits for a person.
MEANT = {
    "number": ({"numbers": {"canvas": "4714"}}, "anna1"),
    "number and name": ({"numbers": {"canvas": "4714"}, "names": ("schmidtanna",)}, "anna1"),
    "number of one, name of another": ({"numbers": {"canvas": "4711"}, "names": ("schmidtanna",)}, None),
    "number of another system": ({"numbers": {"moodle": "4711"}}, None),
    "id": ({"id": "0012345"}, "0012345"),
    "id without its zeros": ({"id": "12345"}, None),
    "address": ({"mail": "ADA@x.org"}, "ada"),
    "address of one, id of another": ({"mail": "ada@x.org", "id": "bob"}, None),
    "address of one of two with the name": ({"mail": "anna.two@x.org", "names": ("Anna Schmidt",)}, "anna2"),
    "name of two": ({"names": ("Anna Schmidt",)}, None),
    "last name first": ({"names": ("Lovelace, Ada",)}, "ada"),
    "no accents": ({"names": ("Jose Muller-Weiß",)}, "jose"),
    "another accent": ({"names": ("José Möller-Weiß",)}, None),
    "part of a name": ({"names": ("Ada",)}, None),
    "nothing": ({}, None),
}


@pytest.mark.parametrize("case", MEANT)
def test_who_is_meant(course, case):
    """One student, if all that the platform tells means that student; else nobody."""
    from autograder.authoring.roster import Person, read_roster

    told, wanted = MEANT[case]
    people = read_roster(course.path.parents[1] / "roster.csv")
    matcher = collecting.Matcher(people, {}, bulk_download.Download(platform="", packets=[], strange=[]))
    found = matcher.person("label", bulk_download.Submitter(**told))
    assert (found.id if isinstance(found, Person) else None) == wanted


def test_a_person_says_who_it_is(course):
    """--match names the student for a label, a number or a name; a student that there is not is refused."""
    files = [("nobodynora_4900_1_tiny.ipynb", SOLVED), ("anon_aB3_2_tiny.ipynb", SOLVED)]
    result, rows = collect(course, files, told={"4900": "ada", "anon_aB3": "bob"})
    assert result.exit_code == 0 and {row.student for row in rows.values()} == {"ada", "bob"}
    with pytest.raises(StaffError, match="not on the roster"):
        collect(course, files, told={"4900": "nora"})


def test_two_submissions_never_become_one(course):
    """Two of the platform's accounts that mean one student: neither is taken."""
    result, _ = collect(course, [("lovelaceada_1_1_tiny.ipynb", SOLVED), ("lovelaceada_2_2_tiny.ipynb", SOLVED + b" ")])
    assert {row.state for row in result.rows} == {"ambiguous"} and not (course.path / "submitted/ada").exists()


def test_what_is_there_is_never_lost_silently(course):
    """The same again is unchanged; Canvas's later upload replaces; a Moodle one needs --force; by time elsewhere."""
    first, second = [("lovelaceada_4711_7_tiny.ipynb", SOLVED)], [("lovelaceada_4711_9_tiny-1.ipynb", SOLVED + b" ")]
    assert collect(course, first)[1]["ada"].state == "new"
    assert collect(course, first)[1]["ada"].state == "unchanged"
    assert collect(course, second)[1]["ada"].state == "replaced"
    old, rows = collect(course, first)
    assert rows["ada"].state == "older" and old.exit_code == 0
    assert there(course, "ada") == {"tiny.ipynb": SOLVED + b" "}
    moodle = [("Ada Lovelace_5_assignsubmission_file/tiny.ipynb", b"other")]
    result, rows = collect(course, moodle)
    assert rows["ada"].state == "differs" and result.exit_code == 1 and "--force" in rows["ada"].why
    assert there(course, "ada") == {"tiny.ipynb": SOLVED + b" "}
    assert collect(course, moodle, force=True)[1]["ada"].state == "replaced"
    assert there(course, "ada") == {"tiny.ipynb": b"other"}


@pytest.mark.parametrize(
    ("stamp", "state"),
    [("2026-05-04 11:59:59 UTC", "replaced"), ("2026-05-04 12:00:01 UTC", "older"), ("whenever", "differs")],
)
def test_the_later_one_is_kept(course, stamp, state):
    """What was handed in by another way has a time of its own; the later of the two is kept."""
    folder = course.path / "submitted/ada/ps1"
    folder.mkdir(parents=True)
    (folder / "tiny.ipynb").write_bytes(b"by the exchange")
    (folder / "timestamp.txt").write_text(stamp)
    files = [("submission_metadata.yml", GRADESCOPE.encode()), ("submission_77/tiny.ipynb", SOLVED)]
    assert collect(course, files)[1]["ada"].state == state
    assert there(course, "ada")["tiny.ipynb"] == (SOLVED if state == "replaced" else b"by the exchange")


def test_a_dry_run_writes_nothing(course):
    """The same table, and no file that was not there."""
    before = sorted(course.path.rglob("*"))
    _, rows = collect(course, [("lovelaceada_LATE_4711_7_tiny.ipynb", SOLVED)], dry_run=True)
    assert rows["ada"].state == "new" and sorted(course.path.rglob("*")) == before


def link(name, target=b"/etc/passwd"):
    """A symbolic link in a zip file, as Info-ZIP stores it."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info, target


def test_a_download_cannot_write_elsewhere(course):
    """Ways up, roots, drives, links, and names that no file can have: nothing leaves the student's folder."""
    around = {path: path.read_bytes() for path in course.path.parent.rglob("*") if path.is_file()}
    moodle = "Ada Lovelace_5_assignsubmission_file"
    _, rows = collect(
        course,
        [
            (f"{moodle}/tiny.ipynb", SOLVED),
            (f"{moodle}/../../../../../evil.py", b"1"),
            (f"{moodle}\\..\\..\\back.py", b"2"),
            (f"/{moodle}/root.py", b"3"),
            link(f"{moodle}/link.csv"),
            (f"{moodle}/{'n' * 300}.txt", b"4"),
            (f"{moodle}/data", b"5"),
            (f"{moodle}/data/x.csv", b"6"),
            (f"{moodle}/tiny.ipynb", SOLVED + b" "),
            (f"{moodle}/.DS_Store", b""),
            (f"__MACOSX/{moodle}/._tiny.ipynb", b""),
        ],
    )
    found = there(course, "ada")
    assert set(found) == {"tiny.ipynb", "tiny (2).ipynb", "evil.py", "back.py", "root.py", "data"}
    assert all(word in rows["ada"].why for word in ("it is a link", "too long", "name of a folder", "led out"))
    download = course.path.parent / "download.zip"
    outside = {path for path in course.path.parent.rglob("*") if path.is_file() and "submitted" not in path.parts}
    assert outside - set(around) == {download, collected.path_of(course.path, "ps1")}
    assert all(path.read_bytes() == content for path, content in around.items())


def test_bombs_and_floods_are_left_out(course, monkeypatch):
    """A file that grows beyond the limit, and more files than the limit; the others are taken."""
    monkeypatch.setattr(collecting, "MAX_BYTES", 2**20)
    monkeypatch.setattr(collecting, "MAX_FILES", 5)
    moodle = "Ada Lovelace_5_assignsubmission_file"
    files = [(f"{moodle}/tiny.ipynb", SOLVED), (f"{moodle}/bomb.csv", bytes(2**22))]
    _, rows = collect(course, files + [(f"{moodle}/{n}.txt", b"") for n in range(9)])
    assert len(there(course, "ada")) == 5 and "bomb.csv" not in there(course, "ada")
    assert "bomb.csv was left out" in rows["ada"].why and "more than 5 files" in rows["ada"].why


def test_names_in_no_encoding(course):
    """Programs that write UTF-8 without saying so are read as it; those that say so and lie do no harm."""
    path = zipped(course.path.parent / "download.zip", [("m\u00fcllerwei\u00dfjos\u00e9_4713_1_tiny.ipynb", SOLVED)])
    content = path.read_bytes()
    for changed in (content.replace(b"\x00\x08", b"\x00\x00"), content.replace("ü".encode(), b"\xff\xfe")):
        assert changed != content
        path.write_bytes(changed)
        shutil.rmtree(course.path / "submitted", ignore_errors=True)
        result, _ = collect(course, path)
        assert [row.files for row in result.rows] == [1]


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_download_is_refused(course, content):
    """A sentence that says what the names look like, and nothing is written."""
    path = course.path.parent / "x.zip"
    path.write_bytes(content)
    with pytest.raises(StaffError):
        collect(course, path)


def test_other_names_are_refused(course):
    """A zip of folders that no platform makes says so; an assignment that there is not, too."""
    with pytest.raises(StaffError, match="no download of Canvas"):
        collect(course, [("ada/tiny.ipynb", SOLVED)])


def test_from_download_to_marks(course, built, tmp_path):
    """By the real commands: nbgrader's students, collect, grade; the late one is flagged, and marks are right."""
    good = (built.path / "submitted/perfect/ps1/tiny.ipynb").read_bytes()
    half = (built.path / "submitted/half_done/ps1/tiny.ipynb").read_bytes()
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("ps1/tiny.ipynb", good)
        archive.writestr("__MACOSX/ps1/._tiny.ipynb", b"\0")
    assert course.nbgrader("db", "student", "import", str(tmp_path / "roster.csv")).returncode == 0
    download = zipped(
        tmp_path / "submissions.zip",
        [
            ("lovelaceada_LATE_4711_1_tiny-2.ipynb", good),
            ("kingjrbob_4712_2_tiny.ipynb", half),
            ("müllerweißjosé_4713_3_ps1.zip", inner.getvalue()),
        ],
    )
    seen = course.call("collect", str(download), "--dry-run")
    assert seen.returncode == 0 and "LATE" in seen.stdout and not (course.path / "submitted").exists()
    run = course.call("collect", str(download), "--json")
    assert run.returncode == 0 and json.loads(run.stdout)["absent"] == ["0012345", "anna1", "anna2"]
    figures = course.grade()
    assert (figures["graded"], figures["exit"], figures["without_submission"]) == (3, 0, 3)
    sums = {}
    for student, _, score, *_ in course.rows():
        sums[student] = sums.get(student, 0) + (score or 0)
    assert sums == {"ada": 10, "bob": 6, "jose": 10}
    flags = {line["student"]: " ".join(line["flags"]) for line in course.lines() if line.get("state") == "done"}
    assert "late" in flags["ada"] and "late" not in flags["bob"]
