"""Nothing is certain of objects that may be deployed with other values, because a change to them was not rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.model import Resource, ResourceKey
from policylint.model.resource import Spot
from policylint.render.shared import Shared

ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge, sectionName: placeholder}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
TARGET = "target: {kind: HTTPRoute, name: web}"
SELECT = "targets: [{select: {kind: HTTPRoute}, fieldPaths: [spec.parentRefs.0.sectionName]}]"


def confidences(directory: Path, more: str) -> set[str]:
    """Return how sure findings are that the route names no listener, in a kustomization with some more lines."""
    (directory / "route.yaml").write_text(ROUTE)
    (directory / "kustomization.yaml").write_text(f"resources: [route.yaml]\n{more}\n")
    return {finding.confidence for finding in policylint.lint(directory).findings if finding.rule == "GWP402"}


@pytest.mark.parametrize(
    "more",
    [
        "transformers: [names.yaml]",
        "vars: [{name: GATEWAY, objref: {kind: ConfigMap, name: settings, apiVersion: v1}}]",
        "components: [absent]",
        f"patches: [{{path: absent.yaml, {TARGET}}}]",
        "patches: [{path: absent.yaml}]",
        "patchesStrategicMerge: [absent.yaml]",
        f"patches: [{{patch: '[{{op: replace, path: /spec/absent/0, value: x}}]', {TARGET}}}]",
        f"replacements: [{{source: {{kind: ConfigMap, name: absent}}, {SELECT}}}]",
        "replacements: [{path: absent.yaml}]",
        f"replacements: [{{source: {{kind: Service, name: absent}}, {SELECT.replace('HTTPRoute', 'Service')}}}]",
        "resourcez: [route.yaml]",
    ],
)
def test_what_could_not_be_applied_leaves_its_objects_open(tmp_path: Path, more: str) -> None:
    assert confidences(tmp_path, more) == {"unknown"}


@pytest.mark.parametrize(
    "more",
    [
        "",
        "patches: [{path: absent.yaml, target: {kind: HTTPRoute, name: another}}]",
    ],
)
def test_the_others_stay_certain(tmp_path: Path, more: str) -> None:
    assert confidences(tmp_path, more) == {"certain"}


@pytest.mark.parametrize("before", [False, True])
def test_the_sides_of_a_diff_do_not_share_how_sure_an_object_is(before: bool) -> None:
    """A patch that only one side lacks says nothing of the other side's object."""
    key, body = ResourceKey("", "Service", "shop", "web"), {"kind": "Service"}
    place = Spot("web.yaml")
    shared = Shared()
    shared.resources([Resource(key, "v1", body, place, provisional="a patch" if before else "")])
    (after,) = shared.resources([Resource(key, "v1", body, place, provisional="" if before else "a patch")])
    assert bool(after.provisional) is not before


def test_a_copy_is_as_sure_as_its_original() -> None:
    original = Resource(ResourceKey("", "Service", "shop", "web"), "v1", {}, Spot("web.yaml"), provisional="a patch")
    assert original.replaced(body={"kind": "Service"}).provisional == "a patch"
