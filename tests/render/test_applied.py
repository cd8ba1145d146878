"""What deployers apply of the files and objects that they find, and what they leave out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.test_flux import kustomization
from tests.render.trees import ROUTE, SERVICE, codes, deployed, workspace

POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: shop, namespace: default, annotations: {NOTE: ""}}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]}
"""
BOTH = ["HTTPRoute default/shop", "SecurityPolicy default/shop"]
ROUTE_ALONE = ["HTTPRoute default/shop"]
REPOSITORY = (
    "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n"
    "metadata: {name: flux-system, namespace: flux-system}\nspec:\n  url: https://git.example.com/me/fleet\n"
)


def by_flux(directory: Path, policy: str = POLICY, spec: str = "", **files: str) -> list[str]:
    """What Flux deploys of `app/`, from a GitRepository with these lines of spec."""
    found = workspace(
        directory,
        {
            "clusters/prod/flux-system/source.yaml": REPOSITORY + spec,
            "clusters/prod/flux-system/sync.yaml": kustomization("flux-system", "./clusters/prod"),
            "clusters/prod/app.yaml": kustomization("app", "./app"),
            "app/route.yaml": ROUTE,
            "app/policy.yaml": policy,
            **files,
        },
    )
    return deployed(found)["prod"]


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        ("app/policy.yaml", ROUTE_ALONE),
        ("policy.yaml", ROUTE_ALONE),  # a name, at any depth
        ("/policy.yaml", BOTH),  # at the top alone
        ("pol*.y?ml", ROUTE_ALONE),
        ("[o-q]olicy.yaml", ROUTE_ALONE),
        ("[^p]olicy.yaml", BOTH),
        ("**/policy.yaml", ROUTE_ALONE),
        ("policy.yaml/", BOTH),  # directories alone
        ("# policy.yaml", BOTH),
        ("policy.yaml\n!/app/policy.yaml", BOTH),
        ("!/app/policy.yaml\npolicy.yaml", ROUTE_ALONE),
        ("/*\n!/clusters\n!/app", BOTH),  # all that lies below comes back
        ("/*\n!/clusters\n!/app/route.yaml", ROUTE_ALONE),
        ("docs/\n*.md\n/charts", BOTH),
    ],
)
def test_what_the_patterns_of_a_source_leave_out_is_not_applied(
    tmp_path: Path, ignored: str, expected: list[str]
) -> None:
    assert by_flux(tmp_path / "file", **{".sourceignore": f"{ignored}\n"}) == expected
    indented = "".join(f"    {line}\n" for line in ignored.split("\n"))
    assert by_flux(tmp_path / "spec", spec=f"  ignore: |\n{indented}") == expected


def test_a_file_of_patterns_is_for_its_own_directory(tmp_path: Path) -> None:
    assert by_flux(tmp_path / "own", **{"app/.sourceignore": "/policy.yaml\n"}) == ROUTE_ALONE
    assert by_flux(tmp_path / "other", **{"other/.sourceignore": "policy.yaml\n", "other/x.yaml": SERVICE}) == BOTH


def test_the_source_says_more_than_files(tmp_path: Path) -> None:
    files = {".sourceignore": "policy.yaml\n"}
    assert by_flux(tmp_path, spec="  ignore: '!/app/policy.yaml'\n", **files) == BOTH


@pytest.mark.parametrize("name", [".sops.yaml", ".flux.yaml", "cloudbuild.yaml"])
def test_flux_leaves_out_some_names_unless_it_is_told_otherwise(tmp_path: Path, name: str) -> None:
    assert by_flux(tmp_path / "as is", "", **{f"app/{name}": POLICY}) == ROUTE_ALONE
    assert by_flux(tmp_path / "told", "", f"  ignore: '!{name}'\n", **{f"app/{name}": POLICY}) == BOTH


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("kustomize.toolkit.fluxcd.io/ssa: Ignore", ROUTE_ALONE),
        ("kustomize.toolkit.fluxcd.io/reconcile: disabled", ROUTE_ALONE),
        ("kustomize.toolkit.fluxcd.io/ssa: Merge", BOTH),
        ("kustomize.toolkit.fluxcd.io/ssa: IfNotPresent", BOTH),
        ("kustomize.toolkit.fluxcd.io/prune: disabled", BOTH),
        ("argocd.argoproj.io/hook: Skip", BOTH),  # of the other deployer
    ],
)
def test_flux_leaves_objects_alone_that_say_so(tmp_path: Path, annotation: str, expected: list[str]) -> None:
    assert by_flux(tmp_path, POLICY.replace('NOTE: ""', annotation)) == expected


