"""`namedtuple.NamedTuple` is typing's, only made faster."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing

import pytest

from policylint import namedtuple


class Ours(namedtuple.NamedTuple):
    """Says something."""

    first: int
    second: str = "two"

    @property
    def both(self) -> str:
        return f"{self.first} {self.second}"

    def __str__(self) -> str:
        return self.both


class Theirs(typing.NamedTuple):
    """Says something."""

    first: int
    second: str = "two"

    @property
    def both(self) -> str:
        return f"{self.first} {self.second}"

    def __str__(self) -> str:
        return self.both


def test_is_the_named_tuple_of_typing() -> None:
    ours, theirs = Ours(1), Theirs(1)
    assert ours == theirs == (1, "two")
    assert str(ours) == str(theirs) == "1 two"
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._replace(first=2) == theirs._replace(first=2)
    assert (Ours._fields, Ours._field_defaults, Ours.__doc__) == (
        Theirs._fields,
        Theirs._field_defaults,
        Theirs.__doc__,
    )
    assert Ours.__module__ == __name__
    assert Ours.__bases__ == (tuple,)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert str(inspect.signature(Ours)) == "(first, second='two')"
    assert Ours._make((3, "x"))._asdict() == Theirs._make((3, "x"))._asdict() == {"first": 3, "second": "x"}
    assert copy.deepcopy(ours) == pickle.loads(pickle.dumps(ours)) == ours
    match ours:
        case Ours(first, second):
            assert (first, second) == (1, "two")


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_refuses_what_it_has_no_field_for(kind: type[Ours] | type[Theirs]) -> None:
    with pytest.raises(TypeError):
        kind()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        kind(1, third="3")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="third"):
        kind(1)._replace(third="3")
    with pytest.raises(AttributeError):
        kind(1).first = 2  # type: ignore[misc]


@pytest.mark.parametrize("size", range(20))
def test_has_as_many_fields_as_it_is_given(size: int) -> None:
    names = [f"field_{number}" for number in range(size)]
    body = {"__annotations__": dict.fromkeys(names, "int"), "__module__": __name__, "__qualname__": "Made"}
    made = type(namedtuple.NamedTuple)("Made", (namedtuple.NamedTuple,), body)
    theirs = typing.NamedTuple("Made", [(name, int) for name in names])  # type: ignore[misc]
    values = dict(zip(names, range(size), strict=True))
    assert made(**values) == made(*range(size)) == theirs(**values)
    assert str(inspect.signature(made)) == f"({', '.join(names)})"
    assert repr(made(*range(size))) == repr(theirs(*range(size)))
