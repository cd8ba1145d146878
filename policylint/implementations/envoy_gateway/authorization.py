"""What policies of Envoy Gateway turn requests away for (api/v1alpha1/{authorization,csrf}_types.go and others).

Of the rules of `authorization` the first one that matches counts, else the default action, which is Deny. Of a
principal all fields must match, of a field with several values one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from policylint.implementations.generic import cross_site
from policylint.implementations.generic.bearer import foreign
from policylint.model import mapping, sequence, text, texts
from policylint.policy.authorizing import (
    AuthorizationRule,
    Decision,
    RequestFacts,
    exactly,
    first_match,
    in_brief,
    otherwise,
)
from policylint.spaces.addresses import number_of
from policylint.spaces.predicates import Predicate

_CONNECT = "CONNECT"
ADDRESSES = "clientCIDRs"
Condition = Callable[[RequestFacts], bool | None]
_Asked = tuple[str, Condition, str]
"""The field of a rule that has a condition, the condition, and what it asks for; "" for all of the field."""


def refusals(spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what settings other than `authorization` answer a request that they do not let through."""
    if isinstance(spec.get("csrf"), dict):
        yield from _of_other_sites(spec["csrf"], message)
    if refused := foreign(spec.get("jwt"), ("jwt",), message):
        yield refused
    if "clientIPDetection" in spec:
        yield from _without_address(mapping(mapping(spec["clientIPDetection"]).get("customHeader")), message)
    if any(mapping(upgrade).get("type") == _CONNECT for upgrade in sequence(spec.get("httpUpgrade"))):
        yield from _not_connecting(message)


