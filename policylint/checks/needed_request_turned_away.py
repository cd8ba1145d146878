"""GWP316 needed-request-turned-away: requests that a login or a certificate depends on, and that get no answer.

Which requests those are stands in the manifests: the callback of a login (`sessions.callback` of its kind), the issuer
of tokens (what the catalog calls an anchor), the challenges of cert-manager. They are traced as any others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policylint.catalog.content import places
from policylint.checks.kit.askers import Askers, TurningAway
from policylint.checks.kit.challenges import (
    CERTIFICATES,
    CHALLENGE,
    MOST_HOSTS,
    NAMED_BY,
    PORT,
    SOLVER,
    Challenge,
    asked_at,
    challenges,
    issuers,
    solving,
)
from policylint.checks.kit.locations import path
from policylint.checks.kit.tracing import tracer_of
from policylint.checks.needs import IN_PLACE
from policylint.documents import Pointer
from policylint.doors import with_doors
from policylint.doors.dead_ends import dead_ends
from policylint.doors.peculiar import ENTRIES
from policylint.model import Finding, Resource, ResourceKey, is_symbolic, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.model.spelling import spelled
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import CLIENT
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation, simulate
from policylint.topology import ListenerState, RouteState
from policylint.topology.ancestry import gateways_above
from policylint.trace import Request, Trace, Tracer
from policylint.trace.hosts import serves

RULE = "GWP316"
_SCHEMES = {"HTTP": "http", "HTTPS": "https"}
_OF_REQUESTS = "%REQ("
_ANYWHERE = "203.0.113.77"
"""Where the servers of a certificate authority ask from, who say no addresses."""


class _Door(NamedTuple):
    """A Gateway, with a scheme and a port of it at which a host is asked for."""

    gateway: ResourceKey
    scheme: str
    port: int


class _Wanting(NamedTuple):
    """A policy that takes tokens of a host, where requests for that are asked for something themselves."""

    state: PolicyState
    pointer: Pointer
    asker: TurningAway
    host: str
    request: str
    route: ResourceKey
    gateway: ResourceKey


def check(simulation: Simulation) -> Iterator[Finding]:
    tracer = tracer_of(simulation)
    askers = Askers(tracer)
    wanting: dict[tuple[ResourceKey, str], list[_Wanting]] = {}
    for state in simulation.policies.values():
        if not state.invalid_code:
            yield from _callbacks(tracer, state)
            for each in _issuers(askers, state):
                wanting.setdefault((each.asker.by.key, each.host), []).append(each)
    for found in wanting.values():
        yield _of_issuer(found)
    yield from _challenges(simulation)
    yield from _by_ingress(simulation)
    yield from _in_place(simulation)


def _doors(tracer: Tracer, gateways: Iterable[ResourceKey], host: str, schemes: tuple[str, ...]) -> Iterator[_Door]:
    """Yield where some Gateways take requests for a host."""
    for key in gateways:
        state = tracer.topology.gateway(key)
        for listener in () if state is None else tracer.listeners(state):
            scheme = _SCHEMES.get(listener.protocol, "")
            if scheme in schemes and listener.port is not None and serves(host, listener.hostname):
                yield _Door(key, scheme, listener.port)


def _asked(tracer: Tracer, door: _Door, host: str, at: str, address: str = "") -> Trace:
    sni, gateway = host if door.scheme == "https" else "", spelled(door.gateway)
    request = Request(scheme=door.scheme, host=host, path=at, port=door.port, gateway=gateway, sni=sni)
    return tracer.trace(request._replace(address=address))


def _callbacks(tracer: Tracer, state: PolicyState) -> Iterator[Finding]:
    """Yield a finding where nothing that a login is on answers the requests that end it."""
    sessions = state.kind.sessions
    login = mapping(state.policy.spec.get(sessions.path)) if sessions is not None and state.groups else {}
    if sessions is None or not sessions.callback or not login:
        return
    written = text(login.get(sessions.callback)) or sessions.otherwise
    host, at, schemes = _parts(written)
    if is_symbolic(written) or not at:
        return
    routes = [route for key in sorted(_routes(state)) if (route := tracer.topology.route(key)) is not None]
    gateways = sorted({key for route in routes for key in gateways_above(tracer.topology, route.route.key)})
    for name in (host,) if host else _hosts(routes):
        doors = list(_doors(tracer, gateways, name, schemes))
        doors = doors or list(_doors(tracer, gateways, name, tuple(_SCHEMES.values())))  # TLS may end in front of it
        traces = [_asked(tracer, door, name, at) for door in doors]
        if not traces or any(trace.outcome.unknown or _acts(trace, state) for trace in traces):
            continue
        trace = traces[0]
        stated = sessions.callback in login
        field = f"{sessions.path}.{sessions.callback}"
        why = "no route takes it" if trace.route is None else f"it goes to {trace.route.key}, where this does not apply"
        place: Pointer = ("spec", *sessions.path.split("."), *((sessions.callback,) if stated else ()))
        yield Finding(
            RULE,
            "warning",
            f"logins of {state.key} end with {trace.outcome.status or 'the wrong answer'}: "
            f"the callback {trace.request} does not reach it",
            state.policy.location(*place, key=not stated),
            resources=(state.key, *(() if trace.route is None else (trace.route.key,))),
            label=why if stated else f"{why}; `{field}` is {written} by default",
            help=(f"fix: set `{field}` to a path of a route that this targets, or give the callback a route",),
            field=path(place),
        )
        return


def _parts(url: str) -> tuple[str, str, tuple[str, ...]]:
    """Return host ("" for that of the request), path and schemes of a URL, which may name parts of the request."""
    scheme, mark, rest = url.partition("://")
    host, slash, at = (rest if mark else url).partition("/")
    known = (scheme,) if scheme in ("http", "https") else ("https", "http")
    return "" if _OF_REQUESTS in host else host.partition(":")[0], slash + at, known


def _routes(state: PolicyState) -> set[ResourceKey]:
    return {key for group in state.groups for key in group.routes()}


def _hosts(routes: Iterable[RouteState]) -> list[str]:
    """Return the hosts that routes name in full."""
    named = {host for route in routes for host in route.hostnames if host and not host.startswith("*")}
    return sorted(host for host in named if not is_symbolic(host))[:MOST_HOSTS]


def _acts(trace: Trace, state: PolicyState) -> bool:
    """Return whether a login acts on a request, or another of its kind, which may be meant as the same."""
    login = "" if state.kind.sessions is None else state.kind.sessions.path
    return trace.failed_by == state.key or any(
        met.group.kind is state.kind and login in met.group.effective.spec for met in trace.policies
    )


def _issuers(askers: Askers, state: PolicyState) -> Iterator[_Wanting]:
    """Yield where whoever wants a token needs one first."""
    tracer = askers.tracer
    for pointer, url in _anchors(state):
        host, at, schemes = _parts(url)
        gateways = sorted({key for route in _serving(tracer, host) for key in gateways_above(tracer.topology, route)})
        for door in _doors(tracer, gateways, host, schemes):
            trace = _asked(tracer, door, host, at or "/")
            if trace.route is None or host not in tracer.topology.route(trace.route.key).hostnames:  # type: ignore[union-attr]
                continue
            asker = askers.of(trace)
            if asker is not None and asker.kind.implementation == state.kind.implementation:
                yield _Wanting(state, pointer, asker, host, str(trace.request), trace.route.key, door.gateway)
                return


def _of_issuer(wanting: list[_Wanting]) -> Finding:
    """Return the finding of one policy that asks where tokens come from, for all that take these tokens."""
    first = wanting[0]
    takers = list(dict.fromkeys(each.state.key for each in wanting))
    verb = "takes" if len(takers) == 1 else "take"
    return _turning(
        first.asker,
        "where tokens come from",
        first.request,
        resources=(*takers, first.route, first.gateway),
        label=f"{listing(takers, most=3)} {verb} tokens of {first.host}, which {first.route} serves",
        help_=f"fix: let requests for {first.host} through without a login",
        field=path(first.pointer),
    )


def _turning(
    asker: TurningAway,
    where: str,
    request: str,
    *,
    resources: tuple[ResourceKey, ...],
    label: str,
    help_: str,
    field: str,
    listed: bool = False,
) -> Finding:
    """Return the finding of a policy that asks where nothing can be shown yet: a note where a service has the word.

    Args:
        listed: whether it is the address that it goes by.
    """
    asks = (
        "asks a service outside" if asker.outside else "lets in some addresses only" if listed else "asks for a login"
    )
    becomes = f"it may turn {request} away" if asker.outside else f"{request} is turned away without one"
    return Finding(
        RULE,
        "note" if asker.outside else "warning",
        f"{asker.by.key} {asks} {where}" + (f": {becomes}" if request else ""),
        asker.by.name_location,
        resources=tuple(dict.fromkeys((asker.by.key, *resources))),
        label=label,
        help=(help_,),
        confidence="assumed" if asker.outside else "certain",
        ground="no manifest says what that service answers" if asker.outside else "",
        field=field,
    )


def _anchors(state: PolicyState) -> Iterator[tuple[Pointer, str]]:
    """Yield the URLs of who vouches for users, as the catalog names their fields."""
    for weakness in state.kind.weaker:
        if weakness.anchor:
            for pointer, value in places(state.policy.spec, weakness.path, ("spec",)):
                if text(value).startswith(("https://", "http://")):
                    yield pointer, text(value)


def _serving(tracer: Tracer, host: str) -> list[ResourceKey]:
    return [route.route.key for route in tracer.topology.routes if host in route.hostnames]


def _challenges(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each issuer whose challenges would be asked for a login, once per policy that asks."""
    for issuer in issuers(simulation.world):
        wanted = [each for each in challenges(simulation.world, issuer) if each.parents]
        if not wanted:
            continue
        named = ((f"cm-acme-http-solver-{number}", each) for number, each in enumerate(wanted[:MOST_HOSTS]))
        made = [made for name, each in named for made in solving(issuer, name, each)]
        later = simulate(simulation.world.with_resources({each.key: each for each in made}), simulation.catalog)
        routes = dict(zip((each.key for each in made if each.key.kind == "HTTPRoute"), wanted, strict=False))
        finding = next(_turned_away(Tracer(later, nearest=False), issuer, routes), None)
        if finding is not None:
            yield finding


