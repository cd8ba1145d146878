"""Where the pods run at which the requests of a Gateway come in, or those of another door, and with which labels:
network policies select them there, and credentials are read there.

The first of these that says anything counts: the configuration; workloads of the tree with the labels that a Gateway
selects, or with the images of its controller; what installs the chart of the controller, by its values; the catalog
(`dataPlane`). Where only the catalog tells the namespace, the pods may be elsewhere, and where it tells the labels of a
chart that nothing installs, they may have others.

Source: GEP-1762 (Standard) «In cluster Gateway deployments»; who differs from it says so in the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from policylint.implementations.generic.containers import containers, runs
from policylint.implementations.generic.gateway_pods import COMPONENTS, OWN_GATEWAY, ROOT, homes, selected
from policylint.load.charts import RELEASE, at, installed, name_of, namespace_of, values_of
from policylint.load.configured import in_config_maps
from policylint.model import (
    GATEWAY_GROUP,
    UNKNOWN_NAMESPACE,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
    texts,
)
from policylint.network.endpoints import Endpoint, of_workload
from policylint.network.hops import target_ports
from policylint.network.proxies import DataPlane
from policylint.topology import GatewayState

Placement = Mapping[str, Any]
_GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name"
_CLASS_NAME = "gateway.networking.k8s.io/gateway-class-name"


def data_planes(world: World, state: GatewayState, placements: Sequence[Placement]) -> list[DataPlane]:
    """Return the ways in which the proxies of a Gateway, or of another door, may be deployed.

    Args:
        placements: of its implementation; empty where that is not known, or deploys no proxies of its own.
    """
    gateway = state.gateway
    found = list(_stated_planes(world, gateway.key))
    if not found and gateway.key[:2] == OWN_GATEWAY:
        found = list(_selected(world, gateway))
    elif not found:
        for placement in _chosen(world, placements):
            found += _placed(world, state, placement)
    if not found:
        return [anywhere(gateway.key)]
    return [
        plane._replace(endpoint=plane.endpoint._replace(alternative=number > 0)) if plane.endpoint.is_pod else plane
        for number, plane in enumerate(found)
    ]


def anywhere(gateway: ResourceKey) -> DataPlane:
    """Return the proxies of a Gateway of which nothing says where they run."""
    return DataPlane(gateway, Endpoint("proxies", gateway, f"{UNKNOWN_NAMESPACE}{gateway.path}", open=True))


def _selected(world: World, gateway: Resource) -> Iterator[DataPlane]:
    """Yield where the pods are that a Gateway of Istio's own selects; those of profiles are in the root namespace."""
    workloads = selected(world, gateway)
    yield from (_of_workload(world, gateway.key, each) for each in workloads)
    labels = _texts(gateway.spec.get("selector"))
    found = sorted(homes(world, gateway) - {each.key.namespace for each in workloads})
    if not workloads and not found and labels.get("istio") in COMPONENTS.values():
        found = _usual(ROOT, gateway.key.path)
    for namespace in found:
        yield DataPlane(gateway.key, Endpoint("proxies", gateway.key, namespace, labels, open=True), None)


def _of_workload(world: World, gateway: ResourceKey, workload: Resource) -> DataPlane:
    """Return a workload as a data plane of a door, whose ports Services with it behind them translate."""
    endpoint = of_workload(workload, gateway)._replace(role="proxies")
    ports: dict[int, int] = {}
    for service in world.in_namespace("", "Service", workload.key.namespace):
        selector = mapping(service.spec.get("selector"))
        is_behind = selector and selector.items() <= endpoint.labels.items()
        for port in map(mapping, sequence(service.spec.get("ports")) if is_behind else ()):
            number, behind = port.get("port"), target_ports(endpoint, port)
            if isinstance(number, int) and len(behind) == 1:
                ports.setdefault(number, behind[0])
    return DataPlane(gateway, endpoint, *((0,) if gateway.group == GATEWAY_GROUP else (None, ports)))


