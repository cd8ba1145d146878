"""Istio's own Gateways as doors: their servers, and the VirtualServices that are bound to them.

Source: istio.io/docs/reference/config/networking/gateway and virtual-service. What is asked at the pods of a gateway
(AuthorizationPolicy, RequestAuthentication) is asked by the same code as at workloads: `proxies` says which they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.doors.extensions import answering
from policylint.doors.failing import ANY_PORT, FAILS, MAY_FAIL, marked
from policylint.doors.istio_delegates import merged
from policylint.doors.lowered import Backends, Door, DoorRule, Guard, Opening, door, granted, plain, timed
from policylint.doors.named import leads_out
from policylint.doors.variables import entries, is_left_open, stands_in_variable, words
from policylint.doors.vendors import guards
from policylint.implementations import implementation
from policylint.implementations.generic import gateway_pods
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.matches import FOREIGN
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import is_exported
from policylint.model.keys import filled_in
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.results import PolicyState
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate
from policylint.topology.hostnames import covers, narrowed
from policylint.topology.routes import UNSEEN

VIRTUAL_SERVICE = ("networking.istio.io", "VirtualService")
_IMPLEMENTATION = "istio"
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
_ONE_OF = Pattern(r"\^?\(?([A-Z]+(?:\|[A-Z]+)*)\)?\$?")
"""An expression that takes a few words: `GET|HEAD`, `^(GET|HEAD)$`."""


class _Taken(NamedTuple):
    """What servers have taken at pods, by port and address: with which scheme, and the hosts of those with TLS."""

    schemes: dict[tuple[int, str], str]
    hosts: dict[tuple[int, str], set[str]]


class _Server(NamedTuple):
    """One server of a Gateway.

    Args:
        redirects: whether all requests are sent to https.
        mode: of its TLS, "" where it has none.
        apart: whether others at its port end TLS otherwise, so that each host is a listener.
    """

    opening: Opening
    hosts: tuple[str, ...]
    pointer: Pointer
    guards: tuple[Guard, ...]
    redirects: bool
    mode: str
    apart: bool = False


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


def _served(world: World) -> dict[ResourceKey, list[_Server]]:
    """Return the servers of each Gateway; those with the same pods share their ports, and the oldest comes first."""
    taken: dict[str, _Taken] = {}
    by_age = sorted(world.of_kind(*OWN_GATEWAY), key=lambda each: each.age)
    return {each.key: list(_servers(each, taken.setdefault(str(_selector(each)), _Taken({}, {})))) for each in by_age}


def _selector(gateway: Resource) -> list[tuple[str, Any]]:
    """Return by which labels a Gateway selects its pods, itself where it selects none."""
    return sorted(mapping(gateway.spec.get("selector")).items()) or [(gateway.key.path, "")]


def _servers(gateway: Resource, taken: _Taken) -> Iterator[_Server]:
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
        yield _Server(opening, hosts, ("spec", "servers", number), asked, redirects, mode if secure else "")


def _told_in_full(server: Mapping[str, Any], gateway: Resource) -> set[str]:
    """Return the hosts of a server with the namespaces that they are limited to (sanitizeServerHostNamespace)."""
    home = gateway.key.namespace
    return {
        f"{home}/{host[2:]}" if host.startswith("./") else host.removeprefix("*/")
        for host in texts(server.get("hosts"))
    }


def _told_apart(servers: Sequence[_Server]) -> list[_Server]:
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
    return (2 if public else 0 if set(readers) <= {".", virtual.key.namespace} else 1, *virtual.age)


def _rules(
    world: World, gateway: Resource, servers: Sequence[_Server], bound: Sequence[Resource]
) -> Iterator[DoorRule]:
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


def _of_connections(world: World, gateway: Resource, server: _Server, bound: Sequence[Resource]) -> Iterator[DoorRule]:
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
                body, _ = _body(world, virtual, _routes(world, virtual, "tcp", number), server)
                name = _named(world, virtual, rule, f"tcp-{number}", server)
                for host in dict.fromkeys(map(_pattern, server.hosts if server.mode else ("*",))):
                    place: Pointer = ("spec", "tcp", number)
                    yield DoorRule(virtual, server.opening, host, name, body, place, server.guards)
                return


def _passed_on(
    world: World, gateway: Resource, server: _Server, bound: Sequence[Resource], taken: set[str]
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
                body, _ = _body(world, virtual, _routes(world, virtual, "tls", number), server)
                for host in dict.fromkeys(map(_pattern, names)):
                    opening = server.opening._replace(hostname=host) if server.apart else server.opening
                    place: Pointer = ("spec", "tls", number)
                    name = _named(world, virtual, rule, f"tls-{number}", server)
                    yield DoorRule(virtual, opening, host, name, body, place)


def _hosts(virtual: Resource, gateway: Resource, server: _Server) -> list[str]:
    """Return the hosts that a VirtualService shares with a server."""
    shared = {
        _shared(wanted, offered, virtual.key.namespace, gateway.key.namespace)
        for wanted in entries(virtual, "hosts")
        if isinstance(wanted, str)
        for offered in server.hosts
    }
    return sorted(host for host in shared if host is not None)


def _of_requests(world: World, gateway: Resource, server: _Server, bound: Sequence[Resource]) -> Iterator[DoorRule]:
    """Yield what a server does with requests: the rules of VirtualServices in order, those for everything last."""
    found: list[_Found] = []
    for virtual in bound:
        for host in _hosts(virtual, gateway, server):
            for name, rule, pointer in _http_rules(world, virtual):
                found.append((virtual, host, name, rule, pointer))
    if server.redirects:
        to_https = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
        for host in dict.fromkeys([*(host for _, host, *_ in found), *map(_pattern, server.hosts)]):
            body = {"precedence": (_MOST, 0, 0, 0, 0), "filters": [to_https]}
            yield DoorRule(gateway, server.opening, host, f"{host} to https", body, server.pointer)
        return
    for rank, (virtual, host, name, rule, pointer) in enumerate(_by_authority(_in_order(found, gateway, server))):
        meant = [each for each in _meant(virtual, gateway, server, rule) if _is_for(each, host, server) is not False]
        matches = [said for each in meant for said in _matches(each, host, server)]
        if rule.get("match") and not matches and not is_left_open(virtual, (*pointer, "match")):
            continue
        body, answers = _body(world, virtual, rule, server)
        name = _named(world, virtual, rule, name, server)
        asked = (*server.guards, *answers)
        body |= {"precedence": (_MOST - rank, 0, 0, 0, 0), **({"matches": matches} if matches else {})}
        body |= {UNSEEN: rule[UNSEEN]} if UNSEEN in rule else {}
        yield DoorRule(virtual, server.opening, host, name, body, pointer, asked)


def _in_order(found: Sequence[_Found], gateway: Resource, server: _Server) -> list[_Found]:
    """Return rules as the proxy has them: those that take everything go last, and end their VirtualService.

    Source: istio/istio, pilot/pkg/networking/core/gateway.go, and route/route.go, SortVHostRoutes, IsCatchAllRoute.
    """
    kept: list[tuple[bool, _Found]] = []
    ended: set[tuple[ResourceKey, str]] = set()
    for entry in found:
        virtual, host, _, rule, _ = entry
        if (virtual.key, host) in ended:
            continue
        takes_all = any(map(_takes_all, _meant(virtual, gateway, server, rule)))
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
    return gateway.key.path in _in_full(virtual, virtual.spec.get("gateways"))


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


def _in_full(virtual: Resource, names: object) -> list[str]:
    """Return the names of Gateways with their namespaces: that of the VirtualService where none is said."""
    return [name if "/" in name else f"{virtual.key.namespace}/{name}" for name in words(names)]


def _shared(wanted: str, offered: str, home: str, there: str) -> str | None:
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


def _http_rules(world: World, virtual: Resource) -> Iterator[tuple[str, Mapping[str, Any], Pointer]]:
    """Yield name, rule and place of the HTTP routes, those that are delegated in their place."""
    for number, rule in enumerate(map(mapping, entries(virtual, "http"))):
        pointer: Pointer = ("spec", "http", number)
        name = text(rule.get("name")) or f"http-{number}"
        if not rule.get("delegate"):
            yield name, {**rule, **_routes(world, virtual, "http", number)}, pointer
            continue
        key = _delegate(virtual, rule)
        other, namespace = world.get(key), key.namespace
        if open_ := leads_out(world, key) or ({UNSEEN: str(key)} if other is not None and is_left_open(other) else {}):
            yield name, {**rule, **open_}, pointer
        if other is not None and _fault_of_delegate(other, virtual):
            other = None
        for further, inner in enumerate([] if other is None else map(mapping, sequence(other.spec.get("http")))):
            whole = merged(rule, inner)
            if whole is None:
                continue
            routes = _routes(world, virtual if other is None else other, "http", further)["route"]
            placed = [_at_home(each, namespace) for each in routes]
            yield f"{name} delegated {further}", {**whole, "route": placed}, pointer


def _routes(world: World, virtual: Resource, field: str, number: int) -> dict[str, list[Mapping[str, Any]]]:
    """Return where a rule sends requests, with what is known of destinations that proxies cannot get them to."""
    ends = world.once(_failing)
    routes = map(mapping, sequence(mapping(entries(virtual, field)[number]).get("route")))
    at: Pointer = ("spec", field, number, "route")
    return {"route": [{**each, **ends.get((virtual.key, (*at, place)), {})} for place, each in enumerate(routes)]}


def _failing(world: World) -> Mapping[tuple[ResourceKey, Pointer], Mapping[str, str]]:
    """Return what is known of destinations of VirtualServices at which requests end: subsets that are none, and what is
    not shown to the proxies. Of a Service that is missing its own resolution tells."""
    ends = implementation(_IMPLEMENTATION).dead_ends(world)
    told = (end for end in ends if end.pointer[3:4] == ("route",) and all(map(world.get, end.about)))
    return {(end.holder.key, end.pointer[:5]): marked(end) for end in told}


def _delegate(virtual: Resource, rule: Mapping[str, Any]) -> ResourceKey:
    """Return the VirtualService whose rules stand in the place of a rule."""
    named = mapping(rule.get("delegate"))
    namespace = text(named.get("namespace")) or virtual.key.namespace
    return ResourceKey(*VIRTUAL_SERVICE, namespace, text(named.get("name")))


def _fault_of_delegate(delegate: Resource, virtual: Resource) -> str:
    """Return why a VirtualService is none to delegate to, "" where it is: the rule is left out then.

    Source: pilot/pkg/model/virtualservice.go, mergeVirtualServicesIfNeeded.
    """
    if texts(delegate.spec.get("hosts")):
        return "which has `hosts`, and so is a root itself"
    shown = is_exported(delegate, virtual.key.namespace)
    return f"which is not shown to namespace {virtual.key.namespace}" if shown is False else ""


def undelegated(world: World) -> Iterator[DeadEnd]:
    """Yield the rules that delegate to what is no delegate for them."""
    for virtual in world.of_kind(*VIRTUAL_SERVICE):
        for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("http")))):
            key = _delegate(virtual, rule) if rule.get("delegate") else None
            other = None if key is None else world.get(key)
            why = "" if other is None else _fault_of_delegate(other, virtual)
            if key is not None and other is None and key.name and world.resolve(key).missing:
                why = "" if world.elsewhere(key) else "which is missing"
            if key is not None and why:
                does, fix = (
                    f"delegates to {key}, {why}",
                    "name a VirtualService without hosts that is shown to this one",
                )
                then = "the rule is left out: its requests go on to the next one, or get 404"
                yield DeadEnd(virtual, ("spec", "http", number, "delegate"), does, fix, (key,), then=then)


def _at_home(route: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
    """Return a destination with the namespace in which its short name is meant."""
    destination = mapping(route.get("destination"))
    host = text(destination.get("host"))
    full = host if "." in host else f"{host}.{namespace}.svc.cluster.local"
    return {**route, "destination": {**destination, "host": full}}


def _is_meant(virtual: Resource, gateway: Resource, server: _Server, match: Mapping[str, Any]) -> bool:
    """Return whether a match is for the port and the Gateway of a server."""
    named = _in_full(virtual, match.get("gateways"))
    here = f"{gateway.key.namespace}/{gateway.key.name}"
    return (not named or here in named) and match.get("port") in (None, 0, server.opening.port)


def _meant(virtual: Resource, gateway: Resource, server: _Server, rule: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the matches of a rule that are for requests at this server."""
    for match in map(mapping, sequence(rule.get("match"))):
        scheme = mapping(match.get("scheme")).get("exact")
        if not _is_meant(virtual, gateway, server, match) or match.get("sourceLabels"):
            continue
        if match.get("sourceNamespace") or scheme not in (None, server.opening.scheme):
            continue
        yield match


