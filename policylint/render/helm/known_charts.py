"""Routes and Gateways that published charts make of their values, for charts whose templates are known: grafana,
rook-ceph-cluster, traefik.

Only these: what else such a chart makes stays unknown. A chart is here when their names, the parents of routes and the
listeners of Gateways are certain from the values alone; for all others what they may create is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.model.resource import GUESSED
from policylint.render.helm.app_template.release import Release, entry_origin, filled_in
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.spaces.predicates import PREFIX

_LONGEST_NAME = 63


def routes(chart: str, release: Release) -> list[Manifest]:
    """Return the routes and Gateways of a release of a chart; none of a chart that is not known here.

    Args:
        chart: its name: the last step of its address.
    """
    make = _KNOWN.get(chart)
    return [] if make is None else list(make(release))


def _grafana(release: Release) -> Iterator[Manifest]:
    """Yield the routes of `route.<key>`: named as the release, `main` without its key."""
    values = mapping(release.values)
    full = _full_name(release, "grafana")
    for key, item in mapping(values.get("route")).items():
        if not isinstance(item, dict) or item.get("enabled") is not True:
            continue
        port = mapping(values.get("service")).get("port", 80)
        rule: dict[str, Any] = {"backendRefs": [{"name": full, "port": port}]}
        rule.update({field: item[field] for field in ("filters", "matches") if item.get(field)})
        spec: dict[str, Any] = {"rules": [*filled_in(sequence(item.get("additionalRules")), release), rule]}
        if item.get("parentRefs"):
            spec["parentRefs"] = item["parentRefs"]
        if item.get("hostnames"):
            spec["hostnames"] = filled_in(item["hostnames"], release)
        name = full if key == "main" else f"{full}-{key}"
        kind = text(item.get("kind"), "HTTPRoute")
        namespace = text(values.get("namespaceOverride")) or release.namespace
        place = release.origin.at("route", key)
        last = place.with_children({field: place.child(field) for field in ("filters", "matches")})
        more = [rule_place for _, rule_place in entries(item, place, "additionalRules")]
        origin = place.with_child("rules", place.with_items([*more, last]))
        yield _made(release, kind, namespace, name, item, spec, place, origin)


def _rook_ceph_cluster(release: Release) -> Iterator[Manifest]:
    """Yield the route of `route.dashboard`, where it has a `host`: named after the Ceph cluster, whose name is the
    namespace's."""
    values = mapping(release.values)
    item = mapping(mapping(values.get("route")).get("dashboard"))
    host = mapping(item.get("host"))
    if not host:
        return
    dashboard = mapping(mapping(values.get("cephClusterSpec")).get("dashboard"))
    port = dashboard.get("port") or (8443 if dashboard.get("ssl", True) else 7000)
    match = {"path": {"type": text(host.get("pathType"), PREFIX), "value": text(host.get("path"), "/")}}
    rule = {"backendRefs": [{"name": "rook-ceph-mgr-dashboard", "port": port}], "matches": [match]}
    spec: dict[str, Any] = {"parentRefs": sequence(item.get("parentRefs")), "rules": [rule]}
    if text(host.get("name")):
        spec["hostnames"] = [host["name"]]
    place = release.origin.at("route", "dashboard")
    hostname = place.at("host", "name")
    last = place.with_children({field: place.child(field) for field in ("filters", "matches")})
    origin = place.with_child("rules", place.with_items([last])).with_child(
        "hostnames", hostname.with_items([hostname])
    )
    name = f"{text(values.get('clusterName')) or release.namespace}-dashboard"
    yield _made(release, "HTTPRoute", release.namespace, name, item, spec, place, origin)


def _traefik(release: Release) -> Iterator[Manifest]:
    """Yield the Gateway and its class, where the provider of Gateway API is on: `web` is a listener unless it is null.

    Source: traefik-helm-chart, templates/gateway.yaml and gatewayclass.yaml of 30.0 to 41.3. Before 36.0, its own
    `namespace` was not heeded.
    """
    values, place = mapping(release.values), release.origin.child("gateway")
    item, of_class = mapping(values.get("gateway")), mapping(values.get("gatewayClass"))
    provider = mapping(mapping(values.get("providers")).get("kubernetesGateway"))
    own = text(item.get("namespace"))
    if provider.get("enabled") is not True or own not in ("", release.namespace):
        return
    name_of_class = text(of_class.get("name")) or "traefik"
    if of_class.get("enabled", True) is not False:
        controller = {"controllerName": "traefik.io/gateway-controller"}
        classed = release.origin.child("gatewayClass")
        made = _made(release, "GatewayClass", "", name_of_class, of_class, controller, classed, classed)
        made.leave_open(GUESSED)
        yield made
    stated = mapping(item.get("listeners"))
    listeners = {key: mapping(each) for key, each in {"web": {}, **stated}.items() if each is not None}
    if "web" in listeners:
        listeners["web"] = {"port": 8000, "protocol": "HTTP", **listeners["web"]}
    if item.get("enabled", True) is False or not all(each.get("port") for each in listeners.values()):
        return
    places = [place.at("listeners", key) for key in sorted(listeners)]
    spec = {
        "gatewayClassName": name_of_class,
        "listeners": [_listener(key, listeners[key]) for key in sorted(listeners)],
    }
    spec.update({field: item[field] for field in ("infrastructure", "defaultScope") if item.get(field)})
    origin = place.with_child("listeners", place.child("listeners").with_items(places))
    name = text(item.get("name")) or "traefik-gateway"
    yield _made(release, "Gateway", release.namespace, name, item, spec, place, origin)


def _listener(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    made = {"name": name, **{field: item[field] for field in ("port", "protocol", "hostname") if item.get(field)}}
    policy = item.get("namespacePolicy")  # before 37.0 it was `from` alone
    if policy:
        made["allowedRoutes"] = {"namespaces": {"from": policy} if isinstance(policy, str) else policy}
    tls = {field: item[field] for field in ("mode", "certificateRefs") if item.get(field)}
    return {**made, "tls": tls} if tls else made


def _full_name(release: Release, chart: str) -> str:
    """Return `fullnameOverride`, else the release's name, with the chart's in it."""
    values = mapping(release.values)
    name = text(values.get("nameOverride")) or chart
    full = text(values.get("fullnameOverride")) or (release.name if name in release.name else f"{release.name}-{name}")
    return full[:_LONGEST_NAME].rstrip("-")


def _made(
    release: Release,
    kind: str,
    namespace: str,
    name: str,
    item: Any,
    spec: dict[str, Any],
    place: Provenance,
    origin: Provenance,
) -> Manifest:
    labels = {
        "app.kubernetes.io/instance": release.name,
        "app.kubernetes.io/managed-by": "Helm",
        **mapping(item.get("labels")),
    }
    metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {}), "labels": labels}
    if mapping(item.get("annotations")):
        metadata["annotations"] = item["annotations"]
    body = {"apiVersion": f"{GATEWAY_GROUP}/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return Manifest(body, entry_origin(place, origin))


_KNOWN: dict[str, Callable[[Release], Iterator[Manifest]]] = {
    "grafana": _grafana,
    "rook-ceph-cluster": _rook_ceph_cluster,
    "traefik": _traefik,
}
