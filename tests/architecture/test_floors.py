"""The rules of docs/design/architecture.md §2: rooms import only from lower floors, implementations not each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx

PACKAGE = Path(__file__).parents[2] / "policylint"
FLOORS = {
    "cli": 11,
    "assistant": 10.5,
    "editor": 10.5,
    "session": 10,
    "report": 9,
    "triage": 8,
    "edit": 8,
    "compare": 7,
    "checks": 6.8,
    "explain": 6.6,
    "guardrails": 6.7,
    "reach": 6.5,
    "trace": 6,
    "upgrade": 6,
    "workspace": 6,
    "doors": 5.5,
    "simulation": 5,
    "implementations": 4,
    "clusters": 3.5,
    "network": 3,
    "schema": 3,
    "policy": 3,
    "topology": 2,
    "render": 2,
    "load": 1.8,
    "catalog": 1.5,
    "model": 1,
    "config": 1,
    "documents": 0,
    "matches": 1.2,
    "spaces": 0,
    "sources": 0,
    "outside": -1,
    "errors": -1,
    "namedtuple": -1.5,
    "budget": -1,
    "forges": 0,
    "cel": 1.2,
    "lean": -2,
    "patterns": -2,
    "digits": -2,
    "regex": -1,
}
"""Room (package or module right below `policylint`) → floor."""
ENTRANCES = {"__main__", "__init__"}
MEANT = {
    ("config", "model"),  # where the shipped schemas lie
    ("config", "schema"),  # its checker, which knows nothing of Kubernetes
    ("explain", "trace"),
    ("workspace", "checks"),  # Workspace.findings, on demand
}
"""Imports that do not go down, and are meant."""
SHARED = ("Implementation", "implementation", "implementations", "generic", "network_policies")
"""What others may import of `implementations`."""
HOMONYMS: dict[str, int] = {}
"""Public class names that still mean several things → how many."""


class Import(NamedTuple):
    """One import of one module of the package by another."""

    importer: str
    imported: str
    line: int
    top: bool
    """Whether it is done when the importer is imported."""


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name below `policylint` and file of every module, packages by their own name."""
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts), file


class Module(NamedTuple):
    """What the tests here ask of one module: of its statements, since expressions import nothing.

    Attributes:
        imports: each as (module, names; () for a whole module, line, whether it is done when this one is imported).
    """

    name: str
    file: Path
    documented: bool
    classes: tuple[str, ...]
    imports: tuple[tuple[str, tuple[str, ...], int, bool], ...]


@cache
def read() -> tuple[Module, ...]:
    """Every module, parsed once."""
    return tuple(_read(name, file) for name, file in modules())


def _read(name: str, file: Path) -> Module:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    classes: list[str] = []
    found: list[tuple[str, tuple[str, ...], int, bool]] = []
    for node, late in _statements(tree, late=False):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}:{node.lineno}: relative import"
            found.append((str(node.module), tuple(each.name for each in node.names), node.lineno, not late))
        elif isinstance(node, ast.Import):
            found += ((each.name, (), node.lineno, not late) for each in node.names)
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
    return Module(name, file, bool(ast.get_docstring(tree)), tuple(classes), tuple(found))


