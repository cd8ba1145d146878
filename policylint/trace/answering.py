"""Follow a request from the rule that takes it to its end: filters, backends, and the response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from policylint.catalog.content import owner_of_object
from policylint.documents import Pointer
from policylint.doors import is_door
from policylint.doors.variables import listed
from policylint.implementations import Implementation, implementation
from policylint.implementations.generic import Traffic
from policylint.implementations.generic.limits import limits
from policylint.implementations.generic.supported import unserved
from policylint.matches import SLASHED
from policylint.model import Node, Resource, ResourceKey, integer, is_symbolic, mapping, sequence, text, value_at
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.policy_kind import Answer
from policylint.policy.authorizing import RequestQuestion
from policylint.policy.handling import Redirect
from policylint.policy.units import at_path
from policylint.simulation import Simulation
from policylint.topology import BackendState, RouteState, whole
from policylint.topology.backends import is_delegation
from policylint.topology.extensions import FilterExtension, extensions_of, named_extension
from policylint.topology.routes import UNSEEN, Rule, fault_of
from policylint.trace.backends import BackendTls, filters_of, mirrors, problem, shares
from policylint.trace.filters import Message, Step, shown
from policylint.trace.policies import facts
from policylint.trace.precedence import RuleCandidate, child_candidates, doubt, ordered
from policylint.trace.request import Request, split_host
from policylint.trace.result import Forwarded, Judged, Outcome, Share, Trace

_MOST_DELEGATIONS = 16


class Responder:
    """Applies rules to requests."""

    __slots__ = ("_by_rule", "_catalog", "_delegating", "_known", "_members", "_tls", "_topology", "_unmade", "_world")

    def __init__(self, simulation: Simulation, tls: BackendTls) -> None:
        self._world = simulation.world
        self._catalog = simulation.catalog
        self._topology = simulation.topology
        self._tls = tls
        self._by_rule: dict[Resource, dict[int, list[BackendState]]] = {}
        self._members = simulation.members
        self._known: dict[str, Implementation] = {}
        self._unmade: dict[tuple[ResourceKey | None, Node], tuple[int, str]] = {}
        self._delegating: dict[tuple[ResourceKey, int], dict[Pointer, list[Resource]]] | None = None

    def respond(self, candidate: RuleCandidate, start: Trace, port: int | None) -> tuple[RuleCandidate, Trace]:
        """Return the trace of a request that a candidate takes, down from its rule, and the candidate that answers.

        That is not the first one where its rule delegates; the path holds the rules and routes below the first rule.
        `port` is the port of the listener or Service, for redirects that name none.
        """
        message = Message(start.request, candidate.match.prefix)
        nodes: list[Node] = []
        for _ in range(_MOST_DELEGATIONS):
            trace = start._replace(path=tuple(nodes))
            if candidate.unmade:
                return candidate, _ended(trace, message, Outcome(status=404, reason=candidate.unmade))
            state = self._state(candidate)
            if (fault := fault_of(candidate.rule.number, candidate.rule.body)) is not None:
                return candidate, _ended(trace, message, Outcome(status=500, reason=fault.message))
            if (refusal := self._refusal(candidate, start)) is not None:
                return candidate, _ended(trace, message, refusal)
            if UNSEEN in candidate.rule.body:
                return candidate, _ended(trace, message, Outcome(unknown=True, reason=self._leads_out(candidate)))
            if slashed := text(candidate.match.value.get(SLASHED)):
                asked, path = start.request, f"{slashed}{start.request.query}"
                to = Redirect(301, asked.scheme, asked.host, asked.port, path)
                return candidate, _ended(trace, message, Outcome(redirect=to))
            rule, place = candidate.rule.body, ("spec", "rules", candidate.rule.number)
            if why := hidden_end(candidate.rule):
                return candidate, _ended(trace, message, Outcome(unknown=True, reason=why))
            questions: list[RequestQuestion] = []
            extend = partial(self._extended, candidate, start, message, port, questions)
            if start.gateway is None or not is_door(start.gateway):  # those of doors are in their rules
                message.apply(*(self._behaviour(start.gateway) or Traffic()).added_filters(candidate.route), port)
            message.apply(rule.get("filters"), (*place, "filters"), port, extend)
            if (judged := tuple(_decided(message))) or questions or message.settled:
                start = start._replace(
                    judged=(*start.judged, *judged),
                    questions=(*start.questions, *questions),
                    settled=frozenset(message.settled),
                )
                trace = start._replace(path=trace.path)
            if message.error:
                return candidate, _ended(trace, message, Outcome(status=500, reason=message.error))
            if message.authorisers:
                start = start._replace(filters_asking=("externalAuth",))
                trace = trace._replace(filters_asking=start.filters_asking)
                if unusable := self._unusable(state, message):
                    return candidate, _ended(trace, message, Outcome(status=500, reason=unusable))
            redirects = message.redirect is not None
            if (answer := self._answer(candidate, (*place, "filters"), redirects=redirects)) is not None:
                return candidate, _ended(trace, message, answer)
            ended = next((each for each in message.handled if each[1].status or each[1].unknown), None)
            if ended is not None:
                by, handling = ended
                why = f"{by.key}: {handling.why or handling.unknown}"
                outcome = Outcome(status=handling.status, reason=why, unknown=bool(handling.unknown))
                return candidate, _ended(trace, message, outcome)
            status, of_all = self._serving(start.gateway).preflights
            if message.cors is not None and (of_all or message.cors):
                outcome = Outcome(status=status, reason="the gateway answers the CORS preflight itself")
                return candidate, _ended(trace, message, outcome)._replace(response=dict(message.cors))
            if message.redirect is not None:
                trace = _ended(trace, message, Outcome(redirect=message.redirect))
                headers = shown(message.response_headers)
                return candidate, trace._replace(response=headers, mirrors=_mirrors(state, message))
            upgraded = start.request.upgrades and self._serving(start.gateway).upgrades_outlast
            unread = self._unread(start.gateway)
            message.steps += (Step(*each) for each in limits(rule, place, unread, upgraded=upgraded))
            below, unseen = self._below(candidate, start.request), self._leads_out(candidate)
            if below is None and not unseen:
                return candidate, self._backends(trace, candidate, state, message, port)
            candidates = [found for of_reference in below or () for found in of_reference]
            start = start._replace(questions=(*start.questions, *telling_apart(candidates, start.request)))
            trace = trace._replace(questions=start.questions)
            takers = ordered(candidates)
            if why := doubt(candidates, takers):
                return candidate, _ended(trace, message, Outcome(unknown=True, reason=why))
            child = next(iter(takers), None)
            if child is None and unseen:
                return candidate, _ended(trace, message, Outcome(unknown=True, reason=unseen))
            if child is None:
                reason = f"no rule of the routes that {candidate.rule.node} delegates to matches"
                behaviour = None if all(below or ()) else self._behaviour(start.gateway)
                if behaviour is not None and behaviour.empty_delegation != 404:
                    reason = f"{candidate.rule.node} delegates to no route that lies within what it matches"
                status = 404 if behaviour is None else behaviour.empty_delegation
                return candidate, _ended(trace, message, Outcome(status=status, reason=reason))
            nodes += [whole(child.route.key), child.rule.node]
            candidate = child
        outcome = Outcome(status=500, reason="the routes delegate to each other in a circle")
        return candidate, _ended(start._replace(path=tuple(nodes)), message, outcome)

    def _extended(
        self,
        candidate: RuleCandidate,
        start: Trace,
        message: Message,
        port: int | None,
        asked: list[RequestQuestion],
        http_filter: Mapping[str, Any],
        place: Pointer,
    ) -> None:
        """Let the object that a filter names, and those that run in its place, do what they do with a request."""
        key = named_extension(candidate.route, http_filter)
        for resource, behaviour in () if key is None else self._handlers(key, start.gateway, ()):
            if message.is_answered:
                message.settled.add(resource.key)
                continue
            known = facts(start.request, asked)
            changed = {
                name
                for name, value in (("host", message.host), ("path", message.path))
                if value != getattr(start.request, name)
            }
            known = known._replace(host=split_host(message.host)[0], path=message.path, rewritten=frozenset(changed))
            handling = behaviour.handle(resource, known, self._world)
            if handling is not None:
                message.handle(resource, handling, place, port)

    def _handlers(
        self, key: ResourceKey, gateway: ResourceKey | None, above: tuple[ResourceKey, ...]
    ) -> Iterator[tuple[Resource, Implementation]]:
        """Yield the objects that run where one is named, in order, each with the behaviour of who reads it."""
        kind, resource = self._catalog.get(*key[:2]), self._world.get(key)
        if kind is None or resource is None or key in above or len(above) == _MOST_DELEGATIONS:
            return
        serving = self._behaviour(gateway)
        if not self._catalog.reads(None if serving is None else serving.name, kind):
            return
        members = value_at(resource.spec, tuple(kind.members.split("."))) if kind.members else None
        for entry in map(mapping, sequence(members)):
            member = key._replace(namespace=text(entry.get("namespace")) or key.namespace, name=text(entry.get("name")))
            yield from self._handlers(member, gateway, (*above, key))
        if members is None:
            yield resource, self._named(kind.implementation)

    def _backends_of(self, route: Resource) -> dict[int, list[BackendState]]:
        """Return the backends of a route by rule."""
        by_rule = self._by_rule.get(route)
        if by_rule is None:
            by_rule, state = self._by_rule.setdefault(route, {}), self._topology.state_of(route)
            for backend in () if state is None else state.backends:
                by_rule.setdefault(backend.rule, []).append(backend)
        return by_rule

    def unserved(self, route: Resource, rule: Rule, gateway: ResourceKey | None) -> tuple[int, str]:
        """Return how a Gateway answers all requests for a rule that it does not serve, and why; 0 where it may.

        With 404 its controller makes nothing of the rule: another one that fits takes them.
        """
        place = gateway, rule.node
        if place not in self._unmade:
            self._unmade[place] = next(self._unserved(route, rule, gateway), (0, ""))
        return self._unmade[place]

    def _unserved(self, route: Resource, rule: Rule, gateway: ResourceKey | None) -> Iterator[tuple[int, str]]:
        if why := self.left_out(route, rule, gateway):
            yield 404, why
        behaviour = self._behaviour(gateway)
        if behaviour is not None:
            backends = (each for each in self._backends_of(route).get(rule.number, ()) if each.role == "backend")
            services = [each.wanted for each in backends if not is_delegation(each.wanted)]
            yield from unserved(route, rule.body, services, behaviour, self._catalog, self._world)
            fault = behaviour.rule_fault(route, rule, self._topology)
            yield from (fault,) if fault is not None and fault[0] == 404 else ()
        for extension in extensions_of(self._world, route, rule.body.get("filters"), ()):
            missing = self._missing(extension)
            kind = None if missing is None else self._catalog.get(*missing[:2])
            if kind is not None and kind.unresolved == "unrouted":
                yield 404, f"a filter names {missing}, which is missing"

    def used(self, state: RouteState, rule: Rule, gateway: ResourceKey | None) -> list[BackendState]:
        """Return the backends of a rule that get requests or errors for them: those without which a door makes the rule
        all the same have no share, as long as any is left."""
        named = [each for each in state.backends if each.rule == rule.number]
        if gateway is None or not is_door(gateway):
            return named
        from policylint.doors.annotations import without_backends

        working = [each for each in named if not problem(each)]
        return working if working and without_backends(self._world, state.route.key)[1] == "all" else named

    def left_out(self, route: Resource, rule: Rule, gateway: ResourceKey | None) -> str:
        """Return why a door that is no Gateway has no rule for what is written: its backends; "" where it has one."""
        if gateway is None or not is_door(gateway):
            return ""
        from policylint.doors.annotations import refuses, without_backends

        without = without_backends(self._world, route.key)[1]
        named = self._backends_of(route).get(rule.number, ()) if without else ()
        named = [each for each in named if without != "missing" or each.resolution.missing]
        faults = [problem(each) or refuses(self._world, route.key, each.wanted) for each in named]
        told = [fault for fault in faults if fault]
        return f"no rule is made of it: {told[0]}" if told and (without != "all" or all(faults)) else ""

    def _backends(
        self, trace: Trace, candidate: RuleCandidate, state: RouteState, message: Message, port: int | None
    ) -> Trace:
        """Distribute a request over the backends, each behind its own filters."""
        at_door = trace.gateway is not None and is_door(trace.gateway)
        sharing = [(each.route, each.rule.number) for each in (candidate, *candidate.equals)]
        named = [(route, each) for route, number in sharing for each in self._backends_of(route).get(number, ())]
        backend_shares = shares(self._world, named, candidate.route, None if at_door else self._tls)
        maker = "" if backend_shares else generator_of(candidate.route)
        if maker:
            reason = f"no backend is written for the rule, but the chart of {maker} may add one"
            return _ended(trace, message, Outcome(unknown=True, reason=reason))
        outcome = outcome_of(backend_shares)
        if (at_door or candidate.route.key[:2] == VIRTUAL_SERVICE) and not outcome.backends:
            from policylint.doors.annotations import without_backends

            outcome = outcome._replace(status=without_backends(self._world, candidate.route.key)[0])
        trace = _ended(trace, message, outcome)._replace(mirrors=_mirrors(state, message))
        if not outcome.backends:
            return trace._replace(response=shown(message.response_headers))
        per_backend: dict[ResourceKey, Forwarded] = {}
        responses: list[dict[str, str]] = []
        backend_steps: list[Step] = []
        for share in backend_shares:
            if share.problem or not share.share:
                continue
            backend_message = message.copy()
            backend_message.apply(filters_of(candidate.route, share), (*share.pointer, "filters"), port)
            backend_steps += backend_message.steps
            if backend_message.redirect is not None:
                outcome = Outcome(redirect=backend_message.redirect)
                return trace._replace(outcome=outcome, steps=(*trace.steps, *backend_steps))
            tls = None if at_door else self._tls.of(share)
            headers = shown(backend_message.request_headers)
            sni = "" if tls is None else tls.sni
            method = trace.request.method
            per_backend[share.key] = Forwarded(method, backend_message.host, backend_message.path, headers, sni)
            responses.append(shown(backend_message.response_headers))
        first = next(iter(per_backend.values()))
        identical = all(forwarded == first for forwarded in per_backend.values())
        common = set.intersection(*(set(response.items()) for response in responses))
        plain = Forwarded(trace.request.method, message.host, message.sent_path, shown(message.request_headers))
        return trace._replace(
            steps=(*trace.steps, *backend_steps),
            forwarded=first if identical else plain,
            per_backend={} if identical else per_backend,
            response={name: value for name, value in responses[0].items() if (name, value) in common},
        )

    def _unusable(self, state: RouteState, message: Message) -> str:
        """Return why an authoriser cannot be asked, so that nobody gets in; "" where all can.

        Source: HTTPExternalAuthFilter.BackendRef; test HTTPRouteExternalAuthBackendRefNotFound asks for 403 or 5xx.
        """
        places = {(*pointer, "backendRef") for pointer in message.authorisers}
        failing = (backend for backend in state.backends if backend.pointer in places and backend.reason)
        return next((f"the external authoriser cannot be asked: {backend.message}" for backend in failing), "")

    def _refusal(self, candidate: RuleCandidate, start: Trace) -> Outcome | None:
        """Return the end of a request to a rule that who serves it refuses, or takes by TLS alone; else None."""
        behaviour, asked = self._behaviour(start.gateway), start.request
        fault = behaviour and behaviour.rule_fault(candidate.route, candidate.rule, self._topology)
        if behaviour and start.gateway and not fault and asked.scheme == "http" and not is_door(start.gateway):
            fault = behaviour.in_the_clear(candidate.route)
        if fault and fault[0] // 100 == 3:
            return Outcome(redirect=Redirect(fault[0], "https", asked.host, None, asked.path))
        return Outcome(status=fault[0], reason=fault[1]) if fault else None

    def _behaviour(self, gateway: ResourceKey | None) -> Implementation | None:
        """Return the behaviour of the controller of a Gateway, None where it is not known."""
        name = self._implementation(gateway)
        return None if name is None else self._named(name)

    def _serving(self, gateway: ResourceKey | None) -> Traffic:
        """Return the behaviour of who serves a Gateway, or one of a mesh's own; the usual where nobody knows."""
        owner = "" if gateway is None else owner_of_object(*gateway[:2])
        return self._behaviour(gateway) or (self._named(owner) if owner else Traffic())

    def _implementation(self, gateway: ResourceKey | None) -> str | None:
        state = None if gateway is None else self._topology.gateway(gateway)
        return None if state is None else self._catalog.implementation_of_controller(state.controller)

    def _unread(self, gateway: ResourceKey | None) -> Mapping[str, str]:
        """Return the fields of rules that the controller of a Gateway does not read (GWP526 tells them)."""
        name = self._implementation(gateway)
        return {} if name is None else self._catalog.unread_fields(name)

    def _named(self, name: str) -> Implementation:
        if name not in self._known:
            self._known[name] = implementation(name)
            self._known[name].release = self._catalog.releases.get(name)
        return self._known[name]

    def _answer(self, candidate: RuleCandidate, pointer: Pointer, *, redirects: bool) -> Outcome | None:
        """Return what the extensions of a rule answer by themselves; None where requests go on to the backends."""
        rule = candidate.rule.body
        named = list(extensions_of(self._world, candidate.route, rule.get("filters"), pointer))
        answering: list[tuple[FilterExtension, tuple[Answer, int | None]]] = []
        for extension in named:
            if answering and not answering[0][1][0].alone:
                break  # what follows an answer is not looked at
            missing = self._missing(extension)
            if missing is not None:
                kind = self._catalog.get(*missing[:2])
                unresolved = "fails" if kind is None else kind.unresolved
                if unresolved != "skipped":
                    code = 404 if unresolved == "unrouted" else 500
                    return Outcome(status=code, reason=f"a filter names {missing}, which is missing")
            answer = self._answering(extension)
            if answer is not None:
                answering.append((extension, answer))
        if not answering:
            return None
        extension, (own, status) = answering[0]
        others = answering[1:]
        if own.alone and (others or redirects or sequence(rule.get("backendRefs"))):
            beside = others[0][0].wanted if others else "a redirect" if redirects else "backends"
            return Outcome(status=500, reason=f"{extension.wanted} cannot answer where the rule has {beside} too")
        if status is None:
            return Outcome(unknown=True, reason=f"the status that {extension.wanted} answers with is not known")
        return Outcome(status=status, reason=f"{extension.wanted} answers")

    def _missing(self, extension: FilterExtension) -> ResourceKey | None:
        """Return what is missing of an extension: the object, or one that it names to run in its place."""
        if extension.resolution.missing:
            return extension.wanted
        bound = (binding for binding in self._members.get(extension.wanted, ()) if binding.resolution.missing)
        return next((binding.wanted for binding in bound), None)

    def _answering(self, extension: FilterExtension) -> tuple[Answer, int | None] | None:
        """Return how an extension answers requests, and the status (None: unknown); None where it answers none."""
        kind = self._catalog.get(*extension.wanted[:2])
        resource = extension.resolution.resource
        if kind is None or kind.answers is None or resource is None:
            return None
        above, _, field = kind.answers.path.rpartition(".")
        holder = next((unit.value for unit in at_path(resource.spec, above)), None) if above else resource.spec
        if not isinstance(holder, dict):
            return None
        return kind.answers, integer(holder.get(field, kind.answers.unset))

    def _state(self, candidate: RuleCandidate) -> RouteState:
        state = self._topology.state_of(candidate.route)
        return state if state is not None else RouteState(candidate.route, (), (), ())

    def below(
        self, candidate: RuleCandidate, request: Request, above: tuple[ResourceKey, ...] = ()
    ) -> Iterator[RuleCandidate]:
        """Yield the matches of all routes that a rule delegates to, and of those that they delegate to."""
        if candidate.route.key in above or len(above) == _MOST_DELEGATIONS:
            return
        for found in chain.from_iterable(self._below(candidate, request) or ()):
            yield found
            yield from self.below(found, request, (*above, candidate.route.key))

    def is_flat(self, gateway: ResourceKey | None) -> bool:
        """Return whether the matches of delegated routes stand among all others at a Gateway."""
        behaviour = self._behaviour(gateway) if self._topology.delegations else None
        return behaviour is not None and behaviour.flat_delegation

    def leaves(self, candidate: RuleCandidate, request: Request) -> Iterator[RuleCandidate]:
        """Yield a candidate once for each match below it by which its rule takes requests, itself with backends."""
        below = self._below(candidate, request)
        if below is None or not all(below):
            yield candidate
            return
        for found in self.below(candidate, request):
            if self._below(found, request) is None:
                yield candidate._replace(match=found.match)

    def flattened(self, fitting: list[RuleCandidate], start: Trace) -> list[RuleCandidate]:
        """Return candidates as they stand where the matches of delegated routes stand among all others."""
        if not self.is_flat(start.gateway):
            return fitting
        ends = ((self._end(each, start.request), each) for each in fitting)
        taking = [
            (each._replace(match=end.match, place=end.place).order, each) for end, each in ends if end is not None
        ]
        return [each for _, each in sorted(taking, key=lambda pair: pair[0])] or fitting

    def _end(self, candidate: RuleCandidate, request: Request, above: int = 0) -> RuleCandidate | None:
        """Return the match below a candidate that takes a request, None where its rule delegates and none does."""
        below = self._below(candidate, request)
        if below is None or above == _MOST_DELEGATIONS:
            return candidate
        found = list(chain.from_iterable(below))
        takers = ordered(found)
        if not all(below) or doubt(found, takers) or (not takers and self._leads_out(candidate)):
            return candidate  # answers itself, or says why it is not known who does
        return next((end for each in takers if (end := self._end(each, request, above + 1)) is not None), None)

    def _leads_out(self, candidate: RuleCandidate) -> str:
        """Return why it is not known which rules take what a rule leads on to other objects; "" where all were seen."""
        listed = (each for each in self._state(candidate).backends if each.rule == candidate.rule.number)
        named = (each.wanted for each in listed if is_delegation(each.wanted) and each.resolution.unknown)
        unseen = text(candidate.rule.body.get(UNSEEN)) or next(map(str, named), "")
        return unseen and f"{unseen} was not seen"

    def _below(self, candidate: RuleCandidate, request: Request) -> list[list[RuleCandidate]] | None:
        """Return the matches of the routes that a rule delegates to, by its references; None where it has backends."""
        if self._delegating is None:
            self._delegating = {}
            for delegation in self._topology.delegations:
                by_reference = self._delegating.setdefault((delegation.parent, delegation.rule), {})
                child = self._topology.route(delegation.child)
                by_reference.setdefault(delegation.pointer, []).extend([] if child is None else [child.route])
        of_rule = self._delegating.get((candidate.route.key, candidate.rule.number))
        if of_rule is None:
            return None
        return [
            [found for child in children for found in child_candidates(candidate, child, request)]
            for children in of_rule.values()
        ]


