"""Strategic merge patches as kustomize applies them, every value with its trace."""

from __future__ import annotations

from typing import Any

from policylint.render.provenance import Trace

DELETED = object()
"""What a patch with `$patch: delete` leaves of an object."""

_CORE_GROUPS = frozenset({"", "apps", "batch", "policy", "networking.k8s.io", "rbac.authorization.k8s.io"})
_KEYED_LISTS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "volumes": ("name",),
    "env": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "resourceClaims": ("name",),
    "secrets": ("name",),
    "conditions": ("type",),
    "ports": ("containerPort", "port"),
}
"""Lists of the core kinds that are merged item by item, with the fields that name an item. Everywhere else, and in all
custom resources (whose schema kustomize does not know), a patch's list replaces the list."""


def is_core(group: str) -> bool:
    """Whether kustomize knows the schema of a group's kinds."""
    return group in _CORE_GROUPS


def merge(base: Any, trace: Trace, patch: Any, source: Trace, *, core: bool, field: str = "") -> tuple[Any, Trace]:
    """The base with the patch merged in, and where everything in it is written.

    Args:
        core: whether keyed lists are merged.
        field: the key under which the base stands.
    """
    if isinstance(patch, dict):
        directive = patch.get("$patch")
        if directive == "delete":
            return DELETED, trace
        if directive == "replace" or not isinstance(base, dict):
            return _without_nulls(patch), source
        return _merge_mapping(base, trace, patch, source, core)
    if isinstance(patch, list) and isinstance(base, list) and core:
        keys = _KEYED_LISTS.get(field)
        key = next((each for each in keys or () if _all_have(each, patch) and _all_have(each, base)), None)
        if key is not None:
            return _merge_list(base, trace, patch, source, key)
        if field == "finalizers":
            fresh = [index for index, each in enumerate(patch) if each not in base]
            items = [source.child(index) for index in fresh]
            return [*base, *(patch[index] for index in fresh)], trace.with_items(
                [*(trace.child(index) for index in range(len(base))), *items]
            )
    return patch, source


def _all_have(key: str, items: list[Any]) -> bool:
    """Whether every item is a mapping with that key (or nothing but a directive to replace the list)."""
    return all(isinstance(each, dict) and (key in each or "$patch" in each) for each in items)


def _merge_mapping(
    base: dict[str, Any], trace: Trace, patch: dict[str, Any], source: Trace, core: bool
) -> tuple[dict[str, Any], Trace]:
    merged = dict(base)
    children = dict(trace.children)
    for name, value in patch.items():
        if name == "$patch" or (name.startswith("$") and name in ("$retainKeys", "$setElementOrder")):
            continue
        if value is None:
            merged.pop(name, None)
            children.pop(name, None)
            continue
        if name in base:
            new, place = merge(base[name], trace.child(name), value, source.child(name), core=core, field=name)
        else:
            new, place = _without_nulls(value), source.child(name)
        if new is DELETED:
            merged.pop(name, None)
            children.pop(name, None)
        else:
            merged[name] = new
            children[name] = place
    return merged, Trace(trace.document, trace.pointer, children)


def _merge_list(base: list[Any], trace: Trace, patch: list[Any], source: Trace, key: str) -> tuple[list[Any], Trace]:
    """Items of the patch first, in its order, then those of the base that it does not name."""
    if any(isinstance(each, dict) and each.get("$patch") == "replace" for each in patch):
        kept = [index for index, each in enumerate(patch) if each.get("$patch") != "replace"]
        return [patch[index] for index in kept], source.with_items(source.child(index) for index in kept)
    items: list[Any] = []
    traces: list[Trace] = []
    used: set[int] = set()
    for index, each in enumerate(patch):
        match = next((at for at, item in enumerate(base) if at not in used and item.get(key) == each.get(key)), None)
        if match is None:
            if each.get("$patch") == "delete":
                continue
            new, place = _without_nulls(each), source.child(index)
        else:
            used.add(match)
            new, place = merge(base[match], trace.child(match), each, source.child(index), core=True)
            if new is DELETED:
                continue
        items.append(new)
        traces.append(place)
    for index, item in enumerate(base):
        if index not in used:
            items.append(item)
            traces.append(trace.child(index))
    return items, trace.with_items(traces)


def _without_nulls(value: Any) -> Any:
    """What a patch sets where nothing was: its nulls and directives set nothing."""
    if isinstance(value, dict):
        if not any(each is None or isinstance(each, dict) or name == "$patch" for name, each in value.items()):
            return value
        return {name: _without_nulls(each) for name, each in value.items() if each is not None and name != "$patch"}
    return value
