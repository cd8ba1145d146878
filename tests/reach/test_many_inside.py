"""What the clients of a mesh meet at its Services: each pair takes what it takes among few of them."""

from __future__ import annotations

import math
from cProfile import Profile
from pathlib import Path
from pstats import Stats
from random import Random

import pytest

from policylint.implementations.istio import client_tls
from policylint.model import Resource, text
from policylint.model.hosts import names_service
from policylint.reach.inside import entries_inside, told_apart
from policylint.trace import Tracer
from policylint.workspace import open_workspace
from tests import worlds
from tests.trace.test_admissions import INJECTED, deployment, rule, service

FEW, MANY = 12, 36
OF_PORTS = "ingress: [{from: [{podSelector: {matchLabels: {app: web-0}}}]}]"


def destination_rule(name: str, namespace: str, host: str) -> str:
    body = f"spec: {{host: {host!r}, trafficPolicy: {{tls: {{mode: DISABLE}}}}}}"
    return worlds.manifest("networking.istio.io/v1", "DestinationRule", name, namespace, body)


def world_of(place: Path, number: int) -> Tracer:
    """Write so many Services, each with pods of an account of its own, and return what traces requests to them."""
    isolated = f"spec: {{podSelector: {{matchLabels: {{app: web-1}}}}, {OF_PORTS}}}"
    listed = [INJECTED, rule("any", "action: DENY, rules: [{to: [{operation: {methods: [PUT]}}]}]")]
    listed.append(worlds.manifest("networking.k8s.io/v1", "NetworkPolicy", "one", "shop", isolated))
    for name in (f"web-{each}" for each in range(number)):
        account = worlds.manifest("v1", "ServiceAccount", name, "shop")
        listed += (service(name), deployment(name, "shop", name), account, destination_rule(name, "shop", name))
    place.mkdir()
    (place / "world.yaml").write_text("---\n".join(listed))
    return Tracer(open_workspace([str(place)]).simulations[0], nearest=False)


def calls(tracer: Tracer) -> int:
    entries = list(entries_inside(tracer))
    profile = Profile()
    profile.enable()
    told = [told_apart(tracer, entry) for entry in entries]
    profile.disable()
    assert any(told)
    total: int = Stats(profile).total_calls  # type: ignore[attr-defined]
    return total


def test_a_pair_takes_what_it_takes_among_few(tmp_path: Path) -> None:
    calls(world_of(tmp_path / "imports", 2))
    few, many = (calls(world_of(tmp_path / str(number), number)) for number in (FEW, MANY))
    assert math.log(many / few) / math.log(MANY / FEW) <= 2.1


def named_by(called: Resource, rules: list[Resource]) -> list[Resource]:
    """Return the rules with the host that names a Service most closely, each held against it."""
    named = [(text(each.spec.get("host")), each) for each in rules]
    named = [(host, each) for host, each in named if names_service(host, each.key.namespace, called.key)]
    length = {host: len(host) if host.startswith("*") else 1 << 16 for host, _ in named}
    return [each for host, each in named if length[host] == max(length.values())]


@pytest.mark.parametrize("seed", range(20))
def test_the_closest_rules_are_those_of_the_closest_host(tmp_path: Path, seed: int) -> None:
    draw = Random(seed)
    hosts = ["*", "*.local", "*.shop.svc.cluster.local", "web", "cart", "web.", ""]
    hosts += [
        f"{name}.{home}{suffix}" for name in ("web", "cart") for home in ("shop", "pay") for suffix in ("", ".svc")
    ]
    drawn = [destination_rule(f"r-{number}", "shop", draw.choice(hosts)) for number in range(draw.randrange(12))]
    listed = [service(name, home) for name in ("web", "cart") for home in ("shop", "pay")]
    (tmp_path / "world.yaml").write_text("---\n".join([*listed, *drawn]))
    world = open_workspace([str(tmp_path)]).simulations[0].world
    rules = sorted(world.of_kind("networking.istio.io", "DestinationRule"), key=lambda each: each.age)
    for called in world.of_kind("", "Service"):
        assert client_tls._most_specific(called, client_tls._by_host(rules)) == named_by(called, rules)
