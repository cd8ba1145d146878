"""What people asked maintainers about: hosts of two owners, prefixes, node ports, labels of namespaces, challenges."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests import worlds

WEB = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, targetPort: 8080, nodePort: 30644}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, ports: [{containerPort: 8080}]}]}
"""
BY_MIDDLEWARE = "traefik.ingress.kubernetes.io/router.middlewares"
IN_PLACE = "cert-manager.io/issuer: acme, acme.cert-manager.io/http01-edit-in-place: 'true'"


def said(folder: Path, rule: str, *manifests: str, **files: str) -> list[str]:
    """What a rule says of manifests, and of files further down."""
    (folder / "all.yaml").write_text("\n---\n".join(manifests))
    for name, content in files.items():
        file = folder / name.replace("_", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".yaml").write_text(content)
    return [each.message for each in open_workspace([str(folder)]).findings() if each.rule == rule]


def ingress(name: str, annotations: str = "", host: str = "shop.example.com", of_class: str = "nginx") -> str:
    backend = "{service: {name: web, port: {number: 80}}}"
    rule = f"{{host: {host}, http: {{paths: [{{path: /, pathType: Prefix, backend: {backend}}}]}}}}"
    metadata = f"metadata: {{name: {name}, namespace: shop, annotations: {{{annotations}}}}}"
    spec = f"spec: {{ingressClassName: {of_class}, tls: [{{hosts: [{host}], secretName: tls}}], rules: [{rule}]}}"
    return f"apiVersion: networking.k8s.io/v1\nkind: Ingress\n{metadata}\n{spec}\n"


def of_class(controller: str, name: str = "nginx") -> str:
    return worlds.manifest("networking.k8s.io/v1", "IngressClass", name, body=f"spec: {{controller: {controller}}}")


def server(name: str, spec: str = "", kind: str = "VirtualServer") -> str:
    return worlds.manifest("k8s.nginx.org/v1", kind, name, "shop", f"spec: {{host: shop.example.com, {spec}}}")


NGINX = of_class("nginx.org/ingress-controller")
COMMUNITY = of_class("k8s.io/ingress-nginx")


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ((server("b"),), True),
        ((ingress("b"),), True),
        ((server("b", "listener: {name: tls-passthrough, protocol: TLS_PASSTHROUGH}", "TransportServer"),), True),
        ((server("b", "listener: {name: dns-tcp, protocol: TCP}", "TransportServer"),), False),
        ((ingress("b", "nginx.org/mergeable-ingress-type: minion"),), False),
        ((ingress("b", host="other.example.com"),), False),
        ((server("b", "ingressClassName: internal"),), False),
    ],
)
def test_a_host_belongs_to_one_object_of_nginx(tmp_path: Path, others: tuple[str, ...], told: bool) -> None:
    found = said(tmp_path, "GWP415", NGINX, WEB, server("a", "ingressClassName: nginx"), *others)
    assert any("asks for host shop.example.com" in each for each in found) is told


def test_ingresses_of_the_community_share_a_host(tmp_path: Path) -> None:
    assert said(tmp_path, "GWP415", COMMUNITY, WEB, ingress("a"), ingress("b")) == []


def controller(arguments: str, kind: str = "Deployment") -> str:
    container = f"{{name: c, image: controller, args: [{arguments}]}}"
    template = f"{{metadata: {{labels: {{app: c}}}}, spec: {{containers: [{container}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: c}}}}, template: {template}}}"
    return worlds.manifest("apps/v1", kind, "c", "ingress", spec)


VALUES = worlds.manifest(
    "helm.toolkit.fluxcd.io/v2", "HelmRelease", "nginx", "ingress",
    "spec: {chart: {spec: {chart: ingress-nginx, sourceRef: {kind: HelmRepository, name: nginx}}}, "
    "values: {controller: {extraArgs: {annotations-prefix: edge.example.com}}}}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (controller("'--annotations-prefix=edge.example.com'"), True),
        (controller("'--annotations-prefix=edge.example.com'", "DaemonSet"), True),
        (VALUES, True),
        (controller("'--annotations-prefix=nginx.ingress.kubernetes.io'"), False),
        (controller("'--controller-class=k8s.io/internal', '--annotations-prefix=edge.example.com'"), False),
        (controller("'--annotations-prefix=$(PREFIX)'"), False),
    ],
)
def test_a_controller_that_is_told_another_prefix(tmp_path: Path, by: str, told: bool) -> None:
    allow = ingress("web", "nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/8")
    found = said(tmp_path, "GWP114", COMMUNITY, WEB, by, allow)
    assert any("ingress-nginx does not read it" in each for each in found) is told


