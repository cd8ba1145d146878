"""The trace of a request: plain values for reports and checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import Location, Node, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import Ask, setters, unread
from policylint.policy.authorizing import Decision, NearestRule, PlacedDecision, RequestQuestion
from policylint.policy.bindings import ObjectBinding
from policylint.policy.handling import Redirect
from policylint.policy.results import Group
from policylint.topology import ListenerState
from policylint.topology.workloads import Labels
from policylint.trace.filters import Step
from policylint.trace.left_open import OpenSetting
from policylint.trace.request import Request

if TYPE_CHECKING:
    from policylint.implementations.generic.sessions import BackendSession
    from policylint.network.hops import Way


class Share(NamedTuple):
    """A backend and its share of the requests; `problem` says why it returns an error instead.

    Args:
        share: 0 to 1.
        pointer: of the backendRef below the route, () where there is none.
        route: that names it, where it is not the one that takes the request.
        status: of the error.
        labels: of the pods that get its requests, where others are behind the backend, too.
    """

    key: ResourceKey
    port: int | None
    weight: int
    share: float
    pointer: Pointer = ()
    section: Node | None = None
    problem: str = ""
    route: Resource | None = None
    status: int = 500
    labels: Labels = ()


class Outcome(NamedTuple):
    """The end of a request: at backends, with a status, redirected or refused.

    Args:
        shares: the backends with their shares, those that fail included.
        status: of a response that no backend gives, None of an error whose status is not known; for a part of the
            requests where `shares` has working backends too.
        refused: no TLS session, nothing on the port, or network policies in the way to all backends.
        unknown: the manifests do not determine the end.
        reason: why, for every end that is no backend.
        grpc_status: what a gRPC client sees instead of an HTTP status.
    """

    shares: tuple[Share, ...] = ()
    status: int | None = None
    redirect: Redirect | None = None
    refused: bool = False
    reason: str = ""
    grpc_status: str = ""
    unknown: bool = False

    @property
    def backends(self) -> dict[ResourceKey, float]:
        """The share of every working backend with a share above 0, by object."""
        if len(self.shares) < 2:
            return {share.key: share.share for share in self.shares if share.share and not share.problem}
        by_object: dict[ResourceKey, float] = {}
        for share in self.shares:
            if not share.problem and share.share:
                by_object[share.key] = by_object.get(share.key, 0.0) + share.share
        return dict(sorted(by_object.items()))

    @property
    def failing(self) -> float:
        """The share of requests that get an error because their backend cannot be used."""
        return sum(share.share for share in self.shares if share.problem)

    @property
    def answered(self) -> bool:
        return bool(self.backends) or self.redirect is not None


class Forwarded(NamedTuple):
    """A request as a backend receives it."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    sni: str = ""


class Considered(NamedTuple):
    """A rule that matched as well, and why another one came first."""

    rule: Node
    because: str
    route: Resource
    pointer: Pointer


class Nearest(NamedTuple):
    """A rule or listener that would have taken the request had it been slightly different, and what that lacks."""

    node: Node
    needs: tuple[str, ...]
    resource: Resource
    pointer: Pointer


class Met(NamedTuple):
    """An effective policy that applies to a request: whichever backend it goes to (None), or only for one.

    Args:
        asks: what it asks of requests.
        places: of its fields in the order in which its implementation's settings act, as far as that is known.
        spec: what of its effective spec is about the request.
        port: the port of the backend where it acts on that one alone.
        doubt: why it is not known whether it acts; "" where it does.
        left_open: the variables that stand for parts of what it asks.
    """

    group: Group
    backend: ResourceKey | None = None
    asks: tuple[Ask, ...] = ()
    places: Mapping[str, int] = {}
    spec: Mapping[str, Any] = {}
    port: str = ""
    doubt: str = ""
    left_open: tuple[OpenSetting, ...] = ()

    @property
    def unread(self) -> list[tuple[str, Any]]:
        """The settings that may ask for anything, and what they say; "" stands for all of it."""
        kind = self.group.kind
        if not kind.settings.code and not kind.settings.raw:
            return []
        return list(unread(kind, self.spec, (attachment.policy.spec for attachment in self.group.effective.stack)))

    @property
    def skipped(self) -> bool:
        """Whether its conditions do not hold for the request."""
        return not self.spec and bool(self.group.effective.spec)


class Judged(NamedTuple):
    """What one policy answers a request: whose setting decides, and where it is written.

    `met` is what holds it, None for an object that a filter names.
    """

    decision: Decision
    policy: ResourceKey
    location: Location | None
    met: Met | None


