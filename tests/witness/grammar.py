"""Choices of a generated world: the same seed and number give the same world, on every machine and every Python."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, TypeVar

Manifest = dict[str, Any]
T = TypeVar("T")


class Draw:
    """Seeded choices, named for how they read in a grammar."""

    def __init__(self, *seed: object) -> None:
        self.random = Random("/".join(map(str, seed)))

    def one(self, *options: T) -> T:
        return options[self.random.randrange(len(options))]

    def of(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def some(self, options: Iterable[T], most: int, least: int = 1) -> list[T]:
        """Return some of the options, each once, in a random order."""
        pool = list(options)
        return self.random.sample(pool, min(len(pool), self.random.randint(least, most)))

    def often(self, chance: float) -> bool:
        return self.random.random() < chance

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def maybe(self, chance: float, field: str, value: Any) -> dict[str, Any]:
        """Return a field with its value, or none."""
        return {field: value} if self.often(chance) else {}

    def age(self) -> str:
        """Return one of few creation times, so that some objects are equally old."""
        return f"2026-01-0{self.number(1, 6)}T00:00:00Z"


def manifest(
    api_version: str, kind: str, name: str, namespace: str = "", created: str = "", labels: Any = None, **rest: Any
) -> Manifest:
    """Return one object; fields without a value are left out."""
    metadata = {"name": name, "namespace": namespace, "creationTimestamp": created, "labels": labels}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {field: value for field, value in metadata.items() if value},
        **rest,
    }


def name_of(manifest: Manifest) -> str:
    """Return `Kind namespace/name`."""
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {metadata.get('namespace', '')}/{metadata['name']}"


def digest(objects: Sequence[Manifest]) -> str:
    """Return what tells whether a world is still the one that was asked about."""
    return hashlib.sha256(json.dumps(objects, sort_keys=True).encode()).hexdigest()[:12]
