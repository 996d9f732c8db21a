"""Marks that leave: each file is read back by a reader that follows the platform's published rules, not our code."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.roster import Person
from autograder.errors import StaffError
from autograder.reporting import marks_table
from autograder.reporting.class_marks import ClassMarks, Mark
from autograder.reporting.lms_files import PLATFORMS, Filled, Wanted, fill_in, two_decimals
from autograder.reporting.moodle_feedback import feedback_zip
from autograder.reporting.sheet import read_sheet

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Problem set 1 (4711),Other (12),Final Score\r\n"
    ",,,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,,10,5,(read only)\r\n"
    '"Able, ""Ada""",4711,,ada@uni,"A, B",x,,1,93.1\r\n'
    '"Pascal, Blaise",12,blaise,,A,,,2,\r\n'
    '"Gauss, Carl",13,carl,,A,,7.00,2,\r\n'
    '"Mar, Dora",14,dora,,A,,,,\r\n'
    '"Nöther, Emmy",15,emmy,,A,,,,\r\n'
    '"Zuse, Konrad",007,zuse,,A,,3,,\r\n'
    '"Student, Test",99,emmy2,,A,,,,\r\n'
)
MOODLE = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    '"Last modified (grade)","Feedback comments"\n'
    'Participant 900,"Ada_Able",007,ada@x.org,Submitted,,"10,00",Yes,-,"<p>good, so far</p>"\n'
    'Participant 901,"Blaise",blaise,blaise@x.org,Submitted,,"10,00",Yes,-,\n'
    'Participant 902,"Carl",carl,c@x.org,"No submission","4,00","10,00",Yes,-,\n'
    'Participant 904,"Emmy Nöther",emmy,=cmd@x.org,Submitted,,"10,00",No,-,\n'
)
BRIGHTSPACE = (
    "OrgDefinedId,Username,Last Name,Problem set 1 Points Grade <Numeric MaxPoints:10 Weight:5>,End-of-Line Indicator\n"
    "#007,ada,Able,,#\n#carl,carl,Gauss,5,#\n#emmy,en,Nöther,,#\n"
)
BLACKBOARD = (
    '"Last Name"\t"Username"\t"Student ID"\t"Problem set 1 [Total Pts: 10 Score] |123456"\t"Other [Total Pts: 5] |7"\n'
    '"Able"\t"ada"\t"007"\t""\t"1"\n"Nöther"\t"emmy"\t""\t""\t"2"\n'
)


def canvas_reader(content: bytes, before: bytes) -> dict[str, str]:
    """What Canvas would change: by internal id, else SIS id; a blank where there was a mark is a change."""

    def table(data: bytes) -> dict[str, str]:
        rows = list(csv.reader(io.StringIO(data.decode())))
        head = rows[0]
        assert len(head) > 3 and "Student" in head[0] and "ID" in head[1] and "Section" in head[4]
        place = next(i for i, name in enumerate(head) if re.search(r"\(4711\)$", name))
        body = [row for row in rows[1:] if row[0].strip() and "Points Possible" not in row[0]]
        assert next(row for row in rows if "Points Possible" in row[0])[place] in ("", "10")
        return {row[1]: row[place] for row in body}

    old, new = table(before), table(content)
    return {who: mark for who, mark in new.items() if mark != old[who]}


def moodle_reader(content: bytes, before: bytes) -> dict[str, float]:
    """What Moodle would take, by participant: no empty, equal, locked or too large grade, decimal commas read."""

    def table(data: bytes) -> dict[str, dict[str, str]]:
        rows = csv.DictReader(io.StringIO(data.decode()))
        return {re.fullmatch(r"Participant (\d+)", row["Identifier"])[1]: row for row in rows}  # type: ignore[index]

    old, taken = table(before), {}
    for who, row in table(content).items():
        assert {key: row[key] for key in row if key != "Grade"} == {key: old[who][key] for key in row if key != "Grade"}
        grade = row["Grade"].replace(",", ".")
        if grade and row["Grade"] != old[who]["Grade"] and row["Grade can be changed"] == "Yes":
            assert 0 <= float(grade) <= float(row["Maximum Grade"].replace(",", "."))
            taken[who] = float(grade)
    return taken


