"""The benchmarks' corpus: what bench/corpus.py promises."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

CORPUS = Path(__file__).parents[2] / "bench" / "corpus.py"
READ_KINDS = {"GatewayClass", "Gateway", "HTTPRoute", "Namespace", "Service", "Deployment"} | {
    f"{name}Policy" for name in ("ClientTraffic", "BackendTraffic", "Security")
}


def write(directory: Path, documents: int) -> Path:
    """Write a corpus as a user would."""
    subprocess.run([sys.executable, str(CORPUS), str(directory), "--documents", str(documents)], check=True)
    return directory


def digest(directory: Path) -> str:
    """Return a digest of every path and every byte."""
    found = hashlib.sha256()
    for path in sorted(directory.rglob("*.yaml")):
        found.update(str(path.relative_to(directory)).encode() + path.read_bytes())
    return found.hexdigest()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two thousand documents."""
    return write(tmp_path_factory.mktemp("corpus"), 2000)


@pytest.fixture(scope="module")
def objects(corpus: Path) -> dict[tuple[str, str, str], dict[str, object]]:
    """Return the documents by (kind, namespace, name)."""
    texts = [path.read_bytes() for path in corpus.rglob("*.yaml")]
    loaded = [document for text in texts for document in yaml.load_all(text, Loader=yaml.CSafeLoader)]
    assert len(loaded) == 2000
    return {(d["kind"], d["metadata"].get("namespace", ""), d["metadata"]["name"]): d for d in loaded}


def test_same_count_gives_same_bytes(corpus: Path, tmp_path: Path) -> None:
    assert digest(write(tmp_path, 2000)) == digest(corpus)


def test_no_object_stands_twice(objects: dict[tuple[str, str, str], dict[str, object]]) -> None:
    assert len(objects) == 2000


def test_two_fifths_of_the_bytes_are_read_and_none_is_a_crd(corpus: Path) -> None:
    texts = [text for path in corpus.rglob("*.yaml") for text in path.read_text().split("---\n") if text]
    kinds = [text.split("kind: ")[1].split("\n")[0] for text in texts]
    assert "CustomResourceDefinition" not in kinds
    read = sum(len(text) for text, kind in zip(texts, kinds, strict=True) if kind in READ_KINDS)
    assert read / sum(map(len, texts)) >= 0.4


def test_references_resolve(objects: dict[tuple[str, str, str], dict[str, object]]) -> None:
    seen = 0
    for (kind, namespace, _), found in objects.items():
        spec: dict = found.get("spec") or {}  # type: ignore[assignment, type-arg]
        for target in spec.get("targetRefs", []):
            assert (target["kind"], namespace, target["name"]) in objects
            seen += 1
        for parent in spec.get("parentRefs", []):
            assert ("Gateway", parent["namespace"], parent["name"]) in objects
            seen += 1
        if kind == "HTTPRoute":
            for backend in (backend for rule in spec["rules"] for backend in rule["backendRefs"]):
                assert ("Service", namespace, backend["name"]) in objects
                seen += 1
    assert seen > 300
