"""HTTPRoutes and Services that the bjw-s app-template chart makes of its values, each with its place in them.

Two thirds of all routes of the surveyed repositories exist only so (docs/design/field-notes.md §1, need 6). Only what
Gateway API and policies look at is made: names, parents, hostnames, matches, filters, backends, ports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Manifest, Provenance
from policylint.render.texts import map_texts

CHART = "app-template"
_FOR_AN_OBJECT = 20
"""Steps of work that it costs to make one."""
_EVERYTHING = [{"path": {"type": "PathPrefix", "value": "/"}}]
_TEMPLATE = re.compile(r"\{\{-?\s*\.Release\.(Name|Namespace)\s*-?\}\}")


class Release(NamedTuple):
    """One installation of the chart.

    Args:
        name, namespace: of the release.
        values: merged from all sources.
        origin: where the values are written.
        budget: the work that making its objects may cost.
    """

    name: str
    namespace: str
    values: Any
    origin: Provenance
    budget: Budget


class _Item(NamedTuple):
    """An entry of `route`, `service` or `rawResources`: its key, its values, and the name the chart gives it."""

    key: str
    values: Any
    origin: Provenance
    name: str


def looks_like(values: Any) -> bool:
    """Return whether values are of the app-template family, to judge by their form alone."""
    if not isinstance(mapping(values).get("controllers"), dict):
        return False
    routes = mapping(values.get("route")).values()
    return any(isinstance(route, dict) and "parentRefs" in route for route in routes) or "service" in values


def objects(release: Release) -> list[Manifest]:
    """Return the Services, routes and raw resources of a release.

    Raises:
        ExhaustedError: there are more than the budget allows.
    """
    services = {item.key: item for item in _items(release, "service")}
    made = [_service(release, item) for item in services.values()]
    made += [_route(release, item, services) for item in _items(release, "route")]
    return [*made, *filter(None, (_raw(release, item) for item in _items(release, "rawResources")))]


def _items(release: Release, field: str) -> list[_Item]:
    """Return the enabled entries; the only one is named as the release, several by their keys, too."""
    enabled = [
        (key, values)
        for key, values in mapping(mapping(release.values).get(field)).items()
        if isinstance(values, dict) and values.get("enabled") is not False
    ]
    items = []
    for key, values in enabled:
        release.budget.spend(_FOR_AN_OBJECT)
        name = _name(release, key, values, only=len(enabled) == 1)
        release.budget.spend_on_text(len(name))
        items.append(_Item(key, values, release.origin.at(field, key), name))
    return items


def _name(release: Release, key: str, values: Any, *, only: bool) -> str:
    """Return the name of an entry's object.

    Versions up to 3 have `nameOverride` and `primary`, later ones `prefix` and `suffix`, which stand around the key.
    """
    if text(values.get("forceRename")):
        return str(filled_in(values["forceRename"], release))
    full = _full_name(release)
    prefix, suffix = (str(filled_in(text(values.get(field)), release)) for field in ("prefix", "suffix"))
    name = f"{prefix}-{full}" if prefix and prefix != full else full
    override = values.get("nameOverride")
    always = mapping(mapping(release.values).get("global")).get("alwaysAppendIdentifierToResourceName") is True
    if isinstance(override, str):
        name += f"-{filled_in(override, release)}" if override else ""
    elif (always or not only) and values.get("primary") is not True and not name.endswith(f"-{key}"):
        name += f"-{key}"
    if suffix and not name.endswith(f"-{suffix}"):
        name += f"-{suffix}"
    return name.lower()


def _full_name(release: Release) -> str:
    shared = mapping(mapping(release.values).get("global"))
    full = text(shared.get("fullnameOverride"))
    if full:
        return str(filled_in(full, release))
    name = str(filled_in(text(shared.get("nameOverride")), release))
    return release.name if not name or name in release.name else f"{release.name}-{name}"


def filled_in(value: Any, release: Release) -> Any:
    """Return a value with templates of the release's own name and namespace filled in; other ones stay, symbolic."""
    known = {"Name": release.name, "Namespace": release.namespace}

    def replaced(match: re.Match[str]) -> str:
        release.budget.spend_on_text(len(known[match[1]]))
        return known[match[1]]

    return map_texts(value, lambda written: _TEMPLATE.sub(replaced, written) if "{{" in written else written)


def _made(
    release: Release, item: _Item, api_version: str, kind: str, spec: Any, fields: dict[Any, Provenance]
) -> Manifest:
    """Return an object of an entry, with the metadata that the chart gives it.

    Args:
        fields: where those of the spec are written that are not below the entry as in the spec.
    """
    labels = {
        "app.kubernetes.io/name": filled_in(_full_name(release), release),
        "app.kubernetes.io/instance": release.name,
        "app.kubernetes.io/managed-by": "Helm",
        **mapping(mapping(release.values.get("global")).get("labels")),
        **mapping(item.values.get("labels")),
    }
    release.budget.spend(_FOR_AN_OBJECT + size_of(labels)[0])
    metadata = {"name": item.name, "namespace": release.namespace, "labels": filled_in(labels, release)}
    if mapping(item.values.get("annotations")):
        metadata["annotations"] = filled_in(item.values["annotations"], release)
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    origin = entry_origin(item.origin, item.origin.with_children(fields))
    return Manifest(body, origin, weight=_FOR_AN_OBJECT + size_of(spec)[0])


