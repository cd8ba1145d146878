"""`simulation-v1`: the shape of docs/design/interfaces.md, from the real engine over a small world."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.model import ResourceKey
from policylint.report.kit.identity import Names, json_pointer
from policylint.report.simulate import write
from policylint.workspace import open_workspace
from tests.conftest import Golden

WORLD = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: http, port: 80, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: checkout, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  rules: [{backendRefs: [{name: checkout, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: lost, namespace: shop}
spec:
  parentRefs: [{name: nowhere}]
---
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: edge-jwt, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  jwt: {providers: [{name: id, remoteJWKS: {uri: https://id.example}}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: checkout-cors, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]
  cors: {allowOrigins: ["https://www.example.com"]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: retries, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: chekout}]
  retry: {numRetries: 5}
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("world.yaml").write_text(WORLD)
    return "world.yaml"


def simulated(form: str, path: str) -> str:
    return "".join(write(form, open_workspace([path]).simulations))


@pytest.mark.parametrize(
    ("form", "file"), [("json", "simulation.json"), ("yaml", "simulation.yaml"), ("text", "simulation.txt")]
)
def test_golden(world: str, form: str, file: str, golden: Golden) -> None:
    golden(file, simulated(form, world))


def test_shape(world: str) -> None:
    content: dict[str, Any] = json.loads(simulated("json", world))
    assert list(content) == [
        "version",
        "environments",
        "policies",
        "routes",
        "gateways",
        "listenersets",
        "effective",
        "affected",
    ]
    assert content["version"] == "simulation-v1"
    (context,) = [each for each in content["effective"] if each["from"] == ["SecurityPolicy shop/checkout-cors"]]
    assert list(context) == ["path", "kind", "spec", "from", "origins", "lost"]
    assert context["origins"] == {"cors": ["SecurityPolicy shop/checkout-cors"]}
    assert {each["pointer"].split("/")[1] for each in context["lost"]} == {"jwt"}
    assert all(each["by"] == "SecurityPolicy shop/checkout-cors" for each in context["lost"])
    by_name = {each["policy"]: each for each in content["policies"]}
    assert by_name["BackendTrafficPolicy shop/retries"]["status"] == "TargetNotFound"
    assert by_name["BackendTrafficPolicy shop/retries"]["location"]["file"] == world


def test_yaml_says_the_same(world: str) -> None:
    assert yaml.safe_load(simulated("yaml", world)) == json.loads(simulated("json", world))


def test_never_depends_on_input_order(world: str) -> None:
    before = json.loads(simulated("json", world))
    documents = WORLD.split("---\n")
    random.Random(7).shuffle(documents)
    Path(world).write_text("---\n".join(documents))
    after = json.loads(simulated("json", world))
    for content in (before, after):
        for each in content["policies"]:
            del each["location"]
    assert before == after


def test_environments_are_named_only_where_there_are_several(world: str) -> None:
    one = open_workspace([world]).simulations[0]
    assert "environment" not in json.loads("".join(write("json", [one])))["policies"][0]
    other = open_workspace([world]).simulations[0]
    other.world.name = "staging"
    content = json.loads("".join(write("json", [other, one])))
    assert [each["name"] for each in content["environments"]] == ["default", "staging"]
    for name in ("policies", "routes", "gateways", "effective", "affected"):
        assert [each["environment"] for each in content[name]] == sorted(each["environment"] for each in content[name])


def test_nothing_at_all(tmp_path: Path) -> None:
    content = json.loads(simulated("json", str(tmp_path)))
    assert content["policies"] == content["effective"] == []
    assert yaml.safe_load(simulated("yaml", str(tmp_path))) == content


def test_a_group_is_named_only_where_two_share_a_kind() -> None:
    ours = ResourceKey("a.example", "BackendPolicy", "ns", "x")
    theirs = ResourceKey("b.example", "BackendPolicy", "ns", "y")
    route = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "ns", "x")
    names = Names([ours, theirs, route])
    assert names.key(ours) == "BackendPolicy.a.example ns/x"
    assert names.key(route) == "HTTPRoute ns/x"
    assert Names([ours, route]).key(ours) == "BackendPolicy ns/x"


def test_pointers_are_rfc_6901() -> None:
    assert json_pointer(("headers", "a/b~c", 0)) == "/headers/a~1b~0c/0"
    assert json_pointer(()) == ""
