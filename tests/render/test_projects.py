"""What an AppProject does not permit is not applied: of such an Application Argo CD applies nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.compare.repositories import diff
from tests.render.test_argo import application
from tests.render.trees import ROUTE, SERVICE, workspace

PERMITS = {
    "sourceRepos": "['https://git.example.com/platform.git']",
    "destinations": "[{server: 'https://kubernetes.default.svc', namespace: web}]",
}
SHOP = application("shop", "{repoURL: 'https://git.example.com/platform.git', path: apps/shop}")
FILES = {
    "argo/shop.yaml": f"{SHOP}  project: team\n",
    "apps/shop/route.yaml": ROUTE,
    "apps/shop/service.yaml": SERVICE,
}


def project(**fields: str) -> dict[str, str]:
    spec = "".join(f"  {name}: {value}\n" for name, value in {**PERMITS, **fields}.items())
    head = "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team, namespace: argocd}\nspec:\n"
    return {"argo/project.yaml": head + spec}


def refused(place: Path, files: dict[str, str]) -> list[str]:
    """Return why Argo CD applies nothing of the Application, in words."""
    found = (each.message for each in workspace(place, files).findings() if each.rule == "GWP914")
    return [message.partition("project team does not permit ")[2] for message in found]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"sourceRepos": "['*']"},
        {"sourceRepos": "['https://git.example.com/*']"},
        {"sourceRepos": "['https://GIT.example.com/platform']"},
        {"sourceRepos": "['!https://git.example.com/other.git']"},
        {"destinations": "[{server: '*', namespace: '*'}]"},
        {"destinations": "[{name: in-cluster, namespace: 'w*'}]"},
        {"destinations": "[{server: '*', namespace: '!kube-system'}]"},
        {"namespaceResourceWhitelist": "[{group: '*', kind: '*'}]"},
        {"namespaceResourceWhitelist": "[{group: '*.k8s.io', kind: '*Route'}, {group: '', kind: Service}]"},
        {"namespaceResourceBlacklist": "[{group: '', kind: ResourceQuota}]"},
        {"clusterResourceWhitelist": "[]"},
    ],
)
def test_what_a_project_permits_is_applied(tmp_path: Path, fields: dict[str, str]) -> None:
    assert refused(tmp_path, {**FILES, **project(**fields)}) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"sourceRepos": "[]"}, "the repository https://git.example.com/platform.git"),
        ({"sourceRepos": "['https://*']"}, "the repository https://git.example.com/platform.git"),
        (
            {"sourceRepos": "['git@git.example.com:platform.git']"},
            "the repository https://git.example.com/platform.git",
        ),
        (
            {"sourceRepos": "['*', '!https://git.example.com/platform']"},
            "the repository https://git.example.com/platform.git",
        ),
        ({"destinations": "[]"}, "the destination web"),
        ({"destinations": "[{server: 'https://kubernetes.default.svc', namespace: shop}]"}, "the destination web"),
        ({"destinations": "[{server: 'https://edge.example.com', namespace: web}]"}, "the destination web"),
        ({"destinations": "[{server: '*', namespace: '*'}, {server: '*', namespace: '!w*'}]"}, "the destination web"),
        ({"namespaceResourceWhitelist": "[{group: '', kind: Service}]"}, "HTTPRoute web/shop"),
        ({"namespaceResourceWhitelist": "[]"}, "HTTPRoute web/shop"),
        ({"namespaceResourceBlacklist": "[{group: '', kind: 'Serv*'}]"}, "Service web/shop"),
    ],
)
def test_what_it_does_not_permit_keeps_all_of_it_away(tmp_path: Path, fields: dict[str, str], said: str) -> None:
    assert refused(tmp_path, {**FILES, **project(**fields)}) == [said]
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    assert {str(key) for key in simulation.world.resources if simulation.world.resources[key].provisional} == {
        "HTTPRoute web/shop",
        "Service web/shop",
    }


def test_an_object_that_names_another_namespace(tmp_path: Path) -> None:
    elsewhere = SERVICE.replace("name: shop", "name: shop\n  namespace: other")
    files = {**FILES, "apps/shop/service.yaml": elsewhere, **project()}
    assert refused(tmp_path, files) == ["the namespace of Service other/shop"]


CLASS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, ["GatewayClass envoy"]),
        ({"clusterResourceWhitelist": "[{group: '*', kind: '*'}]"}, []),
        ({"clusterResourceWhitelist": "[{group: gateway.networking.k8s.io, kind: GatewayClass, name: env*}]"}, []),
        ({"clusterResourceWhitelist": "[{group: '', kind: Namespace}]"}, ["GatewayClass envoy"]),
        (
            {
                "clusterResourceWhitelist": "[{group: '*', kind: '*'}]",
                "clusterResourceBlacklist": "[{group: '*', kind: GatewayClass}]",
            },
            ["GatewayClass envoy"],
        ),
    ],
)
def test_kinds_of_clusters_have_to_be_listed(tmp_path: Path, fields: dict[str, str], said: list[str]) -> None:
    assert refused(tmp_path, {**FILES, "apps/shop/class.yaml": CLASS, **project(**fields)}) == said


CLOSED = project(destinations="[]")


@pytest.mark.parametrize(
    "files",
    [
        {"projects/project.yaml": CLOSED["argo/project.yaml"]},  # nothing says that it is applied
        {**CLOSED, "old/project.yaml": project()["argo/project.yaml"]},
        {
            **CLOSED,
            "argo/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {globalProjects: a}\n",
        },
        {**CLOSED, "argo/shop.yaml": f"{SHOP}  project: another\n"},
        {**CLOSED, "argo/shop.yaml": f"{SHOP}  project: team\n".replace("namespace: web", "namespace: '${WEB}'")},
        {
            **project(destinations="[{name: edge, namespace: web}]"),
            "argo/shop.yaml": f"{SHOP}  project: team\n".replace(
                "https://kubernetes.default.svc", "https://edge.example.com"
            ),
        },
    ],
    ids=["not applied", "two of them", "global ones", "another", "a variable", "a cluster by its other name"],
)
def test_where_it_is_not_known_what_a_project_permits(tmp_path: Path, files: dict[str, str]) -> None:
    assert refused(tmp_path, {**FILES, **files}) == []


@pytest.mark.parametrize(
    "applying",
    [
        {"root.yaml": application("root", "{repoURL: 'https://git.example.com/platform.git', path: projects}")},
        {"setup.sh": "kubectl apply -f projects/\n"},
    ],
    ids=["an Application", "a script"],
)
def test_who_applies_a_project(tmp_path: Path, applying: dict[str, str]) -> None:
    files = {**FILES, "projects/project.yaml": CLOSED["argo/project.yaml"], **applying}
    assert refused(tmp_path, files) == ["the destination web"]


def test_a_change_of_a_project_is_told(tmp_path: Path) -> None:
    said = diff(tmp_path, {**FILES, **project()}, CLOSED)
    assert "GWP914" in said
    assert "project team does not permit the destination web" in " ".join(said.split())


SNAPSHOT_CLASS = "apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshotClass\nmetadata: {name: daily}\n"
LOGIN = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: web}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}], basicAuth: {users: {name: users}}}
"""


