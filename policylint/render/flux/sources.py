"""The sources of one Flux cluster: which files of this tree each has, at which revision, or that it is another's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from posixpath import normpath
from typing import Any

from policylint.model import is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.by_hand import pushed
from policylint.render.flux.artifact import artifact
from policylint.render.kustomize.build import Kustomizer
from policylint.render.provenance import Manifest, manifests_of

GROUP = "source.toolkit.fluxcd.io"
_GENERATORS = "source.extensions.fluxcd.io"
Source = tuple[str, str, str]
"""Kind, namespace and name of a source."""
_ADDRESS = Pattern(r"^(?:[a-z+]+://)?(?:[^@/]+@)?([^/:]+)(?::\d+(?=/))?[/:]+(.*?)(?:\.git)?/*$")
_OTHER_NAMES = Pattern(r"refs/(?!heads/)")
_OTHER_REVISIONS = ("commit", "tag", "semver", "name")
_MAIN = ("main", "master")


class SourceAddress(NamedTuple):
    """What the address of a source says: owner and name of a repository of git, all steps of an artifact of OCI."""

    steps: tuple[str, ...]
    is_git: bool

    @classmethod
    def of(cls, url: str) -> SourceAddress | None:
        """Return the repository at an address; None where it says nothing of one."""
        found = None if is_symbolic(url) else _ADDRESS.match(url.lower())
        steps = tuple(found[2].split("/")) if found else ()
        return cls(steps, not url.startswith("oci://")) if steps and steps[-1] else None

    def may_hold(self, other: SourceAddress) -> bool:
        """Return whether one may hold what the other does: a mirror of a repository keeps its name, and what is pushed
        as an artifact bears the name of the repository, or lies with its owner's."""
        if self.is_git is other.is_git:
            return self.steps[-1] == other.steps[-1]
        git, oci = (self, other) if self.is_git else (other, self)
        return not oci.steps or not set(git.steps[-2:]).isdisjoint(oci.steps)