def entry_origin(entry: Provenance, spec: Provenance) -> Provenance:
    """Return the provenance of an object that a chart makes of one entry of its values.

    Its name and namespace stand nowhere: their place is the entry, which is what people would point at.
    """
    own = {field: entry.child(field) for field in ("labels", "annotations")}
    metadata = entry.with_children({"name": entry, "namespace": entry, **own})
    return entry.with_children({"metadata": metadata, "spec": spec})


def _service(release: Release, item: _Item) -> Manifest:
    ports = []
    origins = []
    for key, port in mapping(item.values.get("ports")).items():
        if isinstance(port, dict) and port.get("enabled") is not False:
            protocol = text(port.get("protocol"), "TCP")
            known = protocol if protocol in ("TCP", "UDP", "SCTP") else "TCP"
            ports.append({"name": key, "port": port.get("port"), "protocol": known})
            origins.append(item.origin.at("ports", key))
    controller = text(item.values.get("controller"))
    selector = {"app.kubernetes.io/name": _full_name(release), "app.kubernetes.io/instance": release.name}
    if controller:
        selector["app.kubernetes.io/controller"] = controller
    spec = {"type": text(item.values.get("type"), "ClusterIP"), "ports": ports, "selector": selector}
    return _made(release, item, "v1", "Service", spec, {"ports": item.origin.child("ports").with_items(origins)})


def _route(release: Release, item: _Item, services: Mapping[str, _Item]) -> Manifest:
    kind = text(item.values.get("kind"), "HTTPRoute")
    version = "v1" if kind in ("HTTPRoute", "GRPCRoute") else "v1alpha2"
    fields = [field for field in ("parentRefs", "hostnames") if item.values.get(field) is not None]
    spec: dict[str, Any] = {field: filled_in(item.values[field], release) for field in fields}
    rules = item.values.get("rules")
    if rules is None:
        rules = [{"matches": _EVERYTHING} if kind == "HTTPRoute" else {}]
    spec["rules"] = [_rule(release, mapping(rule), services, kind) for rule in sequence(rules)]
    origins = {field: item.origin.child(field) for field in (*fields, "rules")}
    return _made(release, item, f"{GATEWAY_GROUP}/{version}", kind, spec, origins)


def _rule(release: Release, rule: Any, services: Mapping[str, _Item], kind: str) -> dict[str, Any]:
    """Return a rule as the chart writes it: backends by the service's name, the only service where none is named."""
    body = {name: filled_in(value, release) for name, value in rule.items() if name != "backendRefs"}
    references = rule.get("backendRefs")
    redirects = "RequestRedirect" in [mapping(rule_filter).get("type") for rule_filter in sequence(rule.get("filters"))]
    if references is None and len(services) == 1 and not redirects:
        references = [{"identifier": next(iter(services))}]
    if references:
        body["backendRefs"] = [_backend(release, mapping(reference), services) for reference in sequence(references)]
    if kind == "HTTPRoute" and "matches" not in body:
        body["matches"] = _EVERYTHING
    return body


def _backend(release: Release, reference: Any, services: Mapping[str, _Item]) -> dict[str, Any]:
    body = {name: filled_in(value, release) for name, value in reference.items() if name != "identifier"}
    identifier = text(reference.get("identifier"))
    if not identifier and not reference.get("name") and len(services) == 1:
        identifier = next(iter(services))
    service = services.get(identifier)
    if identifier:
        body["name"] = service.name if service is not None else f"{_full_name(release)}-{identifier}"
    if service is not None:
        ports = mapping(service.values.get("ports"))
        if not body.get("port") and ports:
            body["port"] = _primary(service.values, {key: mapping(port).get("port") for key, port in ports.items()})
        elif isinstance(body.get("port"), str) and body["port"] in ports:
            body["port"] = mapping(ports[body["port"]]).get("port")
    for field in ("port", "weight"):
        if isinstance(body.get(field), str) and body[field].isdecimal() and body[field].isascii():
            body[field] = int(body[field])  # printed into a template, a text of digits is a number
    return body


def _primary(values: Any, ports: dict[str, Any]) -> Any:
    """Return the number of a service's primary port: the one that says so, else the first by name."""
    enabled = {
        key: number for key, number in ports.items() if mapping(values["ports"][key]).get("enabled") is not False
    }
    primary = [key for key in enabled if mapping(values["ports"][key]).get("primary") is True]
    return enabled[(primary or sorted(enabled))[0]] if enabled else None


def _raw(release: Release, item: _Item) -> Manifest | None:
    """Return an object that the values hold in full."""
    place = item.origin.child("manifest") if isinstance(item.values.get("manifest"), dict) else item.origin
    body = item.values if place is item.origin else item.values["manifest"]
    api_version, kind = text(body.get("apiVersion")), text(body.get("kind"))
    if not api_version or not kind:
        return None
    spec, spec_place = mapping(body.get("spec")), place.child("spec")
    if list(spec) == ["spec"]:
        spec, spec_place = mapping(spec["spec"]), spec_place.child("spec")
    manifest = _made(release, item, api_version, kind, filled_in(spec, release), {})
    manifest.origin = place.with_children({**manifest.origin.children, "spec": spec_place})
    return manifest
