"""Our reading of YAML over mutated texts, against the events of PyYAML's C parser.

The yardstick builds values from the events with the scalar rules of Kubernetes and the merge keys of goyaml, which are
meant to differ from PyYAML's own; in everything else libyaml's word counts.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import yaml
from campaign import Tried, WrongError

from policylint.documents import MAX_DEPTH, Document, FileReading, exact, fast, read, read_unread
from policylint.documents.events import binding
from policylint.documents.scalars import MergeKeyError, ScalarError, key_of, key_of_value, resolve_plain, resolve_tagged

ROOT = Path(__file__).parents[1]
TEXTS = 100
"""Texts of one input."""
LONGEST = 1500
"""Characters of a text that is mutated."""
PIECES = (
    "---", "...", "\n---\n", "\n--- ", "\n...\n", "\n", "\n  ", "\n    ", "\t", " ", ": ", ":", "- ", "-", "? ",
    "[", "]", "{",
    "}", ",", "#", " #", "'", '"', "|", ">-", "|2-\n", ">+\n", "&a ", "*a ", "*a", "<<: ", "<<: *a\n", "<<: [*a]\n",
    "!!int ",
    "!!str ", "!!float ", "!!null ", "!!binary ", "!x ", "! ", "!<tag:x> ", "%YAML 1.1\n", "%YAML 1.2\n", "%TAG ! x\n",
    "{{ x }}", "{% if %}", "${x}", "\\u0041", "\\ud83d", "\\ud83d\\ude00", "\\x", "\\\n", "\x00", "\x07", "a", "b: 1\n",
    "a: &a {b: 1}\n", "kind: Foo\n", "kind: FooList\n", "apiVersion: v1\n",
    "apiVersion: v1\nkind: Foo\n", '"kind": Bar\n',
    "kind : Foo\n", "items:\n- kind: Foo\n", "on", "y", "null", "~", "0x1", "010", "0o7", "1_0", "1e3", ".5",
    "-.inf", ".nan",
    "1.0", "1:30", "2020-01-01", "é", "😀", "\u2028", "\u2029", "\ufeff", "\r", "\r\n", "@", "`", "\x85", "\xa0", "=",
)  # fmt: skip


class ReaderFuzz:
    """Tries mutations of the examples of the rules and the fixtures."""

    def __init__(self) -> None:
        pages = [*sorted((ROOT / "rules").glob("GWP*.md")), *sorted((ROOT / "fixtures").rglob("*.yaml"))]
        blocks = [block for page in pages for block in _blocks(page.read_text(encoding="utf-8"))]
        self.stock = [block[at : at + LONGEST] for block in blocks for at in range(0, len(block), LONGEST)]

    def __call__(self, random: Random) -> Tried:
        """Try TEXTS texts."""
        failures: list[tuple[BaseException, dict[str, str]]] = []
        for _ in range(TEXTS):
            data = self._text(random)
            try:
                check(data)
            except Exception as error:
                failures.append((error, {"text.yaml": data.decode("utf-8", "backslashreplace"), "bytes": repr(data)}))
        return Tried(TEXTS, failures)

    def _text(self, random: Random) -> bytes:
        if random.random() < 0.25:
            text = "".join(random.choice(PIECES) for _ in range(random.randint(1, 30)))
        else:
            text = random.choice(self.stock)
            at = random.randint(0, len(text))
            text = text[at : at + random.choice((60, 200, LONGEST))] if random.random() < 0.4 else text
            for _ in range(random.randint(1, 6)):
                text = self._mutated(random, text)
        data = text.encode("utf-8", "surrogatepass")
        if random.random() < 0.02:
            at = random.randint(0, len(data))
            data = data[:at] + bytes([random.randrange(256)]) + data[at:]
        if random.random() < 0.01:
            data = text.encode(random.choice(("utf-8-sig", "utf-16", "utf-32")), "replace")
        return data

    def _mutated(self, random: Random, text: str) -> str:
        at = random.randint(0, len(text))
        end = min(len(text), at + random.choice((1, 1, 2, 8, 40)))
        way = random.randrange(8)
        if way <= 2:
            return text[:at] + random.choice(PIECES) + text[at:]
        if way == 3:
            return text[:at] + text[end:]
        if way == 4:
            return text[:at] + random.choice(PIECES) + text[end:]
        lines = text.split("\n")
        one, other = random.randrange(len(lines)), random.randrange(len(lines))
        if way == 5:
            lines[one], lines[other] = lines[other], lines[one]
        elif way == 6:
            lines[one] = random.choice(("  ", " ", "- ", "")) + lines[one].removeprefix("  ")
        else:
            lines.insert(one, random.choice(random.choice(self.stock).split("\n")))
        return "\n".join(lines)


def _blocks(text: str) -> list[str]:
    return re.findall(r"^```yaml.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL) or [text]


def check(data: bytes) -> None:
    """Read a text in every way there is, and compare.

    Raises:
        WrongError: two ways differ.
    """
    reading = read(data, "f.yaml")
    for document in reading.documents:
        json.dumps(document.value)
    _against_events(data, reading)
    _fast_against_exact(data)
    _in_parts(data, reading)


def _against_events(data: bytes, reading: FileReading) -> None:
    problems = [problem for problem in reading.problems if problem.code != "duplicate-key"]
    if reading.form not in ("yaml", "json", "empty") or {problem.code for problem in problems} & {"binary", "not-utf8"}:
        return
    if reading.templated:  # lines that envsubst fills in are no YAML before
        return
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] == b"\0\0\xfe\xff":
        return
    try:
        theirs = _Events(data.removeprefix(b"\xef\xbb\xbf")).documents()
    except _RefusedError:
        if not problems:
            raise WrongError("read, though Kubernetes does not take it") from None
        return
    except yaml.YAMLError as error:
        if not problems and "Unicode character escape" not in str(error) and not _only_comments_are_odd(data):
            raise WrongError(f"read, though libyaml refuses it: {getattr(error, 'problem', error)}") from None
        return
    if problems:
        raise WrongError(
            f"refused, though libyaml reads it: {re.sub(r'[0-9]+|`.*`|[*&][^ ]+', '…', problems[0].message)}"
        )
    ours = [document.value for document in reading.documents]
    if _same(ours) != _same([value for value, _ in theirs]):
        raise WrongError("other values than libyaml's events give")
    for document, (_, marks) in zip(reading.documents, theirs, strict=True):
        for pointer, place in (marks or {}).items():
            if document.position(pointer) != place:
                raise WrongError("another position than libyaml's")


def _only_comments_are_odd(data: bytes) -> bool:
    """Return whether libyaml reads what is left without blank lines and comments: those hide nothing."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", text)
    try:
        _Events("\n".join(line for line in lines if line.strip(" \t")[:1] not in ("", "#")).encode()).documents()
    except (yaml.YAMLError, _RefusedError):
        return False
    return True


