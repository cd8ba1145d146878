"""GWP102: a policy targets a kind that its own kind cannot be attached to, or misspells group or kind."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, entry, path, targets
from policylint.model import Finding, PolicyKind, is_symbolic, text
from policylint.model.fix import Change, Fix
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation

RULE = "GWP102"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state, target in targets(simulation):
        if target.problem == "kind-not-allowed" or target.lenient:
            yield _finding(state, target)


def _finding(state: PolicyState, target: Target) -> Finding:
    written = entry(state.policy, target)
    group, kind = text(written.get("group")), text(written.get("kind"))
    field, label, fix = _fault(state.kind, target, group, kind)
    unknown = is_symbolic(group) or is_symbolic(kind)
    doubt = target.resolution.reason if target.lenient and target.resolution.unknown and not unknown else ""
    if target.lenient and field == "group" and not group:
        message = f"{state.key} gives no group for its target {kind}"
    elif target.lenient:
        message = f"{state.key} misspells the {field} of its target: {group if field == 'group' else kind}"
    else:
        message = f"{state.key} cannot target {kind}{f' of group {group}' if field == 'group' and group else ''}"
    return Finding(
        RULE,
        "note" if unknown else "error",
        message,
        at(state.policy, target.pointer, field, "kind", "name"),
        resources=(state.key, target.key),
        label="its kind is a variable that nothing fills in" if unknown else label,
        help=(
            *((f"fix: {fix}",) if fix else ()),
            *(() if target.lenient else (f"note: {state.kind.kind} may target {_targetable(state.kind)}",)),
        ),
        confidence="unknown" if unknown else "assumed" if doubt else "certain",
        ground=f"{state.kind.kind} is refused without the group ({doubt})" if doubt else "",
        field=path(target.pointer),
        fixes=() if unknown else _rewrite(state, target, field, fix),
    )


def _rewrite(state: PolicyState, target: Target, field: str, fix: str) -> tuple[Fix, ...]:
    """Return the fix that `_fault` names, as an edit."""
    if not fix:
        return ()
    new = fix.removeprefix(f"write `{field}: ").removesuffix("`").strip('"')
    holder = state.policy.location(*target.pointer)
    written = entry(state.policy, target)
    if field not in written:
        return (Fix(fix, (Change("insert", holder, field, new),)),)
    return (Fix(fix, (Change("set", at(state.policy, target.pointer, field), text(written[field]), new),)),)


def _fault(kind: PolicyKind, target: Target, group: str, name: str) -> tuple[str, str, str]:
    """Return the field that is wrong, what is wrong with it, and how to put it right."""
    if not group and target.key.group:
        right = target.key.group
        return "group", f"the group is missing: {name} is of group {right}", f"write `group: {right}`"
    if "/" in group:
        return "group", "a group has no version", f"write `group: {group.partition('/')[0]}`"
    allowed = next((allowed for allowed in kind.targets if allowed.kind.lower() == name.lower()), None)
    proper = allowed.kind if allowed is not None else target.key.kind
    if proper != name:
        return "kind", f"kinds are written {proper}, not {name}", f"write `kind: {proper}`"
    if allowed is not None and allowed.group not in ("*", group):
        right = allowed.group or '""'
        reason = f"{name} is of group {right}" if group else f"the group is missing: {name} is of group {right}"
        return "group", reason, f"write `group: {right}`"
    return "kind", f"{kind.kind} cannot be attached to {name or 'this'}", ""


def _targetable(kind: PolicyKind) -> str:
    """Return the kinds that a policy kind may target, in words."""
    anything = {True: "another kind of backend", False: "any kind"}
    names = dict.fromkeys(
        anything[bool(allowed.but)] if allowed.kind == "*" else allowed.kind for allowed in kind.targets
    )
    return listing(names, word="or", most=10)
