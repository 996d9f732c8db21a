"""Which key hidden inputs follow from: the assignment's own, or the secret where reports were made by that."""

import json

import pytest

from autograder.authoring.derived_keys import assignment_key, fingerprint
from autograder.core import Report
from autograder.grading.hidden_key import has_own_key, hidden_key, key_of

SECRET = b"s" * 64
OWN = assignment_key(SECRET, "ps1")


def put(course, student, **content):
    """A stored report, as far as it is looked at."""
    path = course / "reports/ps1" / student / "tiny.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


STORED = {
    "nothing was graded": ([], OWN),
    "by its own key": ([{"slug": "tiny", "key": fingerprint(OWN)}], OWN),
    "of a version that said nothing": ([{"slug": "tiny"}], SECRET),
    "by the secret, said since": ([{"slug": "tiny", "key": fingerprint(SECRET)}], SECRET),
    "of another course's key": ([{"slug": "tiny", "key": fingerprint(b"t" * 64)}], SECRET),
    "a notebook of the instructor's own says nothing": ([{"slug": ""}], OWN),
    "that, and one that does": ([{"slug": ""}, {"slug": "tiny"}], SECRET),
    "one that cannot be read is passed over": ([{}, {"slug": "tiny", "key": fingerprint(OWN)}], OWN),
}


@pytest.mark.parametrize(("stored", "key"), STORED.values(), ids=STORED)
def test_an_assignment_keeps_the_rule_of_its_reports(tmp_path, stored, key):
    """All of a class are asked by one key: the one by which the first were."""
    for number, content in enumerate(stored):
        put(tmp_path, f"student-{number}", **content)
    assert hidden_key(tmp_path, "ps1", SECRET) == key
    assert has_own_key(tmp_path, "ps1", SECRET) == (key == OWN)
    assert hidden_key(tmp_path, "ps2", SECRET) == assignment_key(SECRET, "ps2")


@pytest.mark.parametrize(("told", "key"), [("", SECRET), (fingerprint(OWN), OWN), (fingerprint(SECRET), SECRET)])
def test_a_report_is_judged_again_by_its_own_key(told, key):
    """Whatever the rest of the class was asked by."""
    report = Report(slug="tiny", version=1, parameters={}, outcomes=(), key=told)
    assert key_of(report, "ps1", SECRET) == key