def test_a_kind_of_others_is_judged_where_it_names_its_namespace(tmp_path: Path) -> None:
    """Whether an object without one has none, or is given that of the destination, a CRD says that is not here."""
    fields = {
        "namespaceResourceWhitelist": "[{group: gateway.networking.k8s.io, kind: HTTPRoute}, {group: '', kind: '*'}]"
    }
    other = {"apps/shop/class.yaml": SNAPSHOT_CLASS, "apps/shop/login.yaml": LOGIN.replace(", namespace: web", "")}
    assert refused(tmp_path, {**FILES, **project(**fields), **other}) == []
    (tmp_path / "apps/shop/login.yaml").write_text(LOGIN, encoding="utf-8")
    assert refused(tmp_path, {}) == ["SecurityPolicy web/login"]


@pytest.mark.parametrize(
    ("stated", "is_refused"),
    [("[]", True), ("[team-b]", True), ("['team-*']", False), ("['/team-[a-c]/']", False), ("['*']", False)],
)
def test_applications_of_other_namespaces(tmp_path: Path, stated: str, is_refused: bool) -> None:
    """argoproj/argo-cd app_project_types.go, IsAppNamespacePermitted: globs, and regular expressions in slashes."""
    files = {**FILES, "argo/shop.yaml": FILES["argo/shop.yaml"].replace("namespace: argocd", "namespace: team-a", 1)}
    said = ["Applications of namespace team-a (`sourceNamespaces`)"] if is_refused else []
    assert refused(tmp_path, {**files, **project(sourceNamespaces=stated)}) == said


def secret(kind: str, entries: str, *, make: str = "Secret") -> dict[str, str]:
    """A repository or cluster as Argo CD keeps it: the entries of a Secret, or what another controller makes it of."""
    labels = f"labels: {{argocd.argoproj.io/secret-type: {kind}}}"
    template = f"template: {{metadata: {{{labels}}}, {entries}}}"
    held = {
        "Secret": f"metadata: {{name: entry, {labels}}}\n{entries}",
        "SealedSecret": f"metadata: {{name: entry}}\nspec:\n  template: {{metadata: {{{labels}}}}}\n  {entries}",
        "ExternalSecret": f"metadata: {{name: entry}}\nspec:\n  target: {{{template}}}",
    }
    return {"argo/entry.yaml": f"apiVersion: v1\nkind: {make}\n{held[make]}\n"}


