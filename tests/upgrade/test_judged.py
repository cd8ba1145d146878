"""Objects are judged by the release in use: stated, or named by the tree, which makes nothing certain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.errors import UsageError
from policylint.model import Finding
from policylint.workspace import Workspace, open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.worlds import REDIRECTING, SCRIPT

FORWARDING = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: keys, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: [{headers: [key]}], sanitize: true}
---
"""
"""`sanitize` is there since 1.5."""


def chart(version: str, more: str = "") -> str:
    return f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: eg, namespace: infra}}
spec:
  chart: {{spec: {{chart: gateway-helm, version: "{version}", sourceRef: {{kind: HelmRepository, name: eg}}}}}}
  {more}
---
"""


def repository(tag: str) -> str:
    return f"""\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: gateway-api, namespace: infra}}
spec: {{url: "https://github.com/kubernetes-sigs/gateway-api", ref: {{tag: {tag}}}}}
---
"""


def opened(folder: Path, manifests: str, releases: Mapping[str, str] | None = None) -> Workspace:
    (folder / "all.yaml").write_text(manifests)
    return open_workspace([str(folder)], given=Assumptions(releases=releases or {}))


def found(workspace: Workspace, rule: str) -> list[Finding]:
    return [finding for finding in workspace.findings({rule}) if finding.confidence != "unknown"]


@pytest.mark.parametrize(("version", "expected"), [("v1.4.2", ["assumed"]), ("v1.5.0", []), ("1.4.x", ["assumed"])])
def test_a_field_of_a_later_release(version: str, expected: list[str], tmp_path: Path) -> None:
    findings = found(opened(tmp_path, REDIRECTING + FORWARDING + chart(version)), "GWP501")
    assert [finding.confidence for finding in findings] == expected
    assert all("chart gateway-helm" in finding.ground for finding in findings)


@pytest.mark.parametrize("version", ["^1.4.0", ">=1.4.0", "1.x", "v7.1.0"])
def test_ranges_and_unknown_releases_judge_nothing(version: str, tmp_path: Path) -> None:
    workspace = opened(tmp_path, REDIRECTING + FORWARDING + chart(version))
    assert found(workspace, "GWP501") == []
    assert workspace.coverage.releases == ()


@pytest.mark.parametrize("version", ["v0.5.0", "v1.0.1", "v1.1.4"])
def test_what_is_older_than_all_that_are_known_is_judged_by_the_oldest(version: str, tmp_path: Path) -> None:
    workspace = opened(tmp_path, REDIRECTING + FORWARDING + chart(version))
    [finding] = found(workspace, "GWP501")
    assert (finding.field, finding.confidence) == ("spec.apiKeyAuth", "assumed")
    assert finding.ground == (
        "it rests on the CRD of Envoy Gateway v1.2.8, the oldest that is known: "
        f"chart gateway-helm {version} of HelmRelease infra/eg names an older release"
    )
    shown = version[1:4]
    assert workspace.coverage.releases == (
        f"Envoy Gateway 1.2 ({shown}, which the tree names, is older than all that are known)",
    )


@pytest.mark.parametrize(("version", "told"), [("1.0.0", []), ("1.6.2", ["apiVersion"]), ("2.6.7", [])])
def test_what_the_oldest_does_not_serve_an_older_one_may(version: str, told: list[str], tmp_path: Path) -> None:
    policy = """\
