"""The rules of SecurityPolicy.authorization for one request (api/v1alpha1/authorization_types.go).

The first rule that matches counts, else the default action, which is Deny. Of a principal all fields must match, of a
field with several values one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import mapping, sequence, text, texts
from policylint.model.ternary import every
from policylint.policy.authorizing import (
    AuthorizationRule,
    Decision,
    RequestFacts,
    exactly,
    first_match,
    in_brief,
    otherwise,
)
from policylint.spaces.predicates import Predicate


def decide(authorization: Mapping[str, Any], message: RequestFacts, issuers: Mapping[str, str]) -> Decision:
    """Return what the rules answer a request.

    Args:
        issuers: the issuer of each provider of `jwt` that states one, by name.
    """
    rules = enumerate(map(mapping, sequence(authorization.get("rules"))))
    place = ("authorization", "defaultAction") if "defaultAction" in authorization else ("authorization",)
    default = otherwise(place, allows=authorization.get("defaultAction") == "Allow")
    return first_match((_rule(rule, number, message, issuers) for number, rule in rules), default)


def _rule(rule: Mapping[str, Any], number: int, message: RequestFacts, issuers: Mapping[str, str]) -> AuthorizationRule:
    doubts: list[str] = []
    held: list[str] = []
    unmet = ""

    def answers() -> Iterator[bool | None]:
        nonlocal unmet
        for name, answer in _conditions(rule, message, issuers):
            (doubts if answer is None else held).append(name)
            if answer is False:
                stated = {**mapping(rule.get("operation")), **mapping(rule.get("principal"))}
                unmet = f"{name}: {in_brief(stated.get(name))}"
            yield answer

    matches = every(answers())
    on = ", ".join(dict.fromkeys(doubts))
    place = ("authorization", "rules", number)
    return AuthorizationRule(matches, rule.get("action") == "Allow", place, on, unmet=unmet, met=len(held))


def _conditions(
    rule: Mapping[str, Any], message: RequestFacts, issuers: Mapping[str, str]
) -> Iterator[tuple[str, bool | None]]:
    operation = mapping(rule.get("operation"))
    for name in operation:
        yield name, message.has_method(*exactly(operation["methods"])) if name == "methods" else None
    for name, value in mapping(rule.get("principal")).items():
        if name == "headers":
            for header in map(mapping, sequence(value)):
                yield name, message.has_header(header.get("name"), *exactly(header.get("values")))
        elif name == "clientCIDRs" and value:
            yield name, message.is_from(texts(value))
        elif name == "jwt" and value:
            yield from ((name, answer) for answer in _token(mapping(value), message, issuers))
        elif value:
            yield name, None
    if text(rule.get("cel")) or isinstance(rule.get("cel"), dict):
        yield "cel", None


def _token(wanted: Mapping[str, Any], message: RequestFacts, issuers: Mapping[str, str]) -> Iterator[bool | None]:
    """Yield whether the token is of the provider, and has each of the claims and scopes (JWTPrincipal).

    Of the values of a claim one is enough; a claim of type StringArray has one of them among its own.
    """
    issuer = issuers.get(text(wanted.get("provider")))
    yield message.has_claim("iss", Predicate("Exact", issuer)) if issuer else None
    for claim in map(mapping, sequence(wanted.get("claims"))):
        yield message.has_claim(text(claim.get("name")), *exactly(claim.get("values")))
    for scope in texts(wanted.get("scopes")):
        yield message.has_claim("scope", Predicate("Exact", scope))
