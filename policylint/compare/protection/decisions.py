"""GWP304 where rules of authorization let a request in that they turned away, whatever they are made of."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.compare.change import ContextChange
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause
from policylint.documents import Pointer
from policylint.implementations import implementation
from policylint.matches import matches, path_of
from policylint.model import Location, Node, PolicyKind, ResourceKey, text
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.results import Effective
from policylint.simulation import Simulation
from policylint.topology.routes import rules

_METHODS = ("GET", "POST")


def let_in(sides: Sides, change: ContextChange) -> Iterator[tuple[Cause, str]]:
    """Yield a cause where one request of a context was denied and is allowed."""
    assert change.before is not None and change.after is not None
    for message in _requests(sides.after, change.path):
        denied = _denial(sides.before, change.kind, change.before, message)
        if denied is None or _denial(sides.after, change.kind, change.after, message, maybe=True) is not None:
            continue
        was, now = _written(change.before, denied.pointer), _written(change.after, denied.pointer)
        owner = (now or was or (change.after.stack[-1].key, None))[0]
        yield (
            Cause(
                path(denied.pointer),
                "turns fewer requests away",
                f"{message.method} {message.path} was answered with {denied.status} and is let in",
                (owner,),
                location=None if now is None else now[1],
                before=None if was is None else was[1],
                fix=f"keep the rules of `{path(denied.pointer)}`, or put as strict ones in their place",
            ),
            "",
        )
        return


def _denial(
    side: Simulation, kind: PolicyKind, effective: Effective, message: RequestFacts, *, maybe: bool = False
) -> Decision | None:
    """Return the first decision of an effective policy that keeps a request out; with `maybe`, or that may."""
    behaviour = implementation(kind.implementation, side.catalog.settings(kind.implementation))
    answers = ("denied", "depends") if maybe else ("denied",)
    decisions = behaviour.decisions(kind, effective.spec, message)
    return next((decision for decision in decisions if decision.answer in answers and not decision.direct), None)


def _requests(after: Simulation, way: tuple[Node, ...]) -> Iterator[RequestFacts]:
    """Yield requests that the rule on a way takes, as far as it can be said by a method and a path."""
    rule = next((node for node in way if node.role.endswith("Rule")), None)
    state = None if rule is None else after.topology.route(rule.key)
    listed = [] if state is None else [each for each in rules(state.route) if each.node == rule]
    found = [match for each in listed for match in matches(each.body)] or matches({})
    host = next(iter(state.hostnames), "") if state is not None else ""
    for match in found[:1]:
        if any(condition.name == "path" for condition in match.expressions):
            continue  # which paths it takes is not looked for
        wanted = text(match.value.get("method"))
        place = path_of(match.value)[1]
        for method in (wanted,) if wanted else _METHODS:
            yield RequestFacts(method, host.replace("*", "any"), place, {})


def _written(effective: Effective, pointer: Pointer) -> tuple[ResourceKey, Location] | None:
    """Return who writes what decides, and where; None where nobody does."""
    for leaf, owner in effective.owners.items():
        location = effective.location_of(leaf)
        if leaf[: len(pointer)] == pointer[: len(leaf)] and location is not None:
            return owner, location
    return None
