"""Contour's HTTPProxies as doors: the host of a root, the routes of all that it includes, what is asked on them.

Source: projectcontour.io/docs/main/config: fundamentals, virtual-hosts, inclusion-delegation, request-routing,
tls-termination, client-authorization, jwt-verification, ip-filtering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

from policylint.catalog.content import places
from policylint.documents import Pointer
from policylint.doors.addresses import SETTING, counted, stated_hops, unseen
from policylint.doors.contour_conditions import (
    are_versions_crossed,
    fault_of_conditions,
    fault_of_ends,
    fault_of_services,
    faults_of_providers,
)
from policylint.doors.extensions import answering
from policylint.doors.lowered import Door, DoorRule, Guard, Opening, door, made_of, origin, timed
from policylint.doors.named import leads_out
from policylint.doors.variables import entries, host_of, is_left_open, listed, open_guards, variable_at
from policylint.doors.vendors import guards
from policylint.implementations.generic.configuration import Told, configurations, named_only
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.forged import ForgedRule
from policylint.matches import CHANCE
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts, value_at
from policylint.patterns import Pattern
from policylint.policy.client_addresses import LOGIN, PAST_PROXIES, Believed, Trust
from policylint.spaces.predicates import EXPRESSION, PREFIX
from policylint.topology import BackendState
from policylint.topology.routes import UNSEEN
from policylint.topology.secret_data import contents

KIND = ("projectcontour.io", "HTTPProxy")
_LIMITS = (("local", "requests", "rateLimit"), ("global", "descriptors", "globalRateLimit"))
"""The sorts of limits, what each must say to be one, and the setting that it is."""
_DOOR = ResourceKey(*KIND, "", "contour")._replace(kind="HTTPProxies")
_CLASSES = ("projectcontour.io/ingress.class", "kubernetes.io/ingress.class")
_CONTROLLER = "projectcontour.io/contour"
_ORIGIN = Pattern(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#@\s\\|^{}`%]+")
_HTTP, _HTTPS = Opening("http", 80), Opening("https", 443)
_DELEGATION = "TLSCertificateDelegation"
_ENDS = ("services", "requestRedirectPolicy", "directResponsePolicy")
"""What a route has one of."""
_DEEPEST = 16
"""Most inclusions within each other that are followed."""
_NAME, _TITLE = "contour", "Contour"
_HOPS = (("envoy", "network", "numTrustedHops"), ("network", "num-trusted-hops"))
"""Where the number of trusted proxies stands: for `source: Remote`; `Peer` is who connects."""
Backends = Callable[[Resource], tuple[BackendState, ...]]
Conditions = tuple[Mapping[str, Any], ...]


def contour_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the listeners of Contour's proxies, where there are HTTPProxies: of each class those of a Contour."""
    proxies = world.of_kind(*KIND)
    by_class: dict[str, list[Resource]] = {}
    for proxy in [each for each in proxies if _is_root(each)] or proxies[:1]:
        by_class.setdefault(_class_of(proxy), []).append(proxy)
    for name, roots in by_class.items():
        called = name if name and len(by_class) > 1 else _DOOR.name
        holder = made_of(roots[0], {}, {}, _DOOR._replace(name=called))
        served = [each for each in roots if _is_root(each) and not _fault(world, each)]
        rules = [rule for proxy in served for rule in _Root(world, proxy).rules()]
        taken = partial(_taken, world, backends)
        yield door(holder, _CONTROLLER, rules, guards(), taken, (_HTTP, _HTTPS))


def _is_root(proxy: Resource) -> bool:
    """Tell whether an HTTPProxy has a host of its own, or may have."""
    return bool(host_of(proxy, "virtualhost", "fqdn") or proxy.spec.get("virtualhost"))


def _taken(world: World, backends: Backends, proxy: Resource) -> tuple[BackendState, ...]:
    """Return the backends of an HTTPProxy, those marked that Contour certainly does not take."""
    found = ((each, *named_only(each.resolution.resource, world, _NAME, _TITLE)) for each in backends(proxy))
    return tuple(
        each._replace(reason="ServiceUnresolvedReference", message=why) if is_certain else each
        for each, why, is_certain in found
    )


def _names(world: World, proxy: Resource) -> Iterator[DeadEnd]:
    """Yield the services of an HTTPProxy that are names of hosts, where Contour is told of none."""
    for pointer, value in (
        *places(proxy.spec, "routes.*.services.*", ("spec",)),
        *places(proxy.spec, "tcpproxy.services.*", ("spec",)),
    ):
        service = world.get(ResourceKey("", "Service", proxy.key.namespace, text(mapping(value).get("name"))))
        why, is_certain = named_only(service, world, _NAME, _TITLE)
        if is_certain and service is not None:
            fix = "switch them on in Contour's configuration, or name a Service that selects pods"
            does = f"sends requests to {service.key}: {why}"
            yield DeadEnd(
                proxy, (*pointer, "name"), does, fix, (service.key,), then="without another service they get 503"
            )