def _by_authority(found: Sequence[_Found]) -> Iterator[_Found]:
    """Yield rules, those for hosts with a wildcard also for each host below it that a match names by its authority.

    A host that a VirtualService names by itself is a virtual host of its own: nothing of the wildcard's gets there.
    """
    declared = {host for _, host, *_ in found}
    named: dict[str, dict[str, None]] = {}
    for _, host, _, rule, _ in found:
        for match in map(mapping, sequence(rule.get("match"))):
            exact = text(mapping(match.get("authority")).get("exact")).lower().partition(":")[0]
            if exact and exact not in declared and _is_wildcard(host) and covers(host, exact):
                named.setdefault(host, {})[exact] = None
    for virtual, host, *rest in found:
        for each in (host, *named.get(host, ())):
            yield virtual, each, *rest


def _is_wildcard(host: str) -> bool:
    return not host or host.startswith("*")


def _is_for(match: Mapping[str, Any], host: str, server: _Server) -> bool | None:
    """Return whether a match takes the authority of requests for a host; None where that depends on the host that a
    wildcard stands for, or cannot be told."""
    authority = mapping(match.get("authority"))
    if not authority:
        return True
    names = (host, f"{host}:{server.opening.port}")
    if "exact" in authority:
        return text(authority["exact"]).lower() in names
    if _is_wildcard(host):
        return None
    if "prefix" in authority:
        return host.startswith(text(authority["prefix"]).lower())
    return Predicate(EXPRESSION, text(authority.get("regex"))).takes(host)


