"""The names of objects and sections in output (docs/design/interfaces.md §2), and what JSON formats say alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import Location, Node, ResourceKey
from policylint.report.kit.display import UNSEEN
from policylint.report.kit.secrets import masked

if TYPE_CHECKING:
    from policylint.policy.results import Effective, Target
    from policylint.simulation import Simulation
    from policylint.topology import ParentState

MOST_INDENTED = 5_000
"""Entries of all lists beyond which nothing is indented: Python indents slowly, and nobody reads more."""


class Names:
    """Object names: `HTTPRoute shop/checkout`, and `Kind.group ns/name` where two groups of the input share a kind."""

    __slots__ = ("_shared",)

    def __init__(self, keys: Iterable[ResourceKey]) -> None:
        groups: dict[str, set[str]] = {}
        for key in keys:
            groups.setdefault(key.kind, set()).add(key.group)
        self._shared = frozenset(kind for kind, sharing in groups.items() if len(sharing) > 1)

    @classmethod
    def of(cls, simulations: Iterable[Simulation]) -> Names:
        """Return the names for all objects of some environments."""
        return cls(key for simulation in simulations for key in simulation.world.resources)

    def kind(self, group: str, kind: str) -> str:
        return f"{kind}.{group}" if kind in self._shared and group else kind

    def key(self, key: ResourceKey) -> str:
        """Name an object; a key without a kind stands for no object (agentgateway's StatusSummary)."""
        return f"{self.kind(key.group, key.kind)} {key.path}" if key.kind else key.path

    def keys(self, keys: Iterable[ResourceKey]) -> list[str]:
        return sorted({self.key(key) for key in keys})

    def node(self, node: Node) -> str:
        """Name a node of a path: `Listener infra/edge#https`, `HTTPRouteRule shop/checkout#rule-1`."""
        return str(node) if node.section else self.key(node.key)

    def path(self, nodes: Sequence[Node]) -> list[str]:
        return [self.node(node) for node in nodes]

    def section(self, key: ResourceKey, section: str) -> str:
        """Name an ancestor or parent: `Gateway infra/edge#https`."""
        return f"{self.key(key)}#{section}" if section else self.key(key)

    def target(self, target: Target) -> str:
        if len(target.nodes) == 1:
            return self.node(target.nodes[0])
        if target.selector is not None:
            return self.key(target.key._replace(name="*"))
        return self.section(target.key, target.section)

    def target_and_trouble(self, target: Target) -> str:
        """Name a target, with the state of its resolution where something is wrong with it."""
        trouble = "" if target.resolution.found and not target.problem else f" ({target.resolution.state})"
        return self.target(target) + trouble

    def parent(self, parent: ParentState) -> str:
        return self.section(parent.wanted, parent.section) if parent.wanted.kind in self._shared else parent.text


def json_pointer(pointer: Pointer) -> str:
    """Return a pointer as RFC 6901 writes it."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)


def json_place(location: Location) -> dict[str, Any]:
    """Return file and line of a location."""
    return {"file": location.file, "line": location.at()[0]}


def json_losses(effective: Effective, names: Names) -> list[dict[str, str]]:
    """Return what an effective policy lost, sorted by pointer and policy."""
    lost = sorted((json_pointer(each.pointer), names.key(each.policy), names.keys(each.by)) for each in effective.lost)
    return [{"pointer": pointer, "policy": policy, "by": ", ".join(by)} for pointer, policy, by in lost]


def json_text(value: object) -> str:
    """Return a document as JSON, indented by two, with a newline at its end."""
    import json

    return visible_json(json.dumps(value, indent=2, ensure_ascii=False, default=str)) + "\n"


def json_lines(values: Iterable[object], between: str) -> str:
    """Return values as JSON, each on one line."""
    import json

    return visible_json(between.join(map(json.JSONEncoder(ensure_ascii=False, default=str).encode, values)))


def visible_json(text: str) -> str:
    r"""Return JSON that says the same with `\u202e` for a character that acts instead of being seen.

    Lone surrogates become `?`: no UTF-8 has them. Credentials do not leave.
    """
    text = masked(text)
    if text.isascii() and "\x7f" not in text:
        return text
    text = text.encode("utf-8", "replace").decode()
    return UNSEEN.sub(lambda match: "".join(f"\\u{unit:04x}" for unit in _units(match[0])), text)


def _units(char: str) -> tuple[int, ...]:
    """Return the UTF-16 code units of a character, which JSON's escapes are."""
    data = char.encode("utf-16-be")
    return tuple(int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2))
