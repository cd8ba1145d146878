"""Where things are written: `Position`, and `Document`, plain data with the positions packed beside it.

Positions are kept as two packed arrays of numbers in the order libyaml reports the nodes (docs/design/performance.md
§2a: keeping compose nodes costs eight times the memory). Documents in which that order differs from the data (anchors,
aliases, merge keys, duplicate keys) keep their text instead, and are read again for a tree of `Spot`s when somebody
asks.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

Pointer = tuple[str | int, ...]
_END: Final = object()
_WIDTHS: Final = {":": "H", "!": "I"}
"""How many bytes a number takes, by what a text of packed positions starts with."""


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


def _unpacked(text: str, value: Any) -> tuple[array[int], array[int], array[int]]:
    """Lines, columns and spans of a value, from what the cache keeps of them (documents/serialize.py); nothing where
    they do not belong to the value."""
    from base64 import b64decode

    kind = _WIDTHS.get(text[:1], "B")
    numbers = array(kind)
    try:
        numbers.frombytes(b64decode(text[kind != "B" :], validate=True))
        count = len(numbers) // 2
        spans = _spans(value, count)
        if len(numbers) == 2 * count and spans and spans[0] == count:
            return numbers[:count], numbers[count:], spans
    except (ValueError, IndexError):
        pass
    return array("I"), array("I"), array("I")


class Document:
    """One YAML document: `value` as the API server would see it, and the position of everything in it.

    `value` must be treated as read-only: what an alias stands for is shared, not copied.
    """

    __slots__ = ("_columns", "_lines", "_root", "_spans", "again", "base", "file", "line", "number", "value")

    def __init__(
        self,
        file: str,
        number: int,
        value: Any,
        base: int,
        lines: array[int] | str | None,
        columns: array[int] | None,
        again: Callable[[], Spot] | None = None,
        first_line: int = 0,
    ) -> None:
        """`base` is the 0-based line that the recorded lines count from.

        `again` replaces the arrays when given: it reads the document once more for the spots of its nodes, and
        `first_line` is then the line, from `base`, on which its content starts. A text stands for both arrays, packed;
        `first_line` is then the line in the file, 1-based.
        """
        self.file = file
        self.number = number
        self.value = value
        self.base = base
        self._lines = lines
        self._columns = columns
        self.again = again
        self._root: Spot | None = None
        self._spans: array[int] | None = None
        if isinstance(lines, str):
            self.line = first_line
        else:
            self.line = base + 1 + (first_line if lines is None else lines[0])

    def __repr__(self) -> str:
        return f"Document({self.file!r}, number={self.number}, line={self.line})"

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:
        """Position of the value at `pointer` (of its key token with `key`), or of its nearest existing ancestor."""
        if self.again is not None:
            if self._root is None:
                self._root = self.again()
            spot = _spot(self._root, pointer, key)
            return Position(self.base + spot.line + 1, spot.column + 1)
        lines, columns = self.positions()
        if not lines:
            return Position(self.line, 1)
        index = self._index(pointer, key)
        return Position(self.base + lines[index] + 1, columns[index] + 1)

    def positions(self) -> tuple[array[int], array[int]]:
        """The lines and columns of all nodes; empty where they are not known."""
        lines, columns = self._lines, self._columns
        if isinstance(lines, str):
            lines, columns, self._spans = _unpacked(lines, self.value)
            self._lines, self._columns = lines, columns
        assert lines is not None and columns is not None
        return lines, columns

    def forget(self, pointer: Pointer) -> None:
        """Replace the mapping or list at `pointer` by an empty one, to free what it takes. Positions of what is left
        stay right; what was in it has the position of the container itself."""
        *above, last = pointer
        holder = self.value
        for step in above:
            holder = holder[step]
        if self.again is None:
            first = self._index(pointer, key=False)
            lines, columns = self.positions()
            assert self._spans is not None
            rest = slice(first + 1, first + self._spans[first])
            del lines[rest], columns[rest]
            self._spans = None
        holder[last] = type(holder[last])()

    def _index(self, pointer: Pointer, key: bool) -> int:
        """Index into the arrays. The root is 0; behind a mapping come key, value, key…, behind a sequence its items."""
        if self._spans is None:
            self._spans = _spans(self.value, len(self.positions()[0]))
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
