"""Where the proxies of Gateways run, and with which labels: the pods that network policies let through, or do not.

Source: GEP-1762 (Standard) «In cluster Gateway deployments»; who differs from it says so in the catalog (`dataPlane`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from policylint.load.charts import RELEASE, at, installed
from policylint.load.configured import in_config_maps
from policylint.model import UNKNOWN_NAMESPACE, Resource, ResourceKey, World, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.topology import GatewayState

Placement = Mapping[str, Any]
_GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name"
_CLASS_NAME = "gateway.networking.k8s.io/gateway-class-name"


class DataPlane(NamedTuple):
    """One way in which a Gateway's proxies may be deployed; the first of several is the default.

    Args:
        privileged: what is added to listener ports below 1024 for the container's; None where that is not known.
        ports: the container's port by the listener's, where that is stated.
    """

    gateway: ResourceKey
    endpoint: Endpoint
    privileged: int | None = 0
    ports: Mapping[int, int] = {}

    def container_port(self, port: int) -> int | None:
        """Return the port on which the proxies listen for a listener's, None where that is not known."""
        if port in self.ports:
            return self.ports[port]
        if port >= 1024:
            return port
        return None if self.privileged is None else port + self.privileged


def data_planes(world: World, state: GatewayState, placements: Sequence[Placement]) -> list[DataPlane]:
    """Return the ways in which a Gateway's proxies may be deployed.

    Args:
        placements: of its implementation; empty where that is not known, or deploys no proxies of its own.
    """
    gateway = state.gateway
    stated = list(_stated_planes(world, gateway.key))
    if stated:
        return stated
    if not placements:
        nowhere = Endpoint("proxies", gateway.key, f"{UNKNOWN_NAMESPACE}{gateway.key.path}", open=True)
        return [DataPlane(gateway.key, nowhere)]
    chosen = _chosen(world, placements)
    planes = []
    for placement in chosen:
        if placement.get("identity"):
            planes.append(DataPlane(gateway.key, Endpoint("identity", gateway.key, "", owner=placement["identity"])))
            continue
        parameters = _parameters(world, state)
        labels, is_open = _labels(state, placement, parameters)
        privileged: int | None = int(placement.get("privilegedPorts") or 0)
        if placement.get("keepsPorts"):
            kept = [at(parameter.body, text(placement["keepsPorts"])) for parameter in parameters if parameter]
            privileged = None if None in parameters else 0 if any(kept) else privileged
        for namespace in _namespaces(world, gateway.key, placement):
            endpoint = Endpoint("proxies", gateway.key, namespace, labels, is_open, alternative=bool(planes))
            planes.append(DataPlane(gateway.key, endpoint, privileged))
    return planes


def _stated_planes(world: World, gateway: ResourceKey) -> Iterator[DataPlane]:
    """Yield where the configuration says that a Gateway's proxies run; it may say several places."""
    from fnmatch import fnmatchcase

    first = True
    for entry in sequence(world.network.get("data-planes")):
        if not fnmatchcase(gateway.path, entry["gateway"]):
            continue
        labels = dict(entry.get("labels", {}))
        endpoint = Endpoint("proxies", gateway, entry["namespace"], labels, not labels, alternative=not first)
        ports = {int(port): number for port, number in entry.get("ports", {}).items()}
        yield DataPlane(gateway, endpoint, 0, ports)
        first = False


def _chosen(world: World, placements: Sequence[Placement]) -> Sequence[Placement]:
    """Return the placements that the controller's configuration leaves: the stated one, else all."""
    modes = [mapping(placement.get("mode")) for placement in placements]
    if len(placements) == 1 or not all(modes):
        return placements
    stated = set(_stated(world, text(modes[0].get("kind")), text(modes[0].get("path"))))
    named = [
        placement for placement, mode in zip(placements, modes, strict=True) if stated == {text(mode.get("value"))}
    ]
    return named or placements


def _stated(world: World, kind: str, path: str) -> Iterator[str]:
    """Yield what configurations of a controller say: objects of a kind in ConfigMaps and in values of charts."""
    yield from (text(at(body, path)) for _, body in in_config_maps(world, kind))
    field = kind[:1].lower() + kind[1:]
    for release in world.of_kind(*RELEASE):
        value = at(release.spec, f"values.config.{field}.{path}")
        if value is not None:
            yield text(value)


def _namespaces(world: World, gateway: ResourceKey, placement: Placement) -> list[str]:
    """Return the namespaces in which the proxies may run, the likeliest first."""
    if placement.get("namespace") == "gateway":
        return [gateway.namespace]
    chart = text(placement.get("chart"))
    found = sorted({*installed(world, chart)})
    if found:
        return found
    usual, unknown = text(placement.get("otherwise")), f"{UNKNOWN_NAMESPACE}{chart}"
    if not usual:
        return [unknown]
    return [usual, unknown] if world.partial else [usual]


def _parameters(world: World, state: GatewayState) -> list[Resource | None]:
    """Return the objects that a Gateway and its class name as parameters, None for one that was not seen."""
    references = [reference for reference in state.references if reference.role == "parameters"]
    parameters = [reference.resolution.resource for reference in references]
    gateway_class = state.class_resolution.resource
    if gateway_class is not None and gateway_class.spec.get("parametersRef") is not None:
        wanted = mapping(gateway_class.spec["parametersRef"])
        named = (text(wanted.get(field)) for field in ("group", "kind", "namespace", "name"))
        parameters.append(world.get(ResourceKey(*named)))
    return parameters


def _labels(
    state: GatewayState, placement: Placement, parameters: Sequence[Resource | None]
) -> tuple[dict[str, str], bool]:
    """Return the labels of the proxies' pods, and whether they may have others."""
    key = state.gateway.key
    class_name = text(state.gateway.spec.get("gatewayClassName"))
    names = {"{gateway}": key.name, "{namespace}": key.namespace, "{class}": class_name}
    labels = {
        label: reduce(lambda value, name: value.replace(*name), names.items(), template)
        for label, template in mapping(placement.get("labels")).items()
    }
    if placement.get("named"):
        labels |= {_GATEWAY_NAME: key.name, _CLASS_NAME: class_name}
    labels |= _texts(at(state.gateway.spec, "infrastructure.labels"))
    is_open = state.class_resolution.resource is None or bool(placement.get("open"))
    for parameter in parameters:
        if parameter is None:
            is_open = True
            continue
        for path in sequence(placement.get("podLabels")):
            labels |= _texts(at(parameter.body, text(path)))
        if placement.get("shared") and at(parameter.body, text(placement["shared"])):
            # Gateways of one class share the proxies, which carry the class's name instead of the Gateway's.
            labels = {label: value for label, value in labels.items() if value not in (key.name, key.namespace)}
            is_open = True
    return labels, is_open


def _texts(value: object) -> dict[str, str]:
    return {label: content for label, content in mapping(value).items() if isinstance(content, str)}
