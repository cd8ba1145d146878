"""Strategic merge patches as kustomize applies them, every value with its provenance."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from policylint.render.provenance import Provenance


class MergeError(Exception):
    """A patch of which it is not known what kustomize makes; the message is for users."""


DELETED = object()
"""The rest of an object that a patch with `$patch: delete` removes."""

_CORE_GROUPS = frozenset(
    {
        "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling",
        "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io",
        "storage.k8s.io",
    }
)  # fmt: skip
_KEYED_LISTS = {
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers", "volumes", "env"), ("name",)),
    **dict.fromkeys(("imagePullSecrets", "resourceClaims", "schedulingGates", "secrets"), ("name",)),
    **dict.fromkeys(("matchConditions", "variables", "webhooks"), ("name",)),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "conditions": ("type",),
    "ports": ("containerPort", "port"),
}
"""Lists of the core kinds that are merged item by item, with the fields that name an item. Everywhere else, and in all
custom resources (whose schema kustomize does not know), a patch's list replaces the list."""

_ALWAYS_KEYED = frozenset({"containers", "env", "initContainers", "ports", "volumeMounts", "volumes", "webhooks"})
"""Those of them that are keyed wherever a patch gets into them."""


def is_core(group: str) -> bool:
    """Return whether kustomize knows the schema of a group's kinds."""
    return group in _CORE_GROUPS


def merge(
    base: Any, origin: Provenance, patch: Any, source: Provenance, *, core: bool, field: str = ""
) -> tuple[Any, Provenance]:
    """Return the base with the patch merged in, and its provenance.

    Args:
        core: whether keyed lists are merged.
        field: the key under which the base stands.

    Raises:
        MergeError: ports of one number with a protocol and without, of which kustomize loses some.
    """
    if isinstance(patch, dict):
        directive = patch.get("$patch")
        if directive == "delete":
            return DELETED, origin
        if directive == "replace" or not isinstance(base, dict):
            return _without_nulls(patch), source
        return _merge_mapping(base, origin, patch, source, core)
    if isinstance(patch, list) and isinstance(base, list) and core:
        keys = _KEYED_LISTS.get(field, ())
        key = next((name for name in keys if _all_have(name, patch) and _all_have(name, base)), None)
        if key is not None:
            return _merge_list(base, origin, patch, source, key)
        if field in _ALWAYS_KEYED and all(isinstance(item, dict) for item in (*base, *patch)):
            raise MergeError(f"an item of {field} has nothing that names it")
        if field == "finalizers":
            added = [index for index, name in enumerate(patch) if name not in base]
            items = [origin.child(index) for index in range(len(base))] + [source.child(index) for index in added]
            return [*base, *(patch[index] for index in added)], origin.with_items(items)
    return patch, source


def _all_have(key: str, items: list[Any]) -> bool:
    """Return whether every item is a mapping with that key (or nothing but a directive to replace the list)."""
    return all(isinstance(item, dict) and (key in item or "$patch" in item) for item in items)


def _merge_mapping(
    base: dict[str, Any], origin: Provenance, patch: dict[str, Any], source: Provenance, core: bool
) -> tuple[dict[str, Any], Provenance]:
    if core and isinstance(base.get("ports"), list) and isinstance(patch.get("ports"), list):
        _check_protocols([*base["ports"], *patch["ports"]])
    merged = dict(base)
    children = dict(origin.children)
    for name, value in patch.items():
        if name in ("$patch", "$retainKeys", "$setElementOrder"):
            continue
        new, place = _without_nulls(value), source.child(name)
        if name in base and value is not None:
            new, place = merge(base[name], origin.child(name), value, place, core=core, field=name)
        if value is None or new is DELETED:
            merged.pop(name, None)
            children.pop(name, None)
        else:
            merged[name] = new
            children[name] = place
    return merged, origin.with_children(children)


def _number(port: Any) -> Any:
    return port.get("containerPort", port.get("port")) if isinstance(port, dict) else None


def _check_protocols(ports: list[Any]) -> None:
    """Raise MergeError where a port is there with a protocol and without."""
    protocols: dict[Any, set[Any]] = defaultdict(set)
    for port in ports:
        if isinstance(port, dict):
            protocols[_hashable(_number(port))].add(_hashable(port.get("protocol")))
    if any(len(found) > 1 and None in found for found in protocols.values()):
        raise MergeError("one of its ports is there with a protocol and without")


def check(value: dict[str, Any] | list[Any]) -> None:
    """Raise MergeError where kustomize loses something of an object of which a patch changes anything at all."""
    waiting = [value]  # the outermost first, and of one object the fields in their order
    while waiting:
        holder = waiting.pop()
        within: list[Any] = []
        if isinstance(holder, list):
            within = [inner for inner in holder if isinstance(inner, (dict, list))]
        else:
            for field, inner in holder.items():
                if isinstance(inner, dict):
                    within.append(inner)
                elif isinstance(inner, list):
                    within.append(inner)
                    if len(inner) > 1 and field in _KEYED_LISTS:
                        _check_items(field, inner)
        within.reverse()
        waiting += within


def _check_items(field: str, items: list[Any]) -> None:
    seconds: dict[Any, list[Any]] = defaultdict(list)
    for item in items:
        key = next((name for name in _KEYED_LISTS[field] if isinstance(item, dict) and name in item), None)
        if key is not None:
            second = item.get("protocol") if field == "ports" else item.get("whenUnsatisfiable")
            seconds[_hashable(item[key])].append(second)
    if any(len(set(found)) < len(found) or (len(found) > 1 and None in found) for found in seconds.values()):
        raise MergeError(f"two items of {field} are not told apart")


def _merge_list(
    base: list[Any], origin: Provenance, patch: list[Any], source: Provenance, key: str
) -> tuple[list[Any], Provenance]:
    """Merge items by a key: those of the patch first, in its order, then those of the base that it does not name."""
    if any(item.get("$patch") == "replace" for item in patch):
        kept = [index for index, item in enumerate(patch) if item.get("$patch") != "replace"]
        return [patch[index] for index in kept], source.with_items(source.child(index) for index in kept)
    items: list[Any] = []
    origins: list[Provenance] = []
    rest = dict(enumerate(base))
    places: dict[Any, deque[int]] = defaultdict(deque)
    keys = (key, "protocol") if key in ("containerPort", "port") else (key,)
    for at, known in rest.items():
        places[_key(known, keys)].append(at)
    for index, item in enumerate(patch):
        matching = places.get(_key(item, keys))
        if matching:
            match = matching.popleft()
            new, place = merge(rest.pop(match), origin.child(match), item, source.child(index), core=True)
        elif item.get("$patch") == "delete":
            continue
        else:
            new, place = _without_nulls(item), source.child(index)
        if new is not DELETED:
            items.append(new)
            origins.append(place)
    items += rest.values()
    return items, origin.with_items([*origins, *(origin.child(index) for index in rest)])


def _key(item: dict[str, Any], keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(_hashable(item.get(key)) for key in keys)


def _hashable(value: Any) -> Any:
    """Return what stands for a value among keys."""
    return repr(value) if isinstance(value, (dict, list)) else value


def _without_nulls(value: Any) -> Any:
    """Return what a patch sets where nothing was: its nulls and directives set nothing."""
    if isinstance(value, dict):
        if not any(inner is None or isinstance(inner, dict) or name == "$patch" for name, inner in value.items()):
            return value
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None and name != "$patch"}
    return value
