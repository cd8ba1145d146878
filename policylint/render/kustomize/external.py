"""The user's own `kubectl kustomize` or `kustomize build`, for kustomizations that are not covered here.

Only where they ask for it, and in a copy of what the kustomization may read: it and the directories that it names, each
with all that is below it. One that names anything else (an address, a path out of the tree, a file that is not there)
is not handed over, as kustomize would go and fetch it. What is not built stays as the built-in renderer has it, and
noted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.outside import find_program
from policylint.patterns import Pattern
from policylint.render.tree import Tree, join

if TYPE_CHECKING:
    from policylint.documents import Document

TIMEOUT: Final = 30.0
"""Seconds for one kustomization."""
MAX_OUTPUT: Final = 32 * 2**20
MAX_FILES: Final = 5_000
"""Files that are copied for one kustomization."""
MAX_BYTES: Final = 64 * 2**20
"""Their bytes, together."""
_COMMANDS: Final = (("kubectl", "kustomize"), ("kustomize", "build"))
_PLUGINS: Final = ("transformers", "generators", "validators")
"""Fields whose entries are configuration of kustomize, which may name files in turn."""
_PATHS: Final = ("resources", "bases", "components", "configurations", "crds", *_PLUGINS)
_CONTENT: Final = frozenset(
    {"annotations", "commonAnnotations", "commonLabels", "labels", "literals", "metadata", "patch", "pairs"}
)
"""Fields that hold text, none of which is opened."""
_LOCAL: Final = Pattern(r"(?:\.{1,2}/)*[\w-][\w.-]*(?:/[\w.-]+)*/?|\.{1,2}(?:/\.{1,2})*/?")
_HOST: Final = Pattern(r"[\w-]+\.[\w.-]+/")
_ADDRESS: Final = Pattern(r"://|::|^\s*git@", re.IGNORECASE)

External = Callable[[str], bytes | None]
"""A directory below the root in, the objects it makes as YAML out; None where that cannot be had."""


class _NotLocalError(Exception):
    """A kustomization that kustomize cannot be trusted with."""


def external(tree: Tree) -> External:
    """Return what renders the directories of a tree with an installed program, looked for when first needed."""
    return partial(_render, tree)


def _render(tree: Tree, directory: str) -> bytes | None:
    from tempfile import TemporaryDirectory

    from policylint.render.sandbox import TREE, OutsideError, path_below, run, write_below

    command = next(((program, verb) for name, verb in _COMMANDS if (program := find_program(name))), None)
    if command is None:
        return None
    try:
        files = _files(tree, directory)
        with TemporaryDirectory(prefix="policylint-kustomize-") as top:
            for path, content in files.items():
                write_below(top, f"{TREE}/{path}", content)
            place = path_below(top, f"{TREE}/{directory}" if directory else TREE)
            restricted = (*command, "--load-restrictor", "LoadRestrictionsRootOnly", place)
            ended = run(restricted, top, timeout=TIMEOUT, most=MAX_OUTPUT)
    except (_NotLocalError, OutsideError, OSError):
        return None
    return ended.output if ended.code == 0 and not ended.cut else None


def _files(tree: Tree, directory: str) -> dict[str, bytes]:
    """Return what a kustomization may read, by path below the root.

    Raises:
        _NotLocalError: it names something that is not in the tree, or more than can be copied.
    """
    files: dict[str, bytes] = {}
    size = 0
    pending = [(directory, False)]
    for place, is_configuration in pending:
        for path in tree.files_below(place):
            data = None if path in files else tree.read(path)
            if data is not None:
                files[path] = data
                size += len(data)
            if len(files) > MAX_FILES or size > MAX_BYTES:
                raise _NotLocalError
            if is_configuration and data is not None and path.endswith((".yaml", ".yml", ".json")):
                _check_configuration(read(data, path).documents)
        for step in _steps(tree, place, is_configuration):
            if step not in pending:
                pending.append(step)
    return files


def _steps(tree: Tree, directory: str, is_configuration: bool) -> Iterator[tuple[str, bool]]:
    """Yield the directories that a kustomization names, and whether what they make configures kustomize."""
    kustomization = tree.kustomization(directory)
    documents = tree.documents(tree.kustomization_file(directory) or "") or ()
    if kustomization is None or len(documents) != 1:
        raise _NotLocalError
    body = kustomization[0]
    if any(map(_ADDRESS.search, _texts(body))):
        raise _NotLocalError
    for field in _PATHS:
        for entry in map(text, sequence(body.get(field))):
            configures = is_configuration or field in _PLUGINS
            if "\n" in entry:
                _check_configuration(read(entry.encode(), "").documents)
                continue
            path = join(directory, entry)
            if path is None or not _LOCAL.fullmatch(entry):
                raise _NotLocalError
            data = tree.read(path)
            if data is not None:
                if configures:
                    _check_configuration(read(data, path).documents)
            elif tree.kustomization_file(path) is not None and not _HOST.match(entry):
                yield path, configures
            else:
                raise _NotLocalError


def _check_configuration(documents: list[Document]) -> None:
    """Raise _NotLocalError where configuration of kustomize names an address anywhere."""
    if not documents or any(_ADDRESS.search(written) for document in documents for written in _texts(document.value)):
        raise _NotLocalError


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of a value that kustomize may open; text of several lines it does not."""
    if isinstance(value, str):
        if "\n" not in value:
            yield value
    elif isinstance(value, dict):
        for name, inner in mapping(value).items():
            if name not in _CONTENT:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
