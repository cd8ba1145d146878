"""The objects of one environment, and what may exist there without having been seen."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from policylint.documents import Document, Problem
from policylint.documents.problem import DUPLICATE_KEY
from policylint.model.faults import Fault
from policylint.model.keys import GATEWAY_GROUP, ROUTE_KINDS, ResourceKey, is_symbolic
from policylint.model.kinds import SIBLINGS
from policylint.model.resolution import Resolution
from policylint.model.resource import GUESSED, PUT_OUT, Location, Resource, Written
from policylint.model.unseen import OPERATED, Unseen
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.model.selectors import Labelled

_T = TypeVar("_T")


class Note(NamedTuple):
    """A message of rendering about its own input: the finding of a GWP91x rule, before it is one.

    Args:
        rule: GWP911 (not rendered), GWP912 (unresolved variable), GWP914 (build fails) or GWP915 (patch).
        code: what happened, for fingerprints: `missing-file`, `cycle`, `patch-without-target`…
        message: one sentence for users.
        location: where its cause is written.
        help: lines such as `note: …`.
    """

    rule: str
    code: str
    message: str
    location: Location
    help: tuple[str, ...] = ()


_SHORT = 3
"""Names of so few letters are all near each other."""
_KEY = attrgetter("key")
_LABELS: Callable[[Resource], Mapping[str, Any]] = attrgetter("labels")
UNCOMMITTED = frozenset({("", "Secret"), ("", "ConfigMap"), ("certificates.k8s.io", "ClusterTrustBundle")})
"""Kinds that trees leave out without saying so: secrets, and what controllers fill in (CA bundles)."""
LEFT_OUT = "nothing in the tree deploys it, and few trees hold such objects"
"""The reason why an object of such a kind is unknown instead of missing."""

DEFAULT_NAMESPACE = "default"

PARENTS = frozenset(
    {
        ("", "Service"),
        (GATEWAY_GROUP, "Gateway"),
        (GATEWAY_GROUP, "ListenerSet"),
        ("gateway.networking.x-k8s.io", "XListenerSet"),
    }
)
"""Kinds of parents that routes of one repository share with others."""


_INHABITING = (
    *((GATEWAY_GROUP, kind) for kind in ("Gateway", "ListenerSet", *ROUTE_KINDS)),
    *(kind for kind in sorted(OPERATED) if kind[1] not in ("ConfigMap", "Secret", "ServiceAccount")),
)
"""Kinds (group, kind) of which an object shows that its namespace is at home in this tree."""


_OF_VALUES = frozenset({GUESSED, PUT_OUT})
"""What is read off the values of a chart: objects that are written count before it."""
_ABSENT = frozenset({"missing-file", "missing-path"})
"""Codes of notes on what is deployed and is not in the tree."""


_REPEATED = frozenset({("", kind) for kind in ("ConfigMap", "Namespace", "Secret", "ServiceAccount")})
"""Kinds that files repeat which are applied together."""


class _Deployed(NamedTuple):
    """The places of objects that are deployed."""

    namespaces: frozenset[str]
    names: frozenset[str]


class World:
    """One environment: every object in it by identity, and what may exist unseen.

    Args:
        name: the environment's name; `default` when there is only one.
        resources: in the order in which they would be applied; of two with one identity the later one counts.
        unseen: generators whose output was not seen.
        assumed: objects that the user says exist elsewhere.
        problems: what the reader reported about files and documents (unreadable, duplicate keys…).
        cluster_scoped: kinds (group, kind) that CRDs of the input declare cluster-scoped.
        movable: whether kustomizations that were not rendered may give the objects another namespace.
        not_rendered: sentences on what was not seen, for the coverage line.
        orphans: objects in files that nothing deploys here, by the identity they would have.
        roots: directories, as shown, at which another deployment could begin, and which no environment of the tree has.
        notes: what rendering reported: GWP911, GWP912.
        partial: whether this comes from a tree, which leaves out what nobody commits (docs/design/field-notes.md §1).
        stopping: files, as shown, that cannot be read and without which a deployment fails → what that takes away.
        plain: whether the objects stand in plain files, and nothing says that these are deployed together.
        alternative_of: of one of several alternatives among plain files, what they have in common; "" for none.
        languages: other languages in which files of the tree may describe objects.
        entries: where its deployments begin, each with the files and directories that it deploys; none for plain files.
        faults: errors of our own that left something undone; worlds derived from one another share the list.
    """

    def __init__(
        self,
        name: str,
        resources: Iterable[Resource],
        *,
        unseen: Unseen | None = None,
        assumed: Container[ResourceKey] = (),
        problems: Iterable[Problem] = (),
        cluster_scoped: Iterable[tuple[str, str]] = (),
        movable: bool = False,
        not_rendered: Iterable[str] = (),
        orphans: Mapping[ResourceKey, Resource] | None = None,
        roots: Iterable[str] = (),
        notes: Iterable[Note] = (),
        partial: bool = False,
        stopping: Mapping[str, tuple[str, ...]] | None = None,
        plain: bool = False,
        alternative_of: str = "",
        languages: Iterable[str] = (),
        entries: Mapping[str, Collection[str]] | None = None,
        faults: Iterable[Fault] = (),
    ) -> None:
        self.name = name
        self.plain = plain
        self.alternative_of = alternative_of
        self.languages = tuple(languages)
        self.entries: Mapping[str, Collection[str]] = entries or {}
        self.stopping: Mapping[str, tuple[str, ...]] = stopping or {}
        self.partial = partial
        self.orphans: Mapping[ResourceKey, Resource] = orphans or {}
        self.roots = tuple(roots)
        self.notes = tuple(notes)
        self.movable = movable
        self.not_rendered = tuple(not_rendered)
        self.cluster_scoped = frozenset(cluster_scoped)
        self.problems = tuple(problems)
        self.unseen = Unseen() if unseen is None else unseen
        self.assumed = assumed
        self.set_aside: Mapping[ResourceKey, str] = {}
        self.absent: frozenset[ResourceKey] = frozenset()
        self.faults = list(faults)
        self.definitions: Callable[[str, str], Sequence[Document]] = lambda group, kind: ()  # noqa: ARG005
        """The CRDs of the tree that define a kind, deployed here or not; the workspace fills it in."""
        self.is_deployed: Callable[[Written], bool] = lambda document: True  # noqa: ARG005
        """Whether the file of a document is among what is deployed here; the workspace fills it in."""
        self.are_together: Callable[[str, str], bool] = lambda file, other: True  # noqa: ARG005
        """Whether plain files may well be for one cluster, where nothing says what is; the workspace fills it in."""
        self.by_deployer = False
        """Whether Flux, Argo CD or the configuration alone say what is deployed here; the workspace fills it in."""
        self.templated: Callable[[ResourceKey], str] = lambda key: ""  # noqa: ARG005
        """Why a template that nobody rendered may make an object, "" if none does; the workspace fills it in."""
        self.pods_elsewhere: Callable[[Mapping[str, Any], str], str] = lambda selector, namespace: ""  # noqa: ARG005
        """Why pods that a selector means may be in a namespace unseen, "" if none may; the workspace fills it in."""
        self.apart: Callable[[Iterable[ResourceKey], bool | None, Location | None], str] = lambda *asked: ""  # noqa: ARG005
        """Why some objects do not stand together, or as they are written, "" if they may; the workspace fills it in."""
        self.beside: Callable[[str, str], Sequence[Resource]] = lambda group, kind: ()  # noqa: ARG005
        """The objects of a kind that the alternatives to this one have; the workspace fills it in."""
        self.unread: Callable[[ResourceKey], str] = lambda key: ""  # noqa: ARG005
        """Why a document that nobody parsed may be an object, "" if none may; the workspace fills it in."""
        self.network: Mapping[str, Any] = {}
        """What the configuration says of the network (`network`); the workspace fills it in."""
        self.lines: Callable[[str], list[str]] = lambda file: []  # noqa: ARG005
        """The lines of a file, for what the data no longer tells (quotes); the workspace fills it in."""
        self.resources: dict[ResourceKey, Resource] = {}
        self.duplicates: list[tuple[Resource, Resource]] = []
        """Pairs (earlier, later) with one identity in this environment."""
        for resource in resources:
            earlier = self.resources.get(resource.key)
            if earlier is not None and resource.provisional in _OF_VALUES:
                continue
            self.resources.pop(resource.key, None)
            is_written = earlier is not None and earlier.provisional not in _OF_VALUES
            if earlier is not None and is_written and not resource.key.unplaced and not is_symbolic(resource.key.path):
                self.duplicates.append((earlier, resource))
            self.resources[resource.key] = resource
        self._names = {(key.group, key.kind, key.name): key for key in self.resources} if movable else {}
        self._places: dict[tuple[str, ...], _Deployed] = {}
        self._kinds = _by_kind(self.resources.values())
        self._labelled: dict[tuple[str, str, str | None], Labelled[Resource]] = {}
        self._near: dict[tuple[str, str, str], frozenset[str]] = {}
        self._answers: dict[Callable[[World], Any], Any] = {}

    def once(self, compute: Callable[[World], _T]) -> _T:
        """Return `compute(self)`, computed once: what everybody asks who looks at this world. Nobody may change it."""
        if compute not in self._answers:
            self._answers[compute] = compute(self)
        answer: _T = self._answers[compute]
        return answer

    def give_back(self) -> None:
        """Drop the answers of `once`, and what objects were looked up by."""
        self._labelled, self._places, self._near, self._answers = {}, {}, {}, {}

    def with_resources(self, changed: Mapping[ResourceKey, Resource]) -> World:
        """Return the same world with other states of some of its objects, or with more of them."""
        return self._holding({**self.resources, **changed})

    def without(self, key: ResourceKey) -> World:
        """Return the same world without one object, as if it were deleted."""
        return self._holding({other: resource for other, resource in self.resources.items() if other != key})

    def setting_aside(
        self, keys: Container[ResourceKey], reason: str = "an internal error kept it from being looked at"
    ) -> World:
        """Return the same world without some objects: references to them are unknown, for a reason."""
        world = self._holding({key: resource for key, resource in self.resources.items() if key not in keys})
        world.set_aside = {**self.set_aside, **{key: reason for key in self.resources if key in keys}}
        return world

    def lacking(self, keys: Collection[ResourceKey]) -> World:
        """Return the same world, known to lack some objects that would otherwise come from elsewhere."""
        world = self._holding(dict(self.resources))
        world.absent = frozenset(keys)
        return world

    def doubting(self, doubts: Mapping[ResourceKey, str]) -> World:
        """Return the same world, in which it is not known whether some objects are there, each for a reason."""
        world = self._holding(dict(self.resources))
        world.set_aside = {**self.set_aside, **doubts}
        return world

    def note(self, fault: Fault) -> None:
        """Take down an error of our own, once."""
        if str(fault) not in map(str, self.faults):
            self.faults.append(fault)

    def _holding(self, resources: dict[ResourceKey, Resource]) -> World:
        world = copy(self)
        world.resources, world._kinds = resources, _by_kind(resources.values())
        world.give_back()
        vars(world).pop("files", None)
        return world

    @cached_property
    def files(self) -> frozenset[str]:
        """The files, as shown, in which the objects are written."""
        return frozenset(resource.document.file for resource in self.resources.values())

    def get(self, key: ResourceKey) -> Resource | None:
        """Return the object of an identity, None if it is not there."""
        return self.resources.get(key)

    def of_kind(self, group: str, kind: str) -> list[Resource]:
        """Return all objects of a kind, sorted by namespace and name."""
        return self._kinds.get((group, kind), [])

    def kinds(self) -> list[tuple[str, str]]:
        """Return every (group, kind) that has an object, sorted."""
        return sorted(self._kinds)

    def in_namespace(self, group: str, kind: str, namespace: str) -> list[Resource]:
        """Return all objects of a kind in a namespace, sorted by name."""
        resources = self.of_kind(group, kind)
        first = bisect_left(resources, (group, kind, namespace), key=_KEY)
        return resources[first : bisect_left(resources, (group, kind, f"{namespace}\0"), first, key=_KEY)]

    def selected(
        self, group: str, kind: str, selector: Mapping[str, Any], namespace: str | None = None
    ) -> tuple[Resource, ...]:
        """Return the objects of a kind that a LabelSelector selects, sorted; without a namespace those of all."""
        place = (group, kind, namespace)
        labelled = self._labelled.get(place)
        if labelled is None:
            from policylint.model.selectors import Labelled

            resources = self.of_kind(group, kind) if namespace is None else self.in_namespace(group, kind, namespace)
            labelled = self._labelled[place] = Labelled(resources, _LABELS)
        return labelled.matching(selector)

    def namespace_labels(self, namespace: str) -> Mapping[str, Any] | None:
        """Return the labels of a Namespace, None (unknown) when no Namespace object is there.

        Every namespace carries `kubernetes.io/metadata.name`, which the API server sets.
        """
        resource = self.get(ResourceKey("", "Namespace", "", namespace))
        return None if resource is None else {"kubernetes.io/metadata.name": namespace, **resource.labels}

    def resolve(self, key: ResourceKey) -> Resolution:
        """Look an object up: found, missing or unknown, with the reason.

        Source: docs/design/architecture.md §3; docs/design/field-notes.md §1, need 1.
        """
        resource = self.resources.get(key)
        if resource is not None:
            return Resolution("found", resource=resource)
        if key in self.set_aside:
            return Resolution("unknown", self.set_aside[key])
        if key in self.assumed:
            return Resolution("found", "assumed by the configuration")
        if is_symbolic(key.name) or is_symbolic(key.namespace) or is_symbolic(key.kind):
            return Resolution("unknown", "the reference holds a variable that nothing in the tree fills in")
        if key.unplaced:
            return Resolution("unknown", "its namespace is set by a kustomization that was not rendered")
        elsewhere = self._names.get((key.group, key.kind, key.name))
        if elsewhere is not None:
            return Resolution("unknown", f"{elsewhere} exists, and a kustomization may set its namespace")
        if key in self.absent:
            return Resolution("missing", "the change takes it away")
        if key[:2] in self.unseen.complete:
            return Resolution(
                "missing", f"nothing deploys {key}, and the configuration says that all of these are here"
            )
        reason = self.unseen.reason(key)
        if reason and not (self.unseen.is_operated(key) and self.is_misspelt(key)):
            return Resolution("unknown", reason)
        if self.plain and key in self.orphans:
            return Resolution("unknown", f"{self.orphans[key].document.file} has it, which is an alternative to these")
        if (key.group, key.kind) == (GATEWAY_GROUP, "GatewayClass") and not self.of_kind(GATEWAY_GROUP, "GatewayClass"):
            return Resolution("unknown", "no GatewayClass is in the tree, so classes come from elsewhere")
        if self.partial and (key.group, key.kind) in UNCOMMITTED and not self.is_misspelt(key):
            return Resolution("unknown", LEFT_OUT)
        reason = self._by_hand(key) if self.plain or (self.partial and not self.by_deployer) else ""
        reason = reason or self.unread(key)
        if not reason:
            reason = self.templated(key)
            reason = "" if reason and self.is_misspelt(key) else reason
        return Resolution("unknown", reason) if reason else Resolution("missing", f"nothing deploys {key}")

    def is_loose(self, resource: Resource) -> bool:
        """Return whether nothing says that the file of an object is applied: it is in a plain directory."""
        return self.plain or not self.is_deployed(resource.document)

    def is_deployed_with(self, document: Written, resource: Resource) -> bool:
        """Return whether a document is deployed with an object, or, among plain files, may well be."""
        return self.is_deployed(document) and self.are_together(document.file, resource.document.file)

    def lands_anywhere(self, resource: Resource) -> bool:
        """Return whether nothing tells in which namespace an object lands: a plain file names none, and no workload
        beside it shows in which others land (`kubectl apply -n`)."""
        if not (self.partial and "namespace" not in resource.metadata and self.is_loose(resource)):
            return False
        return resource.document.file.rpartition("/")[0] not in self._directories_of_workloads

    @cached_property
    def _directories_of_workloads(self) -> frozenset[str]:
        """The directories with a workload of `default`."""
        return frozenset(
            resource.document.file.rpartition("/")[0]
            for kind in _INHABITING
            for resource in self.in_namespace(*kind, DEFAULT_NAMESPACE)
        )

    @cached_property
    def rivals(self) -> frozenset[frozenset[str]]:
        """The pairs of plain files of which each holds an object of the other, as it is or otherwise: variants."""
        return frozenset(
            frozenset((earlier.document.file, later.document.file))
            for earlier, later in self.duplicates
            if self.partial
            and earlier.document.file != later.document.file
            and later.key[:2] not in _REPEATED
            and (self.is_loose(earlier) or self.is_loose(later))
        )

    @cached_property
    def rewritten(self) -> dict[ResourceKey, str]:
        """The objects that two files of a tree write differently, of which nothing says that both are applied, and why
        either may be meant: the steps of a tutorial, an old one beside a new one."""
        return {
            later.key: f"{earlier.document.file} writes it, too, and nothing says that both files are applied"
            for earlier, later in self.duplicates
            if self.partial
            and earlier.document.file != later.document.file
            and earlier.body != later.body
            and (self.is_loose(earlier) or self.is_loose(later))
        }

    def _by_hand(self, key: ResourceKey) -> str:
        """Return why what is missing in a namespace may be there all the same, "" where nothing explains that.

        An object that names no namespace lands in the one that is named when its file, or a kustomization that no
        deployer names, is applied (`kubectl apply -n`); `default` is where it lands otherwise.
        """
        twin = self.resources.get(key._replace(namespace=DEFAULT_NAMESPACE)) if key.namespace else None
        if twin is not None and "namespace" not in twin.metadata:
            return (
                f"{twin.key.kind} {twin.key.name} in {twin.document.file} names no namespace and may be applied to any"
            )
        if key.namespace != DEFAULT_NAMESPACE or self.once(_names_default):
            return ""
        other = next((each.key for each in self.of_kind(key.group, key.kind) if each.key.name == key.name), None)
        return "" if other is None else f"{other} exists, and what names no namespace may be applied to any"

    def resolve_outer(self, key: ResourceKey) -> Resolution:
        """Resolve what routes and policies name: a tree may leave it to another repository (`elsewhere`)."""
        resolution = self.resolve(key)
        reason = self.elsewhere(key) if resolution.missing and self.partial else ""
        return Resolution("unknown", reason) if reason else resolution

    def resolve_inner(self, key: ResourceKey) -> Resolution:
        """Resolve what the body of a policy or Gateway names: extensions, parameters, backends.

        A tree that shows nothing of that kind in that namespace leaves it to another repository, or to the chart of the
        controller (docs/design/field-notes.md §1, need 1), unless it shows what was meant (`is_near`).
        """
        resolution = self.resolve(key)
        if (
            resolution.missing
            and self.partial
            and key[:2] not in self.unseen.complete
            and not self.in_namespace(key.group, key.kind, key.namespace)
            and not self.is_near(key)
        ):
            where = f" of namespace {key.namespace}" if key.namespace else ""
            return Resolution("unknown", f"no {key.kind}{where} is in the tree, so they come from elsewhere")
        return resolution

    def resolve_parent(self, key: ResourceKey) -> Resolution:
        """Resolve what a route or ListenerSet hangs on: a Gateway, a ListenerSet, a Service.

        Applications name Gateways of another repository as a rule, so one that is not in the tree is unknown unless its
        place is here (`elsewhere`). Other kinds (Istio's ServiceEntry) are resolved as anything else.
        """
        resolution = self.resolve(key)
        reason = self.elsewhere(key) if resolution.missing and key[:2] in PARENTS else ""
        return Resolution("unknown", reason) if reason else resolution

    def elsewhere(self, key: ResourceKey) -> str:
        """Return why a missing object probably comes from outside this tree, "" when its place is here.

        A tree without any object of a Gateway API kind, or without anything in a namespace, leaves them to another
        repository, and so does one without any Service (or the like) in a namespace
        (docs/design/field-notes.md §1, need 1).
        """
        if key in self.absent or (key.group and self.orphan(key) is not None) or self.siblings(key):
            return ""
        if key[:2] in self.unseen.complete:
            return ""
        if key.group == GATEWAY_GROUP:
            if not self.of_kind(key.group, key.kind):
                return f"no {key.kind} is in the tree, so they come from elsewhere"
            if not key.namespace or key.name in self._deployed(*key[:2]).names or self._is_inhabited(key.namespace):
                foreign = key.namespace and not self.deploys(key.namespace)
                return f"nothing in the tree deploys namespace {key.namespace}" if foreign else ""
            return f"nothing that takes part in requests is in namespace {key.namespace}, so it comes from elsewhere"
        placed = self._deployed(key.group, key.kind)
        if key.namespace in placed.namespaces or key.name in placed.names:
            return ""
        place = f" of namespace {key.namespace}" if key.namespace else ""
        return f"no {key.kind}{place} is in the tree, so they come from elsewhere"

    def doubt(self, key: ResourceKey) -> str:
        """Return why a missing object may come from outside this tree all the same; "" where it would be here.

        It would where all that is here was read, and its namespace comes from here: the tree has others of the kind
        there, or the Namespace and something that takes part in requests.
        """
        if key[:2] in self.unseen.complete:
            return ""
        unread = next((problem.file for problem in self.problems if problem.code != DUPLICATE_KEY), "")
        if unread:
            return f"{unread} cannot be read, and may have it"
        absent = next((note for note in self.notes if note.code in _ABSENT), None)
        if absent is not None:
            return f"{absent.message}, and may have it"
        if self.languages:
            return f"{self.languages[0]} files are not evaluated, and may make it"
        is_deployed = self.get(ResourceKey("", "Namespace", "", key.namespace)) is not None
        if key.namespace and (self.in_namespace(*key[:3]) or (is_deployed and self._takes_part(key.namespace))):
            return ""
        return "no file has anything like it, and another repository may"

    def is_misspelt(self, key: ResourceKey) -> bool:
        """Return whether a name is one edit away from that of an object of its kind in its namespace.

        Digits are no edits: names with numbers are made to differ in them.
        """
        place = key[:3]
        if place not in self._near:
            names = (resource.key.name for resource in self.in_namespace(*place))
            self._near[place] = frozenset(shorter for name in names for shorter in _shortened(name))
        return len(key.name) > _SHORT and not self._near[place].isdisjoint(_shortened(key.name))

    def is_near(self, key: ResourceKey) -> bool:
        """Return whether the tree shows what a reference to something missing meant: what the change takes away, what
        stands in a file that nothing deploys, an object of that name in another namespace, or of a sibling kind."""
        if key in self.absent or self.orphan(key) is not None:
            return True
        if key.name in self._deployed(*key[:2]).names:
            return True
        return bool(self.siblings(key))

    def siblings(self, key: ResourceKey) -> list[ResourceKey]:
        """Return the objects of that name in that namespace whose kinds are written where this one is meant."""
        kinds = next((group for group in SIBLINGS if key[:2] in group), ())
        keys = (ResourceKey(*kind, key.namespace, key.name) for kind in kinds)
        return [each for each in keys if each != key and each in self.resources]

    def deploys(self, namespace: str) -> bool:
        """Return whether anything is deployed to a namespace, or the Namespace itself is."""
        return namespace in self._deployed().namespaces

    def _is_inhabited(self, namespace: str) -> bool:
        """Return whether a namespace, or what requests come through, is here: policies alone may belong elsewhere."""
        if self.get(ResourceKey("", "Namespace", "", namespace)) is not None:
            return True
        return self._takes_part(namespace)

    def _takes_part(self, namespace: str) -> bool:
        """Return whether a namespace has anything that requests pass through or come to."""
        return any(self.in_namespace(*kind, namespace) for kind in _INHABITING)

    def orphan(self, key: ResourceKey) -> Resource | None:
        """Return the object that is meant, by name and (if it has one) namespace, in a file that nothing deploys."""
        if key in self.orphans:
            return self.orphans[key]
        meant = self._unplaced_orphans.get((*key[:2], key.name))
        return None if meant is None else self.orphans[meant]

    @cached_property
    def _unplaced_orphans(self) -> dict[tuple[str, str, str], ResourceKey]:
        """The first of the orphans without a namespace, by group, kind and name."""
        unplaced = sorted((other for other in self.orphans if other.unplaced), reverse=True)
        return {(*other[:2], other.name): other for other in unplaced}

    def _deployed(self, *kind: str) -> _Deployed:
        """Return the namespaces and names of the objects of a kind; without one, the namespaces of all objects."""
        if kind not in self._places:
            keys = [resource.key for resource in self.of_kind(*kind)] if kind else list(self.resources)
            namespaces = {key.namespace for key in keys}
            if not kind:
                namespaces |= {resource.key.name for resource in self.of_kind("", "Namespace")}
            names = {key.name for key in keys if not key.unplaced} if kind else ()
            self._places[kind] = _Deployed(frozenset(namespaces), frozenset(names))
        return self._places[kind]


def _names_default(world: World) -> bool:
    """Return whether an object says that it lands in namespace default."""
    return any(resource.metadata.get("namespace") == DEFAULT_NAMESPACE for resource in world.resources.values())


def _shortened(name: str) -> Iterator[str]:
    """Yield a name, and what it is without each of its letters: names one edit apart share one of these."""
    yield name
    for place, letter in enumerate(name):
        if not letter.isdigit():
            yield name[:place] + name[place + 1 :]


def _by_kind(resources: Iterable[Resource]) -> dict[tuple[str, str], list[Resource]]:
    """Return objects by kind, sorted; within a kind files nearly always have them in order."""
    by_kind: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for resource in resources:
        by_kind[resource.key[:2]].append(resource)
    return {kind: sorted(by_kind[kind], key=_KEY) for kind in sorted(by_kind)}


__all__ = ["LEFT_OUT", "ROUTE_KINDS", "Note", "Unseen", "World"]