@pytest.mark.parametrize(("port", "told"), [(30644, "the node port"), (80, "the port"), (8080, "")])
def test_a_policy_opens_the_port_of_the_pods(tmp_path: Path, port: int, told: str) -> None:
    spec = f"spec: {{podSelector: {{matchLabels: {{app: web}}}}, ingress: [{{ports: [{{port: {port}}}]}}]}}"
    opening = worlds.manifest("networking.k8s.io/v1", "NetworkPolicy", "web", "shop", spec)
    found = said(tmp_path, "GWP608", WEB, opening)
    assert all(f"{told} of Service shop/web" in each for each in found)
    assert bool(found) is bool(told)


@pytest.mark.parametrize(("name", "told"), [("prod", False), ("bind-prod", True), ("${NAME}", False)])
def test_a_binding_alone_is_called_as_its_set(tmp_path: Path, name: str, told: bool) -> None:
    binding = worlds.manifest(
        "cluster.open-cluster-management.io/v1beta2",
        "ManagedClusterSetBinding",
        name,
        "work",
        "spec: {clusterSet: prod}",
    )
    assert bool(said(tmp_path, "GWP717", binding)) is told


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("web", False),
        ("web.shop.svc.cluster.local", False),
        ("gone", True),
        ("gone.shop.svc.cluster.local", True),
        ("gone.shop.svc", True),
        ("known.shop.svc.cluster.local", False),
        ("api.example.com", False),
        ("edge-istio", False),
        ("${HOST}", False),
    ],
)
def test_a_destination_is_a_service(tmp_path: Path, host: str, told: bool) -> None:
    spec = f"spec: {{hosts: [shop.example.com], http: [{{route: [{{destination: {{host: '{host}'}}}}]}}]}}"
    virtual = worlds.manifest("networking.istio.io/v1", "VirtualService", "front", "shop", spec)
    other = "spec: {hosts: [gone.shop.svc.cluster.local], http: [{directResponse: {status: 200}}]}"
    made = worlds.manifest("networking.istio.io/v1", "VirtualService", "gone", "shop", other)
    entry = "spec: {hosts: [known.shop.svc.cluster.local], ports: [{number: 80, name: http, protocol: HTTP}]}"
    known = worlds.manifest("networking.istio.io/v1", "ServiceEntry", "known", "shop", entry)
    gateway = worlds.gateway("edge", "shop", of_class="istio")
    found = said(tmp_path, "GWP415", WEB, virtual, made, known, gateway)
    assert any("sends requests to Service shop/gone, which is missing" in each for each in found) is told


@pytest.mark.parametrize(
    ("copies", "told"),
    [
        ("mirror: {host: gone}", True),
        ("mirror: {host: web}", False),
        ("mirrors: [{destination: {host: web}}, {destination: {host: gone.shop.svc.cluster.local}}]", True),
        ("mirror: {host: copies.example.com}", False),
        ("mirror: {host: '${HOST}'}", False),
    ],
)
def test_copies_of_requests_go_to_a_service(tmp_path: Path, copies: str, told: bool) -> None:
    spec = f"spec: {{hosts: [shop.example.com], http: [{{route: [{{destination: {{host: web}}}}], {copies}}}]}}"
    virtual = worlds.manifest("networking.istio.io/v1", "VirtualService", "front", "shop", spec)
    found = said(tmp_path, "GWP415", WEB, virtual, worlds.gateway("edge", "shop", of_class="istio"))
    assert any("mirrors requests to Service shop/gone, which is missing" in each for each in found) is told


def application(managed: str, options: str = "CreateNamespace=true") -> str:
    sync = f"syncPolicy: {{syncOptions: ['{options}'], managedNamespaceMetadata: {managed}}}"
    source = "source: {repoURL: 'https://git.example.com/a', path: apps/shop, targetRevision: HEAD}"
    target = "destination: {server: 'https://kubernetes.default.svc', namespace: shop}"
    spec = f"spec: {{project: default, {source}, {target}, {sync}}}"
    return worlds.manifest("argoproj.io/v1alpha1", "Application", "shop", "argocd", spec)


