"""Every field of a shipped schema that names a Secret, a ConfigMap or the like is known to the catalog (`refers`).

A field that it does not know names an object that stays unread: what is missing there is no finding, and what a change
makes of the object is no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from policylint.catalog.content import content_of, places
from policylint.catalog.naming import groups_with_schemas, shipped_schemas
from policylint.model import mapping
from policylint.schema.known import _shipped
from tests.model.test_judged_fields import spec_with

REFERENCE = re.compile(r"secret|configmap|certificateref|[rR]ef(erence)?s?$", re.IGNORECASE)
NAME = re.compile(r"secret(name)?s?$|configmap(name)?$|credentialnames?$|secretref$", re.IGNORECASE)
FIELDS = {
    *("name", "namespace", "kind", "group", "key", "optional", "port", "apiVersion", "sectionName", "weight"),
    *("filters", "type"),
}
"""Fields of what is nothing but a reference."""
OTHERWISE: Mapping[str, str] = {
    r"(targetRefs?|targetReference|parentRefs?|backendRefs?|extensionRef|gatewayRefs?|parametersRef)(\.\*)?$": (
        "targets, parents, backends, extensions and parameters are resolved each by whoever asks for them"
    ),
    r"(podTemplate|affinity|\w*Containers?|volumes|envFrom|env|overlay|extraVolumes)(\.|$)": "how a proxy's pods run",
    r"imagePullSecrets\.": "with what a proxy's image is fetched",
    r"konnectNamespacedRef$": "a control plane of the vendor's own, which proxies do not ask",
    r"modelRef$": "models of one object that name each other",
    r"^projectcontour\.io:": "ways in: what they name is resolved by `doors`",
    r"^policy\.open-cluster-management\.io:": "hubs: placements and templates are resolved by rules of their own",
}
"""Fields that no `refers` has, by group, kind and path, with who reads them, or why nobody does."""


def below(schema: Mapping[str, Any], at: tuple[str, ...] = (), seen: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the path and schema of everything below a schema."""
    if id(schema) in seen or len(at) > 14:
        return
    inner = (*seen, id(schema))
    yield ".".join(at), schema
    for name, field in mapping(schema.get("properties")).items():
        yield from below(mapping(field), (*at, name), inner)
    for entries in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(entries, dict) and entries:
            yield from below(entries, (*at, "*"), inner)


@cache
def naming() -> list[tuple[str, str, str, bool]]:
    """Return the fields that name other objects: group, kind, path below the spec, and whether it is a name alone."""
    found = []
    for group in sorted(groups_with_schemas()):
        for kind in sorted(shipped_schemas(group)):
            versions = _shipped(group, kind)["versions"].values()
            latest = next(each for each in reversed(versions) if not isinstance(each, str))
            fields = {name: each for name, each in mapping(latest.get("properties")).items() if name != "status"}
            for path, schema in below({"properties": fields}):
                name = next((step for step in reversed(path.split(".")) if step != "*"), "")
                known = set(mapping(schema.get("properties")))
                is_plain = schema.get("type") == "string" and NAME.search(name) is not None
                if is_plain or ("name" in known and known <= FIELDS and REFERENCE.search(name)):
                    found.append((group, kind, path.removeprefix("spec."), is_plain))
    return found


def reason(group: str, kind: str, path: str) -> str:
    return next((why for pattern, why in OTHERWISE.items() if re.search(pattern, f"{group}:{kind}:{path}")), "")


def is_known(group: str, kind: str, path: str, *, is_plain: bool) -> bool:
    held = spec_with(path, "web" if is_plain else {"name": "web"})
    return any(any(True for _ in places(held, field.path, ())) for field in content_of(group, kind))


def test_each_field_that_names_an_object_is_known_to_the_catalog() -> None:
    left = [
        f"{kind}.{group}: {path}"
        for group, kind, path, is_plain in naming()
        if not is_known(group, kind, path, is_plain=is_plain) and not reason(group, kind, path)
    ]
    assert not left, f"declare these {len(left)} in `refers`, or say here who reads them"


def test_the_fields_are_many() -> None:
    assert len(naming()) > 500
    assert sum(is_known(*each[:3], is_plain=each[3]) for each in naming()) > 250


@pytest.mark.parametrize("pattern", OTHERWISE)
def test_no_reason_is_given_for_nothing(pattern: str) -> None:
    assert any(
        re.search(pattern, f"{group}:{kind}:{path}") and not is_known(group, kind, path, is_plain=is_plain)
        for group, kind, path, is_plain in naming()
    )
