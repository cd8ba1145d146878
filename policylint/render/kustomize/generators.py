"""ConfigMaps and Secrets that kustomizations generate: their names, with the hash of what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.render.inline import FileText
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, join

UNKNOWN_HASH = "${hash}"
"""Ends the name of a map one of whose files is not there: a symbolic text, so that no reference to it is missing."""


def generated(
    directory: str, body: dict[str, Any], trace: Trace, tree: Tree, missing: Callable[[str, Trace], None]
) -> list[tuple[Manifest, str]]:
    """What `configMapGenerator` and `secretGenerator` make, each with its behaviour (create, merge, replace).

    Args:
        missing: told of files that are not there.
    """
    found = []
    for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for index, entry in enumerate(sequence(body.get(field))):
            if isinstance(entry, dict) and text(entry.get("name")):
                source = trace.child(field).child(index)
                manifest = _generate(
                    directory, kind, entry, source, mapping(body.get("generatorOptions")), tree, missing
                )
                found.append((manifest, text(entry.get("behavior"), "create")))
    return found


def _generate(
    directory: str,
    kind: str,
    entry: dict[str, Any],
    source: Trace,
    shared: Any,
    tree: Tree,
    missing: Callable[[str, Trace], None],
) -> Manifest:
    options = {**shared, **mapping(entry.get("options"))}
    metadata: dict[str, Any] = {"name": entry["name"]}
    children: dict[str | int, Trace] = {"name": source.child("name")}
    if text(entry.get("namespace")):
        metadata["namespace"] = entry["namespace"]
        children["namespace"] = source.child("namespace")
    for field in ("labels", "annotations"):
        values = {**mapping(mapping(shared).get(field)), **mapping(mapping(entry.get("options")).get(field))}
        if values:
            metadata[field] = values
    data, texts, complete = _data(directory, entry, source, tree, missing)
    body: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data}
    if kind == "Secret":
        body["type"] = text(entry.get("type"), "Opaque")
    trace = Trace(
        source.document,
        source.pointer,
        {
            "metadata": Trace(source.document, source.pointer, children),
            "data": Trace(source.document, source.pointer, texts),
        },
    )
    hashed = "" if options.get("disableNameSuffixHash") is True else "pending" if complete else UNKNOWN_HASH
    return Manifest(body, trace, (), hashed)


def _data(
    directory: str, entry: dict[str, Any], source: Trace, tree: Tree, missing: Callable[[str, Trace], None]
) -> tuple[dict[str, Any], dict[str | int, Trace], bool]:
    """Keys and texts, where the texts are, and whether every file was there."""
    data: dict[str, Any] = {}
    texts: dict[str | int, Trace] = {}
    complete = True
    for literal in sequence(entry.get("literals")):
        key, _, value = text(literal).partition("=")
        data[key] = _unquoted(value)
    for field in ("files", "envs"):
        for index, each in enumerate(sequence(entry.get(field))):
            key, equals, path = text(each).rpartition("=") if field == "files" else ("", "", text(each))
            place = join(directory, path)
            content = None if place is None else tree.read(place)
            if content is None:
                complete = False
                missing(path, source.child(field).child(index))
                continue
            decoded = content.decode("utf-8", "replace")
            if field == "files":
                key = key if equals else path.rpartition("/")[2]
                data[key] = decoded
                texts[key] = Trace(FileText(tree.shown(place or "")))
            else:
                data.update(_env_lines(decoded))
    return data, texts, complete


def _env_lines(content: str) -> dict[str, str]:
    found = {}
    for line in content.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            key, _, value = line.lstrip().partition("=")
            found[key.strip()] = value
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else value


def add_hash(manifest: Manifest) -> None:
    """End the name of a generated map in the hash of its contents, as kustomize does after everything else."""
    suffix = content_hash(manifest.body) if manifest.hashed == "pending" else manifest.hashed
    manifest.remember()
    place = manifest.trace.at(("metadata", "name"))
    manifest.put(("metadata", "name"), f"{manifest.name}-{suffix}", place)
    manifest.hashed = ""


def content_hash(body: dict[str, Any]) -> str:
    """Kustomize's hash of a ConfigMap or Secret: ten characters without vowels. The name is not
    in it: kustomize means it to be, looks it up wrongly, and must now leave it at that."""
    import base64
    import json
    from hashlib import sha256

    kind = body["kind"]
    data = mapping(body.get("data"))
    if kind == "Secret":
        data = {key: base64.b64encode(str(value).encode()).decode() for key, value in data.items()}
    encoded: dict[str, Any] = {"data": data or "", "kind": kind, "name": ""}
    if kind == "Secret":
        encoded["type"] = body.get("type", "")
    words = json.dumps(encoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for raw, escaped in (
        ("&", "\\u0026"),
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        words = words.replace(raw, escaped)
    digest = sha256(words.encode()).hexdigest()[:10]
    return digest.translate(str.maketrans("013ae", "ghkmt"))
