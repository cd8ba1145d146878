"""What is demanded of a request, purpose by purpose: something, nothing, not known, and what that answer rests on.

The one evaluator of requirements: `trace`, `reach`, guardrails, the comparison of two states and the rules ask here.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final, Literal

from policylint.doors import is_door
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.model import Resource, ResourceKey
from policylint.model.spelling import spelled
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import KINDS
from policylint.policy.asking import Ask, setters
from policylint.policy.authorizing import CLAIM
from policylint.policy.results import Group
from policylint.topology.ancestry import unheard_of
from policylint.trace.request import Request, RequestError
from policylint.trace.result import Trace
from policylint.trace.tracing import Tracer
from policylint.trace.unseen import UnseenPolicies

PURPOSES: Final = ("authentication", "authorization")
_WORDS: Final = {"open": "none", "unknown": "unknown", "optional": "optional", "asked": ""}
State = Literal["asked", "optional", "open", "unknown"]
"""Whether every request is asked; may be, but passes without; is not; or whether that is not known."""


class Asker(NamedTuple):
    """A setting that serves a purpose, and who set it."""

    setting: str
    policy: ResourceKey | None
    must: bool = True

    def __str__(self) -> str:
        """Return `jwt by shop/login`."""
        return self.setting if self.policy is None else f"{self.setting} by {self.policy.path}"


class Asked(NamedTuple):
    """What is asked for one purpose.

    Args:
        why: what is not known, and what makes it so.
        ground: what was not seen and might ask in principle, though nothing suggests that it does; "" where the answer
            is certain.
    """

    state: State
    demands: tuple[Asker, ...] = ()
    why: str = ""
    ground: str = ""

    def __str__(self) -> str:
        """Return `jwt by shop/login`, `jwt by shop/login (optional)`, `none (3 charts not rendered)`, `unknown (…)`."""
        words = " and ".join(map(str, self.demands))
        if self.state == "unknown" and not words:
            return f"unknown ({self.why})" if self.why else "unknown"
        state = _WORDS[self.state]
        said = f"{words} ({state})" if words and state else words or state
        return f"{said} ({self.ground})" if self.ground else said


def login_in_words(given: Asked) -> str:
    """Return `no login (3 charts not rendered)`, `login: jwt by shop/login`, `login: unknown (a chart may ask)`."""
    words = str(given)
    return f"no login{words.removeprefix('none')}" if words.startswith("none") else f"login: {words}"


class Requirements:
    """What the requests of an environment are asked for."""

    __slots__ = ("_doubts", "_policies", "_simulation", "_tracer")

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._simulation = tracer.simulation
        self._doubts: dict[tuple[ResourceKey | None, ...], tuple[str, str]] = {}
        self._policies = UnseenPolicies(tracer.simulation, lambda kind: bool(kind.settings.asking))

    def of(self, trace: Trace, purpose: str, *, identified: bool | None = None, unread: bool = True) -> Asked:
        """Return what a request is asked for.

        Args:
            purpose: one of PURPOSES, or the name of a setting (`jwt`, `rateLimit`): one that asks for nothing need only
                be in force.
            identified: whether who is in no mesh is turned away; None where that is to be found out.
            unread: whether what nobody reads may ask, too (`Trace.may_ask`).
        """
        demands: list[Asker] = []
        backends = set(trace.outcome.backends)
        covered: set[ResourceKey] = set()
        not_read = ""
        for asker, at in (*self._by_connection(trace, purpose, identified), *_by_settings(trace, purpose, backends)):
            demands.append(asker)
            not_read = not_read or (doubt := self._may_not_be_read(trace, asker))
            if asker.must and not doubt:
                covered |= backends if at is None else {at}
        if not covered >= backends or not demands:
            for asker, at in self._by_proxies(trace, purpose, backends):
                demands.append(asker)
                covered |= backends if at is None else {at}
        told = tuple(dict.fromkeys(demands))
        if any(demand.must for demand in told) and covered >= backends:
            return Asked("asked", told)
        why = self._unknown(trace) or not_read
        if unread and not why and trace.may_ask:
            hidden = (str(each) for met in trace.policies for each in met.left_open if each.hides)
            doubt = next((met.doubt for met in trace.policies if met.doubt), "") or next(hidden, "")
            doubt = doubt and f": {doubt}"
            why = f"{trace.may_ask[0]} may ask for it{doubt}"
        ground = ""
        if not why:
            why, ground = self._unseen(trace)
        if why:
            return Asked("unknown", told, why)
        return Asked("optional" if told else "open", told, "", ground)

    def _may_not_be_read(self, trace: Trace, asker: Asker) -> str:
        """Return why what asks may not be read where the request comes in; "" where it is."""
        kind = None if asker.policy is None else self._simulation.catalog.get(*asker.policy[:2])
        if kind is None:
            return ""
        controller = unheard_of(self._tracer.topology, trace.gateway, kind, self._simulation.catalog)
        return controller and f"{controller} is a controller that may not read {asker.policy}"

    def _by_connection(
        self, trace: Trace, purpose: str, identified: bool | None
    ) -> Iterator[tuple[Asker, ResourceKey | None]]:
        """Yield what clients must show before any request of theirs is read: a certificate, an identity in the mesh."""
        if purpose != "authentication":
            return
        gateway = None if trace.gateway is None else self._tracer.topology.gateway(trace.gateway)
        listener, certificates = trace.listener, self._tracer.certificates
        if gateway and listener and (found := certificates.at(gateway, listener, must=False)):
            yield Asker("client certificate", trace.gateway, any(each.must for each in found)), None
        elif trace.gateway is None and (self._keeps_strangers_out(trace) if identified is None else identified):
            yield Asker("identity in the mesh", None), None

    def _keeps_strangers_out(self, trace: Trace) -> bool:
        """Tell whether the same request is turned away from who is in no mesh."""
        from policylint.simulation.clients import UNMESHED

        request = trace.request
        if not request.client or request.client == UNMESHED:
            return False
        twin = self._traced(trace, request._replace(client=UNMESHED))
        return twin is not None and twin.denied is not None and not twin.outcome.backends

    def _by_proxies(
        self, trace: Trace, purpose: str, backends: Set[ResourceKey]
    ) -> Iterator[tuple[Asker, ResourceKey | None]]:
        """Yield what proxies demand by their rules: the word of an authorizer outside, who decides who sends a request
        and what that may do; and a token where the same request without one is turned away."""
        if purpose not in PURPOSES:
            return
        for admission in trace.admissions:
            decision = admission.decision
            if decision.answer == "depends" and decision.asks:
                end = admission.at.path[-1].key
                behind = None if end == trace.gateway else self._behind(trace, end)
                yield Asker(decision.asks, _key(decision.by)), behind
        by_claims = any(question.name.startswith(CLAIM) for question in trace.questions)
        if purpose != "authentication" or not by_claims or trace.request.claims == ():
            return
        twin = self._traced(trace, trace.request._replace(claims=()))
        if twin is None or twin.outcome.unknown or twin.rule != trace.rule:
            return
        turned = {each.at.path[-1].key: each.decision for each in twin.admissions if each.decision.answer == "denied"}
        lost = backends - set(twin.outcome.backends)
        for decision in turned.values():
            for key in sorted(lost):
                yield Asker("token", _key(decision.by)), None if lost == backends else key
        for judged in twin.judged if lost and not turned else ():
            if judged.decision.answer == "denied":
                yield Asker("token", judged.policy), None

    def _behind(self, trace: Trace, workload: ResourceKey) -> ResourceKey | None:
        """Return the backend that a workload is behind, None for what stands before all of them."""
        acting = self._tracer.simulation.acting
        for share in trace.outcome.shares:
            if workload in (share.key, *(each.key for each in acting.workloads(share.key, share.labels))):
                return share.key
        return None

    def _traced(self, trace: Trace, twin: Request) -> Trace | None:
        """Return the trace of another request on the same way, None where that cannot be asked."""
        if trace.gateway is not None and not twin.gateway:
            twin = twin._replace(gateway=spelled(trace.gateway))
        try:
            return self._tracer.past_services(twin) if twin.pod else self._tracer.trace(twin)
        except RequestError:
            return None

    def _unknown(self, trace: Trace) -> str:
        """Return which thing on the way was not seen or not decided."""
        if trace.gateway in self._simulation.topology.unseen:
            return f"{trace.gateway} was not seen"
        return trace.outcome.reason if trace.outcome.unknown else ""

    def _unseen(self, trace: Trace) -> tuple[str, str]:
        """Return what that was not seen names the route and may ask, and what might ask in principle."""
        place = (trace.gateway, None if trace.route is None else trace.route.key, *trace.outcome.backends)
        if place not in self._doubts:
            self._doubts[place] = self._doubt(trace)
        return self._doubts[place]

    def _doubt(self, trace: Trace) -> tuple[str, str]:
        if trace.route is None:
            return "", ""
        state = self._simulation.topology.route(trace.route.key)
        anywhere = f"the namespace of {trace.route.key} is not known" if trace.route.key.unplaced else ""
        if anywhere and any(key[:2] not in KINDS for key in self._simulation.policies):  # one may be for that namespace
            return anywhere, ""
        met = [trace.route.key, *(key for key in (trace.gateway,) if key is not None)]
        if trace.listener is not None:
            met.append(trace.listener.holder.key)
        met += trace.outcome.backends or ([] if state is None else [backend.wanted for backend in state.backends])
        found = self._policies.on(met)
        if found.who:
            return f"{found.who} may ask for it" + (f": {found.why}" if found.why else ""), found.ground
        unconfigured = self._unconfigured(trace)
        if unconfigured and trace.gateway is not None and trace.gateway[:2] == OWN_GATEWAY:
            return unconfigured, ""  # it names a policy that selects the pods
        return "", anywhere or found.ground or unconfigured or found.of_others

    def _unconfigured(self, trace: Trace) -> str:
        """Return which settings of the controller of a door were not seen, that may ask at all of its entries."""
        door = (
            None
            if trace.gateway is None or not is_door(trace.gateway)
            else self._tracer.topology.gateway(trace.gateway)
        )
        return "" if door is None or not door.class_resolution.unknown else door.class_resolution.reason


def _key(resource: Resource | None) -> ResourceKey | None:
    return None if resource is None else resource.key


def _by_settings(trace: Trace, purpose: str, backends: Set[ResourceKey]) -> Iterator[tuple[Asker, ResourceKey | None]]:
    """Yield what policies, filters and extensions ask by their settings, with the backend for which alone they do."""
    for met in trace.policies:
        asks = [ask for ask in met.asks if _is_meant(ask, purpose)]
        for ask in asks:
            yield Asker(ask.name, _owner(met.group, ask.asking), ask.must), met.backend
        if not asks and purpose not in PURPOSES and purpose in met.spec:
            yield Asker(purpose, _owner(met.group, purpose)), met.backend
    if trace.route is not None and (purpose == "authentication" or purpose in trace.filters_asking):
        names = trace.filters_asking if purpose == "authentication" else (purpose,)
        for name in names:
            yield Asker(name, trace.route.key), None
    for binding in trace.extensions:
        named = {"authentication": binding.authenticates, "authorization": binding.authorizes}.get(purpose, {})
        for name, must in named.items():
            yield Asker(name, binding.wanted, must), binding.node.key if binding.node.key in backends else None


def _is_meant(ask: Ask, purpose: str) -> bool:
    return ask.purpose == purpose if purpose in PURPOSES else purpose in (ask.name, ask.path)


def _owner(group: Group, path: str) -> ResourceKey | None:
    """Return who set the first field of a setting."""
    return next(iter(setters(group.effective, path)), None)
