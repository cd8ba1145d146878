"""What a controller of the tree makes, because its role lets it, is not missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.test_alternatives import GATEWAY, ROUTE, SERVICE, tree


def role(
    kind: str = "ClusterRole",
    name: str = "manager",
    labels: str = "",
    group: str = "gateway.networking.k8s.io",
    resources: str = "referencegrants",
    verbs: str = "get, create",
) -> str:
    return (
        f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n"
        "rules:\n- {apiGroups: ['']}\n"
        f"- {{apiGroups: [{group}], resources: [httproutes, {resources}], verbs: [{verbs}]}}\n"
    )


def said(root: Path, path: str, text: str) -> str:
    route = ROUTE.format(section="").replace("port: 8080", "port: 8080, namespace: other")
    service = SERVICE.replace("namespace: shop", "namespace: other")
    files = {"a/gateway.yaml": GATEWAY.format(listener="http"), "a/route.yaml": route, "a/service.yaml": service}
    found = [each for each in tree(root, {**files, path: text}).findings() if each.rule == "GWP405"]
    return found[0].confidence


@pytest.mark.parametrize("kind", ["ClusterRole", "Role"])
@pytest.mark.parametrize("path", ["config/rbac/role.yaml", "deploy/rbac.yaml", "deploy/cluster-roles.yml"])
def test_a_grant_that_a_controller_may_make_is_not_missing(tmp_path: Path, kind: str, path: str) -> None:
    assert said(tmp_path, path, role(kind)) == "unknown"


@pytest.mark.parametrize(
    "text",
    [
        role(verbs="get, list, watch"),
        role(verbs="'*'"),
        role(resources="grpcroutes"),
        role(group="example.com"),
        role(name="gateway-api-editor"),
        role(labels="rbac.authorization.k8s.io/aggregate-to-edit: 'true'"),
        "a: [\nreferencegrants\n",
    ],
)
def test_what_people_may_do_and_what_is_read_makes_nothing(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, "config/rbac/role.yaml", text) == "certain"
