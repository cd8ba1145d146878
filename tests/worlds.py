"""The manifests of which tests make their worlds, and what is read from such worlds.

Only what matters to a test stands in the test: names, listeners, settings. The functions add the rest, in flow style,
and every text can be joined with others by `---`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from policylint.catalog.kinds import load_catalog
from policylint.documents import read
from policylint.model import Resource, ResourceKey, Unseen, World
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation, simulate
from policylint.topology import Topology, build
from policylint.workspace import open_workspace

GATEWAY_API = "gateway.networking.k8s.io"
ENVOY_EDGE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
"""
"""Gateway edge of Envoy Gateway in namespace shop, as people write it, for tests of which lines and bytes matter."""
REDIRECTING = (
    ENVOY_EDGE
    + """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]}
---
"""
)
"""With route web, which needs no backend."""
SCRIPT = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyExtensionPolicy
metadata: {name: script, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  lua: [{type: Inline, inline: "function envoy_on_request(handle) end"}]
---
"""
"""A script for that route."""


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


def simulated(*manifests: str, unseen: Unseen | None = None) -> Simulation:
    """Simulate one environment of all the manifests."""
    return simulate(world(*manifests, unseen=unseen), load_catalog())


def opened(directory: Path, *manifests: str, **options: Any) -> Simulation:
    """Simulate the manifests as one file of a directory, as the commands do; `options` are those of a workspace."""
    file = directory / "world.yaml"
    file.write_text("---\n".join(manifests), encoding="utf-8")
    return open_workspace([str(file)], **options).simulations[0]


def state(simulation: Simulation, name: str) -> PolicyState:
    """Return what became of the policy of a name."""
    return next(state for key, state in simulation.policies.items() if key.name == name)


def verdicts(simulation: Simulation) -> dict[str, str]:
    """Return the verdict on every policy by its name."""
    return {key.name: state.verdict for key, state in simulation.policies.items()}


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


def manifest(
    api_version: str, kind: str, name: str, namespace: str = "", body: str = "", created: str = "", more: str = ""
) -> str:
    """Return one object.

    Args:
        body: what stands below the metadata, e.g. `spec: {…}`.
        created: its creationTimestamp.
        more: further fields of its metadata, in flow style.
    """
    fields = (
        f"name: {name}",
        namespace and f"namespace: {namespace}",
        created and f"creationTimestamp: '{created}'",
        more,
    )
    return f"""
apiVersion: {api_version}
kind: {kind}
metadata: {{{", ".join(filter(None, fields))}}}
{body}
"""


def _spec(*fields: str) -> str:
    return f"spec: {{{', '.join(filter(None, fields))}}}"


def gateway_class(name: str = "any", controller: str = "example.net/controller", more: str = "") -> str:
    """Return a GatewayClass; `more` are further fields of its spec."""
    return manifest(f"{GATEWAY_API}/v1", "GatewayClass", name, body=_spec(f"controllerName: {controller}", more))


def gateway(
    name: str = "edge",
    namespace: str = "infra",
    listeners: str = "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]",
    more: str = "",
    of_class: str = "any",
    labels: str = "",
) -> str:
    """Return a Gateway; `more` are further fields of its spec."""
    body = _spec(f"gatewayClassName: {of_class}", f"listeners: {listeners}", more)
    return manifest(f"{GATEWAY_API}/v1", "Gateway", name, namespace, body, more=labels and f"labels: {{{labels}}}")


def route(
    name: str = "checkout",
    namespace: str = "shop",
    parents: str = "[{name: edge, namespace: infra}]",
    kind: str = "HTTPRoute",
    more: str = "",
    created: str = "",
    annotations: str = "",
) -> str:
    """Return a route; `more` are further fields of its spec."""
    body = _spec(parents and f"parentRefs: {parents}", more)
    return manifest(
        f"{GATEWAY_API}/v1", kind, name, namespace, body, created, annotations and f"annotations: {{{annotations}}}"
    )


def service(
    name: str = "checkout",
    namespace: str = "shop",
    ports: str = "[{name: http, port: 80}]",
    more: str = "",
    labels: str = "",
) -> str:
    """Return a Service; `more` are further fields of its spec."""
    body = _spec(f"ports: {ports}", more)
    return manifest("v1", "Service", name, namespace, body, more=labels and f"labels: {{{labels}}}")


def listener_set(name: str, namespace: str, listeners: str, created: str = "", parent: str = "edge") -> str:
    """Return a ListenerSet of a Gateway in namespace infra."""
    body = _spec(f"parentRef: {{name: {parent}, namespace: infra}}", f"listeners: {listeners}")
    return manifest(f"{GATEWAY_API}/v1", "ListenerSet", name, namespace, body, created)


def grant(namespace: str, source: str, target: str, version: str = "v1beta1", kind: str = "ReferenceGrant") -> str:
    """Return a ReferenceGrant; its `from` and `to` have one entry each."""
    return manifest(f"{GATEWAY_API}/{version}", kind, "grant", namespace, _spec(f"from: [{source}]", f"to: [{target}]"))


def labelled(namespace: str, labels: str = "{}") -> str:
    """Return a Namespace with its labels."""
    return manifest("v1", "Namespace", namespace, more=f"labels: {labels}")


def extending(*names: str, group: str, kind: str) -> str:
    """The filters of a rule that name objects of a kind."""
    filters = (
        f"{{type: ExtensionRef, extensionRef: {{group: {group}, kind: {kind}, name: {name}}}}}" for name in names
    )
    return f"filters: [{', '.join(filters)}]"


def reference(target: str) -> str:
    """Return `Kind/name`, `Kind/name#section` or `Kind.group/name` as an entry of targetRefs."""
    kind, _, rest = target.partition("/")
    kind, _, group = kind.partition(".")
    name, _, section = rest.partition("#")
    group = group or ("''" if kind in ("Namespace", "Service") else GATEWAY_API)
    return f"{{group: {group}, kind: {kind}, name: {name}{section and f', sectionName: {section!r}'}}}"


def policy(
    api_version: str,
    kind: str,
    name: str,
    target: str,
    spec: str = "",
    namespace: str = "default",
    created: str = "",
    more: str = "",
    field: str = "targetRefs",
) -> str:
    """Return a policy.

    Args:
        target: as `reference` takes it; "" for none.
        spec: the settings.
        more: further fields of the metadata.
        field: which names the target: `targetRefs`, a list, or `targetRef`.
    """
    entry = reference(target) if field == "targetRef" else f"[{reference(target)}]"
    body = _spec(target and f"{field}: {entry}", spec)
    return manifest(api_version, kind, name, namespace, body, created, more)
