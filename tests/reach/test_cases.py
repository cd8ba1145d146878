"""Every request of the conformance cases lies in one region, of which what is expected of it is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.reach import WayIn, all_ways
from policylint.regex import expression
from policylint.spaces.boxes import Box
from policylint.spaces.dimension import Dimension
from policylint.spaces.predicates import Predicate
from policylint.topology.hostnames import specificity
from policylint.trace import Request, Tracer, request
from policylint.trace.hosts import serves
from policylint.workspace import open_workspace
from tests.reach.test_agreement import of

CASES = sorted((Path(__file__).parents[3] / "shared").glob("cases/gateway-api/*/expected.yaml"))


def of_case(case: Path) -> list[dict[str, Any]]:
    """The requests of a case that come in at a Gateway by the name of its certificate, with what is expected."""
    listed = yaml.load(case.read_bytes(), yaml.CSafeLoader).get("requests") or []
    return [
        asked
        for asked in listed
        if not {"client", "service", "pod"} & asked.keys() and asked.get("sni", asked.get("host")) == asked.get("host")
    ]


def satisfied(value: str | None, predicate: Predicate) -> bool:
    """Whether a value is as a predicate demands, said without atoms."""
    match predicate:
        case Predicate("RegularExpression", pattern):
            return value is not None and bool(expression(pattern).is_whole(value))
        case Predicate("PathPrefix", prefix):
            return value is not None and f"{value}/".startswith(f"{prefix.rstrip('/')}/")
        case Predicate("Exact", exact):
            return value == exact
    return value is not None


def atoms(dimension: Dimension, value: str | None) -> int:
    bits = dimension.all
    for predicate, mask in dimension.masks.items():
        bits &= mask if satisfied(value, predicate) else ~mask
    return bits


def values(asked: Request) -> Mapping[str, str]:
    service, _, call = asked.bare_path.lstrip("/").rpartition("/")
    return {"method": asked.method, "path": asked.bare_path, "service": service, "call": call}


def value_of(dimension: Dimension, asked: Request) -> str | None:
    kind, _, name = dimension.name.partition(" ")
    if name:
        return asked.header(name) if kind == "header" else asked.parameter(name)
    return values(asked)[kind]


def holding(ways: list[WayIn], asked: Request) -> list[WayIn]:
    """The ways through a Gateway that hold a request: of the narrowest hosts that it is for."""
    schemes = ("https", "tls") if asked.scheme == "https" else (asked.scheme,)  # what a listener passes through is tls
    here = [
        way
        for way in ways
        if way.entry.scheme in schemes
        and way.entry.port == asked.port
        and (asked.scheme in ("tcp", "udp") or serves(asked.host or asked.sni, way.entry.hostname))
    ]
    narrowest = max((specificity(way.entry.hostname) for way in here), default=None)
    here = [way for way in here if specificity(way.entry.hostname) == narrowest]
    grpc = asked.grpc and any(way.dimensions and way.dimensions[0].name == "service" for way in here)
    return [
        way
        for way in here
        if not way.dimensions
        or ((way.dimensions[0].name == "service") == grpc and any(in_box(box, way, asked) for box in way.boxes))
    ]


def in_box(box: Box, way: WayIn, asked: Request) -> bool:
    """Whether a request lies in a box of a way."""
    return all(own & atoms(each, value_of(each, asked)) for own, each in zip(box, way.dimensions, strict=True))


@pytest.mark.parametrize("case", [case for case in CASES if of_case(case)], ids=lambda case: case.parent.name)
def test_requests_of_cases_lie_in_a_region(case: Path) -> None:
    (simulation,) = open_workspace([str(case.parent / "manifests.yaml")]).simulations
    ways = list(all_ways(simulation))
    tracer = Tracer(simulation)
    for stated in of_case(case):
        asked = request({name: value for name, value in stated.items() if name != "expect"})
        traced = tracer.trace(asked)
        held = holding([way for way in ways if way.entry.gateway == traced.gateway], asked)
        if held and held[0].certificate and not asked.client_certificate:
            continue
        expected = stated["expect"]
        if not held:
            assert traced.outcome.refused or traced.outcome.status == 404, asked
            continue
        assert len(held) == 1, asked
        assert of(held[0].trace) == of(traced), asked
        ended = held[0].trace.outcome
        if "backend" in expected:
            assert {key.path for key in ended.backends} == {expected["backend"].partition(" ")[2]}, asked
        if isinstance(expected.get("status"), int) and expected["status"] != 200:
            assert ended.status == expected["status"], asked
