"""Structure-aware mutations of manifests: delete, retype, nest, duplicate, rename, swap, null, huge, deep, unicode.

Documents are plain data; `write` turns them into YAML whose mappings may hold a key twice. Everything follows from the
random generator that is handed in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

DEEP = 150
"""Levels of nesting, within documents.MAX_DEPTH."""
MOST = 4
"""Mutations of one world."""
TEXTS = (
    "", " ", "x", "-", "*", "/", ".", "..", "../..", "0", "-1", "null", "true", "~", "[", "(", "a{1000}", "(a+)+$",
    "%s",
    "${NAME}", "${NAME:=x}", "{{ .Values.x }}", "$(x)", "a/b", "a.b", "A", "é", "😀", "\u202e", "\x1b[31m", "\u0000",
    "\u2028", "a\nb", "a" * 5000, "9" * 5000, "²",
    "http://[", "1.2.3.4/99", "2020-99-99T00:00:00Z", "v1", "*.example.com", "has(",
    "self.x == ", "#/$defs/x", "sha256:", "---", "<script>", "::error::", "|", "`", "\ud7ff",
)  # fmt: skip
NUMBERS = (0, 1, -1, 65536, 2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e300, float("inf"), float("-inf"), float("nan"))
KEYS = (
    "", "kind", "name", "namespace", "group", "spec", "metadata", "$ref", "<<", "null", "1", "é", "\u202e", "type",
    "items",
    "properties", "enum", "pattern", "targetRef", "targetRefs", "defaults", "overrides", "matchLabels", "*", "a/b",
    "a.b",
)  # fmt: skip


class Again(str):
    """A key that is equal to no other, so that a dict holds it beside one of the same text."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class Mutator:
    """Mutates worlds: lists of documents.

    Args:
        random: what everything follows from.
        stock: documents of other worlds; values of theirs are put in.
    """

    def __init__(self, random: Random, stock: list[Any]) -> None:
        self.random = random
        self.stock = stock

    def mutate(self, documents: list[Any]) -> None:
        """Change documents in place, in one to MOST ways."""
        for _ in range(self.random.randint(1, MOST)):
            if documents:
                self._mutate_once(documents)

    def _mutate_once(self, documents: list[Any]) -> None:
        random = self.random
        container, key = self._place(documents)
        value = container[key]
        way = random.randrange(14)
        if way == 0:
            del container[key]
        elif way <= 3:
            container[key] = self._odd_value()
        elif way == 4:
            container[key] = None
        elif way == 5:
            container[key] = random.choice(([value], [value, value], {"name": value}, {str(key): value}, [[value]]))
        elif way == 6:
            container[key] = self._flattened(value)
        elif way == 7 and isinstance(container, dict):
            container[Again(key)] = random.choice((value, self._odd_value()))
        elif way <= 8 and isinstance(container, dict):
            del container[key]
            container[random.choice((random.choice(KEYS), str(key).upper(), f"{key}s", str(key)[:-1]))] = value
        elif way <= 8:
            container.append(value)
        elif way == 9:
            other, at = self._place(documents)
            container[key], other[at] = copied(other[at]), copied(value)  # one may be inside of the other
        elif way <= 11:
            container[key] = self._like(key)
        elif isinstance(value, str):
            container[key] = self._edited(value, documents)
        elif isinstance(value, (int, float)):
            container[key] = random.choice(NUMBERS)
        else:
            container[key] = self._odd_value()

    def _place(self, documents: list[Any]) -> tuple[Any, Any]:
        """Return a container and a key or index in it: as often high up as far down."""
        random = self.random
        if random.random() < 0.5:
            return random.choice(
                list(places(random.choice(documents))) or [(documents, random.randrange(len(documents)))]
            )
        container: Any = documents
        key: Any = random.randrange(len(documents))
        while random.random() < 0.85:
            inner = container[key]
            if isinstance(inner, dict) and inner:
                container, key = inner, random.choice(list(inner))
            elif isinstance(inner, list) and inner:
                container, key = inner, random.randrange(len(inner))
            else:
                break
        return container, key

    def _odd_value(self) -> Any:
        random = self.random
        way = random.randrange(8)
        if way <= 1:
            return random.choice(TEXTS)
        if way == 2:
            return random.choice(NUMBERS)
        if way == 3:
            return random.choice((None, True, False, [], {}, [None], {"": None}, [[]], [{}], {"name": {}}, ["x", "x"]))
        if way == 4:
            deep: Any = random.choice((None, {}, "x"))
            key = random.choice(KEYS)
            for _ in range(random.randrange(DEEP)):
                deep = {key: deep} if random.random() < 0.7 else [deep]
            return deep
        if way == 5:
            return {key: random.choice(TEXTS) for key in random.sample(KEYS, 3)}
        return self._like(None)

    def _like(self, key: Any) -> Any:
        """Return a value of another document: of the same key where one is met soon."""
        for _ in range(4):
            container, at = self.random.choice(list(places(self.random.choice(self.stock))) or [([None], 0)])
            if at == key or key is None:
                break
        return copied(container[at])

    def _flattened(self, value: Any) -> Any:
        if isinstance(value, dict) and value:
            return self.random.choice((list(value), list(value.values()), next(iter(value.values()))))
        if isinstance(value, list) and value:
            return self.random.choice((value[0], dict.fromkeys(map(str, range(len(value)))), str(len(value))))
        return self.random.choice((str(value), [], {}))

    def _edited(self, value: str, documents: list[Any]) -> str:
        random = self.random
        at = random.randint(0, len(value))
        texts = [inner[key] for inner, key in places(random.choice(documents)) if isinstance(inner[key], str)]
        other = random.choice(texts or [value])
        return random.choice(
            (
                other,
                value[:at],
                value[:at] + random.choice(TEXTS) + value[at:],
                value * 2,
                value.upper(),
                f"{value}/{other}",
                re.sub(r"\d+", random.choice(("²", "9" * 5000)), value, count=1),
            )
        )


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key below a value; the value itself has none."""
    stack = [value]
    while stack:
        container = stack.pop()
        keys: Any = (
            container if isinstance(container, dict) else range(len(container)) if isinstance(container, list) else ()
        )
        for key in keys:
            yield container, key
            if isinstance(container[key], (dict, list)):
                stack.append(container[key])


def copied(value: Any) -> Any:
    """Return a deep copy of plain data."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value


def write(documents: list[Any]) -> str:
    """Return documents as YAML: the keys of an object in lines of their own, what is below them in flow style."""
    return "---\n".join(_document(document) for document in documents)


def _document(document: Any) -> str:
    if not isinstance(document, dict) or not document:
        return f"{_flow(document, 0)}\n"
    return "".join(f"{_key(key)}: {_flow(value, 1)}\n" for key, value in document.items())


def _key(key: Any) -> str:
    return str(key) if isinstance(key, str) and key.isalpha() and key.isascii() else json.dumps(str(key))


def _flow(value: Any, depth: int) -> str:
    if depth > DEEP + 40:
        return "null"
    line = "\n" + " " * min(depth, 20)
    if isinstance(value, dict):
        return "{" + ",".join(f"{line}{json.dumps(str(key))}: {_flow(value[key], depth + 1)}" for key in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(f"{line}{_flow(inner, depth + 1)}" for inner in value) + "]"
    if isinstance(value, float):
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(repr(value), repr(value))
    return json.dumps(value, default=str)
