"""`NamedTuple` as typing's, made in half the time: start-up is a feature, and there are a hundred of them.

typing's compiles the text of every annotation to check it, though nothing here asks for annotations while running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    _NOT_COPIED = frozenset(
        {"__annotations__", "__classcell__", "__dict__", "__module__", "__orig_bases__", "__qualname__", "__weakref__"}
    )

    class _Maker(type):
        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(mcs, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = tuple(body[field] for field in fields if field in body)
            tuple_class = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            tuple_class.__annotations__ = body.get("__annotations__", {})
            for key, value in body.items():
                if key not in _NOT_COPIED and key not in fields:
                    setattr(tuple_class, key, value)
            return tuple_class

    class NamedTuple(metaclass=_Maker):
        """A tuple with named fields."""
