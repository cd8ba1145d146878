"""VirtualServers of NGINX Ingress Controller as doors: a server of NGINX each, with the locations of its routes and of
the VirtualServerRoutes that these name.

Source: nginx/kubernetes-ingress, internal/configs/virtualserver.go, internal/configs/version2/nginx.virtualserver.tmpl,
internal/k8s/configuration.go, pkg/apis/configuration/validation/virtualserver.go; nginx.org, ngx_http_core_module,
location.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from policylint.documents import Pointer
from policylint.doors.extensions import answering
from policylint.doors.failing import FAILS
from policylint.doors.lowered import (
    Backends,
    Door,
    DoorRule,
    Guard,
    Opening,
    closing,
    door,
    granted,
    made_of,
    plain,
    searched,
)
from policylint.doors.named import leads_out
from policylint.doors.nginx import contest
from policylint.doors.nginx_faults import (
    LocationPath,
    begins,
    child_key,
    children,
    decisions,
    fault_of_child,
    fault_of_server,
    upstream_of,
)
from policylint.doors.nginx_policies import CLOSED, GROUP, KIND, PolicyDemands, asked, fault_of_secret
from policylint.doors.peculiar import SERVER
from policylint.doors.variables import entries, host_of, listed
from policylint.doors.vendors import guards
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.matches import FOREIGN
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.regex import expression
from policylint.spaces.predicates import EXPRESSION, PREFIX

_DOOR = ResourceKey(GROUP, "VirtualServers", "", "nginx")
_CONTROLLER = "nginx.org/ingress-controller"
_LISTENERS = (GROUP, "GlobalConfiguration")
_PORTS = {"http": 80, "https": 443}
_FIRST, _EXACT, _BEST_PREFIX, _BY_EXPRESSION, _BEGINS = 5, 4, 3, 2, 1
"""Ranks of locations: what the server does by itself, `=`, `^~`, `~`, no modifier."""
"""The field of a backend of which the requests end in an error: those of one split that goes round and round."""
_FROM_HEADER = "x-forwarded-proto"
_CERTIFICATE = "kubernetes.io/tls"
_GROUPS = Pattern(r"\$(\d)")
_URL = Pattern(r"(https?|\$\{?scheme\}?)://([^/:$?]+|\$\{?host\}?)(?::(\d{1,5}))?((?:[/?$].*)?)")
_INVALID = "NGINX Ingress Controller rejects it: its host is answered with 404, or by an older one"
_ROUND = "NGINX looks for its location again and again, until it answers with 500"
_REFUSED = "NGINX refuses the configuration as a whole: until it is gone, no change of any object is applied"
_CLOSED = "NGINX answers requests with 500 where the policy is named"
_REJECTS_TLS = "NGINX turns every TLS handshake for the host away (`ssl_reject_handshake`)"
_LEFT_OUT = "NGINX Ingress Controller leaves it out: requests of the route are answered with 404"


class _Location(NamedTuple):
    """One location: a route of a VirtualServer, or a subroute.

    Args:
        holder: the object that it stands in.
        policies: those that count there, with their holder and place: its own, else those of the route that names the
            object.
        snippets: text of NGINX, with its holder and place.
        place: among all locations, as NGINX tries regular expressions.
        open: what marks the location of an object that was not seen.
    """

    holder: Resource
    route: Mapping[str, Any]
    pointer: Pointer
    path: LocationPath
    policies: tuple[Resource, Sequence[Any], Pointer]
    snippets: tuple[Resource, str, Pointer]
    place: int = 0
    open: Mapping[str, str] = {}

    @property
    def leads_on(self) -> bool:
        """Whether it sends requests on to locations within the server: one for each match, or each of the splits."""
        return bool(sequence(self.route.get("matches")) or sequence(self.route.get("splits")))


class _Rewrite(NamedTuple):
    """What becomes of the path of requests that an action sends on.

    Args:
        path: as a modifier of a filter; empty where it stays.
        ends: whether NGINX looks at nothing further of the location then (`rewrite … break`), no method either.
        loops: whether it looks for a location again and again.
    """

    path: Mapping[str, Any] = {}
    ends: bool = False
    loops: bool = False


def server_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the servers of NGINX Ingress Controller, by class, where there are VirtualServers."""
    by_class: dict[str, list[Resource]] = {}
    stated = {text(each.spec.get("ingressClassName")) for each in world.of_kind(*SERVER)} - {""}
    unstated = next(iter(stated)) if len(stated) == 1 else _DOOR.name
    for each in world.of_kind(*SERVER):
        by_class.setdefault(text(each.spec.get("ingressClassName")) or unstated, []).append(each)
    for name, servers in sorted(by_class.items()):
        holder = made_of(servers[0], {}, {}, _DOOR._replace(name=name))
        rules = [rule for each in servers for rule in _rules(world, each)]
        openings = [Opening(scheme, number) for scheme, number in _PORTS.items()]
        yield door(
            holder,
            _CONTROLLER,
            rules,
            guards(),
            granted(backends),
            openings,
        )


