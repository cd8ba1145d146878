"""Argo CD ApplicationSets: the Applications that their template, and the patch on it, make of generated parameters.

The generators are list, git directories and files, matrix, and merge; those that ask the cluster or a forge (clusters,
pullRequest, scmProvider…) leave their parameters symbolic.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any

from policylint.budget import Budget, size_of
from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.regex import expression as compiled
from policylint.render.argo import go_template
from policylint.render.journal import Journal
from policylint.render.kustomize.strategic_merge import merge
from policylint.render.provenance import Manifest
from policylint.render.texts import map_texts
from policylint.render.tree import Tree, directories_above, inside

_FOR_PARAMETERS = 10
"""Steps of work that it costs to make a set of parameters."""
_FOR_AN_APPLICATION = 50
Parameters = dict[str, Any]


def applications(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    """Yield the Applications of a set, each written where its template is.

    Raises:
        ExhaustedError: there are more than the budget of the tree allows.
    """
    template = mapping(manifest.spec.get("template"))
    place = manifest.origin.at("spec", "template")
    prefixes = directories_above(tree.path_of(manifest.file))  # where the repository may begin
    is_empty = True
    for generator in sequence(manifest.spec.get("generators")):
        for values in _parameters(mapping(generator), tree, prefixes):
            tree.budget.spend(_FOR_AN_APPLICATION)
            is_empty = False
            body = {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "Application",
                **_filled_in(template, values, tree.budget),
            }
            application = Manifest(body, place)
            if text(manifest.spec.get("templatePatch")):
                _patch(application, values, manifest, tree, journal)
            if not application.namespace and manifest.namespace:
                source = manifest.origin.at("metadata", "namespace")
                application.put(("metadata", "namespace"), manifest.namespace, source)
            yield application
    if is_empty:
        place = manifest.origin.at("spec", "generators")
        journal.note(f"{manifest} generates no Application from this tree", place, code="not-generated")
        journal.gap(f"{manifest} may deploy it")


def _patch(application: Manifest, values: Parameters, owner: Manifest, tree: Tree, journal: Journal) -> None:
    """Merge what a set's `templatePatch` makes of the parameters into an Application, lists replaced as a whole; noted
    where that is not certain: the Application then stands as the template has it, and may deploy other things, too."""
    place = owner.origin.at("spec", "templatePatch")
    try:
        patch = go_template.filled_in(owner.spec["templatePatch"], values, tree.budget)
        documents, problem = tree.texts.documents(patch, place)
        if problem:
            raise go_template.UncertainError(problem.message)
    except go_template.UncertainError as error:
        journal.note(f"the effect of this patch on {owner} is not known: {error}", place, code="template-patch")
        journal.gap(f"{owner}, whose templatePatch is not rendered, may deploy it")
        return
    for value, _ in documents:
        if isinstance(value, dict):
            tree.budget.spend(size_of(value)[0])
            application.body, application.origin = merge(application.body, application.origin, value, place, core=False)


def _parameters(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    """Yield the parameters that one generator puts into the template, where its `selector` lets it.

    Args:
        prefixes: directories at which the repository may begin.
    """
    selector = mapping(generator.get("selector"))
    steps = _FOR_PARAMETERS + (size_of(selector)[0] if selector else 0)
    for values in _made(generator, tree, prefixes):
        tree.budget.spend(steps + len(values))
        if not selector or _is_selected(selector, values):
            yield values


def _made(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    if "list" in generator:
        yield from _of_list(mapping(generator["list"]))
    elif "git" in generator:
        for prefix in prefixes:
            made = list(_of_git(mapping(generator["git"]), tree, prefix))
            if made:
                yield from made
                return
    elif "matrix" in generator:
        inner = [mapping(part) for part in sequence(mapping(generator["matrix"]).get("generators"))]
        yield from _product(inner, {}, tree, prefixes)
    elif "merge" in generator:
        yield from _merged(mapping(generator["merge"]), tree, prefixes)
    else:
        yield {}


def _of_list(generator: Any) -> Iterator[Parameters]:
    """Yield `elements`, and those that `elementsYaml` is the text of."""
    elements = [*sequence(generator.get("elements"))]
    written = text(generator.get("elementsYaml"))
    if written and "{{" not in written:
        for document in read(written.encode(), "").documents:
            elements += sequence(document.value)
    for element in elements:
        yield dict(mapping(element))


def _product(generators: list[Any], given: Parameters, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    """Yield every combination; a later generator may use what the earlier ones give."""
    if not generators:
        yield given
        return
    first = _filled_in(generators[0], given, tree.budget) if given else generators[0]
    for values in _parameters(first, tree, prefixes):
        yield from _product(generators[1:], {**given, **values}, tree, prefixes)


def _merged(generator: Any, tree: Tree, prefixes: list[str]) -> Iterator[Parameters]:
    """Yield the first generator's parameters, each with those of the others that have the same keys."""
    sources = [list(_parameters(mapping(part), tree, prefixes)) for part in sequence(generator.get("generators"))]
    keys = [f".{text(key)}" for key in sequence(generator.get("mergeKeys"))]
    others: dict[tuple[object, ...], list[Parameters]] = defaultdict(list)
    for values in chain.from_iterable(sources[1:]) if keys else ():
        others[_identity(values, keys)].append(values)
    for base in sources[0] if sources else ():
        result = dict(base)
        if keys and go_template.MISSING not in [go_template.lookup(base, key) for key in keys]:
            for values in others.get(_identity(base, keys), ()):
                tree.budget.spend(_FOR_PARAMETERS + len(values))
                result.update(values)
        yield result


