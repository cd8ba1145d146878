"""The script makes the shipped schemas, byte for byte, from the CRDs of the release."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from policylint.model.shipped import shipped
from policylint.schema.known import read_shipped

ROOT = Path(__file__).parents[2]
CRDS = ROOT.parent / "shared" / "crds"
ELSEWHERE = {
    "aigateway.envoyproxy.io",
    "configuration.konghq.com",
    "gateway.k8s.aws",
    "networking.gke.io",
    "projectcontour.io",
}
"""Groups whose CRDs are in no folder there."""


@pytest.mark.skipif(not CRDS.is_dir(), reason="no ../shared/crds")
def test_the_shipped_schemas_are_what_the_script_makes(tmp_path: Path) -> None:
    script = ROOT / "schemas" / "make_crds.py"
    subprocess.run([sys.executable, str(script), str(CRDS), "--output", str(tmp_path)], check=True)
    made, kept = contents(tmp_path), contents(ROOT / "schemas" / "crds")
    assert {name: data for name, data in kept.items() if name.partition("/")[0] not in ELSEWHERE} == made


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/*.json")}


def test_what_a_file_says_twice_is_read_once() -> None:
    content = read_shipped(
        shipped("schemas", "crds", "gateway.envoyproxy.io", "SecurityPolicy.json").read_text("utf-8")
    )
    objects = [*dictionaries(content)]
    assert len({id(value) for value in objects}) < len(objects) / 3
    assert not any("" in value for value in objects)


def dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from dictionaries(inner)
