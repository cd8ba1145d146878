"""Plain directories that write the same object are variants of one thing: environments of their own, never N errors."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import policylint
from policylint.model import Finding, Resource
from policylint.render.variants import LIMIT
from policylint.schema import broken
from policylint.workspace import Workspace, open_workspace

GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: shop}}
spec:
  gatewayClassName: envoy
  listeners: [{{name: {listener}, port: 80, protocol: HTTP}}]
"""
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: checkout, namespace: shop}}
spec:
  parentRefs: [{{name: edge{section}}}]
  rules: [{{backendRefs: [{{name: checkout, port: 8080}}]}}]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {ports: [{port: 8080}]}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"


def tree(root: Path, files: dict[str, str]) -> Workspace:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return open_workspace([str(root)])


def names(workspace: Workspace) -> list[str]:
    return [simulation.world.name for simulation in workspace.simulations]


def loud(workspace: Workspace) -> list[Finding]:
    return [finding for finding in workspace.findings() if finding.severity != "note"]


def test_directories_with_one_object_are_environments(tmp_path: Path) -> None:
    files = {f"k8s/{stage}/gateway.yaml": GATEWAY.format(listener="http") for stage in ("dev", "test", "prod")}
    files |= {f"k8s/{stage}/route.yaml": ROUTE.format(section="") for stage in ("dev", "test", "prod")}
    workspace = tree(tmp_path, {**files, "k8s/common/service.yaml": SERVICE})
    assert names(workspace) == ["dev", "prod", "test"]
    assert loud(workspace) == []
    assert all(len(simulation.topology.routes) == 1 for simulation in workspace.simulations)


def test_what_lies_outside_of_the_variants_belongs_to_all(tmp_path: Path) -> None:
    files = {f"{lab}/route.yaml": ROUTE.format(section="") for lab in ("one", "two")}
    workspace = tree(tmp_path, {**files, "gateway.yaml": GATEWAY.format(listener="http"), "service.yaml": SERVICE})
    assert names(workspace) == ["one", "two"]
    assert loud(workspace) == []


def test_a_file_that_rivals_a_directory_is_left_out_there_alone(tmp_path: Path) -> None:
    basic = GATEWAY.format(listener="http") + "---\n" + ROUTE.format(section=", sectionName: http")
    files = {"basic.yaml": basic, "service.yaml": SERVICE, "tls/gateway.yaml": GATEWAY.format(listener="https")}
    workspace = tree(tmp_path, files)
    assert names(workspace) == ["default", "tls"]
    assert loud(workspace) == []  # GWP402 where the one Gateway replaces the other
    default, tls = workspace.simulations
    assert [len(simulation.topology.routes) for simulation in (default, tls)] == [1, 0]


def test_a_namespace_that_every_directory_repeats_separates_nothing(tmp_path: Path) -> None:
    workspace = tree(tmp_path, {"apps/a/namespace.yaml": NAMESPACE, "apps/b/namespace.yaml": NAMESPACE})
    assert names(workspace) == ["default"]


def test_what_only_another_alternative_has_is_unknown_not_missing(tmp_path: Path) -> None:
    # The Gateway of lab one is not in lab two, whose route names it: a step of a tutorial may build on the last.
    files = {
        "labs/one/gateway.yaml": GATEWAY.format(listener="http"),
        "labs/one/route.yaml": ROUTE.format(section=""),
        "labs/two/route.yaml": ROUTE.format(section=""),
        "labs/service.yaml": SERVICE,
    }
    workspace = tree(tmp_path, files)
    assert names(workspace) == ["one", "two"]
    missing = [finding for finding in workspace.findings() if finding.rule == "GWP401"]
    assert [(finding.confidence, finding.environments) for finding in missing] == [("unknown", ("two",))]


def test_a_shared_file_is_judged_where_all_that_share_it_agree(tmp_path: Path) -> None:
    files = {
        "a/gateway.yaml": GATEWAY.format(listener="http"),
        "b/gateway.yaml": GATEWAY.format(listener="web"),
        "route.yaml": ROUTE.format(section=", sectionName: http"),
        "service.yaml": SERVICE,
    }
    of_section = [finding for finding in tree(tmp_path, files).findings() if finding.rule == "GWP402"]
    assert {(finding.severity, finding.confidence) for finding in of_section} == {("note", "unknown")}
    files["a/gateway.yaml"] = GATEWAY.format(listener="grpc")
    of_section = [finding for finding in tree(tmp_path, files).findings() if finding.rule == "GWP402"]
    assert {(finding.severity, finding.confidence) for finding in of_section} == {("error", "certain")}


