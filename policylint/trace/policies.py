"""Find the effective policies of the contexts that a request passes. Nothing is computed here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from policylint.implementations import Implementation, implementation
from policylint.implementations.generic.detecting import Detected, Detection, detected
from policylint.implementations.generic.failing import failures
from policylint.implementations.generic.preflights import answers
from policylint.model import Node, PolicyKind, Resource, ResourceKey
from policylint.policy.asking import Ask, asked
from policylint.policy.authorizing import Decision, RequestFacts, RequestQuestion
from policylint.policy.bindings import ObjectBinding, as_read, superseded
from policylint.policy.level import level
from policylint.policy.results import Effective
from policylint.schema.known import Schemas
from policylint.simulation import Simulation
from policylint.topology import GatewayState, whole
from policylint.topology.ancestry import implementation_of, unheard_of
from policylint.trace.left_open import OpenSetting, is_near, left_open
from policylint.trace.request import Request, split_host
from policylint.trace.result import Judged, Met, Share

_ORDER = ("gatewayclass", "gateway", "listener", "route", "rule", "service", "port", "workload")


class Policies:
    """The policies that requests meet: those that act along their way, with what they ask."""

    __slots__ = (
        "_acting",
        "_asking",
        "_bound",
        "_choosing",
        "_detections",
        "_groups",
        "_implementations",
        "_meshed",
        "_named",
        "_open",
        "_phases",
        "_schemas",
        "_simulation",
    )

    def __init__(self, simulation: Simulation) -> None:
        self._acting = simulation.acting
        self._asking: dict[int, tuple[tuple[Ask, ...], Mapping[str, Any]]] = {}
        self._phases: dict[tuple[int, ResourceKey | None], Mapping[str, int]] = {}
        self._groups = simulation.groups
        self._simulation = simulation
        self._implementations: dict[str, Implementation] = {}
        made = {group.kind.implementation: self._implementation(group.kind) for group in simulation.groups}
        choosing = (each.choosing(simulation.groups, simulation.topology) for each in made.values())
        self._choosing = [each for each in choosing if each is not None]
        self._bound: dict[Node, list[ObjectBinding]] = defaultdict(list)
        unevaluated = simulation.unevaluated
        for binding in unevaluated:
            self._bound[binding.node].append(binding)
        self._named = [each for each in unevaluated if each.kind is not None and each.kind.says]
        self._detections: dict[tuple[str, ResourceKey], Detection | None] = {}
        self._open: dict[int, tuple[OpenSetting, ...]] = {}
        self._schemas = Schemas(simulation.world.definitions, simulation.world.is_deployed_with)
        self._meshed = {behaviour.name for behaviour, _ in simulation.meshes.groups}

    def extensions(
        self, path: Sequence[Node], shares: Sequence[Share], controller: str | None = None
    ) -> tuple[ObjectBinding, ...]:
        """Return what filters and annotations on a path name and nobody evaluates; of two of a sort the one that runs.

        A filter of a backendRef counts where that backend is reached; annotations that the controller does not read are
        nothing, and what it makes of a filter that it does not know is not known.

        Args:
            controller: the implementation that serves the request, None where it is not known, "" inside a mesh.
        """
        if not self._bound:
            return ()
        nodes = dict.fromkeys((*path, *(whole(share.key) for share in shares)))
        named = [binding for node in nodes for binding in self._bound.get(node, ()) if _is_reached(binding, shares)]
        beaten = superseded(named)
        left = (binding for binding in named if binding.wanted not in beaten)
        catalog = self._simulation.catalog
        return tuple(read for binding in left if (read := as_read(binding, controller, catalog)) is not None)

    def met(
        self,
        path: Sequence[Node],
        shares: Sequence[Share],
        beyond: Callable[[Share], tuple[Node, ...]],
        message: RequestFacts,
    ) -> tuple[Met, ...]:
        """Return the policies on a path, down to its rule and on to its backends.

        Those of which the order is known come first, in this order.

        An empty path is traffic that goes straight to a backend.

        Args:
            beyond: the nodes that requests to a backend pass beside it.
            message: what is known of the request, on which conditions may hang.
        """
        ends = dict.fromkeys((share.key, share.section) for share in shares)  # ports of one Service are two ends
        passed: dict[ResourceKey, tuple[Node, ...]] = {}
        for share in shares:
            passed[share.key] = (*passed.get(share.key, ()), *beyond(share))
        on_path: dict[int, list[tuple[ResourceKey, Node | None]]] = defaultdict(list)
        for key, section in ends:
            nodes = (whole(key), *((section,) if section else ()))
            for number in self._acting.along((*path, *nodes), passed[key], leads=bool(path)):
                on_path[number].append((key, section))
        if not ends:
            on_path.update((number, []) for number in self._acting.along(tuple(path), (), leads=bool(path)))
        met = []
        doubts, certain = self._doubts(on_path, path, message) if self._choosing else ({}, set())
        for number, acted_on in on_path.items():
            group = self._groups[number]
            if number in doubts and not doubts[number]:
                continue
            open_ = self._left_open(number)
            if group.effective.owners or group.effective.lost or group.effective.refused or open_:
                asks, spec = self._asked(number, message)
                places = self._places(number, path)
                doubt, hidden = doubts.get(number, ""), {path for each in open_ for path in each.hides}
                asks = tuple(ask for ask in asks if (not doubt or ask.purpose in certain) and ask.path not in hidden)
                met += [Met(group, key, asks, places, spec, port, doubt, open_) for key, port in _only(acted_on, ends)]
        effective = [each.group.effective for each in met]
        met = [each._replace(asks=self._in_force(each, effective)) if each.asks else each for each in met]
        return tuple(sorted(met, key=_order))

    def _doubts(
        self, numbers: Iterable[int], path: Sequence[Node], message: RequestFacts
    ) -> tuple[Mapping[int, str], set[str]]:
        """Return which policies on a path do not act on a request after all, "", or why that is not known; and the
        purposes that whichever of these acts demands."""
        doubts: dict[int, str] = {}
        certain: set[str] = set()
        places = {level((node,)): node for node in path}
        for choosing in self._choosing if {"gateway", "listener", "rule"} <= places.keys() else ():
            chosen = choosing.chosen(places["gateway"].key, places["listener"], places["rule"], message)
            for number in numbers if chosen is not None else ():
                acts = {number in each for each in chosen or ()}
                if number in choosing.among and acts != {True}:
                    doubts[number] = choosing.why if True in acts else ""
            demanded = [
                {ask.purpose for number in each for ask in self._asked(number, message)[0] if ask.must}
                for each in chosen or ()
            ]
            certain.update(*demanded[:1])
            certain.intersection_update(*demanded)
        return doubts, certain

    def _left_open(self, number: int) -> tuple[OpenSetting, ...]:
        """Return the variables in what a group asks; the proxies of a mesh look at theirs themselves."""
        if number not in self._open:
            group = self._groups[number]
            is_read = group.kind.implementation in self._meshed
            self._open[number] = () if is_read else tuple(left_open(group, self._schemas))
        return self._open[number]

    def _asked(self, number: int, message: RequestFacts) -> tuple[tuple[Ask, ...], Mapping[str, Any]]:
        """Return what a group asks of a request, and what of its effective spec is about it.

        What hangs on no condition is the same for all requests.
        """
        group = self._groups[number]
        behaviour, whole_spec = self._implementation(group.kind), group.effective.spec
        concerning = behaviour.concerning(group.kind, whole_spec, message)
        known = self._asking.get(number)
        if known is not None and concerning is whole_spec:
            return known
        world = self._simulation.world
        asks = tuple(asked(group.kind, group.effective._replace(spec=concerning), world, self._simulation.catalog))
        found = asks, behaviour.written_out(group.kind, group.effective, concerning, world)
        if concerning is whole_spec:
            self._asking[number] = found
        return found

    def _in_force(self, met: Met, beside: Sequence[Effective]) -> tuple[Ask, ...]:
        """Return what a policy asks that no policy of another kind keeps from acting."""
        kind = met.group.kind
        behaviour = self._implementation(kind)
        return tuple(ask for ask in met.asks if not behaviour.gives_way(kind, ask.path, beside))

    def judged(self, policies: Iterable[Met], message: RequestFacts, gateway: ResourceKey | None) -> Iterator[Judged]:
        """Yield what policies that authorize answer a request that comes in at a Gateway, in their order."""
        simulation = self._simulation
        for met in policies:
            unread = unheard_of(simulation.topology, gateway, met.group.kind, simulation.catalog)
            kind, effective = met.group.kind, met.group.effective
            decisions = self._implementation(kind).decisions(kind, met.spec, message)
            for each in met.left_open:
                place = each.policy.location(*each.place)
                yield Judged(Decision("depends", each.place, str(each)), each.policy.key, place, met)
            hidden = [setting for open_ in met.left_open for setting in open_.asking]
            # what such a setting denies is not all that it says
            decisions = (each for each in decisions if each.answer != "denied" or not is_near(each.pointer, hidden))
            first = () if _comes_after_logins(met) else answers(kind.preflight, met.spec, message)
            for decision in chain(first, failures(effective.failing), decisions):
                hangs = met.doubt or (unread and f"whether {unread} reads it")
                hangs = hangs or (f"whether it goes to {met.backend}" if met.backend is not None else "")
                if hangs and decision.answer == "denied":
                    decision = decision._replace(answer="depends", why=hangs)
                for leaf in effective.leaves(decision.pointer)[:1]:
                    yield Judged(decision, effective.owners[leaf], effective.location_of(leaf), met)

    def seen(self, policies: Iterable[Met], gateway: GatewayState | None, message: RequestFacts) -> Detected:
        """Return the client's address as policies see it at a Gateway, by what it, or a policy, says of proxies."""
        if message.blank or gateway is None:
            return Detected(message.address, "")
        served_by = implementation_of(gateway, self._simulation.catalog) or ""
        found = self._detection(served_by, gateway.gateway)
        for met in policies:
            found = found or self._implementation(met.group.kind).detection(gateway.gateway, met.group.kind, met.spec)
        return detected(found, message.address, message.headers)

    def _detection(self, served_by: str, gateway: Resource) -> Detection | None:
        """Return how the proxies of a Gateway find clients, by itself and by what is named beside it."""
        known = (served_by, gateway.key)
        if known not in self._detections:
            own = implementation(served_by, self._simulation.catalog.settings(served_by))
            found = own.detection(gateway, None, {})
            if found is None and self._named:
                from policylint.doors.beside import detection

                found = detection(self._simulation.world, served_by, gateway)
            self._detections[known] = found
        return self._detections[known]

    @property
    def authorize(self) -> bool:
        """Whether any effective policy, or object that a filter names, has an answer to requests, or asks which of them
        it is about."""
        questions: list[RequestQuestion] = []
        if self._choosing:
            return True
        nothing = RequestFacts("", "", "", {}, blank=True, asked=questions)
        for number, (kind, effective) in enumerate((group.kind, group.effective) for group in self._groups):
            behaviour = self._implementation(kind)
            spec = behaviour.concerning(kind, effective.spec, nothing)
            answers_ = questions or effective.failing or any(True for _ in behaviour.decisions(kind, spec, nothing))
            if answers_ or self._left_open(number):
                return True
        for binding in self._simulation.bindings:
            resource = binding.resolution.resource
            if binding.form == "filter" and binding.kind is not None and resource is not None:
                handling = self._implementation(binding.kind).handle(resource, nothing, self._simulation.world)
                if questions or (handling is not None and handling.decision is not None):
                    return True
        if self._named:
            from policylint.doors.beside import decided

            return any(True for _ in decided(self._named, nothing))
        return False

    def cut_off_by(self, met: Met) -> ResourceKey | None:
        """Return the refused policy for which connections are closed, None where they are not."""
        kind = met.group.kind
        return met.group.effective.refused if kind.kind in self._implementation(kind).cutting else None

    def _implementation(self, kind: PolicyKind) -> Implementation:
        name = kind.implementation
        if name not in self._implementations:
            self._implementations[name] = implementation(name, self._simulation.catalog.settings(name))
        return self._implementations[name]

    def _places(self, number: int, path: Sequence[Node]) -> Mapping[str, int]:
        """Return the places of a group's fields, lost ones included, in the order of its implementation."""
        gateway = next((node.key for node in path if node.key.kind == "Gateway"), None)
        found = self._phases.get((number, gateway))
        if found is None:
            group, simulation = self._groups[number], self._simulation
            lost = {str(loss.pointer[0]): None for loss in group.effective.lost if loss.pointer}
            spec = {**lost, **group.effective.spec}
            behaviour = self._implementation(group.kind)
            found = behaviour.phases(group.kind, spec, gateway, simulation.topology, simulation.catalog)
            self._phases[number, gateway] = found
        return found


