"""Kuadrant's policies on listeners, and its conditions (semantics.md (c), traps 9 and 21)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model.catalog import load_catalog
from policylint.policy.state import PolicyState
from policylint.simulation import Simulation, simulate
from tests.topology.worlds import gateway, world

LISTENERS = "[{name: tls, port: 443, protocol: HTTPS}, {name: plain, port: 80, protocol: HTTP}]"
ISSUER = "issuerRef: {name: x}"


def policy(kind: str, name: str, section: str = "", spec: str = ISSUER, created: str = "") -> str:
    stamp = f", creationTimestamp: '{created}'" if created else ""
    at = f", sectionName: {section}" if section else ""
    target = f"targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: edge{at}}}"
    return f"""
apiVersion: kuadrant.io/v1
kind: {kind}
metadata: {{name: {name}, namespace: infra{stamp}}}
spec: {{{target}{", " + spec if spec else ""}}}
"""


def judged(*policies: str) -> Simulation:
    return simulate(world(gateway(listeners=LISTENERS), *policies), load_catalog())


def state(simulation: Simulation, name: str) -> PolicyState:
    return next(each for key, each in simulation.policies.items() if key.name == name)


def reached(simulation: Simulation) -> dict[str, list[str]]:
    """Per listener the policies that have something to say there."""
    return {
        path[-1].section: [each.name for each in group.effective.sources]
        for group in simulation.groups
        for path in group.contexts()
    }


def test_a_tls_policy_is_for_listeners_with_tls() -> None:
    assert reached(judged(policy("TLSPolicy", "wide"))) == {"tls": ["wide"]}


def test_a_tls_policy_of_a_listener_without_tls_does_nothing() -> None:
    simulation = judged(policy("TLSPolicy", "plain", "plain"))
    assert state(simulation, "plain").verdict == "Accepted"
    (found,) = run(simulation, select={"GWP106"})
    assert (found.rule, found.message) == ("GWP106", "TLSPolicy infra/plain has no effect on Listener infra/edge#plain")
    assert found.label == "Listener infra/edge#plain has no TLS, and a TLSPolicy passes such listeners over"


def test_a_listeners_policy_takes_it_from_the_gateways() -> None:
    simulation = judged(policy("TLSPolicy", "wide"), policy("TLSPolicy", "narrow", "tls"))
    assert reached(simulation) == {"tls": ["narrow"]}
    assert (state(simulation, "wide").verdict, [each.name for each in state(simulation, "wide").by]) == (
        "Overridden",
        ["narrow"],
    )


def test_a_refused_policy_of_a_listener_takes_it_all_the_same() -> None:
    """Trap 9: here one that lacks what its kind requires."""
    simulation = judged(policy("TLSPolicy", "wide"), policy("TLSPolicy", "narrow", "tls", spec=""))
    assert state(simulation, "narrow").verdict == "Invalid"
    assert reached(simulation) == {}
    found = state(simulation, "wide")
    assert (found.verdict, [each.name for each in found.by]) == ("Overridden", ["narrow"])


def test_what_is_affected_includes_the_gateway() -> None:
    affected = {
        str(node): [each.name for each in keys] for node, keys in judged(policy("TLSPolicy", "w")).affected().items()
    }
    assert affected == {"Gateway infra/edge": ["w"], "Listener infra/edge#tls": ["w"]}


@pytest.mark.parametrize(
    ("ages", "verdicts"),
    [
        (("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"), ["Enforced", "Conflicted"]),
        (("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"), ["Conflicted", "Enforced"]),
        (("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), ["Enforced", "Enforced"]),  # trap 21: no tie-break
        (("", ""), ["Enforced", "Enforced"]),
    ],
)
def test_only_a_strictly_older_policy_of_one_target_refuses_another(ages: tuple[str, str], verdicts: list[str]) -> None:
    policies = [policy("DNSPolicy", name, spec="", created=age) for name, age in zip("ab", ages, strict=True)]
    simulation = judged(*policies)
    assert [state(simulation, name).verdict for name in "ab"] == verdicts
    for name, verdict in zip("ab", verdicts, strict=True):
        said = [f"{each.type}={each.status}/{each.reason}" for each in state(simulation, name).conditions]
        accepted = ["Accepted=True/Accepted", "Enforced=True/Enforced"]
        assert said == (accepted if verdict == "Enforced" else ["Accepted=False/Conflicted"])
