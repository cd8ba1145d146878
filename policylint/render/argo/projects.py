"""What an AppProject forbids: sources, destinations and kinds that its Applications may not have.

Argo CD syncs nothing of an Application whose source or destination its project does not permit, and applies nothing of
one that holds a single object which it does not permit.

A project counts where the tree says that it is applied: by an Application, by a script, or beside one of its own
Applications. Others may have been replaced in the cluster long ago.

A repository or a cluster whose Secret names a project is permitted to it, whatever the project itself lists.

Source: argoproj/argo-cd `pkg/apis/application/v1alpha1/app_project_types.go` (IsSourcePermitted,
IsDestinationPermitted, IsGroupKindPermitted), `util/argo/argo.go` (ValidatePermissions, GetGlobalProjects,
GetAppProjectByName), `controller/sync.go` (WithPermissionValidator).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from typing import Any

from policylint.documents import read
from policylint.model import GATEWAY_GROUP, is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.render.by_hand import applied
from policylint.render.flux.roots import live_manifests, outermost
from policylint.render.globs import glob
from policylint.render.kustomize.build import Kustomizer
from policylint.render.provenance import Manifest, Provenance
from policylint.render.tree import Tree, directories_above, inside

_KIND = "AppProject"
_NOT = "!"
_GLOBAL = b"globalProjects"
"""The entry of `argocd-cm` by which projects permit what others permit, too."""
_OF_NAMESPACES = frozenset({"", "apps", "autoscaling", "batch", GATEWAY_GROUP, "policy", "rbac.authorization.k8s.io"})
"""Groups of whose kinds without a namespace none is unknown."""
_TYPE = "argocd.argoproj.io/secret-type"
"""The label by which Argo CD takes a Secret for a repository or a cluster."""
HERE, LOCAL = "https://kubernetes.default.svc", "in-cluster"
"""The address and the name of the cluster in which an Argo CD runs."""


class Forbidden(NamedTuple):
    """What a project does not permit: in words, and where the Application asks for it."""

    why: str
    place: Provenance


class Scoped(NamedTuple):
    """A Secret of Argo CD that belongs to a project.

    Attributes:
        kind: what it is of, by its label: `repository`, `cluster`.
        project: None where the tree does not say which.
        values: its entries, as far as they can be read.
    """

    kind: str
    project: str | None
    values: Mapping[str, str]


class Projects:
    """The projects of a tree; of one that is not in it, or in it twice, nothing is known, as of `default`."""

    def __init__(self, tree: Tree, kustomizer: Kustomizer, directories: Collection[str], beside: Set[str]) -> None:
        """Read the projects of a tree.

        Args:
            directories: those that Applications deploy.
            beside: the directories in which Applications lie.
        """
        self._tree = tree
        self._cluster_scoped = kustomizer.cluster_scoped
        self._specs: dict[str, Mapping[str, Any] | None] = {}
        self._homes: dict[str, str] = {}
        by_hand: Mapping[str, str] | None = None
        for path, written in live_manifests(tree, lambda body: body.get("kind") == _KIND):
            by_hand = applied(tree) if by_hand is None else by_hand
            for place, manifest in _as_built(path, written, kustomizer):
                above = {path, *directories_above(path), *directories_above(inside(place, ""))}
                is_applied = not (by_hand.keys() | directories).isdisjoint(above) or path.rpartition("/")[0] in beside
                is_another = self._specs.get(manifest.name, manifest.spec) != manifest.spec
                self._homes[manifest.name] = manifest.namespace
                is_open = is_another or not is_applied or manifest.provisional
                self._specs[manifest.name] = None if is_open else manifest.spec

    @cached_property
    def _has_global(self) -> bool:
        return any(_GLOBAL in (self._tree.read(path) or b"") for path in self._tree.files_below(""))

    @cached_property
    def _scoped(self) -> Sequence[Scoped]:
        return list(scoped(self._tree))

    def _scoped_to(self, project: str, kind: str) -> tuple[list[Mapping[str, str]], bool]:
        """Return the repositories or clusters that Secrets give to a project, and whether there may be others: those
        of Secrets whose project or address is not in the tree."""
        given = [each for each in self._scoped if each.kind == kind and each.project in (project, None)]
        known = [each.values for each in given if each.project and _address(each.values)]
        return known, len(known) < len(given)

    def known(self, manifests: Iterable[Manifest]) -> Iterator[Manifest]:
        """Yield the objects, as they are written, of which it is known whether they have a namespace."""
        for manifest in manifests:
            is_of_cluster = (manifest.group, manifest.kind) in self._cluster_scoped
            if is_of_cluster or manifest.namespace or manifest.group in _OF_NAMESPACES:
                yield manifest

    def forbids(
        self, application: Manifest, sources: Iterable[tuple[Any, Provenance]], manifests: Iterable[Manifest]
    ) -> Forbidden | None:
        """Return why Argo CD applies nothing of an Application; None where it may.

        Args:
            manifests: what it surely holds, each in its namespace (see `known`).
        """
        name = text(application.spec.get("project"))
        spec = self._specs.get(name)
        if spec is None or application.provisional:
            return None
        found = self._outside(application, name, spec, sources) or self._object(application, name, spec, manifests)
        return None if found is None or self._has_global else found

    def _outside(
        self, application: Manifest, name: str, spec: Mapping[str, Any], sources: Iterable[tuple[Any, Provenance]]
    ) -> Forbidden | None:
        """Return the namespace, the source or the destination of an Application that its project does not permit."""
        home, own = self._homes[name], application.namespace
        if home and own not in ("", home) and not is_symbolic(own) and not _is_namespace(spec, own):
            why = f"project {name} does not permit Applications of namespace {own} (`sourceNamespaces`)"
            return Forbidden(why, application.origin.at("metadata", "namespace"))
        repositories, others = self._scoped_to(name, "repository")
        permitted = [*texts(spec.get("sourceRepos")), *(each["url"] for each in repositories)]
        for source, place in sources:
            address = text(source.get("repoURL"))
            if address and not others and not is_symbolic(address) and not _permits(permitted, _of_git(address)):
                return Forbidden(f"project {name} does not permit the repository {address}", place.child("repoURL"))
        destination = mapping(application.spec.get("destination"))
        namespace = text(destination.get("namespace"))
        if namespace and not self._is_destination(name, spec, destination, namespace):
            cluster = text(destination.get("name")) or text(destination.get("server"))
            where = namespace if cluster in (HERE, LOCAL) else f"{namespace} on {cluster}"
            place = application.origin.at("spec", "destination", "namespace")
            return Forbidden(f"project {name} does not permit the destination {where}", place)
        return None

    def _object(
        self, application: Manifest, name: str, spec: Mapping[str, Any], manifests: Iterable[Manifest]
    ) -> Forbidden | None:
        """Return the first object of an Application that its project does not permit."""
        destination = mapping(application.spec.get("destination"))
        for manifest in manifests:
            is_of_cluster = (manifest.group, manifest.kind) in self._cluster_scoped
            scope = "cluster" if is_of_cluster else "namespace"
            if not _is_listed(spec, scope, manifest):
                return Forbidden(f"project {name} does not permit {manifest}", manifest.origin.at("kind"))
            if not is_of_cluster and not self._is_destination(name, spec, destination, manifest.namespace):
                place = manifest.origin.at("metadata", "namespace")
                return Forbidden(f"project {name} does not permit the namespace of {manifest}", place)
        return None

    def _is_destination(
        self, project: str, spec: Mapping[str, Any], destination: Mapping[str, Any], namespace: str
    ) -> bool:
        """Return whether a project permits a namespace of a cluster, or may: a cluster has an address and a name, of
        which an Application says one."""
        clusters, others = self._scoped_to(project, "cluster")
        if others:
            return True
        server, name = text(destination.get("server")), text(destination.get("name"))
        if HERE in server or name == LOCAL:
            server, name = HERE, LOCAL
        if is_symbolic(namespace) or is_symbolic(server) or is_symbolic(name):
            return True
        permitted = False
        of_clusters = [
            {"server": cluster["server"], "namespace": inside.strip()}
            for cluster in clusters
            for inside in (cluster.get("namespaces") or "*").split(",")
        ]
        for each in (*map(mapping, sequence(spec.get("destinations"))), *of_clusters):
            stated = [(text(each.get("server")), server), (text(each.get("name")), name)]
            is_there = _is_meant(text(each.get("namespace")), namespace)
            if is_there and any(not value or _is_meant(pattern, value) for pattern, value in stated if pattern):
                permitted = True
                continue
            stated.append((text(each.get("namespace")), namespace))
            if any(pattern.startswith(_NOT) and value and not _is_meant(pattern, value) for pattern, value in stated):
                return False
        return permitted


def _as_built(path: str, written: Manifest, kustomizer: Kustomizer) -> Iterator[tuple[str, Manifest]]:
    """Yield a project as each of the outermost kustomizations makes it that takes its file in, with their directories;
    as it is written where none does."""
    tree = kustomizer.tree
    tops = outermost(path, tree.takers, tree.budget)
    if tops == {path}:
        yield path.rpartition("/")[0], written
        return
    for top in sorted(tops):
        for made in kustomizer.build(top).manifests if tree.is_live(f"{top}/") else ():
            if made.kind == _KIND and made.origin.document is written.origin.document and made.name == written.name:
                yield top, made


def scoped(tree: Tree) -> Iterator[Scoped]:
    """Yield the repositories and clusters whose Secrets name a project.

    Source: argoproj/argo-cd util/db (secretToRepository, SecretToCluster), util/settings (ByProjectRepoIndexer).
    """
    for path in tree.with_secrets:
        data = tree.read(path) or b""
        if _TYPE.encode() not in data or b"project" not in data or not tree.is_live(path):
            continue
        for document in read(data, tree.shown(path)).documents:
            body = mapping(document.value)
            spec, kind = mapping(body.get("spec")), body.get("kind")
            made = {"SealedSecret": spec, "ExternalSecret": mapping(spec.get("target"))}.get(text(kind))
            template = body if made is None else mapping(made.get("template"))
            labels = mapping(mapping(template.get("metadata")).get("labels"))
            values = {key: text(value) for key, value in mapping(template.get("data")).items()}
            if kind == "Secret":
                values = {key: _decoded(value) for key, value in values.items()}
                values.update((key, text(value)) for key, value in mapping(body.get("stringData")).items())
            fetched = {*mapping(spec.get("encryptedData"))}
            fetched.update(text(mapping(each).get("secretKey")) for each in sequence(spec.get("data")))
            project = values.get("project") or ("${project}" if "project" in fetched or spec.get("dataFrom") else "")
            if project:
                name = None if is_symbolic(project) else project
                yield Scoped(text(labels.get(_TYPE)), name, values)


def _decoded(value: str) -> str:
    """Return an entry of `data` as it is meant, one that is no base64 as it is: encrypted, or a placeholder."""
    from base64 import b64decode

    try:
        return b64decode(value, validate=True).decode("utf-8", "replace")
    except ValueError:
        return value


def _address(values: Mapping[str, str]) -> str:
    """Return the address of a repository or cluster, "" where it is not in the tree."""
    address = values.get("url", "") or values.get("server", "")
    return "" if is_symbolic(address) else address


def _is_namespace(spec: Mapping[str, Any], namespace: str) -> bool:
    """Return whether a project permits Applications of a namespace beside its own, or may, by a regular expression.

    Source: argoproj/argo-cd app_project_types.go, IsAppNamespacePermitted.
    """
    stated = texts(spec.get("sourceNamespaces"))
    return any(each.startswith("/") or is_symbolic(each) or glob(each).is_whole(namespace) for each in stated)


def _permits(patterns: Iterable[str], address: str) -> bool:
    """Return whether some patterns match an address of which none denies it."""
    permitted = False
    for pattern in patterns:
        denies = pattern.startswith(_NOT)
        if _is_meant(f"{_NOT * denies}{_of_git(pattern.removeprefix(_NOT))}", address, slashes=False):
            permitted = True
        elif denies:
            return False
    return permitted


def _is_meant(pattern: str, value: str, *, slashes: bool = True) -> bool:
    if pattern.startswith(_NOT):
        return not glob(pattern[1:], braces=True, slashes=slashes).is_whole(value)
    return pattern == "*" or bool(glob(pattern, braces=True, slashes=slashes).is_whole(value))


def _is_listed(spec: Mapping[str, Any], scope: str, manifest: Manifest) -> bool:
    """Return whether the lists of a project permit a kind: a list of kinds of clusters that is not there permits none,
    one of kinds of namespaces all."""
    allowed, denied = (spec.get(f"{scope}Resource{color}list") for color in ("White", "Black"))
    is_meant = partial(_is_of, manifest)
    permitted = any(map(is_meant, sequence(allowed))) or (scope == "namespace" and allowed is None)
    return permitted and not any(map(is_meant, sequence(denied)))


def _is_of(manifest: Manifest, entry: Any) -> bool:
    """Return whether an entry of a list is about an object; of kinds of clusters it may name it (Argo CD 3.3)."""
    stated = mapping(entry)
    pairs = [("group", manifest.group), ("kind", manifest.kind), ("name", manifest.name)]
    return all(
        bool(glob(text(stated.get(field)), slashes=False).is_whole(value))
        for field, value in pairs
        if field != "name" or stated.get(field)
    )


def _of_git(address: str) -> str:
    """Return an address as Argo CD compares it (util/git, NormalizeGitURL)."""
    address = address.strip().lower().removesuffix("/").removesuffix(".git").removeprefix("ssh://")
    return address if "://" in address or "@" not in address else address.replace(":", "/", 1)
