"""What is one cluster, and what is not: each situation is a small repository, and the objects of its environments."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from policylint.model import Finding
from policylint.workspace import Workspace, open_workspace

FLUX = "kustomize.toolkit.fluxcd.io/v1"


def gateway(name: str, namespace: str = "infra") -> str:
    return f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{gatewayClassName: envoy, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}
"""


def policy(name: str, target: str, namespace: str = "infra") -> str:
    return f"""\
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: {target}}}
  limits: {{all: {{rates: [{{limit: 5, window: 10s}}]}}}}
"""


def kustomization(*resources: str, more: str = "") -> str:
    listed = "".join(f"- {resource}\n" for resource in resources)
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{listed}{more}"


def flux(name: str, path: str) -> str:
    return f"""\
apiVersion: {FLUX}
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec: {{path: "{path}", prune: true, interval: 1h, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""


def instance(path: str, kind: str = "GitRepository") -> str:
    return f"""\
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {{name: flux, namespace: flux-system}}
spec: {{sync: {{kind: {kind}, path: "{path}", url: "https://git.example.com/fleet"}}}}
"""


def tree(root: Path, files: dict[str, str]) -> Workspace:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return open_workspace([str(root)])


def gateways(workspace: Workspace) -> dict[str, list[str]]:
    """Return the names of the Gateways of each environment."""
    return {
        simulation.world.name: [state.gateway.key.name for state in simulation.topology.gateways]
        for simulation in workspace.simulations
    }


def loud(workspace: Workspace) -> list[Finding]:
    return [finding for finding in workspace.findings() if finding.severity != "note"]


BASE = {"k8s/base/kustomization.yaml": kustomization("edge.yaml"), "k8s/base/edge.yaml": gateway("edge")}
GATEWAYS = {f"apps/{name}/{name}.yaml": gateway(name) for name in ("prod", "staging", "old")}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {
                **BASE,
                **{f"k8s/{name}/kustomization.yaml": kustomization("../base") for name in ("dev", "test", "prod")},
            },
            {"dev": ["edge"], "prod": ["edge"], "test": ["edge"]},
            id="a stage that is called test",
        ),
        pytest.param(
            {**BASE, "test/e2e/kustomization.yaml": kustomization("../../k8s/base", "more.yaml")},
            {"default": ["edge"]},
            id="a test that builds on what is deployed",
        ),
        pytest.param(
            {
                "example/kustomization.yaml": kustomization("../common/a", "../apps/b"),
                "common/a/kustomization.yaml": kustomization("a.yaml"),
                "common/a/a.yaml": gateway("a"),
                "apps/b/kustomization.yaml": kustomization("b.yaml"),
                "apps/b/b.yaml": gateway("b"),
                "apps/c/kustomization.yaml": kustomization("c.yaml"),
                "apps/c/c.yaml": gateway("c"),
            },
            {"default": ["a", "b", "c"]},
            id="an example that is the installation",
        ),
        pytest.param(
            {"demos/one/a.yaml": gateway("a"), "demos/two/b.yaml": gateway("b"), "system/edge.yaml": gateway("edge")},
            {"one": ["a", "edge"], "two": ["b", "edge"]},
            id="demos among plain files",
        ),
        pytest.param(
            {**BASE, "demos/one/a.yaml": gateway("a"), "demos/two/kustomization.yaml": kustomization("b.yaml")}
            | {"demos/two/b.yaml": gateway("b")},
            {"default": ["edge"], "demos/one": ["a", "edge"], "demos/two": ["b", "edge"]},
            id="demos beside a kustomization",
        ),
        pytest.param(
            {
                "k8s/edge.yaml": gateway("edge"),
                "examples/basic/edge.yaml": gateway("other"),
                "docs/d.yaml": gateway("d"),
            },
            {"default": ["edge"], "docs": ["d"], "examples/basic": ["other"]},
            id="examples among plain files",
        ),
        pytest.param(
            {"examples/a/kustomization.yaml": kustomization("a.yaml"), "examples/a/a.yaml": gateway("a")}
            | {
                "docs/b/kustomization.yaml": kustomization("b.yaml"),
                "docs/b/b.yaml": gateway("b"),
                "site.yml": "a: b\n",
            },
            {"default": ["a", "b"]},
            id="nothing but examples",
        ),
        pytest.param(
            {".archive/a/kustomization.yaml": kustomization("a.yaml"), ".archive/a/a.yaml": gateway("a")}
            | {"examples/b/kustomization.yaml": kustomization("b.yaml"), "examples/b/b.yaml": gateway("b")},
            {"default": ["b"]},
            id="examples beside an archive",
        ),
        pytest.param(
            {
                **GATEWAYS,
                "clusters/base/kustomization.yaml": kustomization("apps.yaml"),
                "clusters/base/apps.yaml": flux("apps", "./apps/${CLUSTER}"),
                "clusters/prod/kustomization.yaml": kustomization("../base"),
                "clusters/staging/kustomization.yaml": kustomization("../base"),
            },
            {"prod": ["prod"], "staging": ["staging"]},
            id="Kustomizations that come out of overlays, with variables in their paths",
        ),
        pytest.param(
            {
                **GATEWAYS,
                "clusters/prod/flux.yaml": instance("clusters/prod"),
                "clusters/prod/apps.yaml": flux("apps", "./apps/prod"),
                "clusters/staging/apps.yaml": flux("apps", "./apps/staging"),
                "apps/old/ks.yaml": flux("old", "./apps/old/app"),
                "apps/old/app/app.yaml": gateway("app"),
            },
            {"prod": ["prod"], "staging": ["staging"]},
            id="another cluster beside a FluxInstance",
        ),
        pytest.param(
            {
                "deploy/flux.yaml": instance(".", "OCIRepository"),
                "deploy/edge.yaml": gateway("edge"),
                "deploy/more.yaml": flux("more", "./sub"),
                "deploy/sub/sub.yaml": gateway("sub"),
                "elsewhere/other.yaml": gateway("other"),
            },
            {"cluster": ["edge", "sub"]},
            id="a FluxInstance that syncs a whole OCI artifact",
        ),
        pytest.param(
            {"sys/flux.yaml": instance("./"), "edge.yaml": gateway("edge"), "sys/more.yaml": gateway("more")},
            {"cluster": ["edge", "more"]},
            id="a FluxInstance that syncs a whole git repository",
        ),
        pytest.param(
            {
                "base/edge.yaml": gateway("edge"),
                "base/kustomization.yaml": kustomization("edge.yaml"),
                "overlays/one/kustomization.yaml": kustomization("../../base"),
                "overlays/two/kustomization.yaml": kustomization("../../base"),
                "overlays/renamed/kustomization.yaml": "namePrefix: new-\n" + kustomization("../../base"),
                "overlays/shared/kustomization.yaml": kustomization("own.yaml"),
                "overlays/shared/own.yaml": gateway("own"),
            },
            {"one": ["edge", "own"], "renamed": ["new-edge", "own"], "two": ["edge", "own"]},
            id="an overlay that varies what its neighbours vary, and one that does not",
        ),
    ],
)
def test_environments(tmp_path: Path, files: dict[str, str], expected: dict[str, list[str]]) -> None:
    assert gateways(tree(tmp_path, files)) == expected


@pytest.mark.parametrize("name", ["test", "examples"])
def test_a_directory_that_is_named_is_deployed_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    files = {
        **BASE,
        f"k8s/{name}/kustomization.yaml": kustomization("own.yaml"),
        f"k8s/{name}/own.yaml": gateway("own"),
    }
    tree(tmp_path, files)
    named = open_workspace([str(tmp_path / "k8s" / name), str(tmp_path / "k8s" / "base")])
    assert gateways(named) == {"default": ["edge", "own"]}


@pytest.mark.parametrize("is_repository", [False, True])
@pytest.mark.parametrize(
    "named",
    [
        ["a/infra", "a/shop"],
        ["a/infra/edge.yaml", "a/shop/own.yaml"],
        ["a/shop", "docs"],
        ["a/infra", "docs/more.yaml"],
    ],
)
@pytest.mark.parametrize("place", ["", "fixtures"])
def test_paths_that_are_named_together_are_one_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, named: list[str], is_repository: bool
) -> None:
    tree(tmp_path, {f"fixtures/a/{part}.yaml": gateway(part.rpartition("/")[2]) for part in ("infra/edge", "shop/own")})
    tree(tmp_path, {"fixtures/docs/more.yaml": gateway("more")})
    if is_repository:
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.chdir(tmp_path / place)
    worlds = gateways(open_workspace([os.path.normpath(f"{'' if place else 'fixtures/'}{path}") for path in named]))
    assert list(worlds) == ["default"]
    assert len(worlds["default"]) == 2


def test_demos_do_not_override_each_other(tmp_path: Path) -> None:
    files = {**BASE, "demos/one/limit.yaml": policy("one", "edge"), "demos/two/limit.yaml": policy("two", "edge")}
    assert loud(tree(tmp_path, files)) == []


def test_examples_that_nothing_deploys_are_counted(tmp_path: Path) -> None:
    workspace = tree(tmp_path, {**BASE, "examples/a.yaml": gateway("a"), "docs/b.yaml": gateway("b")})
    assert gateways(workspace) == {"default": ["edge"]}
    assert workspace.coverage.not_rendered == ("2 files in docs/, examples/, which nothing deploys",)


def test_a_namespace_with_nothing_but_policies_is_deployed_elsewhere(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: llm}\n"
    files = {**BASE, "llm/limit.yaml": f"{policy('limit', 'inference', 'llm')}---\n{secret}"}
    assert loud(tree(tmp_path, files)) == []
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: model, namespace: llm}\nspec: {ports: [{port: 80}]}\n"
    found = loud(tree(tmp_path, {"llm/service.yaml": service}))
    assert [(finding.rule, finding.location.file.rpartition("/")[2]) for finding in found] == [("GWP101", "limit.yaml")]


EDGE = """apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec: {gatewayClassName: envoy, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
BELOW = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}]}
"""


def missing(directory: Path, *texts: str) -> list[tuple[str, str]]:
    (directory / "all.yaml").write_text("---\n".join(texts))
    found = open_workspace([str(directory)]).findings()
    return [(finding.rule, finding.confidence) for finding in found if finding.rule == "GWP401"]


PLACED = EDGE.replace("name: edge}", "name: edge, namespace: default}")
UNPLACED_ROUTE = BELOW.replace(", namespace: shop", "")


def test_where_no_namespace_is_written_whoever_applies_the_file_may_name_one(tmp_path: Path) -> None:
    assert missing(tmp_path, EDGE, BELOW) == [("GWP401", "unknown")], "`kubectl apply -n shop`"
    assert missing(tmp_path, PLACED, BELOW) == [("GWP401", "certain")]
    assert missing(tmp_path, EDGE, UNPLACED_ROUTE) == []
    elsewhere = EDGE.replace("name: edge}", "name: edge, namespace: shop}")
    assert missing(tmp_path, elsewhere, UNPLACED_ROUTE) == [("GWP401", "unknown")]
    assert missing(tmp_path, elsewhere, UNPLACED_ROUTE, PLACED.replace("edge", "inner")) == [("GWP401", "certain")]


def test_what_ytt_fills_in_is_not_judged_as_it_stands(tmp_path: Path) -> None:
    listener = EDGE.replace("{name: http, port: 80", "{name: http, port: 70000")
    (tmp_path / "gateway.yaml").write_text(listener)
    (finding,) = (finding for finding in open_workspace([str(tmp_path)]).findings() if finding.rule == "GWP501")
    assert finding.confidence == "assumed"
    (tmp_path / "gateway.yaml").write_text(f'#@ load("@ytt:data", "data")\n---\n{listener}')
    workspace = open_workspace([str(tmp_path)])
    (finding,) = (finding for finding in workspace.findings() if finding.rule == "GWP501")
    assert (finding.confidence, finding.ground) == (
        "unknown",
        "Gateway default/edge may be deployed with other values: a template engine fills in its file",
    )
    assert workspace.coverage.not_rendered == ("1 template file not rendered",)
    (tmp_path / "gateway.yaml").write_text(f"# @schema and a#@ b are no directives\n{listener}")
    (finding,) = (finding for finding in open_workspace([str(tmp_path)]).findings() if finding.rule == "GWP501")
    assert finding.confidence == "assumed"


def test_files_that_are_encrypted_whole_are_not_seen_and_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "gateway.yaml").write_text(EDGE)
    (tmp_path / "secret.yaml").write_bytes(b"\0GITCRYPT\0\1\2\0")
    workspace = open_workspace([str(tmp_path)])
    assert [finding for finding in workspace.findings() if finding.rule == "GWP910"] == []
    assert workspace.coverage.not_rendered == ("1 encrypted file",)


def test_what_cannot_be_read_among_tests_is_nobodys_to_mend_though_tests_are_all_there_is(tmp_path: Path) -> None:
    for directory, text in (("tests", EDGE), ("spec/fixtures", f"{EDGE}\n  - [\n")):
        (tmp_path / directory).mkdir(parents=True)
        (tmp_path / directory / "gateway.yaml").write_text(text)
    rules = [finding.rule for finding in open_workspace([str(tmp_path)]).findings()]
    assert "GWP910" not in rules and "GWP409" in rules


def test_what_scripts_replace_before_they_apply_a_file_is_unknown(tmp_path: Path) -> None:
    route_to_fill_in = BELOW.replace(
        "parentRefs: [{name: edge}]",
        "parentRefs: [{name: inner}], hostnames: [web.$DOMAIN], "
        "rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]",
    )
    inner = EDGE.replace("name: edge}", "name: inner, namespace: shop}").replace(
        "port: 80", "port: 80, hostname: '*.example.com'"
    )
    (tmp_path / "all.yaml").write_text("---\n".join([inner, route_to_fill_in, policy("p", "$GATEWAY", "shop")]))
    findings = open_workspace([str(tmp_path)]).findings()
    assert {(finding.rule, finding.confidence) for finding in findings} == {
        ("GWP101", "unknown"),
        ("GWP409", "unknown"),
    }


CHARTED = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  labels: {app: web}
  name: NAME
spec: {parentRefs: [{name: {{ .Values.gateway }}}]}
"""


