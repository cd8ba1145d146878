"""Files that tests compare a cluster with, or patch it with, or hold against policies: they look like objects and are
none.

Chainsaw's tests and KUTTL's steps name them; both tools take those that are called `00-assert.yaml` or `00-errors.yaml`
without being told. What such a file leaves out may be anything, and it may hold expressions in place of fields. The
tests of Kyverno's command line (`kyverno-test.yaml`, which is an object since 1.12) name what no cluster ever gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import read
from policylint.load.objects import joined
from policylint.load.reading import Loaded
from policylint.model import mapping, sequence, text
from policylint.patterns import Pattern
from policylint.sources import Source, SourceError

_GROUPS = frozenset({"chainsaw.kyverno.io", "kuttl.dev"})
_COMPARING = frozenset({"assert", "error", "patch"})
_APPLYING = frozenset({"apply", "create", "update"})
_BY_NAME = Pattern(r"(?:.*/)?\d+-(?:assert|errors?)(?:-[^/.]*)?\.ya?ml")


_OFFLINE = ("kyverno-test.yaml", "kyverno-test.yml")
"""What a test of Kyverno's command line is called, unless somebody says otherwise (its `commands/test`)."""
_OF_OFFLINE = "cli.kyverno.io"
_HELD = ("resources", "targetResources")
_OF_RESULTS = ("patchedResource", "patchedResources", "generatedResource", "cloneSourceResource")


def compared(source: Source, loaded: Loaded) -> frozenset[str]:
    """Return the files, as shown, that tests compare objects with, or hold against policies, and that they apply
    nowhere."""
    files = [file.path for file in loaded.files]
    found = {file for file in files if ("-assert" in file or "-error" in file) and _BY_NAME.fullmatch(file)}
    applied: set[str] = set()
    for test, body in _tests(source, loaded):
        from policylint.render.globs import PLAIN, glob

        directory = test.rpartition("/")[0]
        for operation, written in _named(body):
            path = joined(directory, written)
            if PLAIN.fullmatch(path):
                named = [path]
            else:
                pattern = glob(path, slashes=False)
                named = [file for file in files if pattern.is_whole(file)]
            (found if operation in _COMPARING else applied).update(named)
    found.update(_held(source, loaded, files))
    return frozenset(found - applied)


def _held(source: Source, loaded: Loaded, files: Iterable[str]) -> Iterator[str]:
    """Yield the files that tests of Kyverno's command line hold against policies."""
    tests = {file for file in files if file.rpartition("/")[2] in _OFFLINE}
    tests.update(each.file for each in loaded.unread if each.api_version.partition("/")[0] == _OF_OFFLINE)
    for test in sorted(tests):
        try:
            documents = read(source.file(test).read(), test).documents
        except SourceError:
            continue
        directory = test.rpartition("/")[0]
        for body in map(mapping, (document.value for document in documents)):
            results = map(mapping, sequence(body.get("results")))
            policies = {joined(directory, each) for each in map(text, sequence(body.get("policies"))) if each}
            named = [
                *(body.get(field) for field in _HELD),
                *(each.get(field) for each in results for field in _OF_RESULTS),
            ]
            for written in named if "results" in body or "checks" in body else ():
                for each in filter(None, map(text, sequence(written) or [written])):
                    path = joined(directory, each)
                    held = (file for file in files if file == path or file.startswith(f"{path}/"))
                    yield from (file for file in held if file not in policies)


def _tests(source: Source, loaded: Loaded) -> Iterator[tuple[str, Any]]:
    """Yield the files that hold tests, as shown, with each of these."""
    unread = {each.file for each in loaded.unread if each.api_version.partition("/")[0] in _GROUPS}
    for document in loaded.documents:
        if document.file not in unread and _is_test(document.value):
            yield document.file, document.value
    for file in sorted(unread):
        try:
            documents = read(source.file(file).read(), file).documents
        except SourceError:
            continue
        yield from ((file, document.value) for document in documents if _is_test(document.value))


def _is_test(body: Any) -> bool:
    return text(mapping(body).get("apiVersion")).partition("/")[0] in _GROUPS


def _named(body: Any) -> Iterator[tuple[str, str]]:
    """Yield the files that the operations of a test name, each with the operation."""
    waiting = [body]
    while waiting:
        value = waiting.pop()
        waiting += value if isinstance(value, list) else ()
        for field, inner in mapping(value).items() if isinstance(value, dict) else ():
            if field in _COMPARING or field in _APPLYING:
                yield from ((field, file) for file in _files(inner))
            elif field != "resource" and isinstance(inner, (dict, list)):
                waiting.append(inner)


def _files(operation: Any) -> Iterable[str]:
    """Return the files of an operation: one of Chainsaw's has a field for it, one of KUTTL's is a list."""
    written = [mapping(operation).get("file")] if isinstance(operation, dict) else sequence(operation)
    return [each for each in map(text, written) if each]
