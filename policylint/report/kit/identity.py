"""How objects and sections are called in output (docs/design/interfaces.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from policylint.documents import Pointer
from policylint.model import Node, ResourceKey

if TYPE_CHECKING:
    from policylint.policy.results import Target
    from policylint.topology import ParentState


class Names:
    """`HTTPRoute shop/checkout`, and `Kind.group ns/name` only where two groups of the input share that kind."""

    __slots__ = ("_shared",)

    def __init__(self, keys: Iterable[ResourceKey]) -> None:
        groups: dict[str, set[str]] = {}
        for key in keys:
            groups.setdefault(key.kind, set()).add(key.group)
        self._shared = frozenset(kind for kind, found in groups.items() if len(found) > 1)

    def kind(self, group: str, kind: str) -> str:
        return f"{kind}.{group}" if kind in self._shared and group else kind

    def key(self, key: ResourceKey) -> str:
        """A name without a kind stands for no object (agentgateway's StatusSummary)."""
        return f"{self.kind(key.group, key.kind)} {key.path}" if key.kind else key.path

    def keys(self, keys: Iterable[ResourceKey]) -> list[str]:
        return sorted({self.key(key) for key in keys})

    def node(self, node: Node) -> str:
        """In paths: `Listener infra/edge#https`, `HTTPRouteRule shop/checkout#rule-1`."""
        return str(node) if node.section else self.key(node.key)

    def path(self, nodes: Sequence[Node]) -> list[str]:
        return [self.node(node) for node in nodes]

    def section(self, key: ResourceKey, section: str) -> str:
        """Of ancestors and parents: `Gateway infra/edge#https`."""
        return f"{self.key(key)}#{section}" if section else self.key(key)

    def target(self, target: Target) -> str:
        if len(target.nodes) == 1:
            return self.node(target.nodes[0])
        if target.selector is not None:
            return self.key(target.key._replace(name="*"))
        return self.section(target.key, target.section)

    def parent(self, parent: ParentState) -> str:
        return self.section(parent.wanted, parent.section) if parent.wanted.kind in self._shared else parent.text


def json_pointer(pointer: Pointer) -> str:
    """RFC 6901."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)
