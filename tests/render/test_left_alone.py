"""Argo CD applies nothing of the kinds that its ConfigMap has it leave alone; the cluster may have them still."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.explain.explanation import explain
from policylint.explain.subject import Subject
from policylint.model import ResourceKey
from policylint.report.explain import write
from policylint.report.kit.display import Paint
from policylint.report.kit.identity import Names
from policylint.report.list.listing import ListRequest, entries
from policylint.topology import whole
from policylint.workspace import open_workspace
from tests.compare.repositories import diff
from tests.compare.test_out_of_sight import APPLICATIONS, ARGO, LOGIN, ROUTE
from tests.contract.test_contract import disagreements

FILES = {
    "argo/apps.yaml": APPLICATIONS.replace("path: chart", "path: shop"),
    "argo/gateway.yaml": ARGO["argo/gateway.yaml"],
    "shop/route.yaml": ROUTE,
    "shop/login.yaml": LOGIN,
}
ROUTE_KEY = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "shop", "shop")
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n"


def config(*filters: str, field: str = "exclusions") -> dict[str, str]:
    lines = "".join(f"    - {each}\n" for each in filters)
    return {"argo/argocd-cm.yaml": f"{CONFIG}  resource.{field}: |\n{lines}"}


def operated(field: str, *filters: str) -> dict[str, str]:
    """Return an ArgoCD, of which the operator makes the ConfigMap."""
    lines = "".join(f"    - {each}\n" for each in filters)
    head = "apiVersion: argoproj.io/v1beta1\nkind: ArgoCD\nmetadata: {name: argocd, namespace: argocd}\nspec:\n"
    return {"argo/argocd.yaml": f"{head}  {field}: |\n{lines}"}


def applied(place: Path, files: dict[str, str]) -> set[str]:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")
    (simulation,) = open_workspace([str(place)]).simulations
    return {str(key) for key in simulation.world.resources if key.namespace == "shop"}


EVERYTHING = {"HTTPRoute shop/shop", "SecurityPolicy shop/login", "Service shop/shop"}


@pytest.mark.parametrize(
    ("settings", "left_alone"),
    [
        ({}, set()),
        (config("{apiGroups: [cilium.io], kinds: [CiliumIdentity], clusters: ['*']}"), set()),
        (config("{apiGroups: [gateway.envoyproxy.io], kinds: [SecurityPolicy]}"), {"SecurityPolicy shop/login"}),
        (config("{apiGroups: ['*.envoyproxy.io'], kinds: ['*'], clusters: ['*']}"), {"SecurityPolicy shop/login"}),
        (config("{kinds: [SecurityPolicy], clusters: ['https://kubernetes.*']}"), {"SecurityPolicy shop/login"}),
        (config("{kinds: [SecurityPolicy], clusters: ['https://other.example.com']}"), set()),
        (config("{kinds: ['Security*']}"), set()),
        (config("{apiGroups: ['gateway.networking.k8s.io', '']}", field="inclusions"), {"SecurityPolicy shop/login"}),
        (config("{apiGroups: ['*']}", field="inclusions"), set()),
        (operated("resourceExclusions", "{kinds: [SecurityPolicy]}"), {"SecurityPolicy shop/login"}),
        (
            operated("resourceInclusions", "{apiGroups: ['gateway.networking.k8s.io', '']}"),
            {"SecurityPolicy shop/login"},
        ),
        (operated("oidcConfig", "{kinds: [SecurityPolicy]}"), set()),
    ],
)
def test_what_is_left_alone_is_not_applied(tmp_path: Path, settings: dict[str, str], left_alone: set[str]) -> None:
    assert applied(tmp_path, {**FILES, **settings}) == EVERYTHING - left_alone


def test_whoever_says_that_no_policy_acts_says_what_is_left_alone(tmp_path: Path) -> None:
    applied(tmp_path, {**FILES, **config("{kinds: [SecurityPolicy]}")})
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    subject = Subject(simulation, ROUTE_KEY, whole(ROUTE_KEY))
    said = "".join(write("text", [(explain(subject), None)], Names.of([simulation]), Paint(False), 2000, ""))
    assert "no policy here acts on it; SecurityPolicy shop/login" in said
    (row,) = entries("routes", [simulation], ListRequest())
    assert row["policies"] is None
    assert disagreements(simulation) == []


def test_two_of_these_say_nothing_of_the_tree(tmp_path: Path) -> None:
    one = config("{kinds: [SecurityPolicy]}")
    assert applied(tmp_path, {**FILES, **one, "other/argocd-cm.yaml": one["argo/argocd-cm.yaml"]}) == EVERYTHING


def test_a_login_that_is_left_alone_from_now_on_is_told(tmp_path: Path) -> None:
    after = config("{kinds: [SecurityPolicy]}")
    said = " ".join(diff(tmp_path, {**FILES, **config("{kinds: [Lease]}")}, after).split())
    assert "loses its authentication" in said and "`resource.exclusions` of ConfigMap argocd-cm" in said
