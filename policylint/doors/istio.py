"""Istio's own Gateways as doors: their servers, and the VirtualServices that are bound to them.

Source: istio.io/docs/reference/config/networking/gateway and virtual-service. What is asked at the pods of a gateway
(AuthorizationPolicy, RequestAuthentication) is asked by the same code as at workloads: `proxies` says which they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.doors.lowered import EVERYTHING, Door, DoorRule, Guard, Opening, door, plain
from policylint.doors.peculiar import OWN_GATEWAY, proxies
from policylint.doors.vendors import guards
from policylint.matches import FOREIGN
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.hosts import is_exported
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.results import FailingSetting, PolicyState
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate
from policylint.topology import BackendState
from policylint.topology.hostnames import covers, narrowed

VIRTUAL_SERVICE = ("networking.istio.io", "VirtualService")
_POLICIES = ("AuthorizationPolicy", "RequestAuthentication")
_ROOT = "istio-system"
_INSTALLED = ("ingressgateway", "egressgateway")
"""What `istio` says at the pods of the gateways that an installation of Istio makes, in a namespace of their own."""
_OF_GATEWAYS = ("istio", "ingress", "egress", "gateway")
"""Words of one of which such a namespace is called."""
_HTTP = ("HTTP", "HTTP2", "GRPC", "GRPC-WEB")
_MOST = 100_000
"""Rules of a host: the first one has this rank, each further one a lower one."""
_PASSED_ON = ("PASSTHROUGH", "AUTO_PASSTHROUGH")
_CERTIFICATES = {
    "MUTUAL": "clientCertificate",
    "ISTIO_MUTUAL": "clientCertificate",
    "OPTIONAL_MUTUAL": "optionalClientCertificate",
}
_CONDITIONS = ("headers", "withoutHeaders", "queryParams", "method", "authority", "scheme")
"""What a match may demand of requests beside their path."""
Backends = Callable[[Resource, Collection[ResourceKey]], tuple[BackendState, ...]]
_Found = tuple[Resource, str, str, Mapping[str, Any], Pointer]
"""VirtualService, host, and the name, content and place of one of its rules."""
_ONE_OF = Pattern(r"\^?\(?([A-Z]+(?:\|[A-Z]+)*)\)?\$?")
"""An expression that takes a few words: `GET|HEAD`, `^(GET|HEAD)$`."""


class _Server(NamedTuple):
    """One server of a Gateway.

    Args:
        redirects: whether all requests are sent to https.
        passes: whether TLS is passed on unread.
    """

    opening: Opening
    hosts: tuple[str, ...]
    pointer: Pointer
    guards: tuple[Guard, ...]
    redirects: bool
    passes: bool


def istio_doors(world: World, backends: Backends, policies: Mapping[ResourceKey, PolicyState]) -> Iterator[Door]:
    """Yield a door for each Gateway of Istio's own.

    Args:
        policies: those of the simulation, of which some act at the Gateways.
    """
    for gateway in world.of_kind(*OWN_GATEWAY):
        servers = list(_servers(gateway))
        rules = [rule for server in servers for rule in _rules(world, gateway, server)]
        openings = [server.opening for server in servers]
        unseen = _unseen(world, gateway, policies)
        yield door(gateway, "", rules, guards(), lambda route: backends(route, EVERYTHING), openings, unseen)


def _servers(gateway: Resource) -> Iterator[_Server]:
    for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
        port, tls = mapping(server.get("port")), mapping(server.get("tls"))
        protocol, mode = text(port.get("protocol")).upper(), text(tls.get("mode"), "SIMPLE")
        there = port.get("number")
        if not isinstance(there, int):
            continue
        passes = protocol in ("TLS", "HTTPS") and mode in _PASSED_ON
        scheme = "http" if protocol in _HTTP else "https" if protocol in ("HTTPS", "TLS") else "tcp"
        asked: tuple[Guard, ...] = ()
        if scheme == "https" and not passes and mode in _CERTIFICATES:
            setting = _CERTIFICATES[mode]
            place: Pointer = ("spec", "servers", number, "tls", "mode")
            asked = (Guard(gateway, {setting: {"secret": text(tls.get("credentialName"))}}, {(setting,): place}),)
        pointer: Pointer = ("spec", "servers", number)
        hosts = tuple(texts(server.get("hosts")))
        redirects = scheme == "http" and tls.get("httpsRedirect") is True
        yield _Server(Opening(scheme, there), hosts, pointer, asked, redirects, passes)


def _rules(world: World, gateway: Resource, server: _Server) -> Iterator[DoorRule]:
    """Yield what a server does with requests: the rules of VirtualServices in order, those for everything last."""
    found: list[_Found] = []
    for virtual in sorted(world.of_kind(*VIRTUAL_SERVICE), key=lambda each: each.age):
        if not _is_bound(virtual, gateway):
            continue
        hosts = {
            shared
            for wanted in texts(virtual.spec.get("hosts"))
            for offered in server.hosts
            if (shared := _shared(wanted, offered, virtual.key.namespace, gateway.key.namespace)) is not None
        }
        for host in sorted(hosts):
            for name, rule, pointer in _http_rules(world, virtual) if not server.passes else _tls_rules(virtual, host):
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
        if rule.get("match") and not matches:
            continue
        body, answers = _body(world, virtual, rule)
        asked = (*server.guards, *answers)
        body |= {"precedence": (_MOST - rank, 0, 0, 0, 0), **({"matches": matches} if matches else {})}
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
        takes_all = not rule.get("match") or any(map(_takes_all, _meant(virtual, gateway, server, rule)))
        if takes_all:
            ended.add((virtual.key, host))
        kept.append((takes_all, entry))
    return [entry for _, entry in sorted(kept, key=lambda each: each[0])]


def _takes_all(match: Mapping[str, Any]) -> bool:
    uri = mapping(match.get("uri"))
    everything = not uri or uri.get("prefix") == "/" or uri.get("regex") == "*"
    return everything and not any(match.get(field) for field in _CONDITIONS)


def _is_bound(virtual: Resource, gateway: Resource) -> bool:
    """Return whether a VirtualService names a Gateway, and is shown to its namespace."""
    there, named = gateway.key.namespace, _in_full(virtual, virtual.spec.get("gateways"))
    return f"{there}/{gateway.key.name}" in named and is_exported(virtual, there) is True


def _in_full(virtual: Resource, names: object) -> list[str]:
    """Return the names of Gateways with their namespaces: that of the VirtualService where none is said."""
    return [name if "/" in name else f"{virtual.key.namespace}/{name}" for name in texts(names)]


def _shared(wanted: str, offered: str, home: str, there: str) -> str | None:
    """Return the hosts that a VirtualService and a server have in common; None for none.

    Args:
        home, there: the namespaces of the VirtualService and of the Gateway.
    """
    namespace, slash, name = offered.rpartition("/")
    if slash and namespace not in ("*", home) and not (namespace == "." and home == there):
        return None
    return next(iter(narrowed(_pattern(wanted), [_pattern(name)])), None)


def _pattern(offered: str) -> str:
    """Return a host of a server or a VirtualService as a pattern, the namespace left out."""
    name = offered.rpartition("/")[2].lower()
    return "" if name == "*" else name


def _http_rules(world: World, virtual: Resource) -> Iterator[tuple[str, Mapping[str, Any], Pointer]]:
    """Yield name, rule and place of the HTTP routes, those that are delegated in their place."""
    for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("http")))):
        pointer: Pointer = ("spec", "http", number)
        name = text(rule.get("name")) or f"http-{number}"
        delegate = mapping(rule.get("delegate"))
        if not delegate:
            yield name, rule, pointer
            continue
        namespace = text(delegate.get("namespace")) or virtual.key.namespace
        other = world.get(ResourceKey(*VIRTUAL_SERVICE, namespace, text(delegate.get("name"))))
        for further, inner in enumerate([] if other is None else map(mapping, sequence(other.spec.get("http")))):
            both = [
                {**mapping(outside), **mapping(inside)}
                for outside in sequence(rule.get("match")) or [{}]
                for inside in sequence(inner.get("match")) or [{}]
            ]
            placed = [_at_home(mapping(each), namespace) for each in sequence(inner.get("route"))]
            yield f"{name} delegated {further}", {**inner, "match": [*filter(None, both)], "route": placed}, pointer


def _at_home(route: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
    """Return a destination with the namespace in which its short name is meant."""
    destination = mapping(route.get("destination"))
    host = text(destination.get("host"))
    full = host if "." in host else f"{host}.{namespace}.svc.cluster.local"
    return {**route, "destination": {**destination, "host": full}}


def _tls_rules(virtual: Resource, host: str) -> Iterator[tuple[str, Mapping[str, Any], Pointer]]:
    for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("tls")))):
        names = [name for entry in map(mapping, sequence(rule.get("match"))) for name in texts(entry.get("sniHosts"))]
        if any(name == host or covers(name, host) or covers(host, name) for name in names):
            yield f"tls-{number}", {"route": rule.get("route")}, ("spec", "tls", number)


def _meant(virtual: Resource, gateway: Resource, server: _Server, rule: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the matches of a rule that are for requests at this server."""
    own = f"{gateway.key.namespace}/{gateway.key.name}"
    for match in map(mapping, sequence(rule.get("match"))):
        named = _in_full(virtual, match.get("gateways"))
        scheme = mapping(match.get("scheme")).get("exact")
        if (named and own not in named) or match.get("port") not in (None, server.opening.port):
            continue
        if match.get("sourceLabels") or match.get("sourceNamespace") or scheme not in (None, server.opening.scheme):
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