apiVersion: gateway.nginx.org/v1alpha1
kind: ProxySettingsPolicy
metadata: {name: slow, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  timeout: {read: 90s}
---
"""
    workspace = opened(tmp_path, REDIRECTING + policy + chart(version).replace("gateway-helm", "nginx-gateway-fabric"))
    assert [each.field for each in found(workspace, "GWP502")] == told


def test_two_releases_judge_nothing(tmp_path: Path) -> None:
    other = chart("v1.9.0").replace("name: eg, namespace: infra", "name: eg, namespace: other")
    assert opened(tmp_path, REDIRECTING + FORWARDING + chart("v1.4.2") + other).coverage.releases == ()


def test_what_the_configuration_states_is_certain(tmp_path: Path) -> None:
    workspace = opened(tmp_path, REDIRECTING + FORWARDING + chart("v1.9.0"), {"envoy-gateway": "1.4"})
    (finding,) = found(workspace, "GWP501")
    assert (finding.severity, finding.confidence) == ("error", "certain")
    stated = "as stated, but chart gateway-helm v1.9.0 of HelmRelease infra/eg says 1.9"
    assert workspace.coverage.releases == (f"Envoy Gateway 1.4 ({stated})",)


def test_a_release_that_nobody_knows_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no release '7\.7' of Envoy Gateway is known"):
        opened(tmp_path, REDIRECTING, {"envoy-gateway": "7.7"})


def test_what_is_wrong_in_every_release_stays_certain(tmp_path: Path) -> None:
    misspelt = REDIRECTING.replace("parentRefs", "parentRef") + repository("v1.3.0")
    (finding,) = found(opened(tmp_path, misspelt), "GWP501")
    assert (finding.severity, finding.confidence) == ("error", "certain")


def test_the_trees_own_crd_counts_more(tmp_path: Path) -> None:
    crd = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: securitypolicies.gateway.envoyproxy.io}
spec:
  group: gateway.envoyproxy.io
  names: {kind: SecurityPolicy, plural: securitypolicies}
  scope: Namespaced
  versions:
    - name: v1alpha1
      served: true
      schema:
        openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
"""
    assert found(opened(tmp_path, REDIRECTING + FORWARDING + chart("v1.4.2") + crd), "GWP501") == []


@pytest.mark.parametrize(("tag", "expected"), [("v1.3.0", ["ListenerSet shop/more"]), ("v1.5.0", [])])
def test_a_version_that_the_release_does_not_serve(tag: str, expected: list[str], tmp_path: Path) -> None:
    more = """\
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: shop}
spec: {parentRef: {name: edge}, listeners: [{name: more, port: 81, protocol: HTTP}]}
---
"""
    findings = found(opened(tmp_path, REDIRECTING + more + repository(tag)), "GWP502")
    assert [str(finding.resources[0]) for finding in findings] == expected


@pytest.mark.parametrize(("tag", "told"), [("v1.3.0", False), ("v1.5.1", True)])
def test_a_newer_version_is_advised_where_the_release_serves_it(tag: str, told: bool, tmp_path: Path) -> None:
    old = """\
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TLSRoute
metadata: {name: raw, namespace: shop}
spec: {parentRefs: [{name: edge}], hostnames: [a.example.com], rules: [{backendRefs: [{name: raw, port: 1}]}]}
---
"""
    assert bool(found(opened(tmp_path, REDIRECTING + old + repository(tag)), "GWP502")) is told


@pytest.mark.parametrize(("tag", "told"), [("v1.3.0", False), ("v1.5.1", True)])
def test_a_kind_that_another_one_replaces_is_told_where_the_release_has_that(
    tag: str, told: bool, tmp_path: Path
) -> None:
    old = """\
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XListenerSet
metadata: {name: more, namespace: shop}
spec: {parentRef: {name: edge}, listeners: [{name: more, port: 81, protocol: HTTP}]}
---
"""
    assert bool(found(opened(tmp_path, REDIRECTING + old + repository(tag)), "GWP502")) is told


LUA = {
    "before it was off": (chart("v1.8.0", "values: {}"), "Enforced"),
    "off by default": (chart("v1.9.0", "values: {}"), "Invalid"),
    "switched on": (
        chart("v1.9.0", "values: {config: {envoyGateway: {extensionApis: {enableLua: true}}}}"),
        "Enforced",
    ),
    "whose values are not all here": (
        chart("v1.9.0", "valuesFrom: [{kind: ConfigMap, name: more}]"),
        "Enforced",
    ),
    "of no known release": ("", "Enforced"),
}


@pytest.mark.parametrize("case", LUA)
def test_defaults_of_the_release(case: str, tmp_path: Path) -> None:
    manifests, verdict = LUA[case]
    (simulation,) = opened(tmp_path, REDIRECTING + SCRIPT + manifests).simulations
    assert [state.verdict for key, state in simulation.policies.items() if key.name == "script"] == [verdict]


@pytest.mark.parametrize(("releases", "expected"), [({}, "assumed"), ({"envoy-gateway": "1.9"}, "certain")])
def test_what_a_named_release_switches_off_is_assumed(
    releases: Mapping[str, str], expected: str, tmp_path: Path
) -> None:
    workspace = opened(tmp_path, REDIRECTING + SCRIPT + chart("v1.9.0", "values: {}"), releases)
    assert [finding.confidence for finding in found(workspace, "GWP111")] == [expected]


def test_outputs_say_it(tmp_path: Path) -> None:
    opened(tmp_path, REDIRECTING + FORWARDING + chart("v1.4.2"))
    said = "judged by: Envoy Gateway 1.4 (chart gateway-helm v1.4.2 of HelmRelease infra/eg)"
    for command in (["lint"], ["trace", "GET", "http://a.example.com/"], ["explain", "keys"], ["reach"], ["simulate"]):
        result = CliRunner().invoke(main, [*command, str(tmp_path)])
        assert said in " ".join(result.output.split()), command


def test_upgrade_without_a_target_goes_to_the_newest(tmp_path: Path) -> None:
    opened(tmp_path, REDIRECTING + SCRIPT + chart("v1.8.0", "values: {}"))
    result = CliRunner().invoke(main, ["upgrade", str(tmp_path)])
    assert result.output.startswith("Envoy Gateway 1.8 -> 1.9\n")
    assert "lua-off" in result.output


def test_upgrade_without_a_known_release_says_so(tmp_path: Path) -> None:
    opened(tmp_path, REDIRECTING)
    result = CliRunner().invoke(main, ["upgrade", str(tmp_path)])
    assert (result.exit_code, result.output.startswith("no release in use is known here")) == (0, True)


def kgateway(release: str, field: str) -> str:
    return f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: kgateway, namespace: kgateway-system}}
spec: {{chart: {{spec: {{chart: kgateway, version: {release}, sourceRef: {{kind: HelmRepository, name: k}}}}}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: shop}}
spec: {{gatewayClassName: kgateway, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{name: t, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: edge}}]
  timeouts: {{request: 5s, {field}: 0s}}
"""


@pytest.mark.parametrize(
    ("release", "field", "expected"),
    [
        ("2.3.0", "backendRequest", True),  # neither 2.2 nor 2.4 has it
        ("2.3.0", "streamIdle", False),
        ("2.4.0", "backendRequest", True),
    ],
)
def test_a_release_without_schemas_is_judged_by_those_around_it(
    release: str, field: str, expected: bool, tmp_path: Path
) -> None:
    (tmp_path / "world.yaml").write_text(kgateway(release, field), encoding="utf-8")
    rules = {finding.rule for finding in open_workspace([str(tmp_path)]).findings()}
    assert ("GWP501" in rules) == expected
