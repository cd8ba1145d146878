"""ConfigMaps and Secrets that kustomizations generate: their names, with the hash of what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.budget import Bounded
from policylint.model import Spot, mapping, text
from policylint.patterns import Pattern
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.tree import Tree, join

UNKNOWN_HASH = "${hash}"
"""Ends the name of a map one of whose files is not there: a symbolic text, so that no reference to it is missing."""
_STEPS = 20
"""What it costs to make a map of nothing, or to read a file."""
_LETTERS = 8
"""Characters that cost a step: the whole text is hashed."""
_LINE = 70
_KEY = Pattern(r"[-._a-zA-Z0-9]+")
_ADDRESS = Pattern(r"https?://")
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "&<>\u2028\u2029"}


def generated(
    directory: str, body: dict[str, Any], origin: Provenance, tree: Tree, journal: Journal, at: Bounded
) -> Iterator[tuple[Manifest, str]]:
    """Yield what `configMapGenerator` and `secretGenerator` make, each with its behaviour (create, merge, replace).

    Files that are not there are noted.

    Args:
        at: is told which one is being made.

    Raises:
        ExhaustedError: it holds more than the budget of the tree allows.
    """
    shared = mapping(body.get("generatorOptions"))
    for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for entry, place in entries(body, origin, field):
            if isinstance(entry, dict) and text(entry.get("name")):
                at.what, at.place = "this generator", place
                manifest = _generate(directory, kind, entry, place, shared, tree, journal)
                yield manifest, text(entry.get("behavior"), "create")


def _generate(
    directory: str, kind: str, entry: dict[str, Any], source: Provenance, shared: Any, tree: Tree, journal: Journal
) -> Manifest:
    own = mapping(entry.get("options"))
    options = {
        name: shared.get(name) is True or own.get(name) is True for name in ("disableNameSuffixHash", "immutable")
    }
    metadata: dict[str, Any] = {"name": entry["name"]}
    if text(entry.get("namespace")):
        metadata["namespace"] = entry["namespace"]
    named = source.with_children({field: source.child(field) for field in metadata})
    for field in ("labels", "annotations"):
        values = {**mapping(shared.get(field)), **mapping(own.get(field))}
        if values:
            metadata[field] = values
    data, texts, complete = _data(directory, entry, source, tree, journal)
    size = sum(len(value) // _LETTERS + 1 for value in data.values())
    binary = {} if kind == "Secret" else {key: value for key, value in data.items() if isinstance(value, bytes)}
    body: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if binary.keys() < data.keys() or kind == "Secret":
        plain = ((key, value) for key, value in data.items() if key not in binary)
        body["data"] = {key: _encoded(value) if kind == "Secret" else value for key, value in plain}
    if binary:
        body["binaryData"] = {key: _encoded(value) for key, value in binary.items()}
    if kind == "Secret":
        body["type"] = text(entry.get("type"), "Opaque")
    if options["immutable"]:
        body["immutable"] = True
    origin = source.with_children({"metadata": named, "data": source.with_children(texts)})
    hashed = "" if options["disableNameSuffixHash"] else "pending" if complete else UNKNOWN_HASH
    provisional = "" if complete else f"a file that {source.document.file} generates it of was not seen"
    return Manifest(body, origin, (), hashed, provisional, _STEPS + size)


def _data(
    directory: str, entry: dict[str, Any], source: Provenance, tree: Tree, journal: Journal
) -> tuple[dict[str, str | bytes], dict[Any, Provenance], bool]:
    """Return keys and texts, or bytes that are no text; where they are, and whether every file was there."""
    data: dict[str, str | bytes] = {}
    texts: dict[Any, Provenance] = {}
    complete = True

    def take(key: str, value: str | bytes, place: Provenance) -> None:
        if key in data:
            journal.fail(
                f"key {key!r} is there twice: kustomize refuses to generate it", place, code="generator-refused"
            )
        elif not _KEY.fullmatch(key):
            journal.fail(f"{key!r} is no key: kustomize refuses to generate it", place, code="generator-refused")
        data.setdefault(key, value)

    own = [*entries(entry, source, "envs")]
    if text(entry.get("env")):
        own.append((entry["env"], source.child("env")))
    sources = [("envs", each) for each in own]
    sources += [(field, each) for field in ("literals", "files") for each in entries(entry, source, field)]
    for field, (written, place) in sources:
        if field == "literals":
            key, equals, value = text(written).partition("=")
            if not equals or not key:
                message = f"literal {text(written)!r} has no key: kustomize refuses to generate it"
                journal.fail(message, place, code="generator-refused")
            else:
                take(key, _unquoted(value), place)
            continue
        key, equals, path = text(written).rpartition("=") if field == "files" else ("", "", text(written))
        if _ADDRESS.match(path):  # which kustomize fetches
            complete = False
            continue
        joined = join(directory, path)
        content = None if joined is None else tree.read(joined)
        if content is None:
            complete = False
            journal.note(f"generator file {path!r} {tree.absence(joined)}", place, code="missing-file", lacking=joined)
            continue
        tree.budget.spend(_STEPS + len(content) // _LETTERS)
        decoded = content.decode("utf-8", "replace")
        if field == "files":
            key = key if equals else path.rpartition("/")[2]
            take(key, decoded if decoded.encode() == content else content, place)
            texts[key] = Provenance(Spot(tree.shown(joined or "")))
        else:
            for key, value in _env_lines(decoded):
                take(key, value, place)
    return data, texts, complete


def _env_lines(content: str) -> Iterator[tuple[str, str]]:
    for line in content.removeprefix("\ufeff").split("\n"):
        line = line.removesuffix("\r").lstrip()
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            yield key, value


def _encoded(value: str | bytes) -> str:
    """Return a value of a Secret, or one that is no text, as kustomize writes it: in lines, where it is long."""
    import base64

    written = base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()
    if len(written) < _LINE:
        return written
    return "".join(f"{written[start : start + _LINE]}\n" for start in range(0, len(written), _LINE))


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else value


def plain_data(body: dict[str, Any]) -> dict[str, Any]:
    """Return what an object holds as what is generated holds it: no `stringData`, which wins over `data`."""
    plain = mapping(body.get("stringData"))
    if body.get("kind") != "Secret" or not plain:
        return body
    return {
        **body,
        "data": {**mapping(body.get("data")), **{name: _encoded(str(value)) for name, value in plain.items()}},
    }


def add_hash(manifest: Manifest) -> None:
    """End the name of a generated map in the hash of its contents, as kustomize does after everything else."""
    suffix = content_hash(manifest.body) if manifest.hashed == "pending" else manifest.hashed
    manifest.remember()
    manifest.put(("metadata", "name"), f"{manifest.name}-{suffix}", manifest.origin.at("metadata", "name"))
    manifest.hashed = ""


def content_hash(body: dict[str, Any]) -> str:
    """Return kustomize's hash of a ConfigMap or Secret: ten characters without vowels.

    The name is not in it: kustomize means it to be, looks it up wrongly, and must now leave it at that.
    """
    import json
    from hashlib import sha256

    kind = body["kind"]
    encoded: dict[str, Any] = {"kind": kind, "name": "", "data": body.get("data", "")}
    if kind == "Secret":
        encoded["type"] = body.get("type", "")
    for field in ("stringData",) if kind == "Secret" else ("binaryData",):
        if isinstance(body.get(field), dict):
            encoded[field] = body[field]
    written = json.dumps(encoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED)
    return sha256(written.encode()).hexdigest()[:10].translate(str.maketrans("013ae", "ghkmt"))


def merge_generated(former: Manifest, made: Manifest, *, replaces: bool) -> None:
    """Put what was generated in the place of an object that is there, with its name, labels and annotations."""
    new, place = made.metadata, made.origin.at("metadata")
    for field in ("labels", "annotations"):
        for name, value in mapping(new.get(field)).items():
            former.put(("metadata", field, name), value, place.at(field, name))
    body, origin = (
        {**made.body, "metadata": former.metadata},
        made.origin.with_child("metadata", former.origin.at("metadata")),
    )
    held = plain_data(former.body)
    for field in ("data", "binaryData"):
        if not replaces and (held.get(field) or made.body.get(field)):
            body[field] = {**mapping(held.get(field)), **mapping(made.body.get(field))}
            places = {name: former.origin.at(field, name) for name in mapping(held.get(field))}
            places |= {name: made.origin.at(field, name) for name in mapping(made.body.get(field))}
            origin = origin.with_child(field, made.origin.at(field).with_children(places))
    former.body, former.origin = body, origin
    former.hashed = former.hashed and made.hashed
    former.linked = ()