def test_one_file_that_says_a_thing_twice_is_wrong(tmp_path: Path) -> None:
    twice = tree(tmp_path, {"service.yaml": f"{SERVICE}---\n{SERVICE.replace('8080', '8081')}"})
    assert [(finding.rule, finding.severity) for finding in loud(twice)] == [("GWP503", "error")]


def test_two_files_of_one_directory_are_a_note(tmp_path: Path) -> None:
    split = {"80-20.yaml": ROUTE.format(section=""), "90-10.yaml": ROUTE.format(section=", sectionName: http")}
    gateway = {"gateway.yaml": GATEWAY.format(listener="http"), "service.yaml": SERVICE}
    found = [finding for finding in tree(tmp_path, {**gateway, **split}).findings() if finding.rule == "GWP503"]
    assert [(finding.severity, finding.confidence) for finding in found] == [("note", "assumed")]


def git(root: Path, *arguments: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize("path", ["shop/staging", "shop/eu/staging"])
def test_a_diff_that_adds_an_alternative_reports_no_loss(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"gateway.yaml": GATEWAY.format(listener="http"), "shop/prod/route.yaml": ROUTE.format(section="")}
    git(tmp_path, "init", "-q", "-b", "main")
    tree(tmp_path, {**files, "service.yaml": SERVICE})
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    tree(tmp_path, {f"{path}/route.yaml": ROUTE.format(section=", sectionName: http")})
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "two")
    monkeypatch.chdir(tmp_path)
    comparison = policylint.diff("HEAD~1..HEAD").comparison
    assert [environment.name for environment in comparison.environments] == ["default"]
    assert [change.change for change in comparison.routes] == []


def test_a_diff_pairs_what_lies_beside_the_alternatives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    files = {f"{name}/gateway.yaml": GATEWAY.format(listener=name) for name in ("ssl", "tls")}
    assert names(tree(tmp_path, {**files, "basic.yaml": GATEWAY.format(listener="http")})) == ["default", "ssl", "tls"]
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "rm", "-q", "basic.yaml")
    git(tmp_path, "commit", "-qm", "two")
    monkeypatch.chdir(tmp_path)
    comparison = policylint.diff("HEAD~1..HEAD").comparison
    assert [environment.name for environment in comparison.environments] == ["default"]


def test_a_thousand_directories_inside_each_other_are_one_environment(tmp_path: Path) -> None:
    depth = 1_100
    try:
        assert names(tree(tmp_path, {f"{'d/' * steps}service.yaml": SERVICE for steps in range(depth)})) == ["default"]
    finally:  # what pytest itself removes trees with goes one call deeper for each directory
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_alternatives_that_share_too_much_are_one_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policylint.workspace.alternatives.MAX_OBJECTS", 20)
    files = {f"{name}/route.yaml": ROUTE.format(section="") for name in "abcdefgh"}
    few = {f"shared/{number}.yaml": SERVICE.replace("checkout", f"s{number}") for number in range(3)}
    assert len(names(tree(tmp_path, {**files, **few}))) == len(files)
    many = {f"shared/{number}.yaml": SERVICE.replace("checkout", f"s{number}") for number in range(20)}
    assert names(tree(tmp_path, {**files, **many})) == ["default"]


def test_what_alternatives_share_is_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(name: str) -> Callable[..., None]:
        judge: Callable[..., None] = getattr(broken, name)

        def judged(resource: Resource, *about: Any) -> None:
            asked.append(f"{name} of {resource.key}")
            return judge(resource, *about)

        return judged

    for name in ("refused_metadata", "refused"):
        monkeypatch.setattr(broken, name, counted(name))
    files = {f"k8s/{stage}/gateway.yaml": GATEWAY.format(listener="http") for stage in ("dev", "test", "prod")}
    refused = SERVICE.replace("name: checkout", "name: Checkout").replace("port: 8080", "port: 70000")
    shared = {"k8s/common/service.yaml": SERVICE, "k8s/common/refused.yaml": refused}
    workspace = tree(tmp_path, {**files, **shared})
    assert len(workspace.simulations) == 3
    of_services = ["refused of Service shop/checkout", *(f"refused_metadata of Service shop/{n}heckout" for n in "Cc")]
    assert sorted(each for each in asked if "Service" in each) == of_services
    told = [finding for finding in workspace.findings() if finding.rule == "GWP501"]
    assert [finding.environments for finding in told] == [("dev", "prod", "test")]


