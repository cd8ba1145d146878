"""What the guards of doors that are no Gateways answer: lists of addresses, and what is enough where they meet a login.

Tokens of issuers that a door does not name are refused, too.

The settings are those of schemas/doors.yaml, whoever's annotations state them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.implementations.generic import Implementation
from policylint.implementations.generic.bearer import foreign
from policylint.implementations.generic.detecting import Detection
from policylint.model import PolicyKind, Resource, integer, mapping, text, texts
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, first_match, otherwise

_LOGINS = ("externalAuth", "basicAuth", "digestAuth")


class Doors(Implementation):
    """The guards of Ingresses and of Services that are published by themselves."""

    name = "doors"

    def concerning(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what of a door's guards is about a request: with `satisfy: any` the list or the login is enough, also
        for whom the other list keeps out.

        Source: nginx.org, ngx_http_core_module, satisfy.
        """
        allow, deny = texts(spec.get("allow")), texts(spec.get("deny"))
        if spec.get("satisfy") != "any" or not (allow or deny) or not any(spec.get(name) for name in _LOGINS):
            return spec
        on_list = allow and message.is_from(allow) and not (deny and message.is_from(deny) is not False)
        dropped = ("allow", "deny", *_LOGINS) if on_list else ("allow", "deny")
        return {name: value for name, value in spec.items() if name not in dropped}

    def detection(self, gateway: Resource, kind: PolicyKind | None, spec: Mapping[str, Any]) -> Detection | None:  # noqa: ARG002
        """Return where a door looks for clients' addresses, as its settings for all say."""
        stated = mapping(spec.get("clientAddress")) if kind is not None else {}
        if not stated:
            return None
        return Detection(
            text(stated.get("field")),
            hops=integer(stated.get("hops")) or 0,
            networks=tuple(texts(stated.get("networks"))),
            header=text(stated.get("header")),
            recursive=stated.get("recursive") is not False,
            unseen=text(stated.get("unseen")),
        )

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:  # noqa: ARG002
        """Yield what is answered to tokens of other issuers, and what the lists of addresses answer: who is on the one
        is refused, then who is not on the other."""
        allow, deny = texts(spec.get("allow")), texts(spec.get("deny"))
        rules = [
            AuthorizationRule(message.is_from(networks), allows, (name,), "the client's address")
            for name, networks, allows in (("deny", deny, False), ("allow", allow, True))
            if networks
        ]
        if refused := foreign({"providers": [spec.get("jwt")]}, ("jwt",), message):
            yield refused
        if rules:
            yield first_match(rules, otherwise(("allow",) if allow else ("deny",), allows=not allow))