def _matches(match: Mapping[str, Any], host: str, server: _Server) -> Iterator[dict[str, Any]]:
    """Yield a match as routes have it, once for each method; what they cannot say is an expression that nobody reads
    here."""
    said: dict[str, Any] = {"path": _path(mapping(match.get("uri")), match.get("ignoreUriCase") is True)}
    for field, name in (("headers", "headers"), ("queryParams", "queryParams")):
        conditions = [{"name": key, **_text(mapping(value))} for key, value in mapping(match.get(field)).items()]
        if conditions:
            said[name] = conditions
    method = mapping(match.get("method"))
    words = _ONE_OF.fullmatch(text(method.get("regex")))
    methods = [method["exact"]] if text(method.get("exact")) else words[1].split("|") if words else []
    if (method and not methods) or match.get("withoutHeaders") or _is_for(match, host, server) is None:
        said["path"] = {"type": FOREIGN, "value": str(dict(match))}
    yield from ({**said, "method": each} for each in methods) if methods else (said,)


def _path(uri: Mapping[str, Any], folds: bool) -> dict[str, str]:
    """Return what a uri takes: a prefix is one of the text, not of path elements."""
    fold = "(?i)" if folds else ""
    if "exact" in uri:
        exact = text(uri["exact"])
        return {"type": EXPRESSION, "value": f"{fold}{plain(exact)}"} if folds else {"type": "Exact", "value": exact}
    if "prefix" in uri:
        prefix = text(uri["prefix"])
        if prefix == "/":
            return {"type": PREFIX, "value": "/"}
        return {"type": EXPRESSION, "value": f"{fold}{plain(prefix)}.*"}
    if "regex" in uri:
        return {"type": EXPRESSION, "value": text(uri["regex"])}
    return {"type": PREFIX, "value": "/"}


