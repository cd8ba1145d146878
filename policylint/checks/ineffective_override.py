"""GWP207: a policy switches something off that nothing above it sets, while what it must have meant stays on."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path, target_at
from policylint.model import Finding, Related
from policylint.model.words import listing
from policylint.policy.declared import is_opt_out
from policylint.policy.results import Attachment, Declared, PolicyState
from policylint.simulation import Simulation

RULE = "GWP207"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        for declared in state.declared:
            for field, value in declared.proper.items():
                if is_opt_out(value):
                    yield from _field(state, declared, field)


def _field(state: PolicyState, own: Declared, field: str) -> Iterator[Finding]:
    above = [attachment for group in state.groups for attachment in _above(state, group.effective.stack)]
    if not above or any(field in declared.proper for other in above for declared in other.declared):
        return
    settings = state.kind.settings
    classes = (settings.authentication, settings.authorization, settings.protection)
    alike = next((fields for fields in classes if field in fields), ())
    for other in above:
        meant = [name for name in alike if any(name in declared.proper for declared in other.declared)]
        if meant:
            yield _finding(state, own, field, other, meant)
            return


def _above(state: PolicyState, stack: tuple[Attachment, ...]) -> list[Attachment]:
    """Return the attachments of a stack that are less specific than the policy."""
    own = next((number for number, attachment in enumerate(stack) if attachment.key == state.key), 0)
    return [attachment for attachment in stack[:own] if attachment.node != stack[own].node]


def _finding(state: PolicyState, declared: Declared, field: str, other: Attachment, meant: list[str]) -> Finding:
    pointer = (*declared.prefix, field)
    target = state.targets[0] if state.targets else None
    return Finding(
        RULE,
        "note",
        f"{state.key} turns off {field}, which was never on: {other.key} sets {listing(meant)}",
        state.policy.location(*pointer, key=True),
        resources=(state.key, other.key),
        label=f"{listing(meant)} of {other.node} still applies{f' to {target}' if target else ''}",
        related=(Related("this stays on", target_at(other.policy, other.target)),),
        help=(f"fix: turn {listing(meant)} off instead, if the kind allows it",),
        field=path(pointer),
    )
