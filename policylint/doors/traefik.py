"""Traefik's IngressRoutes as doors: rules in its own language, by priority, with the Middlewares that they name.

Source: doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd/http/ingressroute, .../http/routing/rules;
.../install-configuration/providers/kubernetes/kubernetes-crd (allowCrossNamespace; without it there is no router for a
rule that names an object of another namespace: traefik/traefik#8380, #11517, #12976).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from policylint.catalog.content import places
from policylint.documents import Pointer
from policylint.doors.controllers import is_allowed
from policylint.doors.ended_before import plain_entry_points
from policylint.doors.failing import at_port
from policylint.doors.lowered import Backends, Door, DoorRule, Guard, Opening, door, granted, made_of
from policylint.doors.named import meant
from policylint.doors.traefik_first import taken_first
from policylint.doors.traefik_options import ENTRY_POINTS, TlsOptions, class_of, demanded
from policylint.doors.traefik_rules import Hosts, Matcher, alternatives, is_doubted
from policylint.doors.traefik_ties import Router, Tie, placed, ties
from policylint.doors.variables import BEFORE_ALL, entries, entries_of, is_left_open, open_guards, words
from policylint.doors.vendors import guards, naming
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.entry_points import unsecured
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.topology.service_ports import BY_NUMBER_OR_NAME, ports

KIND = ("traefik.io", "IngressRoute")
TRAEFIK_SERVICE = (KIND[0], "TraefikService")
_MIDDLEWARE = (KIND[0], "Middleware")
_STREAMS = {"IngressRouteTCP": "tcp", "IngressRouteUDP": "udp"}
"""Kinds whose objects take connections, each with what it takes without TLS."""
_DOOR = ResourceKey("traefik.io", "EntryPoints", "", "traefik")
_CONTROLLER = "traefik.io/ingress-controller"
_OF_ITS_OWN = 0
"""The port of an entry point whose port no manifest states."""
_SAME_PROVIDER = "@kubernetescrd"
_OF_CRDS = "--providers.kubernetescrd"
_CROSSING, _EXTERNAL = "allowCrossNamespace", "allowExternalNameServices"
_OLD_GROUP = "traefik.containo.us"
_OLDER = "Traefik 2 reads that group"
_UNROUTED = (
    "Traefik makes no router of it: its requests go to another one that fits, else they are answered with 404; "
    "its connections are closed"
)


def traefik_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the entry points of Traefik, where there are IngressRoutes: of each class those of a Traefik of its own."""
    yield from _of_connections(world, backends)
    classes = _by_class(world)
    for name, routes in classes.items():
        holder = made_of(routes[0], {}, {}, _DOOR._replace(name=_called(name, classes)))
        hosts = Hosts(_written(routes))
        rules = list(_rules(world, list(_routers(world, routes)), hosts))
        openings = tuple(ENTRY_POINTS.values())
        yield door(holder, _CONTROLLER, rules, guards(), granted(backends), openings)


def _by_class(world: World) -> dict[str, list[Resource]]:
    """Return the IngressRoutes by their class, "" for those that Traefik reads which is told none."""
    found: dict[str, list[Resource]] = {}
    for route in world.of_kind(*KIND):
        found.setdefault(class_of(route), []).append(route)
    return found


def _called(name: str, classes: Collection[str]) -> str:
    """Return the name of the Traefik that reads a class of several."""
    return name if name and len(classes) > 1 else _DOOR.name


