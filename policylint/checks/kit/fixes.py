"""The fixes that rules attach to findings: only where one edit, and no other, can have been meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from policylint.checks.kit.wording import Spellings
from policylint.documents.scalars import resolve_plain
from policylint.model import Location, Resource, ResourceKey, is_symbolic
from policylint.model.fix import Change, Fix


def only_near(name: str, known: Iterable[str] | Spellings) -> str:
    """Return the one other name that is near, "" where none or several are."""
    spellings = known if isinstance(known, Spellings) else Spellings(known)
    misses = spellings.near(name, 2)
    return misses[0] if len(misses) == 1 else ""


def set_value(
    location: Location, old: str, new: str, known: Iterable[str] | Spellings | None = None
) -> tuple[Fix, ...]:
    """Write another scalar; with `known`, only if `new` is the one of them that is near."""
    if not old or not new or (known is not None and only_near(old, known) != new):
        return ()
    field = next((str(step) for step in reversed(location.pointer) if isinstance(step, str)), "")
    return (Fix(f"write `{field}: {new}`" if field else f"write `{new}`", (Change("set", location, old, new),)),)


def set_port(location: Location, old: object, new: int) -> tuple[Fix, ...]:
    """Write another port, as text where it was text. Unsafe: it changes what the cluster lets through."""
    if isinstance(old, bool) or not isinstance(old, (int, str)):
        return ()
    change = Change("number" if isinstance(old, int) else "set", location, str(old), str(new))
    return (Fix(f"write port {new}", (change,), safe=False),)


def relabel(location: Location, old: str, new: str) -> tuple[Fix, ...]:
    """Write another label key in a selector. Unsafe: the selector then selects something else."""
    return (Fix(f"write `{new}`", (Change("rename" if location.key else "set", location, old, new),), safe=False),)


def rename(
    places: Iterable[Location], old: str, new: str, known: Spellings, used: Collection[str] = ()
) -> tuple[Fix, ...]:
    """Write another name of an object or section wherever a wrong one stands, if it is the only one that is near.

    Unsafe: a name that is nearly the same is a guess. There is no fix where the numbers in the names differ
    (`shop-v1`, `shop-v2`), as those tell objects apart on purpose, nor to a name that is referred to already.

    Args:
        used: the names that other references of the same object have.
    """
    if not old or not new or new in used or only_near(old, known) != new or _numbers(old) != _numbers(new):
        return ()
    changes = tuple(Change("set", place, old, new) for place in places)
    if not all(change.location.pointer for change in changes):
        return ()  # a chart made the object: the name is nowhere in this tree
    field = str(changes[0].location.pointer[-1])
    return (Fix(f"write `{field}: {new}`", changes, safe=False),)


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", name)


def rename_key(location: Location, old: str, new: str, known: Iterable[str]) -> tuple[Fix, ...]:
    """Write another key, if `new` is the one known field that is near."""
    if only_near(old, known) != new:
        return ()
    return (Fix(f"write `{new}`", (Change("rename", location, old, new),)),)


def into_list(location: Location, old: str, new: str) -> tuple[Fix, ...]:
    """Write `targetRef:` as `targetRefs:` with one entry."""
    return (Fix(f"write `{new}:` with one entry", (Change("list", location, old, new),)),)


def insert(location: Location, name: str, value: str) -> tuple[Fix, ...]:
    """Add an entry to a mapping. Unsafe: it changes what the cluster does."""
    return (Fix(f"add `{name}: {value}`", (Change("insert", location, name, value),), safe=False),)


def add_grant(referent: Resource | None, referrer: ResourceKey) -> tuple[Fix, ...]:
    """Add a ReferenceGrant after the object that is referred to, whose file decides on its namespace.

    Unsafe: whether to trust another namespace is for a person to decide.
    """
    if referent is None or not referent.key.namespace or is_symbolic(referent.key.namespace) or referent.key.unplaced:
        return ()
    if not all(re.fullmatch(r"[A-Za-z0-9.-]*", name) for name in (*referrer, *referent.key)):
        return ()  # no name that Kubernetes takes, and in a document of ours it could be more than a name
    lines = [
        "apiVersion: gateway.networking.k8s.io/v1beta1",
        "kind: ReferenceGrant",
        "metadata:",
        f"  name: {referrer.kind.lower()}-{referrer.namespace}-to-{referent.key.kind.lower()}-{referent.key.name}",
        f"  namespace: {_scalar(referent.key.namespace)}",
        "spec:",
        "  from:",
        f"    - group: {_scalar(referrer.group)}",
        f"      kind: {referrer.kind}",
        f"      namespace: {_scalar(referrer.namespace)}",
        "  to:",
        f"    - group: {_scalar(referent.key.group)}",
        f"      kind: {referent.key.kind}",
        f"      name: {_scalar(referent.key.name)}",
    ]
    change = Change("document", referent.location(), "", "\n".join(lines) + "\n")
    return (Fix(f"add a ReferenceGrant to namespace {referent.key.namespace}", (change,), safe=False),)


def _scalar(name: str) -> str:
    """Return a name as YAML that is read as text: `""`, `"8080"`, `shop`."""
    return name if name and resolve_plain(name) == name else f'"{name}"'


def quote(location: Location, text: str, value: object) -> tuple[Fix, ...]:
    """Put a plain scalar in quotes, so that it is read as written; nothing for a value that is no number or boolean."""
    if isinstance(value, (bool, int, float)):
        return (Fix(f'write `"{text}"`', (Change("quote", location, text, text),)),)
    return ()
