"""Check the user's settings of controllers against the settings that the catalog knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import jsonschema

from policylint.catalog.kinds import Catalog, CatalogError


def check(settings: Mapping[str, Mapping[str, Any]], catalog: Catalog, implementations: Iterable[str]) -> None:
    """Check the settings of controllers.

    Raises:
        CatalogError: an implementation, setting or value does not exist; the first one is named.
    """
    with_settings = [candidate for candidate in implementations if catalog.known_settings(candidate)]
    for implementation, values in settings.items():
        if implementation not in with_settings:
            raise CatalogError(
                f"implementations: no settings of {implementation!r}{_hint(implementation, with_settings)}"
            )
        known = catalog.known_settings(implementation)
        for name, value in values.items():
            if name not in known:
                raise CatalogError(f"implementations.{implementation}: no setting {name!r}{_hint(name, known)}")
            for error in jsonschema.Draft202012Validator(known[name].schema).iter_errors(value):
                raise CatalogError(f"implementations.{implementation}.{name}{error.json_path[1:]}: {error.message}")


def _hint(word: str, known: Iterable[str]) -> str:
    """Return the nearest known word, or all of them where none is near."""
    names = sorted(known)
    close = get_close_matches(word, names, 1)
    return f" (did you mean {close[0]!r}?)" if close else f" (there is: {', '.join(names)})"
