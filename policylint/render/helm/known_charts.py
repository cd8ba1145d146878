"""Routes that published charts make of their values, for charts whose templates are known: grafana, rook-ceph-cluster.

Only the routes: what else such a chart makes stays unknown. A chart is here when the name and the parents of its routes
are certain from the values alone; for all others what they may create is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.render.helm.app_template import Release, filled_in
from policylint.render.provenance import Manifest, Trace

_LONGEST_NAME = 63


def routes(chart: str, release: Release) -> list[Manifest]:
    """The routes of a release of a chart; none of a chart that is not known here.

    Args:
        chart: its name: the last step of its address.
    """
    make = _KNOWN.get(chart)
    return [] if make is None else list(make(release))


def _grafana(release: Release) -> Iterator[Manifest]:
    """`route.<key>`: named as the release, `main` without its key."""
    full = _full_name(release, "grafana")
    for key, each in mapping(mapping(release.values).get("route")).items():
        if not isinstance(each, dict) or each.get("enabled") is not True:
            continue
        here = release.trace.child("route").child(key)
        port = mapping(mapping(release.values).get("service")).get("port", 80)
        rule: dict[str, Any] = {"backendRefs": [{"name": full, "port": port}]}
        rule.update({field: each[field] for field in ("filters", "matches") if each.get(field)})
        spec: dict[str, Any] = {"rules": [*filled_in(sequence(each.get("additionalRules")), release), rule]}
        if each.get("parentRefs"):
            spec["parentRefs"] = each["parentRefs"]
        if each.get("hostnames"):
            spec["hostnames"] = filled_in(each["hostnames"], release)
        name = full if key == "main" else f"{full}-{key}"
        kind = text(each.get("kind"), "HTTPRoute")
        namespace = text(mapping(release.values).get("namespaceOverride")) or release.namespace
        yield _route(release, kind, namespace, name, each, spec, here)


def _rook_ceph_cluster(release: Release) -> Iterator[Manifest]:
    """`route.dashboard`, where it has a `host`: named after the Ceph cluster, whose name is the namespace's."""
    values = mapping(release.values)
    each = mapping(mapping(values.get("route")).get("dashboard"))
    host = mapping(each.get("host"))
    if not host:
        return
    dashboard = mapping(mapping(values.get("cephClusterSpec")).get("dashboard"))
    port = dashboard.get("port") or (8443 if dashboard.get("ssl", True) else 7000)
    match = {"path": {"type": text(host.get("pathType"), "PathPrefix"), "value": text(host.get("path"), "/")}}
    rule = {"backendRefs": [{"name": "rook-ceph-mgr-dashboard", "port": port}], "matches": [match]}
    spec: dict[str, Any] = {"parentRefs": sequence(each.get("parentRefs")), "rules": [rule]}
    if text(host.get("name")):
        spec["hostnames"] = [host["name"]]
    here = release.trace.child("route").child("dashboard")
    name = f"{text(values.get('clusterName')) or release.namespace}-dashboard"
    made = _route(release, "HTTPRoute", release.namespace, name, each, spec, here)
    place = here.child("host").child("name")
    made.trace = made.trace.with_child(
        "spec", made.trace.child("spec").with_child("hostnames", place.with_items([place]))
    )
    yield made


def _full_name(release: Release, chart: str) -> str:
    """`fullnameOverride`, else the release's name, with the chart's in it."""
    values = mapping(release.values)
    full = text(values.get("fullnameOverride"))
    name = text(values.get("nameOverride")) or chart
    made = full or (release.name if name in release.name else f"{release.name}-{name}")
    return made[:_LONGEST_NAME].rstrip("-")


def _route(
    release: Release, kind: str, namespace: str, name: str, item: Any, spec: dict[str, Any], here: Trace
) -> Manifest:
    labels = {
        "app.kubernetes.io/instance": release.name,
        "app.kubernetes.io/managed-by": "Helm",
        **mapping(item.get("labels")),
    }
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "labels": labels}
    if mapping(item.get("annotations")):
        metadata["annotations"] = item["annotations"]
    body = {"apiVersion": f"{GATEWAY_GROUP}/v1", "kind": kind, "metadata": metadata, "spec": spec}
    own: dict[str | int, Trace] = {field: here.child(field) for field in ("labels", "annotations")}
    named = Trace(here.document, here.pointer, {"name": here, "namespace": here, **own})
    last = Trace(here.document, here.pointer, {field: here.child(field) for field in ("filters", "matches")})
    extra = sequence(item.get("additionalRules"))
    more = [here.child("additionalRules").child(index) for index in range(len(extra))]
    rules = Trace(here.document, here.pointer, dict(enumerate([*more, last])))
    inner = here.with_child("rules", rules)
    return Manifest(body, Trace(here.document, here.pointer, {"metadata": named, "spec": inner}))


_KNOWN: dict[str, Callable[[Release], Iterator[Manifest]]] = {
    "grafana": _grafana,
    "rook-ceph-cluster": _rook_ceph_cluster,
}
