"""Files that cannot be read: which of them would hold manifests, and are broken, and which are something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from policylint.model import mapping
from policylint.patterns import Pattern
from policylint.sources.skipping import is_called_otherwise

if TYPE_CHECKING:
    from policylint.sources import Source

_OF_MANIFESTS = Pattern(r"[-\s{,]*(?:(?:apiVersion|kind)\b|\"(?:apiVersion|kind)\"|'(?:apiVersion|kind)')")
_OF_A_SHELL = Pattern(r"(?:cat|kubectl|oc|tee)\b[^\n#]*<<")
_OF_AN_API = Pattern(r"[\"']?(?:openapi|swagger|asyncapi)[\"']?:")
_OF_DESCRIBE = "API Version:"
"""A line of what `kubectl describe` prints."""
_OF_RECORDS = Pattern(r"\{.*\}\s*")
"""A line of JSON Lines, which logs are."""


def would_hold_manifests(source: Source, file: str) -> bool:
    """Return whether a file that cannot be read would hold manifests: not the index of a chart, an OpenAPI document, a
    log, a pipeline, or the commands that write some."""
    if source.named or source.root is None:
        return True
    lines = source.text(file)
    if any(line.startswith("```") for line in lines):  # a piece of a page
        return False
    if is_printed(lines):
        return False
    if len(lines) > 1 and all(map(_OF_RECORDS.fullmatch, filter(None, lines))):
        return any(map(_is_object, lines))
    if any(map(_OF_AN_API.match, lines)):  # its objects have kinds, too
        return any(line.startswith("apiVersion:") for line in lines)
    # Values of a chart, whose routes and extra objects have kinds, too; a pipeline, which may write some out.
    if file.rpartition("/")[2].startswith("values") or is_called_otherwise(file):
        return any(line.startswith("apiVersion:") for line in lines)
    return any(map(_OF_MANIFESTS.match, lines)) and not any(map(_OF_A_SHELL.match, lines))


def is_printed(lines: Iterable[str]) -> bool:
    """Return whether a file holds what `kubectl describe` printed, for people."""
    return any(line.startswith(_OF_DESCRIBE) for line in lines)


def _is_object(line: str) -> bool:
    """Return whether a line of JSON Lines is an object of Kubernetes."""
    import json

    try:
        return "metadata" in mapping(json.loads(line))
    except ValueError:
        return False
