"""What Argo CD deploys, and what top-level overlays are when nothing else says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.trees import KUSTOMIZATION, ROUTE, SERVICE, codes, deployed, workspace

HERE = "{server: 'https://kubernetes.default.svc', namespace: web}"


def application(name: str, source: str, destination: str = HERE) -> str:
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\n"
        f"spec:\n  source: {source}\n  destination: {destination}\n"
    )


def application_set(generator: str, path: str, destination: str = HERE) -> str:
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set, namespace: argocd}\nspec:\n"
        f"  goTemplate: {str('{{ .' in path).lower()}\n  generators:\n  - {generator}\n"
        f"  template:\n    metadata: {{name: '{path}'}}\n"
        f"    spec:\n      source: {{path: '{path}'}}\n      destination: {destination}\n"
    )


APP = {"apps/shop/route.yaml": ROUTE, "apps/other/service.yaml": SERVICE.replace("name: shop", "name: other")}


def test_the_destination_fills_in_but_never_overwrites(tmp_path: Path) -> None:
    placed = SERVICE.replace("name: shop", "name: shop\n  namespace: own")
    files = {**APP, "apps/shop/service.yaml": placed, "argo/app.yaml": application("a", "{path: apps/shop}")}
    assert deployed(workspace(tmp_path, files)) == {"in-cluster": ["HTTPRoute web/shop", "Service own/shop"]}


def test_subdirectories_only_where_asked(tmp_path: Path) -> None:
    flat = {**APP, "argo/app.yaml": application("a", "{path: apps}")}
    assert deployed(workspace(tmp_path / "flat", flat)) == {"in-cluster": []}
    deep = {**APP, "argo/app.yaml": application("a", "{path: apps, directory: {recurse: true}}")}
    assert deployed(workspace(tmp_path / "deep", deep)) == {"in-cluster": ["HTTPRoute web/shop", "Service web/other"]}


def test_one_cluster_is_one_environment_however_many_directories(tmp_path: Path) -> None:
    files = {
        **APP,
        "argo/a.yaml": application("a", "{path: apps/shop}", "{name: in-cluster, namespace: one}"),
        "argo/b.yaml": application("b", "{path: apps/other}", HERE),
        "argo/c.yaml": application("c", "{path: apps/other}", "{server: 'https://edge.example.com', namespace: web}"),
    }
    assert deployed(workspace(tmp_path, files)) == {
        "edge.example.com": ["Service web/other"],
        "in-cluster": ["HTTPRoute one/shop", "Service web/other"],
    }


def test_kustomize_options_of_an_application(tmp_path: Path) -> None:
    source = "{path: apps/shop, kustomize: {namespace: k, namePrefix: p-, commonLabels: {a: b}}}"
    files = {
        **APP,
        "apps/shop/kustomization.yaml": "resources: [route.yaml]\n",
        "argo/app.yaml": application("a", source),
    }
    found = workspace(tmp_path, files)
    assert deployed(found) == {"in-cluster": ["HTTPRoute k/p-shop"]}
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert route.labels == {"a": "b"}


def test_an_application_of_applications(tmp_path: Path) -> None:
    files = {
        **APP,
        "root.yaml": application("root", "{path: argo}"),
        "argo/a.yaml": application("a", "{path: apps/shop}"),
        "argo/deeper/unreached.yaml": application("b", "{path: apps/other}"),
    }
    assert deployed(workspace(tmp_path, files)) == {"in-cluster": ["HTTPRoute web/shop"]}


FIRST = "{list: {elements: [{k: '1', a: shop}, {k: '2', a: x}]}}"
GENERATORS = {
    "list": ("list: {elements: [{app: shop}, {app: other}]}", "apps/{{ app }}"),
    "list of a Go template": ("list: {elements: [{app: shop}, {app: other}]}", "apps/{{ .app }}"),
    "directories": ("git: {directories: [{path: apps/*}]}", "{{ path }}"),
    "directories but one": (
        "git: {directories: [{path: 'apps/*'}, {path: apps/none, exclude: true}]}",
        "{{ .path.path }}",
    ),
    "segments": ("git: {directories: [{path: apps/*}]}", "{{ path[0] }}/{{path[1]}}"),
    "files": ("git: {files: [{path: '**/config.json'}]}", "apps/{{ app.name }}"),
    "matrix": (
        "matrix: {generators: [{list: {elements: [{d: apps}]}}, {list: {elements: [{a: shop}, {a: other}]}}]}",
        "{{d}}/{{a}}",
    ),
    "merge": (
        f"merge: {{mergeKeys: [k], generators: [{FIRST}, {{list: {{elements: [{{k: '2', a: other}}]}}}}]}}",
        "apps/{{ a }}",
    ),
}


@pytest.mark.parametrize(("generator", "path"), GENERATORS.values(), ids=GENERATORS)
def test_generators(tmp_path: Path, generator: str, path: str) -> None:
    files = {
        **APP,
        "argo/set.yaml": application_set(generator, path),
        "settings/one/config.json": '{"app": {"name": "shop"}}',
        "settings/two/config.json": '{"app": {"name": "other"}}',
    }
    assert deployed(workspace(tmp_path, files)) == {"in-cluster": ["HTTPRoute web/shop", "Service web/other"]}


def test_what_a_generator_asks_the_cluster_for_stays_symbolic(tmp_path: Path) -> None:
    found = workspace(
        tmp_path, {**APP, "argo/set.yaml": application_set("clusters: {}", "apps/shop", "{server: '{{ server }}'}")}
    )
    assert deployed(found) == {"each-cluster": ["HTTPRoute default/shop"]}


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("{repoURL: 'https://charts.example.com', chart: something}", "chart"),
        ("{repoURL: 'https://git.example.com/else', path: gone}", "remote-base"),
        ("{path: ../../out}", "source-refused"),
    ],
)
def test_what_is_noted(tmp_path: Path, source: str, code: str) -> None:
    files = {**APP, "argo/app.yaml": application("a", source), "argo/b.yaml": application("b", "{path: apps/other}")}
    assert codes(workspace(tmp_path, files)) == [code]


def test_applications_of_other_repositories_decide_nothing_here(tmp_path: Path) -> None:
    """Rendered output may hold Applications, too."""
    files = {"all.yaml": f"{ROUTE}---\n{application('a', '{repoURL: x, path: else}')}"}
    assert [each.world.name for each in workspace(tmp_path, files).simulations] == ["default"]


def test_routes_of_an_app_template_application(tmp_path: Path) -> None:
    values = (
        "{controllers: {a: {}}, service: {app: {ports: {http: {port: 80}}}}, route: {app: {parentRefs: [{name: e}]}}}"
    )
    source = f"{{repoURL: x, chart: app-template, helm: {{valuesObject: {values}}}}}"
    found = workspace(tmp_path, {"argo/app.yaml": application("player", source)})
    assert deployed(found) == {"in-cluster": ["Deployment web/player", "HTTPRoute web/player", "Service web/player"]}


BASE = {"base/kustomization.yaml": KUSTOMIZATION + "resources: [route.yaml]\n", "base/route.yaml": ROUTE}
OVERLAY = KUSTOMIZATION + "resources: [../../base]\n"


def test_overlays_of_one_base_are_environments(tmp_path: Path) -> None:
    files = {**BASE, **{f"overlays/{name}/kustomization.yaml": OVERLAY for name in ("prod", "test")}}
    assert deployed(workspace(tmp_path, files)) == {name: ["HTTPRoute default/shop"] for name in ("prod", "test")}


def test_overlays_of_one_name_belong_together(tmp_path: Path) -> None:
    files = {}
    for app in ("a", "b"):
        files[f"{app}/base/kustomization.yaml"] = KUSTOMIZATION + "resources: [route.yaml]\n"
        files[f"{app}/base/route.yaml"] = ROUTE.replace("name: shop", f"name: {app}")
        for name in ("prod", "test"):
            files[f"{app}/overlays/{name}/kustomization.yaml"] = OVERLAY
    both = ["HTTPRoute default/a", "HTTPRoute default/b"]
    assert deployed(workspace(tmp_path, files)) == {"prod": both, "test": both}


def test_kustomizations_with_nothing_in_common_are_deployed_side_by_side(tmp_path: Path) -> None:
    files = {
        "a/kustomization.yaml": KUSTOMIZATION + "resources: [route.yaml]\n",
        "a/route.yaml": ROUTE,
        "b/kustomization.yaml": KUSTOMIZATION + "namespace: b\nresources: [service.yaml]\n",
        "b/service.yaml": SERVICE,
        "plain/service.yaml": SERVICE,
        "b/unused.yaml": ROUTE.replace("name: shop", "name: unused"),
    }
    found = workspace(tmp_path, files)
    assert deployed(found) == {"default": ["HTTPRoute default/shop", "Service b/shop", "Service default/shop"]}
    assert [str(key) for key in found.simulations[0].world.orphans] == ["HTTPRoute ?/unused"]


def root_of(site: str, name: str = "bootstrap", namespace: str = "argocd") -> str:
    source = f"{{path: components/{site}}}"
    return application(name, source).replace("namespace: argocd", f"namespace: {namespace}", 1)


@pytest.mark.parametrize("namespace", ["argocd", "openshift-gitops"])
def test_roots_of_one_name_are_of_two_clusters(tmp_path: Path, namespace: str) -> None:
    """One Argo CD has one Application of a name: what two of them deploy never meets."""
    files = {f"components/{site}/route.yaml": f"# {site}\n{ROUTE}" for site in ("cloud", "home")}
    roots = {
        "platform/cloud/root.yaml": root_of("cloud"),
        "platform/home/root.yaml": root_of("home", namespace=namespace),
    }
    both = workspace(tmp_path, {**files, **roots})
    assert sorted(each.world.name for each in both.simulations) == ["cloud", "home"]
    assert all(not each.world.duplicates for each in both.simulations)


@pytest.mark.parametrize(
    ("editions", "expected"),
    [
        (("1.34", "1.26", "1.31"), ["1.26", "1.31", "1.34"]),
        (("v2", "v1", "v10"), ["v1", "v10", "v2"]),
        (("2024", "2023", "2025"), ["2023", "2024", "2025"]),
        (("1.34", "1.26", "common"), ["1.26", "1.34"]),
        (("cloud", "home", "1.31"), ["cloud", "home"]),
    ],
)
def test_what_lies_beside_editions_and_is_called_so_is_another_one(
    tmp_path: Path, editions: tuple[str, str, str], expected: list[str]
) -> None:
    """BigKAA/youtube: a course in editions, some of which call their Applications alike."""
    files = {f"{each}/app/route.yaml": f"# {each}\n{ROUTE}" for each in editions}
    roots = {f"{each}/argo/root.yaml": application("web", f"{{path: {each}/app}}") for each in editions[:2]}
    roots[f"{editions[2]}/argo/root.yaml"] = application("other", f"{{path: {editions[2]}/app}}")
    found = workspace(tmp_path, {**files, **roots})
    assert sorted(each.world.name for each in found.simulations) == expected
    assert any(each.world.duplicates for each in found.simulations) is (len(expected) < len(editions))


def test_roots_of_other_names_are_of_one_cluster(tmp_path: Path) -> None:
    files = {f"components/{site}/route.yaml": f"# {site}\n{ROUTE}" for site in ("cloud", "home")}
    roots = {"platform/cloud/root.yaml": root_of("cloud"), "platform/home/root.yaml": root_of("home", "other")}
    (only,) = workspace(tmp_path, {**files, **roots}).simulations
    assert only.world.name == "in-cluster"
    assert len(only.world.duplicates) == 1


def test_what_stands_beside_the_roots_lands_in_both(tmp_path: Path) -> None:
    files = {f"components/{site}/route.yaml": ROUTE for site in ("cloud", "home", "shared")}
    files["components/shared/route.yaml"] = SERVICE
    roots = {f"platform/{site}/root.yaml": root_of(site) for site in ("cloud", "home")}
    both = workspace(tmp_path, {**files, **roots, "apps/shared.yaml": root_of("shared", "shared")})
    kinds = [sorted(key.kind for key in each.world.resources if key.kind != "Application") for each in both.simulations]
    assert kinds == [["HTTPRoute", "Service"], ["HTTPRoute", "Service"]]


def stage(
    name: str, *, at: str = "environments", namespace: str = "web", source: str = "{path: apps/shop}"
) -> dict[str, str]:
    destination = HERE.replace("namespace: web", f"namespace: {namespace}")
    return {f"{at}/{name}/root.yaml": application(f"shop-{name}", source, destination)}


@pytest.mark.parametrize(
    ("roots", "names"),
    [
        ({**stage("dev"), **stage("prod")}, ["dev", "prod"]),
        ({**stage("dev", at="argo"), **stage("prod", at="argo")}, ["dev", "prod"]),
        ({**stage("a", at="argo/clusters"), **stage("b", at="argo/clusters")}, ["a", "b"]),
        # nothing is made twice: one Argo CD may have both
        ({**stage("dev", namespace="dev"), **stage("prod", namespace="prod")}, ["in-cluster"]),
        # nothing says that these directories are environments
        ({**stage("a", at="argo"), **stage("b", at="argo")}, ["in-cluster"]),
        ({"environments/dev.yaml": application("a", "{path: apps/shop}"), **stage("prod")}, ["in-cluster"]),
    ],
)
def test_roots_of_environments_that_make_the_same_object_are_of_several_argo_cds(
    tmp_path: Path, roots: dict[str, str], names: list[str]
) -> None:
    """Each cluster has an Argo CD of its own then, which deploys to where it runs: one cannot give one object to two
    Applications (SharedResourceWarning)."""
    assert sorted(deployed(workspace(tmp_path, {**APP, **roots}))) == names


def top(name: str, path: str, destination: str = HERE) -> dict[str, str]:
    """The Application by which somebody begins, beside others in one directory."""
    return {f"argo/{name}.yaml": application(f"top-{name}", f"{{path: {path}}}", destination)}


def made_at(*places: str, app: str = "apps/shop") -> dict[str, str]:
    return {f"{each}/shop.yaml": application(f"of-{number}", f"{{path: {app}}}") for number, each in enumerate(places)}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {**top("a", "of/production"), **top("b", "of/local"), **made_at("of/production", "of/local")},
            ["local", "production"],
        ),
        ({**top("a", "envs/a"), **top("b", "envs/b"), **made_at("envs/a", "envs/b")}, ["a", "b"]),
        (
            {**top("a", "of/prod/apps"), **top("b", "of/lab/apps"), **made_at("of/prod/apps", "of/lab/apps")},
            ["lab", "prod"],
        ),
        ({**top("a", "of/one"), **top("b", "of/two"), **made_at("of/one", "of/two")}, ["in-cluster"]),
        (
            {**top("a", "of/aws"), **top("b", "of/azure"), **top("c", "of/local")}
            | made_at("of/aws", "of/azure", "of/local"),
            ["aws", "azure", "local"],
        ),
        ({**top("a", "of/aws"), **top("b", "of/two"), **made_at("of/aws", "of/two")}, ["in-cluster"]),
        ({**top("a", "aws/apps"), **top("b", "gcp/apps"), **made_at("aws/apps", "gcp/apps")}, ["aws", "gcp"]),
        (
            {
                **top("a", "of/prod"),
                **top("b", "of/common"),
                **made_at("of/prod"),
                **made_at("of/common", app="apps/other"),
            },
            ["in-cluster"],
        ),
        (
            {
                **top("a", "of/prod", "{name: east, namespace: x}"),
                **top("b", "of/local", "{name: west, namespace: x}"),
                **made_at("of/prod", "of/local"),
            },
            ["east", "in-cluster", "west"],
        ),
    ],
    ids=[
        "siblings",
        "in one of environments",
        "in the middle",
        "called otherwise",
        "called as what clusters run on",
        "one of them alone",
        "at the top",
        "nothing twice",
        "of other clusters",
    ],
)
def test_tops_beside_each_other_of_two_clusters(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    """cpp20120/CasinoShiz.Infrastructure: argocd/root-application.yaml and argocd/root-local.yaml."""
    assert sorted({**deployed(workspace(tmp_path, {**APP, **files}))}) == expected


def test_what_lies_beside_environments_is_in_each_of_them(tmp_path: Path) -> None:
    files = {**APP, **stage("dev"), **stage("prod"), "argo/common.yaml": application("c", "{path: apps/other}")}
    own = ["HTTPRoute web/shop", "Service web/other"]
    assert deployed(workspace(tmp_path, files)) == {"dev": own, "prod": own}


def test_what_only_lies_beside_environments_keeps_none_apart(tmp_path: Path) -> None:
    common = {"argo/common.yaml": application("c", "{path: apps/other}")}
    files = {**APP, **common, **stage("dev", namespace="dev"), **stage("prod", namespace="prod")}
    assert list(deployed(workspace(tmp_path, files))) == ["in-cluster"]


def test_a_file_that_cannot_be_read_is_no_problem_of_clusters_that_do_not_have_it(tmp_path: Path) -> None:
    broken = {f"apps/{name}/route.yaml": ROUTE for name in ("dev", "prod")} | {
        "apps/dev/broken.yaml": "kind: A\n b: c\n"
    }
    roots = {**stage("dev", source="{path: apps/dev}"), **stage("prod", source="{path: apps/prod}")}
    found = [each for each in workspace(tmp_path, {**broken, **roots}).findings() if each.rule == "GWP910"]
    assert [each.environments for each in found] == [("dev",)]