def _rules(world: World, server: Resource) -> Iterator[DoorRule]:
    """Yield the rules of a VirtualServer, none of one that is rejected, or whose host another object certainly has."""
    host = host_of(server, "host")
    contested = contest(world, server, host)
    if fault_of_server(server) is None and not (contested is not None and contested.is_lost):
        unknown = "" if contested is None else contested.doubt(host)
        yield from _Server(world, server, unknown).rules()


def rejected(world: World) -> Iterator[DeadEnd]:
    """Yield the VirtualServers that NGINX Ingress Controller rejects, and what it leaves out of the others."""
    for server in world.of_kind(*SERVER):
        found = fault_of_server(server)
        if found is not None:
            pointer, why = found
            yield DeadEnd(server, pointer, f"is invalid: {why}", "take out what contradicts", then=_INVALID)
            continue
        contested = contest(world, server, text(server.spec.get("host")))
        if contested is None or not contested.is_lost:
            yield from _Server(world, server, "").misread()
        for number, route in enumerate(map(mapping, sequence(server.spec.get("routes")))):
            for child in children(world, server, route):
                if why := fault_of_child(world, server, route, child):
                    place: Pointer = ("spec", "routes", number, "route" if "route" in route else "routeSelector")
                    does, fix = f"names {child.key}, which is invalid there: {why}", "take out what contradicts"
                    yield DeadEnd(server, place, does, fix, (child.key,), then=_LEFT_OUT)


