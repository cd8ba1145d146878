"""The rules of SecurityPolicy.authorization for one request (api/v1alpha1/authorization_types.go).

The first rule that matches counts, else the default action, which is Deny. Of a principal all fields must match, of a
field with several values one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

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

Condition = Callable[[RequestFacts], bool | None]
_Asked = tuple[str, Condition, str]
"""The field of a rule that has a condition, the condition, and what it asks for; "" for all of the field."""


class RequestRules:
    """The rules of one policy, read once for all requests."""

    __slots__ = ("_default", "_rules")

    def __init__(self, authorization: Mapping[str, Any], issuers: Mapping[str, str]) -> None:
        """Read them.

        Args:
            issuers: the issuer of each provider of `jwt` that states one, by name.
        """
        place = ("authorization", "defaultAction") if "defaultAction" in authorization else ("authorization",)
        self._default = otherwise(place, allows=authorization.get("defaultAction") == "Allow")
        rules = map(mapping, sequence(authorization.get("rules")))
        self._rules = [(rule, list(_conditions(rule, issuers))) for rule in rules]

    def decide(self, message: RequestFacts) -> Decision:
        """Return what the rules answer a request."""
        judged = (_judged(rule, number, asks, message) for number, (rule, asks) in enumerate(self._rules))
        return first_match(judged, self._default)


def _judged(
    rule: Mapping[str, Any], number: int, conditions: Sequence[_Asked], message: RequestFacts
) -> AuthorizationRule:
    """Return one rule, with whether it matches a request."""
    place, allows = ("authorization", "rules", number), rule.get("action") == "Allow"
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
        elif name == "clientCIDRs" and value:
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
