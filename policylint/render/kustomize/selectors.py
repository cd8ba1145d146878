"""Which objects a patch or a replacement means: kustomize's target selectors."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from policylint.model import mapping, text
from policylint.render.provenance import Manifest
from policylint.render.tree import metadata


def selects(target: dict[str, Any], manifest: Manifest) -> bool:
    """Whether a target selects an object: kind, group, version, name and namespace are regular expressions over the
    whole text, name and namespace also over what they were before; labels and annotations are selectors."""
    if not (
        _matches(target.get("group"), manifest.group)
        and _matches(target.get("version"), manifest.version)
        and _matches(target.get("kind"), manifest.kind)
    ):
        return False
    if target.get("name") or target.get("namespace"):
        pairs = (*manifest.names, (manifest.namespace, manifest.name))
        wanted_name, wanted_namespace = target.get("name"), target.get("namespace")
        if not any(
            _matches(wanted_name, name)
            and _matches(wanted_namespace, namespace or "default" if wanted_namespace else "")
            for namespace, name in pairs
        ):
            return False
    return selector_matches(text(target.get("labelSelector")), metadata(manifest.body).get("labels")) and (
        selector_matches(text(target.get("annotationSelector")), metadata(manifest.body).get("annotations"))
    )


def _matches(pattern: object, value: str) -> bool:
    if not isinstance(pattern, str) or not pattern:
        return True
    compiled = _pattern(pattern)
    return value == pattern if compiled is None else compiled.fullmatch(value) is not None


_SLOW = re.compile(r"[*+}]\)?[*+{]|\([^()]*[*+{][^()]*\)[*+{]|\([^()]*\|[^()]*\)[*+{]")
"""Repeated repetitions, which can take Python for ever; Go's engine, which kustomize has, does not mind them."""


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> re.Pattern[str] | None:
    """The compiled pattern, None where Python cannot read it (then only equal text matches) or it could be slow."""
    if _SLOW.search(pattern):
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None


_REQUIREMENT = re.compile(
    r"\s*(?:(?P<not>!)\s*)?(?P<key>[\w./-]+)\s*(?:(?P<op>==|!=|=)\s*(?P<value>[\w.-]*)"
    r"|(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?\s*"
)


def selector_matches(selector: str, labels: object) -> bool:
    """`a=b,c!=d,e in (f,g),h notin (i),j,!k` against labels; a selector that cannot be read matches nothing."""
    if not selector.strip():
        return True
    # Kustomize reads an unquoted `true` of a label as the text it is written as.
    values = {name: str(each).lower() if isinstance(each, bool) else each for name, each in mapping(labels).items()}
    for part in re.split(r",(?![^(]*\))", selector):
        match = _REQUIREMENT.fullmatch(part)
        if match is None:
            return False
        has = match["key"] in values
        value = values.get(match["key"])
        if match["not"]:
            fine = not has
        elif match["set"]:
            listed = {each.strip() for each in match["values"].split(",")}
            fine = (has and value in listed) if match["set"] == "in" else value not in listed
        elif match["op"] == "!=":
            fine = value != match["value"]
        elif match["op"]:
            fine = has and value == match["value"]
        else:
            fine = has
        if not fine:
            return False
    return True