def _text(wanted: Mapping[str, Any]) -> dict[str, str]:
    """Return a condition on a header or parameter."""
    if "exact" in wanted:
        return {"value": text(wanted["exact"])}
    if "prefix" in wanted:
        return {"type": EXPRESSION, "value": f"{plain(text(wanted['prefix']))}.*"}
    return {"type": EXPRESSION, "value": text(wanted.get("regex")) or ".*"}


def _body(
    world: World, virtual: Resource, rule: Mapping[str, Any], server: _Server
) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return a rule as routes have it, and what answers its requests in place of a backend."""
    filters: list[dict[str, Any]] = []
    redirect, direct = mapping(rule.get("redirect")), mapping(rule.get("directResponse"))
    if redirect:
        moved: dict[str, Any] = {"statusCode": redirect.get("redirectCode", 301)}
        for field, name in (("scheme", "scheme"), ("authority", "hostname"), ("port", "port")):
            if redirect.get(field):
                moved[name] = redirect[field]
        if text(redirect.get("uri")):
            moved["path"] = {"type": "ReplaceFullPath", "replaceFullPath": redirect["uri"]}
        return {"filters": [{"type": "RequestRedirect", "requestRedirect": moved}]}, ()
    if direct:
        status = direct.get("status")
        return {}, (answering(virtual, status if isinstance(status, int) else 200),)
    rewrite = mapping(rule.get("rewrite"))
    host, path = text(rewrite.get("authority")), text(rewrite.get("uri"))
    if host or path:
        replaced: dict[str, Any] = {"path": {"type": "ReplaceFullPath", "replaceFullPath": path}} if path else {}
        rewritten = {**({"hostname": host} if host else {}), **replaced}
        filters.append({"type": "URLRewrite", "urlRewrite": rewritten})
    changes = mapping(mapping(rule.get("headers")).get("request"))
    if changes:
        added = {
            field: [{"name": name, "value": str(value)} for name, value in mapping(changes.get(field)).items()]
            for field in ("set", "add")
        }
        modified = {**{field: each for field, each in added.items() if each}, "remove": texts(changes.get("remove"))}
        filters.append({"type": "RequestHeaderModifier", "requestHeaderModifier": modified})
    routes = [mapping(route) for route in sequence(rule.get("route"))]
    alone = len(routes) == 1  # whatever its weight
    references = [_reference(world, virtual, each, 1 if alone else each.get("weight", 0), server) for each in routes]
    waits = {"request": rule.get("timeout"), "backendRequest": mapping(rule.get("retries")).get("perTryTimeout")}
    return {**timed(waits), "filters": filters, "backendRefs": references}, ()


def _reference(
    world: World, virtual: Resource, route: Mapping[str, Any], weight: object, server: _Server
) -> dict[str, Any]:
    """Return a destination as routes name it; without a port it is that of the Service, of several the server's.

    Source: istio/istio, pilot/pkg/networking/core/route/route.go, GetDestinationCluster.
    """
    destination = mapping(route.get("destination"))
    host, port = text(destination.get("host")), mapping(destination.get("port")).get("number")
    name, dot, rest = host.partition(".")
    namespace, _, suffix = rest.partition(".")
    faults = {field: route[field] for field in (FAILS, MAY_FAIL) if field in route}
    if dot and not suffix.startswith("svc"):
        other = {"group": VIRTUAL_SERVICE[0], "kind": "Hostname", "name": host}
        return {**other, "weight": weight, **({"port": port} if port else {}), **faults}
    port = _port(world, virtual, route) or server.opening.port
    if mapping(destination.get("port")).get("number") is not None:
        faults[ANY_PORT] = True  # what the mesh knows by this host has the say, `dead_ends`
    return {"name": name, "weight": weight, "port": port, **({"namespace": namespace} if dot else {}), **faults}


def _port(world: World, virtual: Resource, route: Mapping[str, Any]) -> int | None:
    """Return the port of a destination: the one that is stated, or the Service's; None where that has several."""
    destination = mapping(route.get("destination"))
    stated = mapping(destination.get("port")).get("number")
    name, _, rest = text(destination.get("host")).partition(".")
    service = world.get(ResourceKey("", "Service", rest.partition(".")[0] or virtual.key.namespace, name))
    ports = [] if service is None else [mapping(each).get("port") for each in sequence(service.spec.get("ports"))]
    ports = [stated] if isinstance(stated, int) else ports
    return ports[0] if len(ports) == 1 and isinstance(ports[0], int) else None


def _named(world: World, virtual: Resource, rule: Mapping[str, Any], name: str, server: _Server) -> str:
    """Return the name of a rule, with the port of the server where that decides where its requests go."""
    ports = [_port(world, virtual, mapping(route)) for route in sequence(rule.get("route"))]
    return f"{name} at {server.opening.port}" if None in ports else name


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
