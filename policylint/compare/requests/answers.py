"""What one side answers a request, and how the answers of two sides differ: in their end, and in what is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal

from policylint.compare.protection.spec import weakenings
from policylint.compare.sameness import encoded, meaning
from policylint.documents import Pointer
from policylint.doors import is_door
from policylint.doors.vendors import protection_name
from policylint.implementations.generic.preflights import in_full
from policylint.model import PolicyKind, ResourceKey
from policylint.model.resource import mapping, sequence, texts, value_at
from policylint.model.words import listing, shortened
from policylint.namedtuple import NamedTuple
from policylint.network.addressed import SERVICE, destinations
from policylint.policy.asking import setters
from policylint.policy.authorizing import PlacedDecision
from policylint.policy.bindings import ObjectBinding
from policylint.policy.results import Group
from policylint.policy.units import leaves
from policylint.reach import WayIn, asked, end_in_words
from policylint.trace import PURPOSES, Asked, Met, Requirements, Trace, Tracer, login_in_words
from policylint.trace.admissions import leads_nowhere

FILTERS = "filters"
"""The name under which a difference in what a route does to requests stands among settings."""
_TO_BACKENDS = "backendTLS"
"""What doors call TLS between the proxy and the backends."""
NO_RULE = "404: no matching route"
_OF_HEADERS = re.compile(r"^(set|add|remove) header [^=\s]+")
UNTREATED = "nothing"
"""What a route does to requests that it only passes on, in words."""
Change = Literal["opened", "closed", "less-asked", "more-asked", "rerouted", "changed"]
MIRRORED: Mapping[Change, Change] = {
    "opened": "closed",
    "closed": "opened",
    "less-asked": "more-asked",
    "more-asked": "less-asked",
    "rerouted": "rerouted",
    "changed": "changed",
}
"""What a change is for who goes back from after to before."""


class Demanded(NamedTuple):
    """A setting that asks something: whether it must be met, its value, and who set it.

    Args:
        spec: the effective spec that it stands in.
    """

    kind: PolicyKind
    path: str
    must: bool
    value: str
    spec: Mapping[str, Any]
    group: Group


DemandKey = tuple[str, str, ResourceKey | None]
"""The kind of policy and the setting that asks, and the backend for whose requests; None for all."""


class RequestAnswer(NamedTuple):
    """What one side answers a request.

    Args:
        end: where it ends, comparable; equal where no rule takes it.
        serves: whether it gets to a backend.
        denied: whether a policy turns the requests away.
        in_part: whether that is said of one of them, and others are perhaps answered otherwise.
        unknown: why it is not known where it ends.
        asked: by purpose, apart from what something unread may ask.
        treated: what its route does to it (headers, paths, mirrors, CORS, limits, extensions), in words and in full.
        rest: all else that is done to it: other settings of policies, the network.
        unread: what may ask it for anything, as nobody reads it, with what that says.
        ground: what it hangs on whether policies are asked at all: those that turned it away before speak for it.
        behind: what was not seen and may turn the request away: the pods of a backend; "" where all of them were.
        at_pods: whether the proxies of pods turn it away to which a backend leads.
    """

    trace: Trace
    end: tuple[object, ...]
    serves: bool
    denied: bool
    in_part: bool
    unknown: str
    asked: Mapping[str, Asked]
    demands: Mapping[str, Mapping[DemandKey, Demanded]]
    treated: tuple[Treatment, ...]
    rest: tuple[object, ...]
    unread: tuple[object, ...] = ()
    ground: str = ""
    behind: str = ""
    at_pods: bool = False

    @property
    def said(self) -> Said:
        """The answer in words, but for which backend gives it."""
        if not self.serves or self.withheld:
            return Said(_ended(self))
        login, authorization = (
            Demands(
                given.state,
                " and ".join(dict.fromkeys(asker.setting for asker in given.demands)),
                ", ".join(dict.fromkeys(asker.policy.path for asker in given.demands if asker.policy is not None)),
                given.why or given.ground,
            )
            for given in map(self.asked.__getitem__, PURPOSES)
        )
        return Said("", login, authorization)

    @property
    def refusals(self) -> list[PlacedDecision]:
        """What the proxies of a mesh refuse the request with, or do if something is so that nothing says."""
        return [
            admission
            for admission in self.trace.admissions
            if admission.decision.answer == "denied"
            or admission.decision.refuses
            or (admission.decision.answer == "depends" and admission.decision.by is not None)
        ]

    @property
    def by_rule(self) -> bool:
        """Whether a rule of a mesh's policy turns it away, and not only that no other lets it in."""
        return any("rules" in admission.decision.pointer for admission in self.refusals)

    @property
    def withheld(self) -> bool:
        """Whether it is served, unless something is so that nothing says: that its pods are in the mesh."""
        return self.serves and bool(self.refusals)

    def with_doubts(self) -> RequestAnswer:
        """Return the answer with what is not asked for certain not known, where something unread may ask for it."""
        if not self.unread:
            return self
        why = f"{self.unread[0]} may ask for it"
        return self._replace(
            asked={
                purpose: given if given.state in ("asked", "unknown") else given._replace(state="unknown", why=why)
                for purpose, given in self.asked.items()
            }
        )


