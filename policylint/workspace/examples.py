"""Examples, tests and documentation among plain manifests: directories that are environments of their own.

Nobody deploys them with the rest, and each of them is complete in itself or says what it needs. Where one is called as
examples are (`render/live.py`), each directory in it is one environment, and so are the files beside these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from policylint.model import Resource
from policylint.render.live import Live
from policylint.workspace.alternatives import DEFAULT

LIMIT = 50
"""Environments of examples at most: where there are more, each directory of examples is one."""


def apart(
    resources: Sequence[Resource], relative: Mapping[str, str], named: Sequence[str], root: str
) -> dict[str, list[Resource]]:
    """Return objects by environment: `default`, and one for each example, by its directory.

    Args:
        relative: the path below the root of each file as shown.
        named: the paths that the user named, below the root: what lies there is meant, whatever it is called.
        root: what the root is called.
    """
    files = {resource.document.file for resource in resources}
    paths = {file: relative.get(file, file) for file in files}
    live = Live(set(paths.values()), named, root)
    names = {file: _name(path, live) for file, path in paths.items()}
    if len(set(names.values())) > LIMIT:
        names = {file: live.example(path) or DEFAULT for file, path in paths.items()}
    groups: dict[str, list[Resource]] = defaultdict(list)
    for resource in resources:
        groups[names[resource.document.file]].append(resource)
    return dict(groups)


def _name(path: str, live: Live) -> str:
    example = live.example(path)
    if example is None:
        return DEFAULT
    inner, slash, _ = path[len(example) + 1 :].partition("/")
    return f"{example}/{inner}" if slash else example
