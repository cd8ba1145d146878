"""The last line of a diff: what changes and nothing judges is a row, and never "as before".

One field of an object changes, any that its CRD has. Unless requests, connections or a finding tell of it, the answer
is a row that names the object; it is not said that all requests are answered as before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.catalog.kinds import load_catalog
from policylint.catalog.naming import groups_with_schemas
from policylint.catalog.weakenings import access
from policylint.compare import compare, pair_sides, removed_protections
from policylint.model import mapping, sequence
from policylint.report.diff.requests import BESIDE_REQUESTS
from policylint.schema.known import _shipped
from tests.worlds import gateway, gateway_class, labelled, manifest, route, service, simulated

CONTROLLERS = {
    "envoy-gateway": "gateway.envoyproxy.io/gatewayclass-controller",
    "kgateway": "kgateway.dev/kgateway",
    "agentgateway": "agentgateway.dev/agentgateway",
    "nginx-gateway-fabric": "gateway.nginx.org/nginx-gateway-controller",
    "gloo": "solo.io/gloo-gateway",
    "istio": "istio.io/gateway-controller",
    "kuadrant": "istio.io/gateway-controller",
}
COMPARED = {"AuthorizationPolicy", "AuthenticationFilter", "HTTPRouteFilter", "SnippetsFilter"}
"""Requests are held against what these say; filters that no rule names do nothing."""
RULES = {"authorization", "rbac", "acl"}
"""Settings of which requests are held against each rule."""
POD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout, namespace: shop}
spec:
  selector: {matchLabels: {app: checkout}}
  template:
    metadata: {labels: {app: checkout}}
    spec: {containers: [{name: app, image: registry.example.com/checkout, ports: [{containerPort: 8080}]}]}
"""