def invalid(world: World) -> Iterator[DeadEnd]:
    """Yield the HTTPProxies that Contour takes for invalid, or their routes, and those that pass TLS to nobody."""
    yield from _not_included(world)
    yield from _unrouted(world)
    for proxy in world.of_kind(*KIND):
        yield from _names(world, proxy)
        if proxy.spec.get("virtualhost"):
            if fault := _fault(world, proxy):
                pointer, reason = fault
                then = "Contour serves nothing of it: its host is answered with 404, or not at all"
                rival = _rival(world, proxy) if pointer[-1] == "fqdn" else None
                yield DeadEnd(
                    proxy,
                    pointer,
                    f"is invalid: {reason}",
                    "take out what contradicts, or add what it lacks",
                    () if rival is None else (rival,),
                    then=then,
                )
                continue
            yield from _replaced(world, proxy)
            if _Root(world, proxy).answers_no_tls():
                place: Pointer = ("spec", "virtualhost", "tls", "passthrough")
                does = "passes TLS through (`passthrough`), and has no `tcpproxy` to take it"
                fix = "add `tcpproxy`, or name a `secretName` in place of `passthrough` where routes are to answer"
                yield DeadEnd(proxy, place, does, fix, then="no listener answers https, and http is redirected there")


def _not_included(world: World) -> Iterator[DeadEnd]:
    """Yield what an HTTPProxy includes and is not there, or has a host of its own (its conditions IncludeNotFound and
    RootIncludesRoot)."""
    for proxy in world.of_kind(*KIND):
        for number, fault in _faults_of_includes(proxy).items():
            then = "Contour leaves this include out"
            yield DeadEnd(
                proxy, ("spec", "includes", number), f"is invalid: {fault}", "take out what contradicts", then=then
            )
        for place, include in _includes(proxy):
            key = _included(proxy, include)
            then = "its requests are answered with 502"
            included = world.get(key)
            if included is not None and included.spec.get("virtualhost"):
                does = f"includes {key}, which has a host of its own (`virtualhost`)"
                fix = "include one without a host, or send requests to its Services"
                yield DeadEnd(proxy, (*place, "name"), does, fix, (key,), then=then)
            elif key.name and world.resolve(key).missing and not world.elsewhere(key):
                does, fix = f"includes {key}, which is missing", "include one that is there"
                yield DeadEnd(proxy, (*place, "name"), does, fix, (key,), then=then)


def _included(proxy: Resource, include: Mapping[str, Any]) -> ResourceKey:
    return ResourceKey(*KIND, text(include.get("namespace")) or proxy.key.namespace, text(include.get("name")))


def _faults_of_includes(proxy: Resource) -> dict[int, str]:
    """Return the includes of an HTTPProxy that Contour leaves out, by number, with what is wrong with each.

    Source: projectcontour/contour, internal/dag/httpproxy_processor.go, computeRoutes, includeMatchConditionsIdentical.
    """
    faults: dict[int, str] = {}
    seen: dict[str, int] = {}
    for number, include in enumerate(map(mapping, sequence(proxy.spec.get("includes")))):
        if is_left_open(proxy, ("spec", "includes", number)):
            continue
        conditions = [mapping(each) for each in sequence(include.get("conditions"))]
        whole = next((name for name in ("exact", "regex") for each in conditions if each.get(name)), "")
        match, _ = _match(tuple(conditions))
        if whole:
            faults[number] = f"an include takes no `{whole}`"
        elif fault := fault_of_conditions(conditions):
            faults[number] = f"an include has {fault}"
        elif match != {"path": {"type": PREFIX, "value": "/"}}:
            first = seen.setdefault(_spelled(match), number)
            if first != number:
                faults[number] = f"include {number} has the conditions of include {first}"
    return faults


def _spelled(match: Mapping[str, Any]) -> str:
    """Return a match whose conditions may stand in any order."""
    return str({name: sorted(map(str, value)) if isinstance(value, list) else value for name, value in match.items()})


