"""Every private name of a module is used: what nobody reads is kept in memory, and maintained, all the same."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.test_floors import modules


def _private(text: str) -> Iterator[str]:
    """Yield the private names that a module defines at its top."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        else:
            continue
        yield from (name for name in defined if name.startswith("_") and not name.startswith("__"))


def test_every_private_name_is_used() -> None:
    unused = []
    for module, file in modules():
        text = file.read_text(encoding="utf-8")
        words = Counter(re.findall(r"\b_\w+", text))
        unused += [f"{module}: {name}" for name in _private(text) if words[name] == 1]
    assert not unused
