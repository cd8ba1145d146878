"""The API server as a witness: what it refuses of objects with a shipped schema, and what it stores of the others."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.documents import Pointer
from policylint.schema.checker import without_nulls
from policylint.schema.defaults import left_out
from policylint.schema.explain import explain
from policylint.schema.known import shipped_schema
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest, name_of
from tests.witness.programs import Program

CRDS = Path(__file__).parent / "crds"
ABOUT = (
    "The API server's own code, with the CRDs from which the shipped schemas are made: which objects it refuses by"
    " schemas and rules in CEL, and what it stores of the others, unknown fields dropped and defaults filled in. The"
    " objects are of every kind with a shipped schema, drawn from it and then spoilt."
)


class Server(Program):
    """The running program, with the CRDs that it serves."""

    def __init__(self, program: Path, crds: Sequence[Any]) -> None:
        super().__init__(program)
        self.tell(json.dumps("\n---\n".join(map(json.dumps, crds))))

    def fates(self, objects: Sequence[Manifest]) -> list[dict[str, Any]]:
        """Return for each object why it is refused, or what is stored."""
        return list(self.answer(objects))


def parted(objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]]) -> tuple[list[Manifest], tuple[str, ...]]:
    """Return the objects as they are stored, and the names of those that are refused.

    Args:
        fates: of the objects by the API server; built-in kinds are stored as they are.
    """
    stored, refused = [], []
    for body, fate in zip(objects, fates, strict=True):
        if "stored" in fate or "/" not in body["apiVersion"]:
            stored.append(fate.get("stored", body))
        else:
            refused.append(name_of(body))
    return stored, tuple(refused)


def name(body: Manifest) -> str:
    """Return an object as a fact is named: another schema draws another object, of which the record says nothing."""
    return f"{body['kind']} {body['apiVersion']} | {_digest(body)}"


def real_facts(objects: Sequence[Manifest], fates: Sequence[dict[str, Any]]) -> Facts:
    """Return what the API server does with the objects of the kinds that it serves."""
    facts: Facts = {}
    for body, fate in zip(objects, fates, strict=True):
        if "stored" in fate:
            facts[name(body)] = f"stored as {_digest(fate['stored'])}"
        elif "is not served" not in fate["refused"]:
            facts[name(body)] = "refused"
    return facts


def our_facts(objects: Sequence[Manifest], real: Facts) -> Facts:
    """Return what policylint says of those of some objects of which the API server says something."""
    return {name(body): _fate(body) for body in objects if name(body) in real}


def _fate(body: Manifest) -> str:
    """Return what becomes of an object by the shipped schema of its kind.

    Unknown fields are dropped before rules are judged, as the API server does; `lint` judges no rule of a value that
    has one, as the field may be misspelt.
    """
    group, _, version = body["apiVersion"].rpartition("/")
    (known, *_) = shipped_schema(group, body["kind"], version)
    made = copy.deepcopy(body)
    while broken := [] if known.checker.is_valid(made) else explain(known.schema, made, known.fuel):
        if any(each.code != "unknown-field" for each in broken):
            return "refused"
        for each in broken:
            del _at(made, each.pointer[:-1])[each.pointer[-1]]
    made = without_nulls(made, known.schema)
    while missing := list(left_out(known.schema, made)):
        for field in missing:
            _at(made, field.pointer)[field.field] = copy.deepcopy(field.value)
    return f"stored as {_digest(made)}"


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    (version,) = re.findall(r"^\tk8s.io/apiextensions-apiserver (v\S+)$", (CRDS / "go.mod").read_text(), re.M)
    return {"title": "API server", "about": ABOUT, "versions": {"apiextensions-apiserver": version}}


def _at(value: Any, pointer: Pointer) -> Any:
    for step in pointer:
        value = value[step]
    return value


def _digest(body: Manifest) -> str:
    """Return what tells whether two stored objects are the same, metadata and status apart."""
    own = {field: _plain(value) for field, value in body.items() if field not in ("metadata", "status")}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:8]


def crds(folder: Path) -> list[Any]:
    """Return the CRDs from which the shipped schemas are made; of two channels the wider one."""
    from schemas.make_crds import CHANNELS, SOURCES, definitions

    places = [folder / project / channel for project in sorted(SOURCES) for channel in (CHANNELS[-1], "")]
    return [each for place in places if any(place.glob("*.yaml")) for each in definitions(place)]


def _plain(value: Any) -> Any:
    """Return a value in which numbers are written as Go writes them: whole ones without a point."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
