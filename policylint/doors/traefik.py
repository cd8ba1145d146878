"""Traefik's IngressRoutes as doors: rules in its own language, by priority, with the Middlewares that they name.

Source: doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd/http/ingressroute, .../http/routing/rules;
.../install-configuration/providers/kubernetes/kubernetes-crd (allowCrossNamespace; without it there is no router for a
rule that names an object of another namespace: traefik/traefik#8380, #11517, #12976).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.doors.lowered import EVERYTHING, Door, DoorRule, Guard, Opening, door, made_of, plain
from policylint.doors.vendors import guards
from policylint.matches import FOREIGN
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.spaces.predicates import EXPRESSION, PREFIX
from policylint.topology import BackendState
from policylint.topology.workloads import pod_spec

KIND = ("traefik.io", "IngressRoute")
_DOOR = ResourceKey("traefik.io", "EntryPoints", "", "traefik")
_CONTROLLER = "traefik.io/ingress-controller"
_OPENINGS = {"web": Opening("http", 80), "websecure": Opening("https", 443)}
_OF_ITS_OWN = 0
"""The port of an entry point whose port no manifest states."""
_ASKING = frozenset({"RequireAnyClientCert", "RequireAndVerifyClientCert"})
_SAME_PROVIDER = "@kubernetescrd"
_CROSSING = "--providers.kubernetescrd.allowcrossnamespace"
_OF_CRDS = "--providers.kubernetescrd"
_TOKEN = Pattern(r"\s*(&&|\|\||!|\(|\)|,|[A-Za-z]\w*|`[^`]*`|\"[^\"]*\")")
_MOST = 64
"""Alternatives of one rule, beyond which it is not read."""
Backends = Callable[[Resource, Collection[ResourceKey]], tuple[BackendState, ...]]


class Matcher(NamedTuple):
    """One call of a rule: ``Host(`a`)``; `negated` where a `!` is before it."""

    name: str
    arguments: tuple[str, ...]
    negated: bool = False


Alternatives = list[tuple[Matcher, ...]]


def traefik_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the entry points of Traefik, where there are IngressRoutes."""
    routes = world.of_kind(*KIND)
    if routes:
        holder = made_of(routes[0], {}, {}, _DOOR)
        crossing = _allows_crossing(world)
        rules = [rule for route in routes for rule in _rules(world, route, crossing=crossing)]
        openings = tuple(_OPENINGS.values())
        yield door(holder, _CONTROLLER, rules, guards(), lambda route: backends(route, EVERYTHING), openings)


def _allows_crossing(world: World) -> bool | None:
    """Return whether rules may name objects of other namespaces; None where no arguments of Traefik were seen."""
    asked = None
    for kind in ("Deployment", "DaemonSet"):
        for workload in world.of_kind("apps", kind):
            for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
                said = [argument.lower() for argument in texts(container.get("args"))]
                if any(argument in (_CROSSING, f"{_CROSSING}=true") for argument in said):
                    return True
                asked = False if any(argument.startswith(_OF_CRDS) for argument in said) else asked
    return asked


def _crosses(world: World, ingress: Resource, route: Mapping[str, Any]) -> str:
    """Return the object of another namespace that a rule names, in words; "" where it names none."""
    home = ingress.key.namespace
    for service in map(mapping, sequence(route.get("services"))):
        if text(service.get("namespace")) not in ("", home):
            return f"{text(service.get('kind'), 'Service')} {service['namespace']}/{text(service.get('name'))}"
    for middleware in map(mapping, sequence(route.get("middlewares"))):
        name, namespace = text(middleware.get("name")), text(middleware.get("namespace")) or home
        if name.endswith(_SAME_PROVIDER):
            return f"Middleware {name}"
        if "@" not in name and namespace != home:
            return f"Middleware {namespace}/{name}"
        found = world.get(ResourceKey(KIND[0], "Middleware", home, name))
        chain = mapping(mapping(found.spec if found is not None else {}).get("chain"))
        for member in map(mapping, sequence(chain.get("middlewares"))):
            if text(member.get("namespace")) not in ("", home):
                return f"Middleware {member['namespace']}/{text(member.get('name'))}, by its chain {home}/{name},"
    return ""