def _placed(world: World, state: GatewayState, placement: Placement) -> Iterator[DataPlane]:
    """Yield where proxies run by one entry of the catalog."""
    gateway = state.gateway.key
    if placement.get("identity"):
        yield DataPlane(gateway, Endpoint("identity", gateway, "", owner=placement["identity"]))
        return
    images = texts(placement.get("images"))
    workloads = [
        each
        for each, container in (containers(world) if images else ())
        if runs(container, images) and text(placement.get("argument")) in (*texts(container.get("args")), "")
    ]
    yield from (_of_workload(world, gateway, each) for each in dict.fromkeys(workloads))
    seen = {each.key.namespace for each in workloads}
    parameters = _parameters(world, state)
    labels, is_open = _labels(state, placement, parameters)
    plain = {label: value for label, value in labels.items() if "{" not in value}
    privileged = _privileged(placement, parameters) if gateway.group == GATEWAY_GROUP else None
    if placement.get("namespace") == "gateway":
        if gateway.namespace:
            yield DataPlane(gateway, Endpoint("proxies", gateway, gateway.namespace, plain, is_open), privileged)
        return
    taken = set(seen)
    for release, values, is_whole in _serving(world, state, placement):
        about = mapping(placement.get("values"))
        home = text(at(values, text(about.get("namespace")))) or namespace_of(release)
        if home in seen:
            continue
        taken.add(home)
        home = f"{UNKNOWN_NAMESPACE}{release.key.path}" if not home or is_symbolic(home) else home
        may_have_more = is_open if not about else not is_whole or bool(placement.get("partly"))
        own = _of_values(labels, mapping(about.get("labels")), values, {"{release}": name_of(release), "{home}": home})
        for place in texts(about.get("podLabels")):
            own |= _texts(at(values, place))
        is_on_node = at(values, text(about.get("hostNetwork"))) is True
        endpoint = Endpoint("proxies", gateway, home, own, may_have_more, host=is_on_node)
        yield DataPlane(gateway, endpoint, privileged, _ports(state, about, values))
    left = sorted({*installed(world, text(placement.get("chart")))} - taken)
    if not left and not taken:
        is_sure = not (world.partial or images)
        left = _usual(text(placement.get("otherwise")), text(placement.get("chart")), is_sure=is_sure)
        if images and plain:  # whoever installs such pods without the chart gives them labels of their own
            yield DataPlane(gateway, Endpoint("proxies", gateway, left[0], plain, open=is_open), privileged)
            plain, is_open = {}, True
    for namespace in left:
        yield DataPlane(gateway, Endpoint("proxies", gateway, namespace, plain, open=is_open), privileged)


def _serving(world: World, state: GatewayState, placement: Placement) -> list[tuple[Resource, Mapping[str, Any], bool]]:
    """Return what installs the chart of a controller for a Gateway or a class: that whose values or name say so, where
    there is one, else all whose values do not name others."""
    found = list(values_of(world, text(placement.get("chart"))))
    places = texts(mapping(placement.get("values")).get("serves"))
    wanted = {state.gateway.key.name, state.class_key.name}
    stated = [{text(at(values, place)) for place in places} - {""} for _, values, _ in found]
    named = [
        each
        for each, names in zip(found, stated, strict=True)
        if wanted & {*names, name_of(each[0])} and len(found) > 1 and places
    ]
    return named or [each for each, names in zip(found, stated, strict=True) if not names] or found


def _of_values(
    labels: Mapping[str, str], overridden: Mapping[str, Any], values: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, str]:
    """Return the labels of the pods that a chart makes of values."""
    own = {label: reduce(lambda value, name: value.replace(*name), names.items(), labels[label]) for label in labels}
    return own | {label: stated for label, place in overridden.items() if (stated := text(at(values, text(place))))}


def _ports(state: GatewayState, about: Mapping[str, Any], values: Mapping[str, Any]) -> dict[int, int]:
    """Return the containers' ports of a chart by those that clients connect to, which listeners of Gateways name."""
    known: dict[int, int] = {}
    for entry in map(mapping, sequence(about.get("ports"))) if state.gateway.key.group != GATEWAY_GROUP else ():
        stated = at(values, text(entry.get("at")))
        known[entry["port"]] = stated if isinstance(stated, int) else entry["otherwise"]
    return known


def _usual(namespace: str, otherwise: str, *, is_sure: bool = False) -> list[str]:
    """Return where proxies run as nothing says where: in the usual namespace, and perhaps in another one."""
    unknown = f"{UNKNOWN_NAMESPACE}{otherwise}"
    return [unknown] if not namespace else [namespace] if is_sure else [namespace, unknown]


def _privileged(placement: Placement, parameters: Sequence[Resource | None]) -> int | None:
    """Return what is added to ports of listeners below 1024 for the containers'; None where that is not known."""
    added = int(placement.get("privilegedPorts") or 0)
    if not placement.get("keepsPorts"):
        return added
    kept = [at(parameter.body, text(placement["keepsPorts"])) for parameter in parameters if parameter]
    return None if None in parameters else 0 if any(kept) else added


def _stated_planes(world: World, gateway: ResourceKey) -> Iterator[DataPlane]:
    """Yield where the configuration says that a Gateway's proxies run; it may say several places."""
    from fnmatch import fnmatchcase

    for entry in sequence(world.network.get("data-planes")):
        if not fnmatchcase(gateway.path, entry["gateway"]):
            continue
        labels = dict(entry.get("labels", {}))
        endpoint = Endpoint("proxies", gateway, entry["namespace"], labels, not labels)
        ports = {int(port): number for port, number in entry.get("ports", {}).items()}
        yield DataPlane(gateway, endpoint, 0, ports)


def _chosen(world: World, placements: Sequence[Placement]) -> Sequence[Placement]:
    """Return the placements that the controller's configuration leaves: the stated one, else all."""
    modes = [mapping(placement.get("mode")) for placement in placements]
    if len(placements) < 2 or not all(modes):
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
