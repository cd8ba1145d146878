"""A request straight to pods is followed once: by the proxies beside them, and by the network policies on its way."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.guardrails import Guardrail, verdicts
from policylint.reach import end_in_words, ways_in
from policylint.trace import Request, Tracer
from tests.compare.test_compare import sides
from tests.compare.test_requests import requests
from tests.reach.test_agreement import at_pods, disagreements
from tests.worlds import labelled, manifest, service, simulated

INJECTED, AMBIENT = "{istio-injection: enabled}", "{istio.io/dataplane-mode: ambient}"


def workload(name: str, namespace: str) -> str:
    spec = f"{{serviceAccountName: {name}, containers: [{{name: c, ports: [{{containerPort: 8080}}]}}]}}"
    template = f"{{metadata: {{labels: {{app: {name}}}}}, spec: {spec}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", name, namespace, body)


def letting_in(source: str) -> str:
    rules = f"rules: [{{from: [{{source: {{{source}}}}}]}}]" if source else "rules: [{}]"
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "who", "shop", f"spec: {{{rules}}}")


def world(*more: str, mesh: str = INJECTED) -> tuple[str, ...]:
    spaces = (labelled(name, mesh) for name in ("shop", "front"))
    return (*spaces, workload("checkout", "shop"), workload("web", "front"), *more)


FROM_FRONT = letting_in("namespaces: [front]")
CLOSED = manifest("networking.k8s.io/v1", "NetworkPolicy", "closed", "shop", "spec: {podSelector: {}, ingress: []}")
OPEN = CLOSED.replace("ingress: []", "ingress: [{from: [{namespaceSelector: {}}]}]")
SELECTING = service(more="selector: {app: checkout}", ports="[{name: http, port: 80, targetPort: 8080}]")
TO_POD = Request("http", "GET", "checkout", "/", port=8080, pod="Deployment/shop/checkout")
WORLDS = {
    "letting everybody in, closed": (world(letting_in(""), CLOSED), "cut off", "cut off"),
    "letting everybody in, open": (world(letting_in(""), OPEN), "shop/checkout", "shop/checkout"),
    "by the sidecar nobody is known": (world(FROM_FRONT, OPEN), "403", "refused"),
    "by ztunnel all are": (world(FROM_FRONT, OPEN, mesh=AMBIENT), "shop/checkout", "shop/checkout"),
    "by ztunnel, closed": (world(FROM_FRONT, CLOSED, mesh=AMBIENT), "cut off", "cut off"),
    "others, by ztunnel": (world(letting_in("namespaces: [bank]"), mesh=AMBIENT), "refused", "refused"),
}


@pytest.mark.parametrize("with_service", [False, True])
@pytest.mark.parametrize(("manifests", "http", "tcp"), WORLDS.values(), ids=WORLDS)
def test_trace_and_reach_say_the_same_of_it(
    manifests: tuple[str, ...], http: str, tcp: str, with_service: bool
) -> None:
    """Connections were asked nobody's policy in `trace`, and requests no network policy in `reach` and `diff`."""
    simulation = simulated(*manifests, *([SELECTING] if with_service else []))
    tracer = Tracer(simulation)
    for client in ("Deployment/front/web", "ServiceAccount/front/web"):
        for scheme, end in (("http", http), ("tcp", tcp)):
            trace = tracer.trace(TO_POD._replace(scheme=scheme, client=client))
            assert end_in_words(trace).partition(":")[0].startswith(end)
    for seed in range(3):
        assert disagreements(simulation, 100, seed, mixed=True)[1] == []
    assert any(way.trace.outcome.backends for entry in at_pods(tracer) for way in ways_in(tracer, entry))


ENDS = [(CLOSED, "cut off by NetworkPolicy shop/closed", "changed"), (OPEN, "shop/checkout", "opened")]


@pytest.mark.parametrize(("network", "end", "change"), ENDS, ids=["closed", "open"])
def test_a_change_opens_nothing_to_pods_that_the_network_keeps_closed(
    tmp_path: Path, network: str, end: str, change: str
) -> None:
    before, after = (world(letting_in(source), network, mesh=AMBIENT) for source in ("namespaces: [bank]", ""))
    found = requests(sides(tmp_path, before, after))
    assert {each.change for each in found.changes if each.after.startswith(end)} == {change}


@pytest.mark.parametrize(("network", "is_kept"), [(CLOSED, True), (OPEN, False)])
def test_guardrails_ask_the_network_by_itself(network: str, is_kept: bool) -> None:
    simulation = simulated(*world(letting_in(""), network))
    never = Guardrail("never", 0, "never", sources=("Deployment/front/web",), target="Deployment/shop/checkout")
    (verdict,) = verdicts(simulation, [never])
    assert (not verdict.breaches) is is_kept


@pytest.mark.parametrize(
    ("network", "end"), [(CLOSED, "cut off by NetworkPolicy shop/closed"), (OPEN, "shop/checkout")]
)
def test_without_a_port_that_of_the_service_is_meant(network: str, end: str) -> None:
    tracer = Tracer(simulated(*world(letting_in(""), network, SELECTING)))
    trace = tracer.trace(TO_POD._replace(port=None, client="Deployment/front/web"))
    assert end_in_words(trace).startswith(end)
    assert trace.network is not None
    assert trace.network.verdict == ("denied" if network is CLOSED else "allowed")
