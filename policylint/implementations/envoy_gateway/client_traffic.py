"""Status of ClientTrafficPolicy: listeners first, and ports that plaintext listeners share.

Source: docs/design/implementations/envoy-gateway.md §6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.claims import ClaimLedger, TargetClaim, invalid
from policylint.implementations.envoy_gateway.managed import Fleet, Scope
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.model import Node, ResourceKey, mapping, value_at
from policylint.policy.declared import declared, without
from policylint.policy.folding import Stack
from policylint.policy.own_fields import narrowed
from policylint.policy.paths import Path
from policylint.policy.results import FaultyPart, Group, PolicyState
from policylint.policy.strategies import merge
from policylint.topology import Condition, ListenerState, Topology

_OF_CONNECTIONS = ("connection", "tcpKeepalive", "timeout", "proxyProtocol", "enableProxyProtocol")
_OF_BOTH = ("HTTP", "HTTPS", "TLS", "TCP")
"""The protocols whose listeners take settings of connections."""
_WANTED = {"tls": "terminates TLS", "http3": "terminates TLS for HTTP"}
"""What a listener does that takes a setting; for all others it takes HTTP."""
_TARGETS = ("targetRef", "targetRefs", "targetSelectors")


class ClientTraffic:
    """The passes over all ClientTrafficPolicies.

    Attributes:
        statuses: what the controller writes, per policy.
        faults: (policy, node) of the claims that are Invalid because of a shared port, with the message.
    """

    def __init__(self, fleet: Fleet, claims: Iterable[TargetClaim]) -> None:
        self.fleet = fleet
        self.faults: dict[tuple[ResourceKey, Node], str] = {}
        self._ledger = ClaimLedger(fleet, claims)
        self._taken: dict[ResourceKey, dict[Node, str]] = defaultdict(dict)
        """Per Gateway the listeners that a policy on them, or on their ListenerSet, has taken, with their names."""
        self._plaintext = _plaintext(fleet)
        self._run()
        self.statuses: Mapping[ResourceKey, PolicyStatus] = self._ledger.statuses

    def _run(self) -> None:
        for claim in self._ledger.claims:
            if claim.scope.section:
                self._claim(claim)
        for kind in ("ListenerSet", "Gateway"):
            for claim in self._ledger.of_sections(kind, sections=False):
                self._claim(claim)

    def _claim(self, claim: TargetClaim) -> None:
        key, section = claim.scope[:2]
        gateway = self.fleet.gateway_of(key)
        if gateway not in self.fleet.gateways:
            return
        if not self._ledger.take(claim, [claim.scope]):
            return
        inside = [each for each in self._inside(claim) if section or each.node not in self._taken[gateway]]
        if not section:
            self._say_overridden(claim, gateway)
        if section or key != gateway:
            served = (listener for listener in inside if section or listener.gateway is not None)
            self._taken[gateway].update((listener.node, listener.name) for listener in served)
        self._judge(claim, inside)

    def _inside(self, claim: TargetClaim) -> list[ListenerState]:
        """Return the listeners that a claim is about."""
        key = claim.scope.key
        if claim.scope.section:
            listener = self.fleet.topology.listener(claim.node) if claim.node is not None else None
            return [listener] if listener is not None else []
        if key in self.fleet.gateways:
            return self.fleet.listeners(key)
        return list(self.fleet.listener_sets[key].listeners)

    def _say_overridden(self, claim: TargetClaim, gateway: ResourceKey) -> None:
        key = claim.scope.key
        names = sorted(name for node, name in self._taken[gateway].items() if key in (gateway, node.key))
        if names:
            message = f"There are existing ClientTrafficPolicies that are overriding these sections [{' '.join(names)}]"
            self._ledger.say(claim, [claim.scope], Condition("Overridden", "True", "Overridden", message))

    def _judge(self, claim: TargetClaim, inside: list[ListenerState]) -> None:
        strangers = sorted({_path(each) for listener in inside for each in self._strangers(claim, listener)})
        if strangers and claim.node is not None:
            message = (
                "ClientTrafficPolicy is being applied to multiple http (non https) listeners "
                f"({', '.join(strangers)}) on the same port, which is not allowed."
            )
            self.faults[claim.key, claim.node] = message
            self._ledger.say(claim, [claim.scope], Condition("Accepted", "False", "Invalid", message))
        if claim.refusal and any(
            _valid(listener) and _translates(listener, claim.setting) and not any(self._strangers(claim, listener))
            for listener in inside
            if listener.gateway is not None  # what is not let in is not translated
        ):
            self._ledger.say(claim, [claim.scope], invalid(claim.refusal))
        http3 = any(listener.protocol == "HTTPS" and _valid(listener) for listener in inside)
        self._ledger.accept(claim, [claim.scope], http3=http3)

    def _strangers(self, claim: TargetClaim, listener: ListenerState) -> Iterator[ListenerState]:
        """Yield plaintext listeners of the same proxy and port that the policy would reach without naming them."""
        gateway = listener.gateway
        sharing = self._plaintext.get((proxy_of(self.fleet, gateway), listener.port), [])
        if all(neighbour.node != listener.node for neighbour in sharing):
            return
        for neighbour in sharing:
            holder = neighbour.gateway if claim.scope.key == gateway else neighbour.node.key
            named = not claim.scope.section and holder == claim.scope.key
            if neighbour.node != listener.node and not named:
                yield neighbour


def _plaintext(fleet: Fleet) -> Mapping[tuple[ResourceKey | None, int | None], list[ListenerState]]:
    """Return valid HTTP listeners by proxy and port; of several with one hostname the one of the oldest Gateway."""
    sharing: dict[tuple[ResourceKey | None, int | None], list[ListenerState]] = defaultdict(list)
    for key in fleet.gateways:
        proxy = proxy_of(fleet, key)
        for listener in fleet.listeners(key):
            older = sharing[proxy, listener.port]
            taken = any(neighbour.hostname == listener.hostname for neighbour in older)
            if listener.protocol == "HTTP" and _valid(listener) and not taken:
                older.append(listener)
    return sharing


def proxy_of(fleet: Fleet, gateway: ResourceKey | None) -> ResourceKey | None:
    """Return what stands for the proxy of a Gateway: its class where the class merges its Gateways, else itself."""
    state = fleet.gateways.get(gateway) if gateway is not None else None
    return state.class_key if state is not None and fleet.merges(state) else gateway


def _valid(listener: ListenerState) -> bool:
    """Tell whether the controller programs a listener: no condition speaks against it."""
    return not any(
        condition.status == ("True" if condition.type == "Conflicted" else "False")
        for condition in listener.conditions
        if condition.type in ("Accepted", "ResolvedRefs", "Conflicted")
    )


def spared(group: Group, places: Mapping[ResourceKey, Pointer], topology: Topology) -> Iterator[Group]:
    """Yield a group of a refused policy by whether its fault is translated: other listeners have its other settings.

    Args:
        places: of the faults, by policy.
    """
    (attachment, *_) = group.effective.stack
    place = places.get(attachment.key, ())

    def translates(path: Path) -> bool:
        listener = topology.listener(path[-1])
        return listener is None or _translates(listener, str(place[1]))

    if len(place) < 2 or all(map(translates, group.contexts())):
        yield group
        return
    refused = narrowed(group, translates)
    if refused is not None:
        yield refused
    rest = narrowed(group, lambda path: not translates(path))
    if rest is not None:
        written = attachment.policy.once(declared, group.kind).declared
        acting = attachment._replace(declared=tuple(without(each, (place[:2],)) for each in written))
        effective = merge(Stack(group.kind, (acting,)))
        if effective.owners:  # what is translated here is not refused, which a stack without settings says
            silent = (each._replace(declared=()) for each in group.effective.stack)
            yield rest._replace(effective=effective._replace(stack=tuple(silent)))


def _translates(listener: ListenerState, setting: str) -> bool:
    """Tell whether a setting is translated for a listener (translateClientTrafficPolicyForListener)."""
    if setting == "tls":
        written = mapping(value_at(listener.holder.body, listener.pointer))
        mode = mapping(written.get("tls")).get("mode")
        return listener.protocol == "HTTPS" or (listener.protocol == "TLS" and mode != "Passthrough")
    if setting == "http3":
        return listener.protocol == "HTTPS"
    return listener.protocol in (_OF_BOTH if setting in _OF_CONNECTIONS else ("HTTP", "HTTPS"))


def without_use(state: PolicyState, topology: Topology) -> Iterator[FaultyPart]:
    """Yield the settings of a policy that are translated for none of the listeners it acts on, where those are seen."""
    nodes = [path[-1] for group in state.groups for path in group.contexts()]
    listeners = [topology.listener(node) for node in nodes]
    seen = [listener for listener in listeners if listener is not None and listener.protocol in _OF_BOTH]
    if not seen or len(seen) < len(nodes):
        return
    for setting in (name for name in state.policy.spec if name not in _TARGETS):
        if not any(_translates(listener, setting) for listener in seen):
            names = ", ".join(sorted({f"{listener.name} ({listener.protocol})" for listener in seen}))
            asked = setting == "tls" and "clientValidation" in mapping(state.policy.spec["tls"])
            also = ": no client is asked for a certificate" if asked else ""
            why = f"no listener here {_WANTED.get(setting, 'takes HTTP')}, only {names}{also}"
            yield FaultyPart(("spec", setting), why)
    yield from _without_http3(state.policy.spec)


def _without_http3(spec: Mapping[str, object]) -> Iterator[FaultyPart]:
    """Yield HTTP/3 beside what Envoy has for TCP alone: listeners do without it, or Envoy refuses that for QUIC.

    Source: shouldDisableHTTP3ForClientValidation (envoyproxy/gateway#8583); envoyproxy/gateway#9798 and #5005.
    """
    if "http3" not in spec:
        return
    reasons = {
        "client certificates (`tls.clientValidation`)": "clientValidation" in mapping(spec.get("tls")),
        "PROXY protocol": spec.get("enableProxyProtocol") is True or spec.get("proxyProtocol") is not None,
    }
    for name in (name for name, is_asked in reasons.items() if is_asked):
        fix = "leave `http3` out, or what it does not go with"
        yield FaultyPart(("spec", "http3"), f"Envoy has no {name} over QUIC: clients get no HTTP/3", fix=fix)
        return


def _path(listener: ListenerState) -> str:
    """Return `gwNs/gw[/lsNs/ls]/listener`."""
    scope = Scope(listener.node.key, listener.name)
    if listener.gateway is None or listener.gateway == listener.node.key:
        return scope.path
    return f"{listener.gateway.path}/{scope.path}"
