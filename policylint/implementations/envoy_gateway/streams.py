"""Rules of an authorization on connections, of which addresses are all that is read.

Source: internal/xds/translator/authorization_tcp.go, buildTCPPrincipalPredicate; policies on Gateways and listeners
are not refused for the rest, as those on TCPRoutes are (envoyproxy/gateway#9868).
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.envoy_gateway.authorization import ADDRESSES
from policylint.implementations.envoy_gateway.merging import L4_ROUTES
from policylint.model import mapping, sequence
from policylint.model.words import listing
from policylint.policy.results import FaultyPart, PolicyState


def widened(state: PolicyState) -> Iterator[FaultyPart]:
    """Yield the rules that mean something else for the connections of a Gateway."""
    paths = (path for group in state.groups for path in group.contexts())
    routes = sorted({node.key for path in paths for node in path if node.key.kind in L4_ROUTES})
    if not routes:
        return
    named = listing([str(key) for key in routes], most=3)
    for number, rule in enumerate(map(mapping, sequence(mapping(state.policy.spec.get("authorization")).get("rules")))):
        principal = mapping(rule.get("principal"))
        dropped = [name for name in ("operation", "cel") if rule.get(name)]
        dropped += [name for name, value in principal.items() if name != ADDRESSES and value]
        if not dropped:
            continue
        allows = rule.get("action") == "Allow"
        if principal.get(ADDRESSES):
            effect = f"the rule {'allows' if allows else 'denies'} every connection from its {ADDRESSES}"
        else:
            effect = f"the rule is left out, as it has no {ADDRESSES}"
        yield FaultyPart(
            ("spec", "authorization", "rules", number),
            f"{listing(dropped)} is not read of connections: {effect}",
            fix="name the listeners of HTTP with sectionName, and write a policy of its own for the connections",
            outcome=f"says something else for the connections of {named}",
        )
