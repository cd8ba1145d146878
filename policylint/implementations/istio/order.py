"""Headers that authorizers (action CUSTOM) lack: what tokens say comes too late, since they are asked before these are
checked, and cookies are not sent unless somebody says so.

Source: istio/istio pilot/pkg/networking/core/listener_builder.go, buildHTTPConnectionManager: authzCustomBuilder comes
before authnBuilder; istio/istio#35941.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policylint.catalog.login_proxies import knows_by_cookies
from policylint.documents import Pointer
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.results import FaultyPart, PolicyState


def without_cookies(policy: Resource, shown: Mapping[str, tuple[str, list[str]]]) -> Iterator[FaultyPart]:
    """Yield the authorizer of a policy that knows people by cookies, and is sent none.

    Source: istio.io/docs/reference/config/istio.mesh.v1alpha1, `includeRequestHeadersInCheck`: without, Host, Method,
    Path, Content-Length and Authorization are sent.
    """
    provider = text(mapping(policy.spec.get("provider")).get("name"))
    service, headers = shown.get(provider, ("", []))
    is_sent = any(fnmatchcase("cookie", header.lower()) or is_symbolic(header) for header in headers)
    if policy.spec.get("action") == "CUSTOM" and knows_by_cookies(service.partition(".")[0]) and not is_sent:
        yield FaultyPart(
            ("spec", "provider", "name"),
            "it knows who has logged in by a cookie, and of the headers of a request it is sent `authorization` and "
            "those of `includeRequestHeadersInCheck`",
            fix=f"list `cookie` in `includeRequestHeadersInCheck` of provider {provider}",
            outcome="asks a login proxy without the cookies of clients",
        )


def late(state: PolicyState, world: World, shown: Mapping[str, tuple[str, list[str]]]) -> Iterator[FaultyPart]:
    """Yield the outputs of a RequestAuthentication that an authorizer of the same workloads is to be shown."""
    for policy in world.in_namespace(*AUTHORIZATION, state.key.namespace):
        provider = text(mapping(policy.spec.get("provider")).get("name"))
        if policy.spec.get("action") != "CUSTOM" or not _is_same(policy.spec, state.policy.spec):
            continue
        for pointer, header in _outputs(state.policy.spec):
            if header.lower() in map(str.lower, shown.get(provider, ("", []))[1]):
                yield FaultyPart(
                    pointer,
                    f"{policy.key.path} asks authorizer {provider} before tokens are checked, without this header",
                    fix="have the authorizer read the token itself",
                    outcome=f"comes too late for the authorizer that is to be shown {header}",
                )


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two policies of a namespace surely act at a common workload: they say so in the same words."""
    fields = ("selector", "targetRef", "targetRefs")
    return all(not each.get(name) for each in (one, other) for name in fields) or all(
        one.get(name) == other.get(name) for name in fields
    )


def _outputs(spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    for number, rule in enumerate(map(mapping, sequence(spec.get("jwtRules")))):
        place: Pointer = ("spec", "jwtRules", number)
        if text(rule.get("outputPayloadToHeader")):
            yield (*place, "outputPayloadToHeader"), text(rule["outputPayloadToHeader"])
        for position, claim in enumerate(map(mapping, sequence(rule.get("outputClaimToHeaders")))):
            if text(claim.get("header")):
                yield (*place, "outputClaimToHeaders", position, "header"), text(claim["header"])
