"""Which configuration file counts: the first one from the working directory up, never past the git root.

One file, no merging (ansible-lint's search, ruff's single file: docs/design/conventions.md §8).
"""

# os.path: most runs find nothing, and pathlib would cost them more than the search does.
# ruff: noqa: PTH100, PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import os

from policylint.errors import FileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = (".policylint.yaml", ".policylint.yml", os.path.join(".config", "policylint.yaml"))
PYPROJECT = "pyproject.toml"
TABLE = b"[tool.policylint"
VARIABLE = "POLICYLINT_CONFIG"


class ConfigError(FileError):
    """What is wrong with the configuration, for users: `file:line:column: what`."""


def discover(directory: str = ".") -> str | None:
    """The configuration file for a working directory, as seen from here; None where there is none.

    Outside of a git repository only the directory itself is looked at: what lies above belongs to somebody else.
    """
    here = start = os.path.abspath(directory)
    found: str | None = None
    while True:
        found = found or _inside(here)
        if found and (here == start or os.path.lexists(os.path.join(here, ".git"))):
            return os.path.relpath(found)
        above = os.path.dirname(here)
        if above == here or os.path.lexists(os.path.join(here, ".git")):
            return None
        here = above


def discover_among(directory: str, content: Callable[[str], bytes | None]) -> tuple[str, bytes] | None:
    """As `discover`, in a tree that is not on disk: a git revision, or the index.

    Args:
        directory: where to begin, posix, below the top; "" for the top.
        content: the bytes of a file by its path below the top; None where there is none.
    """
    for path in candidates(directory):
        data = content(path)
        if data is not None and (not path.endswith(PYPROJECT) or TABLE in data):
            return path, data
    return None


def candidates(directory: str) -> list[str]:
    """Where the configuration of a directory below the top of a tree may be, posix, those that count first first."""
    found = []
    here = directory
    while True:
        found += [f"{here}/{name}".lstrip("/").replace(os.sep, "/") for name in (*NAMES, PYPROJECT)]
        if not here:
            return found
        here = here.rpartition("/")[0]


def _inside(directory: str) -> str | None:
    """The configuration of one directory."""
    for name in NAMES:
        if os.path.isfile(place := os.path.join(directory, name)):
            return place
    pyproject = os.path.join(directory, PYPROJECT)
    return pyproject if os.path.isfile(pyproject) and has_table(pyproject) else None


def has_table(pyproject: str) -> bool:
    """Whether a pyproject.toml has a table for policylint, without parsing it."""
    try:
        with open(pyproject, "rb") as file:
            return TABLE in file.read()
    except OSError:
        return False
