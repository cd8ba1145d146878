"""What network policies cut off gets no request: for `trace`, `reach`, guardrails and `diff` alike.

Which hops they allow (tiers, labels, ports) is held by tests/network; here it is that the end of a request rests on it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.guardrails import Guardrail, verdicts
from policylint.reach import all_ways, end_in_words
from policylint.trace import Trace, Tracer, request
from tests import worlds
from tests.compare.test_compare import sides
from tests.contract.own import CUT_OFF, EDGE, ENVOY_GATEWAY, ROUTE, SERVICE, SHOP, deployment

OTHER = worlds.service("other", more="selector: {app: other}")
CUTS_ONE = worlds.manifest(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "closed",
    "shop",
    "spec: {podSelector: {matchLabels: {app: checkout}}, policyTypes: [Ingress]}",
)
OF_THE_CLUSTER = worlds.manifest(
    "policy.networking.k8s.io/v1alpha1",
    "AdminNetworkPolicy",
    "closed",
    body="spec: {priority: 1, subject: {namespaces: {matchLabels: {kubernetes.io/metadata.name: shop}}}, "
    "ingress: [{action: Deny, from: [{namespaces: {}}]}]}",
)
SPLIT = worlds.route(
    more="hostnames: [shop.example.com], rules: [{backendRefs: "
    "[{name: checkout, port: 80, weight: 1}, {name: other, port: 80, weight: 3}]}]"
)
NOBODY = Guardrail("nobody", 0, "never", sources=("outside",), target="Service/shop/checkout")
CUT = "cut off by NetworkPolicy shop/closed on the way to shop/checkout"


def traced(*manifests: str, **more: str) -> Trace:
    return Tracer(worlds.simulated(*manifests)).trace(request({"host": "shop.example.com", "path": "/", **more}))


def ends(*manifests: str) -> list[str]:
    """Where the requests of the shop end, as `reach` says."""
    return [end_in_words(way.trace) for way in all_ways(worlds.simulated(*manifests)) if way.taken]


def test_a_backend_that_is_cut_off_gets_no_request() -> None:
    trace = traced(*SHOP, CUT_OFF)
    assert (trace.outcome.backends, trace.outcome.reason, trace.forwarded) == ({}, CUT, None)
    assert trace.denied is not None
    assert str(trace.denied[0]) == "NetworkPolicy shop/closed"
    assert ends(*SHOP, CUT_OFF) == [CUT]


def test_of_several_backends_one_may_be_cut_off() -> None:
    world = (ENVOY_GATEWAY, EDGE, SPLIT, SERVICE, OTHER, deployment(), deployment("other"), *SHOP[-2:])
    trace = traced(*world, CUTS_ONE)
    assert {str(key): share for key, share in trace.outcome.backends.items()} == {"Service shop/other": 0.75}
    assert trace.outcome.failing == 0.25
    assert ends(*world, CUTS_ONE) == ["shop/other (75%), an error (25%)"]


def test_what_is_not_known_cuts_nothing_off() -> None:
    """The pods of a Service that were not seen have labels that nobody knows."""
    world = tuple(manifest for manifest in SHOP if manifest != deployment())
    trace = traced(*world, CUTS_ONE.replace("app: checkout", "tier: front"))
    assert trace.network is not None
    assert (trace.network.verdict, bool(trace.outcome.backends)) == ("unknown", True)


def test_of_two_gateways_the_one_is_shown_that_gets_through() -> None:
    """Proxies run where their Gateways stand, with Cilium's exception: a rule may name one of the namespaces."""
    second = worlds.gateway("second", "public")
    both = ROUTE.replace(
        "name: edge, namespace: infra}]", "name: edge, namespace: infra}, {name: second, namespace: public}]"
    )
    opening = CUT_OFF.replace(
        "spec: {",
        "spec: {ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: public}}}]}], ",
    )
    kgateway = worlds.gateway_class("any", "kgateway.dev/kgateway")
    world = (kgateway, EDGE, second, both, SERVICE, deployment(), *SHOP[-2:], worlds.labelled("public"), opening)
    trace = traced(*world)
    assert (str(trace.gateway), list(map(str, trace.outcome.backends))) == (
        "Gateway public/second",
        ["Service shop/checkout"],
    )


@pytest.mark.parametrize(("more", "state"), [((), "broken"), ((CUT_OFF,), "holds"), ((OF_THE_CLUSTER,), "holds")])
def test_guardrails_hold_by_network_policies(more: tuple[str, ...], state: str) -> None:
    (verdict,) = verdicts(worlds.simulated(*SHOP, *more), [NOBODY])
    assert verdict.state == state


@pytest.mark.parametrize("policy", [CUT_OFF, CUTS_ONE, OF_THE_CLUSTER], ids=["all", "one", "cluster"])
def test_a_change_of_what_cuts_off_opens_and_closes(policy: str, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (gone,) = compare([sides(tmp_path / "gone", (*SHOP, policy), SHOP)])
    (tmp_path / "come").mkdir()
    (come,) = compare([sides(tmp_path / "come", SHOP, (*SHOP, policy))])
    for found, change in ((gone, "opened"), (come, "closed")):
        assert found.requests is not None
        (only,) = found.requests.changes
        assert (only.change, [who.policy.name for who in only.by]) == (change, ["closed"])


def test_so_does_the_label_of_a_namespace_that_is_let_in(tmp_path: Path) -> None:
    trusting = CUT_OFF.replace(
        "spec: {", "spec: {ingress: [{from: [{namespaceSelector: {matchLabels: {trusted: 'yes'}}}]}], "
    )
    kgateway = worlds.gateway_class("any", "kgateway.dev/kgateway")
    before = (kgateway, *SHOP[1:-1], worlds.labelled("infra", "{trusted: 'yes'}"), trusting)
    (found,) = compare([sides(tmp_path, before, (kgateway, *SHOP[1:-1], worlds.labelled("infra"), trusting))])
    assert found.requests is not None
    assert [(each.change, [str(who.policy) for who in each.by]) for each in found.requests.changes] == [
        ("closed", ["Namespace infra"])
    ]


def test_connections_are_cut_off_as_requests_are() -> None:
    listeners = "[{name: tcp, port: 9000, protocol: TCP, allowedRoutes: {namespaces: {from: All}}}]"
    stream = worlds.route(kind="TCPRoute", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
    world = (ENVOY_GATEWAY, worlds.gateway(listeners=listeners), stream, SERVICE, deployment(), *SHOP[-2:])
    assert (ends(*world), ends(*world, CUT_OFF)) == (["shop/checkout"], [CUT])


@pytest.mark.parametrize("scheme", ["http", "https", "tcp"])
@pytest.mark.parametrize("closed", [True, False])
def test_pods_without_a_service_are_called_by_their_addresses(scheme: str, closed: bool) -> None:
    world = (deployment(), deployment("client"), *([CUTS_ONE] if closed else []))
    asked = {"pod": "Deployment shop/checkout", "client": "Deployment shop/client", "port": 8080, "scheme": scheme}
    outcome = Tracer(worlds.simulated(*world)).trace(request(asked | {"host": "checkout"})).outcome
    assert outcome.refused == closed
    assert [share.key.kind for share in outcome.shares if not share.problem] == ([] if closed else ["Deployment"])
