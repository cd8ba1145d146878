"""Argo CD ApplicationSets: the Applications that their template, and the patch on it, make of generated parameters.

The generators are list, git directories and files, matrix, and merge; those that ask the cluster or a forge (clusters,
pullRequest, scmProvider…) leave their parameters symbolic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from policylint.budget import Budget, size_of
from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.argo import templates
from policylint.render.argo.templates import MISSING, parameter_at
from policylint.render.globs import glob
from policylint.render.go_template.functions import Open
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import UncertainError, shown
from policylint.render.go_template.running import of_json
from policylint.render.journal import Journal
from policylint.render.kustomize.strategic_merge import merge
from policylint.render.provenance import Manifest
from policylint.render.texts import map_texts
from policylint.render.tree import Tree, directories_above, inside

_FOR_PARAMETERS = 10
"""Steps of work that it costs to make a set of parameters."""
_FOR_AN_APPLICATION = 50
_WITH_TEMPLATES = ("list", "git", "matrix", "merge", "clusters", "scmProvider", "pullRequest", "plugin")
_ACTION = Pattern(r"\{\{(.*?)\}\}", re.DOTALL)
_EXACT = 10**6
"""A number from here on is written in another form."""
Parameters = dict[str, Any]


class _NoneMadeError(Exception):
    """Argo CD makes no Application of the whole set."""


class _Language(NamedTuple):
    """In which language the templates of a set are: Go's, with its options, or a simpler one."""

    is_go: bool
    options: tuple[str, ...] = ()


def _language(manifest: Manifest) -> _Language:
    options = tuple(str(option) for option in sequence(manifest.spec.get("goTemplateOptions")))
    return _Language(manifest.spec.get("goTemplate") is True, options)