def telling_apart(candidates: Iterable[RuleCandidate], request: Request) -> Iterator[RequestQuestion]:
    """Yield what tells apart which of some matches takes a request."""
    conditions = chain.from_iterable(candidate.match.conditions for candidate in candidates)
    for name, predicate in dict.fromkeys((condition.name, condition.predicate) for condition in conditions):
        yield RequestQuestion(name, (predicate,), predicate.takes(request.value(name)))


def hidden_end(rule: Rule) -> str:
    """Return why it is not known what a rule does with requests, "" where it is: a variable stands for it."""
    ends = (field for field in ("filters", "backendRefs") if any(map(is_symbolic, listed(rule.body.get(field)))))
    stated = next(ends, "")
    return stated and f"the {stated} of {rule.node} stand in a variable"


def _decided(message: Message) -> Iterator[Judged]:
    """Yield what the objects that filters name answer a request."""
    for by, handling in message.handled:
        if handling.decision is not None:
            location = by.location("spec", *handling.decision.pointer)
            yield Judged(handling.decision._replace(by=by), by.key, location, None)


def _ended(trace: Trace, message: Message, outcome: Outcome) -> Trace:
    return trace._replace(outcome=outcome, steps=tuple(message.steps))


def _mirrors(state: RouteState, message: Message) -> tuple[ResourceKey, ...]:
    return tuple(mirror.wanted for mirror in mirrors(state, message.mirrors))


def generator_of(route: Resource) -> str:
    """Return the object that generates a route, `HelmRelease media/player`, if it is written in one; else ""."""
    document = mapping(getattr(route.location("spec").document, "value", None))
    kind = text(document.get("kind"))
    if kind in ("", "List", "Kustomization", route.key.kind):
        return ""
    metadata = mapping(document.get("metadata"))
    namespace = text(metadata.get("namespace")) or route.key.namespace
    return f"{kind} {namespace}/{text(metadata.get('name'))}"


def outcome_of(backend_shares: Sequence[Share], *, stream: bool = False) -> Outcome:
    """Return the outcome of a rule with these backends: an error if none of them works (a stream is refused)."""
    working = [share for share in backend_shares if not share.problem and share.share]
    if working:
        return Outcome(tuple(backend_shares))
    if not backend_shares:
        reason = "the rule has no backends"
    elif any(share.weight for share in backend_shares):
        reason = next(share.problem for share in backend_shares if share.problem)
    else:
        reason = "all its backends have weight 0"
    statuses = {share.status for share in backend_shares if share.weight} or {500}
    status = None if stream or len(statuses) > 1 else statuses.pop()
    return Outcome(tuple(backend_shares), status, refused=stream, reason=reason)
