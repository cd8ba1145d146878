"""What a change takes away is missing afterwards, although charts that nobody rendered may make anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diff.history import commit, run
from tests.worlds import gateway, policy, route, service

GATEWAY = gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="envoy")
ROUTE = route(parents="[{name: edge}]", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
SERVICE = service(ports="[{port: 80}]")
LOGIN = "basicAuth: {users: {name: users}}"
POLICY = policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "jwt", "HTTPRoute/checkout", LOGIN, "shop")
RELEASE = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: edge, namespace: shop}
spec: {chart: {spec: {chart: gateways, sourceRef: {kind: HelmRepository, name: us}}}}
"""
BEFORE: dict[str, str | None] = {
    "shop/gateway.yaml": GATEWAY,
    "shop/route.yaml": ROUTE,
    "shop/service.yaml": SERVICE,
    "shop/policy.yaml": POLICY,
    "release.yaml": RELEASE,
    "charts/c/Chart.yaml": "name: c\nversion: 1.0.0\n",
    "charts/c/templates/x.yaml": "{{ if .Values.x }}{{ end }}\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    commit(tmp_path, BEFORE)
    return tmp_path


def new(directory: Path, *arguments: str) -> list[str]:
    """The new findings, without their places."""
    _, said, _ = run(directory, "diff", "-o", "concise", *(arguments or ("HEAD~1..HEAD",)))
    return [line.split(": ", 1)[1] for line in said.splitlines() if "[GWP" in line]


@pytest.mark.parametrize(
    ("file", "finding"),
    [
        ("gateway", "error[GWP401] HTTPRoute shop/checkout names parent Gateway shop/edge, which this change removes"),
        ("service", "error[GWP406] HTTPRoute shop/checkout sends requests to Service shop/checkout, which this change"),
        ("route", "error[GWP101] SecurityPolicy shop/jwt points at HTTPRoute shop/checkout, which this change removes"),
    ],
)
def test_what_hangs_on_a_deleted_object_is_an_error(repository: Path, file: str, finding: str) -> None:
    commit(repository, {f"shop/{file}.yaml": None})
    assert any(finding in each for each in new(repository)), new(repository)


def test_who_renames_is_told_the_new_name(repository: Path) -> None:
    commit(repository, {"shop/gateway.yaml": GATEWAY.replace("name: edge", "name: front")})
    assert any("Gateway shop/edge, which this change renames" in each for each in new(repository))
    _, said, _ = run(repository, "diff", "HEAD~1..HEAD")
    assert "refer to Gateway shop/front, which it is now" in said.replace("\n          ", " ")


def test_the_index_and_the_work_tree_are_sides_as_well(repository: Path) -> None:
    (repository / "shop" / "gateway.yaml").unlink()
    assert any("which this change removes" in each for each in new(repository, "HEAD"))
    assert new(repository, "--staged") == []


@pytest.mark.parametrize(
    "changed",
    [
        {"release.yaml": RELEASE + "# makes the Gateway from now on\n"},
        {"charts/c/templates/x.yaml": "{{ if .Values.x }}{{ end }}\n---\n" + GATEWAY},
        {"charts/c/templates/gateway.yaml": GATEWAY},
        {"charts/c/values.yaml": "gateway: true\n"},
        {"shop/kustomization.yaml": "resources: [https://example.com/gateways, route.yaml, service.yaml]\n"},
    ],
    ids=["release", "template", "new-template", "values", "remote-base"],
)
def test_it_stays_open_where_the_change_touches_what_may_make_the_object(
    repository: Path, changed: dict[str, str | None]
) -> None:
    commit(repository, {"shop/gateway.yaml": None, **changed})
    assert not any("GWP401" in each for each in new(repository))


def test_a_kustomization_that_only_takes_in_files_makes_nothing(repository: Path) -> None:
    text = "# yaml-language-server: $schema=https://json.schemastore.org/kustomization\nresources:\n"
    before, after = ("gateway.yaml", "route.yaml", "service.yaml"), ("route.yaml", "service.yaml # was https://x")
    commit(repository, {"shop/kustomization.yaml": text + "".join(f"  - {each}\n" for each in before)})
    commit(
        repository,
        {"shop/kustomization.yaml": text + "".join(f"  - {each}\n" for each in after), "shop/gateway.yaml": None},
    )
    assert any("which this change removes" in each for each in new(repository))


def test_it_stays_open_where_the_object_went_out_of_sight(repository: Path) -> None:
    commit(repository, {"shop/gateway.yaml": None, "infra/gateway.yaml": GATEWAY})
    assert new(repository, "HEAD~1..HEAD", "shop", "release.yaml") == []


def test_what_was_not_there_before_stays_open(repository: Path) -> None:
    commit(repository, {"shop/route.yaml": ROUTE.replace("name: edge", "name: elsewhere"), "shop/gateway.yaml": None})
    assert not any("GWP401" in each for each in new(repository))


def test_taking_the_deletion_back_fixes_what_it_broke(repository: Path) -> None:
    commit(repository, {"shop/gateway.yaml": None})
    commit(repository, {"shop/gateway.yaml": GATEWAY})
    assert new(repository) == []
