"""What trace says of authorization, diff says of its loss, and lint and explain say of the policy behind it.

Of each implementation a policy that keeps a request out: it is taken away, opened, or moved to another target.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.compare import compare, removed_protections
from policylint.explain.contexts import answers
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace import Trace, Tracer, request
from tests import worlds
from tests.compare.test_compare import sides

RULES = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
KINDS = {
    "envoy": ("gateway.envoyproxy.io/gatewayclass-controller", "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy"),
    "kgateway": ("kgateway.dev/kgateway", "gateway.kgateway.dev/v1alpha1", "TrafficPolicy"),
    "agentgateway": ("agentgateway.dev/agentgateway", "agentgateway.dev/v1alpha1", "AgentgatewayPolicy"),
    "kuadrant": ("istio.io/gateway-controller", "kuadrant.io/v1", "AuthPolicy"),
}
DENY = "authorization: {defaultAction: Deny}"
OPEN = "authorization: {defaultAction: Allow}"
POLICIES = {
    "envoy": (DENY, OPEN),
    "kgateway": (
        "rbac: {action: Allow, policy: {matchExpressions: [\"request.path == '/in'\"]}}",
        'rbac: {action: Allow, policy: {matchExpressions: ["true"]}}',
    ),
    "agentgateway": (
        'traffic: {authorization: {action: Deny, policy: {matchExpressions: ["true"]}}}',
        'traffic: {authorization: {action: Allow, policy: {matchExpressions: ["true"]}}}',
    ),
    "kuadrant": (
        'rules: {authorization: {one: {opa: {rego: "allow = false"}}}}',
        'rules: {authorization: {one: {opa: {rego: "allow = true"}}}}',
    ),
}


def shop(name: str, spec: str, target: str = "HTTPRoute/checkout") -> tuple[str, ...]:
    controller, api, kind = KINDS[name]
    field = "targetRef" if name == "kuadrant" else "targetRefs"
    base = (worlds.gateway_class("any", controller), worlds.gateway(), worlds.route(more=RULES), worlds.service())
    base = (*base, worlds.route("other", more="hostnames: [other.test], " + RULES))
    return (*base, worlds.policy(api, kind, "own", target, spec, "shop", field=field)) if spec else base


def mesh(*policies: str) -> tuple[str, ...]:
    pod = "{metadata: {labels: {app: web}}, spec: {containers: []}}"
    pod = f"spec: {{selector: {{matchLabels: {{app: web}}}}, template: {pod}}}"
    return (
        worlds.gateway_class("any", "istio.io/gateway-controller"),
        worlds.gateway(),
        worlds.route(more=RULES),
        worlds.service(more="selector: {app: web}"),
        *(() if MESHED in policies else (worlds.labelled("shop", "{istio-injection: enabled}"),)),
        worlds.manifest("apps/v1", "Deployment", "web", "shop", pod),
        *policies,
    )


def authorization(spec: str) -> str:
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "own", "shop", f"spec: {{{spec}}}")


NOTHING, EVERYTHING = authorization("selector: {matchLabels: {app: web}}"), authorization("rules: [{}]")
MESHED = worlds.manifest("v1", "Namespace", "shop", more="annotations: {linkerd.io/inject: enabled}")


def linkerd(pods: str, more: str = "") -> str:
    """A Server, which denies what no authorization lets in."""
    spec = f"podSelector: {{matchLabels: {{app: {pods}}}}}, port: 80{more}"
    return worlds.manifest("policy.linkerd.io/v1beta3", "Server", "own", "shop", f"spec: {{{spec}}}")


CHANGES = {
    **{f"{name}: gone": (shop(name, deny), shop(name, "")) for name, (deny, _) in POLICIES.items()},
    **{f"{name}: opened": (shop(name, deny), shop(name, let)) for name, (deny, let) in POLICIES.items()},
    **{
        f"{name}: moved": (shop(name, deny), shop(name, deny, "HTTPRoute/other"))
        for name, (deny, _) in POLICIES.items()
    },
    "istio: gone": (mesh(NOTHING), mesh()),
    "istio: opened": (mesh(NOTHING), mesh(EVERYTHING)),
    "istio: moved": (mesh(NOTHING), mesh(authorization("selector: {matchLabels: {app: other}}"))),
    "linkerd: gone": (mesh(MESHED, linkerd("web")), mesh(MESHED)),
    "linkerd: opened": (
        mesh(MESHED, linkerd("web")),
        mesh(MESHED, linkerd("web", ", accessPolicy: all-unauthenticated")),
    ),
    "linkerd: moved": (mesh(MESHED, linkerd("web")), mesh(MESHED, linkerd("other"))),
}


def traced(simulation: Simulation) -> Trace:
    return Tracer(simulation).trace(request({"host": "shop.test", "path": "/"}))


def answer(simulation: Simulation) -> str:
    """The answer of all who are asked about the request: `denied`, `depends`, else `allowed`."""
    trace = traced(simulation)
    given = [judged.decision.answer for judged in trace.judged]
    given += [placed.decision.answer for placed in trace.admissions]
    return next((kind for kind in ("denied", "depends") if kind in given), "allowed")


@pytest.mark.parametrize("name", CHANGES)
def test_a_denial_that_a_change_takes_away_is_reported(name: str, tmp_path: Path) -> None:
    pair = sides(tmp_path, *CHANGES[name])
    assert (answer(pair.before), answer(pair.after)) == ("denied", "allowed")
    found = removed_protections([pair], compare([pair]))
    assert [finding.severity for finding in found] == ["error"], [finding.message for finding in found]
    assert any(key.name in ("checkout", "own", "web") for key in found[0].resources)


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_is_reported_where_nothing_changes(name: str, tmp_path: Path) -> None:
    pair = sides(tmp_path, CHANGES[name][0], CHANGES[name][0])
    assert removed_protections([pair], compare([pair])) == []


@pytest.mark.parametrize("name", [name for name in CHANGES if name.endswith("gone")])
def test_who_denies_acts_for_explain_and_is_fine_for_lint(name: str, tmp_path: Path) -> None:
    """Who denies a request is Enforced, stands in an effective policy on its way, and is not reported as idle."""
    simulation = sides(tmp_path, *CHANGES[name]).before
    trace = traced(simulation)
    denying = {judged.policy for judged in trace.judged if judged.decision.answer == "denied"}
    decisions = [placed.decision for placed in trace.admissions]
    denying |= {each.by.key for each in decisions if each.answer == "denied" and each.by is not None}
    assert {key.name for key in denying} == {"own"}
    on_way = [*trace.path, *trace.beyond, *(whole(share.key) for share in trace.outcome.shares)]
    acting = {
        attachment.key
        for context in answers(simulation, on_way).listed
        for group in context.groups
        for attachment in group.effective.stack
    }
    policies = {key for key in denying if key.kind != "Server"}  # an object that policies target, and denies without
    assert policies <= acting
    for key in policies:
        assert simulation.policies[key].verdict == "Enforced"
    idle = [finding for finding in run(simulation) if finding.rule in ("GWP101", "GWP106", "GWP108", "GWP111")]
    assert not denying.intersection(key for finding in idle for key in finding.resources)
