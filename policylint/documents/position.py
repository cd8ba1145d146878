"""Where things are written: `Position`, and `Document`, plain data with the positions packed beside it.

Positions are kept as two packed arrays of numbers in the order libyaml reports the nodes (performance.md §2a: keeping
compose nodes costs eight times the memory). Documents in which that order differs from the data (anchors, aliases,
merge keys, duplicate keys) keep their text instead, and are read again for a tree of `Spot`s when somebody asks.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

Pointer = tuple[str | int, ...]
_END: Final = object()


class Position(NamedTuple):
    """A place in a file: 1-based line, 1-based column counted in code points."""

    line: int
    column: int


class Spot:
    """Position of one node (0-based) and, for containers, of what is in it; used for irregular documents only."""

    __slots__ = ("children", "column", "line")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column
        # A mapping's entries as key -> (spot of the key token, spot of the value), or a sequence's items.
        self.children: dict[str, tuple[Spot, Spot]] | list[Spot] | None = None


class Document:
    """One YAML document: `value` as the API server would see it, and the position of everything in it.

    `value` must be treated as read-only: what an alias stands for is shared, not copied.
    """

    __slots__ = ("_again", "_base", "_columns", "_lines", "_root", "_spans", "file", "line", "number", "value")

    def __init__(
        self,
        file: str,
        number: int,
        value: Any,
        base: int,
        lines: array[int],
        columns: array[int],
        again: Callable[[], Spot] | None = None,
        first_line: int = 0,
    ) -> None:
        """`base` is the 0-based line that the recorded lines count from.

        `again` replaces the arrays when given: it reads the document once more for the spots of its nodes, and
        `first_line` is then the line, from `base`, on which its content starts.
        """
        self.file = file
        self.number = number
        self.value = value
        self._base = base
        self._lines = lines
        self._columns = columns
        self._again = again
        self._root: Spot | None = None
        self._spans: array[int] | None = None
        self.line = base + 1 + (first_line if again is not None else lines[0])

    def __repr__(self) -> str:
        return f"Document({self.file!r}, number={self.number}, line={self.line})"

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:
        """Position of the value at `pointer` (of its key token with `key`), or of its nearest existing ancestor."""
        if self._again is not None:
            if self._root is None:
                self._root = self._again()
            spot = _spot(self._root, pointer, key)
            return Position(self._base + spot.line + 1, spot.column + 1)
        index = self._index(pointer, key)
        return Position(self._base + self._lines[index] + 1, self._columns[index] + 1)

    def forget(self, pointer: Pointer) -> None:
        """Replace the mapping or list at `pointer` by an empty one, to free what it takes. Positions of what is left
        stay right; what was in it has the position of the container itself."""
        *above, last = pointer
        holder = self.value
        for step in above:
            holder = holder[step]
        if self._again is None:
            first = self._index(pointer, key=False)
            assert self._spans is not None
            rest = slice(first + 1, first + self._spans[first])
            del self._lines[rest], self._columns[rest]
            self._spans = None
        holder[last] = type(holder[last])()

    def _index(self, pointer: Pointer, key: bool) -> int:
        """Index into the arrays. The root is 0; behind a mapping come key, value, key…, behind a sequence its items."""
        if self._spans is None:
            self._spans = _spans(self.value, len(self._lines))
        spans = self._spans
        node: Any = self.value
        here = 0
        for depth, step in enumerate(pointer):
            child = here + 1
            if isinstance(node, dict):
                if step not in node:
                    return here
                for name in node:
                    if name == step:
                        break
                    child += 1 + spans[child + 1]
                if key and depth == len(pointer) - 1:
                    return child
                child += 1
            elif isinstance(node, list):
                if not isinstance(step, int) or not 0 <= step < len(node):
                    return here
                for _ in range(step):
                    child += spans[child]
            else:
                return here
            node = node[step]
            here = child
        return here


def _spans(value: Any, count: int) -> array[int]:
    """For every recorded index the number of indexes its node takes, itself included; computed on first use only."""
    spans = array("I", [1]) * count
    open_nodes: list[tuple[int, int, Iterator[Any]]] = []  # (index, indexes per step, values still to come)
    here = 0
    node = value
    while True:
        if isinstance(node, dict):
            open_nodes.append((here, 2, iter(node.values())))
        elif isinstance(node, list):
            open_nodes.append((here, 1, iter(node)))
        while open_nodes:
            container, stride, values = open_nodes[-1]
            node = next(values, _END)
            if node is not _END:
                here += stride
                break
            spans[container] = here - container + 1
            open_nodes.pop()
        else:
            return spans


def _spot(root: Spot, pointer: Pointer, key: bool) -> Spot:
    here = root
    for depth, step in enumerate(pointer):
        children = here.children
        if isinstance(children, dict):
            if not isinstance(step, str) or step not in children:
                return here
            name, value = children[step]
            if key and depth == len(pointer) - 1:
                return name
            here = value
        elif isinstance(children, list):
            if not isinstance(step, int) or not 0 <= step < len(children):
                return here
            here = children[step]
        else:
            return here
    return here