def leaves(schema: dict[str, Any], at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Yield the fields that a schema has, each with two values."""
    if len(at) > 7:
        return
    fields = mapping(schema.get("properties"))
    listed = [each for each in sequence(schema.get("enum")) if each is not None]
    if listed:
        if len(listed) > 1:
            yield at, listed[0], listed[1]
    elif schema.get("x-kubernetes-int-or-string"):
        yield at, 1, 2
    elif fields:
        for name, inner in fields.items():
            yield from leaves(mapping(inner), (*at, name))  # type: ignore[arg-type]
    elif isinstance(entries := schema.get("additionalProperties"), dict):
        yield from leaves(entries, (*at, "any"))
    elif schema.get("type") == "object":
        yield (*at, "any"), "a", "b"
    elif schema.get("type") == "array":
        yield from leaves(schema.get("items", {}), (*at, 0))
    elif schema.get("type") == "boolean":
        yield at, False, True
    elif schema.get("type") in ("integer", "number"):
        least = max(1, int(schema.get("minimum", 1)))
        yield at, least, least + 1
    else:
        yield at, "a", "b"


def least(schema: Mapping[str, Any]) -> Any:
    """Return about the shortest value that a schema takes."""
    kind, fields = schema.get("type"), mapping(schema.get("properties"))
    if "default" in schema or schema.get("enum"):
        return schema.get("default", sequence(schema.get("enum"))[:1] and sequence(schema.get("enum"))[0])
    if kind == "object" or fields:
        return {name: least(mapping(fields[name])) for name in sequence(schema.get("required")) if name in fields}
    if kind == "array":
        return [least(mapping(schema.get("items")))] * int(schema.get("minItems", 0))
    if kind in ("integer", "number") or schema.get("x-kubernetes-int-or-string"):
        return max(1, int(schema.get("minimum", 1)))
    return False if kind == "boolean" else "x"


def written(schema: Mapping[str, Any], at: tuple[str | int, ...], value: Any) -> Any:
    """Return the least that holds a value at a path."""
    if not at:
        return value
    if isinstance(at[0], int):
        return [written(mapping(schema.get("items")), at[1:], value)]
    inner = mapping(mapping(schema.get("properties")).get(at[0], schema.get("additionalProperties")))
    return {**mapping(least(schema)), at[0]: written(inner, at[1:], value)}


@cache
def fields() -> list[tuple[str, str, str, str, tuple[str | int, ...], Any, Any]]:
    """All fields of kinds of the catalog whose CRDs are shipped: implementation, group, version, kind, path, values."""
    found = []
    for kind in load_catalog().kinds():
        if kind.kind in COMPARED or kind.implementation not in CONTROLLERS or kind.group not in groups_with_schemas():
            continue
        for version, schema in _shipped(kind.group, kind.kind).get("versions", {}).items():
            spec = mapping(mapping(schema.get("properties")).get("spec"))
            named = {each.path.partition(".")[0] for each in kind.references}
            for at, one, other in leaves(dict(spec)):
                if at and at[0] not in named | RULES:
                    specs = (written(spec, at, value) for value in (one, other))
                    found.append((kind.implementation, kind.group, version, kind.kind, at, *specs))
            break
    return found


def target(group: str, kind: str) -> dict[str, Any]:
    """Return what makes a policy of a kind act in the world of the test."""
    known = load_catalog().get(group, kind)
    assert known is not None
    names = {"HTTPRoute": "checkout", "Gateway": "edge", "Service": "checkout"}
    wanted = next((each for name in names for each in known.targets if each.kind == name), None)
    for reference in known.references:
        if reference.form == "workload-selector":
            return {reference.path: {"matchLabels": {"app": "checkout"}}}
        if wanted is not None and reference.form in ("ref", "refs") and not reference.deprecated:
            entry = {"group": wanted.group, "kind": wanted.kind, "name": names[wanted.kind]}
            return {reference.path: entry if reference.form == "ref" else [entry]}
    return {}


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.data())
def test_no_field_of_a_policy_changes_unsaid(data: st.DataObject) -> None:
    implementation, group, version, kind, at, one, other = data.draw(st.sampled_from(fields()))
    named = target(group, kind)
    where = "infra" if any(word in json.dumps(named) for word in ('"Gateway"', '"edge"')) else "shop"
    base = [
        labelled("infra"),
        labelled("shop", "{istio-injection: enabled}"),
        gateway_class("any", CONTROLLERS[implementation]),
        gateway(listeners="[{name: http, port: 1, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"),
        route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        service(more="selector: {app: checkout}"),
        POD,
    ]
    sides = [
        simulated(*base, manifest(f"{group}/{version}", kind, "p", where, f"spec: {json.dumps({**spec, **named})}"))
        for spec in (one, other)
    ]
    pairs = pair_sides([sides[0]], [sides[1]])
    (environment,) = compare(pairs)
    told = {finding.rule for finding in removed_protections(pairs, [environment])}
    policy = next((state for key, state in sides[1].policies.items() if key.name == "p"), None)
    acts = policy is None or any(group.effective.refused is None for group in policy.groups)
    same = environment.requests is not None and environment.requests.same
    assert not (acts and same) or told & BESIDE_REQUESTS, f"{kind} {at}: as before"
    requests = environment.requests
    shown = not environment.is_empty or (requests is not None and (requests.changes or requests.unknown))
    assert not acts or told or shown or any(access().is_idle(str(step)) for step in at), f"{kind} {at}: nothing is said"


def test_the_fields_are_many() -> None:
    assert len(fields()) > 2_000
    assert {implementation for implementation, *_ in fields()} == set(CONTROLLERS)


ROUTED = [
    labelled("shop"),
    gateway_class("any", CONTROLLERS["kgateway"]),
    gateway(),
    route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
    service(),
]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param(
            manifest("networking.istio.io/v1", "DestinationRule", "d", "shop", "spec: {host: a, exportTo: [x]}"),
            manifest("networking.istio.io/v1", "DestinationRule", "d", "shop", "spec: {host: a, exportTo: [y]}"),
            "spec.exportTo[0] changes, and what that does is not evaluated",
            id="an object that acts by itself",
        ),
        pytest.param(
            manifest("networking.istio.io/v1", "Sidecar", "s", "shop", "spec: {egress: [{hosts: [a]}]}"),
            manifest("networking.istio.io/v1", "Sidecar", "s", "shop", "spec: {egress: [{hosts: [b]}]}"),
            "spec.egress[0].hosts changes, and what that does is not evaluated",
            id="a kind that the catalog lacks, of an API that it has",
        ),
        pytest.param(
            manifest("kuma.io/v1alpha1", "MeshRetry", "r", "shop", "spec: {to: [{default: {http: {numRetries: 1}}}]}"),
            manifest("kuma.io/v1alpha1", "MeshRetry", "r", "shop", "spec: {to: [{default: {http: {numRetries: 2}}}]}"),
            "spec.to[0].default changes, and what that does is not evaluated",
            id="a kind of a family that the catalog knows as a whole",
        ),
        pytest.param(
            manifest(
                "networking.istio.io/v1", "Sidecar", "s", "shop", "spec: {outboundTrafficPolicy: {mode: ALLOW_ANY}}"
            ),
            manifest(
                "networking.istio.io/v1", "Sidecar", "s", "shop", "spec: {outboundTrafficPolicy: {mode: REGISTRY_ONLY}}"
            ),
            "spec.outboundTrafficPolicy.mode gets stricter, and what that does is not evaluated",
            id="what goes the other way than a weakening",
        ),
        pytest.param(
            manifest("networking.istio.io/v1", "DestinationRule", "d", "shop", "spec: {host: a, replicas: 1}"),
            manifest("networking.istio.io/v1", "DestinationRule", "d", "shop", "spec: {host: a, replicas: 2}"),
            "",
            id="what says how something runs",
        ),
        pytest.param(
            manifest("networking.istio.io/v1", "DestinationRule", "d", "shop", "spec: {host: a, exportTo: [x]}"),
            manifest("networking.istio.io/v1", "DestinationRule", "d", "pay", "spec: {host: a, exportTo: [x]}"),
            "moves here from namespace shop, and what that does is not evaluated",
            id="an object that is read by where it is",
        ),
        pytest.param(
            manifest("networking.istio.io/v1", "Sidecar", "e", "istio-system", "spec: {egress: [{hosts: [a]}]}"),
            manifest("networking.istio.io/v1", "Sidecar", "e", "shop", "spec: {egress: [{hosts: [a]}]}"),
            "moves here from namespace istio-system, and what that does is not evaluated",
            id="from the namespace that is read for all",
        ),
        pytest.param(
            manifest("networking.istio.io/v1", "DestinationRule", "d", "old", "spec: {host: a, exportTo: [x]}"),
            manifest("networking.istio.io/v1", "DestinationRule", "d", "new", "spec: {host: a, exportTo: [x]}"),
            "",
            id="what goes with all that was in its namespace",
        ),
    ],
)
def test_a_row_names_what_changes(before: str, after: str, reason: str) -> None:
    pairs = pair_sides([simulated(*ROUTED, before)], [simulated(*ROUTED, after)])
    (environment,) = compare(pairs)
    assert [subject.reason for subject in environment.unknown] == ([reason] if reason else [])
