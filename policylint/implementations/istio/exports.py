"""What proxies do not see of what VirtualServices send their requests to: `exportTo`, of all that has it.

Source: pilot/pkg/model/push_context.go, servicesExportedToNamespace and destinationRule; sidecar.go,
convertToSidecarScope: proxies get clusters of what is shown to their namespace alone, and answer 503 without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policylint.implementations.generic import gateway_pods
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.istio.subsets import destinations
from policylint.implementations.istio.visibility import EXPORT_TO, is_shown
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import is_exported, names_service, services_named

_GROUP = "networking.istio.io"
_THEN = "proxies there know no such destination: these requests are answered with 503"


def unshown(world: World) -> Iterator[DeadEnd]:
    """Yield the destinations that are shown to no namespace whose proxies a VirtualService is for."""
    services, rules = world.of_kind("", "Service"), world.of_kind(_GROUP, "DestinationRule")
    entries = world.of_kind(_GROUP, "ServiceEntry")
    if not any(each.annotations.get(EXPORT_TO) or each.spec.get("exportTo") for each in (*services, *rules, *entries)):
        return
    for virtual in world.of_kind(_GROUP, "VirtualService"):
        readers = _readers(world, virtual)
        for destination, pointer in destinations(virtual) if readers else ():
            host, subset = text(destination.get("host")), text(destination.get("subset"))
            service = next(iter(services_named(world, host, virtual.key.namespace)), None)
            if is_symbolic(host):
                continue
            there = f"namespace {min(readers)}, where its proxies are"
            ground = next(filter(None, readers.values()), "")
            if service is None:
                known = [entry for entry in entries if host in texts(entry.spec.get("hosts"))]
                if known and not any(is_exported(entry, home) is not False for entry in known for home in readers):
                    does = f"sends requests to {host}, which {known[0].key} does not show to {there}"
                    fix = f"add {min(readers)} to `exportTo` of {known[0].key}, or leave it out"
                    yield DeadEnd(virtual, (*pointer, "host"), does, fix, (known[0].key,), ground, _THEN)
                continue
            if all(is_shown(service, reader) is False for reader in readers):
                does = f"sends requests to {service.key}, which is not shown to {there}"
                fix = f"add {min(readers)} to the annotation `{EXPORT_TO}` of {service.key}"
                yield DeadEnd(virtual, (*pointer, "host"), does, fix, (service.key,), ground, _THEN)
                continue
            defining = [rule for rule in rules if subset and _defines(rule, subset, service)]
            if defining and all(is_exported(rule, reader) is False for rule in defining for reader in readers):
                does = f"sends requests to subset {subset} of {service.key}, which is not shown to {there}"
                fix = f"add {min(readers)} to `exportTo` of {defining[0].key}, or leave it out"
                about = (service.key, defining[0].key)
                yield DeadEnd(virtual, (*pointer, "subset"), does, fix, about, ground, _THEN)


def _readers(world: World, virtual: Resource) -> Mapping[str, str]:
    """Return the namespaces of the proxies that go by a VirtualService, each with what makes that less than certain."""
    found: dict[str, str] = {}
    for name in texts(virtual.spec.get("gateways")) or ["mesh"]:
        home, _, own = name.rpartition("/")
        if name == "mesh":
            alone = texts(virtual.spec.get("exportTo")) == ["."]
            found[virtual.key.namespace] = "" if alone else "clients may be in other namespaces"
            continue
        gateways = world.in_namespace(_GROUP, "Gateway", home or virtual.key.namespace)
        gateway = next((each for each in gateways if each.key.name == own), None)
        if gateway is None or not gateway.spec.get("selector"):
            return {}
        homes = gateway_pods.homes(world, gateway)
        unseen = "its pods may be in another namespace"
        found |= dict.fromkeys(homes, "") if homes else {gateway.key.namespace: unseen}
    return found


def _defines(rule: Resource, subset: str, service: Resource) -> bool:
    named = [text(mapping(each).get("name")) for each in sequence(rule.spec.get("subsets"))]
    return subset in named and names_service(text(rule.spec.get("host")), rule.key.namespace, service.key)
