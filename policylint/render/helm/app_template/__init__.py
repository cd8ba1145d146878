"""Objects that the bjw-s app-template chart makes of its values, each with its place in them.

Two thirds of all routes of the surveyed repositories exist only so (docs/design/field-notes.md §1, need 6). Only what
Gateway API, doors, policies and the network look at is made: routes, Ingresses, Services, the Pods behind them with
labels and ports, what restricts them, and what they refer to by name. The library's templates and unit tests
(bjw-s-labs/helm-charts, charts/library/common) are the specification.
"""

from __future__ import annotations

from typing import Any

from policylint.model import mapping, text
from policylint.render.helm.app_template.ingresses import ingress
from policylint.render.helm.app_template.network_policies import network_policy
from policylint.render.helm.app_template.release import CHART, LATEST, Item, Release, filled_in, items, made, major_of
from policylint.render.helm.app_template.routes import listener_set, reference_grant, route
from policylint.render.helm.app_template.services import service
from policylint.render.helm.app_template.workloads import only_controller, service_accounts, workload
from policylint.render.provenance import Manifest

__all__ = ["CHART", "Release", "looks_like", "makes", "objects"]

_AHEAD = 4
"""How many major versions may have come that nobody here knows."""
_OF_TRUECHARTS = frozenset({"credentials", "portal", "workload"})
"""Values that only the library of TrueCharts has."""


def looks_like(values: Any) -> bool:
    """Return whether values are of the app-template family, to judge by their form alone."""
    if not isinstance(mapping(values).get("controllers"), dict):
        return False
    routes = mapping(values.get("route")).values()
    return any(isinstance(entry, dict) and "parentRefs" in entry for entry in routes) or "service" in values


def makes(chart: str, version: str, values: Any) -> bool:
    """Return whether a chart is of the family, by its name or by the form of its values.

    TrueCharts has one of the same name (trueforge-org/truecharts, charts/library/common): it counts higher, and has
    `workload` where this one has `controllers`.
    """
    is_other = major_of(chart, version) > LATEST + _AHEAD or not mapping(values).keys().isdisjoint(_OF_TRUECHARTS)
    return (chart == CHART or looks_like(values)) and not is_other


def objects(release: Release) -> list[Manifest]:
    """Return the objects of a release.

    Raises:
        ExhaustedError: there are more than the budget allows.
    """
    services, listener_sets = items(release, "service"), items(release, "listenerSets")
    accounts = service_accounts(release)
    found = [service(release, item) for item in services.values()]
    found += [listener_set(release, item) for item in listener_sets.values()]
    for item in items(release, "route").values():
        made_route = route(release, item, services, listener_sets)
        found += [made_route, *reference_grant(release, item, made_route)]
    found += [ingress(release, item, services) for item in items(release, "ingress").values()]
    first = only_controller(release, services) if release.major <= 1 else None
    controllers = list(items(release, "controllers").values()) if first is None else [first]
    for item in controllers:
        found += workload(release, item, accounts)
    if "serviceAccount" in release.values:
        found += [made(release, item, "v1", "ServiceAccount", {}, {}) for item in accounts.values()]
    found += [network_policy(release, item) for item in items(release, "networkpolicies").values()]
    for kind, field in (("ConfigMap", "configMaps"), ("Secret", "secrets")):
        found += [_stored(release, kind, item) for item in items(release, field).values()]
    found += filter(None, (_raw(release, item) for item in items(release, "rawResources").values()))
    if release.chart != CHART:
        for manifest in found:
            manifest.leave_open(f"the values of chart {release.chart or release.name} itself were not seen")
    return found


def _stored(release: Release, kind: str, item: Item) -> Manifest:
    """Return a ConfigMap or a Secret."""
    written = {name: item.values[name] for name in ("type", "data", "stringData", "binaryData") if name in item.values}
    return made(release, item, "v1", kind, filled_in(written, release), {})


def _raw(release: Release, item: Item) -> Manifest | None:
    """Return an object that the values hold in full: from version 5 on below `manifest`, before beside the labels."""
    place = item.origin.child("manifest") if isinstance(item.values.get("manifest"), dict) else item.origin
    body = item.values if place is item.origin else item.values["manifest"]
    api_version, kind = text(body.get("apiVersion")), text(body.get("kind"))
    if not api_version or not kind:
        return None
    spec_place = place.child("spec")
    content = {"spec": mapping(body.get("spec"))}
    if place is not item.origin:
        content = {name: value for name, value in body.items() if name not in ("apiVersion", "kind", "metadata")}
        item = item._replace(values=mapping(body.get("metadata")))
    elif list(content["spec"]) == ["spec"]:
        content, spec_place = {"spec": mapping(content["spec"]["spec"])}, spec_place.child("spec")
    namespace = text(filled_in(text(mapping(body.get("metadata")).get("namespace")), release))
    manifest = made(release, item, api_version, kind, filled_in(content, release), {}, namespace)
    manifest.origin = place.with_children({**manifest.origin.children, "spec": spec_place})
    return manifest
