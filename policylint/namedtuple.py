"""`NamedTuple` as typing's, made in a fifth of the time: start-up is a feature, and a lint makes 140 of them.

typing's compiles the text of every annotation to check it, though nothing here asks for annotations while running;
that of collections compiles a `__new__` for each class, and writes each its own methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter
    from functools import cache
    from types import CodeType, FunctionType

    class _Maker(type):
        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(mcs, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            code = _new_of(len(fields)).replace(co_varnames=("_cls", *fields))
            new = FunctionType(code, _GLOBALS, "__new__", tuple(defaults.values()))
            getters = {field: _tuplegetter(number, None) for number, field in enumerate(fields)}
            its_own = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type.__new__(type, name, (tuple,), {**_METHODS, "__new__": new, **its_own, **body, **getters})

    _new = tuple.__new__
    _GLOBALS = {"_new": _new, "__builtins__": {}}
    _OF_SIZES = (
        lambda c: _new(c, ()),
        lambda c, a: _new(c, (a,)),
        lambda c, a, b: _new(c, (a, b)),
        lambda c, a, b, d: _new(c, (a, b, d)),
        lambda c, a, b, d, e: _new(c, (a, b, d, e)),
        lambda c, a, b, d, e, f: _new(c, (a, b, d, e, f)),
        lambda c, a, b, d, e, f, g: _new(c, (a, b, d, e, f, g)),
        lambda c, a, b, d, e, f, g, h: _new(c, (a, b, d, e, f, g, h)),
        lambda c, a, b, d, e, f, g, h, i: _new(c, (a, b, d, e, f, g, h, i)),
        lambda c, a, b, d, e, f, g, h, i, j: _new(c, (a, b, d, e, f, g, h, i, j)),
        lambda c, a, b, d, e, f, g, h, i, j, k: _new(c, (a, b, d, e, f, g, h, i, j, k)),
        lambda c, a, b, d, e, f, g, h, i, j, k, m: _new(c, (a, b, d, e, f, g, h, i, j, k, m)),
        lambda c, a, b, d, e, f, g, h, i, j, k, m, n: _new(c, (a, b, d, e, f, g, h, i, j, k, m, n)),
        lambda c, a, b, d, e, f, g, h, i, j, k, m, n, o: _new(c, (a, b, d, e, f, g, h, i, j, k, m, n, o)),
        lambda c, a, b, d, e, f, g, h, i, j, k, m, n, o, p: _new(c, (a, b, d, e, f, g, h, i, j, k, m, n, o, p)),
    )
    """What makes a tuple of its arguments behind the first, which is the class: compiled with this module."""

    @cache
    def _new_of(size: int) -> CodeType:
        """Return the code that makes a tuple of so many arguments behind the class."""
        if size < len(_OF_SIZES):
            return _OF_SIZES[size].__code__
        values = "".join(f"_{number}, " for number in range(size))
        return eval(f"lambda _cls, {values}: _new(_cls, ({values}))").__code__

    def _make(cls: type, values: Any) -> Any:
        return cls.__new__(cls, *values)

    def _replace(self: Any, /, **changes: Any) -> Any:
        replaced = tuple.__new__(self.__class__, map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return replaced

    def _asdict(self: Any) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _getnewargs(self: Any) -> tuple[Any, ...]:
        return tuple(self)

    def _repr(self: Any) -> str:
        values = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{self.__class__.__name__}({values})"

    _METHODS = {
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
        "__getnewargs__": _getnewargs,
        "__repr__": _repr,
    }

    class NamedTuple(metaclass=_Maker):
        """A tuple with named fields."""
