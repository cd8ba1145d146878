"""GWP615: rules for a direction that a policy's types leave out; policies that isolate more, or less, than they say."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, Related, Resource, mapping, sequence
from policylint.model.words import listing
from policylint.network.kinds import CALICO, CILIUM, NETWORK_POLICY
from policylint.network.rules import DIRECTIONS, PolicySpec
from policylint.simulation import Simulation

RULE = "GWP615"
_FIELDS = ("ingress", "ingressDeny", "egress", "egressDeny")


def check(simulation: Simulation) -> Iterator[Finding]:
    for kind in (NETWORK_POLICY, *CALICO):
        for policy in simulation.world.of_kind(*kind):
            yield from _left_out(policy, "policyTypes" if kind == NETWORK_POLICY else "types")
    for own in {each.key: each for each in simulation.network_policies if each.key[:2] in CALICO}.values():
        yield from _without_types(own)
    for kind in CILIUM:
        for policy in simulation.world.of_kind(*kind):
            yield from _without_rules(policy)


def _left_out(policy: Resource, field: str) -> Iterator[Finding]:
    """Yield the rules for a direction that the types of a policy leave out."""
    types = sequence(policy.spec.get(field))
    for direction in DIRECTIONS:
        if types and sequence(policy.spec.get(direction)) and direction.capitalize() not in types:
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} has {direction} rules that do nothing: its {field} leave out {direction.capitalize()}",
                policy.location("spec", direction, key=True),
                resources=(policy.key,),
                label="these rules isolate nothing and allow nothing",
                related=(Related("what the policy is about", policy.location("spec", field)),),
                help=(f"fix: add {direction.capitalize()} to {field}, or delete the rules",),
                field=direction,
            )


def _without_types(policy: PolicySpec) -> Iterator[Finding]:
    """Yield a policy that closes a direction of which it says nothing, as it states no types: whoever writes to the
    datastore itself, past the API server, has no types filled in."""
    silent = [way for way in policy.ways if not sequence(policy.resource.spec.get(way))]
    if sequence(policy.resource.spec.get("types")) or len(policy.ways) < len(DIRECTIONS) or len(silent) != 1:
        return
    yield Finding(
        RULE,
        "warning",
        f"{policy.key} also closes what it has no rules for: it states no types, and in group {policy.key.group} that "
        "means both directions",
        policy.resource.name_location,
        resources=(policy.key,),
        label=f"no rule lets anything through for {listing(silent)}",
        help=("fix: state `types`",),
        field="types",
    )


def _without_rules(policy: Resource) -> Iterator[Finding]:
    """Yield the rules of a policy of Cilium whose lists are all empty: it isolates by what is in them.

    Source: Cilium, pkg/policy/api/rule_validation.go (`EnableDefaultDeny` of a direction is whether it has rules).
    """
    specs = [
        (("spec",), policy.spec),
        *((("specs", n), each) for n, each in enumerate(sequence(policy.body.get("specs")))),
    ]
    for place, spec in ((place, mapping(spec)) for place, spec in specs):
        empty = [field for field in _FIELDS if field in spec and not sequence(spec[field])]
        if empty and not any(sequence(spec.get(field)) for field in _FIELDS) and not spec.get("enableDefaultDeny"):
            lists = listing([f"{field}: []" for field in empty])
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} isolates nothing: in this kind, {lists} is no rule",
                policy.location(*place, empty[0], key=True),
                resources=(policy.key,),
                label="it closes none of the pods that it selects",
                help=("fix: write a rule that lets nothing in: `- {}`",),
                confidence="assumed",
                ground="its engine's own default (enable-non-default-deny-policies)",
                field=f"{place[-1]}.{empty[0]}",
            )
