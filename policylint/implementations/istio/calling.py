"""Who a client is for the proxy that it calls, which proxies its requests pass, and which ports these leave alone.

Source: istio.io/docs/reference/config/annotations, «traffic.sidecar.istio.io»; pilot/pkg/xds/endpoints (1.28),
findServiceWaypoint in endpoint_builder.go, and mtls_checker.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.implementations.istio import labels
from policylint.implementations.istio.mesh import Mesh, Proxy, pod_place
from policylint.implementations.istio.waypoints import WaypointBinding
from policylint.model import Resource, World, mapping, sequence, text
from policylint.model.hosts import names_service
from policylint.policy.authorizing import Checkpoint, RequestFacts
from policylint.spaces import Predicate
from policylint.topology import whole

_TRAFFIC = "traffic.sidecar.istio.io/"
_OTHER_RANGES = ("includeOutboundIPRanges", "excludeOutboundIPRanges")


class Sender:
    """The client as the proxy at a hop knows it.

    Args:
        checked: whether anybody checks tokens at the hop.
        plain: whether the proxy takes plain text only, so that nobody shows a certificate.

    Attributes:
        namespace: of it, None where that is not known.
        principal: its identity, `shop/web`; "" where it has none, None where it is not known.
        token: False where nobody checks tokens, so that it has none.
        doubt: on what it depends whether the client shows a certificate, where that is not known.
    """

    __slots__ = ("_call", "doubt", "namespace", "principal", "token")

    def __init__(self, call: RequestFacts, mesh: Mesh, world: World, *, checked: bool, plain: bool) -> None:
        self._call = call
        self.namespace: str | None = call.sender.namespace
        self.principal: str | None = None
        self.token: bool | None = None if checked else False
        self.doubt = "whether the client is in the mesh"
        client = call.sender.workload
        if self.namespace == "" or plain:
            self.principal = ""
        elif client is None and call.sender.account is None:
            return
        elif (rule := _tls_rule(call.service, client, mesh, world)) is not None:
            self.doubt = f"the TLS that {rule.key} sets for clients"
        elif client is None:
            self.principal = call.sender.account
        elif client.key.kind == "Gateway":
            self.principal = f"{self.namespace}/{_gateway_account(client)}"
        else:
            proxy = _proxy_of(client, mesh)
            sends = False if proxy is None else takes_outbound(proxy, call.dialled)
            if sends is False:
                self.principal = ""
            elif proxy is not None and proxy.sure and sends:
                self.principal = f"{self.namespace}/{_account(client)}"

    def is_one_of(self, identities: Iterable[str]) -> bool | None:
        """Return whether it has one of some identities; those of other namespaces it never has."""
        wanted = list(identities)
        answer = self._call.is_principal(self.principal, wanted)
        if answer is None and self.namespace and not self._call.blank:
            anyone = [Predicate("Pair", f"{pair.partition('/')[0]}/*") for pair in wanted]
            return None if any(each.takes(f"{self.namespace}/") for each in anyone) else False
        return answer


class ClientTls:
    """The DestinationRules of a world that give clients other TLS than the mesh's."""

    __slots__ = ("rules",)

    def __init__(self, world: World) -> None:
        self.rules = [each for each in world.of_kind("networking.istio.io", "DestinationRule") if _sets_tls(each)]


def _sets_tls(rule: Resource) -> bool:
    policies = [mapping(rule.spec.get("trafficPolicy"))]
    policies += [mapping(mapping(each).get("trafficPolicy")) for each in sequence(rule.spec.get("subsets"))]
    policies += [mapping(each) for policy in policies for each in sequence(policy.get("portLevelSettings"))]
    return any(text(mapping(policy.get("tls")).get("mode")) not in ("", "ISTIO_MUTUAL") for policy in policies)


def _tls_rule(service: Resource | None, client: Resource | None, mesh: Mesh, world: World) -> Resource | None:
    """Return a DestinationRule that gives the clients of a Service other TLS; ztunnel reads none.

    Which of several acts, and for whom, is not asked: whose the identity is then remains open.
    """
    rules = world.once(ClientTls).rules if service is not None else []
    proxy = _proxy_of(client, mesh) if client is not None and rules else None
    if service is None or not rules or (proxy is not None and proxy.ambient):
        return None
    hosts = ((rule, text(rule.spec.get("host"))) for rule in rules)
    return next((rule for rule, host in hosts if names_service(host, rule.key.namespace, service.key)), None)


