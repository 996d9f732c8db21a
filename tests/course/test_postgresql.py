"""A gradebook in PostgreSQL, by its URL: a server of the test's own, started and stopped by it."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

QUERY = """
    select student_id, base_cell.name, auto_score, needs_manual_grade from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join base_cell on grade.cell_id = base_cell.id
"""


def programs() -> Path:
    """Where initdb and pg_ctl are; skips where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    if not found and not (path := shutil.which("initdb")):
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return found[-1].parent if found else Path(path).parent


def somebody() -> dict:
    """Options that run a program as an ordinary user: the server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no ordinary user to run it as")


@pytest.fixture(scope="module")
def server():
    """The URL of a database."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'psycopg[binary]'")
    where, user = programs(), somebody()
    name = pwd.getpwuid(user["user"]).pw_name if user else getpass.getuser()
    # A socket's path has to be short, and the folder must be the server's own.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    if user:
        os.chown(folder, user["user"], user["group"])
    options = {
        **user,
        "check": True,
        "capture_output": True,
        "cwd": folder,
        "env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
    }
    try:
        subprocess.run([where / "initdb", "-D", folder / "data", "-A", "trust", "-E", "UTF8"], **options)
        settings = f"-c listen_addresses='' -k {folder} -c fsync=off"
        start = [where / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", settings, "start"]
        subprocess.run(start, **{**options, "capture_output": False, "stdout": subprocess.DEVNULL})
        subprocess.run([where / "createdb", "-h", folder, "grades"], **options)
        yield f"postgresql+psycopg://{name}@/grades?host={folder}"
    finally:
        stop = [where / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop"]
        subprocess.run(stop, **{**options, "check": False})
        shutil.rmtree(folder, ignore_errors=True)


def test_marks_in_postgresql(server, build_course, graded, tmp_path):
    """The marks are those that SQLite holds; a second run changes nothing, and a resumed one does nothing."""
    import sqlalchemy

    course = build_course(tmp_path / "course", f"c.CourseDirectory.db_url = {server!r}\n")
    engine = sqlalchemy.create_engine(server)

    def rows():
        with engine.connect() as connection:
            return sorted(tuple(row) for row in connection.execute(sqlalchemy.text(QUERY)))

    assert course.grade()["graded"] == 15
    first = rows()
    assert first == sorted((*row[:3], bool(row[4])) for row in graded.rows())
    assert not (course.path / "gradebook.db").exists()
    assert course.grade("--no-feedback", "--student", "perfect")["graded"] == 1 and rows() == first
    assert course.grade("--resume", "--no-feedback")["kept"] == 15
    engine.dispose()
