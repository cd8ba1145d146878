"""GWP616: network policies whose effect is not known: of other engines, of both versions of one API, by release."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules
from policylint.model import Finding, Related
from policylint.model.words import count
from policylint.network.cilium import NOTHING
from policylint.network.kinds import CLUSTER, GENERATING, SENDING, unevaluated
from policylint.simulation import Simulation

RULE = "GWP616"
_NAME_ALL = "fix: name everybody (`fromEntities: [all]`, `toEntities: [all]`) where that is meant"


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    for (group, kind), same_kind in groupby(unevaluated(world), key=lambda policy: policy.key[:2]):
        policies = list(same_kind)
        what = count(len(policies), f"{kind} of {group}", f"{kind} objects of {group}")
        verb = "is" if len(policies) == 1 else "are"
        if (group, kind) in GENERATING:
            what, verb = f"what {what} {'generates' if len(policies) == 1 else 'generate'} for the network", "is"
        way = "out of" if (group, kind) in SENDING else "to"
        yield Finding(
            RULE,
            "note",
            f"{what} {verb} not evaluated",
            policies[0].name_location,
            resources=tuple(policy.key for policy in policies[:20]),
            label=f"what gets {way} the pods that it may select is not known",
            field=group,
        )
    by_version = {policy.version: policy for kind in reversed(CLUSTER) for policy in reversed(world.of_kind(*kind))}
    if len(by_version) > 1:
        (old, first), (new, second) = sorted(by_version.items())[:2]
        yield Finding(
            RULE,
            "note",
            f"{first.key} is of {old} and {second.key} of {new}: no document says which of one tier comes first",
            first.location("apiVersion"),
            resources=(first.key, second.key),
            label="they are taken to be ordered by priority",
            related=(Related("the other version", second.location("apiVersion")),),
            field="versions",
        )
    told = set()
    for _, policy, rule in rules(simulation):
        place = path(rule.pointer)
        if rule.doubt and (policy.key, place) not in told:
            told.add((policy.key, place))
            on = "the release" if rule.doubt == NOTHING else "how its engine is installed"
            yield Finding(
                RULE,
                "note",
                f"what {place} of {policy.key} does depends on {on}",
                policy.resource.location(*rule.pointer),
                resources=(policy.key,),
                label=rule.doubt,
                help=(_NAME_ALL,) if rule.doubt == NOTHING else (),
                field=place,
            )