class Demands(NamedTuple):
    """What is asked for one purpose, in words.

    Args:
        state: as in `Asked`; "" where the requests get to no backend.
        words: the settings, "" for none.
        by: the policies that set them.
        doubt: why it is not known, or what was not seen.
    """

    state: str = ""
    words: str = ""
    by: str = ""
    doubt: str = ""


class Said(NamedTuple):
    """What one side answers some requests, in words, whichever backend does: how they end, and what is asked of them.

    Args:
        end: how they end, "" where a backend answers.
    """

    end: str
    login: Demands = Demands()
    authorization: Demands = Demands()


class Treatment(NamedTuple):
    """One thing that a route does to a request, in words and in full; `asks` where it may be who asks."""

    words: str
    detail: str = ""
    asks: bool = False

    @property
    def meaning(self) -> tuple[str, str]:
        """It as one of all that do the same: a header has one name, in whatever letters (RFC 9110, section 5.1)."""
        return _OF_HEADERS.sub(lambda found: found.group().lower(), self.words), self.detail


_MEANING = attrgetter("meaning")


class Difference(NamedTuple):
    """One thing that two sides answer differently.

    Args:
        purpose: of what is asked, "" for where requests end.
        settings: the names of the settings that ask otherwise.
        unknown: why it is not known whether anything differs; the change then says nothing.
        ground: what was not seen and may still ask, or refuse, on the side after.
    """

    change: Change
    purpose: str = ""
    before: str = ""
    after: str = ""
    settings: tuple[str, ...] = ()
    unknown: str = ""
    ground: str = ""


