"""Small trees on disk, as the tests of this room write them: a mapping of paths to texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from policylint.load.reading import load
from policylint.model import Location
from policylint.render.kustomize.build import Kustomizer
from policylint.render.provenance import Manifest
from policylint.render.tree import Tree
from policylint.sources import open_source
from policylint.workspace import Workspace, known_groups, open_workspace

FIXTURES = Path(__file__).parents[2] / "fixtures"
TREES = Path(__file__).parents[3] / "shared" / "trees"


def written(directory: Path, files: Mapping[str, str]) -> Path:
    """The directory with the files in it."""
    for path, text in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.lstrip("\n"))
    return directory


def kustomizer(directory: Path, files: Mapping[str, str]) -> Kustomizer:
    """A kustomizer of a directory with these files."""
    source = open_source([str(written(directory, files))])
    loaded = load(source, known_groups())
    return Kustomizer(Tree(source, loaded), loaded.cluster_scoped)


def workspace(directory: Path, files: Mapping[str, str]) -> Workspace:
    return open_workspace([str(written(directory, files))])


def deployed(found: Workspace) -> dict[str, list[str]]:
    """The objects of every environment, sorted, but for what Flux and Argo CD steer themselves with."""
    return {
        each.world.name: sorted(
            str(key)
            for key in each.world.resources
            if not key.group.endswith(("fluxcd.io", "controlplane.io", "argoproj.io"))
        )
        for each in found.simulations
    }


def codes(found: Workspace) -> list[str]:
    """What the renderer noted, sorted."""
    return sorted({note.code for each in found.simulations for note in each.world.notes})


def place(location: Location, below: Path) -> str:
    """`patch.yaml:7` for a location in a tree."""
    line, _ = location.at()
    return f"{Path(location.file).resolve().relative_to(below.resolve()).as_posix()}:{line}"


def spot(manifest: Manifest, below: Path, *pointer: str | int) -> str:
    """Where a value of a manifest is written."""
    return place(Location(*manifest.origin.locate(pointer)), below)


KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: shop
spec:
  hostnames: [a.example.com]
  parentRefs:
    - name: edge
  rules:
    - name: one
    - name: two
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata:
  name: shop
spec:
  selector:
    app: shop
  ports:
    - name: http
      port: 80
"""
