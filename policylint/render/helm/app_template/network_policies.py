"""NetworkPolicies of an app-template release: Kubernetes' own and Cilium's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.regex import expression
from policylint.render.helm.app_template.release import (
    Item,
    Release,
    enabled_keys,
    extra_selector_labels,
    filled_in,
    made,
    selector_labels,
)
from policylint.render.provenance import Manifest

_CILIUM = {"cilium": "CiliumNetworkPolicy", "ciliumClusterwide": "CiliumClusterwideNetworkPolicy"}
_OF_CILIUM = ("description", "ingressDeny", "egressDeny", "enableDefaultDeny")
_CONTROLLER_LABEL = "app.kubernetes.io/controller"


def network_policy(release: Release, item: Item) -> Manifest:
    """Return the object of an entry of `networkpolicies` (templates/classes/_networkpolicy.tpl and
    _ciliumNetworkPolicy.tpl)."""
    kind = _CILIUM.get(text(item.values.get("type")))
    return _native(release, item) if kind is None else _of_cilium(release, item, kind)


def _native(release: Release, item: Item) -> Manifest:
    values = item.values
    selector = values["podSelector"] if "podSelector" in values else _selected(release, values, values)
    spec: dict[str, Any] = {"podSelector": filled_in(selector, release)}
    if values.get("policyTypes"):
        spec["policyTypes"] = values["policyTypes"]
    rules = mapping(values.get("rules"))
    for direction, field in (("ingress", "from"), ("egress", "to")):
        if rules.get(direction):
            entries = map(mapping, sequence(rules[direction]))
            spec[direction] = filled_in([_rule(release, entry, field) for entry in entries], release)
    places = {direction: item.origin.at("rules", direction) for direction in ("ingress", "egress")}
    return made(release, item, "networking.k8s.io/v1", "NetworkPolicy", {"spec": spec}, places)


def _rule(release: Release, rule: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """Return a rule with the controllers among its peers as selectors (templates/lib/networkpolicy/_rules.tpl)."""
    if field not in rule:
        return rule
    return {**rule, field: [_peer(release, mapping(peer)) for peer in sequence(rule[field])]}


def _peer(release: Release, peer: Mapping[str, Any]) -> Mapping[str, Any]:
    if "controller" not in peer and "controllers" not in peer:
        return peer
    others = {name: value for name, value in peer.items() if name not in ("controller", "controllers")}
    return {**others, "podSelector": _selected(release, peer, {})}


def _of_cilium(release: Release, item: Item, kind: str) -> Manifest:
    values = item.values
    spec: dict[str, Any] = {}
    if "nodeSelector" in values:
        spec["nodeSelector"] = values["nodeSelector"]
    else:
        written = values.get("endpointSelector")
        spec["endpointSelector"] = _selected(release, values, values) if written is None else written
    for direction, field in (("ingress", "from"), ("egress", "to")):
        if values.get(direction):
            spec[direction] = [_cilium_rule(release, mapping(rule), field) for rule in sequence(values[direction])]
    spec.update({field: values[field] for field in _OF_CILIUM if values.get(field)})
    return made(release, item, "cilium.io/v2", kind, {"spec": filled_in(spec, release)}, {})


def _cilium_rule(release: Release, rule: Mapping[str, Any], direction: str) -> Mapping[str, Any]:
    """Return a rule with `fromController(s)` or `toController(s)` as one more endpoint."""
    one, several, endpoints = (f"{direction}{field}" for field in ("Controller", "Controllers", "Endpoints"))
    if one not in rule and several not in rule:
        return rule
    others = {name: value for name, value in rule.items() if name not in (one, several)}
    named = {"controller": rule.get(one), "controllers": rule.get(several)}
    return {**others, endpoints: [*sequence(rule.get(endpoints)), _selected(release, named, {})]}


def _selected(release: Release, reference: Any, values: Any) -> dict[str, Any]:
    """Return the selector of the Pods of the controllers that are named, else of the only one
    (templates/lib/networkpolicy/_controllerSelector.tpl).

    Args:
        reference: holds `controller`, or `controllers`: keys and expressions.
        values: holds `extraSelectorLabels`.
    """
    enabled = list(enabled_keys(release.values.get("controllers")))
    controllers = _named(sequence(reference.get("controllers")), enabled)
    if not controllers:
        one = text(filled_in(text(reference.get("controller")), release))
        controllers = [one] if one else enabled if len(enabled) == 1 else []
    labels = [selector_labels(release, controller) for controller in controllers]
    shared = {name: value for name, value in (labels[0] if labels else {}).items()
              if all(other.get(name) == value for other in labels)}  # fmt: skip
    shared |= extra_selector_labels(values, release)
    if len(controllers) == 1 or _CONTROLLER_LABEL in shared:
        return {"matchLabels": shared}
    among = sorted({str(other[_CONTROLLER_LABEL]) for other in labels})
    return {
        "matchLabels": shared,
        "matchExpressions": [{"key": _CONTROLLER_LABEL, "operator": "In", "values": among}],
    }


def _named(references: list[Any], enabled: list[str]) -> list[str]:
    """Return the controllers that keys and expressions name (templates/lib/controller/_resolveReference.tpl)."""
    found: dict[str, None] = {}
    for reference in map(text, references):
        matching = expression(reference) if reference not in enabled else None
        found |= dict.fromkeys(key for key in enabled if (matching.is_whole(key) if matching else key == reference))
    return list(found)
