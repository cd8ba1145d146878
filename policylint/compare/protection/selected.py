"""Who is selected by labels: objects whose labels change join, or leave, what others select that nobody evaluates.

Selectors of policies that are evaluated are followed by what they do. Those of a Sidecar, of a network policy of
another plugin, or of an authorizer that finds its keys by labels are not: the labels alone say that something changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.content import known_object
from policylint.catalog.weakenings import access, deciding, words_of
from policylint.compare.pairing import Sides
from policylint.documents import Pointer
from policylint.model import Resource, mapping
from policylint.model.selectors import matches
from policylint.namedtuple import NamedTuple
from policylint.topology.workloads import WORKLOADS, pod_labels

_SELECTOR = re.compile(r"selectors?$", re.IGNORECASE)
_SPOKEN = re.compile(r"[\w./-]+")
"""Names of labels, and values, in a selector that is a text."""
_CONTENTS = frozenset({("", "Secret"), ("", "ConfigMap")})
_OF_CONTENTS = frozenset({
    "auth", "apikey", "basic", "ca", "cert", "config", "configmap", "credential", "credentials", "jwt", "key", "keys",
    "mtls", "oauth", "secret", "secrets", "tls", "users", "x509",
})  # fmt: skip
"""Words of the fields above a selector of Secrets and ConfigMaps."""
_NAMESPACE = ("", "Namespace")


class Joined(NamedTuple):
    """An object of which another one selects it by its labels on one side alone.

    Args:
        names: of the labels that differ.
        pointer: to the first of them.
    """

    resource: Resource
    by: Resource
    joins: bool
    names: tuple[str, ...]
    pointer: Pointer


class _Selecting(NamedTuple):
    """What an object selects, as Kubernetes writes it or as a text, and the words of the fields above it."""

    owner: Resource
    value: Mapping[str, Any] | str
    words: frozenset[str]


def selected_otherwise(sides: Sides) -> Iterator[Joined]:
    """Yield the objects that others select by labels on one side alone."""
    selectors: list[_Selecting] | None = None
    for kind in sides.after.world.kinds():
        for old, new in sides.edited(*kind):
            place, was, now = _labels(old, new)
            names = tuple(name for name in {**was, **now} if str(was.get(name)) != str(now.get(name)))
            if not names:
                continue
            if selectors is None:
                selectors = list(_selectors(sides))
            for each in selectors:
                if _is_about(each, new):
                    before, after = _takes(each.value, was, now)
                    if before != after:
                        yield Joined(new, each.owner, after, names, (*place, names[0]))


def _labels(old: Resource, new: Resource) -> tuple[Pointer, Mapping[str, Any], Mapping[str, Any]]:
    """Return the labels by which an object is selected, of a workload those of its pods, and where they stand."""
    if new.key[:2] not in WORKLOADS or new.key.kind == "Pod":
        return ("metadata", "labels"), old.labels, new.labels
    place = ("spec", "jobTemplate", "spec") if new.key.kind == "CronJob" else ("spec",)
    return (*place, "template", "metadata", "labels"), pod_labels(old), pod_labels(new)


def _selectors(sides: Sides) -> Iterator[_Selecting]:
    """Yield the selectors of objects that nobody evaluates, those that both sides have."""
    former = sides.before.world
    for group, name in sides.after.world.kinds():
        if not _selects(group, name):
            continue
        for owner in sides.after.world.of_kind(group, name):
            was = former.get(sides.pairing.was(owner.key))
            if was is not None:
                there = {repr(each.value) for each in _written(was, was.spec, ())}
                yield from (each for each in _written(owner, owner.spec, ()) if repr(each.value) in there)


def _selects(group: str, name: str) -> bool:
    """Tell whether objects of a kind act on what they select, and nobody evaluates that."""
    if group in access().silent:
        return False
    return deciding(group, name) is not None or "alone" in (known_object(group, name) or {})


def _written(owner: Resource, value: Any, above: tuple[str, ...]) -> Iterator[_Selecting]:
    """Yield the selectors that stand in a value."""
    if isinstance(value, list):
        for entry in value:
            yield from _written(owner, entry, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if _SELECTOR.search(str(name)):
                selector = _read(inner)
                if selector:
                    said = frozenset(word for step in (*above, str(name)) for word in words_of(step))
                    yield _Selecting(owner, selector, said)
            else:
                yield from _written(owner, inner, (*above, str(name)))


def _read(value: Any) -> Mapping[str, Any] | str:
    """Return a selector as Kubernetes writes it, or as a text; nothing for one without conditions."""
    if isinstance(value, str):
        return value
    said = mapping(value)
    if "matchLabels" in said or "matchExpressions" in said:
        return said
    labels = mapping(said.get("labels")) or said
    plain = bool(labels) and all(isinstance(each, (str, int, bool)) for each in labels.values())
    return {"matchLabels": labels} if plain else {}


def _is_about(selector: _Selecting, resource: Resource) -> bool:
    """Tell whether a selector may be one of objects of a kind, in their namespace."""
    kind, owner = resource.key[:2], selector.owner.key
    of_namespaces = "namespace" in selector.words or "namespaces" in selector.words
    if kind == _NAMESPACE or of_namespaces:
        return kind == _NAMESPACE and of_namespaces
    of_contents = not selector.words.isdisjoint(_OF_CONTENTS)
    if kind in _CONTENTS or of_contents:
        return kind in _CONTENTS and of_contents  # authorizers look for keys in all namespaces
    near = not owner.namespace or not resource.key.namespace or owner.namespace == resource.key.namespace
    return near and (kind in WORKLOADS or resource.key.group == owner.group)


def _takes(selector: Mapping[str, Any] | str, was: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether a selector takes labels, as they were and as they are; of a text, whether it speaks of them."""
    if not isinstance(selector, str):
        return matches(selector, was), matches(selector, now)
    return _speaks_of(selector, was, now), _speaks_of(selector, now, was)


def _speaks_of(selector: str, labels: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Tell whether a text speaks of a label that only one of two sets has, by its name and its value."""
    spoken = set(_SPOKEN.findall(selector))
    for name, value in labels.items():
        if name in spoken and str(others.get(name)) != str(value):
            asked = f"has({name})" in selector.replace(" ", "")
            if any(f"{quote}{value}{quote}" in selector for quote in "'\"") or (asked and name not in others):
                return True
    return False


__all__ = ["Joined", "selected_otherwise"]
