"""How Argo CD's repo server reads a source in the tree: of which type it is, with which options, of which files.

Source: argoproj/argo-cd `reposerver/repository/repository.go`, `util/kustomize/kustomize.go`, as of v3.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from policylint.documents import Document, read
from policylint.documents.problem import YAML_SYNTAX
from policylint.load.facts import KUSTOMIZATION_FILES
from policylint.model import Spot, mapping, sequence, text, value_at
from policylint.patterns import Pattern
from policylint.render.flux.deployment import Kustomization, amended
from policylint.render.globs import glob
from policylint.render.helm.app_template.release import as_number
from policylint.render.provenance import Manifest, Provenance, entries, put
from policylint.render.tree import Tree, inside, join

HELM, KUSTOMIZE, DIRECTORY, PLUGIN = "helm", "kustomize", "directory", "plugin"
TYPES: Final = (KUSTOMIZE, HELM, DIRECTORY, PLUGIN)
"""The fields of a source that say of which type it is."""
_CHART: Final = "Chart.yaml"
_YAML: Final = (".yaml", ".yml")
_JSON: Final = ".json"
_JSONNET: Final = ".jsonnet"
_READ: Final = ("yaml", "json", "empty")
"""Forms of files that are YAML."""
_NO_MANIFEST: Final = b"+argocd:skip-file-rendering"
_LOOKS_LIKE_ONE: Final = (b"apiVersion:", b"kind:", b"metadata:")
"""What makes a file that is no manifest a broken one, instead of one of another sort."""
_SEPARATOR: Final = Pattern(rb"^---", re.MULTILINE)
_KIND: Final = Pattern(rb"^kind:\s*[\"']?\w", re.MULTILINE)
_CONTENT: Final = Pattern(rb"^\s*[^\s#]", re.MULTILINE)
_FIXED: Final = ("chart", "path", "repoURL", "targetRevision")
"""What a file in the directory cannot say of a source."""
_SHAPES: Final[Mapping[str, Mapping[str, type]]] = {
    DIRECTORY: {"recurse": bool, "include": str, "exclude": str, "jsonnet": dict},
    KUSTOMIZE: {"namePrefix": str, "nameSuffix": str, "namespace": str, "images": list, "commonLabels": dict},
    HELM: {"releaseName": str, "valueFiles": list, "parameters": list},
    PLUGIN: {"name": str},
}
_VARIABLE: Final = Pattern(r"\$(?:\$|\{(\w+)\}|(\w+))")
_REVISIONS: Final = Pattern(r"ARGOCD_APP_REVISION\w*")


class RefusedSourceError(Exception):
    """Argo CD makes nothing of a source, and so applies nothing of its Application."""

    def __init__(self, message: str, place: Provenance) -> None:
        super().__init__(message)
        self.place = place


class UnfitSourceError(RefusedSourceError):
    """The files of a directory are not of the type that a source says; of another repository they may be."""


def overridden(source: Any, place: Provenance, tree: Tree, directory: str, name: str) -> tuple[Any, Provenance]:
    """Return a source with what the files `.argocd-source.yaml` and `.argocd-source-NAME.yaml` in its directory say.

    Args:
        name: of the Application.

    Raises:
        RefusedSourceError: one of them is no such file.
    """
    for file in (".argocd-source.yaml", f".argocd-source-{name}.yaml"):
        path = inside(directory, file)
        data = tree.read(path)
        if data is None:
            continue
        reading = read(data, tree.shown(path))
        where = Provenance(Spot(tree.shown(path)))
        if reading.problems and not reading.documents:
            raise RefusedSourceError("this is no YAML", where)
        document: Document | None = next(iter(reading.documents), None)
        if document is None or not isinstance(document.value, dict):
            raise RefusedSourceError("this says nothing of a source", where)
        _check_shapes(document.value, Provenance(document))
        own = {field: inner for field, inner in document.value.items() if field not in _FIXED}
        source, place = _merged(source, place, own, Provenance(document))
    return source, place


def _check_shapes(patch: Any, place: Provenance) -> None:
    for field, shapes in _SHAPES.items():
        options = patch.get(field)
        if options is not None and not isinstance(options, dict):
            raise RefusedSourceError(f"`{field}` is no mapping", place.child(field))
        for name, shape in shapes.items():
            value = mapping(options).get(name)
            if value is not None and not isinstance(value, shape):
                raise RefusedSourceError(f"`{name}` is not what it must be", place.at(field, name))


def _merged(value: Any, origin: Provenance, patch: Any, place: Provenance) -> tuple[Any, Provenance]:
    """Return a value after a JSON merge patch; null takes nothing away: the result is read over what was there."""
    if not isinstance(patch, dict):
        return patch, place
    if not isinstance(value, dict):
        value, origin = {}, place
    for name, new in patch.items():
        if new is not None:
            inner, where = _merged(value.get(name), origin.child(name), new, place.child(name))
            value, origin = put(value, origin, (name,), inner, where)
    return value, origin


def type_of(source: Any, place: Provenance, tree: Tree, directory: str) -> str:
    """Return the type of a source: what it says, else what the files right in its directory make it, the last one by
    name.

    Raises:
        RefusedSourceError: it says that it is of two types, or of one that its files are not of.
    """
    stated = [field for field in TYPES if source.get(field) is not None]
    if len(stated) > 1:
        raise RefusedSourceError(f"its source has both `{stated[0]}` and `{stated[1]}`", place.child(stated[1]))
    names = [*tree.files.get(directory, ()), *([_CHART] if tree.read(inside(directory, _CHART)) is not None else ())]
    if kustomization := tree.kustomization_file(directory):
        names.append(kustomization.rpartition("/")[2])
    if stated:
        lacks = {KUSTOMIZE: KUSTOMIZATION_FILES, HELM: (_CHART,)}.get(stated[0], ())
        if lacks and not any(name in lacks for name in names):
            raise UnfitSourceError(f"{directory or '.'} has no {lacks[0]}", place.child(stated[0]))
        return stated[0]
    telling = [name for name in names if name.endswith(_CHART) or name in KUSTOMIZATION_FILES]
    if not telling:
        return DIRECTORY
    if max(telling) in KUSTOMIZATION_FILES:
        return KUSTOMIZE
    if _CHART not in names:
        raise RefusedSourceError(f"{max(telling)} makes {directory or '.'} a chart, and it has no {_CHART}", place)
    return HELM


def builds_with_kustomize(source: Any, tree: Tree, directory: str) -> bool:
    """Return whether the plugin of a source is one that runs kustomize, by its name (`kustomize-build-with-helm`,
    `argocd-vault-plugin-kustomize`), and has nothing else to run: what it makes is what kustomize makes, at least."""
    name = text(mapping(source.get(PLUGIN)).get("name"))
    is_chart = tree.read(inside(directory, _CHART)) is not None
    return KUSTOMIZE in name and not is_chart and tree.kustomization(directory) is not None


def plain_files(tree: Tree, directory: str, options: Any) -> Iterator[str]:
    """Yield the files that a source with some `directory` options applies, sorted, and Jsonnet; of subdirectories where
    it says so."""
    pending = [directory]
    recurses = options.get("recurse") is True
    found: list[str] = []
    while pending:
        below = pending.pop()
        tree.budget.spend(5)
        found += [inside(below, name) for name in tree.files.get(below, ()) if name.endswith(_YAML)]
        found += [inside(below, name) for name in tree.json_files.get(below, ())]
        if recurses:
            pending += [inside(below, name) for name in tree.directories.get(below, ())]
    start = inside(directory, "")
    for path in (*tree.all_files(_JSON), *tree.all_files(_JSONNET)):
        if path.startswith(start) and (recurses or "/" not in path[len(start) :]):
            found.append(path)
    include, exclude = text(options.get("include")), text(options.get("exclude"))
    for path in sorted(set(found), key=lambda path: path.split("/")):
        relative = path[len(start) :]
        if exclude and glob(exclude, braces=True).is_whole(relative):
            continue
        if include and not glob(include, braces=True).is_whole(relative):
            continue
        data = tree.read(path)
        if data is not None and _NO_MANIFEST not in data:  # None for a link that leads nowhere, or to a directory
            yield path


def is_jsonnet(path: str) -> bool:
    """Return whether a file is a program that makes manifests."""
    return path.endswith(_JSONNET)


def looks_like_a_manifest(tree: Tree, path: str) -> bool:
    """Return whether a file that cannot be read keeps Argo CD from applying anything of its directory."""
    data = tree.read(path) or b""
    return path.endswith(_JSON) or all(word in data for word in _LOOKS_LIKE_ONE)


def check(tree: Tree, path: str) -> None:
    """Look for what is no object in a file of plain manifests; a file that is no YAML is somebody else's to tell.

    Raises:
        RefusedSourceError: Argo CD cannot read the file, and takes it for a manifest.
    """
    data = tree.read(path) or b""
    where = Provenance(Spot(tree.shown(path)))
    if path.endswith(_JSON):
        tree.budget.spend_on_text(len(data))
        if not _is_json_object(data):
            raise RefusedSourceError("a JSON file must hold one object", where)
        return
    is_template = b"{{" in data
    if not is_template and all(_KIND.search(part) or not _CONTENT.search(part) for part in _SEPARATOR.split(data)):
        return
    tree.budget.spend_on_text(len(data))
    reading = read(data, tree.shown(path))
    documents = [document for document in reading.documents if document.value is not None]
    if is_template and (reading.form not in _READ or any(each.code == YAML_SYNTAX for each in reading.problems)):
        if looks_like_a_manifest(tree, path):
            raise RefusedSourceError("a template is no manifest", where)
        return
    kinds = [text(mapping(document.value).get("kind")) for document in documents]
    if "" in kinds and (kinds[0] or looks_like_a_manifest(tree, path)):
        raise RefusedSourceError("this is no object: it has no kind", Provenance(documents[kinds.index("")]))


def _is_json_object(data: bytes) -> bool:
    try:
        value = mapping(json.loads(data.decode("utf-8-sig")))
        return bool(text(value.get("kind"))) or isinstance(value.get("items"), list)
    except (ValueError, RecursionError):
        return False


def with_options(
    kustomization: Kustomization, options: Any, place: Provenance, tree: Tree, directory: str, known: Mapping[str, str]
) -> Kustomization:
    """Return a kustomization after what `kustomize edit` does for the options of an Application.

    Args:
        known: the variables that Argo CD fills in.

    Raises:
        RefusedSourceError: kustomize refuses one of them.
    """
    if options.get("ignoreMissingComponents") is True:
        there = [
            each for each in sequence(options.get("components")) if tree.is_directory(join(directory, text(each)) or "")
        ]
        options = {**options, "components": there}
    body, origin = amended(kustomization, options, place)
    body, origin = _with_images(body, origin, options, place, known)
    if sequence(options.get("replicas")):
        added = {text(mapping(each).get("name")): (each, where) for each, where in entries(options, place, "replicas")}
        held = [each for each in entries(body, origin, "replicas") if text(mapping(each[0]).get("name")) not in added]
        pairs = [
            *held,
            *(
                ({**mapping(each), "count": as_number(mapping(each).get("count"))}, where)
                for each, where in added.values()
            ),
        ]
        body, origin = _listed(body, origin, "replicas", pairs)
    body, origin = _with_pairs(body, origin, options, place, known)
    if text(options.get("namespace")):
        body = {**body, "namespace": options["namespace"]}
        origin = origin.with_child("namespace", place.child("namespace"))
    return body, origin


def _listed(body: dict[str, Any], origin: Provenance, field: str, pairs: list[tuple[Any, Provenance]]) -> Kustomization:
    """Return a kustomization with a list of entries, each with its place."""
    place = origin.child(field).with_items(where for _, where in pairs)
    return {**body, field: [entry for entry, _ in pairs]}, origin.with_child(field, place)


def _with_images(
    body: dict[str, Any], origin: Provenance, options: Any, place: Provenance, known: Mapping[str, str]
) -> Kustomization:
    """Return a kustomization with the images that options name: `name:tag`, `name=new:tag@digest`, `*` for what was."""
    made = {text(mapping(each).get("name")): (mapping(each), where) for each, where in entries(body, origin, "images")}
    before = dict(made)
    for written, where in entries(options, place, "images"):
        argument = _substituted(text(written), known)
        key, equals, value = argument.partition("=")
        name, tag, digest = _split_image(value if equals else argument)
        if name == argument:
            raise RefusedSourceError(f"{argument} changes no image", where)
        entry = {"name": key if equals else name, "newName": name if equals else "", "newTag": tag, "digest": digest}
        held = before.get(entry["name"], ({}, where))[0]
        kept = {field: held.get(field, "") if part == "*" else part for field, part in entry.items()}
        made[entry["name"]] = ({field: part for field, part in kept.items() if part}, where)
    return _listed(body, origin, "images", list(made.values())) if sequence(options.get("images")) else (body, origin)


def _split_image(written: str) -> tuple[str, str, str]:
    name, _, digest = written.partition("@")
    start = name.rfind("/") + 1
    base, _, tag = name[start:].partition(":")
    return name[:start] + base, tag, digest


def _with_pairs(
    body: dict[str, Any], origin: Provenance, options: Any, place: Provenance, known: Mapping[str, str]
) -> Kustomization:
    """Return a kustomization with the labels and annotations that options add; one that is there must be forced."""
    for field, force, fills in (
        ("commonLabels", "forceCommonLabels", True),
        ("commonAnnotations", "forceCommonAnnotations", options.get("commonAnnotationsEnvsubst") is True),
    ):
        pairs = {
            name: _substituted(str(value), known) if fills else value
            for name, value in mapping(options.get(field)).items()
        }
        if not pairs:
            continue
        is_apart = field == "commonLabels" and options.get("labelWithoutSelector") is True
        in_templates = options.get("labelIncludeTemplates") is True
        if field == "commonLabels" and in_templates and not is_apart:
            raise RefusedSourceError(
                "labelIncludeTemplates needs labelWithoutSelector", place.child("labelIncludeTemplates")
            )
        pointer: tuple[str | int, ...] = (field,)
        if is_apart:
            lists = [mapping(each) for each in sequence(body.get("labels"))]
            fitting = (
                not each.get("includeSelectors") and bool(each.get("includeTemplates")) == in_templates
                for each in lists
            )
            index = next((index for index, fits in enumerate(fitting) if fits), len(lists))
            if index == len(lists):
                added = {"pairs": {}, **({"includeTemplates": True} if in_templates else {})}
                body, origin = _listed(
                    body, origin, "labels", [*entries(body, origin, "labels"), (added, place.child(field))]
                )
            pointer = ("labels", index, "pairs")
        for name, value in pairs.items():
            if name in mapping(value_at(body, pointer)) and options.get(force) is not True:
                raise RefusedSourceError(f"{name} is there already, and not forced", place.at(field, name))
            body, origin = put(body, origin, (*pointer, name), value, place.at(field, name))
    return body, origin


def _substituted(written: str, known: Mapping[str, str]) -> str:
    """Return a text with Argo CD's variables filled in; the revision stays a variable, others are empty."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None:
            return "$"
        return f"${{{name}}}" if _REVISIONS.fullmatch(name) else known.get(name, "")

    return _VARIABLE.sub(value, written)


