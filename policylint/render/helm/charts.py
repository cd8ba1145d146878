"""Charts of the tree, rendered for the releases that install them: by helm where the user asks for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.budget import CUT_OFF, Budget, ExhaustedError
from policylint.documents import read
from policylint.load.objects import objects_of
from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.model.unseen import UnseenSource
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.helm import dependencies
from policylint.render.helm.layers import merged
from policylint.render.helm.program import HelmError, Rendered, template
from policylint.render.helm.value_places import HelmValues, Template, placed
from policylint.render.journal import LOST, Journal
from policylint.render.provenance import Manifest, Provenance
from policylint.render.shared import Outputs
from policylint.render.tree import Tree, inside, join

_CHART = Pattern(r"[A-Za-z0-9][\w.-]*")
"""Names of charts; they are names of directories as well."""
_SOURCE = Pattern(r"^---\n# Source: (.+)\n", re.MULTILINE)
MAX_FILES = 5_000
"""Files of one chart."""
MAX_DEPENDENCIES = 50
NOTHING_LACKS: Mapping[str, tuple[str, ...]] = {}
STEPS, STEPS_FOR_A_BYTE = 3_000_000, 40
"""Steps of work that the charts of one tree may cost together, where helm does not render them, beside those for each
byte of a chart: those of databases, with all that one may set, cost 20 to 40."""


class Installation(NamedTuple):
    """One release of a chart that lies in the tree.

    Args:
        directory: the chart's.
        name, namespace: of the release.
        layers: the values it is given, each over the one before it.
        place: where it is asked for.
        settings: `--set` and the like: flag and `name=value`.
        bare: whether the layers stand in for the chart's own values.yaml.
        open: whether whoever installs it gives it values that nothing here says.
    """

    directory: str
    name: str
    namespace: str
    layers: tuple[HelmValues, ...]
    place: Provenance
    settings: tuple[tuple[str, str], ...] = ()
    bare: bool = False
    open: bool = False


class Charts:
    """Renders the charts of one tree; each template is read once.

    Attributes:
        by_program: whether the user's own helm may do it; otherwise no program is started.
    """

    def __init__(self, tree: Tree, *, by_program: bool) -> None:
        self.by_program = by_program
        self._tree = tree
        self._templates: dict[str, Template] = {}
        self._budget = Budget(steps=STEPS)
        self._outputs = None if tree.shared is None else tree.shared.outputs
        self._known: set[str] = set()
        """The directories of the charts that had their share of the budget."""

    def remember(self) -> None:
        """Keep what comes of charts, which are asked for several times."""
        self._outputs = self._outputs or Outputs()

    def holds(self, directory: str) -> bool:
        """Return whether there is a chart that can be installed in a directory below the top."""
        return bool(directory) and self._is_installable(directory)

    @property
    def installed(self) -> frozenset[str]:
        """The charts that something has installed so far, whatever came of it."""
        return frozenset(self._known)

    def alone(self) -> list[str]:
        """Return the charts that may be installed and that no other one contains."""
        return [directory for directory in self._tree.charts() if self._is_installable(directory)]

    def values(self, path: str) -> list[HelmValues]:
        """Return the values in a file; none if it is not there."""
        return [HelmValues(value, origin) for value, origin in self._tree.values(path)[:1] if isinstance(value, dict)]

    def objects(self, installation: Installation, journal: Journal) -> list[Manifest] | None:
        """Return what an installation makes, in its own namespace; None, noted, if that cannot be had."""
        directory, place = installation.directory, installation.place
        own_values = inside(directory, "values.yaml")
        fetched: list[dependencies.Dependency] = []
        try:
            files = self._files(directory)
            fetched = self._stood_in(directory, files)
            if directory not in self._known:
                self._known.add(directory)
                self._budget.grant(STEPS_FOR_A_BYTE * sum(map(len, files.values())))
            if installation.bare:
                files[own_values] = b"{}\n"
            layers = [layer.values for layer in installation.layers]
            render = template if self._outputs is None else self._outputs.template
            what = (files, directory, installation.name, installation.namespace or "default", layers)
            rendered = render(*what, installation.settings, self.by_program, budget=self._budget)
        except HelmError as error:
            why = f"found in Chart.yaml, but missing in charts/ directory: {fetched[0].name}" if fetched else str(error)
            return self._stand_in(installation, journal, why, "chart")
        except ExhaustedError:
            return self._stand_in(installation, journal, "it takes too much work", CUT_OFF)
        former = self._former(installation, rendered)
        made = self._made(installation, rendered.output, lacking=dict(rendered.lacking) if installation.open else {})
        for left in rendered.left:
            file = inside(directory, left.path.partition("/")[2])
            lost = [] if former is None else self._made(installation, former.output, only=left.path)
            what_of = f"template {file} is not rendered{' any more' if lost else ''}: {left.reason}"
            journal.note(what_of, place, code=LOST if lost else "template")
            makes_routes = left.makes is None or any(group == GATEWAY_GROUP for group, _ in left.makes)
            source = UnseenSource("template", makes=left.makes)
            reason = f"template {file} may create it"
            journal.gap(reason, installation.namespace or "default", gateway_api=makes_routes, source=source)
            made += _left_open(lost, f"template {file} is not rendered any more")
        if fetched:
            parent = self._parent(installation)
            for each in fetched:
                made += dependencies.made(each, parent, journal, place, self._budget)
        return made

    def _stood_in(self, directory: str, files: dict[str, bytes]) -> list[dependencies.Dependency]:
        """Put an empty chart in each place of one that is fetched, and return these; none where one has no place."""
        found = list(dependencies.fetched(self._about(directory), files, directory))
        empty = [dependencies.stand_in(each) for each in found]
        if not all(empty):
            return []
        for each, about in zip(found, empty, strict=True):
            files[inside(directory, f"charts/{each.name}/Chart.yaml")] = about or b""
        return found

    def _parent(self, installation: Installation) -> dependencies.Dependent:
        directory = installation.directory
        own = [] if installation.bare else self.values(inside(directory, "values.yaml"))
        layers = [(each.values, each.origin) for each in (*own, *installation.layers) if isinstance(each.values, dict)]
        values, origin = merged(layers or [({}, installation.place)], self._budget)
        where = (f"chart {directory}", installation.name, installation.namespace)
        return dependencies.Dependent(*where, values, origin, is_whole=not installation.settings)

    def _stand_in(self, installation: Installation, journal: Journal, why: str, code: str) -> list[Manifest] | None:
        """Return what the other side of a diff has of a chart that cannot be rendered; None, noted, if nothing."""
        chart, place = f"chart {installation.directory or '.'}", installation.place
        former = self._former(installation, None)
        if former is None:
            journal.note(f"{chart} is not rendered: {why}", place, code=code)
            return None
        journal.note(f"{chart} is not rendered any more: {why}", place, code=LOST)
        journal.gap(f"{chart} may create it", installation.namespace or "default")
        return _left_open(self._made(installation, former.output), f"{chart} is not rendered any more")

    def _former(self, installation: Installation, rendered: Rendered | None) -> Rendered | None:
        shared = self._tree.shared
        where = (installation.directory, installation.name, installation.namespace)
        return None if shared is None else shared.installed(where, self, rendered)

    def _made(
        self,
        installation: Installation,
        output: str,
        only: str = "",
        lacking: Mapping[str, tuple[str, ...]] = NOTHING_LACKS,
    ) -> list[Manifest]:
        """Return the objects that helm printed, or those of one template; what lacks values is left open."""
        directory = installation.directory
        own = [] if installation.bare else self.values(inside(directory, "values.yaml"))
        made: list[Manifest] = []
        for path, manifest in self._located(output, directory, [*reversed(installation.layers), *own], only):
            if path in lacking:
                manifest.leave_open(f"who installs chart {directory or '.'} gives it {_values(lacking[path])}")
            made.append(manifest)
        return made

    def _is_installable(self, directory: str) -> bool:
        about = self._about(directory)
        return bool(about) and about.get("type") != "library"

    def _about(self, directory: str) -> Any:
        """Return the Chart.yaml of a chart, empty if there is none."""
        return mapping(next((value for value, _ in self._tree.values(inside(directory, "Chart.yaml"))), None))

    def _files(self, directory: str) -> dict[str, bytes]:
        """Return every file of a chart, and of the charts of this tree that it depends on, where helm looks."""
        files: dict[str, bytes] = {}
        pending = [(directory, directory)]
        for source, target in pending:
            paths = self._tree.files_below(source)
            if len(paths) + len(files) > MAX_FILES:
                raise HelmError(f"more than {MAX_FILES:,} files")
            for path in paths:
                data = self._tree.read(path)
                if data is not None:
                    files[inside(target, path[len(source) + 1 :] if source else path)] = data
            for dependency in map(mapping, sequence(self._about(source).get("dependencies"))):
                address, name = text(dependency.get("repository")), text(dependency.get("name"))
                other = join(source, address.removeprefix("file://")) if address.startswith("file://") else None
                place = inside(target, f"charts/{name}")
                is_new = f"{place}/Chart.yaml" not in files and len(pending) < MAX_DEPENDENCIES
                if other and _CHART.fullmatch(name) and is_new:
                    pending.append((other, place))
        return files

    def _located(
        self, output: str, directory: str, layers: list[HelmValues], only: str
    ) -> Iterator[tuple[str, Manifest]]:
        """Yield the objects that helm printed, each with its template as helm calls it; written there or in values."""
        pieces = _SOURCE.split(output if output.startswith("---\n") else f"---\n{output}")
        made: list[tuple[str, str, dict[str, Any]]] = []
        for path, content in zip(pieces[1::2], pieces[2::2], strict=True):
            file = inside(directory, path.partition("/")[2])
            if only and path != only:
                continue
            for document in read(content.encode("utf-8", "replace"), file).documents:
                made += [(path, file, body) for body, _ in objects_of(document.value)]
        counted = Counter(file for _, file, _ in made)
        seen: Counter[str] = Counter()
        for path, file, body in made:
            yield path, Manifest(body, placed(body, self._template(file), seen[file], counted[file], layers))
            seen[file] += 1

    def _template(self, path: str) -> Template:
        if path not in self._templates:
            file, data = path, self._tree.read(path)
            while data is None and "charts/" in file:  # of a chart that is packed, or comes from elsewhere in the tree
                file = f"{file.rpartition('charts/')[0]}Chart.yaml"
                data = b"" if self._tree.read(file) is not None else None
            lines = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
            self._templates[path] = Template(self._tree.shown(file), lines)
        return self._templates[path]


def _left_open(manifests: list[Manifest], reason: str) -> list[Manifest]:
    """Return the objects, marked as ones that may be others by now."""
    for manifest in manifests:
        manifest.leave_open(reason)
    return manifests


def _values(paths: tuple[str, ...]) -> str:
    """Return the values of a template that have no default, in words."""
    first = f"`{paths[0]}`"
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"
