"""Istio's own Gateways as doors: their servers, and the VirtualServices that are bound to them.

Source: istio.io/docs/reference/config/networking/gateway and virtual-service. What is asked at the pods of a gateway
(AuthorizationPolicy, RequestAuthentication) is asked by the same code as at workloads: `proxies` says which they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.doors.istio_claims import told
from policylint.doors.istio_rules import (
    Server,
    age_of,
    body_of,
    http_rules,
    in_full,
    is_for,
    is_meant,
    is_wildcard,
    matches_of,
    named_at,
    parted,
    routes_of,
    sources_of,
)
from policylint.doors.lowered import Backends, Door, DoorRule, Guard, Opening, door, granted
from policylint.doors.variables import entries, is_left_open, stands_in_variable, words
from policylint.doors.vendors import guards
from policylint.implementations.generic import gateway_pods
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import is_exported
from policylint.model.keys import filled_in
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.topology.hostnames import covers, narrowed
from policylint.topology.routes import UNSEEN
from policylint.topology.workloads import pod_labels

_POLICIES = ("AuthorizationPolicy", "RequestAuthentication")
_ROOT = "istio-system"
_INSTALLED = ("ingressgateway", "egressgateway")
"""What `istio` says at the pods of the gateways that an installation of Istio makes, in a namespace of their own."""
_OF_GATEWAYS = ("istio", "ingress", "egress", "gateway")
"""Words of one of which such a namespace is called."""
_OWN = (".", "~")
"""What `exportTo` says of no other namespace."""
_HTTP = ("HTTP", "HTTP2", "HTTP_PROXY", "GRPC", "GRPC-WEB")
_MOST = 100_000
"""Rules of a host: the first one has this rank, each further one a lower one."""
_BY_CLUSTER = "AUTO_PASSTHROUGH"
"""The mode of servers that lead by names of clusters (`outbound_.80_._.web.shop.svc.cluster.local`), by no route."""
_PASSED_ON = ("PASSTHROUGH", _BY_CLUSTER)
_CERTIFICATES = {
    "MUTUAL": "clientCertificate",
    "ISTIO_MUTUAL": "clientCertificate",
    "OPTIONAL_MUTUAL": "optionalClientCertificate",
}
_CONDITIONS = ("headers", "withoutHeaders", "queryParams", "method", "authority", "scheme")
"""What a match may demand of requests beside their path."""
_SHARING = (("http", "http"), ("https", "https"), ("https", "http"), ("https", "tcp"))
"""What is served at a port beside the first server there, which has TLS or has not."""
_Found = tuple[Resource, str, str, Mapping[str, Any], Pointer]
"""VirtualService, host, and the name, content and place of one of its rules."""


class _Taken(NamedTuple):
    """What servers have taken at pods, by port and address: with which scheme, and the hosts of those with TLS."""

    schemes: dict[tuple[int, str], str]
    hosts: dict[tuple[int, str], set[str]]


def istio_doors(world: World, backends: Backends, policies: Mapping[ResourceKey, PolicyState]) -> Iterator[Door]:
    """Yield a door for each Gateway of Istio's own.

    Args:
        policies: those of the simulation, of which some act at the Gateways.
    """
    virtuals = sorted(world.of_kind(*VIRTUAL_SERVICE), key=_order)
    served = _served(world)
    for gateway in world.of_kind(*OWN_GATEWAY):
        servers = _told_apart(served[gateway.key])
        bound = [each for each in virtuals if _is_bound(world, each, gateway)]
        rules = [_perhaps(gateway, rule) for rule in _rules(world, gateway, servers, bound)]
        openings = [server.opening for server in servers if not (server.opening.passes and server.apart)]
        unseen = _unseen(world, gateway, policies)
        yield door(gateway, "", rules, guards(), granted(backends), openings, unseen, in_order=True)


def _served(world: World) -> dict[ResourceKey, list[Server]]:
    """Return the servers of each Gateway; those with the same pods share their ports, and the oldest comes first."""
    taken: dict[str, _Taken] = {}
    by_age = sorted(world.of_kind(*OWN_GATEWAY), key=lambda each: each.age)
    return {each.key: list(_servers(each, taken.setdefault(str(_selector(each)), _Taken({}, {})))) for each in by_age}


def _selector(gateway: Resource) -> list[tuple[str, Any]]:
    """Return by which labels a Gateway selects its pods, itself where it selects none."""
    return sorted(mapping(gateway.spec.get("selector")).items()) or [(gateway.key.path, "")]


def _servers(gateway: Resource, taken: _Taken) -> Iterator[Server]:
    """Yield the servers of a Gateway, but those at a port of one that takes connections, or requests without TLS, and
    those with TLS for a host that another one with TLS has at its port.

    Source: istio/istio, pilot/pkg/model/gateway.go, mergeGateways, canMergeProtocols.
    """
    for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
        port, tls = mapping(server.get("port")), mapping(server.get("tls"))
        protocol, mode = text(port.get("protocol")).upper(), text(tls.get("mode"), "SIMPLE")
        there = port.get("number")
        if not isinstance(there, int):
            continue
        secure = protocol in ("TLS", "HTTPS")
        scheme = "http" if protocol in _HTTP else "https" if secure else "tcp"
        address = (there, text(server.get("bind")))
        if (taken.schemes.get(address, "https"), scheme) not in _SHARING:
            continue
        known, own = taken.hosts.setdefault(address, set()), _told_in_full(server, gateway) if tls else set()
        if not known.isdisjoint(own):
            continue
        known |= own
        taken.schemes.setdefault(address, scheme)
        passes = secure and mode in _PASSED_ON
        asked: tuple[Guard, ...] = ()
        if secure and not passes and mode in _CERTIFICATES:
            setting = _CERTIFICATES[mode]
            place: Pointer = ("spec", "servers", number, "tls", "mode")
            asked = (Guard(gateway, {setting: {"secret": text(tls.get("credentialName"))}}, {(setting,): place}),)
        opening = Opening("tls" if secure and (passes or protocol == "TLS") else scheme, there, passes=passes)
        redirects = scheme == "http" and tls.get("httpsRedirect") is True
        hosts = tuple(words(server.get("hosts")))
        yield Server(opening, hosts, ("spec", "servers", number), asked, redirects, mode if secure else "")


def _told_in_full(server: Mapping[str, Any], gateway: Resource) -> set[str]:
    """Return the hosts of a server with the namespaces that they are limited to (sanitizeServerHostNamespace)."""
    home = gateway.key.namespace
    return {
        f"{home}/{host[2:]}" if host.startswith("./") else host.removeprefix("*/")
        for host in texts(server.get("hosts"))
    }


def _told_apart(servers: Sequence[Server]) -> list[Server]:
    """Return servers, one for each host where some at a port end TLS of requests and others that of connections."""
    schemes: dict[int, set[str]] = {}
    for server in servers:
        schemes.setdefault(server.opening.port, set()).add(server.opening.scheme)
    found = []
    for server in servers:
        mixed = {"https", "tls"} <= schemes[server.opening.port] and server.opening.scheme != "http"
        for host in server.hosts if mixed else ():
            opening = server.opening._replace(hostname=_pattern(host))
            found.append(server._replace(opening=opening, hosts=(host,), apart=True))
        found += [] if mixed else [server]
    return found


def _order(virtual: Resource) -> tuple[Any, ...]:
    """Return a key for sorting: those for their own namespace, then those for others that they name, then all others.

    Source: istio/istio, pilot/pkg/model/push_context.go, VirtualServicesForGateway.
    """
    readers = texts(virtual.spec.get("exportTo"))
    public = not readers or "*" in readers
    return (2 if public else 0 if set(readers) <= {".", virtual.key.namespace} else 1, *age_of(virtual))


def _rules(world: World, gateway: Resource, servers: Sequence[Server], bound: Sequence[Resource]) -> Iterator[DoorRule]:
    """Yield what servers do with requests and connections.

    Args:
        bound: the VirtualServices of the Gateway, in order.
    """
    named: dict[int, set[str]] = {}
    for server in servers:
        if server.opening.scheme in ("http", "https"):
            yield from _of_requests(world, gateway, server, bound)
        elif not server.opening.passes:
            yield from _of_connections(world, gateway, server, bound)
        elif server.mode != _BY_CLUSTER:
            yield from _passed_on(world, gateway, server, bound, named.setdefault(server.opening.port, set()))


def _of_connections(world: World, gateway: Resource, server: Server, bound: Sequence[Resource]) -> Iterator[DoorRule]:
    """Yield what a server does with connections: all of them take the first TCP route that is for its port.

    Of a match the port and the Gateways count alone (l4SingleMatch): nobody looks at where connections come from or
    go to.
    Source: istio/istio, pilot/pkg/networking/core/gateway.go, buildGatewayNetworkFiltersFromTCPRoutes.
    """
    for virtual in bound:
        if not _hosts(virtual, gateway, server):
            continue
        for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("tcp")))):
            matches = [mapping(match) for match in sequence(rule.get("match"))]
            if rule.get("route") and (
                not matches or any(_is_meant(virtual, gateway, server, each) for each in matches)
            ):
                body, _ = body_of(world, virtual, routes_of(world, virtual, "tcp", number), server)
                name = named_at(world, virtual, rule, f"tcp-{number}", server)
                for host in dict.fromkeys(map(_pattern, server.hosts if server.mode else ("*",))):
                    place: Pointer = ("spec", "tcp", number)
                    yield DoorRule(virtual, server.opening, host, name, body, place, server.guards)
                return


def _passed_on(
    world: World, gateway: Resource, server: Server, bound: Sequence[Resource], taken: set[str]
) -> Iterator[DoorRule]:
    """Yield where a server passes TLS on unread: by the names of the TLS routes, each of which counts once at a port.

    Source: istio/istio, pilot/pkg/networking/core/gateway.go, buildGatewayNetworkFiltersFromTLSRoutes.
    """
    for virtual in bound:
        if not _hosts(virtual, gateway, server):
            continue
        for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("tls")))):
            for match in map(mapping, sequence(rule.get("match")) if rule.get("route") else ()):
                names = texts(match.get("sniHosts"))
                if not _is_meant(virtual, gateway, server, match) or not taken.isdisjoint(names):
                    continue
                taken.update(names)
                body, _ = body_of(world, virtual, routes_of(world, virtual, "tls", number), server)
                for host in dict.fromkeys(map(_pattern, names)):
                    opening = server.opening._replace(hostname=host) if server.apart else server.opening
                    place: Pointer = ("spec", "tls", number)
                    name = named_at(world, virtual, rule, f"tls-{number}", server)
                    yield DoorRule(virtual, opening, host, name, body, place)


def _hosts(virtual: Resource, gateway: Resource, server: Server) -> list[str]:
    """Return the hosts that a VirtualService shares with a server."""
    found = {
        shared(wanted, offered, virtual.key.namespace, gateway.key.namespace)
        for wanted in entries(virtual, "hosts")
        if isinstance(wanted, str)
        for offered in server.hosts
    }
    return sorted(host for host in found if host is not None)


def _of_requests(world: World, gateway: Resource, server: Server, bound: Sequence[Resource]) -> Iterator[DoorRule]:
    """Yield what a server does with requests: the rules of VirtualServices in order, those for everything last."""
    found: list[_Found] = []
    for virtual in bound:
        for host in _hosts(virtual, gateway, server):
            for name, rule, pointer in http_rules(world, virtual):
                found.append((virtual, host, name, rule, pointer))
    if server.redirects:
        to_https = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
        for host in dict.fromkeys([*(host for _, host, *_ in found), *map(_pattern, server.hosts)]):
            body = {"precedence": (_MOST, 0, 0, 0, 0), "filters": [to_https]}
            yield DoorRule(gateway, server.opening, host, f"{host} to https", body, server.pointer)
        return
    in_order = _by_authority(_in_order(world, found, gateway, server))
    for rank, (virtual, host, name, whole, pointer) in enumerate(in_order):
        meant = told(world, gateway, _meant(world, virtual, gateway, server, whole))
        meant_here = [each for each in meant if is_for(each, host, server) is not False]
        if whole.get("match") and not meant_here and not is_left_open(virtual, (*pointer, "match")):
            continue
        for part, rule in parted(whole, meant_here):
            taken = map(mapping, sequence(rule.get("match")) if meant_here else ())
            matches = [said for each in taken for said in matches_of(each, host, server)]
            body, answers = body_of(world, virtual, rule, server)
            called = named_at(world, virtual, rule, f"{name}{part}", server)
            asked = (*server.guards, *answers)
            body |= {"precedence": (_MOST - rank, 0, 0, 0, 0), **({"matches": matches} if matches else {})}
            body |= {UNSEEN: rule[UNSEEN]} if UNSEEN in rule else {}
            yield DoorRule(virtual, server.opening, host, called, body, pointer, asked)


def _in_order(world: World, found: Sequence[_Found], gateway: Resource, server: Server) -> list[_Found]:
    """Return rules as the proxy has them: those that take everything go last, and end their VirtualService.

    Source: istio/istio, pilot/pkg/networking/core/gateway.go, and route/route.go, SortVHostRoutes, IsCatchAllRoute.
    """
    kept: list[tuple[bool, _Found]] = []
    ended: set[tuple[ResourceKey, str]] = set()
    for entry in found:
        virtual, host, _, rule, _ = entry
        if (virtual.key, host) in ended:
            continue
        takes_all = any(map(_takes_all, _meant(world, virtual, gateway, server, rule)))
        takes_all = takes_all or not (rule.get("match") or stands_in_variable(virtual, entry[-1]))
        if takes_all:
            ended.add((virtual.key, host))
        kept.append((takes_all, entry))
    return [entry for _, entry in sorted(kept, key=lambda each: each[0])]


def _takes_all(match: Mapping[str, Any]) -> bool:
    uri = mapping(match.get("uri"))
    everything = not uri or uri.get("prefix") == "/" or uri.get("regex") == "*"
    return everything and not any(match.get(field) for field in _CONDITIONS)


def hidden(world: World) -> Iterator[DeadEnd]:
    """Yield the VirtualServices that name a Gateway whose pods are in a namespace to which they are not shown."""
    for virtual in world.of_kind(*VIRTUAL_SERVICE) if world.of_kind(*OWN_GATEWAY) else ():
        for gateway in world.of_kind(*OWN_GATEWAY) if virtual.spec.get("exportTo") else ():
            homes = _homes(world, gateway)
            if _names(virtual, gateway) and all(is_exported(virtual, home) is False for home in homes):
                known = gateway_pods.homes(world, gateway)
                if not known and any(name not in _OWN for name in texts(virtual.spec["exportTo"])):
                    continue  # the namespaces that it names are those of the pods, perhaps
                where = f"namespace {min(homes)}, where the pods of {gateway.key} are"
                ground = "" if known else "its pods may be in another namespace"
                does, fix = f"is not shown to {where}", f"add {min(homes)} to `exportTo`, or leave it out"
                then = "these proxies answer its hosts with 404"
                yield DeadEnd(virtual, ("spec", "exportTo"), does, fix, (gateway.key,), ground, then)


def _is_bound(world: World, virtual: Resource, gateway: Resource) -> bool:
    """Return whether a VirtualService names a Gateway, and is shown to the namespace of its pods."""
    names = _names(virtual, gateway) or _may_name(virtual, gateway)
    return names and any(is_exported(virtual, there) is True for there in _homes(world, gateway))


def _names(virtual: Resource, gateway: Resource) -> bool:
    return gateway.key.path in in_full(virtual, virtual.spec.get("gateways"))


def _perhaps(gateway: Resource, rule: DoorRule) -> DoorRule:
    """Return a rule at a Gateway with why it is not known whether it is there, where a variable stands for the Gateway
    of its VirtualService."""
    if rule.holder.key[:2] != VIRTUAL_SERVICE or _names(rule.holder, gateway):
        return rule
    return rule._replace(unknown=f"the Gateway that {rule.holder.key} is for stands in a variable")


def _may_name(virtual: Resource, gateway: Resource) -> bool:
    """Tell whether a variable in the Gateways of a VirtualService may stand for one."""
    full = gateway.key.path
    stated = [each for each in entries(virtual, "gateways") if isinstance(each, str)]
    return any(
        filled_in(each, name) is not None
        for each in filter(is_symbolic, stated)
        for name in (full, full.partition("/")[2])
    )


def _homes(world: World, gateway: Resource) -> set[str]:
    """Return the namespaces of the pods of a Gateway: its own if none was seen."""
    return gateway_pods.homes(world, gateway) or {gateway.key.namespace}


def shared(wanted: str, offered: str, home: str, there: str) -> str | None:
    """Return the hosts that a VirtualService and a server have in common; None for none.

    Args:
        home, there: the namespaces of the VirtualService and of the Gateway.
    """
    if is_symbolic(wanted) or is_symbolic(offered):
        return _pattern(wanted)
    namespace, slash, name = offered.rpartition("/")
    if slash and namespace not in ("*", home) and not (namespace == "." and home == there):
        return None
    return next(iter(narrowed(_pattern(wanted), [_pattern(name)])), None)


def _pattern(offered: str) -> str:
    """Return a host of a server or a VirtualService as a pattern, the namespace left out."""
    if is_symbolic(offered):
        return offered
    name = offered.rpartition("/")[2].lower()
    return "" if name == "*" else name


def _is_meant(virtual: Resource, gateway: Resource, server: Server, match: Mapping[str, Any]) -> bool:
    """Return whether a match is for the port and the Gateway of a server."""
    return is_meant(virtual, gateway.key.path, server.opening.port, match)


def _meant(
    world: World, virtual: Resource, gateway: Resource, server: Server, rule: Mapping[str, Any]
) -> Iterator[Any]:
    """Yield the matches of a rule that are for requests at this server."""
    for match in map(mapping, sequence(rule.get("match"))):
        scheme = mapping(match.get("scheme")).get("exact")
        if _is_meant(virtual, gateway, server, match) and scheme in (None, server.opening.scheme):
            sources = sources_of(match)
            if not sources or _sends(world, gateway, sources):
                yield match


def _sends(world: World, gateway: Resource, sources: Mapping[str, Any]) -> bool:
    """Return whether the pods of a Gateway are among those that a match names: they are who sends the requests on."""
    pods = [pod_labels(each) for each in gateway_pods.selected(world, gateway)] or [
        mapping(gateway.spec.get("selector"))
    ]
    home, wanted = sources.get("namespace"), mapping(sources.get("labels")).items()
    return (not home or home in _homes(world, gateway)) and any(wanted <= each.items() for each in pods)


def _by_authority(found: Sequence[_Found]) -> Iterator[_Found]:
    """Yield rules, those for hosts with a wildcard also for each host below it that a match names by its authority.

    A host that a VirtualService names by itself is a virtual host of its own: nothing of the wildcard's gets there.
    """
    declared = {host for _, host, *_ in found}
    named: dict[str, dict[str, None]] = {}
    for _, host, _, rule, _ in found:
        for match in map(mapping, sequence(rule.get("match"))):
            exact = text(mapping(match.get("authority")).get("exact")).lower().partition(":")[0]
            if exact and exact not in declared and is_wildcard(host) and covers(host, exact):
                named.setdefault(host, {})[exact] = None
    for virtual, host, *rest in found:
        for each in (host, *named.get(host, ())):
            yield virtual, each, *rest


def _unseen(world: World, gateway: Resource, policies: Mapping[ResourceKey, PolicyState]) -> str:
    """Return what may ask at the pods of a gateway that no manifest shows; "" where nothing may, or they are seen."""
    if gateway_pods.selected(world, gateway):
        return ""
    wanted = mapping(gateway.spec.get("selector"))
    elsewhere = wanted.get("istio") in _INSTALLED and not any(word in gateway.key.namespace for word in _OF_GATEWAYS)
    for kind in _POLICIES:
        for policy in world.of_kind("security.istio.io", kind):
            if _acts_at(gateway.key, policies.get(policy.key)):
                continue
            labels = mapping(mapping(policy.spec.get("selector")).get("matchLabels"))
            near = policy.key.namespace in (_ROOT, "" if elsewhere else gateway.key.namespace)
            if labels.items() <= wanted.items() and (labels or (near and not policy.spec.get("targetRefs"))):
                said = ", ".join(f"{name}={value}" for name, value in wanted.items())
                return f"the pods of {gateway.key} ({said}) not seen, at which {policy.key} may ask"
    return ""


def _acts_at(gateway: ResourceKey, state: PolicyState | None) -> bool:
    """Tell whether a policy acts at a Gateway that stands for its pods, and so is asked."""
    groups = () if state is None else state.groups
    return any(node.key == gateway for group in groups for path in group.contexts() for node in path)
