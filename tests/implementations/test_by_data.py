"""Implementations of which the catalog says nearly all (docs/design/implementations/kgateway-nginx-gloo.md §4)."""

from __future__ import annotations

import pytest

from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import gateway, route, service, simulated, verdicts

RULES = "rules: [{name: pay, backendRefs: [{name: checkout, port: 80}]}, {backendRefs: [{name: checkout, port: 80}]}]"
SHOP = (gateway(), route(more=RULES), service())


def policy(api: str, kind: str, name: str, target: str, spec: str = "", created: str = "") -> str:
    field = "targetRefs" if api.startswith("apisix") else "targetRef"
    return worlds.policy(api, kind, name, target, spec, "shop", created, field=field)


def judged(*manifests: str) -> Simulation:
    return simulated(*SHOP, *manifests)


def apisix(name: str, target: str, priority: int | None) -> str:
    spec = "" if priority is None else f"priority: {priority}"
    return policy("apisix.apache.org/v1alpha1", "HTTPRoutePolicy", name, target, spec)


@pytest.mark.parametrize(
    ("one", "other", "refused"),
    [
        (("HTTPRoute/checkout", 1), ("HTTPRoute/checkout", 2), True),
        (("HTTPRoute/checkout", 1), ("HTTPRoute/checkout#pay", 2), True),  # the rule is the route's too
        (("HTTPRoute/checkout", 1), ("HTTPRoute/checkout", 1), False),
        (("HTTPRoute/checkout", None), ("HTTPRoute/checkout", 0), False),
        (("HTTPRoute/checkout", None), ("HTTPRoute/checkout", 1), True),
    ],
)
def test_route_policies_of_apisix_agree_on_the_priority_or_are_all_refused(
    one: tuple[str, int | None], other: tuple[str, int | None], refused: bool
) -> None:
    simulation = judged(apisix("a", *one), apisix("b", *other))
    found = set(verdicts(simulation).values())
    assert found == {"Conflicted"} if refused else "Conflicted" not in found


def test_a_third_one_with_a_priority_of_its_own_knocks_out_both() -> None:
    simulation = judged(*(apisix(name, "HTTPRoute/checkout", each) for name, each in (("a", 1), ("b", 1), ("c", 2))))
    assert set(verdicts(simulation).values()) == {"Conflicted"}


@pytest.mark.parametrize(
    ("name", "verdict", "condition"),
    [
        ("old", "Enforced", "Accepted=True/Accepted"),
        ("young", "Conflicted", "Accepted=False/Conflicted"),
        ("lost", "TargetNotFound", "Accepted=False/TargetNotFound"),
    ],
)
def test_vpc_lattice_has_one_policy_per_target_and_one_list_of_conditions(
    name: str, verdict: str, condition: str
) -> None:
    api = "application-networking.k8s.aws/v1alpha1"
    simulation = judged(
        policy(api, "TargetGroupPolicy", "old", "Service/checkout", "protocol: HTTP", "2026-01-01T00:00:00Z"),
        policy(api, "TargetGroupPolicy", "young", "Service/checkout", "protocol: HTTP", "2026-01-02T00:00:00Z"),
        policy(api, "TargetGroupPolicy", "lost", "Service/chekout", "protocol: HTTP"),
    )
    (state,) = (state for key, state in simulation.policies.items() if key.name == name)
    assert state.verdict == verdict
    assert [f"{each.type}={each.status}/{each.reason}" for each in state.conditions] == [condition]


def test_policies_of_gke_are_attached() -> None:
    simulation = judged(policy("networking.gke.io/v1", "GCPBackendPolicy", "p", "Service/checkout", "default: {}"))
    (state,) = simulation.policies.values()
    assert [(each.type, each.status, each.reason) for each in state.conditions] == [("Attached", "True", "Attached")]


def test_wso2_takes_the_oldest_of_a_target_and_the_precedence_of_2023() -> None:
    """Upper override, lower override, lower default, upper default, field by field; one policy per target."""
    api = "dp.wso2.com/v1alpha4"
    stated = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")
    simulation = judged(
        policy(api, "APIPolicy", "first", "Gateway/edge", "default: {a: 1}", stated[0]).replace("shop", "infra"),
        policy(api, "APIPolicy", "second", "Gateway/edge", "default: {b: 1}", stated[1]).replace("shop", "infra"),
    )
    assert verdicts(simulation) == {"first": "Enforced", "second": "Conflicted"}
