"""The objects of one Flux cluster: from the directory it syncs through the Kustomizations found in it, and theirs.

A Kustomization amends the kustomization of its path (targetNamespace, patches, components…) or writes one for a path
without, builds it, and fills in variables; so does this module.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.model import Spot, is_symbolic, mapping, sequence, text
from policylint.model.keys import ENCRYPTED_VALUE, VARIABLES
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.render.flux.applied import applied
from policylint.render.flux.secret_keys import secret_keys
from policylint.render.flux.sources import FluxSources
from policylint.render.flux.substitution import DISABLED, SubstitutionError, check_names, filled_in
from policylint.render.journal import Failure, Journal
from policylint.render.kustomize.build import Kustomizer
from policylint.render.kustomize.metadata import add_metadata
from policylint.render.kustomize.patches import apply_patches, patches
from policylint.render.kustomize.refusals import is_commented_out
from policylint.render.kustomize.skimming import NotSkimmedError, Skimmer
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.tree import Tree, directories_above, inside, join

GROUP = "kustomize.toolkit.fluxcd.io"
_FOR_AN_OBJECT = 10
"""Steps of work that it costs to take in an object that was built."""
_FOR_A_KUSTOMIZATION = 100
BOOTSTRAPPED = "flux-system/gotk-sync.yaml"
"""Where `flux bootstrap` writes what it is told to sync, below that very directory."""
_OWN_SOURCES = ("flux-system", "")
Kustomization = tuple[dict[str, Any], Provenance]
"""The body of a kustomization, and where it is written."""


BY_HAND = "kustomize cannot build"
"""What is said of a build that people and scripts do, and no deployer."""
_CANNOT_INSTALL = "Flux cannot install"
_CHARTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("helm.toolkit.fluxcd.io", "HelmRelease"): ("spec", "chart", "spec"),
    ("source.toolkit.fluxcd.io", "HelmChart"): ("spec",),
}
"""Where objects of Flux say which chart is fetched."""


class Build(NamedTuple):
    """One build of which all is applied, or nothing.

    Args:
        by: who does it, with a verb: `Flux applies`.
        directory: what is built.
        failures: why it may fail.
        reached: files and directories that are read for it.
        manifests: what comes of it.
    """

    by: str
    directory: str
    failures: list[Failure]
    reached: set[str]
    manifests: list[Manifest]


class Deployed(NamedTuple):
    """The contents of one cluster.

    Args:
        manifests: the objects, in the order in which they are found.
        journal: notes and gaps.
        reached: files and directories that something deploys.
        entries: the files and directories at which a deployment begins, each with the files and directories that it
            deploys: Kustomizations, Applications, synced directories, kustomizations that no other one takes in.
        builds: what is applied whole or not at all.
        alternative_of: of one of several alternatives, what they have in common; "" where it is none.
        is_piece: whether it is a piece of an environment, of which nothing says which other pieces it stands with.
        is_left: whether it is what the deployer of a tree leaves to others, who may apply it to the same clusters.
    """

    manifests: list[Manifest]
    journal: Journal
    reached: set[str]
    entries: dict[str, set[str]]
    builds: list[Build]
    alternative_of: str = ""
    is_piece: bool = False
    is_left: bool = False

    @classmethod
    def empty(cls) -> Deployed:
        """Return what lands in a cluster to which nothing is deployed yet."""
        return cls([], Journal(), set(), {}, [])

    def reach(self, entry: str, paths: Iterable[str]) -> None:
        """Take down what is deployed at an entry."""
        paths = set(paths)
        self.reached.update(paths)
        self.entries.setdefault(entry, set()).update(paths)

    def add(self, other: Deployed) -> None:
        """Add what lands in the same cluster."""
        self.manifests.extend(other.manifests)
        self.builds.extend(other.builds)
        self.journal.add(other.journal)
        self.reached.update(other.reached)
        for entry, paths in other.entries.items():
            self.reach(entry, paths)


class Sync(NamedTuple):
    """How a FluxInstance syncs a directory.

    Args:
        kustomization: the Kustomization that the Flux Operator makes for it, in `flux-system`.
        source: the source that it makes for it.
        kustomize: the instance's `kustomize`: `patches` for what the operator makes, that Kustomization included.
        place: where they are written.
    """

    kustomization: Manifest
    source: Manifest
    kustomize: Any
    place: Provenance


def is_kustomization(body: Any) -> bool:
    """Return whether an object is a Flux Kustomization."""
    value = mapping(body)
    return value.get("kind") == "Kustomization" and text(value.get("apiVersion")).startswith(f"{GROUP}/")


def _is_resource_set(manifest: Manifest) -> bool:
    return manifest.kind == "ResourceSet" and manifest.group == "fluxcd.controlplane.io"


_NO_SYNCS: Mapping[str, Sync] = {}
_Key = tuple[str, str]
"""Namespace and name of a Kustomization or a source."""
_NONE: _Key = ("", "")


class Cluster:
    """The walk through one cluster's Kustomizations.

    Args:
        prefix: where in the tree the artifact that Flux fetches begins, "" for the top (an OCI artifact may hold a
            subdirectory only).
        name: what the cluster is called: the value of a variable in a path that nothing fills in, where a directory is
            called so.
        skimmer: returns what skims the kustomizations of a tree: directories are not built of which nothing but what is
            read for them matters to the walk. None where all are.

    Attributes:
        skimmed: the files in which objects may be written that were not built for that.
    """

    def __init__(
        self,
        tree: Tree,
        kustomizer: Kustomizer,
        prefix: str = "",
        name: str = "",
        skimmer: Callable[[Tree], Skimmer] | None = None,
    ) -> None:
        self._skimmer = skimmer
        self.skimmed: set[str] = set()
        self._skimmed_maps = False
        self._tree = tree
        self._name = name
        self._sources = FluxSources(kustomizer, prefix)
        self._prefix = prefix
        self._deployed = Deployed.empty()
        self._journal = self._deployed.journal
        self._own_source = ("", "")
        self._directories: tuple[str, ...] = ()
        """What is synced first."""
        self._seen: dict[tuple[str, str], Manifest] = {}
        self._waiting: deque[Manifest] = deque()
        self._sets: deque[Manifest] = deque()
        """ResourceSets whose inputs other objects give, which may be deployed later, and those that others make."""
        self._budget = tree.budget
        self._own: dict[_Key, Manifest | Sync] = {}
        """Namespace and name of each GitRepository that a synced directory comes from, and what syncs it."""
        self._absent: list[tuple[Manifest, str]] = []
        """Kustomizations whose path is not in this tree, and that path."""
        self._keys: dict[str, frozenset[str]] = {}
        """The keys of Secrets, by name."""
        self._config_maps: dict[tuple[str, str], Manifest] = {}
        """Those that are deployed so far, by namespace and every name they have had."""

    def deploy(self, directories: Iterable[str], syncs: Mapping[str, Sync] = _NO_SYNCS) -> Deployed:
        """Return everything that the synced directories lead to.

        Args:
            syncs: what FluxInstances say of some of them.
        """
        owners = []
        self._directories = tuple(directories)
        for directory in self._directories:
            with self._budget.bounded("the directory that Flux syncs", Provenance(Spot(self._tree.shown(directory)))):
                self._budget.spend(_FOR_A_KUSTOMIZATION)
                owner = self._sync(directory, syncs)
                owners += [] if owner is None else [owner]
        self._own_source = _most_common_source([*owners, *self._waiting])
        while self._waiting or self._sets:
            if not self._waiting:
                resource_set = self._sets.popleft()
                with self._budget.bounded(f"what {resource_set} makes", resource_set.origin.at("spec")):
                    self._make(resource_set, self._deployed.manifests)
                continue
            owner = self._waiting.popleft()
            with self._budget.bounded(f"what {owner} deploys", owner.origin.at("spec", "path")):
                self._budget.spend(_FOR_A_KUSTOMIZATION)
                self._follow(owner)
        self._check_paths()
        self._check_value_files()
        self._check_dependencies()
        return self._deployed

    def _sync(self, directory: str, syncs: Mapping[str, Sync]) -> Manifest | None:
        """Deploy a synced directory and return the Kustomization that does it, if there is one."""
        sync = syncs.get(directory)
        owner = self.synced_by(directory) if sync is None else self._patched(sync)
        self._sources.begin_at(owner)
        kustomization = self._kustomization(directory, owner)
        if owner is not None:
            self._seen[owner.namespace or "flux-system", owner.name] = owner
            self._own[_git_repository(owner)] = owner if sync is None else sync
            kustomization = _amended(kustomization, owner)
        self._take(directory, kustomization, "flux-system", owner)
        return owner

    def _patched(self, sync: Sync) -> Manifest:
        """Return the Kustomization of a FluxInstance after the instance's patches; the other objects of the operator,
        which they may be for, are not seen."""
        some = patches("", sync.kustomize, sync.place, ("patches",), self._tree, self._journal)
        copied = [sync.kustomization.copy(), sync.source.copy()]
        made = apply_patches(some, copied, self._journal, self._tree.budget, unseen=lambda _: True)
        self._sources.take_in(made)
        return next(filter(lambda manifest: is_kustomization(manifest.body), made), sync.kustomization)

    def synced_by(self, directory: str) -> Manifest | None:
        """Return the Kustomization in a synced directory that syncs the directory itself, as `flux bootstrap` writes
        it."""
        built = self._sources.kustomizer(None).build(directory, self._kustomization(directory, None)).manifests
        self._sources.take_in(built)
        for manifest in built:
            if is_kustomization(manifest.body):
                path = text(manifest.spec.get("path")) or "."
                if join(self._prefix, path.lstrip("/")) == directory:
                    return manifest
        return None

    def _take(self, directory: str, kustomization: Kustomization, namespace: str, owner: Manifest | None) -> None:
        """Build a directory, add what it holds and queue the Kustomizations in it."""
        if self._skim(directory, kustomization, owner):
            return
        built = self._sources.kustomizer(owner).build(directory, kustomization)
        self._budget.spend(_FOR_AN_OBJECT * len(built.manifests) + len(built.reached) + built.journal.size)
        self._journal.add(built.journal)
        self._deployed.reach(directory, built.reached)
        if owner is not None:
            self._deployed.reach(self._tree.path_of(owner.file), (directory,))
            common, post_build = mapping(owner.spec.get("commonMetadata")), mapping(owner.spec.get("postBuild"))
            place = owner.origin.at("spec", "commonMetadata")
            variables = self._variables(owner, post_build)
            try:
                check_names(variables)
                complete(built.manifests, common, place, variables, self._tree.with_variables, self._budget)
            except SubstitutionError as error:
                message = f"variables cannot be filled in: {error}"
                built.journal.fail(message, owner.origin.at("spec", "postBuild"), code="substitution-refused")
            self._pin(owner, built.manifests)
        failures = built.journal.failures
        if owner is None and kustomization[0].keys() == {"resources"}:  # as one whole it may be nobody's: clusters of a
            failures = [each for each in failures if each.note.code != "duplicate"]  # script, which applies one of them
        build = Build("Flux cannot apply", directory, failures, built.reached, built.manifests)
        self._deployed.builds.append(build)
        self._sources.take_in(built.manifests)
        for manifest in applied(built.manifests, self._journal, namespace):
            self._add(manifest, namespace)
            if _is_resource_set(manifest):
                if manifest.spec.get("inputsFrom"):
                    self._sets.append(manifest)
                else:
                    self._make(manifest)

    def _skim(self, directory: str, kustomization: Kustomization, owner: Manifest | None) -> bool:
        """Take down what a directory deploys without building it; return whether that is asked for and possible."""
        if self._skimmer is None:
            return False
        try:
            reached = self._skimmer(self._sources.kustomizer(owner).tree).of(directory, kustomization[0])
        except NotSkimmedError:
            return False
        self._deployed.reach(directory, reached.paths)
        if owner is not None:
            self._deployed.reach(self._tree.path_of(owner.file), (directory,))
        self.skimmed |= reached.paths | reached.beside
        self._skimmed_maps |= reached.maps
        return True

    def _pin(self, owner: Manifest, manifests: list[Manifest]) -> None:
        """Leave open what is deployed as it is at another revision."""
        revision = self._sources.other_revision(owner)
        if revision:
            message = f"{owner} deploys {revision}, which may differ from these files"
            self._journal.note(message, owner.origin.at("spec", "sourceRef"), code="other-revision")
            for manifest in manifests:
                manifest.leave_open(f"it is deployed from {revision}")

    def _add(self, manifest: Manifest, namespace: str) -> None:
        """Add an object; a Kustomization is queued, and in a namespace if it names none."""
        if is_kustomization(manifest.body):
            key = (manifest.namespace or namespace, manifest.name)
            if key not in self._seen:
                self._seen[key] = manifest
                self._waiting.append(manifest)
        elif manifest.kind == "ConfigMap":
            for name in (manifest.name, *(former for _, former in manifest.names)):
                self._config_maps.setdefault((manifest.namespace, name), manifest)
        self._deployed.manifests.append(manifest)

    def _make(self, manifest: Manifest, others: Collection[Manifest] = ()) -> None:
        """Add what a ResourceSet makes."""
        from policylint.render.flux.resource_sets import expanded

        made = expanded(manifest, self._journal, self._budget, others)
        for each in applied(made, self._journal, manifest.namespace):
            self._add(each, manifest.namespace)
            if _is_resource_set(each):
                self._sets.append(each)

    def _follow(self, owner: Manifest) -> None:
        """Deploy what one Kustomization points to."""
        if owner.spec.get("suspend") is True:
            message = f"{owner} is suspended: what it deployed is taken to be there still"
            self._journal.note(message, owner.origin.at("spec", "suspend"), code="suspended")
        directory = self._directory(owner)
        if directory is not None:
            kustomization = _amended(self._kustomization(directory, owner), owner)
            self._take(directory, kustomization, owner.namespace or "default", owner)

    def _directory(self, owner: Manifest) -> str | None:
        """Return the directory in this tree that a Kustomization deploys; None, noted, if it is somewhere else."""
        path = text(owner.spec.get("path")) or "."
        reference = mapping(owner.spec.get("sourceRef"))
        source = (text(reference.get("kind")), text(reference.get("name")))
        copied = self._sources.copied(owner)
        if copied is not None:
            *source_of_copy, path = copied
            source = (source_of_copy[0], source_of_copy[1])
        is_own = source == self._own_source or source[1] in _OWN_SOURCES
        artifact = self._sources.pushed(owner)
        directory = join(self._prefix if artifact is None else artifact, path.lstrip("/"))
        if directory is not None and is_symbolic(path):
            directory = self._guessed(directory) or directory
        if artifact is not None and directory is not None and self._tree.is_directory(directory):
            return directory
        is_here = is_own or not (directory == self._prefix or self._sources.is_elsewhere(owner))
        if directory is not None and is_here and self._sources.kustomizer(owner).tree.is_directory(directory):
            return directory
        if is_own and source[0] != "GitRepository" and (begun := self._in_an_artifact(path)) is not None:
            return begun
        place = owner.origin.at("spec", "path")
        namespace = text(owner.spec.get("targetNamespace"))
        if is_own:
            message = f"path {path} of {owner}"
            if directory is None:
                self._journal.note(f"{message} is outside of the tree", place, code="outside")
            else:
                self._absent.append((owner, directory))
                self._journal.note(f"{message} does not exist", place, code="missing-path")
            self._journal.gap(f"{message} was not seen", namespace)
        else:
            self._journal.remote(f"path {path} of {' '.join(source)}", place, namespace)
        return None

    def _in_an_artifact(self, path: str) -> str | None:
        """Return the directory that a path means in an artifact which holds a part of this tree.

        The artifact holds what is synced first, and that is all which says where it begins. None where no directory
        around has such a path, or several have.
        """
        around = set.intersection(*({*directories_above(each)} for each in self._directories))
        places = [join(each, path.lstrip("/")) for each in around if each]
        known = [each for each in places if each is not None and self._tree.is_directory(each)]
        return known[0] if len(known) == 1 else None

    def _guessed(self, path: str) -> str | None:
        """Return the directory that a path with variables is most likely to mean: the only one that it can, or the one
        that is called as the cluster is; None where there is none, or where the path states nothing else."""
        if not VARIABLES.sub("", path).strip("./"):
            return None
        known = self._tree.fitting(path)
        named = [place for place, values in known if self._name in values] or [place for place, _ in known]
        return named[0] if len(named) == 1 else None

    def _kustomization(self, directory: str, owner: Manifest | None) -> Kustomization:
        """Return the kustomization of a directory, or the one that Flux writes: every YAML file below, and every
        directory with a kustomization of its own as one. One that is commented out shows that nobody builds it, unless
        something of Flux names it."""
        tree = self._sources.kustomizer(owner).tree
        known = tree.kustomization(directory)
        if known is not None and (owner is not None or not is_commented_out(known[0])):
            self._deployed.reached.add(tree.kustomization_file(directory) or "")
            return known
        resources: list[str] = []
        pending = [""]
        while pending:
            below = pending.pop()
            place = "/".join(step for step in (directory, below) if step)
            if below and tree.kustomization_file(place) is not None:
                resources.append(below)
                continue
            names = tree.files.get(place, ())
            self._budget.spend(5 + 2 * len(names))
            resources += [inside(below, name) for name in names]
            pending += [inside(below, name) for name in tree.directories.get(place, ())]
        origin = owner.origin.at("spec", "path") if owner is not None else _first_file(tree, directory)
        return {"resources": sorted(resources)}, origin

    def _variables(self, owner: Manifest, post_build: Any) -> dict[str, str]:
        """Return the values of `substitute` over those of `substituteFrom`, of which a later one overwrites an earlier
        one; those of Secrets are not seen."""
        variables: dict[str, str] = {}
        for reference in map(mapping, sequence(post_build.get("substituteFrom"))):
            name = text(reference.get("name"))
            if reference.get("kind") == "ConfigMap":
                variables.update(_as_texts(self._config_map(name, owner.namespace).get("data")))
            else:  # what a Secret holds is not seen, but it is neither what came before nor a default
                variables.update((key, f"${{{key}}}") for key in self._secret_keys(name))
        variables.update(_as_texts(post_build.get("substitute")))
        if not variables and post_build.get("substituteFrom"):
            variables[""] = ""  # variables come from what was not seen: defaults are filled in all the same
        return variables

    def _secret_keys(self, name: str) -> frozenset[str]:
        if name not in self._keys:
            self._keys[name] = secret_keys(self._tree, name)
        return self._keys[name]

    def _config_map(self, name: str, namespace: str) -> Any:
        if self._skimmed_maps:
            raise NotSkimmedError
        known = self._config_maps.get((namespace, name))
        if known is not None:
            return known.body
        fetched = (
            each for each in self._tree.config_maps(name) if not self._prefix or self._holds(self._prefix, each[0])
        )
        return min(fetched, key=lambda each: self._distance(each[0]), default=("", {}))[1]

    def _distance(self, path: str) -> int:
        """Return how far a file is from what the cluster syncs: 0 in it, 2 where nobody deploys it by its name."""
        if any(self._holds(directory, path) for directory in self._directories):
            return 0
        return 1 if self._tree.is_live(path) else 2

    @staticmethod
    def _holds(directory: str, path: str) -> bool:
        return not directory or path.startswith(f"{directory}/")

    def _check_paths(self) -> None:
        """Record the Kustomizations that deploy nothing because their path is not there, if it must be in this tree."""
        for owner, directory in self._absent:
            path = owner.spec.get("path")
            if self._is_of_this_tree(owner) and not is_symbolic(path) and owner.spec.get("suspend") is not True:
                journal = Journal()
                message = f"path {path} of {owner} does not exist"
                journal.note(message, owner.origin.at("spec", "path"), code="missing-path", lacking=f"{directory}/")
                self._deployed.builds.append(Build("Flux cannot apply", directory, journal.failures, set(), []))

    def _check_value_files(self) -> None:
        """Record the HelmReleases, and HelmCharts that these name, of which nothing is installed because a value file
        of the chart, which lies in this tree, is not there.

        Source: fluxcd/source-controller, docs of HelmChart: `valuesFiles` of a GitRepository are relative to its top.
        """
        for owner in self._deployed.manifests:
            steps = _CHARTS.get((owner.group, owner.kind))
            if steps is None:
                continue
            chart = mapping(value_at(owner.body, steps))
            if chart.get("ignoreMissingValuesFiles") is True or owner.spec.get("suspend") is True:
                continue
            for number, file in enumerate(map(text, sequence(chart.get("valuesFiles")))):
                path = file.removeprefix("./")
                if not path or is_symbolic(path) or self._tree.read(path) is not None:
                    continue
                if self._is_of_this_tree(owner, chart.get("sourceRef")):
                    journal, place = Journal(), owner.origin.at(*steps, "valuesFiles", number)
                    message = f"value file {file!r} does not exist"
                    journal.note(message, place, code="value-file", lacking=path)
                    self._deployed.builds.append(Build(_CANNOT_INSTALL, str(owner), journal.failures, set(), []))

    def _is_of_this_tree(self, owner: Manifest, source: Any = None) -> bool:
        """Tell whether what a Kustomization deploys certainly comes from the git repository that holds it, as it is
        there: it is that of a synced directory, which syncs itself, or did before its path was changed.

        Args:
            source: what an object names that is no Kustomization.
        """
        key = _git_repository(owner, source)
        syncing = self._own.get(key, owner if owner.file.endswith(BOOTSTRAPPED) else None)
        if syncing is None or key == _NONE or owner.provisional or self._prefix:
            return False
        if isinstance(syncing, Sync):
            is_own = self._tree.path_of(syncing.place.document.file) in self._deployed.reached
            return is_own and "GitRepository" not in repr(syncing.kustomize)
        repositories = (manifest for manifest in self._deployed.manifests if manifest.kind == "GitRepository")
        repository = next((manifest for manifest in repositories if (manifest.namespace, manifest.name) == key), None)
        if repository is None or repository.provisional or repository.spec.get("include"):
            return False
        return not mapping(repository.spec.get("ref")).keys() - {"branch"}

    def _check_dependencies(self) -> None:
        """Note Kustomizations that wait for each other: none of them is ever applied."""
        waits = {
            key: {
                (text(mapping(reference).get("namespace")) or key[0], text(mapping(reference).get("name")))
                for reference in sequence(owner.spec.get("dependsOn"))
            }
            & self._seen.keys()
            for key, owner in self._seen.items()
        }
        for key in sorted(_in_cycles(waits)):
            owner = self._seen[key]
            place = owner.origin.at("spec", "dependsOn")
            self._journal.note(f"{owner} depends on itself through others", place, code="depends-cycle")


def _git_repository(owner: Manifest, source: Any = None) -> _Key:
    """Return namespace and name of the GitRepository that a Kustomization deploys; _NONE where it is another source."""
    reference = mapping(source or owner.spec.get("sourceRef"))
    if reference.get("kind") != "GitRepository":
        return _NONE
    return text(reference.get("namespace")) or owner.namespace, text(reference.get("name"))


def _in_cycles(waits: Mapping[_Key, Collection[_Key]]) -> Iterator[_Key]:
    """Yield the keys that wait for themselves, by way of others or not (Kosaraju's algorithm)."""
    left: list[_Key] = []
    seen: set[_Key] = set()
    for key in waits:
        pending = [(key, iter(waits[key]))] if key not in seen else []
        seen.add(key)
        while pending:
            current, others = pending[-1]
            other = next((other for other in others if other not in seen), None)
            if other is None:
                left.append(current)
                pending.pop()
            else:
                seen.add(other)
                pending.append((other, iter(waits[other])))
    waited_for: dict[_Key, list[_Key]] = defaultdict(list)
    for key, on in waits.items():
        for other in on:
            waited_for[other].append(key)
    seen.clear()
    for key in reversed(left):
        component = [key] if key not in seen else []
        seen.add(key)
        for member in component:
            fresh = set(waited_for[member]) - seen
            seen |= fresh
            component += fresh
        if len(component) > 1 or key in waits[key]:
            yield from component


def complete(
    manifests: list[Manifest],
    common: Any,
    place: Provenance,
    variables: Mapping[str, str],
    with_variables: Container[str],
    budget: Budget,
) -> None:
    """Put the values of variables into manifests, and then the common metadata written at a place.

    Args:
        with_variables: files, as shown, that hold `${`.

    Raises:
        ExhaustedError: what comes of it is more than the budget allows.
        SubstitutionError: Flux refuses an expression.
    """
    for manifest in manifests if variables else ():
        if manifest.origin.children or manifest.file in with_variables:
            marks = [mapping(manifest.metadata.get(field)) for field in ("annotations", "labels")]
            if not any(mark.get(DISABLED) == "disabled" for mark in marks):
                budget.spend(manifest.weight)
                manifest.body = filled_in(manifest.body, variables, budget)
    if common:
        budget.spend((_FOR_AN_OBJECT + 2 * size_of(common)[0]) * len(manifests))
        add_metadata(manifests, common, place)


def _amended(kustomization: Kustomization, owner: Manifest) -> Kustomization:
    """Return the kustomization as Flux rewrites it before building."""
    body, origin = amended(kustomization, owner.spec, owner.origin.child("spec"))
    if text(owner.spec.get("targetNamespace")):
        body = {**body, "namespace": owner.spec["targetNamespace"]}
        origin = origin.with_child("namespace", owner.origin.at("spec", "targetNamespace"))
    images = dict(enumerate(entries(body, origin, "images")))
    for entry, place in entries(owner.spec, owner.origin.at("spec"), "images"):
        name = text(mapping(entry).get("name"))
        known = next((index for index, (image, _) in images.items() if text(mapping(image).get("name")) == name), None)
        if known is None:
            images[len(images)] = (entry, place)
        else:
            images[known] = (_over(images[known][0], mapping(entry)), place)
    if images:
        body = {**body, "images": [image for image, _ in images.values()]}
        origin = origin.with_child("images", origin.child("images").with_items(place for _, place in images.values()))
    return body, origin


def _over(image: Any, over: Any) -> dict[str, Any]:
    """Return an entry of `images` with what another one of the same name says; tag and digest are one."""
    merged = {**mapping(image), **{field: over[field] for field in ("newName",) if over.get(field)}}
    if over.get("newTag") or over.get("digest"):
        merged |= {"newTag": over.get("newTag", ""), "digest": over.get("digest", "")}
    return merged


def amended(kustomization: Kustomization, options: Any, place: Provenance) -> Kustomization:
    """Return a kustomization with the prefix and suffix, patches and components that its owner adds at a place."""
    body, origin = kustomization
    for field in ("namePrefix", "nameSuffix"):
        if text(options.get(field)):
            body = {**body, field: options[field]}
            origin = origin.with_child(field, place.child(field))
    for field in ("patches", "components"):
        added = list(entries(options, place, field))
        if added:
            together = [*entries(body, origin, field), *added]
            items = origin.child(field).with_items(source for _, source in together)
            body = {**body, field: [entry for entry, _ in together]}
            origin = origin.with_child(field, items)
    return body, origin


def _most_common_source(owners: Iterable[Manifest]) -> tuple[str, str]:
    """Return the source that is this tree: what most of the first Kustomizations name, `flux-system` where one does."""
    counted: Counter[tuple[str, str]] = Counter()
    for owner in owners:
        reference = mapping(owner.spec.get("sourceRef"))
        counted[text(reference.get("kind")), text(reference.get("name"))] += 1
    return max(counted, key=lambda source: (source[1] in _OWN_SOURCES, counted[source], source), default=("", ""))


def _as_texts(values: Any) -> dict[str, str]:
    """Return the values of variables as Flux writes them into manifests; of encrypted ones the variables."""
    texts = {}
    for name, value in mapping(values).items():
        plain = "" if value is None else str(value)
        plain = f"${{{name}}}" if plain.startswith(ENCRYPTED_VALUE) else plain
        texts[name] = plain.lower() if isinstance(value, bool) else plain.replace("\n", "")
    return texts


def _first_file(tree: Tree, directory: str) -> Provenance:
    """Return a place to point at when a root has no kustomization."""
    name = next(iter(tree.files.get(directory, ())), "")
    for document in tree.documents(inside(directory, name)) or ():
        return Provenance(document)
    return Provenance(Spot(directory))
