"""The catalog: every policy kind that policylint knows, from its own files, the user's configuration and CRDs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any

from policylint.catalog.shipped_file import ControllerSetting, Phase, ShippedFile, as_written
from policylint.model.faults import NOT_OURS, Fault, fault_of
from policylint.model.keys import GATEWAY_GROUP
from policylint.model.kinds import MESHES, of_foreign
from policylint.model.policy_kind import PolicyKind, policy_kind
from policylint.model.resource import Resource, integer, mapping, sequence, text
from policylint.model.shipped import shipped, shipped_files
from policylint.namedtuple import NamedTuple

CORE = "gateway-api"
"""The implementation of Gateway API's own kinds; it stands for controllers that nobody knows, too."""

Key = tuple[str, str]

CONFIGURED = "configuration"
"""The implementation of a configured kind that names none."""


class CatalogError(ValueError):
    """A configured kind that schemas/policy-kind.json does not allow; the message says where and why."""


class Limits(NamedTuple):
    """What of routes an implementation does not serve.

    Args:
        filters: those that it supports; none where that is not known.
        alike: the prefix of the annotations in which the Services of one rule must be alike; "" for none.
        unsupported: the status of requests for a rule with another filter.
    """

    filters: frozenset[str] = frozenset()
    alike: str = ""
    unsupported: int = 500


