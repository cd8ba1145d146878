"""The tables of every run are read by the quick loop: to import PyYAML alone takes a tenth of a lint of one file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from policylint.documents import fast

ROOT = Path(__file__).parents[2]
TABLES = [ROOT / "schemas" / "weakenings.yaml", *sorted((ROOT / "schemas" / "policy-kinds").glob("*.yaml"))]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_it_is_read_by_the_quick_loop(table: Path) -> None:
    data = table.read_bytes()
    assert fast.is_candidate(data) and not fast.may_have_tags(data)
    assert (fast.load_named if fast.has_anchors(data) else fast.load)(data)


@pytest.mark.skipif(fast._compiled() is None, reason="no reader in C here")
def test_a_lint_of_one_file_imports_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: a, namespace: shop}\n"
        "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]\n"
    )
    script = "import sys\nfrom policylint.cli import main\ntry: main()\nfinally: print('yaml' in sys.modules)"
    command = [sys.executable, "-c", script, "lint", "policy.yaml"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "False", done.stderr


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: '(?!b)c'", {"a": "(?!b)c"}),
        ("(?!a", "(?!a"),
        ("[(?!a b]", ["(?!a b"]),
        ("a: (?!b)", {"a": "(?!b)"}),
        ("a: b != c", {"a": "b != c"}),
        ("a: 'b'\nc: d !& e", {"a": "b", "c": "d !& e"}),
    ],
)
def test_a_look_ahead_is_no_tag(text: str, value: object) -> None:
    data = text.encode()
    assert fast.is_candidate(data) and not fast.may_have_tags(data)
    assert fast.load(data)[0][0] == value == yaml.load(text, yaml.CSafeLoader)


ODD = ["- !&a b", "a: !=b c", "!&a b", "  - !=a b", "[!&a b]", "- &n !&a b", "- !&a tag:x> : ob>+"]


@pytest.mark.parametrize("text", ["[?!a b]", "? !a b", "a: !b c", "- !a b", "[!a b]", *ODD])
def test_a_tag_is_one(text: str) -> None:
    assert fast.may_have_tags(text.encode())
