"""The pictures in a student's text, photographs of derivations mostly: each link and its picture stay together.

A browser shows PNG, JPEG, GIF and WebP and runs nothing in them. Whatever else a text refers to (SVG, HEIC, a file that
was not handed in, an address on the web) becomes words, and a remark for the grader. nbconvert refuses to show a whole
notebook in which one attachment is missing, so that no link may be left without its picture.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

KINDS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
MISSING = "[a picture that was not in the file]"
AGAIN = "[the same picture again]"
MAX_BYTES = 16 * 2**20  # of one file beside the notebook
MAX_USES = 8  # of one file beside the notebook, by different cells
MAX_PICTURES = 200  # of one cell
MAX_TEXT = 100_000  # characters of one cell, its pictures apart: a browser and the converter are slow with more

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_DATA = re.compile(r"data:(image/[\w.+-]+)(?:;[\w.=-]+)*?;base64,([A-Za-z0-9+/=%]*)", re.IGNORECASE)
_PLAIN_DATA = re.compile(r"data:image/[\w.+-]+[;,][^\s)>\"']*", re.IGNORECASE)
_TAG = re.compile(r"<img\s(?:[^<>]*?\s)?src\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))[^<>]*>", re.IGNORECASE)
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,200})\]:[ \t]*<?([^\s<>]+)>?[^\n]*$", re.MULTILINE)
_USE = re.compile(r"!\[([^\[\]\n]{0,1000})\](?:\[([^\[\]\n]{0,200})\])?(?![\[(:])")
_ALT = r"(!?)\[((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,1000})\]"
_LINK = re.compile(_ALT + r"\(((?:[^()\n]|\([^()\n]{0,200}\)){0,500}|\s*<?attachment:[^)\n]{0,300})\)")
_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\))\s*$|\s+=\d*x\d*\s*$")
_ON_THE_WEB = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_BESIDE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|heic|heif|bmp|tiff?|pdf|avif)$", re.IGNORECASE)


def is_picture(kind: str, content: Any) -> bool:
    """Whether an attachment or an output can only be shown: of a picture's type, and written in base64."""
    return kind in KINDS and isinstance(content, str) and bool(_BASE64.fullmatch(content))


