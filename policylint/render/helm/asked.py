"""The charts of a tree that scripts, a helmfile or Skaffold install: under which name, where, and with which values.

Where one of these cannot be told (a variable, a template, two installations of one name) nothing is known of that chart
but its own values. Readme files show how a chart may be installed; they install nothing.

Source: helmfile.readthedocs.io, «Configuration»; skaffold.dev, «skaffold.yaml», `deploy.helm`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from policylint.documents import read as documents
from policylint.model import is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.by_hand import HOME, installs, places, starts
from policylint.render.helm.value_places import HelmValues
from policylint.render.provenance import Provenance
from policylint.render.scripts import is_prose
from policylint.render.tree import Tree, inside

_VALUES = Pattern(r"(?:^|\s)(?:-f|--values)(?:\s+|=)[\"']?([^\s\"']+)")
_SET = Pattern(r"(?:^|\s)(--set|--set-string)(?:\s+|=)(\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_HELMFILES = ("helmfile.yaml", "helmfile.yml")
_TEMPLATE = ".gotmpl"
_ENVIRONMENT = Pattern(r"\{\{-?\s*\.Environment\.Name\s*-?\}\}")
_CONTROL = Pattern(r"\{\{-?\s*(\w+)")
_BLOCKS = ("if", "range", "with", "define", "block")
_ALONE = Pattern(r"[ \t]*\{\{-?\s*(?:if|else|end|range|with|define|block|/\*|\$\w+\s*:?=).*\}\}[ \t]*")
"""A line that is template alone: a condition, its end, a variable, a comment."""
_VALUE = Pattern(r"^([ \t]*(?:- +)*(?:[\w.-]+:[ \t]+)?)\S.*(?<!:)$")
_OPEN = Pattern(r"<[^<>]*>")
_RELEASE = Pattern(r"(?m)^resource\s+\"helm_release\"\s+\"[^\"]+\"\s*\{((?:[^\n]*\n)*?)\}")
_ATTRIBUTE = Pattern(r"(?m)^  (name|chart|namespace|repository)\s*=\s*\"([^\"\n]*)\"")
_PLAIN_VALUES = Pattern(r"values\s*=\s*\[\s*(?:file\(\"[^\"]+\"\)\s*,?\s*)*\]")
_FILE = Pattern(r"\bfile\(\"([^\"\n]+)\"\)")
_SETS = Pattern(r"(?m)^\s*(?:dynamic\s+\")?set(?:_sensitive|_list)?\b")
_SKAFFOLD = ("skaffold.yaml", "skaffold.yml")
_MADE_LATER = Pattern(r"[*?$<>{}\[\]]|://")
"""Paths that only a shell, a template or a download resolves."""


class ChartRequest(NamedTuple):
    """One installation of a chart.

    Args:
        by: the file that asks for it, below the root.
        name, namespace: of the release.
        layers: the values it is given, each over the one before it.
        settings: `--set` and the like: flag and `name=value`.
    """

    by: str
    name: str
    namespace: str
    layers: tuple[HelmValues, ...]
    settings: tuple[tuple[str, str], ...]


class _Wanted(NamedTuple):
    """What a file says of an installation, in its own words: files are named as seen from some directories."""

    start: tuple[str, ...]

    chart: str
    name: str
    namespace: str
    files: tuple[str, ...]
    inline: tuple[HelmValues, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


class ChartRequests(NamedTuple):
    """What a tree says of the installations of its charts, by the chart's directory.

    Args:
        requests: the installations, where all of one chart are known.
        by: the file that installs a chart in a way that is not known, below the root.
    """

    requests: Mapping[str, list[ChartRequest]]
    by: Mapping[str, str]


def asked(tree: Tree) -> ChartRequests:
    """Return what a tree says of the installations of its charts."""
    found: dict[str, dict[tuple[str, str], ChartRequest | None]] = defaultdict(dict)
    published, unknown = _Published(tree), dict[str, str]()
    for by, wanted in (*_by_scripts(tree), *_by_files(tree), *_by_terraform(tree)):
        directory = next(
            (each for each in places(wanted.start, wanted.chart) if tree.read(inside(each, "Chart.yaml"))), None
        )
        if directory is None:
            directory = published.directory(wanted.chart)
            if directory is not None:  # one that it had when it was published
                unknown.setdefault(directory, by)
            continue
        own = _resolved(tree, by, wanted)
        if own is None:
            unknown.setdefault(directory, by)
        release = wanted.name, wanted.namespace
        is_another = own is None or (
            release in found[directory] and (known := found[directory][release]) is not None and known[3:] != own[3:]
        )
        found[directory][release] = None if is_another else own
    requests = {
        directory: [each for each in releases.values() if each is not None]
        for directory, releases in found.items()
        if None not in releases.values()
    }
    return ChartRequests(requests, unknown)


class _Published:
    """The charts of a tree by the names that they have in the repository of charts that it is published as."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for directory in self._tree.charts():
            value, _ = self._tree.values(inside(directory, "Chart.yaml"))[0]
            found[text(mapping(value).get("name"))].append(directory)
        return found

    def directory(self, chart: str) -> str | None:
        """Return the one chart of the tree that is called as one of a repository is; a path names no repository."""
        repository, _, name = chart.removeprefix("oci://").rpartition("/")
        found = self._by_name.get(name, []) if repository.strip("./") and not is_symbolic(chart) else []
        return found[0] if len(found) == 1 else None


