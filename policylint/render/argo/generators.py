"""The parameters that the generators of an ApplicationSet make: list, git directories and files, matrix, merge.

Generators that ask the cluster or a forge (clusters, pullRequest, scmProvider…) leave their parameters symbolic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.render.argo import go_template
from policylint.render.tree import Tree

MAX_PARAMETERS = 5_000
"""Sets of parameters of one generator: products are cut off there."""
Parameters = dict[str, Any]


def parameters(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    """What one generator puts into the template, where its `selector` lets it.

    Args:
        prefixes: directories at which the repository may begin.
    """
    selector = mapping(generator.get("selector"))
    for each in _made(generator, tree, prefixes):
        if not selector or _is_selected(selector, each):
            yield each


def _made(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    if "list" in generator:
        yield from _of_list(mapping(generator["list"]))
    elif "git" in generator:
        for prefix in prefixes:
            made = list(islice(_of_git(mapping(generator["git"]), tree, prefix), MAX_PARAMETERS))
            yield from made
            if made:
                return
    elif "matrix" in generator:
        inner = [mapping(each) for each in sequence(mapping(generator["matrix"]).get("generators"))]
        yield from _product(inner, {}, tree, prefixes)
    elif "merge" in generator:
        yield from _merged(mapping(generator["merge"]), tree, prefixes)
    else:
        yield {}


def _of_list(generator: Any) -> Iterator[Parameters]:
    """`elements`, and those that `elementsYaml` is the text of."""
    elements = [*sequence(generator.get("elements"))]
    written = text(generator.get("elementsYaml"))
    if written and "{{" not in written:
        elements += [each for document in read(written.encode(), "").documents for each in sequence(document.value)]
    for element in elements:
        yield dict(mapping(element))


def _product(generators: list[Any], given: Parameters, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    """Every combination; a later generator may use what the earlier ones give."""
    if not generators:
        yield given
        return
    first = filled_in(generators[0], given) if given else generators[0]
    for each in islice(parameters(first, tree, prefixes), MAX_PARAMETERS):
        yield from islice(_product(generators[1:], {**given, **each}, tree, prefixes), MAX_PARAMETERS)


def _merged(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    """The first generator's parameters, each with those of the others that have the same keys."""
    sources = [list(parameters(mapping(each), tree, prefixes)) for each in sequence(generator.get("generators"))]
    keys = [f".{text(each)}" for each in sequence(generator.get("mergeKeys"))]
    for base in sources[0] if sources else ():
        result = dict(base)
        wanted = [go_template.lookup(base, key) for key in keys]
        for other in (each for source in sources[1:] for each in source):
            same = (go_template.lookup(other, key) == value for key, value in zip(keys, wanted, strict=True))
            if keys and go_template.MISSING not in wanted and all(same):
                result.update(other)
        yield result


def _of_git(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    """The directories, or what the files hold, that globs choose; `values` may use what they give."""
    values = mapping(generator.get("values"))
    inside = text(generator.get("pathParamPrefix"))
    for each in (*_directories(generator, tree, prefix), *_files(generator, tree, prefix)):
        if inside:
            each = {**each, inside: {"path": each["path"]}}
            del each["path"]
        yield {**each, "values": filled_in(dict(values), each)} if values else each


def _directories(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    wanted, unwanted = _globs(generator.get("directories"))
    for path in _below(prefix, tree.all_directories()) if wanted else ():
        if _any_matches(wanted, path) and not _any_matches(unwanted, path):
            yield _path_parameters(path)


def _files(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    wanted, unwanted = _globs(generator.get("files"))
    for pattern in wanted:
        suffix = ".json" if pattern.endswith(".json") else ".yml" if pattern.endswith(".yml") else ".yaml"
        for path in _below(prefix, tree.all_files(suffix)):
            if _glob(pattern).fullmatch(path) and not _any_matches(unwanted, path):
                directory, _, name = path.rpartition("/")
                for content in _contents(tree, f"{prefix}/{path}" if prefix else path):
                    yield {**content, **_path_parameters(directory, name)}


def _globs(entries: Any) -> tuple[list[str], list[str]]:
    """The globs of what is wanted and of what is excluded."""
    found = [mapping(each) for each in sequence(entries)]
    return (
        [text(each.get("path")) for each in found if each.get("exclude") is not True],
        [text(each.get("path")) for each in found if each.get("exclude") is True],
    )


def _below(prefix: str, paths: list[str]) -> Iterator[str]:
    """The paths below a prefix, without it."""
    for path in paths:
        if not prefix:
            yield path
        elif path.startswith(f"{prefix}/"):
            yield path[len(prefix) + 1 :]


def _contents(tree: Tree, path: str) -> Iterator[Parameters]:
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


def _path_parameters(directory: str, file: str = "") -> Parameters:
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


def _is_selected(selector: Any, given: Parameters) -> bool:
    """Whether parameters satisfy a label selector over them (`a.b` for what is nested); one that is not known does."""
    for key, wanted in mapping(selector.get("matchLabels")).items():
        value = go_template.lookup(given, f".{key}")
        if isinstance(value, (str, int, bool)) and _as_text(value) != wanted:
            return False
        if not isinstance(value, (str, int, bool)) and given:
            return False
    for each in map(mapping, sequence(selector.get("matchExpressions"))):
        value = go_template.lookup(given, f".{text(each.get('key'))}")
        known = isinstance(value, (str, int, bool))
        listed = [_as_text(each) for each in sequence(each.get("values"))]
        fits = {
            "In": known and _as_text(value) in listed,
            "NotIn": not known or _as_text(value) not in listed,
            "Exists": known,
            "DoesNotExist": not known,
        }
        if given and not fits.get(text(each.get("operator")), True):
            return False
    return True


def filled_in(value: Any, given: Parameters) -> Any:
    """A template's value with the parameters in it; a text whose course is not certain stays as it is written."""
    if isinstance(value, str):
        try:
            return go_template.filled_in(value, given)
        except go_template.UncertainError:
            return value
    if isinstance(value, dict):
        return {filled_in(name, given): filled_in(each, given) for name, each in value.items()}
    return [filled_in(each, given) for each in value] if isinstance(value, list) else value


def _as_text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
