"""The YAML files that a benchmark holds in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from yaml import _yaml


def yaml_files(roots: list[Path]) -> list[tuple[str, bytes]]:
    """Return (path, bytes) of every YAML file below the roots, in the order of their paths."""
    paths = [path for root in roots for path in sorted(root.rglob("*")) if path.suffix in (".yaml", ".yml")]
    return [(str(path), path.read_bytes()) for path in paths if path.is_file()]


def accepts(parser: Callable[[bytes], object], data: bytes) -> bool:
    """Whether the parser takes the whole text."""
    try:
        parser(data)
    except Exception:  # each binding has an error class of its own
        return False
    return True


def raw_events(data: bytes) -> None:
    """Run libyaml over the bytes without making one Python object: the floor of every parser on it."""
    _yaml.CParser(data).raw_parse()