def test_a_parent_that_no_alternative_has_is_unknown_and_a_misspelt_one_is_missing(tmp_path: Path) -> None:
    files = {f"labs/{lab}/gateway.yaml": GATEWAY.format(listener="http") for lab in ("one", "two")}
    for name, confidence in (("staging", "unknown"), ("egde", "certain")):
        route = ROUTE.format(section="").replace("name: edge", f"name: {name}")
        workspace = tree(tmp_path, {**files, "labs/one/route.yaml": route, "labs/one/service.yaml": SERVICE})
        found = [finding for finding in workspace.findings() if finding.rule == "GWP401"]
        assert [finding.confidence for finding in found] == [confidence]


def own(name: str) -> dict[str, str]:
    """A Gateway and a route on it, by file."""
    gateway, route = GATEWAY.format(listener="http"), ROUTE.format(section="")
    return {
        "gateway.yaml": gateway.replace("name: edge", f"name: {name}"),
        "route.yaml": route.replace("name: edge", f"name: {name}").replace(
            "name: checkout, name", f"name: {name}, name"
        ),
    }


def test_numbered_steps_of_a_tutorial_are_environments(tmp_path: Path) -> None:
    """Two of them write the same Gateway, and all of them have one: each is complete, on top of step 0."""
    steps = {"01-hello": "hello", "02-tls": "tls", "03-grpc": "grpc", "04-hello-again": "hello"}
    files = {
        f"lessons/{step}/manifests/{file}": text for step, name in steps.items() for file, text in own(name).items()
    }
    workspace = tree(tmp_path, {**files, "lessons/00-setup/service.yaml": SERVICE, "lessons/namespace.yaml": NAMESPACE})
    assert names(workspace) == list(steps)
    for simulation in workspace.simulations:
        held = sorted(key.kind for key in simulation.world.resources)
        assert held == ["Gateway", "HTTPRoute", "Namespace", "Service"]
    assert loud(workspace) == []


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"03-apps/route.yaml": ROUTE.format(section=""), "04-policies/service.yaml": SERVICE}, id="parts"),
        pytest.param(
            {f"{number}-x/{file}": text for number in range(LIMIT) for file, text in own(f"x{number}").items()},
            id="too many",
        ),
    ],
)
def test_numbered_parts_of_one_installation_stay_together(tmp_path: Path, others: dict[str, str]) -> None:
    """What is written twice is apart; what comes after it in the same order is not."""
    gateways = {f"{step}/gateway.yaml": GATEWAY.format(listener="http") for step in ("01-edge", "02-edge")}
    assert names(tree(tmp_path, {**gateways, **others})) == ["01-edge", "02-edge"]


@pytest.mark.parametrize(
    ("namespace", "name", "apart"), [("${TEAM}", "edge", True), ("shop", "${GATEWAY}", False), ("${A}", "${B}", False)]
)
def test_a_variable_that_is_a_namespace_is_the_same_everywhere(
    tmp_path: Path, namespace: str, name: str, apart: bool
) -> None:
    """What is called by a variable may be several things: a template of each team."""
    written = GATEWAY.format(listener="http").replace(
        "name: edge, namespace: shop", f"name: '{name}', namespace: '{namespace}'"
    )
    found = names(tree(tmp_path, {"one/gateway.yaml": written, "two/gateway.yaml": written}))
    assert found == (["one", "two"] if apart else ["default"])


