"""What attributes of expressions are, where that is not what it seems.

Source: agentgateway crates/agentgateway/src/http/authorization_tests.rs (`SourceContext.address` is an IpAddr, which no
text equals); agentgateway/agentgateway#3092: calls are authorized before their arguments are read, and a rule that
cannot be evaluated does not match.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.generic.impossible import Attribute, Attributes, impossible, impossible_rules
from policylint.policy.results import FaultyPart, PolicyState

_RULES = (("traffic", "authorization"), ("frontend", "networkAuthorization"), ("backend", "mcp", "authorization"))
_ADDRESS = Attribute(
    "`source.address` is an address, which equals no text",
    "compare it so: cidr('10.0.0.0/8').containsIP(source.address)",
    lambda _: False,
)
_ARGUMENTS = Attribute(
    "`mcp.tool.arguments` is not known where calls are authorized",
    "go by `mcp.tool.name`, and check arguments in the server",
)
_ATTRIBUTES: Attributes = {("source", "address"): _ADDRESS, ("mcp", "tool", "arguments"): _ARGUMENTS}


def never(expression: object) -> bool:
    """Return whether an expression holds for no request."""
    return impossible(expression, _ATTRIBUTES) is not None


def never_holding(state: PolicyState) -> Iterator[FaultyPart]:
    """Yield the expressions of a policy's rules that hold for no request."""
    for place in _RULES:
        yield from impossible_rules(state, place, _ATTRIBUTES)
