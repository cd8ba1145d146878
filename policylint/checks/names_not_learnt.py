"""GWP619 names-not-learnt: pods that may connect to names of which nothing learns the addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.checks.dns_cut_off import opens_dns
from policylint.documents import Pointer
from policylint.model import Finding, ResourceKey, mapping, sequence, value_at
from policylint.model.words import leading
from policylint.network.kinds import CILIUM
from policylint.network.rules import PolicySpec
from policylint.network.walk import Entry
from policylint.simulation import Simulation

RULE = "GWP619"
_NAMES = "toFQDNs"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    unlearnt: dict[ResourceKey, list[ResourceKey]] = {}
    places: dict[ResourceKey, tuple[PolicySpec, Pointer]] = {}
    for number, end in enumerate(network.universe.endpoints):
        if end.role != "workload" or end.host:
            continue
        entries = list(network.entries(number, "egress"))
        naming = [(entry.policy, pointer) for entry, pointer, rule in _rules(entries) if rule.get(_NAMES)]
        if not naming or any(_looks(rule) for _, _, rule in _rules(entries)):
            continue
        if any(opens_dns(network, entry, "UDP") for entry in entries):  # else GWP610 says it
            for policy, pointer in naming:
                places.setdefault(policy.key, (policy, pointer))
            for key in {policy.key for policy, _ in naming}:
                unlearnt.setdefault(key, []).append(end.key)
    for key, ends in sorted(unlearnt.items()):
        policy, pointer = places[key]
        home = key.namespace or ends[0].namespace
        unseen = simulation.world.unseen.reason(ResourceKey(*CILIUM[0], home, ""))
        yield Finding(
            RULE,
            "warning",
            f"{key} lets {leading(ends, 3)} connect to names whose addresses are never learnt",
            policy.resource.location(*pointer, _NAMES, key=True),
            resources=(key, *ends[:20]),
            label="addresses are learnt from answers that pass a DNS rule, and no policy of these pods has one",
            help=('fix: add a rule for port 53 of the cluster\'s DNS with `rules: {dns: [{matchPattern: "*"}]}`',),
            confidence="assumed" if unseen else "certain",
            ground=f"a policy that was not seen may have such a rule ({unseen})" if unseen else "",
        )


def _rules(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Pointer, Mapping[str, Any]]]:
    """Yield the rules of some policies as they are written, with their places."""
    for entry in entries:
        for rule, _ in entry.rules:
            yield entry, rule.pointer, mapping(value_at(entry.policy.resource.body, rule.pointer))


def _looks(rule: Mapping[str, Any]) -> bool:
    """Return whether a rule has the answers to questions for names read."""
    return any("dns" in mapping(mapping(ports).get("rules")) for ports in sequence(rule.get("toPorts")))