class Answers:
    """The answers of one side.

    Args:
        lacking: the objects that the other side alone has: they are not there, whoever names them.
    """

    __slots__ = ("_hears", "_lacking", "_requirements", "_specs", "simulation")

    def __init__(self, tracer: Tracer, lacking: Collection[ResourceKey] = ()) -> None:
        self._lacking = lacking
        self.simulation = tracer.simulation
        self._hears = tracer.admissions.hears
        self._specs: dict[tuple[int, tuple[str, ...]], str] = {}
        self._requirements = Requirements(tracer)

    def of(self, way: WayIn) -> RequestAnswer:
        """Return the answer to the request of a way."""
        way = way._replace(trace=_settled(way.trace, self._hears), certificate=way.certificate and not way.entry.inside)
        trace = way.trace
        ended = trace.outcome
        doubts = {each.decision.why for each in trace.admissions if each.decision.answer == "depends"}
        refusing = {each.decision.why for each in trace.admissions if each.decision.refuses}
        ground = way.doubt if doubts <= refusing else ""
        serves = bool(ended.backends)
        purposes = (
            {purpose: asked(self._requirements, way, purpose, unread=False) for purpose in PURPOSES} if serves else {}
        )
        demands: dict[str, dict[DemandKey, Demanded]] = {purpose: {} for purpose in PURPOSES}
        for met in trace.policies:
            for ask in met.asks:
                spec = met.group.effective.spec
                value = _text(value_at(spec, tuple(ask.path.split("."))), ask.path.rpartition(".")[2])
                asking = Demanded(met.group.kind, ask.path, ask.must, value, spec, met.group)
                demands[ask.purpose][met.group.kind.kind, ask.path, met.backend] = asking
        return RequestAnswer(
            trace,
            _end(trace),
            serves,
            trace.denied is not None,
            bool(way.undecided),
            ended.reason or "it depends on what was not seen" if ended.unknown else "" if ground else way.doubt,
            purposes,
            demands,
            tuple(_treated(trace)),
            self._rest(way),
            self._unread(way),
            ground,
            self._behind(trace),
            self._is_refused_at_pods(trace),
        )

    def _is_refused_at_pods(self, trace: Trace) -> bool:
        refusing = {each.at.path[0].key for each in trace.admissions if each.decision.answer == "denied"}
        pods = (self.simulation.acting.workloads(share.key, share.labels) for share in trace.outcome.shares if refusing)
        return any(workload.key in refusing for workloads in pods for workload in workloads)

    def _behind(self, trace: Trace) -> str:
        world = self.simulation.world
        for share in trace.outcome.shares:
            service = world.get(share.key) if share.share and not share.problem and share.key[:2] == SERVICE else None
            if service is not None and not (service.spec.get("selector") or destinations(world, service, share.port)):
                return leads_nowhere(service)
        doubts = (each for each in trace.admissions if each.decision.answer == "depends")
        return next((each.decision.why for each in doubts if each.at.resource.key[:2] == SERVICE), "")

    def _unread(self, way: WayIn) -> tuple[object, ...]:
        """Return what may ask the request for anything, and what that says; empty where nothing does."""
        trace = way.trace
        gone = {str(each.wanted) for each in trace.extensions if each.wanted in self._lacking and _is_left_out(each)}
        if gone.issuperset(trace.may_ask):
            return ()
        said = [
            (setting, _text(value, setting.rpartition(".")[2]))
            for met in trace.policies
            for setting, value in met.unread
        ]
        return (*trace.may_ask, *said, *((each.wanted, each.says) for each in trace.extensions if each.may_ask))

    def _rest(self, way: WayIn) -> tuple[object, ...]:
        trace = way.trace
        return (
            trace.outcome.status,
            trace.outcome.refused,
            trace.outcome.grpc_status,
            way.certificate,
            sorted(
                (met.group.kind.kind, str(met.backend), spec) for met in trace.policies if (spec := self._spec(met))
            ),
            sorted((binding.wanted, binding.form, binding.resolution.state) for binding in trace.extensions),
            trace.backend_tls,
            [(admission.decision.answer, admission.decision.why) for admission in trace.admissions],
            None if trace.network is None else trace.network.verdict,
        )

    def _policy(self, met: Met) -> tuple[str, str, str]:
        return met.group.kind.kind, str(met.backend), self._spec(met)

    def _spec(self, met: Met) -> str:
        """Return what else a policy does: all but the authorization that has decided on the request."""
        group = met.group
        open_settings = {ask.path for ask in met.asks}
        decided = tuple(path for path in group.kind.settings.authorization if path not in open_settings)
        place = (id(group), decided)
        if place not in self._specs:
            spec: Any = group.effective.spec
            for path in decided:
                spec = _without(spec, path.split("."))
            self._specs[place] = (
                _text([spec, str(group.effective.refused or "")]) if spec or group.effective.refused else ""
            )
        return self._specs[place]


def _is_left_out(binding: ObjectBinding) -> bool:
    """Return whether requests are served without an object that is named and not there."""
    return binding.form == "annotation" or (binding.kind is not None and binding.kind.unresolved == "skipped")


def _settled(trace: Trace, hears: Callable[[str], bool]) -> Trace:
    """Return a trace without the demands of authorization that have decided on the request: it shows in the end.

    What a policy leaves to the server (a token, an expression) is still a demand.

    Args:
        hears: whether proxies ask the policies of an implementation.
    """
    # no proxy of pods that are seen answers where none of their policies is about the port
    by_proxies = bool(trace.admissions or trace.beyond) and all(
        admission.decision.answer != "depends" for admission in trace.admissions
    )
    policies = []
    for met in trace.policies:
        decided = [
            judged.decision.pointer
            for judged in trace.judged
            if judged.met is met and judged.decision.answer != "depends"
        ]
        asked_of_proxies = by_proxies and hears(met.group.kind.implementation)
        asks = tuple(
            ask
            for ask in met.asks
            if ask.purpose != "authorization"
            or not (asked_of_proxies or any(_is_below(pointer, ask.path) for pointer in decided))
        )
        policies.append(met._replace(asks=asks))
    return trace._replace(policies=tuple(policies))


