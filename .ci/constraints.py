"""Whether pyproject.toml and constraints.txt hold together on every Python that pyproject.toml admits.

Only metadata is read, and nothing is installed. Packages are looked for where pip is configured to look; where no index
answers, in what uv has kept of it.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11.0", "3.12.0", "3.13.0", "3.14.0")
# pip's options, and the environment variables by which uv is told the same.
OPTIONS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
UNREACHABLE = "error sending request"  # what uv says of an index it cannot reach


def environment() -> dict[str, str]:
    """This process's environment, with pip's configuration in the words of uv."""
    run = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    found = {}
    for line in sorted(run.stdout.splitlines(), key=lambda line: line.startswith(":env:")):  # these go before files
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section in ("global", "install", ":env:") and option in OPTIONS:
            places = ast.literal_eval(value).split()
            separator = "," if option == "find-links" else " "
            found[OPTIONS[option]] = separator.join(place for place in places if _there(place))
    return {name: value for name, value in found.items() if value} | os.environ


def _there(place: str) -> bool:
    """Not a folder that is missing here: pip passes over one, uv does not."""
    address = urlsplit(place)
    return address.scheme not in ("", "file") or Path(address.path).exists()


def resolve(python: str, constraints: Path, settings: dict[str, str], *more: str) -> tuple[list[str], str]:
    """What would be installed on a Python, and, where nothing can be, why. `more`: more of uv's options."""
    words = [
        "--extra=development", f"--constraint={constraints}", f"--python-version={python}", "--only-binary=:all:",
        "--no-emit-package=torch", "--index-strategy=unsafe-best-match", "--no-annotate", "--no-header", "--no-config",
        *more,
    ]  # fmt: skip
    uv = Path(sysconfig.get_path("scripts"), "uv")
    command = [uv, "pip", "compile", "--quiet", ROOT / "pyproject.toml", *words]
    run = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=300)
    return run.stdout.split("\n")[:-1], run.stderr.strip() if run.returncode else ""


def main(constraints: Path) -> int:
    """A line for each Python; 1 where some has no versions that fit."""
    settings, failed = environment(), False
    offline: list[str] = []
    for python in PYTHONS:
        packages, why = resolve(python, constraints, settings, *offline)
        if UNREACHABLE in why and not offline:
            offline = ["--offline"]
            print("No package index answers: the versions are looked up in what uv has kept of it.", flush=True)
            packages, why = resolve(python, constraints, settings, *offline)
        failed |= bool(why)
        fault = f"pyproject.toml and {constraints.name} together cannot be resolved:\n{why}"
        print(f"Python {python}: {fault if why else f'{len(packages)} packages fit'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(*sys.argv[1:]) if len(sys.argv) > 1 else ROOT / "constraints.txt"))
