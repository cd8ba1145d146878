"""The computed state as JSON, YAML or text, written piece by piece: there can be very many contexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policylint.report.kit.display import Paint
from policylint.report.kit.identity import visible_json
from policylint.report.kit.yaml_text import yaml_text
from policylint.report.simulate.simulation_v1 import VERSION, sections
from policylint.simulation import Simulation


def write(form: str, simulations: Sequence[Simulation], paint: Paint | None = None) -> Iterator[str]:
    """Yield the pieces of the document in a format (formats.py)."""
    if form == "json":
        return _json(simulations)
    if form == "yaml":
        return _yaml(simulations)
    from policylint.report.simulate.text import tables

    return tables(simulations, paint or Paint(False))


def _json(simulations: Sequence[Simulation]) -> Iterator[str]:
    """Yield one entry per line: fast to write, and two runs compare line by line."""
    from json import JSONEncoder

    encoder = JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)

    def encoded(entry: object) -> str:
        try:
            return visible_json(encoder.encode(entry))
        except ValueError:  # .nan and .inf, which JSON does not have
            return visible_json(encoder.encode(_finite(entry)))

    yield f'{{\n  "version": {encoded(VERSION)}'
    for name, entries in sections(simulations):
        yield f",\n  {encoded(name)}: ["
        separator = "\n    "
        for entry in entries:
            yield separator + encoded(entry)
            separator = ",\n    "
        yield "]" if separator == "\n    " else "\n  ]"
    yield "\n}\n"


def _yaml(simulations: Sequence[Simulation]) -> Iterator[str]:
    yield yaml_text({"version": VERSION})
    for name, entries in sections(simulations):
        empty = True
        for entry in entries:
            if empty:
                yield f"{name}:\n"
            empty = False
            yield yaml_text([entry])
        if empty:
            yield f"{name}: []\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value
