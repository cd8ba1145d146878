"""Holds what the user says of the settings of controllers to what the catalog knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import jsonschema

from policylint.catalog.kinds import Catalog, CatalogError


def check(settings: Mapping[str, Mapping[str, Any]], catalog: Catalog, implementations: Iterable[str]) -> None:
    """Raises CatalogError for the first implementation, setting or value that there cannot be."""
    with_settings = [each for each in implementations if catalog.known_settings(each)]
    for implementation, given in settings.items():
        if implementation not in with_settings:
            raise CatalogError(
                f"implementations: no settings of {implementation!r}{_hint(implementation, with_settings)}"
            )
        known = catalog.known_settings(implementation)
        for name, value in given.items():
            if name not in known:
                raise CatalogError(f"implementations.{implementation}: no setting {name!r}{_hint(name, known)}")
            for error in jsonschema.Draft202012Validator(known[name].schema).iter_errors(value):
                raise CatalogError(f"implementations.{implementation}.{name}{error.json_path[1:]}: {error.message}")


def _hint(word: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = get_close_matches(word, names, 1)
    return f" (did you mean {close[0]!r}?)" if close else f" (there is: {', '.join(names)})"
