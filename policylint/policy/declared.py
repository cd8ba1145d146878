"""From a policy object to its spec proper: settings, mode, strategy.

Source: docs/design/semantics.md §1, rules 20-22, 27-30.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.model import PolicyKind, Resource, mapping
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Declared

Mode = Literal["defaults", "overrides"]
_GRANULARITY = {
    "none": "none",
    "atomic-defaults": "atomic",
    "atomic-overrides": "atomic",
    "patch-defaults": "patch",
    "patch-overrides": "patch",
    "field": "field",
    "units": "units",
    "union": "union",
    "each": "union",
    "custom": "custom",
}


class Reading(NamedTuple):
    """The specs proper of one policy, or why it has none.

    `code` is "" for a valid policy, else which rule refused it; `pointer` is where.
    """

    declared: tuple[Declared, ...] = ()
    code: str = ""
    reason: str = ""
    pointer: Pointer = ()


def declared(policy: Resource, kind: PolicyKind) -> Reading:
    """Return what a policy sets, by the kind's merge entry.

    With `defaults` and `overrides` both present the policy is refused (GEP-713 «only one merge strategy at a time»)
    unless the kind allows both, as the 2023 edition does; then both come back, overrides first.
    """
    spec = policy.spec
    merge = kind.merge
    wrappers = [name for name in spec if name in merge.wrappers and isinstance(spec[name], dict)]
    modes = {merge.wrappers[name] for name in wrappers}
    if len(modes) > 1 and not merge.both:
        pair = " and ".join(f"`{name}`" for name in wrappers)
        return Reading(
            code="both-wrappers",
            reason=f"{pair} together: a policy may choose only one merge strategy",
            pointer=("spec", wrappers[-1]),
        )
    readings: list[Declared | Reading] = []
    if wrappers:
        for name in sorted(wrappers, key=lambda wrapper: (merge.wrappers[wrapper] == "defaults", wrapper)):
            readings.append(_declared_at(policy, kind, ("spec", name), merge.wrappers[name]))
    elif merge.wrapped:
        readings.append(Declared({}, ("spec",), "defaults", _GRANULARITY[merge.strategy]))
    else:
        readings.append(
            _declared_at(policy, kind, ("spec",), "overrides" if merge.strategy.endswith("overrides") else "defaults")
        )
    for reading in readings:
        if isinstance(reading, Reading):
            return reading
    return Reading(declared=tuple(reading for reading in readings if isinstance(reading, Declared)))


def _declared_at(policy: Resource, kind: PolicyKind, prefix: Pointer, mode: Mode) -> Declared | Reading:
    body = policy.spec if len(prefix) == 1 else mapping(policy.spec.get(str(prefix[1])))
    granularity = _GRANULARITY[kind.merge.strategy]
    directive = kind.merge.directive
    if directive is not None:
        holder, place = body, prefix
        if directive.field not in body and directive.field in policy.spec:
            holder, place = policy.spec, ("spec",)
        value = holder.get(directive.field)
        if isinstance(value, str) and value in directive.values:
            named = directive.values[value]
            granularity = _GRANULARITY.get(named, named)
            if named.endswith("overrides") and len(prefix) == 1:
                mode = "overrides"
        elif value is not None:
            known = ", ".join(directive.values)
            return Reading(
                code="unknown-strategy",
                reason=f"{directive.field} {value!r} is not one of {known}",
                pointer=(*place, directive.field),
            )
    left_out = {*kind.merge.ignore, *(() if directive is None else (directive.field,))}
    if len(prefix) == 1:
        left_out |= kind.target_fields | set(kind.merge.wrappers)
    proper: dict[str, Any] = {name: value for name, value in body.items() if name not in left_out}
    return Declared(proper, prefix, mode, granularity)


def is_empty(declared: Declared, kind: PolicyKind) -> bool:
    """Return whether a spec proper counts as absent under atomic defaults (traps 7 and 8).

    Kinds may name the fields without which the rest is nothing (Kuadrant: an AuthPolicy without `rules` is empty),
    and may say that an empty policy counts all the same (Envoy Gateway: it opts a route out).
    """
    if kind.merge.empty_opts_out:
        return False
    if kind.merge.empty_without:
        return not any(declared.proper.get(name) for name in kind.merge.empty_without)
    return not declared.proper


def is_opt_out(value: object) -> bool:
    """Whether a setting switches itself off, whatever else it holds: `{disable: {}}`, `{enabled: false}`."""
    if not isinstance(value, dict):
        return False
    off = any(value.get(name) is True or value.get(name) == {} for name in ("disable", "disabled") if name in value)
    return off or any(value.get(name) is False for name in ("enable", "enabled"))


def is_there(value: object) -> bool:
    """Whether a value is there and switches nothing off."""
    return value is not None and value != [] and not is_opt_out(value)


def without(declared: Declared, pointers: Iterable[Pointer]) -> Declared:
    """Return a spec proper without some of its settings, or without entries of the lists that they hold."""
    gone = set(pointers)
    proper: dict[str, Any] = {}
    for name, value in declared.proper.items():
        place = (*declared.prefix, name)
        if isinstance(value, list):
            value = [item for index, item in enumerate(value) if (*place, index) not in gone]
        if place not in gone and (value or not isinstance(declared.proper[name], list)):
            proper[name] = value
    return declared._replace(proper=proper)