def _without_address(header: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what a request gets without the header that must hold the client's address (buildClientIPDetection)."""
    if header.get("failClosed") is True and (name := text(header.get("name"))):
        there = message.has_header(name, Predicate("Present"))
        denied = Decision("denied", ("clientIPDetection", "customHeader"), f"it has no {name} with an address")
        if there is None:
            yield denied.if_so(f"the header {name}")
        elif not there or number_of(message.headers.get(name.lower(), "")) is None:
            yield denied


def _not_connecting(message: RequestFacts) -> Iterator[Decision]:
    """Yield that a route with an upgrade to CONNECT takes nothing else (internal/xds/translator/route.go)."""
    if message.has_method(Predicate("Exact", _CONNECT)) is False:
        why = "a route with an upgrade to CONNECT takes such requests alone"
        yield Decision("denied", ("httpUpgrade",), why, status=404, passes_on=True)


def _of_other_sites(csrf: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what is answered to requests of other sites: their origins have `*` for any text (buildCSRF)."""
    fraction = mapping(csrf.get("shadowFraction"))
    numerator, denominator = fraction.get("numerator", 0), fraction.get("denominator", 100)
    known = isinstance(numerator, int) and isinstance(denominator, int) and denominator > 0
    shadowed = 100 * numerator / denominator if known else 0
    origins = (origin.rpartition("://")[2] for origin in texts(csrf.get("additionalOrigins")))
    patterns = [re.escape(origin).replace(r"\*", ".*") for origin in origins]
    yield from cross_site.decisions(message, patterns, 100 - shadowed, f"{shadowed:g} % are merely counted")


class RequestRules:
    """The rules of one policy, read once for all requests."""

    __slots__ = ("_claimed", "_default", "_rules")

    def __init__(
        self, authorization: Mapping[str, Any], issuers: Mapping[str, str], claimed: Mapping[str, str]
    ) -> None:
        """Read them.

        Args:
            issuers: the issuer of each provider of `jwt` that states one, by name.
            claimed: the claims that are written into headers before, by header.
        """
        self._claimed = claimed
        place = ("authorization", "defaultAction") if "defaultAction" in authorization else ("authorization",)
        self._default = otherwise(place, allows=authorization.get("defaultAction") == "Allow")
        rules = map(mapping, sequence(authorization.get("rules")))
        self._rules = [(rule, list(_conditions(rule, issuers))) for rule in rules]

    def decide(self, message: RequestFacts) -> Decision:
        """Return what the rules answer a request."""
        message = message._replace(claimed=self._claimed)
        judged = (_judged(rule, number, asks, message) for number, (rule, asks) in enumerate(self._rules))
        return first_match(judged, self._default)


def _judged(
    rule: Mapping[str, Any], number: int, conditions: Sequence[_Asked], message: RequestFacts
) -> AuthorizationRule:
    """Return one rule, with whether it matches a request.

    On connections a rule is its addresses alone; one without any is left out (buildTCPPrincipalPredicate).
    """
    place, allows = ("authorization", "rules", number), rule.get("action") == "Allow"
    if message.stream:
        conditions = [each for each in conditions if each[0] == ADDRESSES]
        if not conditions:
            return AuthorizationRule(False, allows, place)
    doubts: dict[str, None] = {}
    for met, (name, condition, wanted) in enumerate(conditions):
        answer = condition(message)
        if answer is False:
            return AuthorizationRule(
                False, allows, place, unmet=partial(_asks_for, rule, name, wanted), met=met - len(doubts)
            )
        if answer is None:
            doubts[name] = None
    return AuthorizationRule(None if doubts else True, allows, place, ", ".join(doubts))


def _asks_for(rule: Mapping[str, Any], name: str, wanted: str) -> str:
    if wanted:
        return f"{name}: {wanted}"
    return f"{name}: {in_brief({**mapping(rule.get('operation')), **mapping(rule.get('principal'))}.get(name))}"


def _conditions(rule: Mapping[str, Any], issuers: Mapping[str, str]) -> Iterator[_Asked]:
    """Yield the conditions of a rule."""
    operation = mapping(rule.get("operation"))
    for name in operation:
        yield name, _method(operation["methods"]) if name == "methods" else _unknown, ""
    for name, value in mapping(rule.get("principal")).items():
        if name == "headers":
            for header in map(mapping, sequence(value)):
                yield name, _header(header), ""
        elif name == ADDRESSES and value:
            yield name, _addresses(value), ""
        elif name == "jwt" and value:
            yield from ((name, condition, wanted) for condition, wanted in _token(mapping(value), issuers))
        elif value:
            yield name, _unknown, ""
    if text(rule.get("cel")) or isinstance(rule.get("cel"), dict):
        yield "cel", _unknown, ""


def _token(wanted: Mapping[str, Any], issuers: Mapping[str, str]) -> Iterator[tuple[Condition, str]]:
    """Yield that the token is of the provider, and that it has each of the claims and scopes (JWTPrincipal).

    Of the values of a claim one is enough; a claim of type StringArray has one of them among its own.
    """
    issuer = issuers.get(text(wanted.get("provider")))
    yield (
        _claim("iss", [issuer]) if issuer else _unknown,
        f"a token of provider {wanted.get('provider')} (claim iss: {issuer})",
    )
    for claim in map(mapping, sequence(wanted.get("claims"))):
        name, values = text(claim.get("name")), claim.get("values")
        yield _claim(name, values), f"claim {name}: {in_brief(values)}"
    for scope in texts(wanted.get("scopes")):
        yield _claim("scope", [scope]), f"scope {scope}"


def _unknown(_: RequestFacts) -> None:
    return None


def _method(values: Any) -> Condition:
    predicates = exactly(values)
    return lambda message: message.has_method(*predicates)


def _header(header: Mapping[str, Any]) -> Condition:
    name, predicates = text(header.get("name")).lower(), exactly(header.get("values"))
    return lambda message: message.has_header(name, *predicates)


def _addresses(networks: Any) -> Condition:
    stated = texts(networks)
    return lambda message: message.is_from(stated)


def _claim(name: str, values: Any) -> Condition:
    predicates = exactly(values)
    return lambda message: message.has_claim(name, *predicates)