@pytest.mark.parametrize(
    ("managed", "labels", "told"),
    [
        ("{labels: {team: a}}", "{}", True),
        ("{labels: {team: a}}", "{team: b}", True),
        ("{labels: {team: a}}", "{team: a}", False),
        ("{annotations: {team: a}}", "{team: a}", True),
    ],
)
def test_a_namespace_among_the_manifests_keeps_its_own_labels(
    tmp_path: Path, managed: str, labels: str, told: bool
) -> None:
    own = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {labels}}}\n"
    found = said(tmp_path, "GWP526", application(managed), apps_shop_namespace=own)
    assert any("managedNamespaceMetadata of Application argocd/shop" in each for each in found) is told


@pytest.mark.parametrize(
    ("managed", "options", "labelled"),
    [
        ("{labels: {team: a}}", "CreateNamespace=true", {"team": "a"}),
        ("{annotations: {team: a}}", "CreateNamespace=true", {}),
        ("{labels: {team: a}}", "CreateNamespace=false", None),
    ],
)
def test_a_namespace_that_argo_cd_creates_has_labels(
    tmp_path: Path, managed: str, options: str, labelled: dict[str, str] | None
) -> None:
    said(tmp_path, "GWP526", application(managed, options), apps_shop_web=WEB)
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    known = simulation.world.namespace_labels("shop")
    assert known == (None if labelled is None else {"kubernetes.io/metadata.name": "shop", **labelled})


@pytest.mark.parametrize(
    ("controller", "annotations", "told"),
    [
        ("nginx.org/ingress-controller", f"{IN_PLACE}, nginx.org/basic-auth-secret: users", True),
        ("nginx.org/ingress-controller", "cert-manager.io/issuer: acme, nginx.org/basic-auth-secret: users", False),
        ("nginx.org/ingress-controller", IN_PLACE, False),
        ("ingress-controllers.konghq.com/kong", f"{IN_PLACE}, konghq.com/plugins: keys", True),
        ("ingress-controllers.konghq.com/kong", f"{IN_PLACE}, konghq.com/plugins: origins", False),
        ("traefik.io/ingress-controller", f"{IN_PLACE}, {BY_MIDDLEWARE}: shop-login@kubernetescrd", True),
        # ingress-nginx asks for no login below /.well-known/acme-challenge (no-auth-locations)
        ("k8s.io/ingress-nginx", f"{IN_PLACE}, nginx.ingress.kubernetes.io/auth-url: 'https://a.example.com/x'", False),
    ],
)
def test_challenges_in_an_ingress_that_asks_for_a_login(
    tmp_path: Path, controller: str, annotations: str, told: bool
) -> None:
    users = worlds.manifest("v1", "Secret", "users", "shop", "stringData: {htpasswd: 'a:b'}")
    asking = (
        worlds.manifest("configuration.konghq.com/v1", "KongPlugin", "keys", "shop", "plugin: key-auth"),
        worlds.manifest("configuration.konghq.com/v1", "KongPlugin", "origins", "shop", "plugin: cors"),
        worlds.manifest("traefik.io/v1alpha1", "Middleware", "login", "shop", "spec: {basicAuth: {secret: users}}"),
    )
    assert (
        bool(said(tmp_path, "GWP316", of_class(controller), WEB, users, *asking, ingress("web", annotations))) is told
    )


@pytest.mark.parametrize(
    ("labels", "fix"),
    [
        ("istio.io/waypoint-for: service", ""),
        ("istio.io/waypoint-for: workload", "label shop/way with istio.io/waypoint-for: service"),
        (None, "create Gateway shop/way"),
    ],
)
def test_a_waypoint_that_does_not_take_a_service(tmp_path: Path, labels: str | None, fix: str) -> None:
    home = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio.io/use-waypoint: way}}\n"
    spec = "spec: {targetRefs: [{kind: Service, group: '', name: web}], rules: [{to: [{operation: {methods: [GET]}}]}]}"
    policy = worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "get", "shop", spec)
    way = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n"
        f"metadata: {{name: way, namespace: shop, labels: {{{labels}}}}}\n"
        "spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}\n"
    )
    (tmp_path / "all.yaml").write_text("\n---\n".join((home, WEB, policy, *((way,) if labels else ()))))
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP106"]
    assert bool(found) is bool(fix)
    assert all(fix in each.help[0] for each in found)
