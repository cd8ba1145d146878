"""The fixes that rules attach to findings: only where one edit, and no other, can have been meant."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model import Location, Resource, ResourceKey, is_symbolic
from policylint.model.fix import Change, Fix

_NEAR = 0.7
_MOST_COMPARED = 5_000


def only_near(name: str, known: Iterable[str]) -> str:
    """The one name that is near, "" where none or several are."""
    candidates = sorted(
        {each for each in known if each != name and abs(len(each) - len(name)) <= max(3, len(name) // 2)}
    )
    if not candidates or len(candidates) > _MOST_COMPARED:
        return ""
    from difflib import get_close_matches

    found = get_close_matches(name, candidates, n=2, cutoff=_NEAR)
    return found[0] if len(found) == 1 else ""


def set_value(location: Location, old: str, new: str, known: Iterable[str] | None = None) -> tuple[Fix, ...]:
    """Write another scalar; with `known` only if `new` is the one of them that is near."""
    if not old or not new or (known is not None and only_near(old, known) != new):
        return ()
    field = next((str(step) for step in reversed(location.pointer) if isinstance(step, str)), "")
    return (Fix(f"write `{field}: {new}`" if field else f"write `{new}`", (Change("set", location, old, new),)),)


def rename_key(location: Location, old: str, new: str, known: Iterable[str]) -> tuple[Fix, ...]:
    """Write another key, if `new` is the one known field that is near."""
    if only_near(old, known) != new:
        return ()
    return (Fix(f"write `{new}`", (Change("rename", location, old, new),)),)


def into_list(location: Location, old: str, new: str) -> tuple[Fix, ...]:
    """`targetRef:` as `targetRefs:` with one entry."""
    return (Fix(f"write `{new}:` with one entry", (Change("list", location, old, new),)),)


def insert(location: Location, name: str, value: str) -> tuple[Fix, ...]:
    """Add an entry to a mapping. Unsafe: it changes what the cluster does."""
    return (Fix(f"add `{name}: {value}`", (Change("insert", location, name, value),), safe=False),)


def granted(wanted: Resource | None, referrer: ResourceKey) -> tuple[Fix, ...]:
    """Add a ReferenceGrant behind the object that is referred to: its file is where its namespace is decided.

    Unsafe: whether to trust another namespace is for a person to decide.
    """
    if wanted is None or not wanted.key.namespace or is_symbolic(wanted.key.namespace) or wanted.key.unplaced:
        return ()
    lines = [
        "apiVersion: gateway.networking.k8s.io/v1beta1",
        "kind: ReferenceGrant",
        "metadata:",
        f"  name: {referrer.kind.lower()}-{referrer.namespace}-to-{wanted.key.kind.lower()}-{wanted.key.name}",
        f"  namespace: {wanted.key.namespace}",
        "spec:",
        "  from:",
        f"    - group: {_or_empty(referrer.group)}",
        f"      kind: {referrer.kind}",
        f"      namespace: {referrer.namespace}",
        "  to:",
        f"    - group: {_or_empty(wanted.key.group)}",
        f"      kind: {wanted.key.kind}",
        f"      name: {wanted.key.name}",
    ]
    change = Change("document", wanted.location(), "", "\n".join(lines) + "\n")
    return (Fix(f"add a ReferenceGrant to namespace {wanted.key.namespace}", (change,), safe=False),)


def _or_empty(group: str) -> str:
    return group or '""'


def quote(location: Location, text: str, value: object) -> tuple[Fix, ...]:
    """Put a plain scalar in quotes, so that it is read as it is written."""
    if isinstance(value, (bool, int, float)):
        return (Fix(f'write `"{text}"`', (Change("quote", location, text, text),)),)
    return ()
