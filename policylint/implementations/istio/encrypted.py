"""Whether what a client sends to the pods of a Service is encrypted: by the mesh, or as a DestinationRule says.

Source: istio.io, «Understanding TLS Configuration» (auto mTLS: the mesh's own TLS wherever both ends have a proxy).
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.implementations.istio.admission import ASKED, tls_mode
from policylint.implementations.istio.calling import Sender, takes_inbound
from policylint.implementations.istio.client_tls import DestinationRules, originates
from policylint.implementations.istio.mesh import Mesh
from policylint.model import Resource, World
from policylint.network.endpoints import Endpoint
from policylint.policy.authorizing import Client, RequestFacts
from policylint.policy.results import Group

_TAKING = ("STRICT", "PERMISSIVE")


def encrypted(
    client: Resource,
    target: Endpoint,
    service: Resource,
    ports: tuple[int | None, int | None],
    here: Mapping[str, Group],
    world: World,
    root: str,
) -> str:
    """Return why it certainly is, "" where it may not be. What ambient pods get by their tunnel is not asked here.

    Args:
        ports: the Service's, and the pods'.
        here: the effective policies of the target, by kind.
    """
    mesh = world.once(Mesh)
    home, dialled = client.key.namespace, ports[0]
    own = next(
        (each for each in mesh.by_namespace.get(home, ()) if client.key in (each.node.key, each.gateway_node.key)), None
    )
    if own is None or not own.sure or own.ambient or own.assumed:
        return ""
    call = RequestFacts("", "", "", {}, ports[1], sender=Client(client, home), service=service, dialled=dialled)
    sender = Sender(call, mesh, world, root, checked=False, plain=False)
    proxy = mesh.proxy(target.key)
    if sender.principal and proxy is not None and proxy.sure and not proxy.ambient and takes_inbound(proxy, ports[1]):
        peers = here.get(ASKED[1])
        mode = "PERMISSIVE" if peers is None else tls_mode(peers, ports[1])[0]
        return "Istio encrypts it (mutual TLS)" if mode in _TAKING else ""
    rule = world.once(DestinationRules).for_client(service, dialled, home, own.labels, root).rule
    return f"{rule.key} has clients use TLS" if rule is not None and originates(rule, dialled) else ""
