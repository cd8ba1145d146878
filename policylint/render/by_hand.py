"""What scripts of the tree do with its files: `kubectl apply -f`, and `flux push artifact --path`.

A bootstrap applies what no deployer of the tree takes in: the Gateway that Argo CD's own route hangs on. And a pipeline
pushes a directory as the artifact that a cluster then pulls.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.patterns import Pattern
from policylint.render.tree import Tree, join

_SCRIPTS = (".sh", ".bash", ".md", "Makefile", "justfile", "Justfile", ".just", "Taskfile.yml", "Taskfile.yaml", ".mk")
_WORKFLOWS = (".github/workflows/", ".gitlab-ci")
_LONGEST = 200_000
"""Bytes of a script that are looked through."""
_CONTINUED = Pattern(r"\\\r?\n\s*")
_APPLIES = Pattern(r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(?:apply|create|replace)\b([^\n|;&#]{0,400})")
_FILE = Pattern(r"(?:^|\s)(?:-f|-k|--filename|--kustomize|-[a-zA-Z]*[fk])(?:\s+|=)[\"']?([^\s\"']+)")


def applied(tree: Tree) -> dict[str, str]:
    """Return the files and directories that scripts apply, each with the script: paths as seen from the script, or from
    the top of the tree."""
    found: dict[str, str] = {}
    for script, text in _scripts(tree):
        for command in _APPLIES.findall(text):
            for written in _FILE.findall(command):
                for place in (script.rpartition("/")[0], ""):
                    path = join(place, written)
                    if path:
                        found.setdefault(path, script)
    return found


def _scripts(tree: Tree) -> Iterator[tuple[str, str]]:
    paths = {path for ending in _SCRIPTS for path in tree.all_files(ending)}
    paths.update(path for ending in (".yml", ".yaml") for path in tree.all_files(ending) if path.startswith(_WORKFLOWS))
    for path in sorted(paths):
        content = tree.read(path)
        if content is not None and (b"kubectl" in content or b"oc " in content or b"flux " in content):
            yield path, _CONTINUED.sub(" ", content[:_LONGEST].decode("utf-8", "replace"))
