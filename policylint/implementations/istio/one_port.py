"""ServiceEntries of which a connection does not tell which one is meant: TCP on one port, and no addresses.

Source: istio/istio pilot/pkg/networking/core/listener.go, buildSidecarOutboundTCPListener and mergeTCPFilterChains (a
second filter chain with the same match is left out); pilot/pkg/model/service.go, GetAddressForProxy: without addresses
it is 0.0.0.0, unless the proxy looks names up and is given one. istio.io/docs/reference/config/analysis, IST0134.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.istio import labels
from policylint.implementations.istio.one_host import are_met
from policylint.implementations.istio.refused import SERVICE_ENTRY, TOLD_APART
from policylint.load.charts import values_of
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.kinds import WORKLOADS
from policylint.topology.workloads import pod_template

_CAPTURE = ("DNS_CAPTURE", "DNS_AUTO_ALLOCATE")
_CHARTS = ("istiod", "istio-discovery", "base", "gateway", "ztunnel", "cni")
_CONFIGURED = (
    ("install.istio.io", "IstioOperator"),
    ("sailoperator.io", "Istio"),
    ("networking.istio.io", "ProxyConfig"),
)
_THEN = "clients have one listener for the port: what is sent to either host goes to one of them"


def unaddressed(world: World) -> Iterator[DeadEnd]:
    """Yield the ports of ServiceEntries that another one without addresses has as well, for another host."""
    claims: dict[int, list[tuple[Resource, int]]] = defaultdict(list)
    for entry in world.of_kind(*SERVICE_ENTRY):
        for number, index in _ports(entry) if not world.lands_anywhere(entry) else ():
            claims[number].append((entry, index))
    rivals = {number: found for number, found in claims.items() if len({each.key for each, _ in found}) > 1}
    if not rivals or _look_up(world):
        return
    told = set()
    for number, found in rivals.items():
        first, *others = sorted(found, key=lambda claim: claim[0].age)
        for entry, index in others:
            keys = (first[0].key, entry.key)
            same = set(texts(entry.spec["hosts"])) & set(texts(first[0].spec["hosts"]))
            if same or keys[0] == keys[1] or keys in told or world.apart(keys, True, None):
                continue
            if are_met(world, first[0], entry):
                told.add(keys)
                yield DeadEnd(
                    entry,
                    ("spec", "ports", index, "number"),
                    f"takes TCP on port {number} without `addresses`, and so does {first[0].key}",
                    "state `addresses` in both, or have proxies look names up (ISTIO_META_DNS_CAPTURE)",
                    (first[0].key,),
                    "proxies may look names up, and have an address for each host",
                    _THEN,
                    "warning",
                )


def _ports(entry: Resource) -> Iterator[tuple[int, int]]:
    """Yield the ports at which nothing but the port tells what a connection is for, each with its place in the list."""
    hosts, resolution = texts(entry.spec.get("hosts")), text(entry.spec.get("resolution")) or "NONE"
    if resolution == "NONE" or entry.spec.get("addresses") or not hosts or any(map(is_symbolic, (*hosts, resolution))):
        return
    for index, port in enumerate(map(mapping, sequence(entry.spec.get("ports")))):
        number, protocol = port.get("number"), text(port.get("protocol")).upper() or "TCP"
        if isinstance(number, int) and protocol not in TOLD_APART and protocol != "UDP" and not is_symbolic(protocol):
            yield number, index


def _look_up(world: World) -> bool:
    """Return whether anything says that proxies look names up: then each host has an address there."""
    bodies: list[object] = [each.spec for kind in _CONFIGURED for each in world.of_kind(*kind)]
    bodies += [each.body.get("data") for each in world.of_kind("", "ConfigMap") if each.key.name.startswith("istio")]
    bodies += [values for chart in _CHARTS for _, values, _ in values_of(world, chart)]
    for kind in WORKLOADS:
        bodies += [mapping(pod_template(each).get("metadata")).get("annotations") for each in world.of_kind(*kind)]
    spaces = world.of_kind("", "Namespace")
    is_ambient = any(each.labels.get(labels.DATAPLANE_MODE) == "ambient" for each in spaces)
    return is_ambient or any(word in str(body) for body in bodies for word in _CAPTURE)
