"""Positions in files: `Position`, and `Document`, plain data with the positions of its nodes packed beside it.

Positions are kept as two packed arrays of numbers in the order libyaml reports the nodes (docs/design/performance.md
§2a: keeping compose nodes costs eight times the memory). Documents in which that order differs from the data (anchors,
aliases, merge keys, duplicate keys) keep their text instead, and are read again for a tree of `NodePosition`s on
demand.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

Pointer = tuple[str | int, ...]
_END: Final = object()
_MANY: Final = 32
"""Items or keys of a container beyond which the indexes of all of them are kept."""


class Position(NamedTuple):
    """A position in a file: 1-based line, 1-based column counted in code points."""

    line: int
    column: int


class NodePosition:
    """The 0-based position of one node and, in a container, of its children; used for irregular documents only."""

    __slots__ = ("children", "column", "line")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column
        # A mapping's entries as key -> (position of the key, position of the value), or a sequence's items.
        self.children: dict[str, tuple[NodePosition, NodePosition]] | list[NodePosition] | None = None


class Document:
    """One YAML document: `value` as the API server would see it, and the positions of its nodes.

    `value` must be treated as read-only: data that aliases refer to is shared, not copied.

    Attributes:
        with_words: whether one of `scalars.WORDS` may stand in it.
    """

    __slots__ = (
        *("_children", "_columns", "_lines", "_reread", "_root", "_size", "_spans"),
        *("aliased", "base", "file", "line", "number", "value", "with_words"),
    )

    def __init__(
        self,
        file: str,
        number: int,
        value: Any,
        base: int,
        lines: array[int] | None,
        columns: array[int] | None,
        reread: Callable[[], NodePosition] | None = None,
        first_line: int = 0,
        size: int = 0,
        aliased: int = 0,
    ) -> None:
        """Take a value and its positions: arrays, or None with `reread`.

        Args:
            base: the 0-based line that the recorded lines count from.
            lines, columns: one number per node.
            reread: reads the document once more for the positions of its nodes, in place of arrays.
            first_line: with `reread`, the line on which the content starts, counted from `base`.
            size: with `reread`, the number of nodes, aliases expanded.
            aliased: how many nodes aliases stand for, beside those that are written.
        """
        self.file = file
        self.number = number
        self.value = value
        self.base = base
        self._lines = lines
        self._columns = columns
        self._reread = reread
        self._root: NodePosition | None = None
        self._spans: array[int] | None = None
        self._children: dict[int, dict[str | int, int]] | None = None
        self._size = size
        self.aliased = aliased
        self.with_words = False
        self.line = base + 1 + (first_line if lines is None else lines[0])

    def __repr__(self) -> str:
        return f"Document({self.file!r}, number={self.number}, line={self.line})"

    @property
    def size(self) -> int:
        """The number of nodes in it, keys included, aliases expanded."""
        return self._size if self._lines is None else len(self._lines)

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:
        """Return the position of the value (with `key`, of its key) at `pointer`, or of its nearest ancestor."""
        if self._reread is not None:
            if self._root is None:
                self._root = self._reread()
            node = _node_position(self._root, pointer, key)
            return Position(self.base + node.line + 1, node.column + 1)
        lines, columns = self._positions()
        index = self._index(pointer, key)
        return Position(self.base + lines[index] + 1, columns[index] + 1)

    def _positions(self) -> tuple[array[int], array[int]]:
        """Return the lines and columns of all nodes."""
        assert self._lines is not None and self._columns is not None
        return self._lines, self._columns

    def forget(self, pointer: Pointer) -> None:
        """Replace the mapping or list at `pointer` by an empty one, to free its memory.

        The positions of the rest stay right; pointers into it lead to the container itself.
        """
        *ancestors, last = pointer
        holder = self.value
        for step in ancestors:
            holder = holder[step]
        if self._reread is None:
            first = self._index(pointer, key=False)
            lines, columns = self._positions()
            assert self._spans is not None
            descendants = slice(first + 1, first + self._spans[first])
            del lines[descendants], columns[descendants]
            self._spans = self._children = None
        holder[last] = type(holder[last])()

    def _index(self, pointer: Pointer, key: bool) -> int:
        """Return an index into the arrays.

        The root is 0; after a mapping come key, value, key…, after a sequence its items.
        """
        if not pointer:
            return 0
        if self._spans is None:
            self._spans = _spans(self.value, len(self._positions()[0]))
        spans = self._spans
        node: Any = self.value
        index = 0
        for depth, step in enumerate(pointer):
            child = index + 1
            if isinstance(node, dict):
                if step not in node:
                    return index
                child = self._child(index, node, step) if len(node) > _MANY else _key(node, step, child, spans)
                if key and depth == len(pointer) - 1:
                    return child
                child += 1
            elif isinstance(node, list):
                if not isinstance(step, int) or not 0 <= step < len(node):
                    return index
                if step > _MANY:
                    child = self._child(index, node, step)
                else:
                    for _ in range(step):
                        child += spans[child]
            else:
                return index
            node = node[step]
            index = child
        return index

    def _child(self, index: int, node: dict[Any, Any] | list[Any], step: str | int) -> int:
        """Return the index of an item of a long list, or of a key of a long mapping; all of them are kept."""
        if self._children is None:
            self._children = {}
        children = self._children.get(index)
        if children is None:
            assert self._spans is not None
            children = self._children[index] = {}
            child = index + 1
            for name in node if isinstance(node, dict) else range(len(node)):
                children[name] = child
                child += self._spans[child] if isinstance(node, list) else 1 + self._spans[child + 1]
        return children[step]


def _key(node: dict[Any, Any], step: str | int, child: int, spans: array[int]) -> int:
    """Return the index of a key of a mapping whose first key is at `child`."""
    for name in node:
        if name == step:
            break
        child += 1 + spans[child + 1]
    return child


def _spans(value: Any, count: int) -> array[int]:
    """Return for every recorded index how many indexes its node takes, itself included."""
    spans = array("I", [1]) * count
    open_nodes: list[tuple[int, int, Iterator[Any]]] = []  # (index, indexes per step, values still to come)
    index = 0
    node = value
    while True:
        if isinstance(node, dict):
            open_nodes.append((index, 2, iter(node.values())))
        elif isinstance(node, list):
            open_nodes.append((index, 1, iter(node)))
        # Go on with the next value of the innermost container, closing those that have none left.
        while open_nodes:
            container, stride, values = open_nodes[-1]
            node = next(values, _END)
            if node is not _END:
                index += stride
                break
            spans[container] = index - container + 1
            open_nodes.pop()
        else:
            return spans


def _node_position(root: NodePosition, pointer: Pointer, key: bool) -> NodePosition:
    position = root
    for depth, step in enumerate(pointer):
        children = position.children
        if isinstance(children, dict):
            if not isinstance(step, str) or step not in children:
                return position
            name, value = children[step]
            if key and depth == len(pointer) - 1:
                return name
            position = value
        elif isinstance(children, list):
            if not isinstance(step, int) or not 0 <= step < len(children):
                return position
            position = children[step]
        else:
            return position
    return position
