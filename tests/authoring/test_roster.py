"""Rosters as they are exported: read by their headers, and no header, points row or test student becomes a student."""

import pytest

from autograder.authoring.roster import of_course, read_roster
from autograder.errors import StaffError

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Problem set 1 (33)
,,,,,Manual Posting
    Points Possible,,,,,12
"Lovelace, Ada",4711,007,ada@x.org,A,
"Bell, Bob",4712,008,bob@x.org,A,
"Student, Test",9999,,0123abc,A,
"""
CANVAS_TWO_NAMES = """LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,Quiz (1)
Points Possible,,,,,,12
Lovelace,Ada,4711,007,ada@x.org,A,
Bell,Bob,4712,008,bob@x.org,A,
Student,Test,9999,,0123abc,A,
"""
MOODLE = "First name,Surname,ID number,Email address\nAda,Lovelace,007,ada@x.org\nBob,Bell,008,bob@x.org\n"
GERMAN = "Vorname;Nachname;ID-Nummer;E-Mail-Adresse\nAda;Lovelace;007;ada@x.org\nBob;Bell;008;bob@x.org\n"
FRENCH = "Prénom,Nom de famille,Numéro d’identification,Adresse de courriel\nAda,L,007,ada@x.org\nBob,B,008,b@x.org\n"
GRADESCOPE = "First Name,Last Name,SID,Email,Sections\nAda,Lovelace,007,ada@x.org,\nBob,Bell,008,bob@x.org,\n"
BRIGHTSPACE = "OrgDefinedId,Username,End-of-Line Indicator\n#007,#ada,#\n#008,#bob,#\n"
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\n'
    '"Lovelace"\t"Ada"\t"ada"\t"007"\t""\t"Yes"\n"Bell"\t"Bob"\t"bob"\t"008"\t""\t"Yes"\n'
)
NUMBERS, NAMES, MAILS = ["007", "008"], ["ada", "bob"], ["ada@x.org", "bob@x.org"]

READ = {
    "nbgrader": ("id,last_name,first_name,email,lms_user_id\nada,L,Ada,a@x.org,4711\nbob,B,Bob,,\n", NAMES),
    "nbgrader, spaces and capitals": ("ID , Last Name\n ada , L\nbob,B\n", NAMES),
    "Canvas": (CANVAS, NUMBERS),
    "Canvas, two columns of names": (CANVAS_TWO_NAMES, NUMBERS),
    "Canvas without numbers of the university": (CANVAS.replace("SIS User ID", "Root Account"), MAILS),
    "Moodle": (MOODLE, NUMBERS),
    "Moodle by user names": (MOODLE.replace("ID number", "Username"), NUMBERS),
    "Moodle by addresses": (MOODLE.replace("ID number", "Institution"), MAILS),
    "Moodle in German": (GERMAN, NUMBERS),
    "Moodle in French": (FRENCH, NUMBERS),
    "Gradescope": (GRADESCOPE, NUMBERS),
    "Gradescope without numbers": (GRADESCOPE.replace("007", "").replace("008", ""), MAILS),
    "Brightspace": (BRIGHTSPACE, NUMBERS),
    "Brightspace by user names": (BRIGHTSPACE.replace("OrgDefinedId", "Role"), NAMES),
    "Blackboard": (BLACKBOARD, NAMES),
    "a spreadsheet's line": ("sep=;\nid;name\nada;Lovelace, Ada\nbob;Bell, Bob\n", NAMES),
    "commas in quotes, semicolons between": ('"id";"name, first, second"\nada;"L, A, B"\nbob;"B, B, C"\n', NAMES),
    "ids alone": ("ada\nbob\n", NAMES),
    "numbers alone": ("007\n008\n", NUMBERS),
    "one column with a head": ("SIS Login ID\nada\nbob\n", NAMES),
    "ids and names without a head": ("007,Ada Lovelace\n008,Bob Bell\n", NUMBERS),
    "nobody yet": ("id,last_name,first_name,email\n", []),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("case", READ)
def test_a_roster_is_read_by_its_header(case, encoding, tmp_path):
    """Each system's export, in each encoding that spreadsheets write, gives its students and nobody else."""
    text, wanted = READ[case]
    (tmp_path / "roster.csv").write_bytes(text.replace("\n", "\r\n").encode(encoding))
    assert [person.id for person in read_roster(tmp_path / "roster.csv")] == wanted


REFUSED = {
    "Kennung\ns007\ns008\n": "not certain",
    "Vorn.,Nachn.\nAda,Lovelace\n": "not certain",
    "Student Number,Group\n007,A\n": "--column",
    "Matrikel,Gruppe\n007,A\n": "--column",
    "Netid\nada\n": "--column",
    CANVAS.replace("SIS User ID", "X").replace("SIS Login ID", "Y"): "--column",
    "id,name\nada,A\nada,B\n": "twice",
    "id,name\nada,A\n,Bob\n": "Bob",
    "id\n../ada\n": "names a folder",
    "PK\x03\x04rest": "workbook",
    "": "is empty",
}


@pytest.mark.parametrize("text", REFUSED, ids=[repr(text[:20]) for text in REFUSED])
def test_what_is_not_certain_is_refused(text, tmp_path):
    """A header that nobody knows becomes no student: the columns are named, and what to do."""
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    with pytest.raises(StaffError, match=REFUSED[text]):
        read_roster(tmp_path / "roster.csv")


def test_of_several_columns_the_known_one_counts(tmp_path):
    """A course whose folders have login names goes on with them; --column decides otherwise."""
    path = tmp_path / "roster.csv"
    path.write_text(CANVAS, encoding="utf-8")
    assert [person.id for person in read_roster(path, ["ada@x.org"])] == MAILS
    assert [person.id for person in read_roster(path, ["ada@x.org"], "SIS User ID")] == NUMBERS
    assert read_roster(path)[0].numbers == {"canvas": "4711"}


def test_a_course_without_a_roster_has_none(tmp_path):
    """Nobody is missing where nobody was named."""
    assert of_course(tmp_path) == []
