"""The TLS that DestinationRules give the clients of a Service: whether these show a certificate of the mesh.

Source: pilot/pkg/model/push_context.go, destinationRule; destination_rule.go, mergeDestinationRule (1.28);
istio.io/docs/reference/config/networking/destination-rule, «ClientTLSSettings-TLSmode».
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, World, integer, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import is_exported, names_service
from policylint.model.selectors import matches
from policylint.namedtuple import NamedTuple
from policylint.policy.order import order_stated
from policylint.topology.workloads import Labels

MUTUAL = "ISTIO_MUTUAL"
_OF_THE_MESH = ("", MUTUAL)
_WITHOUT_CERTIFICATE = ("DISABLE", "SIMPLE")
_WHOLE: Pointer = ("spec", "trafficPolicy")


class ClientTls(NamedTuple):
    """What a client shows to a Service.

    Args:
        identity: whether it shows a certificate of the mesh; None where that is not known.
        rule: the DestinationRule that says so, None where the mesh's own TLS holds.
        demands: the DestinationRule that has it show one, whether the pods can take it or not.
    """

    identity: bool | None = True
    rule: Resource | None = None
    demands: Resource | None = None


class _Named(NamedTuple):
    """Some DestinationRules of a namespace, oldest first.

    Args:
        hosts: those for one host, by the name that it begins with.
        wildcards: the others, with their hosts.
        open: the first one whose host a variable leaves open, where any of these sets TLS.
    """

    hosts: dict[str, list[Resource]]
    wildcards: list[tuple[str, Resource]]
    open: Resource | None


class DestinationRules:
    """The DestinationRules of a world by namespace, oldest first."""

    __slots__ = ("_by_namespace", "_known")

    def __init__(self, world: World) -> None:
        self._by_namespace: dict[str, list[Resource]] = {}
        for rule in sorted(world.of_kind("networking.istio.io", "DestinationRule"), key=lambda each: each.age):
            self._by_namespace.setdefault(rule.key.namespace, []).append(rule)
        self._known: dict[tuple[str, bool | None], _Named] = {}

    def _named(self, namespace: str, private: bool | None = None) -> _Named:
        """Return the rules of a namespace; those alone that are for its own clients, or for others as well."""
        place = (namespace, private)
        if place not in self._known:
            rules = [each for each in self._by_namespace.get(namespace, ()) if private in (None, _is_private(each))]
            self._known[place] = _by_host(rules)
        return self._known[place]

    def for_client(
        self,
        service: Resource,
        port: int | None,
        home: str,
        pod_labels: Mapping[str, Any] | None,
        root: str,
        labels: Labels = (),
    ) -> ClientTls:
        """Return what clients in a namespace show to a port of a Service.

        The rules of their own namespace are looked at first, then those of the Service's, then of the root namespace;
        the first namespace that has any for the host decides.

        Args:
            pod_labels: of the client; None where they are not known.
            labels: of the subset that is called.
        """
        if not self._by_namespace:
            return ClientTls()
        ports = sequence(service.spec.get("ports"))
        if port is None and len(ports) == 1:  # which is called, whoever names it
            port = integer(mapping(ports[0]).get("port"))
        own = self._named(home, True if home == root else None)
        for rules in (own, self._named(service.key.namespace, False), self._named(root, False)):
            if rules.open is not None:
                return ClientTls(None, rules.open)
            named = _most_specific(service, rules)
            shown = named if rules is own else [rule for rule in named if is_exported(rule, home) is not False]
            if rules is not own and any(is_exported(rule, home) is None for rule in shown):
                return ClientTls(None, shown[0])
            if shown:
                return _acting(shown, port, pod_labels if shown[0].key.namespace == home else {}, labels)
        return ClientTls()


def _is_private(rule: Resource) -> bool:
    """Tell whether a rule is for the clients of its own namespace alone."""
    return texts(rule.spec.get("exportTo")) == ["."]


def _sets_tls(rule: Resource) -> bool:
    return _shows_identity(rule, None, ()) is not True


def _by_host(rules: Sequence[Resource]) -> _Named:
    found = _Named({}, [], None)
    for rule in rules:
        host = text(rule.spec.get("host"))
        if host.startswith("*"):
            found.wildcards.append((host, rule))
        else:
            found.hosts.setdefault(host.partition(".")[0], []).append(rule)
    left_open = [rule for rule in rules if is_symbolic(text(rule.spec.get("host")))]
    return found._replace(open=left_open[0] if any(map(_sets_tls, left_open)) else None)


def _most_specific(service: Resource, rules: _Named) -> list[Resource]:
    """Return the rules with the host that names a Service most closely: its own name, then the longest wildcard."""
    called = [(text(rule.spec.get("host")), rule) for rule in rules.hosts.get(service.key.name, ())]
    for listed in (called, rules.wildcards):
        named = [(host, rule) for host, rule in listed if names_service(host, rule.key.namespace, service.key)]
        if named:
            longest = max(len(host) for host, _ in named)
            return [rule for host, rule in named if listed is called or len(host) == longest]
    return []


def _acting(
    rules: Sequence[Resource], port: int | None, pod_labels: Mapping[str, Any] | None, labels: Labels
) -> ClientTls:
    """Return what the rules of one host and namespace say: one that selects the client, else the oldest that sets any.

    Rules for one host are merged, and the first that has a trafficPolicy gives it (mergeDestinationRule).
    """
    selecting = [rule for rule in rules if rule.spec.get("workloadSelector") is not None]
    if selecting and pod_labels is None:
        return ClientTls(None, selecting[0])
    chosen = [rule for rule in selecting if matches(mapping(rule.spec.get("workloadSelector")), pod_labels or {})]
    chosen = chosen or [rule for rule in rules if rule not in selecting]
    setting = [rule for rule in chosen if policy_at(rule, port, labels)[1] != _WHOLE]
    setting = setting or [rule for rule in chosen if isinstance(rule.spec.get("trafficPolicy"), dict)]
    answers = [ClientTls(_shows_identity(rule, port, labels), rule) for rule in setting]
    if not answers:
        return ClientTls()
    differing = next((other for other in answers[1:] if other.identity is not answers[0].identity), None)
    if differing is not None and differing.rule is not None and not order_stated(setting[0], differing.rule):
        return ClientTls(None, differing.rule)
    if answers[0].identity is not True:
        return answers[0]
    return ClientTls(demands=setting[0] if _is_demanded(setting[0], port, labels) else None)


def policy_at(rule: Resource, port: int | None, labels: Labels) -> tuple[Mapping[str, Any], Pointer]:
    """Return what says how the pods of a subset are connected to at a port, and where: its own trafficPolicy where that
    says anything of TLS there, else that of the rule (pilot/pkg/networking/util, MergeSubsetTrafficPolicy)."""
    for number, subset in enumerate(map(mapping, sequence(rule.spec.get("subsets")))) if labels else ():
        own = mapping(subset.get("trafficPolicy"))
        of_ports = settings_of_ports(own)
        if labels_of(subset) == labels and ("tls" in own or port in of_ports or (port is None and of_ports)):
            return own, ("spec", "subsets", number, "trafficPolicy")
    return mapping(rule.spec.get("trafficPolicy")), _WHOLE


def labels_of(subset: Mapping[str, Any]) -> Labels:
    """Return the labels of a subset, in one order."""
    return tuple(sorted((name, text(value)) for name, value in mapping(subset.get("labels")).items()))


def _is_demanded(rule: Resource, port: int | None, labels: Labels) -> bool:
    """Return whether a rule has the clients of a port show a certificate of the mesh, in as many words."""
    policy, _ = policy_at(rule, port, labels)
    return _mode(settings_of_ports(policy).get(port, policy)) == MUTUAL


def originates(rule: Resource, port: int | None) -> bool:
    """Return whether a rule certainly has the clients of a port use TLS that is not the mesh's."""
    policy = mapping(rule.spec.get("trafficPolicy"))
    of_ports = settings_of_ports(policy)
    return (port is not None or not of_ports) and _mode(of_ports.get(port, policy)) in ("SIMPLE", "MUTUAL")