def _rules(world: World, ingress: Resource, *, crossing: bool | None) -> Iterator[DoorRule]:
    for number, route in enumerate(map(mapping, sequence(ingress.spec.get("routes")))):
        crossed = "" if crossing else _crosses(world, ingress, route)
        if crossed and crossing is False:
            continue
        unknown = f"it names {crossed} of another namespace, which Traefik takes only with allowCrossNamespace"
        written = text(route.get("match"))
        priority = route.get("priority")
        rank = priority if isinstance(priority, int) and priority else len(written)
        body, asked = _body(world, ingress, route, number)
        pointer: Pointer = ("spec", "routes", number)
        read = alternatives(written)
        for further, matchers in enumerate([(Matcher("?", (written,)),)] if read is None else read):
            hosts, match = _match(matchers)
            for host in hosts:
                for opening in _openings(ingress):
                    said = {**body, "matches": [match], "precedence": (rank, 0, 0, 0, 0)}
                    name = f"route-{number}.{further}"
                    yield DoorRule(ingress, opening, host, name, said, pointer, asked, unknown if crossed else "")


def _openings(ingress: Resource) -> Iterator[Opening]:
    """Yield where a route is open: a router with TLS takes https alone, one without takes http alone."""
    secure = isinstance(ingress.spec.get("tls"), dict)
    for name in texts(ingress.spec.get("entryPoints")) or list(_OPENINGS):
        known = _OPENINGS.get(name, Opening("https" if secure else "http", _OF_ITS_OWN))
        if known.scheme == "https" or not secure:
            yield known


def _middleware(world: World, ingress: Resource, named: Mapping[str, Any]) -> ResourceKey | None:
    """Return the Middleware that a rule names, None where it is one of another provider (`auth@file`).

    `infra-auth@kubernetescrd` is Middleware `auth` of namespace `infra`, and may be `infra-auth` of another one.
    """
    name, namespace = text(named.get("name")), text(named.get("namespace")) or ingress.key.namespace
    if "@" not in name:
        return ResourceKey(KIND[0], "Middleware", namespace, name)
    spelled = name.removesuffix(_SAME_PROVIDER)
    keys = (each.key for each in world.of_kind(KIND[0], "Middleware"))
    return next((key for key in keys if name != spelled and f"{key.namespace}-{key.name}" == spelled), None)


