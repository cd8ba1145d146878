"""Policies of engines that are not evaluated: whom each may select, and which way; what it does there is not known.

A part of a selector that is not understood narrows nothing, so that nobody is left out who may be meant.

Sources: docs.tigera.io, «Network policy» and «Global network policy» (selectors; types, which only projectcalico.org
fills in); antrea.io, «Antrea Network Policy CRDs»; docs.openshift.com, «Configuring an egress firewall»;
cloud.google.com, «Control communication with FQDN network policies».
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.model import Resource, text, texts
from policylint.network.kinds import CALICO, OUTWARD, SENDING
from policylint.network.rules import DIRECTIONS, Action, Direction, Entity, Pods, PolicySpec, RuleSpec
from policylint.patterns import Pattern
from policylint.topology.namespaces import NAME_LABEL

_ACTIONS: tuple[Action, ...] = ("Allow", "Deny")
_COMPARED = Pattern(r"""([\w./-]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)')""")
_LISTED = Pattern(r"([\w./-]+)\s+(not\s+)?in\s*\{([^{}]*)\}")
_HELD = Pattern(r"(!\s*)?has\(\s*([\w./-]+)\s*\)")
_VALUE = Pattern(r"""["']([^"']*)["']""")
_OF_NAMESPACE = "pcns."
_OWN = "projectcalico.org/"


def unread_policy(resource: Resource) -> PolicySpec:
    """Return a policy of an engine that is not evaluated: it may allow or deny anything to the pods that it selects."""
    spec, kind = resource.spec, resource.key[:2]
    requirements: dict[str, list[dict[str, Any]]] = {"pods": [], "namespaces": []}
    of_nodes = kind[0] in CALICO and True in (spec.get("preDNAT"), spec.get("doNotTrack"))  # HostEndpoints alone
    if kind[0] in CALICO and not of_nodes:
        for field, default in (("selector", "pods"), ("namespaceSelector", "namespaces")):
            for axis, requirement in _requirements(text(spec.get(field)), default):
                requirements[axis].append(requirement)
    namespaces, pods = ({"matchExpressions": requirements[axis]} for axis in ("namespaces", "pods"))
    subject = Pods(resource.key.namespace or None, namespaces, pods, "unread")
    peer = Entity("perhaps what is no pod" if of_nodes else "names" if kind in OUTWARD else "unread")
    rules = tuple(
        RuleSpec(direction, number, action, (((peer,), ()),), None, ("spec",))
        for direction in _directions(resource)
        for number, action in enumerate(_ACTIONS)
    )
    return PolicySpec(resource, "Admin", 0, subject, rules)


def _directions(resource: Resource) -> list[Direction]:
    """Return the directions in which a policy may act."""
    spec, group = resource.spec, resource.key.group
    if resource.key[:2] in SENDING:
        return ["egress"]
    listed = [direction for direction in DIRECTIONS if spec.get(direction)]
    if group == "crd.antrea.io":
        return listed
    if group in CALICO:
        types = {name.lower() for name in texts(spec.get("types"))}
        if types:
            return [direction for direction in DIRECTIONS if direction in types]
        if group == "projectcalico.org":
            return listed or ["ingress"]
    return list(DIRECTIONS)


def _requirements(selector: str, default: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a selector of Calico demands of the labels of pods and namespaces, as far as all of it must hold."""
    selector = selector.replace("all()", "")
    if "||" in selector or "(" in _HELD.sub("", selector):
        return
    for term in map(str.strip, selector.split("&&")):
        if compared := _COMPARED.fullmatch(term):
            key, operator = compared[1], "In" if compared[2] == "==" else "NotIn"
            values = [compared[3] or compared[4] or ""]
        elif listed := _LISTED.fullmatch(term):
            key, operator, values = listed[1], "NotIn" if listed[2] else "In", _VALUE.findall(listed[3])
        elif held := _HELD.fullmatch(term):
            key, operator, values = held[2], "DoesNotExist" if held[1] else "Exists", []
        else:
            continue
        if key in (f"{_OWN}name", f"{_OWN}namespace") and (default == "namespaces" or key.endswith("namespace")):
            yield "namespaces", {"key": NAME_LABEL, "operator": operator, "values": values}
        elif key.startswith(_OF_NAMESPACE):
            yield "namespaces", {"key": key.removeprefix(_OF_NAMESPACE), "operator": operator, "values": values}
        elif not key.startswith((_OWN, "pcsa.")):
            yield default, {"key": key, "operator": operator, "values": values}
