"""Hosts outside by their names: which policies let a connection through that was looked up by one.

Source: docs.cilium.io, «DNS based», «Layer 7 Policies» (DNS): the addresses of names are learnt from the answers that
pass a rule for DNS, which refuses the question for every other name. NPEP-133: other plugins learn them by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.matches import CHANCE
from policylint.model.ternary import some
from policylint.namedtuple import NamedTuple
from policylint.network.rules import DNS, HostNames, RuleSpec
from policylint.network.walk import Entry, TierStep
from policylint.spaces.addresses import number_of


class Looked(NamedTuple):
    """What policies make of a connection to a host that is looked up.

    Args:
        entries: the policies as it meets them.
        refused: what keeps its name from being looked up, None where nothing certainly does.
    """

    entries: tuple[Entry, ...]
    refused: TierStep | None


def looked_up(entries: Sequence[Entry], host: str, outside: int) -> Looked | None:
    """Return what policies make of a connection to a host outside; None for an address, and without rules for names.

    Args:
        outside: the set of all addresses outside.
    """
    if number_of(host) is not None:
        return None
    host = host.lower().rstrip(".")
    asking = [(entry, rule, parts) for entry in entries for rule, parts in entry.rules if _is_of_dns(rule)]
    if not asking and not any(_names(rule) for entry in entries for rule, _ in entry.rules):
        return None
    answers = [
        None if term.fault == CHANCE and term.predicate.takes(host) else term.predicate.takes(host)
        for _, rule, _ in asking
        for terms in rule.calls or ()
        for term in terms
    ]
    servers = [(part.ports, part.maybe) for _, _, parts in asking for part in parts]
    is_open = any(
        part.ports & ports and part.maybe & peers
        for entry in entries
        for rule, parts in entry.rules
        if rule.calls is None and rule.action == "Allow"
        for part in parts
        for ports, peers in servers
    )
    learnt = True if asking and is_open else some(answers)
    found = []
    for entry in entries:
        rules = []
        for rule, parts in entry.rules:
            if names := _names(rule):
                told = some(_takes(name, host, learnt) for name in names)
                if told is not None:
                    parts = tuple(
                        part._replace(sure=part.sure | part.maybe & outside) if told else part._replace(maybe=part.sure)
                        for part in parts
                    )
            rules.append((rule, parts))
        found.append(entry._replace(rules=tuple(rules)))
    refused = None
    if asking and learnt is False:
        entry, rule, _ = asking[0]
        refused = TierStep(entry.policy.tier, "Deny", entry.policy, rule, entry.certain)
    return Looked(tuple(found), refused)


def _takes(name: HostNames, host: str, learnt: bool | None) -> bool | None:
    taken = name.taken.takes(host)
    if not taken or not name.by_proxy:
        return taken
    return None if name.loosely and learnt else learnt


def _names(rule: RuleSpec) -> list[HostNames]:
    return [peer for among, _ in rule.peers for peer in among if isinstance(peer, HostNames)]


def _is_of_dns(rule: RuleSpec) -> bool:
    return any(term.name == DNS for terms in rule.calls or () for term in terms)