def misnamed(owner: Manifest, source: Mapping[str, Any], place: Provenance) -> Iterator[tuple[str, Provenance]]:
    """Yield why Argo CD makes nothing of a source with files of another one (`$name/…`), and where that stands.

    Source: argoproj/argo-cd, reposerver/repository/repository.go, resolveReferencedSources: of several sources, value
    files and files of parameters alike, whatever `ignoreMissingValueFiles` says.
    """
    helm, place = mapping(source.get("helm")), place.child("helm")
    refs = {text(mapping(each).get("ref")): mapping(each) for each in sequence(owner.spec.get("sources"))}
    stated = enumerate(map(text, sequence(helm.get("valueFiles"))))
    files = [(place.child("valueFiles").child(number), entry) for number, entry in stated]
    parameters = enumerate(map(mapping, sequence(helm.get("fileParameters"))))
    files += [(place.child("fileParameters").child(number), text(each.get("path"))) for number, each in parameters]
    for where, entry in files if refs else ():
        name = entry.partition("/")[0]
        if name[:1] != "$" or "{" in name:
            continue
        if name[1:] not in refs:
            yield f"no source of {owner} is called {name[1:]} by `ref`, which {entry} means", where
        elif refs[name[1:]].get("chart"):
            yield f"the source of {owner} that {entry} means is a chart: files of one cannot be taken", where
