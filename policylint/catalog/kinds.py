"""The catalog: every policy kind that policylint knows, from its own files, the user's configuration and CRDs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from policylint.documents import read
from policylint.model.keys import GATEWAY_GROUP
from policylint.model.policy_kind import PolicyKind, policy_kind
from policylint.model.resource import Resource, mapping, sequence, text
from policylint.model.shipped import shipped, shipped_files
from policylint.namedtuple import NamedTuple

Key = tuple[str, str]

CONFIGURED = "configuration"
"""The implementation of a configured kind that names none."""


class CatalogError(ValueError):
    """A configured kind that schemas/policy-kind.json does not allow; the message says where and why."""


class Catalog:
    """Kinds by group and kind. Shipped files are parsed when a question needs them, not before.

    Args:
        files: the shipped files.
        configured: kinds of the user's configuration; they beat everything else.
        derived: kinds told by CRDs in the input; they beat nothing but the `*` entry of their group.
        groups: what `kinds()` is limited to; None for all.
        settings: what the user says of the settings of controllers, by implementation.
    """

    def __init__(
        self,
        files: Iterable[ShippedFile],
        configured: Mapping[Key, PolicyKind],
        derived: Mapping[Key, PolicyKind],
        groups: Collection[str] | None,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._settings = settings or {}
        self._files = tuple(files)
        self._configured = configured
        self._derived = derived
        self._groups = None if groups is None else frozenset(groups)
        self._by_group: dict[str, dict[str, PolicyKind]] = {}
        self._by_controller: dict[str, str | None] = {}

    def get(self, group: str, kind: str) -> PolicyKind | None:
        """What is known of a kind: configuration, else catalog, else CRD, else its group's `*` entry.

        A `*` entry answers for kinds in whose name nothing else is known, with their kind filled in.
        """
        known = (
            self._configured.get((group, kind)) or self._shipped(group).get(kind) or self._derived.get((group, kind))
        )
        if known is not None:
            return known
        fallback = self.fallback(group)
        return None if fallback is None else fallback._replace(kind=kind)

    def describes(self, group: str, kind: str) -> bool:
        """Whether the kind has an entry of its own, in the configuration or in the catalog."""
        return (group, kind) in self._configured or kind in self._shipped(group)

    def fallback(self, group: str) -> PolicyKind | None:
        """The `*` entry of a group."""
        return self._configured.get((group, "*")) or self._shipped(group).get("*")

    def kinds(self) -> list[PolicyKind]:
        """Every kind (of the wanted groups), `*` entries included, by implementation, group and name."""
        known: dict[Key, PolicyKind] = dict(self._derived)
        for file in self._files:
            if self._groups is None or any(file.mentions(group) for group in self._groups):
                known.update(((each.group, each.kind), each) for each in file.kinds())
        known.update(self._configured)
        wanted = (
            known.values() if self._groups is None else [each for each in known.values() if each.group in self._groups]
        )
        return sorted(wanted, key=lambda each: (each.implementation, each.group, each.kind))

    def implementation_of_controller(self, controller_name: str) -> str | None:
        """The implementation that answers to a GatewayClass spec.controllerName."""
        if controller_name not in self._by_controller:
            domain = controller_name.partition("/")[0].encode()
            files = (each for each in self._files if domain in each.data)
            answering = (
                each.implementation
                for each in files
                if any(fnmatchcase(controller_name, name) for name in each.texts("controllers"))
            )
            self._by_controller[controller_name] = next(answering, None)
        return self._by_controller[controller_name]

    def implementation_of_class(self, class_name: str) -> str | None:
        """The implementation that makes a GatewayClass of this name by itself."""
        for file in self._files:
            if class_name.encode() in file.data and class_name in file.texts("classes"):
                return file.implementation
        return None

    def serves(self, implementation: str, group: str) -> bool:
        """Whether an implementation works on policies of a group: its own, Gateway API's, and those its file names.

        Where the group belongs to nobody that policylint knows (a kind from a CRD), nothing speaks against it.
        """
        if group == GATEWAY_GROUP or not self.knows_group(group):
            return True
        for file in self._files:
            if file.implementation == implementation:
                return file.mentions(group) or group in file.texts("serves")
        return True

    def shares_hostnames(self, controller_name: str, class_name: str) -> bool:
        """Whether HTTPRoutes and GRPCRoutes with one hostname on a listener are both accepted; by default as the spec
        has it, one.

        Args:
            controller_name: of the Gateway's class, "" where the class is not there.
            class_name: by which controllers that make their own class are known all the same.
        """
        found = (
            self.implementation_of_controller(controller_name)
            if controller_name
            else self.implementation_of_class(class_name)
        )
        return any(each.implementation == found and each.shares_hostnames for each in self._files)

    def settings(self, implementation: str) -> dict[str, Any]:
        """The settings of an implementation's controller: its defaults, and what the user says."""
        return {
            name: self._settings.get(implementation, {}).get(name, each.default)
            for name, each in self.known_settings(implementation).items()
        }

    def known_settings(self, implementation: str) -> dict[str, ControllerSetting]:
        """What of a controller's settings changes verdicts, by name."""
        for file in self._files:
            if file.implementation == implementation:
                return file.settings()
        return {}

    def knows_group(self, group: str) -> bool:
        """Whether the catalog or the configuration describes a kind of this group."""
        return bool(self._shipped(group)) or any(each == group for each, _ in self._configured)

    @property
    def parsed(self) -> list[str]:
        """Names of the shipped files that had to be parsed so far."""
        return [each.implementation for each in self._files if each.parsed]

    def _shipped(self, group: str) -> dict[str, PolicyKind]:
        found = self._by_group.get(group)
        if found is None:
            files = [each for each in self._files if each.mentions(group)]
            found = {each.kind: each for file in files for each in file.kinds() if each.group == group}
            self._by_group[group] = found
        return found


