"""Code in proxies that is known to turn nobody away (schemas/modules.yaml), and all other code, which may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.catalog.modules import passes
from policylint.cli import main

KNOWN = "oci://ghcr.io/ishioni/eep:0.3.0"
TREE = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyExtensionPolicy
metadata: {name: pages, namespace: shop}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: Gateway}]
  EXTENSIONS
"""


def image(url: str) -> str:
    return f"{{name: a, code: {{type: Image, image: {{url: '{url}'}}}}}}"


CASES = {
    "known": (f"wasm: [{image(KNOWN)}]", "open"),
    "known, by digest": (f"wasm: [{image(KNOWN + '@sha256:' + 64 * 'a')}]", "open"),
    "known, from a registry with a port": (f"wasm: [{image('oci://ghcr.io:443/ishioni/eep:1')}]", "unknown"),
    "another one of its owner": (f"wasm: [{image('oci://ghcr.io/ishioni/eep-login:1')}]", "unknown"),
    "of another owner": (f"wasm: [{image('oci://ghcr.io/else/eep:1')}]", "unknown"),
    "beside one that is not": (f"wasm: [{image(KNOWN)}, {image('oci://ghcr.io/else/login:1')}]", "unknown"),
    "from an address": ("wasm: [{name: a, code: {type: HTTP, http: {url: 'https://ghcr.io/ishioni/eep'}}}]", "unknown"),
    "beside a process": (f"wasm: [{image(KNOWN)}]\n  extProc: [{{backendRefs: [{{name: web, port: 80}}]}}]", "unknown"),
}


@pytest.mark.parametrize(("extensions", "state"), CASES.values(), ids=CASES)
def test_what_it_may_ask(tmp_path: Path, extensions: str, state: str) -> None:
    (tmp_path / "tree.yaml").write_text(TREE.replace("EXTENSIONS", extensions))
    ended = CliRunner().invoke(main, ["reach", "--format", "json", str(tmp_path)])
    (way,) = json.loads(ended.stdout)["ways"]
    assert {purpose: asked["state"] for purpose, asked in way["asked"].items()} == {
        "authentication": state,
        "authorization": state,
    }


@pytest.mark.parametrize("extensions", [None, [], {}, "text", [None], [{"code": "text"}], [{"code": {"image": []}}]])
def test_what_names_no_code_is_not_known(extensions: object) -> None:
    assert not passes(extensions)


FILTER = """
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: own, namespace: istio-system}
spec:
  configPatches:
  - applyTo: HTTP_FILTER
    match: {context: ANY, listener: {filterChain: {filter: {name: envoy.http_connection_manager}}}}
    patch:
      operation: INSERT_BEFORE
      value:
        name: envoy.filters.http.wasm
        typed_config:
          "@type": type.googleapis.com/udpa.type.v1.TypedStruct
          type_url: type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
          value: {config: {root_id: stats_inbound, vm_config: {runtime: envoy.wasm.runtime.null, code: CODE}}}
"""
MESH = TREE.partition("---\napiVersion: gateway.envoyproxy.io")[0].replace(
    "gatewayClassName: eg", "gatewayClassName: istio"
)


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("{local: {inline_string: envoy.wasm.stats}}", "open"),
        ("{local: {inlineString: envoy.wasm.metadata_exchange}}", "open"),
        ("{inline_string: envoy.wasm.metadata_exchange}", "open"),
        ("{inline_string: envoy.wasm.basic_auth}", "unknown"),
        ("{local: {filename: /etc/login.wasm}}", "unknown"),
        ("{remote: {http_uri: {uri: 'https://example.com/login.wasm'}}}", "unknown"),
        ("{}", "unknown"),
        ("{inline_string: envoy.wasm.stats, more: {filename: /etc/login.wasm}}", "unknown"),
        ("{inline_string: envoy.wasm.stats, more: envoy.filters.http.ext_authz}", "unknown"),
    ],
)
def test_plugins_that_the_proxy_brings(tmp_path: Path, code: str, state: str) -> None:
    (tmp_path / "tree.yaml").write_text(f"{MESH}---{FILTER.replace('CODE', code)}")
    ended = CliRunner().invoke(main, ["reach", "--format", "json", str(tmp_path)])
    (way,) = json.loads(ended.stdout)["ways"]
    assert {asked["state"] for asked in way["asked"].values()} == {state}
