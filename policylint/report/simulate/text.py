"""The computed state as tables that a person can read: policies, routes, and what is effective on each route."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.model import Node
from policylint.model.words import count
from policylint.policy.results import Group, PolicyState
from policylint.report.kit.display import Paint, one_line, width
from policylint.report.kit.identity import Names, json_pointer
from policylint.simulation import Simulation
from policylint.topology import ParentState

_MOST_LOST = 6
_STYLES = {
    "Conflicted": "error",
    "Invalid": "error",
    "TargetNotFound": "error",
    "Overridden": "warning",
    "PartiallyEnforced": "warning",
    "Unknown": "note",
}
Row = tuple[str, ...]


def tables(simulations: Sequence[Simulation], paint: Paint) -> Iterator[str]:
    """The text of every environment, one after the other."""
    names = Names(key for each in simulations for key in each.world.resources)
    for number, simulation in enumerate(sorted(simulations, key=lambda each: each.world.name)):
        if number:
            yield "\n"
        yield from _environment(simulation, names, paint)


def _environment(simulation: Simulation, names: Names, paint: Paint) -> Iterator[str]:
    topology = simulation.topology
    policies = count(len(simulation.policies), "policy", "policies")
    gateways = count(len(topology.gateways), "gateway")
    name = one_line(simulation.world.name)
    yield f"{paint('strong', name)}: {policies}, {count(len(topology.routes), 'route')}, {gateways}\n"
    states = sorted(simulation.policies.values(), key=lambda each: names.key(each.key))
    if states:
        rows = [row for state in states for row in _policy_rows(state, names)]
        yield "\n" + _table(("POLICY", "STATUS", "TARGETS", "BY / WHY"), rows, paint)
    routes = sorted(topology.routes, key=lambda each: names.key(each.route.key))
    if routes:
        rows = []
        for route in routes:
            parents = sorted(_parent_row(each, names) for each in route.parents) or [("none", "")]
            for number, parent in enumerate(parents):
                rows.append((names.key(route.route.key) if not number else "", *parent))
        yield "\n" + _table(("ROUTE", "PARENT", "STATUS"), rows, paint)
    lines = list(_effective(simulation, names, paint))
    if lines:
        yield "\n" + paint("faint", "EFFECTIVE") + "\n"
        yield from lines


def _policy_rows(state: PolicyState, names: Names) -> Iterator[Row]:
    targets = [
        names.target(each) + ("" if each.resolution.found and not each.problem else f" ({each.resolution.state})")
        for each in state.targets
    ]
    why = [f"by {each}" for each in names.keys(state.by)]
    if state.invalid:
        why.append(state.invalid)
    why += sorted({each.detail for each in state.targets if each.problem and each.detail} - set(why))
    for number in range(max(1, len(targets), len(why))):
        first = (names.key(state.key), state.verdict) if not number else ("", "")
        yield (
            *first,
            targets[number] if number < len(targets) else "",
            why[number] if number < len(why) else "",
        )


def _parent_row(parent: ParentState, names: Names) -> Row:
    """`Accepted`, or the reasons of what is not well."""
    bad = [
        each.reason for each in parent.conditions if each.status != "True" and each.type in ("Accepted", "ResolvedRefs")
    ]
    return names.parent(parent), ", ".join(bad) or ("Accepted" if parent.accepted else "-")


def _effective(simulation: Simulation, names: Names, paint: Paint) -> Iterator[str]:
    """Per route (or, off all routes, per last object of the path) the settings with their owners, then what is lost."""
    by_object: dict[str, list[Group]] = {}
    for group in simulation.groups:
        subjects = [names.key(key) for key in group.routes()] or sorted(
            {_last(path, names) for path in group.contexts()}
        )
        for subject in subjects:
            by_object.setdefault(subject, []).append(group)
    for subject in sorted(by_object):
        yield f"  {paint('strong', one_line(subject))}\n"
        rows: set[tuple[str, bool, str]] = set()
        for group in by_object[subject]:
            kind = names.kind(group.kind.group, group.kind.kind)
            rows |= {(kind, False, line) for line in _settings(group, names)}
            rows |= {(kind, True, line) for line in _losses(group, names)}
        for kind, _, line in sorted(rows):
            yield f"    {one_line(kind)}  {one_line(line)}\n"


def _last(path: tuple[Node, ...], names: Names) -> str:
    return names.node(path[-1]) if path else ""


def _settings(group: Group, names: Names) -> Iterator[str]:
    for field, owners in group.effective.origins().items():
        yield f"{field} from {', '.join(names.keys(owners))}"


def _losses(group: Group, names: Names) -> Iterator[str]:
    lost = sorted(
        {
            (json_pointer(each.pointer), names.key(each.policy), ", ".join(names.keys(each.by)))
            for each in group.effective.lost
        }
    )
    for pointer, policy, by in lost[:_MOST_LOST]:
        yield f"{pointer or '/'} of {policy} lost to {by or 'nobody'}"
    if len(lost) > _MOST_LOST:
        yield f"… and {len(lost) - _MOST_LOST} more lost"


def _table(head: Row, rows: Sequence[Row], paint: Paint) -> str:
    """Columns as wide as their widest cell; a status stands out where there are colours."""
    cells = [tuple(one_line(cell) for cell in row) for row in rows]
    widths = [max(map(width, column)) for column in zip(head, *cells, strict=True)]
    lines = [paint("faint", "  ".join(each.ljust(size) for each, size in zip(head, widths, strict=True)).rstrip())]
    for row in cells:
        padded = [cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)]
        padded[-1] = row[-1]
        shown = [paint(_STYLES[cell.strip()], cell) if cell.strip() in _STYLES else cell for cell in padded]
        lines.append("  ".join(shown).rstrip())
    return "\n".join(lines) + "\n"
