"""Argo CD ApplicationSets: the Applications their generators make (list, git directories and files, matrix, merge).

Generators that ask the cluster or a forge (clusters, pullRequest, scmProvider…) leave their parameters symbolic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.render.notes import Journal
from policylint.render.trace import Manifest
from policylint.render.tree import Tree

MAX_APPLICATIONS = 5_000
"""Applications of one set: products of generators are cut off there."""
_FIELD = re.compile(r"\{\{-?\s*\.?(?P<path>[A-Za-z_][\w.\[\]\"'-]*)\s*(?:\|[^}]*)?-?\}\}")
_INDEX = re.compile(r"\{\{-?\s*index\s+\.(?P<path>[\w.]+)\s+\"?(?P<index>[\w-]+)\"?\s*-?\}\}")
_STEP = re.compile(r"[^.\[\]\"']+")
_Parameters = dict[str, Any]


def applications(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    """The Applications of a set, each written where its template is."""
    spec = mapping(manifest.body.get("spec"))
    template = mapping(spec.get("template"))
    place = manifest.trace.at(("spec", "template"))
    above = tree.path_of(manifest.file).split("/")[:-1]
    prefixes = ["/".join(above[:depth]) for depth in range(len(above) + 1)]  # where the repository may begin
    found = 0
    for generator in sequence(spec.get("generators")):
        for parameters in islice(_parameters(mapping(generator), tree, prefixes), MAX_APPLICATIONS):
            found += 1
            body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", **_filled_in(template, parameters)}
            made = Manifest(body, place)
            if not made.namespace and manifest.namespace:
                made.put(("metadata", "namespace"), manifest.namespace, manifest.trace.at(("metadata", "namespace")))
            yield made
    if not found:
        place = manifest.trace.at(("spec", "generators"))
        journal.note(f"no Application comes of {manifest} with what is in the tree", place, code="not-generated")
        journal.gap(f"{manifest} may deploy it", gateway_api=True)


def _parameters(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[_Parameters]:
    """What one generator puts into the template."""
    if "list" in generator:
        for element in sequence(mapping(generator["list"]).get("elements")):
            yield dict(mapping(element))
    elif "git" in generator:
        for prefix in prefixes:
            made = list(islice(_of_git(mapping(generator["git"]), tree, prefix), MAX_APPLICATIONS))
            yield from made
            if made:
                return
    elif "matrix" in generator:
        inner = sequence(mapping(generator["matrix"]).get("generators"))
        factors = [list(_parameters(mapping(each), tree, prefixes)) for each in inner]
        for combination in islice(product(*factors), MAX_APPLICATIONS) if factors else ():
            yield {name: value for each in combination for name, value in each.items()}
    elif "merge" in generator:
        yield from _merged(mapping(generator["merge"]), tree, prefixes)
    else:
        yield {}


def _merged(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[_Parameters]:
    """The first generator's parameters, each with those of the others that have the same keys."""
    sources = [list(_parameters(mapping(each), tree, prefixes)) for each in sequence(generator.get("generators"))]
    keys = [text(each) for each in sequence(generator.get("mergeKeys"))]
    for base in sources[0] if sources else ():
        result = dict(base)
        for other in (each for source in sources[1:] for each in source):
            if all(_lookup(other, key) == _lookup(base, key) for key in keys):
                result.update(other)
        yield result


def _of_git(generator: Any, tree: Tree, prefix: str) -> Iterator[_Parameters]:
    values = mapping(generator.get("values"))
    shared = {"values": dict(values)} if values else {}
    directories = [mapping(each) for each in sequence(generator.get("directories"))]
    if directories:
        wanted = [text(each.get("path")) for each in directories if each.get("exclude") is not True]
        unwanted = [text(each.get("path")) for each in directories if each.get("exclude") is True]
        for path in _below(prefix, tree.all_directories()):
            if _any_matches(wanted, path) and not _any_matches(unwanted, path):
                yield {**_path_parameters(path), **shared}
    for entry in sequence(generator.get("files")):
        pattern = text(mapping(entry).get("path"))
        suffix = ".json" if pattern.endswith(".json") else ".yml" if pattern.endswith(".yml") else ".yaml"
        for path in _below(prefix, tree.all_files(suffix)):
            if _glob(pattern).fullmatch(path):
                directory, _, name = path.rpartition("/")
                for content in _contents(tree, f"{prefix}/{path}" if prefix else path):
                    yield {**content, **_path_parameters(directory, name), **shared}


def _below(prefix: str, paths: list[str]) -> Iterator[str]:
    """The paths below a prefix, without it."""
    for path in paths:
        if not prefix:
            yield path
        elif path.startswith(f"{prefix}/"):
            yield path[len(prefix) + 1 :]


def _contents(tree: Tree, path: str) -> Iterator[_Parameters]:
    if path.endswith(".json"):
        try:
            values = [json.loads(tree.read(path) or b"{}")]
        except ValueError:
            values = []
    else:
        values = [value for value, _ in tree.values(path)]
    for value in values:
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield each


def _path_parameters(directory: str, file: str = "") -> _Parameters:
    base = directory.rpartition("/")[2]
    parameters = {"path": directory, "basename": base, "segments": directory.split("/")}
    parameters["basenameNormalized"] = re.sub(r"[^a-z0-9.-]", "-", base.lower())
    if file:
        parameters["filename"] = file
    return {"path": parameters}


def _any_matches(patterns: list[str], path: str) -> bool:
    return any(_glob(each).fullmatch(path) for each in patterns)


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A glob in which `*` stays inside a step and `**` does not."""
    written = ""
    pattern = re.sub(r"(?:\*\*/)+", "**/", pattern[:300])
    for part in re.split(r"(\*\*/?|\*|\?)", pattern.strip("/").removeprefix("./")):
        special = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part)
        written += re.escape(part) if special is None else special
    return re.compile(written)


def _filled_in(value: Any, parameters: _Parameters) -> Any:
    if isinstance(value, str):
        if "{{" not in value:
            return value
        value = _INDEX.sub(lambda match: _text(_lookup(parameters, f"{match[1]}.{match[2]}"), match[0]), value)
        return _FIELD.sub(lambda match: _text(_lookup(parameters, match["path"]), match[0]), value)
    if isinstance(value, dict):
        return {_filled_in(name, parameters): _filled_in(each, parameters) for name, each in value.items()}
    return [_filled_in(each, parameters) for each in value] if isinstance(value, list) else value


def _lookup(parameters: _Parameters, path: str) -> Any:
    """`path.basename`, `path[1]`, `metadata.labels.env`, or a key that holds the dots itself."""
    if path in parameters and not isinstance(parameters[path], dict):
        return parameters[path]
    here: Any = parameters
    for step in _STEP.findall(path):
        if isinstance(here, dict):
            here = here["segments"] if step.isdigit() and "segments" in here else here.get(step)
        if isinstance(here, list):
            here = here[int(step)] if step.isdigit() and int(step) < len(here) else here if not step.isdigit() else None
    return here.get("path") if isinstance(here, dict) else here


def _text(value: Any, default: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else default