def filled(tmp_path: Path, name: str, text: str | bytes, marks: ClassMarks, people: Any = (), **wanted: Any) -> Filled:
    """A template filled in, held lines left out."""
    path = tmp_path / "template.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return fill_in(read_sheet(path), PLATFORMS[name], marks, people, Wanted(**{"omit_held": True, **wanted}))


def test_canvas(marks, tmp_path) -> None:
    """Marks with two decimals, EX for the excused, lateness taken off; no line of the held; all else byte for byte."""
    found = filled(tmp_path, "canvas", CANVAS, marks)
    assert canvas_reader(found.content, CANVAS.encode()) == {"4711": "9.13", "14": "EX", "15": "0.00"}
    lines, before = found.content.decode().splitlines(True), CANVAS.splitlines(True)
    assert lines[:3] == before[:3] and lines[3] == before[3].replace(",x,,1,", ",x,9.13,1,")
    assert not any("Blaise" in line for line in lines) and [before[5], *before[8:]] == [lines[4], *lines[7:]]
    assert found.rows == {
        "blaise": "held",
        "carl": "missing",
        "zuse": "no student of the gradebook has this number",
    }
    assert found.pupils == {}


def test_an_internal_number_is_no_matriculation_number(marks, tmp_path) -> None:
    """Konrad's number in Canvas is Ada's id with us: his line stays as it was."""
    assert "007,zuse,,A,,3," in filled(tmp_path, "canvas", CANVAS, marks).content.decode()


def test_moodle(marks, tmp_path) -> None:
    """Decimal commas where the worksheet has them; what is locked or not handed in stays."""
    found = filled(tmp_path, "moodle", MOODLE, marks)
    assert moodle_reader(found.content, MOODLE.encode()) == {"900": 9.13}
    assert found.rows == {
        "blaise": "held",
        "carl": "missing",
        "emmy": "Moodle says that this mark cannot be changed",
    }
    assert found.pupils == {"dora": "no line of the file is theirs"}


def test_moodle_without_names(marks, tmp_path) -> None:
    """A worksheet of blind marking knows a participant's number alone, which the roster has."""
    blind = "Identifier,Status,Grade,Maximum Grade\nParticipant 55,Submitted,,10.00\n"
    people = [Person(id="007", numbers={"moodle": "55"})]
    assert filled(tmp_path, "moodle", blind, marks, people).given == {"007": 9.125}
    assert filled(tmp_path, "moodle", blind.replace("55", "56"), marks, people).given == {}


def test_a_worksheet_in_another_language(marks, tmp_path) -> None:
    """Who a line is about is seen from its first cell; the column of marks is named. Feedback files find it as well."""
    german = "ID,Vollständiger Name,ID-Nummer,Bewertung\nTeilnehmer/in 900,Ada Able,007,\n"
    people = [Person(id="007", numbers={"moodle": "900"})]
    found = filled(tmp_path, "moodle", german, marks, people, column="Bewertung")
    assert found.given == {"007": 9.125} and found.content.decode().endswith("007,9.13\n")
    page = tmp_path / "gates.html"
    page.write_text("x")
    content = feedback_zip(read_sheet(tmp_path / "template.csv"), found.lines, {"007": [page]})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == ["Participant_900_assignfeedback_file/gates.html"]


@pytest.mark.parametrize(
    ("kind", "template", "taken"),
    [("moodle", MOODLE, False), ("brightspace", BRIGHTSPACE, False), ("canvas", CANVAS, True)],
)
def test_more_points_than_the_maximum(kind: str, template: str, taken: bool, marks, tmp_path) -> None:
    """Moodle passes over them without a word, and Brightspace cuts them off: so they are named, and not written."""
    ada = marks.pupils[0]
    more = replace(ada, marks={**ada.marks, "gates.ugrnn": Mark(status="graded", points=6.5)})
    found = filled(tmp_path, kind, template, replace(marks, pupils=(more, *marks.pupils[1:])))
    assert ("007" in found.given) is taken
    assert any("more than the maximum" in why for why in found.rows.values()) is not taken


