"""The parser of YAML events: PyYAML's binding of libyaml, or its pure Python parser where that is missing.

Why PyYAML and not ruamel.yaml's binding: docs/dependencies.md (ruamel.yaml.clib carries libyaml 0.1.7, which refuses
plain scalars with a colon inside flow collections, such as `[http://example.com]`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from policylint.lean import import_yaml
from policylint.namedtuple import NamedTuple


class Binding(NamedTuple):
    """`parser(bytes)` returns an object with `get_event()`; then the event classes, and the `error` it raises."""

    parser: Any
    scalar: type
    mapping_start: type
    mapping_end: type
    sequence_start: type
    sequence_end: type
    alias: type
    document_start: type
    stream_end: type
    error: type[Exception]


@cache
def binding(pure: bool = False) -> Binding:
    """Return the fastest parser installed. Imported on first use: start-up time is a feature.

    Source: docs/design/performance.md §1.
    """
    import_yaml()
    import yaml

    parser: Any = None
    if not pure:
        try:
            from yaml._yaml import CParser as parser  # noqa: N813
        except ImportError:
            parser = None
    return Binding(
        parser=parser or _pure_parser,
        scalar=yaml.ScalarEvent,
        mapping_start=yaml.MappingStartEvent,
        mapping_end=yaml.MappingEndEvent,
        sequence_start=yaml.SequenceStartEvent,
        sequence_end=yaml.SequenceEndEvent,
        alias=yaml.AliasEvent,
        document_start=yaml.DocumentStartEvent,
        stream_end=yaml.StreamEndEvent,
        error=yaml.YAMLError,
    )


def _pure_parser(data: bytes) -> Any:
    import yaml

    return yaml.Loader(data)
