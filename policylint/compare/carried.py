"""What stands at objects of Kubernetes that requests pass by, and that controllers read beside what is evaluated here.

An Ingress says most in annotations, a mesh reads those of pods and labels of namespaces, a load balancer what its
Service says. Some of it is evaluated: of that answers and findings tell. The rest must not be passed over in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from policylint.catalog.weakenings import access, table, words_of
from policylint.compare.pairing import Sides
from policylint.compare.sameness import same_value
from policylint.doors import published_as, with_doors
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping, sequence, text, texts, value_at
from policylint.model.kinds import INGRESS, OPENSHIFT_ROUTE
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.topology.workloads import WORKLOADS

_SERVICE = ("", "Service")
_NAMESPACE = ("", "Namespace")
_GATEWAYS = frozenset({(GATEWAY_GROUP, "Gateway"), (GATEWAY_GROUP, "ListenerSet"), (GATEWAY_GROUP, "GatewayClass")})
_OTHERS = frozenset({INGRESS, _SERVICE, _NAMESPACE, OPENSHIFT_ROUTE})
_IDLE = frozenset({
    "clusterIP", "clusterIPs", "healthCheckNodePort", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy",
    "publishNotReadyAddresses", "sessionAffinity", "sessionAffinityConfig", "trafficDistribution",
})  # fmt: skip
"""What a Service says of who of its pods answers, not of who comes to them."""
_SPEED = frozenset({
    "buffer", "buffering", "buffers", "cpu", "healthcheck", "image", "interval", "log", "memory", "retries", "tags",
    "timeout", "timeouts", "version",
})  # fmt: skip
"""Words of annotations that say how fast or how often something is done, or watched."""
_SHOWN = frozenset({"auth-realm"})
"""Annotations that browsers show to people."""


_DEFAULTS: Mapping[str, tuple[Any, ...]] = {
    "kind": ("Secret", "Service"), "group": ("", GATEWAY_GROUP), "mode": ("Terminate", "AllowValidOnly"),
    "type": ("IPAddress",), "from": ("None",),
}  # fmt: skip
"""What fields of a Gateway say where they are left out."""


class Carried(NamedTuple):
    """An object, and what it says otherwise, in words: `annotation example.com/a`, `spec.tls`."""

    resource: Resource
    fields: tuple[str, ...]


def carried_otherwise(sides: Sides) -> Iterator[Carried]:
    """Yield the objects of both sides that say something else where controllers read it, each with what."""
    ways: frozenset[ResourceKey] | None = None
    for kind in sides.after.world.kinds():
        known = sides.after.catalog.get(*kind)
        if known is not None and known.bound_by == "parameters-ref":
            for old, new in sides.edited(*kind):
                if fields := tuple(dict.fromkeys(_made(old, new))):
                    yield Carried(new, fields)
        elif kind[0] == GATEWAY_GROUP or kind in _OTHERS or kind in WORKLOADS:
            for old, new in sides.edited(*kind):
                if kind == _SERVICE:
                    ways = _on_ways(sides) if ways is None else ways
                    if new.key not in ways and not published_as(old) and not published_as(new):
                        continue
                fields = (*notes_read(new.key, old.body, new.body), *_said(old, new))
                if fields:
                    yield Carried(new, fields)


def _on_ways(sides: Sides) -> frozenset[ResourceKey]:
    """Return the Services that routes and doors lead to."""
    return frozenset().union(*(led_to(with_doors(side)) for side in sides[:2]))


def led_to(side: Simulation) -> frozenset[ResourceKey]:
    """Return what the routes of a side send requests to."""
    return frozenset(backend.wanted for route in side.topology.routes for backend in route.backends)


def notes_read(key: ResourceKey, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the annotations, and labels of what a mesh takes in, that differ in two states of an object and that
    somebody reads."""
    inside = key[:2] == _NAMESPACE or key[:2] in WORKLOADS
    for place in _places(key):
        yield from _read(value_at(old, place), value_at(new, place), place[-1], inside=inside)


def _read(old: Any, new: Any, what: str, *, inside: bool) -> Iterator[str]:
    was, now = mapping(old), mapping(new)
    for name in dict.fromkeys((*was, *now)):
        unset = _unset().get(str(name))
        if not same_value(str(was.get(name, unset)), str(now.get(name, unset))) and _is_read(str(name), inside=inside):
            yield f"{what.removesuffix('s')} {name}"


def _made(old: Resource, new: Resource) -> Iterator[str]:
    """Yield the annotations of what is made of an object, pods and Services, that differ and that somebody reads."""
    stack: list[tuple[Any, Any, bool]] = [(old.spec, new.spec, False)]
    while stack:
        was, now, pods = stack.pop()
        for name in {**mapping(was), **mapping(now)}:
            former, latter = mapping(was).get(name), mapping(now).get(name)
            of_pods = pods or str(name).lower().startswith("pod")
            if str(name).lower().endswith("annotations"):
                yield from _read(former, latter, "annotations", inside=of_pods)
            elif isinstance(former, dict) or isinstance(latter, dict):
                stack.append((former, latter, of_pods))


