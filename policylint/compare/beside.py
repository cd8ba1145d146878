"""GWP325 for what decides on requests and is not evaluated: configurations, routes of other kinds, texts."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

from policylint.compare.lifting import may_lift
from policylint.compare.pairing import Sides
from policylint.compare.sameness import encoded
from policylint.documents import Pointer
from policylint.implementations import implementation
from policylint.model import Finding, Location, Node, ResourceKey, Severity, mapping, sequence, text
from policylint.model.words import count
from policylint.policy.asking import asks
from policylint.policy.beside import Beside
from policylint.policy.results import PolicyState
from policylint.regex import expression
from policylint.simulation import Simulation

RULE = "GWP325"
_VERSIONS = "proxyVersion"
_MOST_PATCHES = 30


def decided_beside(sides: Sides, shown: Container[ResourceKey]) -> Iterator[Finding]:
    """Yield what a change lets objects decide on requests that are there before, where nobody evaluates them.

    Args:
        shown: the objects that requests show the effect of, which is all where that shows in how they end.
    """
    names = _implementations(sides.before) | _implementations(sides.after)
    before = {_identity(sides, each) for each in _beside(sides.before, names)}
    holders = {key for key, *_ in before}
    for each in _beside(sides.after, names):
        about = [key for key in each.about if sides.before.world.get(sides.pairing.was(key)) is not None]
        if (each.about and not about) or (not each.about and each.holder.key not in holders):
            continue  # a Service, or a mesh, that comes with the change
        if (each.holder.key, each.does, each.value) not in before and not (each.is_told and each.holder.key in shown):
            place = each.holder.location(*each.pointer)
            label = "its effect on requests is not evaluated"
            yield _finding(
                sides, "warning", f"{each.holder.key} now {each.does}", place, label, [each.holder.key, *about]
            )
    yield from _texts(sides)
    yield from _missed(sides)
    yield from _outgrown(sides)


def _identity(sides: Sides, each: Beside) -> tuple[ResourceKey, str, str]:
    return sides.pairing.key(each.holder.key), each.does, each.value


def _implementations(simulation: Simulation) -> set[str]:
    """Return the implementations of which there are objects."""
    kinds = (simulation.catalog.get(*kind) for kind in simulation.world.kinds())
    return {kind.implementation for kind in kinds if kind is not None}


def _beside(simulation: Simulation, names: set[str]) -> Iterator[Beside]:
    """Yield what the implementations that either side has objects of decide by beside policies."""
    for name in sorted(names):
        yield from implementation(name, simulation.catalog.settings(name)).beside(simulation.world)


def _texts(sides: Sides) -> Iterator[Finding]:
    """Yield the policies whose text for a proxy is another one, and may lift what policies ask that act there."""
    guards: list[tuple[ResourceKey, set[Node]]] | None = None
    for state in sides.after.policies.values():
        raw = state.kind.settings.raw
        former = sides.before.policies.get(sides.pairing.was(state.key))
        changed = raw and (former is None or former.policy.spec != state.policy.spec)
        if not changed or not state.groups or not any(may_lift(path, _new(path, state, former)) for path in raw):
            continue
        guards = guards if guards is not None else list(_guards(sides.before))
        here = _nodes(state)
        acting = [key for key, nodes in guards if not here.isdisjoint(nodes)]
        if acting:
            yield _finding(
                sides,
                "warning",
                f"{state.key} changes raw proxy configuration where {_acting(acting)}",
                state.policy.name_location,
                "not evaluated: it may disable what they check",
                [state.key, *acting],
            )


def _missed(sides: Sides) -> Iterator[Finding]:
    """Yield the policies with texts for a proxy that name a listener which the change takes away: it finds nothing."""
    gone = _listeners(sides.before) - _listeners(sides.after)
    for state in sides.after.policies.values() if gone else ():
        former = sides.before.policies.get(sides.pairing.was(state.key))
        if former is None or not state.kind.settings.raw:
            continue
        for pointer, value in _of("name", state.policy.spec, ("spec",)):
            if value in gone:
                yield _finding(
                    sides,
                    "warning",
                    f"{state.key} changes raw proxy configuration of listener {value}, which is gone",
                    state.policy.location(*pointer),
                    "what it did there is no longer done, whatever took the listener's place",
                    [state.key],
                )


def _outgrown(sides: Sides) -> Iterator[Finding]:
    """Yield the policies with texts that are for the proxies of some releases, the one of before among them and that of
    after not."""
    for state in sides.after.policies.values():
        releases = [side.catalog.releases.get(state.kind.implementation) for side in (sides.before, sides.after)]
        if not state.kind.settings.raw or None in releases or releases[0] == releases[1]:
            continue
        former = sides.before.policies.get(sides.pairing.was(state.key))
        for pointer, value in _of(_VERSIONS, state.policy.spec, ("spec",)) if former is not None else ():
            fits = [any(map(expression(value).is_within, _patches(release))) for release in filter(None, releases)]
            if fits == [True, False]:
                yield _finding(
                    sides,
                    "warning",
                    f"{state.key} changes raw proxy configuration of releases {value}, which the proxies are past",
                    state.policy.location(*pointer),
                    "what it did there is no longer done",
                    [state.key],
                )


def _patches(release: Sequence[int]) -> Iterator[str]:
    """Yield the patch releases of a release, as far as anybody makes them."""
    return (".".join(map(str, (*release[:2], number))) for number in range(_MOST_PATCHES))


def _listeners(side: Simulation) -> set[str]:
    """Return the listeners as texts for proxies call them: by namespace, Gateway and name."""
    return {
        f"{each.gateway.key.namespace}/{each.gateway.key.name}/{text(mapping(listener).get('name'))}"
        for each in side.topology.gateways
        for listener in sequence(each.gateway.spec.get("listeners"))
    }


def _of(name: str, value: Any, above: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the texts below a value that stand in fields of a name, each with its place."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        if step == name and isinstance(each, str):
            yield (*above, step), each
        else:
            yield from _of(name, each, (*above, step))


def _acting(policies: list[ResourceKey]) -> str:
    if len(policies) == 1:
        return f"{policies[0]} applies"
    return f"{count(len(policies), 'policy', 'policies')} apply, {policies[0]} among them"


def _new(path: str, state: PolicyState, former: PolicyState | None) -> Any:
    """Return what a setting says, without the entries that it said before."""
    now = state.policy.spec if path == "*" else state.policy.spec.get(path)
    was = None if former is None else former.policy.spec if path == "*" else former.policy.spec.get(path)
    known = {encoded(each) for each in _entries(was)}
    return [each for each in _entries(now) if encoded(each) not in known]


def _entries(value: Any) -> list[Any]:
    """Return the entries of all lists right below a value, and what else it says."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return [] if value is None else [value]
    lists = [entry for inner in value.values() if isinstance(inner, list) for entry in inner]
    return lists or [value]


def _guards(side: Simulation) -> Iterator[tuple[ResourceKey, set[Node]]]:
    """Yield the policies that ask something of requests, and what else routes name that does, each with its places."""
    for state in side.policies.values():
        of_workloads = state.kind.effective_at == "workload" and bool(state.kind.settings.security)
        if of_workloads or any(any(asks(group.kind, group.effective.spec)) for group in state.groups):
            yield state.key, _nodes(state)
    for binding in side.bindings:
        if binding.authenticates or binding.authorizes:
            yield binding.wanted, {Node(binding.holder.key, "", binding.holder.key.kind)}


def _nodes(state: PolicyState) -> set[Node]:
    return {Node(node.key, "", node.role) for group in state.groups for path in group.contexts() for node in path}


def _finding(
    sides: Sides, severity: Severity, message: str, location: Location, label: str, resources: list[ResourceKey]
) -> Finding:
    return Finding(
        RULE,
        severity,
        message,
        location,
        resources=tuple(resources),
        label=label,
        environments=(sides.after.world.name,),
    )


__all__ = ["decided_beside"]
