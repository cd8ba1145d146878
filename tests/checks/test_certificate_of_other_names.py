"""GWP420: certificates and the hosts for which they are shown (RFC 9525, 6.3; cert-manager's Certificate)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.checks.kit.x509 import names_in
from policylint.model import Finding
from tests.doors.asking import ingress
from tests.worlds import gateway, gateway_class, manifest, route, simulated

PEM = """\
-----BEGIN CERTIFICATE-----
MIIBtTCCAVqgAwIBAgIUJlDwVtkqTz2NbSqOCG+7rgAdw/kwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3RhbmQtaW4wIBcNMjYxMTMwMDM1NTIyWhgPMjEyNjExMDYw
MzU1MjJaMBMxETAPBgNVBAMMCHN0YW5kLWluMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEw5oMG/vkDEfNCjfKjBFquuBRrHylayMyF1ZN/MQeX0SBB531y2i/U/fi
yk0Ara7hg+bHZk32YbQ0uu2tUMQ38aOBiTCBhjAdBgNVHQ4EFgQUOS+N8qNWiuoI
9VeobI+IxBU+CHYwHwYDVR0jBBgwFoAUOS+N8qNWiuoI9VeobI+IxBU+CHYwDwYD
VR0TAQH/BAUwAwEB/zAzBgNVHREELDAqghBTaG9wLmV4YW1wbGUuY29tghAqLmV1
LmV4YW1wbGUuY29thwQKAAABMAoGCCqGSM49BAMCA0kAMEYCIQC73ga1X/561WqX
qXsnrWtV+TlHImXC5LeRV/LjRvhjsQIhAOrfGaoRYHxM/9jIkU4tSOsM4Z/lPO0/
LPU4IChYdeP7
-----END CERTIFICATE-----
"""
"""A stand-in that signed itself, for Shop.example.com, *.eu.example.com and an address."""
LISTENERS = (
    "[{name: https, port: 443, protocol: HTTPS, %stls: {certificateRefs: [{name: site}]}, "
    "allowedRoutes: {namespaces: {from: All}}}]"
)


def told(*manifests: str) -> list[Finding]:
    return list(run(simulated(*manifests), select={"GWP420"}))


def certificate(names: str, secret: str = "site", namespace: str = "infra", more: str = "") -> str:
    spec = f"spec: {{secretName: {secret}, dnsNames: [{names}], issuerRef: {{name: x}}{more}}}"
    return manifest("cert-manager.io/v1", "Certificate", f"of-{secret}", namespace, spec)


def listening(host: str, annotations: str = "") -> str:
    made = gateway(listeners=LISTENERS % (f"hostname: '{host}', " if host else ""))
    return made.replace("name: edge,", f"name: edge, annotations: {{{annotations}}},") if annotations else made


@pytest.mark.parametrize(
    ("host", "names", "lacking"),
    [
        ("shop.example.com", "shop.example.com", ""),
        ("shop.example.com", "'*.example.com'", ""),
        ("Shop.example.com", "SHOP.example.com", ""),
        ("shop.example.com", "www.example.com", "shop.example.com"),
        ("example.com", "'*.example.com'", "example.com"),  # a wildcard is not for what it stands below
        ("a.shop.example.com", "'*.example.com'", "a.shop.example.com"),
        ("*.example.com", "'*.example.com'", ""),
        ("*.example.com", "shop.example.com", ""),  # for a host of the pattern
        ("*.example.com", "shop.example.org", "*.example.com"),
        ("shop.${DOMAIN}", "'*.${DOMAIN}'", ""),
        ("shop.${DOMAIN}", "www.example.com", ""),  # not known
        ("shop.example.com", "'*.${DOMAIN}'", ""),
        ("", "www.example.com", ""),  # nobody says which hosts
    ],
)
def test_a_listener_and_the_certificate_that_is_made_for_it(host: str, names: str, lacking: str) -> None:
    found = told(listening(host), certificate(names))
    assert [(each.severity, lacking in each.message) for each in found] == ([("warning", True)] if lacking else [])


def test_a_wildcard_is_said_to_stand_for_one_label() -> None:
    (found,) = told(listening("a.shop.example.com"), certificate("'*.example.com'"))
    assert "one label" in found.label
    (found,) = told(listening("shop.example.org"), certificate("'*.example.com'"))
    assert "one label" not in found.label


@pytest.mark.parametrize(
    ("own", "hosts", "is_told"),
    [
        ("*.example.com", "shop.example.com", False),
        ("*.example.com", "a.shop.example.com", True),  # the listener takes it, the certificate is not for it
        ("", "shop.example.com", False),
        ("", "example.com", True),
        ("shop.example.com", "shop.example.com", False),
    ],
)
def test_hosts_of_routes_where_the_listener_has_a_pattern(own: str, hosts: str, is_told: bool) -> None:
    assert bool(told(listening(own), certificate("'*.example.com'"), route(more=f"hostnames: [{hosts}]"))) is is_told


def two_listeners(
    own: str, narrower: str, port: int = 443, tls: str = "tls: {certificateRefs: [{name: other}]}"
) -> str:
    """A Gateway with a listener for much, and one for less that has a certificate of its own."""
    at = "protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}"
    first = f"{{name: wide, port: 443, hostname: '{own}', tls: {{certificateRefs: [{{name: site}}]}}, {at}}}"
    return gateway(listeners=f"[{first}, {{name: narrow, port: {port}, hostname: '{narrower}', {tls}, {at}}}]")


@pytest.mark.parametrize(
    ("narrower", "is_told"),
    [
        ("*.shop.example.com", False),
        ("a.shop.example.com", False),
        ("*.${AREA}.example.com", False),  # which may be `shop`
        ("*.other.example.com", True),
        ("b.shop.example.com", True),
        ("*.${AREA}.example.org", True),
    ],
)
def test_a_narrower_listener_shows_its_own_certificate(narrower: str, is_told: bool) -> None:
    """A client of TLS asks for the host by name (SNI): Gateway API, GatewaySpec.listeners, «most specific»."""
    manifests = (certificate("'*.example.com'"), certificate("'*.shop.example.com'", "other"))
    found = told(two_listeners("*.example.com", narrower), *manifests, route(more="hostnames: [a.shop.example.com]"))
    assert bool([each for each in found if "#wide" in each.message]) is is_told


def test_a_route_that_names_the_wider_listener_is_not_served_there() -> None:
    manifests = (certificate("'*.example.com'"), certificate("'*.shop.example.com'", "other"))
    bound = route(more="hostnames: [a.shop.example.com]", parents="[{name: edge, namespace: infra, sectionName: wide}]")
    assert not told(two_listeners("*.example.com", "*.shop.example.com"), *manifests, bound)


def test_a_narrower_listener_elsewhere_or_without_tls_takes_nothing() -> None:
    manifests = (certificate("'*.example.com'"), route(more="hostnames: [a.shop.example.com]"))
    assert told(two_listeners("*.example.com", "*.shop.example.com", port=8443), *manifests)
    served = gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller")
    assert told(served, two_listeners("*.example.com", "*.shop.example.com", tls="tls: {}"), *manifests)


@pytest.mark.parametrize(
    "beside",
    [
        "",  # the Secret comes from elsewhere
        certificate("www.example.com", "other"),
        certificate("www.example.com", namespace="shop"),
        manifest("external-secrets.io/v1", "ExternalSecret", "site", "infra", "spec: {target: {name: site}}"),
        manifest("v1", "Secret", "site", "infra", "type: kubernetes.io/tls\nstringData: {tls.crt: 'ENC[AES256]'}"),
    ],
)
def test_nothing_is_said_of_names_that_are_not_known(beside: str) -> None:
    assert not told(listening("shop.example.com"), beside)


def test_cert_manager_takes_the_names_from_an_annotated_gateway() -> None:
    annotated = listening("shop.example.com", "cert-manager.io/cluster-issuer: letsencrypt")
    assert not told(annotated, certificate("www.example.com"))


@pytest.mark.parametrize(
    ("host", "is_told"),
    [("shop.example.com", False), ("a.eu.example.com", False), ("eu.example.com", True), ("stand-in", True)],
)
def test_a_certificate_of_the_tree_is_read(host: str, is_told: bool) -> None:
    body = "type: kubernetes.io/tls\nstringData:\n  tls.crt: |\n" + "".join(f"    {line}\n" for line in PEM.split("\n"))
    secret = manifest("v1", "Secret", "site", "infra", body)
    found = told(listening(host), secret)
    assert bool(found) is is_told
    assert all("it is for *.eu.example.com and shop.example.com" in each.label for each in found)


@pytest.mark.parametrize(
    "broken", ["", "x", PEM[:200], PEM.replace("MIIB", "MII9"), PEM.replace("BgNVHREE", "BgNVHRIE")]
)
def test_what_is_no_certificate_has_no_names(broken: str) -> None:
    assert not names_in(broken)


def test_names_of_the_first_certificate_of_a_chain() -> None:
    assert names_in(PEM) == {"shop.example.com", "*.eu.example.com"}


PROXY = manifest(
    "projectcontour.io/v1",
    "HTTPProxy",
    "web",
    "infra",
    "spec: {virtualhost: {fqdn: shop.example.com, tls: {secretName: site}}}",
)
DELEGATED = PROXY.replace("secretName: site", "secretName: certs/site")
INGRESS = ingress(namespace="infra", more="tls: [{hosts: [shop.example.com], secretName: site}]")
BARE = ingress(namespace="infra", more="tls: [{secretName: site}]")
ISSUED = ingress(
    namespace="infra",
    more="tls: [{hosts: [shop.example.com], secretName: site}]",
    prefix="cert-manager.io/",
    cluster_issuer="letsencrypt",
)
SERVER = manifest(
    "networking.istio.io/v1",
    "Gateway",
    "edge",
    "shop",
    "spec: {selector: {istio: edge}, servers: [{port: {number: 443, name: https, protocol: HTTPS}, "
    "hosts: [shop.example.com], tls: {mode: SIMPLE, credentialName: site}}]}",
)
PODS = manifest(
    "apps/v1",
    "Deployment",
    "edge",
    "infra",
    "spec: {selector: {matchLabels: {istio: edge}}, template: {metadata: {labels: {istio: edge}}, spec: {}}}",
)


SERVING = manifest(
    "k8s.nginx.org/v1", "VirtualServer", "web", "infra", "spec: {host: shop.example.com, tls: {secret: site}}"
)


@pytest.mark.parametrize(
    ("of_class", "is_told"),
    [
        ("nginx", True),
        ("kong", True),
        ("traefik", False),  # the name that a client asks for chooses among the certificates of all objects
        ("alb", False),  # which reads no Secret
        ("other", False),  # nobody knows what it shows
        ("gce", False),  # the other one of the Ingress is for it
    ],
)
def test_who_shows_the_certificates_of_an_ingress(of_class: str, is_told: bool) -> None:
    blocks = "tls: [{hosts: [shop.example.com], secretName: site}, {hosts: [www.example.com], secretName: more}]"
    made = ingress(namespace="infra", of_class=of_class, more=blocks)
    found = told(made, certificate("www.example.com"), certificate("'*.example.com'", "more"))
    assert bool(found) is is_told


@pytest.mark.parametrize(
    ("manifests", "home", "is_told"),
    [
        ((PROXY,), "infra", True),
        ((DELEGATED,), "certs", True),
        ((DELEGATED,), "infra", False),
        ((INGRESS,), "infra", True),
        ((SERVING,), "infra", True),
        ((SERVING.replace("secret: site", "secret: site, cert-manager: {issuer: x}"),), "infra", False),
        ((BARE,), "infra", True),
        ((ISSUED,), "infra", False),
        ((SERVER, PODS), "infra", True),
        ((SERVER, PODS), "shop", False),
        ((SERVER,), "shop", False),  # where its proxies are is not known
    ],
)
def test_objects_beside_gateway_api(manifests: tuple[str, ...], home: str, is_told: bool) -> None:
    assert bool(told(*manifests, certificate("www.example.com", namespace=home))) is is_told
    assert not told(*manifests, certificate("shop.example.com", namespace=home))


def test_a_gateway_with_a_credential_beside_it_has_proxies_there() -> None:
    """Nothing here deploys them; of those that are seen, one is another Gateway's."""
    beside, far = (certificate("www.example.com", namespace=home) for home in ("shop", "infra"))
    assert not told(SERVER, PODS, beside, far)
    assert told(SERVER, PODS, PODS.replace("namespace: infra", "namespace: shop"), beside) == []
    assert told(SERVER.replace("namespace: shop", "namespace: infra"), PODS, beside, far)


@pytest.mark.parametrize(
    ("selector", "names", "is_told"),
    [
        (
            "{example.com/owning-gateway-name: edge}",
            "front.infra.svc.cluster.local, front.infra.svc, front.infra",
            False,
        ),
        ("{gateway.networking.k8s.io/gateway-name: edge}", "front, '*.infra.svc.cluster.local'", False),
        ("{app: edge}", "front.infra.svc, www.example.com", True),  # for others, too
        ("{app: shop}", "front.infra.svc", True),  # behind it, not in front
        ("{app: edge}", "other.infra.svc", True),
    ],
)
def test_a_certificate_for_those_who_call_the_proxies_by_a_service(selector: str, names: str, is_told: bool) -> None:
    """A tunnel or a load balancer passes on what it gets: its clients see a certificate of its own."""
    service = manifest("v1", "Service", "front", "infra", f"spec: {{selector: {selector}, ports: [{{port: 443}}]}}")
    world = (gateway_class(), listening("shop.example.com"), certificate(names), service)
    assert bool(told(*world, route("all"))) == is_told
