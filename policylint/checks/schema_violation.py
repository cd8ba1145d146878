"""GWP501: an object breaks its schema, so that the API server refuses it or drops part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.fixes import rename_key, set_value
from policylint.checks.kit.invariants import Breach, breaches
from policylint.checks.kit.locations import path
from policylint.checks.kit.schemas import Broken, broken, is_surprising, written
from policylint.checks.kit.wording import near
from policylint.model import Confidence, Finding, Location, Related, Severity
from policylint.model.fix import Fix
from policylint.model.words import listing
from policylint.schema.known import is_experimental

if TYPE_CHECKING:
    from policylint.schema.explain import Violation
    from policylint.simulation import Simulation

RULE = "GWP501"
_TARGETS = ("targetRef", "targetRefs", "targetSelectors")
_RETIRED = frozenset({"backendTLS", "frontendValidation"})
"""Fields of Gateways that were experimental up to Gateway API v1.4, and have other names since."""
_DROPPED = "note: kubectl refuses an unknown field; other clients see it dropped without a word"


def check(world: Simulation) -> Iterator[Finding]:
    refused = broken(world)
    for each in refused:
        for fault in each.faults:
            if not _told_elsewhere(world, each, fault):
                yield _finding(each, fault)
    objects = {each.resource.key for each in refused}
    for breach in breaches(world):
        if breach.resource.key not in objects:  # the API server, too, asks for types first
            yield _breach(breach)


def _told_elsewhere(world: Simulation, each: Broken, fault: Violation) -> bool:
    """Targets have rules of their own (GWP102, GWP103, GWP107), and so have scalars that are read as something else."""
    state = world.policies.get(each.resource.key)
    if state is not None and fault.pointer[:1] == ("spec",) and fault.pointer[1:2]:
        if state.invalid_pointer and fault.pointer[: len(state.invalid_pointer)] == state.invalid_pointer:
            return True
        in_target = fault.pointer[1] in _TARGETS
        if in_target and (state.invalid_code or any(target.problem or target.lenient for target in state.targets)):
            return True
    if fault.code != "type" or "string" not in fault.wanted:
        return False
    return is_surprising(written(world, each.resource.location(*fault.pointer)), fault.value)


def _finding(each: Broken, fault: Violation) -> Finding:
    resource = each.resource
    guess = near(str(fault.value if fault.code == "enum" else fault.pointer[-1]), _candidates(resource.body, fault))
    label, help_, fixes = _advice(each, fault, guess)
    related: tuple[Related, ...] = ()
    if each.schema.origin is not None:
        related = (Related("the CRD that says so", Location(each.schema.origin)),)
    severity, confidence = _grade(each, fault)
    return Finding(
        RULE,
        severity,
        f"{resource.key} {fault.says}",
        _place(each, fault),
        resources=(resource.key,),
        label=label,
        related=related,
        help=help_,
        confidence=confidence,
        field=path(fault.pointer),
        fixes=fixes,
    )


def _breach(breach: Breach) -> Finding:
    """Assumed, as everything that the shipped release says: the cluster may have another."""
    return Finding(
        RULE,
        "error",
        f"{breach.resource.key} {breach.says}",
        breach.resource.location(*breach.pointer, key=breach.key),
        resources=(breach.resource.key,),
        label=breach.label,
        confidence="assumed",
        field=path(breach.pointer),
    )


def _grade(each: Broken, fault: Violation) -> tuple[Severity, Confidence]:
    """The cluster may have another release than the shipped one, and releases rename what is experimental."""
    if each.schema.origin is not None:
        return "error", "certain"
    if not _RETIRED.isdisjoint(fault.pointer) or is_experimental(each.schema.schema, fault.pointer):
        return "note", "unknown"
    return "error", "assumed"


def _candidates(body: object, fault: Violation) -> tuple[str, ...]:
    """The names that may have been meant: allowed, and not there yet."""
    if fault.code == "enum":
        return fault.wanted
    if fault.code != "unknown-field":
        return ()
    holder = body
    for step in fault.pointer[:-1]:
        holder = holder[step] if isinstance(holder, (dict, list)) else {}  # type: ignore[index]
    return tuple(name for name in fault.wanted if not isinstance(holder, dict) or name not in holder)


def _advice(each: Broken, fault: Violation, guess: str) -> tuple[str, tuple[str, ...], tuple[Fix, ...]]:
    location = _place(each, fault)
    if fault.code == "unknown-field":
        wrong = str(fault.pointer[-1])
        label = f'no such field (did you mean "{guess}"?)' if guess else "no such field"
        if not guess:
            return label, (_DROPPED,), ()
        return label, (f"fix: write `{guess}`", _DROPPED), rename_key(location, wrong, guess, fault.wanted)
    if fault.code == "enum":
        label = f"one of {listing(fault.wanted, word='or', most=10)}"
        if not guess or not isinstance(fault.value, str):
            return label, (), ()
        return label, (f"fix: write `{guess}`",), set_value(location, fault.value, guess, fault.wanted)
    return fault.label, (), ()


def _place(each: Broken, fault: Violation) -> Location:
    """The key of an unknown field; of a missing one the object that lacks it."""
    if fault.code == "unknown-field":
        return each.resource.location(*fault.pointer, key=True)
    if fault.code == "required":
        holder = fault.pointer[:-1]
        return each.resource.location(*holder, key=bool(holder) and isinstance(holder[-1], str))
    return each.resource.location(*fault.pointer)
