"""Inputs that show a whole cluster as it runs, so that what is not in them is not there.

Source: docs/design/implementations/envoy-gateway.md §2.
"""

from __future__ import annotations

from policylint.model import ResourceKey, World, mapping, text

_SERVICE_NAME = "kubernetes.io/service-name"


def is_dump(world: World) -> bool:
    """Tell whether objects are there that clusters make and nobody commits.

    That is the Namespace `default`, and an EndpointSlice of a Service with a selector: those Kubernetes writes, people
    write only those of Services without. Together they say that Namespaces and what lives in them were listed.
    """
    if world.get(ResourceKey("", "Namespace", "", "default")) is None:
        return False
    for endpoints in world.of_kind("discovery.k8s.io", "EndpointSlice"):
        service = world.get(
            ResourceKey("", "Service", endpoints.key.namespace, text(endpoints.labels.get(_SERVICE_NAME)))
        )
        if service is not None and mapping(service.spec.get("selector")):
            return True
    return False


def lacks_namespace(world: World, namespace: str) -> bool:
    """Tell whether a Namespace is known to be missing: without reading it the controller lets no route in.

    Trees in Git mostly leave Namespaces out, as tools make them: there nothing is known.
    """
    return world.get(ResourceKey("", "Namespace", "", namespace)) is None and is_dump(world)
