"""What is peculiar to single controllers and asked of every tree: by which kinds requests come in."""

from __future__ import annotations

from policylint.implementations.generic.gateway_pods import OWN_GATEWAY

ENTRIES = (
    ("networking.k8s.io", "Ingress"),
    ("route.openshift.io", "Route"),
    ("traefik.io", "IngressRoute"),
    ("traefik.io", "IngressRouteTCP"),
    ("traefik.io", "IngressRouteUDP"),
    ("projectcontour.io", "HTTPProxy"),
    ("configuration.konghq.com", "TCPIngress"),
    ("configuration.konghq.com", "UDPIngress"),
    ("k8s.nginx.org", "TransportServer"),
    ("k8s.nginx.org", "VirtualServer"),
    ("apisix.apache.org", "ApisixRoute"),
    ("getambassador.io", "TCPMapping"),
    ("ingress.v1.haproxy.org", "TCP"),
    OWN_GATEWAY,
)
"""Kinds whose objects make doors."""

READING = (
    ("k8s.nginx.org", "Policy"),
    ("k8s.nginx.org", "VirtualServer"),
    ("networking.k8s.io", "Ingress"),
    ("projectcontour.io", "HTTPProxy"),
    ("traefik.io", "Middleware"),
)
"""Kinds of which it hangs on the content of Secrets, those that they name in their namespace, what requests get."""
LISTING = (("networking.k8s.io", "Ingress"), ("traefik.io", "Middleware"), ("projectcontour.io", "HTTPProxy"))
"""Kinds whose objects list addresses of clients, or count requests by them."""
IN_ORDER = ("networking.istio.io", "VirtualService")
"""A kind whose objects hold rules that are asked in order."""
TLS_ENDS = (OWN_GATEWAY, ("projectcontour.io", "HTTPProxy"))
"""Kinds beside Gateway API whose objects say where TLS ends."""
BY_HOST = ("traefik.io", "TLSOption")
"""A kind whose objects hold for hosts, whichever of the routes for these names them."""

SERVER = ("k8s.nginx.org", "VirtualServer")
"""A kind whose objects have one host, and one certificate for it."""
BY_CONSUMER = (("configuration.konghq.com", "KongPlugin"), ("configuration.konghq.com", "KongClusterPlugin"))
"""Kinds whose objects let in consumers, by what these bring."""
BY_PRIORITY = ("traefik.io", "IngressRoute")
"""A kind whose rules come in an order of numbers, which may be equal."""
