"""What a change brings along unseen, or takes from its controller, is told: nothing is "as before" that nobody read."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.report.diff.requests import AS_BEFORE
from tests.compare.repositories import diff
from tests.worlds import gateway, gateway_class, manifest, policy, route, service

LOGIN = policy(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "login",
    "HTTPRoute/checkout",
    "jwt: {providers: [{name: idp, issuer: 'https://a', remoteJWKS: {uri: 'https://a/keys'}}]}",
    "shop",
)
WORLD = (
    gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller"),
    gateway(),
    route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
    service(),
)
BUILD = "resources: [world.yaml, login.yaml]\n"
TREE = {"world.yaml": "---\n".join(WORLD), "login.yaml": LOGIN, "kustomization.yaml": BUILD, "note.txt": "1"}
PATCH = """
apiVersion: builtin
kind: PatchTransformer
metadata: {name: t}
patch: '[{op: add, path: /spec/jwt/optional, value: true}]'
"""
CHART = BUILD + "helmCharts: [{name: rules, repo: 'https://charts.example', version: 1.0.0, valuesFile: v.yaml}]\n"
REMOTE = BUILD.replace("]", ", 'https://git.example/rules//login?ref=v1']")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            {}, {"kustomization.yaml": BUILD + "transformers: [t.yaml]\n", "t.yaml": PATCH}, id="transformers"
        ),
        pytest.param({}, {"kustomization.yaml": BUILD + "generators: [t.yaml]\n", "t.yaml": PATCH}, id="generators"),
        pytest.param({}, {"kustomization.yaml": CHART}, id="a chart"),
        pytest.param({}, {"kustomization.yaml": REMOTE}, id="a remote base"),
        pytest.param({"kustomization.yaml": REMOTE}, {"kustomization.yaml": BUILD}, id="a remote base that goes"),
        pytest.param(
            {"kustomization.yaml": REMOTE}, {"kustomization.yaml": REMOTE.replace("v1", "v2")}, id="another release"
        ),
        pytest.param(
            {"kustomization.yaml": CHART}, {"kustomization.yaml": CHART.replace("1.0.0", "1.0.1")}, id="a version"
        ),
        pytest.param({"kustomization.yaml": CHART, "v.yaml": "a: 1\n"}, {"v.yaml": "a: 2\n"}, id="values"),
        pytest.param(
            {"kustomization.yaml": BUILD + "transformers: [t.yaml]\n", "t.yaml": PATCH},
            {"t.yaml": PATCH.replace("add", "remove")},
            id="the text of a transformer",
        ),
        pytest.param(
            {"kustomization.yaml": BUILD + "transformers: [of]\n", "of/kustomization.yaml": "resources: [t.yaml]\n"},
            {"of/t.yaml": PATCH},
            id="a directory of transformers",
        ),
    ],
)
def test_what_a_kustomization_brings_along_unseen_is_told(
    tmp_path: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    said = diff(tmp_path, TREE | before, after)
    assert AS_BEFORE not in said
    assert "! Kustomization .: unknown" in said


@pytest.mark.parametrize("build", [BUILD + "transformers: [t.yaml]\n", CHART, REMOTE])
def test_what_was_not_seen_before_and_stays_is_not(tmp_path: Path, build: str) -> None:
    """Nor where its kustomization changes elsewhere."""
    tree = TREE | {"kustomization.yaml": build, "t.yaml": PATCH}
    said = diff(tmp_path, tree, {"kustomization.yaml": f"# {build}{build}", "note.txt": "2"})
    assert AS_BEFORE in said


def test_each_of_several_kustomizations_stays_or_changes_for_itself(tmp_path: Path) -> None:
    inline = "resources: [world.yaml]\ntransformers: ['{apiVersion: builtin, kind: PatchTransformer, number: 1}']\n"
    parts = {f"{name}/world.yaml": LOGIN.replace("name: login", f"name: {name}") for name in ("one", "two", "three")}
    builds = {f"{name}/kustomization.yaml": inline.replace("1", name) for name in ("one", "two", "three")}
    tree = TREE | parts | builds | {"kustomization.yaml": BUILD.replace("]", ", one, two, three]")}
    said = diff(tmp_path, tree, {"note.txt": "2"})
    assert "unknown" not in said
    (tmp_path / "again").mkdir()
    changed = builds["two/kustomization.yaml"].replace("two", "second")
    said = diff(tmp_path / "again", tree, {"two/kustomization.yaml": changed})
    assert [line.split(":")[0] for line in said.splitlines() if line.startswith("!")] == ["! Kustomization two"]


def crd(*served: str) -> str:
    """The CRD of the policy with two versions."""
    schema = "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}"
    versions = ", ".join(
        f"{{name: {name}, served: {str(name in served).lower()}, storage: true, schema: {schema}}}"
        for name in ("v1alpha1", "v1")
    )
    names = "names: {kind: SecurityPolicy, plural: securitypolicies}"
    spec = f"spec: {{group: gateway.envoyproxy.io, scope: Namespaced, {names}, versions: [{versions}]}}"
    name = "securitypolicies.gateway.envoyproxy.io"
    return manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "", spec)


@pytest.mark.parametrize("served", [(), ("v1",)])
def test_a_policy_whose_version_is_served_no_longer_is_none(tmp_path: Path, served: tuple[str, ...]) -> None:
    tree = TREE | {"kustomization.yaml": BUILD.replace("]", ", crd.yaml]")}
    said = diff(tmp_path, tree | {"crd.yaml": crd("v1alpha1")}, {"crd.yaml": crd(*served)})
    assert "loses its authentication" in said


def test_another_version_that_is_served_no_longer_is_nothing(tmp_path: Path) -> None:
    tree = TREE | {"kustomization.yaml": BUILD.replace("]", ", crd.yaml]")}
    said = diff(tmp_path, tree | {"crd.yaml": crd("v1alpha1", "v1")}, {"crd.yaml": crd("v1alpha1")})
    assert "loses" not in said