def _statements(around: ast.AST, *, late: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement, with whether it is in a function; those for annotations alone are not."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(around, field, ()):
            yield node, late
            if not _only_types(node):
                inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from _statements(node, late=inside)


def _only_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports() -> Iterator[Import]:
    """Every import inside the package, those inside functions included; those for annotations alone are not."""
    for module in read():
        for name, names, line, top in module.imports:
            for each in [f"{name}.{inner}" for inner in names] or [name]:
                if each.startswith("policylint."):
                    yield Import(module.name, each.removeprefix("policylint."), line, top)


def room(module: str) -> str:
    return module.partition(".")[0]


def test_every_room_has_a_floor() -> None:
    rooms = {room(name) for name, _ in modules()} - ENTRANCES
    assert rooms <= FLOORS.keys(), f"say in FLOORS where {sorted(rooms - FLOORS.keys())} belong"


def test_rooms_import_only_from_lower_floors() -> None:
    upward = [
        f"{each.importer}:{each.line} imports {each.imported}"
        for each in imports()
        if room(each.importer) not in ENTRANCES
        and room(each.imported) in FLOORS
        and room(each.importer) != room(each.imported)
        and (room(each.importer), room(each.imported)) not in MEANT
        and FLOORS[room(each.imported)] >= FLOORS[room(each.importer)]
    ]
    assert not upward, "\n".join(upward)


def test_no_implementation_knows_another() -> None:
    """Each imports its own package, and of the room what all share: the protocol."""
    strangers = [
        f"{each.importer}:{each.line} imports {each.imported}"
        for each in imports()
        if room(each.importer) == room(each.imported) == "implementations"
        and each.importer != "implementations"
        and each.imported.split(".")[1] not in (each.importer.split(".")[1], "generic")
    ]
    assert not strangers, "\n".join(strangers)


def test_the_engine_names_no_implementation() -> None:
    """Only the table in implementations/__init__.py says which module is whose, as text."""
    named = [
        f"{each.importer}:{each.line} imports {each.imported}"
        for each in imports()
        if room(each.importer) != "implementations"
        and each.imported.startswith("implementations.")
        and each.imported.split(".")[1] not in SHARED
    ]
    assert not named, "\n".join(named)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """At module level: what is imported inside a function is imported when everything is there."""
    known = {name for name, _ in modules()}
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for each in imports():
        target = each.imported if each.imported in known else each.imported.rpartition(".")[0]
        if each.top and target in known:
            graph.add_edge(each.importer, target)
    circles = [sorted(circle) for circle in networkx.strongly_connected_components(graph) if len(circle) > 1]
    assert not circles + [[module] for module in networkx.nodes_with_selfloops(graph)]


def test_a_public_class_name_means_one_thing() -> None:
    """`HOMONYMS` only shrinks: a name that has become unique leaves it, and none joins."""
    places: dict[str, list[str]] = {}
    for module in read():
        for name in module.classes:
            if not name.startswith("_"):
                places.setdefault(name, []).append(module.name)
    repeated = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in repeated.items() if len(where) > HOMONYMS.get(name, 1)} == {}
    assert {name: len(repeated.get(name, ())) for name in HOMONYMS} == HOMONYMS


def test_every_file_says_what_it_is_about() -> None:
    assert [str(module.file) for module in read() if not module.documented] == []


def importing(name: str) -> set[str]:
    """The modules that import one of another package, or something of it."""
    return {module.name for module in read() if any(each.split(".")[0] == name for each, *_ in module.imports)}


def test_dataclasses_are_not_imported() -> None:
    """They cost more at start-up than the rest of an idle run (docs/design/performance.md)."""
    assert importing("dataclasses") == set()


def test_only_the_command_line_knows_of_click() -> None:
    """So that whoever imports the package, or a room of it, needs no terminal, and imports no click."""
    assert importing("click"), "cli imports it, or this test looks for the wrong thing"
    assert {name for name in importing("click") if room(name) != "cli"} == set()


def test_only_one_room_can_open_a_connection_and_only_one_command_enters_it() -> None:
    """SECURITY.md: no other code can."""
    network = {"urllib.request", "http.client", "socket", "ssl", "ftplib", "smtplib"}
    able = {module.name for module in read() for name, *_ in module.imports if name in network}
    assert able == {"forges.asking"}
    entering = {
        each.importer for each in imports() if room(each.imported) == "forges" and room(each.importer) != "forges"
    }
    assert entering == {"cli.comment"}


def test_no_module_takes_the_name_of_what_its_package_holds() -> None:
    """A module that is imported later than its package becomes an attribute of it, and would hide a function."""
    hidden = []
    for init in sorted(PACKAGE.rglob("__init__.py")):
        own = ".".join(init.relative_to(PACKAGE.parent).parent.parts)
        modules = {file.stem for file in init.parent.glob("*.py")} | {
            file.parent.name for file in init.parent.glob("*/__init__.py")
        }
        for statement in ast.parse(init.read_text(encoding="utf-8")).body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                names = {statement.name}
            elif isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
                written = {each.asname or each.name for each in statement.names}
                names = set() if statement.module == own else written - {(statement.module or "").rpartition(".")[2]}
            else:
                continue
            hidden += [f"{own}.{name}" for name in sorted(names & modules)]
    assert hidden == []
