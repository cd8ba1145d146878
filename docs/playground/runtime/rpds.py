"""Persistent collections as `referencing` and `jsonschema` use them, in plain Python: the real ones are compiled."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self


class HashTrieMap(dict[Hashable, Any]):
    """A map of which every change is a new one."""

    @classmethod
    def convert(cls, value: Mapping[Hashable, Any]) -> HashTrieMap:
        return value if isinstance(value, cls) else cls(value)

    def insert(self, key: Hashable, value: Any) -> HashTrieMap:
        return type(self)({**self, key: value})

    def remove(self, key: Hashable) -> HashTrieMap:
        rest = type(self)(self)
        del rest[key]
        return rest

    def discard(self, key: Hashable) -> HashTrieMap:
        return self.remove(key) if key in self else self

    def update(self, *others: Any, **named: Any) -> HashTrieMap:  # type: ignore[override]
        changed = type(self)(self)
        dict.update(changed, *others, **named)
        return changed


class HashTrieSet(frozenset[Any]):
    """A set of which every change is a new one."""

    def insert(self, value: Hashable) -> HashTrieSet:
        return type(self)(self | {value})

    def update(self, *others: Iterable[Any]) -> HashTrieSet:
        return type(self)(self.union(*others))


class List(tuple[Any, ...]):
    """A list that grows at its front."""

    def __new__(cls, *values: Any) -> Self:
        return super().__new__(cls, values[0] if len(values) == 1 else values)

    @property
    def first(self) -> Any:
        return self[0]

    @property
    def rest(self) -> List:
        return type(self)(self[1:])

    def push_front(self, value: Any) -> List:
        return type(self)((value, *self))

    def drop_first(self) -> List:
        return self.rest
