"""`trace` says what becomes of requests behind Middlewares as Traefik did (recorded/traefik-middlewares.json)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urljoin

import pytest

from policylint.trace import Trace, Tracer
from policylint.trace.request import from_url
from tests.witness import traefik_middlewares
from tests.witness.traefik_middlewares import Asked, World, manifests, questions, worlds
from tests.worlds import service, simulated


@pytest.fixture(scope="module")
def recorded() -> Sequence[Sequence[str]]:
    told: Sequence[Sequence[str]] = json.loads(traefik_middlewares.RECORD.read_text(encoding="utf-8"))
    return told


def ours(world: World) -> list[str]:
    tracer = Tracer(simulated(service("b0"), *manifests(world)), nearest=False)
    return [
        _told(tracer.trace(from_url(each.request.method, each.url, (), client=each.request.client)))
        for each in questions(world)
    ]


def _told(trace: Trace) -> str:
    there = trace.outcome.redirect
    if there is not None:
        port = f":{there.port}" if there.port else ""
        return f"{there.status} {there.scheme}://{there.host}{port}{there.path}"
    if trace.forwarded is not None:
        return trace.forwarded.path
    return "not known" if trace.outcome.unknown else str(trace.outcome.status)


def test_trace_says_what_traefik_said(recorded: Sequence[Sequence[str]]) -> None:
    answers = zip(worlds(), recorded, strict=True)
    told = [
        (world.middlewares, question.url, said, _resolved(question, real))
        for world, recorded_ones in answers
        for question, said, real in zip(questions(world), ours(world), recorded_ones, strict=True)
    ]
    assert len(told) > 6_000
    assert [each for each in told if each[2] != each[3]] == []


def _resolved(question: Asked, said: str) -> str:
    """Return what Traefik said, with a Location that names no host as clients read it."""
    status, _, there = said.partition(" ")
    return f"{status} {urljoin(question.url, there)}" if there else said


def test_the_record_has_every_kind_of_answer(recorded: Sequence[Sequence[str]]) -> None:
    kinds = Counter(said.partition(" ")[0] for world in recorded for said in world)
    assert min(kinds[status] for status in ("301", "302", "307", "308", "403", "500", "/", "/old/page")) > 20
