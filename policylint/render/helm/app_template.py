"""HTTPRoutes and Services that the bjw-s app-template chart makes of its values, each value with its place in them.

Two thirds of all routes of the surveyed repositories exist only so (docs/design/field-notes.md §1, need 6). Only what
Gateway API and policies look at is made: names, parents, hostnames, matches, filters, backends, ports.
"""

from __future__ import annotations

import re
from typing import Any

from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Manifest, Trace

CHART = "app-template"
_TEMPLATE = re.compile(r"\{\{-?\s*\.Release\.(Name|Namespace)\s*-?\}\}")


class Release(NamedTuple):
    """One installation of the chart.

    Args:
        name, namespace: of the release.
        values: merged from all sources.
        trace: where the values are written.
    """

    name: str
    namespace: str
    values: Any
    trace: Trace


class _Item(NamedTuple):
    """An entry of `route`, `service` or `rawResources`: its key, its values, and the name the chart gives it."""

    key: str
    values: Any
    trace: Trace
    name: str


def looks_like(values: Any) -> bool:
    """Whether values are of the app-template family, to judge by their form alone."""
    if not isinstance(mapping(values).get("controllers"), dict):
        return False
    routes = mapping(mapping(values).get("route")).values()
    return any(isinstance(each, dict) and "parentRefs" in each for each in routes) or "service" in values


def objects(release: Release) -> list[Manifest]:
    """The Services, routes and raw resources of a release."""
    services = _items(release, "service")
    made = [_service(release, each) for each in services]
    made += [_route(release, each, services) for each in _items(release, "route")]
    made += [found for each in _items(release, "rawResources") if (found := _raw(release, each)) is not None]
    return made


def _items(release: Release, field: str) -> list[_Item]:
    """The enabled entries; the only one is named as the release, several by their keys, too."""
    enabled = [
        (key, mapping(values))
        for key, values in mapping(mapping(release.values).get(field)).items()
        if isinstance(values, dict) and values.get("enabled") is not False
    ]
    full = _full_name(release)
    items = []
    for key, values in enabled:
        suffix = values.get("suffix", values.get("nameOverride"))
        forced = text(values.get("forceRename"))
        if forced:
            name = filled_in(forced, release)
        elif isinstance(suffix, str):
            name = f"{full}-{filled_in(suffix, release)}" if suffix else full
        else:
            name = f"{full}-{key}" if len(enabled) > 1 and values.get("primary") is not True else full
        if text(values.get("prefix")):
            name = f"{filled_in(values['prefix'], release)}-{name}"
        items.append(_Item(key, values, release.trace.child(field).child(key), name))
    return items


def _full_name(release: Release) -> str:
    shared = mapping(mapping(release.values).get("global"))
    full = text(shared.get("fullnameOverride"))
    if full:
        return str(filled_in(full, release))
    name = str(filled_in(text(shared.get("nameOverride")), release))
    return release.name if not name or name in release.name else f"{release.name}-{name}"


def filled_in(value: Any, release: Release) -> Any:
    """Templates of the release's own name and namespace filled in; other ones stay, symbolic."""
    if isinstance(value, str):
        known = {"Name": release.name, "Namespace": release.namespace}
        return _TEMPLATE.sub(lambda match: known[match[1]], value) if "{{" in value else value
    if isinstance(value, dict):
        return {name: filled_in(each, release) for name, each in value.items()}
    return [filled_in(each, release) for each in value] if isinstance(value, list) else value


def _metadata(release: Release, item: _Item) -> tuple[dict[str, Any], Trace]:
    labels = {
        "app.kubernetes.io/name": filled_in(_full_name(release), release),
        "app.kubernetes.io/instance": release.name,
        "app.kubernetes.io/managed-by": "Helm",
        **mapping(mapping(release.values.get("global")).get("labels")),
        **mapping(item.values.get("labels")),
    }
    metadata = {"name": item.name, "namespace": release.namespace, "labels": filled_in(labels, release)}
    if mapping(item.values.get("annotations")):
        metadata["annotations"] = filled_in(item.values["annotations"], release)
    here = item.trace
    own: dict[str | int, Trace] = {"labels": here.child("labels"), "annotations": here.child("annotations")}
    # The name is nowhere: its place is the entry, the way in which people would say where it comes from.
    return metadata, Trace(here.document, here.pointer, {"name": here, "namespace": here, **own})


