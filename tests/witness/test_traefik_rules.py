"""`trace` says which rule of IngressRoutes takes a request as Traefik's own muxer did (recorded/traefik.json)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.doors.asking import answer
from tests.witness import traefik_rules
from tests.witness.traefik_rules import Request, World, manifests, worlds
from tests.worlds import service, simulated

NOT_KNOWN = "not known"


@pytest.fixture(scope="module")
def recorded() -> Sequence[Sequence[str]]:
    told: Sequence[Sequence[str]] = json.loads(traefik_rules.RECORD.read_text(encoding="utf-8"))
    return told


def ours(world: World) -> list[str]:
    backends = (service(f"b{number}") for number in range(len(world.rules)))
    simulation = simulated(*backends, *manifests(world))
    return [answer(simulation, each.url, each.client, _headers(each), method=each.method)[0] for each in world.requests]


def _headers(request: Request) -> list[str]:
    return [f"{name}: {value}" for name, value in request.headers]


def test_trace_says_what_traefik_said(recorded: Sequence[Sequence[str]]) -> None:
    # The muxer was asked, which has all rules; of two that read alike in one object it is handed the later one.
    asked = zip(worlds(), recorded, strict=True)
    answers = [(each, real) for each, real in asked if len({rule.written for rule in each.rules}) == len(each.rules)]
    told = [pair for world, real in answers for pair in zip(ours(world), real, strict=True)]
    assert len(told) > 7_000
    assert [pair for pair in told if pair[0] not in (NOT_KNOWN, pair[1])] == []
    unknown = sum(said == NOT_KNOWN for said, _ in told)
    assert unknown < len(told) * 0.08  # addresses of clients, and expressions for hosts that no rule names


def test_the_record_has_every_kind_of_answer(recorded: Sequence[Sequence[str]]) -> None:
    kinds = Counter(said for world in recorded for said in world)
    assert min(kinds[said] for said in ("404", "b0", "b1", "b2", "b3", "b4")) > 100
