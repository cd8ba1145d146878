"""Files that tests compare a cluster with, or patch it with: they look like objects and are none.

Chainsaw's tests and KUTTL's steps name them; both tools take those that are called `00-assert.yaml` or `00-errors.yaml`
without being told. What such a file leaves out may be anything, and it may hold expressions in place of fields.
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


def compared(source: Source, loaded: Loaded) -> frozenset[str]:
    """Return the files, as shown, that tests compare objects with and that they apply nowhere."""
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
    return frozenset(found - applied)


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