def _identity(values: Parameters, keys: list[str]) -> tuple[object, ...]:
    """Return what two sets of parameters share if they have the same values at some keys."""
    found = [go_template.lookup(values, key) for key in keys]
    return tuple(repr(value) if isinstance(value, (dict, list)) else value for value in found)


def _of_git(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    """Yield the directories, or what the files hold, that globs choose; `values` may use what they give."""
    own = mapping(generator.get("values"))
    inside = text(generator.get("pathParamPrefix"))
    for values in (*_directories(generator, tree, prefix), *_files(generator, tree, prefix)):
        if inside:
            values[inside] = {"path": values["path"]}
            del values["path"]
        yield {**values, "values": _filled_in(dict(own), values, tree.budget)} if own else values


def _directories(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    included, excluded = _globs(generator.get("directories"))
    if included:
        tree.budget.spend((2 + len(included) + len(excluded)) * len(tree.all_directories()))
    for path in _below(prefix, tree.all_directories()) if included else ():
        if _any_matches(included, path) and not _any_matches(excluded, path):
            yield {"path": _path_parameters(path)}


def _files(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    included, excluded = _globs(generator.get("files"))
    for pattern in included:
        suffix = ".json" if pattern.endswith(".json") else ".yml" if pattern.endswith(".yml") else ".yaml"
        tree.budget.spend((1 + len(excluded)) * len(tree.all_files(suffix)))
        for path in _below(prefix, tree.all_files(suffix)):
            if _any_matches([pattern], path) and not _any_matches(excluded, path):
                directory, _, name = path.rpartition("/")
                for content in _contents(tree, inside(prefix, path)):
                    yield {**content, "path": {**_path_parameters(directory), "filename": name}}


def _globs(entries: Any) -> tuple[list[str], list[str]]:
    """Return the globs of what is included and of what is excluded."""
    globs: tuple[list[str], list[str]] = ([], [])
    for entry in map(mapping, sequence(entries)):
        globs[entry.get("exclude") is True].append(text(entry.get("path")))
    return globs


def _below(prefix: str, paths: list[str]) -> Iterator[str]:
    """Yield the paths below a prefix, without it."""
    start = inside(prefix, "")
    return (path.removeprefix(start) for path in paths if path.startswith(start))


def _contents(tree: Tree, path: str) -> Iterator[Parameters]:
    values = [value for value, _ in tree.values(path)] if not path.endswith(".json") else []
    if path.endswith(".json"):
        data = tree.read(path) or b"{}"
        tree.budget.spend_on_text(len(data))
        with suppress(ValueError, RecursionError):
            values = [json.loads(data)]
    for value in values:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield item


def _path_parameters(directory: str) -> Parameters:
    base = directory.rpartition("/")[2]
    normalized = re.sub(r"[^a-z0-9.-]", "-", base.lower())
    return {"path": directory, "basename": base, "segments": directory.split("/"), "basenameNormalized": normalized}


def _any_matches(patterns: list[str], path: str) -> bool:
    return any(compiled(_translated(pattern)).is_whole(path) for pattern in patterns)


@lru_cache(maxsize=256)
def _translated(pattern: str) -> str:
    """Return a glob in which `*` stays inside a step and `**` does not, as a regular expression."""
    written = ""
    for part in re.split(r"(\*\*/?|\*|\?)", pattern.strip("/").removeprefix("./")):
        special = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part)
        written += re.escape(part) if special is None else special
    return written


def _is_selected(selector: Any, values: Parameters) -> bool:
    """Return whether parameters satisfy a label selector over them (`a.b` for what is nested); none at all do."""
    expressions = list(map(mapping, sequence(selector.get("matchExpressions"))))
    for key, expected in mapping(selector.get("matchLabels")).items():
        expressions.append({"key": key, "operator": "In", "values": [expected] if isinstance(expected, str) else []})
    for expression in expressions if values else ():
        value = go_template.lookup(values, f".{text(expression.get('key'))}")
        is_known = isinstance(value, (str, int, bool))
        is_listed = is_known and _as_text(value) in [_as_text(one) for one in sequence(expression.get("values"))]
        results = {"In": is_listed, "NotIn": not is_listed, "Exists": is_known, "DoesNotExist": not is_known}
        if not results.get(text(expression.get("operator")), True):
            return False
    return True


def _filled_in(value: Any, values: Parameters, budget: Budget) -> Any:
    """Return a template's value with the parameters in it; a text whose course is not certain stays as it is
    written.

    Raises:
        ExhaustedError: it is more than the budget allows.
    """
    budget.spend(1)

    def rendered(written: str) -> str:
        try:
            return go_template.filled_in(written, values, budget)
        except go_template.UncertainError:
            return written

    if isinstance(value, dict):
        return {rendered(name): _filled_in(inner, values, budget) for name, inner in value.items()}
    return (
        [_filled_in(item, values, budget) for item in value] if isinstance(value, list) else map_texts(value, rendered)
    )


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
