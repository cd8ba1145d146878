"""What decides on requests beside the policies of Istio: the configuration of the mesh, and routes of its own kinds.

Source: istio.io/docs/reference/config, «MeshConfig», «VirtualService», «ServiceEntry»;
pilot/pkg/model/push_context.go, initVirtualServices and initServiceRegistry. Nobody evaluates it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer, read
from policylint.implementations.istio import labels
from policylint.implementations.istio.client_addresses import counted_on
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts, value_at
from policylint.model.selectors import matches
from policylint.policy.beside import Beside

_GROUP = "networking.istio.io"
_NORMALIZED = ("NONE", "BASE", "MERGE_SLASHES", "DECODE_AND_MERGE_SLASHES")
"""Each does what the one before does, and more; DEFAULT and nothing are BASE."""
_LEFT = (
    "leaves paths as they come: a rule on `/admin` does not hold for `/a/../admin`",
    "does not merge slashes: a rule on `/admin` does not hold for `//admin`",
    "does not decode slashes: a rule on `/a/b` does not hold for `/a%2Fb`",
)
_INSTALLING: tuple[tuple[str, str, Pointer], ...] = (
    ("install.istio.io", "IstioOperator", ("meshConfig",)),
    ("sailoperator.io", "Istio", ("values", "meshConfig")),
)
"""Objects that install the control plane, with where they hold its configuration."""
_RUNNING = (("apps", "DaemonSet"), ("apps", "Deployment"))
"""Workloads that proxies at the edge are."""
_MOST_PROXIES = 32
_AUTHORIZERS = ("envoyExtAuthzHttp", "envoyExtAuthzGrpc")
_HARMLESS = frozenset({"match", "name", "route", "timeout", "retries"})
"""Fields of a VirtualService's rule that leave a request, and where it goes, as they are."""
_SHOWN = _HARMLESS | {"redirect", "directResponse", "rewrite"}
"""Fields of which all that they do shows in how requests end."""


def beside(world: World, root: str) -> Iterator[Beside]:
    """Yield what decides on requests and is not evaluated."""
    for holder, pointer, config in _configurations(world, root):
        yield from _of_mesh(holder, pointer, config)
        yield from _left_out(holder, pointer, config, world)
    for group, kind in (*_RUNNING, labels.GATEWAY):
        for proxy in world.of_kind(group, kind):
            owner, place, proxies = counted_on(proxy)
            yield from _believed(owner, place, proxies, "at its proxies", owner.key)
    for virtual in world.of_kind(_GROUP, "VirtualService"):
        yield from _routed(virtual, world)
    for entry in world.of_kind(_GROUP, "ServiceEntry"):
        fields = ("endpoints", "workloadSelector", "resolution", "location", "exportTo")
        where = json.dumps([entry.spec.get(name) for name in fields], sort_keys=True, default=str)
        for number, host in enumerate(texts(entry.spec.get("hosts"))):
            service = _service(host, entry.key.namespace, world)
            if service is not None and "." in host:
                yield Beside(
                    entry, ("spec", "hosts", number), f"says where the host of {service} is", (service,), where
                )


def authorizers(world: World, root: str) -> frozenset[str] | None:
    """Return the authorizers that the configuration of the mesh names; None where none was seen."""
    seen = [config for _, _, config in _configurations(world, root)]
    named = (mapping(each) for config in seen for each in sequence(config.get("extensionProviders")))
    names = (text(provider.get("name")) for provider in named if any(field in provider for field in _AUTHORIZERS))
    return frozenset(names) if seen else None


def shown_headers(world: World, root: str) -> dict[str, tuple[str, list[str]]]:
    """Return the hosts of authorizers that are asked over HTTP, with the headers of requests that each is shown, where
    a configuration says so."""
    return {
        text(provider.get("name")): (
            text(asked.get("service")),
            [
                *texts(asked.get("includeRequestHeadersInCheck") or asked.get("includeHeadersInCheck")),
                *map(str, mapping(asked.get("includeAdditionalHeadersInCheck"))),
            ],
        )
        for _, _, config in _configurations(world, root)
        for provider in map(mapping, sequence(config.get("extensionProviders")))
        if isinstance(asked := provider.get("envoyExtAuthzHttp"), dict)
    }


def _configurations(world: World, root: str) -> Iterator[tuple[Resource, Pointer, Mapping[str, Any]]]:
    """Yield the configurations of the mesh, each with where it is written: istiod's, or what installs it."""
    for group, kind, place in _INSTALLING:
        for installation in world.of_kind(group, kind):
            stated = mapping(value_at(installation.spec, place))
            if stated:
                yield installation, ("spec", *place), stated
    for config in world.in_namespace("", "ConfigMap", root):
        written = mapping(config.body.get("data")).get("mesh")
        if (config.key.name == "istio" or config.key.name.startswith("istio-")) and isinstance(written, str):
            for document in read(written.encode(), config.key.path).documents[:1]:
                yield config, ("data", "mesh"), mapping(document.value)


