"""GWP601: a network policy whose subject is nobody."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.network import by_hand, may_be_elsewhere, subject_place
from policylint.model import Finding, ResourceKey
from policylint.model.selectors import unmet
from policylint.model.words import listing
from policylint.network.kinds import EVALUATED
from policylint.network.rules import Pods, PolicySpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.simulation import Simulation

RULE = "GWP601"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    if network.universe.facts.idle:
        return
    by_key: dict[ResourceKey, list[int]] = {}
    for number, policy in enumerate(network.policies):
        if policy.key[:2] in EVALUATED:
            by_key.setdefault(policy.key, []).append(number)
    for key, numbers in sorted(by_key.items()):
        policy = network.policies[numbers[0]]
        yield from _for_nobody(network, numbers)
        if any(network.policies[number].refused or network.subjects[number].maybe for number in numbers):
            continue
        subjects = [network.policies[number].subject for number in numbers]
        if network.is_whole(policy) and not any(may_be_elsewhere(network, subject) for subject in subjects):
            doubt = by_hand(network, policy, policy.subject)
            yield Finding(
                RULE,
                "note" if doubt else "warning",
                f"{key} selects no pod, so it does nothing",
                subject_place(policy),
                resources=(key,),
                label=_nearest(network, policy),
                confidence="assumed" if doubt else "certain",
                ground=doubt,
            )


def _for_nobody(network: Network, numbers: list[int]) -> Iterator[Finding]:
    """Yield the rules that say of the pods themselves what none of those has that their policy selects."""
    selecting = [number for number in numbers if network.subjects[number].maybe]
    policies = [network.policies[number] for number in (numbers if selecting else ())]
    meant = {id(rule) for number in selecting for rule in network.policies[number].rules}
    for rule in {id(rule): rule for policy in policies for rule in policy.rules if id(rule) not in meant}.values():
        own = [policy for policy in policies if rule in policy.rules]
        if not all(network.is_whole(policy) and not may_be_elsewhere(network, policy.subject) for policy in own):
            continue
        side = "destination" if rule.direction == "ingress" else "source"
        place = f"{rule.direction}[{rule.position}]"
        yield Finding(
            RULE,
            "warning",
            f"{place} of {own[0].key} is for no pod: its `{side}` asks for others than those that the policy selects",
            own[0].resource.location(*rule.pointer, side),
            resources=(own[0].key,),
            label=f"in a rule for {rule.direction}, `{side}` is the selected pod itself",
            help=("fix: select these pods by the policy, or write what the other end must have on the other side",),
            field=place,
        )


def _nearest(network: Network, policy: PolicySpec) -> str:
    """Return what the workload that comes nearest lacks."""
    subject, universe = policy.subject, network.universe
    if not isinstance(subject, Pods):
        return "no pod has this identity"
    around = universe.pods if subject.home is None else universe.members(subject.home)
    place = "here" if subject.home is None else f"in namespace {subject.home}"
    ends = [universe.endpoints[number] for number in numbers_of(around)]
    if subject.home is None:
        inside = universe.namespaces(subject.namespaces).maybe
        if not inside:
            return "no namespace has these labels"
        ends = [universe.endpoints[number] for number in numbers_of(inside)]
    elif not around & universe.namespaces(subject.namespaces).maybe:
        return f"a policy of namespace {subject.home} selects pods of no other"
    if not ends:
        return f"no workload is {place}"
    nearest = min(ends, key=lambda end: (len(unmet(subject.pods, end.labels)), end.key))
    missing = unmet(subject.pods, nearest.labels)
    if not missing:
        return "only pods on their node's network have these labels, which policies do not select"
    return f"nearest is {nearest.key}, which lacks {listing(missing, most=3)}"
