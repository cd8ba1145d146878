"""Code in proxies that lets every request pass, by the image that it is published as, or by the name by which a proxy
brings it: schemas/modules.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, text
from policylint.model.shipped import shipped_data
from policylint.patterns import Pattern

_SCHEME = "oci://"
_CODE = Pattern(r'"(?:inline_?string|inline_?bytes|filename|uri)": "((?:[^"\\]|\\.)*)"')
"""Where the code of an extension is, in Envoy's configuration as JSON."""


def passes(extensions: object) -> bool:
    """Return whether all code that some extensions name is known to turn nobody away."""
    images = list(_images(extensions))
    return bool(images) and all(image in _table() for image in images)


def without_passing(configuration: str) -> str:
    """Return the configuration of a proxy, as JSON in lower case, without the word for extensions where all code that
    it names is known to turn nobody away."""
    code = _CODE.findall(configuration)
    is_known = bool(code) and all(each in _table() for each in code)
    return configuration.replace("wasm", "") if is_known else configuration


def _images(extensions: object) -> Iterator[str]:
    """Yield the image of each extension without its tag and digest; "" where its code is none, or elsewhere."""
    for extension in extensions if isinstance(extensions, list) else [extensions]:
        url = text(mapping(mapping(mapping(extension).get("code")).get("image")).get("url"))
        registry, slash, path = url.removeprefix(_SCHEME).partition("/")
        yield f"{registry}{slash}{path.partition('@')[0].partition(':')[0]}"


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "modules.yaml"), "modules.yaml").documents[0].value)