def test_canvas_has_not_assigned_it(marks, tmp_path) -> None:
    """Such a cell stays: Canvas would empty any other."""
    found = filled(tmp_path, "canvas", CANVAS.replace(',ada@uni,"A, B",x,,1', ',ada@uni,"A, B",x,N/A,1'), marks)
    assert ",x,N/A,1," in found.content.decode() and found.rows["ada@uni"].startswith("Canvas has not assigned")


def test_brightspace(marks, tmp_path) -> None:
    """Ids with their mark of number; the line's end stays."""
    text = filled(tmp_path, "brightspace", BRIGHTSPACE, marks).content.decode()
    assert text == BRIGHTSPACE.replace("Able,,#", "Able,9.13,#").replace("Nöther,,#", "Nöther,0.00,#")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_blackboard(encoding: str, marks, tmp_path) -> None:
    """Tabs, quotation marks and the encoding stay, whatever it is."""
    found = filled(tmp_path, "blackboard", BLACKBOARD.encode(encoding), marks)
    wanted = BLACKBOARD.replace('"007"\t""', '"007"\t"9.13"').replace('"emmy"\t""\t""', '"emmy"\t""\t"0.00"')
    assert found.content == wanted.encode(encoding)


REFUSED: list[tuple[str, str, Callable[[str], str], dict[str, Any], str]] = [
    ("another table", "canvas", lambda text: "id,name,mark,x\n1,a,2,\n", {}, "no column student, section"),
    ("held", "canvas", str, {"omit_held": False}, "1 students have parts that wait for a person (blaise)"),
    ("no such column", "canvas", str, {"column": "Problem set 2"}, "did you mean Problem set 1 (4711)?"),
    ("a column that Canvas passes over", "canvas", lambda text: text.replace("Problem set 1 (4", "Final Grade (4"),
     {"column": "Final Grade (4711)"}, "passes over"),
    ("read only", "canvas", lambda text: text.replace(",10,5,", ",(read only),5,"), {}, "is read only"),
    ("another maximum", "canvas", lambda text: text.replace(",10,5,", ",20,5,"), {}, "has a maximum of 20 points"),
    ("another maximum", "moodle", lambda text: text.replace('"10,00"', '"100,00"'), {}, "a maximum of 100 points"),
    ("another maximum", "brightspace", lambda text: text.replace(":10 ", ":8 "), {}, "a maximum of 8 points"),
    ("another maximum", "blackboard", lambda text: text.replace(": 10 ", ": 9 "), {}, "a maximum of 9 points"),
    ("two lines of one", "canvas", lambda text: text.replace("zuse", "emmy"), {}, "lines 8 and 9 of the file are both"),
    ("an open quotation", "canvas", lambda text: text + '"Able', {}, "line 11: a quotation mark is opened"),
    ("a workbook", "canvas", lambda text: "PK\x03\x04...", {}, "an Excel workbook"),
    ("nothing", "canvas", lambda text: "", {}, "is empty"),
]  # fmt: skip
TEMPLATES = {"canvas": CANVAS, "moodle": MOODLE, "brightspace": BRIGHTSPACE, "blackboard": BLACKBOARD}


@pytest.mark.parametrize(
    ("name", "kind", "change", "wanted", "said"), REFUSED, ids=[f"{r[1]}: {r[0]}" for r in REFUSED]
)
def test_what_could_not_be_uploaded_is_refused(name, kind, change, wanted, said, marks, tmp_path) -> None:
    """A sentence says what is wrong, before anything is written."""
    with pytest.raises(StaffError) as raised:
        filled(tmp_path, kind, change(TEMPLATES[kind]), marks, **wanted)
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("points", "text"),
    [(9.125, "9.13"), (9.1249, "9.12"), (1.005, "1.01"), (0, "0.00"), (2 / 3, "0.67"), (70, "70.00")],
)
def test_two_decimals(points: float, text: str) -> None:
    """Halves go up, also those that binary numbers have a little below."""
    assert two_decimals(points) == text


