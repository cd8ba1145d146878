"""The standard channel of Gateway API has fewer kinds and fields than the experimental one.

Predicted from config/crd/standard of kubernetes-sigs/gateway-api: what the CRDs of a tree's channel lack is not stored.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.workspace import Workspace, open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.upgrade.test_bumped import answers, new_findings

ADDRESS = "https://github.com/kubernetes-sigs/gateway-api/releases/download/{}/{}-install.yaml"
GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec: {controllerName: istio.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: edge, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""
BACKEND = "backendRefs: [{name: web, port: 80}]"
WITH_RETRY = f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: web, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}], rules: [{{retry: {{attempts: 3}}, {BACKEND}}}]}}
"""
WITH_LOGIN = f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: web, namespace: shop}}
spec:
  parentRefs: [{{name: edge}}]
  rules:
    - filters:
        - type: ExternalAuth
          externalAuth: {{protocol: HTTP, backendRef: {{name: web, port: 80}}}}
      {BACKEND}
"""
STREAM = f"""\
apiVersion: gateway.networking.k8s.io/{{}}
kind: TCPRoute
metadata: {{{{name: web, namespace: shop}}}}
spec: {{{{parentRefs: [{{{{name: edge}}}}], rules: [{{{{{BACKEND.replace("{", "{{").replace("}", "}}")}}}}}]}}}}
"""
CHART = """\
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: eg, namespace: infra}
spec: {chart: {spec: {chart: gateway-helm, version: v1.7.0, sourceRef: {kind: HelmRepository, name: eg}}}}
"""


def opened(folder: Path, text: str, address: str, releases: dict[str, str] | None = None) -> Workspace:
    folder.mkdir(exist_ok=True)
    (folder / "world.yaml").write_text(f"{GATEWAY}---\n{text}", encoding="utf-8")
    (folder / "kustomization.yaml").write_text(f"resources:\n  - world.yaml\n  - {address}\n", encoding="utf-8")
    return open_workspace([str(folder)], given=Assumptions(releases=releases or {}))


CASES = {
    "a field of the experimental channel": (WITH_RETRY, ADDRESS.format("v1.4.1", "standard"), ["GWP501"]),
    "the same where that is installed": (WITH_RETRY, ADDRESS.format("v1.4.1", "experimental"), []),
    "a base with a reference is the standard one": (
        WITH_RETRY,
        "https://github.com/kubernetes-sigs/gateway-api/config/crd?ref=v1.4.1",
        ["GWP501"],
    ),
    "another base is not": (
        WITH_RETRY,
        "https://github.com/kubernetes-sigs/gateway-api/config/crd/experimental?ref=v1.4.1",
        [],
    ),
    "a value of the experimental channel": (WITH_LOGIN, ADDRESS.format("v1.5.1", "standard"), ["GWP501"]),
    "a kind of it": (STREAM.format("v1alpha2"), ADDRESS.format("v1.5.1", "standard"), ["GWP502"]),
    "and since when it is in both": (STREAM.format("v1"), ADDRESS.format("v1.6.1", "standard"), []),
    "a chart may bring either": (WITH_RETRY + CHART, ADDRESS.format("v1.4.1", "standard"), []),
}


@pytest.mark.parametrize(("text", "address", "expected"), CASES.values(), ids=CASES)
def test_objects_are_judged_by_the_channel_of_their_tree(
    text: str, address: str, expected: list[str], tmp_path: Path
) -> None:
    found = opened(tmp_path / "tree", text, address).findings()
    assert sorted({each.rule for each in found} & {"GWP501", "GWP502"}) == expected


def test_what_a_tree_tells_of_its_channel_is_no_proof(tmp_path: Path) -> None:
    found = opened(tmp_path / "tree", WITH_RETRY, ADDRESS.format("v1.4.1", "standard")).findings()
    (finding,) = [each for each in found if each.rule == "GWP501"]
    assert (finding.severity, finding.confidence) == ("warning", "assumed")
    assert "Gateway API v1.4.1 (standard channel)" in finding.ground


def test_a_stated_release_is_of_either_channel(tmp_path: Path) -> None:
    stated = {"gateway-api": "1.4"}
    found = opened(tmp_path / "tree", WITH_RETRY, ADDRESS.format("v1.4.1", "standard"), stated).findings()
    assert "GWP501" not in {each.rule for each in found}


def test_a_change_to_the_standard_channel_takes_the_login_away(tmp_path: Path) -> None:
    """An HTTPRoute whose filter the API server refuses is not stored: requests are no longer served by it as it is."""
    before = opened(tmp_path / "before", WITH_LOGIN, ADDRESS.format("v1.5.1", "experimental"))
    after = opened(tmp_path / "after", WITH_LOGIN, ADDRESS.format("v1.5.1", "standard"))
    assert "GWP501" in {each.rule for each in new_findings(before, after)}
    assert not {"GWP501", "GWP502"} & {each.rule for each in new_findings(after, before)}


def test_a_change_of_the_channel_alone_leaves_other_routes(tmp_path: Path) -> None:
    plain = WITH_RETRY.replace("retry: {attempts: 3}, ", "")
    before = opened(tmp_path / "before", plain, ADDRESS.format("v1.5.1", "experimental"))
    after = opened(tmp_path / "after", plain, ADDRESS.format("v1.5.1", "standard"))
    assert answers(before, after) == []


@pytest.mark.parametrize(
    ("start", "end", "title", "told"),
    [
        ("1.4", "1.5", "Gateway API 1.4 -> 1.5", set()),
        (
            "1.4",
            "1.5-standard",
            "Gateway API 1.4 experimental -> 1.5 standard",
            {"externalAuth", "ExternalAuth", "TCPRoute"},
        ),
        (
            "1.5",
            "1.5-standard",
            "Gateway API 1.5 experimental -> 1.5 standard",
            {"externalAuth", "ExternalAuth", "TCPRoute"},
        ),
        ("1.4", "1.5-experimental", "Gateway API 1.4 experimental -> 1.5 experimental", set()),
    ],
)
def test_an_upgrade_goes_to_a_channel(tmp_path: Path, start: str, end: str, title: str, told: set[str]) -> None:
    objects = "\n---\n".join((GATEWAY, WITH_LOGIN, STREAM.format("v1alpha2")))
    (tmp_path / "all.yaml").write_text(objects, encoding="utf-8")
    arguments = ["--from", f"gateway-api={start}", "--to", f"gateway-api={end}", "--needed", str(tmp_path)]
    done = CliRunner().invoke(main, ["upgrade", *arguments])
    assert done.output.startswith(title)
    assert done.exit_code == bool(told), done.output
    assert {word for word in ("externalAuth", "ExternalAuth", "TCPRoute") if word in done.output} == told


@pytest.mark.parametrize(
    ("end", "complaint"),
    [("gateway-api=1.5-experimental", "is not after 1.5"), ("istio=1.30-standard", "Istio has no channels")],
)
def test_channels_that_are_there_already_or_not_at_all(tmp_path: Path, end: str, complaint: str) -> None:
    (tmp_path / "all.yaml").write_text(GATEWAY, encoding="utf-8")
    done = CliRunner().invoke(main, ["upgrade", "--from", "gateway-api=1.5", "--to", end, str(tmp_path)])
    assert done.exit_code == 2
    assert complaint in done.output
