"""Find the schema of an object: from the tree's own CRDs, else the shipped one of Gateway API or an implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import modules
from typing import TYPE_CHECKING, Any

from policylint.catalog.naming import shipped_schemas
from policylint.cel.evaluation import Program, Reads, are_broken
from policylint.cel.nodes import Fuel
from policylint.model import GATEWAY_GROUP, Resource, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.schema.checker import Checker
from policylint.schema.names import is_word_to_replace
from policylint.schema.rules import RULES, rules_of

if TYPE_CHECKING:
    from policylint.documents import Document, Pointer

GATEWAY_API = (GATEWAY_GROUP, "gateway.networking.x-k8s.io")
STEPS_OF_RULES = 2_000_000
"""Steps that the rules of a tree's own CRDs may take together in one environment: about a second."""
Definitions = Callable[[str, str], "Sequence[Document]"]


class ManifestChecker(Checker):
    """A Checker of manifests, which knows the rules in CEL, too.

    Text that holds a variable (`port: ${PORT}`) may become anything, so it is valid.
    """

    __slots__ = ("_fuel", "_is_flat", "_kept", "_reads", "_rules")

    def __init__(self, schema: Mapping[str, Any], fuel: Fuel) -> None:
        self._fuel = fuel
        super().__init__(schema)
        self._rules = [rule.expression for rule in rules_of(schema, fuel)] if RULES in schema else None
        self._kept: set[object] = set()
        self._is_flat = self._rules is not None and _is_flat(schema)
        self._reads: Reads | None = None
        if self._rules is not None:
            self.plain, self.settled = frozenset(), frozenset()
            self._reads = Reads(self._rules) if "items" in schema else None

    def below(self, schema: Mapping[str, Any]) -> Checker:
        return ManifestChecker(schema, self._fuel)

    @property
    def _takes_no_text(self) -> bool:
        return self._classes is not None and str not in self._classes

    def is_valid(self, value: Any) -> bool:
        if value.__class__ is str and ("${" in value or "{{" in value) and is_symbolic(value):
            return True
        if not super().is_valid(value):
            return is_symbolic(value) or (self._takes_no_text and is_word_to_replace(value))
        return self._rules is None or value is None or self._keeps_rules(value, self._rules)

    def _keeps_rules(self, value: Any, rules: Sequence[Program | None]) -> bool:
        alike: object = None
        if self._reads is not None and self._reads.known and value.__class__ is list:
            alike = self._reads.of(value)
        elif self._is_flat:
            written = repr(value)
            alike = written if len(written) < _LONGEST_REMEMBERED else None
        if alike in self._kept:
            return True
        if are_broken(rules, value):
            return False
        if alike is not None and len(self._kept) < _REMEMBERED:
            self._kept.add(alike)
        return True


_REMEMBERED = 4_000
_LONGEST_REMEMBERED = 400


def _is_flat(schema: Mapping[str, Any]) -> bool:
    """Return whether values of a schema are so small that many objects have the same: parentRefs, a path."""
    entry = mapping(schema.get("items", schema))
    return bool(entry.get("properties")) and all(
        "properties" not in field and "items" not in field and "additionalProperties" not in field
        for field in entry["properties"].values()
    )


class Known(NamedTuple):
    """One schema of one version of a kind.

    Args:
        fuel: what its rules may take.
        origin: the CRD of the tree that it comes from; None for a shipped one.
        release: what a shipped one was made from, such as `Envoy Gateway @ d32f282942`.
        lasting: whether its types, enums and required fields are the same in every release, as Gateway API promises.
        exact: whether it is that of the release in use.
        told: what in the tree says that the release is in use; then `newest` is the shipped schema, which holds more
            releases than one.
        elsewhere: whether the CRD of the tree is not among what is deployed with the objects: kept to look things up,
            or for another cluster.
    """

    schema: Mapping[str, Any]
    checker: Checker
    fuel: Fuel
    origin: Document | None = None
    release: str = ""
    lasting: bool = False
    exact: bool = False
    told: str = ""
    newest: Known | None = None
    elsewhere: bool = False

    @property
    def binds(self) -> bool:
        """Whether it is that of a CRD which is deployed with the objects."""
        return self.origin is not None and not self.elsewhere