class _Server:
    """One VirtualServer, and all that its routes name; `unknown` says why another one may have its host."""

    def __init__(self, world: World, server: Resource, unknown: str) -> None:
        self._world = world
        self._server = server
        self._host = host_of(server, "host")
        self._tls: Mapping[str, Any] = mapping(server.spec.get("tls"))
        self._secure = bool(text(self._tls.get("secret")))
        self._fault_of_tls = fault_of_secret(world, server, text(self._tls.get("secret")), _CERTIFICATE)
        self._locations = list(self._ordered())
        self._expressions = any(each.path.is_expression for each in self._locations)
        is_refused = not unknown and any(True for _ in self._repeated())
        self._unknown = "NGINX refuses its configuration" if is_refused else unknown

    @cached_property
    def _asked(self) -> PolicyDemands:
        """What policies of the whole server ask."""
        listed = sequence(self._server.spec.get("policies"))
        return asked(self._world, self._server, listed, ("spec", "policies"), of_server=True, secure=self._secure)

    def rules(self) -> Iterator[DoorRule]:
        redirected = mapping(self._tls.get("redirect"))
        by_header = redirected.get("enable") is True and redirected.get("basedOn") == _FROM_HEADER
        moves = redirected.get("enable") is True and not by_header
        demands = [self._demands(location) for location in self._locations]
        for opening in self._opened():
            if by_header or (moves and opening.scheme == "http"):
                yield self._to_https(opening, redirected.get("code"), by_header=by_header)
            if moves and opening.scheme == "http":
                continue
            for location, own in zip(self._locations, demands, strict=True):
                yield from self._of(location, own, opening)
            if self._asked.fails or not self._locations:
                yield self._rest(opening)

    def _demands(self, location: _Location) -> PolicyDemands:
        """Return what policies ask at a location, those of the server among them."""
        owner, listed, place = location.policies
        own = asked(self._world, owner, listed, place, of_server=False, secure=self._secure)
        return own.below(self._asked)

    def _rest(self, opening: Opening) -> DoorRule:
        """Return what answers the requests that no location takes, where a policy of the whole server fails; and all of
        a server that has none, as no other server takes them."""
        body = {"matches": [{"path": {"type": PREFIX, "value": "/"}}], "precedence": (0, 0, 0, 0, 0)}
        place: Pointer = ("spec", "policies" if self._asked.fails else "host")
        asked_for = _shown(self._asked.guards, opening)
        asked_for += () if self._asked.fails else (answering(self._server, 404),)
        return DoorRule(self._server, opening, self._host, f"{self._host} else", body, place, asked_for, self._unknown)

    def _to_https(self, opening: Opening, code: object, *, by_header: bool) -> DoorRule:
        match: dict[str, Any] = {"path": {"type": PREFIX, "value": "/"}}
        if by_header:
            match["headers"] = [{"name": _FROM_HEADER, "value": "http"}]
        moved = {"scheme": "https", "statusCode": code if isinstance(code, int) else 301}
        filters = [{"type": "RequestRedirect", "requestRedirect": moved}]
        body = {"matches": [match], "precedence": (_FIRST, 0, 0, 0, 0), "filters": filters}
        place: Pointer = ("spec", "tls", "redirect")
        return DoorRule(self._server, opening, self._host, f"{self._host} to https", body, place, (), self._unknown)

    def misread(self) -> Iterator[DeadEnd]:
        """Yield what the controller takes, and NGINX does not as it is meant."""
        if self._fault_of_tls:
            does, fix = f"has no certificate: {self._fault_of_tls}", f"name a Secret of type {_CERTIFICATE}"
            yield DeadEnd(self._server, ("spec", "tls", "secret"), does, fix, then=_REJECTS_TLS)
        yield from self._closed_by_policies()
        for twice in self._repeated():
            path = f"{twice.path.modifier}{twice.path.value}"
            does = f"has a location which NGINX has already: {path} is one with the other prefix {twice.path.value}"
            about = () if twice.holder is self._server else (self._server.key,)
            fix, at = "let one of the two go", (*twice.pointer, "path")
            yield DeadEnd(twice.holder, at, does, fix, about, then=_REFUSED)
        for each in self._locations:
            for at, stated in decisions(each.route, each.pointer):
                for place, action in _actions(stated):
                    if _rewrite(each, action).loops:
                        of = "matches" if sequence(each.route.get("matches")) else "splits"
                        does = (
                            f"rewrites the path of a route with {of} whose own path begins with `{each.path.modifier}`"
                        )
                        pointer = (*at, *place, "proxy", "rewritePath")
                        fix = "take a prefix or an expression for the path"
                        yield DeadEnd(each.holder, pointer, does, fix, then=_ROUND)

    def _closed_by_policies(self) -> Iterator[DeadEnd]:
        """Yield the policies that cannot be applied here; those that are missing are told where they are named."""
        told: set[ResourceKey] = set()
        for demands in (self._asked, *map(self._demands, self._locations)):
            for guard in demands.guards:
                for failure in guard.failing.values():
                    if guard.holder.key[:2] == KIND and guard.holder.key not in told:
                        told.add(guard.holder.key)
                        does = f"closes {self._server.key}: {failure.why.removeprefix(f'{guard.holder.key}: ')}"
                        fix = "mend the policy, or what it names"
                        yield DeadEnd(guard.holder, ("metadata", "name"), does, fix, (self._server.key,), then=_CLOSED)

    def _repeated(self) -> Iterator[_Location]:
        """Yield the locations that NGINX takes for others: prefixes with and without `^~`, of one server."""
        seen: set[tuple[bool, str]] = set()
        for each in self._locations:
            key = each.path.modifier == "=", each.path.value
            if key in seen and not each.path.is_expression:
                yield each
            seen.add(key)

    def _opened(self) -> Iterator[Opening]:
        """Yield the ports of the server: 80, and 443 where a certificate is named, or those of listeners."""
        stated = self._server.spec.get("listener")
        for scheme, number in _PORTS.items():
            if scheme == "https" and (not self._secure or self._fault_of_tls):
                continue
            if not isinstance(stated, dict):
                yield Opening(scheme, number)
            elif name := text(stated.get(scheme)):
                yield Opening(scheme, self._port(name))

    def _port(self, name: str) -> int:
        """Return the port of a listener, 0 where nothing here states it."""
        for each in self._world.of_kind(*_LISTENERS):
            for listener in map(mapping, sequence(each.spec.get("listeners"))):
                if listener.get("name") == name and isinstance(listener.get("port"), int):
                    return int(listener["port"])
        return 0

    def _ordered(self) -> Iterator[_Location]:
        """Yield the locations as they stand in the server: first those with matches or splits, which lead on in it."""
        ordered = sorted(self._all(), key=lambda each: not each.leads_on)
        yield from (each._replace(place=number) for number, each in enumerate(ordered))

    def _all(self) -> Iterator[_Location]:
        below: dict[ResourceKey, tuple[Resource, Mapping[str, Any], Pointer]] = {}
        for number, route in enumerate(map(mapping, entries(self._server, "routes"))):
            place: Pointer = ("spec", "routes", number)
            if not (text(route.get("route")) or route.get("routeSelector")):
                yield self._location(self._server, route, place, None)
            if (name := text(route.get("route"))) and (open_ := leads_out(self._world, child_key(self._server, name))):
                yield self._location(self._server, route, place, None)._replace(open=open_)
            for child in children(self._world, self._server, route):
                if not fault_of_child(self._world, self._server, route, child):
                    below[child.key] = (child, route, place)
        for child, above, at in below.values():
            for number, route in enumerate(map(mapping, entries(child, "subroutes"))):
                yield self._location(child, route, ("spec", "subroutes", number), (above, at))

    def _location(
        self,
        holder: Resource,
        route: Mapping[str, Any],
        place: Pointer,
        above: tuple[Mapping[str, Any], Pointer] | None,
    ) -> _Location:
        policies = (holder, listed(route.get("policies")), (*place, "policies"))
        snippets = (holder, text(route.get("location-snippets")), (*place, "location-snippets"))
        if above is not None and not policies[1]:
            policies = (self._server, sequence(above[0].get("policies")), (*above[1], "policies"))
        if above is not None and not snippets[1]:
            snippets = (self._server, text(above[0].get("location-snippets")), (*above[1], "location-snippets"))
        return _Location(holder, route, place, LocationPath.of(text(route.get("path"))), policies, snippets)

    def _of(self, location: _Location, own: PolicyDemands, opening: Opening) -> Iterator[DoorRule]:
        """Yield the rules of a location at a port: each match, the rest, and preflights before them."""
        here = _shown((*own.guards, *self._snippets(location)), opening)
        weights = self._weights(location.path)
        name = f"{self._host}{text(location.route.get('path'))}"
        barred = self._barred(location.path)
        decided = [*decisions(location.route, location.pointer)]
        for number, (at, stated) in enumerate(decided):
            match: dict[str, Any] = {"path": _taken(location.path)}
            conditions = [mapping(each) for each in sequence(stated.get("conditions"))]
            also = [*barred, *(_condition(each, opening) for each in conditions)]
            if also:
                match["also"] = also
            order = 3 * (len(decided) - number)
            actions = [action for _, action in _actions(stated)]
            rewrites = [_rewrite(location, action) for action in actions]
            body, answered = _body(location, stated, actions, rewrites)
            called = f"{name} match {number}" if conditions else name
            gone_round = f"path `{name}` is rewritten where it has matches"
            if all(each.loops for each in rewrites):
                answered = (closing(location.holder, at, CLOSED, gone_round),)
            elif begins_with := _rewritten_where(location, rewrites):
                left = {"matches": [match], "precedence": (*weights, order, 0, 0)}
                round_and_round = (*here, closing(location.holder, at, CLOSED, gone_round))
                yield DoorRule(
                    location.holder, opening, self._host, f"{called} else", left, at, round_and_round, self._unknown
                )
                match = {**match, "also": [*also, {"of": "path", "type": EXPRESSION, "value": begins_with}]}
            body |= {"matches": [match], "precedence": (*weights, order + 1, 0, 0), **location.open}
            asked_for = () if location.open else (*here, *answered)
            yield DoorRule(location.holder, opening, self._host, called, body, at, asked_for, self._unknown)
            if own.cors and not own.fails and upstream_of(actions[0]) and not rewrites[0].ends:
                preflight = {**match, "method": "OPTIONS"}
                answer = {"matches": [preflight], "precedence": (*weights, order + 2, 0, 0)}
                preflights = (answering(location.holder, 204),)
                yield DoorRule(
                    location.holder, opening, self._host, f"{called} preflights", answer, at, preflights, self._unknown
                )
        yield from self._slash(location, opening, name)

    def _slash(self, location: _Location, opening: Opening, name: str) -> Iterator[DoorRule]:
        """Yield the redirect to the slash with which a prefix ends, where nothing has the path without it.

        Source: nginx.org, ngx_http_core_module, location: a prefix string that ends with the slash, and proxy_pass.
        """
        path = location.path
        bare = path.value.rstrip("/")
        others = (other.path.value for other in self._locations if not other.path.is_expression)
        if path.modifier not in ("", "^~") or not bare or bare == path.value or bare in others:
            return
        if self._asked.fails or location.leads_on:
            return
        there = {"path": {"type": "ReplaceFullPath", "replaceFullPath": f"{bare}/"}, "statusCode": 301}
        body = {
            "matches": [{"path": {"type": "Exact", "value": bare}}],
            "precedence": (_EXACT, len(bare), 0, 0, 0),
            "filters": [{"type": "RequestRedirect", "requestRedirect": there}],
        }
        called = f"{name} with its slash"
        yield DoorRule(location.holder, opening, self._host, called, body, location.pointer, (), self._unknown)

    def _weights(self, path: LocationPath) -> tuple[int, int]:
        if path.modifier == "=":
            return _EXACT, len(path.value)
        if path.is_expression:
            number = next(each.place for each in self._locations if each.path == path)
            return _BY_EXPRESSION, len(self._locations) - number
        return (_BEST_PREFIX if path.modifier and self._expressions else _BEGINS), len(path.value)

    def _barred(self, path: LocationPath) -> list[dict[str, Any]]:
        """Return what a prefix with `^~` leaves to longer ones without, of which expressions may take some again."""
        if path.modifier != "^~" or not self._expressions:
            return []
        longer = (each.path for each in self._locations if not each.path.modifier and each.path.value != path.value)
        return [{"of": "path", **_taken(each), "not": True} for each in longer if begins(each, path)]

    def _snippets(self, location: _Location) -> Iterator[Guard]:
        """Yield the text of NGINX that stands at a location and at its server, which nobody reads here."""
        server = (self._server, text(self._server.spec.get("server-snippets")), ("spec", "server-snippets"))
        for holder, written, place in (location.snippets, server):
            if written:
                yield Guard(holder, {"snippets": {str(place[-1]): written}}, {("snippets",): place})


