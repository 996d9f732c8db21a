"""Keys that follow from a course's secret, one for each purpose: from one of them no other follows, nor the secret.

They follow by way of a key that is for nothing else, and from a JSON list of names. So no key is equal to a stream of
random numbers or to a seal, or to another key, whatever a student or an assignment is called.
"""

from __future__ import annotations

import hashlib
import hmac
import json


def assignment_key(secret: bytes, assignment: str) -> bytes:
    """The key that an assignment's hidden inputs follow from: `autograder reveal` tells it, and tells no other."""
    return _derived(secret, "hidden inputs", assignment)


def receipt_key(secret: bytes, assignment: str) -> bytes:
    """The private key (Ed25519, RFC 8032) that signs an assignment's receipts; it is never told."""
    return _derived(secret, "receipts", assignment)


def seed_salt(secret: bytes, assignment: str, slug: str, who: str) -> bytes:
    """What hides a student's or a seat's seed in a commitment until a receipt shows it: 16 bytes."""
    return _derived(secret, "salt of a seed", assignment, slug, who)[:16]


def fingerprint(key: bytes) -> str:
    """Tells keys apart, and tells nothing of them."""
    return hashlib.sha256(b"autograder fingerprint of a key\0" + key).hexdigest()[:16]


def _derived(secret: bytes, *purpose: str) -> bytes:
    of_keys = hmac.digest(secret, b"keys", hashlib.sha256)  # so that no text of a stream or a seal gives one of them
    return hmac.digest(of_keys, json.dumps(purpose).encode(), hashlib.sha256)
