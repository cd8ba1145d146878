"""What Terraform of the tree makes in a cluster: objects that it states, and what is called after releases of charts.

It is a likely reading, by lines: what an expression says is left open. Nothing here says that it is applied; it is why
something may be there that no manifest shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents.written import written
from policylint.model.unseen import Custom
from policylint.patterns import Pattern
from policylint.render.scripts import Scripts

_ENDING = ".tf"
_MOST, _LONGEST = 1_000, 200_000
"""Files that are looked into, and bytes of each."""
_BLOCK = Pattern(
    r'(?m)^resource[ \t]+"(helm_release|kubectl_manifest|kubernetes_\w+)"[^\n{]*\{'
    r"((?:(?!^(?:resource|data|module|variable|output|locals|provider|terraform)\b).*\n?)*)"
)
_VERSION = Pattern(r"_v\d\w*$")
_METADATA = Pattern(r"\bmetadata[ \t]*=?[ \t]*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_STATED = Pattern(r'(?m)(?:^|[{,])[ \t]*"?(name|namespace|apiVersion|kind)"?[ \t]*=[ \t]*"([^"\n$]*)"')
_HEREDOC = Pattern(r"<<-?[ \t]*(\w+)[ \t]*\n((?:(?![ \t]*\1[ \t]*$).*\n)*)")
_PLAIN = Pattern(r"[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?")
_GROUPS = {
    "apps": frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}),
    "batch": frozenset({"CronJob", "Job"}),
    "networking.k8s.io": frozenset({"Ingress", "IngressClass", "NetworkPolicy"}),
}
_CALLED = {"Daemonset": "DaemonSet"}


def made_by_terraform(scripts: Scripts) -> Iterator[Custom]:
    """Yield the objects that Terraform states, and its releases of charts."""
    for path in [path for path in scripts.files if path.endswith(_ENDING)][:_MOST]:
        content = (scripts.read(path) or b"")[:_LONGEST]
        if b"kubernetes_" in content or b"kubectl_manifest" in content or b"helm_release" in content:
            for kind, block in _BLOCK.findall(content.decode("utf-8", "replace")):
                yield from _made(path, kind, block)


def _made(path: str, resource: str, block: str) -> Iterator[Custom]:
    if resource == "helm_release":
        stated = _fields(block)
        if name := _plain(stated.get("name", "")):
            maker = f"{path}, which installs the chart of release {name},"
            yield Custom("", _plain(stated.get("namespace", "")), name, maker=maker)
    elif resource in ("kubectl_manifest", "kubernetes_manifest"):
        for _, text in _HEREDOC.findall(block):
            for each in written(text):
                if each.group is not None:
                    yield from _object(path, each.group, each.kinds[0], each.name, each.namespace)
        stated = _fields(block)
        group, slash, _ = stated.get("apiVersion", "").rpartition("/")
        if stated.get("kind"):
            yield from _object(path, group if slash else "", stated["kind"], *_identity(block))
    else:
        words = _VERSION.sub("", resource.removeprefix("kubernetes_")).split("_")
        kind = "".join(map(str.capitalize, words))
        kind = _CALLED.get(kind, kind)
        group = next((group for group, kinds in _GROUPS.items() if kind in kinds), "")
        yield from _object(path, group, kind, *_identity(block))


def _fields(block: str) -> dict[str, str]:
    """Return what a block says of itself, of fields that it has twice the first ones."""
    return dict(reversed(_STATED.findall(block)))


def _identity(block: str) -> tuple[str, str]:
    """Return name and namespace by the metadata of a block, "" for what they do not state."""
    own = _fields("".join(_METADATA.findall(block)[:1]))
    return own.get("name", ""), own.get("namespace", "")


def _object(path: str, group: str, kind: str, name: str, namespace: str) -> Iterator[Custom]:
    if _plain(name):
        maker = f"{path}, which makes {kind} {name},"
        yield Custom("", _plain(namespace), "", frozenset({(group, kind)}), maker, name)


def _plain(written_name: str) -> str:
    """Return a name, "" for an expression."""
    return written_name if _PLAIN.fullmatch(written_name) else ""
