"""What a name may mean that has the namespace in it: `infra-auth@kubernetescrd` is Middleware `auth` of `infra`.

Source: traefik, pkg/provider/kubernetes/crd, makeID; KIC, internal/annotations (a plugin, or one of the cluster).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.model import ResourceKey, World, is_symbolic, text
from policylint.topology.routes import UNSEEN


def entries(stated: object) -> list[str]:
    """Return the names that an annotation lists, parted by commas."""
    return [each for each in map(str.strip, text(stated).split(",")) if each]


def meanings(about: Mapping[str, Any], entry: str, home: str) -> list[ResourceKey]:
    """Return the objects of which an entry of an annotation may be one; none where it is for another provider.

    Args:
        about: what the annotation names, in the words of `extensions` (schemas/doors.yaml).
        home: the namespace of what bears it.
    """
    group, kind, ending = text(about.get("group")), text(about.get("kind")), text(about.get("named"))
    if is_symbolic(entry):
        return []
    if ending:
        if about.get("unqualified") and ("@" not in entry or ("-" not in entry and entry.endswith(ending))):
            name = entry if "@" in entry else f"{entry}{about['unqualified']}"
            return [ResourceKey(group, kind, home, name)]  # no object is called so
        parts = entry.removesuffix(ending).split("-") if entry.endswith(ending) else []
        splits = (("-".join(parts[:at]), "-".join(parts[at:])) for at in range(1, len(parts)))
        return [ResourceKey(group, kind, namespace, name) for namespace, name in splits]
    of_all = text(about.get("clusterKind"))
    return [ResourceKey(group, kind, home, entry), *([ResourceKey(group, of_all, "", entry)] if of_all else [])]


def meant(world: World, about: Mapping[str, Any], entry: str, home: str) -> ResourceKey | None:
    """Return what a name stands for: what was seen, else one of its own namespace, else the first where certainly none
    is there; None where one may be that was not seen."""
    keys = meanings(about, entry, home)
    seen = next((key for key in keys if world.get(key) is not None), None)
    own = next((key for key in keys if key.namespace == home), None)
    if seen is not None or own is not None:
        return seen or own
    return keys[0] if keys and len(gone(world, keys)) == len(keys) else None


def leads_out(world: World, key: ResourceKey) -> Mapping[str, str]:
    """Return what marks the rule that leads on to an object which may be elsewhere; {} where it is here, or missing."""
    is_open = bool(key.name) and world.get(key) is None and world.resolve_outer(key).unknown
    return {UNSEEN: str(key)} if is_open else {}


def gone(world: World, keys: Iterable[ResourceKey]) -> list[ResourceKey]:
    """Return those of some objects that are missing for certain."""
    return [key for key in keys if world.resolve(key).missing and not world.elsewhere(key)]