def _includes(proxy: Resource) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Yield what an HTTPProxy includes, for requests and for connections."""
    for number, include in enumerate(map(mapping, sequence(proxy.spec.get("includes")))):
        yield ("spec", "includes", number), include
    for name in ("include", "includes"):  # the second one is the old name
        include = mapping(mapping(proxy.spec.get("tcpproxy")).get(name))
        if include:
            yield ("spec", "tcpproxy", name), include
            return


def _unrouted(world: World) -> Iterator[DeadEnd]:
    """Yield the HTTPProxies without a usable route, and the routes that ask for a provider of tokens that is not there.

    Envoy refuses the requests of a route whose requirement it does not know (jwt_authn, `requirement_name`).
    """
    for proxy in world.of_kind(*KIND):
        fault = None if proxy.spec.get("virtualhost") and _fault(world, proxy) else _fault_of_routes(proxy)
        if fault is not None:
            pointer, reason = fault
            then = "Contour serves none of its routes: their requests are answered with 404"
            yield DeadEnd(proxy, pointer, f"is invalid: {reason}", "take out what contradicts", then=then)
        host = mapping(proxy.spec.get("virtualhost"))
        providers = [text(mapping(each).get("name")) for each in sequence(host.get("jwtProviders"))]
        for number, route in enumerate(map(mapping, sequence(proxy.spec.get("routes")))) if host else ():
            wanted = text(mapping(route.get("jwtVerificationPolicy")).get("require"))
            if wanted and wanted not in providers:
                place: Pointer = ("spec", "routes", number, "jwtVerificationPolicy", "require")
                does = f"asks for tokens of provider {wanted}, which `jwtProviders` does not have"
                then = "Contour takes it for invalid, and Envoy refuses the requests of the route"
                yield DeadEnd(proxy, place, does, "name a provider that is there", then=then)


def _fault_of_routes(proxy: Resource) -> tuple[Pointer, str] | None:
    """Return where and why Contour serves none of the routes of an HTTPProxy.

    Source: projectcontour/contour, internal/dag/httpproxy_processor.go, computeRoutes: the first one with such a fault
    takes the others with it.
    """
    for number, route in enumerate(map(mapping, sequence(proxy.spec.get("routes")))):
        place: Pointer = ("spec", "routes", number)
        if is_left_open(proxy, place):
            continue
        ends = [each for each in _ENDS if route.get(each)]
        if len(ends) != 1:
            return place, f"a route has {' and '.join(f'`{each}`' for each in ends) or 'nothing to send requests to'}"
        if route.get("ipAllowPolicy") and route.get("ipDenyPolicy"):
            return (*place, "ipDenyPolicy"), "`ipAllowPolicy` and `ipDenyPolicy` together"
        stated = [mapping(each) for each in sequence(route.get("conditions"))]
        if fault := fault_of_conditions(stated):
            return (*place, "conditions"), f"a route has {fault}"
        whole = [name for condition in stated for name in ("exact", "regex") if condition.get(name)]
        if whole and mapping(route.get("pathRewritePolicy")).get("replacePrefix"):
            return (*place, "pathRewritePolicy"), f"`replacePrefix` where the path is matched by `{whole[0]}`"
        verification = mapping(route.get("jwtVerificationPolicy"))
        if verification.get("require") and verification.get("disabled") is True:
            return (*place, "jwtVerificationPolicy"), "`require` and `disabled` together"
        if beside := fault_of_services(route):
            return (*place, beside[0]), beside[1]
    return None


def _fault(world: World, proxy: Resource) -> tuple[Pointer, str] | None:
    """Return where and why Contour refuses an HTTPProxy with a host as a whole.

    Source: projectcontour/contour, internal/dag/httpproxy_processor.go, computeHTTPProxy; a Secret that is not
    here is not asked for.
    """
    spec, host = proxy.spec, mapping(proxy.spec.get("virtualhost"))
    at: Pointer = ("spec", "virtualhost")
    rival = _rival(world, proxy)
    tls, secret = mapping(host.get("tls")), text(mapping(host.get("tls")).get("secretName"))
    passes = tls.get("passthrough") is True
    faults: tuple[tuple[object, Pointer, str], ...] = (
        (
            not any(spec.get(each) for each in ("routes", "includes", "tcpproxy")),
            ("spec",),
            "it has no route, no include and no `tcpproxy`",
        ),
        (rival, (*at, "fqdn"), f"{rival} is for the same host, and Contour serves neither"),
        (host.get("jwtProviders") and not secret, (*at, "jwtProviders"), "`jwtProviders` where no TLS ends"),
        *faults_of_providers(host, at),
        (host.get("authorization") and "tls" not in host, (*at, "authorization"), "`authorization` without `tls`"),
        (
            host.get("ipAllowPolicy") and host.get("ipDenyPolicy"),
            (*at, "ipDenyPolicy"),
            "`ipAllowPolicy` and `ipDenyPolicy` together",
        ),
        (tls and passes and secret, (*at, "tls", "passthrough"), "`passthrough` and `secretName` together"),
        (
            are_versions_crossed(tls),
            (*at, "tls", "maximumProtocolVersion"),
            "`maximumProtocolVersion` below the minimum",
        ),
        (
            isinstance(host.get("tls"), dict) and not passes and not secret,
            (*at, "tls"),
            "`tls` with neither `passthrough` nor `secretName`",
        ),
        (
            passes and tls.get("clientValidation"),
            (*at, "tls", "clientValidation"),
            "`clientValidation` where TLS is passed through",
        ),
        *(
            (tls.get("enableFallbackCertificate") is True and beside, (*at, "tls", "enableFallbackCertificate"), words)
            for beside, words in (
                (passes, "`enableFallbackCertificate` where TLS is passed through"),
                (tls.get("clientValidation"), "`enableFallbackCertificate` and `clientValidation` together"),
                (host.get("authorization"), "`enableFallbackCertificate` and `authorization` together"),
                (host.get("jwtProviders"), "`enableFallbackCertificate` and `jwtProviders` together"),
            )
        ),
        *_undelegated(world, proxy, host),
        (_incomplete(world, proxy, secret), (*at, "tls", "secretName"), _incomplete(world, proxy, secret)),
        (spec.get("tcpproxy") and "tls" not in host, ("spec", "tcpproxy"), "`tcpproxy` without `tls`"),
        (fault_of_ends(spec.get("tcpproxy")), ("spec", "tcpproxy"), fault_of_ends(spec.get("tcpproxy"))),
    )
    return next(((place, reason) for found, place, reason in faults if found and not is_left_open(proxy, place)), None)


def _rival(world: World, proxy: Resource) -> ResourceKey | None:
    """Return another HTTPProxy with the host of this one, for the same Contour (its condition DuplicateVhost)."""
    named, of_class = _host(proxy), _class_of(proxy)
    others = (
        each.key
        for each in world.of_kind(*KIND)
        if each.key != proxy.key and _host(each) == named and _class_of(each) == of_class
    )
    return next(others, None) if named and not is_symbolic(named) else None


def forgeable(world: World) -> Iterator[ForgedRule]:
    """Yield the lists of addresses that are held against what proxies before Contour say, which it trusts in numbers.

    Source: projectcontour.io/docs, «IP filtering»; Envoy's documentation of HTTP headers, xff_num_trusted_hops.
    """
    trusting = next((each for each in stated_hops(world, _NAME, *_HOPS) if each.hops), None)
    for proxy in world.of_kind(*KIND) if trusting is not None else ():
        found = (places(proxy.spec, f"**.{field}", ("spec",)) for field in ("ipAllowPolicy", "ipDenyPolicy"))
        for pointer, stated in chain.from_iterable(found):
            if trusting is not None and any(mapping(each).get("source") == "Remote" for each in sequence(stated)):
                why = PAST_PROXIES.replace("the Gateway", "Envoy")
                trust = Trust((trusting.field,), why, certain=False, fix=f"keep other clients from Envoy, {LOGIN}")
                believed = Believed(trusting.holder, trusting.holder.location(*trusting.place), trust)
                yield ForgedRule(believed, proxy.location(*pointer), proxy, proxy)


def _host(proxy: Resource) -> str:
    return text(mapping(proxy.spec.get("virtualhost")).get("fqdn")).lower()


def _class_of(proxy: Resource) -> str:
    """Return the class by which one of several Contours reads an object; "" for those that are told none.

    Source: projectcontour/contour, internal/annotation/annotations.go (IngressClass), internal/ingressclass.
    """
    stated = next((text(proxy.annotations[each]) for each in _CLASSES if each in proxy.annotations), "")
    of_class = stated or text(proxy.spec.get("ingressClassName"))
    return "" if of_class == _DOOR.name else of_class


def _incomplete(world: World, proxy: Resource, secret: str) -> str:
    """Return what a Secret lacks that Contour takes for a certificate; "" where it is not here, or lacks nothing."""
    namespace, _, name = secret.rpartition("/")
    key = ResourceKey("", "Secret", namespace or proxy.key.namespace, name)
    held = contents(world.resolve_inner(key).resource, world) if name else None
    lacking = [each for each in ("tls.crt", "tls.key") if held and not held.get(each)]
    return f"{key} has no {lacking[0]}" if lacking else ""


def _undelegated(world: World, proxy: Resource, host: Mapping[str, Any]) -> Iterator[tuple[bool, Pointer, str]]:
    """Yield the Secrets of other namespaces that the TLS of a host names: whether nothing gives them, where, which."""
    for inner in (("secretName",), ("clientValidation", "caSecret"), ("clientValidation", "crlSecret")):
        secret = text(value_at(host, ("tls", *inner)))
        namespace, _, name = secret.rpartition("/")
        if namespace and not is_symbolic(secret):
            reason = f"no TLSCertificateDelegation of {namespace} gives it Secret {secret}"
            yield not _is_delegated(world, proxy, namespace, name), ("spec", "virtualhost", "tls", *inner), reason


def _is_delegated(world: World, proxy: Resource, namespace: str, name: str) -> bool:
    """Return whether a Secret of another namespace may be used, or is given elsewhere: not where the Secret is here."""
    is_here = world.get(ResourceKey("", "Secret", namespace, name)) is not None
    elsewhere = not is_here and world.elsewhere(ResourceKey(KIND[0], _DELEGATION, namespace, ""))
    if namespace == proxy.key.namespace or elsewhere:
        return True
    for delegation in world.in_namespace(KIND[0], _DELEGATION, namespace):
        for each in map(mapping, sequence(delegation.spec.get("delegations"))):
            if each.get("secretName") == name and {"*", proxy.key.namespace} & set(texts(each.get("targetNamespaces"))):
                return True
    return False


class _Root:
    """One HTTPProxy with a host, and all that it includes."""

    def __init__(self, world: World, proxy: Resource) -> None:
        self._world = world
        self._proxy = proxy
        self._host: Mapping[str, Any] = mapping(proxy.spec.get("virtualhost"))
        self._fqdn = host_of(proxy, "virtualhost", "fqdn")
        self._tls: Mapping[str, Any] = mapping(self._host.get("tls"))

    def rules(self) -> Iterator[DoorRule]:
        yield from (each for each, by in self.replaced() if by is None)
        yield from self._of_connections(self._proxy, 0)

    def replaced(self) -> list[tuple[DoorRule, DoorRule | None]]:
        """Return all rules, each with the one that takes its place: of those with the same conditions the last is made,
        and what a proxy includes comes before its own routes.

        Source: internal/dag/httpproxy_processor.go, computeRoutes; dag.go, VirtualHost.AddRoute @ 31c4bb38e.
        """
        made = [((str(each.opening), written), each) for written, each in self._of(self._proxy, (), 0)]
        last = dict(made)
        return [(each, None if last[key] is each else last[key]) for key, each in made]

    def answers_no_tls(self) -> bool:
        """Return whether TLS is passed on, and to nobody."""
        return self._tls.get("passthrough") is True and not self._proxy.spec.get("tcpproxy")

    def _of_connections(self, proxy: Resource, depth: int) -> Iterator[DoorRule]:
        """Yield where connections of TLS go in place of routes: to services of `tcpproxy`, or of what it includes."""
        stated = mapping(proxy.spec.get("tcpproxy"))
        if not self._tls or not stated:
            return
        include = mapping(stated.get("include")) or mapping(stated.get("includes"))
        namespace = text(include.get("namespace")) or proxy.key.namespace
        child = self._world.get(ResourceKey(*KIND, namespace, text(include.get("name")))) if include else None
        if child is not None and not child.spec.get("virtualhost") and depth < _DEEPEST:
            yield from self._of_connections(child, depth + 1)
        elif not include:
            passes, host = self._tls.get("passthrough") is True, self._fqdn
            opening = Opening("tls", _HTTPS.port, host, passes=passes)
            body, _ = _body(proxy, stated, to_https=False)
            asked = tuple(() if passes else self._certificates())
            yield DoorRule(proxy, opening, host, "tcpproxy", body, ("spec", "tcpproxy"), asked)

    def _of(self, proxy: Resource, above: Conditions, depth: int) -> Iterator[tuple[str, DoorRule]]:
        """Yield the rules of a proxy below some conditions, each with all of its conditions."""
        faults = _faults_of_includes(proxy)
        for number, include in enumerate(map(mapping, listed(proxy.spec.get("includes"))) if depth < _DEEPEST else ()):
            own = tuple(map(mapping, sequence(include.get("conditions"))))
            key = _included(proxy, include)
            child = self._world.get(key)
            if number in faults:
                continue
            if is_left_open(proxy, ("spec", "includes", number)):
                yield from self._left_open(proxy, ("spec", "includes", number), (*above, *own))
            elif child is not None and not child.spec.get("virtualhost"):
                yield from self._of(child, (*above, *own), depth + 1)
            elif open_ := leads_out(self._world, key):
                taken, weights = _match((*above, *own))
                if not own:  # its routes may be for narrower paths than those here
                    taken["also"] = [{"of": "path", "type": CHANCE, "value": f"{key} was not seen"}]
                    weights = _FIRST, *weights[1:]
                rules = self._not_there(proxy, ("spec", "includes", number), (taken, weights), open_)
                yield from ((f"{key} {number}", each) for each in rules)
            elif own:
                missing = self._not_there(proxy, ("spec", "includes", number), _match((*above, *own)), {})
                yield from ((_written((*above, *own)), each) for each in missing)
        routes = [] if _fault_of_routes(proxy) else entries(proxy, "routes")
        for number, route in enumerate(map(mapping, routes)):
            pointer: Pointer = ("spec", "routes", number)
            if not route:  # a variable stands for it
                yield from self._left_open(proxy, pointer, above)
                continue
            conditions = (*above, *map(mapping, sequence(route.get("conditions"))))
            match, weights = _match(conditions)
            secure = bool(self._tls) and not self._proxy.spec.get("tcpproxy") and not self.answers_no_tls()
            for opening in (_HTTP, _HTTPS) if secure else (_HTTP,):
                secured = opening is _HTTP and bool(self._tls) and route.get("permitInsecure") is not True
                body, answered = _body(proxy, route, to_https=secured)
                body |= {"matches": [match], "precedence": weights}
                if cors := self._cors():
                    body["filters"] = [{"type": "CORS", "cors": cors}, *sequence(body.get("filters"))]
                asked = () if secured else (*self._asked(opening, proxy, route, pointer), *answered)
                name = f"route-{number}" + (" to https" if secured else "")
                doubt = "" if secured else self._doubt(proxy, body)
                rule = DoorRule(proxy, opening, self._fqdn, name, body, pointer, asked, doubt)
                is_open = is_left_open(proxy, pointer)
                yield f"{proxy.key} {number}" if is_open else _written(conditions), rule

    def _doubt(self, proxy: Resource, body: Mapping[str, Any]) -> str:
        """Return why it is not known whether Contour sends requests to what a route names; "" where it is."""
        for each in map(mapping, sequence(body.get("backendRefs"))):
            key = ResourceKey("", "Service", proxy.key.namespace, text(each.get("name")))
            why, is_certain = named_only(self._world.get(key), self._world, _NAME, _TITLE)
            if why and not is_certain:
                return why
        return ""

    def _left_open(self, proxy: Resource, pointer: Pointer, above: Conditions) -> Iterator[tuple[str, DoorRule]]:
        """Yield what stands for routes, or for what is included, of which variables say what they are: any of what is
        taken below some conditions may be theirs."""
        stated = variable_at(proxy, pointer)
        taken, weights = _match(above)
        taken["also"] = [{"of": "path", "type": CHANCE, "value": f"what {stated} stands for was not seen"}]
        marked = {UNSEEN: f"what {stated} stands for"}
        rules = self._not_there(proxy, pointer, (taken, (_FIRST, *weights[1:])), marked)
        yield from ((f"{proxy.key} {pointer}", each) for each in rules)

    def _not_there(
        self, proxy: Resource, pointer: Pointer, taken: tuple[dict[str, Any], tuple[int, ...]], open_: Mapping[str, str]
    ) -> Iterator[DoorRule]:
        """Yield what answers with 502 in place of what is included and cannot be (addStatusBadGatewayRoute).

        Args:
            open_: what marks a rule of which it is not known what it includes, or says.
        """
        body = {"matches": [taken[0]], "precedence": taken[1], **open_}
        for opening in (_HTTP, _HTTPS) if self._tls and not self.answers_no_tls() else (_HTTP,):
            host, asked = self._fqdn, () if open_ else (answering(proxy, 502),)
            yield DoorRule(proxy, opening, host, f"include-{pointer[-1]}", body, pointer, asked)

    def _asked(self, opening: Opening, proxy: Resource, route: Mapping[str, Any], pointer: Pointer) -> Iterator[Guard]:
        """Yield what is asked on a route: logins where there is TLS, limits and addresses anywhere; routes first."""
        if opening is _HTTPS:
            yield from open_guards(self._proxy, *(("spec", "virtualhost", *each) for each in _OF_HOSTS))
            yield from open_guards(proxy, (*pointer, "jwtVerificationPolicy"))
            yield from self._logins(route)
        yield from open_guards(proxy, *((*pointer, each) for each in _OF_ALL))
        yield from open_guards(self._proxy, *(("spec", "virtualhost", each) for each in ("tls", *_OF_ALL)))
        yield from self._authorization(route, encrypted=opening is _HTTPS)
        yield from self._limits(proxy, route, pointer)
        for field, setting in (("ipAllowPolicy", "allow"), ("ipDenyPolicy", "deny")):
            own = route.get("ipAllowPolicy") or route.get("ipDenyPolicy")
            holder, stated, place = (
                (proxy, route, pointer) if own else (self._proxy, self._host, ("spec", "virtualhost"))
            )
            entries = [mapping(each) for each in sequence(stated.get(field))]
            networks = [text(each.get("cidr")) for each in entries]
            if networks:
                asked: dict[str, Any] = {setting: networks}
                sources = {text(each.get("source")) for each in entries}
                if len(sources) > 1:
                    asked = {"unread": field}
                elif sources == {"Remote"}:
                    found = counted(self._world, _NAME, *_HOPS)
                    asked |= {SETTING: found} if found else {}
                    if found is None:
                        yield unseen(holder, "Contour")
                yield Guard(holder, asked, {(name,): (*place, field) for name in asked})

    def _limits(self, proxy: Resource, route: Mapping[str, Any], pointer: Pointer) -> Iterator[Guard]:
        """Yield how many requests are taken: a route's own limits take the place of its host's, each of its sort, and
        the default of all is that of a host without a global one.

        Source: internal/dag/httpproxy_processor.go, rateLimitPerRoute; internal/envoy/v3/route.go @ 31c4bb38e.
        """
        own, of_host = (mapping(each.get("rateLimitPolicy")) for each in (route, self._host))
        places = ((proxy, own, pointer), (self._proxy, of_host, ("spec", "virtualhost")))
        is_off = mapping(own.get("global")).get("disabled") is True
        for sort, states, setting in _LIMITS[:1] if is_off else _LIMITS:
            for holder, stated, place in places:
                limit = mapping(stated.get(sort))
                if limit.get(states) and limit.get("disabled") is not True:
                    at: Pointer = (*place, "rateLimitPolicy", sort)
                    yield Guard(holder, {setting: dict(limit)}, {(setting,): at})
                    break
            else:
                yield from self._default_limit(setting) if sort == "global" else ()

    def _default_limit(self, setting: str) -> Iterator[Guard]:
        """Yield the global limit of all hosts that state none and are not taken out.

        Source: internal/dag/httpproxy_processor.go, computeVirtualHostRateLimitPolicy @ 31c4bb38e.
        """
        field = ("rateLimitService", "defaultGlobalRateLimitPolicy")
        of_all = self._of_all(*field)
        own = mapping(mapping(self._host.get("rateLimitPolicy")).get("global"))
        if of_all is not None and own.get("disabled") is not True:
            limit = mapping(of_all.value(*field))
            if not self._is_agreed(*field):
                yield Guard(of_all.holder, {"unread": field[-1]}, {("unread",): of_all.at(*field)})
            elif limit.get("descriptors") and limit.get("disabled") is not True:
                yield Guard(of_all.holder, {setting: dict(limit)}, {(setting,): of_all.at(*field)})

    def _cors(self) -> dict[str, Any]:
        """Return who is answered preflights, before anything is asked; what is no origin is an expression of some.

        Source: internal/envoy/v3/listener.go, DefaultFilters; internal/dag/httpproxy_processor.go, toCORSPolicy.
        """
        stated = mapping(self._host.get("corsPolicy"))
        origins = [
            origin(each) if each == "*" or _ORIGIN.fullmatch(each) else {"regex": each}
            for each in texts(stated.get("allowOrigin"))
        ]
        if not origins:
            return {}
        rest = {name: stated[name] for name in ("allowMethods", "allowHeaders", "exposeHeaders") if name in stated}
        return {"allowOrigins": origins, "allowCredentials": stated.get("allowCredentials") is True, **rest}

    def _certificates(self) -> Iterator[Guard]:
        client = mapping(self._tls.get("clientValidation"))
        if client and client.get("skipClientCertValidation") is not True:
            setting = "optionalClientCertificate" if client.get("optionalClientCertificate") else "clientCertificate"
            place: Pointer = ("spec", "virtualhost", "tls", "clientValidation")
            yield Guard(self._proxy, {setting: dict(client)}, {(setting,): place})

    def _of_all(self, *field: str) -> Told | None:
        """Return the configuration that says something for all HTTPProxies, None where none does."""
        return next((each for each in configurations(self._world, _NAME) if each.value(*field) is not None), None)

    def _is_agreed(self, *field: str) -> bool:
        """Return whether all configurations that were seen say the same: which is of a proxy's Contour nobody asks."""
        said = [each.value(*field) for each in configurations(self._world, _NAME)]
        return said.count(said[0]) == len(said)

    def _authorization(self, route: Mapping[str, Any], *, encrypted: bool) -> Iterator[Guard]:
        """Yield the authorizer of a route: that of its host, which only TLS has, else that of all. Whether it is asked
        the route says before its host, and that before the configuration.

        Source: internal/dag/httpproxy_processor.go, computeRoutes, computeSecureVirtualHostAuthorization @ 31c4bb38e.
        """
        own, of_all = self._host.get("authorization"), self._of_all("globalExtAuth")
        common = {} if of_all is None else mapping(of_all.value("globalExtAuth"))
        stated = route.get("authPolicy") or mapping(common if own is None else own).get("authPolicy")
        if mapping(stated).get("disabled") is True:
            return
        if encrypted and (named := mapping(mapping(own).get("extensionRef"))):
            spec = {"externalAuth": dict(named)}
            yield Guard(self._proxy, spec, {("externalAuth",): ("spec", "virtualhost", "authorization")})
        elif of_all is not None and self._is_agreed("globalExtAuth"):
            namespace, _, name = text(common.get("extensionService")).rpartition("/")
            spec = {"externalAuth": dict(mapping(common.get("extensionRef"))) or {"namespace": namespace, "name": name}}
            yield Guard(of_all.holder, spec, {("externalAuth",): of_all.at("globalExtAuth")})
        elif of_all is not None:
            yield Guard(of_all.holder, {"unread": "globalExtAuth"}, {("unread",): of_all.at("globalExtAuth")})

    def _logins(self, route: Mapping[str, Any]) -> Iterator[Guard]:
        at: Pointer = ("spec", "virtualhost")
        yield from self._certificates()
        verification = mapping(route.get("jwtVerificationPolicy"))
        wanted = text(verification.get("require"))
        for number, provider in enumerate(map(mapping, sequence(self._host.get("jwtProviders")))):
            is_meant = provider.get("name") == wanted if wanted else provider.get("default") is True
            if is_meant and verification.get("disabled") is not True:
                yield Guard(self._proxy, {"jwt": dict(provider)}, {("jwt",): (*at, "jwtProviders", number)})


