"""Kinds of objects by group and name, and what is special about them: data, apart from who asks for it.

What the catalog (schemas/) knows of kinds of policies is not repeated here. Network policies are in `network/kinds.py`.
"""

from __future__ import annotations

from policylint.model.shipped import shipped_data

GATEWAY_GROUP = "gateway.networking.k8s.io"
ROUTE_KINDS = ("GRPCRoute", "HTTPRoute", "TCPRoute", "TLSRoute", "UDPRoute")


def of_foreign(protocol: str) -> tuple[str, ...] | None:
    """Return the kinds of routes that a protocol with a domain, or of a mesh, may take; None for others."""
    return ROUTE_KINDS if "/" in protocol or protocol == "HBONE" else None


DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
WORKLOADS = (
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("", "Pod"),
    ("argoproj.io", "Rollout"),
    ("", "ReplicationController"),
)
"""Kinds (group, kind) that make Pods, and Pods themselves."""


RELABELLING = (
    ("kyverno.io", "ClusterPolicy"),
    ("policies.kyverno.io", "MutatingPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
)
"""Kinds of which some objects change others as they are admitted, Namespaces with their labels among them."""
CLUSTER_SCOPED = frozenset(
    ("" if group == "core" else group, kind)
    for group, _, kinds in (
        line.partition(":") for line in shipped_data("schemas", "cluster-scoped.yaml").decode().splitlines()
    )
    for kind in kinds.split()
    if not group.startswith("#")
)
"""Kinds without a namespace that need no CRD to be known as such (group, kind)."""
CLUSTER_SCOPED_GROUPS = frozenset({"constraints.gatekeeper.sh", "mutations.gatekeeper.sh", "templates.gatekeeper.sh"})
"""Groups of which no kind has a namespace, whatever kinds they have."""
READ_GROUPS = frozenset(
    {
        "gateway.networking.k8s.io",
        "gateway.networking.x-k8s.io",
        "multicluster.x-k8s.io",
        "discovery.k8s.io",
        "kustomize.config.k8s.io",
        "kustomize.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "source.toolkit.fluxcd.io",
        "source.extensions.fluxcd.io",
        "fluxcd.controlplane.io",
        "flagger.app",
        "argoproj.io",
        "helm.cattle.io",
        "crd.antrea.io",
        "crd.projectcalico.org",
        "projectcalico.org",
        "k8s.ovn.org",
        "traefik.containo.us",
        "network.openshift.io",
        "route.openshift.io",
        "networking.gke.io",
        "cloud.google.com",
        "networking.k8s.aws",
        "cert-manager.io",
        "work.open-cluster-management.io",
    }
)
"""Groups whose objects are read, whether anything names them or not."""
SIBLINGS = (
    (
        ("", "Service"),
        ("gateway.envoyproxy.io", "Backend"),
        ("gateway.kgateway.dev", "Backend"),
        ("agentgateway.dev", "AgentgatewayBackend"),
    ),
    (("", "ConfigMap"), ("", "Secret")),
    tuple((GATEWAY_GROUP, kind) for kind in ROUTE_KINDS),
    ((GATEWAY_GROUP, "Gateway"), (GATEWAY_GROUP, "ListenerSet")),
    (("cluster.open-cluster-management.io", "Placement"), ("apps.open-cluster-management.io", "PlacementRule")),
)
"""Kinds of which one is written where another is meant."""
OLDEST_PREVAILS = frozenset(
    {
        (GATEWAY_GROUP, "Gateway"),
        (GATEWAY_GROUP, "ListenerSet"),
        (GATEWAY_GROUP, "XListenerSet"),
        ("networking.istio.io", "DestinationRule"),
        ("networking.istio.io", "Gateway"),
        ("networking.istio.io", "Sidecar"),
        ("networking.istio.io", "VirtualService"),
    }
)
"""Kinds beside policies and routes of which the oldest object prevails."""
SERVICE = ("", "Service")
SERVICE_IMPORT = ("multicluster.x-k8s.io", "ServiceImport")
BACKEND_KINDS: frozenset[tuple[str, str]] = frozenset(
    {
        SERVICE,
        SERVICE_IMPORT,
        ("gateway.networking.k8s.io", "Backend"),
        ("gateway.networking.x-k8s.io", "XBackend"),
        ("inference.networking.k8s.io", "InferencePool"),
        ("inference.networking.x-k8s.io", "InferencePool"),
        ("gateway.envoyproxy.io", "Backend"),
        ("aigateway.envoyproxy.io", "AIServiceBackend"),
        ("gateway.kgateway.dev", "Backend"),
        ("agentgateway.dev", "AgentgatewayBackend"),
        ("gloo.solo.io", "Upstream"),
        ("networking.istio.io", "ServiceEntry"),
        ("net.gke.io", "ServiceImport"),
        ("traefik.io", "TraefikService"),
    }
)
"""Kinds that a backendRef may name. Another kind counts too when the world holds an object of it."""
VIRTUAL_KINDS = (("networking.istio.io", "Hostname"),)
"""Kinds that a backendRef may name although no object of them exists."""
ROUTE_SELECTORS = (("delegation.kgateway.dev", "label"), ("delegation.gateway.solo.io", "label"))
"""Kinds that mean «the routes with this label» in a backendRef."""
OF_PROVIDERS = ("traefik.io", "TraefikService")
"""A kind whose names may be those of a provider, `api@internal`, and no object."""
BACKENDS_OF_CONTROLLERS = frozenset(
    {
        ("multicluster.x-k8s.io", "ServiceImport"),
        ("net.gke.io", "ServiceImport"),
        ("inference.networking.k8s.io", "InferencePool"),
        ("inference.networking.x-k8s.io", "InferencePool"),
    }
)
"""Kinds that routes name in place of a Service: their controllers make nothing of it that anybody names."""
EACH = "*"
ADDRESSES_OF: dict[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    ("gateway.envoyproxy.io", "Backend"): (("endpoints", EACH, "fqdn"), ("endpoints", EACH, "ip")),
    ("gateway.kgateway.dev", "Backend"): (("static", "hosts", EACH),),
    ("agentgateway.dev", "AgentgatewayBackend"): (("static",), ("mcp", "targets", EACH, "static")),
}
"""By kind, where the specs of backends have a host and a port."""
MACHINE = ("networking.istio.io", "WorkloadEntry")
"""What stands for a machine of a mesh that is no Pod."""
AUTHORIZATION = ("security.istio.io", "AuthorizationPolicy")
REQUEST_AUTHENTICATION = ("security.istio.io", "RequestAuthentication")
TELEMETRY = ("telemetry.istio.io", "Telemetry")
PROXY_PATCH = ("networking.istio.io", "EnvoyFilter")
SIDECAR = ("networking.istio.io", "Sidecar")
"""Kinds of a mesh that rules are about."""
OF_WAYPOINTS = ("HBONE", "istio.io/PROXY")
"""Protocols of the listeners of waypoints: Istio's own, and those that speak the PROXY protocol with ztunnel."""
SERVER = ("policy.linkerd.io", "Server")
"""What stands for a port of pods, and may be the parent of routes."""
MESH_ROUTE = ("policy.linkerd.io", "HTTPRoute")
"""What is an HTTPRoute of Gateway API where its parent is a Service, in a group of its own."""
VIRTUAL_SERVICE = ("networking.istio.io", "VirtualService")
"""What routes requests inside a mesh, and is not evaluated there."""
INGRESS = ("networking.k8s.io", "Ingress")
SETTLED = frozenset({"HTTPProxy", "Ingress", "VirtualServer"})
"""Kinds whose controllers have settings for all of them in ConfigMaps."""
TLS_POLICY = (GATEWAY_GROUP, "BackendTLSPolicy")
CLASSES = ((GATEWAY_GROUP, "GatewayClass"), ("networking.k8s.io", "IngressClass"))
"""Kinds of which whoever runs a controller deploys an object."""
OPENSHIFT_ROUTE = ("route.openshift.io", "Route")
MESHES = ("cilium", "istio", "kuma", "linkerd")
"""Implementations whose policies also act on traffic that no Gateway takes."""
NETWORK_ENGINES = {
    "crd.antrea.io": "Antrea",
    "cilium.io": "Cilium",
    "k8s.ovn.org": "OVN-Kubernetes",
    "network.openshift.io": "OpenShift SDN",
    "networking.gke.io": "GKE",
    "networking.k8s.aws": "AWS",
    "policy.karmada.io": "Karmada",
}
ADMISSION_ENGINES = {
    "kyverno.io": "Kyverno",
    "policies.kyverno.io": "Kyverno",
    "templates.gatekeeper.sh": "Gatekeeper",
    "constraints.gatekeeper.sh": "Gatekeeper",
    "mutations.gatekeeper.sh": "Gatekeeper",
    "policies.kubewarden.io": "Kubewarden",
    "admissionregistration.k8s.io": "Kubernetes",
}
WAYS_IN = {
    ("apisix.apache.org", "ApisixRoute"): ("ApisixRoute", "ApisixRoutes", False),
    ("configuration.konghq.com", "TCPIngress"): ("TCPIngress of Kong", "TCPIngresses of Kong", True),
    ("configuration.konghq.com", "UDPIngress"): ("UDPIngress of Kong", "UDPIngresses of Kong", True),
    ("gateway.solo.io", "VirtualService"): ("VirtualService of Gloo", "VirtualServices of Gloo", False),
    ("getambassador.io", "Mapping"): ("Mapping of Emissary", "Mappings of Emissary", False),
    ("getambassador.io", "TCPMapping"): ("TCPMapping of Emissary", "TCPMappings of Emissary", True),
    ("ingress.v1.haproxy.org", "TCP"): ("TCP of HAProxy", "TCPs of HAProxy", True),
    ("k8s.nginx.org", "TransportServer"): ("TransportServer of NGINX", "TransportServers of NGINX", True),
    ("k8s.nginx.org", "VirtualServer"): ("VirtualServer of NGINX", "VirtualServers of NGINX", True),
    ("networking.istio.io", "Gateway"): ("Gateway of Istio's own", "Gateways of Istio's own", True),
    ("networking.istio.io", "VirtualService"): ("VirtualService of Istio", "VirtualServices of Istio", True),
    ("networking.k8s.io", "Ingress"): ("Ingress", "Ingresses", True),
    ("projectcontour.io", "HTTPProxy"): ("HTTPProxy of Contour", "HTTPProxies of Contour", True),
    ("route.openshift.io", "Route"): ("Route of OpenShift", "Routes of OpenShift", True),
    ("traefik.io", "IngressRoute"): ("IngressRoute of Traefik", "IngressRoutes of Traefik", True),
    ("traefik.io", "IngressRouteTCP"): ("IngressRouteTCP of Traefik", "IngressRouteTCPs of Traefik", True),
    ("traefik.io", "IngressRouteUDP"): ("IngressRouteUDP of Traefik", "IngressRouteUDPs of Traefik", True),
    ("zalando.org", "RouteGroup"): ("RouteGroup of Skipper", "RouteGroups of Skipper", False),
}
"""Kinds of other APIs by which requests come in, past the policies on Gateways and routes, and whether `reach` and
`trace` know them."""


def group_of(written: str) -> str:
    """Return the API group that a reference means: the one whose name is "" is called `core` by many, and no other is.

    Whether a controller takes the word is its own (`Implementation.names_core`); the API server never does.
    """
    return "" if written == "core" else written
