"""Policy CRDs of the input, as the rules on CRDs read them (docs/design/semantics.md §1, rules 16-24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.crd_kind import POLICY_LABEL
from policylint.model import Location, PolicyKind, Resource, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation

_CRD = "CustomResourceDefinition"
_CLUSTERS = (("kustomize.toolkit.fluxcd.io", "Kustomization"), ("argoproj.io", "Application"))
"""Kinds that repositories of clusters hold."""
_INSTALLED = frozenset(
    {"ClusterRole", "ClusterRoleBinding", "DaemonSet", "Deployment", "Role", "ServiceAccount", "StatefulSet"}
)
_WRAPPERS = ("default", "defaults", "override", "overrides")


class PolicyCrd(NamedTuple):
    """A CRD that declares a policy kind.

    Args:
        kind: the catalog's entry for it.
        label: the value of the policy label, None without one.
        version: index of the version whose schema is read: the stored one.
    """

    crd: Resource
    kind: PolicyKind
    label: str | None
    version: int
    schema: Mapping[str, Any]

    @property
    def name(self) -> str:
        return text(mapping(self.crd.spec.get("names")).get("kind"))

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return the schemas of the fields of `spec`, by field."""
        return mapping(mapping(mapping(self.schema.get("properties")).get("spec")).get("properties"))

    @property
    def wrappers(self) -> list[str]:
        """Return the fields of `spec` that wrap settings for merging."""
        return [name for name in _WRAPPERS if mapping(self.spec.get(name)).get("type") == "object"]

    def in_schema(self, *steps: str | int, key: bool = True) -> Location:
        """Return a location below the schema."""
        return self.crd.location("spec", "versions", self.version, "schema", "openAPIV3Schema", *steps, key=key)

    def in_spec(self, field: str, *steps: str | int) -> Location:
        return self.in_schema("properties", "spec", "properties", field, *steps)

    @property
    def kind_location(self) -> Location:
        return self.crd.location("spec", "names", "kind")

    @property
    def label_location(self) -> Location:
        """Return where the label's value is written, else where labels are or should be."""
        if self.label is None:
            return self.crd.location("metadata", "labels", key=True) if self.crd.labels else self.crd.name_location
        name = next(name for name in self.crd.labels if name.lower() == POLICY_LABEL)
        return self.crd.location("metadata", "labels", name)


def policy_crds(simulation: Simulation) -> Iterator[PolicyCrd]:
    """Yield the CRDs of the input that declare a policy kind and whose authors may read this.

    A CRD of a project that the catalog knows, in a bundle with other objects, or in the repository of a cluster comes
    from elsewhere.
    """
    world = simulation.world
    if any(world.of_kind(*kind) for kind in _CLUSTERS):
        return
    crds = world.of_kind("apiextensions.k8s.io", _CRD)
    in_bundle: dict[str, bool] = {}
    for crd in crds:
        names, group = mapping(crd.spec.get("names")), text(crd.spec.get("group"))
        kind = simulation.catalog.get(group, text(names.get("kind")))
        if kind is None or kind.policy_class == "Other" or simulation.catalog.ships(group):
            continue
        file = crd.document.file
        if file not in in_bundle:
            in_bundle[file] = _is_bundle(world.lines(file))
        if in_bundle[file]:
            continue
        label = next((str(value) for name, value in crd.labels.items() if name.lower() == POLICY_LABEL), None)
        version, schema = _stored(crd)
        yield PolicyCrd(crd, kind, label, version, schema)


def _is_bundle(lines: Iterable[str]) -> bool:
    """Return whether a file holds what installs a controller, too, as the releases of a project do."""
    return any(line.startswith("kind:") and line[5:].strip() in _INSTALLED for line in lines)


def _stored(crd: Resource) -> tuple[int, Mapping[str, Any]]:
    """Return index and schema of the stored version, else of the first one that has a schema."""
    versions = [mapping(version) for version in sequence(crd.spec.get("versions"))]
    for number in sorted(range(len(versions)), key=lambda number: versions[number].get("storage") is not True):
        schema = mapping(mapping(versions[number].get("schema")).get("openAPIV3Schema"))
        if schema:
            return number, schema
    return 0, {}
