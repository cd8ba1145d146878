"""Who a client is for the proxy that it calls, which proxies its requests pass, and which ports these leave alone.

Source: istio.io/docs/reference/config/annotations, «traffic.sidecar.istio.io»; pilot/pkg/xds/endpoints (1.28),
findServiceWaypoint in endpoint_builder.go, and mtls_checker.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from policylint.implementations.istio import labels
from policylint.implementations.istio.client_tls import ClientTls, DestinationRules
from policylint.implementations.istio.mesh import Mesh, Proxy, pod_place
from policylint.implementations.istio.protocols import carries_connections
from policylint.implementations.istio.subsets import destinations
from policylint.implementations.istio.unmet_tls import outside
from policylint.implementations.istio.visibility import EXPORT_TO, Sidecars, View
from policylint.implementations.istio.waypoints import WaypointBinding
from policylint.model import Resource, World, mapping, text, texts
from policylint.model.hosts import is_exported
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.words import listing
from policylint.policy.authorizing import Checkpoint, Client, Decision, RequestFacts, Routing
from policylint.spaces.predicates import Predicate
from policylint.topology import whole
from policylint.topology.hostnames import covers
from policylint.topology.workloads import services_selecting

_TRAFFIC = "traffic.sidecar.istio.io/"
_INTERCEPTION = "sidecar.istio.io/interceptionMode"
_BYPASSED = "ambient.istio.io/bypass-inbound-capture"
_PLAIN = 80
_HEADLESS = "whether a Service without an address of its own has its sidecar know the address of the pod"
_OTHER_RANGES = ("includeOutboundIPRanges", "excludeOutboundIPRanges")


class Sender:
    """The client as the proxy at a hop knows it.

    Args:
        root: the root namespace.
        checked: whether anybody checks tokens at the hop.
        plain: whether the proxy takes plain text only, so that nobody shows a certificate.
        tunnel: whether clients of the mesh reach it by HBONE, which shows one whatever a DestinationRule sets inside.

    Attributes:
        namespace: of it, None where that is not known.
        principal: its identity, `shop/web`; "" where it has none, None where it is not known.
        token: False where nobody checks tokens, so that it has none.
        doubt: on what it depends whether the client shows a certificate, where that is not known.
        rule: the DestinationRule for which it shows none although it could.
        past_services: whether its sidecar passes on what it sends, to the address of a pod that no Service leads to
            (pilot/pkg/networking/core/cluster_builder.go, buildDefaultPassthroughCluster: without TLS).
    """

    __slots__ = ("_call", "_tunnel", "doubt", "namespace", "past_services", "principal", "rule", "token")

    def __init__(
        self,
        call: RequestFacts,
        mesh: Mesh,
        world: World,
        root: str,
        *,
        checked: bool,
        plain: bool,
        tunnel: bool = False,
    ) -> None:
        self._call, self._tunnel = call, tunnel
        self.namespace: str | None = call.sender.namespace
        self.principal: str | None = None
        self.token: bool | None = None if checked else False
        self.doubt = "whether the client is in the mesh"
        self.rule: Resource | None = None
        self.past_services = False
        client, callers = call.sender.workload, call.sender.callers
        strangers = client is None and callers and all(proxy_of(each, mesh) is None for each in callers)
        if self.namespace == "" or plain or strangers:
            self.principal = ""
        elif client is not None or call.sender.account is not None:
            self._find(call, client, mesh, world, root)

    def _find(self, call: RequestFacts, client: Resource | None, mesh: Mesh, world: World, root: str) -> None:
        """Find out which certificate the client shows to the Service that it calls: of an account, all of its workloads
        that were seen."""
        senders = call.sender.callers if client is None and call.sender.callers else (client,)
        found = [self._shown(call, sender, mesh, world, root) for sender in senders]
        first = found[0]
        if all(each[0] == first[0] for each in found):
            self.principal, self.doubt, self.rule = first
        else:
            self.doubt = next((each[1] for each in found if each[0] is None), "which workload of the account sends it")

    def _shown(
        self, call: RequestFacts, sender: Resource | None, mesh: Mesh, world: World, root: str
    ) -> tuple[str | None, str, Resource | None]:
        """Return what one workload shows, on what that hangs where it is not known, and for which DestinationRule."""
        home, named = self.namespace or "", call.sender.workload is None
        proxy = None if sender is None else proxy_of(sender, mesh)
        pod_labels = None if sender is None else proxy.labels if proxy is not None else {}
        is_gateway = sender is not None and sender.key.kind == "Gateway"
        sends = is_gateway or sender is None or (False if proxy is None else takes_outbound(proxy, call.dialled))
        if sends is False:
            return "", self.doubt, None
        around = world.namespace_labels(home) or {}
        ambient = (
            around.get(labels.DATAPLANE_MODE) == "ambient" if sender is None else proxy is not None and proxy.ambient
        )
        if call.straight is not None and proxy is not None and not ambient and not is_gateway:
            if any(each.spec.get("clusterIP") == "None" for each in services_selecting(world, call.straight)):
                return None, _HEADLESS, None
            self.past_services = proxy.sure
            return "", self.doubt, None
        if call.service is not None and not ambient:
            if not is_gateway:
                view = world.once(Sidecars).view(call.service, call.dialled, home, pod_labels, root)
                if view.seen is False:
                    return "", self.doubt, None
                if view.seen is None and view.by is not None:
                    return None, f"whether {view.by.key} shows it the Service", None
            shown = ClientTls()
            if not self._tunnel:
                rules = world.once(DestinationRules)
                shown = rules.for_client(call.service, call.dialled, home, pod_labels, root, call.labels)
            if shown.rule is not None and (shown.identity is None or (proxy is not None and proxy.waypoint)):
                return None, f"the TLS that {shown.rule.key} sets for clients", None
            if shown.identity is False:
                sure = is_gateway or sender is None or (proxy is not None and proxy.sure and sends)
                return "", self.doubt, shown.rule if sure else None
        if named:  # whoever is called by an identity has it
            return call.sender.account, self.doubt, None
        if is_gateway and sender is not None:
            return f"{self.namespace}/{_gateway_account(sender)}", self.doubt, None
        if sender is not None and proxy is not None and proxy.sure and sends:
            return f"{self.namespace}/{_account(sender)}", self.doubt, None
        return None, self.doubt, None

    def is_one_of(self, identities: Iterable[str]) -> bool | None:
        """Return whether it has one of some identities; those of other namespaces it never has."""
        wanted = list(identities)
        answer = self._call.is_principal(self.principal, wanted)
        if answer is None and self.principal is None and (account := self._call.sender.account):
            with_it, without = (self._call.is_principal(each, wanted) for each in (account, ""))
            answer = with_it if with_it == without else None
        if answer is None and self.namespace and not self._call.blank:
            anyone = [Predicate("Pair", f"{pair.partition('/')[0]}/*") for pair in wanted]
            return None if any(each.takes(f"{self.namespace}/") for each in anyone) else False
        return answer


def hidden(client: Client, service: Resource, port: int | None, mesh: Mesh, world: World, root: str) -> str:
    """Return why a client shows a Service no certificate of the mesh, or may show none; "" where it shows its own.

    Args:
        service: also a workload, whose pods it calls by their address.
    """
    is_called = service.key[:2] == labels.SERVICE
    call = RequestFacts("", "", "", {}, sender=client, dialled=port)
    call = call._replace(service=service) if is_called else call._replace(straight=service)
    sender = Sender(call, mesh, world, root, checked=False, plain=False)
    if sender.principal:
        return ""
    if sender.principal is None:
        return sender.doubt
    by = f"{sender.rule.key} has it show none" if sender.rule is not None else "it shows none"
    return f"{by} to the address of a pod" if sender.past_services else by


def may_hide(world: World) -> bool:
    """Return whether any client may not show some Service who it is; see `hidden`."""
    if any(world.of_kind("networking.istio.io", kind) for kind in ("Sidecar", "DestinationRule")):
        return True
    if any(EXPORT_TO in service.annotations for service in world.of_kind(*labels.SERVICE)):
        return True
    proxies = chain.from_iterable(world.once(Mesh).by_namespace.values())
    return any(name.startswith((_TRAFFIC, _INTERCEPTION)) for proxy in proxies for name in proxy.annotations)


def takes_inbound(proxy: Proxy, port: int | None) -> bool | None:
    """Return whether a proxy takes the connections to a port of its pods, None where that is not known."""
    if proxy.ambient:
        return text(proxy.annotations.get(_BYPASSED)) != "true"
    if text(proxy.annotations.get(_INTERCEPTION)) == "NONE":
        return False
    included = text(proxy.annotations.get(f"{_TRAFFIC}includeInboundPorts"), "*")
    named = included if included != "*" else text(proxy.annotations.get(f"{_TRAFFIC}excludeInboundPorts"))
    if not named:
        return included == "*"
    return None if port is None or "$" in named else _lists(named, port) is (included != "*")


def takes_outbound(proxy: Proxy, port: int | None) -> bool | None:
    """Return whether the sidecar of a client takes its connections to a port, None where that is not known."""
    if proxy.ambient:
        return True
    if text(proxy.annotations.get(_INTERCEPTION)) == "NONE":
        return None  # it does where the client asks for that
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
    proxy = proxy_of(caller, mesh)
    if caller.key.kind == "Gateway":
        if proxy is None or proxy.assumed:
            return None  # the pods of another controller's Gateway may be in the mesh
        if proxy.waypoint:
            return _is_east_west(proxy)
        around = world.namespace_labels(backend.key.namespace)
        own = backend.labels if labels.INGRESS_USE_WAYPOINT in backend.labels else around
        return None if own is None else text(own.get(labels.INGRESS_USE_WAYPOINT)).lower() == "true"
    if proxy is None or proxy.ambient or proxy.gateway:
        return proxy is not None and proxy.ambient
    return False if proxy.sure or world.namespace_labels(caller.key.namespace) is not None else None


def routing(
    service: Resource, caller: Resource | None, port: int | None, mesh: Mesh, world: World, root: str, *, stream: bool
) -> Routing | None:
    """Return which routes of a Service the requests of a caller meet, None where that is not known.

    Sidecars apply the routes of their own namespace and of the Service's, waypoints those of the Service's alone, and
    ztunnel none; nor does a sidecar that does not see the Service, or takes the port for one of connections.
    """
    if carries_connections(service, port) and not stream:
        return "none"
    if caller is None:
        return None
    proxy = proxy_of(caller, mesh)
    if proxy is None:
        return "none"
    if proxy.ambient:
        binding = mesh.waypoints.binding(service)
        return "producers" if binding.waypoint is not None else None if binding.unknown else "none"
    view = _view(service, proxy, port, world, root)
    return "none" if view.seen is False or takes_outbound(proxy, port) is False else "all"


def blocked(
    service: Resource, caller: Resource | None, port: int | None, mesh: Mesh, world: World, root: str, mode: str
) -> Decision | None:
    """Return the refusal of a caller's own sidecar to let requests out, None where it lets them.

    Where it listens for requests at the port it answers 502, else it closes the connection.

    Args:
        mode: of the mesh's outboundTrafficPolicy.
    """
    proxy = None if caller is None else proxy_of(caller, mesh)
    if proxy is None or proxy.ambient or proxy.gateway or takes_outbound(proxy, port) is not True:
        return None
    view, sidecars = _view(service, proxy, port, world, root), world.once(Sidecars)
    if view.seen or view.by is None:
        return _unmet(service, proxy, port, world, root)
    if not sidecars.refuses_unknown(proxy.namespace, proxy.labels, root, mode):
        if view.seen is None or not proxy.sure:
            return None
        why = "it shows it no such Service, and lets requests out to unknown hosts (ALLOW_ANY): in plain text"
        return Decision("allowed", view.pointer, why, by=view.by)
    why = "it lets nothing out to hosts that it does not see"
    if view.seen is None or not proxy.sure:
        return Decision("depends", view.pointer, why, by=view.by)
    listens = sidecars.hears(port, proxy.namespace, proxy.labels, root)
    return Decision("denied", view.pointer, why, status=502, by=view.by, resets=not listens)


def let_out(
    host: str, caller: Resource, port: int | None, mesh: Mesh, world: World, root: str, mode: str
) -> Decision | None:
    """Return what a caller's own sidecar does with requests for a host that no Service is called by; None without one.

    Source: pilot/pkg/networking/core/v1alpha3/route, buildCatchAllVirtualHost: PassthroughCluster, or 502; of hosts
    that nothing registers VirtualServices count on port 80 (buildSidecarVirtualHostsForVirtualService).
    """
    proxy = proxy_of(caller, mesh)
    if proxy is None or proxy.ambient or proxy.gateway or takes_outbound(proxy, port) is not True:
        return None
    sidecars = world.once(Sidecars)
    own = next(iter(sidecars.of(proxy.namespace, proxy.labels, root)), None)
    limited = own is not None and "egress" in own.spec
    entry, virtual = (_for_host(world, kind, host, proxy) for kind in (labels.SERVICE_ENTRY, VIRTUAL_SERVICE))
    found = virtual if entry is not None or port == _PLAIN else None
    if found is not None:
        ends = listing(sorted({text(each.get("host")) for each, _ in destinations(found)} or {"elsewhere"}), most=3)
        why = f"it sends these requests on to {ends}"
        return Decision("depends" if limited else "allowed", ("spec", "hosts"), why, by=own if limited else found)
    if entry is not None:
        why = f"{entry.key} defines it"
        return Decision("depends" if limited else "allowed", ("spec", "hosts"), why, by=own if limited else entry)
    pointer = ("spec", "outboundTrafficPolicy") if own is not None and "outboundTrafficPolicy" in own.spec else ()
    if not sidecars.refuses_unknown(proxy.namespace, proxy.labels, root, mode):
        return Decision("allowed", pointer, "it lets requests out to unknown hosts (ALLOW_ANY)", by=own)
    why = "it lets nothing out to hosts that no Service and no ServiceEntry defines (REGISTRY_ONLY)"
    listens = sidecars.hears(port, proxy.namespace, proxy.labels, root)
    denied = Decision("denied", pointer, why, status=502, by=own, resets=not listens)
    return denied if proxy.sure else denied.if_so("whether the client is in the mesh")


def _for_host(world: World, kind: tuple[str, str], host: str, proxy: Proxy) -> Resource | None:
    """Return the object of a kind that is for a host in the mesh, and shown to a proxy as far as is known."""
    return next(
        (
            each
            for each in world.of_kind(*kind)
            if any(covers(name, host) for name in texts(each.spec.get("hosts")) if name not in ("", "*"))
            and "mesh" in (texts(each.spec.get("gateways")) or ["mesh"])
            and is_exported(each, proxy.namespace) is not False
        ),
        None,
    )


def _unmet(service: Resource, proxy: Proxy, port: int | None, world: World, root: str) -> Decision | None:
    """Return that the pods of a Service cannot take the certificate that a DestinationRule has a client show."""
    shown = world.once(DestinationRules).for_client(service, port, proxy.namespace, proxy.labels, root)
    found = outside(service, world) if shown.demands is not None and proxy.sure else None
    if found is None:
        return None
    why = "it has clients show a certificate of the mesh, and the pods have no proxy to take it"
    denied = Decision("denied", ("spec", "trafficPolicy"), why, status=503, by=shown.demands)
    return denied.if_so("whether the pods are in the mesh") if found.doubt else denied


def _view(service: Resource, proxy: Proxy, port: int | None, world: World, root: str) -> View:
    return world.once(Sidecars).view(service, port, proxy.namespace, proxy.labels, root)


def _is_east_west(proxy: Proxy) -> bool:
    return proxy.labels.get(labels.MANAGED) == labels.EAST_WEST_CONTROLLER.replace("/", "-")


def proxy_of(workload: Resource, mesh: Mesh) -> Proxy | None:
    """Return the proxy of a workload, or of a Gateway."""
    return mesh.meant(workload.key)


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
