"""PATH says what to report on, not what to read: what is lost there counts wherever its cause lies.

docs/design/decisions/0016-a-path-is-what-is-reported.md
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import policylint
from policylint.catalog.kinds import Catalog
from policylint.errors import UsageError
from policylint.model import World
from policylint.simulation import Simulation, simulate
from policylint.workspace.scope import TouchedScope

CLASS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""
GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
"""
JWT = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  jwt: {providers: [{name: idp, remoteJWKS: {uri: "https://id.example.com/keys"}}]}
"""
CORS = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: cors, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  cors: {allowOrigins: ["https://shop.example.com"]}
"""
INFRA = "---\n".join((CLASS, GATEWAY))


def route(name: str, namespace: str = "shop", backend: str = "") -> str:
    return f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  parentRefs: [{{name: edge, namespace: infra}}]
  hostnames: [{name}.example.com]
  rules: [{{backendRefs: [{{name: {backend or name}, port: 8080}}]}}]
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{ports: [{{port: 8080}}]}}
"""


def kustomization(*resources: str, more: str = "") -> str:
    listed = "".join(f"- {resource}\n" for resource in resources)
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{listed}{more}"


def flux(name: str, path: str) -> str:
    return f"""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec: {{path: {path}, prune: true, interval: 1h, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""


PLAIN = {
    "infra/gateway.yaml": INFRA,
    "infra/login.yaml": JWT,
    "apps/shop/cart.yaml": route("cart"),
    "apps/shop/cors.yaml": CORS,
    "apps/blog/posts.yaml": route("posts", "blog", backend="psots"),
}


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def git(root: Path, *arguments: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths: str) -> list[tuple[str, str]]:
    """Return rule and file of each finding at warning or above."""
    findings = policylint.lint(*paths).findings
    return [(finding.rule, finding.location.file) for finding in findings if finding.severity != "note"]


LOST = ("GWP201", "apps/shop/cors.yaml")
MISSPELT = ("GWP406", "apps/blog/posts.yaml")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".", [MISSPELT, LOST]),
        ("apps", [MISSPELT, LOST]),
        ("apps/shop", [LOST]),
        ("apps/shop/cart.yaml", [LOST]),  # the route that loses it
        ("infra/login.yaml", [LOST]),  # the policy that is lost
        ("apps/blog", [MISSPELT]),
        ("apps/blog/posts.yaml", [MISSPELT]),
    ],
)
def test_what_concerns_a_path_is_reported(repository: Path, path: str, expected: list[tuple[str, str]]) -> None:
    write(repository, PLAIN)
    assert found(path) == expected


def test_paths_are_a_union(repository: Path) -> None:
    write(repository, PLAIN)
    assert found("apps/shop/cart.yaml", "apps/blog") == [MISSPELT, LOST]


def test_a_path_that_is_not_there_is_an_error(repository: Path) -> None:
    write(repository, PLAIN)
    with pytest.raises(UsageError, match="no such file or directory"):
        found("apps", "appz")


def test_configured_paths_lose_no_finding(repository: Path) -> None:
    write(repository, {**PLAIN, ".policylint.yaml": "paths: [apps/shop]\n"})
    assert found() == [LOST]


def test_outside_of_a_repository_the_path_is_all_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, PLAIN)
    monkeypatch.chdir(tmp_path)
    assert found("apps/shop") == []


def test_a_suppression_elsewhere_is_not_unused(repository: Path) -> None:
    ignored = CORS.replace("name: cart}]", "name: cart}] # policylint: ignore[GWP201] the shop is public")
    write(repository, {**PLAIN, "apps/shop/cors.yaml": ignored})
    assert found("apps/blog") == [MISSPELT]
    assert found("apps/shop") == []


EXAMPLE = {"examples/basic/all.yaml": f"{INFRA}---\n{route('posts', 'infra', backend='psots')}"}


def test_an_example_is_deployed_by_itself(repository: Path) -> None:
    write(repository, {**PLAIN, **EXAMPLE})
    assert found("examples/basic") == [("GWP406", "examples/basic/all.yaml")]
    assert found("examples/basic", "apps/shop") == [LOST, ("GWP406", "examples/basic/all.yaml")]


def test_an_example_that_something_deploys_is_part_of_it(repository: Path) -> None:
    files = {"clusters/prod/all.yaml": flux("infra", "./infra") + "---\n" + flux("shop", "./examples/shop")}
    files |= {"infra/gateway.yaml": INFRA, "infra/login.yaml": JWT}
    write(repository, {**files, "examples/shop/cart.yaml": route("cart"), "examples/shop/cors.yaml": CORS})
    assert found("examples/shop") == [("GWP201", "examples/shop/cors.yaml")]


