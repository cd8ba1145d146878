"""GWP113: the content of a policy, or of what routes and Gateways name, names an object that nothing deploys."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import listeners, unusable_filters
from policylint.checks.kit.suggestions import Nearby
from policylint.model import Finding, ResourceKey
from policylint.model.world import LEFT_OUT, UNCOMMITTED, World
from policylint.policy.content import ContentReference, content_references
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology import ReferenceState

RULE = "GWP113"
_SECRET = ("", "Secret")
_COPIERS = ("reflect", "replicat", "sync")
"""Parts of the annotations by which controllers are told to copy Secrets and ConfigMaps to other namespaces."""
_COPIED = "something may copy the one of that name to this namespace"
_CONSEQUENCES = {
    "refused": "no part of the policy takes effect without it",
    "ignored": "what needs it is left out, and the rest acts",
    "fails": "requests that need it are answered with an error",
    "closed": "the policy lets no client in without it, and what no other policy lets in is turned away",
}


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    told = _told(simulation)
    of_listeners = {(reference.holder.key, reference.pointer) for reference in _of_listeners(simulation)}
    for resource in simulation.world.resources.values():
        state = simulation.policies.get(resource.key)
        fields = state.kind.refers or None if state is not None else None
        for reference in content_references(resource, simulation.world, fields):
            if (resource.key, reference.pointer) in of_listeners or _is_told(reference, state, told):
                continue
            if reference.resolution.missing:
                yield _missing(reference, nearby)
            elif reference.resolution.unknown and reference.wanted[:2] not in UNCOMMITTED:
                yield _unknown(reference)
            elif reference.resolution.reason == LEFT_OUT and _is_held_elsewhere(simulation.world, reference.wanted):
                yield _missing(reference, nearby)._replace(confidence="assumed", ground=_COPIED)
    yield from _certificates(simulation, nearby)


def _told(simulation: Simulation) -> str:
    """Return what other rules say of what is refused, in part or as a whole: policies, and what filters name."""
    reasons = [
        text
        for state in simulation.policies.values()
        for text in (state.invalid, *(fault.message for fault in state.told_faults))
    ]
    reasons += [fault for _, fault in unusable_filters(simulation)]
    return "\n".join(filter(None, reasons))


def _is_told(reference: ContentReference, state: PolicyState | None, told: str) -> bool:
    """Return whether a policy is refused for this very reference, or for what names the same object."""
    if state is not None and state.invalid_pointer and state.verdict == "Invalid":
        place = state.invalid_pointer
        if reference.pointer[: len(place)] == place or place[: len(reference.pointer)] == reference.pointer:
            return True
    rests = told.split(str(reference.wanted))[1:]
    return any(not rest[:1].isalnum() and rest[:1] not in ("_", "-", ".") for rest in rests)


def _missing(reference: ContentReference, nearby: Nearby) -> Finding:
    from policylint.checks.kit.fixes import rename

    holder, wanted = reference.holder, reference.wanted
    near = nearby.describe(wanted)
    consequence = _CONSEQUENCES.get(reference.field.missing, "")
    homes, guess = nearby.namespaces(wanted), nearby.name(wanted)
    place = at(holder, reference.pointer, "name")
    return Finding(
        RULE,
        "warning",
        f"{holder.key} names missing {wanted}",
        place,
        resources=(holder.key, wanted),
        label=near,
        help=(f"note: {consequence}",) if consequence else (),
        field=path(reference.pointer),
        fixes=() if homes else rename([place], wanted.name, guess, nearby.names(wanted), set()),
    )


def _is_held_elsewhere(world: World, wanted: ResourceKey) -> bool:
    """Return whether an object of a kind that few trees hold is here under its name, in another namespace alone."""
    held = [each for each in world.of_kind(*wanted[:2]) if each.key.name == wanted.name]
    copied = any(word in str(name) for each in held for name in each.annotations for word in _COPIERS)
    return bool(held) and not copied


def _unknown(reference: ContentReference) -> Finding:
    holder, wanted = reference.holder, reference.wanted
    return Finding(
        RULE,
        "note",
        f"{holder.key} names {wanted}, which is not among these manifests",
        at(holder, reference.pointer, "name"),
        resources=(holder.key, wanted),
        label=reference.resolution.reason,
        confidence="unknown",
        field=path(reference.pointer),
    )


def _of_listeners(simulation: Simulation) -> list[ReferenceState]:
    gateways = [reference for gateway in simulation.topology.gateways for reference in gateway.references]
    return gateways + [each for listener in listeners(simulation.topology) for each in listener.references]


def _certificates(simulation: Simulation, nearby: Nearby) -> Iterator[Finding]:
    """Yield the certificates of listeners that are not there, where the tree shows that they would be.

    Few trees hold Secrets. One that the change takes away, and one beside others of the same list that are there, is
    missing; of the rest nothing is said.
    """
    world = simulation.world
    there: set[tuple[ResourceKey, object]] = set()
    states = _of_listeners(simulation)
    for state in states:
        if state.resolution.resource is not None and state.resolution.resource.key[:2] == _SECRET:
            there.add((state.holder.key, state.pointer[:-1]))
    seen: set[tuple[ResourceKey, object]] = set()
    for state in states:
        place = (state.holder.key, state.pointer)
        beside = (state.holder.key, state.pointer[:-1]) in there
        is_left_out = state.resolution.missing or state.resolution.reason == LEFT_OUT
        if place in seen or not state.wanted.name or not (state.wanted in world.absent or (is_left_out and beside)):
            continue
        seen.add(place)
        is_certain = not world.partial or state.wanted in world.absent
        yield Finding(
            RULE,
            "error" if is_certain else "warning",
            f"{state.holder.key} names missing {state.wanted}",
            at(state.holder, state.pointer, "name"),
            resources=(state.holder.key, state.wanted),
            label=nearby.describe(state.wanted),
            help=("note: a listener is not served where one of its certificates is missing",),
            confidence="certain" if is_certain else "assumed",
            ground="" if is_certain else "the other certificate of this listener is in the tree",
            field=path(state.pointer),
        )