def test_points_are_scaled_where_that_is_asked_for(marks, tmp_path) -> None:
    """To the platform's maximum, of each line."""
    found = filled(tmp_path, "moodle", MOODLE.replace('"10,00"', '"100,00"'), marks, scale=True)
    assert found.given == {"007": 91.25} and '"100,00"' in found.content.decode()


def test_who_could_be_two_is_nobody(marks, tmp_path) -> None:
    """A login of one student and a number of another in one line: named, and not filled in."""
    text = (
        CANVAS.replace("12,blaise,,", "12,emmy3,007,")
        .replace('"Able', '"Unable')
        .replace("4711,,ada@uni", "1,007,emmy")
    )
    found = filled(tmp_path, "canvas", text, marks)
    assert found.rows["007"] == "this is 007 or emmy"


def test_moodles_feedback_files(marks, tmp_path) -> None:
    """Each path has four pieces at its underscores, whatever the name; the same bytes each time."""
    page = tmp_path / "gates.html"
    page.write_text("<p>9 of 10</p>")
    (tmp_path / "worksheet.csv").write_text(MOODLE)
    sheet = read_sheet(tmp_path / "worksheet.csv")
    content = feedback_zip(sheet, {"007": 1, "emmy": 4}, {"007": [page], "emmy": []})
    assert content == feedback_zip(sheet, {"007": 1, "emmy": 4}, {"007": [page], "emmy": []})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (name,) = archive.namelist()
        folder, file = name.split("/")
        who, number, plugin, kind = folder.split("_", 4)
        assert (who, number, plugin, kind, file) == ("Ada Able", "900", "assignfeedback", "file", "gates.html")
        assert archive.read(name) == b"<p>9 of 10</p>"


def test_our_own_table(marks) -> None:
    """Quoted, with a status; what has no mark is empty; no field is a formula; the other way round it is the same."""
    rows = list(csv.DictReader(io.StringIO(marks_table.wide(marks))))
    assert [(row["student_id"], row["status"], row["total"], row["decided"]) for row in rows] == [
        ("007", "graded", "9.125", "9.125"),
        ("blaise", "held", "", "4"),
        ("carl", "missing", "", ""),
        ("dora", "excused", "", ""),
        ("emmy", "graded", "0", "0.5"),
    ]
    assert rows[1]["gates.open_gate"] == "" and rows[4]["gates.ugrnn"] == "0" and rows[4]["last_name"] == "Nöther, PhD"
    assert rows[4]["email"] == '="=cmd@x.org"' and marks_table.from_text(rows[4]["email"]) == "=cmd@x.org"
    long = list(csv.DictReader(io.StringIO(marks_table.long(marks, bom=True).removeprefix("\ufeff"))))
    assert len(long) == 15 and {row["status"] for row in long} == {"graded", "held", "missing", "excused"}


@pytest.mark.parametrize("field", ["=1+1", "+1-2", "-x", "@SUM(A1)", "\tx", '=HYPERLINK("http://x","y")', "＝1"])
def test_no_field_is_a_formula(field: str) -> None:
    """What begins like a formula is written as text, and read back as it was."""
    written = marks_table.as_text(field)
    assert written.startswith('="') and written.endswith('"') and marks_table.from_text(written) == field


@pytest.mark.parametrize("field", ["ada", "1-2", "a=b", "", "-3", "-3.25", "3+4"])
def test_other_fields_stay(field: str) -> None:
    """Near misses: what does not begin like a formula, and negative numbers."""
    assert next(csv.reader(io.StringIO(marks_table._csv([[field, "."]], bom=False)))) == [field, "."]


@pytest.mark.parametrize(
    "text", ["a,b\r\n1,2", "a;b\n\n;\n", '"a\nb"\tc\n\td\r', "a\n", "\n", '"a,""b""",c,\n,,\n', "a,b\n1", '" x" ,y\n']
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_table_that_is_not_touched_keeps_its_bytes(text: str, encoding: str, tmp_path) -> None:
    """Whatever its separators, line ends, quotation marks and encoding."""
    path = tmp_path / "t.csv"
    path.write_bytes(f"é{text}".encode(encoding))
    assert read_sheet(path).content() == path.read_bytes()