def test_what_nothing_deploys_is_deployed_by_itself(repository: Path) -> None:
    files = {"clusters/prod/all.yaml": flux("infra", "./infra"), "infra/gateway.yaml": INFRA}
    files["apps/old/all.yaml"] = f"{INFRA}---\n{route('posts', 'infra', backend='psots')}"
    write(repository, files)
    assert found() == []
    assert found("apps/old") == [("GWP406", "apps/old/all.yaml")]


OVERLAYS = {
    "infra/kustomization.yaml": kustomization("gateway.yaml"),
    "infra/gateway.yaml": INFRA,
    "base/cart.yaml": route("cart", backend="crat"),
    "base/kustomization.yaml": kustomization("cart.yaml"),
    "overlays/prod/kustomization.yaml": kustomization("../../base", more="namespace: shop\n"),
    "overlays/dev/kustomization.yaml": kustomization("../../base", "notes.yaml", more="namespace: shop\n"),
    "overlays/dev/notes.yaml": route("notes", backend="nodes"),
}


def test_an_overlay_reports_on_all_that_it_deploys_and_no_more(repository: Path) -> None:
    write(repository, OVERLAYS)
    result = policylint.lint("overlays/prod")
    assert [simulation.world.name for simulation in result.workspace.simulations] == ["prod"]
    assert [(finding.rule, finding.location.file) for finding in result.known] == [("GWP406", "base/cart.yaml")]
    assert found("overlays/dev/notes.yaml") == [("GWP406", "overlays/dev/notes.yaml")]


def test_a_cluster_reports_on_what_it_deploys(repository: Path) -> None:
    files = {f"clusters/{name}/all.yaml": flux("apps", f"./apps/{name}") for name in ("prod", "test")}
    files |= {f"apps/{name}/all.yaml": f"{INFRA}---\n{route(name, 'infra', backend='x')}" for name in ("prod", "test")}
    write(repository, files)
    assert found("clusters/test") == [("GWP406", "apps/test/all.yaml")]
    assert found("apps/prod") == [("GWP406", "apps/prod/all.yaml")]
    assert found("clusters/prod/all.yaml") == [("GWP406", "apps/prod/all.yaml")]


def test_the_base_of_a_named_overlay_is_not_deployed_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No repository around it, and a base without a kustomization of its own.
    write(tmp_path, {"base/cart.yaml": route("cart").replace(", namespace: shop}", "}")})
    write(tmp_path, {"prod/kustomization.yaml": kustomization("../base/cart.yaml", more="namespace: shop\n")})
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    for path in ("prod", "."):
        worlds = [simulation.world for simulation in policylint.open(path).simulations]
        assert [str(key) for world in worlds for key in sorted(world.resources)] == [
            "Service shop/cart",
            "HTTPRoute shop/cart",
        ]


def changed(repository: Path, before: dict[str, str], after: dict[str, str], *paths: str) -> policylint.DiffResult:
    git(repository, "rm", "-rq", "--ignore-unmatch", ".")
    write(repository, before)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "before", "--allow-empty")
    git(repository, "rm", "-rq", ".")
    write(repository, after)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "after", "--allow-empty")
    return policylint.diff("HEAD~1..HEAD", *paths)


LOGIN = {key: text for key, text in PLAIN.items() if key != "apps/shop/cors.yaml"}
NO_LOGIN = {key: text for key, text in LOGIN.items() if key != "infra/login.yaml"}


@pytest.mark.parametrize("path", ["apps", "apps/shop", "infra", "infra/login.yaml"])
def test_a_login_that_is_deleted_elsewhere_is_lost_here(repository: Path, path: str) -> None:
    result = changed(repository, LOGIN, NO_LOGIN, path)
    assert "HTTPRoute shop/cart" in [str(subject.key) for subject in result.comparison.routes]
    assert [(finding.rule, finding.severity) for finding in result.new] == [("GWP302", "error")]
    assert result.changes_policy


def test_a_change_that_has_nothing_to_do_with_a_path_is_left_out(repository: Path) -> None:
    after = {**LOGIN, "apps/blog/more.yaml": route("more", "blog", backend="moer")}
    result = changed(repository, LOGIN, after, "apps/shop")
    assert result.comparison.routes == []
    assert result.new == []
    assert [str(subject.key) for subject in changed(repository, LOGIN, after, "apps/blog").comparison.routes] == [
        "HTTPRoute blog/more"
    ]