def _body(world: World, virtual: Resource, rule: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Guard, ...]]:
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
        why = f"{virtual.key} answers by itself"
        failing: dict[Pointer, FailingSetting] = {
            ("answer",): FailingSetting(status if isinstance(status, int) else 200, why, virtual.key)
        }
        return {}, (Guard(virtual, {"answer": dict(direct)}, {}, failing),)
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
    references = [_reference(world, virtual, mapping(route)) for route in sequence(rule.get("route"))]
    return {"filters": filters, "backendRefs": references}, ()


def _reference(world: World, virtual: Resource, route: Mapping[str, Any]) -> dict[str, Any]:
    """Return a destination as routes name it; of a Service with one port the port may be left out."""
    destination = mapping(route.get("destination"))
    host, port = text(destination.get("host")), mapping(destination.get("port")).get("number")
    name, dot, rest = host.partition(".")
    namespace, _, suffix = rest.partition(".")
    weight = route.get("weight", 1)
    if dot and not suffix.startswith("svc"):
        other = {"group": VIRTUAL_SERVICE[0], "kind": "Hostname", "name": host}
        return {**other, "weight": weight, **({"port": port} if port else {})}
    if not isinstance(port, int):
        service = world.get(ResourceKey("", "Service", namespace or virtual.key.namespace, name))
        ports = [] if service is None else [mapping(each).get("port") for each in sequence(service.spec.get("ports"))]
        port = ports[0] if len(ports) == 1 else 80
    return {"name": name, "weight": weight, "port": port, **({"namespace": namespace} if dot else {})}


def _unseen(world: World, gateway: Resource, policies: Mapping[ResourceKey, PolicyState]) -> str:
    """Return what may ask at the pods of a gateway that no manifest shows; "" where nothing may, or they are seen."""
    if proxies(world, gateway):
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