def test_another_repository_is_not_this_one_though_it_has_the_same_directories(tmp_path: Path) -> None:
    other = REPOSITORY.replace("name: flux-system,", "name: other,")
    files = {"clusters/prod/more.yaml": kustomization("more", "./more", source="other"), "more/service.yaml": SERVICE}
    mirrored = by_flux(
        tmp_path / "a", **files, **{"clusters/prod/o.yaml": other.replace("git.example", "mirror.example")}
    )
    assert "Service default/shop" in mirrored
    elsewhere = by_flux(tmp_path / "b", **files, **{"clusters/prod/o.yaml": other.replace("me/fleet", "me/charts")})
    assert "Service default/shop" not in elsewhere


def test_a_tag_is_another_state_than_this(tmp_path: Path) -> None:
    def noted(directory: Path, reference: str) -> list[str]:
        files = {
            "clusters/prod/sync.yaml": kustomization("flux-system", "./clusters/prod"),
            "clusters/prod/source.yaml": f"{REPOSITORY}  ref: {{{reference}}}\n",
        }
        return codes(workspace(directory, files))

    assert noted(tmp_path / "a", "branch: main") == []
    assert noted(tmp_path / "b", "name: refs/heads/main") == []
    assert noted(tmp_path / "c", "tag: v1.2.0") == ["other-revision"]
    assert noted(tmp_path / "d", "name: refs/tags/v1") == ["other-revision"]


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        (("main", "staging"), ["other-revision"]),
        (("master", "release"), ["other-revision"]),
        (("main", "main"), []),
        (("dev", "staging"), []),  # which of them this tree is, nothing says
    ],
)
def test_branches_of_one_repository_are_not_all_this_tree(
    tmp_path: Path, branches: tuple[str, str], expected: list[str]
) -> None:
    """Nothing syncs the directory of these Kustomizations: one is applied in each cluster."""
    files: dict[str, str] = {}
    for name, branch in zip("ab", branches, strict=True):
        source = REPOSITORY.replace("name: flux-system,", f"name: {name},")
        files[f"flux/source-{name}.yaml"] = f"{source}  ref: {{branch: {branch}}}\n"
        files[f"flux/{name}.yaml"] = kustomization(name, f"./apps/{name}", source=name)
        files[f"apps/{name}/service.yaml"] = SERVICE
    found = workspace(tmp_path, files)
    assert codes(found) == expected
    assert any(each.rule == "GWP503" and each.confidence == "certain" for each in found.findings()) is not bool(
        expected
    )


def by_argo(directory: Path, policy: str = POLICY, options: str = "", **files: str) -> list[str]:
    """What an Application deploys of `app/`, with these options of its source."""
    application = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app, namespace: argocd}\n"
        "spec:\n  destination: {server: https://kubernetes.default.svc, namespace: default}\n"
        f"  source: {{repoURL: https://git.example.com/r, path: app{options}}}\n"
    )
    given = {"argo/app.yaml": application, "app/route.yaml": ROUTE, "app/policy.yaml": policy, **files}
    return deployed(workspace(directory, given))["in-cluster"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("exclude: policy.yaml", ROUTE_ALONE),
        ("exclude: 'pol*'", ROUTE_ALONE),
        ("exclude: '{config.json,policy.*}'", ROUTE_ALONE),
        ("exclude: 'Pol*'", BOTH),
        ("exclude: 'app/policy.yaml'", BOTH),  # paths begin in the directory of the Application
        ("include: '*.yaml'", BOTH),
        ("include: '{route,service}.yaml'", ROUTE_ALONE),
        ("include: '*.yaml', exclude: '[!r]*'", ROUTE_ALONE),
        ("recurse: false", BOTH),
    ],
)
def test_an_application_includes_and_excludes_files(tmp_path: Path, options: str, expected: list[str]) -> None:
    assert by_argo(tmp_path, options=f", directory: {{{options}}}") == expected


