"""Read what Secrets and ConfigMaps hold, as far as manifests state it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import Resource, World, holds_variable, mapping, text


def contents(holder: Resource | None, world: World) -> dict[str, str] | None:
    """Return the entries of a Secret or ConfigMap as text; None where unknown: encrypted, left out, or yet to come.

    An empty one with a label or annotation that asks for its content is filled in the cluster:
    `config.openshift.io/inject-trusted-cabundle: "true"`; what a chart's own values leave empty, by who installs it.
    """
    if holder is None or "sops" in holder.body:
        return None
    data, plain = mapping(holder.body.get("data")), mapping(holder.body.get("stringData"))
    values = [text(value).strip() for value in (*data.values(), *plain.values())]
    is_lone = bool(getattr(holder.document, "chart", ""))
    marks = (*holder.labels, *holder.annotations)  # by which something in the cluster is asked to fill it
    is_filled = any("inject" in str(name) for name in marks)
    if (not values and (world.partial or is_filled)) or ("" in values and is_lone):
        return None
    decode = _decoded if holder.key.kind == "Secret" else text
    return {**{str(name): decode(value) for name, value in data.items()}, **{str(k): text(v) for k, v in plain.items()}}


def entry_read(held: Mapping[str, str], *names: str, lone: bool = False, any_: bool = False) -> tuple[str, str]:
    """Return the entry that is read of what an object holds, with its value; two empty texts for none.

    Args:
        names: under which it is looked up, the first one that is there and not empty.
        lone, any_: whether another one is read that is the only one, or the first of several.
    """
    found = next((name for name in names if held.get(name)), "")
    if not found and held and (any_ or (lone and len(held) == 1)):
        found = next(iter(held))
    return (found, held[found]) if found and held[found] else ("", "")


def hidden(value: str) -> bool:
    """Return whether a value is only known to exist: a variable, or encrypted in place."""
    return holds_variable(value)


def _decoded(value: Any) -> str:
    """Return a base64 entry decoded; variables and text that is no base64 unchanged."""
    written = text(value)
    if not written or hidden(written):
        return written
    from base64 import b64decode

    try:
        return b64decode("".join(written.split()), validate=True).decode("utf-8", "replace")
    except ValueError:
        return written
