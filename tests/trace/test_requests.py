"""Tables of requests, one per world: every tie-break, every filter, streams and the mesh.

Source: docs/design/request-precedence.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.report.trace.expecting import checks
from policylint.trace import Tracer, request
from policylint.workspace import open_workspace

WORLDS = Path(__file__).parent / "worlds"


def table() -> list[Any]:
    found = []
    for file in sorted(WORLDS.glob("*.requests.yaml")):
        world = file.name.removesuffix(".requests.yaml")
        for number, asked in enumerate(yaml.safe_load(file.read_text())):
            name = f"{world}-{number + 1}-{asked.get('scheme', 'http')}-{asked.get('host', '')}{asked.get('path', '')}"
            found.append(pytest.param(world, asked, id=name))
    return found


@pytest.fixture(scope="module")
def tracers() -> dict[str, Tracer]:
    names = [file.name.removesuffix(".requests.yaml") for file in WORLDS.glob("*.requests.yaml")]
    return {name: Tracer(open_workspace([str(WORLDS / f"{name}.yaml")]).simulations[0]) for name in names}


@pytest.mark.parametrize(("world", "asked"), table())
def test_a_request(world: str, asked: dict[str, Any], tracers: dict[str, Tracer]) -> None:
    trace = tracers[world].trace(request(asked))
    wrong = [each for each in checks(trace, asked["expect"]) if not each.holds]
    assert not wrong, trace.outcome.reason


def test_the_table_is_long_enough() -> None:
    assert len(table()) >= 60
