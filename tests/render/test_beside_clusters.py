"""What lies below the directory of a cluster is deployed to no other cluster, where kustomize alone arranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.trees import KUSTOMIZATION, deployed, written

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: NAME, namespace: infra}
spec: {gatewayClassName: own, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""


def root(directory: str, *names: str) -> dict[str, str]:
    """A kustomization of its own with some Gateways."""
    objects = "---".join(GATEWAY.replace("NAME", name) for name in names)
    return {
        f"{directory}/kustomization.yaml": KUSTOMIZATION + "resources: [all.yaml]\n",
        f"{directory}/all.yaml": objects,
    }


def gateways(folder: Path, *roots: dict[str, str]) -> dict[str, set[str]]:
    """The names of the Gateways of each environment."""
    files = {path: text for each in roots for path, text in each.items()}
    found = deployed(open_workspace([str(written(folder, files))]))
    return {name: {each.rpartition("/")[2] for each in objects} for name, objects in found.items()}


@pytest.mark.parametrize("marker", ["clusters", "environments", "platform/stages", "overlays"])
def test_it_goes_with_its_own(tmp_path: Path, marker: str) -> None:
    found = gateways(
        tmp_path,
        root(f"{marker}/east/edge", "edge"),
        root(f"{marker}/west/edge", "edge"),
        root(f"{marker}/west/more", "west"),
        root("shared", "shared"),
    )
    assert found == {"east": {"edge", "shared"}, "west": {"edge", "west", "shared"}}


def test_so_it_does_where_each_rival_stands_by_itself(tmp_path: Path) -> None:
    """`clusters/west` has two versions of one Gateway: which of them is meant, no name says."""
    found = gateways(
        tmp_path,
        root("clusters/east/edge", "edge"),
        root("clusters/east/more", "east"),
        root("clusters/west/edge", "edge"),
        root("clusters/west/edge-new", "edge"),
        root("clusters/west/more", "west"),
    )
    assert found == {
        "clusters/east/edge": {"edge", "east"},
        "clusters/west/edge": {"edge", "west"},
        "clusters/west/edge-new": {"edge", "west"},
    }


def test_what_is_of_no_cluster_that_is_told_apart_is_everywhere(tmp_path: Path) -> None:
    found = gateways(
        tmp_path,
        root("clusters/east/edge", "edge"),
        root("clusters/west/edge", "edge"),
        root("clusters/all/more", "all"),
    )
    assert found == {"east": {"edge", "all"}, "west": {"edge", "all"}}


def test_overlays_of_several_applications_meet_by_their_names(tmp_path: Path) -> None:
    found = gateways(
        tmp_path,
        root("shop/overlays/dev", "shop"),
        root("shop/overlays/prod", "shop"),
        root("cart/overlays/prod", "cart"),
    )
    assert found == {"dev": {"shop"}, "prod": {"shop", "cart"}}