def test_a_star_stands_for_directories_too(tmp_path: Path) -> None:
    files = {"app/a/b/policy.yaml": POLICY}
    assert by_argo(tmp_path / "a", "", ", directory: {recurse: true}", **files) == BOTH
    assert by_argo(tmp_path / "b", "", ", directory: {recurse: true, exclude: 'a/*'}", **files) == ROUTE_ALONE


def test_json_is_applied_and_other_spellings_are_not(tmp_path: Path) -> None:
    policy = '{"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "SecurityPolicy", "metadata": {"name": "shop"}}'
    assert by_argo(tmp_path / "json", "", **{"app/policy.json": policy}) == BOTH
    assert by_argo(tmp_path / "upper", "", **{"app/policy.YAML": POLICY}) == ROUTE_ALONE


def test_a_file_that_says_so_is_no_manifest(tmp_path: Path) -> None:
    assert by_argo(tmp_path, f"# +argocd:skip-file-rendering\n{POLICY}") == ROUTE_ALONE


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ("argocd.argoproj.io/hook: Skip", ROUTE_ALONE),
        ("argocd.argoproj.io/hook: SyncFail", ROUTE_ALONE),
        ("argocd.argoproj.io/hook: 'PreSync,Skip'", BOTH),
        ("argocd.argoproj.io/hook: PostSync", BOTH),  # deleted before the next sync alone
        ("argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/hook-delete-policy: HookSucceeded", ROUTE_ALONE),
        ("argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/hook-delete-policy: HookFailed", BOTH),
        ("helm.sh/hook: pre-install, helm.sh/hook-delete-policy: hook-succeeded", ROUTE_ALONE),
        ("helm.sh/hook: test", ROUTE_ALONE),
        ("argocd.argoproj.io/hook-delete-policy: HookSucceeded", BOTH),
        ("argocd.argoproj.io/sync-wave: '-5'", BOTH),
        ("kustomize.toolkit.fluxcd.io/ssa: Ignore", BOTH),  # of the other deployer
    ],
)
def test_what_stays_of_hooks(tmp_path: Path, annotations: str, expected: list[str]) -> None:
    assert by_argo(tmp_path, POLICY.replace('NOTE: ""', annotations)) == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (".argocd-source.yaml", ROUTE_ALONE),
        (".argocd-source-app.yaml", ROUTE_ALONE),
        (".argocd-source-other.yaml", BOTH),
    ],
)
def test_a_file_in_the_directory_overrides_the_source(tmp_path: Path, file: str, expected: list[str]) -> None:
    assert by_argo(tmp_path, **{f"app/{file}": "directory: {exclude: policy.yaml}\npath: elsewhere\n"}) == expected


def test_an_override_adds_to_a_kustomization_and_null_takes_nothing_away(tmp_path: Path) -> None:
    files = {
        "app/kustomization.yaml": "resources: [route.yaml, policy.yaml]\n",
        "app/.argocd-source.yaml": "kustomize: {nameSuffix: -b}\n",
        "app/.argocd-source-app.yaml": "kustomize: {nameSuffix: null, namePrefix: a-}\n",
    }
    assert by_argo(tmp_path, **files) == ["HTTPRoute default/a-shop-b", "SecurityPolicy default/a-shop-b"]


def test_a_file_called_kustomization_is_one(tmp_path: Path) -> None:
    assert by_argo(tmp_path, **{"app/Kustomization": "resources: [route.yaml]\n"}) == ROUTE_ALONE
