"""The rules of VirtualServices as routes have them, whoever reads them: which requests, and what becomes of those.

Source: istio.io/docs/reference/config/networking/virtual-service; istio/istio, pilot/pkg/networking/core/route.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.extensions import answering
from policylint.doors.failing import ANY_PORT, FAILS, MAY_FAIL, marked
from policylint.doors.istio_delegates import merged
from policylint.doors.lowered import Guard, Opening, origin, plain, timed
from policylint.doors.named import leads_out
from policylint.doors.variables import entries, is_left_open, words
from policylint.implementations import implementation
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.traffic import OF_LISTENER
from policylint.matches import FOREIGN
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.hosts import is_exported
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.results import FailingSetting
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate
from policylint.topology.backends import LABELS
from policylint.topology.routes import UNSEEN
from policylint.topology.service_ports import port_at

IMPLEMENTATION = "istio"
_WHOLE = 100
_GROUP = Pattern(r"\\([0-9])")
"""What stands for a group of an expression in what is put in its place."""
MESH = "mesh"
"""What stands among Gateways for the proxies of all clients in the mesh."""
_OF_GRPC = {
    "OK": 200,
    "CANCELLED": 499,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "UNAUTHENTICATED": 401,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "UNKNOWN": 500,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNAVAILABLE": 503,
}
CLAIMS = "claims"
"""The field of a match with what it asks of tokens that are checked."""
_ONE_OF = Pattern(r"\^?\(?([A-Z]+(?:\|[A-Z]+)*)\)?\$?")
"""An expression that takes a few words: `GET|HEAD`, `^(GET|HEAD)$`."""


class Server(NamedTuple):
    """One server of a Gateway.

    Args:
        redirects: whether all requests are sent to https.
        mode: of its TLS, "" where it has none.
        apart: whether others at its port end TLS otherwise, so that each host is a listener.
        for_mesh: whether it stands for the proxies of clients in the mesh.
    """

    opening: Opening
    hosts: tuple[str, ...]
    pointer: Pointer
    guards: tuple[Guard, ...]
    redirects: bool
    mode: str
    apart: bool = False
    for_mesh: bool = False


def age_of(virtual: Resource) -> tuple[str, str, str]:
    """Return a key for sorting by age, and of the same age by name (pilot/pkg/model/config.go)."""
    return virtual.age[0], virtual.key.name, virtual.key.namespace


def in_full(virtual: Resource, names: object) -> list[str]:
    """Return the names of Gateways with their namespaces: that of the VirtualService where none is said."""
    return [name if "/" in name or name == MESH else f"{virtual.key.namespace}/{name}" for name in words(names)]


def http_rules(world: World, virtual: Resource) -> Iterator[tuple[str, Mapping[str, Any], Pointer]]:
    """Yield name, rule and place of the HTTP routes, those that are delegated in their place."""
    for number, rule in enumerate(map(mapping, entries(virtual, "http"))):
        pointer: Pointer = ("spec", "http", number)
        name = text(rule.get("name")) or f"http-{number}"
        if not rule.get("delegate"):
            yield name, {**rule, **routes_of(world, virtual, "http", number)}, pointer
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
            routes = routes_of(world, virtual if other is None else other, "http", further)["route"]
            placed = [_at_home(each, namespace) for each in routes]
            yield f"{name} delegated {further}", {**whole, "route": placed}, pointer


def routes_of(world: World, virtual: Resource, field: str, number: int) -> dict[str, list[Mapping[str, Any]]]:
    """Return where a rule sends requests, with what is known of destinations that proxies cannot get them to, and of
    the pods that these are."""
    ends = world.once(_marks)
    routes = map(mapping, sequence(mapping(entries(virtual, field)[number]).get("route")))
    at: Pointer = ("spec", field, number, "route")
    return {"route": [{**each, **ends.get((virtual.key, (*at, place)), {})} for place, each in enumerate(routes)]}


def _marks(world: World) -> Mapping[tuple[ResourceKey, Pointer], Mapping[str, Any]]:
    """Return what is known of destinations of VirtualServices at which requests end: subsets that are none, and what is
    not shown to the proxies; of others that are subsets, which pods they are. Of a Service that is missing its own
    resolution tells."""
    behaviour = implementation(IMPLEMENTATION)
    ends = behaviour.dead_ends(world)
    told = (end for end in ends if end.pointer[3:4] == ("route",) and all(map(world.get, end.about)))
    picked = {(holder.key, pointer): {LABELS: dict(labels)} for holder, pointer, labels in behaviour.picked(world)}
    return {**picked, **{(end.holder.key, end.pointer[:5]): marked(end) for end in told}}


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


def is_meant(virtual: Resource, reader: str, port: int, match: Mapping[str, Any]) -> bool:
    """Return whether a match is for a port and for who reads it: a Gateway by its path, or `mesh`."""
    named = in_full(virtual, match.get("gateways"))
    return (not named or reader in named) and match.get("port") in (None, 0, port)


def sources_of(match: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels and the namespace of the pods whose proxies alone have a match; nothing where it names Gateways
    (route/route.go, sourceMatchHTTP)."""
    stated = {"labels": mapping(match.get("sourceLabels")), "namespace": text(match.get("sourceNamespace"))}
    return {} if match.get("gateways") else {name: value for name, value in stated.items() if value}


