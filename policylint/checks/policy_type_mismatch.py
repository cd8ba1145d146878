"""GWP615: rules for a direction that the policyTypes of a NetworkPolicy leave out; policies of Cilium without rules."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, Related, Resource, mapping, sequence
from policylint.model.words import listing
from policylint.network.kinds import CILIUM, NETWORK_POLICY
from policylint.simulation import Simulation

RULE = "GWP615"
_FIELDS = ("ingress", "ingressDeny", "egress", "egressDeny")


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy in simulation.world.of_kind(*NETWORK_POLICY):
        types = sequence(policy.spec.get("policyTypes"))
        for direction in ("ingress", "egress"):
            if types and sequence(policy.spec.get(direction)) and direction.capitalize() not in types:
                yield Finding(
                    RULE,
                    "warning",
                    f"{policy.key} has {direction} rules that do nothing: its policyTypes leave out "
                    f"{direction.capitalize()}",
                    policy.location("spec", direction, key=True),
                    resources=(policy.key,),
                    label="these rules isolate nothing and allow nothing",
                    related=(Related("what the policy is about", policy.location("spec", "policyTypes")),),
                    help=(f"fix: add {direction.capitalize()} to policyTypes, or delete the rules",),
                    field=direction,
                )
    for kind in CILIUM:
        for policy in simulation.world.of_kind(*kind):
            yield from _without_rules(policy)


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
