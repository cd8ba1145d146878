"""Kustomizations that somebody changes before they are built: what they lack as they are written is no mistake.

A script writes one anew, edits what it takes in, copies another one over it, or copies its tree over another; a role of
Ansible copies it to where it is built; a Subscription of Open Cluster Management overrides it for the clusters that it
is placed on. And one beside a `Chart.yaml` is most often left over from before there was a chart: helm reads none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from posixpath import join, relpath

from policylint.model import mapping, sequence, text
from policylint.patterns import Pattern
from policylint.render.by_hand import places, starts
from policylint.render.flux.deployment import Build
from policylint.render.scripts import is_prose
from policylint.render.tree import Tree, directories_above

_WRITES = Pattern(r"(?:>|\btee)[ \t]*[\"']?([^\s\"';&|<>()]*\bkustomization\.ya?ml)")
_EDITS = Pattern(
    r"\byq\b[^\n|;&]{0,200}\bresources\b[^\n|;&]{0,200}?[ \t][\"']?([^\s\"';&|<>()]*\bkustomization\.ya?ml)"
)
_ADDS = Pattern(r"\bkustomize[ \t]+edit[ \t]+add[ \t]+(?:resource|base|component)\b")
_COPIES = Pattern(r"(?:\brsync\)?|\bcp[ \t]+-\w*[rRa]\w*)((?:[ \t]+(?:\$\([^)\n]*\)|[^\s;&|<>()])+)+)")
"""Commands that copy directories, and their words: `$(rsync) -av $(abspath part)/ $@`."""
_CALL = Pattern(r"\$\((?:abspath|realpath)[ \t]+([^)\s]+)\)")
"""What make fills in with the path of something."""
_PATHS = tuple(f"apps.open-cluster-management.io/{name}" for name in ("git-path", "github-path"))


def lacked_as_written(tree: Tree, builds: Collection[Build]) -> frozenset[str]:
    """Return the paths that builds by hand need as their kustomizations are written, and not as they are built."""
    lacking = {build.directory: {failure.lacking for failure in build.failures} - {""} for build in builds}
    if not any(lacking.values()):
        return frozenset()
    written, overridden, copied = set(_written(tree)), set(_overridden(tree)), set(_copied(tree))
    found = set()
    for directory, paths in lacking.items():
        is_of_a_chart = tree.read(join(directory, "Chart.yaml")) is not None
        if is_of_a_chart or directory in written or directory in overridden or _is_of_a_role(tree, directory):
            found |= paths
            continue
        if not copied.isdisjoint(directories_above(f"{directory}/")):
            found |= paths
            continue
        above = written.intersection(directories_above(directory))
        found |= {path for path in paths for place in above if _is_seen(tree, place, relpath(path, directory or "."))}
    return frozenset(found)


def _is_of_a_role(tree: Tree, directory: str) -> bool:
    """Return whether a directory is below `files` or `templates` of a role of Ansible: its tasks copy what is there."""
    steps = directory.split("/")
    roles = ["/".join(steps[:at]) for at, step in enumerate(steps) if at and step in ("files", "templates")]
    return any(tree.is_directory(f"{role}/tasks") for role in roles)


def _is_seen(tree: Tree, place: str, path: str) -> bool:
    """Return whether a path is there as seen from a directory to which a kustomization is copied."""
    return not path.startswith("..") and tree.read(join(place, path)) is not None


def _written(tree: Tree) -> Iterator[str]:
    """Yield the directories in which a script writes or edits the kustomization."""
    for script, script_text in tree.scripts.naming(b"kustomize"):
        if is_prose(script):
            continue
        start = starts(script, script_text)
        for pattern in (_WRITES, _EDITS):
            for match in script_text.all(pattern):
                yield from (path.rpartition("/")[0] for path in places(start, match[1]))
        if script_text.all(_ADDS):
            yield from start


def _copied(tree: Tree) -> Iterator[str]:
    """Yield the directories that a script copies with all that they hold."""
    for script, script_text in tree.scripts.naming(b"kubectl", b"kustomize"):
        if is_prose(script):
            continue
        start = starts(script, script_text)
        for match in script_text.all(_COPIES):
            words = [word.strip("\"'") for word in _CALL.sub(r"\1", match[1]).split() if not word.startswith("-")]
            for source in words[:-1]:  # the last one is where they go
                yield from (path for path in places(start, source.rstrip("/.")) if tree.is_directory(path))


def _overridden(tree: Tree) -> Iterator[str]:
    """Yield the directories whose kustomization a Subscription overrides.

    Source: open-cluster-management.io, «Application lifecycle», package overrides for kustomize.
    """
    bodies = (mapping(value) for path in tree.with_subscriptions for value, _ in tree.values(path))
    for body in (*bodies, *tree.named("Subscription")):
        overrides = map(mapping, sequence(mapping(body.get("spec")).get("packageOverrides")))
        if any(each.get("packageName") == "kustomization" for each in overrides):
            annotations = mapping(mapping(body.get("metadata")).get("annotations"))
            yield from (text(annotations[name]).strip("/") for name in _PATHS if name in annotations)
