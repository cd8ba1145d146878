"""Istio's names: labels, classes, controllers, kinds.

Source: istio/api labels.yaml; docs/design/implementations/istio.md §0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.model.kinds import SERVICE_IMPORT
from policylint.topology import whole

ROOT_NAMESPACE = "istio-system"
"""Default of meshConfig.rootNamespace."""

GATEWAY_CONTROLLER = "istio.io/gateway-controller"
MESH_CONTROLLER = "istio.io/mesh-controller"
EAST_WEST_CONTROLLER = "istio.io/eastwest-controller"
OPENSHIFT_CONTROLLER = "openshift.io/gateway-controller"
"""Of OpenShift, whose ingress operator runs an istiod for the Gateways of such classes; later ones end in `/v1`."""
OPENSHIFT_ROOT = "openshift-ingress"
"""The root namespace of that istiod."""
WAYPOINT_CLASS = "istio-waypoint"
EAST_WEST_CLASS = "istio-east-west"
OWN_CLASSES = {
    "istio": GATEWAY_CONTROLLER,
    "istio-remote": "istio.io/unmanaged-gateway",
    EAST_WEST_CLASS: EAST_WEST_CONTROLLER,
    WAYPOINT_CLASS: MESH_CONTROLLER,
    "openshift-default": f"{OPENSHIFT_CONTROLLER}/v1",
}
"""GatewayClasses known by their names: istiod makes them by itself, or OpenShift's documentation names them so."""

GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name"
GATEWAY_CLASS_NAME = "gateway.networking.k8s.io/gateway-class-name"
MANAGED = "gateway.istio.io/managed"
USE_WAYPOINT = "istio.io/use-waypoint"
USE_WAYPOINT_NAMESPACE = "istio.io/use-waypoint-namespace"
USE_CANARY = "istio.io/use-waypoint-canary"
USE_CANARY_NAMESPACE = "istio.io/use-waypoint-canary-namespace"
CANARY_WEIGHT = "istio.io/use-waypoint-canary-weight"
WAYPOINT_FOR = "istio.io/waypoint-for"
INGRESS_USE_WAYPOINT = "istio.io/ingress-use-waypoint"
DATAPLANE_MODE = "istio.io/dataplane-mode"
INJECTION = "istio-injection"
REVISION = "istio.io/rev"
INJECT = "sidecar.istio.io/inject"
INJECTED = "sidecar.istio.io/status"
PROXY_CONTAINER = "istio-proxy"
_CANONICAL_NAME = "service.istio.io/canonical-name"
_CANONICAL_REVISION = "service.istio.io/canonical-revision"
_TLS_MODE = "security.istio.io/tlsMode"
DRY_RUN = "istio.io/dry-run"
PROXY_ANNOTATION = "proxy.istio.io/config"
IGNORE_ATTACHMENT = "istio.io/ignore-policy-attachment"
_LONGEST = 63
"""Letters of a label's value."""
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
UNTRUE = ("0", "f", "F", "false", "FALSE", "False")

DEFAULT_REVISION = "default"
"""The tag that every installation has, and the revision of one that states none."""

SERVICE = ("", "Service")
SERVICE_ENTRY = ("networking.istio.io", "ServiceEntry")
GATEWAY = (GATEWAY_GROUP, "Gateway")
GATEWAY_CLASS = (GATEWAY_GROUP, "GatewayClass")

AUTHORIZATION = "AuthorizationPolicy"
REQUEST_AUTHENTICATION = "RequestAuthentication"
PEER_AUTHENTICATION = "PeerAuthentication"
TELEMETRY = "Telemetry"
WASM = "WasmPlugin"
TRAFFIC_EXTENSION = "TrafficExtension"
ENVOY_FILTER = "EnvoyFilter"
PROXY_CONFIG = "ProxyConfig"
BACKEND_TLS = "BackendTLSPolicy"
BACKEND_TRAFFIC = "XBackendTrafficPolicy"


def is_openshift(controller: str) -> bool:
    """Tell whether a GatewayClass of this controllerName is served by the istiod of OpenShift's ingress operator."""
    return controller.startswith(OPENSHIFT_CONTROLLER)


def is_istio(controller: str) -> bool:
    """Tell whether a GatewayClass of this controllerName is served by an istiod."""
    return controller.startswith("istio.io/") or is_openshift(controller)


def service_of(key: ResourceKey) -> ResourceKey | None:
    """Return the Service that a ServiceImport stands for: the one of its name; None for other kinds."""
    return ResourceKey(*SERVICE, key.namespace, key.name) if key[:2] == SERVICE_IMPORT else None


def namespace_node(namespace: str) -> Node:
    """Return the node of a policy without selector and targetRefs: its namespace; the root namespace is the mesh."""
    return whole(ResourceKey("", "Namespace", "", namespace))


def selector_path(policy: Resource) -> tuple[str, str]:
    """Return the fields below `spec` in which a policy writes the labels of its workloads."""
    return ("workloadSelector", "labels") if policy.key.kind == ENVOY_FILTER else ("selector", "matchLabels")


def match_labels(policy: Resource) -> dict[str, object]:
    """Return the labels that a policy selects workloads by; empty for all workloads. A variable in their place is one
    of which nothing is known."""
    selector, field = selector_path(policy)
    stated = policy.spec.get(selector)
    labels = stated if is_symbolic(stated) else mapping(stated).get(field)
    return {labels: labels} if isinstance(labels, str) and is_symbolic(labels) else dict(mapping(labels))


def is_dry_run(policy: Resource) -> bool:
    """Tell whether a policy is only tried: its annotation holds what Go's ParseBool takes for true."""
    return text(policy.annotations.get(DRY_RUN)) in _TRUE


def counts_for(policy: Resource, revision: str) -> bool:
    """Tell whether the control plane of a revision reads a policy for certain (LabelsInRevision).

    One labelled with another name is read where that is a tag of the revision, which manifests rarely say.
    """
    return text(policy.labels.get(REVISION), revision) == revision


def has_references(policy: Resource) -> bool:
    """Tell whether a policy names targets."""
    return bool(sequence(policy.spec.get("targetRefs"))) or bool(mapping(policy.spec.get("targetRef")))


def is_wide(policy: Resource) -> bool:
    """Tell whether a policy covers its whole namespace, or the mesh."""
    return not has_references(policy) and not match_labels(policy)


def injected(own: Mapping[str, Any], workload: str) -> Mapping[str, Any]:
    """Return the labels of pods into which a sidecar or a gateway is injected: the injector adds some.

    Source: istio-discovery/files/{injection,gateway-injection}-template.yaml @ 86c9f01fd7; gateways get no `tlsMode`,
    which nobody selects them by.
    """
    name = own.get("app.kubernetes.io/name") or own.get("app") or workload[:_LONGEST].strip("-_.")
    revision = own.get("app.kubernetes.io/version") or own.get("version") or "latest"
    return {_TLS_MODE: "istio", _CANONICAL_NAME: name, _CANONICAL_REVISION: revision, **own}