class FluxSources:
    """The sources that Kustomizations of a cluster name.

    Args:
        kustomizer: of the whole tree.
        prefix: the directory at which what is fetched of this tree begins.
    """

    def __init__(self, kustomizer: Kustomizer, prefix: str) -> None:
        self._kustomizer = kustomizer
        self._prefix = prefix
        self._seen: dict[Source, Manifest] = {}
        self._own: Manifest | None = None
        self._pushed: dict[str, str] | None = None
        self._fetching: dict[str, Kustomizer] = {}
        """What builds the files of a source, by its `spec.ignore`."""

    def take_in(self, manifests: Collection[Manifest]) -> None:
        """Take down the sources among objects as they are deployed."""
        for manifest in manifests:
            if manifest.group in (GROUP, _GENERATORS):
                self._seen[manifest.kind, manifest.namespace or "flux-system", manifest.name] = manifest

    def begin_at(self, owner: Manifest | None) -> None:
        """Take the source that a Kustomization names for the one that holds this tree."""
        self._own = None if owner is None else self._of(owner)

    def kustomizer(self, owner: Manifest | None) -> Kustomizer:
        """Return what builds the files that a Kustomization finds in its source."""
        source = None if owner is None else self._of(owner)
        ignore = "" if source is None else text(source.spec.get("ignore"))
        if ignore not in self._fetching:
            self._fetching[ignore] = self._kustomizer.of(artifact(self._kustomizer.tree, self._prefix, ignore))
        return self._fetching[ignore]

    def is_elsewhere(self, owner: Manifest) -> bool:
        """Return whether a Kustomization deploys another repository than this one."""
        source = self._of(owner)
        if source is None or self._own is None:
            return False
        own, other = (SourceAddress.of(text(each.spec.get("url"))) for each in (self._own, source))
        return own is not None and other is not None and not own.may_hold(other)

    def pushed(self, owner: Manifest) -> str | None:
        """Return the directory of this tree that a script pushes as the artifact which a Kustomization deploys, where
        its paths begin; None where none does."""
        source = self._of(owner)
        if source is None or source.kind != "OCIRepository":
            return None
        if self._pushed is None:
            self._pushed = pushed(self._kustomizer.tree)
        return self._pushed.get(text(source.spec.get("url")).rstrip("/").rpartition("/")[2])

    def copied(self, owner: Manifest) -> tuple[str, str, str] | None:
        """Return the kind and name of the source from which an ArtifactGenerator copies what a Kustomization deploys,
        and the path there; None where it deploys no such artifact, or the generator was not seen.

        Source: fluxcd/source-watcher, the specification of ArtifactGenerators: `dir/**` copies what is in a directory,
        `dir` the directory, and what is copied later comes on top.
        """
        reference = mapping(owner.spec.get("sourceRef"))
        if reference.get("kind") != "ExternalArtifact":
            return None
        namespace = text(reference.get("namespace")) or owner.namespace or "flux-system"
        wanted = normpath(text(owner.spec.get("path")).lstrip("/") or ".")
        for generator in self._generators(owner):
            if (generator.namespace or namespace) != namespace:
                continue
            sources = {text(each.get("alias")): each for each in map(mapping, sequence(generator.spec.get("sources")))}
            for made in map(mapping, sequence(generator.spec.get("artifacts"))):
                if made.get("name") != reference.get("name"):
                    continue
                for copy in reversed([*map(mapping, sequence(made.get("copy")))]):
                    alias, _, below = text(copy.get("from")).removeprefix("@").partition("/")
                    path = _origin(below, text(copy.get("to")).removeprefix("@artifact").lstrip("/"), wanted)
                    if path is not None and alias in sources:
                        return text(sources[alias].get("kind")), text(sources[alias].get("name")), path
        return None

    def _generators(self, owner: Manifest) -> list[Manifest]:
        """Return the ArtifactGenerators of the cluster, else those that are written nearest to a Kustomization."""
        known = [each for (kind, _, _), each in self._seen.items() if kind == "ArtifactGenerator"]
        if known:
            return known
        written = [each for (kind, _), all_ in self._all().items() if kind == "ArtifactGenerator" for each in all_]
        return sorted(written, key=lambda manifest: -_shared(manifest.file, owner.file))

    def other_revision(self, owner: Manifest) -> str:
        """Return at which revision a Kustomization deploys its source where that need not be what stands here; "" where
        it is."""
        source = self._of(owner)
        if source is None:
            return ""
        reference = mapping(source.spec.get("ref"))
        if source.kind == "GitRepository":
            for field in _OTHER_REVISIONS:
                written = text(reference.get(field))
                if written and (field != "name" or _OTHER_NAMES.match(written)):
                    return f"{field} {written}"
            branch = _branch(source)
            own = self._own and _branch(self._own)
            if own is None and branch and branch not in _MAIN:
                own = self._main_of(source)
            if branch and own and branch != own:
                return f"branch {branch}"
        return ""

    def _main_of(self, source: Manifest) -> str:
        """Return the main branch of the repository that a source fetches, where another source fetches that: one tree
        is not all of them."""
        url = text(source.spec.get("url"))
        fetched = (*self._seen.values(), *(each for all_ in self._all().values() for each in all_))
        branches = {_branch(each) for each in fetched if each.kind == source.kind and each.spec.get("url") == url}
        return next((branch for branch in _MAIN if branch in branches), "")

    def _of(self, owner: Manifest) -> Manifest | None:
        """Return the source that a Kustomization names: as it is deployed, or as it is written nearest to it."""
        reference = mapping(owner.spec.get("sourceRef"))
        kind, name = text(reference.get("kind")), text(reference.get("name"))
        namespace = text(reference.get("namespace")) or owner.namespace or "flux-system"
        known = self._seen.get((kind, namespace, name))
        if known is not None or not name:
            return known
        candidates = [
            manifest
            for manifest in self._all().get((kind, name), ())
            if not manifest.namespace or manifest.namespace == namespace
        ]
        return max(candidates, key=lambda manifest: _shared(manifest.file, owner.file), default=None)

    def _all(self) -> dict[tuple[str, str], list[Manifest]]:
        """Return the sources that are written anywhere in the tree, by kind and name."""
        return self._kustomizer.tree.indexed("source", self._written)

    def _written(self) -> dict[tuple[str, str], list[Manifest]]:
        found: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
        tree = self._kustomizer.tree
        for path, document in tree.all_documents():
            group = text(mapping(document.value).get("apiVersion")).partition("/")[0]
            if group in (GROUP, _GENERATORS) and tree.is_live(path):
                for manifest in manifests_of([document]):
                    found[manifest.kind, manifest.name].append(manifest)
        return found


def _origin(pattern: str, place: str, wanted: str) -> str | None:
    """Return the path in a source from which a path of an artifact is copied; None where it is not.

    Args:
        pattern: what is copied, with wildcards.
        place: where to; below it with the name of what is copied, if it ends with a slash.
        wanted: the path of the artifact, normalized.
    """
    steps = pattern.split("/")
    number = next((number for number, step in enumerate(steps) if "*" in step), len(steps))
    kept = "/".join(steps[:number])
    if number == len(steps) and (place.endswith("/") or not place):
        place = f"{place}{steps[-1]}"
    place = normpath(place or ".")
    if place not in (".", wanted) and not wanted.startswith(f"{place}/"):
        return None
    below = wanted if place == "." else wanted[len(place) + 1 :]
    return normpath(f"{kept}/{below}" if below else kept).lstrip("/")


def _branch(source: Manifest) -> str:
    reference: Any = mapping(source.spec.get("ref"))
    branch = text(reference.get("branch")) or text(reference.get("name")).removeprefix("refs/heads/")
    return "" if is_symbolic(branch) else branch


def _shared(one: str, other: str) -> int:
    """Return how many steps two paths have in common."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return next((depth for depth, (left, right) in enumerate(pairs) if left != right), len(one))
