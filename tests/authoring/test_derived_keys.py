"""Keys that follow from a course's secret: one for each purpose, none of which tells another."""

import hashlib
import hmac

from autograder.authoring.derived_keys import assignment_key, fingerprint, receipt_key, seed_salt
from autograder.authoring.sealing import parameters_digest
from autograder.authoring.variants import part_key, stream_key

SECRET = b"s" * 64


def test_every_purpose_and_name_has_a_key_of_its_own():
    """No two of them are equal, also for names that would run into each other if they were only joined."""
    salted = [("a", "b", "c"), ("ab", "", "c"), ('a","b', "c", ""), ("a", "bc", "")]
    keys = [
        SECRET,
        *(assignment_key(SECRET, name) for name in ("ps1", "ps2", "ps1\x1f", 'ps1","x')),
        *(receipt_key(SECRET, name) for name in ("ps1", "ps2")),
        *(seed_salt(SECRET, *names) for names in salted),
    ]  # fmt: skip
    assert len({key[:16] for key in keys}) == len(keys)
    assert assignment_key(SECRET, "ps1") != assignment_key(b"t" * 64, "ps1")


def test_a_key_is_no_stream_and_no_seal():
    """What was derived from the secret before is not what is told: streams of numbers, and the keys of seals."""
    told = assignment_key(SECRET, "ps1")
    words = tuple(int.from_bytes(told[4 * i : 4 * i + 4], "big") for i in range(4))
    texts = ("hidden inputs", "keys", '["hidden inputs", "ps1"]')
    assert words not in {stream_key(SECRET, *purpose) for text in texts for purpose in ((text,), (text, "ps1"))}
    assert parameters_digest({"J": 3}, told) != parameters_digest({"J": 3}, SECRET)


def test_the_rule_of_before_is_the_one_that_it_was():
    """Hidden inputs of a course begun before follow from its secret as HMAC-SHA256 of their place, 16 bytes of it."""
    digest = hmac.new(SECRET, b"inputs\x1ftiny\x1f1\x1f7\x1fcentre", hashlib.sha256).digest()
    assert b"".join(word.to_bytes(4, "big") for word in part_key(SECRET, "tiny", 1, 7, "centre")) == digest[:16]


def test_a_fingerprint_tells_keys_apart_and_holds_nothing_of_them():
    """Sixteen digits, others for another key, and no piece of the key."""
    one, other = fingerprint(SECRET), fingerprint(assignment_key(SECRET, "ps1"))
    assert one != other and len(one) == 16 and one not in SECRET.hex()