def _shows_identity(rule: Resource, port: int | None, labels: Labels) -> bool | None:
    """Return whether the clients of a rule show a certificate of the mesh at a port, None where it is not known.

    What is set for a port does not inherit from what is set for all (PortTrafficPolicy).
    """
    policy, _ = policy_at(rule, port, labels)
    of_ports = settings_of_ports(policy)
    modes = [_mode(of_ports.get(port, policy))]
    if port is None:
        modes += map(_mode, of_ports.values())
    answers = {True if mode in _OF_THE_MESH else False if mode in _WITHOUT_CERTIFICATE else None for mode in modes}
    return answers.pop() if len(answers) == 1 else None


def settings_of_ports(policy: Mapping[str, Any]) -> dict[int | None, Mapping[str, Any]]:
    """Return what a trafficPolicy says of single ports; the first entry for one counts."""
    found: dict[int | None, Mapping[str, Any]] = {}
    for each in map(mapping, sequence(policy.get("portLevelSettings"))):
        if (number := integer(mapping(each.get("port")).get("number"))) is not None:
            found.setdefault(number, each)
    return found


def _mode(policy: Mapping[str, Any]) -> str:
    return text(mapping(policy.get("tls")).get("mode"), "DISABLE" if isinstance(policy.get("tls"), dict) else "")