def unrouted(world: World) -> Iterator[DeadEnd]:
    """Yield the rules, of requests or connections, for which Traefik makes no router because of what they name.

    Source: traefik/traefik, pkg/provider/kubernetes/crd/kubernetes_http.go, makeMiddlewareKeys and buildServicesLB;
    kubernetes_tcp.go, makeMiddlewareTCPKeys and createLoadBalancerServerTCP; both, resolveReference of `tls.options`;
    pkg/server/router/router.go: a router with a middleware that does not exist answers nothing.
    """
    kinds = (KIND, *((KIND[0], kind) for kind in _STREAMS))
    for ingress in (each for kind in kinds for each in world.of_kind(*kind)):
        for number, route in enumerate(map(mapping, sequence(ingress.spec.get("routes")))):
            pointer: Pointer = ("spec", "routes", number)
            if is_left_open(ingress, pointer):
                continue
            if _leads_nowhere(world, ingress, route):
                fix = "name a service"
                if ingress.key[:2] == KIND:
                    fix += ", `kind: TraefikService` and `name: noop@internal` where a middleware answers"
                yield DeadEnd(ingress, pointer, "has a rule without services", fix, then=_UNROUTED)
                continue
            refusal = _refusal(world, ingress, route)
            if refusal is not None and refusal.certain:
                does = f"names {refusal.what}, which Traefik refuses"
                other = f"name what is in {ingress.key.namespace}"
                other = other if refusal.option == _CROSSING else "name a Service that selects pods"
                fix = f"set {_OF_CRDS}.{refusal.option}=true, or {other}"
                yield DeadEnd(ingress, pointer, does, fix, then=_UNROUTED)
                continue
            for index, middleware in enumerate(map(mapping, sequence(route.get("middlewares")))):
                key = _middleware(world, ingress, middleware)
                old = None if key is None else world.get(key._replace(group=_OLD_GROUP))
                if key is not None and old is not None and world.get(key) is None:
                    place = (*pointer, "middlewares", index)
                    does = f"names {key}, which is only there in group {_OLD_GROUP}, which Traefik 3 does not read"
                    fix = f"write it with `apiVersion: {KIND[0]}/v1alpha1`"
                    yield DeadEnd(ingress, place, does, fix, (key,), _OLDER, _UNROUTED)
                elif key is not None and world.resolve(key).missing and not world.elsewhere(key):
                    place = (*pointer, "middlewares", index)
                    yield DeadEnd(
                        ingress,
                        place,
                        f"names {key}, which is missing",
                        "name one that is there",
                        (key,),
                        then=_UNROUTED,
                    )


def unordered(world: World) -> Iterator[Tie]:
    """Yield the rules that surely take requests of another one with the priority that both state, or their length."""
    for routes in _by_class(world).values():
        for tie in ties(list(_routers(world, routes)), Hosts(_written(routes))):
            told = [host for host, match in tie.found if host and not is_doubted(match)]
            if told and not tie.first.unknown and not tie.second.unknown:
                yield tie


