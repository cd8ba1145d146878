"""What scripts of the tree do with its files: `kubectl apply -f`, and `flux push artifact --path`.

A bootstrap applies what no deployer of the tree takes in: the Gateway that Argo CD's own route hangs on. And a pipeline
pushes a directory as the artifact that a cluster then pulls.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import is_symbolic
from policylint.patterns import Pattern
from policylint.render.tree import Tree, join

_SCRIPTS = (".sh", ".bash", ".md", "Makefile", "justfile", "Justfile", ".just", "Taskfile.yml", "Taskfile.yaml", ".mk")
_WORKFLOWS = (".github/workflows/", ".gitlab-ci")
_LONGEST = 200_000
"""Bytes of a script that are looked through."""
_CONTINUED = Pattern(r"\\\r?\n\s*")
_APPLIES = Pattern(r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(?:apply|create|replace)\b([^\n|;&#]{0,400})")
_PUSHES = Pattern(r"\bflux\s+push\s+artifact\b([^\n|;&#]{0,800})")
_ARTIFACT = Pattern(r"oci://[^\s\"']*?([^\s\"'/:@]+)(?:[:@][^\s\"'/]*)?[\"']?(?:\s|$)")
_PATH = Pattern(r"(?:^|\s)(?:--path|-f)(?:\s+|=)[\"']?([^\s\"']+)")
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


def pushed(tree: Tree) -> dict[str, str]:
    """Return the directories that scripts push as artifacts of OCI, by the name of the artifact; what several
    directories are pushed as, or a variable names, is left out."""
    found: dict[str, set[str]] = {}
    for script, text in _scripts(tree):
        for command in _PUSHES.findall(text):
            artifact, written = _ARTIFACT.search(command), _PATH.search(command)
            if artifact is not None and written is not None and not is_symbolic(written[1]):
                places = (join(place, written[1]) for place in ("", script.rpartition("/")[0]))
                path = next((place for place in places if place and tree.is_directory(place)), None)
                if path is not None and not is_symbolic(artifact[1]):
                    found.setdefault(artifact[1], set()).add(path)
    return {name: next(iter(paths)) for name, paths in found.items() if len(paths) == 1}


def _scripts(tree: Tree) -> Iterator[tuple[str, str]]:
    for path in tree.files_below(""):
        is_hidden = "/." in f"/{path}" or "node_modules/" in path
        if not (path.endswith(_SCRIPTS) and not is_hidden) and not path.startswith(_WORKFLOWS):
            continue
        content = tree.read(path)
        if content is not None and (b"kubectl" in content or b"oc " in content or b"flux " in content):
            yield path, _CONTINUED.sub(" ", content[:_LONGEST].decode("utf-8", "replace"))