def _places(key: ResourceKey) -> Iterator[tuple[str, ...]]:
    """Yield where an object carries annotations, or labels, that others read."""
    kind = key[:2]
    if kind in WORKLOADS:
        above = {"Pod": (), "CronJob": ("spec", "jobTemplate", "spec", "template")}.get(kind[1], ("spec", "template"))
        yield from ((*above, "metadata", "annotations"), (*above, "metadata", "labels"))
        return
    yield ("metadata", "annotations")
    if kind == _NAMESPACE:
        yield ("metadata", "labels")
    if kind[1] == "Gateway":
        yield ("spec", "infrastructure", "annotations")


@lru_cache(maxsize=1)
def _unset() -> Mapping[str, str]:
    """Return what annotations say where they are left out."""
    return mapping(mapping(table().get("carried")).get("defaults"))


@lru_cache(maxsize=1024)
def _is_read(name: str, *, inside: bool) -> bool:
    """Tell whether somebody on the way of requests may read an annotation or a label."""
    domain, _, last = name.rpartition("/")
    listed = texts(mapping(table().get("carried")).get("domains" if inside else "others"))
    if name in listed or (not domain and inside):
        return (name in listed) is inside
    idle = last in _SHOWN or (not _SPEED.isdisjoint(words_of(last)) and not access().of_field(last))
    return bool(domain) and not idle and domain.endswith(tuple(listed)) is inside


def _said(old: Resource, new: Resource) -> Iterator[str]:
    """Yield the fields of a Gateway, a route, an Ingress or a Service that differ, but for what means the same."""
    if new.key.group == GATEWAY_GROUP and new.key.kind.endswith("Route"):
        filters = _filters(old.spec), _filters(new.spec)
        yield from (name for name in filters[0] if filters[0][name] != filters[1][name])
        return
    reading = _ingress if new.key[:2] == INGRESS else _service if new.key[:2] == _SERVICE else _gateway
    if reading is not _gateway or new.key[:2] in _GATEWAYS:
        was, now = reading(old.spec), reading(new.spec)
        yield from (
            f"spec.{name}" for name in dict.fromkeys((*was, *now)) if not same_value(was.get(name), now.get(name))
        )


def _filters(spec: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return of which filters requests are not compared by all that they say."""
    rules = [mapping(each) for each in sequence(spec.get("rules"))]
    listed = [mapping(each) for rule in rules for each in sequence(rule.get("filters"))]
    backends = [mapping(each) for rule in rules for each in sequence(rule.get("backendRefs"))]
    asking = [_plain(each["externalAuth"]) for each in listed if mapping(each.get("externalAuth"))]
    behind = [_plain(sequence(each.get("filters"))) for each in backends]
    return {"externalAuth of its rules": asking, "filters of its backends": [each for each in behind if each]}


def _ingress(spec: Mapping[str, Any]) -> dict[str, Any]:
    listed = map(mapping, sequence(spec.get("tls")))
    hosts = [{**each, "hosts": sorted(texts(each.get("hosts")))} for each in listed]
    return {**spec, "tls": sorted(hosts, key=repr), "rules": sorted(sequence(spec.get("rules")), key=repr)}


def _service(spec: Mapping[str, Any]) -> dict[str, Any]:
    listed = map(mapping, sequence(spec.get("ports")))
    ports = [{"protocol": "TCP", "targetPort": each.get("port"), **each} for each in listed]
    kept = {"externalTrafficPolicy": "Cluster", **{name: spec[name] for name in spec if name not in _IDLE}}
    kept |= {"ports": sorted(ports, key=repr), "type": text(spec.get("type"), "ClusterIP")}
    return {**kept, **{name: sorted(texts(spec.get(name))) for name in ("externalIPs", "loadBalancerSourceRanges")}}


def _gateway(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a Gateway says beside what its routes show: of listeners their TLS, and who may join."""
    ends = {text(each.get("name")): _end(each) for each in map(mapping, sequence(spec.get("listeners")))}
    kept = {name: _plain(value) for name, value in spec.items() if name not in ("description", "listeners")}
    infrastructure = mapping(spec.get("infrastructure"))  # its annotations are read as such
    kept["infrastructure"] = _plain({name: infrastructure[name] for name in infrastructure if name != "annotations"})
    return {**kept, "listeners": {name: said for name, said in ends.items() if any(said)}}


def _end(listener: Mapping[str, Any]) -> list[Any]:
    """Return what a listener says of TLS, and of the namespaces and kinds of routes that may join."""
    allowed = mapping(listener.get("allowedRoutes"))
    kinds = sorted(text(each.get("kind")) for each in map(mapping, sequence(allowed.get("kinds"))))
    return [*_plain([listener.get("tls"), value_at(allowed, ("namespaces", "selector"))]), kinds]


def _plain(value: Any) -> Any:
    """Return a value without what holds where it is left out."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {name: _plain(inner) for name, inner in value.items()}
    return {name: inner for name, inner in plain.items() if inner not in _DEFAULTS.get(name, ()) and inner != {}}


__all__ = ["Carried", "carried_otherwise", "notes_read"]