def _written(conditions: Conditions) -> str:
    """Return conditions that all must hold as text: their prefixes in a row, and the others in any order."""
    prefix = "".join(text(each.get("prefix")) for each in conditions).replace("//", "/") or "/"
    others = sorted({str(sorted(each.items(), key=str)) for each in conditions if not each.get("prefix")})
    return f"{prefix} {others}"


def _replaced(world: World, proxy: Resource) -> Iterator[DeadEnd]:
    """Yield the routes whose place another one takes, of a host and all that it includes."""
    told: set[tuple[ResourceKey, Pointer]] = set()
    for each, by in _Root(world, proxy).replaced():
        place = (each.holder.key, each.pointer)
        if by is not None and (by.holder.key, by.pointer) != place and place not in told:
            told.add(place)
            where = f"spec.{by.pointer[1]}[{by.pointer[2]}]"
            where += "" if by.holder.key == each.holder.key else f" of {by.holder.key}"
            does = f"has a route whose conditions {where} has as well"
            fix = "take one of both out, or tell them apart by their conditions"
            then = "Contour makes the last one alone, which takes its requests"
            yield DeadEnd(each.holder, each.pointer, does, fix, (by.holder.key,), then=then, severity="warning")


_FIRST = 3
"""The rank of what may come before exact paths."""
_OF_HOSTS = (("authorization",), ("jwtProviders",), ("tls", "clientValidation"))
"""What asks for a login in a host, over TLS alone."""
_OF_ALL = ("authPolicy", "ipAllowPolicy", "ipDenyPolicy", "rateLimitPolicy")
"""What asks for something in hosts and routes."""


