"""The configurations of controllers, which are objects of a kind of their own within ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import read
from policylint.model import Resource, World, mapping


def in_config_maps(world: World, kind: str) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
    """Yield the configurations of a kind, each with the ConfigMap that holds it."""
    for config in world.of_kind("", "ConfigMap"):
        for content in mapping(config.body.get("data")).values():
            if isinstance(content, str) and kind in content:
                for document in read(content.encode(), config.document.file).documents:
                    if mapping(document.value).get("kind") == kind:
                        yield config, mapping(document.value)
