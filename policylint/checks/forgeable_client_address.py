"""GWP307: rules on client addresses, where clients may say themselves which address they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from policylint.checks.kit.locations import path
from policylint.checks.kit.present import present
from policylint.documents import Pointer
from policylint.doors.peculiar import LISTING
from policylint.implementations import Implementation, implementation
from policylint.implementations.generic.forged import ForgedRule
from policylint.model import Finding, Location, Node, Related, Resource, ResourceKey
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.policy.client_addresses import Believed
from policylint.policy.results import Effective
from policylint.simulation import Simulation
from policylint.topology.ancestry import gateways_above, implementation_of
from policylint.topology.graph import whole

RULE = "GWP307"


class AddressRule(NamedTuple):
    """A rule on addresses, at a proxy that believes them.

    Args:
        rule: where it is written, in which object, `holder`.
        subject: the route, or the proxy itself, to which it applies.
        is_limit: whether it counts requests by address, and keeps nobody out.
    """

    rule: Location
    holder: ResourceKey
    subject: ResourceKey
    is_limit: bool = False


def check(simulation: Simulation) -> Iterator[Finding]:
    folded: dict[tuple[ResourceKey, Pointer, ResourceKey], tuple[Believed, AddressRule]] = {}
    for believed, use in (*_at_gateways(simulation), *_beyond(simulation)):
        folded.setdefault((believed.owner.key, believed.place.pointer, use.holder), (believed, use))
    for believed, use in folded.values():
        yield _finding(believed, use)
    yield from _at_doors(simulation)


def _at_gateways(simulation: Simulation) -> Iterator[tuple[Believed, AddressRule]]:
    """Yield the rules on addresses for routes, each with what is believed of these where they come in."""
    trusting = _trusting(simulation)
    if not trusting:
        return
    for group in simulation.groups:
        behaviour = _behaviour(simulation, group.kind.implementation)
        pointer = behaviour.address_rule(group.kind, group.effective.spec)
        rule = _owner(group.effective, pointer) if pointer else None
        if rule is None:
            continue
        place = _place(group.effective, rule, pointer)
        for context in group.contexts():
            route = next((node.key for node in context if node.key.kind.endswith("Route")), None)
            for node in context if route is not None else ():
                if node in trusting and route is not None:
                    yield trusting[node], AddressRule(place, rule.key, route, is_limit=pointer[0] == "rateLimit")
    believing = [state for state in simulation.topology.gateways if whole(state.gateway.key) in trusting]
    behaviours = {
        state.gateway.key: _behaviour(simulation, implementation_of(state, simulation.catalog)) for state in believing
    }
    for binding in simulation.bindings if believing else ():
        named = binding.resolution.resource
        if named is None:
            continue
        for key in gateways_above(simulation.topology, binding.holder.key):
            pointer = behaviours[key].address_filter(named) if key in behaviours else ()
            if pointer:
                place = named.location("spec", *pointer)
                yield trusting[whole(key)], AddressRule(place, named.key, binding.holder.key)


def _trusting(simulation: Simulation) -> dict[Node, Believed]:
    """Return the listeners and the Gateways that believe what can be forged."""
    trusting: dict[Node, Believed] = {}
    for group in simulation.groups:
        behaviour = _behaviour(simulation, group.kind.implementation)
        trust = behaviour.forgeable_address(group.kind, group.effective.spec)
        owner = None if trust is None else _owner(group.effective, trust.pointer)
        if trust is not None and owner is not None:
            believed = Believed(owner, _place(group.effective, owner, trust.pointer), trust)
            trusting.update({context[-1]: believed for context in group.contexts()})
    serving = {implementation_of(state, simulation.catalog) for state in simulation.topology.gateways}
    for name in sorted(filter(None, serving)):
        found = _behaviour(simulation, name).believing_gateways(simulation.bindings, simulation.topology)
        trusting.update(found)
    return trusting


def _behaviour(simulation: Simulation, name: str | None) -> Implementation:
    return implementation(name or "", simulation.catalog.settings(name or ""))


def _beyond(simulation: Simulation) -> Iterator[tuple[Believed, AddressRule]]:
    """Yield the rules of policies on addresses that proxies of a mesh take from X-Forwarded-For."""
    for group in simulation.groups:
        behaviour = _behaviour(simulation, group.kind.implementation)
        if behaviour.__class__.believed_beyond is Implementation.believed_beyond:
            continue
        for policy in (attachment.policy for attachment in group.effective.stack):
            for context in group.contexts():
                for believed, rule in behaviour.believed_beyond(policy, context[-1].key, simulation.world):
                    yield believed, AddressRule(rule, policy.key, context[-1].key)


def _at_doors(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each controller beside Gateway API that believes what clients write, with a list of addresses
    that is held against it."""
    if not any(simulation.world.of_kind(*kind) for kind in LISTING):
        return
    from policylint.doors.believing import forgeable

    own = (behaviour.forgeable_lists(simulation.world) for behaviour in present(simulation))
    folded: dict[tuple[ResourceKey, Pointer], list[ForgedRule]] = {}
    for each in (*forgeable(simulation.world), *chain.from_iterable(own)):
        folded.setdefault((each.believed.owner.key, each.believed.place.pointer), []).append(each)
    for rules in folded.values():
        first, subjects = rules[0], tuple(dict.fromkeys(each.subject.key for each in rules))
        use = AddressRule(first.rule, first.holder.key, first.subject.key, is_limit=first.is_limit)
        yield _finding(first.believed, use, subjects[1:])


def _owner(effective: Effective, pointer: Pointer) -> Resource | None:
    """Return the policy that a setting comes from: that of the leaf that it is part of, or of one below it."""
    key = next((effective.owners[leaf] for leaf in effective.leaves(pointer)), None)
    return next((attachment.policy for attachment in effective.stack if attachment.key == key), None)


def _place(effective: Effective, policy: Resource, pointer: Pointer) -> Location:
    """Return where a policy of a stack writes a setting."""
    attachment = next(attachment for attachment in effective.stack if attachment.key == policy.key)
    prefix = attachment.declared[0].prefix if attachment.declared else ("spec",)
    return policy.location(*prefix, *pointer)


def _finding(believed: Believed, use: AddressRule, others: Sequence[ResourceKey] = ()) -> Finding:
    trust = believed.trust
    verb, who = "limit" if use.is_limit else "filter", "clients" if trust.certain else "some clients"
    does = f"{use.subject} and {count(len(others), 'other')} {verb}" if others else f"{use.subject} {verb}s"
    return Finding(
        RULE,
        "warning" if trust.certain else "note",
        f"{does} requests by client addresses that {who} can spoof",
        believed.place,
        resources=(believed.owner.key, use.holder, use.subject, *others[:20]),
        label=trust.why,
        related=() if believed.owner.key == use.holder else (Related(f"{use.holder} decides by them", use.rule),),
        help=(f"fix: {trust.fix}",),
        confidence="certain" if trust.certain else "assumed",
        ground="" if trust.certain else trust.why,
        field=path(trust.pointer),
    )
