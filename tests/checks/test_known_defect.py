"""GWP529: each defect is told where its release runs and its shape is there, and nowhere else.

Predicted from the word of each project, which the entry names as its source.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.catalog.defects import defects, patch, products
from policylint.cli import main
from tests.network.worlds import manifest

GATEWAY_API = "gateway.networking.k8s.io"


def chart(name: str, version: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
    source = {"kind": "HelmRepository", "name": "r"}
    spec = {"interval": "1h", "chart": {"spec": {"chart": name, "version": version, "sourceRef": source}}}
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, "system", spec={**spec, "values": values or {}})


def image(name: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "c"}}, "spec": {"containers": [{"name": "c", "image": name}]}}
    spec = {"selector": {"matchLabels": {"app": "c"}}, "template": template}
    return manifest("apps/v1", "Deployment", "controller", "system", spec=spec)


def cilium(**spec: Any) -> dict[str, Any]:
    return manifest("cilium.io/v2", "CiliumNetworkPolicy", "p", "shop", spec={"endpointSelector": {}, **spec})


def annotated(**annotations: str) -> dict[str, Any]:
    named = {f"nginx.ingress.kubernetes.io/{name.replace('_', '-')}": value for name, value in annotations.items()}
    made = manifest("networking.k8s.io/v1", "Ingress", "web", "shop", spec={"ingressClassName": "nginx"})
    return {**made, "metadata": {**made["metadata"], "annotations": named}}


def secured(**spec: Any) -> dict[str, Any]:
    return manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "p", "shop", spec=spec)


def middleware(**spec: Any) -> dict[str, Any]:
    return manifest("traefik.io/v1alpha1", "Middleware", "m", "shop", spec=spec)


def route(**rule: Any) -> dict[str, Any]:
    backends = [{"name": "web", "port": 80}]
    rules = [{"backendRefs": backends, **rule}]
    return manifest(f"{GATEWAY_API}/v1", "HTTPRoute", "web", "shop", spec={"rules": rules})


NODES = cilium(ingress=[{"fromNodes": [{"matchLabels": {"a": "b"}}]}])
HTTP = cilium(
    ingress=[{"toPorts": [{"ports": [{"port": "80", "protocol": "TCP"}], "rules": {"http": [{"path": "/a"}]}}]}]
)
EVERY_NODE = {key: value for key, value in NODES.items() if key != "spec"} | {"specs": [{}, NODES["spec"]]}
STREAM = secured(targetRefs=[{"group": GATEWAY_API, "kind": "TCPRoute", "name": "db"}])
SELECTED = {"group": GATEWAY_API, "kind": "TCPRoute", "matchLabels": {"app": "db"}}
STREAMS = secured(targetSelectors=[SELECTED])
OF_STREAMS = manifest(f"{GATEWAY_API}/v1alpha2", "TCPRoute", "db", "shop", spec={"rules": []})
OF_STREAMS["metadata"]["labels"] = {"app": "db"}
OF_GATEWAY = manifest(
    "gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "b", "shop",
    spec={"targetRefs": [{"group": GATEWAY_API, "kind": "Gateway", "name": "edge"}]},
)  # fmt: skip
TIMED = route(timeouts={"request": "60s"})
NUMBERED = {"image": {"tag": "v3.6.2"}}
VERIFIED = annotated(proxy_ssl_verify="on")
WWW = annotated(auth_url="http://a.b", from_to_www_redirect="true")


@pytest.mark.parametrize(
    ("told", "silent", "objects", "said"),
    [
        (chart("cilium", "1.17.1"), chart("cilium", "1.17.2"), [NODES], "labels of the nodes it names"),
        (chart("cilium", "v1.16.0"), chart("cilium", "1.15.9"), [NODES], "labels of the nodes it names"),
        (image("quay.io/cilium/cilium:v1.15.1"), image("quay.io/cilium/cilium:v1.15.2"), [HTTP], "not asked about"),
        (chart("cilium", "1.17.1"), chart("cilium", "1.17.2"), [EVERY_NODE], "labels of the nodes it names"),
        (chart("gateway-helm", "v1.8.0"), chart("gateway-helm", "v1.8.1"), [STREAM], "the controller panics"),
        (chart("gateway-helm", "1.7.3"), chart("gateway-helm", "1.7.4"), [STREAMS, OF_STREAMS], "controller panics"),
        (chart("gateway-helm", "1.2.3"), chart("gateway-helm", "1.2.4"), [OF_GATEWAY, TIMED], "a request timeout"),
        (chart("gateway-helm", "1.1.0"), chart("gateway-helm", "1.1.1"), [OF_GATEWAY, TIMED], "which is lost"),
        (image("traefik:v3.6.2"), image("traefik:v3.6.3"), [VERIFIED], "that is not verified"),
        (chart("traefik", "37.4.0", NUMBERED), chart("traefik", "37.4.0"), [VERIFIED], "that is not verified"),
        (image("traefik:v2.11.54"), image("traefik:v2.11.55"), [middleware(digestAuth={"secret": "s"})], "empty"),
        (image("traefik:v3.7.11"), image("traefik:v3.7.12"), [WWW], "gets past the login"),
        (image("nginx/nginx-ingress:5.6.1"), image("nginx/nginx-ingress:5.7.0"),
         [manifest("k8s.nginx.org/v1", "Policy", "p", "shop", spec={"externalAuth": {"authURI": "/a"}})], "authorizer"),
    ],
)  # fmt: skip
def test_a_defect_of_the_running_release(
    told: dict[str, Any], silent: dict[str, Any], objects: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "world.yaml"

    def lint(*world: dict[str, Any]) -> str:
        file.write_text(yaml.safe_dump_all(world), encoding="utf-8")
        output = CliRunner().invoke(main, ["lint", "--isolated", "-o", "concise", str(file)]).stdout
        return "\n".join(line for line in output.splitlines() if "GWP529" in line and said in line)

    assert lint(told, *objects)
    assert not lint(silent, *objects)
    assert not lint(*objects)
    assert not lint(told)
    assert not lint(told, silent, *objects)  # which one has the object is not known


@pytest.mark.parametrize(
    ("written", "release"),
    [("1.16.8", (1, 16, 8)), ("v1.16.8", (1, 16, 8)), ("1.16.x", None), ("1.16", None), ("v1.16.0-rc.1", None),
     (">=1.16.0", None), ("1.28.4-distroless", (1, 28, 4))],
)  # fmt: skip
def test_what_names_a_patch(written: str, release: tuple[int, int, int] | None) -> None:
    assert patch(written) == release


@pytest.mark.parametrize(("product", "defect"), [(name, each) for name, found in defects().items() for each in found])
def test_each_entry_is_whole(product: str, defect: Any) -> None:
    assert product in products()
    assert defect.name
    assert defect.severity in ("warning", "note")
    assert defect.says and defect.places
    assert defect.source.startswith("https://")
    assert defect.releases
    assert all(start < end for start, end in defect.releases)
    assert all(mended[1] <= later[0] for mended, later in zip(defect.releases, defect.releases[1:], strict=False))
    assert len({each.name for each in defects()[product]}) == len(defects()[product])


def istio(**operation: Any) -> dict[str, Any]:
    rules = [{"to": [{"operation": operation}]}]
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "p", "shop", spec={"rules": rules})


def to_http(*rules: dict[str, Any]) -> dict[str, Any]:
    return cilium(ingress=[{"toPorts": [{"ports": [{"port": "80", "protocol": "TCP"}], "rules": {"http": [*rules]}}]}])


@pytest.mark.parametrize(
    ("running", "policy", "expected"),
    [
        (image("docker.io/istio/pilot:1.8.3"), istio(paths=["/admin"]), 2),  # fragments, and slashes
        (image("docker.io/istio/pilot:1.8.3"), istio(paths=["/*"]), 0),
        (image("docker.io/istio/pilot:1.8.3"), istio(paths=["/admin", "*"]), 0),
        (image("docker.io/istio/pilot:1.8.3"), istio(notPaths=["*"]), 0),
        (image("docker.io/istio/pilot:1.8.3"), istio(hosts=["a.example.com"]), 1),
        (image("docker.io/istio/pilot:1.8.3"), istio(hosts=["*"]), 0),
        (image("quay.io/cilium/cilium:v1.15.1"), to_http({"path": "/a"}, {}), 0),
    ],
)
def test_nothing_gets_past_what_takes_everything(
    tmp_path: Path, running: dict[str, Any], policy: dict[str, Any], expected: int
) -> None:
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all([running, policy]))
    arguments = ["lint", str(tmp_path), "--select", "GWP529", "--min-severity", "note", "-o", "concise"]
    assert CliRunner().invoke(main, arguments).output.count("GWP529") == expected
