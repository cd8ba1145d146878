"""GWP325 for what decides on requests beside policies: MeshConfig, routes of Istio's own, texts for proxies."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import pair_sides
from policylint.compare.beside import decided_beside
from policylint.compare.lifting import may_lift
from policylint.model import ResourceKey
from tests.worlds import opened

MESH = """
apiVersion: v1
kind: Namespace
metadata: {name: pay, labels: {istio-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: pay, namespace: pay}
spec: {selector: {app: pay}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: pay}
spec: {selector: {app: other}, ports: [{port: 80}]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: callers, namespace: pay}
spec: {rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/web]}}]}]}
"""


def messages(tmp_path: Path, before: list[str], after: list[str], *shown: ResourceKey) -> list[str]:
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        simulations.append(opened(tmp_path / side, *manifests))
    (pair,) = pair_sides(simulations[:1], simulations[1:])
    found = list(decided_beside(pair, shown))
    assert {each.severity for each in found} <= {"warning"}
    return [each.message for each in found]


def mesh_config(fields: str) -> str:
    lines = "".join(f"    {line}\n" for line in fields.splitlines())
    return f"""
apiVersion: v1
kind: ConfigMap
metadata: {{name: istio, namespace: istio-system}}
data:
  mesh: |
    defaultConfig: {{}}
{lines}"""


OPA = "extensionProviders: [{name: opa, envoyExtAuthzGrpc: {service: opa.opa.svc.cluster.local, port: 9191}}]"


@pytest.mark.parametrize(
    ("before", "after", "does"),
    [
        (
            "pathNormalization: {normalization: MERGE_SLASHES}",
            "pathNormalization: {normalization: BASE}",
            "does not merge slashes",
        ),
        ("pathNormalization: {normalization: NONE}", "", None),
        ("pathNormalization: {normalization: BASE}", "", None),
        ("", "pathNormalization: {normalization: NONE}", "leaves paths as they come"),
        ("outboundTrafficPolicy: {mode: REGISTRY_ONLY}", "", "lets requests out to undeclared hosts"),
        ("", "outboundTrafficPolicy: {mode: REGISTRY_ONLY}", None),
        ("", "trustDomainAliases: [td2]", "takes the identities of td2"),
        ("trustDomainAliases: [td2]", "", None),
        (OPA, OPA.replace("port: 9191", "port: 9191, failOpen: true"), "lets requests pass while the authorizer opa"),
        (OPA, OPA.replace("opa.opa", "opa.dev"), "says where the authorizer opa is"),
        (OPA, OPA.replace("port: 9191", "port: 9191, timeout: 1s"), None),
        (OPA, "", "has other authorizers"),
        ("", "accessLogFile: /dev/stdout", None),
        ("", "extensionProviders: [{name: zipkin, zipkin: {service: zipkin.example.com, port: 9411}}]", None),
    ],
)
def test_the_configuration_of_the_mesh(tmp_path: Path, before: str, after: str, does: str | None) -> None:
    found = messages(tmp_path, [MESH, mesh_config(before)], [MESH, mesh_config(after)])
    assert [each.removeprefix(f"ConfigMap istio-system/istio now {does}") != each for each in found] == [True] * bool(
        does
    )


def test_a_configuration_that_comes_into_the_tree_is_no_change(tmp_path: Path) -> None:
    assert messages(tmp_path, [MESH], [MESH, mesh_config("pathNormalization: {normalization: NONE}")]) == []


def virtual(spec: str) -> str:
    return f"""
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: v, namespace: pay}}
spec: {{hosts: [pay], {spec}}}
"""


@pytest.mark.parametrize(
    ("spec", "changes"),
    [
        ("http: [{route: [{destination: {host: pay}}], timeout: 5s, retries: {attempts: 2}}]", False),
        ("http: [{match: [{uri: {prefix: /x}}], route: [{destination: {host: pay.pay.svc.cluster.local}}]}]", False),
        ("http: [{match: [{uri: {prefix: /x}}], rewrite: {uri: /y}, route: [{destination: {host: pay}}]}]", True),
        ("http: [{route: [{destination: {host: other}}]}]", True),
        ("http: [{route: [{destination: {host: pay}, headers: {request: {set: {x-user: admin}}}}]}]", True),
        ("http: [{route: [{destination: {host: pay}}], mirror: {host: other}}]", True),
        ("tcp: [{route: [{destination: {host: other}}]}]", True),
        ("gateways: [istio-system/edge], http: [{route: [{destination: {host: other}}]}]", False),
    ],
)
def test_a_route_of_istio_for_a_service_that_was_there(tmp_path: Path, spec: str, changes: bool) -> None:
    expected = ["VirtualService pay/v now changes requests for Service pay/pay, or where they go"] if changes else []
    assert messages(tmp_path, [MESH], [MESH, virtual(spec)]) == expected
    assert messages(tmp_path, [MESH, virtual(spec)], [MESH, virtual(spec)]) == []


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("http: [{route: [{destination: {host: other}}]}]", True),
        ("http: [{redirect: {authority: other}}]", True),
        ("tcp: [{route: [{destination: {host: other}}]}]", True),
        # of what else it does requests do not tell all
        ("http: [{route: [{destination: {host: pay}}], mirror: {host: other}}]", False),
        ("http: [{route: [{destination: {host: pay}, headers: {request: {set: {x-user: admin}}}}]}]", False),
    ],
)
def test_what_requests_show_is_not_said_again(tmp_path: Path, spec: str, told: bool) -> None:
    key = ResourceKey("networking.istio.io", "VirtualService", "pay", "v")
    assert (messages(tmp_path, [MESH], [MESH, virtual(spec)], key) == []) is told
    assert messages(tmp_path, [MESH], [MESH, virtual(spec)]) != []


def test_another_place_for_the_host_of_a_service(tmp_path: Path) -> None:
    def entry(host: str) -> str:
        return f"""
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: s, namespace: shop}}
spec:
  hosts: [{host}]
  ports: [{{number: 80, name: http, protocol: HTTP}}]
  resolution: STATIC
  endpoints: [{{address: 192.0.2.1}}]