def _of_connections(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the entry points that take connections, each by itself: of most of them no manifest states the port.

    Source: traefik/traefik, pkg/server/router/tcp/router.go and manager.go; pkg/muxer/tcp.
    """
    found: dict[tuple[str, str], list[DoorRule]] = {}
    for kind, scheme in _STREAMS.items():
        for route in world.of_kind(KIND[0], kind):
            for name in points_of(route) or list(ENTRY_POINTS):
                found.setdefault((class_of(route), name), []).extend(_streams(world, route, scheme, name))
    for (of_class, name), rules in found.items():
        if rules:
            is_shared = any(other == name and each != of_class for each, other in found)
            called = f"{of_class}-{name}" if of_class and is_shared else name
            holder = made_of(rules[0].holder, {}, {}, _DOOR._replace(name=called))
            yield door(holder, _CONTROLLER, rules, guards(), granted(backends))


def _streams(world: World, ingress: Resource, scheme: str, entry_point: str) -> Iterator[DoorRule]:
    """Yield what an object does with the connections of an entry point: without TLS there is no server name, and a rule
    for one takes nothing."""
    tls = ingress.spec.get("tls")
    secure = scheme == "tcp" and isinstance(tls, dict)
    passes = secure and mapping(tls).get("passthrough") is True
    known = ENTRY_POINTS.get(entry_point)
    for number, route in enumerate(map(mapping, entries(ingress, "routes"))):
        refusal = _refusal(world, ingress, route)
        if (refusal is not None and refusal.certain) or (ingress.key, number) in world.once(_unmade):
            continue
        pointer: Pointer = ("spec", "routes", number)
        names, unread = ([""], "") if scheme == "udp" else _server_names(text(route.get("match")))
        named = [_reference(world, ingress, mapping(each)) for each in sequence(route.get("services"))]
        takes_names = world.once(_ALLOWED[_EXTERNAL]) is not False
        references = [each for each in named if takes_names or not _is_name(world, _key(each))]
        asked = [Guard(ingress, {"unread": unread}, {("unread",): (*pointer, "match")})] if unread else []
        asked += _middlewares(world, ingress, route, pointer)
        asked += _certificates(world, ingress) if secure and not passes else []
        for host in names:
            if secure and taken_first(world, (class_of(ingress), entry_point, host)) is not None:
                continue  # a router of requests for the name comes first
            if secure or not host:
                port = _OF_ITS_OWN if known is None else known.port
                opening = Opening("tls" if secure else scheme, port, passes=passes)
                body = {"backendRefs": references}
                unknown = "" if refusal is None else refusal.doubt
                yield DoorRule(ingress, opening, host, f"route-{number}", body, pointer, tuple(asked), unknown)


def _server_names(written: str) -> tuple[list[str], str]:
    """Return the server names that a rule is for, "" for all, and the rule itself where it asks for more than names."""
    found: dict[str, None] = {}
    read = alternatives(written)
    for matchers in read or [(Matcher("?", (written,)),)]:
        (first, *others) = matchers
        if others or first.negated or first.name.lower() != "hostsni":
            return [""], written
        found.update((name.lower() if name != "*" else "", None) for name in first.arguments)
    return list(found), ""


def _middlewares(world: World, ingress: Resource, route: Mapping[str, Any], pointer: Pointer) -> list[Guard]:
    """Return what the MiddlewareTCPs of a route ask: the addresses of clients; their number is nothing asked."""
    asked = open_guards(ingress, (*pointer, "middlewares"))
    for named in filter(None, map(mapping, sequence(route.get("middlewares")))):
        namespace = text(named.get("namespace")) or ingress.key.namespace
        found = world.get(ResourceKey(KIND[0], "MiddlewareTCP", namespace, text(named.get("name"))))
        spec = mapping({} if found is None else found.spec)
        for field in ("ipAllowList", "ipWhiteList"):
            if found is not None and field in spec:
                networks = [text(each) for each in entries_of(spec[field], "sourceRange")]
                asked.append(Guard(found, {"allow": networks}, {("allow",): ("spec", field, "sourceRange")}))
        if found is None or not spec.keys() & {"ipAllowList", "ipWhiteList", "inFlightConn"}:
            place: Pointer = (*pointer, "middlewares")
            asked.append(Guard(ingress, {"unread": text(named.get("name"))}, {("unread",): place}))
    return asked


def _certificates(world: World, ingress: Resource) -> list[Guard]:
    """Return what the TLSOption of an object asks for."""
    options = mapping(mapping(ingress.spec.get("tls")).get("options"))
    namespace = text(options.get("namespace")) or ingress.key.namespace
    option = world.get(ResourceKey(KIND[0], "TLSOption", namespace, text(options.get("name")))) if options else None
    return [] if option is None else list(demanded(option))


def _written(routes: Iterable[Resource]) -> Iterator[str]:
    """Yield the rules of some objects."""
    for ingress in routes:
        for route in map(mapping, sequence(ingress.spec.get("routes"))):
            yield text(route.get("match"))


class _Refusal(NamedTuple):
    """What a rule names that Traefik takes only with an option.

    Args:
        certain: whether it runs without; otherwise neither its arguments nor all values of its chart were seen.
    """

    what: str
    option: str
    certain: bool

    @property
    def doubt(self) -> str:
        """Why the rule may not be served."""
        return f"it names {self.what}, which Traefik takes only with {self.option}"


def _refusal(world: World, ingress: Resource, route: Mapping[str, Any]) -> _Refusal | None:
    """Return for what a rule is not served, or may not be; first what is certain."""
    crossed, external = _crosses(world, ingress, route), _external(world, ingress, route)
    named = {_CROSSING: crossed and f"{crossed} of another namespace", _EXTERNAL: external}
    allowed = {option: world.once(_ALLOWED[option]) for option, what in named.items() if what}
    told = [_Refusal(named[option], option, is_allowed is False) for option, is_allowed in allowed.items()]
    refused = (each for each in told if not allowed[each.option])
    return min(refused, key=lambda each: not each.certain, default=None)


def _external(world: World, ingress: Resource, route: Mapping[str, Any]) -> str:
    """Return the Service without pods that a rule cannot do without, in words; connections go to the others there are.

    Source: traefik/traefik v3.7, pkg/provider/kubernetes/crd/kubernetes_http.go (loadServers) and kubernetes_tcp.go.
    """
    if ingress.key[:2] != KIND:
        named = [_key(_reference(world, ingress, mapping(each))) for each in sequence(route.get("services"))]
        return _of_names(named[0]) if named and all(_is_name(world, key) for key in named) else ""
    for holder, service, by in _reached(world, ingress, route):
        key = _key(_reference(world, holder, service))
        if _is_name(world, key):
            return f"{_of_names(key)}{by}"
    return ""


def _of_names(key: ResourceKey) -> str:
    return f"Service {key.path}, an ExternalName"


def _reached(
    world: World, ingress: Resource, route: Mapping[str, Any]
) -> Iterator[tuple[Resource, Mapping[str, Any], str]]:
    """Yield the services that a rule cannot do without, each with what names it, and by what in words: those that it
    names itself, those of its TraefikServices, and the pages of errors of its Middlewares.

    Source: traefik/traefik v3.7, pkg/provider/kubernetes/crd: kubernetes_http.go (buildTraefikService returns the first
    error), kubernetes.go (createErrorPageMiddleware).
    """
    left = [(ingress, mapping(each), "") for each in sequence(route.get("services"))]
    left += [(each, service, f", by {each.key}") for each in _acting(world, ingress, route) for service in _named(each)]
    seen: set[ResourceKey] = set()
    while left:
        holder, service, by = left.pop(0)
        yield holder, service, by
        found = world.get(_key(_reference(world, holder, service)))
        if found is not None and found.key[:2] == TRAEFIK_SERVICE and found.key not in seen:
            seen.add(found.key)
            left += [(found, each, f", by {found.key}") for each in _named(found)]


def _acting(world: World, ingress: Resource, route: Mapping[str, Any]) -> Iterator[Resource]:
    """Yield the Middlewares of a rule, with those of its chains."""
    left = [(ingress, mapping(each)) for each in sequence(route.get("middlewares"))]
    seen: set[ResourceKey] = set()
    while left:
        holder, named = left.pop(0)
        key = _middleware(world, holder, named)
        found = None if key is None or key in seen else world.get(key)
        if found is not None:
            seen.add(found.key)
            yield found
            members = sequence(mapping(found.spec.get("chain")).get("middlewares"))
            left += [(found, mapping(each)) for each in members]


def _named(holder: Resource) -> list[Mapping[str, Any]]:
    """Return the services that an object beside IngressRoutes names."""
    paths = next((each.at for each in naming() if each.kind == holder.key[:2]), ())
    written = (value for path in paths for _, value in places(holder.spec, path, ("spec",)))
    return [each for each in map(mapping, written) if each.get("name")]


def _is_name(world: World, key: ResourceKey) -> bool:
    seen = world.get(key) if key[:2] == ("", "Service") else None
    return seen is not None and seen.spec.get("type") == "ExternalName"


def _option(name: str) -> dict[str, str]:
    """Return where an option of the provider is set (traefik/traefik-helm-chart, values.yaml: false)."""
    of_chart = {"chart": "traefik", "value": f"providers.kubernetesCRD.{name}", "further": "additionalArguments"}
    return {"argument": f"{_OF_CRDS}.{name}", "among": _OF_CRDS, **of_chart}


_ALLOWED = {option: partial(is_allowed, _option(option)) for option in (_CROSSING, _EXTERNAL)}
"""By option, what says of a world whether it is set."""


def _crosses(world: World, ingress: Resource, route: Mapping[str, Any]) -> str:
    """Return the object of another namespace that a rule names, in words; "" where it names none."""
    home, kind = ingress.key.namespace, _middleware_kind(ingress)
    options = mapping(mapping(ingress.spec.get("tls")).get("options"))
    if text(options.get("namespace")) not in ("", home) and "@" not in text(options.get("name")):
        return f"TLSOption {options['namespace']}/{text(options.get('name'))}"
    for holder, service, by in _reached(world, ingress, route):
        if text(service.get("namespace")) not in ("", holder.key.namespace):
            key = f"{text(service.get('kind'), 'Service')} {service['namespace']}/{text(service.get('name'))}"
            return f"{key}{by}," if by else key
    for middleware in map(mapping, sequence(route.get("middlewares"))):
        name, namespace = text(middleware.get("name")), text(middleware.get("namespace")) or home
        if name.endswith(_SAME_PROVIDER):
            return f"{kind} {name}"
        if "@" not in name and namespace != home:
            return f"{kind} {namespace}/{name}"
        found = world.get(ResourceKey(KIND[0], kind, home, name))
        chain = mapping(mapping(found.spec if found is not None else {}).get("chain"))
        for member in map(mapping, sequence(chain.get("middlewares"))):
            if text(member.get("namespace")) not in ("", home):
                return f"Middleware {member['namespace']}/{text(member.get('name'))}, by its chain {home}/{name},"
    return ""


def _routers(world: World, routes: Iterable[Resource]) -> Iterator[Router]:
    """Yield the rules of objects, in order; of two that read alike in one object the later one alone is there.

    Source: traefik/traefik, pkg/provider/kubernetes/crd/kubernetes_http.go: routers are called after what they match.
    """
    unmade = world.once(_unmade)
    for ingress in routes:
        found: dict[str, Router] = {}
        openings = tuple(_openings(world, ingress))
        points = ingress.spec.get("entryPoints")
        is_open = any(map(is_symbolic, words(points)))
        where = f"the entry point that {ingress.key} is for stands in a variable" if is_open else ""
        for number, route in enumerate(map(mapping, entries(ingress, "routes"))):
            refusal = _refusal(world, ingress, route)
            if (refusal is not None and refusal.certain) or (ingress.key, number) in unmade:
                continue
            doubt = where if refusal is None else refusal.doubt
            written = text(route.get("match"))
            priority = route.get("priority")
            rank = priority if isinstance(priority, int) and priority else len(written)
            if not route:  # a variable stands for it
                written, rank = f"{number}", BEFORE_ALL
            body, asked = _body(world, ingress, route, number)
            read = alternatives(written) or [(Matcher("?", (written,)),)]
            found[written] = Router(ingress, number, rank, read, openings, body, asked, doubt)
        yield from found.values()


def replaced(world: World) -> Iterator[DeadEnd]:
    """Yield the rules whose routers later ones of their objects replace, which read alike."""
    for kind in (KIND[1], "IngressRouteTCP"):
        for ingress in world.of_kind(KIND[0], kind):
            rules = [text(mapping(each).get("match")) for each in sequence(ingress.spec.get("routes"))]
            last = {written: number for number, written in enumerate(rules)}
            for number, written in enumerate(rules):
                if written and last[written] != number:
                    does = f"has a rule that spec.routes[{last[written]}] repeats"
                    fix = "take one of both out, or move it to an object of its own"
                    then = "Traefik makes the router of the last one alone, whatever their priorities"
                    place: Pointer = ("spec", "routes", number, "match")
                    yield DeadEnd(ingress, place, does, fix, then=then, severity="warning")


def _unmade(world: World) -> Collection[tuple[ResourceKey, Any]]:
    """Return the rules, by object and number, that do not parse, or of whose services something is named that is
    missing: no router is made of them. Of the Middlewares of a rule its filters tell, of the Services that it names
    itself its backends."""
    from policylint.doors.dead_ends import services_named, without_object, without_service
    from policylint.doors.traefik_unmade import unparsed

    found: set[tuple[ResourceKey, Any]] = {(end.holder.key, end.pointer[2]) for end in unparsed(world)}
    broken = {end.holder.key for end in without_service(world) if end.holder.key[:2] in (TRAEFIK_SERVICE, _MIDDLEWARE)}
    for ingress in (each for kind in (KIND[1], *_STREAMS) for each in world.of_kind(KIND[0], kind)):
        rules = enumerate(map(mapping, entries(ingress, "routes")))
        found.update((ingress.key, number) for number, route in rules if _leads_nowhere(world, ingress, route))
    for end in without_object(world):
        if end.holder.key[:2] == TRAEFIK_SERVICE:
            broken.add(end.holder.key)
        elif end.holder.key.group == KIND[0] and end.pointer[3:4] == ("services",):
            found.add((end.holder.key, end.pointer[2]))
    named_by = [(holder.key, key) for holder, _, _, key in services_named(world)] if broken else []
    named_by = [(holder, key) for holder, key in named_by if holder[:2] in (TRAEFIK_SERVICE, _MIDDLEWARE)]
    while more := {holder for holder, key in named_by if key in broken} - broken:
        broken |= more
    for ingress in world.of_kind(*KIND) if broken else ():
        for number, route in enumerate(map(mapping, sequence(ingress.spec.get("routes")))):
            named = [_key(_reference(world, ingress, mapping(each))) for each in sequence(route.get("services"))]
            if not broken.isdisjoint((*named, *(each.key for each in _acting(world, ingress, route)))):
                found.add((ingress.key, number))
    return found


def _leads_nowhere(world: World, ingress: Resource, route: Mapping[str, Any]) -> bool:
    """Tell whether a rule has no service, and no router below it: whatever its middlewares answer, it is not made.

    Source: traefik/traefik v3.7.13, pkg/server/router/router.go, buildHTTPHandler; in older releases, and for
    connections, the service that it is given does not exist (pkg/server/service/service.go, BuildHTTP; tcp, udp).
    """
    is_empty = bool(route) and route.get("services") in (None, [])
    return is_empty and ingress.key not in world.once(_parents)


def _parents(world: World) -> Collection[ResourceKey]:
    """Return the IngressRoutes below which others have routers."""
    named = (
        (each, mapping(reference))
        for each in world.of_kind(*KIND)
        for reference in sequence(each.spec.get("parentRefs"))
    )
    return {
        ResourceKey(*KIND, text(reference.get("namespace")) or each.key.namespace, text(reference.get("name")))
        for each, reference in named
    }


def _key(reference: Mapping[str, Any]) -> ResourceKey:
    group, kind = text(reference.get("group")), text(reference.get("kind"), "Service")
    return ResourceKey(group, kind, text(reference.get("namespace")), text(reference.get("name")))


def _rules(world: World, routers: Sequence[Router], hosts: Hosts) -> Iterator[DoorRule]:
    options = world.once(TlsOptions)
    for router, place, further, found in placed(routers, hosts):
        pointer: Pointer = ("spec", "routes", router.number)
        for host, match in found:
            name = f"route-{router.number}.{further}" + (" of other hosts" if match != found[0][1] else "")
            said = {**router.body, "matches": [match], "precedence": (place, 0, 0, 0, 0)}
            for point, opening in router.openings:
                if opening.scheme == "https" and point in world.once(plain_entry_points):
                    said = {**said, "filters": [*_redirected(world, router), *said["filters"]]}
                of_host = options.guards(class_of(router.ingress), point, host) if opening.scheme == "https" else ()
                wanted = (*router.asked, *of_host)
                yield DoorRule(router.ingress, opening, host, name, said, pointer, wanted, router.unknown)


def _redirected(world: World, router: Router) -> Iterator[dict[str, Any]]:
    """Yield the redirect to https of a router to which requests come in plain text though clients use TLS: all meet
    it."""
    named = (mapping(each.get("extensionRef")) for each in router.body["filters"])
    for reference in (ResourceKey(KIND[0], "Middleware", each["namespace"], each["name"]) for each in named):
        found = world.get(reference)
        stated = mapping(found.spec.get("redirectScheme")) if found is not None else {}
        if stated.get("scheme") == "https" and stated.get("port") in (None, "", "443", 443):
            status = 301 if stated.get("permanent") is True else 302
            yield {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": status}}


def points_of(ingress: Resource) -> list[str]:
    """Return the entry points that an object states; none where a variable may stand for one."""
    named = texts(ingress.spec.get("entryPoints"))
    return [] if any(map(is_symbolic, named)) else named


def _openings(world: World, ingress: Resource) -> Iterator[tuple[str, Opening]]:
    """Yield the entry points where a route is open: a router with TLS takes https alone, one without http alone.

    Those of the chart end TLS for routers without it, too, unless the arguments of its containers show otherwise; a
    load balancer may do so in front of them.
    """
    secure = isinstance(ingress.spec.get("tls"), dict)
    for name in points_of(ingress) or list(ENTRY_POINTS):
        known = ENTRY_POINTS.get(name, Opening("https" if secure else "http", _OF_ITS_OWN))
        if not secure and name in world.once(unsecured) and name not in world.once(plain_entry_points):
            known = known._replace(scheme="http")
        if known.scheme == "https" or not secure:
            yield name, known


def _middleware_kind(ingress: Resource) -> str:
    """Return the kind of the middlewares that an object names."""
    return "MiddlewareTCP" if ingress.key.kind in _STREAMS else "Middleware"


def _middleware(world: World, ingress: Resource, named: Mapping[str, Any]) -> ResourceKey | None:
    """Return the Middleware that a rule names, None where it is one of another provider (`auth@file`).

    `infra-auth@kubernetescrd` is Middleware `auth` of namespace `infra`, and may be `infra-auth` of another one.
    """
    kind = _middleware_kind(ingress)
    name, namespace = text(named.get("name")), text(named.get("namespace")) or ingress.key.namespace
    if "@" not in name:
        return ResourceKey(KIND[0], kind, namespace, name)
    return meant(world, {"group": KIND[0], "kind": kind, "named": _SAME_PROVIDER}, name, ingress.key.namespace)


def _body(
    world: World, ingress: Resource, route: Mapping[str, Any], number: int
) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return a route as a rule, and what is asked besides the Middlewares of this provider."""
    filters, elsewhere = [], []
    for middleware in filter(None, map(mapping, sequence(route.get("middlewares")))):
        named = _middleware(world, ingress, middleware)
        found = None if named is None else world.get(named)
        if found is not None and _is_open(world, found):
            elsewhere.append(found.key.name)
        elif named is None:
            elsewhere.append(text(middleware.get("name")))
        else:
            reference = {"group": KIND[0], "kind": "Middleware", "name": named.name, "namespace": named.namespace}
            filters.append({"type": "ExtensionRef", "extensionRef": reference})
    place: Pointer = ("spec", "routes", number, "middlewares")
    asked = [Guard(ingress, {"unread": ", ".join(elsewhere)}, {("unread",): place})] if elsewhere else []
    asked += open_guards(ingress, place)
    references = [_reference(world, ingress, mapping(each)) for each in sequence(route.get("services"))]
    return {"filters": filters, "backendRefs": references}, tuple(asked)


def _is_open(world: World, middleware: Resource) -> bool:
    """Return whether a variable stands for all that a Middleware says, or for the members of its chain or of one below
    it."""
    for each in _acting(world, middleware, {"middlewares": [{"name": middleware.key.name}]}):
        chain = each.spec.get("chain")
        if is_symbolic(each.body.get("spec")) or any(map(is_symbolic, (chain, *entries_of(chain, "middlewares")))):
            return True
    return False


def _reference(world: World, ingress: Resource, backend: Mapping[str, Any]) -> dict[str, Any]:
    """Return a service as routes name it: with the number of its port."""
    name, namespace = text(backend.get("name")), text(backend.get("namespace")) or ingress.key.namespace
    kind, port = text(backend.get("kind"), "Service"), backend.get("port")
    said = {"name": name, "namespace": namespace, "weight": backend.get("weight", 1)}
    if kind != "Service":
        return {**said, "group": KIND[0], "kind": kind}
    seen = world.get(ResourceKey("", "Service", namespace, name))
    if port is None:
        return {**said, "port": next((each.number for each in ports(seen) if each.number), 80) if seen else 80}
    return {**said, **at_port(seen, port, BY_NUMBER_OR_NAME, any_port=True)}
