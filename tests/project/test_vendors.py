"""What is peculiar to one implementation stands in `implementations/` or in the catalog, not as a text in the engine.

Looked at are constants of code. Docstrings, and those below constants, may cite whose behaviour is the source of
a rule. `render/` writes and reads the charts of others by their names, and is left out too, as are tables of kinds,
which are data. A module whose whole subject is one vendor's kind (a rule about it, a dialect of network policies) may
name that vendor, and no other: `OF_ONE`; docs/design/architecture.md §6 says why.
"""

from __future__ import annotations

import ast
import re

from policylint.checks.needs import anything
from policylint.checks.registry import RULES
from tests.architecture.test_floors import modules, room

VENDORS = re.compile(
    r"agentgateway|apisix|calico|cilium|contour|envoy|gloo|haproxy|istio|kgateway|kong|kuadrant|kuma|linkerd|nginx"
    r"|openshift|traefik",
    re.IGNORECASE,
)
_OUTSIDE = frozenset({"implementations", "render"})
_DOORS = frozenset(
    {
        *(
            "doors.certificates",
            "doors.contour",
            "doors.istio",
            "doors.istio_claims",
            "doors.istio_order",
            "doors.istio_rules",
            "doors.kong_groups",
            "doors.nginx",
            "doors.nginx_policies",
            "doors.nginx_servers",
        ),
        *("doors.openshift", "doors.peculiar", "doors.traefik", "doors.traefik_first", "doors.traefik_options"),
        *("doors.traefik_syntax", "doors.traefik_unmade"),
    }
)
"""The modules of `doors/` that are about one controller's own kinds, as those of `implementations/` are."""
_DATA = frozenset({"checks.registry", "model.kinds", "network.kinds"})
_OF_CILIUM = ("cilium",)
OF_ONE = {
    "checks.authentication_impossible": _OF_CILIUM,
    "checks.cilium_label_unknown": _OF_CILIUM,
    "checks.refusals_close_pods": _OF_CILIUM,
    "network.cilium": _OF_CILIUM,
    "network.cilium_installed": _OF_CILIUM,
}
"""Modules about one vendor's kinds → what they may name: the vendor, and whose proxy it is."""


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
        own = OF_ONE.get(name, ())
        naming = [
            each
            for each in texts
            if id(each) not in notes and any(word.lower() not in own for word in VENDORS.findall(each.value))
        ]
        if naming and room(name) not in _OUTSIDE and name not in _DOORS | _DATA:
            found[name] = len(naming)
    return found


def test_the_engine_names_no_vendor_in_its_texts() -> None:
    assert named() == {}


def test_what_is_about_one_vendor_names_it() -> None:
    """An entry that allows nothing any more goes, and a rule of one vendor is asked where its kinds are."""
    sources = {name: file.read_text(encoding="utf-8") for name, file in modules()}
    assert OF_ONE.keys() <= sources.keys()
    for name, own in OF_ONE.items():
        assert own[0] in sources[name].lower(), name
    needs = {entry.module.removeprefix("policylint."): entry.needs for entry in RULES.values()}
    assert [name for name in OF_ONE if needs.get(name) is anything] == [], "state the kinds that the rule needs"
