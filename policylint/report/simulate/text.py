"""The computed state as tables for a person: policies, routes, and what is effective on each route."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from policylint.explain.winning import Taken, taken
from policylint.model.words import count, count_with_unseen
from policylint.policy.results import Group, PolicyState
from policylint.report.kit.display import Paint, one_line
from policylint.report.kit.identity import Names, json_losses
from policylint.simulation import Simulation
from policylint.topology import ParentState

_MOST_LOST = 6
_STYLES = {
    "Conflicted": "error",
    "Invalid": "error",
    "TargetNotFound": "error",
    "NoEffect": "warning",
    "Overridden": "warning",
    "PartiallyEnforced": "warning",
    "Unknown": "note",
}
Row = tuple[str, ...]


def tables(simulations: Sequence[Simulation], paint: Paint) -> Iterator[str]:
    """Yield the text of every environment, one after the other."""
    names = Names.of(simulations)
    for number, simulation in enumerate(sorted(simulations, key=lambda simulation: simulation.world.name)):
        if number:
            yield "\n"
        yield from _environment(simulation, names, paint)


def _environment(simulation: Simulation, names: Names, paint: Paint) -> Iterator[str]:
    topology = simulation.topology
    policies = count(len(simulation.policies), "policy", "policies")
    gateways = count_with_unseen(len(topology.gateways), "gateway", len(topology.unseen))
    name = one_line(simulation.world.name)
    yield f"{paint('strong', name)}: {policies}, {count(len(simulation.routes), 'route')}, {gateways}\n"
    states = sorted(simulation.policies.values(), key=lambda state: names.key(state.key))
    if states:
        took = taken(simulation)
        rows = [row for state in states for row in _policy_rows(state, names, took.get(state.key, ()))]
        yield "\n" + _table(("POLICY", "VERDICT", "TARGETS", "BY / WHY"), rows, paint)
    routes = sorted(simulation.routes, key=lambda route: names.key(route.route.key))
    if routes:
        rows = []
        for route in routes:
            parents = sorted(_parent_row(parent, names) for parent in route.parents) or [("none", "")]
            for number, parent in enumerate(parents):
                rows.append((names.key(route.route.key) if not number else "", *parent))
        yield "\n" + _table(("ROUTE", "PARENT", "STATUS"), rows, paint)
    lines = list(_effective(simulation, names, paint))
    if lines:
        yield "\n" + paint("faint", "EFFECTIVE") + "\n"
        yield from lines


def _policy_rows(state: PolicyState, names: Names, took: Sequence[Taken]) -> Iterator[Row]:
    targets = [names.target_and_trouble(target) for target in state.targets]
    why = [f"by {name}" for name in names.keys(state.by)]
    why += [f"over {names.key(each.loser)}" for each in took[:_MOST_LOST]]
    why += [f"over {len(took) - _MOST_LOST} more"] if len(took) > _MOST_LOST else []
    if state.invalid:
        why.append(state.invalid)
    troubled = (target for target in state.targets if target.problem or not target.nodes)
    why += sorted({target.detail for target in troubled if target.detail} - set(why))
    yield from zip_longest([names.key(state.key)], [state.verdict], targets, why, fillvalue="")


def _parent_row(parent: ParentState, names: Names) -> Row:
    """Return `Accepted`, or the reasons of what is not well."""
    states = [condition for condition in parent.conditions if condition.type in ("Accepted", "ResolvedRefs")]
    bad = ", ".join(condition.reason for condition in states if condition.status == "False")
    if not bad and any(condition.status == "Unknown" for condition in states):
        bad = "Unknown"
    return names.parent(parent), bad or ("Accepted" if parent.accepted else "-")


def _effective(simulation: Simulation, names: Names, paint: Paint) -> Iterator[str]:
    """Yield per route (or, off all routes, per last object of the path) the settings with their owners, then losses."""
    by_object: dict[str, list[Group]] = {}
    for group in simulation.groups:
        routes = [names.key(key) for key in group.routes()]
        for subject in routes or {names.node(path[-1]) if path else "" for path in group.contexts()}:
            by_object.setdefault(subject, []).append(group)
    for subject in sorted(by_object):
        yield f"  {paint('strong', one_line(subject))}\n"
        rows: set[tuple[str, bool, str]] = set()
        for group in by_object[subject]:
            kind = names.kind(group.kind.group, group.kind.kind)
            for field, owners in group.effective.origins().items():
                rows.add((kind, False, f"{field} from {', '.join(names.keys(owners))}"))
            rows |= {(kind, True, line) for line in _losses(group, names)}
        for kind, _, line in sorted(rows):
            yield paint.fit(f"    {one_line(kind)}  {one_line(line)}\n")


def _losses(group: Group, names: Names) -> Iterator[str]:
    lost = {(loss["pointer"], loss["policy"], loss["by"]) for loss in json_losses(group.effective, names)}
    for pointer, policy, by in sorted(lost)[:_MOST_LOST]:
        yield f"{pointer or '/'} of {policy} lost to {by or 'nobody'}"
    if len(lost) > _MOST_LOST:
        yield f"… and {len(lost) - _MOST_LOST} more lost"


def _table(head: Row, rows: Sequence[Row], paint: Paint) -> str:
    """Write columns as wide as their widest cell; a status stands out where there are colours."""
    first, *rest = paint.table([head, *(tuple(map(one_line, row)) for row in rows)])
    lines = [paint("faint", "  ".join(line).rstrip()) for line in first]
    for row in chain.from_iterable(rest):
        shown = [paint(_STYLES[cell.strip()], cell) if cell.strip() in _STYLES else cell for cell in row]
        lines.append("  ".join(shown).rstrip())
    return "\n".join(lines) + "\n"
