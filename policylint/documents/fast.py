"""The hot loops: libyaml events to plain data, for chunks without anything unusual, and for those that name scalars.

The first one keeps packed positions. The second one takes anchors and aliases of values, which is what most chunks
with anchors have, and keeps none: what stands where is read again by `exact` when it is asked for. Anchors of keys,
tags, merge keys, duplicate keys, odd keys, great depth and errors are not handled here: a loop raises, and
`exact.load` reads the chunk again. So they stay tight loops (docs/design/performance.md §2a).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from policylint.documents.events import Binding
from policylint.documents.events import binding as default_binding
from policylint.documents.problem import MAX_DEPTH, MAX_NODES
from policylint.documents.scalars import KEYS, PLAIN
from policylint.patterns import Pattern

# Node properties stand at the start of a token. Each pattern starts with a literal, which is searched for fast.
_ANCHOR: Final = Pattern(rb"&(?<=[\s\[\]{},:?-]&)[^\s&=]")
_TAG: Final = Pattern(rb"!(?<=[\s\[\]{},:?-]!)(?<!\(\?!)[^&=]")  # but `(?!`, of expressions, is inside of a scalar


class IrregularError(Exception):
    """The chunk needs the exact loader."""


_ODD_TAG: Final = Pattern(rb"![&=]")
_BEFORE_NODES: Final = b"\r[]{},:?-"
_NEAR: Final = 256
"""Bytes before such a word that are looked at."""
_MARK = b"\xef\xbb\xbf"
"""A byte order mark, before which a tag need not stand apart."""


def is_candidate(data: bytes) -> bool:
    """Return whether the chunk has neither tags nor exotic line breaks; False when in doubt.

    The loops in C tell tags themselves, and from all else that has exclamation marks (scripts, expressions of CEL).
    """
    return (
        data[:1] != b"\xef"  # a byte order mark, perhaps: libyaml takes what follows for the beginning
        and (b"!" not in data or _compiled() is not None or not may_have_tags(data))
        and not has_exotic_breaks(data)
    )


def may_have_tags(data: bytes) -> bool:
    """Return whether the chunk may have tags, as far as a look at it tells."""
    return b"!" in data and (_TAG.search(data) is not None or data[:1] == b"!" or _MARK in data or _has_odd_tags(data))


def _has_odd_tags(data: bytes) -> bool:
    """Return whether a node may begin with `!&` or `!=`: tags there, and operators of expressions elsewhere."""
    for found in _ODD_TAG.finditer(data):
        at = found.start()
        line = data[max(0, at - _NEAR) : at].rpartition(b"\n")[2].rstrip(b" \t")
        if not line or line[-1] in _BEFORE_NODES or line.split()[-1].startswith(b"&"):
            return True
    return False


def has_anchors(data: bytes) -> bool:
    """Return whether the chunk may have anchors."""
    return b"&" in data and (_ANCHOR.search(data) is not None or data[:1] == b"&")


def has_exotic_breaks(data: bytes) -> bool:
    """Return whether a text has U+0085, U+2028 or U+2029: line breaks for libyaml, but not for any editor."""
    return b"\xe2\x80\xa8" in data or b"\xe2\x80\xa9" in data or b"\xc2\x85" in data


def load(data: bytes, binding: Binding | None = None) -> list[tuple[Any, array[int], array[int]]]:
    """Return (value, lines, columns) of every document in `data`, with two bytes a number wherever that is enough.

    Args:
        binding: what the loop here reads by; by default the same loop in C, where that was built.

    Raises:
        IrregularError: something the loop does not handle, or the parser refuses.
    """
    if binding is None and (compiled := _compiled()) is not None:
        return compiled(data, False)  # type: ignore[no-any-return]
    events = binding or default_binding()
    try:
        try:
            return _load(data, events, "H")
        except OverflowError:
            return _load(data, events, "I")
    except events.error as error:
        raise IrregularError from error


def load_named(data: bytes, binding: Binding | None = None) -> tuple[list[tuple[Any, int, int]], int]:
    """Return (value, line, number of nodes) of every document in `data`, and for how many of these aliases stand.

    Args:
        binding: as for `load`.

    Raises:
        IrregularError: the same; among it anchors of keys and of the outermost container, aliases as keys.
    """
    if binding is None and (compiled := _compiled()) is not None:
        return compiled(data, True)  # type: ignore[no-any-return]
    events = binding or default_binding()
    try:
        return _load_named(data, events)
    except events.error as error:
        raise IrregularError from error


@cache
def _compiled() -> Callable[[bytes, bool], Any] | None:
    """Return the loops in C, which take a text and whether it has anchors; None where they were not built."""
    try:
        from policylint.documents._reader import read as loops
    except ImportError:
        return None
    return lambda data, has_names: loops(data, has_names, PLAIN, KEYS, array, IrregularError, MAX_DEPTH, MAX_NODES)


def _load(data: bytes, binding: Binding, size: str) -> list[tuple[Any, array[int], array[int]]]:
    """Do the same with positions of one size (a type code of `array`).

    Raises:
        IrregularError: something the loop does not handle.
        OverflowError: a line or column does not fit.
        Exception: the parser's own error (`binding.error`).
    """
    get = binding.parser(data).get_event
    scalar, mapping_start, mapping_end = binding.scalar, binding.mapping_start, binding.mapping_end
    sequence_start, sequence_end = binding.sequence_start, binding.sequence_end
    document_start, stream_end = binding.document_start, binding.stream_end
    scalars, keys = PLAIN, KEYS
    documents: list[tuple[Any, array[int], array[int]]] = []
    while True:
        kind = get().__class__
        if kind is stream_end:
            return documents
        if kind is not document_start:
            continue
        lines, columns = array(size), array(size)
        add_line, add_column = lines.append, columns.append
        root: list[Any] = []
        container: Any = root
        append: Any = root.append  # None while in a mapping
        key = ""
        stack: list[tuple[Any, Any]] = []
        while True:
            event = get()
            kind = event.__class__
            if append is None:
                if kind is scalar:
                    mark = event.start_mark
                    add_line(mark.line)
                    add_column(mark.column)
                    key = keys[event.value] if event.implicit[0] else event.value
                    if key in container:
                        raise IrregularError
                    event = get()
                    kind = event.__class__
                    if kind is scalar:
                        mark = event.start_mark
                        add_line(mark.line)
                        add_column(mark.column)
                        container[key] = scalars[event.value] if event.implicit[0] else event.value
                        continue
                elif kind is mapping_end:
                    container, append = stack.pop()
                    continue
                else:
                    raise IrregularError
            elif kind is scalar:
                mark = event.start_mark
                add_line(mark.line)
                add_column(mark.column)
                append(scalars[event.value] if event.implicit[0] else event.value)
                continue
            elif kind is sequence_end:
                container, append = stack.pop()
                continue
            elif not stack and root:  # the end of the document
                break
            child: Any
            if kind is mapping_start:
                child = {}
            elif kind is sequence_start:
                child = []
            else:
                raise IrregularError
            mark = event.start_mark
            add_line(mark.line)
            add_column(mark.column)
            if append is None:
                container[key] = child
            else:
                append(child)
            stack.append((container, append))
            if len(stack) > MAX_DEPTH:
                raise IrregularError
            container = child
            append = None if kind is mapping_start else child.append
        documents.append((root[0], lines, columns))


def _load_named(data: bytes, binding: Binding) -> tuple[list[tuple[Any, int, int]], int]:
    """Read documents whose values may have anchors.

    Raises:
        IrregularError: something the loop does not handle.
        Exception: the parser's own error (`binding.error`).
    """
    get = binding.parser(data).get_event
    scalar, mapping_start, mapping_end = binding.scalar, binding.mapping_start, binding.mapping_end
    sequence_start, sequence_end, alias = binding.sequence_start, binding.sequence_end, binding.alias
    document_start, stream_end = binding.document_start, binding.stream_end
    scalars, keys = PLAIN, KEYS
    documents: list[tuple[Any, int, int]] = []
    aliased = 0
    while True:
        kind = get().__class__
        if kind is stream_end:
            return documents, aliased
        if kind is not document_start:
            continue
        event = get()
        kind = event.__class__
        root: Any = {} if kind is mapping_start else []
        if event.anchor is not None or (kind is not mapping_start and kind is not sequence_start):
            raise IrregularError
        line, nodes, deepest = event.start_mark.line, 1, 1
        named: dict[str, Any] = {}  # a scalar, or (container, nodes, height), () while that is open
        container: Any = root
        append: Any = None if kind is mapping_start else root.append  # None while in a mapping
        key = ""
        stack: list[tuple[Any, Any, tuple[str, int, int] | None]] = []
        while True:
            event = get()
            kind = event.__class__
            if kind is mapping_end or kind is sequence_end:
                if not stack:
                    break
                closed = container
                container, append, opened = stack.pop()
                if opened is not None:
                    name, counted, before = opened
                    named[name] = closed, nodes - counted + 1, deepest - len(stack) - 1
                    deepest = max(deepest, before)
                continue
            if append is None:
                if kind is not scalar or event.anchor is not None:
                    raise IrregularError
                key = keys[event.value] if event.implicit[0] else event.value
                if key in container:
                    raise IrregularError
                event = get()
                kind = event.__class__
            nodes += 1
            value: Any
            if kind is scalar:
                value = scalars[event.value] if event.implicit[0] else event.value
                if event.anchor is not None:
                    named[event.anchor] = value
            elif kind is alias:
                if event.anchor not in named:
                    raise IrregularError
                value = named[event.anchor]
                if value.__class__ is tuple:
                    if not value:  # it holds itself
                        raise IrregularError
                    value, size, height = value
                    nodes += size - 1
                    aliased += size - 1
                    deepest = max(deepest, len(stack) + 1 + height)
                    if deepest > MAX_DEPTH or nodes > MAX_NODES:
                        raise IrregularError
                aliased += 1
            else:
                if len(stack) >= MAX_DEPTH - 1:
                    raise IrregularError
                value = {} if kind is mapping_start else []
            if append is None:
                container[key] = value
            else:
                append(value)
            if kind is mapping_start or kind is sequence_start:
                opened = None
                if event.anchor is not None:
                    opened = event.anchor, nodes, deepest
                    named[event.anchor] = ()
                stack.append((container, append, opened))
                container, append = value, None if kind is mapping_start else value.append
                deepest = len(stack) + 1 if opened is not None else max(deepest, len(stack) + 1)
        if nodes > MAX_NODES:
            raise IrregularError
        documents.append((root, line, nodes))
