"""A file of the catalog: its bytes at once, and what is asked of them; its content on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.documents import read
from policylint.model.policy_kind import PolicyKind, policy_kind
from policylint.model.resource import mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple


class Phase(NamedTuple):
    """Settings that act at one place of the order.

    Args:
        settings: as `Kind.field`, or `Kind.*` for all fields of a kind.
        filter: the name by which the order is changed, "" where it cannot be.
    """

    settings: tuple[str, ...]
    filter: str = ""


class ControllerSetting(NamedTuple):
    """A setting of a controller that changes verdicts and stands in no manifest.

    Args:
        default: the value without configuration.
        about: what it is, and where the controller takes it from.
        schema: a JSON Schema of its values.
        since: other defaults, by the release from which on they are in force.
    """

    default: Any
    about: str
    schema: Mapping[str, Any]
    since: Mapping[str, Any] = {}

    def default_of(self, release: tuple[int, ...] | None) -> Any:
        """Return the default in a release, or where that is not known."""
        if not release or not self.since:
            return self.default
        from policylint.catalog.releases import version

        known = {version(written) or (): value for written, value in self.since.items()}
        former = [changed for changed in known if changed <= release]
        return known[max(former)] if former else self.default


class ShippedFile:
    """One file of schemas/policy-kinds/: its bytes at once, its content on demand."""

    __slots__ = ("_content", "_groups", "_has", "_kinds", "_names", "_order", "data", "implementation", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.implementation = path.replace("\\", "/").rpartition("/")[2].removesuffix(".yaml")
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not imported for this
            self.data = file.read()
        self._content: Mapping[str, Any] | None = None
        self._groups: frozenset[bytes] | None = None
        self._names: frozenset[bytes] | None = None
        self._kinds: tuple[PolicyKind, ...] | None = None
        self._order: tuple[Phase, ...] | None = None
        self._has: dict[bytes, bool] = {}

    @property
    def parsed(self) -> bool:
        """Whether the file has been parsed."""
        return self._content is not None

    def names(self, name: str) -> bool:
        """Return whether an entry of the file may be of a kind with this name, in lower case."""
        if self._names is None:
            entries = self.data.split(b"\n    kind: ")[1:]
            self._names = frozenset(entry.partition(b"\n")[0].lower() for entry in entries)
        return name.encode() in self._names

    def has(self, words: bytes) -> bool:
        """Return whether the file has some words, looked for once: it is asked for each route, and long."""
        found = self._has.get(words)
        if found is None:
            found = self._has[words] = words in self.data
        return found

    def mentions(self, group: str) -> bool:
        """Return whether an entry of the file is of this group. Entries start with their group, as a test requires."""
        return as_written(group) in self.groups()

    def groups(self) -> frozenset[bytes]:
        """Return the groups of its entries, as they are written."""
        if self._groups is None:
            entries = self.data.split(b"\n  - group: ")[1:]
            self._groups = frozenset(entry.partition(b"\n")[0] for entry in entries)
        return self._groups

    @property
    def protocols(self) -> Mapping[str, Sequence[str]] | None:
        """What the file says of protocols of its own; None for nothing, and then it need not be parsed for that."""
        return mapping(self.content().get("protocols")) if self.has(b"\nprotocols:") else None

    @property
    def relative_references(self) -> str:
        """What the file says of names without a namespace; it need not be parsed for that."""
        return self.data.partition(b"\nrelativeReferences: ")[2].partition(b"\n")[0].decode()

    @property
    def limited(self) -> bool:
        """Whether the file says what of routes its implementation does not serve; it need not be parsed for that."""
        return self.has(b"\nfilters:") or self.has(b"\nalike:")

    @property
    def says_backends(self) -> bool:
        """Whether the file says which backends its implementation reads; it need not be parsed for that."""
        return self.has(b"\nbackends:")

    def written(self, field: str) -> bytes:
        """Return the text of a field, from its name on; empty without it. The file need not be parsed for that."""
        start = end = self.data.find(f"\n{field}:".encode())
        while end != -1 and (end == start or self.data[end + 1 : end + 2] in (b" ", b"-", b"#", b"\n")):
            end = self.data.find(b"\n", end + 1)
        return self.data[start + 1 : end if end != -1 else None] if start != -1 else b""

    def content(self) -> Mapping[str, Any]:
        """Return the parsed file, empty where it holds no mapping."""
        if self._content is None:
            documents = read(self.data, self.path).documents
            self._content = mapping(documents[0].value) if documents else {}
        return self._content

    def texts(self, field: str) -> list[str]:
        """Return the strings in a list field of the file."""
        return texts(self.content().get(field))

    def settings(self) -> dict[str, ControllerSetting]:
        """Return the settings of the controller; a file without any need not be parsed for that."""
        if not self.has(b"\nsettings:\n"):
            return {}
        return {
            name: ControllerSetting(
                setting.get("default"),
                text(setting.get("about")),
                mapping(setting.get("schema")),
                mapping(setting.get("since")),
            )
            for name, setting in mapping(self.content().get("settings")).items()
        }

    def order(self) -> tuple[Phase, ...]:
        """Return the phases of the file; one without any need not be parsed for that."""
        if not self.has(b"\norder:\n"):
            return ()
        if self._order is None:
            entries = map(mapping, sequence(self.content().get("order")))
            self._order = tuple(
                Phase(tuple(texts(entry.get("settings"))), text(entry.get("filter"))) for entry in entries
            )
        return self._order

    def kinds(self) -> tuple[PolicyKind, ...]:
        """Return the kinds of the file."""
        if self._kinds is None:
            name = text(self.content().get("implementation"), self.implementation)
            self._kinds = tuple(policy_kind(entry, name) for entry in sequence(self.content().get("kinds")))
        return self._kinds


def as_written(group: str) -> bytes:
    """Return a group as entries have it."""
    return (group or '""').encode()
