"""The keys of Secrets of which the tree states the keys alone: sealed, encrypted, or fetched by another controller."""

from __future__ import annotations

from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.model.keys import filled_in
from policylint.render.flux.substitution import is_variable
from policylint.render.tree import Tree

KINDS = frozenset({"Secret", "SealedSecret", "ExternalSecret"})


def secret_keys(tree: Tree, name: str) -> frozenset[str]:
    """Return the keys that the Secrets of a name have, to judge by the objects that make them in the tree."""
    keys: set[str] = set()
    for path in tree.with_secrets:
        data = tree.read(path)
        if data is None or (name.encode() not in data and b"${" not in data):
            continue
        for document in read(data, tree.shown(path)).documents:
            body = mapping(document.value)
            if str(body.get("kind")) in KINDS:
                made, its_keys = _made(body)
                # One whose own name is to be filled in is another one where its keys are no names of variables.
                if made == name or (filled_in(made, name) is not None and all(map(is_variable, its_keys))):
                    keys.update(its_keys)
    return frozenset(keys)


def _made(body: Any) -> tuple[str, list[str]]:
    """Return the name and the keys of the Secret that an object is or makes."""
    name, spec = text(mapping(body.get("metadata")).get("name")), mapping(body.get("spec"))
    if body["kind"] == "Secret":
        return name, [*mapping(body.get("data")), *mapping(body.get("stringData"))]
    if body["kind"] == "SealedSecret":
        template = mapping(mapping(spec.get("template")).get("metadata"))
        return text(template.get("name")) or name, list(mapping(spec.get("encryptedData")))
    target = mapping(spec.get("target"))
    of_template = mapping(mapping(target.get("template")).get("data"))
    fetched = [text(mapping(entry).get("secretKey")) for entry in sequence(spec.get("data"))]
    return text(target.get("name")) or name, list(of_template) or fetched
