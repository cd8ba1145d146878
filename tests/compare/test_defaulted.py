"""A default that one side of a change states and the other leaves out: the same policy, whatever kind and field.

The fields are all of the shipped schemas that have a default within a setting of a policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.catalog.naming import groups_with_schemas, shipped_schemas
from policylint.compare import compare, pair_sides
from policylint.compare.defaulted import filled_in
from policylint.compare.sameness import same_value
from policylint.model import PolicyKind, mapping
from policylint.schema.known import Schemas, _shipped
from tests import worlds
from tests.model.test_named_objects import below
from tests.worlds import gateway, gateway_class, policy, route, service

CLASS = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
ROUTE = route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
LIMITS = ("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "limits", "HTTPRoute/checkout")


@cache
def defaults() -> list[tuple[PolicyKind, str, str, str, Any]]:
    """Return the defaults within settings: the kind, its version, the setting, the path below it, and the default."""
    return list(_defaults())


def _defaults() -> Iterator[tuple[PolicyKind, str, str, str, Any]]:
    catalog = load_catalog()
    for group in sorted(groups_with_schemas()):
        for file in sorted(shipped_schemas(group)):
            kind = catalog.get(group, file)
            if kind is None or kind.policy_class == "Other":
                continue
            for version, schema in _shipped(group, file)["versions"].items():
                spec = mapping(
                    mapping(mapping(schema).get("properties") if isinstance(schema, dict) else {}).get("spec")
                )
                for name, setting in mapping(spec.get("properties")).items():
                    for path, field in below(mapping(setting)):
                        if "default" in field and path and "*" not in path:
                            yield kind, version, name, path, field["default"]


def stated(path: str, value: Any) -> dict[str, Any]:
    for step in reversed(path.split(".")):
        value = {step: value}
    assert isinstance(value, dict)
    return value


def test_the_defaults_are_many_and_of_many_kinds() -> None:
    assert len(defaults()) > 100
    assert len({kind.kind for kind, *_ in defaults()}) > 8


def alike(kind: PolicyKind, version: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    filled = []
    for spec in (one, other):
        world = worlds.world(worlds.manifest(f"{kind.group}/{version}", kind.kind, "p", "shop"))
        (written,) = world.resources.values()
        schemas = Schemas(world.definitions, world.is_deployed)
        filled.append(filled_in(kind, written.replaced(body={**written.body, "spec": spec}), schemas))
    return same_value(*filled)


def test_each_default_is_the_same_stated_or_left_out() -> None:
    for kind, version, name, path, default in defaults():
        holder = path.rpartition(".")[0]
        told, silent = ({name: each} for each in (stated(path, default), stated(holder, {}) if holder else {}))
        assert alike(kind, version, told, silent), f"{kind.kind} {name}.{path}"
        other = {"a": 1} if isinstance(default, dict) else [default] if not isinstance(default, list) else "a"
        assert not alike(kind, version, {name: stated(path, other)}, silent)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("circuitBreaker: {}", "circuitBreaker: {maxConnections: 1024}", False),
        ("circuitBreaker: {maxConnections: 1024, maxPendingRequests: 1024}", "circuitBreaker: {}", False),
        ("circuitBreaker: {}", "circuitBreaker: {maxConnections: 1023}", True),
        ("circuitBreaker: {maxConnections: 1023}", "circuitBreaker: {maxPendingRequests: 1024}", True),
    ],
)
def test_no_row_tells_of_a_default(before: str, after: str, changed: bool) -> None:
    was, now = (
        [worlds.simulated(CLASS, gateway(), ROUTE, service(), policy(*LIMITS, settings, "shop"))]
        for settings in (before, after)
    )
    [environment] = compare(pair_sides(was, now))
    told = [each.change for subject in environment.subjects for part in subject.parts for each in part.settings]
    assert ("changed" in told) == changed


def known(group: str, kind: str) -> PolicyKind:
    found = load_catalog().get(group, kind)
    assert found is not None
    return found


@pytest.mark.parametrize(("more", "expected"), [({"allNamespaces": False}, True), ({"allNamespaces": True}, False)])
def test_defaults_of_entries_that_have_names(more: dict[str, Any], expected: bool) -> None:
    keys: dict[str, Any] = {"selector": {"matchLabels": {"a": "b"}}}
    one, other = ({"rules": {"authentication": {"keys": {"apiKey": each}}}} for each in (keys, keys | more))
    assert alike(known("kuadrant.io", "AuthPolicy"), "v1", one, other) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"optional": False}, True),
        ({"mode": "RequireAndVerify"}, True),
        ({"optional": True}, False),
        ({"mode": "VerifyIfGiven"}, False),
    ],
)
def test_what_the_controller_takes_a_field_for(more: dict[str, Any], expected: bool) -> None:
    one, other = ({"tls": {"clientValidation": {"caCertificateRefs": [], **each}}} for each in ({}, more))
    assert alike(known("gateway.envoyproxy.io", "ClientTrafficPolicy"), "v1alpha1", one, other) == expected
