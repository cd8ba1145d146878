"""Small worlds from inline YAML, as the tests of this room write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.documents import read
from policylint.model import Resource, ResourceKey, Unseen, World
from policylint.model.keys import CLUSTER_SCOPED
from policylint.topology import Topology, build


def resources(manifests: str | bytes, file: str = "test.yaml") -> list[Resource]:
    """The objects of a YAML text; those without a namespace are in `default`."""
    data = manifests.encode() if isinstance(manifests, str) else manifests
    found = []
    for document in read(data, file).documents:
        body: Any = document.value
        if not isinstance(body, dict) or not isinstance(body.get("kind"), str):
            continue
        group, _, version = str(body.get("apiVersion") or "").rpartition("/")
        metadata = body.get("metadata") or {}
        namespace = "" if (group, body["kind"]) in CLUSTER_SCOPED else metadata.get("namespace") or "default"
        key = ResourceKey(group, body["kind"], namespace, str(metadata.get("name") or ""))
        found.append(Resource(key, version, body, document))
    return found


def world(*manifests: str, unseen: Unseen | None = None, assumed: Iterable[ResourceKey] = ()) -> World:
    """One environment of all the manifests."""
    return World("default", resources("\n---\n".join(manifests)), unseen=unseen, assumed=assumed)


def topology(*manifests: str, unseen: Unseen | None = None, assumed: Iterable[ResourceKey] = ()) -> Topology:
    return build(world(*manifests, unseen=unseen, assumed=assumed))


def paths(found: Topology) -> list[str]:
    """Every context as text: the maximal paths from the roots, sorted."""
    ended = []
    stack = [(root, str(found.vertices[root])) for root in found.roots]
    while stack:
        vertex, path = stack.pop()
        if not found.children[vertex]:
            ended.append(path)
        for child in found.children[vertex]:
            stack.append((child, f"{path} > {found.vertices[child]}"))
    return sorted(ended)


def conditions(found: Iterable[Any]) -> list[str]:
    """`Accepted=False/NoMatchingParent` per condition."""
    return [f"{each.type}={each.status}/{each.reason}" for each in found]


def gateway(name: str = "edge", namespace: str = "infra", listeners: str = "", more: str = "") -> str:
    """A Gateway; listeners and further fields of spec in flow style."""
    listeners = listeners or "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{gatewayClassName: any, listeners: {listeners}{", " + more if more else ""}}}
"""


def route(
    name: str = "checkout",
    namespace: str = "shop",
    parents: str = "[{name: edge, namespace: infra}]",
    kind: str = "HTTPRoute",
    more: str = "",
    created: str = "",
) -> str:
    """A route; parentRefs and further fields of spec in flow style."""
    stamp = f", creationTimestamp: '{created}'" if created else ""
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: {kind}
metadata: {{name: {name}, namespace: {namespace}{stamp}}}
spec: {{parentRefs: {parents}{", " + more if more else ""}}}
"""


def service(name: str = "checkout", namespace: str = "shop", ports: str = "[{name: http, port: 80}]") -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{ports: {ports}}}
"""


def listener_set(name: str, namespace: str, listeners: str, created: str = "", parent: str = "edge") -> str:
    stamp = f", creationTimestamp: '{created}'" if created else ""
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {{name: {name}, namespace: {namespace}{stamp}}}
spec: {{parentRef: {{name: {parent}, namespace: infra}}, listeners: {listeners}}}
"""


def grant(namespace: str, source: str, target: str, version: str = "v1beta1", kind: str = "ReferenceGrant") -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/{version}
kind: {kind}
metadata: {{name: grant, namespace: {namespace}}}
spec: {{from: [{source}], to: [{target}]}}
"""


def labelled(namespace: str, labels: str = "{}") -> str:
    return f"""
apiVersion: v1
kind: Namespace
metadata: {{name: {namespace}, labels: {labels}}}
"""
