"""One mermaid diagram of what changed: Gateways, routes and Services, and the policies that act on them.

Labels hold nothing but letters, digits and a few signs: the text may come from anybody, and is shown to everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from policylint.model import ResourceKey
from policylint.report.diff.wording import own_policies

if TYPE_CHECKING:
    from policylint.compare.change import ContextChange, EnvironmentChange, SubjectChange
    from policylint.policy.results import Effective

MOST_EDGES = 60
"""GitHub's limit is 500; nobody reads more than this."""
MOST_SUBJECTS = 8
MOST_ALIKE = 4
"""More subjects that change alike are one node; of a few each is drawn with all that acts on it."""
_LONGEST = 60


class _Diagram:
    """Nodes by key, edges once, both in the order in which they came; `more` is how many others a node stands for."""

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


def diagram(environment: EnvironmentChange, groups: Iterable[Sequence[SubjectChange]] = ()) -> str:
    """The diagram, "" where nothing is to be drawn; of many subjects that change alike the first stands for all."""
    several = [group for group in groups if len(group) > MOST_ALIKE]
    others = {each.key for group in several for each in group[1:]}
    drawn = _Diagram(
        {group[0].key: len(group) - 1 for group in several}
        | {key: len(group) - 1 for group in several for key in own_policies(group)}
    )
    subjects: dict[ResourceKey, None] = {}
    pairs: set[tuple[int, int, ResourceKey]] = set()
    for change in environment.contexts:
        subject = next(
            (node.key for node in reversed(change.path) if node.key.kind.endswith("Route")), change.path[-1].key
        )
        if subject in others or (subject not in subjects and len(subjects) == MOST_SUBJECTS):
            continue
        subjects.setdefault(subject)
        _skeleton(drawn, change)
        if (id(change.before), id(change.after), subject) not in pairs:
            pairs.add((id(change.before), id(change.after), subject))
            _policies(drawn, environment, change)
    return drawn.text() if drawn.edges else ""


def _skeleton(drawn: _Diagram, change: ContextChange) -> None:
    objects = list(
        dict.fromkeys(node.key for node in change.path if node.key.kind not in ("GatewayClass", "Namespace"))
    )
    for above, below in pairwise(objects):
        drawn.edge(drawn.node(above), "-->", drawn.node(below))


def _policies(drawn: _Diagram, environment: EnvironmentChange, change: ContextChange) -> None:
    before = {environment.renamed.get(key, key): node for key, node in _targets(change.before).items()}
    after = _targets(change.after)
    added = {each.key for each in environment.objects if each.change == "added"}
    for key in sorted(before.keys() | after.keys()):
        target = after.get(key) or before[key]
        gives = _fields(change.after, key)
        gave = _fields(change.before, key, environment)
        lost = sorted(gave - gives)
        mark = "+ " if key in added else "- " if key not in after else ""
        drawn.edge(
            drawn.node(key, mark, policy=True), _arrow(key in before, key in after, gives, lost), drawn.node(target)
        )


def _arrow(was: bool, is_there: bool, gives: set[str], lost: list[str]) -> str:
    """Thick for what is new, dotted for what goes, plain for what stays."""
    if not is_there:
        return f'-. "{clean(", ".join(lost) or "nothing")} (gone)" .->'
    if lost:
        return f'-. "{clean(", ".join(lost))} (replaced)" .->'
    if not gives:
        return '-. "does not apply" .->'
    label = clean(", ".join(sorted(gives)))
    return f'-- "{label}" -->' if was else f'== "{label}" ==>'


def _targets(effective: Effective | None) -> dict[ResourceKey, ResourceKey]:
    return {} if effective is None else {each.key: each.node.key for each in effective.stack}


def _fields(effective: Effective | None, key: ResourceKey, environment: EnvironmentChange | None = None) -> set[str]:
    if effective is None:
        return set()
    renamed = {} if environment is None else environment.renamed
    return {
        str(pointer[0]) for pointer, owner in effective.owners.items() if pointer and renamed.get(owner, owner) == key
    }


def clean(text: str) -> str:
    """A label without anything that mermaid or Markdown could read as more than text."""
    safe = re.sub(r"[^A-Za-z0-9 ./:_+,()*-]", "?", text)
    return safe if len(safe) <= _LONGEST else f"{safe[: _LONGEST - 3]}..."
