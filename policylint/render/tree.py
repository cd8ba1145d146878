"""The files of a source as renderers need them: by directory, kustomizations first, every path below one root."""

# Paths stay strings with os.path here, as in sources/: thousands are joined.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from policylint.budget import STEPS_OF_PLACING, Budget
from policylint.documents import Document, read
from policylint.load.facts import KUSTOMIZATION_FILES
from policylint.load.reading import Loaded
from policylint.model import mapping, text
from policylint.model.keys import VARIABLES, taken_between
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.model.resource import Spot
from policylint.render.inline import Texts
from policylint.render.live import Live
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.scripts import Scripts, scripts_of
from policylint.sources import Source, SourceError
from policylint.sources.skipping import HELM_CHART

if TYPE_CHECKING:
    from policylint.render.helm.rendered import RenderedCharts
    from policylint.render.shared import Shared

_YAML = (".yaml", ".yml")
MAX_DISCOVERED = 20_000
"""YAML files taken in from one directory outside the paths that were listed."""


class Fetched(Protocol):
    """The files that a deployer has of a tree: a value, equal where it is the same."""

    def __hash__(self) -> int: ...

    def lacks(self, path: str) -> bool:
        """Return whether a file is not among them, by its path below the root."""


class Tree:
    """The files of a source, by posix path below the root ("" is the root itself). Files that were not listed (outside
    the paths the user gave, symbolic links, any suffix) are read when something names them.

    Attributes:
        texts: the inline texts read so far.
        cluster_scoped: kinds (group, kind) that have no namespace.
        with_variables: files, as shown, that hold `${`.
        with_secrets: files with Secrets, or with what other controllers make them of.
        with_subscriptions: files with Subscriptions that were not parsed, of whomever.
        shared: the share of another tree of the same run.
        budget: the work that rendering it may cost.
        placing: the work that it may cost to put what was rendered into environments.
    """

    def __init__(
        self,
        source: Source,
        loaded: Loaded,
        cluster_scoped: frozenset[tuple[str, str]] = frozenset(),
        shared: Shared | None = None,
        budget: Budget | None = None,
        rendered: str = "",
    ) -> None:
        self._source = source
        self._given: RenderedCharts | None = None
        if rendered:
            from policylint.render.helm.rendered import RenderedCharts

            self._given = RenderedCharts(rendered)
        self.shared = shared
        self.budget = Budget(len(loaded.documents)) if budget is None else budget
        self.placing = Budget(len(loaded.documents), STEPS_OF_PLACING)
        self.texts = Texts() if shared is None else shared.texts
        self.cluster_scoped = CLUSTER_SCOPED | cluster_scoped
        self.with_variables = loaded.with_variables
        in_files = {document.file for document in loaded.unread if document.kind.endswith("Secret")}
        in_files.update(document.file for document in loaded.documents if _is_secret(document))
        self._documents: dict[str, list[Document]] = defaultdict(list)
        self._relative = {file.path: file.relative for file in loaded.files}
        self.with_secrets = sorted(self._relative.get(shown, shown) for shown in in_files)
        self._listed = set(self._relative.values())
        self._idle = {self._relative[file] for file in loaded.idle}
        self._unread = {self.path_of(document.file) for document in loaded.unread}
        self.with_subscriptions = sorted(
            {self.path_of(document.file) for document in loaded.unread if document.kind == "Subscription"}
        )
        self._fetched: dict[str, bytes | None] = {}
        self._indexed: dict[str, tuple[int, Any]] = {}
        """What was put in order of all documents, with how many files were known then."""
        self._sorted: dict[str, tuple[int, list[str]]] = {}
        """What was listed already, by suffix or name, with how many files and directories were known then."""
        self._everything: list[str] | None = None
        """All files below the root, of whatever kind."""
        self.files: dict[str, list[str]] = defaultdict(list)
        """Directory → names of the YAML files in it."""
        self.directories: dict[str, list[str]] = defaultdict(list)
        """Directory → names of the directories in it that hold YAML, however deep."""
        self._known: set[str] = {""}
        self._looked_at: set[str] = set()
        self._lacks: Callable[[str], bool] | None = None
        """Tells the files that are not fetched with the others."""
        self._shown: dict[str, str] = {}
        """Directory → the same as users know it, with a slash at its end."""
        for path in sorted(self._listed):
            directory, _, name = path.rpartition("/")
            if name.endswith(_YAML) or name in KUSTOMIZATION_FILES:
                self.files[directory].append(name)
            self._take_in(directory)
        self._live = Live(
            self._listed,
            source.given,
            (source.root or "").rpartition(os.sep)[2],
            {self.path_of(document.file) for document in loaded.documents},
        )
        self.base = self._live.base
        """The directory that holds all listed files: below the root where the user gave a part of the repository."""
        for document in loaded.documents:
            self._documents[self.path_of(document.file)].append(document)

    def path_of(self, shown: str) -> str:
        """Return the path below the root of a file by its path as shown."""
        return self._relative.get(shown, shown)

    def is_left_unread(self, path: str) -> bool:
        """Return whether a file holds objects that were not parsed, of kinds that nothing reads."""
        return path in self._unread

    def below_base(self, path: str) -> str:
        """Return the path as seen from the directory that the user gave; the same for files beside it."""
        return path[len(self.base) + 1 :] if self.base and path.startswith(f"{self.base}/") else path

    def is_live(self, path: str) -> bool:
        """Return whether a file may be deployed at all, to judge by the names of its directories; a directory ends in
        a slash. What the user named is, whatever it is called."""
        return self._live.holds(path)

    def example(self, path: str) -> str | None:
        """Return the directory because of whose name a file is taken for an example; None where it is none."""
        return self._live.example(path)

    def placed(self, file: str, path: str) -> tuple[str, str] | None:
        """Return the directory that a path written in a file means, and the prefix it is below: what Flux and Argo CD
        fetch may begin at the top of the repository or anywhere above the file."""
        for prefix in directories_above(file):
            directory = join(prefix, path.lstrip("/"))
            if directory is not None and directory != prefix and self.is_directory(directory):
                return directory, prefix
        return None

    def fitting(self, path: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the directories that a path with variables may mean, each with what it takes for them."""
        known: list[tuple[str, tuple[str, ...]]] = [("", ())]
        for step in path.split("/"):
            first, *rest = VARIABLES.split(step)
            fitting = []
            for place, values in known:
                for name in self.directories.get(place, ()):
                    self.budget.spend(1)
                    taken = taken_between(first, rest, name)
                    if taken is not None:
                        fitting.append((inside(place, name), (*values, *taken)))
            known = fitting
        return known

    def is_directory(self, path: str) -> bool:
        """Return whether there is YAML in a directory or below it."""
        if path in self._known:
            return True
        if path in self._listed:  # a file
            return False
        return self.kustomization_file(path) is not None or self._discovered(path)

    def _discovered(self, directory: str) -> bool:
        """Take in a directory outside the paths that were listed: `lint clusters/prod` deploys `apps/`, too."""
        if self._source.root is None or directory in self._looked_at:
            return False
        self._looked_at.add(directory)
        for path in islice(self._source.yaml_below(directory), MAX_DISCOVERED):
            if self._lacks is not None and self._lacks(path):
                continue
            below, _, name = path.rpartition("/")
            self.files[below].append(name)
            self._take_in(below)
        return directory in self._known

    def _take_in(self, directory: str) -> None:
        """Make a directory known, and those above it."""
        while directory not in self._known:
            self._known.add(directory)
            above, _, step = directory.rpartition("/")
            self.directories[above].append(step)
            directory = above

    def documents(self, path: str) -> list[Document] | None:
        """Return the parsed documents of a file; None if there is no such file."""
        if self._lacks is not None and self._lacks(path):
            return None
        if path in self._documents or (path in self._listed and path not in self._idle):
            return self._documents.get(path, [])
        data = self.read(path)
        if data is None:
            return None
        shown = self.shown(path)
        documents = read(data, shown).documents if self.shared is None else self.shared.documents(data, shown)
        self._documents[path] = documents
        return documents

    def without(self, lacks: Callable[[str], bool]) -> Tree:
        """Return the tree as one has it who fetches all of its files but some."""
        listed = {path for path in self._listed if not lacks(path)}
        fetched = copy(self)
        fetched._lacks = lacks
        if len(listed) == len(self._listed) and not self.base:
            return fetched  # what generators and patches name is not listed, and may lack all the same
        fetched._listed = listed
        fetched.files, fetched.directories = defaultdict(list), defaultdict(list)
        fetched._known, fetched._sorted, fetched._looked_at = {""}, {}, set()
        for known in ("takers", "scripts"):
            fetched.__dict__.pop(known, None)
        for directory, names in self.files.items():
            for name in names:
                if not lacks(inside(directory, name)):
                    fetched.files[directory].append(name)
                    fetched._take_in(directory)
        for path in fetched._listed:
            fetched._take_in(path.rpartition("/")[0])
        return fetched

    def leaves_out(self, path: str) -> bool:
        """Return whether a file, or a directory (with a slash at its end), is there and not fetched."""
        if self._lacks is None:
            return False
        if not path.endswith("/"):
            return self._lacks(path) and self._fetch(path) is not None
        files = self._source.files_below(path[:-1])
        return bool(files) and all(map(self._lacks, files))

    def absence(self, path: str | None) -> str:
        """Return how to say that a path is not there: it may be in the repository, and not be fetched."""
        if path is None or not self.leaves_out(path):
            return "does not exist"
        return "is left out of what Flux fetches (by `.sourceignore`, `spec.ignore`, or itself: images, archives)"

    def whole(self) -> Tree:
        """Return the same tree with every document parsed when it is asked for, also those that no rule reads."""
        whole = copy(self)
        whole._documents = defaultdict(list)
        whole._indexed = {}
        whole._idle = self._listed
        return whole

    def all_documents(self) -> Iterable[tuple[str, Document]]:
        """Yield every parsed document with its path, sorted by path."""
        for path in sorted(self._documents):
            for document in self._documents[path]:
                yield path, document

    def config_maps(self, name: str) -> list[tuple[str, Any]]:
        """Return the ConfigMaps of a name among all parsed documents, with their paths, sorted by path."""
        found: list[tuple[str, Any]] = self.indexed("ConfigMap", self._config_maps_by_name).get(name, [])
        return found

    def _config_maps_by_name(self) -> dict[object, list[tuple[str, Any]]]:
        self.budget.spend(2 * len(self._documents))
        by_name: dict[object, list[tuple[str, Any]]] = defaultdict(list)
        for path, document in self.all_documents():
            body = mapping(document.value)
            written = mapping(body.get("metadata")).get("name")
            if body.get("kind") == "ConfigMap" and isinstance(written, str):
                by_name[written].append((path, body))
        return by_name

    def named(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the objects of a kind among all parsed documents."""
        found: list[Mapping[str, Any]] = self.indexed(kind, lambda: {kind: list(self._of_kind(kind))}).get(kind, [])
        return found

    def _of_kind(self, kind: str) -> Iterator[Mapping[str, Any]]:
        for _, document in self.all_documents():
            body = mapping(document.value)
            if body.get("kind") == kind:
                yield body

    def indexed(self, what: str, find: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
        """Return what is found among all parsed documents, which is looked for again where there are more of them."""
        known = self._indexed.get(what)
        if known is None or known[0] != len(self._documents):
            known = self._indexed[what] = (len(self._documents), find())
        return known[1]

    def all_directories(self) -> list[str]:
        """Return every directory with YAML in or below it but the top, sorted."""
        known = self._sorted.get("")
        if known is None or known[0] != len(self._known):
            known = self._sorted[""] = (len(self._known), sorted(self._known - {""}))
        return known[1]

    def all_files(self, suffix: str) -> list[str]:
        """Return every file with a suffix, sorted: YAML as it was listed, other files unless in hidden directories."""
        if suffix in self._sorted:
            return self._sorted[suffix][1]
        files = {path for path in self._listed if path.endswith(suffix)}
        if suffix not in _YAML:
            files.update(
                path
                for path in self.files_below("")
                if path.endswith(suffix) and "/." not in f"/{path.rpartition('/')[0]}"
            )
        self._sorted[suffix] = (len(files), sorted(files))
        return self._sorted[suffix][1]

    def files_below(self, directory: str) -> list[str]:
        """Return every file below a directory, of whatever kind, by its path below the root; links are not followed."""
        if directory:
            return self._source.files_below(directory)
        if self._everything is None:
            self._everything = self._source.files_below("")
        return self._everything

    @cached_property
    def scripts(self) -> Scripts:
        """The scripts of the tree."""
        if self._lacks is None:
            return scripts_of(self._source)
        return Scripts(lambda: self.files_below(""), self.read)

    def holding(self, name: str, *, with_yaml: bool = True) -> list[str]:
        """Return the directories that hold a file of a name, and have YAML in or below them where asked, sorted."""
        key = f"/{name}"
        place = key if with_yaml else name
        known = self._sorted.get(place)
        if known is None or known[0] != len(self._known):
            places = {path.rpartition("/")[0] for path in self.files_below("") if f"/{path}".endswith(key)}
            found = sorted(places & self._known if with_yaml else places)
            known = self._sorted[place] = (len(self._known), found)
        return known[1]

    def charts(self) -> list[str]:
        """Return every directory that the user gave and that holds a Helm chart not inside another one, sorted."""
        paths = sorted(filter(None, map(self._inside, self._source.skipped.get(HELM_CHART, ()))))
        charts: list[str] = []
        for directory in (path.rpartition("/")[0] for path in paths):
            if not any(directory.startswith(inside(outer, "")) for outer in charts):
                charts.append(directory)
        return charts

    def given_release(self, namespace: str, name: str, environment: str = "") -> list[Manifest] | None:
        """Return what was rendered before for a release, for whoever changes it; None where nothing was."""
        if self._given is None or (objects := self._given.objects(namespace, name, environment)) is None:
            return None
        self.budget.spend(sum(manifest.weight for manifest in objects))
        return [manifest.copy() for manifest in objects]

    @property
    def rendered_problems(self) -> Sequence[str]:
        """What could not be read of charts that were rendered before, in sentences."""
        return () if self._given is None else self._given.problems

    def read(self, path: str) -> bytes | None:
        """Return the bytes of any file below the root; None if it is not there or leads out of it."""
        if self._lacks is not None and self._lacks(path):
            return None
        if path not in self._fetched:
            self._fetched[path] = self._fetch(path)
        return self._fetched[path]

    def lacking(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of some paths below the root that git certainly does not have."""
        return self._source.lacking(paths) if paths else frozenset()

    def shown(self, path: str) -> str:
        """Return the path as users know it."""
        root = self._source.root
        if root is None:
            return path
        directory, _, name = path.rpartition("/")
        known = self._shown.get(directory)
        if known is None:
            known = os.path.relpath(os.path.join(root, directory)).replace(os.sep, "/")
            known = self._shown[directory] = "" if known == "." else f"{known}/"
        return f"{known}{name}" if name else known.rstrip("/") or "."

    def _fetch(self, path: str) -> bytes | None:
        if self._source.root is None or not path:
            return None
        try:
            return self._source.at(path, self.shown(path)).read()
        except SourceError:
            return None

    def kustomization_file(self, directory: str) -> str | None:
        """Return the path of the kustomization of a directory."""
        for name in KUSTOMIZATION_FILES:
            path = inside(directory, name)
            if path in self._listed or name in self.files.get(directory, ()):
                return path
            if directory not in self.files and self.documents(path) is not None:
                return path
        return None

    def kustomization(self, directory: str) -> tuple[dict[str, Any], Provenance] | None:
        """Return the kustomization of a directory and where it is written."""
        path = self.kustomization_file(directory)
        if path is None:
            return None
        for document in self.documents(path) or ():
            if isinstance(document.value, dict):
                return document.value, Provenance(document)
        data = self.read(path)
        if data is not None and read(data, path).form == "empty":  # comments: a kustomization all the same, of nothing
            return {"kind": "Kustomization"}, Provenance(Spot(self.shown(path)))
        return None

    def _inside(self, shown: str) -> str:
        """Return the path below the root of a file; "" for a link that leads nowhere, or out of the tree."""
        try:
            return self._source.file(shown).relative
        except SourceError:
            return ""

    def values(self, path: str) -> list[tuple[Any, Provenance]]:
        """Return the documents of a file with their origins; none if it is not there."""
        return [(document.value, Provenance(document)) for document in self.documents(path) or ()]

    @cached_property
    def json_files(self) -> Mapping[str, list[str]]:
        """The names of the listed JSON files, by directory."""
        files: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._listed):
            directory, _, name = path.rpartition("/")
            if name.endswith(".json"):
                files[directory].append(name)
        return files

    @cached_property
    def takers(self) -> Mapping[str, Collection[str]]:
        """The directories whose kustomizations name a file or directory, by its path."""
        takers: dict[str, set[str]] = defaultdict(set)
        for directory in self.kustomizations():
            kustomization = self.kustomization(directory)
            if kustomization is None:
                continue
            for field in ("resources", "bases", "components"):
                for entry, _ in entries(*kustomization, field):
                    path = join(directory, text(entry)) if text(entry) else None
                    if path is not None and path != directory:
                        takers[path].add(directory)
        return takers

    def kustomizations(self) -> list[str]:
        """Return every directory that has one, sorted."""
        return sorted(
            directory for directory, names in self.files.items() if any(name in KUSTOMIZATION_FILES for name in names)
        )


def _is_secret(document: Document) -> bool:
    return isinstance(document.value, dict) and document.value.get("kind") == "Secret"


def join(directory: str, relative: str) -> str | None:
    """Return the normalised path of `relative` as seen from a directory; None if it leads above the root."""
    steps = directory.split("/") if directory else []
    if relative.startswith("/"):
        return None
    for step in relative.split("/"):
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def inside(directory: str, name: str) -> str:
    """Return the path of a name in a directory."""
    return f"{directory}/{name}" if directory else name


def directories_above(file: str) -> list[str]:
    """Return the directories that hold a file, from the top ("") down."""
    steps = file.split("/")[:-1]
    return ["/".join(steps[:depth]) for depth in range(len(steps) + 1)]
