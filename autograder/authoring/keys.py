"""Keys that follow from a course's secret, one for each purpose: from one of them no other follows, nor the secret.

What is hashed for a key is a JSON list, which neither a seal's text nor that of a stream of random numbers is. So no
key is equal to anything else that follows from the secret, whatever a student or an assignment is called.
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
    return hmac.digest(secret, json.dumps(["autograder", *purpose]).encode(), hashlib.sha256)