class Schemas:
    """The schemas for the objects of one tree.

    A version may have several, where the tree holds several CRDs of a kind: an object is wrong only if it is wrong by
    all of them. Those that are deployed with the object count alone. Where none is, the shipped one is as good as the
    others, none of them is certain, and what versions they serve says nothing of the cluster.

    Args:
        is_deployed: returns whether a CRD is among what is deployed with an object, which says its directory.
        releases: the releases in use, by product: theirs are the schemas, whatever CRDs the tree holds.
        told: what in the tree says so, by product; CRDs that are deployed with the objects count more than that.

    Attributes:
        fuel: what the rules of the tree's CRDs may still take.
    """

    __slots__ = (
        "_beside",
        "_definitions",
        "_documents",
        "_found",
        "_here",
        "_is_deployed",
        "_releases",
        "_told",
        "fuel",
    )

    def __init__(
        self,
        definitions: Definitions,
        is_deployed: Callable[[Document, Resource], bool] = lambda document, resource: True,  # noqa: ARG005
        releases: Mapping[str, tuple[int, ...]] | None = None,
        told: Mapping[str, str] | None = None,
    ) -> None:
        self._told = told or {}
        self._definitions = definitions
        self._releases = releases or {}
        self._is_deployed = is_deployed
        self.fuel = Fuel(STEPS_OF_RULES)
        self._found: dict[tuple[str, str, str], tuple[Known, ...]] = {}
        self._documents: dict[tuple[str, str, str], Sequence[Document]] = {}
        self._here: dict[tuple[str, str, str, str], tuple[int, ...]] = {}
        """Which of the CRDs of their kind count for the objects of a directory."""
        self._beside: dict[tuple[str, str, str, tuple[int, ...]], tuple[Known, ...]] = {}

    def of(self, resource: Resource) -> tuple[Known, ...]:
        """Return the schemas of an object's kind and version; none where neither the tree nor policylint has one."""
        key = (resource.key.group, resource.key.kind, resource.version)
        schemas = self._found.get(key)
        if schemas is None and self._releases:
            from policylint.schema.released import as_released

            schemas = as_released(*key, {name: each for name, each in self._releases.items() if name not in self._told})
            if schemas is not None:
                self._found[key] = schemas
        if schemas is None:
            documents = self._documents.get(key)
            if documents is None:
                documents = self._documents[key] = self._definitions(*key[:2])
            if documents:
                return self._defined(resource, documents, key)
            schemas = self._found[key] = self._as_told(key) or self._shipped(key)
        return schemas

    def _defined(
        self, resource: Resource, documents: Sequence[Document], key: tuple[str, str, str]
    ) -> tuple[Known, ...]:
        """Return the schemas of an object of whose kind the tree has CRDs: those that are deployed with it, if any."""
        place = (*key, resource.document.file.rpartition("/")[0])
        here = self._here.get(place)
        if here is None:
            deployed = (number for number, each in enumerate(documents) if self._is_deployed(each, resource))
            here = self._here[place] = tuple(deployed)
        schemas = self._beside.get((*key, here))
        if schemas is None:
            schemas = tuple(_defined([documents[number] for number in here], *key, self.fuel))
            if not schemas:
                others = _defined(documents, *key, self.fuel, elsewhere=True)
                schemas = self._as_told(key) or (*others, *self._shipped(key))
            self._beside[*key, here] = schemas
        return schemas

    def give_back(self) -> None:
        """Forget the rules that were looked up by the nodes of schemas: they know their fuel, which knows them, and
        what refers to itself stays for good (`Run.open` freezes it)."""
        for schemas in self._found.values():
            for known in schemas:
                known.fuel.compiled.clear()
                if known.newest is not None:
                    known.newest.fuel.compiled.clear()

    def _shipped(self, key: tuple[str, str, str]) -> tuple[Known, ...]:
        """Return the shipped schema of a kind; none where the release in use is known not to have it yet."""
        if self._releases:
            from policylint.schema.released import is_before_all

            if is_before_all(*key[:2], self._releases):
                return ()
        return shipped_schema(*key)

    def _as_told(self, key: tuple[str, str, str]) -> tuple[Known, ...]:
        """Return the schema of the release that something in the tree names; none where nothing does."""
        if not self._told:
            return ()
        from policylint.schema.released import as_told

        return as_told(*key, self._releases, self._told)


@lru_cache(maxsize=256)
def shipped_schema(group: str, kind: str, version: str) -> tuple[Known, ...]:
    """Return the shipped schema of a kind; of Gateway API's kinds the fields of either channel of the release."""
    content = _shipped(group, kind)
    schema = content.get("versions", {}).get(version)
    if isinstance(schema, str):
        return shipped_schema(group, kind, schema)
    if schema is None:
        return ()
    fuel = Fuel()
    checker = ManifestChecker(schema, fuel)
    return (Known(schema, checker, fuel, release=content["origin"], lasting=group in GATEWAY_API),)


