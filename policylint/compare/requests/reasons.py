"""Who did it: the changed objects because of which requests are answered otherwise, and where to look."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from policylint.compare.change import Responsible
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import target_place
from policylint.compare.requests.answers import Difference, RequestAnswer
from policylint.compare.requests.named import between, is_named, names_in
from policylint.compare.settings import sources
from policylint.model import Location, ResourceKey
from policylint.policy.results import Group

_MOST = 4


class Reasons:
    """The reasons of the differences between two sides.

    Args:
        changed: the objects that differ between the sides, by their identity after, or before where they are gone.
    """

    def __init__(self, sides: Sides, changed: Collection[ResourceKey]) -> None:
        self._sides = sides
        self._changed = changed

    def of(self, difference: Difference, before: RequestAnswer, after: RequestAnswer) -> tuple[Responsible, ...]:
        """Return who is responsible for a difference.

        Policies that are refused, so that requests fail, else those that ask, else a rule, else what the policies name
        (the Service that they ask, a Secret, a grant), else what stands around it.
        """
        of_policies, of_rules = self._policies(difference, before, after), self._rules(before, after)
        named = self._named(difference, before, after)
        by_policy = difference.purpose or before.denied != after.denied or before.withheld != after.withheld
        doors = self._doors(before, after)
        order = (of_policies, named, of_rules) if by_policy else (of_rules, doors, of_policies, named)
        for candidates in (self._refused(before, after), *order, self._around(before, after)):
            found = {responsible.policy: responsible for responsible in candidates}
            if found:
                return tuple(found[key] for key in sorted(found)[:_MOST])
        route = after.trace.route or before.trace.route
        return () if route is None else (Responsible(route.key, route.name_location),)

    def _policies(self, difference: Difference, before: RequestAnswer, after: RequestAnswer) -> Iterator[Responsible]:
        """Yield the changed policies that ask, or that prevail over one that asked."""
        purposes = (difference.purpose,) if difference.purpose else ("authentication", "authorization")
        groups = [
            (side, demand.group, demand.path.partition(".")[0])
            for side, answer in enumerate((before, after))
            for purpose in purposes
            for (_, path, _), demand in answer.demands[purpose].items()
            if not difference.settings or path in difference.settings
        ]
        if not difference.purpose or difference.purpose == "authorization":
            groups += [
                (side, judged.met.group, str(judged.decision.pointer[0]))
                for side, answer in enumerate((before, after))
                for judged in answer.trace.judged
                if judged.met is not None
            ]
        places: dict[ResourceKey, Location | None] = {}
        for side, group, setting in groups:
            for source in sources(group.effective, setting):
                key = source.policy if side else self._sides.pairing.key(source.policy)
                if side or self._sides.after.world.get(key) is None:
                    places[key] = source.location
                else:
                    places.setdefault(key, None)
        kinds = {(group.kind.group, group.kind.kind) for _, group, _ in groups}
        for met in after.trace.policies:
            if (met.group.kind.group, met.group.kind.kind) in kinds:
                places.update((key, None) for key in _stack(met.group) if key not in places)
        for key, place in places.items():
            if key in self._changed:
                yield Responsible(key, place or self._place(key))

    def _refused(self, before: RequestAnswer, after: RequestAnswer) -> Iterator[Responsible]:
        """Yield the changed policy that is refused, so that the requests fail, on one side alone."""
        was, now = before.trace.failed_by, after.trace.failed_by
        was = None if was is None else self._sides.pairing.key(was)
        for key in {was, now} if was != now else ():
            if key is not None and key in self._changed:
                yield Responsible(key, self._place(key))

    def _named(self, difference: Difference, before: RequestAnswer, after: RequestAnswer) -> Iterator[Responsible]:
        """Yield the changed objects that policies on the way name, and those that such an object names in turn."""
        groups = {
            id(demand.group): (is_after, demand.group)
            for is_after, answer in ((False, before), (True, after))
            for demand in answer.demands.get(difference.purpose, {}).values()
        } or {
            id(met.group): (is_after, met.group)
            for is_after, answer in ((False, before), (True, after))
            for met in answer.trace.policies
        }
        for is_after, group in groups.values():
            simulation = self._sides.after if is_after else self._sides.before
            holders = [simulation.policies[key].policy for key in _stack(group) if key in simulation.policies]
            for holder in holders:
                names = names_in(holder)
                for key in self._changed:
                    if is_named(key if is_after else self._sides.pairing.was(key), names):
                        yield Responsible(key, self._place(key))
                holders.extend(between(simulation, names) if holder.key in simulation.policies else ())

    def _rules(self, before: RequestAnswer, after: RequestAnswer) -> Iterator[Responsible]:
        """Yield the changed route whose rule takes the requests now, or took them."""
        was, now = before.trace, after.trace
        if now.route is not None and now.route.key in self._changed:
            yield Responsible(now.route.key, now.route.location(*now.rule_pointer))
        elif was.route is not None and (key := self._sides.pairing.key(was.route.key)) in self._changed:
            stays = self._sides.after.world.get(key)
            yield Responsible(key, was.route.location(*was.rule_pointer) if stays is None else stays.name_location)

    def _doors(self, before: RequestAnswer, after: RequestAnswer) -> Iterator[Responsible]:
        """Yield the changed holder of the listener that takes the requests on one side alone: no policy opens one."""
        listeners = before.trace.listener, after.trace.listener
        if (listeners[0] is None) != (listeners[1] is None):
            holders = {each.holder.key for each in listeners if each is not None}
            holders |= {gateway for each in (before, after) if (gateway := each.trace.gateway) is not None}
            keys = {self._sides.pairing.key(key) for key in holders} | holders
            yield from (Responsible(key, self._place(key)) for key in sorted(keys & set(self._changed)))

    def _around(self, before: RequestAnswer, after: RequestAnswer) -> Iterator[Responsible]:
        """Yield what else changed on the way: policies, Gateways and listeners, extensions, backends, grants."""
        near: set[ResourceKey] = set()
        for side, answer in enumerate((before, after)):
            trace = answer.trace
            keys = {node.key for node in (*trace.path, *trace.beyond)}
            keys |= {share.key for share in trace.outcome.shares}
            keys |= {binding.wanted for binding in trace.extensions}
            keys |= {key for met in trace.policies for key in _stack(met.group)}
            keys |= {by.key for admission in trace.admissions if (by := admission.decision.by) is not None}
            keys |= set() if trace.network is None else set(trace.network.policies)
            keys |= set() if trace.gateway is None else {trace.gateway}
            keys |= set() if trace.listener is None else {trace.listener.holder.key}
            keys |= {ResourceKey("", "Namespace", "", key.namespace) for key in tuple(keys)}
            near |= keys if side else {self._sides.pairing.key(key) for key in keys}
        causes = near & set(self._changed)
        if not causes:
            namespaces = {key.namespace for key in near}
            causes = {key for key in self._changed if key.kind == "ReferenceGrant" and key.namespace in namespaces}
        for key in causes:
            yield Responsible(key, self._place(key))

    def _place(self, key: ResourceKey) -> Location | None:
        """Return where an object is written: after, or before where it is gone."""
        state = self._sides.after.policies.get(key)
        if state is not None:
            return target_place(state)
        before = self._sides.before.world.get(self._sides.pairing.was(key))
        resource = self._sides.after.world.get(key) or before
        return None if resource is None else resource.name_location


def _stack(group: Group) -> set[ResourceKey]:
    return {attachment.key for attachment in group.effective.stack}
