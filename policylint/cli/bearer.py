"""The claims of a token that a header brings, as `--claim` states them: read, and asked for no signature."""

from __future__ import annotations

from collections.abc import Iterable


def claims_in(headers: Iterable[str]) -> tuple[str, ...]:
    """Return what the JWT in Authorization says of itself, each as `name=value`; () where there is none."""
    for header in headers:
        name, _, value = header.partition(":")
        sort, _, token = value.strip().partition(" ")
        if name.strip().lower() == "authorization" and sort.lower() == "bearer" and token.count(".") == 2:
            return _claims(token.strip())
    return ()


def _claims(token: str) -> tuple[str, ...]:
    import json
    from base64 import urlsafe_b64decode

    payload = token.split(".")[1]
    try:
        stated = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:  # no Base64, no UTF-8 or no JSON: a placeholder
        return ()
    if not isinstance(stated, dict):
        return ()
    listed = ((name, value if isinstance(value, list) else [value]) for name, value in stated.items())
    return tuple(
        f"{name}={_text(each)}" for name, values in listed for each in values if isinstance(each, str | int | float)
    )


def _text(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
