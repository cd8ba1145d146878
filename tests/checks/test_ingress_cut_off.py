"""GWP604 for Ingresses: Cilium's proxies have the identity `ingress`, whatever the client's is."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from policylint.trace import Request, Tracer
from tests.contract.test_contract import disagreements
from tests.worlds import gateway, gateway_class, manifest, route, simulated

PODS = manifest(
    "apps/v1", "Deployment", "web", "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, "
    "spec: {containers: [{name: web, ports: [{containerPort: 8080}]}]}}}",
)  # fmt: skip
SERVICE = manifest(
    "v1", "Service", "web", "shop", "spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}"
)
PATH = "{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}"
INTO = f"rules: [{{host: shop.example.com, http: {{paths: [{PATH}]}}}}]"


def by_class(controller: str) -> tuple[str, str]:
    return (
        manifest("networking.k8s.io/v1", "IngressClass", "here", body=f"spec: {{controller: {controller}}}"),
        manifest("networking.k8s.io/v1", "Ingress", "web", "shop", f"spec: {{ingressClassName: here, {INTO}}}"),
    )


CILIUM = by_class("cilium.io/ingress-controller")


def policy(rules: str, kind: str = "CiliumNetworkPolicy", subject: str = "{}") -> str:
    namespace = "shop" if kind == "CiliumNetworkPolicy" else ""
    return manifest("cilium.io/v2", kind, "own", namespace, f"spec: {{endpointSelector: {subject}, {rules}}}")


def standard(peer: str) -> str:
    rule = f"ingress: [{{from: [{peer}]}}]"
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "shop", f"spec: {{podSelector: {{}}, {rule}}}")


GATEWAYS = "{matchExpressions: [{key: reserved:ingress, operator: Exists}]}"


def told(*manifests: str) -> list[Finding]:
    return list(run(simulated(PODS, SERVICE, *manifests), select={"GWP604"}))


@pytest.mark.parametrize(
    "closing",
    [
        policy("ingress: [{fromEndpoints: [{}]}]"),
        policy("ingress: [{fromCIDRSet: [{cidr: 192.168.200.0/24}]}]"),
        policy("ingress: [{fromEntities: [world]}]"),
        standard("{podSelector: {}}"),
        standard("{ipBlock: {cidr: 10.0.0.0/8}}"),
        policy("egress: [{toEndpoints: [{matchLabels: {app: other}}]}]", "CiliumClusterwideNetworkPolicy", GATEWAYS),
    ],
)
def test_what_keeps_the_proxies_of_cilium_out(closing: str) -> None:
    [found] = told(*CILIUM, closing)
    assert "every request of Ingress shop/web to Service shop/web fails" in found.message
    assert found.severity == "error"
    trace = Tracer(simulated(PODS, SERVICE, *CILIUM, closing)).trace(Request(host="shop.example.com", port=80))
    assert trace.is_cut_off


@pytest.mark.parametrize(
    "open_",
    [
        policy("ingress: [{fromEntities: [ingress]}]"),
        policy("ingress: [{fromEntities: [all]}]"),
        policy("ingress: [{fromEndpoints: [{}]}, {fromEntities: [ingress], toPorts: [{ports: [{port: '8080'}]}]}]"),
        policy("egress: [{toEntities: [cluster]}]", "CiliumClusterwideNetworkPolicy", GATEWAYS),
    ],
)
def test_what_lets_them_in(open_: str) -> None:
    assert not told(*CILIUM, open_)


def test_proxies_of_which_nobody_knows_where_they_run() -> None:
    assert not told(*by_class("k8s.io/ingress-nginx"), standard("{podSelector: {}}"))


NO_EGRESS = manifest(
    "policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", "pass", "",
    "spec: {priority: 10, subject: {namespaces: {}}, egress: [{action: Deny, to: [{pods: {namespaceSelector: {}, "
    "podSelector: {}}}]}]}",
)  # fmt: skip
CLOSED = manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "shop", "spec: {podSelector: {}, ingress: []}")
PUBLISHED = {
    "LoadBalancer": "type: LoadBalancer",
    "NodePort": "type: NodePort",
    "ExternalIP": "externalIPs: [192.0.2.1]",
}


@pytest.mark.parametrize("published", PUBLISHED.values(), ids=PUBLISHED)
@pytest.mark.parametrize(
    ("closing", "said"),
    [
        (NO_EGRESS, []),
        (standard("{podSelector: {}}"), []),
        (CLOSED, ["NetworkPolicy shop/own blocks clients from the pods of Service shop/web on TCP 8080"]),
    ],
    ids=["what pods send", "the nodes may be let in", "nobody"],
)
def test_what_is_published_by_itself_has_no_proxies(published: str, closing: str, said: list[str]) -> None:
    """Clients come straight from outside, perhaps by the address of a node: kubernetes.io, "Source IP"."""
    besides = gateway_class(), gateway(), route(more="rules: [{}]")
    simulation = simulated(*besides, PODS, SERVICE.replace("spec: {", f"spec: {{{published}, "), closing)
    found = list(run(simulation, select={"GWP604"}))
    assert [finding.message.partition(":")[0] for finding in found] == said
    assert disagreements(simulation) == []


KEPT = ", externalTrafficPolicy: Local"
NODES_ALONE = policy("ingress: [{fromEntities: [remote-node]}]")


@pytest.mark.parametrize(
    ("published", "closing", "severity"),
    [
        ("type: NodePort" + KEPT, standard("{podSelector: {}}"), "warning"),
        ("externalIPs: [192.0.2.1]" + KEPT, standard("{namespaceSelector: {}}"), "warning"),
        ("type: NodePort" + KEPT, NODES_ALONE, "warning"),
        ("type: NodePort" + KEPT, CLOSED, "error"),
        ("type: LoadBalancer" + KEPT, CLOSED, "error"),
        ("type: LoadBalancer" + KEPT, standard("{podSelector: {}}"), ""),
        ("type: NodePort" + KEPT, standard("{ipBlock: {cidr: 192.0.2.0/24}}"), ""),
        ("type: NodePort", standard("{podSelector: {}}"), ""),
    ],
)
def test_a_service_alone_that_clients_do_not_get_to(published: str, closing: str, severity: str) -> None:
    """Without a Gateway or a route. Whom load balancers come from is not known, be they pods."""
    simulation = simulated(PODS, SERVICE.replace("spec: {", f"spec: {{{published}, "), closing)
    found = list(run(simulation, select={"GWP604"}))
    assert [finding.severity for finding in found] == ([severity] if severity else [])
    assert disagreements(simulation) == []


@pytest.mark.parametrize(
    ("peer", "verdict", "because"),
    [
        ("{podSelector: {}}", "unknown", "NetworkPolicy shop/own lets in pods alone; whether clients"),
        ("{ipBlock: {cidr: 192.0.2.0/24}}", "unknown", "whether clients"),  # a node may have such an address
        ("{ipBlock: {cidr: 198.51.100.0/24}}", "allowed", ""),
    ],
)
def test_an_address_at_a_service(peer: str, verdict: str, because: str) -> None:
    request = Request(host="web", port=80, service="Service/shop/web", address="198.51.100.7")
    way = Tracer(simulated(PODS, SERVICE, standard(peer))).trace(request).network
    assert way is not None
    [hop] = way.hops
    assert (way.verdict, hop.because[: len(because)]) == (verdict, because)
    assert bool(because) is bool(hop.because)


@pytest.mark.parametrize(
    ("named", "end"),
    [
        ("{name: web, port: 80}, {name: web, port: 81}", "port 80 of Service shop/web"),
        ("{name: web, port: 80}", "Service shop/web"),
        ("{name: web, port: 80}, {name: web, port: 82}", "Service shop/web"),
    ],
)
def test_a_port_is_named_where_another_one_of_the_backend_is_open(named: str, end: str) -> None:
    ports = ", ".join(f"{{name: p{port}, port: {port}, targetPort: {80}{port}}}" for port in (80, 81, 82))
    world = (
        gateway_class(controller="io.cilium/gateway-controller"),
        gateway(),
        route("web", more=f"rules: [{{backendRefs: [{named}]}}]"),
        PODS,
        manifest("v1", "Service", "web", "shop", f"spec: {{selector: {{app: web}}, ports: [{ports}]}}"),
        CLOSED.replace("ingress: []", "ingress: [{ports: [{port: 8081}]}]"),
    )
    [found] = list(run(simulated(*world), select={"GWP604"}))
    assert found.message.endswith(f"every request of HTTPRoute shop/web to {end} fails")
    assert disagreements(simulated(*world)) == []


BOTH = "ingress: [{fromCIDRSet: [{cidr: 192.0.2.0/24}]}, {fromEntities: [ingress]}]"
OFFICE = "ingress: [{fromCIDRSet: [{cidr: 192.0.2.0/24}]}]"
AT_GATEWAYS = policy(OFFICE, "CiliumClusterwideNetworkPolicy", GATEWAYS).replace("name: own", "name: other")
PUBLISHED_TOO = SERVICE.replace("spec: {", f"spec: {{type: LoadBalancer{KEPT}, ").replace("name: web", "name: lb")
BY_GATEWAY = (
    gateway_class(controller="io.cilium/gateway-controller"),
    gateway(),
    route("web", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
)


@pytest.mark.parametrize("way", [CILIUM, BY_GATEWAY], ids=["Ingress", "Gateway"])
@pytest.mark.parametrize(
    ("objects", "is_told"),
    [
        ((policy(BOTH),), True),
        ((policy(BOTH, "CiliumClusterwideNetworkPolicy", "{matchLabels: {app: web}}"),), True),
        ((policy(BOTH, "CiliumClusterwideNetworkPolicy"),), False),  # for the proxies as well: they are asked there
        ((policy(BOTH), AT_GATEWAYS), False),
        ((policy(BOTH.replace("192.0.2.0/24", "0.0.0.0/0")),), False),
        ((policy("ingress: [{fromEntities: [ingress]}]"),), False),
        ((policy(OFFICE),), False),  # nothing is let in: GWP604
        ((policy(BOTH), PUBLISHED_TOO), False),
    ],
)
def test_a_list_of_addresses_that_no_client_of_a_gateway_is_held_against(
    way: tuple[str, ...], objects: tuple[str, ...], is_told: bool
) -> None:
    """cilium/cilium#32755."""
    found = list(run(simulated(PODS, SERVICE, *way, *objects), select={"GWP327"}))
    assert [each.field for each in found] == ["spec.ingress[0].fromCIDRSet[0]"] * is_told
    assert all("hide from the pods of Service shop/web" in each.message for each in found)
