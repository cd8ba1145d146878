"""`policylint upgrade`: what it takes, what it prints, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from tests.conftest import Golden
from tests.worlds import ENVOY_EDGE

CLASS = (
    ENVOY_EDGE
    + """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}], hostnames: [shop.example.com], rules: [{backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  oidc: {clientID: shop, clientSecret: {name: client}, provider: {issuer: "https://login.example"}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyExtensionPolicy
metadata: {name: stamp, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  lua: [{type: Inline, inline: "function envoy_on_response(h) end"}]
"""
)
CHART = """\
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: eg, namespace: envoy-gateway-system}
spec:
  chart: {spec: {chart: gateway-helm, version: v1.5.9, sourceRef: {kind: HelmRepository, name: eg}}}
  values: {config: {envoyGateway: {extensionApis: {enableLua: %s}}}}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(CLASS)
    return tmp_path


def upgrade(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["upgrade", *arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize(("form", "name"), [("text", "shop.txt"), ("markdown", "shop.md"), ("json", "shop.json")])
def test_formats(shop: Path, form: str, name: str, golden: Golden) -> None:
    (shop / "chart.yaml").write_text(CHART % "false")
    code, output = upgrade("--to", "envoy-gateway=1.9", "-o", form)
    assert code == 1
    golden(name, output)


def test_what_the_configuration_of_the_controller_says_is_heeded(shop: Path) -> None:
    (shop / "chart.yaml").write_text(CHART % "true")
    code, output = upgrade("--to", "envoy-gateway=1.9", "--needed", "-o", "json")
    content = json.loads(output)
    assert [each["change"] for each in content["consequences"]] == ["gateway-api-1.5"]
    assert content["requests"][0]["changes"] == []
    assert code == 1


@pytest.mark.usefixtures("shop")
def test_needed_leaves_out_what_merely_changes() -> None:
    code, output = upgrade("--from", "envoy-gateway=1.5", "--to", "envoy-gateway=1.6", "--needed")
    assert (code, "refresh-token" in output) == (0, False)
    code, output = upgrade("--from", "envoy-gateway=1.5", "--to", "envoy-gateway=1.6", "--fail-on", "warning")
    assert (code, "refresh-token" in output) == (1, True)


@pytest.mark.usefixtures("shop")
def test_the_release_before_is_assumed_where_nothing_tells_and_that_is_said() -> None:
    _, output = upgrade("--to", "envoy-gateway=1.9")
    assert "in use: 1.8, assumed: nothing in the tree says which release is in use" in output


def test_the_configuration_states_the_release(shop: Path) -> None:
    (shop / ".policylint.yaml").write_text('releases: {envoy-gateway: "1.3"}\n')
    _, output = upgrade("--to", "envoy-gateway=1.4")
    assert "in use: 1.3, as stated" in output


@pytest.mark.usefixtures("shop")
def test_a_product_that_is_not_there_is_said() -> None:
    assert upgrade("--to", "istio=1.30") == (0, "nothing here is of istio\n")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("release", "complaint"),
    [
        ("envoy=1.9", "no releases of 'envoy' (known: "),
        ("envoy-gateway=1.99", "no release '1.99' of Envoy Gateway is known"),
        ("envoy-gateway", "no release '' of Envoy Gateway is known"),
    ],
)
def test_names_and_releases_that_nobody_knows(release: str, complaint: str) -> None:
    code, output = upgrade("--to", release)
    assert (code, complaint in output) == (2, True)


def test_what_is_there_already_is_said(shop: Path) -> None:
    (shop / "chart.yaml").write_text(CHART % "true")
    code, output = upgrade("--to", "envoy-gateway=1.5")
    assert (code, output) == (
        0,
        "Envoy Gateway is there already: chart gateway-helm v1.5.9 of HelmRelease envoy-gateway-system/eg\n",
    )


@pytest.mark.usefixtures("shop")
def test_there_is_no_way_back() -> None:
    code, output = upgrade("--from", "envoy-gateway=1.9", "--to", "envoy-gateway=1.8")
    assert (code, "release 1.8 of Envoy Gateway is not after 1.9" in output) == (2, True)


def test_releases_are_completed() -> None:
    from policylint.cli.completing import releases

    assert releases(None, None, "env") == ["envoy-gateway="]  # type: ignore[arg-type]
    assert releases(None, None, "envoy-gateway=1.8")[0] == "envoy-gateway=1.8"  # type: ignore[arg-type]


@pytest.mark.parametrize("written", [">=1.3.0 <2.0.0", "^1.3", "v0.0.0-latest"])
def test_a_range_or_a_build_is_no_release_in_use(written: str, tmp_path: Path) -> None:
    """Without a release to go to nothing is known to be older; with one it is assumed, and the report says why."""
    (tmp_path / "world.yaml").write_text(CLASS + (CHART % "true").replace("v1.5.9", f'"{written}"'), encoding="utf-8")
    result = CliRunner().invoke(main, ["upgrade", str(tmp_path)])
    assert (result.exit_code, result.output[:26]) == (0, "no release in use is known")
    result = CliRunner().invoke(main, ["upgrade", "--to", "envoy-gateway=1.9", str(tmp_path)])
    assert "  in use: 1.8, assumed: " in result.output
    assert ("names no one release" in result.output) == (written != "v0.0.0-latest")


@pytest.mark.parametrize(
    ("upgrade", "expected"),
    [
        ("", True),
        ("  upgrade: {crds: Skip}\n", True),
        ("  upgrade: {crds: CreateReplace}\n", False),
    ],
)
def test_crds_that_come_with_the_chart_need_no_step_of_their_own(upgrade: str, expected: bool, tmp_path: Path) -> None:
    chart = (CHART % "true").replace("v1.5.9", "v1.7.5")
    (tmp_path / "world.yaml").write_text(CLASS + chart + upgrade, encoding="utf-8")
    result = CliRunner().invoke(main, ["upgrade", "--to", "envoy-gateway=1.8", str(tmp_path)])
    assert ("gateway-api-1.5" in result.output) == expected


def test_charts_of_others_are_not_taken_for_the_controllers(tmp_path: Path) -> None:
    """Only what installs the controller's chart tells how its CRDs come."""
    other = """\
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: logs, namespace: logs}
spec:
  chart: {spec: {chart: loki, version: 6.0.0, sourceRef: {kind: HelmRepository, name: logs}}}
  install: {crds: Skip}
  values: {}
"""
    (tmp_path / "world.yaml").write_text(CLASS + CHART % "true" + other, encoding="utf-8")
    result = CliRunner().invoke(main, ["upgrade", "--to", "envoy-gateway=1.9", str(tmp_path)])
    assert "logs/logs" not in result.output


TLS = """apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: istio}
spec: {controllerName: istio.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: istio
  listeners: [{name: tls, port: 443, protocol: TLS, hostname: shop.example.com, tls: {mode: Passthrough}}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 443}]}
---
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TLSRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}], hostnames: [shop.example.com], rules: [{backendRefs: [{name: web, port: 443}]}]}
"""


def test_a_connection_that_is_refused_gets_no_404(tmp_path: Path) -> None:
    (tmp_path / "tls.yaml").write_text(TLS, encoding="utf-8")
    _, output = upgrade("--from", "istio=1.29", "--to", "istio=1.30", str(tmp_path))
    assert "404" not in output.replace(str(tmp_path), "")  # the run of pytest may have that number
    assert "refused: Listener shop/edge#tls: Istio 1.29 does not read protocol TLS" in output
