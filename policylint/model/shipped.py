"""The data files that ship with policylint: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

# os.path, because linting one file should not pay for importing pathlib (docs/design/performance.md §1).
# ruff: noqa: PTH112, PTH118, PTH120, PTH123, PTH208
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def shipped(*parts: str) -> Path:
    """Return the path of shipped data, e.g. `shipped("schemas", "policy-kinds")` or `shipped("rules")`."""
    from pathlib import Path

    return Path(data_directory(), *parts)


def shipped_data(*parts: str) -> bytes:
    """Return the content of a shipped file."""
    with open(os.path.join(data_directory(), *parts), "rb") as file:
        return file.read()


def shipped_files(*parts: str) -> list[str]:
    """Return the paths of the files in a folder of shipped data, sorted."""
    folder = os.path.join(data_directory(), *parts)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def data_directory() -> str:
    """Return the directory of the shipped data."""
    installed = os.path.join(_PACKAGE, "_data")
    return installed if os.path.isdir(installed) else os.path.dirname(_PACKAGE)
