"""Clients inside a mesh are told apart by what network policies do to the pods that have their account."""

from __future__ import annotations

import pytest

from policylint.reach import entries_inside, ways_in
from policylint.trace import Request, Tracer
from tests.reach.test_agreement import disagreements
from tests.worlds import labelled, manifest, service, simulated


def workload(name: str, namespace: str, account: str = "") -> str:
    of = f"serviceAccountName: {account}, " if account else ""
    spec = f"{{{of}containers: [{{name: a, image: r.example.com/a, ports: [{{containerPort: 80}}]}}]}}"
    template = f"{{metadata: {{labels: {{app: {name}}}}}, spec: {spec}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", name, namespace, body)


def network(spec: str, namespace: str = "shop", kind: str = "NetworkPolicy", api: str = "networking.k8s.io/v1") -> str:
    return manifest(api, kind, "some", namespace, f"spec: {{{spec}}}")


def from_(peer: str) -> str:
    return network(f"podSelector: {{matchLabels: {{app: checkout}}}}, ingress: [{{from: [{peer}]}}]")


DESK = "{matchLabels: {app: desk, 'k8s:io.kubernetes.pod.namespace': bank}}"
GET = "[{ports: [{port: '80'}], rules: {http: [{method: GET}]}}]"
POLICIES = {
    "from pods of one label": from_("{podSelector: {matchLabels: {app: nobody}}}"),
    "from pods of one namespace": from_("{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: till}}}"),
    "what pods of one account send": network("podSelector: {matchLabels: {app: desk}}, policyTypes: [Egress]", "bank"),
    "some requests of one account": network(
        f"endpointSelector: {{matchLabels: {{app: checkout}}}}, ingress: [{{fromEndpoints: [{DESK}], toPorts: {GET}}}]",
        kind="CiliumNetworkPolicy",
        api="cilium.io/v2",
    ),
}
NAMING = manifest(
    "security.istio.io/v1",
    "AuthorizationPolicy",
    "desk",
    "till",
    "spec: {rules: [{from: [{source: {principals: [cluster.local/ns/bank/sa/desk]}}]}]}",
)
CLOSED = manifest(
    "security.istio.io/v1",
    "AuthorizationPolicy",
    "who",
    "shop",
    "spec: {rules: [{from: [{source: {namespaces: [bank]}}]}]}",
)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("with_login", [False, True])
def test_each_request_lies_in_the_region_that_answers_it(policy: str, with_login: bool) -> None:
    world = simulated(
        *(labelled(name, "{istio-injection: enabled}") for name in ("shop", "bank", "till")),
        service(more="selector: {app: checkout}"),
        workload("checkout", "shop"),
        workload("desk", "bank", "desk"),
        workload("safe", "bank", "safe"),
        workload("till", "till", "till"),
        service("till", "till", more="selector: {app: till}"),
        NAMING,
        POLICIES[policy],
        CLOSED if with_login else CLOSED.replace("source: {namespaces: [bank]}", "source: {namespaces: ['*']}"),
    )
    tracer = Tracer(world)
    ends = {
        way.trace.outcome.refused or way.trace.denied is not None
        for each in entries_inside(tracer)
        for way in ways_in(tracer, each)
    }
    assert ends == {False, True}
    for seed in range(4):
        assert disagreements(world, 200, seed, mixed=True)[1] == []


@pytest.mark.parametrize("policy", POLICIES)
def test_the_network_sees_the_pods_of_a_client_whose_address_is_asked_about(policy: str) -> None:
    """Where a proxy asks for addresses, who has an account comes from its pods all the same."""
    manifests = (
        *(labelled(name, "{istio-injection: enabled}") for name in ("shop", "bank")),
        service(more="selector: {app: checkout}"),
        workload("checkout", "shop"),
        workload("desk", "bank", "desk"),
        NAMING,
        POLICIES[policy],
    )
    tracer = Tracer(simulated(*manifests))
    asked = Request("http", "POST", "checkout.shop", "/", port=80, service="Service/shop/checkout")
    for client in ("Deployment/bank/desk", "ServiceAccount/bank/desk"):
        sent = asked._replace(client=client)
        plain, with_address = tracer.trace(sent), tracer.trace(sent._replace(address="10.1.2.3"))
        assert (plain.outcome, plain.network) == (with_address.outcome, with_address.network)
        assert plain.network is not None
    by_address = CLOSED.replace("namespaces: [bank]", "ipBlocks: [10.0.0.0/8]")
    assert disagreements(simulated(*manifests, by_address), 200, mixed=True)[1] == []
