"""VirtualServices that name a Gateway of Istio's own which is not there, as it stands in another namespace.

Source: istio.io/docs/reference/config/networking/virtual-service, `gateways`: «Gateways in other namespaces may be
referred to by <gateway namespace>/<gateway name>»; pilot/pkg/model/push_context.go, resolveGatewayName.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.istio.own_gateways import OWN_GATEWAY
from policylint.model import ResourceKey, World, is_symbolic, sequence, text

_MESH = "mesh"


def unbound(world: World) -> Iterator[DeadEnd]:
    """Yield the Gateways that VirtualServices name in the wrong namespace."""
    gateways = world.of_kind(*OWN_GATEWAY)
    for virtual in world.of_kind("networking.istio.io", "VirtualService"):
        for number, name in enumerate(map(text, sequence(virtual.spec.get("gateways")))):
            wanted = _key(name, virtual.key.namespace)
            if name in ("", _MESH) or is_symbolic(name) or world.get(wanted) is not None:
                continue
            like = [each.key for each in gateways if each.key.name == wanted.name]
            if like and world.resolve(wanted).missing:
                yield DeadEnd(
                    virtual,
                    ("spec", "gateways", number),
                    f"names missing {wanted} ({like[0].path} is there)",
                    f"write {like[0].path}",
                    tuple(like[:1]),
                    then="it is served nowhere for this entry: a name without a namespace means its own",
                )


def _key(name: str, namespace: str) -> ResourceKey:
    """Return the Gateway that an entry means: `namespace/name`, `name.namespace.svc…`, or a name beside it."""
    if "/" in name:
        namespace, _, name = name.partition("/")
    elif "." in name:
        name, namespace = name.split(".")[:2]
    return ResourceKey(*OWN_GATEWAY, namespace, name)
