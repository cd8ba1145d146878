"""An explanation as GitHub Markdown, for tickets and reviews."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.explain.explanation import Explanation
from policylint.explain.settings import Setting, settings
from policylint.explain.wording import Crowd, all_rules, chains, level_of, where
from policylint.model.words import listing
from policylint.report.explain.radius import Radius
from policylint.report.explain.text import how
from policylint.report.kit.display import one_line, place, short_place
from policylint.report.kit.escape import code, escape
from policylint.report.kit.identity import Names
from policylint.report.kit.tables import table_head, table_row


def page(explanation: Explanation, radius: Radius | None, names: Names, field: str) -> Iterator[str]:
    """Yield the lines of the page, each with its newline."""
    subject = explanation.subject
    yield f"### {escape(names.node(subject.node))}\n\n"
    if explanation.resource is not None:
        yield f"{code(place(explanation.resource.name_location), table=False)}\n\n"
    for fact in explanation.facts:
        yield f"- {fact.name}: {escape(fact.words)}\n"
    if explanation.state is not None:
        yield from _policy(explanation, names)
    paths = explanation.answers.paths
    every = Crowd(paths)
    for answer in explanation.answers.listed:
        rows = [(group, setting) for group in answer.groups for setting in settings(group, field)]
        context = where(answer, every, subject.node) or all_rules(answer.paths, subject.node)
        yield f"\n**Effective policy{f': {escape(context)}' if context else ''}**\n\n"
        if not rows:
            yield "No policy acts here.\n"
            continue
        yield table_head("Kind", "Setting", "Value", "From", "How") + "\n"
        for group, setting in rows:
            yield table_row(escape(names.kind(group.kind.group, group.kind.kind)), *_cells(setting)) + "\n"
    for missing in explanation.unattached:
        why = f"{escape(missing.why)} ({code(short_place(missing.location), table=False)})"
        yield f"\n- {escape(names.key(missing.policy))}: {why}\n"
    for number, chain in enumerate(chains(paths, subject.node)[:6]):
        yield ("\n" if not number else "") + f"- {escape(chain)}\n"
    if radius is not None:
        total = len(subject.simulation.topology.routes)
        yield f"\n**Without {escape(names.key(radius.policy))}** (simulated): {escape(radius.headline(total))}\n"
        for fold in radius.folds:
            yield f"\n{escape(', '.join(map(names.key, fold.keys)))}\n\n```diff\n"
            for line in fold.lines:
                said = one_line(f"{line.name}  {line.words}").replace("`", "'")
                yield f"{'!' if line.sign == '~' else line.sign} {said}\n"
            yield "```\n"


def _cells(setting: Setting) -> tuple[str, ...]:
    value = escape(setting.summary(80)) if setting.state == "applies" else "-"
    origin = escape(setting.policy.path)
    if setting.location is not None:
        origin += f" {code(short_place(setting.location))}"
    level = level_of(setting.node)
    origin += f" ({escape(level)})" if level else ""
    return code(setting.field), value, origin, escape(how(setting))


def _policy(explanation: Explanation, names: Names) -> Iterator[str]:
    state, reach = explanation.state, explanation.reach
    assert state is not None and reach is not None
    by = f" by {', '.join(names.keys(state.by))}" if state.by else ""
    yield f"- verdict: {escape(state.verdict + by)}\n"
    if took := explanation.taken:
        yield f"- overrides: {escape(listing(took))}\n"
    for target in state.targets:
        problem = target.detail or target.problem or target.resolution.state
        yield f"- target: {escape(names.target(target))}: {escape(problem)}\n"
    yield f"\n{table_head('Object', 'Acts', 'Lost', 'To')}\n"
    for reached in reach.objects:
        lost, winners = escape(", ".join(reached.lost)), escape(", ".join(names.keys(reached.by)))
        extent = {"whole": "yes", "part": "in part", "none": "no"}[reached.extent]
        yield table_row(escape(names.key(reached.key)), extent, lost, winners) + "\n"
