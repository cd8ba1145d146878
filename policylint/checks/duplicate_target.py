"""GWP107: a list of targets that is refused as such: doubles, both forms, too many, none, an entry without a name."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path, target_at
from policylint.model import Finding, Location, Related, mapping, sequence
from policylint.policy.results import PolicyState
from policylint.policy.targets import NO
from policylint.simulation import Simulation

RULE = "GWP107"
CODES = {
    "both-forms": (
        "sets both `targetRef` and `targetRefs`",
        "only one of the two is allowed",
        "move the entry of `targetRef` into `targetRefs`",
    ),
    "too-many": ("has too many targets", "", "split the policy"),
    "duplicate-target": ("lists the same target twice", "", "remove one of the two"),
    "no-target": ("has no target", "spec has no target reference", "add `targetRefs`"),
}


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        if state.invalid_code in CODES:
            yield _finding(state)
        elif not state.invalid_code:
            yield from _tolerated_duplicates(state)
        for target in state.targets:
            if target.problem == "malformed":
                missing = target.detail.removeprefix(NO) if target.detail.startswith(NO) else "name"
                yield Finding(
                    RULE,
                    "error",
                    f"{state.key} has a target reference without a {missing}",
                    target_at(state.policy, target),
                    resources=(state.key,),
                    label=target.detail,
                    field=path(target.pointer),
                )


def _finding(state: PolicyState) -> Finding:
    message, label, fix = CODES[state.invalid_code]
    pointer = state.invalid_pointer or ("spec",)
    related: tuple[Related, ...] = ()
    location = state.policy.location(*pointer, key=state.invalid_code in ("both-forms", "no-target"))
    if state.invalid_code == "duplicate-target":
        first, second = _find_duplicate(state)
        location, related = second, (Related("first listed here", first),)
    return Finding(
        RULE,
        "error",
        f"{state.key} {message}, so it is refused",
        location,
        resources=(state.key,),
        label=label or state.invalid,
        related=related,
        help=(f"fix: {fix}",),
        field=path(pointer),
    )


def _tolerated_duplicates(state: PolicyState) -> Iterator[Finding]:
    """Yield a finding for each target named twice where the implementation takes both as one: another was meant."""
    for reference in state.kind.references:
        seen: dict[str, int] = {}
        entries = sequence(state.policy.spec.get(reference.path)) if reference.form == "refs" else []
        for number, entry in enumerate(entries):
            named = repr(sorted((str(name), str(value)) for name, value in mapping(entry).items()))
            if named not in seen:
                seen[named] = number
                continue
            pointer = ("spec", reference.path, number)
            first = state.policy.location("spec", reference.path, seen[named], "name")
            yield Finding(
                RULE,
                "error",
                f"{state.key} lists the same target twice",
                state.policy.location(*pointer, "name"),
                resources=(state.key,),
                label="the same target again",
                related=(Related("first listed here", first),),
                help=("fix: remove one of the two, or name the target that was meant",),
                field=path(pointer),
            )


def _find_duplicate(state: PolicyState) -> tuple[Location, Location]:
    """Return where one target is named first, and where again."""
    seen: dict[object, Location] = {}
    for target in state.targets:
        identity = (target.key, target.section)
        location = target_at(state.policy, target)
        if target.selector is None and identity in seen:
            return seen[identity], location
        seen.setdefault(identity, location)
    return state.policy.name_location, state.policy.name_location