def _is_below(pointer: Pointer, path: str) -> bool:
    steps = tuple(path.split("."))
    return pointer[: len(steps)] == steps


def _without(value: Any, steps: list[str]) -> Any:
    """Return a value without what stands at a place."""
    if not isinstance(value, Mapping) or steps[0] not in value:
        return value
    rest = {} if len(steps) == 1 else _without(value[steps[0]], steps[1:])
    left = {name: inner for name, inner in value.items() if name != steps[0]}
    return {**left, steps[0]: rest} if rest else left


def _text(value: object, field: str = "") -> str:
    return encoded(meaning(value, field))


def _end(trace: Trace) -> tuple[object, ...]:
    ended = trace.outcome
    if ended.unknown:
        return ("unknown", ended.reason)
    if ended.redirect is not None:
        return ("redirect", *ended.redirect)
    if ended.backends:
        return ("backends", *sorted(_shares(trace).items(), key=str))
    if trace.rule is None and not trace.authorization:
        return ("no rule",)
    return ("refused",) if ended.refused else ("status", ended.status)


def _shares(trace: Trace) -> dict[tuple[ResourceKey | None, int | None], float]:
    """Return the share of every backend by object and port; None for those that fail."""
    shares: dict[tuple[ResourceKey | None, int | None], float] = {}
    for share in trace.outcome.shares:
        if share.share:
            place = (None, None) if share.problem else (share.key, share.port)
            shares[place] = round(shares.get(place, 0.0) + share.share, 6)
    return shares


def _treated(trace: Trace) -> Iterator[Treatment]:
    """Yield what a route does to a request; whom it asks is `RequestAnswer.asked`."""
    if trace.route is None:
        return
    for step in trace.steps:
        if step.pointer[-1] not in ("externalAuth", "extensionRef"):
            yield Treatment(step.what)
    for mirror in trace.mirrors:
        yield Treatment(f"mirror to {mirror.path}")
    for binding in trace.extensions:
        if binding.form == "filter":
            resource, kind = binding.resolution.resource, binding.kind
            asks = kind is not None and bool(kind.settings.asking)
            yield Treatment(str(binding.wanted), "" if resource is None else _text(resource.spec), asks)
    rule = mapping(value_at(trace.route.body, trace.rule_pointer[:3]))
    for holder in (rule, *map(mapping, sequence(rule.get("backendRefs")))):
        for route_filter in map(mapping, sequence(holder.get("filters"))):
            if route_filter.get("type") == "CORS":  # a step only for requests with an Origin
                cors = mapping(route_filter.get("cors"))
                whose = listing(sorted(texts(cors.get("allowOrigins"))))
                whose += " with credentials" if cors.get("allowCredentials") is True else ""
                yield Treatment(f"CORS for {whose}", _text(in_full(cors)))


def differences(before: RequestAnswer, after: RequestAnswer) -> Iterator[Difference]:
    """Yield how the answers to one request differ; nothing where they only differ in other settings of policies."""
    change: Change
    if before.end != after.end:
        yield _of_ends(before, after)
    elif before.denied and after.denied and before.refusals and after.refusals and before.by_rule != after.by_rule:
        change = "less-asked" if before.by_rule else "more-asked"
        unknown = before.unknown or after.unknown
        yield Difference(change, "", end_in_words(before.trace), end_in_words(after.trace), (), unknown)
    elif before.withheld != after.withheld and before.serves:
        change = "opened" if before.withheld else "closed"
        first, second = (before, after) if before.withheld else (after, before)
        unknown, ground = second.unknown, first.unknown or first.ground or second.ground
        yield Difference(change, "", _ended(before), _ended(after), (), unknown, ground)
    elif before.trace.unsettled != after.trace.unsettled:
        yield Difference("changed", unknown=after.trace.unsettled or before.trace.unsettled)
    if before.serves and after.serves:
        for purpose in PURPOSES:
            difference = _of_purpose(purpose, before, after)
            if difference is not None:
                yield difference
        was, now = _comparable(before.treated, after.treated), _comparable(after.treated, before.treated)
        if sorted(map(_MEANING, was)) != sorted(map(_MEANING, now)) or _sent(before.trace) != _sent(after.trace):
            yield Difference("changed", "", _own(was, now), _own(now, was), (FILTERS,))