@pytest.mark.parametrize(
    ("fields", "entry"),
    [
        ("sourceRepos", secret("repository", "stringData: {project: team, url: 'https://git.example.com/platform'}")),
        (
            "sourceRepos",
            secret("repository", "data: {project: dGVhbQ==, url: aHR0cHM6Ly9naXQuZXhhbXBsZS5jb20vcGxhdGZvcm0uZ2l0}"),
        ),
        ("sourceRepos", secret("repository", "encryptedData: {project: AgBx, url: AgBy}", make="SealedSecret")),
        (
            "sourceRepos",
            secret("repository", "data: {project: team, url: '{{ .url }}'}", make="ExternalSecret"),
        ),
        ("destinations", secret("cluster", "stringData: {project: team, server: 'https://kubernetes.default.svc'}")),
        (
            "destinations",
            secret(
                "cluster",
                "stringData: {project: team, server: 'https://kubernetes.default.svc', namespaces: 'api, web'}",
            ),
        ),
    ],
)
def test_what_a_secret_gives_to_a_project_is_permitted(tmp_path: Path, fields: str, entry: dict[str, str]) -> None:
    """argoproj/argo-cd util/argo/argo.go, GetAppProjectByName: repositories and clusters of Secrets with `project`."""
    assert refused(tmp_path / "before", {**FILES, **project(**{fields: "[]"})}) != []
    assert refused(tmp_path / "after", {**FILES, **project(**{fields: "[]"}), **entry}) == []


@pytest.mark.parametrize(
    ("fields", "entry"),
    [
        ("sourceRepos", secret("repository", "stringData: {project: other, url: 'https://git.example.com/platform'}")),
        ("sourceRepos", secret("repository", "stringData: {url: 'https://git.example.com/platform'}")),
        ("sourceRepos", secret("repo-creds", "stringData: {project: team, url: 'https://git.example.com/platform'}")),
        ("sourceRepos", secret("repository", "stringData: {project: team, url: 'https://git.example.com/another'}")),
        ("sourceRepos", secret("repository", "encryptedData: {url: AgBy}", make="SealedSecret")),
        (
            "destinations",
            secret("cluster", "stringData: {project: team, server: 'https://kubernetes.default.svc', namespaces: api}"),
        ),
    ],
)
def test_what_a_secret_does_not_give_to_a_project_stays_refused(
    tmp_path: Path, fields: str, entry: dict[str, str]
) -> None:
    assert refused(tmp_path, {**FILES, **project(**{fields: "[]"}), **entry}) != []


REGISTERED = {
    **{path: text for path, text in FILES.items() if path != "argo/shop.yaml"},
    "argo/base/kustomization.yaml": "resources: [project.yaml, shop.yaml]\n",
    "argo/base/shop.yaml": FILES["argo/shop.yaml"],
    "argo/base/project.yaml": project(sourceRepos="['https://set-by-the-cluster.invalid']")["argo/project.yaml"],
}


def registered(name: str, repository: str) -> dict[str, str]:
    """A cluster that says from where its project may take what."""
    text = (
        "resources: [../../base]\npatches:\n- target: {kind: AppProject}\n"
        f"  patch: '[{{op: replace, path: /spec/sourceRepos/0, value: \"{repository}\"}}]'\n"
    )
    root = application(name, f"{{repoURL: 'https://git.example.com/platform.git', path: argo/clusters/{name}}}")
    return {f"argo/clusters/{name}/kustomization.yaml": text, f"argo/roots/{name}.yaml": root}


@pytest.mark.parametrize(
    ("repository", "said"),
    [
        ("https://git.example.com/platform", []),
        ("*", []),
        ("https://git.example.com/other", ["the repository https://git.example.com/platform.git"]),
    ],
)
def test_a_project_is_as_its_kustomization_makes_it(tmp_path: Path, repository: str, said: list[str]) -> None:
    assert refused(tmp_path, {**REGISTERED, **registered("east", repository)}) == said


def test_of_a_project_that_kustomizations_make_differently_nothing_is_known(tmp_path: Path) -> None:
    other = registered("west", "https://git.example.com/other")
    assert refused(tmp_path, {**REGISTERED, **registered("east", "https://git.example.com/platform"), **other}) == []


VALUES = application("shop", "{chart: shop}").replace(
    "source: {chart: shop}",
    "sources:\n  - {repoURL: 'https://charts.example.com', chart: shop, targetRevision: 1.0.0}\n"
    "  - {repoURL: 'https://git.example.com/platform.git', path: charts/shop, ref: values}",
)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("replicas: 2\nshop: {color: red}\n", []),
        ("kind: Shop\nreplicas: 2\n", ["Shop web/"]),
        (SERVICE.replace("name: shop", "name: shop\n  namespace: other"), ["the namespace of Service other/shop"]),
    ],
)
def test_a_file_of_values_in_a_directory_is_no_object(tmp_path: Path, written: str, said: list[str]) -> None:
    """argoproj/argo-cd reposerver/repository/repository.go, getObjsFromYAMLOrJson: what does not look like a manifest
    is none."""
    permits = project(sourceRepos="['*']", namespaceResourceWhitelist="[{group: '', kind: Service}]")
    files = {"argo/shop.yaml": f"{VALUES}  project: team\n", "charts/shop/values.yaml": written, **permits}
    assert refused(tmp_path, files) == said
