"""Charts of the tree, rendered for the releases that install them; without `--render helm` this is never used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import read
from policylint.load.objects import objects_of
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.helm.program import HelmError, is_installed, template
from policylint.render.helm.value_places import Layer, Template, placed
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, join

_CHART = re.compile(r"[A-Za-z0-9][\w.-]*")
"""Names of charts; they are names of directories as well."""
_SOURCE = re.compile(r"^---\n# Source: (.+)\n", re.MULTILINE)
MAX_FILES = 5_000
"""Files of one chart."""
MAX_DEPENDENCIES = 50


class Installation(NamedTuple):
    """One release of a chart that lies in the tree.

    Args:
        directory: the chart's.
        name, namespace: of the release.
        layers: the values it is given, each over the one before it.
        place: where it is asked for.
        settings: `--set` and the like: flag and `name=value`.
        bare: whether the layers stand in for the chart's own values.yaml.
    """

    directory: str
    name: str
    namespace: str
    layers: tuple[Layer, ...]
    place: Trace
    settings: tuple[tuple[str, str], ...] = ()
    bare: bool = False


class Charts:
    """Renders the charts of one tree; the same installation once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._templates: dict[str, Template] = {}

    @property
    def available(self) -> bool:
        """Whether helm is installed."""
        return is_installed()

    def holds(self, directory: str | None) -> bool:
        """Whether there is a chart that can be installed in a directory."""
        return bool(directory) and self._about(directory or "") is not None

    def alone(self) -> list[str]:
        """Charts that may be installed and that no other one contains."""
        return [each for each in self._tree.charts() if self._about(each) is not None]

    def values(self, path: str) -> list[Layer]:
        """The values in a file; none if it is not there."""
        return [Layer(value, trace) for value, trace in self._tree.values(path)[:1] if isinstance(value, dict)]

    def objects(self, wanted: Installation, journal: Journal) -> list[Manifest] | None:
        """What an installation makes, in its own namespace; None, noted, if that cannot be had."""
        try:
            files = self._files(wanted.directory)
            if wanted.bare:
                files[self._in(wanted.directory, "values.yaml")] = b"{}\n"
            given = [each.values for each in wanted.layers]
            shared = self._tree.shared
            output = (template if shared is None else shared.template)(
                files, wanted.directory, wanted.name, wanted.namespace or "default", given, wanted.settings
            )
        except HelmError as error:
            journal.note(f"chart {wanted.directory or '.'} is not rendered: {error}", wanted.place, code="chart")
            return None
        own = [] if wanted.bare else self.values(self._in(wanted.directory, "values.yaml"))
        layers = [*reversed(wanted.layers), *own]
        return list(self._located(output, wanted.directory, layers))

    def _about(self, directory: str) -> Any:
        """The Chart.yaml of a chart that is no library; None if there is none."""
        found = self._tree.values(self._in(directory, "Chart.yaml"))
        about = mapping(found[0][0]) if found else {}
        return about if about and about.get("type") != "library" else None

    @staticmethod
    def _in(directory: str, name: str) -> str:
        return f"{directory}/{name}" if directory else name

    def _files(self, directory: str) -> dict[str, bytes]:
        """Every file of a chart, and of the charts of this tree that it depends on, where helm looks for them."""
        found: dict[str, bytes] = {}
        pending = [(directory, directory)]
        for source, target in pending:
            paths = self._tree.files_below(source)
            if len(paths) + len(found) > MAX_FILES:
                raise HelmError(f"more than {MAX_FILES:,} files")
            for path in paths:
                data = self._tree.read(path)
                if data is not None:
                    found[self._in(target, path[len(source) + 1 :] if source else path)] = data
            about = mapping(next(iter(self._tree.values(self._in(source, "Chart.yaml"))), ({}, None))[0])
            for each in sequence(about.get("dependencies")):
                address, name = text(mapping(each).get("repository")), text(mapping(each).get("name"))
                other = join(source, address.removeprefix("file://")) if address.startswith("file://") else None
                place = self._in(target, f"charts/{name}")
                if (
                    other
                    and _CHART.fullmatch(name)
                    and f"{place}/Chart.yaml" not in found
                    and len(pending) < MAX_DEPENDENCIES
                ):
                    pending.append((other, place))
        return found

    def _located(self, output: str, directory: str, layers: list[Layer]) -> Iterator[Manifest]:
        """The objects that helm printed, each written in its template or in the values."""
        pieces = _SOURCE.split(output if output.startswith("---\n") else f"---\n{output}")
        made: list[tuple[str, dict[str, Any]]] = []
        for path, content in zip(pieces[1::2], pieces[2::2], strict=True):
            where = self._in(directory, path.partition("/")[2])
            for document in read(content.encode("utf-8", "replace"), where).documents:
                made += [(where, body) for body, _ in objects_of(document.value)]
        counted = Counter(where for where, _ in made)
        seen: Counter[str] = Counter()
        for where, body in made:
            trace = placed(body, self._template(where), seen[where], counted[where], layers)
            seen[where] += 1
            yield Manifest(body, trace)

    def _template(self, path: str) -> Template:
        if path not in self._templates:
            data = self._tree.read(path) or b""
            lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
            self._templates[path] = Template(self._tree.shown(path), lines)
        return self._templates[path]


def installed(manifests: Iterable[Manifest], namespace: str, without: frozenset[tuple[str, str]]) -> None:
    """Objects of a release that name no namespace land in the release's."""
    for each in manifests:
        if not each.namespace and (each.group, each.kind) not in without:
            each.put(("metadata", "namespace"), namespace or "default", each.trace.at(("metadata", "name")))