"""

    found = messages(tmp_path, [MESH], [MESH, entry("pay.pay.svc.cluster.local")])
    assert found == ["ServiceEntry shop/s now says where the host of Service pay/pay is"]
    assert messages(tmp_path, [MESH], [MESH, entry("api.example.com")]) == []
    assert messages(tmp_path, [MESH], [MESH, entry("pay.example.com")]) == []


@pytest.mark.parametrize(
    ("path", "value", "lifts"),
    [
        ("*", [{"operation": {"op": "remove", "path": "/filterChains/0/filters/0/typedConfig/httpFilters/0"}}], True),
        ("*", [{"operation": {"op": "remove", "path": "/accessLog/0"}}], False),
        ("*", [{"operation": {"op": "add", "path": "/per_connection_buffer_limit_bytes", "value": 1}}], False),
        ("*", [{"applyTo": "HTTP_FILTER", "patch": {"operation": "REMOVE"}}], True),
        (
            "*",
            [
                {
                    "applyTo": "HTTP_FILTER",
                    "match": {
                        "listener": {"filterChain": {"filter": {"subFilter": {"name": "envoy.filters.http.jwt_authn"}}}}
                    },
                    "patch": {"operation": "INSERT_BEFORE", "value": {"name": "envoy.filters.http.grpc_stats"}},
                }
            ],
            False,
        ),
        (
            "*",
            [
                {
                    "applyTo": "HTTP_ROUTE",
                    "patch": {"operation": "MERGE", "value": {"typed_per_filter_config": {"a": {"disabled": True}}}},
                }
            ],
            True,
        ),
        (
            "*",
            [{"applyTo": "NETWORK_FILTER", "patch": {"operation": "MERGE", "value": {"request_timeout": "5s"}}}],
            False,
        ),
        ("snippets", [{"context": "http.server.location", "value": "satisfy any; allow all;"}], True),
        ("snippets", [{"context": "http.server", "value": "auth_basic off;"}], True),
        ("snippets", [{"context": "http.server", "value": "gzip on;"}], False),
        ("lua", [{"inline": "disabled"}], False),
    ],
)
def test_texts_that_may_take_away_what_policies_ask(path: str, value: object, lifts: bool) -> None:
    assert may_lift(path, value) is lifts


EDGE = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: infra}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}
"""
LOGIN = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: users, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  basicAuth: {users: {name: users}}
"""
PATCH = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyPatchPolicy
metadata: {name: patch, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  type: JSONPatch
  jsonPatches: [{type: type.googleapis.com/envoy.config.listener.v3.Listener, name: infra/edge/http, operation: %s}]
"""
REMOVED = PATCH % "{op: remove, path: /filterChains/0/filters/0/typedConfig/httpFilters/0}"
LIMITED = PATCH % "{op: add, path: /perConnectionBufferLimitBytes, value: 1}"


def test_a_text_for_a_proxy_at_which_policies_act(tmp_path: Path) -> None:
    said = "EnvoyPatchPolicy infra/patch changes raw proxy configuration where SecurityPolicy infra/users applies"
    assert messages(tmp_path, [EDGE, LOGIN], [EDGE, LOGIN, REMOVED]) == [said]
    assert messages(tmp_path, [EDGE, LOGIN, LIMITED], [EDGE, LOGIN, REMOVED]) == [said]
    assert messages(tmp_path, [EDGE, LOGIN], [EDGE, LOGIN, LIMITED]) == []
    assert messages(tmp_path, [EDGE], [EDGE, REMOVED]) == []  # there is nothing to take away
    assert messages(tmp_path, [EDGE, LOGIN, REMOVED], [EDGE, LOGIN, REMOVED]) == []