def _service(release: Release, item: _Item) -> Manifest:
    ports = []
    traces = []
    for key, port in mapping(item.values.get("ports")).items():
        if isinstance(port, dict) and port.get("enabled") is not False:
            protocol = text(port.get("protocol"), "TCP")
            known = protocol if protocol in ("TCP", "UDP", "SCTP") else "TCP"
            ports.append({"name": key, "port": port.get("port"), "protocol": known})
            traces.append(item.trace.child("ports").child(key))
    controller = text(item.values.get("controller"))
    selector = {"app.kubernetes.io/name": _full_name(release), "app.kubernetes.io/instance": release.name}
    if controller:
        selector["app.kubernetes.io/controller"] = controller
    spec = {"type": text(item.values.get("type"), "ClusterIP"), "ports": ports, "selector": selector}
    metadata, place = _metadata(release, item)
    body = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    here = item.trace
    inner = Trace(here.document, here.pointer, {"ports": here.child("ports").with_items(traces)})
    return Manifest(body, Trace(here.document, here.pointer, {"metadata": place, "spec": inner}))


def _route(release: Release, item: _Item, services: list[_Item]) -> Manifest:
    kind = text(item.values.get("kind"), "HTTPRoute")
    version = "v1" if kind in ("HTTPRoute", "GRPCRoute") else "v1alpha2"
    spec: dict[str, Any] = {}
    children: dict[str | int, Trace] = {}
    for field in ("parentRefs", "hostnames"):
        if item.values.get(field) is not None:
            spec[field] = filled_in(item.values[field], release)
            children[field] = item.trace.child(field)
    rules = item.values.get("rules")
    if rules is None:
        rules = [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]} if kind == "HTTPRoute" else {}]
    made = []
    places = []
    for index, rule in enumerate(sequence(rules)):
        body, place = _rule(release, mapping(rule), item.trace.child("rules").child(index), services, kind)
        made.append(body)
        places.append(place)
    spec["rules"] = made
    children["rules"] = item.trace.child("rules").with_items(places)
    metadata, named = _metadata(release, item)
    body = {"apiVersion": f"{GATEWAY_GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": spec}
    here = item.trace
    inner = Trace(here.document, here.pointer, children)
    return Manifest(body, Trace(here.document, here.pointer, {"metadata": named, "spec": inner}))


def _rule(release: Release, rule: Any, trace: Trace, services: list[_Item], kind: str) -> tuple[dict[str, Any], Trace]:
    """A rule as the chart writes it: backends by the service's name, the only service where none is named."""
    body = {name: filled_in(each, release) for name, each in rule.items() if name != "backendRefs"}
    references = rule.get("backendRefs")
    if references is None and len(services) == 1 and not _redirects(rule):
        references = [{"identifier": services[0].key}]
    if references:
        body["backendRefs"] = [_backend(release, mapping(each), services) for each in sequence(references)]
    if kind == "HTTPRoute" and "matches" not in body:
        body["matches"] = [{"path": {"type": "PathPrefix", "value": "/"}}]
    return body, trace


def _redirects(rule: Any) -> bool:
    return any(mapping(each).get("type") == "RequestRedirect" for each in sequence(rule.get("filters")))


def _backend(release: Release, reference: Any, services: list[_Item]) -> dict[str, Any]:
    body = {name: filled_in(each, release) for name, each in reference.items() if name != "identifier"}
    identifier = text(reference.get("identifier"))
    service = next((each for each in services if each.key == identifier), None)
    if identifier:
        body["name"] = service.name if service is not None else f"{_full_name(release)}-{identifier}"
    if service is not None:
        ports = {key: mapping(each).get("port") for key, each in mapping(service.values.get("ports")).items()}
        if "port" not in body and ports:
            body["port"] = next(iter(ports.values()))
        elif isinstance(body.get("port"), str) and body["port"] in ports:
            body["port"] = ports[body["port"]]
    return body


def _raw(release: Release, item: _Item) -> Manifest | None:
    """An object that the values hold in full."""
    body = item.values.get("manifest") if isinstance(item.values.get("manifest"), dict) else item.values
    api_version, kind = text(body.get("apiVersion")), text(body.get("kind"))
    if not api_version or not kind:
        return None
    metadata, named = _metadata(release, item)
    made = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    place = item.trace if body is item.values else item.trace.child("manifest")
    fields = mapping(body.get("spec"))
    inner = mapping(fields.get("spec")) if api_version and "spec" in fields and len(fields) == 1 else fields
    made["spec"] = filled_in(inner, release)
    spec = place.child("spec") if inner is fields else place.child("spec").child("spec")
    return Manifest(made, Trace(place.document, place.pointer, {"metadata": named, "spec": spec}))