def is_wildcard(host: str) -> bool:
    return not host or host.startswith("*")


def is_for(match: Mapping[str, Any], host: str | None, server: Server) -> bool | None:
    """Return whether a match takes the authority of requests for a host; None where that depends on the host that a
    wildcard stands for, or by which of its names a Service is called (for host None), or cannot be told."""
    authority = mapping(match.get("authority"))
    if not authority:
        return True
    if host is None:
        return None
    names = (host, f"{host}:{server.opening.port}")
    if "exact" in authority:
        return text(authority["exact"]).lower() in names
    if is_wildcard(host):
        return None
    if "prefix" in authority:
        return host.startswith(text(authority["prefix"]).lower())
    return Predicate(EXPRESSION, text(authority.get("regex"))).takes(host)


def matches_of(match: Mapping[str, Any], host: str | None, server: Server) -> Iterator[dict[str, Any]]:
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
    lacking = [
        {"type": "Exact", **_text(mapping(value)), "of": f"header {key.lower()}", "not": True}
        for key, value in mapping(match.get("withoutHeaders")).items()
    ]
    if CLAIMS in match:
        lacking.append({"of": "path", "type": FOREIGN, "value": match[CLAIMS]})
    said |= {"also": lacking} if lacking else {}
    if (method and not methods) or is_for(match, host, server) is None:
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