def _resolved(tree: Tree, by: str, wanted: _Wanted) -> ChartRequest | None:
    """Return an installation with the values in its files; None where these are not known, or where it lands."""
    if (
        any(map(is_symbolic, (wanted.name, wanted.namespace)))
        or not wanted.name
        or any(map(_is_left_open, wanted.inline))
    ):
        return None
    layers = []
    for file in wanted.files:
        path = (
            None
            if _MADE_LATER.search(HOME.sub("", file))
            else next(filter(tree.read, places(wanted.start, file)), None)
        )
        read = tree.values(path)[:1] if path else []
        if not read or not isinstance(read[0][0], dict):
            return None
        layers.append(HelmValues(*read[0]))
    return ChartRequest(by, wanted.name, wanted.namespace or "default", (*layers, *wanted.inline), wanted.settings)


def _by_scripts(tree: Tree) -> Iterator[tuple[str, _Wanted]]:
    for install in installs(tree.scripts):
        if is_prose(install.script):
            continue
        settings = tuple((flag, value.strip("\"'")) for flag, value in _SET.findall(install.command))
        files = tuple(_VALUES.findall(install.command))
        namespace = install.options.get("-n") or install.options.get("--namespace") or ""
        start, chart = (
            starts(install.script, install.text),
            _of_repository(install.options.get("--repo"), install.reference),
        )
        yield install.script, _Wanted(start, chart, install.name, install.meant(namespace), files, (), settings)


def _by_files(tree: Tree) -> Iterator[tuple[str, _Wanted]]:
    for path in tree.files_below(""):
        name = path.rpartition("/")[2]
        plain = name.removesuffix(_TEMPLATE)
        if plain in _HELMFILES or (plain.endswith((".yaml", ".yml")) and "/helmfile.d/" in f"/{path}"):
            read = _of_helmfile
        elif name in _SKAFFOLD:
            read = _of_skaffold
        else:
            continue
        content = tree.read(path) or b""
        if read is _of_helmfile and b"{{" in content:
            content = _filled(content.decode("utf-8", "replace")).encode()
        for document in documents(content, tree.shown(path)).documents:
            start = starts(path)
            yield from ((path, wanted) for wanted in read(mapping(document.value), Provenance(document), start))


def _filled(template: str) -> str:
    """Return a helmfile without its template, line by line: the environment is the default one, what else is printed or
    guarded by a condition stays open."""
    lines, depth = [], 0
    for line in _ENVIRONMENT.sub("default", template).split("\n"):
        words = _CONTROL.findall(line)
        depth = max(0, depth + sum(word in _BLOCKS for word in words) - words.count("end"))
        if _ALONE.fullmatch(line):
            lines.append("")
        else:
            plain = line.replace("{{", "<").replace("}}", ">")
            lines.append(_VALUE.sub(r"\1<open>", plain) if depth else plain)
    return "\n".join(lines)


def _is_left_open(values: HelmValues) -> bool:
    """Return whether a template fills in part of some values."""
    return _OPEN.search(str(values.values)) is not None


def _by_terraform(tree: Tree) -> Iterator[tuple[str, _Wanted]]:
    """Yield the releases of Terraform, as far as they say it in plain text: a block or an expression stays open."""
    for path in tree.files_below(""):
        if not path.endswith(".tf"):
            continue
        for block in _RELEASE.findall((tree.read(path) or b"").decode("utf-8", "replace")):
            stated = dict(_ATTRIBUTE.findall(block))
            files = tuple(_FILE.findall(block))
            given = block.count("values") and not (_PLAIN_VALUES.search(block) and "templatefile" not in block)
            name = "<open>" if given or _SETS.search(block) else stated.get("name", "")
            chart = _of_repository(stated.get("repository"), stated.get("chart", ""))
            namespace = stated.get("namespace", "")
            yield path, _Wanted(starts(path), _of_module(chart), name, namespace, tuple(map(_of_module, files)))


def _of_repository(repository: str | None, chart: str) -> str:
    """Return a chart as one of a repository is called, where it is said which one."""
    return f"{repository}/{chart}" if repository and chart else chart


def _of_module(path: str) -> str:
    return path.replace("${path.module}/", "./").replace("${path.root}/", "./")


def _of_helmfile(content: Mapping[str, Any], place: Provenance, start: tuple[str, ...]) -> Iterator[_Wanted]:
    for number, release in enumerate(map(mapping, sequence(content.get("releases")))):
        at = place.at("releases", number, "values")
        given = list(enumerate(sequence(release.get("values"))))
        inline = tuple(HelmValues(each, at.child(index)) for index, each in given if isinstance(each, dict))
        files = tuple(text(each) for _, each in given if not isinstance(each, dict))
        namespace = text(release.get("namespace")) or text(content.get("namespace"))
        settings = tuple(_settings({text(each.get("name")): each.get("value") for each in _entries(release, "set")}))
        chart = text(release.get("chart"))
        name = "<condition>" if release.get("condition") else text(release.get("name"))
        if release.get("installed") is False:
            continue
        yield _Wanted(start, chart, name, namespace, files, inline, settings)


def _of_skaffold(content: Mapping[str, Any], place: Provenance, start: tuple[str, ...]) -> Iterator[_Wanted]:  # noqa: ARG001 - as the other
    for stage in ("deploy", "manifests"):
        for release in _entries(mapping(mapping(content.get(stage)).get("helm")), "releases"):
            files = tuple(map(text, sequence(release.get("valuesFiles"))))
            settings = tuple(_settings(mapping(release.get("setValues"))))
            chart, name = text(release.get("chartPath")), text(release.get("name"))
            yield _Wanted(start, chart, name, text(release.get("namespace")), files, (), settings)


def _entries(holder: Any, field: str) -> Iterable[Mapping[str, Any]]:
    return map(mapping, sequence(holder.get(field)))


def _settings(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        yield "--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"