def protections(before: RequestAnswer, after: RequestAnswer, *, moves: bool) -> Iterator[Difference]:
    """Yield the protections (limits, firewalls) of requests that one side alone has: those that filters name, and all
    for what moves to another kind of door: each kind of policy has its own words, but a limit is a limit."""
    if not (before.serves and after.serves):
        return
    was, now = _protecting(before, policies=moves), _protecting(after, policies=moves)
    if after.trace.gateway is None or is_door(after.trace.gateway) or after.trace.backend_tls:
        was.pop(_TO_BACKENDS, None)  # what other doors say of that is not all read
    for name in sorted({*was, *now}):
        if (name in was) != (name in now):
            first, second = was.get(name, UNTREATED), now.get(name, UNTREATED)
            change: Change = "less-asked" if name in was else "more-asked"
            yield Difference(change, "", first, second, (name,))


def _protecting(answer: RequestAnswer, *, policies: bool) -> dict[str, str]:
    """Return the protections of a request by name, in words: `rateLimit of shop/web`."""
    found: dict[str, str] = {}
    for binding in answer.trace.extensions:
        for setting in binding.protects:
            found.setdefault(protection_name(setting), f"{setting} of {binding.wanted.path}")
    for met in answer.trace.policies if policies else ():
        for setting in met.group.kind.settings.protection:
            if value_at(met.spec, tuple(setting.split("."))):
                owner = next(iter(setters(met.group.effective, setting)), None)
                words = f"{setting} of {owner.path}" if owner is not None else setting
                found[protection_name(setting)] = words
    return found


def _comparable(treated: tuple[Treatment, ...], other: tuple[Treatment, ...]) -> list[Treatment]:
    """Return what one side does to a request, but for who asks there alone."""
    named = {treatment.words for treatment in other}
    return [treatment for treatment in treated if not treatment.asks or treatment.words in named]


def _sent(trace: Trace) -> tuple[object, ...]:
    """Return what the backends receive and the client is answered, apart from who they are."""
    sent = trace.forwarded
    received = () if sent is None else (sent.host, sent.path, _folded(sent.headers))
    return received, _folded(trace.response)


