"""Archives that strangers made: what is in them, by safe names, within limits; and what is not taken, with a reason."""

import gzip
import io
import tarfile
import zipfile

import pytest

from autograder.nbgrader.archives import MAX_BYTES, NotAnArchive, is_archive, unpacked

KINDS = ("zip", "w", "w:gz", "w:bz2", "w:xz")


def archive(kind, *files, odd=None):
    """An archive of these names and contents; `odd` are headers of a tar file without a content."""
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as file:
            for name, content in files:
                file.writestr(name, content)
        return buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode=kind) as file:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
        for kind, name, target in odd or ():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            file.addfile(info)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_come_by_safe_names(kind):
    """No name leads out, litter is left, and of two files of one name both are there if they differ."""
    made = archive(
        kind, ("a.txt", b"1"), ("../../b.txt", b"2"), ("/etc/c.txt", b"3"), ("__MACOSX/d", b"4"), ("a.txt", b"55"),
        ("x/é.ipynb", b"6"), ("\\y\\z.txt", b"7"),
    )  # fmt: skip
    found = unpacked(made)
    assert found.files == {
        "a.txt": b"1", "b.txt": b"2", "etc/c.txt": b"3", "a (2).txt": b"55", "x/é.ipynb": b"6", "y/z.txt": b"7",
    }  # fmt: skip
    assert found.renamed["b.txt"] == "../../b.txt" and not found.left_out


@pytest.mark.parametrize("kind", KINDS)
def test_archives_in_archives_are_opened(kind):
    """Whatever kind is in whatever kind, up to a depth."""
    made = archive("w", ("t.txt", b"1"))
    for _ in range(2):
        made = archive(kind, ("in.tar.gz", made))
    assert unpacked(made).files["in.tar.gz/in.tar.gz/t.txt"] == b"1"
    deeper = unpacked(archive(kind, ("in.zip", made)))
    assert list(deeper.left_out.values()) == ["there are archives in archives, more than 3 deep"]


def test_what_is_no_file_is_left_out():
    """Links and special files of a tar file, each with a reason."""
    odd = [
        (tarfile.SYMTYPE, "link", "/etc/passwd"), (tarfile.LNKTYPE, "hard", "link"), (tarfile.FIFOTYPE, "fifo", ""),
        (tarfile.CHRTYPE, "device", ""), (tarfile.DIRTYPE, "folder", ""),
    ]  # fmt: skip
    found = unpacked(archive("w:gz", ("a.txt", b"1"), odd=odd))
    assert found.files == {"a.txt": b"1"}
    words = {"link": "it is a link", "hard": "it is a link", "fifo": "special", "device": "special"}
    assert found.left_out.keys() == words.keys()
    assert all(word in found.left_out[name] for name, word in words.items())


def negative():
    """A header that says that its file has less than nothing, in which Python's reader goes round for ever."""
    header = bytearray(archive("w", ("a.txt", b"1"))[:512])
    header[124:136] = b"\xff" * 12
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + bytes(1024)


# Made when they are asked for: some are large.
CLOSED = {
    "empty": (bytes, "cannot be opened"),
    "rar": (lambda: b"Rar!", "cannot be opened"),
    "cut gzip": (lambda: archive("w:gz", ("a.txt", bytes(2_000)))[:-30], "cannot be opened as a tar file"),
    "cut tar": (lambda: archive("w", ("a.txt", b"1"))[:600], "cannot be opened as a tar file"),
    "no tar": (lambda: gzip.compress(b"no tar file"), "cannot be opened as a tar file"),
    "large": (lambda: gzip.compress(bytes(MAX_BYTES + 9 * 2**20), 1), "it holds more than"),
    "many": (
        lambda: archive("w:gz", *((str(number), b"") for number in range(4_001))),
        "it holds more than 2,000 files",
    ),
    "negative": (negative, "cannot be opened as a tar file"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_what_cannot_be_opened_says_why(name):
    """Damaged, no archive, too many files, more than may be taken: at once, and without going round for ever."""
    make, why = CLOSED[name]
    with pytest.raises(NotAnArchive, match=why):
        unpacked(make())


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a.zip", True), ("A.ZIP", True), ("a.tar", True), ("a.tar.gz", True), ("a.tgz", True), ("a.tar.xz", True),
     ("a.rar", False), ("a.gz", False), ("tar", False), ("a.zip.txt", False)],
)  # fmt: skip
def test_an_archive_is_known_by_its_name(name, is_one):
    """Zip and tar files, in any case."""
    assert is_archive(name) is is_one
