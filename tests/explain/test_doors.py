"""What `explain` says of objects that only doors know: where requests come in, where they end, and what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.explain.explanation import explain
from policylint.explain.subject import subjects
from tests.doors.asking import ingress
from tests.doors.test_istio import gateway, pods, policy, virtual
from tests.doors.test_traefik import SHOP, ingress_route, middleware, to
from tests.worlds import manifest, opened, service

REQUEST = "https://shop.example.com every request"
REQUEST = "https://shop.example.com every request"
GLOBAL = "labels: {global: 'true'}, annotations: {kubernetes.io/ingress.class: kong}"
BY_DEFAULT = """annotations: {cloud.google.com/backend-config: '{"default": "iap"}'}"""
AUTHORIZED = "virtualhost: {fqdn: a.example.com, authorization: {extensionRef: {name: authz, namespace: ops}}}"
TOKEN = "selector: {matchLabels: {istio: ingressgateway}}, jwtRules: [{issuer: i}]"


@pytest.mark.parametrize(
    ("name", "objects", "facts"),
    [
        (
            "ingress/web",
            (ingress(auth_url="http://sso/", tls=True),),
            {
                "way http://shop.example.com every request -> 308 redirect to https",
                "way https://shop.example.com every request -> shop/web, login: externalAuth by shop/web",
            },
        ),
        (
            "virtualservice/web",
            (gateway(), virtual(), pods(), policy(f"{{{TOKEN}}}", "RequestAuthentication")),
            {f"way {REQUEST} -> shop/web, login: jwtRules by istio-system/p (optional)"},
        ),
        (
            "virtualservice/web",
            (service("web"), virtual(hosts="[web, shop.example.com]", gateways="[mesh]")),
            {"hosts web, shop.example.com"},
        ),
        (
            "ingressroute/web",
            (ingress_route(to(SHOP, more="middlewares: [{name: m}]")), middleware("{basicAuth: {secret: users}}")),
            {"way http://shop.example.com every request -> shop/web, login: basicAuth by shop/m"},
        ),
        (
            "middleware/m",
            (ingress_route(to(SHOP, more="middlewares: [{name: m}]")), middleware("{basicAuth: {secret: users}}")),
            {"named by IngressRouteRule shop/web#route-0.0 (filter)"},
        ),
        (
            "kongclusterplugin/keys",
            (
                ingress(of_class="kong"),
                manifest(
                    "configuration.konghq.com/v1", "KongClusterPlugin", "keys", "", "plugin: key-auth", more=GLOBAL
                ),
            ),
            {"acts at IngressRule shop/web#shop.example.com/"},
        ),
        (
            "backendconfig/iap",
            (
                ingress(of_class="gce", paths="/ Prefix iap"),
                manifest("cloud.google.com/v1", "BackendConfig", "iap", "shop", "spec: {iap: {enabled: true}}"),
                manifest("v1", "Service", "iap", "shop", "spec: {ports: [{port: 80}]}", more=BY_DEFAULT),
            ),
            {"acts at IngressRule shop/web#shop.example.com/"},
        ),
        (
            "frontendconfig/f",
            (
                ingress(of_class="gce", prefix="networking.gke.io/v1beta1.", FrontendConfig="f"),
                manifest("networking.gke.io/v1beta1", "FrontendConfig", "f", "shop", "spec: {sslPolicy: own}"),
            ),
            {"named by Ingress shop/web (metadata.annotations.networking.gke.io/v1beta1.FrontendConfig)"},
        ),
        (
            "extensionservice/authz",
            (
                manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{AUTHORIZED}}}"),
                manifest("projectcontour.io/v1alpha1", "ExtensionService", "authz", "ops", "spec: {services: []}"),
            ),
            {"named by HTTPProxy shop/web (spec.virtualhost.authorization.extensionRef.name)"},
        ),
        (
            "policy/p",
            (
                manifest(
                    "k8s.nginx.org/v1", "VirtualServer", "web", "shop",
                    "spec: {host: a.example.com, routes: [{path: /, policies: [{name: p}], action: {pass: web}}]}",
                ),
                manifest("k8s.nginx.org/v1", "Policy", "p", "shop", "spec: {accessControl: {allow: [10.0.0.0/8]}}"),
            ),
            {"named by VirtualServer shop/web (spec.routes[0].policies[0].name)"},
        ),
    ],
)  # fmt: skip
def test_ways_in(name: str, objects: tuple[str, ...], facts: set[str], tmp_path: Path) -> None:
    simulation = opened(tmp_path, service("web"), *objects)
    assert simulation.acting is not None  # what was computed without doors does not stand for what is there with them
    (subject,) = subjects(name, [simulation])
    assert facts <= {f"{fact.name} {fact.words}" for fact in explain(subject).facts}


def test_an_object_that_no_door_knows_has_no_ways(tmp_path: Path) -> None:
    (subject,) = subjects("service/web", [opened(tmp_path, service("web"), ingress())])
    assert "way" not in {fact.name for fact in explain(subject).facts}