def _comes_after_logins(met: Met) -> bool:
    """Return whether an order of its own has a policy ask for logins before it answers preflights."""
    place = met.places.get(met.group.kind.preflight)
    return place is not None and any(
        met.places.get(ask.path.split(".")[0], place) < place for ask in met.asks if ask.must
    )


def facts(request: Request, asked: list[RequestQuestion] | None = None) -> RequestFacts:
    """Return what is known of a request where policies ask about it; what they ask is added to `asked`."""
    headers = {name.lower(): request.header(name) or "" for name, _ in request.headers}
    return RequestFacts(
        request.method,
        split_host(request.host)[0],
        request.path,
        headers,
        address=request.address,
        peer=request.address,
        claims=request.claims,
        blank=request.blank,
        asked=asked,
        scheme=request.scheme,
        dialled=request.port,
    )


def _is_reached(binding: ObjectBinding, shares: Sequence[Share]) -> bool:
    """Return whether a filter stands in a rule itself, or at a backend that is reached."""
    return "backendRefs" not in binding.pointer or any(
        share.pointer and binding.pointer[: len(share.pointer)] == share.pointer for share in shares
    )


def _only(
    acted_on: Sequence[tuple[ResourceKey, Node | None]], ends: Collection[tuple[ResourceKey, Node | None]]
) -> Iterable[tuple[ResourceKey | None, str]]:
    """Return the backends that a policy acts on: None for all of them; the port where it acts on some of its ports."""
    if len(acted_on) == len(ends):
        return [(None, "")]
    known, own = (Counter(key for key, _ in each) for each in (ends, acted_on))
    return dict.fromkeys(
        (key, section.section if section and own[key] < known[key] else "") for key, section in acted_on
    )


def _order(met: Met) -> tuple[bool, int, int, int, str, ResourceKey]:
    """Return a sort key: by the first place in the order, else kinds that protect before others, by the first level."""
    group = met.group
    first = min((_level(attachment.node) for attachment in group.effective.stack), default=0)
    protects = 0 if group.kind.settings.security else 1
    return (
        not met.places,
        min(met.places.values(), default=0),
        protects,
        first,
        group.kind.kind,
        met.backend or ResourceKey("", "", "", ""),
    )


def _level(node: Node) -> int:
    name = level((node,))
    return _ORDER.index(name) if name in _ORDER and node.key.kind != "Namespace" else 0
