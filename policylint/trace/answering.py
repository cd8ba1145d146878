"""From the rule that takes a request to its end: filters, backends, what the backend sees and the client gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policylint.documents import Pointer
from policylint.model import Node, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.topology import RouteState, Topology
from policylint.topology.routes import PATH_TYPES, Fault, Rule, faults
from policylint.trace.backends import BackendTls, filters_of, mirrors, shares
from policylint.trace.filters import Message, Step, shown
from policylint.trace.matching import path_of
from policylint.trace.precedence import Option, options, ordered
from policylint.trace.request import Request
from policylint.trace.result import Forwarded, Outcome, Share

_MOST_DELEGATIONS = 16


class Answer(NamedTuple):
    """What a rule makes of a request.

    Args:
        path: the rules and routes below the first rule that it was handed on to.
        rule_of: the option that finally answers (another one than asked where the rule delegates).
    """

    outcome: Outcome
    rule_of: Option
    path: tuple[Node, ...] = ()
    steps: tuple[Step, ...] = ()
    forwarded: Forwarded | None = None
    per_backend: Mapping[ResourceKey, Forwarded] = {}
    response: Mapping[str, str] = {}
    mirrors: tuple[ResourceKey, ...] = ()
    backend_tls: bool = False


class Answering:
    """Lets rules answer requests."""

    __slots__ = ("_tls", "_topology")

    def __init__(self, topology: Topology, tls: BackendTls) -> None:
        self._topology = topology
        self._tls = tls

    def answer(self, option: Option, request: Request, port: int | None) -> Answer:
        """The end of a request that an option takes.

        Args:
            port: of the listener or Service, for redirects that name none.
        """
        message = Message(request, _prefix(option))
        steps: list[Step] = []
        nodes: list[Node] = []
        for _ in range(_MOST_DELEGATIONS):
            state = self._state(option)
            fault = _fault(option.route, option.rule)
            if fault is not None:
                return self._failing(option, fault.message, steps, nodes)
            rule = mapping(sequence(option.route.spec.get("rules"))[option.rule.number])
            message.apply(rule.get("filters"), ("spec", "rules", option.rule.number, "filters"), port)
            steps, message.steps = [*steps, *message.steps], []
            if message.error:
                return self._failing(option, message.error, steps, nodes)
            if message.cors is not None:
                outcome = Outcome(status=204, reason="the gateway answers the CORS preflight itself")
                return Answer(outcome, option, tuple(nodes), tuple(steps), response=dict(message.cors))
            if message.redirect is not None:
                outcome = Outcome(redirect=message.redirect)
                answer = Answer(outcome, option, tuple(nodes), tuple(steps), response=shown(message.response_headers))
                return answer._replace(mirrors=self._mirrors(state, message))
            steps += limits(rule, ("spec", "rules", option.rule.number))
            children = self._children(option)
            if children is None:
                return self._backends(option, state, message, request, steps, nodes, port)
            child = next(iter(ordered(options(children, request, grpc=False))), None)
            if child is None:
                reason = f"no rule of the routes that {option.rule.node} delegates to matches"
                return Answer(Outcome(status=404, reason=reason), option, tuple(nodes), tuple(steps))
            nodes += [Node(child.route.key, "", child.route.key.kind), child.rule.node]
            option = child
        return self._failing(option, "the routes delegate to each other in a circle", steps, nodes)

    def _backends(
        self,
        option: Option,
        state: RouteState,
        message: Message,
        request: Request,
        steps: list[Step],
        nodes: list[Node],
        port: int | None,
    ) -> Answer:
        """Spread over the backends, each behind its own filters."""
        found = shares(state, option.rule.number, self._tls)
        maker = "" if found else made_by(option.route)
        if maker:
            reason = f"no backend is written for the rule, but the chart of {maker} may add one"
            return Answer(Outcome(unknown=True, reason=reason), option, tuple(nodes), tuple(steps))
        outcome = end(found)
        answer = Answer(outcome, option, tuple(nodes), mirrors=self._mirrors(state, message))
        if not outcome.backends:
            return answer._replace(steps=tuple(steps), response=shown(message.response_headers))
        per_backend: dict[ResourceKey, Forwarded] = {}
        responses: list[dict[str, str]] = []
        own: list[Step] = []
        tls = False
        for share in found:
            if share.problem or not share.share:
                continue
            towards = message.copy()
            towards.apply(filters_of(option.route, share), (*share.pointer, "filters"), port)
            own += towards.steps
            if towards.redirect is not None:
                return answer._replace(outcome=Outcome(redirect=towards.redirect), steps=(*steps, *own))
            secured = self._tls.of(share)
            tls = tls or secured is not None
            headers = shown(towards.request_headers)
            sni = "" if secured is None else secured.sni
            per_backend[share.key] = Forwarded(request.method, towards.host, towards.path, headers, sni)
            responses.append(shown(towards.response_headers))
        first = next(iter(per_backend.values()))
        same = all(each == first for each in per_backend.values())
        common = {name: value for name, value in responses[0].items() if all(r.get(name) == value for r in responses)}
        plain = Forwarded(request.method, message.host, message.path, shown(message.request_headers))
        return answer._replace(
            steps=(*steps, *own),
            forwarded=first if same else plain,
            per_backend={} if same else per_backend,
            response=common,
            backend_tls=tls,
        )

    def _mirrors(self, state: RouteState, message: Message) -> tuple[ResourceKey, ...]:
        return tuple(each.wanted for each in mirrors(state, message.mirrors))

    def _failing(self, option: Option, reason: str, steps: list[Step], nodes: list[Node]) -> Answer:
        return Answer(Outcome(status=500, reason=reason), option, tuple(nodes), tuple(steps))

    def _state(self, option: Option) -> RouteState:
        state = self._topology.route(option.route.key)
        return state if state is not None else RouteState(option.route, (), (), ())

    def _children(self, option: Option) -> list[tuple[Resource, Sequence[str]]] | None:
        """The routes that a rule hands over to, which serve every host there; None where it has its own backends."""
        found: list[tuple[Resource, Sequence[str]]] = []
        hands_over = False
        for each in self._topology.delegations:
            if each.parent == option.route.key and each.rule == option.rule.number:
                hands_over = True
                child = self._topology.route(each.child)
                if child is not None:
                    found.append((child.route, ("",)))
        return found if hands_over else None


def made_by(route: Resource) -> str:
    """What a route is written in where that is no route: the values of a chart, `HelmRelease media/player`; else ""."""
    document = mapping(getattr(route.location("spec").document, "value", None))
    kind = text(document.get("kind"))
    if kind in ("", "List", "Kustomization", route.key.kind):
        return ""
    metadata = mapping(document.get("metadata"))
    namespace = text(metadata.get("namespace")) or route.key.namespace
    return f"{kind} {namespace}/{text(metadata.get('name'))}"


def limits(rule: Mapping[str, object], pointer: Pointer) -> Iterator[Step]:
    """What a rule says of time and repetition (HTTPRouteTimeouts, HTTPRouteRetry, SessionPersistence), in words."""
    timeouts = mapping(rule.get("timeouts"))
    for name, words in (("request", "request timeout"), ("backendRequest", "timeout of each try")):
        if name in timeouts:
            never = "none" if str(timeouts[name]).strip("hms") == "0" else str(timeouts[name])
            yield Step(f"{words} {never}", (*pointer, "timeouts", name))
    retry = mapping(rule.get("retry"))
    if retry:
        codes = ", ".join(map(str, sequence(retry.get("codes"))))
        attempts = f" {retry['attempts']} times" if "attempts" in retry else ""
        backoff = f", {retry['backoff']} apart" if "backoff" in retry else ""
        yield Step(f"retry{attempts}{f' on {codes}' if codes else ''}{backoff}", (*pointer, "retry"))
    session = mapping(rule.get("sessionPersistence"))
    if session:
        name = f" {session['sessionName']}" if "sessionName" in session else ""
        yield Step(f"keep the session by {session.get('type', 'Cookie')}{name}", (*pointer, "sessionPersistence"))


def end(found: Sequence[Share], *, stream: bool = False) -> Outcome:
    """What shares come to: 500 (a stream: nothing) where none of them works."""
    working = [each for each in found if not each.problem and each.share]
    if working:
        return Outcome(tuple(found))
    if not found:
        reason = "the rule has no backends"
    elif any(each.weight for each in found):
        reason = next(each.problem for each in found if each.problem)
    else:
        reason = "all its backends have weight 0"
    return Outcome(tuple(found), None if stream else 500, refused=stream, reason=reason)


def _prefix(option: Option) -> str:
    """What ReplacePrefixMatch replaces: the prefix that matched."""
    kind, value = path_of(option.match.value)
    return value if kind in PATH_TYPES and kind != "RegularExpression" and not option.match.grpc else "/"


def _fault(route: Resource, rule: Rule) -> Fault | None:
    return next((each for each in faults(route) if each.rule == rule.number), None)
