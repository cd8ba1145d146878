"""The authorization rules of Kuadrant's AuthPolicy for one request (Authorino, pkg/evaluators/authorization).

All rules must allow. Decided are patterns on method, host, path and claims of tokens, CEL of the same sort, and Rego
whose only statement makes `allow` a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from policylint.implementations.generic.bearer import foreign_to
from policylint.implementations.kuadrant.patterns import Patterns
from policylint.model import mapping, text
from policylint.model.ternary import negated
from policylint.patterns import Pattern
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, first_match, in_brief, otherwise

_IDENTITY = ("auth", "identity")
_CHANGING = frozenset({"defaults", "overrides"})
"""What adds to an identity or replaces parts of it (Authorino, `extendedProperties`)."""
_CONSTANT = Pattern(r"(?:default\s+)?allow\s*:?=\s*(true|false)")


def decide(spec: Mapping[str, Any], message: RequestFacts) -> Decision | None:
    """Return what the rules of an AuthPolicy answer a request; None where they authorize nothing."""
    rules = mapping(spec.get("rules"))
    authorization = mapping(rules.get("authorization"))
    if not authorization:
        return None
    patterns = Patterns(spec, message)
    asked = patterns if not _by_tokens(rules) else Patterns(spec, message, _IDENTITY)
    status = mapping(mapping(rules.get("response")).get("unauthorized")).get("code")
    answers = {name: _answer(mapping(rule), patterns, asked) for name, rule in authorization.items()}
    place = ("rules", "authorization")
    unknown = ", ".join(name for name, answer in answers.items() if answer is None)
    refusing = (
        AuthorizationRule(
            negated(answer),
            False,
            (*place, name),
            unknown if answer is None else "",
            unmet=partial(_wants, name, mapping(authorization[name]), asked) if answer is False else None,
        )
        for name, answer in answers.items()
    )
    decision = first_match(refusing, otherwise(place, allows=True))
    return decision._replace(status=status) if decision.answer == "denied" and isinstance(status, int) else decision


def refused_token(spec: Mapping[str, Any], message: RequestFacts) -> Decision | None:
    """Return the refusal of a token that none of the providers issued, where nothing but their tokens lets in.

    Each verifies `iss` (Authorino, pkg/evaluators/identity/jwt.go); one that is not asked lets nothing in.
    """
    rules = mapping(spec.get("rules"))
    ways = [mapping(way) for way in mapping(rules.get("authentication")).values()]
    if any(not text(mapping(way.get("jwt")).get("issuerUrl")) or "when" in way for way in ways):
        return None
    issuers = (text(mapping(way["jwt"]).get("issuerUrl")) for way in ways)
    refused = foreign_to(issuers, ("rules", "authentication"), message)
    status = mapping(mapping(rules.get("response")).get("unauthenticated")).get("code")
    return refused._replace(status=status) if refused is not None and isinstance(status, int) else refused


def _wants(name: str, rule: Mapping[str, Any], patterns: Patterns) -> str:
    """Return the first pattern of a rule that a request does not match, in brief, after the rule's name."""
    unmet = patterns.first_unmet(mapping(rule.get("patternMatching")).get("patterns"))
    return f"{name}: {in_brief(unmet)}" if unmet else name


def _by_tokens(rules: Mapping[str, Any]) -> bool:
    """Tell whether the identity that patterns see is the claims of a token as they are, whoever is let in."""
    ways = [mapping(way) for way in mapping(rules.get("authentication")).values()]
    return bool(ways) and all("jwt" in way and _CHANGING.isdisjoint(way) for way in ways)


def _answer(rule: Mapping[str, Any], patterns: Patterns, asked: Patterns) -> bool | None:
    """Return whether one rule allows a request; one whose conditions do not hold is skipped."""
    skipped = patterns.all(rule.get("when"))
    if skipped is False:
        return True
    allowed = _evaluated(rule, asked)
    return allowed if allowed or skipped else None


def _evaluated(rule: Mapping[str, Any], patterns: Patterns) -> bool | None:
    rego = text(mapping(rule.get("opa")).get("rego"))
    if rego:
        lines = (line.partition("#")[0].strip() for line in rego.splitlines())
        statements = [line for line in lines if line]
        constant = _CONSTANT.fullmatch(statements[0]) if len(statements) == 1 else None
        return None if constant is None else constant[1] == "true"
    if "patternMatching" in rule:
        return patterns.all(mapping(rule["patternMatching"]).get("patterns"))
    return None