def _by_ingress(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each issuer whose challenges do not get to the Ingress that cert-manager makes for them, once
    for what is in the way.

    Source: cert-manager pkg/issuer/acme/http/ingress.go, buildIngressResource: an Ingress of the solver's class, with
    the host and the path of the token.
    """
    for issuer in issuers(simulation.world):
        wanted = [each for each in challenges(simulation.world, issuer) if each.solver is not None][:MOST_HOSTS]
        if not wanted:
            continue
        names = [f"cm-acme-http-solver-{number}" for number in range(len(wanted))]
        made = [made for name, each in zip(names, wanted, strict=True) for made in solving(issuer, name, each)]
        there = (each for kind in ENTRIES for each in simulation.world.of_kind(*kind) if not each.created)
        changed = {each.key: each for each in (*map(_as_older, there), *made)}
        later = simulate(simulation.world.with_resources(changed), simulation.catalog)
        tracer = Tracer(with_doors(later), nearest=False)
        told = (_of_ingress(tracer, issuer, *each) for each in zip(names, wanted, strict=True))
        if (finding := next(filter(None, told), None)) is not None:
            yield finding


def _as_older(resource: Resource) -> Resource:
    """Return an object as one that is older than what cert-manager makes, as what needs the certificate is."""
    metadata = {**resource.metadata, "creationTimestamp": "2000-01-01T00:00:00Z"}
    return resource.replaced(body={**resource.body, "metadata": metadata})


def _of_ingress(tracer: Tracer, issuer: Resource, name: str, challenge: Challenge) -> Finding | None:
    own = ResourceKey(*INGRESS, challenge.namespace, name)
    ways = [state for state in tracer.topology.routes if state.route.key == own and state.attached]
    if not ways:  # somebody else has its host, or nobody here reads Ingresses of its class
        lost = next((each for each in dead_ends(tracer.simulation.world) if each.holder.key == own), None)
        about = () if lost is None else lost.about
        said = "" if lost is None else f"the Ingress that cert-manager makes {lost.does}"
        return None if lost is None else _unanswered(issuer, challenge.host, about, said)
    request = Request(host=challenge.host, path=asked_at(name), port=80, address=_ANYWHERE)
    trace = tracer.trace(request)
    if trace.outcome.redirect is not None and trace.outcome.redirect.scheme == "https":
        trace = tracer.trace(request._replace(scheme="https", port=443, sni=challenge.host))
    if trace.outcome.unknown or trace.outcome.redirect is not None:
        return None
    if trace.is_cut_off:
        return _cut_off(issuer, challenge.host, trace)
    if trace.route is not None and trace.route.key == own:
        found = Askers(tracer).of(trace)
        if found is None:
            return None
        return _turning(
            found,
            f"where ACME challenges of {issuer.key} are answered",
            "",
            resources=(issuer.key,),
            label=f"this applies to the Ingress that cert-manager makes for {challenge.host}",
            help_=f"fix: let requests for `{CHALLENGE}` through {_from_whom(tracer, trace)}",
            field="",
            listed=_is_listed(tracer, trace),
        )
    if trace.route is None or trace.gateway not in {state.gateway for state in ways[0].parents}:
        return None
    label = f"{trace.route.key} takes them, and not the Ingress that cert-manager makes"
    return _unanswered(issuer, challenge.host, (trace.route.key,), label)


def _unanswered(issuer: Resource, host: str, about: tuple[ResourceKey, ...], label: str) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"ACME challenges of {issuer.key} for {host} are not answered",
        issuer.name_location,
        resources=(issuer.key, *about),
        label=label,
        help=("fix: have those who are there leave these requests to others, or solve challenges by DNS",),
        field="",
    )


def _turned_away(tracer: Tracer, issuer: Resource, routes: Mapping[ResourceKey, Challenge]) -> Iterator[Finding]:
    askers = Askers(tracer)
    for state in (each for each in tracer.topology.routes if each.route.key in routes):
        gateways = {each.gateway for each in state.parents if each.gateway is not None}
        for host in state.hostnames:
            doors = list(_doors(tracer, sorted(gateways), host, ("http",)))
            traces = [_asked(tracer, door, host, asked_at(state.route.key.name), _ANYWHERE) for door in doors]
            answered = [each for each in traces if each.route is not None and each.route.key == state.route.key]
            found = next(((each, by) for each in answered if (by := askers.of(each)) is not None), None)
            if found is not None:
                yield _turning(
                    found[1],
                    f"where ACME challenges of {issuer.key} are answered",
                    "",
                    resources=(issuer.key, doors[0].gateway),
                    label=f"this applies to the route that cert-manager makes for {host} at {doors[0].gateway}",
                    help_=f"fix: let requests for `{CHALLENGE}` through {_from_whom(tracer, found[0])}",
                    field="",
                    listed=_is_listed(tracer, found[0]),
                )
            elif answered and all(each.is_cut_off for each in answered):
                yield _cut_off(issuer, host, answered[0])
            elif routes[state.route.key].is_answered_there and not any(True for _ in _plain(tracer, state)):
                continue  # GWP412 tells it at the annotation
            elif not answered and _is_unanswered(tracer, gateways, traces, host):
                yield _not_let_in(tracer, issuer, state, gateways)


def _is_listed(tracer: Tracer, trace: Trace) -> bool:
    """Return whether a request is turned away for the address that it comes from."""
    if trace.denied is None:
        return False
    blind = tracer.trace(trace.request._replace(address=""))
    return blind.denied is None and any(each.name == CLIENT for each in blind.questions)


def _from_whom(tracer: Tracer, trace: Trace) -> str:
    return (
        "from every address, since those of the authority are not published"
        if _is_listed(tracer, trace)
        else ("without a login")
    )


def _is_unanswered(tracer: Tracer, gateways: set[ResourceKey], traces: list[Trace], host: str) -> bool:
    """Return whether nobody answers the requests for a host, as far as all ways in were seen: neither the Gateways of
    the route that cert-manager makes, nor whoever may redirect them there."""
    states = [tracer.topology.gateway(key) for key in sorted(gateways)]
    if not gateways or any(each is None for each in states) or any(each.outcome.unknown for each in traces):
        return False
    request = Request(host=host, path=f"{CHALLENGE}token", port=80, address=_ANYWHERE)
    elsewhere = tracer.trace(request).outcome
    return not elsewhere.unknown and not elsewhere.answered


def _not_let_in(tracer: Tracer, issuer: Resource, state: RouteState, gateways: set[ResourceKey]) -> Finding:
    """Return the finding of a route of cert-manager that gets none of the requests."""
    host = state.hostnames[0]
    causes = (each.message for parent in state.parents for each in parent.candidates if each.message)
    are_open = any(serves(host, each.hostname) for each in _plain(tracer, state))
    named = listing(sorted({parent.wanted for parent in state.parents}), most=3)
    why = (next(causes, "") if are_open else "") or f"no listener of {named} takes requests for {host} without TLS"
    fix = "let the HTTP listener take routes of the namespaces of the Certificates (`allowedRoutes`)"
    if not are_open:
        fix = f"have a listener for HTTP on port 80 at {named}, or name one that has it in the issuer's `parentRefs`"
    return Finding(
        RULE,
        "warning",
        f"ACME challenges of {issuer.key} for {host} are not answered",
        issuer.name_location,
        resources=(issuer.key, *sorted(gateways)),
        label=f"the route that cert-manager makes gets none of them: {why}",
        help=(f"fix: {fix}",),
        field="",
    )


def _plain(tracer: Tracer, state: RouteState) -> Iterator[ListenerState]:
    """Yield the listeners without TLS of what a route names."""
    for parent in state.parents:
        gateway = None if parent.gateway is None else tracer.topology.gateway(parent.gateway)
        for listener in () if gateway is None else tracer.listeners(gateway):
            if listener.holder.key == parent.wanted and listener.protocol == "HTTP":
                yield listener


def _cut_off(issuer: Resource, host: str, trace: Trace) -> Finding:
    """Return the finding of a pod of cert-manager that network policies keep the Gateway from."""
    return Finding(
        RULE,
        "warning",
        f"ACME challenges of {issuer.key} for {host} are not answered",
        issuer.name_location,
        resources=(issuer.key, *(() if trace.gateway is None else (trace.gateway,))),
        label=f"the pod that cert-manager starts listens on {PORT}: {trace.outcome.reason}",
        help=(f"fix: let the Gateway connect to pods with the label {next(iter(SOLVER))} on port {PORT}",),
        field="",
    )


def _in_place(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each Ingress that cert-manager adds the path of a challenge to, and that asks there, too.

    Source: cert-manager.io/docs/usage/ingress, `http01-edit-in-place`; pkg/issuer/acme/http/ingress.go,
    addChallengePathToIngress.
    """
    for ingress in simulation.world.of_kind(*INGRESS):
        issuer = next((kind for name, kind in NAMED_BY if ingress.annotations.get(name)), "")
        if ingress.annotations.get(IN_PLACE) not in ("true", True) or not issuer:
            continue
        if _is_by_dns(simulation, ingress):
            continue
        tls = map(mapping, sequence(ingress.spec.get("tls")))
        hosts = [host for each in tls for host in texts(each.get("hosts")) if not host.startswith("*")]
        hosts = [host for host in dict.fromkeys(hosts) if not is_symbolic(host)][:MOST_HOSTS]
        made = [_with_challenges(ingress, hosts), *_solver_of(ingress)]
        later = simulate(simulation.world.with_resources({each.key: each for each in made}), simulation.catalog)
        tracer = Tracer(with_doors(later), nearest=False)
        for host in hosts:
            request = Request(host=host, path=f"{CHALLENGE}token", port=80, address=_ANYWHERE)
            trace = tracer.trace(request)
            if trace.outcome.redirect is not None and trace.outcome.redirect.scheme == "https":
                trace = tracer.trace(request._replace(scheme="https", port=443, sni=host))
            policy = Askers(tracer).of(trace)
            if policy is None or trace.outcome.unknown:
                continue
            yield _turning(
                policy,
                "where ACME challenges are answered",
                "",
                resources=(ingress.key,),
                label=f"{IN_PLACE} has cert-manager answer those for {host} in this Ingress, where it applies",
                help_="fix: solve challenges by DNS, or give the paths that ask an Ingress of their own",
                field="",
                listed=_is_listed(tracer, trace),
            )
            break


def _is_by_dns(simulation: Simulation, ingress: Resource) -> bool:
    """Return whether the issuer that an Ingress names was seen, and solves no challenge over HTTP."""
    for annotation, kind in NAMED_BY:
        name = text(ingress.annotations.get(annotation))
        key = ResourceKey(CERTIFICATES, kind, "" if kind == "ClusterIssuer" else ingress.key.namespace, name)
        issuer = simulation.world.get(key) if name else None
        if issuer is not None:
            solvers = sequence(mapping(issuer.spec.get("acme")).get("solvers"))
            return not any(mapping(each).get("http01") for each in solvers)
    return False


def _with_challenges(ingress: Resource, hosts: list[str]) -> Resource:
    """Return an Ingress as it is while cert-manager answers challenges in it."""
    service = {"name": f"cm-acme-http-solver-{ingress.key.name}", "port": {"number": PORT}}
    path = {"path": f"{CHALLENGE}token", "pathType": "Exact", "backend": {"service": service}}
    rules = [{"host": host, "http": {"paths": [path]}} for host in hosts]
    spec = {**ingress.spec, "rules": [*rules, *sequence(ingress.spec.get("rules"))]}
    return ingress.replaced(body={**ingress.body, "spec": spec})


def _solver_of(ingress: Resource) -> Iterator[Resource]:
    made = solving(ingress, f"cm-acme-http-solver-{ingress.key.name}", Challenge("", ingress.key.namespace))
    yield from (each for each in made if each.key.kind != "HTTPRoute")