def _body(
    world: World, ingress: Resource, route: Mapping[str, Any], number: int
) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return a route as a rule, and what is asked besides the Middlewares of this provider."""
    filters, elsewhere = [], []
    for middleware in map(mapping, sequence(route.get("middlewares"))):
        named = _middleware(world, ingress, middleware)
        if named is None:
            elsewhere.append(text(middleware.get("name")))
        else:
            reference = {"group": KIND[0], "kind": "Middleware", "name": named.name, "namespace": named.namespace}
            filters.append({"type": "ExtensionRef", "extensionRef": reference})
    place: Pointer = ("spec", "routes", number, "middlewares")
    asked = [Guard(ingress, {"unread": ", ".join(elsewhere)}, {("unread",): place})] if elsewhere else []
    options = mapping(mapping(ingress.spec.get("tls")).get("options"))
    namespace = text(options.get("namespace")) or ingress.key.namespace
    option = world.get(ResourceKey(KIND[0], "TLSOption", namespace, text(options.get("name")))) if options else None
    wanted = "" if option is None else text(mapping(option.spec.get("clientAuth")).get("clientAuthType"))
    if option is not None and wanted in _ASKING:
        there: Pointer = ("spec", "clientAuth", "clientAuthType")
        asked.append(Guard(option, {"clientCertificate": {"type": wanted}}, {("clientCertificate",): there}))
    references = [_reference(world, ingress, mapping(each)) for each in sequence(route.get("services"))]
    return {"filters": filters, "backendRefs": references}, tuple(asked)


def _reference(world: World, ingress: Resource, backend: Mapping[str, Any]) -> dict[str, Any]:
    """Return a service as routes name it: with the number of its port."""
    name, namespace = text(backend.get("name")), text(backend.get("namespace")) or ingress.key.namespace
    kind, port = text(backend.get("kind"), "Service"), backend.get("port")
    said = {"name": name, "namespace": namespace, "weight": backend.get("weight", 1)}
    if kind != "Service":
        return {**said, "group": KIND[0], "kind": kind}
    if not isinstance(port, int):
        seen = world.get(ResourceKey("", "Service", namespace, name))
        ports = [] if seen is None else [mapping(each) for each in sequence(seen.spec.get("ports"))]
        meant = [each.get("port") for each in ports if port in (None, each.get("name"))]
        port = meant[0] if meant and isinstance(meant[0], int) else 80
    return {**said, "port": port}


def _match(matchers: Sequence[Matcher]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the hosts and the match of matchers that all must hold; what cannot be said is a foreign expression."""
    hosts: tuple[str, ...] = ("",)
    said: dict[str, Any] = {"path": {"type": EXPRESSION, "value": "/.*"}}
    foreign = False
    for name, arguments, negated in matchers:
        first = arguments[0] if arguments else ""
        if negated:
            foreign = True
        elif name == "Host":
            hosts = tuple(argument.lower() for argument in arguments)
        elif name == "Path":
            said["path"] = {"type": "Exact", "value": first}
        elif name == PREFIX:  # the same word, for a prefix of the text
            said["path"] = {"type": EXPRESSION, "value": f"{plain(first)}.*"}
        elif name == "PathRegexp":
            said["path"] = {"type": EXPRESSION, "value": first if first.startswith("^") else f".*{first}.*"}
        elif name == "Method" and len(arguments) == 1:
            said["method"] = first.upper()
        elif name in ("Header", "Headers") and len(arguments) == 2:
            said.setdefault("headers", []).append({"name": first, "value": arguments[1]})
        elif name == "Query" and len(arguments) == 2:
            said.setdefault("queryParams", []).append({"name": first, "value": arguments[1]})
        else:
            foreign = True
    if foreign:
        said["path"] = {"type": FOREIGN, "value": str(matchers)}
    return hosts, said


def alternatives(written: str) -> Alternatives | None:
    """Return a rule as alternatives of matchers that all must hold; None where it is none, or too large."""
    tokens: list[str] = []
    place = 0
    while written[place:].strip():
        found = _TOKEN.match(written, place)
        if found is None:
            return None
        tokens.append(found[1])
        place = found.end()
    return _Rule(tokens).read()


class _Rule:
    """A rule of Traefik, read from its tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def read(self) -> Alternatives | None:
        """Return all of it."""
        found = self._any(negated=False)
        return found if found and len(found) <= _MOST and self._place == len(self._tokens) else None

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _taken(self, token: str) -> bool:
        if self._next() != token:
            return False
        self._place += 1
        return True

    def _any(self, *, negated: bool) -> Alternatives | None:
        """Read what `||` joins; negated, all of it must not hold."""
        found = self._all(negated=negated)
        while found is not None and self._taken("||"):
            found = _joined(found, self._all(negated=negated), every=negated)
        return found

    def _all(self, *, negated: bool) -> Alternatives | None:
        found = self._one(negated=negated)
        while found is not None and self._taken("&&"):
            found = _joined(found, self._one(negated=negated), every=not negated)
        return found

    def _one(self, *, negated: bool) -> Alternatives | None:
        if self._taken("!"):
            return self._one(negated=not negated)
        if self._taken("("):
            inner = self._any(negated=negated)
            return inner if self._taken(")") else None
        name = self._next()
        if not name[:1].isalpha():
            return None
        self._place += 1
        arguments = []
        if not self._taken("("):
            return None
        while self._next()[:1] in ("`", '"'):
            arguments.append(self._next()[1:-1])
            self._place += 1
            if not self._taken(","):
                break
        return [(Matcher(name, tuple(arguments), negated),)] if self._taken(")") else None


def _joined(first: Alternatives, second: Alternatives | None, *, every: bool) -> Alternatives | None:
    if second is None:
        return None
    if not every:
        return [*first, *second]
    return [(*one, *other) for one in first for other in second] if len(first) * len(second) <= _MOST else None
