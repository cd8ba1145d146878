"""Whether the input shows a whole cluster as it runs, so that what is not in it is not there.

Source: docs/design/implementations/envoy-gateway.md §2.
"""

from __future__ import annotations

from policylint.model import ResourceKey, World, mapping, text

_SERVICE_NAME = "kubernetes.io/service-name"


def is_dump(world: World) -> bool:
    """Whether objects are there that clusters make and nobody commits.

    That is the Namespace `default`, and an EndpointSlice of a Service with a selector: those Kubernetes writes, people
    write only those of Services without. Together they say that Namespaces and what lives in them were listed.
    """
    if world.get(ResourceKey("", "Namespace", "", "default")) is None:
        return False
    for each in world.of_kind("discovery.k8s.io", "EndpointSlice"):
        service = world.get(ResourceKey("", "Service", each.key.namespace, text(each.labels.get(_SERVICE_NAME))))
        if service is not None and mapping(service.spec.get("selector")):
            return True
    return False


def lacks_namespace(world: World, namespace: str) -> bool:
    """Whether a Namespace is known not to be there: the controller lets no route in whose Namespace it cannot read.

    Trees in Git mostly leave Namespaces out, as tools make them: there nothing is known.
    """
    return world.get(ResourceKey("", "Namespace", "", namespace)) is None and is_dump(world)