def forget_shipped() -> None:
    """Give back the shipped schemas that were read: megabytes, of which nobody asks once all objects are judged."""
    shipped_schema.cache_clear()
    _shipped.cache_clear()
    if released := modules.get("policylint.schema.released"):  # imported where a release is known
        released.served.cache_clear()
        released.released_schema.cache_clear()


@lru_cache(maxsize=128)
def _shipped(group: str, kind: str) -> Mapping[str, Any]:
    """Return the content of one file of schemas/crds/, empty where there is none."""
    path = shipped_schemas(group).get(kind)
    if path is None:
        return {}
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not imported for this
        return read_shipped(file.read().decode())


def read_shipped(data: str) -> dict[str, Any]:
    """Return the content of a file of schemas/crds/: what it says more than once is one object.

    A line is JSON, in which `{"": 5}` means what the sixth line says; the last line is the whole
    (schemas/make_crds.py).
    """
    lines: list[Any] = []

    def resolved(value: dict[str, Any]) -> Any:
        return lines[value[""]] if "" in value else value

    loads = _loader(resolved)
    for line in data.splitlines():
        lines.append(loads(line))
    content: dict[str, Any] = lines[-1]
    return content


def _loader(hook: Callable[[dict[str, Any]], Any]) -> Callable[[str], Any]:
    """Return `json.loads`; the json package costs twice as much to import as its scanner, which suffices."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return lambda data: json.loads(data, object_hook=hook)

    scan = make_scanner(_Plain(hook))  # type: ignore[arg-type]
    return lambda data: scan(data, 0)[0]


class _Plain:
    """The attributes of a json.JSONDecoder that the scanner reads."""

    strict = True
    object_pairs_hook = parse_constant = None
    parse_float = float
    parse_int = int

    def __init__(self, hook: Callable[[dict[str, Any]], Any]) -> None:
        # Of the object and not of a class made for it: a class refers to itself, and what the hook knows stays with it.
        self.object_hook = hook


def is_experimental(schema: Any, pointer: Pointer) -> bool:
    """Return whether a location lies in a field that only the experimental channel has."""
    for step in pointer:
        node = mapping(schema)
        schema = node.get("items") if isinstance(step, int) else mapping(node.get("properties")).get(step)
        if mapping(schema).get("x-experimental") is True:
            return True
    return False


def _unserved(schema: Mapping[str, Any], group: str, versions: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of a version that the API server takes from nobody, and gives to no controller."""
    served = [f"{group}/{text(each.get('name'))}" for each in map(mapping, versions) if each.get("served") is not False]
    properties = {
        **mapping(schema.get("properties")),
        "apiVersion": {"type": "string", "enum": served or ["none, as no version is served"]},
    }
    return {**schema, "properties": properties}


def _defined(
    documents: Sequence[Document], group: str, kind: str, version: str, fuel: Fuel, *, elsewhere: bool = False
) -> Iterator[Known]:
    for document in documents:
        from policylint.load.objects import objects_of
        from policylint.schema.structural import MalformedSchemaError, structural

        for body, _ in objects_of(document.value):
            spec = mapping(body.get("spec"))
            if spec.get("group") != group or mapping(spec.get("names")).get("kind") != kind:
                continue
            names = [text(mapping(listed).get("name")) for listed in sequence(spec.get("versions"))]
            if names and version not in names and not elsewhere and not any(map(is_symbolic, (version, *names))):
                unknown = _unserved({}, group, sequence(spec.get("versions")))
                yield Known(unknown, ManifestChecker(unknown, fuel), fuel, document)
            for listed in sequence(spec.get("versions")):
                schema = mapping(mapping(listed).get("schema")).get("openAPIV3Schema")
                if text(mapping(listed).get("name")) == version and isinstance(schema, dict):
                    try:
                        usable = structural(schema)
                    except MalformedSchemaError:
                        continue  # the API server refuses the CRD: what the kind's objects look like is unknown
                    if mapping(listed).get("served") is False and not elsewhere:
                        usable = _unserved(usable, group, sequence(spec.get("versions")))
                    yield Known(usable, ManifestChecker(usable, fuel), fuel, document, elsewhere=elsewhere)
