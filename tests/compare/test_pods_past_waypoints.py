"""Pods of ambient that only their waypoint may call: clients that call their addresses pass no waypoint of a Service.

Predicted from: istio.io/docs/ambient/usage/waypoint, «istio.io/waypoint-for» (`service`, the default: requests for the
addresses of pods go past it) and istio.io/docs/ambient/usage/l4-policy, «Considerations when waypoints are introduced»
(the ztunnel of the pods sees the identity of the waypoint, and its policies are what keeps others out).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.compare.test_compare import sides
from tests.compare.test_requests import requests

WAYPOINT = worlds.gateway("waypoint", "shop", "[{name: mesh, port: 15008, protocol: HBONE}]", of_class="istio-waypoint")
AMBIENT = worlds.labelled("shop", "{istio.io/dataplane-mode: ambient, istio.io/use-waypoint: waypoint}")
PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: api, image: 'api:1', ports: [{containerPort: 8080}]}]}
"""
SERVICE = worlds.service("api", ports="[{name: http, port: 80, targetPort: 8080}]", more="selector: {app: api}")
WORLD = (AMBIENT, WAYPOINT, SERVICE, PODS)


def only(source: str) -> str:
    spec = f"spec: {{selector: {{matchLabels: {{app: api}}}}, rules: [{{from: [{{source: {{{source}}}}}]}}]}}"
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "only", "shop", spec)


BY_WAYPOINT = only("principals: [cluster.local/ns/shop/sa/waypoint]")


@pytest.mark.parametrize(
    ("after", "severity"),
    [
        pytest.param((), "error", id="gone"),
        pytest.param((only("principals: ['*']"),), "error", id="everybody with an identity"),
        pytest.param((only("namespaces: [shop]"),), "warning", id="its namespace, by name"),
        pytest.param((BY_WAYPOINT,), "", id="as it was"),
        pytest.param((only("principals: [cluster.local/ns/other/sa/waypoint]"),), "warning", id="another one, too"),
    ],
)
def test_who_may_call_pods_past_their_waypoint(tmp_path: Path, after: tuple[str, ...], severity: str) -> None:
    found = requests(sides(tmp_path, (*WORLD, BY_WAYPOINT), (*WORLD, *after)))
    at_pods = [
        each
        for each in found.changes
        if each.change == "opened" and {sets.gateway.kind for sets in each.requests} == {"Deployment"}
    ]
    assert [(each.change, each.severity) for each in at_pods] == [("opened", severity)] * bool(severity)