def _fast_against_exact(data: bytes) -> None:
    if not fast.is_candidate(data):
        return
    events = None if fast.may_have_tags(data) else binding()  # tags are told by the loops in C alone
    named: list[tuple[Any, int, int]] | None = None
    aliased = 0
    values: list[Any] | None
    places: list[Any] | None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    try:
        if fast.has_anchors(data):
            named, aliased = fast.load_named(data, events)
            values = [value for value, *_ in named]
            places = [each[1:] for each in named]
        else:
            loaded = fast.load(data, events)
            values = [value for value, *_ in loaded]
            places = [(list(lines), list(columns)) for _, lines, columns in loaded]
    except Exception:
        values = places = None
    if _compiled(data) != (None if values is None else (_same(values), places)):
        raise WrongError("the loops in C and in Python read different things")
    if values is None:
        return  # it hands on to the other
    result = exact.load(data, text, binding())
    if result.refused is not None:
        raise WrongError("the fast loader reads what the exact one refuses")
    if _same(values) != _same([value for value, *_ in result.documents]):
        raise WrongError("the fast loader reads other values")
    if named is not None:
        counts = [(place.line, size) for _, place, size in result.documents]
        if ([each[1:] for each in named], aliased) != (counts, result.aliased) or result.duplicates:
            raise WrongError("the fast loader counts other nodes")


def _compiled(data: bytes) -> tuple[Any, list[Any]] | None:
    """Return what the loops read that are used by default, in C where they are built; None where they hand on."""
    try:
        if fast.has_anchors(data):
            named, _ = fast.load_named(data)
            return _same([value for value, *_ in named]), [each[1:] for each in named]
        loaded = fast.load(data)
    except (fast.IrregularError, MergeKeyError, UnicodeError):
        return None
    return _same([value for value, *_ in loaded]), [(list(lines), list(columns)) for _, lines, columns in loaded]


