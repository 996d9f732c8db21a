"""Nothing unpacks what was handed in; a cell that unpacks it itself fills its own small disk."""

import functools
import io
import zipfile


@functools.cache
def bomb() -> dict[str, bytes]:
    """A few hundred kilobytes that grow to 400 MB; it takes a second to make."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place in range(8):
            archive.writestr(f"{place}.txt", bytes(50 * 2**20))
    return {"data.zip": packed.getvalue()}


FILES = bomb
CELLS = ["import zipfile\nzipfile.ZipFile('data.zip').extractall()\nprint('BREACH')"]
