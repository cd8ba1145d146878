"""The refusals of Istio's CRDs and webhook.

Source: docs/design/implementations/istio.md §0 1-2, §1, §3; pkg/config/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.implementations.istio import labels
from policylint.model import PolicyKind, Resource, is_symbolic, mapping, sequence, text, texts
from policylint.model.embedded import json_in
from policylint.policy.declared import Reading
from policylint.spaces.addresses import cidr, number_of

_NOT_WITH_CUSTOM = (
    *("namespaces", "notNamespaces", "serviceAccounts", "notServiceAccounts"),
    *("principals", "notPrincipals", "requestPrincipals", "notRequestPrincipals"),
)
"""Attributes of a source that an external authorizer cannot check."""
_CONDITIONS_NOT_WITH_CUSTOM = ("source.namespace", "source.serviceAccount", "source.principal")
_IDENTITIES = ("principals", "notPrincipals", "namespaces", "notNamespaces")
_PORTS = range(1, 65536)
_ADDRESSES = ("ipBlocks", "notIpBlocks", "remoteIpBlocks", "notRemoteIpBlocks")
_OTHER_TEMPLATE = re.compile(r"/\{\w+=\*\*?\}|\{\w*\}|/\*\*?|\*\*?/")
"""What no path with `{*}` or `{**}` may hold beside: names, single stars (unsupportedPathTempRegex)."""
_ATTRIBUTES = frozenset(
    {
        *("source.ip", "remote.ip", "source.namespace", "source.principal", "source.serviceAccount"),
        *("request.auth.principal", "request.auth.audiences", "request.auth.presenter"),
        *("destination.ip", "destination.port", "connection.sni"),
    }
)
_MAPS = ("request.headers", "request.auth.claims", "experimental.envoy.filters.")
_REPLACED = {
    "destination.namespace": "the policy's own namespace says it",
    "destination.labels": "its selector says it",
    "destination.name": "only v1alpha1 knew it",
    "destination.user": "only v1alpha1 knew it",
}


def faults(policy: Resource, kind: PolicyKind) -> Iterator[Reading]:
    """Yield every reason for which the API server refuses a policy."""
    yield from _references(policy, kind)
    yield from _selector(policy)
    if policy.key.kind in _OF_KIND:
        yield from _OF_KIND[policy.key.kind](policy)


def is_refused(policy: Resource) -> bool:
    """Tell whether the webhook refuses what a policy says, wherever it is about."""
    of_kind = _OF_KIND.get(policy.key.kind)
    return any(_selector(policy)) or (of_kind is not None and any(of_kind(policy)))


def _references(policy: Resource, kind: PolicyKind) -> Iterator[Reading]:
    selector, _ = labels.selector_path(policy)
    if labels.has_references(policy) and policy.spec.get(selector) is not None:
        reason = f"only one of targetRefs or {selector} can be set"
        yield Reading(code="selector-and-targets", reason=reason, pointer=("spec", selector))
    entries: list[tuple[object, Pointer]] = [(policy.spec.get("targetRef"), ("spec", "targetRef"))]
    for index, entry in enumerate(sequence(policy.spec.get("targetRefs"))):
        entries.append((entry, ("spec", "targetRefs", index)))
    for value, pointer in entries:
        reference = mapping(value)
        group, name = text(reference.get("group")), text(reference.get("kind"))
        if reference.get("namespace"):
            reason = "targetRef.namespace must be empty: other namespaces cannot be targeted"
            yield Reading(code="target-namespace", reason=reason, pointer=(*pointer, "namespace"))
        if name and not is_symbolic(name) and kind.references and kind.may_target(group, name) is None:
            reason = f"{kind.kind} cannot target {name}{f' of group {group}' if group else ''}"
            yield Reading(code="target-kind", reason=reason, pointer=(*pointer, "kind"))


def _selector(policy: Resource) -> Iterator[Reading]:
    """Refuse a selector with `*`: labels are compared as they are, so that it would select nothing."""
    for name, value in labels.match_labels(policy).items():
        if "*" in str(name) or "*" in text(value):
            pointer = ("spec", *labels.selector_path(policy), name)
            yield Reading(code="selector-wildcard", reason="a selector knows no wildcards", pointer=pointer)


def _authorization(policy: Resource) -> Iterator[Reading]:
    action = text(policy.spec.get("action")) or "ALLOW"
    provider = text(mapping(policy.spec.get("provider")).get("name"))
    if action in ("DENY", "CUSTOM") and not _states_some(policy.spec.get("rules")):
        place = "action" if "action" in policy.spec else "rules"
        yield Reading(code="no-rules", reason=f"{action} without rules would never apply", pointer=("spec", place))
    if action == "CUSTOM" and not provider and not is_symbolic(policy.spec.get("provider")):
        yield Reading(code="no-provider", reason="CUSTOM needs a provider", pointer=("spec", "action"))
    if action != "CUSTOM" and not is_symbolic(action) and "provider" in policy.spec:
        yield Reading(code="provider", reason=f"{action} takes no provider", pointer=("spec", "provider"))
    for index, rule in enumerate(sequence(policy.spec.get("rules"))):
        yield from _rule(rule, ("spec", "rules", index), action)


def _rule(rule: object, place: Pointer, action: str) -> Iterator[Reading]:
    """Check that every source, operation and condition of a rule says something, and what goes together."""
    for field, inner in (("from", "source"), ("to", "operation")):
        for index, entry in enumerate(sequence(mapping(rule).get(field))):
            pointer: Pointer = (*place, field, index)
            attributes = [name for name, value in mapping(mapping(entry).get(inner)).items() if value]
            if not attributes and not is_symbolic(entry) and not is_symbolic(mapping(entry).get(inner)):
                yield Reading(code="empty-rule", reason=f"`{field}.{inner}` must not be empty", pointer=pointer)
            excluded = next((name for name in attributes if action == "CUSTOM" and name in _NOT_WITH_CUSTOM), "")
            if excluded:
                reason = f"{field}.{inner}.{excluded} is not supported with CUSTOM"
                yield Reading(code="not-with-custom", reason=reason, pointer=(*pointer, inner, excluded))
            accounts = next((name for name in attributes if name in ("serviceAccounts", "notServiceAccounts")), "")
            if accounts and any(name in _IDENTITIES for name in attributes):
                reason = "serviceAccounts cannot be set with namespaces or principals"
                yield Reading(code="service-accounts", reason=reason, pointer=(*pointer, inner, accounts))
            yield from _values(mapping(mapping(entry).get(inner)), (*pointer, inner))
    for index, written in enumerate(sequence(mapping(rule).get("when"))):
        if is_symbolic(written):
            continue
        condition = mapping(written)
        key, pointer = text(condition.get("key")), (*place, "when", index)
        if not key:
            yield Reading(code="empty-rule", reason="`when.key` must not be empty", pointer=pointer)
        elif not any(_states_some(condition.get(field)) for field in ("values", "notValues")):
            reason = f"values or notValues must be set for {key}"
            yield Reading(code="empty-rule", reason=reason, pointer=pointer)
        if action == "CUSTOM" and (key in _CONDITIONS_NOT_WITH_CUSTOM or key.startswith("request.auth.")):
            reason = f"{key} is not supported with CUSTOM"
            yield Reading(code="not-with-custom", reason=reason, pointer=(*pointer, "key"))
        if key and not is_symbolic(key):
            if fault := _attribute_fault(key):
                yield Reading(code="attribute", reason=fault, pointer=(*pointer, "key"))
            yield from _condition_values(key, condition, pointer)


def _states_some(listed: object) -> bool:
    """Return whether a list has entries, or a variable stands for it."""
    return bool(sequence(listed)) or is_symbolic(listed)


def _values(attributes: Mapping[str, Any], place: Pointer) -> Iterator[Reading]:
    """Check the values of a source or an operation, each as what it stands for."""
    for name, values in attributes.items():
        for index, value in enumerate(texts(values)):
            if fault := "" if is_symbolic(value) else _value_fault(name, value):
                yield Reading(code="value", reason=f"{name}: {fault}", pointer=(*place, name, index))


def _condition_values(key: str, condition: Mapping[str, Any], place: Pointer) -> Iterator[Reading]:
    means = {
        "source.ip": "ipBlocks",
        "remote.ip": "ipBlocks",
        "destination.ip": "ipBlocks",
        "destination.port": "ports",
    }
    for field in ("values", "notValues"):
        for index, value in enumerate(texts(condition.get(field))):
            if fault := "" if is_symbolic(value) else _value_fault(means.get(key, ""), value):
                yield Reading(code="value", reason=f"{key}: {fault}", pointer=(*place, field, index))


def _value_fault(name: str, value: str) -> str:
    """Return why a value cannot be what its field is for (CheckEmptyValues, ValidateIPs, ValidatePorts)."""
    if not value:
        return "an empty value is not allowed"
    if name in _ADDRESSES and (cidr(value) if "/" in value else number_of(value)) is None:
        return f"{value} is neither an address nor a CIDR"
    if name in ("ports", "notPorts") and whole_number(value) not in range(65536):
        return f"{value} is no port: they are numbers up to 65535"
    if name in ("paths", "notPaths") and ("{*}" in value or "{**}" in value) and _OTHER_TEMPLATE.search(value):
        return f"{value} is no path template: but for {{*}} and {{**}} it may hold neither names nor stars"
    return ""


def _attribute_fault(key: str) -> str:
    """Return why no condition may be on an attribute (ValidateAttribute)."""
    if key.startswith(_MAPS):
        _, bracket, name = key.partition("[")
        written = bracket and key.endswith("]") and len(name) > 1
        return "" if written else f"{key} must have the form name[key]"
    replaced = next((why for name, why in _REPLACED.items() if key == name or key.startswith(f"{name}[")), "")
    if replaced:
        return f"no condition can be on {key}: {replaced}"
    return "" if key in _ATTRIBUTES else f"{key} is no attribute of requests that Istio knows"


def _peer_authentication(policy: Resource) -> Iterator[Reading]:
    ports, place = mapping(policy.spec.get("portLevelMtls")), ("spec", "portLevelMtls")
    if ports and not labels.match_labels(policy):
        yield Reading(code="ports-without-selector", reason="portLevelMtls needs a selector", pointer=place)
    for port in ports:
        if not is_symbolic(str(port)) and whole_number(str(port)) not in _PORTS:
            reason = f"{port} is no port: they are between 1 and 65535"
            yield Reading(code="port", reason=reason, pointer=(*place, port))


def _request_authentication(policy: Resource) -> Iterator[Reading]:
    for index, rule in enumerate(sequence(policy.spec.get("jwtRules"))):
        pointer: Pointer = ("spec", "jwtRules", index)
        yield from _token_rule(mapping(rule), pointer)


def _token_rule(rule: Mapping[str, Any], place: Pointer) -> Iterator[Reading]:
    """Check where keys come from and what claims are written to (validateJwtRule)."""
    for name in ("jwksUri", "jwks_uri"):
        address = text(rule.get(name))
        if address and not is_symbolic(address) and not address.lower().startswith(("http://", "https://")):
            reason = f"{address} is no address of the scheme http or https"
            yield Reading(code="jwks-uri", reason=reason, pointer=(*place, name))
    keys = text(rule.get("jwks"))
    if keys and not is_symbolic(keys) and not isinstance(json_in(keys), dict):
        yield Reading(code="jwks-content", reason="jwks is no set of keys in JSON", pointer=(*place, "jwks"))


_OF_KIND: dict[str, Callable[[Resource], Iterator[Reading]]] = {
    labels.AUTHORIZATION: _authorization,
    labels.PEER_AUTHENTICATION: _peer_authentication,
    labels.REQUEST_AUTHENTICATION: _request_authentication,
}
