"""Code in proxies that lets every request pass, by the image that it is published as: schemas/modules.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, text
from policylint.model.shipped import shipped_data

_SCHEME = "oci://"


def passes(extensions: object) -> bool:
    """Return whether all code that some extensions name is known to turn nobody away."""
    images = list(_images(extensions))
    return bool(images) and all(image in _table() for image in images)


def _images(extensions: object) -> Iterator[str]:
    """Yield the image of each extension without its tag and digest; "" where its code is none, or elsewhere."""
    for extension in extensions if isinstance(extensions, list) else [extensions]:
        url = text(mapping(mapping(mapping(extension).get("code")).get("image")).get("url"))
        registry, slash, path = url.removeprefix(_SCHEME).partition("/")
        yield f"{registry}{slash}{path.partition('@')[0].partition(':')[0]}"


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "modules.yaml"), "modules.yaml").documents[0].value)
