"""`re` matches constants alone: the expressions of manifests and configurations go to `policylint.regex`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "policylint"
_NAMES_RE = re.compile(r"\bre\b|patterns")
_OF_RE = frozenset({"compile", "match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split"})


def is_constant(node: ast.expr | None, constants: dict[str, ast.expr]) -> bool:
    """Return whether an expression is made of literals and of names of constants."""
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts):
            return all(is_constant(part, constants) for part in parts)
        case ast.FormattedValue(value=inner):
            return is_constant(inner, constants)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_constant(left, constants) and is_constant(right, constants)
        case ast.Name(id=name):
            return name in constants and is_constant(constants[name], {**constants, name: ast.Name("")})
    return False


def dynamic(source: str) -> list[str]:
    """Return the calls of `re` whose expression is made when the program runs."""
    if not _NAMES_RE.search(source):
        return []
    tree = ast.parse(source)
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    constants = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            constants[node.target.id] = node.value
    of_re = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("re", "policylint.patterns")
        for alias in node.names
    }
    calls = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Attribute(value=ast.Name(id="re"), attr=name) if name in _OF_RE:
                    pass
                case ast.Name(id=name) if name in of_re:
                    pass
                case _:
                    continue
            written = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "pattern"), None)
            if not is_constant(written, constants):
                calls.append(ast.unparse(node))
    return calls


def test_python_matches_no_expression_but_constants() -> None:
    found = {
        str(file.relative_to(PACKAGE)): calls
        for file in sorted(PACKAGE.rglob("*.py"))
        if (calls := dynamic(file.read_text(encoding="utf-8")))
    }
    assert found == {
        # Those of schemas/weakenings.yaml, which is shipped.
        "catalog/weakenings.py": [
            "re.compile(fields, re.IGNORECASE)",
            "re.compile(entry[name], re.IGNORECASE)",
            "re.fullmatch(expression, kind)",
            "re.compile(entry['kind'])",
        ],
        "catalog/products.py": ["re.compile(entry['kind'])"],  # those of schemas/products.yaml, shipped as well
        "lean.py": ["re.compile(*self._arguments)"],  # those of PyYAML, later than it would
        "patterns.py": ["re.compile(*self._source)"],  # those that `Pattern` was given, below
    }


def test_the_test_sees_what_is_dynamic() -> None:
    assert dynamic("import re\nA = 'x'\nB = f'{A}+' + r'y'\nre.compile(B)\nre.sub(r'a' + A, '', t)\n") == []
    assert dynamic("import re\ndef f(p):\n    return re.compile(p)\n") == ["re.compile(p)"]
    assert dynamic("from re import match\nmatch(f'{p}', t)\n") == ["match(f'{p}', t)"]
    assert dynamic("from policylint.patterns import Pattern\nA = Pattern(f'{p}')\n") == ["Pattern(f'{p}')"]
    assert dynamic("import re\nA = A\nre.search(pattern=A, string=t)\n") == ["re.search(pattern=A, string=t)"]


def test_re_has_no_other_name() -> None:
    renamed = [
        str(file.relative_to(PACKAGE))
        for file in sorted(PACKAGE.rglob("*.py"))
        if "re as" in (source := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import) and any(alias.name == "re" and alias.asname for alias in node.names)
    ]
    assert renamed == []
