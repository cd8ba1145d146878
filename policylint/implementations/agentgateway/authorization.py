"""`authorization` and `csrf` for one request (crates/agentgateway/src/http/{authorization,csrf}.rs).

A rule of Deny that matches keeps the request out, a rule of Require must match, and where there are rules of Allow one
of them must match. Requests of other sites are those of which the browser says so, or whose `Origin` is another one:
what states neither passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.agentgateway.expressions import is_unreadable
from policylint.implementations.agentgateway.merging import EARLY
from policylint.implementations.agentgateway.never import never
from policylint.implementations.generic.bearer import foreign
from policylint.model import mapping, sequence, texts
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import (
    AuthorizationRule,
    Decision,
    RequestFacts,
    exactly,
    first_match,
    holds,
    in_brief,
    otherwise,
)
from policylint.spaces.predicates import Predicate

_NAME = "authorization"
_PORTS = {"http": 80, "https": 443}
_TOKEN = ("jwt",)
"""Where expressions find the claims of a token, after the phase in which tokens are checked."""


def decisions(spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what the rules of each phase of an effective policy answer a request; a request has to pass both."""
    token: Sequence[str] = ()
    for block in (EARLY, "traffic"):
        settings = mapping(spec.get(block))
        value, place = settings.get(_NAME), (block, _NAME)
        asked = mapping(settings.get("jwtAuthentication"))
        token = _TOKEN if asked else token
        if asked.get("mode") != "Permissive" and (refused := foreign(asked, (block, "jwtAuthentication"), message)):
            yield refused
        if isinstance(value, list):
            yield _decide([((*place, index), mapping(rule)) for index, rule in enumerate(value)], message, token)
        elif value:
            yield _decide([(place, mapping(value))], message, token)
    yield from _of_other_sites(spec, message)


def _of_other_sites(spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what `csrf` answers a request that changes something."""
    settings = mapping(spec.get("traffic")).get("csrf")
    if not isinstance(settings, dict):
        return
    own = f"{message.scheme or 'http'}://{message.host}"
    if message.dialled not in (None, _PORTS.get(message.scheme)):
        own += f":{message.dialled}"
    trusted = message.has_header("origin", *exactly([own, "null", *texts(settings.get("additionalOrigins"))]))
    stated = message.has_header("origin", Predicate("Present"))
    told = message.has_header("sec-fetch-site", Predicate("Present"))
    alike = message.has_header("sec-fetch-site", *exactly(["same-origin", "none"]))
    exempt = message.has_header("origin", *exactly(settings.get("additionalOrigins")))
    passes = some(
        (
            message.has_method(*exactly(["GET", "HEAD", "OPTIONS"])),
            every((told, some((alike, exempt)))),
            every((negated(told), some((negated(stated), trusted)))),
        )
    )
    denied = Decision("denied", ("traffic", "csrf"), "it is sent from another site")
    if passes is not True:
        yield denied.if_so("the site that it is sent from") if passes is None else denied


def _decide(rules: list[tuple[Pointer, Mapping[str, Any]]], message: RequestFacts, token: Sequence[str]) -> Decision:
    allowing: list[AuthorizationRule] = []
    denying: list[AuthorizationRule] = []
    for place, rule in rules:
        expressions = sequence(mapping(rule.get("policy")).get("matchExpressions"))
        answers = [False if is_unreadable(each) or never(each) else holds(each, message, token) for each in expressions]
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
