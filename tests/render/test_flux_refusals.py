"""What Flux applies, and what it refuses whole: found by its controllers' libraries on generated trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.trees import codes, workspace

SYNC = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "https://example.com/fleet"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}
"""
OWNER = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./apps
  sourceRef: {kind: GitRepository, name: flux-system}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {zone: "${ZONE}"}}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1"}]}
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {hostnames: ["HOST"], parentRefs: [{name: edge}]}
"""


def tree(more: str = "", **files: str) -> dict[str, str]:
    own = {"apps/route.yaml": ROUTE, "apps/deployment.yaml": DEPLOYMENT}
    own |= {f"apps/{name}.yaml": text for name, text in files.items()}
    return {"clusters/prod/sync.yaml": SYNC, "clusters/prod/apps.yaml": OWNER + more, **own}


def test_images_and_common_metadata_are_those_of_flux(tmp_path: Path) -> None:
    more = "  images: [{name: nginx, newTag: '2'}]\n  postBuild: {substitute: {ZONE: a}}\n"
    more += "  commonMetadata: {labels: {team: '${ZONE}'}, annotations: {owner: me}}\n"
    kustomization = (
        "resources: [deployment.yaml]\nimages: [{name: nginx, newName: mirror/nginx, digest: 'sha256:ab'}]\n"
    )
    found = workspace(tmp_path, tree(more, kustomization=kustomization)).simulations[0].world.resources
    deployment = next(each.body for key, each in found.items() if key.kind == "Deployment")
    template = deployment["spec"]["template"]
    assert template["spec"]["containers"][0]["image"] == "mirror/nginx:2"
    assert template["metadata"] == {"labels": {"app": "web"}}
    assert deployment["metadata"]["labels"] == {"zone": "a", "team": "${ZONE}"}


@pytest.mark.parametrize("host", ["${HOST", "${}", "${HOST-a.example.com}", "${ HOST }"])
def test_an_expression_that_flux_refuses_stops_its_kustomization(tmp_path: Path, host: str) -> None:
    files = tree("  postBuild: {substitute: {ZONE: a}}\n", route=ROUTE.replace("HOST", host))
    found = workspace(tmp_path, files)
    assert "substitution-refused" in codes(found)
    assert all(each.provisional for key, each in found.simulations[0].world.resources.items() if key.name == "web")


def test_without_variables_nothing_is_filled_in_or_refused(tmp_path: Path) -> None:
    assert codes(workspace(tmp_path, tree(route=ROUTE.replace("HOST", "${HOST")))) == ["unresolved-variable"]


def test_a_file_that_is_named_and_not_fetched_stops_the_build(tmp_path: Path) -> None:
    files = tree(kustomization="resources: [route.yaml, deployment.yaml]\n") | {
        ".sourceignore": "apps/deployment.yaml\n"
    }
    found = workspace(tmp_path, files)
    assert [note.rule for note in found.simulations[0].world.notes if note.code == "missing-file"] == ["GWP914"]


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("entry", "file"),
    [
        ("configMapGenerator: [{name: icons, files: [logo.png]}]", "logo.png"),
        ("patches: [{path: logo.zip}]", "logo.zip"),
    ],
)
def test_what_is_there_and_not_fetched_is_said_to_be(tmp_path: Path, entry: str, file: str, is_there: bool) -> None:
    """Whoever reads that a file does not exist looks, and finds it."""
    files = tree(kustomization=f"resources: [route.yaml]\n{entry}\n") | ({f"apps/{file}": "x"} if is_there else {})
    (note,) = (each for each in workspace(tmp_path, files).simulations[0].world.notes if each.code == "missing-file")
    assert ("left out of what Flux fetches" in note.message) is is_there
    assert ("does not exist" in note.message) is not is_there


def test_a_file_of_patterns_beside_pictures_takes_them_in_again(tmp_path: Path) -> None:
    """Each directory may have one, whether or not there is YAML in it."""
    entry = "configMapGenerator: [{name: icons, files: [assets/logo.png]}]"
    files = tree(kustomization=f"resources: [route.yaml]\n{entry}\n") | {"apps/assets/logo.png": "x"}

    def lacks(more: dict[str, str]) -> bool:
        notes = workspace(tmp_path / str(len(more)), {**files, **more}).simulations[0].world.notes
        return any(note.code == "missing-file" for note in notes)

    assert lacks({})
    assert not lacks({"apps/assets/.sourceignore": "!logo.png\n"})


COMMENTS = "# resources:\n#   - route.yaml\n---\n# later\n"


@pytest.mark.parametrize(
    ("kustomization", "more", "said"),
    [
        (COMMENTS, "", ["kustomization-refused"]),
        ("", "", ["kustomization-refused"]),
        (COMMENTS, "  targetNamespace: shop\n", []),  # Flux writes it down, so that something stands there
        (COMMENTS.replace("# res", "res").replace("#   -", "  -"), "", []),
    ],
)
def test_a_kustomization_of_nothing_but_comments_is_one_that_is_refused(
    tmp_path: Path, kustomization: str, more: str, said: list[str]
) -> None:
    """Nothing is generated in its place, of which every file of the directory would be a part."""
    found = workspace(tmp_path, tree(more, kustomization=kustomization, route=ROUTE.replace("HOST", "a.example.com")))
    assert codes(found) == said
    routes = [key for key in found.simulations[0].world.resources if key.kind == "HTTPRoute"]
    assert len(routes) == ("resources" in kustomization and not kustomization.startswith("#"))


FETCHED = """
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: %s, namespace: flux-system}
spec: {target: {template: {data: {prom-password: a, ZONE: b}}}}
"""


@pytest.mark.parametrize(
    ("name", "is_refused"), [("settings", True), ("${APP}", False), ("${APP}-settings", False), ("other", False)]
)
def test_keys_are_those_of_the_secret_that_is_named(tmp_path: Path, name: str, is_refused: bool) -> None:
    more = "  postBuild: {substituteFrom: [{kind: Secret, name: settings}]}\n"
    files = {**tree(more), "more/fetched.yaml": FETCHED % name}
    found = [each.message for each in workspace(tmp_path, files).findings() if each.rule == "GWP914"]
    assert bool(found) == is_refused
    assert not found or "'prom-password'" in found[0]


@pytest.mark.parametrize("commented", [True, False])
def test_what_a_script_applies_file_by_file_is_no_build_that_fails(tmp_path: Path, commented: bool) -> None:
    """Two clusters side by side, of which a script applies one; nothing of Flux names their directory."""
    files = {"runtime/one.yaml": OWNER, "runtime/two.yaml": OWNER, "apps/route.yaml": ROUTE}
    files["up.sh"] = "kubectl apply -f runtime/one.yaml\n"
    if commented:
        files["runtime/kustomization.yaml"] = "# resources: [one.yaml]\n"
    assert "GWP914" not in codes(workspace(tmp_path, files)) and not [
        each for each in workspace(tmp_path, files).findings() if each.rule == "GWP914"
    ]


def test_a_kustomization_that_flux_names_is_refused_where_it_is_empty(tmp_path: Path) -> None:
    files = {**tree(), "apps/kustomization.yaml": "# resources: [route.yaml]\n"}
    assert [each.rule for each in workspace(tmp_path, files).findings() if each.rule == "GWP914"] == ["GWP914"]


POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: jwt, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  cors: {allowOrigins: ["https://a.example"]}
"""