@pytest.mark.parametrize(
    ("name", "confidence"),
    [
        pytest.param("{{ .Release.Name }}", "unknown", id="any name"),
        pytest.param("web", "unknown", id="its name"),
        pytest.param("$NAME", "unknown", id="a variable"),
        pytest.param("cart", "certain", id="another name"),
    ],
)
@pytest.mark.parametrize("file", ["chart/templates/route.yaml", "deploy/route.yaml.j2"])
def test_a_template_that_nobody_rendered_may_make_it(tmp_path: Path, name: str, confidence: str, file: str) -> None:
    target = policy("p", "web", "shop").replace("kind: Gateway", "kind: HTTPRoute")
    (tmp_path / "all.yaml").write_text(f"{BELOW.replace('name: web', 'name: api')}---\n{target}")
    (tmp_path / "chart/templates").mkdir(parents=True)
    (tmp_path / "chart/Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 0.1.0\n")
    (tmp_path / "deploy").mkdir()
    (tmp_path / file).write_text(CHARTED.replace("NAME", name))
    (finding,) = (finding for finding in open_workspace([str(tmp_path)]).findings() if finding.rule == "GWP101")
    assert finding.confidence == confidence


CUSTOM = """apiVersion: serving.example.org/v1
kind: Model
metadata: {name: qwen, namespace: PLACE}
spec: {replicas: 1}
"""
BACKEND = """apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 80}]}
"""
SERVING = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: inner}], rules: [{backendRefs: [{name: NAME, port: 80}]}]}
"""
INNER = EDGE.replace("name: edge}", "name: inner, namespace: shop}")


@pytest.mark.parametrize("file", ["all.yaml", "model.yaml"])
@pytest.mark.parametrize(
    ("place", "confidence"), [("shop", "unknown"), ("ops", "certain"), ("''", "unknown"), ("$NS", "unknown")]
)
def test_an_operator_makes_services_in_the_namespace_of_its_resource(
    tmp_path: Path, file: str, place: str, confidence: str
) -> None:
    everything = [INNER, BACKEND, SERVING.replace("NAME", "scheduler")]
    custom = CUSTOM.replace("PLACE", place)
    (tmp_path / "all.yaml").write_text("---\n".join(everything if file != "all.yaml" else [*everything, custom]))
    if file != "all.yaml":
        (tmp_path / file).write_text(custom)
    findings = open_workspace([str(tmp_path)]).findings()
    assert [finding.confidence for finding in findings if finding.rule == "GWP406"] == [confidence]


@pytest.mark.parametrize("file", ["all.yaml", "model.yaml"])
@pytest.mark.parametrize(
    ("target", "place", "confidence"),
    [
        pytest.param("qwen", "shop", "unknown", id="its name"),
        pytest.param("qwen-kserve-route", "shop", "unknown", id="its name, and more behind it"),
        pytest.param("vmauth-qwen", "shop", "unknown", id="its name, and more before it"),
        pytest.param("qwen-route", "ops", "certain", id="elsewhere"),
        pytest.param("qwenroute", "shop", "certain", id="another word"),
        pytest.param("wev", "shop", "certain", id="a typo beside a route"),
    ],
)
def test_what_bears_the_name_of_a_custom_resource_may_be_an_operators_work(
    tmp_path: Path, file: str, target: str, place: str, confidence: str
) -> None:
    aimed = policy("p", target, "shop").replace("kind: Gateway", "kind: HTTPRoute")
    everything = [INNER, BACKEND, SERVING.replace("NAME", "cart").replace("name: web", "name: webs"), aimed]
    (tmp_path / "all.yaml").write_text("---\n".join(everything))
    with (tmp_path / file).open("a") as stream:
        stream.write(f"---\n{CUSTOM.replace('PLACE', place)}")
    findings = open_workspace([str(tmp_path)]).findings()
    assert [finding.confidence for finding in findings if finding.rule == "GWP101"] == [confidence]


def test_roles_are_no_custom_resources(tmp_path: Path) -> None:
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: []\n"
    (tmp_path / "all.yaml").write_text("---\n".join([INNER, BACKEND, SERVING.replace("NAME", "scheduler")]))
    (tmp_path / "role.yaml").write_text(role)
    findings = open_workspace([str(tmp_path)]).findings()
    assert [finding.confidence for finding in findings if finding.rule == "GWP406"] == ["certain"]


def test_what_a_replacement_takes_its_value_from_is_read_though_nothing_else_names_it(tmp_path: Path) -> None:
    replacement = """\
replacements:
- source: {kind: ConfigMap, name: settings, fieldPath: data.gateway}
  targets: [{select: {kind: RateLimitPolicy}, fieldPaths: [spec.targetRef.name]}]
"""
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: infra}\ndata: {gateway: edge}\n"
    files = {
        "kustomization.yaml": kustomization("gateway.yaml", "policy.yaml", "settings.yaml", more=replacement),
        "gateway.yaml": gateway("edge"),
        "policy.yaml": policy("limits", "none-yet"),
        "settings.yaml": settings,
    }
    (simulation,) = tree(tmp_path, files).simulations
    (limits,) = simulation.world.of_kind("kuadrant.io", "RateLimitPolicy")
    assert limits.spec["targetRef"]["name"] == "edge"
