"""Gateway API's own policies: BackendTLSPolicy's certificates and ancestors (docs/design/request-precedence.md §7)."""

from __future__ import annotations

from policylint.implementations.generic import Implementation, controller_above
from policylint.model import PolicyKind, Resource, World
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor, Declared, PolicyState
from policylint.topology import Topology, whole
from policylint.topology.ancestry import gateways_above


class GatewayApi(Implementation):
    """BackendTLSPolicy, as the conformance suite tests it; the other core kinds follow their catalog entries."""

    name = "gateway-api"

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse a policy that has CA references of which none is valid."""
        from policylint.implementations.generic.backend_tls import ca_faults, without_ca

        reading = super().validate(policy, kind, declared, world)
        if reading.code or kind.kind != "BackendTLSPolicy":
            return reading
        return without_ca(ca_faults(policy, world))

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """Return one ancestor per Gateway with a class that routes to a targeted backend."""
        from policylint.implementations.generic.backend_tls import ca_faults, reported

        if state.kind.kind != "BackendTLSPolicy":
            return ()
        conditions = reported(state, ca_faults(state.policy, topology.world))
        gateways = {
            gateway
            for target in state.targets
            for node in target.nodes
            for gateway in gateways_above(topology, node.key)
            if (above := topology.gateway(gateway)) is None or not above.class_resolution.missing
        }
        return tuple(Ancestor(whole(key), controller_above(topology, key), conditions) for key in sorted(gateways))