@pytest.mark.parametrize(
    ("listed", "stray"),
    [
        ("apps/shop.yaml", "apps/policies.yaml"),
        ("apps/shop.yaml", "apps/more/policies.yaml"),
        ("apps/shop.yaml", "policies.yaml"),
        ("shop.yaml", "policies.yaml"),
        ("./apps/shop.yaml", "apps/policies.yaml"),
        ("../shared/shop.yaml", "../shared/policies.yaml"),
    ],
)
@pytest.mark.parametrize("is_listed", [True, False])
def test_what_the_kustomization_of_a_cluster_leaves_out_is_not_deployed(
    tmp_path: Path, listed: str, stray: str, is_listed: bool
) -> None:
    """Nothing syncs `clusters/main` by name: what its kustomization takes in shows that it is a cluster."""
    root = tmp_path / "clusters" / "main"
    files = {
        "clusters/main/kustomization.yaml": f"resources: [{listed}{f', {stray}' if is_listed else ''}]\n",
        str((root / listed).resolve().relative_to(tmp_path.resolve())): OWNER,
        str((root / stray).resolve().relative_to(tmp_path.resolve())): OWNER.replace("apps", "policies"),
        "apps/route.yaml": ROUTE,
        "policies/jwt.yaml": POLICY,
    }
    found = [each.world.resources for each in workspace(tmp_path, files).simulations]
    assert any(key.kind == "HTTPRoute" for world in found for key in world)
    assert any(key.kind == "SecurityPolicy" for world in found for key in world) == is_listed


def test_a_generator_merges_into_a_map_that_nothing_reads(tmp_path: Path) -> None:
    """ConfigMaps of which no question asks stay unparsed: that one of a base is not among the objects says nothing."""
    files = {**tree(), "base/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: env}\ndata: {ENV: ''}\n"}
    files["base/kustomization.yaml"] = "resources: [map.yaml]\n"
    files["apps/kustomization.yaml"] = (
        "resources: [../base]\nconfigMapGenerator: [{name: env, behavior: merge, literals: [ENV=dev]}]\n"
    )
    assert not [each for each in workspace(tmp_path, files).findings() if each.rule == "GWP914"]
