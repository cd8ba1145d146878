"""Load balancers that end TLS in front of Traefik: what was encrypted comes to its entry point as plain text.

Predicted from docs.aws.amazon.com, «Network Load Balancer» (annotations), traefik/traefik,
pkg/middlewares/redirect/redirect_scheme.go, and traefik/traefik#9948.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests.doors.asking import ingress
from tests.worlds import manifest, service, simulated

AWS = "service.beta.kubernetes.io/aws-load-balancer"
CERTIFICATE = f"{AWS}-ssl-cert: 'arn:aws:acm:a:1:certificate/a'"
ARGUMENTS = "'--entryPoints.web.address=:8000', '--entryPoints.websecure.address=:8443'"
TO_HTTPS = manifest("traefik.io/v1alpha1", "Middleware", "to-https", "shop", "spec: {redirectScheme: {scheme: https}}")


def proxy(annotations: str = CERTIFICATE, target: str = "websecure", arguments: str = ARGUMENTS) -> tuple[str, ...]:
    ports = "[{name: web, containerPort: 8000}, {name: websecure, containerPort: 8443}]"
    pod = f"{{containers: [{{name: traefik, image: traefik, args: [{arguments}], ports: {ports}}}]}}"
    template = f"template: {{metadata: {{labels: {{app: traefik}}}}, spec: {pod}}}"
    served = f"ports: [{{name: a, port: 80, targetPort: web}}, {{name: b, port: 443, targetPort: {target}}}]"
    spec = f"spec: {{type: LoadBalancer, selector: {{app: traefik}}, {served}}}"
    return (
        manifest("apps/v1", "Deployment", "traefik", "traefik", f"spec: {{selector: {{}}, {template}}}"),
        manifest("v1", "Service", "traefik", "traefik", spec, more=f"annotations: {{{annotations}}}"),
    )


def route(middlewares: str = "middlewares: [{name: to-https}], ", tls: str = "") -> str:
    to = f"{middlewares}services: [{{name: web, port: 80}}]"
    rule = f"routes: [{{kind: Rule, match: 'Host(`a.example.com`)', {to}}}]"
    return manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", f"spec: {{{rule}{tls}}}")


def world(proxies: tuple[str, ...], *routes: str) -> Simulation:
    return simulated(service("web"), TO_HTTPS, *proxies, *routes)


def end(simulation: Simulation) -> str:
    outcome = Tracer(simulation).trace(request({"scheme": "https", "host": "a.example.com", "path": "/"})).outcome
    return "redirect" if outcome.redirect is not None else "reaches" if outcome.backends else str(outcome.status)


@pytest.mark.parametrize(
    ("annotations", "loops"),
    [
        (CERTIFICATE, True),
        (f"{CERTIFICATE}, {AWS}-ssl-ports: '443', {AWS}-backend-protocol: tcp", True),
        (f"{CERTIFICATE}, {AWS}-ssl-ports: b", True),
        (f"{CERTIFICATE}, {AWS}-ssl-ports: '8443'", False),
        (f"{CERTIFICATE}, {AWS}-backend-protocol: ssl", False),  # it is encrypted again
        (f"{CERTIFICATE}, {AWS}-backend-protocol: http", False),  # it adds a header that says so
        ("a: b", False),
        ("service.beta.kubernetes.io/do-loadbalancer-certificate-id: a", True),
    ],
)
def test_redirects_of_plain_text(annotations: str, loops: bool) -> None:
    simulation = world(proxy(annotations), route())
    assert [each.rule for each in run(simulation, select={"GWP411"})] == ["GWP411"] * loops
    assert (end(simulation) == "redirect") is loops


@pytest.mark.parametrize("target", ["websecure", "8443"])
def test_without_a_redirect_it_gets_there(target: str) -> None:
    simulation = world(proxy(target=target), route(""))
    assert end(simulation) == "reaches"
    assert not list(run(simulation, select={"GWP411"}))


def test_what_is_no_loop() -> None:
    """Routers of entry points that end TLS themselves, and a redirect on port 80 alone."""
    secured = f"{ARGUMENTS}, '--entryPoints.websecure.http.tls=true'"
    assert not list(run(world(proxy(arguments=secured), route()), select={"GWP411"}))
    alone = route().replace("routes:", "entryPoints: [web], routes:")
    assert not list(run(world(proxy(), alone, route("", "").replace("name: web,", "name: b,", 1)), select={"GWP411"}))


IMAGE = "registry.k8s.io/ingress-nginx/controller:v1.11.1"


def nginx(
    annotations: str = CERTIFICATE, target: str = "http", arguments: str = "", image: str = IMAGE
) -> tuple[str, ...]:
    named = "[{name: http, containerPort: 80}, {name: https, containerPort: 443}, {name: other, containerPort: 8080}]"
    pod = f"{{containers: [{{name: controller, image: '{image}', args: [{arguments}], ports: {named}}}]}}"
    template = f"template: {{metadata: {{labels: {{app: nginx}}}}, spec: {pod}}}"
    served = f"ports: [{{name: a, port: 80, targetPort: http}}, {{name: b, port: 443, targetPort: {target}}}]"
    spec = f"spec: {{type: LoadBalancer, selector: {{app: nginx}}, {served}}}"
    return (
        manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: k8s.io/ingress-nginx}"),
        manifest("apps/v1", "Deployment", "nginx", "ingress", f"spec: {{selector: {{}}, {template}}}"),
        manifest("v1", "Service", "nginx", "ingress", spec, more=f"annotations: {{{annotations}}}"),
    )


FORCED = {"force_ssl_redirect": "true"}


@pytest.mark.parametrize(
    ("proxies", "annotations", "loops"),
    [
        (nginx(), FORCED, True),
        (nginx(target="80"), FORCED, True),
        (nginx(), {}, False),  # without a certificate nothing is redirected
        (nginx(target="https"), FORCED, False),  # it does not speak plain text there: a handshake fails
        (nginx(f"{CERTIFICATE}, {AWS}-backend-protocol: http"), FORCED, False),  # it adds a header that says so
        (nginx("a: b"), FORCED, False),
        (nginx(target="other", arguments="--http-port=8080"), FORCED, True),
        (nginx(target="other"), FORCED, False),
        (nginx(image="example.com/other/proxy:1"), FORCED, False),
        ((*nginx(), *(each.replace("name: nginx", "name: inside") for each in nginx("a: b", "https"))), FORCED, False),
        ((), FORCED, False),
    ],
)
def test_in_front_of_ingress_nginx(proxies: tuple[str, ...], annotations: dict[str, str], loops: bool) -> None:
    classes = () if proxies else nginx()[:1]
    simulation = simulated(service("web"), *classes, *proxies, ingress(host="a.example.com", **annotations))
    assert end(simulation) == ("redirect" if loops else "reaches")
    assert bool(list(run(simulation, select={"GWP411"}))) == loops
