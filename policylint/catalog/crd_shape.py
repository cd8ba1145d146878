"""The spec of a policy kind as a CRD's schema and the input's objects show it: references, wrappers, settings.

Where the schema is open (`x-kubernetes-preserve-unknown-fields`, or no properties), the objects are read by the
conventional keys; the numbers are those of docs/design/semantics.md §1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from policylint.model.policy_kind import DEFAULT_WRAPPERS, UNLIMITED, Directive, Reference, SettingPurposes
from policylint.model.resource import Resource, mapping, sequence, text, texts

TARGET_FIELDS = ("targetRefs", "targetRef", "targetSelectors")
_DIRECTIVE_FIELDS = ("strategy", "mergeStrategy", "mergeType")
_GRANULARITIES = {
    "atomic": "atomic",
    "Atomic": "atomic",
    "patch": "patch",
    "Patch": "patch",
    "merge": "patch",
    "Merge": "patch",
    "JSONMerge": "patch",
    "StrategicMerge": "strategic",
    "AtomicDefaults": "atomic-defaults",
    "AtomicOverrides": "atomic-overrides",
    "PatchDefaults": "patch-defaults",
    "PatchOverrides": "patch-overrides",
}
_AUTHENTICATION = frozenset(
    {"jwt", "jwtAuth", "oidc", "oauth2", "basicAuth", "apiKeyAuth", "extAuth", "auth", "authentication"}
)
_AUTHORIZATION = frozenset({"authorization", "rbac", "acl", "allowList", "denyList", "ipAllowList", "ipAccessControl"})
_PROTECTION = frozenset({"tls", "mtls", "rateLimit", "rateLimits", "limits", "waf", "csrf", "minimumTLSVersion"})


class SpecShape:
    """The shape of a kind's spec, from its schema and objects together.

    Attributes:
        schema: the OpenAPI schema of the kind, empty where the CRD has none.
        spec: the schema of `spec`; `properties` are its properties.
        specs: the specs of the objects.
        open: whether the schema allows fields that it does not name.
    """

    def __init__(self, crd: Resource, specs: list[Mapping[str, Any]]) -> None:
        schema = _schema(crd.spec)
        self.schema = schema
        self.spec = mapping(mapping(schema.get("properties")).get("spec"))
        self.properties = mapping(self.spec.get("properties"))
        self.specs = specs
        self.open = not self.properties or self.spec.get("x-kubernetes-preserve-unknown-fields") is True

    def names_targets(self) -> bool:
        """Return whether targets are named by group, kind and name, in the schema or in an object."""
        required = {"group", "kind", "name"}
        for field in ("targetRef", "targetRefs"):
            if required <= reference_properties(self.properties, field).keys():
                return True
            for spec in self.specs:
                entries = sequence(spec.get(field)) or [spec.get(field)]
                if any(required <= mapping(entry).keys() for entry in entries):
                    return True
        return False

    def targeted(self) -> set[tuple[str, str]]:
        """Return the target kinds (group, kind) that the objects name."""
        kinds = set()
        for spec in self.specs:
            listed = sequence(spec.get("targetRefs")) + sequence(spec.get("targetSelectors"))
            targets = [target for target in (spec.get("targetRef"), *listed) if isinstance(target, dict)]
            kinds |= {(text(target.get("group")), text(target.get("kind"))) for target in targets}
        return kinds

    def references(self) -> tuple[Reference, ...]:
        """Return the conventional fields that name targets; all of them where the schema is open."""
        references = []
        if self.open or "targetRefs" in self.properties:
            references.append(Reference("targetRefs", "refs"))
        if self.open or "targetRef" in self.properties:
            outdated = "deprecated" in text(mapping(self.properties.get("targetRef")).get("description")).lower()
            references.append(Reference("targetRef", "ref", "targetRefs" if outdated else ""))
        if self.open or "targetSelectors" in self.properties:
            references.append(Reference("targetSelectors", "selectors"))
        return tuple(references)

    def in_reference(self, name: str) -> bool:
        """Return whether the schema gives references a field of this name."""
        return any(name in reference_properties(self.properties, field) for field in TARGET_FIELDS)

    def max_targets(self) -> int:
        """Return how many targets a policy may name.

        That is the bound of the schema's list, UNLIMITED where it states none; 1 where the schema has a single
        reference; 16, as GEP-713's own type, where it is open.
        """
        refs = self.properties.get("targetRefs")
        if refs is not None:
            most = mapping(refs).get("maxItems")
            return most if isinstance(most, int) else UNLIMITED
        return 1 if "targetRef" in self.properties else 16

    def wrappers(self) -> Mapping[str, Literal["defaults", "overrides"]]:
        """Return the wrappers that the schema has, with what they mean; the conventional ones where it is open."""
        if self.open:
            return DEFAULT_WRAPPERS
        return {
            name: meaning
            for name, meaning in DEFAULT_WRAPPERS.items()
            if mapping(self.properties.get(name)).get("type") == "object"
        }

    def singular(self) -> bool:
        """Return whether the kind uses `default` and `override`, the names of 2021 to 2023."""
        used = {name for name in DEFAULT_WRAPPERS if name in self.properties}
        used.update(name for spec in self.specs for name in DEFAULT_WRAPPERS if isinstance(spec.get(name), dict))
        return bool(used) and used <= {"default", "override"}

    def directive(self) -> Directive | None:
        """Return the conventional field that chooses a strategy.

        Beside the settings, a field of that name with other values is a setting (`strategy: RoundRobin`); inside a
        wrapper, or where its name can mean nothing else, it chooses the strategy whatever it says, so that a misspelt
        value is noticed (22).
        """
        for field in _DIRECTIVE_FIELDS:
            named = self.open and field != "strategy" and self._values(field)
            if named or self._values(field) & _GRANULARITIES.keys() or self._wrapped(field):
                return Directive(field, _GRANULARITIES)
        if self.open and not self._values("strategy"):
            return Directive("strategy", _GRANULARITIES)
        return None

    def _values(self, field: str) -> set[str]:
        """Return a field's values in the schema's enums and in the objects, beside settings or inside a wrapper."""
        schemas = (self.properties, *(_properties(self.properties.get(name)) for name in DEFAULT_WRAPPERS))
        values = {value for properties in schemas for value in texts(mapping(properties.get(field)).get("enum"))}
        return values.union(texts([spec.get(field) for spec in self.specs]), self._wrapped(field))

    def _wrapped(self, field: str) -> list[str]:
        """Return the values of a field inside the wrappers of the objects."""
        return texts([mapping(spec.get(name)).get(field) for spec in self.specs for name in DEFAULT_WRAPPERS])

    def maps(self) -> tuple[str, ...]:
        """Return the paths in the spec proper that the schema declares a map: GEP-713 of 2023 replaces maps whole."""
        bare = {name: value for name, value in self.properties.items() if name not in DEFAULT_WRAPPERS}
        places = (bare, *(_properties(self.properties.get(name)) for name in DEFAULT_WRAPPERS))
        return tuple(sorted({path for place in places for path in _maps(place, "")}))

    def settings(self, wrappers: Iterable[str]) -> SettingPurposes:
        """Return the fields with well-known names of what protects."""
        names = set(self.properties)
        for wrapper in wrappers:
            names.update(_properties(self.properties.get(wrapper)))
        for spec in self.specs:
            names.update(spec, *(mapping(spec.get(wrapper)) for wrapper in wrappers))
        return SettingPurposes(
            tuple(sorted(names & _AUTHENTICATION)),
            tuple(sorted(names & _AUTHORIZATION)),
            tuple(sorted(names & _PROTECTION)),
        )

    def status(self) -> Literal["ancestors", "conditions", "none"]:
        """Return where a controller writes its status: in the fields that the schema has, else per ancestor."""
        status = mapping(mapping(self.schema.get("properties")).get("status"))
        fields = mapping(status.get("properties"))
        if "ancestors" in fields or not fields:
            return "ancestors"
        return "conditions" if "conditions" in fields else "none"


def _schema(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the storage version, else of the first that has one, else the old place for all versions."""
    versions = [mapping(version) for version in sequence(spec.get("versions"))]
    for version_schema in sorted(versions, key=lambda version: version.get("storage") is not True):
        schema = mapping(mapping(version_schema.get("schema")).get("openAPIV3Schema"))
        if schema:
            return schema
    return mapping(mapping(spec.get("validation")).get("openAPIV3Schema"))


def reference_properties(properties: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """Return the properties of a reference, or of the entries of a list of references."""
    schema = mapping(properties.get(field))
    return mapping(mapping(schema.get("items", schema)).get("properties"))


def _maps(properties: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Yield the dotted paths of maps below some properties."""
    for name, schema in properties.items():
        inner = _properties(schema)
        if inner:
            yield from _maps(inner, f"{prefix}{name}.")
        elif mapping(schema).get("additionalProperties"):
            yield prefix + name


def _properties(schema: object) -> Mapping[str, Any]:
    """Return the properties of a schema."""
    return mapping(mapping(schema).get("properties"))