def test_two_plain_files_of_one_gateway_beside_a_kustomization_leave_open_which_is_applied(tmp_path: Path) -> None:
    """Nothing says which of the two is there, so nothing is certain about a route that fits one of them."""
    files = {
        "app/kustomization.yaml": "resources: [service.yaml]\n",
        "app/service.yaml": SERVICE,
        "k8s/a.yaml": GATEWAY.format(listener="http"),
        "k8s/b.yaml": GATEWAY.format(listener="https"),
        "k8s/route.yaml": ROUTE.format(section=", sectionName: https"),
    }
    (found,) = (each for each in tree(tmp_path, files).findings() if each.rule == "GWP402")
    assert found.confidence != "certain"
    (tmp_path / "k8s/b.yaml").write_text(files["k8s/a.yaml"])  # the same twice is no question
    (found,) = (each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP402")
    assert found.confidence == "certain"


def test_versions_of_a_route_without_a_namespace_do_not_tie(tmp_path: Path) -> None:
    """Base and variant of one route, of kustomizations that were not rendered, are not two routes."""
    route = ROUTE.format(section=", namespace: shop").replace(", namespace: shop}\nspec", "}\nspec")
    files = {
        "app/kustomization.yaml": "resources: [service.yaml]\n",
        "app/service.yaml": SERVICE,
        "app/old/route.yaml": route,
        "app/new/route.yaml": route,
        "app/gateway.yaml": GATEWAY.format(listener="http"),
    }
    tree(tmp_path, files)
    workspace = open_workspace([str(tmp_path)], undeployed=True)
    (simulation,) = workspace.simulations
    assert [state.route.key.unplaced for state in simulation.topology.routes] == [True, True]
    assert not [each for each in workspace.findings() if each.rule == "GWP408"]


@pytest.mark.parametrize(("namespace", "told"), [("", False), (", namespace: other", True)])
def test_one_route_in_two_plain_files_is_no_tie(tmp_path: Path, namespace: str, told: bool) -> None:
    """One of them names no namespace, and may be applied to that of the other."""
    route = ROUTE.format(section=", namespace: shop")
    other = route.replace("{name: checkout, namespace: shop}\nspec", f"{{name: checkout{namespace}}}\nspec")
    everywhere = "allowedRoutes: {namespaces: {from: All}}, protocol: HTTP"
    gateway = GATEWAY.format(listener="http").replace("protocol: HTTP", everywhere)
    files = {"gateway.yaml": gateway, "one/route.yaml": route, "two/full.yaml": other, "service.yaml": SERVICE}
    assert any(each.rule == "GWP408" for each in tree(tmp_path, files).findings()) == told


# --- beside kustomizations --------------------------------------------------------------------------------------------

LOOSE = {
    "app/route.yaml": ROUTE.format(section=""),
    "app/gateway.yaml": GATEWAY.format(listener="http"),
    "app/service.yaml": SERVICE.replace(", namespace: shop", ""),
    "app/namespace.yaml": NAMESPACE,
}
"""A Service that names no namespace, beside a route that does."""
IN_KUSTOMIZATION = "resources: [route.yaml, gateway.yaml, service.yaml, namespace.yaml]\n"
BY_FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: flux-system}
spec: {path: ./app, sourceRef: {kind: GitRepository, name: flux-system}}
"""


@pytest.mark.parametrize(
    ("more", "missing"),
    [
        ({}, False),
        ({"app/kustomization.yaml": IN_KUSTOMIZATION}, False),
        ({"app/kustomization.yaml": IN_KUSTOMIZATION, "clusters/app.yaml": BY_FLUX}, True),
    ],
    ids=["plain", "a kustomization", "Flux"],
)
def test_what_names_no_namespace_is_applied_to_any_unless_a_deployer_applies_it(
    tmp_path: Path, more: dict[str, str], missing: bool
) -> None:
    """`kubectl apply -n shop -k app` is as likely as `kubectl apply -n shop -f app`."""
    found = tree(tmp_path, {**LOOSE, **more}).findings()
    told = [each for each in found if each.rule == "GWP406" and each.confidence != "unknown"]
    assert bool(told) == missing


KUSTOMIZED = {
    "platform/kustomization.yaml": "resources: [gateway.yaml]\n",
    "platform/gateway.yaml": GATEWAY.format(listener="http"),
}
"""What only one directory of a tree has: the others are as plain as without it."""


@pytest.mark.parametrize("arranged", [True, False], ids=["beside a kustomization", "plain"])
def test_whether_another_directory_has_a_kustomization_changes_no_answer(tmp_path: Path, arranged: bool) -> None:
    """One `kustomization.yaml` had all plain files land in one cluster: a Service of one lab was missing its port in
    another one."""
    files = dict(KUSTOMIZED) if arranged else {"platform/gateway.yaml": GATEWAY.format(listener="http")}
    for lab, port in (("one", 8080), ("two", 80)):
        files[f"{lab}/service.yaml"] = SERVICE.replace("8080", str(port))
        files[f"{lab}/route.yaml"] = ROUTE.format(section="").replace("8080", str(port))
    workspace = tree(tmp_path, files)
    assert {"one", "two"} <= set(names(workspace))
    assert loud(workspace) == []
    for simulation in workspace.simulations:
        if simulation.world.name != "default":
            assert [len(simulation.topology.routes), len(simulation.topology.gateways)] == [1, 1]


def test_what_one_variant_has_is_not_missing_in_another(tmp_path: Path) -> None:
    files = {f"{lab}/route.yaml": ROUTE.format(section="") for lab in ("one", "two")}
    workspace = tree(tmp_path, {**KUSTOMIZED, **files, "one/service.yaml": SERVICE})
    assert loud(workspace) == []


def test_what_is_wrong_in_each_variant_is_told(tmp_path: Path) -> None:
    files = {f"{lab}/route.yaml": ROUTE.format(section=", sectionName: other") for lab in ("one", "two")}
    workspace = tree(tmp_path, {**KUSTOMIZED, **files, "service.yaml": SERVICE})
    assert {(finding.rule, finding.location.file.rpartition("/")[2]) for finding in loud(workspace)} == {
        ("GWP402", "route.yaml")
    }


def test_variants_stand_in_each_overlay(tmp_path: Path) -> None:
    overlays = {
        f"overlays/{stage}/{file}": text
        for stage in ("dev", "prod")
        for file, text in (("kustomization.yaml", "resources: [g.yaml]\n"), ("g.yaml", GATEWAY.format(listener="http")))
    }
    labs = {f"{lab}/route.yaml": ROUTE.format(section="") for lab in ("one", "two")}
    workspace = tree(tmp_path, {**overlays, **labs, "service.yaml": SERVICE})
    assert names(workspace) == ["dev", "dev/one", "dev/two", "prod", "prod/one", "prod/two"]
    assert loud(workspace) == []


def test_what_is_wrong_in_one_overlay_is_told_though_there_are_variants(tmp_path: Path) -> None:
    """Of a file that two overlays share: whether both have a Gateway for it is no question of the variants."""
    base = {"base/kustomization.yaml": "resources: [route.yaml]\n", "base/route.yaml": ROUTE.format(section="")}
    overlays = {
        "overlays/dev/kustomization.yaml": "resources: [../../base, g.yaml]\n",
        "overlays/dev/g.yaml": GATEWAY.format(listener="http"),
        "overlays/prod/kustomization.yaml": "resources: [../../base, g.yaml]\n",
        "overlays/prod/g.yaml": GATEWAY.format(listener="http").replace("8080", "80").replace("shop}", "other}"),
    }
    service = SERVICE.replace("checkout", "lab")
    labs = {f"{lab}/service.yaml": service for lab in ("one", "two")}
    workspace = tree(tmp_path, {**base, **overlays, **labs, "service.yaml": SERVICE})
    assert [finding.rule for finding in loud(workspace)] == ["GWP401"]


def test_what_is_wrong_of_a_patch_in_one_variant_only_is_not_known(tmp_path: Path) -> None:
    """budgetanalyzer/orchestration: the overlay of production beside the Gateway of a cluster for development."""
    patched = (
        "resources: [route.yaml]\npatches:\n  - target: {kind: HTTPRoute}\n    patch: |-\n"
        "      - {op: replace, path: /spec/hostnames/0, value: shop.example.com}\n"
    )
    route = ROUTE.format(section="").replace("spec:\n", "spec:\n  hostnames: [shop.localhost]\n")
    gateway = GATEWAY.format(listener="http").replace("port: 80,", "port: 80, hostname: '*.localhost',")
    files = {"production/kustomization.yaml": patched, "production/route.yaml": route, "service.yaml": SERVICE}
    labs = {f"{name}/lab.yaml": SERVICE.replace("checkout", "lab") for name in ("local", "other")}
    workspace = tree(tmp_path, {**files, **labs, "local/gateway.yaml": gateway})
    (found,) = (finding for finding in workspace.findings() if finding.rule == "GWP404")
    assert (found.severity, found.confidence) == ("note", "unknown")
    (tmp_path / "other/gateway.yaml").write_text(gateway, encoding="utf-8")
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP404"]
    assert [each.confidence for each in found] == ["certain", "certain"]


def test_what_flux_calls_a_kustomization_is_built_where_somebody_builds_it(tmp_path: Path) -> None:
    of_flux = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: b}\nspec: {}\n"
    )
    files = {**KUSTOMIZED, "apps/a/kustomization.yaml": of_flux, "apps/a/service.yaml": SERVICE}
    workspace = tree(tmp_path, files)
    assert [finding for finding in loud(workspace) if finding.rule == "GWP914"] == []
    assert any(key.kind == "Service" for simulation in workspace.simulations for key in simulation.world.resources)
    (tmp_path / "platform/kustomization.yaml").write_text("resources: [gateway.yaml, ../apps/a]\n", encoding="utf-8")
    assert [each.rule for each in open_workspace([str(tmp_path)]).findings() if each.severity == "error"] == ["GWP914"]


@pytest.mark.parametrize("hollow", ["", "kind: Kustomization\n", "# resources: [service.yaml]\n"])
def test_a_kustomization_that_keeps_a_place_is_wrong_where_it_is_built(tmp_path: Path, hollow: str) -> None:
    workspace = tree(tmp_path, {**KUSTOMIZED, "apps/base/kustomization.yaml": hollow})
    assert loud(workspace) == []
    (tmp_path / "platform/kustomization.yaml").write_text("resources: [gateway.yaml, ../apps/base]\n", encoding="utf-8")
    assert [each.rule for each in loud(open_workspace([str(tmp_path)]))] == ["GWP914"]


LOGIN = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]
  basicAuth: {users: {name: users}}
"""


