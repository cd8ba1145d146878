"""Routes of an app-template release, the ListenerSets they may hang on, and the grants they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.render.helm.app_template.release import CHART, Item, Release, as_number, filled_in, full_name, made
from policylint.render.helm.app_template.services import port_named, primary_port
from policylint.render.provenance import Manifest
from policylint.spaces.predicates import PREFIX

_EVERYTHING = [{"path": {"type": PREFIX, "value": "/"}}]
_Items = Mapping[str, Item]
_WITHOUT_HOSTNAMES = ("TCPRoute", "UDPRoute")
_OF_LAYER_7 = ("HTTPRoute", "GRPCRoute")
_OF_ANY_RULE = ("name",)
"""Fields of a rule that every kind of route has, beside its backends."""


def route(release: Release, item: Item, services: _Items, listener_sets: _Items) -> Manifest:
    """Return the route of an entry of `route` (templates/classes/_route.tpl)."""
    kind = text(item.values.get("kind"), "HTTPRoute")
    namespace = _namespace(release, item)
    spec: dict[str, Any] = {}
    if item.values.get("parentRefs") is not None:
        parents = filled_in(sequence(item.values["parentRefs"]), release)
        spec["parentRefs"] = [_parent(release, parent, namespace, listener_sets) for parent in parents]
    if item.values.get("hostnames") is not None and kind not in _WITHOUT_HOSTNAMES:
        spec["hostnames"] = filled_in(item.values["hostnames"], release)
    origins = {field: item.origin.child(field) for field in (*spec, "rules")}
    rules = sequence(item.values.get("rules")) or [{}]
    spec["rules"] = [_rule(release, mapping(rule), services, kind, namespace) for rule in rules]
    version = "v1" if kind in _OF_LAYER_7 else "v1alpha2"
    return made(release, item, f"{GATEWAY_GROUP}/{version}", kind, {"spec": spec}, origins, namespace)


def _namespace(release: Release, item: Item) -> str:
    return text(filled_in(text(item.values.get("namespaceOverride")), release)) or release.namespace


def _parent(release: Release, parent: Any, namespace: str, listener_sets: _Items) -> Any:
    """Return a parent as the chart writes it: a ListenerSet of the release by its name."""
    listeners = listener_sets.get(text(mapping(parent).get("identifier")))
    if listeners is None:
        return parent
    others = {name: value for name, value in parent.items() if name != "identifier"}
    body = {"group": GATEWAY_GROUP, "kind": "ListenerSet", **others, "name": listeners.name}
    if not body.get("namespace") and _namespace(release, listeners) != namespace:
        body["namespace"] = _namespace(release, listeners)
    return body


def _rule(release: Release, rule: Any, services: _Items, kind: str, namespace: str) -> dict[str, Any]:
    """Return a rule as the chart writes it: backends by the service's name, the only service where none is named."""
    kept = [name for name in rule if name != "backendRefs" and (kind in _OF_LAYER_7 or name in _OF_ANY_RULE)]
    body = {name: filled_in(rule[name], release) for name in kept if name != "timeouts" or kind == "HTTPRoute"}
    references = rule.get("backendRefs")
    redirects = "RequestRedirect" in [mapping(rule_filter).get("type") for rule_filter in sequence(rule.get("filters"))]
    if references is None and len(services) == 1 and not redirects:
        references = [{"identifier": next(iter(services))}]
    if references:
        backends = (_backend(release, mapping(reference), services) for reference in sequence(references))
        # Without a namespace, a backend is in the release's, wherever the route is.
        home = {} if namespace == release.namespace else {"namespace": release.namespace}
        body["backendRefs"] = [{**home, **backend} for backend in backends]
    if kind == "HTTPRoute" and not body.get("matches"):
        body["matches"] = _EVERYTHING
    return body


def _backend(release: Release, reference: Any, services: _Items) -> dict[str, Any]:
    body = {name: filled_in(value, release) for name, value in reference.items() if name != "identifier"}
    identifier = "" if reference.get("name") else text(filled_in(text(reference.get("identifier")), release))
    if not identifier and not reference.get("name") and len(services) == 1:
        identifier = next(iter(services))
    service = services.get(identifier)
    if identifier:
        body["name"] = service.name if service is not None else f"{full_name(release)}-{identifier}"
    port = body.get("port")
    if service is not None and not port:
        port = primary_port(release, service)
    elif identifier and isinstance(port, str):
        # What names no port here may be one of the chart's own values, which are not seen.
        unnamed = port if release.chart == CHART else f"${{{port}}}"
        port = (port_named(release, service, port) if service is not None else None) or unnamed
    if port:
        body["port"] = port
    for field in ("port", "weight"):
        if field in body:
            body[field] = as_number(body[field])
    return body


def reference_grant(release: Release, item: Item, made_route: Manifest) -> Iterator[Manifest]:
    """Yield the ReferenceGrant of a route in another namespace, which names the Services of the release that it leads
    to, and others that it names there (templates/classes/_referenceGrant.tpl)."""
    namespace = made_route.namespace
    if namespace == release.namespace or mapping(item.values.get("referenceGrant")).get("enabled") is False:
        return
    rules = sequence(item.values.get("rules")) or [{}]
    names: dict[str, None] = {}
    for rule, made_rule in zip(rules, made_route.spec["rules"], strict=True):
        references = sequence(mapping(rule).get("backendRefs")) or [{}]
        for reference, backend in zip(references, made_rule.get("backendRefs", ()), strict=False):
            if not mapping(reference).get("name") or backend["namespace"] == release.namespace:
                names[text(backend.get("name"))] = None
    granted = [{"group": "", "kind": "Service", "name": name} for name in names if name]
    if granted:
        spec = {"from": [{"group": GATEWAY_GROUP, "kind": made_route.kind, "namespace": namespace}], "to": granted}
        places = {"from": item.origin, "to": item.origin.child("rules")}
        yield made(release, item, f"{GATEWAY_GROUP}/v1beta1", "ReferenceGrant", {"spec": spec}, places)


def listener_set(release: Release, item: Item) -> Manifest:
    """Return the ListenerSet of an entry of `listenerSets` (templates/classes/_listenerSet.tpl)."""
    fields = [field for field in ("parentRef", "listeners") if field in item.values]
    spec = {field: filled_in(item.values[field], release) for field in fields}
    return made(release, item, f"{GATEWAY_GROUP}/v1", "ListenerSet", {"spec": spec}, {}, _namespace(release, item))