@dataclass(kw_only=True)
class Beside:
    """The files beside a notebook, by their path from it; each is shown by a few cells at most."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)

    def picture(self, target: str) -> tuple[str, str] | None:
        """The kind and the base64 text of a file, if it is there, a picture, and not too large."""
        path = _plain(str(PurePosixPath(target)))
        name = next((name for name in self.files if _plain(name) == path), None)
        if name is None or len(self.files[name]) > MAX_BYTES or self.uses.get(name, 0) >= MAX_USES:
            return None
        kind = _kind(self.files[name][:16])
        if not kind:
            return None
        self.uses[name] = self.uses.get(name, 0) + 1
        return kind, base64.b64encode(self.files[name]).decode()


@dataclass(kw_only=True)
class Settled:
    """A text that refers to its pictures alone, the pictures, and what a grader should know about the others."""

    text: str
    pictures: dict[str, dict[str, str]]
    remarks: list[str]
    cut: bool = False


def settled(source: str, attachments: Any, beside: Beside | None = None, most: int = MAX_TEXT) -> Settled:
    """A cell's text with every picture of it as an attachment of a safe name, and words for those that are not there.

    It is cut after `most` characters, its pictures apart.

    `attachments` are the cell's own as they were handed in; pictures within the text, as Colab stores them, and in
    files beside the notebook become attachments as well.
    """
    return _Album(attachments, beside or Beside()).settle(source, most)


class _Album:
    """The pictures of one cell; `known` gives a picture's safe name by each name that the text may call it."""

    def __init__(self, attachments: Any, beside: Beside) -> None:
        self.beside = beside
        self.pictures: dict[str, dict[str, str]] = {}
        self.known: dict[str, str] = {}
        self.shown: set[str] = set()
        self.remarks: list[str] = []
        self.unfit: dict[str, str] = {}
        for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
            found = _shown_best(bundle)
            if found:
                self._add(name, *found)
            else:
                kinds = ", ".join(map(str, bundle)) if isinstance(bundle, dict) else ""
                self.unfit[_plain(name)] = kinds[:100] or "no picture"

    def _add(self, name: str, kind: str, content: str) -> str | None:
        """Keep a picture, under its own name if that is safe; the name, or None where there are too many."""
        if len(self.pictures) >= MAX_PICTURES:
            return None
        if not _SAFE.fullmatch(name) or name in self.pictures:
            numbers = range(1, MAX_PICTURES + 2)
            name_of = (f"picture-{number}.{KINDS[kind]}" for number in numbers)
            safe = next(new for new in name_of if new not in self.pictures and _plain(new) not in self.known)
        else:
            safe = name
        self.pictures[safe] = {kind: content}
        self.known[_plain(name)] = self.known[safe] = safe
        return safe

    def settle(self, source: str, most: int) -> Settled:
        """The text with its pictures, cut once those within it are out of it."""
        source = _DATA.sub(self._pasted, source)
        source = _PLAIN_DATA.sub(partial(self._word, "of a kind that a browser cannot show safely"), source)
        length = len(source)
        if length > most:
            source = source[:most]
            self.remarks.append(f"A text of {length:,} characters was cut after {most:,}.")
        source = _TAG.sub(lambda tag: f"![picture](<{tag[1] or tag[2] or tag[3] or ''}>)", source)
        source = _LINK.sub(self._link, self._inlined(source))
        return Settled(
            text=source, pictures=self.pictures, remarks=list(dict.fromkeys(self.remarks)), cut=length > most
        )

    def _pasted(self, match: re.Match[str]) -> str:
        """A picture within the text, put among the attachments."""
        content = unquote(match[2])
        kind = _kind(_head(content)) or match[1].lower()
        if not is_picture(kind, content):
            return f"attachment:{match[1].lower()}"
        same = next((name for name, bundle in self.pictures.items() if bundle.get(kind) == content), None)
        return f"attachment:{same or self._add('', kind, content) or 'one-too-many'}"

    def _word(self, why: str, match: re.Match[str]) -> str:
        return f"attachment:{why.replace(' ', '-')}"

    def _inlined(self, source: str) -> str:
        """Pictures that are called by a label, `![p][1]` and further down `[1]: photo.jpg`, called by their names."""
        labels = {_label(match[1]): match[2] for match in _DEFINITION.finditer(source)}
        if not labels:
            return source
        used: set[str] = set()

        def call(match: re.Match[str]) -> str:
            label = _label(match[2] or match[1])
            if label not in labels or not self._is_ours(labels[label]):
                return match[0]
            used.add(label)
            return f"![{match[1]}](<{labels[label]}>)"

        source = _USE.sub(call, source)
        return _DEFINITION.sub(lambda match: "" if _label(match[1]) in used else match[0], source)

    def _is_ours(self, target: str) -> bool:
        return target.startswith("attachment:") or bool(_BESIDE.search(_bare(target)))

    def _link(self, match: re.Match[str]) -> str:
        """One link, with the name under which its picture is kept, or words in its place."""
        mark, words, target = match[1], match[2], match[3].strip()
        names = [_bare(target), _bare(_TITLE.sub("", target))]
        if names[1].startswith("attachment:"):
            names = [name.removeprefix("attachment:") for name in names]
            safe = next((self.known[_plain(name)] for name in names if _plain(name) in self.known), None)
            return self._picture(words, safe, names[1])
        if _ON_THE_WEB.match(names[1]):
            if mark:
                self.remarks.append(f"A picture on the web is not fetched: {names[1][:100]!r}.")
            return match[0]
        if not mark and not _BESIDE.search(names[1]):
            return match[0]
        found = next((found for name in names if (found := self._from_beside(name))), None)
        return self._picture(words, found, names[1])

    def _from_beside(self, name: str) -> str | None:
        safe = self.known.get(f"\0{_plain(name)}")
        if safe is None and (found := self.beside.picture(name)) and (safe := self._add("", *found)):
            self.known[f"\0{_plain(name)}"] = safe
        return safe

    def _picture(self, words: str, safe: str | None, name: str) -> str:
        if safe is None:
            kinds = self.unfit.get(_plain(name), "")
            why = f"is no picture that can be shown ({kinds})" if kinds else "was not in the file, or cannot be shown"
            self.remarks.append(f"A picture {why}: {name[:100]!r}.")
            return f"{words} {MISSING}".strip()
        if safe in self.shown:
            return f"{words} {AGAIN}".strip()
        self.shown.add(safe)
        return f"![{words}](attachment:{safe})"


def _shown_best(bundle: Any) -> tuple[str, str] | None:
    """The kind and content of an attachment that a browser can show; its first bytes tell what its label may not."""
    for label, content in bundle.items() if isinstance(bundle, dict) else ():
        if isinstance(content, list) and all(isinstance(line, str) for line in content):
            content = "".join(content)
        if not isinstance(content, str):
            continue
        kind = label if label in KINDS else _kind(_head(content))
        if is_picture(kind, content):
            return kind, content
    return None


def _head(content: str) -> bytes:
    try:
        return base64.b64decode("".join(content[:64].split())[:24])
    except (binascii.Error, ValueError):
        return b""


def _kind(head: bytes) -> str:
    """The kind of a picture by its first bytes; empty where it is none that is shown."""
    if head.startswith(b"\x89PNG\r\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"GIF8"):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else ""


def _bare(target: str) -> str:
    """A link's target without the brackets that it may stand in."""
    target = target.strip()
    return target[1:-1] if target.startswith("<") and target.endswith(">") else target


def _plain(name: str) -> str:
    """A name in the one form in which names are compared: systems write accents and spaces in different ways."""
    return unicodedata.normalize("NFC", unquote(name.strip()))


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


def allowed(pictures: Mapping[str, Any]) -> Iterator[str]:
    """The links to a cell's pictures, as patterns."""
    yield from (rf"\(attachment:{re.escape(name)}\)" for name in pictures)