@pytest.mark.parametrize("arranged", [True, False], ids=["beside a kustomization", "plain"])
def test_a_login_that_one_variant_loses_is_gone_there(tmp_path: Path, arranged: bool) -> None:
    """That the other variant has one asks nobody here for anything."""
    files = dict(KUSTOMIZED) if arranged else {"platform/gateway.yaml": GATEWAY.format(listener="http")}
    for lab in ("one", "two"):
        files |= {f"{lab}/route.yaml": ROUTE.format(section=""), f"{lab}/login.yaml": LOGIN, f"{lab}/s.yaml": SERVICE}
    tree(tmp_path, files)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "before")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    (tmp_path / "two/login.yaml").unlink()
    found = policylint.diff("HEAD", repository=tmp_path).new
    assert [(each.rule, each.confidence) for each in found if each.rule == "GWP302"] == [("GWP302", "certain")]


OF_NOBODY = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}
"""


@pytest.mark.parametrize(
    ("files", "namespace"),
    [
        ({}, "default"),
        ({"up.sh": "kubectl apply -n shop -f config/web/route.yaml\n"}, "shop"),
        ({"up.sh": "kubectl -n shop apply -f config/web/\n"}, "shop"),
        ({"up.sh": "cd config && kubectl apply --namespace=shop -f web/route.yaml\n"}, "shop"),
        ({"README.md": "```\noc apply -f config/web/route.yaml --namespace shop\n```\n"}, "shop"),
        (
            {
                "Makefile": "NS ?= shop\nCONFIG := config\nWEB := $(CONFIG)/web\n"
                "up:\n\tkubectl apply -n $(NS) -f $(WEB)/route.yaml\n"
            },
            "shop",
        ),
        ({"up.sh": "kubectl apply -n $NS -f config/web/route.yaml\n"}, "default"),
        (
            {"up.sh": "kubectl apply -n a -f config/web/route.yaml\nkubectl apply -n b -f config/web/route.yaml\n"},
            "default",
        ),
        ({"up.sh": "kubectl apply -n a -f config/web/route.yaml\nkubectl apply -f config/web/route.yaml\n"}, "default"),
        ({"up.sh": "kubectl apply -n shop -f config/web/other.yaml\n"}, "default"),
    ],
)
def test_a_script_says_into_which_namespace_it_applies_a_file(
    tmp_path: Path, files: dict[str, str], namespace: str
) -> None:
    (simulation,) = tree(tmp_path, {"config/web/route.yaml": OF_NOBODY, **files}).simulations
    assert [key.namespace for key in simulation.world.resources] == [namespace]


def test_what_a_file_states_counts_before_the_command(tmp_path: Path) -> None:
    """The API server refuses the other namespace, and kubectl says so."""
    files = {"route.yaml": OF_NOBODY.replace("name: web}", "name: web, namespace: own}", 1)}
    (simulation,) = tree(tmp_path, {**files, "up.sh": "kubectl apply -n shop -f route.yaml\n"}).simulations
    assert [key.namespace for key in simulation.world.resources] == ["own"]


def test_what_a_script_applies_of_one_kustomization_is_deployed_with_what_does_not_rival_it(tmp_path: Path) -> None:
    """The base stands by itself, too, and nothing is missing beside it that another edition brings along."""
    shipper = SERVICE.replace("checkout", "shipper")
    files = {
        "app/kustomization.yaml": "resources: [service.yaml, gateway.yaml]\n",
        "app/service.yaml": SERVICE,
        "app/gateway.yaml": GATEWAY.format(listener="http"),
        "logs/v5/kustomization.yaml": "resources: [shipper.yaml, ../../app]\n",
        "logs/v5/shipper.yaml": shipper,
        "logs/v6/kustomization.yaml": "resources: [shipper.yaml]\n",
        "logs/v6/shipper.yaml": shipper,
        "routes/kustomization.yaml": "resources: [route.yaml]\n",
        "routes/route.yaml": ROUTE.format(section=""),
    }
    alone = tree(tmp_path / "a", files)
    assert names(alone) == ["v5", "v6"]
    files["scripts/up.sh"] = "kubectl apply -k app\nkubectl apply -k routes\n"
    workspace = tree(tmp_path / "b", files)
    assert names(workspace) == ["cluster", "v5"]
    assert all(len(simulation.topology.routes) == 1 for simulation in workspace.simulations)
    assert loud(workspace) == []


def test_pieces_of_a_catalog_stand_beside_what_lies_beside_them(tmp_path: Path) -> None:
    """Each directory of the catalog has a Gateway of its own, and routes in a kustomization beside it."""
    files = {}
    for demo in ("bots", "shop", "pay"):
        files[f"catalog/{demo}/edge/base/kustomization.yaml"] = "resources: [gateway.yaml, service.yaml]\n"
        files[f"catalog/{demo}/edge/base/gateway.yaml"] = GATEWAY.format(listener="http")
        files[f"catalog/{demo}/edge/base/service.yaml"] = SERVICE
        files[f"catalog/{demo}/routes/base/kustomization.yaml"] = "resources: [route.yaml]\n"
        files[f"catalog/{demo}/routes/base/route.yaml"] = ROUTE.format(section="")
    workspace = tree(tmp_path / "a", files)
    assert len(workspace.simulations) == 3
    assert all(len(simulation.topology.routes) == 1 for simulation in workspace.simulations)
    assert loud(workspace) == []
    files["catalog/pay/routes/base/route.yaml"] = ROUTE.format(section=", sectionName: none")
    assert [(each.rule, each.confidence) for each in loud(tree(tmp_path / "b", files))] == [("GWP402", "certain")]


def test_what_another_piece_has_is_not_missing(tmp_path: Path) -> None:
    files = {}
    for demo in ("bots", "shop"):
        place = f"catalog/{demo}/edge/base"
        files[f"{place}/kustomization.yaml"] = "resources: [gateway.yaml, service.yaml, route.yaml]\n"
        files[f"{place}/gateway.yaml"] = GATEWAY.format(listener="http").replace("name: edge", f"name: {demo}")
        files[f"{place}/service.yaml"] = SERVICE
        files[f"{place}/route.yaml"] = ROUTE.format(section="").replace("name: edge", "name: shop")
    found = [each for each in tree(tmp_path, files).findings() if each.rule == "GWP401"]
    assert [each.confidence for each in found] == ["unknown"]


def test_overlays_of_two_environments_are_never_one(tmp_path: Path) -> None:
    gateway = GATEWAY.format(listener="http")
    files = {}
    for app, stages in {"edge": ("dev", "prod"), "pay": ("dev", "qa")}.items():
        for stage in stages:
            files[f"{app}/overlays/{stage}/kustomization.yaml"] = "resources: [gateway.yaml]\n"
            files[f"{app}/overlays/{stage}/gateway.yaml"] = gateway.replace("name: edge", f"name: {app}")
    assert {
        simulation.world.name: len(simulation.topology.gateways) for simulation in tree(tmp_path, files).simulations
    } == {"dev": 2, "prod": 1, "qa": 1}


def samples(number: int, listener: str = "http") -> dict[str, str]:
    """Examples of one directory, each with a Gateway of its own and a route to one of its listeners."""
    listeners = [f"{listener}{index}" for index in range(number)]
    section = ", sectionName: {}"
    return {
        f"examples/{name}.yaml": GATEWAY.format(listener=name) + "---\n" + ROUTE.format(section=section.format(name))
        for name in listeners
    }


def test_files_of_which_each_is_an_example_are_environments(tmp_path: Path) -> None:
    workspace = tree(tmp_path, {**samples(3), "examples/service.yaml": SERVICE})
    assert names(workspace) == ["http0.yaml", "http1.yaml", "http2.yaml"]
    found = {finding.rule for finding in workspace.findings()}
    assert found == {"GWP409"}  # GWP402 where one of the Gateways counts, GWP503 for each of them
    assert all(len(simulation.topology.routes) == 1 for simulation in workspace.simulations)


def test_two_files_that_write_one_object_may_be_a_mistake(tmp_path: Path) -> None:
    workspace = tree(tmp_path, {**samples(2), "examples/service.yaml": SERVICE})
    assert names(workspace) == ["default"]
    assert {"GWP503"} <= {finding.rule for finding in workspace.findings()}


def test_files_of_one_object_are_pieces_that_need_others(tmp_path: Path) -> None:
    """redhat-scholars/istio-tutorial istiofiles/: steps for one route, and steps for what it names."""
    files = {f"steps/route-{number}.yaml": ROUTE.format(section="") for number in range(3)}
    files |= {f"steps/gateway-{number}.yaml": GATEWAY.format(listener="http") for number in range(3)}
    workspace = tree(tmp_path, {**files, "steps/service.yaml": SERVICE})
    assert names(workspace) == ["default"]
    assert [each.rule for each in loud(workspace)] == []


def test_a_pair_beside_examples_is_of_examples_too(tmp_path: Path) -> None:
    pair = {f"examples/{name}.yaml": f"{SERVICE}---\n{NAMESPACE}" for name in ("plain", "other")}
    workspace = tree(tmp_path, {**samples(3), **pair})
    assert names(workspace) == ["http0.yaml", "http1.yaml", "http2.yaml", "other.yaml", "plain.yaml"]


def test_files_of_three_directories_are_no_examples_of_one(tmp_path: Path) -> None:
    files = {f"{place}/gateway.yaml": GATEWAY.format(listener="http") for place in ("one", "two", "three")}
    assert names(tree(tmp_path, {**files, "service.yaml": SERVICE})) == ["one", "three", "two"]


def test_examples_beside_a_kustomization_are_environments(tmp_path: Path) -> None:
    kustomization = "resources: [service.yaml]\n"
    files = {"base/kustomization.yaml": kustomization, "base/service.yaml": SERVICE.replace("shop", "base")}
    beside = {path.replace("examples", "apps"): text for path, text in samples(3).items()}
    workspace = tree(tmp_path, {**beside, **files})
    routes = [route for simulation in workspace.simulations for route in simulation.topology.routes]
    assert len(routes) == 3


def test_more_examples_than_are_told_apart_leave_their_directories_so(tmp_path: Path) -> None:
    files = {f"{stage}/{path}": text for stage in ("dev", "prod") for path, text in samples(LIMIT // 2 + 1).items()}
    assert names(tree(tmp_path, files)) == ["dev", "prod"]


@pytest.mark.parametrize("number", [3, 60, 120])
def test_a_course_of_many_lessons_has_as_many_environments(number: int, tmp_path: Path) -> None:
    """Each with a Gateway of the same name: what the last one asks of its Gateway no other one has."""
    lessons = {
        f"topics/{name}/{file}": text
        for name in (f"t{each:03}" for each in range(number))
        for file, text in {"gateway.yaml": GATEWAY.format(listener=name), "service.yaml": SERVICE}.items()
    }
    last = ROUTE.format(section=f", sectionName: t{number - 1:03}")
    workspace = tree(tmp_path, {**lessons, f"topics/t{number - 1:03}/route.yaml": last})
    assert len(names(workspace)) == number
    assert loud(workspace) == []
    wrong = ROUTE.format(section=", sectionName: t000")
    workspace = tree(tmp_path, {**lessons, f"topics/t{number - 1:03}/route.yaml": wrong})
    assert [each.rule for each in loud(workspace)] == ["GWP402"]