def _of_mesh(holder: Resource, pointer: Pointer, config: Mapping[str, Any]) -> Iterator[Beside]:
    """Yield what a configuration of the mesh leaves open."""
    normalized = text(mapping(config.get("pathNormalization")).get("normalization")).upper()
    rank = _NORMALIZED.index(normalized) if normalized in _NORMALIZED else 1
    for does in _LEFT[rank:]:
        yield Beside(holder, pointer, does)
    if text(mapping(config.get("outboundTrafficPolicy")).get("mode")).upper() != "REGISTRY_ONLY":
        yield Beside(holder, pointer, "lets requests out to undeclared hosts")
    for alias in (text(config.get("trustDomain")) or "cluster.local", *texts(config.get("trustDomainAliases"))):
        yield Beside(holder, pointer, f"takes the identities of {alias} for those of the mesh")
    if config.get("enableAutoMtls") is False:
        yield Beside(holder, pointer, "lets sidecars send plain text where no DestinationRule says otherwise")
    if text(mapping(config.get("meshMTLS")).get("minProtocolVersion")).upper() != "TLSV1_3":
        yield Beside(holder, pointer, "lets proxies of the mesh speak TLS 1.2 to each other")
    root = text(config.get("rootNamespace")) or "istio-system"
    yield Beside(holder, pointer, f"takes the policies of namespace {root} for those of the mesh")
    topology = mapping(mapping(config.get("defaultConfig")).get("gatewayTopology"))
    yield from _believed(holder, pointer, topology.get("numTrustedProxies"), "at gateways")
    asked: dict[str, Mapping[str, Any]] = {}
    for provider in map(mapping, sequence(config.get("extensionProviders"))):
        for field in _AUTHORIZERS:
            if field in provider:
                asked[text(provider.get("name"))] = mapping(provider[field])
    for name, authorizer in asked.items():
        if authorizer.get("failOpen") is True:
            yield Beside(holder, pointer, f"lets requests pass while the authorizer {name} does not answer")
        where = [authorizer.get(each) for each in ("service", "port", "pathPrefix")]
        yield Beside(holder, pointer, f"says where the authorizer {name} is", value=json.dumps(where, default=str))
    yield Beside(holder, pointer, "has other authorizers", value=json.dumps(sorted(asked)))


def _left_out(holder: Resource, pointer: Pointer, config: Mapping[str, Any], world: World) -> Iterator[Beside]:
    """Yield the namespaces of which the control plane reads no policies (pkg/kube/namespace/filter.go)."""
    selectors = [mapping(each) for each in sequence(config.get("discoverySelectors"))]
    for namespace in world.of_kind("", "Namespace") if selectors else ():
        if not any(matches(each, namespace.labels) for each in selectors):
            does = f"leaves out namespace {namespace.key.name}, whose policies are not read"
            yield Beside(holder, (*pointer, "discoverySelectors"), does, (namespace.key,))


def _believed(holder: Resource, pointer: Pointer, proxies: object, where: str, *about: ResourceKey) -> Iterator[Beside]:
    """Yield one for each proxy that is taken to have written an address, as clients may: fewer are no news."""
    trusted = min(proxies, _MOST_PROXIES) if isinstance(proxies, int) else 0
    for number in range(trusted):
        yield Beside(holder, pointer, f"believes more of X-Forwarded-For {where}", about, str(number))


def _routed(virtual: Resource, world: World) -> Iterator[Beside]:
    """Yield the Services of which a VirtualService changes requests, or where they go."""
    gateways = texts(virtual.spec.get("gateways"))
    if gateways and "mesh" not in gateways:
        return
    home = virtual.key.namespace
    for host in texts(virtual.spec.get("hosts")):
        service = _service(host, home, world)
        if service is None:
            continue
        for field in ("http", "tls", "tcp"):
            for number, rule in enumerate(map(mapping, sequence(virtual.spec.get(field)))):
                if not _leaves_alone(rule, service, home, world):
                    place: Pointer = ("spec", field, number)
                    says = json.dumps([rule.get(each) for each in sorted(rule)], default=str)
                    does = f"changes requests for {service}, or where they go"
                    yield Beside(virtual, place, does, (service,), says, _shows(rule))


def _shows(rule: Mapping[str, Any]) -> bool:
    """Return whether all that a rule does shows in how requests end."""
    targets = map(mapping, sequence(rule.get("route")))
    return rule.keys() <= _SHOWN and all(each.keys() <= {"destination", "weight"} for each in targets)


def _leaves_alone(rule: Mapping[str, Any], service: ResourceKey, home: str, world: World) -> bool:
    """Return whether a rule lets requests go, as they are, to the Service that they are for."""
    targets = [mapping(each) for each in sequence(rule.get("route"))]
    plain = all(each.keys() <= {"destination", "weight"} for each in targets)
    hosts = [text(mapping(each.get("destination")).get("host")) for each in targets]
    subsets = any("subset" in mapping(each.get("destination")) for each in targets)
    return (
        rule.keys() <= _HARMLESS
        and plain
        and not subsets
        and all(_service(host, home, world) == service for host in hosts)
    )


def _service(host: str, home: str, world: World) -> ResourceKey | None:
    """Return the Service of the tree that a host means."""
    name, _, rest = host.lower().partition(".")
    namespace = rest.partition(".")[0] or home
    if rest.partition(".")[2] not in ("", "svc", "svc.cluster.local"):
        return None
    key = ResourceKey("", "Service", namespace, name)
    return key if world.get(key) is not None else None