def _body(
    location: _Location, stated: Mapping[str, Any], actions: Sequence[Mapping[str, Any]], rewrites: Sequence[_Rewrite]
) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return what a route or match says as a rule, and what answers in place of a backend."""
    upstreams = {text(each.get("name")): each for each in map(mapping, sequence(location.holder.spec.get("upstreams")))}
    first, *others = actions
    if not others and (moved := _redirect(mapping(first.get("redirect")))):
        return {"filters": [{"type": "RequestRedirect", "requestRedirect": moved}]}, ()
    if not others and isinstance(first.get("return"), dict):
        code = first["return"].get("code")
        return {}, (answering(location.holder, code if isinstance(code, int) else 200),)
    weights = [mapping(each).get("weight", 1) for each in sequence(stated.get("splits"))] or [1]
    found = [upstreams.get(upstream_of(action)) for action in actions]
    references = [
        {**_service(upstream), "weight": weight}
        | ({FAILS: "its path is rewritten and looked for again"} if goes.loops else {})
        for upstream, weight, goes in zip(found, weights, rewrites, strict=True)
        if upstream is not None
    ]
    body: dict[str, Any] = {"backendRefs": references}
    if rewrites[0].path and not others:
        body["filters"] = [{"type": "URLRewrite", "urlRewrite": {"path": rewrites[0].path}}]
    called = [upstream_of(action) for action, upstream in zip(actions, found, strict=True) if upstream is None]
    if variable := next(filter(is_symbolic, (*called, *(upstreams if called else ()))), ""):
        body["backendRefs"] = variable
    place = (*location.pointer, "splits")
    return body, (Guard(location.holder, {"unread": "splits"}, {("unread",): place}),) if None in found else ()


def _rewrite(location: _Location, action: Mapping[str, Any]) -> _Rewrite:
    """Return what an action makes of the path of requests.

    What is led on within a server has its path set again, and an expression is to replace it that begins as the path is
    written: with its modifier, which is found nowhere, so that the new path is located once more.

    Source: virtualserver.go, generateRewrites and generateProxyPassRewrite.
    """
    path, target = location.path, text(mapping(action.get("proxy")).get("rewritePath"))
    if not target:
        return _Rewrite()
    if location.leads_on and path.modifier in ("=", "^~"):
        return _Rewrite(loops=True)
    pattern, by = f"{plain(path.value)}(.*)", f"{target}${{1}}"
    if path.is_expression:
        pattern, by = path.value, _GROUPS.sub(r"${\1}", target)
    replaced = {"type": "Captured", "replaceCaptured": {"pattern": pattern, "by": by}}
    return _Rewrite(replaced, ends=location.leads_on or path.is_expression)


def _rewritten_where(location: _Location, rewrites: Iterable[_Rewrite]) -> str:
    """Return the paths of which a rewrite within the server finds its expression at their beginning, in the case that
    is written, where the location takes others as well; "" where it does not. For these NGINX looks again and again.

    Source: virtualserver.go, generateRewrites: `rewrite ^ $request_uri_no_args`, then `rewrite "^EXPRESSION" … break`.
    """
    path = location.path
    takes_all = not path.is_expression or (path.modifier == "~" and path.value.startswith("^"))
    if takes_all or not location.leads_on or not any(each.path for each in rewrites):
        return ""
    return f"(?:{path.value.removeprefix('^')}).*"


def _shown(asked_for: Iterable[Guard], opening: Opening) -> tuple[Guard, ...]:
    """Return what is asked at a port: certificates are shown where there is TLS."""
    certificates = ("clientCertificate", "optionalClientCertificate") if opening.scheme == "http" else ()
    return tuple(guard.without(certificates) for guard in asked_for)


def _actions(stated: Mapping[str, Any]) -> list[tuple[Pointer, Mapping[str, Any]]]:
    """Return the actions of a route or match, each with its place there: one, or those of its splits."""
    splits = [mapping(mapping(each).get("action")) for each in sequence(stated.get("splits"))]
    places: list[Pointer] = [("splits", number, "action") for number in range(len(splits))]
    return [*zip(places, splits, strict=True)] or [(("action",), mapping(stated.get("action")))]


def _service(upstream: Mapping[str, Any]) -> dict[str, Any]:
    namespace, _, name = text(upstream.get("service")).rpartition("/")
    return {"name": name, "port": upstream.get("port", 80), **({"namespace": namespace} if namespace else {})}


def _redirect(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a redirect leads, as far as no variable stands there."""
    if not stated:
        return {}
    code = stated.get("code")
    moved: dict[str, Any] = {"statusCode": code if isinstance(code, int) else 301}
    found = _URL.fullmatch(text(stated.get("url")))
    if found is None:
        return moved
    scheme, host, port, path = found.groups()
    if not scheme.startswith("$"):
        moved["scheme"] = scheme
    if not host.startswith("$"):
        moved["hostname"] = host
    if port:
        moved["port"] = int(port)
    if "$" not in path:
        moved |= {"path": {"type": "ReplaceFullPath", "replaceFullPath": path or "/"}, "dropsQuery": True}
    return moved