def _folded(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return headers by what they are called, in whatever letters."""
    return {name.lower(): value for name, value in (headers or {}).items()}


def _own(treated: Sequence[Treatment], other: Collection[Treatment]) -> str:
    """Return what one side alone does to a request, all of it where the order alone makes the difference."""
    others = set(map(_MEANING, other))
    own = [treatment for treatment in treated if treatment.meaning not in others]
    told = treated if set(map(_MEANING, treated)) == others else own
    return ", ".join(treatment.words for treatment in told) or UNTREATED


def _of_ends(before: RequestAnswer, after: RequestAnswer) -> Difference:
    change: Change = "changed"
    if before.serves != after.serves:
        change = "opened" if after.serves else "closed"
    elif before.serves:
        change = "rerouted"
    unsettled, ground = after.trace.unsettled or before.trace.unsettled, after.ground
    kept_out, let_in = (before, after) if change == "opened" else (after, before)
    if change in ("opened", "closed"):
        unsettled = unsettled or _may_still(kept_out, let_in)
    if change in ("opened", "closed") and kept_out.denied and not kept_out.trace.is_cut_off:
        # who certainly turns it away does so whatever the network does
        unsettled, ground = "", ground or (unsettled if change == "opened" else "")
    unknown = before.unknown or after.unknown or before.ground or unsettled
    if change in ("opened", "closed") and kept_out.at_pods:
        unknown = unknown or let_in.behind
    if not before.denied:
        unknown = unknown or ground
    if change == "rerouted":  # what is asked otherwise is a difference of its own
        return Difference(change, "", end_in_words(before.trace), end_in_words(after.trace), (), unknown, ground)
    return Difference(change, "", _ended(before), _ended(after), (), unknown, ground)


def _may_still(kept_out: RequestAnswer, let_in: RequestAnswer) -> str:
    """Return why it is not known whether the network does to requests what it does on the other side."""
    network = let_in.trace.network if kept_out.trace.is_cut_off else None
    return "" if network is None else network.doubt


def _ended(answer: RequestAnswer) -> str:
    """Return where a request ends, and for one that gets to a backend what it is asked for."""
    if answer.end == ("no rule",):
        asked_for = answer.trace.request
        is_told = asked_for.scheme in ("tls", "tcp", "udp") or bool(asked_for.service or asked_for.pod)
        return end_in_words(answer.trace) if is_told and answer.trace.outcome.refused else NO_RULE
    words = end_in_words(answer.trace)
    if answer.withheld and (by := answer.refusals[0].decision.by) is not None:
        return f"denied by {by.key} (it depends on {answer.refusals[0].decision.why})"
    return f"{words}, {login_in_words(answer.asked['authentication'])}" if answer.serves else words


def _of_purpose(purpose: str, before: RequestAnswer, after: RequestAnswer) -> Difference | None:
    """Return what is asked otherwise for a purpose, None where nothing is."""
    was, now = before.asked[purpose], after.asked[purpose]
    old, new = before.demands[purpose], after.demands[purpose]
    lost = [key for key in old if key not in new or (old[key].must and not new[key].must)]
    gained = [key for key in new if key not in old or (new[key].must and not old[key].must)]
    weaker: list[DemandKey] = []
    stronger: list[DemandKey] = []
    other: list[DemandKey] = []
    for key in old.keys() & new.keys():
        if old[key].value != new[key].value:
            less, more = _is_weaker(old[key], new[key]), _is_weaker(new[key], old[key])
            (other if less == more else weaker if less else stronger).append(key)
    asked, asks = ({asker.setting for asker in given.demands} for given in (was, now))
    fewer, others = asked - asks, asks - asked  # extensions ask without a setting that could be compared
    if was.state == now.state and not (lost or gained or weaker or stronger or other or fewer or others):
        return None
    paths = {path for _, path, _ in (*lost, *gained, *weaker, *stronger, *other)}
    names = tuple(sorted(paths or fewer | others))
    is_lost = was.state == "asked" and bool(lost or weaker or fewer) and not (gained or stronger or other)
    is_lost = is_lost and not after.unknown and (not after.unread or before.unread == after.unread)
    if was.state == "unknown" or (now.state == "unknown" and not is_lost):
        return Difference("changed", purpose, settings=names, unknown=was.why or now.why)
    change: Change = "changed"
    if was.state == "asked" != now.state:
        change = "opened"
    elif now.state == "asked" != was.state:
        change = "closed"
    elif (lost or weaker or fewer) and not (gained or stronger or other or others):
        change = "less-asked"
    elif (gained or stronger or others) and not (lost or weaker or other or fewer):
        change = "more-asked"
    first, second = str(was), f"none that was seen ({now.why})" if now.state == "unknown" else str(now)
    edited = [*weaker, *stronger, *other]
    if first == second and len(edited) == 1:
        first, second = (f"{first}{value}" for value in _in_one_value(old[edited[0]], new[edited[0]]))
    return Difference(change, purpose, first, second, names, ground=now.why or now.ground)


def _in_one_value(before: Demanded, after: Demanded) -> tuple[str, str]:
    """Return the one value in which two settings differ, on either side: ` (url http://a)`; two empty strings where
    they differ in more."""
    was, now = (
        {unit.pointer: unit.value for unit in leaves({"": value_at(each.spec, tuple(each.path.split(".")))})}
        for each in (before, after)
    )
    differing = [at for at in {**was, **now} if was.get(at) != now.get(at)]
    first, second = (values.get(differing[0] if differing else (), "none") for values in (was, now))
    if len(differing) != 1 or isinstance(first, dict | list) or isinstance(second, dict | list):
        return "", ""
    name = str(differing[0][-1]) or before.path.rpartition(".")[2]
    return f" ({name} {shortened(str(first))})", f" ({name} {shortened(str(second))})"


def _is_weaker(before: Demanded, after: Demanded) -> bool:
    """Return whether a setting asks for less after, by the words that the catalog has for it."""
    steps = tuple(before.path.split("."))
    return any(
        weakening.before[: len(steps)] == steps or weakening.after[: len(steps)] == steps
        for weakening in weakenings(before.kind.weaker, before.spec, after.spec)
    )
