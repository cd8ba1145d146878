"""What objects name is read: the catalog declares every field of a shipped schema that names another object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import policylint
from policylint.catalog.content import content_of
from policylint.catalog.kinds import load_catalog
from policylint.model import ResourceKey
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.model.policy_kind import ContentField
from policylint.model.shipped import shipped_files
from policylint.schema.known import read_shipped
from tests.worlds import opened

OTHERS = {
    ("gateway.networking.k8s.io", "Gateway"),
    ("gateway.networking.k8s.io", "ListenerSet"),
    ("gateway.networking.x-k8s.io", "XListenerSet"),
    ("gateway.envoyproxy.io", "Backend"),
    ("gateway.kgateway.dev", "Backend"),
    ("agentgateway.dev", "AgentgatewayBackend"),
}
"""Kinds that are no policies and of which the catalog says what they name."""
KINDS = sorted(OTHERS | {(kind.group, kind.kind) for kind in load_catalog().kinds() if kind.kind != "*"})
DECLARED = [(kind, content_of(*kind)) for kind in KINDS if content_of(*kind)]
OF_REFERENCES = {
    *("algorithm", "fallback", "filters", "group", "key", "kind", "name", "namespace", "optional", "port", "weight")
}
"""Fields of references."""
NAMES = re.compile(r"(Ref|Refs|[sS]ecret|[sS]ecretName|onfigMap|upstream|tapServer)$")
BY_OTHERS = re.compile(
    r"\b(env|envFrom|[vV]olumes|extraVolumes|imagePullSecrets|dataSourceRef|valueFrom)\b"  # for the pods of a proxy
    r"|^(parentRef|controlPlaneRef)\b|\bparametersRef\b|\bpatternRef\b"
)
"""Fields that name what no answer hangs on, or that stand for bindings of their own (policy/bindings.py)."""
OF_CLUSTERS = "open-cluster-management.io"
"""The groups of kinds that place policies: clusters/ reads what they name."""


def fields(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the schema of everything below one, with its path."""
    if not isinstance(schema, dict) or len(path) > 14:
        return
    yield path, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from fields(inner, (*path, name))
    for below in ("items", "additionalProperties"):
        yield from fields(schema.get(below), (*path, "*"))


def naming_fields(group: str, kind: str) -> set[str]:
    """Return the paths below spec of a kind's shipped schema at which another object is named."""
    found: set[str] = set()
    known = load_catalog().get(group, kind)
    targets = {each.path.split(".")[0] for each in known.references} if known is not None else set()
    if group not in {Path(folder).name for folder in shipped_files("schemas", "crds")}:
        return set()
    for file in shipped_files("schemas", "crds", group):
        if Path(file).stem != kind:
            continue
        for schema in read_shipped(Path(file).read_text(encoding="utf-8"))["versions"].values():
            spec = {} if isinstance(schema, str) else schema["properties"].get("spec", {})
            for path, field in fields(spec):
                name = next((step for step in reversed(path) if step != "*"), "")
                properties = set(field.get("properties") or ())
                is_object = "name" in properties and properties <= OF_REFERENCES
                if NAMES.search(name) and (is_object or field.get("type") == "string") and path[0] not in targets:
                    found.add(".".join(path))
    return {path for path in found if not BY_OTHERS.search(path)}


def covers(field: ContentField, path: str) -> bool:
    steps = re.escape(field.path).replace(r"\*\*\.", r"(?:.*\.)?").replace(r"\*", r"\*")
    return re.fullmatch(steps, path) is not None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind[0].endswith(OF_CLUSTERS)], ids=".".join)
def test_every_field_of_a_schema_that_names_an_object_is_declared(kind: tuple[str, str]) -> None:
    declared = content_of(*kind)
    assert {path for path in naming_fields(*kind) if not any(covers(field, path) for field in declared)} == set()


def placed(path: str, value: Any) -> Any:
    """Return a spec with a value at a path."""
    for step in reversed([step for step in path.split(".") if step != "**"]):
        value = [value] if step == "*" else {step: value}
    return value


@pytest.mark.parametrize(("kind", "declared"), DECLARED, ids=[".".join(kind) for kind, _ in DECLARED])
def test_what_a_declared_field_names_is_read_and_never_called_missing(
    kind: tuple[str, str], declared: tuple[ContentField, ...], tmp_path: Path
) -> None:
    for number, field in enumerate(declared):
        group, name = field.kinds[0]
        key = ResourceKey(group, name, "" if field.kinds[0] in CLUSTER_SCOPED else "shop", "named-here")
        reference = {"name": key.name, "kind": name, "group": group, "namespace": "shop"}
        holder = {
            "apiVersion": f"{kind[0]}/v1",
            "kind": kind[1],
            "metadata": {"name": "holder", "namespace": "shop"},
            "spec": placed(field.path, reference),
        }
        named = {
            "apiVersion": f"{group}/v1" if group else "v1",
            "kind": name,
            "metadata": {"name": key.name} | ({"namespace": "shop"} if key.namespace else {}),
        }
        directory = tmp_path / str(number)
        directory.mkdir()
        texts = [yaml.safe_dump(holder), yaml.safe_dump(named)]
        assert opened(directory, *texts).world.get(key) is not None, field.path
        said = [f"{each.message} {each.label}" for each in policylint.lint(directory, no_config=True).findings]
        assert not [text for text in said if f"{key}" in text and re.search("missing|not there|not found", text)]


def test_what_was_not_parsed_is_unknown_and_never_missing(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: shop}\n"
    world = opened(tmp_path, secret).world
    assert world.get(ResourceKey("", "Secret", "shop", "token")) is None
    assert world.resolve(ResourceKey("", "Secret", "shop", "token")).unknown
    assert world.resolve(ResourceKey("", "Secret", "shop", "tokens-prefixed-token")).unknown
    assert world.resolve(ResourceKey("", "Secret", "shop", "other")).missing