def applications(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    """Yield the Applications of a set, each written where its template is.

    Raises:
        ExhaustedError: there are more than the budget of the tree allows.
    """
    made: list[Manifest] = []
    why = ""
    try:
        made.extend(_applications(manifest, tree, journal))
    except _NoneMadeError as error:  # what was made before it is not applied, either
        made, why = [], f": {error}"
    if not made:
        place = manifest.origin.at("spec", "generators")
        journal.note(f"{manifest} generates no Application from this tree{why}", place, code="not-generated")
        journal.gap(f"{manifest} may deploy it")
    yield from made


def _applications(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    template = mapping(manifest.spec.get("template"))
    place = manifest.origin.at("spec", "template")
    prefixes = directories_above(tree.path_of(manifest.file))  # where the repository may begin
    language = _language(manifest)
    for generator in map(mapping, sequence(manifest.spec.get("generators"))):
        own = [mapping(mapping(generator.get(kind)).get("template")) for kind in _WITH_TEMPLATES]
        overridden = _overridden(template, next(filter(None, own), {}))
        for values in _parameters(generator, tree, prefixes, language):
            tree.budget.spend(_FOR_AN_APPLICATION)
            made = _filled_in(overridden, values, tree.budget, language)
            body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", **made}
            application = Manifest(body, place)
            if text(manifest.spec.get("templatePatch")):
                project = application.spec.get("project")
                _patch(application, values, manifest, tree, journal)
                if project:  # a patch may not change it
                    application.put(("spec", "project"), project, place.at("spec", "project"))
            if manifest.namespace and application.namespace != manifest.namespace:
                source = manifest.origin.at("metadata", "namespace")
                application.put(("metadata", "namespace"), manifest.namespace, source)
            yield application


def _overridden(value: Any, by: Any) -> Any:
    """Return a mapping with what another one holds that is not empty, at any depth."""
    if not isinstance(value, dict) or not isinstance(by, dict):
        return value if by in ("", None, [], {}, False, 0) else by
    return {**value, **{key: _overridden(value.get(key), inner) for key, inner in by.items()}}


def _patch(application: Manifest, values: Parameters, owner: Manifest, tree: Tree, journal: Journal) -> None:
    """Merge what a set's `templatePatch` makes of the parameters into an Application, lists replaced as a whole; noted
    where that is not certain: the Application then stands as the template has it, and may deploy other things, too."""
    place = owner.origin.at("spec", "templatePatch")
    try:
        patch, language = owner.spec["templatePatch"], _language(owner)
        if language.is_go:
            patch = _rendered(patch, values, tree.budget, language)
        else:
            patch = _filled_in(patch, values, tree.budget, language)
        documents, problem = tree.texts.documents(patch, place)
        if problem:
            raise UncertainError(problem.message)
    except UncertainError as error:
        journal.note(f"the effect of this patch on {owner} is not known: {error}", place, code="template-patch")
        journal.gap(f"{owner}, whose templatePatch is not rendered, may deploy it")
        return
    for value, _ in documents:
        if isinstance(value, dict):
            tree.budget.spend(size_of(value)[0])
            application.body, application.origin = merge(application.body, application.origin, value, place, core=False)


def _parameters(generator: Any, tree: Tree, prefixes: list[str], language: _Language) -> Iterator[Parameters]:
    """Yield the parameters that one generator puts into the template, where its `selector` lets it.

    Args:
        prefixes: directories at which the repository may begin.
        language: whether parameters nest (Go's); they are texts, otherwise.
    """
    selector = mapping(generator.get("selector"))
    steps = _FOR_PARAMETERS + (size_of(selector)[0] if selector else 0)
    for values in _made(generator, tree, prefixes, language):
        tree.budget.spend(steps + len(values))
        values = of_json(values) if language.is_go else values
        if not selector or _is_selected(selector, values):
            yield values


def _made(generator: Any, tree: Tree, prefixes: list[str], language: _Language) -> Iterator[Parameters]:
    if "list" in generator:
        yield from _of_list(mapping(generator["list"]), language)
    elif "git" in generator:
        for prefix in prefixes:
            made = list(_of_git(mapping(generator["git"]), tree, prefix, language))
            if made:
                yield from made
                return
    elif "matrix" in generator:
        inner = [mapping(part) for part in sequence(mapping(generator["matrix"]).get("generators"))]
        if len(inner) != 2:
            raise _NoneMadeError("a matrix has two generators")
        yield from _product(inner[0], inner[1], tree, prefixes, language)
    elif "merge" in generator:
        yield from _merged(mapping(generator["merge"]), tree, prefixes, language)
    else:
        yield Open()


def _of_list(generator: Any, language: _Language) -> Iterator[Parameters]:
    """Yield `elements`, and those that `elementsYaml` is the text of."""
    elements = [*sequence(generator.get("elements"))]
    for element in elements if not language.is_go else ():
        for name, value in mapping(element).items():
            texts = mapping(value).values() if name == "values" else [value]
            if not all(isinstance(each, str) for each in texts):
                raise _NoneMadeError(f"without goTemplate, {name} of an element of its list must be a text")
    written = text(generator.get("elementsYaml"))
    if written and "{{" not in written:
        for document in read(written.encode(), "").documents:
            elements += sequence(document.value)
    for element in elements:
        yield dict(mapping(element))


def _product(first: Any, second: Any, tree: Tree, prefixes: list[str], language: _Language) -> Iterator[Parameters]:
    """Yield every combination; the second generator may use what the first one gives, which has the last word."""
    for given in _parameters(first, tree, prefixes, language):
        filled = _filled_in(second, given, tree.budget, language) if given else second
        for values in _parameters(filled, tree, prefixes, language):
            is_open = isinstance(given, Open) or isinstance(values, Open)
            if language.is_go:
                made = _overridden(values, given)
                yield Open(made) if is_open else made
                continue
            texts, others = dict(_flat(given)), dict(_flat(values))
            for name in texts.keys() & others.keys():
                if texts[name] != others[name]:
                    raise _NoneMadeError(f"both generators of its matrix give {name}, and not the same")
            yield Open({**given, **values}) if is_open else {**given, **values}


def _merged(generator: Any, tree: Tree, prefixes: list[str], language: _Language) -> Iterator[Parameters]:
    """Yield the first generator's parameters, each with those of the others that have the same keys."""
    keys = [f".{text(key)}" for key in sequence(generator.get("mergeKeys"))]
    if not keys:
        raise _NoneMadeError("its merge has no mergeKeys")
    sources: list[dict[tuple[object, ...], Parameters]] = []
    for part in sequence(generator.get("generators")):
        sources.append({})
        for values in _parameters(mapping(part), tree, prefixes, language):
            if sources[-1].setdefault(_identity(values, keys), values) is not values:
                named = ", ".join(key[1:] for key in keys)
                raise _NoneMadeError(f"a generator of its merge gives the same {named} twice")
    for key, base in sources[0].items() if sources else ():
        result = dict(base)
        for other in sources[1:]:
            values = other.get(key, {})
            tree.budget.spend(_FOR_PARAMETERS + len(values))
            result = _overridden(result, values) if language.is_go else {**result, **values}
        yield result


def _identity(values: Parameters, keys: list[str]) -> tuple[object, ...]:
    """Return what two sets of parameters share if they have the same values at some keys."""
    found = [parameter_at(values, key) for key in keys]
    return tuple(
        repr(value) if isinstance(value, (dict, list)) else None if value is MISSING else value for value in found
    )


def _of_git(generator: Any, tree: Tree, prefix: str, language: _Language) -> Iterator[Parameters]:
    """Yield the directories, or what the files hold, that globs choose; `values` may use what they give."""
    own = mapping(generator.get("values"))
    inside = text(generator.get("pathParamPrefix"))
    for values in (*_directories(generator, tree, prefix), *_files(generator, tree, prefix)):
        if inside:
            values[inside] = {"path": values["path"]}
            del values["path"]
        yield {**values, "values": _filled_in(dict(own), values, tree.budget, language)} if own else values


def _directories(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    included, excluded = _globs(generator.get("directories"))
    if included:
        tree.budget.spend((2 + len(included) + len(excluded)) * len(tree.all_directories()))
    for path in _below(prefix, tree.all_directories()) if included else ():
        if _any_matches(included, path) and not _any_matches(excluded, path) and "/." not in f"/{path}":
            yield {"path": _path_parameters(path)}


def _files(generator: Any, tree: Tree, prefix: str) -> Iterator[Parameters]:
    included, excluded = _globs(generator.get("files"))
    found: set[str] = set()
    for pattern in included:
        for suffix in (".json", ".yml", ".yaml"):
            if pattern.endswith(suffix) or not pattern.endswith((".json", ".yml", ".yaml")):
                tree.budget.spend((1 + len(excluded)) * len(tree.all_files(suffix)))
                found.update(path for path in _below(prefix, tree.all_files(suffix)) if _is_listed(pattern, path))
    for path in sorted(found):
        if not any(_is_listed(pattern, path) for pattern in excluded):
            directory, _, name = path.rpartition("/")
            place = {**_path_parameters(directory or "."), "filename": name}
            place["filenameNormalized"] = templates.normalized(name)
            for content in _contents(tree, inside(prefix, path)):
                yield {**content, "path": place}


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
    normalized = templates.normalized(base)
    return {"path": directory, "basename": base, "segments": directory.split("/"), "basenameNormalized": normalized}


def _any_matches(patterns: list[str], path: str) -> bool:
    """Return whether a directory is one of those that globs name, as Go's `path.Match` has it: step by step."""
    steps = path.split("/")
    for pattern in patterns:
        parts = pattern.split("/")
        if len(parts) == len(steps) and all(glob(part).is_whole(step) for part, step in zip(parts, steps, strict=True)):
            return True
    return False


def _is_listed(pattern: str, path: str) -> bool:
    """Return whether `git ls-files` lists a file for a pattern: `*` stands for slashes, too, and a directory for what
    lies in it."""
    pattern = pattern.removeprefix("./")
    return glob(pattern).is_whole(path) or path.startswith(f"{pattern.rstrip('/')}/")


def _is_selected(selector: Any, values: Parameters) -> bool:
    """Return whether parameters satisfy a label selector over them (`a.b` for what is nested); none at all do."""
    expressions = list(map(mapping, sequence(selector.get("matchExpressions"))))
    for key, expected in mapping(selector.get("matchLabels")).items():
        expressions.append({"key": key, "operator": "In", "values": [expected] if isinstance(expected, str) else []})
    for expression in expressions if values else ():
        value = parameter_at(values, f".{text(expression.get('key'))}")
        if value is MISSING and isinstance(values, Open):
            continue
        is_known = isinstance(value, (str, int, float))
        is_listed = is_known and shown(value) in [shown(one) for one in sequence(expression.get("values"))]
        results = {"In": is_listed, "NotIn": not is_listed, "Exists": is_known, "DoesNotExist": not is_known}
        if not results.get(text(expression.get("operator")), True):
            return False
    return True


def _filled_in(value: Any, values: Parameters, budget: Budget, language: _Language) -> Any:
    """Return a template's value with the parameters in it; a text whose course is not certain stays as it is written.

    Raises:
        ExhaustedError: it is more than the budget allows.
    """
    if language.is_go and not values and not isinstance(values, Open):
        return value
    flat = {} if language.is_go else dict(_flat(values))

    def rendered(written: str) -> str:
        if not language.is_go:
            if "{{" in written:
                budget.spend_on_text(len(written))
                is_open = written.rpartition("{{")[2].find("}}") < 0
                if is_open and "}}" in written:
                    raise _NoneMadeError(f"`{written}` does not close")
            return _ACTION.sub(lambda match: flat.get(match[1].strip(), match[0]), written)
        try:
            return _rendered(written, values, budget, language)
        except UncertainError:
            return written

    def filled(inner: Any) -> Any:
        budget.spend(1)
        if isinstance(inner, dict):
            return {rendered(name): filled(each) for name, each in inner.items()}
        return [filled(each) for each in inner] if isinstance(inner, list) else map_texts(inner, rendered)

    return filled(value)


def _rendered(written: str, values: Parameters, budget: Budget, language: _Language) -> str:
    """Return what a template in Go's language makes.

    Raises:
        UncertainError: that is not known.
    """
    try:
        return templates.filled_in(written, values, budget, language.options)
    except TemplateError as error:
        raise _NoneMadeError(f"`{written[:60]}`: {error}") from None


def _flat(values: Any, start: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names and texts that `{{name}}` stands for without Go templates."""
    for name, value in values.items() if isinstance(values, dict) else enumerate(values):
        place = f"{start}{name}"
        if isinstance(value, dict) and "segments" in value:
            yield place, value["path"]
            yield from ((f"{place}[{index}]", step) for index, step in enumerate(value["segments"]) if step)
            yield from ((f"{place}.{part}", value[part]) for part in value if part not in ("path", "segments"))
        elif isinstance(value, (dict, list)):
            yield from _flat(value, f"{place}.")
        elif not isinstance(value, float) and value is not None and (isinstance(value, str) or abs(value) < _EXACT):
            yield place, shown(value)
