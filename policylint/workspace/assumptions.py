"""Assumptions about what files do not show: objects elsewhere, labels of namespaces, policy kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping
from policylint.model.complete import Complete
from policylint.model.resource import Written
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.catalog.kinds import Catalog

_NAMESPACE = ("", "Namespace")
_POLICIES = "policy.open-cluster-management.io"
_OF_CLUSTERS = "cluster.open-cluster-management.io"
_CLUSTER = (_OF_CLUSTERS, "ManagedCluster")
_SET_LABEL = f"{_OF_CLUSTERS}/clusterset"


class Assumptions(NamedTuple):
    """Assumptions of a configuration, as `open_workspace` takes them.

    Args:
        excluded: whether a file (as shown) is left out.
        assume: `Kind[.group] [namespace/]name` with wildcards, or a mapping that says more.
        namespaces: labels by namespace.
        kinds: policy kinds as in schemas/policy-kinds/.
        written: where all this is written, for the places of objects that come from it.
        settings: of controllers, by implementation and name.
        clusters: what is known of the clusters of a hub, by name: `set`, `labels`, `claims`, `taints`.
        network: what is known of the network (docs/network.md).
        releases: the releases in use, by product, as written.
        complete: kinds of which every object is in the tree, and what charts make (`Complete`).
    """

    excluded: Callable[[str], bool] | None = None
    assume: Sequence[str | Mapping[str, Any]] = ()
    namespaces: Mapping[str, Mapping[str, str]] = {}
    kinds: Sequence[Mapping[str, Any]] = ()
    written: Written | None = None
    settings: Mapping[str, Mapping[str, Any]] = {}
    clusters: Mapping[str, Mapping[str, Any]] = {}
    network: Mapping[str, Any] = {}
    releases: Mapping[str, str] = {}
    complete: Sequence[str | Mapping[str, Any]] = ()

    def groups(self) -> frozenset[str]:
        """Return the API groups of the configured kinds."""
        return frozenset(str(kind["group"]) for kind in self.kinds if kind.get("group"))

    def all_here(self, catalog: Catalog) -> Complete:
        """Return of which kinds every object is in the tree; an inventory lists all clusters."""
        listed = [".".join(reversed(_CLUSTER))] if self.clusters else []
        return Complete([*self.complete, *listed], lambda group, kind: catalog.get(group, kind) is not None)

    def assumed(self) -> Assumed:
        """Return the identities of the objects that exist elsewhere."""
        return Assumed(self.assume)

    def completed(self, objects: list[Resource]) -> list[Resource]:
        """Return the objects with the assumed ones of which something is known, namespaces with their labels, and the
        clusters of a hub."""
        if self.written is None:
            return objects
        says_more = any(isinstance(entry, Mapping) for entry in self.assume)
        is_hub = bool(self.clusters) and any(resource.key.group == _POLICIES for resource in objects)
        if not (self.namespaces or says_more or is_hub):
            return objects
        by_key = {resource.key: resource for resource in objects}
        added = [*_assumed(self.assume, self.written), *_namespaces(self.namespaces, self.written, by_key)]
        if is_hub:
            added += _clusters(self.clusters, self.written, by_key)
        replaced = {resource.key for resource in added if resource.key[:2] in (_NAMESPACE, _CLUSTER)}
        kept = [resource for resource in objects if resource.key not in replaced]
        return [*kept, *(resource for resource in added if resource.key in replaced or resource.key not in by_key)]


class Assumed:
    """Identities of objects that exist elsewhere; `key in assumed`."""

    __slots__ = ("_patterns",)

    def __init__(self, entries: Iterable[str | Mapping[str, Any]]) -> None:
        self._patterns = [_pattern(entry) for entry in entries]

    def __contains__(self, key: object) -> bool:
        if not self._patterns or not isinstance(key, ResourceKey):
            return False
        from fnmatch import fnmatchcase

        return any(
            key.kind == kind
            and (group is None or key.group == group)
            and fnmatchcase(key.name, name)
            and (namespace is None or fnmatchcase(key.namespace, namespace))
            for kind, group, namespace, name in self._patterns
        )


def _pattern(entry: str | Mapping[str, Any]) -> tuple[str, str | None, str | None, str]:
    """Return kind, group, namespace and name; None for what is not stated."""
    if not isinstance(entry, str):
        return str(entry["kind"]), entry.get("group"), entry.get("namespace"), str(entry["name"])
    head, _, rest = entry.partition("/") if " " not in entry else entry.partition(" ")
    kind, dot, group = head.partition(".")
    namespace, slash, name = rest.strip().rpartition("/")
    return kind, group if dot else None, namespace if slash else None, name


def _assumed(entries: Sequence[str | Mapping[str, Any]], written: Written) -> Iterable[Resource]:
    """Yield the objects of entries that say what they are like: these take part in the topology."""
    for index, entry in enumerate(entries):
        if isinstance(entry, str) or not entry.keys() & {"spec", "labels", "controllerName"}:
            continue
        group = str(entry.get("group", "" if entry["kind"] in ("Service", "Namespace") else GATEWAY_GROUP))
        key = ResourceKey(group, str(entry["kind"]), str(entry.get("namespace", "")), str(entry["name"]))
        spec = dict(entry.get("spec", {}))
        if "controllerName" in entry:
            spec["controllerName"] = entry["controllerName"]
        yield _resource(key, {"labels": dict(entry.get("labels", {}))}, spec, written, ("assume", index))


def _namespaces(
    configured: Mapping[str, Mapping[str, str]], written: Written, manifests: Mapping[ResourceKey, Resource]
) -> Iterable[Resource]:
    """Yield namespaces with the configured labels; what a manifest says of a label counts more."""
    for name, labels in configured.items():
        key = ResourceKey("", "Namespace", "", name)
        manifest = manifests.get(key)
        if manifest is None:
            yield _resource(key, {"labels": dict(labels)}, {}, written, ("namespaces", name))
        else:
            metadata = {**manifest.metadata, "labels": {**labels, **manifest.labels}}
            body = {**manifest.body, "metadata": metadata}
            yield manifest.replaced(body=body)


def _clusters(
    configured: Mapping[str, Mapping[str, Any]], written: Written, manifests: Mapping[ResourceKey, Resource]
) -> Iterator[Resource]:
    """Yield the ManagedClusters of an inventory and the sets that they are in; what a manifest says counts more."""
    sets: dict[str, str] = {}
    for name, about in configured.items():
        labels = dict(about.get("labels", {}))
        if "set" in about:
            labels[_SET_LABEL] = about["set"]
            sets.setdefault(about["set"], name)
        key = ResourceKey(*_CLUSTER, "", name)
        manifest = manifests.get(key)
        known = _resource(key, {}, {}, written, ("clusters", name)) if manifest is None else manifest
        metadata = {**known.metadata, "labels": {**labels, **known.labels}}
        body = {**known.body, "metadata": metadata, "spec": {"taints": about.get("taints", []), **known.spec}}
        claims = [{"name": claim, "value": value} for claim, value in about.get("claims", {}).items()]
        status = {"clusterClaims": claims} if "claims" in about else {}
        yield known.replaced(body={**body, "status": {**status, **mapping(known.body.get("status"))}})
    for name, cluster in sets.items():
        key = ResourceKey(_OF_CLUSTERS, "ManagedClusterSet", "", name)
        yield _resource(key, {}, {}, written, ("clusters", cluster, "set"))


def _resource(
    key: ResourceKey, metadata: dict[str, Any], spec: dict[str, Any], written: Written, root: tuple[str | int, ...]
) -> Resource:
    body = {
        "apiVersion": f"{key.group}/v1" if key.group else "v1",
        "kind": key.kind,
        "metadata": {"name": key.name, **({"namespace": key.namespace} if key.namespace else {}), **metadata},
        "spec": spec,
    }
    return Resource(key, "v1", body, written, root)