def test_a_directory_that_is_new_is_compared(repository: Path) -> None:
    result = changed(repository, LOGIN, {**LOGIN, "apps/new/new.yaml": route("new", backend="nwe")}, "apps/new")
    assert [str(subject.key) for subject in result.comparison.routes] == ["HTTPRoute shop/new"]
    assert [finding.rule for finding in result.new] == ["GWP406"]


def test_a_revision_is_read_whole(repository: Path) -> None:
    write(repository, PLAIN)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    (repository / "infra/login.yaml").unlink()
    assert [finding.rule for finding in policylint.open("apps/shop", revision="HEAD").lint().known] == ["GWP201"]
    assert policylint.open("apps/shop").lint().known == []


def test_what_is_isolated_is_read_by_itself(repository: Path) -> None:
    write(repository, PLAIN)
    assert policylint.open("apps/shop", isolated=True).lint().known == []


def test_a_diff_takes_paths_that_nothing_deploys_by_themselves(repository: Path) -> None:
    after = {**NO_LOGIN, "examples/basic/all.yaml": f"{INFRA}---\n{route('posts', 'infra', backend='psots')}"}
    cluster = {"clusters/prod/all.yaml": "---\n".join(flux(name, f"./{name}") for name in ("infra", "apps"))}
    result = changed(repository, {**cluster, **LOGIN}, {**cluster, **after}, "apps/shop", "examples")
    assert sorted(finding.rule for finding in result.new) == ["GWP302", "GWP406"]


def test_what_a_sparse_checkout_leaves_out_is_said(repository: Path) -> None:
    write(repository, PLAIN)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    git(repository, "sparse-checkout", "set", "apps")
    assert ("GWP910", ".") in found("apps/shop")


def test_files_are_named_as_seen_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, PLAIN)
    monkeypatch.chdir(repository / "apps")
    assert found("shop") == [("GWP201", "shop/cors.yaml")]
    assert found() == [("GWP406", "blog/posts.yaml"), ("GWP201", "shop/cors.yaml")]


NAMES = ("one", "two", "three")
FLEET = {f"clusters/{name}/all.yaml": flux("apps", f"./apps/{name}") for name in NAMES}
FLEET |= {f"apps/{name}/gateway.yaml": INFRA for name in NAMES} | {f"apps/{name}/login.yaml": JWT for name in NAMES}
FLEET |= {f"apps/{name}/routes.yaml": route(name, "infra") for name in NAMES}


def without(*files: str) -> dict[str, str]:
    return {path: text for path, text in FLEET.items() if path not in files}


@pytest.mark.parametrize(
    ("after", "path", "simulated"),
    [
        pytest.param(without("apps/one/login.yaml"), "apps/one", {"one"}, id="a login is deleted"),
        pytest.param(without("apps/one/login.yaml"), "apps/two", {"one", "two"}, id="elsewhere"),
        pytest.param(FLEET, "apps/two", {"two"}, id="nothing changes"),
        pytest.param(
            {**without("apps/one/routes.yaml"), "apps/two/one.yaml": route("one", "infra")},
            "apps/one",
            {"one", "two"},
            id="a route goes to another cluster",
        ),
        pytest.param(
            {**FLEET, "clusters/two/all.yaml": FLEET["clusters/two/all.yaml"].replace("apps/two", "apps/one")},
            "apps/one",
            {"one", "two"},
            id="another cluster takes the path in",
        ),
        pytest.param(
            {path.replace("clusters/one/", "clusters/four/"): text for path, text in FLEET.items()},
            "apps/one",
            {"one", "two", "three", "four"},
            id="a cluster has another name",
        ),
    ],
)
def test_of_a_fleet_what_a_path_or_the_change_touches_is_simulated(
    repository: Path, monkeypatch: pytest.MonkeyPatch, after: dict[str, str], path: str, simulated: set[str]
) -> None:
    names: set[str] = set()

    def counted(world: World, catalog: Catalog) -> Simulation:
        names.add(world.name)
        return simulate(world, catalog)

    monkeypatch.setattr("policylint.workspace.worlds.simulate", counted)
    result = changed(repository, FLEET, after, path)
    assert names == simulated
    monkeypatch.setattr(TouchedScope, "has_part", lambda *_: True)
    whole = policylint.diff("HEAD~1..HEAD", path)
    assert names == {*NAMES, *simulated}
    assert _told(result) == _told(whole)
    assert result.changes_policy == whole.changes_policy


def _told(result: policylint.DiffResult) -> list[object]:
    found = (
        (change.state, each.rule, each.severity, each.message, each.label, *each.location.sort_key(), each.environments)
        for change in result.comparison.findings
        for each in (change.finding,)
    )
    changed = ((subject.environment, str(subject.key), subject.change) for subject in result.comparison.routes)
    return [*found, *changed]
