"""Find the configuration file that counts: the first one from the working directory up, never past the git root.

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
MAX_BYTES = 1 << 20
"""Of a configuration file; it is read before anything else, and may be anybody's."""


class ConfigError(FileError):
    """An error in the configuration, for users: `file:line:column: message`."""


def discover(directory: str = ".") -> str | None:
    """Return the configuration file for a working directory, relative to the current one; None where there is none.

    Outside of a git repository only the directory itself is looked at: what lies above belongs to somebody else.
    """
    current = start = os.path.abspath(directory)
    nearest: str | None = None
    while True:
        nearest = nearest or _inside(current)
        if nearest and (current == start or os.path.lexists(os.path.join(current, ".git"))):
            return os.path.relpath(nearest)
        above = os.path.dirname(current)
        if above == current or os.path.lexists(os.path.join(current, ".git")):
            return None
        current = above


def discover_among(directory: str, content: Callable[[str], bytes | None]) -> tuple[str, bytes] | None:
    """Find the configuration as `discover` does, in a tree that is not on disk: a git revision, or the index.

    Args:
        directory: where to begin, posix, below the top; "" for the top.
        content: returns the bytes of a file by its path below the top; None where there is none.

    Returns:
        The path of the file and its bytes; None where there is none.
    """
    for path in candidates(directory):
        data = content(path)
        if data is not None and (not path.endswith(PYPROJECT) or TABLE in data):
            return path, data
    return None


def candidates(directory: str) -> list[str]:
    """Return the paths, posix, at which a directory's configuration may be, in the order in which they count."""
    paths = []
    current = directory
    while True:
        paths += [f"{current}/{name}".lstrip("/").replace(os.sep, "/") for name in (*NAMES, PYPROJECT)]
        if not current:
            return paths
        current = current.rpartition("/")[0]


def _inside(directory: str) -> str | None:
    """Return the configuration of one directory, None where it has none."""
    for name in NAMES:
        if os.path.isfile(place := os.path.join(directory, name)):
            return place
    pyproject = os.path.join(directory, PYPROJECT)
    return pyproject if os.path.isfile(pyproject) and has_table(pyproject) else None


def has_table(pyproject: str) -> bool:
    """Return whether a pyproject.toml has a table for policylint, without parsing it."""
    try:
        with open(pyproject, "rb") as file:
            return TABLE in file.read(MAX_BYTES)
    except OSError:
        return False
