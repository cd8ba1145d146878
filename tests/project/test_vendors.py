"""What is peculiar to one implementation stands in `implementations/` or in the catalog, not as a text in the engine.

Looked at are constants of code. Docstrings, and those below constants, may cite whose behaviour is the source of
a rule. `render/` writes and reads the charts of others by their names, and is left out too, as are tables of kinds,
which are data.
"""

from __future__ import annotations

import ast
import re

from tests.architecture.test_floors import modules, room

VENDORS = re.compile(
    r"agentgateway|apisix|cilium|envoy|gloo|istio|kgateway|kong|kuadrant|kuma|linkerd|nginx|traefik", re.IGNORECASE
)
_OUTSIDE = frozenset({"implementations", "render"})
_DOORS = frozenset({"doors.istio", "doors.peculiar", "doors.traefik"})
"""The modules of `doors/` that are about one controller's own kinds, as those of `implementations/` are."""
_DATA = frozenset({"model.kinds", "network.kinds"})
KNOWN = {
    "checks.access_log_without_provider": 3,
    "checks.cilium_label_unknown": 1,
    "checks.cluster_scope_target": 1,
    "checks.custom_authorization_conflict": 2,
    "checks.envoy_patch_ignored": 2,
    "checks.forgeable_client_address": 1,
    "checks.gateway_cut_off": 2,
    "checks.host_match_without_port": 2,
    "checks.jwt_not_required": 1,
    "checks.kit.client_addresses": 14,
    "checks.kit.envoy_patches": 2,
    "checks.kit.mesh_policies": 5,
    "checks.kit.routing": 1,
    "checks.parent_setting_dropped": 2,
    "checks.refusals_close_pods": 1,
    "checks.registry": 7,
    "checks.relative_reference_moved": 10,
    "checks.sidecar_conflict": 2,
    "checks.waypoint_bypassed": 3,
    "network.cilium": 19,
    "network.endpoints": 1,
    "network.facts": 8,
    "network.reading": 1,
    "network.state": 1,
    "network.universe": 1,
}
"""Modules that name one still → how many texts of theirs do. The numbers only go down, and no module joins."""


def named() -> dict[str, int]:
    """Return how many texts of each module of the engine name an implementation."""
    found = {}
    for name, file in modules():
        source = file.read_text(encoding="utf-8")
        if not VENDORS.search(source):
            continue
        tree = ast.parse(source)
        first = (node.body[0] for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list) and node.body)
        notes = {id(each.value) for each in first if isinstance(each, ast.Expr)}
        notes |= {
            id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)
        }  # what stands below a constant
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        naming = [each for each in texts if id(each) not in notes and VENDORS.search(each.value)]
        if naming and room(name) not in _OUTSIDE and name not in _DOORS | _DATA:
            found[name] = len(naming)
    return found


def test_the_engine_names_no_vendor_in_its_texts() -> None:
    found = named()
    assert {name: number for name, number in found.items() if number > KNOWN.get(name, 0)} == {}
    there = KNOWN.keys() & {name for name, _ in modules()}
    assert {name: found.get(name, 0) for name in there} == {name: KNOWN[name] for name in there}, "lower the number"
