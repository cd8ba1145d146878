"""One mermaid diagram of what changed: Gateways, routes and Services, and the policies that act on them.

Labels hold nothing but letters, digits and a few signs: the text may come from anybody, and is shown to everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from policylint.model import ResourceKey
from policylint.report.diff.wording import alike, own_policies

if TYPE_CHECKING:
    from policylint.compare.change import ContextChange, EnvironmentChange, SubjectChange
    from policylint.policy.results import Effective
    from policylint.report.diff.report import DiffReport

MOST_EDGES = 60
"""GitHub's limit is 500; nobody reads more than this."""
MOST_SUBJECTS = 8
MOST_ALIKE = 4
"""More subjects that change alike are one node; each of a few is drawn with all that acts on it."""
_LONGEST = 60


class _Diagram:
    """A diagram of nodes by key and edges, in the order in which they come.

    Args:
        more: the number of other objects that a node stands for.
    """

    def __init__(self, more: Mapping[ResourceKey, int]) -> None:
        self._more = more
        self.nodes: dict[ResourceKey, str] = {}
        self.shapes: dict[ResourceKey, str] = {}
        self.edges: dict[tuple[str, str, str], None] = {}

    def node(self, key: ResourceKey, mark: str = "", policy: bool = False) -> str:
        if key not in self.nodes:
            number = len(self.nodes) + 1
            name = self.nodes[key] = f"{'p' if policy else 'n'}{number}"
            more = self._more.get(key, 0)
            label = clean(f"{mark}{key}") + (f" and {more} more" if more else "")
            self.shapes[key] = f'{name}(["{label}"])' if policy else f'{name}["{label}"]'
        return self.nodes[key]

    def edge(self, start: str, arrow: str, end: str) -> None:
        if len(self.edges) < MOST_EDGES:
            self.edges.setdefault((start, arrow, end))

    def text(self) -> str:
        used = {name for start, _, end in self.edges for name in (start, end)}
        lines = [f"  {shape}" for key, shape in self.shapes.items() if self.nodes[key] in used]
        lines += [f"  {start} {arrow} {end}" for start, arrow, end in self.edges]
        return "\n".join(["flowchart LR", *lines])


def drawings(report: DiffReport) -> Iterator[tuple[EnvironmentChange, str]]:
    """Yield the first environment of which there is something to draw, with its diagram."""
    for environment in report.comparison.environments:
        stored = None if report.diagrams is None else report.diagrams.get(environment.name, "")
        if drawn := diagram(environment, alike(environment.known)) if stored is None else stored:
            yield environment, drawn
            return


def diagram(environment: EnvironmentChange, groups: Iterable[Sequence[SubjectChange]] = ()) -> str:
    """Return the diagram, "" for an empty one; of many subjects that change alike the first stands for all."""
    several = [group for group in groups if len(group) > MOST_ALIKE]
    others = {subject.key for group in several for subject in group[1:]}
    more = {key: len(group) - 1 for group in several for key in (group[0].key, *own_policies(group))}
    drawn = _Diagram(more)
    subjects: dict[ResourceKey, None] = {}
    pairs: set[tuple[int, int, ResourceKey]] = set()
    for change in environment.contexts:
        keys = [node.key for node in reversed(change.path)]
        subject = next((key for key in keys if key.kind.endswith("Route")), keys[0])
        if subject in others or (subject not in subjects and len(subjects) == MOST_SUBJECTS):
            continue
        subjects.setdefault(subject)
        _skeleton(drawn, change)
        if (id(change.before), id(change.after), subject) not in pairs:
            pairs.add((id(change.before), id(change.after), subject))
            _policies(drawn, environment, change)
    return drawn.text() if drawn.edges else ""


def _skeleton(drawn: _Diagram, change: ContextChange) -> None:
    objects = dict.fromkeys(node.key for node in change.path if node.key.kind not in ("GatewayClass", "Namespace"))
    for above, below in pairwise(objects):
        drawn.edge(drawn.node(above), "-->", drawn.node(below))


def _policies(drawn: _Diagram, environment: EnvironmentChange, change: ContextChange) -> None:
    before = {environment.renamed.get(key, key): node for key, node in _targets(change.before).items()}
    after = _targets(change.after)
    added = {touched.key for touched in environment.objects if touched.change == "added"}
    for key in sorted(before.keys() | after.keys()):
        target = after.get(key) or before[key]
        gives = _fields(change.after, key, {})
        lost = sorted(_fields(change.before, key, environment.renamed) - gives)
        mark = "+ " if key in added else "- " if key not in after else ""
        arrow = _arrow(key in before, key in after, gives, lost)
        drawn.edge(drawn.node(key, mark, policy=True), arrow, drawn.node(target))


def _arrow(was: bool, is_there: bool, gives: set[str], lost: list[str]) -> str:
    """Return a thick arrow for a new attachment, a dotted one for what goes, a plain one for what stays."""
    if not is_there:
        return f'-. "{clean(", ".join(lost) or "nothing")} (gone)" .->'
    if lost:
        return f'-. "{clean(", ".join(lost))} (replaced)" .->'
    if not gives:
        return '-. "does not apply" .->'
    label = clean(", ".join(sorted(gives)))
    return f'-- "{label}" -->' if was else f'== "{label}" ==>'


def _targets(effective: Effective | None) -> dict[ResourceKey, ResourceKey]:
    return {} if effective is None else {attachment.key: attachment.node.key for attachment in effective.stack}


def _fields(effective: Effective | None, key: ResourceKey, renamed: Mapping[ResourceKey, ResourceKey]) -> set[str]:
    owners = {} if effective is None else effective.owners
    return {str(pointer[0]) for pointer, owner in owners.items() if pointer and renamed.get(owner, owner) == key}


def clean(text: str) -> str:
    """Replace all that mermaid or Markdown could read as more than text."""
    safe = re.sub(r"[^A-Za-z0-9 ./:_+,()*-]", "?", text)
    return safe if len(safe) <= _LONGEST else f"{safe[: _LONGEST - 3]}..."
