"""Services behind which nobody sees the addresses of clients: the nodes put their own in place of them.

Source: kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer, «Preserving the client source
IP», and tutorials/services/source-ip; schemas/doors.yaml, `proxies`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors import is_on_node, published_as
from policylint.doors.controllers import settings_of
from policylint.doors.vendors import Vendor, keeping
from policylint.implementations.generic.containers import runs
from policylint.load.charts import values_of
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.topology.workloads import pod_spec, workloads_selected

FIELD = "externalTrafficPolicy"


class Hiding(NamedTuple):
    """What hides the addresses of clients: a Service, values of a chart, parameters of a Gateway; and where it says so.

    Args:
        is_stated: whether the field stands there; without it the default is meant.
    """

    owner: Resource
    place: Pointer
    is_stated: bool


def hiding_services(world: World) -> list[Hiding]:
    """Return the published Services whose nodes pass connections on as their own, as far as is to be seen."""
    return world.once(_services)


def of_controller(world: World, vendor: Vendor) -> Hiding | None:
    """Return what hides the addresses of clients from a controller of Ingresses, None where nothing seems to."""
    about = vendor.proxies
    if not about or any(speaks_of_proxies(settings) for _, settings in settings_of(world, vendor)):
        return None
    for hiding in hiding_services(world):
        for workload in workloads_selected(world, hiding.owner):
            listed = map(mapping, sequence(pod_spec(workload).get("containers")))
            if any(runs(container, vendor.images) for container in listed):
                return hiding
    place = tuple(text(about.get("policy")).split("."))
    for release, values, is_whole in values_of(world, vendor.chart) if vendor.chart else ():
        if is_whole and not _is_kept(world, values, place) and _stated(values, place, about) == "Cluster":
            root = ("spec", "values") if release.key.kind == "HelmRelease" else ("spec",)
            deepest = (*root, *place)
            while value_at(release.body, deepest) is None:
                deepest = deepest[:-1]
            return Hiding(release, deepest, value_at(values, place) is not None)
    return None


def _services(world: World) -> list[Hiding]:
    return [] if _passes_on(world) else list(_found(world))


def _found(world: World) -> Iterator[Hiding]:
    for service in world.of_kind("", "Service"):
        stated = text(service.spec.get(FIELD))
        if not published_as(service) or stated not in ("", "Cluster") or service.provisional:
            continue
        if not is_plain(world, service.annotations):
            continue
        if any(is_on_node(each) or speaks_of_proxies(each.body) for each in workloads_selected(world, service)):
            continue
        yield Hiding(service, ("spec", FIELD if stated else "type"), bool(stated))


def _passes_on(world: World) -> bool:
    """Return whether a network plugin is told to send connections to the pods as they came."""
    for about in map(mapping, sequence(keeping().get("plugins"))):
        maps = (each for each in world.of_kind("", "ConfigMap") if each.key.name == about.get("map"))
        settings = [mapping(each.body.get("data")) for each in maps]
        chart = text(about.get("chart"))
        settings += [values for _, values, _ in values_of(world, chart)]
        settings += map(mapping, world.unseen.values_of(chart))
        places = [tuple(place.split(".")) for place in texts(about.get("places"))]
        if any(value_at(each, place) in texts(about.get("values")) for each in settings for place in places):
            return True
    return False


def is_plain(world: World, written: object) -> bool:
    """Return whether neither the plugin nor what is written of a load balancer keeps the addresses of clients."""
    said = str(written).replace("'", "")
    return not (
        any(each in said for each in texts(keeping().get("annotations")))
        or _passes_on(world)
        or speaks_of_proxies(written)
    )


def speaks_of_proxies(settings: object) -> bool:
    """Return whether settings name PROXY headers, or proxies in front, in whatever spelling."""
    written = str(settings).lower().replace("-", "").replace("_", "").replace("useproxyprotocol': 'false", "")
    return "proxyprotocol" in written or "gatewaytopology" in written


def _stated(values: Mapping[str, Any], place: Pointer, about: Mapping[str, Any]) -> str:
    """Return what values of a chart say of its Service, or the default of that."""
    stated = text(value_at(values, place)) or text(about.get("unset"), "Cluster")
    return "" if is_symbolic(stated) else stated


def _is_kept(world: World, values: Mapping[str, Any], place: Pointer) -> bool:
    """Return whether values of a chart let requests in by the nodes of the pods, or by no Service of that sort."""
    service = mapping(value_at(values, place[:-1]))
    kind = text(service.get("type") or mapping(value_at(values, place[:-2])).get("type"), "LoadBalancer")
    written = str(values).lower().replace(" ", "")
    ways = ("'hostnetwork':true", "'hostport':")
    is_kept = any(each in written for each in ways) or not is_plain(world, service)
    return is_kept or kind not in ("LoadBalancer", "NodePort") or speaks_of_proxies(values)
