"""Status of ClientTrafficPolicy: listeners first, and ports that plaintext listeners share.

Source: docs/design/implementations/envoy-gateway.md §6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from policylint.implementations.envoy_gateway.claims import Claim, Ledger, conflicted, no_section
from policylint.implementations.envoy_gateway.deprecated import warning
from policylint.implementations.envoy_gateway.managed import Fleet, Scope
from policylint.implementations.envoy_gateway.policy_status import Book
from policylint.model import Node, ResourceKey
from policylint.topology import Condition, ListenerState


class ClientTraffic:
    """The passes over all ClientTrafficPolicies.

    Attributes:
        books: what the controller writes, per policy.
        faults: (policy, node) of the claims that are Invalid because of a shared port, with the message.
    """

    def __init__(self, fleet: Fleet, claims: Iterable[Claim]) -> None:
        self.fleet = fleet
        self.faults: dict[tuple[ResourceKey, Node], str] = {}
        self._ledger = Ledger(fleet, claims)
        self._taken: dict[ResourceKey, dict[Node, str]] = defaultdict(dict)
        """Per Gateway the listeners that a policy on them, or on their ListenerSet, has taken, with their names."""
        self._plaintext = _plaintext(fleet)
        self._run()
        self.books: Mapping[ResourceKey, Book] = self._ledger.books

    def _run(self) -> None:
        for claim in self._ledger.claims:
            if claim.scope.section:
                self._claim(claim)
        for kind in ("ListenerSet", "Gateway"):
            for claim in self._ledger.of_sections(kind, sections=False):
                self._claim(claim)

    def _claim(self, claim: Claim) -> None:
        key, section = claim.scope
        gateway = self.fleet.gateway_of(key)
        if gateway not in self.fleet.gateways:
            return
        here = [claim.scope]
        if claim.node is None:
            self._ledger.say(claim, here, no_section(claim))
            return
        if not self._ledger.take(claim):
            self._ledger.say(claim, here, conflicted(claim))
            return
        inside = [each for each in self._inside(claim) if section or each.node not in self._taken[gateway]]
        if not section:
            self._say_overridden(claim, gateway)
        if section or key != gateway:
            served = (each for each in inside if section or each.gateway is not None)
            self._taken[gateway].update((each.node, each.name) for each in served)
        self._judge(claim, inside)

    def _inside(self, claim: Claim) -> list[ListenerState]:
        """The listeners that a claim is about."""
        key = claim.scope.key
        if claim.scope.section:
            found = self.fleet.topology.listener(claim.node) if claim.node is not None else None
            return [found] if found is not None else []
        if key in self.fleet.gateways:
            return self.fleet.listeners(key)
        return list(self.fleet.listener_sets[key].listeners)

    def _say_overridden(self, claim: Claim, gateway: ResourceKey) -> None:
        key = claim.scope.key
        names = sorted(name for node, name in self._taken[gateway].items() if key in (gateway, node.key))
        if names:
            message = f"There are existing ClientTrafficPolicies that are overriding these sections [{' '.join(names)}]"
            self._ledger.say(claim, [claim.scope], Condition("Overridden", "True", "Overridden", message))

    def _judge(self, claim: Claim, inside: list[ListenerState]) -> None:
        here = [claim.scope]
        strangers = sorted({_path(each) for listener in inside for each in self._strangers(claim, listener)})
        if strangers and claim.node is not None:
            message = (
                "ClientTrafficPolicy is being applied to multiple http (non https) listeners "
                f"({', '.join(strangers)}) on the same port, which is not allowed."
            )
            self.faults[claim.key, claim.node] = message
            self._ledger.say(claim, here, Condition("Accepted", "False", "Invalid", message))
        self._ledger.accept(claim, here)
        found = warning(claim.policy, http3=any(each.protocol == "HTTPS" and _valid(each) for each in inside))
        if found is not None:
            self._ledger.say(claim, here, found)

    def _strangers(self, claim: Claim, listener: ListenerState) -> Iterator[ListenerState]:
        """Plaintext listeners on the port of one, in the same proxy, that the policy would reach without being told
        to."""
        gateway = listener.gateway
        sharing = self._plaintext.get((_proxy(self.fleet, gateway), listener.port), [])
        if all(each.node != listener.node for each in sharing):
            return
        for other in sharing:
            if other.node == listener.node:
                continue
            if claim.scope.section:
                inside = False
            elif claim.scope.key == gateway:
                inside = other.gateway == gateway
            else:
                inside = other.node.key == claim.scope.key
            if not inside:
                yield other


def _plaintext(fleet: Fleet) -> Mapping[tuple[ResourceKey | None, int | None], list[ListenerState]]:
    """Valid HTTP listeners by proxy and port. Of two Gateways in one proxy the older one keeps a port and hostname."""
    found: dict[tuple[ResourceKey | None, int | None], list[ListenerState]] = defaultdict(list)
    held: set[tuple[ResourceKey | None, int | None, str]] = set()
    for key in fleet.gateways:
        proxy = _proxy(fleet, key)
        for listener in fleet.listeners(key):
            place = (proxy, listener.port, listener.hostname)
            if listener.protocol == "HTTP" and _valid(listener) and place not in held:
                held.add(place)
                found[proxy, listener.port].append(listener)
    return found


def _proxy(fleet: Fleet, gateway: ResourceKey | None) -> ResourceKey | None:
    """What stands for the proxy that serves a Gateway: its class where the class merges its Gateways, else itself."""
    state = fleet.gateways.get(gateway) if gateway is not None else None
    return state.class_key if state is not None and fleet.merges(state) else gateway


def _valid(listener: ListenerState) -> bool:
    """Whether the controller programs a listener: no condition speaks against it."""
    return not any(
        each.status == ("True" if each.type == "Conflicted" else "False")
        for each in listener.conditions
        if each.type in ("Accepted", "ResolvedRefs", "Conflicted")
    )


def _path(listener: ListenerState) -> str:
    """`gwNs/gw[/lsNs/ls]/listener`."""
    scope = Scope(listener.node.key, listener.name)
    if listener.gateway is None or listener.gateway == listener.node.key:
        return scope.path
    return f"{listener.gateway.path}/{scope.path}"
