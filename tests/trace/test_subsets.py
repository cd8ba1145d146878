"""The pods that requests of Istio's routes end at: of a subset those with its labels alone, whoever asks of them.

Predicted from istio/istio first: pilot/pkg/xds/endpoints/endpoint_builder.go (`subsetLabels`), and
pilot/pkg/networking/util, MergeSubsetTrafficPolicy.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.reach import entries_inside, ways_in
from policylint.reach.ways import all_ways
from policylint.simulation import Simulation
from policylint.trace import Request, Trace, Tracer
from tests.doors.test_istio import gateway, pods
from tests.worlds import manifest, service, simulated

API = "networking.istio.io/v1"
V2 = "selector: {matchLabels: {app: web, version: v2}}"
REFUSED_AT_V2 = manifest(
    "security.istio.io/v1", "AuthorizationPolicy", "closed", "shop", f"spec: {{{V2}, action: DENY, rules: [{{}}]}}"
)
CUT_OFF_AT_V2 = manifest(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "closed",
    "shop",
    "spec: {podSelector: {matchLabels: {version: v2}}, policyTypes: [Ingress]}",
)
STRICT = manifest("security.istio.io/v1", "PeerAuthentication", "strict", "shop", "spec: {mtls: {mode: STRICT}}")
OF_VERSIONS = "subsets: [{name: one, labels: {version: v1}}, {name: two, labels: {version: v2}}]"
IN_THE_CLEAR = "trafficPolicy: {tls: {mode: DISABLE}}"


def deployment(name: str, labels: str, home: str = "shop") -> str:
    template = f"{{metadata: {{labels: {labels}}}, spec: {{serviceAccountName: {name}, containers: [{{name: app}}]}}}}"
    return manifest(
        "apps/v1", "Deployment", name, home, f"spec: {{selector: {{matchLabels: {labels}}}, template: {template}}}"
    )


def subsets(name: str, version: str, policy: str = "") -> str:
    policy = f", trafficPolicy: {{{policy}}}" if policy else ""
    return f"subsets: [{{name: {name}, labels: {{version: {version}}}{policy}}}]"


def rule(spec: str = OF_VERSIONS, home: str = "shop", name: str = "web") -> str:
    return manifest(API, "DestinationRule", name, home, f"spec: {{host: web.shop.svc.cluster.local, {spec}}}")


def virtual(*routes: str, field: str = "http", match: str = "") -> str:
    named = (f"{{destination: {{host: web{each}" for each in routes)
    rules = f"{field}: [{{{match}route: [{', '.join(named)}]}}]"
    gateways = "gateways: [mesh, istio-system/public]"
    return manifest(
        API, "VirtualService", "web", "shop", f"spec: {{hosts: [web, shop.example.com], {gateways}, {rules}}}"
    )


def meshed(*objects: str, servers: str = "") -> Simulation:
    labelled = "metadata: {name: shop, labels: {istio-injection: enabled}}"
    return simulated(
        f"apiVersion: v1\nkind: Namespace\n{labelled}\n",
        service("web", "shop", "[{port: 80, name: http}]", more="selector: {app: web}"),
        deployment("web-v1", "{app: web, version: v1}"),
        deployment("web-v2", "{app: web, version: v2}"),
        deployment("client", "{app: client}"),
        gateway(servers) if servers else gateway(),
        pods(),
        *objects,
    )


ONE, TWO, ALL = ", subset: one}}", ", subset: two}}", "}}"


def asked(simulation: Simulation, *, inside: bool) -> str:
    """Return how a request ends: answered, refused, or "" where that is not certain."""
    request = Request(host="shop.example.com", path="/", gateway="Gateway/istio-system/public")
    if inside:
        request = Request(service="Service/shop/web", client="Deployment/shop/client", host="web", path="/")
    trace = Tracer(simulation).trace(request)
    return told(trace)


def told(trace: Trace) -> str:
    is_open = trace.network is not None and trace.network.verdict == "partly"
    if trace.outcome.unknown or is_open or any(each.decision.answer == "depends" for each in trace.admissions):
        return ""
    return "answered" if trace.outcome.backends else "refused"


def of_reach(simulation: Simulation, *, inside: bool) -> set[str]:
    tracer = Tracer(simulation)
    entries = (entry for entry in entries_inside(tracer) if entry.gateway.name == "web")
    ways = (way for entry in entries for way in ways_in(tracer, entry)) if inside else all_ways(simulation)
    found = {told(way.trace) for way in ways if way.trace.rule is not None}
    return found - {"answered"} or found  # those of whom no pod was seen are asked by no network policy


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("closed", [REFUSED_AT_V2, CUT_OFF_AT_V2], ids=["authorization", "network"])
@pytest.mark.parametrize(
    ("routes", "rules", "expected"),
    [
        ([ONE], [rule()], "answered"),
        ([TWO], [rule()], "refused"),
        ([ALL], [rule()], ""),
        # the subsets of several rules are added up, and whatever is called so has the same labels
        ([TWO], [rule(subsets("one", "v1")), rule(subsets("two", "v2"), name="more")], "refused"),
        ([ONE], [rule(), rule(subsets("one", "v1"), name="more")], "answered"),
        ([ONE], [rule(), rule(subsets("one", "v2"), name="more")], ""),
        # labels of which not all are seen
        ([ONE], [rule(subsets("one", "'${VERSION}'"))], ""),
        ([ONE], [rule("subsets: [{name: one, labels: {pod-template-hash: '1'}}]")], ""),
        ([ONE], [rule("subsets: [{name: one}]")], ""),
        # a weight of none gets nothing
        ([f"{ONE[:-1]}, weight: 100}}", f"{TWO[:-1]}, weight: 0}}"], [rule()], "answered"),
    ],
)  # fmt: skip
def test_whether_requests_get_to_the_pods_of_a_subset(
    routes: list[str], rules: list[str], expected: str, closed: str, inside: bool
) -> None:
    simulation = meshed(virtual(*routes), *rules, closed)
    assert asked(simulation, inside=inside) == expected
    if expected:
        assert of_reach(simulation, inside=inside) == {expected}


@pytest.mark.parametrize("inside", [True, False])
def test_a_subset_of_pods_that_are_not_there_answers_503(inside: bool) -> None:
    simulation = meshed(virtual(ONE), rule("subsets: [{name: one, labels: {version: v9}}]"))
    request = Request(host="shop.example.com", path="/", gateway="Gateway/istio-system/public")
    if inside:
        request = Request(service="Service/shop/web", client="Deployment/shop/client", host="web", path="/")
    assert Tracer(simulation).trace(request).outcome.status == 503


def test_a_machine_may_be_all_of_a_subset() -> None:
    entry = manifest(API, "WorkloadEntry", "old", "shop", "spec: {address: 192.0.2.1, labels: {app: web, version: v9}}")
    simulation = meshed(virtual(ONE), rule("subsets: [{name: one, labels: {version: v9}}]"), entry, REFUSED_AT_V2)
    assert asked(simulation, inside=True) == "answered"


@pytest.mark.parametrize(
    ("routes", "spec", "expected"),
    [
        # clients show no certificate to the subset of which the rule says so, at its pods or their ports
        ([ONE], subsets("one", "v1", "tls: {mode: DISABLE}"), "refused"),
        ([TWO], f"{subsets('one', 'v1', 'tls: {mode: DISABLE}')[:-1]}, {subsets('two', 'v2')[10:]}", "answered"),
        ([ONE], f"{IN_THE_CLEAR}, {subsets('one', 'v1')}", "refused"),
        ([ONE], f"{IN_THE_CLEAR}, {subsets('one', 'v1', 'tls: {mode: ISTIO_MUTUAL}')}", "answered"),
        ([ONE], subsets("one", "v1", "portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]"), "refused"),
        ([ONE], subsets("one", "v1", "portLevelSettings: [{port: {number: 81}, tls: {mode: DISABLE}}]"), "answered"),
        ([ONE], f"{IN_THE_CLEAR}, {subsets('one', 'v1', 'portLevelSettings: [{port: {number: 80}}]')}", "answered"),
    ],
)  # fmt: skip
def test_the_certificate_that_clients_show_to_a_subset(routes: list[str], spec: str, expected: str) -> None:
    assert asked(meshed(virtual(*routes), rule(spec), STRICT), inside=True) == expected


def test_sessions_with_the_pods_of_a_subset() -> None:
    spec = f"subsets: [{{name: one, labels: {{version: v1}}, {IN_THE_CLEAR}}}, {{name: two, labels: {{version: v2}}}}]"
    for route, state in ((ONE, "plain"), (TWO, "verified")):
        request = Request(service="Service/shop/web", client="Deployment/shop/client", host="web", path="/")
        (session,) = Tracer(meshed(virtual(route), rule(spec))).trace(request).sessions.values()
        assert session is not None
        assert session.state == state


def test_a_change_of_the_subset_is_one_of_who_is_let_in(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, to in ((before, TWO), (after, ONE)):
        folder.mkdir()
        objects = [
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}\n",
            service("web", "shop", "[{port: 80, name: http}]", more="selector: {app: web}"),
            deployment("web-v1", "{app: web, version: v1}"),
            deployment("web-v2", "{app: web, version: v2}"),
            gateway(),
            pods(),
            virtual(to),
            rule(),
            REFUSED_AT_V2,
        ]
        (folder / "all.yaml").write_text("---\n".join(objects), encoding="utf-8")
    told = CliRunner().invoke(main, ["diff", str(before), str(after), "-o", "json"])
    assert "AuthorizationPolicy shop/closed" in json.dumps(json.loads(told.stdout)["changes"])
