"""Only `spaces` and `matches` know the types of matches: all others ask them what a match means."""

from __future__ import annotations

import ast

from tests.architecture.test_floors import modules

HOMES = ("matches", "spaces.predicates")
TYPES = ("PathPrefix", "RegularExpression")


def test_the_types_of_matches_stand_in_one_place() -> None:
    naming = set()
    for name, file in modules():
        source = file.read_text(encoding="utf-8")
        if not any(kind in source for kind in TYPES):
            continue
        tree = ast.parse(source)
        owners = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
        told = {id(node.body[0].value) for node in owners if node.body and isinstance(node.body[0], ast.Expr)}
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
        if any(kind in text.value for text in texts if id(text) not in told for kind in TYPES):
            naming.add(name)
    assert naming >= {"spaces.predicates"}, "or this test looks for the wrong thing"
    assert naming - set(HOMES) == set()
