"""Cilium: the routes that it accepts at none of its Gateways.

Source: operator/pkg/gateway-api/routechecks/httproute.go @ 0913c4388, ValidateHeaderModifier and ValidateMatchRegexps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.implementations.generic import Implementation
from policylint.model import Resource, holds_variable, mapping, sequence, text

_MATCHES = {"headers": "header", "queryParams": "queryParam"}


class Cilium(Implementation):
    """BackendTLSPolicy is as its catalog entry says; routes are checked as a whole."""

    name = "cilium"

    def refuses(self, route: Resource) -> str:
        """Refuse routes that set the host as a header, and those with a match that is no regular expression of Go."""
        if route.key.kind != "HTTPRoute":
            return ""
        rules = list(map(mapping, sequence(route.spec.get("rules"))))
        if any(_sets_host(rule) for rule in rules):
            return 'Invalid header modifier: "Host" header is not supported'
        for field, pattern in (found for rule in rules for found in _expressions(rule)):
            if not holds_variable(pattern):
                from policylint.regex import expression

                fault = expression(pattern).refusal
                if fault:
                    return f"Invalid regular expression in {field} match: {pattern!r} is {fault}"
        return ""


def _sets_host(rule: Any) -> bool:
    return any(
        mapping(header).get("name") == "Host"
        for filter_ in map(mapping, sequence(rule.get("filters")))
        if filter_.get("type") == "RequestHeaderModifier"
        for header in sequence(mapping(filter_.get("requestHeaderModifier")).get("set"))
    )


def _expressions(rule: Any) -> Iterator[tuple[str, str]]:
    """Yield the regular expressions of a rule's matches, each with what it is matched against."""
    for match in map(mapping, sequence(rule.get("matches"))):
        listed = [("path", mapping(match.get("path")))]
        listed += [(said, mapping(entry)) for field, said in _MATCHES.items() for entry in sequence(match.get(field))]
        for said, entry in listed:
            if entry.get("type") == "RegularExpression" and isinstance(entry.get("value"), str):
                yield said, text(entry["value"])
