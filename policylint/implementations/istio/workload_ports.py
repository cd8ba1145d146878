"""Ports of workloads in what Istio's proxies read: a Service has sent requests on to the port of the pod before.

Source: istio.io/docs/reference/config/security/peer_authentication, «Port specific mutual TLS settings»;
…/authorization-policy-conditions, `destination.port`; …/networking/sidecar, `ingress`. A policy with `targetRefs` is
asked at a Gateway or waypoint, where the port is that of the listener or the Service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.implementations.generic.workload_ports import WorkloadPort
from policylint.model import World, mapping, sequence, texts
from policylint.model.kinds import SIDECAR

_PEERS = ("security.istio.io", "PeerAuthentication")
_CALLERS = ("security.istio.io", "AuthorizationPolicy")
_LEVEL = "portLevelMtls"
_KEY = "destination.port"


def workload_ports(world: World, root: str) -> Iterator[WorkloadPort]:
    """Yield the ports of what selects pods by their labels."""
    for policy in world.of_kind(*_PEERS):
        selector = mapping(policy.spec.get("selector"))
        for name in mapping(policy.spec.get(_LEVEL)):
            if (number := whole_number(str(name))) is not None:
                at: Pointer = ("spec", _LEVEL, name)
                yield WorkloadPort(policy, at, number, "sets mTLS for", selector, is_key=True)
    for policy in world.of_kind(*_CALLERS):
        if not policy.spec.get("targetRefs") and not policy.spec.get("targetRef"):
            selector, everywhere = mapping(policy.spec.get("selector")), policy.key.namespace == root
            for at, written in _asked(policy.spec):
                if (number := whole_number(written)) is not None:
                    yield WorkloadPort(policy, at, number, "asks for", selector, everywhere)
    for sidecar in world.of_kind(*SIDECAR):
        selector = {"matchLabels": mapping(mapping(sidecar.spec.get("workloadSelector")).get("labels"))}
        for index, listener in enumerate(map(mapping, sequence(sidecar.spec.get("ingress")))):
            number = mapping(listener.get("port")).get("number")
            if isinstance(number, int):
                at = ("spec", "ingress", index, "port", "number")
                yield WorkloadPort(sidecar, at, number, "has a listener for", selector)


def _asked(spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Yield the ports in the rules of an AuthorizationPolicy."""
    for number, rule in enumerate(map(mapping, sequence(spec.get("rules")))):
        lists: list[tuple[Pointer, object]] = []
        for index, to in enumerate(map(mapping, sequence(rule.get("to")))):
            at: Pointer = ("spec", "rules", number, "to", index, "operation")
            lists += [((*at, field), mapping(to.get("operation")).get(field)) for field in ("ports", "notPorts")]
        for index, when in enumerate(map(mapping, sequence(rule.get("when")))):
            if when.get("key") == _KEY:
                at = ("spec", "rules", number, "when", index)
                lists += [((*at, field), when.get(field)) for field in ("values", "notValues")]
        for pointer, listed in lists:
            yield from (((*pointer, place), written) for place, written in enumerate(texts(listed)))
