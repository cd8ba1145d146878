"""Importing what is ours without looking for it, and click and PyYAML without what no run of ours uses of them.

click imports `inspect` for one function of fifteen lines, `uuid` for a type of options that we have none of, the
Python text of `datetime` where the C one is all that is used, and `gettext`, which looks for translations that it has
none of with the tables of `locale`; PyYAML compiles the expressions of its pure reader.
Together that was a fifth of a lint of one file (docs/design/performance.md §7). While click or PyYAML is imported,
something small stands for each of these, and gets what it stands for as soon as it is asked for more. Nothing changes
that was imported before, and nothing where another thread of the program that has us may import meanwhile.

A lint of one file imports some 250 modules of ours, and where they lie is known (`read_own_code`).
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

try:
    from _frozen_importlib_external import MAGIC_NUMBER  # `importlib.util` has it, too, and imports more than it spares

    _BEGINNING = MAGIC_NUMBER + b"\0\0\0\0"
except ImportError:  # pragma: no cover - then Python reads all code by itself
    _BEGINNING = b""


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


class _Loader(SourceFileLoader):
    """Python's own, which takes compiled code as it lies beside its source where that is what it would take itself."""

    def __init__(self, name: str, path: str, compiled: str) -> None:
        super().__init__(name, path)
        self._compiled = compiled

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of the module: compiled from the source as it is now, in this place."""
        try:
            source = os.stat(self.path)  # noqa: PTH116 - pathlib is not imported
            file = os.open(self._compiled, os.O_RDONLY)
            try:
                data = os.read(file, _LARGEST)
            finally:
                os.close(file)
        except OSError:
            return super().get_code(fullname)
        made_of = (int(source.st_mtime) & 0xFFFFFFFF) | (source.st_size & 0xFFFFFFFF) << 32
        if len(data) < _LARGEST and data[:16] == _BEGINNING + made_of.to_bytes(8, "little"):
            code = marshal.loads(memoryview(data)[16:])
            if isinstance(code, CodeType) and code.co_filename == self.path:
                return code
        return super().get_code(fullname)


_LARGEST = 98_304
"""What is read of a file at once, in bytes: no module of ours is larger (tests/cli/test_lean.py)."""


class _Finder:
    """Where modules of ours lie: in the folder of their package, of which the names are asked once."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._names: dict[str, frozenset[str]] = {}

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return what Python's own finder would, for a package or a module of Python; None for all else."""
        if not name.startswith("policylint.") or path is None or len(path) != 1:
            return None
        folder, last = path[0], name.rpartition(".")[2]
        names = self._names.get(folder)
        if names is None:
            names = self._names[folder] = frozenset(os.listdir(folder))  # noqa: PTH208
        if last + ".py" not in names:
            if last not in names:
                return None
            folder, last = f"{folder}/{last}", "__init__"
        origin, compiled = f"{folder}/{last}.py", f"{folder}/__pycache__/{last}{self._suffix}"
        spec = ModuleSpec(name, _Loader(name, origin, compiled), origin=origin, is_package=last == "__init__")
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(folder)
        spec.has_location, spec.cached = True, compiled
        return spec


def read_own_code() -> None:
    """Find and read modules of ours by a short way from here on, where they are files that Python compiled.

    Python asks each finder and each folder for each module, and the system five times: a tenth of a lint of one file.
    """
    spec = sys.modules["policylint"].__spec__
    if os.name == "posix" and spec is not None and type(spec.loader) is SourceFileLoader and sys.pycache_prefix is None:
        before, name, suffix = (spec.cached or "").rpartition("/__pycache__/__init__")
        if name and spec.origin == f"{before}/__init__.py" and not any(type(each) is _Finder for each in sys.meta_path):
            sys.meta_path.insert(0, _Finder(suffix))


def import_click() -> None:
    """Import click, if nobody has."""
    if "click" in sys.modules or not is_alone():
        return
    uuid = _Deferred("uuid", UUID=object)
    words = _Deferred("gettext", gettext=_translated, ngettext=_translated_number)
    standing = {"inspect": _Deferred("inspect", cleandoc=cleandoc), "uuid": uuid, "gettext": words, **_datetime()}
    _import("click", standing)
    del uuid.UUID  # an argument of a type meanwhile; from here on it is the real one


def _translated(message: str) -> str:
    """Return a message as `gettext` does, once somebody has imported that, who may have translations."""
    module = sys.modules.get("gettext")
    return message if module is None else str(module.gettext(message))


def _translated_number(one: str, several: str, number: int) -> str:
    """Return a message of some things as `gettext` does, once somebody has imported that."""
    module = sys.modules.get("gettext")
    if module is None:
        return one if number == 1 else several
    return str(module.ngettext(one, several, number))


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
