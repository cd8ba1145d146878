"""Read what Secrets and ConfigMaps hold, as far as manifests state it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from policylint.model import Resource, World, holds_variable, mapping, text


def contents(holder: Resource | None, world: World) -> dict[str, str] | None:
    """Return the entries of a Secret or ConfigMap as text; None where unknown: encrypted, left out, or yet to come.

    An empty one with a label or annotation that asks for its content is filled in the cluster:
    `config.openshift.io/inject-trusted-cabundle: "true"`.
    """
    if holder is None or "sops" in holder.body:
        return None
    data, plain = mapping(holder.body.get("data")), mapping(holder.body.get("stringData"))
    if not data and not plain and (world.partial or _is_filled(holder)):
        return None
    decode = _decoded if holder.key.kind == "Secret" else text
    return {**{str(name): decode(value) for name, value in data.items()}, **{str(k): text(v) for k, v in plain.items()}}


def hidden(value: str) -> bool:
    """Return whether a value is only known to exist: a variable, or encrypted in place."""
    return holds_variable(value) or value.startswith("ENC[")


def _decoded(value: Any) -> str:
    """Return a base64 entry decoded; variables and text that is no base64 unchanged."""
    written = text(value)
    if not written or hidden(written):
        return written
    try:
        return base64.b64decode("".join(written.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return written


def _is_filled(holder: Resource) -> bool:
    """Return whether something in the cluster is asked to write the content of an object."""
    return any("inject" in str(name) for name in (*holder.labels, *holder.annotations))
