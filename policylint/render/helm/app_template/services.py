"""Services of an app-template release, their ports and the Pods that they select."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.model import mapping, text
from policylint.render.helm.app_template.release import (
    FOR_AN_OBJECT,
    Item,
    Release,
    as_number,
    enabled_keys,
    extra_selector_labels,
    filled_in,
    made,
    selector_labels,
)
from policylint.render.provenance import Manifest

_OF_TCP = ("", "HTTP", "HTTPS", "TCP")
_AS_WRITTEN = (
    *("clusterIP", "externalIPs", "externalName", "externalTrafficPolicy", "loadBalancerSourceRanges"),
    "publishNotReadyAddresses",
)
_HIGHEST_PORT = 65_535


def service(release: Release, item: Item) -> Manifest:
    """Return the Service of an entry of `service` (templates/classes/_service.tpl)."""
    ports = []
    origins = []
    for key in enabled_keys(item.values.get("ports")):
        for port in _ports(release, key, item.values["ports"][key]):
            ports.append(port)
            origins.append(item.origin.at("ports", key))
    spec: dict[str, Any] = {"type": text(item.values.get("type"), "ClusterIP"), "ports": ports}
    spec.update({field: filled_in(item.values[field], release) for field in _AS_WRITTEN if item.values.get(field)})
    controller = _controller(release, item)
    if controller or release.major <= 1:
        spec["selector"] = {**selector_labels(release, controller), **extra_selector_labels(item.values, release)}
    places = {"ports": item.origin.child("ports").with_items(origins), "selector": item.origin.child("controller")}
    return made(release, item, "v1", "Service", {"spec": spec}, places)


def _controller(release: Release, item: Item) -> str:
    """Return the controller whose Pods a Service selects: the named one, else the only one; the chart refuses others
    (templates/lib/service/_autoDetectController.tpl, _validate.tpl)."""
    named = text(filled_in(text(item.values.get("controller")), release))
    enabled = list(enabled_keys(release.values.get("controllers")))
    return named or (enabled[0] if len(enabled) == 1 else "")


def _ports(release: Release, key: str, values: Any) -> Iterator[dict[str, Any]]:
    """Yield the port of an entry of `ports`, or all those of its range."""
    protocol = text(values.get("protocol"))
    settings: dict[str, Any] = {"protocol": "TCP" if protocol in _OF_TCP else protocol}
    if values.get("appProtocol"):
        settings["appProtocol"] = filled_in(values["appProtocol"], release)
    number = as_number(filled_in(values.get("port"), release))
    span = mapping(values.get("portRange"))
    first, last = (as_number(span.get(end)) for end in ("start", "end"))
    if number:
        target = as_number(filled_in(values.get("targetPort"), release)) or number
        yield {"name": key, "port": number, "targetPort": target, **settings}
    elif isinstance(first, int) and isinstance(last, int):
        for inside in range(max(first, 1), min(last, _HIGHEST_PORT) + 1):
            release.budget.spend(FOR_AN_OBJECT)
            yield {"name": f"{key}-{inside}", "port": inside, "targetPort": inside, **settings}


def primary_port(release: Release, item: Item) -> Any:
    """Return the number of a Service's primary port: of the last that says so, else of the first by name; None if no
    port has a number (templates/lib/service/_primary_port.tpl)."""
    ports = mapping(item.values.get("ports"))
    numbered = [key for key in enabled_keys(ports) if "port" in ports[key]]
    primary = [key for key in numbered if ports[key].get("primary") is True]
    chosen = primary[-1:] or numbered[:1]
    return port_named(release, item, chosen[0]) if chosen else None


def port_named(release: Release, item: Item, name: str) -> Any:
    """Return the number of a port by its name, enabled or not; None if there is none."""
    return as_number(filled_in(mapping(mapping(item.values.get("ports")).get(name)).get("port"), release))
