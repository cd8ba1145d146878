"""Guardrails about who gets where, with a mesh that asks who calls: alone, and above network policies."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policylint.guardrails import GuardrailVerdict, guardrails, verdicts
from tests import worlds
from tests.reach.test_inside import AT_PORT, ELSEWHERE, ON_SERVICE, STRICT
from tests.trace.test_admissions import INJECTED, WAYPOINT, WAYPOINTED, deployment, rule, service

ONLY = "{name: x, only: {from: [namespace/infra], to: Deployment/shop/web, port: 8080}}"
NEVER = "{name: x, never: {from: namespace/infra, to: Service/shop/*}}"
ACCOUNT = "{name: x, never: {from: ServiceAccount/infra/caller, to: Deployment/shop/web}}"
OUTSIDE = "{name: x, never: {from: outside, to: Service/shop/web}}"
FROM_INFRA = rule("p", "rules: [{from: [{source: {namespaces: [infra]}}]}]")
FROM_SHOP = rule("p", "rules: [{from: [{source: {namespaces: [shop]}}]}]")
NOT_ADMIN = rule(
    "p", "action: DENY, rules: [{from: [{source: {namespaces: [infra]}}], to: [{operation: {paths: [/x]}}]}]"
)
BY_TOKEN = rule("p", "rules: [{from: [{source: {requestPrincipals: ['*']}}]}]")
AT_WAYPOINT = rule("p", ON_SERVICE + "rules: [{from: [{source: {namespaces: [shop]}}]}]")
SEALED = worlds.manifest(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "sealed",
    "shop",
    "spec: {podSelector: {}, ingress: [], policyTypes: [Ingress]}",
)


def judged(tmp_path: Path, entry: str, *manifests: str, mode: str = INJECTED) -> GuardrailVerdict:
    simulation = worlds.opened(
        tmp_path, worlds.labelled("shop", mode), worlds.labelled("infra", mode), service(), ELSEWHERE,
        deployment("web", "shop"), deployment("client", "infra", "caller"), deployment("other", "labs"), *manifests,
    )  # fmt: skip
    (verdict,) = verdicts(simulation, guardrails([yaml.safe_load(entry)]))
    return verdict


@pytest.mark.parametrize(
    ("entry", "manifests", "state"),
    [
        (ONLY, (), "broken"),
        (ONLY, (FROM_INFRA,), "holds"),
        (ONLY, (FROM_INFRA.replace("[infra]", "[infra, labs]"),), "unknown"),  # whether labs is in the mesh
        (ONLY, (STRICT,), "unknown"),
        (NEVER, (), "broken"),
        (NEVER, (FROM_INFRA,), "broken"),
        (NEVER, (FROM_SHOP,), "holds"),
        (NEVER, (NOT_ADMIN,), "broken"),
        (NEVER, (BY_TOKEN,), "holds"),
        (NEVER, (SEALED,), "holds"),
        (NEVER, (SEALED, FROM_INFRA), "holds"),
        (ACCOUNT, (), "broken"),
        (ACCOUNT, (FROM_SHOP,), "holds"),
        (ACCOUNT, (AT_PORT,), "broken"),
    ],
)
def test_what_the_mesh_lets_in(tmp_path: Path, entry: str, manifests: tuple[str, ...], state: str) -> None:
    assert judged(tmp_path, entry, *manifests).state == state


def test_a_waypoint_keeps_nobody_from_the_pods(tmp_path: Path) -> None:
    """Who calls the address of a pod goes past the waypoint of its Service."""
    assert judged(tmp_path, NEVER, WAYPOINT, AT_WAYPOINT, mode=WAYPOINTED).state == "broken"


def test_who_makes_it_hold(tmp_path: Path) -> None:
    assert judged(tmp_path, ACCOUNT, FROM_SHOP).held == (
        ("AuthorizationPolicy shop/p blocks others from Deployment shop/web", 1),
    )


@pytest.mark.parametrize(("policy", "state"), [(FROM_INFRA, "holds"), (STRICT, "holds"), (ELSEWHERE, "broken")])
def test_a_published_service_that_asks_for_an_identity(tmp_path: Path, policy: str, state: str) -> None:
    published = service().replace("spec: {", "spec: {type: LoadBalancer, ").replace("name: web", "name: pub", 1)
    assert judged(tmp_path, OUTSIDE.replace("web", "pub"), published, policy).state == state


def test_pods_that_may_not_be_in_the_mesh(tmp_path: Path) -> None:
    verdict = judged(tmp_path, NEVER, FROM_SHOP, mode="{}")
    assert [breach.unknown for breach in verdict.breaches] == ["it is not known whether the mesh lets them in"]
