"""Importing click and PyYAML without what they import, or compile, and no run of ours uses.

click imports `inspect` for one function of fifteen lines, `uuid` for a type of options that we have none of, and the
Python text of `datetime` where the C one is all that is used; PyYAML compiles the expressions of its pure reader.
Together that was a fifth of a lint of one file (docs/design/performance.md §7). While click or PyYAML is imported,
something small stands for each of these, and gets what it stands for as soon as it is asked for more. Nothing changes
that was imported before, and nothing where another thread of the program that has us may import meanwhile.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module that is imported when something of it is asked for that it was not made with."""

    def __init__(self, name: str, **at_hand: Any) -> None:
        super().__init__(name)
        self.__dict__.update(at_hand)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(__import__(self.__name__), name)


class _Expression:
    """A regular expression that is compiled when it is used first."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        import re

        return getattr(re.compile(*self._arguments), name)


def give_room(function: Any) -> None:
    """Give all calls below a function of Python's room on the stack.

    Frames are kept in pieces of 16 KiB. Where a loop runs at the end of one, each of its calls asks the system for the
    next one and gives it back: twenty times as long, by the depth of the stack alone. A frame that is said to be large
    gets a piece of 512 KiB, of which only what is used is touched.
    """
    function.__code__ = function.__code__.replace(co_stacksize=40_000)


def import_click() -> None:
    """Import click, if nobody has."""
    if "click" in sys.modules or not is_alone():
        return
    uuid = _Deferred("uuid", UUID=object)
    _import("click", {"inspect": _Deferred("inspect", cleandoc=cleandoc), "uuid": uuid, **_datetime()})
    del uuid.UUID  # an argument of a type meanwhile; from here on it is the real one


def import_yaml() -> None:
    """Import PyYAML, if nobody has."""
    if "yaml" not in sys.modules and is_alone():
        import re

        expressions = _Deferred("re", **{**vars(re), "compile": _Expression})
        real = sys.modules["re"]
        del sys.modules["re"]
        try:
            _import("yaml", {"re": expressions, **_datetime()})
        finally:
            sys.modules["re"] = real


def is_alone() -> bool:
    """Tell whether no other thread runs, which would get what stands for a module for good."""
    threading = sys.modules.get("threading")
    return threading is None or threading.active_count() == 1


def _import(name: str, standing: dict[str, ModuleType]) -> None:
    """Import a module while others stand for some that it imports, where these were not imported before."""
    lacking = {each: module for each, module in standing.items() if each not in sys.modules}
    sys.modules.update(lacking)
    try:
        __import__(name)
    finally:
        for each, module in lacking.items():
            if sys.modules.get(each) is module:
                del sys.modules[each]


def _datetime() -> dict[str, ModuleType]:
    """Return a module with the classes of `datetime` alone, where it has them from C."""
    try:
        import _datetime
    except ImportError:
        return {}
    return {"datetime": _Deferred("datetime", **vars(_datetime))}


def cleandoc(text: str) -> str:
    """Return a text without the indentation that its lines share, as `inspect.cleandoc` does."""
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.lstrip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in others)]).strip("\n")