def _match(conditions: Conditions) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Return the match of conditions that all must hold, prefixes one behind the other, and its weights: exact paths
    first, then expressions, then the longest prefix, then the most headers."""
    prefix = "".join(text(each.get("prefix")).rstrip("/") for each in conditions) or "/"
    exact, pattern = (
        next((text(each[name]) for each in conditions if each.get(name)), "") for name in ("exact", "regex")
    )
    said: dict[str, Any] = {"path": {"type": PREFIX, "value": prefix}}
    if exact:
        said["path"] = {"type": "Exact", "value": exact}
    elif pattern:
        said["path"] = {"type": EXPRESSION, "value": pattern}
    headers = [mapping(each["header"]) for each in conditions if each.get("header")]
    parameters = [mapping(each["queryParameter"]) for each in conditions if each.get("queryParameter")]
    for field, wanted in (("headers", headers), ("queryParams", parameters)):
        if wanted:
            said[field] = [{"name": text(each.get("name")), **_value(each)} for each in wanted]
    rank = 2 if exact else 1 if pattern else 0
    return said, (rank, len(exact or pattern or prefix), len(headers), len(parameters), 0)


def _value(wanted: Mapping[str, Any]) -> dict[str, str]:
    """Return what a header or parameter must be; what cannot be said is an expression that nobody reads."""
    if "exact" in wanted:
        return {"value": text(wanted["exact"])}
    if "regex" in wanted:
        return {"type": EXPRESSION, "value": text(wanted["regex"])}
    return {"type": EXPRESSION, "value": ".*"} if wanted.get("present") else {"type": "Unread", "value": str(wanted)}


def _body(proxy: Resource, route: Mapping[str, Any], *, to_https: bool) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return a route as a rule, and what answers in place of a backend."""
    redirect, direct = mapping(route.get("requestRedirectPolicy")), mapping(route.get("directResponsePolicy"))
    moved: dict[str, Any] = {}
    if to_https:
        moved = {"scheme": "https", "statusCode": 301}
    elif redirect:
        moved = {name: redirect[name] for name in ("scheme", "hostname", "port") if redirect.get(name)}
        moved["statusCode"] = redirect.get("statusCode", 302)
        if text(redirect.get("path")):
            moved["path"] = {"type": "ReplaceFullPath", "replaceFullPath": redirect["path"]}
    if moved:
        return {"filters": [{"type": "RequestRedirect", "requestRedirect": moved}]}, ()
    if direct:
        status = direct.get("statusCode")
        return {}, (answering(proxy, status if isinstance(status, int) else 200),)
    services = [mapping(each) for each in sequence(route.get("services"))]
    references = [
        {"name": text(each.get("name")), "port": each.get("port", 80), "weight": each.get("weight", 1)}
        for each in services
        if each.get("mirror") is not True
    ]
    waits = {
        "request": mapping(route.get("timeoutPolicy")).get("response"),
        "backendRequest": mapping(route.get("retryPolicy")).get("perTryTimeout"),
    }
    return {**timed(waits), "backendRefs": references}, ()
