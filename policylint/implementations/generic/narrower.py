"""Hostnames of routes that a narrower listener keeps to itself, where the listeners of a port share their routes.

kgateway: listener/gateway_listener_translator.go, filterHTTPListenerIsolationHostnames; Istio: conversion.go,
hostnameAllowedByIsolation. A route for more hosts than the narrower listener has (`*`) is served for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain

from policylint.model import Node, ResourceKey
from policylint.topology import ListenerState, Topology, whole
from policylint.topology.hostnames import covers, specificity


def kept_by_narrower(topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
    """Return, by listener and attached route, the hostnames that lie within that of a narrower listener on the port."""
    beside: dict[tuple[ResourceKey | None, int | None], list[ListenerState]] = defaultdict(list)
    of_sets = (each.listeners for each in topology.listener_sets)
    for listener in chain.from_iterable((*(each.listeners for each in topology.gateways), *of_sets)):
        if listener.protocol == "HTTP":
            beside[listener.gateway, listener.port].append(listener)
    narrower = {
        listener.node: [each.hostname for each in others if specificity(each.hostname) > specificity(listener.hostname)]
        for others in beside.values()
        for listener in others
    }
    found = {}
    for route in topology.routes if any(narrower.values()) else ():
        for candidate in (each for parent in route.parents for each in parent.candidates if not each.failure):
            names = narrower.get(candidate.node, ())
            if left := frozenset(each for each in candidate.hostnames if any(covers(name, each) for name in names)):
                found[candidate.node, whole(route.route.key)] = left
    return found
