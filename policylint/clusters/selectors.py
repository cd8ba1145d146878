"""What Placements and sets ask of clusters: selectors that nobody can read, and expressions of CEL, with three answers.

Source: apimachinery, metav1.LabelSelectorAsSelector and labels.NewRequirement; OCM pkg/placement/helpers and sdk-go
pkg/cel: the variable `managedCluster` is the object as it is stored, an expression without a value selects nothing, and
one that does not compile makes the whole Placement misconfigured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from policylint.catalog.clusters import is_set_by_controllers
from policylint.cel.formats import OF_CEL
from policylint.cel.nodes import Fuel
from policylint.clusters.kinds import CLUSTER
from policylint.model import Resource, holds_variable, mapping, sequence

if TYPE_CHECKING:
    from policylint.cel.evaluation import Program
    from policylint.cel.syntax import Tree

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_VARIABLE: Final = "managedCluster"
_STEPS: Final = 100_000
_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}


def wrong_selector(selector: Mapping[str, Any]) -> str:
    """Return what is wrong with a selector of labels or claims, as the end of a sentence about it; "" if nothing is."""
    asked: list[tuple[Any, list[Any]]] = [(key, [value]) for key, value in mapping(selector.get("matchLabels")).items()]
    for expression in map(mapping, sequence(selector.get("matchExpressions"))):
        operator, values = expression.get("operator"), sequence(expression.get("values"))
        if operator not in _OPERATORS:
            return f"has an operator {operator!r}, which does not exist"
        if bool(values) is (operator in _OPERATORS[2:]):
            return f"has {operator} {'with' if values else 'without'} values"
        asked.append((expression.get("key"), values))
    for key, values in asked:
        if isinstance(key, str) and not holds_variable(key) and not OF_CEL["qualifiedName"](key):
            return f"has {key!r}, which no label can be called"
        for value in values:
            if not isinstance(value, str):
                return "has a value that is no string"
            if not holds_variable(value) and not OF_CEL["labelValue"](value):
                return f"has {value!r}, which no label can have as its value"
    return ""


def wrong_expression(expression: object) -> str:
    """Return why an expression does not compile, as the end of a sentence about it; "" where it does, or may."""
    from policylint.cel.syntax import free_names, tree

    if not isinstance(expression, str) or holds_variable(expression):
        return ""
    read = tree(expression)
    if read is None:
        return "is no CEL expression"
    undeclared = sorted(free_names(read) - {_VARIABLE} - _TYPES)
    return f"refers to {undeclared[0]!r}, which is not declared" if undeclared else ""


_TYPES: Final = frozenset(
    {"bool", "bytes", "double", "dyn", "google", "int", "list", "map", "null_type", "string", "type", "uint"}
)


def meets(cluster: Resource | None, expressions: list[Any]) -> bool | None:
    """Return whether all of some expressions hold for a cluster, None where what no manifest shows may decide."""
    answers = {_holds(cluster, expression) for expression in expressions}
    return False if False in answers else None if None in answers else True


def _holds(cluster: Resource | None, expression: object) -> bool | None:
    if cluster is None or not isinstance(expression, str) or holds_variable(expression):
        return None
    known = _compiled(expression)
    if known is None or any(_is_open(cluster, path) for path in known[1]):
        return None
    program = known[0]
    program.fuel.left = _STEPS
    value = program.value(cluster.body)
    return None if value is None else value is True


@lru_cache(maxsize=256)
def _compiled(expression: str) -> tuple[Program, tuple[tuple[str, ...], ...]] | None:
    from policylint.cel.evaluation import Program
    from policylint.cel.syntax import tree
    from policylint.schema.known import shipped_schema

    read = tree(expression)
    shipped = shipped_schema(*CLUSTER, "v1")
    if read is None or not shipped:
        return None
    fields = {**mapping(shipped[0].schema.get("properties"))}
    fields["metadata"] = {"properties": {"name": {"type": "string"}, "labels": _TEXTS}}
    return Program(read, {"properties": fields}, Fuel(_STEPS), _VARIABLE), tuple(_paths(read))


def _paths(tree: Tree) -> Iterator[tuple[str, ...]]:
    """Yield the fields of the cluster that a tree reads, each as far as it is named."""
    path = _path(tree)
    if path is not None:
        yield path
    elif isinstance(tree, list) and tree and tree[0] == "in" and _is_text(tree[1]) and (held := _path(tree[2])):
        yield (*held, tree[1][1])
    elif isinstance(tree, list) and tree and tree[0] not in ("=", "unknown"):
        for part in tree[1:]:
            yield from _paths(part)


def _path(tree: Tree) -> tuple[str, ...] | None:
    if tree == _VARIABLE:
        return ()
    if isinstance(tree, list) and tree and tree[0] in (".", ".?", "[]"):
        held = _path(tree[1])
        name = tree[2] if tree[0] != "[]" else tree[2][1] if _is_text(tree[2]) else None
        if held is not None and isinstance(name, str):
            return (*held, name)
    return None


def _is_text(tree: Tree) -> bool:
    return isinstance(tree, list) and tree[:1] == ["="] and isinstance(tree[1], str)


def _is_open(cluster: Resource, path: tuple[str, ...]) -> bool:
    """Return whether the cluster may have something at a path that its manifest does not show."""
    if path[:1] == ("metadata",):
        if path[1:2] == ("labels",):
            return path[2:3] == () or (path[2] not in cluster.labels and is_set_by_controllers(path[2]))
        return path[1:2] != ("name",)
    if path[:1] == ("spec",):
        return "spec" not in cluster.body  # of an inventory, which states names and labels
    return path[:1] != ("status",) or path[1:2] == () or path[1] not in mapping(cluster.body.get("status"))
