"""What a CRD's schema and the input's objects show of a policy kind's spec: references, wrappers, directive, settings.

Where the schema is open (`x-kubernetes-preserve-unknown-fields`, or no properties), the objects are read by the
conventional keys; the numbers are those of docs/design/semantics.md §1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from policylint.model.policy_kind import DEFAULT_WRAPPERS, UNLIMITED, Directive, Reference, Settings
from policylint.model.resource import Resource, mapping, sequence, text

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
}
_AUTHENTICATION = frozenset(
    {"jwt", "jwtAuth", "oidc", "oauth2", "basicAuth", "apiKeyAuth", "extAuth", "auth", "authentication"}
)
_AUTHORIZATION = frozenset({"authorization", "rbac", "acl", "allowList", "denyList", "ipAllowList", "ipAccessControl"})
_PROTECTION = frozenset({"tls", "mtls", "rateLimit", "rateLimits", "limits", "waf", "csrf", "minimumTLSVersion"})


class SpecShape:
    """What schema and objects together show of a kind's spec."""

    def __init__(self, crd: Resource, specs: list[Mapping[str, Any]]) -> None:
        schema = _schema(crd.spec)
        self.schema = schema
        self.spec = mapping(mapping(schema.get("properties")).get("spec"))
        self.properties = mapping(self.spec.get("properties"))
        self.specs = specs
        self.open = not self.properties or self.spec.get("x-kubernetes-preserve-unknown-fields") is True

    def names_targets(self) -> bool:
        """Whether targets are named by group, kind and name, in the schema or in an object."""
        wanted = {"group", "kind", "name"}
        for field in ("targetRef", "targetRefs"):
            if wanted <= _reference_properties(self.properties, field).keys():
                return True
            for spec in self.specs:
                entries = sequence(spec.get(field)) or [spec.get(field)]
                if any(wanted <= mapping(each).keys() for each in entries):
                    return True
        return False

    def targeted(self) -> set[tuple[str, str]]:
        """Target kinds that the objects name."""
        found = set()
        for spec in self.specs:
            for each in (
                spec.get("targetRef"),
                *sequence(spec.get("targetRefs")),
                *sequence(spec.get("targetSelectors")),
            ):
                if isinstance(each, dict):
                    found.add((text(each.get("group")), text(each.get("kind"))))
        return found

    def references(self) -> tuple[Reference, ...]:
        found = []
        if self.open or "targetRefs" in self.properties:
            found.append(Reference("targetRefs", "refs"))
        if self.open or "targetRef" in self.properties:
            outdated = "deprecated" in text(mapping(self.properties.get("targetRef")).get("description")).lower()
            found.append(Reference("targetRef", "ref", "targetRefs" if outdated else ""))
        if self.open or "targetSelectors" in self.properties:
            found.append(Reference("targetSelectors", "selectors"))
        return tuple(found)

    def in_reference(self, name: str) -> bool:
        """Whether the schema gives references a field of this name."""
        return any(
            name in _reference_properties(self.properties, field)
            for field in ("targetRef", "targetRefs", "targetSelectors")
        )

    def max_targets(self) -> int:
        """The schema's bound; 16 where it is open (GEP-713's own type has that many), none where it states none."""
        refs = self.properties.get("targetRefs")
        if refs is not None:
            most = mapping(refs).get("maxItems")
            return most if isinstance(most, int) else UNLIMITED
        return 1 if "targetRef" in self.properties else 16

    def wrappers(self) -> Mapping[str, Literal["defaults", "overrides"]]:
        if self.open:
            return DEFAULT_WRAPPERS
        return {
            name: meaning
            for name, meaning in DEFAULT_WRAPPERS.items()
            if mapping(self.properties.get(name)).get("type") == "object"
        }

    def singular(self) -> bool:
        """Whether the kind uses `default` and `override`, the names of 2021 to 2023."""
        used = {name for name in DEFAULT_WRAPPERS if name in self.properties}
        used.update(name for spec in self.specs for name in DEFAULT_WRAPPERS if isinstance(spec.get(name), dict))
        return bool(used) and used <= {"default", "override"}

    def directive(self) -> Directive | None:
        """The conventional field that chooses a strategy.

        Beside the settings, a field of that name with other values is a setting (`strategy: RoundRobin`); inside a
        wrapper it chooses the strategy whatever it says, so that a misspelt one is noticed (22).
        """
        for field in _DIRECTIVE_FIELDS:
            if self._values(field) & _GRANULARITIES.keys() or self._wrapped(field):
                return Directive(field, _GRANULARITIES)
        if self.open and not self._values("strategy"):
            return Directive("strategy", _GRANULARITIES)
        return None

    def _values(self, field: str) -> set[str]:
        """Values of a field, by the schema's enums and in the objects, beside the settings or inside a wrapper."""
        schemas = (self.properties, *(_properties(self.properties.get(name)) for name in DEFAULT_WRAPPERS))
        found = {value for each in schemas for value in strings(sequence(mapping(each.get(field)).get("enum")))}
        return found.union(strings(spec.get(field) for spec in self.specs), self._wrapped(field))

    def _wrapped(self, field: str) -> list[str]:
        return strings(mapping(spec.get(name)).get(field) for spec in self.specs for name in DEFAULT_WRAPPERS)

    def maps(self) -> tuple[str, ...]:
        """Paths in the spec proper of what the schema declares a map: GEP-713 of 2023 replaces maps whole."""
        bare = {name: value for name, value in self.properties.items() if name not in DEFAULT_WRAPPERS}
        places = (bare, *(_properties(self.properties.get(name)) for name in DEFAULT_WRAPPERS))
        return tuple(sorted({path for place in places for path in _maps(place, "")}))

    def settings(self, wrappers: Iterable[str]) -> Settings:
        """Well-known names of what protects, wherever the kind has them."""
        names = set(self.properties)
        for wrapper in wrappers:
            names.update(_properties(self.properties.get(wrapper)))
        for spec in self.specs:
            names.update(spec, *(mapping(spec.get(each)) for each in wrappers))
        return Settings(
            tuple(sorted(names & _AUTHENTICATION)),
            tuple(sorted(names & _AUTHORIZATION)),
            tuple(sorted(names & _PROTECTION)),
        )

    def status(self) -> Literal["ancestors", "conditions", "none"]:
        status = mapping(mapping(self.schema.get("properties")).get("status"))
        fields = mapping(status.get("properties"))
        if "ancestors" in fields or not fields:
            return "ancestors"
        return "conditions" if "conditions" in fields else "none"


def _schema(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the storage version, else of the first that has one, else the old place for all versions."""
    versions = [mapping(each) for each in sequence(spec.get("versions"))]
    for each in sorted(versions, key=lambda version: version.get("storage") is not True):
        schema = mapping(mapping(each.get("schema")).get("openAPIV3Schema"))
        if schema:
            return schema
    return mapping(mapping(spec.get("validation")).get("openAPIV3Schema"))


def _reference_properties(properties: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    schema = mapping(properties.get(field))
    return mapping(mapping(schema.get("items", schema)).get("properties"))


def _maps(properties: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, schema in properties.items():
        inner = _properties(schema)
        if inner:
            yield from _maps(inner, f"{prefix}{name}.")
        elif mapping(schema).get("additionalProperties"):
            yield prefix + name


def _properties(schema: object) -> Mapping[str, Any]:
    return mapping(mapping(schema).get("properties"))


def strings(values: Iterable[object]) -> list[str]:
    return [each for each in values if isinstance(each, str)]