def _taken(path: LocationPath) -> dict[str, str]:
    """Return the paths that a location takes."""
    if path.modifier == "=":
        return {"type": "Exact", "value": path.value}
    if path.is_expression:
        pattern = f"{'(?i)' if path.modifier == '~*' else ''}{path.value}"
        return {"type": FOREIGN if expression(pattern).refusal else EXPRESSION, "value": searched(pattern)}
    return {"type": PREFIX, "value": "/"} if path.value == "/" else _text_prefix(path.value)


def _text_prefix(value: str) -> dict[str, str]:
    return {"type": EXPRESSION, "value": f"{plain(value)}.*"}


def _condition(stated: Mapping[str, Any], opening: Opening) -> dict[str, Any]:
    """Return a condition of a match: texts are compared without case, `~` begins an expression, `!` what must not be.

    Source: nginx.org, ngx_http_map_module; virtualserver.go, generateValueForMatchesRouteMap.
    """
    value = text(stated.get("value"))
    negated = value.startswith("!")
    value = value.removeprefix("!")
    pattern = f"(?i){plain(value)}"
    if value.startswith("~"):
        bare = value.removeprefix("~").removeprefix("*")
        pattern = searched(f"{'(?i)' if value.startswith('~*') else ''}{bare}")
    of, variable = "", text(stated.get("variable"))
    if header := text(stated.get("header")):
        of = f"header {header.lower()}"
    elif argument := text(stated.get("argument")):
        of = f"query {argument}"
    elif cookie := text(stated.get("cookie")):
        of, pattern = "header cookie", f"(?:.*; *)?{plain(cookie)}=(?:{pattern})(?: *;.*)?"
        pattern = f"(?i){pattern.replace('(?i)', '')}" if "(?i)" in pattern else pattern
    elif variable == "$request_method":
        of = "method"
    elif variable == "$scheme" and not value.startswith("~"):
        holds = (value.lower() == opening.scheme) is not negated
        return {"of": "path", "type": EXPRESSION, "value": ".*", **({} if holds else {"not": True})}
    if not of or not value or expression(pattern).refusal:
        return {"of": "path", "type": FOREIGN, "value": f"{dict(stated)}"}
    return {"of": of, "type": EXPRESSION, "value": pattern, **({"not": True} if negated else {})}
