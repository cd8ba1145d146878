"""Annotations of Ingresses that lead to nothing: missing objects, groups that no path has, words of other controllers;
what ingress-nginx makes of groups.

Predicted from traefik (a router with a missing middleware is not made), KIC (a missing plugin is left out), and
buildRewriteRules of ingress-nginx.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import Finding
from policylint.trace import Tracer
from policylint.trace.request import from_url
from policylint.workspace import open_workspace
from tests.doors.asking import NGINX, answer, ingress
from tests.worlds import manifest, service, simulated

TRAEFIK, KONG = "traefik.ingress.kubernetes.io/", "konghq.com/"
MIDDLEWARE = "spec: {stripPrefix: {prefixes: [/a]}}"
BOTH = "/api/?(.*) ImplementationSpecific web"


def told(root: Path, rule: str, *objects: str) -> list[Finding]:
    (root / "all.yaml").write_text("\n---\n".join((service("web"), *objects)), encoding="utf-8")
    return [each for each in open_workspace([str(root)]).findings() if each.rule == rule]


def of_class(name: str, controller: str) -> str:
    return manifest("networking.k8s.io/v1", "IngressClass", name, body=f"spec: {{controller: {controller}}}")


@pytest.mark.parametrize(
    ("path", "target", "asked", "sent"),
    [
        (BOTH, "/$1", "/api/x", "/x"),
        (BOTH, "/$1", "/API/x", "/x"),
        (BOTH, "/$1", "/api", "/"),
        (BOTH, "/v2/$1", "/api/x/y?z=1", "/v2/x/y?z=1"),
        ("/app(/|$)(.*) ImplementationSpecific web", "/$2", "/app/x/y", "/x/y"),
        ("/app(/|$)(.*) ImplementationSpecific web", "/a$2b", "/app/x", "/axb"),
        ("/app ImplementationSpecific web", "/$2", "/app/x", "/"),
        ("/a|/b(.*) ImplementationSpecific web", "/n$1", "/b/x", "/n/x"),
        ("/app ImplementationSpecific web", "/fixed", "/app/x", "/fixed"),
    ],
)
def test_groups_of_a_path(path: str, target: str, asked: str, sent: str) -> None:
    simulation = simulated(service("web"), ingress(paths=path, rewrite_target=target))
    trace = Tracer(simulation, nearest=False).trace(from_url("GET", f"http://shop.example.com{asked}"))
    assert trace.forwarded is not None
    assert trace.forwarded.path == sent


@pytest.mark.parametrize(
    ("path", "target", "words"),
    [
        ("/app Prefix web", "/$2", "sent on as `/`"),
        ("/app(.*) ImplementationSpecific web", "/x/$2", "sent on as `/x/`"),
        ("/app(?:/|$)(.*) ImplementationSpecific web", "/$2", "sent on as `/`"),
        ("/app(/|$)(.*) ImplementationSpecific web", "/$2", ""),
        ("/app Prefix web", "/", ""),
        ("/${PATH} Prefix web", "/$2", ""),
    ],
)
def test_a_group_that_no_path_has(path: str, target: str, words: str, tmp_path: Path) -> None:
    found = told(tmp_path, "GWP415", ingress(paths=path, rewrite_target=target))
    assert [words in each.label for each in found] == ([True] if words else [])


@pytest.mark.parametrize(
    ("named", "objects", "words"),
    [
        ("shop-strip@kubernetescrd", [], "Middleware shop/strip"),
        ("shop-strip@kubernetescrd", ["traefik.io/v1alpha1 Middleware strip shop"], ""),
        ("infra-svc-strip@kubernetescrd", ["traefik.io/v1alpha1 Middleware svc-strip infra"], ""),
        ("shop-strip@kubernetescrd", ["traefik.containo.us/v1alpha1 Middleware strip shop"], "only there in group"),
        ("strip@file", [], ""),
    ],
)
def test_middlewares_of_an_ingress(named: str, objects: list[str], words: str, tmp_path: Path) -> None:
    others = [manifest(*each.split(), MIDDLEWARE) for each in (*objects, "traefik.io/v1alpha1 Middleware a shop")]
    asking = ingress(of_class="traefik", prefix=TRAEFIK, router_middlewares=named).replace(
        "router-middlewares", "router.middlewares"
    )
    found = told(tmp_path, "GWP415", of_class("traefik", "traefik.io/ingress-controller"), asking, *others)
    assert [words in each.message for each in found] == ([True] if words else [])


@pytest.mark.parametrize(
    ("kind", "name", "is_told"),
    [
        ("KongPlugin", "auth", False),
        ("KongPlugin", "other", True),
        ("KongClusterPlugin", "auth", False),
        ("KongClusterPlugin", "other", True),
    ],
)
def test_plugins_of_an_ingress(kind: str, name: str, is_told: bool, tmp_path: Path) -> None:
    plugin = manifest(
        "configuration.konghq.com/v1",
        kind,
        name,
        "shop" if kind == "KongPlugin" else "",
        "plugin: key-auth",
        more="annotations: {kubernetes.io/ingress.class: kong}",
    )
    asking = ingress(of_class="kong", prefix=KONG, plugins="auth")
    found = told(tmp_path, "GWP406", of_class("kong", "ingress-controllers.konghq.com/kong"), asking, plugin)
    assert bool(found) is is_told


def test_a_plugin_is_read_by_the_class_of_kong() -> None:
    plugin = manifest("configuration.konghq.com/v1", "KongPlugin", "auth", "shop", "plugin: key-auth")
    kong = of_class("kong", "ingress-controllers.konghq.com/kong")
    asking = ingress(of_class="kong", prefix=KONG, plugins="auth")
    assert answer(simulated(service("web"), kong, plugin, asking), "http://shop.example.com/")[1] != "not known"


@pytest.mark.parametrize(
    ("controller", "prefix", "is_told"),
    [
        ("nginx.org/ingress-controller", NGINX, True),
        ("nginx.org/ingress-controller", "nginx.org/", False),
        ("k8s.io/ingress-nginx", NGINX, False),
        ("k8s.io/ingress-nginx", "nginx.org/", True),
        ("k8s.io/ingress-nginx", "haproxy.org/", True),
        ("traefik.io/ingress-controller", NGINX, True),
        ("ingress.k8s.aws/alb", NGINX, True),
        ("k8s.io/ingress-nginx", "alb.ingress.kubernetes.io/", True),
        ("ingress.example.com/own", NGINX, False),
        ("", NGINX, False),
    ],
)
def test_annotations_of_another_controller(controller: str, prefix: str, is_told: bool, tmp_path: Path) -> None:
    classes = [of_class("edge", controller)] if controller else []
    found = told(tmp_path, "GWP114", *classes, ingress(of_class="edge", prefix=prefix, limit_rps="1"))
    assert bool(found) is is_told


@pytest.mark.parametrize(
    ("named", "home", "is_told"), [("auth", "", True), ("auth", "infra", False), ("mine", "", False)]
)
def test_plugin_configs_of_apisix(named: str, home: str, is_told: bool, tmp_path: Path) -> None:
    def config(name: str, namespace: str) -> str:
        return manifest("apisix.apache.org/v2", "ApisixPluginConfig", name, namespace, "spec: {plugins: []}")

    there = f", plugin_config_namespace: {home}" if home else ""
    rule = f"{{name: r, match: {{hosts: [a.example], paths: ['/*']}}, plugin_config_name: {named}{there}, "
    rule += "backends: [{serviceName: web, servicePort: 80}]}"
    route = manifest("apisix.apache.org/v2", "ApisixRoute", "web", "shop", f"spec: {{http: [{rule}]}}")
    assert bool(told(tmp_path, "GWP415", config("auth", "infra"), config("mine", "shop"), route)) is is_told


@pytest.mark.parametrize(
    ("kind", "spec", "is_told"),
    [
        ("VirtualServer", "host: a.example, policies: [{name: none}]", True),
        ("VirtualServer", "host: a.example, policies: [{name: own}]", False),
        ("VirtualServer", "host: a.example, routes: [{path: /, policies: [{name: none}], action: {pass: u}}]", True),
        ("VirtualServer", "host: a.example, routes: [{path: /, route: shop/none}]", True),
        ("VirtualServerRoute", "host: a.example, subroutes: [{path: /, policies: [{name: none}]}]", True),
    ],
)
def test_policies_of_nginx(kind: str, spec: str, is_told: bool, tmp_path: Path) -> None:
    policies = manifest("k8s.nginx.org/v1", "Policy", "own", "shop", "spec: {rateLimit: {rate: 1r/s}}")
    others = [
        manifest("k8s.nginx.org/v1", each, "r", "shop", "spec: {host: a.example}")
        for each in ("VirtualServer", "VirtualServerRoute")
        if each != kind  # a host belongs to one of them
    ]
    asking = manifest("k8s.nginx.org/v1", kind, "web", "shop", f"spec: {{{spec}}}")
    assert bool(told(tmp_path, "GWP415", policies, *others, asking)) is is_told


@pytest.mark.parametrize(
    ("controller", "written", "is_told"),
    [
        ("k8s.io/ingress-nginx", "ingress.kubernetes.io/whitelist-source-range", True),
        ("k8s.io/ingress-nginx", "nginx.ingress.kubernetes.io/whitelist-source-range", False),
        ("ingress-controllers.konghq.com/kong", "plugins.konghq.com", True),
        ("ingress-controllers.konghq.com/kong", "correlation-id.plugin.konghq.com", True),
        ("ingress-controllers.konghq.com/kong", "configuration.konghq.com", True),
        ("ingress-controllers.konghq.com/kong", "konghq.com/tags", False),
        ("haproxy-ingress.github.io/controller", "ingress.kubernetes.io/whitelist-source-range", False),
        ("", "ingress.kubernetes.io/whitelist-source-range", False),
    ],
)
def test_annotations_of_older_releases(controller: str, written: str, is_told: bool, tmp_path: Path) -> None:
    classes = [of_class("edge", controller)] if controller else []
    old = ingress(of_class="edge", prefix="", **{written: "10.0.0.0/8"})
    assert bool(told(tmp_path, "GWP114", *classes, old)) is is_told


@pytest.mark.parametrize(
    ("canary", "main", "is_told"),
    [
        ({"whitelist_source_range": "10.0.0.0/8"}, {}, True),
        ({"rewrite_target": "/"}, {"rewrite_target": "/other"}, True),
        ({"whitelist_source_range": "10.0.0.0/8"}, {"whitelist_source_range": "10.0.0.0/8"}, False),
        ({"upstream_hash_by": "$request_uri", "affinity": "cookie", "canary_weight": "10"}, {}, False),
    ],
)
def test_annotations_of_a_canary(canary: dict[str, str], main: dict[str, str], is_told: bool, tmp_path: Path) -> None:
    nginx = of_class("nginx", "k8s.io/ingress-nginx")
    second = ingress("next", of_class="nginx", canary="true", **canary)
    found = told(tmp_path, "GWP114", nginx, ingress(of_class="nginx", **main), second)
    assert bool(found) is is_told


def test_a_canary_of_what_was_not_seen_says_nothing(tmp_path: Path) -> None:
    alone = ingress(of_class="nginx", canary="true", rewrite_target="/")
    assert not told(tmp_path, "GWP114", of_class("nginx", "k8s.io/ingress-nginx"), alone)


@pytest.mark.parametrize("holder", ["Ingress", "KongConsumer", "KongConsumerGroup", "Service"])
@pytest.mark.parametrize(("has_class", "confidence"), [(True, "certain"), (False, "assumed or unknown")])
def test_a_missing_plugin_has_one_ground_whoever_names_it(
    holder: str, has_class: bool, confidence: str, tmp_path: Path
) -> None:
    """Whoever deploys the class deploys what holds for all namespaces; without one that may lie elsewhere."""
    group = "configuration.konghq.com"
    bearing = {
        "Ingress": ingress(of_class="kong", prefix=KONG, plugins="auth"),
        "KongConsumer": manifest(
            f"{group}/v1", "KongConsumer", "ann", "shop", "username: ann", more=f"annotations: {{{KONG}plugins: auth}}"
        ),
        "KongConsumerGroup": manifest(
            f"{group}/v1beta1", "KongConsumerGroup", "gold", "shop", more=f"annotations: {{{KONG}plugins: auth}}"
        ),
        "Service": manifest(
            "v1", "Service", "api", "shop", "spec: {ports: [{port: 80}]}", more=f"annotations: {{{KONG}plugins: auth}}"
        ),
    }
    other = manifest(f"{group}/v1", "KongPlugin", "other", "shop", "plugin: cors")
    classes = [of_class("kong", "ingress-controllers.konghq.com/kong")] if has_class else []
    (found,) = told(tmp_path, "GWP406", *classes, bearing[holder], other)
    assert found.confidence in confidence.split(" or ")
    assert found.resources[-1].kind == "KongPlugin" or not has_class


@pytest.mark.parametrize(
    ("annotations", "data", "why"),
    [
        ({}, "{auth: 'a:b'}", ""),
        ({}, "{users: 'a:b'}", "Secret shop/users has no entry `auth`"),
        ({"auth_secret_type": "auth-map"}, "{users: 'a:b'}", ""),
        ({"auth_secret_type": "auth-list"}, "{auth: 'a:b'}", "auth-secret-type is auth-list"),
        ({"auth_secret": "other/users"}, "{auth: 'a:b'}", "Secret other/users is in another namespace"),
        ({"auth_secret": "unseen"}, "{users: 'a:b'}", ""),
    ],
)
def test_passwords_that_cannot_be_had(annotations: dict[str, str], data: str, why: str, tmp_path: Path) -> None:
    """Read through the files of a tree, of which Secrets are read where something names them."""
    users = manifest("v1", "Secret", "users", "shop", f"stringData: {data}")
    asking = ingress(**{"auth_type": "basic", "auth_secret": "users", **annotations})
    nginx = of_class("nginx", "k8s.io/ingress-nginx")
    found = told(tmp_path, "GWP415", nginx, users, asking)
    assert [why in each.message for each in found] == [True] * bool(why)
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    assert answer(simulation, "http://shop.example.com/")[0] == ("503" if why else "web")


@pytest.mark.parametrize(("secret", "closed"), [("shop/cert", False), ("other/cert", True), ("cert", True)])
def test_certificates_for_backends_are_of_the_namespace(secret: str, closed: bool) -> None:
    simulation = simulated(service("web"), of_class("nginx", "k8s.io/ingress-nginx"), ingress(proxy_ssl_secret=secret))
    assert answer(simulation, "http://shop.example.com/")[0] == ("503" if closed else "web")


@pytest.mark.parametrize(
    ("data", "asked", "told_by"),
    [
        ("{ca.crt: x}", ("web", "clientCertificate"), ""),
        ("{ca.crt: x, tls.crt: b, tls.key: z}", ("web", "clientCertificate"), ""),
        ("{tls.crt: b, tls.key: z}", ("web", ""), "GWP526"),
        ("{tls.crt: b}", ("503", ""), "GWP415"),
        ("{auth: 'a:b'}", ("503", ""), "GWP415"),
        ("{ca.crt: '${CA}'}", ("web", "clientCertificate"), ""),
    ],
)
def test_an_authority_for_clients(data: str, asked: tuple[str, str], told_by: str, tmp_path: Path) -> None:
    """A Secret with a certificate of its own is taken, and asks nobody; one with neither closes the location."""
    authority = manifest("v1", "Secret", "ca", "shop", f"stringData: {data}")
    nginx = of_class("nginx", "k8s.io/ingress-nginx")
    asking = ingress(tls=True, auth_tls_secret="shop/ca")
    found = told(tmp_path, told_by or "GWP526", nginx, authority, asking)
    assert [each.severity for each in found] == ["error"] * bool(told_by)
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    assert answer(simulation, "https://shop.example.com/") == asked


@pytest.mark.parametrize(
    ("paths", "path", "end"),
    [
        ("/api/ Prefix web", "/api", "301 http://shop.example.com/api/"),
        ("/api/ ImplementationSpecific web", "/api", "301 http://shop.example.com/api/"),
        ("/api/ Prefix web, / Prefix other", "/api", "301 http://shop.example.com/api/"),
        ("/api/ Prefix web, /api Exact other", "/api", "other"),
        ("/api/ Exact web, / Prefix other", "/api/", "web"),
        ("/api Prefix web", "/apix", "web"),  # a location is a text
        ("/api Exact web", "/apix", "404"),
    ],
)
def test_paths_are_those_of_locations_at_nginx_inc(paths: str, path: str, end: str) -> None:
    """nginx/kubernetes-ingress, internal/configs/ingress.go, generateIngressPath; ngx_http_core_module, location."""
    nginx = manifest(
        "networking.k8s.io/v1", "IngressClass", "own", "", "spec: {controller: nginx.org/ingress-controller}"
    )
    made = simulated(service("web"), service("other"), nginx, ingress(of_class="own", paths=paths))
    assert answer(made, f"http://shop.example.com{path}")[0] == end