class Trace(NamedTuple):
    """One request through one environment.

    Args:
        listener: the listener that takes it; `others` how many more of the Gateway could have.
        by_routes: whether it was chosen for its routes, as in `Selection`.
        rule, match, hostname: the rule that takes it, which of its matches and which hostname, in words.
        path: the nodes it passes, down to the rule.
        forwarded: as the backends receive it; `per_backend` where their own filters make that differ.
        sessions: how its backends are connected to, by object and port; None where that is not known.
        response: the headers that the filters and the backend leave in the response.
        filters_asking: the fields of its rule's filters that ask who sends it.
        beyond: the waypoint and the workloads that it passes beside the path, where proxies of a mesh are asked.
        admissions: what the proxies on its way answer, in this order.
        extensions: what filters and annotations on its way name and no evaluator judges.
        failed_by: the refused policy by which it is answered with an error.
        judged: what policies that authorize answer it.
        questions: what those policies, and the proxies on its way, asked about it.
        considered: the rules that matched but came second; all that may take it where that is not known.
        nearest: near misses; only where nothing matched.
        notes: the assumptions behind the result.
        settled: the objects that its filters name of which nothing is left to say: the trace has what they do, or
            their turn never comes, as another one before them answers.
        network: the hops to the backends that `outcome` rests on, None where no network policy is in sight.
        logins: its backends, where all of them are called as programs are that ask for a login themselves.
    """

    request: Request
    outcome: Outcome
    gateway: ResourceKey | None = None
    listener: ListenerState | None = None
    others: int = 0
    by_routes: bool = False
    route: Resource | None = None
    rule: Node | None = None
    rule_pointer: Pointer = ()
    match: str = ""
    hostname: str = ""
    path: tuple[Node, ...] = ()
    steps: tuple[Step, ...] = ()
    forwarded: Forwarded | None = None
    per_backend: Mapping[ResourceKey, Forwarded] = {}
    response: Mapping[str, str] = {}
    mirrors: tuple[ResourceKey, ...] = ()
    backend_tls: bool = False
    sessions: Mapping[tuple[ResourceKey, int | None], BackendSession | None] = {}
    policies: tuple[Met, ...] = ()
    extensions: tuple[ObjectBinding, ...] = ()
    failed_by: ResourceKey | None = None
    judged: tuple[Judged, ...] = ()
    questions: tuple[RequestQuestion, ...] = ()
    filters_asking: tuple[str, ...] = ()
    beyond: tuple[Node, ...] = ()
    admissions: tuple[PlacedDecision, ...] = ()
    considered: tuple[Considered, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    notes: tuple[str, ...] = ()
    network: Way | None = None
    settled: frozenset[ResourceKey] = frozenset()
    logins: tuple[ResourceKey, ...] = ()

    @property
    def is_cut_off(self) -> bool:
        """Whether network policies keep the request from all of its backends."""
        return self.network is not None and self.outcome.refused

    @property
    def unsettled(self) -> str:
        """Why it is not known whether the network lets the request through to its backends; "" where that is known.

        Of a client inside the cluster of which no pod was seen, the network can say nothing.
        """
        if self.network is None or not (self.network.hops or self.gateway) or not self.outcome.backends:
            return ""
        return self.network.doubt

    @property
    def authorization(self) -> str:
        """The answer of the proxies on its way together: `denied`, `depends`, `allowed`, "" where none is asked."""
        answers = {admission.decision.answer for admission in self.admissions}
        if self.outcome.refused or (self.outcome.status is not None and "denied" in answers):
            return "denied" if "denied" in answers else ""
        return "depends" if answers & {"depends", "denied"} else "allowed" if answers else ""

    @property
    def denied(self) -> tuple[ResourceKey | None, Location | None] | None:
        """Who turns the request away, and where that is written; None where nobody certainly does."""
        for judged in self.judged:
            if judged.decision.answer == "denied":
                return judged.policy, judged.location
        if self.outcome.backends:
            return None
        for admission in self.admissions:
            decision = admission.decision
            if decision.answer == "denied":
                return (
                    (None, None) if decision.by is None else (decision.by.key, decision.by.location(*decision.pointer))
                )
        stopped = None if self.network is None else self.network.stopped
        step = None if stopped is None else stopped.deciding
        if step is None or step.policy is None:
            return None
        pointer = step.policy.pointer if step.rule is None else step.rule.pointer
        return step.policy.key, step.policy.resource.location(*(pointer or ("metadata", "name")))

    @property
    def near_miss(self) -> tuple[ResourceKey | None, NearestRule] | None:
        """The rule that comes nearest to letting in a request that is turned away, with the policy that has it."""
        if not any(self.outcome.backends):
            for judged in self.judged:
                if judged.decision.answer == "denied" and judged.decision.nearest is not None:
                    return judged.policy, judged.decision.nearest
            for admission in self.admissions:
                near = admission.decision.nearest
                if admission.decision.answer == "denied" and near is not None:
                    return None if near.by is None else near.by.key, near
        return None

    @property
    def may_ask(self) -> list[str]:
        """What may ask the request for anything, as nobody reads it: `lua of app/script`, `KongPlugin app/fn`."""
        settings = [
            f"{_unread_in_words(setting, value)} of {owner.path}" if setting else str(owner)
            for met in self.policies
            for setting, value in met.unread
            for owner in setters(met.group.effective, setting)
        ]
        doubtful = [str(key) for met in self.policies if met.doubt for key in met.group.effective.sources]
        doubtful += [str(each.policy.key) for met in self.policies for each in met.left_open if each.hides]
        extensions = (str(each.wanted) for each in self.extensions if each.may_ask)
        return list(dict.fromkeys([*doubtful, *settings, *extensions, *map(str, self.logins)]))

    @property
    def depends(self) -> list[Judged]:
        """The policies that may keep the request out; none where one certainly does."""
        answers = {judged.decision.answer for judged in self.judged}
        return [judged for judged in self.judged if judged.decision.answer == "depends" and "denied" not in answers]


def _unread_in_words(setting: str, value: object) -> str:
    """Return a setting that nobody reads in words: of a door what it says, for which there is no field."""
    if setting != "unread":
        return setting
    return ", ".join(map(str, value)) if isinstance(value, dict) else str(value)
