"""How much code there is for what it does: docs/design/architecture.md §6 says why these are the bars."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.architecture.test_floors import modules, room

ENGINE = ("model", "spaces", "matches", "topology", "policy", "simulation", "trace", "reach", "network", "clusters")
MOST_OF_ENGINE = 26_500
"""Lines of the rooms that answer; all others read data, ask these, and write what they say."""
MOST_LINES = 750
"""Lines of a module, beyond which it has more than one subject."""
WORTH_SHARING = 20
"""Nodes of a function's tree, beyond which it is no accessor that anybody would write in the same way."""


def functions(file: Path) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield the name of each function of a file, and what it does, whatever it says of that."""
    for node in statements(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node.body[1:] if ast.get_docstring(node) is not None else node.body


def statements(around: ast.AST) -> Iterator[ast.AST]:
    """Yield what holds functions and what is in it: expressions hold none, and are most of a tree."""
    for node in ast.iter_child_nodes(around):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield node
            yield from statements(node)


def twins(files: Iterable[tuple[str, Path]]) -> list[list[str]]:
    """Return the functions that do the same, word for word, in groups."""
    # Told apart by how they begin, which also says whether they are worth it: few are alike in that.
    of_shape: dict[tuple[object, ...], list[tuple[str, list[ast.stmt]]]] = defaultdict(list)
    for module, file in files:
        for name, body in functions(file):
            start = tuple(islice((node.__class__ for each in body for node in ast.walk(each)), WORTH_SHARING + 1))
            if len(start) > WORTH_SHARING:
                of_shape[(len(body), *start)].append((f"{module}.{name}", body))
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for alike in of_shape.values():
        for name, body in alike if len(alike) > 1 else ():
            found[tuple(map(ast.dump, body))].append(name)
    return [names for names in found.values() if len(names) > 1]


def test_the_engine_does_not_grow_with_what_it_is_asked_about() -> None:
    lines = [file.read_text(encoding="utf-8").count("\n") for name, file in modules() if room(name) in ENGINE]
    assert sum(lines) <= MOST_OF_ENGINE, "look for the second home of a question"


def test_a_module_has_one_subject() -> None:
    lines = {name: file.read_text(encoding="utf-8").count("\n") for name, file in modules()}
    assert {name: number for name, number in lines.items() if number > MOST_LINES} == {}, "split it where a seam is"


@pytest.fixture
def trees_are_no_garbage() -> Iterator[None]:
    """The trees of all modules stay until they are compared: visiting them again and again takes longer than that."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("trees_are_no_garbage")
def test_no_function_is_written_twice() -> None:
    assert twins(modules()) == [], "call the one that is there"


def test_a_function_written_twice_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def one(a, b):\n    'Say it.'\n    return [a + b for a in b if a] or b[0]\n")
    (tmp_path / "two.py").write_text("def two(a: int, b: str) -> int:\n    return [a + b for a in b if a] or b[0]\n")
    (tmp_path / "three.py").write_text("def two(a, b):\n    return [a + b for a in b if b] or b[0]\n")
    assert twins((name, tmp_path / f"{name}.py") for name in ("one", "two", "three")) == [["one.one", "two.two"]]
