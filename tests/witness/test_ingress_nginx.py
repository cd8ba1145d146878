"""`trace` says of Ingresses what NGINX answered (recorded/ingress-nginx.json); where one is there it is asked again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from policylint.simulation import Simulation
from tests.doors.asking import answer
from tests.witness import ingress_nginx
from tests.witness.ingress_nginx import Nginx, Question, manifests, questions, worlds
from tests.worlds import service, simulated


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, list[str]]:
    told: Mapping[str, list[str]] = json.loads(ingress_nginx.RECORD.read_text(encoding="utf-8"))
    return told


def ours(simulation: Simulation, host: str, question: Question) -> str:
    end, login = answer(simulation, f"{question.scheme}://{host}{question.path}", question.client)
    return f"{end}, login" if login else end


def differences(recorded: Mapping[str, list[str]]) -> list[tuple[str, Question, str, str]]:
    """Return host, question, what NGINX said, and what `trace` says, where they are not the same."""
    found = []
    for host, world in worlds():
        simulation = simulated(service("web"), service("next"), *manifests(host, world))
        for question, real in zip(questions(), recorded[host], strict=True):
            said = ours(simulation, host, question)
            if said != real:
                found.append((host, question, real, said))
    return found


def test_trace_says_what_nginx_said(recorded: Mapping[str, list[str]]) -> None:
    assert recorded.keys() == {host for host, _ in worlds()}
    assert sum(map(len, recorded.values())) > 10_000
    assert differences(recorded) == []


def test_the_record_has_every_kind_of_answer(recorded: Mapping[str, list[str]]) -> None:
    kinds = Counter(said.split(" ")[0] for answers in recorded.values() for said in answers)
    assert {"web", "web,", "next", "next,", "301", "308", "403", "404", "503"} <= kinds.keys()


@pytest.mark.skipif(not ingress_nginx.is_there(), reason="needs Debian's nginx with Lua, and openssl")
def test_nginx_still_says_so(recorded: Mapping[str, list[str]], tmp_path: Path) -> None:
    with Nginx(tmp_path) as nginx:
        for host in [*recorded][:8]:
            assert ingress_nginx.facts(nginx, host) == recorded[host]