def _in_parts(data: bytes, whole: FileReading) -> None:
    """Check that documents left unread are what their first lines said, and the same when they are read after all."""
    if whole.form not in ("yaml", "json", "empty"):
        return
    part = read(data, "f.yaml", wanted=lambda *_: False)
    if part.form not in ("yaml", "json", "empty"):
        raise WrongError("a template only if documents are left unread")
    refused = {problem.line for problem in whole.problems}
    by_number: dict[int, list[Document]] = {}
    for document in whole.documents:
        by_number.setdefault(document.number, []).append(document)
    for unread in part.unread:
        again = read_unread(data, unread)
        ours = by_number.get(unread.number, [])
        if not ours and (whole.problems or whole.templated):
            continue  # the reading of the whole ended before it
        if _same([one.value for one in again.documents]) != _same([one.value for one in ours]):
            raise WrongError("read later, a document has other values")
        if refused or again.problems:
            continue
        # `kind: N` and `apiVersion: on` are booleans, and name nothing.
        named = all(isinstance(one.value.get(field), str) for one in ours for field in ("apiVersion", "kind"))
        if named and [_identity(one.value) for one in ours] != [(unread.api_version, unread.kind)]:
            raise WrongError("left unread as of another kind than it is")


def _identity(value: dict[str, Any]) -> tuple[str, ...]:
    """Return apiVersion and kind up to a blank: what goes on in the next line is no object that anybody deploys."""
    return tuple(str(value.get(name)).partition(" ")[0].partition("\n")[0] for name in ("apiVersion", "kind"))


def _same(value: Any) -> str:
    return json.dumps(value)


class _RefusedError(Exception):
    """Kubernetes does not take it, though libyaml does."""


class _Events:
    """Values and positions from the events of libyaml, by recursion."""

    def __init__(self, data: bytes) -> None:
        self.events = iter(yaml.parse(data, Loader=getattr(yaml, "CLoader", yaml.Loader)))
        self.exotic = fast.has_exotic_breaks(data)
        self.anchors: dict[str, Any] = {}
        self.marks: dict[tuple[Any, ...], tuple[int, int]] = {}
        self.regular = True

    def documents(self) -> list[tuple[Any, dict[tuple[Any, ...], tuple[int, int]] | None]]:
        """Return the values that are not null, each with the places of its nodes where nothing unusual is in it."""
        found = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors, self.marks, self.regular = {}, {}, not self.exotic
                value = self._node(next(self.events), ())
                if value is not None:
                    found.append((value, self.marks if self.regular else None))
        return found

    def _node(self, event: Any, pointer: tuple[Any, ...]) -> Any:
        if isinstance(event, yaml.AliasEvent):
            self.regular = False
            if event.anchor not in self.anchors:
                raise _RefusedError
            return self.anchors[event.anchor]
        if event.anchor is not None or event.tag is not None:
            self.regular = False
        if isinstance(event, yaml.ScalarEvent):
            value: Any = self._scalar(event)
        elif len(pointer) >= MAX_DEPTH:
            raise _RefusedError
        else:
            if event.anchor is not None:
                self.anchors.pop(event.anchor, None)
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            value = self._mapping(pointer) if is_mapping else self._sequence(pointer)
        self.marks[pointer] = (event.start_mark.line + 1, event.start_mark.column + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _scalar(self, event: Any) -> Any:
        if event.tag is not None and event.tag != "!":
            try:
                return resolve_tagged(event.tag, event.value)
            except ScalarError:
                raise _RefusedError from None
        return resolve_plain(event.value) if event.tag is None and event.implicit[0] else event.value

    def _sequence(self, pointer: tuple[Any, ...]) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*pointer, len(items))))
        return items

    def _mapping(self, pointer: tuple[Any, ...]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                raise _RefusedError
            if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and self._merges(event):
                self.regular = False
                self._merge(fields, self._node(next(self.events), (*pointer, "<<")))
                continue
            key = self._key(event, pointer)
            if key in fields:
                self.regular = False
            fields[key] = self._node(next(self.events), (*pointer, key))
        return fields

    def _merges(self, event: Any) -> bool:
        return event.tag == "tag:yaml.org,2002:merge" or (event.tag is None and event.implicit[0])

    def _key(self, event: Any, pointer: tuple[Any, ...]) -> str:
        if isinstance(event, yaml.ScalarEvent) and event.tag is None and event.anchor is None:
            return key_of(event.value) if event.implicit[0] else event.value
        value = self._node(event, (*pointer, None))
        if isinstance(value, (dict, list)):
            raise _RefusedError
        if isinstance(event, yaml.ScalarEvent) and event.tag is None and event.implicit[0]:
            return key_of(event.value)
        return key_of_value(value)

    def _merge(self, fields: dict[str, Any], source: Any) -> None:
        for one in reversed(source) if isinstance(source, list) else [source]:
            if not isinstance(one, dict):
                raise _RefusedError
            fields.update(one)