def parted(rule: Mapping[str, Any], meant: list[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a rule with those of its matches that are meant, one by one where a rewrite makes another path of each."""
    rewrites = mapping(rule.get("rewrite")).get("uri")
    if rewrites and len({str((mapping(each.get("uri")), each.get("ignoreUriCase"))) for each in meant}) > 1:
        yield from ((f" match {number}", {**rule, "match": [each]}) for number, each in enumerate(meant, 1))
    else:
        yield "", {**rule, "match": meant} if rule.get("match") and meant else rule


def body_of(
    world: World, virtual: Resource, rule: Mapping[str, Any], server: Server
) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return a rule as routes have it, and what answers its requests in place of a backend."""
    filters = _cross_site(mapping(rule.get("corsPolicy")))
    redirect, direct, aborted = (
        mapping(rule.get("redirect")),
        mapping(rule.get("directResponse")),
        _aborted(virtual, rule),
    )
    if redirect:
        moved: dict[str, Any] = {"statusCode": redirect.get("redirectCode", 301)}
        for field, name in (("scheme", "scheme"), ("authority", "hostname"), ("port", "port")):
            if redirect.get(field):
                moved[name] = redirect[field]
        if redirect.get("authority") and not (redirect.get("port") or redirect.get("derivePort")):
            moved.setdefault("scheme", server.opening.scheme)  # the port is that of the scheme, not the listener's
        if text(redirect.get("uri")):
            moved["path"] = {"type": "ReplaceFullPath", "replaceFullPath": redirect["uri"]}
        return {"filters": [{"type": "RequestRedirect", "requestRedirect": moved}]}, aborted
    if direct:
        status = direct.get("status")
        return {}, (*aborted, answering(virtual, status if isinstance(status, int) else 200))
    rewrite = mapping(rule.get("rewrite"))
    host, path = text(rewrite.get("authority")), _rewritten(rule, rewrite)
    if host or path:
        rewritten = {**({"hostname": host} if host else {}), **({"path": path} if path else {})}
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
    return {**timed(waits), "filters": filters, "backendRefs": references}, aborted


def _cross_site(stated: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the filter that answers preflights (pilot/pkg/networking/core/route/route.go, TranslateCORSPolicy)."""
    said = [mapping(each) for each in sequence(stated.get("allowOrigins"))]
    said = said or [{"exact": each} for each in texts(stated.get("allowOrigin"))]
    origins = [origin(text(each["exact"])) if "exact" in each else {"regex": _text(each)["value"]} for each in said]
    rest = {name: stated[name] for name in ("allowMethods", "allowHeaders", "exposeHeaders") if name in stated}
    cors = {"allowOrigins": origins, "allowCredentials": stated.get("allowCredentials") is True, **rest}
    return [{"type": "CORS", "cors": cors}] if origins else []


def _rewritten(rule: Mapping[str, Any], rewrite: Mapping[str, Any]) -> dict[str, Any]:
    """Return what takes the place of a path: of the text that a match begins with, of the whole of others.

    Source: route/route.go, applyHTTPRouteDestination; Envoy's RouteAction.prefix_rewrite, regex_rewrite.
    """
    path, found = text(rewrite.get("uri")).replace("$", "$$"), mapping(rewrite.get("uriRegexRewrite"))
    if found:
        by = text(found.get("rewrite")).replace("$", "$$")
        return {
            "type": "Matched",
            "replaceMatched": {"pattern": text(found.get("match")), "by": _GROUP.sub("${\\1}", by)},
        }
    if not path:
        return {}
    written = [mapping(match) for match in sequence(rule.get("match"))] or [{}]
    taken = "|".join(_begins(mapping(match.get("uri")), match.get("ignoreUriCase") is True) for match in written)
    return {"type": "Captured", "replaceCaptured": {"pattern": f"(?:{taken})(?P<rest>.*)", "by": f"{path}${{rest}}"}}


def _begins(uri: Mapping[str, Any], folds: bool) -> str:
    """Return the part of a path that a match rewrites."""
    if "exact" in uri or "regex" in uri:
        whole = f"{plain(text(uri['exact']))}$" if "exact" in uri else f"(?:{text(uri['regex'])})$"
        return f"(?i:{whole})" if folds and "exact" in uri else whole
    prefix = plain(text(uri.get("prefix"), "/"))
    return f"(?i:{prefix})" if folds else prefix


def _aborted(virtual: Resource, rule: Mapping[str, Any]) -> tuple[Guard, ...]:
    """Return what a fault answers in place of whatever is behind it; it is injected into none where no percentage is
    stated (route/route.go, TranslateFault), and a status of gRPC is one of HTTP for other requests (Envoy,
    Grpc::Utility::grpcToHttpStatus)."""
    abort = mapping(mapping(rule.get("fault")).get("abort"))
    percent = mapping(abort.get("percentage")).get("value")
    status = abort.get("httpStatus", _OF_GRPC.get(text(abort.get("grpcStatus")).upper()))
    if not abort or not isinstance(percent, int | float) or percent <= 0:
        return ()
    certain = percent >= _WHOLE and isinstance(status, int)
    why = f"{virtual.key} aborts {'them' if percent >= _WHOLE else f'{percent:g} % of them'} (fault)"
    setting = FailingSetting(status if isinstance(status, int) else 503, why, virtual.key, certain)
    return (Guard(virtual, {"fault": {"abort": dict(abort)}}, {}, {("fault",): setting}),)


def _reference(
    world: World, virtual: Resource, route: Mapping[str, Any], weight: object, server: Server
) -> dict[str, Any]:
    """Return a destination as routes name it; without a port it is that of the Service, of several the server's.

    For requests, sidecars look among the Services with the port of the listener, so that it is always that one (and a
    waypoint may take another).
    Source: istio/istio, pilot/pkg/networking/core/route/route.go, GetDestinationCluster; httproute.go, servicesByName.
    """
    destination = mapping(route.get("destination"))
    host, port = text(destination.get("host")), mapping(destination.get("port")).get("number")
    name, dot, rest = host.partition(".")
    namespace, _, suffix = rest.partition(".")
    faults = {field: route[field] for field in (FAILS, MAY_FAIL, LABELS) if field in route}
    if dot and not suffix.startswith("svc"):
        other = {"group": VIRTUAL_SERVICE[0], "kind": "Hostname", "name": host}
        return {**other, "weight": weight, **({"port": port} if port else {}), **faults}
    own = _port(world, virtual, route)
    by_listener = server.for_mesh and server.opening.scheme == "http"
    port = own if own and (port or not by_listener) else server.opening.port
    faults |= {OF_LISTENER: True} if own not in (None, port) else {}
    if mapping(destination.get("port")).get("number") is not None:
        faults[ANY_PORT] = True  # what the mesh knows by this host has the say, `dead_ends`
    return {"name": name, "weight": weight, "port": port, **({"namespace": namespace} if dot else {}), **faults}


def _port(world: World, virtual: Resource, route: Mapping[str, Any]) -> int | None:
    """Return the port of a destination: the one that is stated, or the Service's; None where that has several."""
    destination = mapping(route.get("destination"))
    stated = mapping(destination.get("port")).get("number")
    if isinstance(stated, int):
        return stated
    name, _, rest = text(destination.get("host")).partition(".")
    service = world.get(ResourceKey("", "Service", rest.partition(".")[0] or virtual.key.namespace, name))
    only = None if service is None else port_at(service, None)
    return None if only is None else only.number


def named_at(world: World, virtual: Resource, rule: Mapping[str, Any], name: str, server: Server) -> str:
    """Return the name of a rule, with the port of the server where that decides where its requests go."""
    stated = (mapping(mapping(mapping(route).get("destination")).get("port")) for route in sequence(rule.get("route")))
    if server.for_mesh:
        return name if all(each.get("number") for each in stated) else f"{name} at {server.opening.port}"
    ports = [_port(world, virtual, mapping(route)) for route in sequence(rule.get("route"))]
    return f"{name} at {server.opening.port}" if None in ports else name