def takes_inbound(proxy: Proxy, port: int | None) -> bool | None:
    """Return whether a sidecar takes the connections to a port of its pods, None where that is not known."""
    included = text(proxy.annotations.get(f"{_TRAFFIC}includeInboundPorts"), "*")
    named = included if included != "*" else text(proxy.annotations.get(f"{_TRAFFIC}excludeInboundPorts"))
    if not named:
        return included == "*"
    return None if port is None or "$" in named else _lists(named, port) is (included != "*")


def takes_outbound(proxy: Proxy, port: int | None) -> bool | None:
    """Return whether the sidecar of a client takes its connections to a port, None where that is not known."""
    if _lists(text(proxy.annotations.get(f"{_TRAFFIC}excludeOutboundPorts")), port):
        return False
    if _lists(text(proxy.annotations.get(f"{_TRAFFIC}includeOutboundPorts")), port):
        return True
    if proxy.annotations.get(f"{_TRAFFIC}includeOutboundIPRanges") == "":
        return False
    ranges = (text(proxy.annotations.get(f"{_TRAFFIC}{name}")) for name in _OTHER_RANGES)
    return True if all(value in ("", "*") for value in ranges) else None


def _lists(ports: str, port: int | None) -> bool:
    """Tell whether a list such as `25,8080` holds a port."""
    return port is not None and str(port) in (each.strip() for each in ports.split(","))


def front(backend: Resource, caller: Resource | None, mesh: Mesh, world: World) -> Checkpoint | None:
    """Return the waypoint that the requests of a caller to a Service or a workload pass."""
    waypoints = mesh.waypoints
    is_service = (backend.key.group, backend.key.kind) == labels.SERVICE
    binding = waypoints.binding(backend) if is_service else WaypointBinding(waypoints.of_workloads.get(backend.key))
    bound = binding.waypoint
    if binding.unknown and _passes(caller, backend, mesh, world) is not False:
        return Checkpoint((whole(backend.key),), backend, binding.reason)
    waypoint = None if bound is None else world.get(bound)
    passes = None if waypoint is None else _passes(caller, backend, mesh, world)
    if waypoint is None or passes is False:
        return None
    path = (whole(waypoint.key), whole(backend.key)) if is_service else (whole(waypoint.key),)
    return Checkpoint(path, waypoint, "" if passes else "whether its client's requests pass the waypoint")


def _passes(caller: Resource | None, backend: Resource, mesh: Mesh, world: World) -> bool | None:
    """Return whether requests of a caller pass the waypoint of a backend, None where that is not known.

    ztunnels send them there, sidecars never do, and ingress Gateways where a label of the Service, or else of its
    Namespace, says so.
    """
    if caller is None:
        return None
    proxy = _proxy_of(caller, mesh)
    if caller.key.kind == "Gateway":
        if proxy is None or proxy.assumed:
            return None  # the pods of another controller's Gateway may be in the mesh
        if proxy.waypoint or _is_east_west(proxy):
            return not proxy.waypoint
        around = world.namespace_labels(backend.key.namespace)
        own = backend.labels if labels.INGRESS_USE_WAYPOINT in backend.labels else around
        return None if own is None else text(own.get(labels.INGRESS_USE_WAYPOINT)).lower() == "true"
    if proxy is None or proxy.ambient or proxy.gateway:
        return proxy is not None and proxy.ambient
    return False if proxy.sure or world.namespace_labels(caller.key.namespace) is not None else None


def _is_east_west(proxy: Proxy) -> bool:
    return proxy.labels.get(labels.MANAGED) == labels.EAST_WEST_CONTROLLER.replace("/", "-")


def _proxy_of(workload: Resource, mesh: Mesh) -> Proxy | None:
    """Return the proxy of a workload, or of a Gateway."""
    proxies = mesh.by_namespace.get(workload.key.namespace, ())
    return next((proxy for proxy in proxies if workload.key in (proxy.node.key, proxy.gateway_node.key)), None)


def _account(workload: Resource) -> str:
    """Return the ServiceAccount of the pods of a workload."""
    body: Any = workload.body
    for step in pod_place(workload):
        body = mapping(body).get(str(step))
    spec: Mapping[str, Any] = mapping(mapping(body).get("spec"))
    return text(spec.get("serviceAccountName")) or text(spec.get("serviceAccount")) or "default"


def _gateway_account(gateway: Resource) -> str:
    """Return the ServiceAccount of the proxy that istiod deploys for a Gateway (deploymentcontroller.go)."""
    of_class = text(gateway.spec.get("gatewayClassName"))
    return gateway.key.name if of_class == labels.WAYPOINT_CLASS else f"{gateway.key.name}-{of_class}"
