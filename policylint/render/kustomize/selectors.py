"""Kustomize's target selectors: the objects that a patch or a replacement is for."""

from __future__ import annotations

import re
from typing import Any

from policylint.model import mapping, text
from policylint.patterns import Pattern
from policylint.regex import expression
from policylint.render.kustomize.field_specs import effective_namespace
from policylint.render.provenance import Manifest


class SelectorError(Exception):
    """It cannot be told what a target selects; the message says why."""


def selects(target: dict[str, Any], manifest: Manifest, *, together: bool = False) -> bool:
    """Return whether a target selects an object: kind, group, version, name and namespace are regular expressions over
    the whole text, name and namespace over what they are or over what they were; labels and annotations are selectors.

    Args:
        together: whether name and namespace must be of one time, whichever; otherwise each is the first or last one.

    Raises:
        SelectorError: an expression is none, so that kustomize refuses it, or it is too large.
    """
    if not (
        _matches(target.get("group"), manifest.group)
        and _matches(target.get("version"), manifest.version)
        and _matches(target.get("kind"), manifest.kind)
    ):
        return False
    name_pattern, namespace_pattern = target.get("name"), target.get("namespace")
    if name_pattern or namespace_pattern:
        pairs = [(manifest.namespace, manifest.name), *manifest.names]
        tried = [
            (_matches(name_pattern, name), _matches(namespace_pattern, effective_namespace(manifest, namespace)))
            for namespace, name in (pairs if together else pairs[:2])
        ]
        if not (any(map(all, tried)) if together else all(map(any, zip(*tried, strict=True)))):
            return False
    metadata = manifest.metadata
    return selector_matches(text(target.get("labelSelector")), metadata.get("labels")) and (
        selector_matches(text(target.get("annotationSelector")), metadata.get("annotations"))
    )


def _matches(pattern: object, value: str) -> bool:
    if not isinstance(pattern, str) or not pattern:
        return True
    if _PLAIN.fullmatch(pattern):
        return value == pattern
    compiled = expression(pattern)
    fits = compiled.is_whole(value)
    if fits is None:
        shown = pattern if len(pattern) <= 60 else f"{pattern[:59]}…"
        raise SelectorError(f"its target's pattern {shown!r} is {compiled.refusal or 'too large'}")
    return fits


_PLAIN = Pattern(r"[A-Za-z0-9/_-]+")
"""A pattern that matches itself alone."""


_REQUIREMENT = Pattern(
    r"\s*(?:(?P<not>!)\s*)?(?P<key>[\w./-]+)\s*(?:(?P<op>==|!=|=)\s*(?P<value>[\w.-]*)"
    r"|(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?\s*"
)


def selector_matches(selector: str, labels: object) -> bool:
    """Return whether labels satisfy `a=b,c!=d,e in (f,g),h notin (i),j,!k`; a selector that cannot be read matches
    nothing."""
    if not selector.strip():
        return True
    # Kustomize reads an unquoted `true` of a label as the text it is written as.
    values = {key: str(value).lower() if isinstance(value, bool) else value for key, value in mapping(labels).items()}
    for requirement in re.split(r",(?![^(]*\))", selector):
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            return False
        is_there, value = match["key"] in values, values.get(match["key"])
        if match["not"]:
            satisfied = not is_there
        elif match["set"]:
            listed = [item.strip() for item in match["values"].split(",")]  # a label may hold what no set takes
            satisfied = (is_there and value in listed) if match["set"] == "in" else value not in listed
        elif match["op"] == "!=":
            satisfied = value != match["value"]
        else:
            satisfied = is_there and (not match["op"] or value == match["value"])
        if not satisfied:
            return False
    return True
