"""What Calico's selectors look at in a world: pods, service accounts, sets of networks, endpoints of hosts.

Labels of a namespace and of an account are labels of the endpoints in it, under a prefix
(docs/design/implementations/calico.md §2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from policylint.implementations.calico.selectors import (
    Expression,
    LabelTest,
    Value,
    alternatives,
    holds,
    selects,
)
from policylint.model import Resource, World, is_symbolic, texts
from policylint.namedtuple import NamedTuple
from policylint.network.cilium import ACCOUNT
from policylint.network.endpoints import Endpoint, workloads
from policylint.network.rules import Block, Entity, Peer, Pods
from policylint.network.universe import namespace_labels
from policylint.spaces.addresses import cidr, network_of
from policylint.topology.namespaces import NAME_LABEL

GROUPS = ("projectcalico.org", "crd.projectcalico.org")
NAMESPACE = "projectcalico.org/namespace"
SERVICE_ACCOUNT = "projectcalico.org/serviceaccount"
OF_NAMESPACE, OF_ACCOUNT = "pcns.", "pcsa."
_ORCHESTRATOR = "projectcalico.org/orchestrator"
_NAME = "projectcalico.org/name"
UNSURE: Peer = Entity("unread")
"""What makes a peer uncertain that stands beside it."""
Peers = tuple[Peer, ...]
"""What all must match."""


class Networks(NamedTuple):
    """A set of networks that a selector selects.

    Args:
        certain: whether it does for certain.
    """

    blocks: tuple[str, ...]
    certain: bool


class LabelledWorld:
    """The things of one world that have labels."""

    def __init__(self, world: World) -> None:
        self.world = world

    @cached_property
    def _pods(self) -> list[Endpoint]:
        return workloads(self.world)

    @cached_property
    def _accounts(self) -> dict[tuple[str, str], Mapping[str, Any] | None]:
        """The service accounts by namespace and name: their labels, None where they are not known."""
        seen: dict[tuple[str, str], Mapping[str, Any] | None] = {
            (account.key.namespace, account.key.name): account.labels
            for account in self.world.of_kind("", "ServiceAccount")
        }
        unseen: Mapping[str, Any] | None = None if self.world.partial else {}
        return {**{(pod.namespace, pod.account): unseen for pod in self._pods if pod.account}, **seen}

    def _known_values(self, axis: str, key: str) -> Iterator[str]:
        """Yield the values that a label has anywhere."""
        for pod in self._pods:
            labels = pod.labels if axis == "pods" else namespace_labels(self.world, pod.namespace)[0]
            value = pod.account if key == ACCOUNT else labels.get(key)
            if isinstance(value, str):
                yield value

    def pods(self, expression: Expression | None, home: str | None) -> Iterator[Pods]:
        """Yield the pods that an expression selects, as alternatives; None is one that is not known."""
        spread = None if expression is None else alternatives(expression)
        if spread is None:
            yield Pods(home, {}, {}, "unread")
            return
        for terms in spread:
            yield from self._conjunction(terms, home)

    def _conjunction(self, terms: tuple[LabelTest, ...], home: str | None) -> Iterator[Pods]:
        """Yield the pods of which all terms hold."""
        places: dict[str, dict[str, Any]] = {axis: {} for axis in ("namespaces", "pods")}
        of_accounts = [term for term in terms if term.key.startswith(OF_ACCOUNT)]
        for term in terms:
            if term in of_accounts:
                continue
            if term.key == _ORCHESTRATOR or (term.key == NAMESPACE and term.test == "has"):
                if holds(term, "k8s") == term.negated:
                    return
                continue
            axis, key = _axis(term.key)
            _require(places[axis], self._requirement(axis, key, term))
        if not of_accounts:
            yield Pods(home, places["namespaces"], places["pods"], "cluster")
            return
        for (namespace, family), names in self._accounts_of(of_accounts, home).items():
            inside, carried = ({**places[axis]} for axis in ("namespaces", "pods"))
            _require(inside, {"key": NAME_LABEL, "operator": "In", "values": [namespace]})
            _require(carried, {"key": ACCOUNT, "operator": "In", "values": names})
            yield Pods(home, inside, carried, family)

    def _accounts_of(self, terms: list[LabelTest], home: str | None) -> dict[tuple[str, str], list[str]]:
        """Return the names of the service accounts that terms select, by namespace and by whether that is certain."""
        found: dict[tuple[str, str], list[str]] = {}
        for (namespace, name), labels in self._accounts.items():
            if home not in (None, namespace):
                continue
            value = _values(OF_ACCOUNT, name, labels)
            answers = {selects(term, value) for term in terms}
            if False not in answers:
                found.setdefault((namespace, "unread" if None in answers else "cluster"), []).append(name)
        return found

    def _requirement(self, axis: str, key: str, term: LabelTest) -> dict[str, Any]:
        """Return a term as one of a LabelSelector; parts of values stand for the values that are there."""
        if term.test == "has":
            return {"key": key, "operator": "DoesNotExist" if term.negated else "Exists"}
        values = list(term.values)
        if term.test != "in":
            values = sorted({value for value in self._known_values(axis, key) if holds(term, value)})
        return {"key": key, "operator": "NotIn" if term.negated else "In", "values": values}

    def networks(self, expression: Expression | None, home: str | None) -> Iterator[Networks]:
        """Yield the sets of networks that an expression selects, in all namespaces and none, or in one."""
        for group in GROUPS:
            for kind in ("GlobalNetworkSet", "NetworkSet"):
                for found in self.world.of_kind(group, kind):
                    place = found.key.namespace
                    if home not in (None, place):
                        continue
                    answer = None if expression is None else selects(expression, self._of(found, place))
                    if answer is not False:
                        nets = (text if "/" in text else network_of(text) for text in texts(found.spec.get("nets")))
                        yield Networks(tuple(net for net in nets if cidr(net)), answer is True)

    def hosts(self, expression: Expression | None, *, addressed: bool = False) -> bool:
        """Return whether an expression may select an endpoint of a host.

        Args:
            addressed: one whose addresses are known, as rules that let it in or out ask for (`expectedIPs`).
        """
        return any(
            expression is None or selects(expression, self._of(host, "")) is not False
            for host in self.of_hosts()
            if not addressed or host.spec.get("expectedIPs")
        )

    def surely_hosts(self, expression: Expression | None) -> bool:
        """Return whether an expression selects an endpoint of a host for certain."""
        if expression is None:
            return False
        return any(selects(expression, self._of(host, "")) is True for host in self.of_hosts())

    def of_hosts(self) -> Iterator[Resource]:
        """Yield the endpoints of hosts that are declared."""
        for group in GROUPS:
            yield from self.world.of_kind(group, "HostEndpoint")

    def _of(self, resource: Resource, namespace: str) -> Callable[[str], Value | bool]:
        """Return what labels something without pods has: its own, and those of its namespace."""
        labels, is_open = namespace_labels(self.world, namespace) if namespace else ({}, False)
        of_namespace = _values(OF_NAMESPACE, namespace, None if is_open else labels)

        def value(key: str) -> Value | bool:
            if key == NAMESPACE:
                return namespace or None
            if key.startswith(OF_NAMESPACE):
                return of_namespace(key) if namespace else None
            return _known(resource.labels.get(key))

        return value


def _values(prefix: str, name: str, labels: Mapping[str, Any] | None) -> Callable[[str], Value | bool]:
    """Return what labels a namespace or an account has under a prefix; True where they are not known."""

    def value(key: str) -> Value | bool:
        bare = key.removeprefix(prefix)
        if bare == _NAME:
            return name
        return True if labels is None else _known(labels.get(bare))

    return value


def _known(value: object) -> Value | bool:
    return True if is_symbolic(value) else value if isinstance(value, str) else None


def _axis(key: str) -> tuple[str, str]:
    """Return whose label a key means, of pods or of their namespaces, and what it is called there."""
    if key == NAMESPACE:
        return "namespaces", NAME_LABEL
    if key.startswith(OF_NAMESPACE):
        bare = key.removeprefix(OF_NAMESPACE)
        return "namespaces", NAME_LABEL if bare == _NAME else bare
    return "pods", ACCOUNT if key == SERVICE_ACCOUNT else key


def _require(selector: dict[str, Any], requirement: dict[str, Any]) -> None:
    """Add what is required to a LabelSelector, as the label itself where one value is."""
    values = requirement.get("values", ())
    labels = selector.get("matchLabels", {})
    if requirement["operator"] == "In" and len(values) == 1 and requirement["key"] not in labels:
        selector["matchLabels"] = {**labels, requirement["key"]: values[0]}
    else:
        selector["matchExpressions"] = [*selector.get("matchExpressions", []), requirement]


def blocks(nets: tuple[str, ...], excepted: tuple[str, ...] = ()) -> list[Block]:
    """Return networks as peers; their addresses may be those of pods."""
    return [Block(net, excepted, "cluster") for net in nets]
