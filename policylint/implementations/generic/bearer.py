"""Tokens that no provider of a policy takes, by what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import is_symbolic, mapping, sequence, text
from policylint.policy.authorizing import Decision, RequestFacts


def claims_of(providers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the claims that providers of tokens write into headers, by header; what clients write there is taken off.

    Source: envoyproxy.io, jwt_authn, `claim_to_headers`: the filter takes such headers off before it looks for a token
    (source/extensions/filters/http/jwt_authn/extractor.cc, sanitizeHeaders; istio/istio#53212 for what users see).
    """
    written = (
        (text(mapping(each).get("header")).lower(), text(mapping(each).get("claim") or mapping(each).get("name")))
        for provider in providers
        for field in ("claimToHeaders", "claimsToHeaders")
        for each in sequence(provider.get(field))
    )
    return {header: claim for header, claim in written if header}


def foreign(settings: Any, place: Pointer, message: RequestFacts) -> Decision | None:
    """Return the refusal of a token whose issuer none of the `providers` names; without a token it is another question.

    Envoy's jwt_authn and agentgateway's jwt.rs answer it with 401, also where a request without a token may pass.
    """
    issuers = [text(mapping(provider).get("issuer")) for provider in sequence(mapping(settings).get("providers"))]
    return foreign_to(issuers, place, message)


def foreign_to(taken: Iterable[str], place: Pointer, message: RequestFacts) -> Decision | None:
    """Return the refusal of a token of none of these issuers, one for each provider, "" where one states none."""
    issuers = [value for name, value in message.claims or () if name == "iss"]
    taken = list(taken)
    if (
        message.blank
        or not issuers
        or not taken
        or not all(taken)
        or any(each in issuers or is_symbolic(each) for each in taken)
    ):
        return None
    return Decision("denied", place, f"it takes no tokens of {issuers[0]}", status=401)