class ControllerSetting(NamedTuple):
    """A setting of a controller that changes verdicts and stands in no manifest.

    Args:
        default: the value without configuration.
        about: what it is, and where the controller takes it from.
        schema: a JSON Schema of its values.
    """

    default: Any
    about: str
    schema: Mapping[str, Any]


class ShippedFile:
    """One file of schemas/policy-kinds/: its bytes at once, its content when asked for."""

    __slots__ = ("_content", "_kinds", "data", "implementation", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.implementation = path.replace("\\", "/").rpartition("/")[2].removesuffix(".yaml")
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not imported for this
            self.data = file.read()
        self._content: Mapping[str, Any] | None = None
        self._kinds: tuple[PolicyKind, ...] | None = None

    @property
    def parsed(self) -> bool:
        return self._content is not None

    def mentions(self, group: str) -> bool:
        """Whether an entry of the file is of this group. Entries start with their group (a test holds them to it)."""
        return b"\n  - group: " + (group or '""').encode() + b"\n" in self.data

    @property
    def shares_hostnames(self) -> bool:
        """Whether the file says so of its implementation; it need not be parsed for that."""
        return b"\nsharesHostnames: true\n" in self.data

    def content(self) -> Mapping[str, Any]:
        if self._content is None:
            documents = read(self.data, self.path).documents
            self._content = mapping(documents[0].value) if documents else {}
        return self._content

    def texts(self, field: str) -> list[str]:
        return [each for each in sequence(self.content().get(field)) if isinstance(each, str)]

    def settings(self) -> dict[str, ControllerSetting]:
        """Settings of the controller; files without any need not be parsed for that."""
        if b"\nsettings:\n" not in self.data:
            return {}
        return {
            name: ControllerSetting(each.get("default"), text(each.get("about")), mapping(each.get("schema")))
            for name, each in mapping(self.content().get("settings")).items()
        }

    def kinds(self) -> tuple[PolicyKind, ...]:
        if self._kinds is None:
            name = text(self.content().get("implementation"), self.implementation)
            self._kinds = tuple(policy_kind(each, name) for each in sequence(self.content().get("kinds")))
        return self._kinds


def load_catalog(
    groups: Collection[str] | None = None,
    *,
    crds: Iterable[Resource] = (),
    objects: Mapping[Key, Iterable[Resource]] | None = None,
    configured: Iterable[Mapping[str, Any]] = (),
    semantics: str = "gep-713",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Catalog:
    """The catalog for one input.

    Args:
        groups: API groups that the input holds; None for all.
        crds: CustomResourceDefinitions of the input.
        objects: the input's objects by (group, kind), read where a CRD's schema is open.
        configured: entries as in a file's `kinds`, each with an optional `implementation`.
        semantics: `gep-713`, or `gep-713-2023`: kinds of CRDs merge each scalar by itself.
        settings: of controllers, by implementation and name.

    Raises:
        CatalogError: a configured entry is not a kind, or a setting is not one.
    """
    files = shipped_catalog()
    users = {(each.group, each.kind): each for each in _configured_kinds(configured)}
    known = Catalog(files, users, {}, groups)
    if settings:
        from policylint.catalog.controller_settings import check

        check(settings, known, [each.implementation for each in files])
    return Catalog(files, users, dict(_derived_kinds(known, crds, objects or {}, semantics)), groups, settings)


def _derived_kinds(
    known: Catalog, crds: Iterable[Resource], objects: Mapping[Key, Iterable[Resource]], semantics: str
) -> Iterator[tuple[Key, PolicyKind]]:
    """Kinds that CRDs tell of and neither catalog nor configuration describes."""
    for crd in crds:
        group, name = text(crd.spec.get("group")), text(mapping(crd.spec.get("names")).get("kind"))
        if not known.describes(group, name):
            from policylint.catalog.crd_kind import kind_of_crd

            kind = kind_of_crd(crd, objects.get((group, name), ()), base=known.fallback(group), semantics=semantics)
            if kind is not None:
                yield (group, name), kind


def _configured_kinds(entries: Iterable[Mapping[str, Any]]) -> Iterator[PolicyKind]:
    """Kinds of the configuration, checked: unlike the shipped ones no test has seen them."""
    checked = list(entries)
    if not checked:
        return
    import json

    import jsonschema

    schema = json.loads(shipped("schemas", "policy-kind.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator({**schema["$defs"]["kind"], "$defs": schema["$defs"]})
    for number, entry in enumerate(checked):
        body = {name: value for name, value in entry.items() if name != "implementation"}
        for error in sorted(validator.iter_errors(body), key=lambda each: each.json_path):
            raise CatalogError(f"kinds[{number}]{error.json_path[1:]}: {error.message}")
        yield policy_kind(body, text(entry.get("implementation"), CONFIGURED), "configuration")


@cache
def shipped_catalog() -> tuple[ShippedFile, ...]:
    """The files of the catalog, for all environments and both sides of a diff: they are constants."""
    return tuple(ShippedFile(path) for path in shipped_files("schemas", "policy-kinds"))


def shipped_groups() -> frozenset[str]:
    """The API groups that the shipped catalog describes, read off the files without parsing them."""
    return frozenset(
        line.partition(b"group: ")[2].decode()
        for file in shipped_catalog()
        for line in file.data.splitlines()
        if line.startswith(b"  - group: ") and not line.endswith(b'""')
    )