class Catalog:
    """The policy kinds by group and kind. Shipped files are parsed when a question needs them, not before.

    Args:
        files: the shipped files.
        configured: kinds of the user's configuration; they win over everything else.
        derived: kinds that CRDs of the input declare; they win over nothing but the `*` entry of their group.
        groups: what `kinds()` is limited to; None for all.
        settings: the user's settings of controllers, by implementation.
        releases: the releases in use, by product, where they are known: `{"envoy-gateway": (1, 9)}`.
        told: what in the tree names such a release, by product; the others are stated.
        contradicted: what in the tree names another release than the one that is stated, by product.
        other_releases: the newest that the tree names of products by whose releases nothing is judged: of several, of
            one that is older than all that are known (by the oldest of which objects are judged then), or of those
            that the chart of another product brings.
        configured_in_tree: settings of controllers, as the tree states them; those of the user win.
    """

    def __init__(
        self,
        files: Iterable[ShippedFile],
        configured: Mapping[Key, PolicyKind],
        derived: Mapping[Key, PolicyKind],
        groups: Collection[str] | None,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        releases: Mapping[str, tuple[int, ...]] | None = None,
        told: Mapping[str, str] | None = None,
        configured_in_tree: Mapping[str, Mapping[str, Any]] | None = None,
        contradicted: Mapping[str, str] | None = None,
        other_releases: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.releases = releases or {}
        self.other_releases = other_releases or {}
        self.told = told or {}
        self.contradicted = contradicted or {}
        self._configured_in_tree = configured_in_tree or {}
        self._settings = settings or {}
        self._files = tuple(files)
        self._by_name = {file.implementation: file for file in self._files}
        self._configured = configured
        self._derived = derived
        self._groups = None if groups is None else frozenset(groups)
        self._kinds: tuple[PolicyKind, ...] | None = None
        self._by_controller: dict[str, str | None] = {}
        self._enrolling: Mapping[str, str] | None = None
        self._domains: frozenset[str] | None = None
        self._by_annotation: dict[str, tuple[PolicyKind, ...]] = {}
        self._settled: dict[str, Mapping[str, Any]] = {}
        self._backends: dict[str, frozenset[tuple[str, str]]] = {}
        self._limits: dict[str, Limits] = {}

    def of_releases(
        self,
        releases: Mapping[str, tuple[int, ...]],
        settings: Mapping[str, Mapping[str, Any]],
        told: Mapping[str, str] | None = None,
        contradicted: Mapping[str, str] | None = None,
        other_releases: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Catalog:
        """Return the same catalog where these releases are in use.

        Args:
            settings: of controllers, as the tree states them; those of the user win.
            told: what in the tree names a release, by product; the others are stated.
            contradicted: what in the tree names another release than the one that is stated, by product.
            other_releases: the newest that the tree names of other products.
        """
        own = (self._files, self._configured, self._derived, self._groups, self._settings)
        return Catalog(*own, releases, told, settings, contradicted, other_releases)

    def is_as_released(self, other: Catalog) -> bool:
        """Tell whether the same releases are in use for another catalog, with the same settings of controllers."""
        return (self.releases, self._configured_in_tree) == (other.releases, other._configured_in_tree)

    def get(self, group: str, kind: str) -> PolicyKind | None:
        """Return what is known of a kind: from configuration, else catalog, else CRD, else its group's `*` entry.

        A `*` entry stands for kinds of which nothing else is known, with their kind filled in.
        """
        known = (
            self._configured.get((group, kind)) or self._shipped(group).get(kind) or self._derived.get((group, kind))
        )
        if known is not None:
            return known
        fallback = self.fallback(group)
        return None if fallback is None else fallback._replace(kind=kind)

    def describes(self, group: str, kind: str) -> bool:
        """Return whether the kind has an entry of its own, in the configuration or in the catalog."""
        return (group, kind) in self._configured or kind in self._shipped(group)

    def is_unstated(self, group: str, kind: str) -> bool:
        """Return whether nothing is said of a kind itself: it is unknown, or of a group that one entry stands for."""
        known, of_group = self.get(group, kind), self.fallback(group)
        return known is None or (of_group is not None and known == of_group._replace(kind=kind))

    def fallback(self, group: str) -> PolicyKind | None:
        """Return the `*` entry of a group."""
        return self._configured.get((group, "*")) or self._shipped(group).get("*")

    def owner(self, group: str) -> str:
        """Return the implementation that ships the kinds of a group, "" where none does."""
        return next((kind.implementation for kind in self._shipped(group).values()), "")

    def policies(self, kind: PolicyKind, objects: Sequence[Resource]) -> Sequence[Resource]:
        """Return which objects of a kind are policies: where only their shape tells of the kind, those that have it.

        Others of the kind are not read as a rule (`load.facts`), so that nothing may hang on where they stand.
        """
        if kind.origin != "shape":
            return objects
        from policylint.catalog.shaped_kind import names_targets

        return [each for each in objects if names_targets(each)]

    def kinds(self) -> list[PolicyKind]:
        """Return every kind (of the chosen groups), `*` entries included, by implementation, group and name."""
        if self._kinds is None:
            known: dict[Key, PolicyKind] = dict(self._derived)
            written = None if self._groups is None else {as_written(group) for group in self._groups}
            for file in self._files:
                if written is None or not written.isdisjoint(file.groups()):
                    known.update(((kind.group, kind.kind), kind) for kind in file.kinds())
            known.update(self._configured)
            listed = (kind for kind in known.values() if self._groups is None or kind.group in self._groups)
            self._kinds = tuple(sorted(listed, key=lambda kind: (kind.implementation, kind.group, kind.kind)))
        return list(self._kinds)

    def of_all_groups(self) -> list[PolicyKind]:
        """Return every kind, of groups that were not chosen, too; all files are parsed."""
        return [kind for file in self._files for kind in file.kinds()] + list(self._configured.values())

    def named(self, name: str) -> list[PolicyKind]:
        """Return the kinds of the catalog with a name in lower case, whatever their group; no other file is parsed."""
        return [kind for file in self._files if file.names(name) for kind in file.kinds() if kind.kind.lower() == name]

    def implementation_of_controller(self, controller_name: str) -> str | None:
        """Return the implementation whose GatewayClasses have this spec.controllerName, None if unknown."""
        if controller_name not in self._by_controller:
            domain = controller_name.partition("/")[0].encode()
            files = (file for file in self._files if domain in file.data)
            patterns = ((file.implementation, pattern) for file in files for pattern in file.texts("controllers"))
            answering = (name for name, pattern in patterns if fnmatchcase(controller_name, pattern))
            self._by_controller[controller_name] = next(answering, None)
        return self._by_controller[controller_name]

    def controllers(self) -> list[str]:
        """Return the names that controllers have unless they are configured otherwise, sorted."""
        return sorted({name for file in self._files for name in file.texts("controllers") if "*" not in name})

    def controller(self, implementation: str) -> str:
        """Return a name of a controller of an implementation, or of one that reads its policies; "" for none."""
        own = self._of(implementation)
        groups = {group.decode() for file in own for group in file.groups()}
        reading = (file for file in self._files if not groups.isdisjoint(file.texts("serves")))
        return next(
            (name.replace("*", "gateway") for file in (*own, *reading) for name in file.texts("controllers")), ""
        )

    @property
    def meshes(self) -> frozenset[str]:
        """The implementations of which Namespaces and pods may become part; their files need not be parsed for that."""
        return frozenset(file.implementation for file in self._files if file.has(b"\nenrols:"))

    def meshes_told(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the meshes that labels, annotations and kinds (`group/kind`) speak of; files without any of these words
        stay unparsed."""
        words = [(name, name.encode()) for name in names]
        for file in self._files:
            if file.has(b"\nenrols:") and any(word in file.data for _, word in words):
                enrolling = set(file.texts("enrols"))
                yield from (file.implementation for name, _ in words if name in enrolling)

    def enrolling(self) -> Mapping[str, str]:
        """Return the meshes by the labels and annotations with which Namespaces and pods become part of them.

        The kinds that their proxies alone read (`group/kind`) are among these.
        """
        if self._enrolling is None:
            files = (file for file in self._files if b"\nenrols:" in file.data)
            self._enrolling = {name: file.implementation for file in files for name in file.texts("enrols")}
        return self._enrolling

    def implementation_of_class(self, class_name: str) -> str | None:
        """Return the implementation that makes a GatewayClass of this name by itself, None if none does."""
        return _making(self._files, class_name)

    def may_be_read(self, annotation: str) -> bool:
        """Return whether a controller that policylint knows may read an annotation: its name lies in their domains."""
        if self._domains is None:
            groups = (group.decode().split(".")[-2:] for file in self._files for group in file.groups())
            self._domains = frozenset(".".join(group) for group in groups) - {"k8s.io"}
        return ".".join(annotation.partition("/")[0].split(".")[-2:]) in self._domains

    def bound_by(self, annotation: str) -> tuple[PolicyKind, ...]:
        """Return the kinds of which an annotation of this name names objects, in the order in which they are tried."""
        if annotation not in self._by_annotation:
            files = (file for file in self._files if annotation.encode() in file.data)
            listed = [*self._configured.values(), *(kind for file in files for kind in file.kinds())]
            self._by_annotation[annotation] = tuple(kind for kind in listed if kind.annotation == annotation)
        return self._by_annotation[annotation]

    def serves(self, implementation: str, group: str) -> bool:
        """Return whether an implementation acts on policies of a group.

        These are its own, Gateway API's, and those that its file names. Where the group belongs to nobody that
        policylint knows (a kind from a CRD), nothing speaks against it.
        """
        if group == GATEWAY_GROUP or not self.knows_group(group):
            return True
        return all(file.mentions(group) or group in file.texts("serves") for file in self._of(implementation))

    def reads(self, implementation: str | None, kind: PolicyKind) -> bool:
        """Return whether an implementation acts on policies of a kind: its own, or one that it serves as well.

        Of an implementation that nobody knows (None), and of a kind of which only a CRD tells, nothing is claimed. The
        proxies inside a mesh ("") read none of those who serve Gateways alone.
        """
        if implementation in (None, kind.implementation) or kind.origin != "catalog":
            return True
        if not implementation:
            serving = any(file.texts("controllers") for file in self._of(kind.implementation))
            return not serving or kind.implementation in MESHES
        if kind.implementation != CORE:
            return self.serves(implementation, kind.group)
        name = f"{kind.kind}.{kind.group}"
        return implementation is None or all(name not in file.texts("ignores") for file in self._of(implementation))

    def may_not_read(self, implementation: str | None, kind: PolicyKind) -> bool:
        """Return whether it is not known who reads policies of a kind, since an implementation is not (None).

        Gateway API's own kinds are everybody's, those of a mesh are read by its proxies, and guards by their door.
        """
        return implementation is None and kind.origin == "catalog" and kind.implementation not in (CORE, *MESHES)

    def order(self, implementation: str) -> tuple[Phase, ...]:
        """Return the settings of an implementation's policies in the order in which they act; empty where unknown."""
        return next((file.order() for file in self._of(implementation)), ())

    def shares_hostnames(self, controller_name: str, class_name: str) -> bool:
        """Return whether HTTPRoutes and GRPCRoutes with one hostname on a listener are both accepted.

        By default only one of them is, as the specification has it. Where the class is not there, `controller_name` is
        "", and controllers that make their own class are known by its name all the same.
        """
        implementation = self._serving(controller_name, class_name)
        return implementation is not None and self._says(implementation, b"\nsharesHostnames: true\n")

    def own_protocols(self, controller_name: str, class_name: str, protocol: str) -> Sequence[str] | None:
        """Return the kinds of routes that a protocol takes which is none of Gateway API's; None where it is not served.

        Names as above.
        """
        implementation = self._serving(controller_name, class_name)
        said = None if implementation is None else next((file.protocols for file in self._of(implementation)), None)
        if said is not None:
            return said.get(protocol, said.get("*"))
        return of_foreign(protocol)

    def _serving(self, controller_name: str, class_name: str) -> str | None:
        """Return the implementation that serves the Gateways of a class."""
        if controller_name:
            return self.implementation_of_controller(controller_name)
        return self.implementation_of_class(class_name)

    def relative_references(self, implementation: str) -> str:
        """Return `kept` where names without a namespace keep their meaning in a merge, `kept-lately` if that is new."""
        return next((file.relative_references for file in self._of(implementation)), "")

    def _of(self, implementation: str) -> Sequence[ShippedFile]:
        """Return the file of an implementation, if it has one."""
        file = self._by_name.get(implementation)
        return () if file is None else (file,)

    def _says(self, implementation: str, words: bytes) -> bool:
        """Return whether the file of an implementation has some words; it need not be parsed for that."""
        file = self._by_name.get(implementation)
        return file is not None and file.has(words)

    def has_own_certificates(self, implementation: str) -> bool:
        """Return whether listeners of an implementation may have their certificates from elsewhere than `tls`."""
        return self._says(implementation, b"\nownCertificates: true\n")

    def sends_from_outside(self, implementation: str) -> bool:
        """Return whether what the Gateways of an implementation send to pods comes from outside of the cluster."""
        return self._says(implementation, b"\noutside: true\n")

    def copies_metadata(self, implementation: str) -> bool:
        """Return whether the Services of an implementation's Gateways bear what those are annotated with."""
        return self._says(implementation, b"\ncopiesMetadata: true\n")

    def has_one_table(self, implementation: str) -> bool:
        """Return whether routes for requests are served at all listeners of their proxy for requests."""
        return self._says(implementation, b"\noneTable: true\n")

    def serves_by_name(self, implementation: str) -> bool:
        """Return whether each listener with TLS is served by the name that a client asks for, with HTTP/2."""
        return self._says(implementation, b"\nservesByName: true\n")

    def unread_fields(self, implementation: str) -> Mapping[str, str]:
        """Return the fields of rules that an implementation does not read, with what to write in their place."""
        found = (file for file in self._of(implementation) if file.has(b"\nunread:"))
        return next((mapping(file.content().get("unread")) for file in found), {})

    def switched(self, implementation: str) -> Mapping[str, str]:
        """Return the annotations that an implementation reads only where a setting of its controller is on, by which
        setting that is."""
        found = (file for file in self._of(implementation) if file.has(b"\nswitched:"))
        return next((mapping(file.content().get("switched")) for file in found), {})

    def idles(self, implementation: str) -> str:
        """Return how long a request may wait at an implementation where nothing says so, "" for no known limit."""
        found = (file for file in self._of(implementation) if file.has(b"\nidles:"))
        return next((text(file.content().get("idles")) for file in found), "")

    def limits(self, implementation: str) -> Limits:
        """Return what of routes an implementation does not serve, as its file says."""
        if implementation not in self._limits:
            files = (file for file in self._of(implementation) if file.limited)
            found = (
                Limits(
                    frozenset(file.texts("filters")),
                    text(file.content().get("alike")),
                    integer(file.content().get("unsupportedFilter")) or 500,
                )
                for file in files
            )
            self._limits[implementation] = next(found, Limits())
        return self._limits[implementation]

    def backends(self, implementation: str) -> frozenset[tuple[str, str]]:
        """Return the kinds of backends that an implementation reads, each as group and kind; none if not known."""
        if implementation not in self._backends:
            files = self._of(implementation)
            names = (name.partition(".") for file in files if file.says_backends for name in file.texts("backends"))
            self._backends[implementation] = frozenset((group, kind) for kind, _, group in names)
        return self._backends[implementation]

    def refuses_names(self, implementation: str) -> tuple[str, int | None, str]:
        """Return the reason why an implementation refuses Services that are names as backends ("" where it takes them),
        or the status of requests to those that it takes and cannot find (None otherwise), in words too."""
        found = (file.content() for file in self._of(implementation) if file.has(b"\nexternalNames:"))
        said = next(found, {})
        stated, title = said.get("externalNames"), text(said.get("title"))
        status = integer(stated)
        does = "takes no Service" if status is None else "knows no endpoints of a Service"
        return "" if status is not None else text(stated), status, f"{title} {does} of type ExternalName"

    def unread(self, implementation: str | None, what: str) -> str:
        """Return why the release of an implementation that is in use does not read a kind, a field or a protocol; ""
        where it does, or where the release is not known (docs/upgrading.md).

        Args:
            what: as `reads` of its catalog file names it.
        """
        release = None if implementation is None else self.releases.get(implementation)
        if implementation is None or release is None:
            return ""
        files = (file for file in self._of(implementation) if file.has(b"\nreads:\n"))
        file = next(files, None)
        ways = [] if file is None else list(map(mapping, sequence(mapping(file.content().get("reads")).get(what))))
        if file is None or not ways:
            return ""
        title = f"{text(file.content().get('title'))} {'.'.join(map(str, release))}"
        in_release = [way for way in ways if _within(release, way)]
        lacks = ""
        for way in in_release:
            crds, setting = self.releases.get(CORE), text(way.get("setting"))
            if crds is not None and not _within(crds, mapping(way.get("crds"))):
                lacks = f" with the CRDs of Gateway API {'.'.join(map(str, crds))}"
            elif setting and self.settings(implementation).get(setting) is False:
                lacks = f" unless {setting} is set"
            else:
                return ""
        return f"{title} does not read {what}{lacks}"

    def probing(self, implementation: str) -> list[PolicyKind]:
        """Return the kinds of an implementation that set by which request pods are found healthy."""
        files = (file for file in self._of(implementation) if file.has(b" probes: "))
        return [kind for file in files for kind in file.kinds() if kind.probes is not None]

    def by_node_ports(self, implementation: str) -> list[PolicyKind]:
        """Return the kinds of an implementation that say whether its load balancer sends to the ports of nodes."""
        files = (file for file in self._of(implementation) if file.has(b" nodePorts: "))
        return [kind for file in files for kind in file.kinds() if kind.node_ports is not None]

    def settings(self, implementation: str) -> Mapping[str, Any]:
        """Return the settings of an implementation's controller: its defaults, overridden by what the user says."""
        if implementation not in self._settled:
            release = self.other_releases.get(implementation) or self.releases.get(implementation)
            in_tree, by_user = (each.get(implementation, {}) for each in (self._configured_in_tree, self._settings))
            stated = {**in_tree, **by_user}
            self._settled[implementation] = {
                name: stated.get(name, setting.default_of(release))
                for name, setting in self.known_settings(implementation).items()
            }
        return self._settled[implementation]

    def known_settings(self, implementation: str) -> dict[str, ControllerSetting]:
        """Return the settings of a controller that change verdicts, by name."""
        return next((file.settings() for file in self._of(implementation)), {})

    def knows_group(self, group: str) -> bool:
        """Return whether the catalog or the configuration describes a kind of this group."""
        return bool(self._shipped(group)) or any(configured_group == group for configured_group, _ in self._configured)

    def ships(self, group: str) -> bool:
        """Return whether a group, or the domain that it lies in, is one of the shipped files'."""
        steps = group.split(".")
        domains = (".".join(steps[number:]) for number in range(len(steps) - 1))
        return any(self._shipped(domain) for domain in domains)

    def concerns(self, group: str, kind: str) -> bool:
        """Return whether policylint's answers rest on objects of a kind: Gateway API's, Services, and all kinds of the
        groups of policies, those that the tree's own CRDs define among them."""
        if group == GATEWAY_GROUP or (group, kind) == ("", "Service"):
            return True
        return self.knows_group(group) or (group, kind) in self._derived

    @property
    def parsed(self) -> list[str]:
        """The names of the shipped files that had to be parsed so far."""
        return [file.implementation for file in self._files if file.parsed]

    def _shipped(self, group: str) -> dict[str, PolicyKind]:
        """Return the shipped kinds of a group by name."""
        return _of_group(self._files, group)


@lru_cache(maxsize=1024)
def _of_group(files: tuple[ShippedFile, ...], group: str) -> dict[str, PolicyKind]:
    """Return the kinds of a group in some files by name, the same for the catalogs of all environments."""
    kinds = (kind for file in files if file.mentions(group) for kind in file.kinds())
    return {kind.kind: kind for kind in kinds if kind.group == group}


@lru_cache(maxsize=1024)
def _making(files: tuple[ShippedFile, ...], class_name: str) -> str | None:
    """Return the implementation that makes a GatewayClass of a name, the same for the catalogs of all environments."""
    named = (file for file in files if class_name.encode() in file.written("classes"))
    return next((file.implementation for file in named if class_name in file.texts("classes")), None)


def _within(release: tuple[int, ...], bounds: Mapping[str, Any]) -> bool:
    """Tell whether a release is from `since` on and up to `until`, as far as there are such."""
    from policylint.catalog.releases import version

    since, until = (version(text(bounds.get(name))) for name in ("since", "until"))
    return (since is None or since <= release) and (until is None or release <= until)


def load_catalog(
    groups: Collection[str] | None = None,
    *,
    crds: Iterable[Resource] = (),
    objects: Mapping[Key, Iterable[Resource]] | None = None,
    configured: Iterable[Mapping[str, Any]] = (),
    semantics: str = "gep-713",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    faults: list[Fault] | None = None,
) -> Catalog:
    """Return the catalog for one input.

    Args:
        groups: API groups that the input holds; None for all.
        crds: CustomResourceDefinitions of the input.
        objects: the input's objects by (group, kind), read where a CRD's schema is open.
        configured: entries as in a file's `kinds`, each with an optional `implementation`.
        semantics: `gep-713`, or `gep-713-2023`: kinds of CRDs merge each scalar by itself.
        settings: of controllers, by implementation and name.
        faults: takes errors of our own, each of which left a CRD out.

    Raises:
        CatalogError: a configured entry is not a kind, or a setting is not one.
    """
    files = shipped_catalog()
    configured_kinds = {(kind.group, kind.kind): kind for kind in _configured_kinds(configured)}
    known = Catalog(files, configured_kinds, {}, groups)
    if settings:
        _check_settings(settings)
    if crds := [*crds]:
        from policylint.model.definitions import fault_of_definition

        crds = [crd for crd in crds if fault_of_definition(crd) is None]  # no API server takes others
    derived = dict(_derived_kinds(known, crds, objects or {}, semantics, [] if faults is None else faults))
    derived |= _shaped_kinds(known, crds, objects or {})
    return Catalog(files, configured_kinds, derived, groups, settings)


def _derived_kinds(
    known: Catalog,
    crds: Iterable[Resource],
    objects: Mapping[Key, Iterable[Resource]],
    semantics: str,
    faults: list[Fault],
) -> Iterator[tuple[Key, PolicyKind]]:
    """Yield the kinds that CRDs declare and neither catalog nor configuration describes."""
    for crd in crds:
        group, name = text(crd.spec.get("group")), text(mapping(crd.spec.get("names")).get("kind"))
        if not known.describes(group, name):
            from policylint.catalog.crd_kind import kind_of_crd

            try:
                kind = kind_of_crd(crd, objects.get((group, name), ()), base=known.fallback(group), semantics=semantics)
            except NOT_OURS:
                raise
            except Exception as error:
                faults.append(fault_of(error, "the kind that a CRD declares", about=crd))
                continue
            if kind is not None:
                yield (group, name), kind


def _shaped_kinds(
    known: Catalog, crds: Iterable[Resource], objects: Mapping[Key, Iterable[Resource]]
) -> dict[Key, PolicyKind]:
    """Return the kinds of which nothing is known and whose objects have the shape of policies."""
    shaped: dict[Key, PolicyKind] = {}
    for group, name in objects:
        if name.endswith("Policy") and "." in group and known.get(group, name) is None:
            from policylint.catalog.shaped_kind import declared, kind_of_objects

            if not declared(group, name, crds):
                kind = kind_of_objects(group, name, objects[group, name])
                if kind is not None:
                    shaped[group, name] = kind
    return shaped


def _configured_kinds(entries: Iterable[Mapping[str, Any]]) -> Iterator[PolicyKind]:
    """Yield the kinds of the configuration, checked against the schema: no test has seen them."""
    checked = list(entries)
    if not checked:
        return
    import json

    import jsonschema

    schema = json.loads(shipped("schemas", "policy-kind.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator({**schema["$defs"]["kind"], "$defs": schema["$defs"]})
    for number, entry in enumerate(checked):
        body = {name: value for name, value in entry.items() if name != "implementation"}
        for error in sorted(validator.iter_errors(body), key=lambda violation: violation.json_path):
            raise CatalogError(f"kinds[{number}]{error.json_path[1:]}: {error.message}")
        yield policy_kind(body, text(entry.get("implementation"), CONFIGURED), "configuration")


def _check_settings(settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Check the user's settings of controllers against those that the catalog knows; the first mistake is raised."""
    import jsonschema

    known = {file.implementation: file.settings() for file in shipped_catalog() if file.settings()}
    for implementation, values in settings.items():
        if implementation not in known:
            hint = _hint(implementation, known)
            raise CatalogError(f"implementations: no settings of {implementation!r}{hint}")
        for name, value in values.items():
            if name not in known[implementation]:
                hint = _hint(name, known[implementation])
                raise CatalogError(f"implementations.{implementation}: no setting {name!r}{hint}")
            for error in jsonschema.Draft202012Validator(known[implementation][name].schema).iter_errors(value):
                raise CatalogError(f"implementations.{implementation}.{name}{error.json_path[1:]}: {error.message}")


def _hint(word: str, known: Iterable[str]) -> str:
    """Return the nearest known word, or all of them where none is near."""
    from difflib import get_close_matches

    names = sorted(known)
    close = get_close_matches(word, names, 1)
    return f" (did you mean {close[0]!r}?)" if close else f" (known: {', '.join(names)})"


@cache
def shipped_catalog() -> tuple[ShippedFile, ...]:
    """Return the files of the catalog, the same for all environments and both sides of a diff: they are constants."""
    return tuple(ShippedFile(path) for path in shipped_files("schemas", "policy-kinds"))


@cache
def shipped_groups() -> frozenset[str]:
    """Return the API groups that the shipped catalog describes, read from the files without parsing them."""
    stated = (after for file in shipped_catalog() for after in file.data.split(b"\n  - group: ")[1:])
    return frozenset(group.partition(b"\n")[0].decode() for group in stated) - {'""'}
