"""What the user says of the world beside its files: objects elsewhere, labels of namespaces, kinds of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey
from policylint.model.resource import Written
from policylint.namedtuple import NamedTuple


class Assumptions(NamedTuple):
    """What a configuration says of the world, as `open_workspace` takes it.

    Args:
        excluded: whether a file (as shown) is left out.
        assume: `Kind[.group] [namespace/]name` with wildcards, or a mapping that says more.
        namespaces: labels by namespace.
        kinds: policy kinds as in schemas/policy-kinds/.
        written: where all this is written, for the places of objects that come from it.
        settings: of controllers, by implementation and name.
    """

    excluded: Callable[[str], bool] | None = None
    assume: Sequence[str | Mapping[str, Any]] = ()
    namespaces: Mapping[str, Mapping[str, str]] = {}
    kinds: Sequence[Mapping[str, Any]] = ()
    written: Written | None = None
    settings: Mapping[str, Mapping[str, Any]] = {}

    def groups(self) -> frozenset[str]:
        """API groups of the configured kinds."""
        return frozenset(str(each["group"]) for each in self.kinds if each.get("group"))

    def assumed(self) -> Assumed:
        return Assumed(self.assume)

    def completed(self, objects: list[Resource]) -> list[Resource]:
        """The objects with the assumed ones of which something is known, and the namespaces with their labels."""
        if self.written is None or not (self.namespaces or any(isinstance(each, Mapping) for each in self.assume)):
            return objects
        there = {each.key: each for each in objects}
        added = [*_assumed(self.assume, self.written), *_namespaces(self.namespaces, self.written, there)]
        replaced = {each.key for each in added if each.key.kind == "Namespace"}
        known = [each for each in objects if each.key not in replaced]
        return [*known, *(each for each in added if each.key in replaced or each.key not in there)]


class Assumed:
    """Identities of objects that exist elsewhere; `key in assumed`."""

    __slots__ = ("_patterns",)

    def __init__(self, entries: Iterable[str | Mapping[str, Any]]) -> None:
        self._patterns = [_pattern(each) for each in entries]

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
    """Kind, group, namespace and name; None where it is not said."""
    if not isinstance(entry, str):
        return str(entry["kind"]), entry.get("group"), entry.get("namespace"), str(entry["name"])
    head, _, rest = entry.partition("/") if " " not in entry else entry.partition(" ")
    kind, dot, group = head.partition(".")
    namespace, slash, name = rest.strip().rpartition("/")
    return kind, group if dot else None, namespace if slash else None, name


def _assumed(entries: Sequence[str | Mapping[str, Any]], written: Written) -> Iterable[Resource]:
    """Entries that say what the object is like: it takes part in the topology."""
    for index, entry in enumerate(entries):
        if isinstance(entry, str) or not entry.keys() & {"spec", "labels", "controllerName"}:
            continue
        group = str(entry.get("group", "" if entry["kind"] in ("Service", "Namespace") else GATEWAY_GROUP))
        key = ResourceKey(group, str(entry["kind"]), str(entry.get("namespace", "")), str(entry["name"]))
        spec = dict(entry.get("spec", {}))
        if "controllerName" in entry:
            spec["controllerName"] = entry["controllerName"]
        yield _made(key, {"labels": dict(entry.get("labels", {}))}, spec, written, ("assume", index))


def _namespaces(
    labels: Mapping[str, Mapping[str, str]], written: Written, there: Mapping[ResourceKey, Resource]
) -> Iterable[Resource]:
    """Namespaces with the given labels; what a manifest says of a label counts more."""
    for name, given in labels.items():
        key = ResourceKey("", "Namespace", "", name)
        seen = there.get(key)
        if seen is None:
            yield _made(key, {"labels": dict(given)}, {}, written, ("namespaces", name))
        else:
            metadata = {**seen.metadata, "labels": {**given, **seen.labels}}
            body = {**seen.body, "metadata": metadata}
            yield Resource(key, seen.version, body, seen.document, seen.root, seen.sources)


def _made(
    key: ResourceKey, metadata: dict[str, Any], spec: dict[str, Any], written: Written, root: tuple[str | int, ...]
) -> Resource:
    body = {
        "apiVersion": f"{key.group}/v1" if key.group else "v1",
        "kind": key.kind,
        "metadata": {"name": key.name, **({"namespace": key.namespace} if key.namespace else {}), **metadata},
        "spec": spec,
    }
    return Resource(key, "v1", body, written, root)
