"""Manifests may hold anything anywhere: no junk in a route or a Gateway stops trace or explain."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.catalog.kinds import load_catalog
from policylint.explain.explanation import explain
from policylint.explain.settings import settings as rows
from policylint.explain.subject import Subject
from policylint.simulation import simulate
from policylint.topology import whole
from policylint.trace import RequestError, Tracer, request
from tests.nightly import examples
from tests.worlds import world

WORLDS = Path(__file__).parent / "worlds"
CATALOG = load_catalog()
JUNK = st.sampled_from([None, "", 0, -1, True, 1.5, [], {}, "x", ["x"], [None], {"a": 1}, "${X}", [[]], {"name": []}])
ASKED = [
    {"host": "f.test", "path": "/old/x?q=1", "headers": {"Origin": "https://x.ok.test"}},
    {
        "host": "f.test",
        "path": "/cors",
        "method": "OPTIONS",
        "headers": {"Origin": "o", "Access-Control-Request-Method": "GET"},
    },
    {"host": "paths.test", "path": "/re/1"},
    {"host": "grpc.test", "path": "/pkg.Items/Get", "protocol": "grpc"},
    {"scheme": "https", "host": "x.s.test"},
    {"scheme": "tls", "sni": "x.p.test", "port": 8443},
    {"scheme": "tcp", "port": 5432},
    {"service": "Service shop/cart", "client": "Deployment front/web", "path": "/mine"},
    {"pod": "Deployment shop/cart-v2"},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in children:
        found += places(each, (*path, step))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["filters", "precedence", "streams", "mesh"])
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_junk_anywhere(name: str, data: st.DataObject) -> None:
    documents = [copy.deepcopy(each) for each in yaml.safe_load_all((WORLDS / f"{name}.yaml").read_text())]
    for _ in range(data.draw(st.integers(1, 4))):
        body = documents[data.draw(st.integers(0, len(documents) - 1))].get("spec")
        spots = places(body)
        if not spots:
            continue
        *above, last = data.draw(st.sampled_from(spots))
        for step in above:
            body = body[step]
        body[last] = copy.deepcopy(data.draw(JUNK))
    simulation = simulate(world(yaml.safe_dump_all(documents)), CATALOG)
    tracer = Tracer(simulation)
    for asked in ASKED:
        try:
            end = tracer.trace(request(asked)).outcome
        except RequestError:
            continue
        assert end.shares or end.redirect or end.refused or end.unknown or end.status is not None, asked
    for key in simulation.world.resources:
        explain(Subject(simulation, key, whole(key)))
    for group in simulation.groups:
        rows(group)
