"""The rules of `authorization` for one request (crates/agentgateway/src/http/authorization.rs).

A rule of Deny that matches keeps the request out, a rule of Require must match, and where there are rules of Allow one
of them must match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.agentgateway.expressions import is_unreadable
from policylint.implementations.agentgateway.merging import EARLY
from policylint.model import mapping, sequence
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import (
    AuthorizationRule,
    Decision,
    RequestFacts,
    first_match,
    holds,
    in_brief,
    otherwise,
)

_NAME = "authorization"
_TOKEN = ("jwt",)
"""Where expressions find the claims of a token, after the phase in which tokens are checked."""


def decisions(spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what the rules of each phase of an effective policy answer a request; a request has to pass both."""
    token: Sequence[str] = ()
    for block in (EARLY, "traffic"):
        settings = mapping(spec.get(block))
        value, place = settings.get(_NAME), (block, _NAME)
        token = _TOKEN if settings.get("jwtAuthentication") else token
        if isinstance(value, list):
            yield _decide([((*place, index), mapping(rule)) for index, rule in enumerate(value)], message, token)
        elif value:
            yield _decide([(place, mapping(value))], message, token)


def _decide(rules: list[tuple[Pointer, Mapping[str, Any]]], message: RequestFacts, token: Sequence[str]) -> Decision:
    allowing: list[AuthorizationRule] = []
    denying: list[AuthorizationRule] = []
    for place, rule in rules:
        expressions = sequence(mapping(rule.get("policy")).get("matchExpressions"))
        answers = [False if is_unreadable(each) else holds(each, message, token) for each in expressions]
        unmet = partial(in_brief, [each for each, answer in zip(expressions, answers, strict=True) if answer is False])
        match rule.get("action", "Allow"):
            case "Allow":
                allowing.append(_rule(some(answers), place, unmet, allows=True))
            case "Deny":
                denying.append(_rule(some(answers), place, allows=False))
            case "Require":
                denying.append(_rule(negated(every(answers)), place, unmet, allows=False))
    last = allowing[-1].pointer if allowing else rules[-1][0]
    return first_match([*denying, *allowing], otherwise(last, allows=not allowing))


def _rule(
    matches: bool | None, place: Pointer, unmet: Callable[[], str] | None = None, *, allows: bool
) -> AuthorizationRule:
    return AuthorizationRule(matches, allows, place, "expressions" if matches is None else "", unmet=unmet)
