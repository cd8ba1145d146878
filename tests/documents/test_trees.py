"""The real repositories: nothing raises, and values agree with PyYAML's where YAML 1.1 makes no difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.documents import loading, read

TREES = Path(__file__).parents[2].parent / "shared" / "trees"
pytestmark = pytest.mark.skipif(not TREES.is_dir(), reason="../shared/trees is not here")


class _OneDotTwo(yaml.CSafeLoader):
    """PyYAML without the resolutions that Kubernetes does not share: dates, base 60, `=`, and unknown tags."""


_OneDotTwo.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.rpartition(":")[2] not in ("timestamp", "value", "int", "float")
    ]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_OneDotTwo.add_multi_constructor("!", lambda loader, _, node: _construct(loader, node))


def _construct(loader: Any, node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return node.value
    return loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else loader.construct_mapping(node)


def _agree(ours: Any, theirs: Any) -> bool:
    """Same shape, same strings and booleans; numbers are theirs as text, `y` and `n` ours as booleans."""
    if isinstance(ours, dict):
        return (
            isinstance(theirs, dict) and len(ours) == len(theirs) and all(map(_agree, ours.values(), theirs.values()))
        )
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(_agree, ours, theirs))
    if isinstance(ours, bool):
        return ours is theirs or theirs in ("y", "Y", "n", "N")
    if isinstance(ours, (int, float)):
        return isinstance(theirs, str)
    return bool(ours == theirs)


def _files() -> Iterator[Path]:
    return (path for path in sorted(TREES.rglob("*.y*ml")) if path.is_file())


@pytest.mark.slow
def test_every_file_is_read_as_pyyaml_reads_it() -> None:
    compared = 0
    with loading():
        for path in _files():
            data = path.read_bytes()
            reading = read(data, path.as_posix())
            try:
                theirs = [value for value in yaml.load_all(data, _OneDotTwo) if value is not None]
            except yaml.YAMLError as error:
                # PyYAML refuses anchors given twice and some text that Kubernetes takes.
                is_legal = "duplicate anchor" in str(error)
                assert is_legal or reading.problems or reading.form != "yaml", path
                continue
            ours = [document.value for document in reading.documents]
            if reading.form in ("yaml", "json", "empty"):
                assert len(ours) == len(theirs), path
                assert all(map(_agree, ours, theirs)), path
                compared += len(ours)
    assert compared > 5_000


def test_documents_left_unread_are_those_that_parsing_finds() -> None:
    for path in list(_files())[::7]:
        data = path.read_bytes()
        whole = read(data, "f.yaml")
        if whole.problems or whole.form != "yaml":
            continue
        part = read(data, "f.yaml", wanted=lambda *_: False)
        found = {
            (d.number, d.value.get("apiVersion"), d.value.get("kind")) for d in whole.documents if _is_map(d.value)
        }
        assert {(unread.number, unread.api_version, unread.kind) for unread in part.unread} <= found, path
        assert len(part.unread) + len(part.documents) == len(whole.documents), path


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)
