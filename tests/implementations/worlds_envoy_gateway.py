"""Envoy Gateway shops as YAML, and what the simulation says of them in short texts."""

from __future__ import annotations

from typing import Any

from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import GATEWAY_API, gateway_class, state

CLASS = gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller")
PLURAL = {"SP": "SecurityPolicy", "BTP": "BackendTrafficPolicy", "CTP": "ClientTrafficPolicy"}


def policy(
    kind: str, name: str, target: str, spec: str = "", namespace: str = "shop", created: str = "", field: str = ""
) -> str:
    """A policy by the short name of its kind; `target` is `Kind/name[#section]`, `field` other ways to name targets."""
    of_kind, _, named = target.partition("/")
    settings = ", ".join(filter(None, (field, spec)))
    target = "" if field else f"{of_kind}.{GATEWAY_API}/{named}"
    kind = PLURAL.get(kind, kind)
    return worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, name, target, settings, namespace, created)


def told(simulation: Simulation, name: str) -> dict[str, list[str]]:
    """Per ancestor the conditions of a policy: `Accepted=True/Accepted`, sorted."""
    return {
        str(each.ancestor): sorted(f"{one.type}={one.status}/{one.reason}" for one in each.conditions)
        for each in state(simulation, name).ancestors
    }


def message(simulation: Simulation, name: str, kind: str) -> str:
    """The message of a policy's only condition of a type."""
    (found,) = {
        one.message for each in state(simulation, name).ancestors for one in each.conditions if one.type == kind
    }
    return found


def effective(simulation: Simulation, kind: str, through: str) -> tuple[dict[str, Any], list[str], list[str]]:
    """The only effective policy of a kind in the contexts through a node.

    Its spec, the names of `from`, and `pointer of policy by winners` per lost leaf.
    """
    found = [
        group.effective
        for group in simulation.groups
        if group.kind.kind == PLURAL.get(kind, kind) and any(through in map(str, path) for path in group.contexts())
    ]
    (one,) = found
    lost = [
        f"{'/'.join(map(str, each.pointer))} of {each.policy.name} by {' '.join(sorted(by.name for by in each.by))}"
        for each in one.lost
    ]
    return dict(one.spec), sorted(each.name for each in one.sources), lost
