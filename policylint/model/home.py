"""The project's address: `Homepage` in pyproject.toml, which the wheel carries as shipped data."""

from __future__ import annotations

# ruff: noqa: PTH123 - pathlib is not imported for this
from policylint.model.shipped import data_directory

PLACEHOLDER = "https://github.com/example/"
"""The address while there is none begins so; links to it would lead nowhere."""
_KEY = "Homepage = "


def home() -> str:
    """Return the address of the project's repository, "" until pyproject.toml states a real one.

    A line of our own file is read, not TOML: whoever prints a single link should not pay for a parser.
    """
    with open(f"{data_directory()}/pyproject.toml", encoding="utf-8") as file:
        stated = next(line for line in file if line.startswith(_KEY))
    address = stated.removeprefix(_KEY).strip().strip('"')
    return "" if address.startswith(PLACEHOLDER) else address
