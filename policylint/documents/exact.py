"""The loader for everything unusual: anchors, aliases, merge keys, tags, duplicate keys, limits and errors.

It builds the same data as `fast.load`, with a tree of `NodePosition`s, follows goyaml.v2 (sigs.k8s.io/yaml) where
YAML leaves a choice, and is the only place that words errors. Iterative throughout: depth is bounded by MAX_DEPTH.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from policylint.documents.events import Binding
from policylint.documents.fast import has_exotic_breaks
from policylint.documents.position import NodePosition, Pointer
from policylint.documents.problem import ALIAS_BOMB, MAX_DEPTH, MAX_NODES, TOO_DEEP, YAML_SYNTAX
from policylint.documents.scalars import KEYS, PLAIN, ScalarError, key_of_value, resolve_tagged
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_LINE_BREAK: Final = Pattern(r"\r\n|\n|\r")
_PROPERTIES: Final = Pattern(r"(?:(?:!<[^>\s]*>|[&!][^\s,\[\]{}]*)(?:\s|(?<=\s)#[^\r\n]*)*)+")
_NOTHING: Final[set[str]] = set()
# What may come next in a container.
_KEY: Final = "key"
_VALUE: Final = "value"
_MERGE: Final = "merge"
_ITEM: Final = "item"
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"


class RefusedError(Exception):
    """The document cannot be read: a problem's code, message and 0-based position.

    `context_line` is the 0-based line on which what the message calls `context` starts.
    """

    def __init__(self, code: str, message: str, line: int, column: int, context_line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self.context_line = context_line


class Duplicate(NamedTuple):
    """A key given twice in one mapping: the pointer, the position of the later key, the 0-based line of the first."""

    pointer: Pointer
    position: NodePosition
    first_line: int


class ExactResult:
    """The documents of a chunk, each with its position and its number of nodes; `refused` is the error at which reading
    ended, None if it reached the end. `aliased` is the number of nodes that aliases stand for, beside those written."""

    __slots__ = ("aliased", "documents", "duplicates", "refused")

    def __init__(self) -> None:
        self.documents: list[tuple[Any, NodePosition, int]] = []
        self.duplicates: list[Duplicate] = []
        self.aliased = 0
        self.refused: RefusedError | None = None


class _Node:
    """A finished node: its value, its position, its number of nodes with aliases expanded, its height."""

    __slots__ = ("height", "position", "size", "value")

    def __init__(self, value: Any, position: NodePosition, size: int, height: int) -> None:
        self.value = value
        self.position = position
        self.size = size
        self.height = height


class _Frame:
    """A container that is still open."""

    __slots__ = (
        "anchor",
        "children",
        "firsts",
        "height",
        "key",
        "key_position",
        "merged",
        "position",
        "size",
        "value",
        "wants",
    )

    def __init__(self, value: Any, position: NodePosition, anchor: str | None) -> None:
        self.value = value
        self.position = position
        self.anchor = anchor
        self.children: Any = {} if value.__class__ is dict else []
        position.children = self.children
        self.wants = _KEY if value.__class__ is dict else _ITEM
        self.size = 1
        self.height = 0
        self.key = ""  # the key whose value comes next
        self.key_position = position
        self.merged: set[str] = _NOTHING  # keys that came by `<<` and were not written here
        self.firsts: dict[str, int] | None = None  # lines on which keys given more than once stand first


def load(data: bytes, text: str, binding: Binding) -> ExactResult:
    """Read every document of a chunk up to the first error. `text` is `data`, decoded."""
    result = ExactResult()
    try:
        _Loader(data, text, binding, result).run()
    except RefusedError as refused:
        # Without its traceback: that keeps the frames of all callers, with all that they ever held.
        refused.__cause__ = refused.__context__ = None
        result.refused = refused.with_traceback(None)
    return result


class _Loader:
    def __init__(self, data: bytes, text: str, binding: Binding, result: ExactResult) -> None:
        self.text = text
        self.binding = binding
        self.result = result
        # libyaml's own lines are right unless the text has breaks that only libyaml takes for breaks.
        self.recount = has_exotic_breaks(data)
        self.starts: list[int] = []
        self.parser = binding.parser(data)
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Node | None] = {}  # None: the anchored container is still open
        self.root: _Node | None = None

    def run(self) -> None:
        try:
            self.documents()
        except self.binding.error as error:
            raise self.syntax_error(error) from error

    def documents(self) -> None:
        binding = self.binding
        scalar, mapping_start, mapping_end = binding.scalar, binding.mapping_start, binding.mapping_end
        get, add_scalar, stack = self.parser.get_event, self.scalar, self.stack
        while True:
            event = get()
            kind = event.__class__
            if kind is scalar:
                frame = stack[-1] if stack else None
                if frame is None or event.anchor is not None or event.tag is not None or self.recount:
                    add_scalar(event)
                    continue
                # What `scalar` does, for nine scalars of ten.
                mark = event.start_mark
                if frame.wants is _KEY:
                    if event.implicit[0]:
                        if event.value == "<<":
                            add_scalar(event)
                            continue
                        key = KEYS[event.value]
                    else:
                        key = event.value
                    if key in frame.children:
                        self.key(key, NodePosition(mark.line, mark.column))
                        continue
                    frame.key = key
                    frame.key_position = NodePosition(mark.line, mark.column)
                    frame.wants = _VALUE
                    continue
                value = PLAIN[event.value] if event.implicit[0] else event.value
                self.add(value, NodePosition(mark.line, mark.column), 1, 0)
            elif kind is mapping_start:
                self.open(event, {})
            elif kind is binding.sequence_start:
                self.open(event, [])
            elif kind is mapping_end or kind is binding.sequence_end:
                self.close()
            elif kind is binding.alias:
                self.alias(event)
            elif kind is binding.stream_end:
                return
            elif kind is binding.document_start:
                self.anchors.clear()
            elif self.root is not None:  # the end of a document
                self.result.documents.append((self.root.value, self.root.position, self.root.size))
                self.root = None

    def position_at(self, index: int) -> NodePosition:
        """Return the position of a code point, by the line breaks that editors know."""
        if not self.starts:
            self.starts = [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]
        line = bisect_right(self.starts, index) - 1
        return NodePosition(line, index - self.starts[line])

    def node_position(self, event: Any) -> NodePosition:
        """Return the position of the node itself, after its anchor and tag."""
        mark = event.start_mark
        if event.anchor is None and event.tag is None:
            return self.position_at(mark.index) if self.recount else NodePosition(mark.line, mark.column)
        match = _PROPERTIES.match(self.text, mark.index)
        # Behind the properties of an empty scalar stands something else.
        is_written = not hasattr(event, "value") or event.value or not event.implicit[0] or event.style
        return self.position_at(match.end() if match is not None and is_written else mark.index)

    def refuse(self, code: str, message: str, index: int) -> RefusedError:
        position = self.position_at(index)
        return RefusedError(code, message, position.line, position.column)

    def scalar(self, event: Any) -> None:
        position = self.node_position(event)
        tag, text = event.tag, event.value
        plain = tag is None and event.implicit[0]
        frame = self.stack[-1] if self.stack else None
        as_key = frame is not None and frame.wants is _KEY
        if as_key and text == "<<" and (plain or tag == _MERGE_TAG):
            assert frame is not None
            frame.wants = _MERGE
            frame.key_position = position
            return
        try:
            if tag is not None and tag != "!":
                value = resolve_tagged(tag, text)
            else:  # `! 5` is a string for goyaml
                value = PLAIN[text] if plain else text
        except ScalarError as error:
            raise RefusedError(YAML_SYNTAX, str(error), position.line, position.column) from error
        if event.anchor is not None:
            self.anchors[event.anchor] = _Node(value, position, 1, 0)
        if as_key:
            self.key(KEYS[text] if plain else key_of_value(value), position)
        else:
            self.add(value, position, 1, 0)

    def alias(self, event: Any) -> None:
        index = event.start_mark.index
        if event.anchor not in self.anchors:
            raise self.refuse(YAML_SYNTAX, f"alias *{event.anchor} has no anchor before it in this document", index)
        node = self.anchors[event.anchor]
        if node is None:
            raise self.refuse(YAML_SYNTAX, f"what anchor &{event.anchor} stands for contains itself", index)
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.wants is _KEY:
            if isinstance(node.value, (dict, list)):
                raise self.refuse(YAML_SYNTAX, "a mapping or list cannot be a key", index)
            self.key(key_of_value(node.value), self.position_at(index))
            return
        if len(self.stack) + node.height > MAX_DEPTH:
            raise self.refuse(TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels with aliases expanded", index)
        if sum(frame.size for frame in self.stack) + node.size > MAX_NODES:
            raise self.refuse(ALIAS_BOMB, f"aliases expand to more than {MAX_NODES:,} nodes", index)
        self.result.aliased += node.size
        self.add(node.value, node.position, node.size, node.height)

    def open(self, event: Any, value: Any) -> None:
        index = event.start_mark.index
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.wants is _KEY:
            raise self.refuse(YAML_SYNTAX, "a mapping or list cannot be a key", index)
        if len(self.stack) >= MAX_DEPTH:
            raise self.refuse(TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels", index)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(_Frame(value, self.node_position(event), event.anchor))

    def close(self) -> None:
        frame = self.stack.pop()
        if frame.anchor is not None:
            self.anchors[frame.anchor] = _Node(frame.value, frame.position, frame.size, frame.height + 1)
        self.add(frame.value, frame.position, frame.size, frame.height + 1)

    def key(self, key: str, position: NodePosition) -> None:
        frame = self.stack[-1]
        if key in frame.children:
            if key in frame.merged:
                frame.merged.discard(key)
            else:
                if frame.firsts is None:
                    frame.firsts = {}
                first = frame.firsts.setdefault(key, frame.children[key][0].line)
                self.result.duplicates.append(Duplicate((*self.pointer(), key), position, first))
        frame.key = key
        frame.key_position = position
        frame.wants = _VALUE

    def pointer(self) -> Pointer:
        """Return the pointer of the innermost open container."""
        steps: list[str | int] = []
        for frame in self.stack[:-1]:
            if frame.wants is _ITEM:
                steps.append(len(frame.value))
            elif frame.wants is _VALUE:  # what is merged has no pointer of its own
                steps.append(frame.key)
        return tuple(steps)

    def add(self, value: Any, position: NodePosition, size: int, height: int) -> None:
        """Add a finished node to the open container, or make it the root."""
        if not self.stack:
            self.root = _Node(value, position, size, height)
            return
        frame = self.stack[-1]
        frame.size += size
        if height > frame.height:
            frame.height = height
        if frame.wants is _ITEM:
            frame.value.append(value)
            frame.children.append(position)
            return
        if frame.wants is _VALUE:
            frame.value[frame.key] = value
            frame.children[frame.key] = (frame.key_position, position)
        else:
            self.merge(frame, value, position)
        frame.wants = _KEY

    def merge(self, frame: _Frame, value: Any, position: NodePosition) -> None:
        """Merge as goyaml.v2 does: `<<` overwrites the keys before it, and the keys after it overwrite its own.

        Of a list of mappings the earlier ones win.
        """
        sources = [(value, position)]
        if isinstance(value, list) and isinstance(position.children, list):
            sources = list(zip(reversed(value), reversed(position.children), strict=True))
        for source, position_tree in sources:
            if not isinstance(source, dict) or not isinstance(position_tree.children, dict):
                place = frame.key_position
                raise RefusedError(YAML_SYNTAX, "`<<` takes a mapping or a list of mappings", place.line, place.column)
            frame.value.update(source)
            frame.children.update(position_tree.children)
            if frame.merged is _NOTHING:
                frame.merged = set()
            frame.merged.update(source)

    def syntax_error(self, error: Any) -> RefusedError:
        """Return libyaml's error in its own words, with the line its context starts on if it names one."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        message = _reason(error)
        if mark is None:  # the reader: control characters
            index = getattr(error, "position", 0)
            return self.refuse(YAML_SYNTAX, f"character not allowed in YAML: {message}", min(index, len(self.text)))
        context, start = getattr(error, "context", None), getattr(error, "context_mark", None)
        refused = self.refuse(YAML_SYNTAX, f"{message} {context}" if context else message, mark.index)
        if context and start is not None:
            refused.context_line = self.position_at(start.index).line
        return refused


def _reason(error: Any) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML")
