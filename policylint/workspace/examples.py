"""Examples, tests and documentation among plain manifests: directories that are environments of their own.

Nobody deploys them with the rest, and each of them is complete in itself or says what it needs. Where one is called as
examples are (`render/live.py`), each directory in it is one environment, and so are the files beside these; where these
would be too many, all of it is one. Tests are none where the tree has anything else but documentation, or where a
program reads them: what stands in them is often wrong on purpose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from policylint.model import Resource
from policylint.render.live import TESTS, Live, beside_code, is_archive, is_written_about, of_programs, test_of
from policylint.render.variants import LIMIT
from policylint.workspace.alternatives import DEFAULT


def apart(
    resources: Sequence[Resource],
    paths: Mapping[str, str],
    named: Sequence[str],
    root: str,
    listed: Callable[[], Iterable[str]],
) -> tuple[dict[str, list[Resource]], Mapping[str, str]]:
    """Return objects by environment: `default`, and one for each example, by its directory; and the files that were
    left out, each with the directory of tests, or the archive, that it lies in.

    Args:
        paths: the path below the root of each file that counts, as shown.
        named: the paths that the user named, below the root: what lies there is meant, whatever it is called.
        root: what the root is called.
        listed: returns all files below the root, of programs, too.
    """
    files = {resource.document.file for resource in resources}
    live = Live({paths.get(file, file) for file in files}, named, root)
    tests = {file: test for file in {*files, *paths} if (test := live.out_of_use(paths.get(file, file)))}
    by_name = {file: test_of(paths.get(file, file), named) for file in files}
    if all(by_name[file] or file in tests or is_written_about(paths.get(file, file)) for file in files):
        read = of_programs({*filter(None, by_name.values())}, listed()) if any(by_name.values()) else set()
        tests = {file: test for file, test in tests.items() if file not in files or is_archive(test)}
        tests.update((file, test) for file, test in by_name.items() if test in read)
    if any(not TESTS.isdisjoint(name.split("/")) for name in (root, *named)):
        beside = beside_code({paths.get(file, file) for file in files}, listed(), named)
        tests.update((file, beside[path]) for file in files if (path := paths.get(file, file)) in beside)
    names = {file: _name(paths.get(file, file), live) for file in files - tests.keys()}
    if len(set(names.values())) > LIMIT:
        names = {file: live.example(paths.get(file, file)) or DEFAULT for file in names}
    groups: dict[str, list[Resource]] = defaultdict(list)
    for resource in resources:
        if resource.document.file in names:
            groups[names[resource.document.file]].append(resource)
    return dict(groups) or {DEFAULT: []}, tests


def _name(path: str, live: Live) -> str:
    example = live.example(path)
    if example is None:
        return DEFAULT
    inner, slash, _ = path[len(example) + 1 :].partition("/")
    return f"{example}/{inner}" if slash else example
