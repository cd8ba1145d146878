"""GWP327: nodes put their address in place of the client's, and something decides by that."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.model import Finding
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, route, service, simulated

OFFICE = "203.0.113.0/24"


def findings(*manifests: str) -> list[Finding]:
    return list(run(simulated(*manifests), select={"GWP327"}))


def workload(
    name: str, namespace: str, image: str = "registry.example.com/app:1", pod: str = "", args: str = ""
) -> str:
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{{pod}containers: [{{name: app, image: "{image}", {args}ports: [{{containerPort: 8080}}]}}]}}
"""


def published(name: str, namespace: str, spec: str = "", annotations: str = "") -> str:
    return f"""apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {namespace}, annotations: {{{annotations}}}}}
spec: {{type: LoadBalancer, {spec}selector: {{app: {name}}}, ports: [{{name: http, port: 80, targetPort: 8080}}]}}
"""


def office(cidr: str = OFFICE) -> str:
    return f"""apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: office, namespace: shop}}
spec:
  podSelector: {{matchLabels: {{app: web}}}}
  policyTypes: [Ingress]
  ingress: [{{from: [{{ipBlock: {{cidr: {cidr}}}}}]}}]
"""


WEB = workload("web", "shop")
AUTHORIZED = """apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: office, namespace: istio-system}
spec:
  selector: {matchLabels: {app: ingress}}
  action: ALLOW
  rules: [{from: [{source: {FIELD: [203.0.113.0/24]}}]}]
"""


def ingress(controller: str, name: str, annotation: str) -> str:
    return f"""apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {{name: public}}
spec: {{controller: {controller}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop, annotations: {{{name}: "{annotation}"}}}}
spec:
  ingressClassName: public
  rules:
    - host: shop.example.com
      http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}
"""


NGINX = ingress("k8s.io/ingress-nginx", "nginx.ingress.kubernetes.io/whitelist-source-range", f"{OFFICE}, 198.51.100.7")
NGINX_RUNS = workload("nginx", "edge", "registry.k8s.io/ingress-nginx/controller:v1.12.0@sha256:aa")
SETTINGS = """apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: edge}
data: DATA
"""
RELEASE = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nginx, namespace: edge}
spec:
  interval: 1h
  chart: {spec: {chart: ingress-nginx, version: 4.12.0, sourceRef: {kind: HelmRepository, name: nginx}}}
  values: {controller: {VALUES}}
"""
EG = gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
PROXY = """apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: proxy, namespace: edge}
spec: {provider: {type: Kubernetes, kubernetes: {envoyService: {externalTrafficPolicy: POLICY}}}}
"""
PARAMETERS = "infrastructure: {parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy}}"


def at_gateway(group: str, kind: str, spec: str, name: str = "edge") -> str:
    return f"""apiVersion: {group}
kind: {kind}
metadata: {{name: office, namespace: edge}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: {name}}}]
  {spec}
"""


ADDRESSES = (
    f"authorization: {{defaultAction: Deny, rules: [{{action: Allow, principal: {{clientCIDRs: [{OFFICE}]}}}}]}}"
)


def test_network_policies_see_nodes() -> None:
    [found] = findings(WEB, published("web", "shop"), office())
    assert found.message == "NetworkPolicy shop/office decides by client addresses, which Service shop/web hides"
    assert found.confidence == "assumed"
    assert "PROXY" not in found.help[0]


@pytest.mark.parametrize(
    ("spec", "annotations", "pod"),
    [
        ("externalTrafficPolicy: Local, ", "", ""),
        ("", "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip", ""),
        ("", 'service.beta.kubernetes.io/aws-load-balancer-proxy-protocol: "*"', ""),
        ("", "", "hostNetwork: true, "),
    ],
)
def test_addresses_that_are_kept(spec: str, annotations: str, pod: str) -> None:
    assert not findings(workload("web", "shop", pod=pod), published("web", "shop", spec, annotations), office())


def test_a_service_that_is_not_published() -> None:
    inside = published("web", "shop").replace("LoadBalancer", "ClusterIP")
    assert not findings(WEB, inside, office())


def test_everybody_is_meant() -> None:
    assert not findings(WEB, published("web", "shop"), office("0.0.0.0/0"))


MIDDLEWARE = """apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: office, namespace: shop}
spec: {ipAllowList: {sourceRange: [192.168.0.0/16]}}
"""


@pytest.mark.parametrize("network", ["127.0.0.1/32", "127.0.0.0/8", "0.0.0.0/32", "255.255.255.255/32", "::1/128"])
def test_nobody_is_meant(network: str) -> None:
    """A list of what no client has closes a door, whoever is seen to knock."""
    runs = workload("traefik", "edge", "docker.io/traefik:v3.5.0")
    closed = MIDDLEWARE.replace("192.168.0.0/16", f"'{network}'")
    assert not findings(closed, runs, published("traefik", "edge"))
    assert not findings(WEB, published("web", "shop"), office(network))
    mixed = MIDDLEWARE.replace("192.168.0.0/16", f"'{network}', 192.168.0.0/16")
    assert findings(mixed, runs, published("traefik", "edge"))


def test_cilium_returns_connections_directly() -> None:
    cilium = """apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {bpf-lb-mode: dsr}
"""
    assert not findings(cilium, WEB, published("web", "shop"), office())


CILIUM = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec:
  interval: 1h
  chart: {spec: {chart: cilium, version: 1.18.0, sourceRef: {kind: HelmRepository, name: cilium}}}
  valuesFrom: [VALUES]
  values: {OWN}
"""
HELD = """apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: kube-system}
data: {KEY: "loadBalancer: {algorithm: maglev, mode: MODE}"}
"""
ONE, TWO = "{kind: ConfigMap, name: one}", "{kind: ConfigMap, name: two}"


@pytest.mark.parametrize(
    ("references", "own", "is_hidden"),
    [
        (ONE, "hubble: {enabled: true}", False),
        (ONE, "loadBalancer: {acceleration: native}", False),
        (ONE, "loadBalancer: {mode: snat}", True),  # its own count before those of the ConfigMap
        (f"{ONE}, {TWO}", "", True),  # the last one counts
        (f"{TWO}, {ONE}", "", False),
        ("{kind: ConfigMap, name: one, valuesKey: further}", "", True),
        ("{kind: ConfigMap, name: three}", "", True),
    ],
)
def test_values_that_config_maps_hold(references: str, own: str, is_hidden: bool) -> None:
    held = HELD.replace("NAME", "one").replace("KEY", "values.yaml").replace("MODE", "dsr")
    beside = HELD.replace("NAME", "two").replace("KEY", "values.yaml").replace("MODE", "snat")
    release = CILIUM.replace("VALUES", references).replace("OWN", own)
    assert bool(findings(release, held, beside, WEB, published("web", "shop"), office())) is is_hidden


INFLATED = """kind: Kustomization
apiVersion: kustomize.config.k8s.io/v1beta1
resources: [web.yaml]
helmCharts: [{name: cilium, repo: "https://helm.cilium.io/", version: 1.18.0, valuesFile: own.yaml}]
"""
BY_ARGO = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: cilium, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: kube-system}
  sources:
    - {repoURL: "https://helm.cilium.io/", chart: cilium, targetRevision: 1.18.0, helm: {valueFiles: [$own/own.yaml]}}
    - {repoURL: "https://git.example.com/site", targetRevision: main, ref: own}
    - {repoURL: "https://git.example.com/site", targetRevision: main, path: web}
"""


@pytest.mark.parametrize(("mode", "is_hidden"), [("dsr", False), ("hybrid", False), ("snat", True)])
@pytest.mark.parametrize(
    "files",
    [{"kustomization.yaml": INFLATED, "web.yaml": ""}, {"app.yaml": BY_ARGO, "web/web.yaml": ""}],
    ids=["inflated by kustomize", "value files of an Application"],
)
def test_values_in_files(tmp_path: Path, files: dict[str, str], mode: str, is_hidden: bool) -> None:
    for path, content in {**files, "own.yaml": f"loadBalancer: {{mode: {mode}}}\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        text = content or "---\n".join((WEB, published("web", "shop"), office()))
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP327"]
    assert bool(found) == is_hidden


@pytest.mark.parametrize("field", ["ipBlocks", "remoteIpBlocks", "notIpBlocks"])
def test_policies_of_gateways_by_label(field: str) -> None:
    pods = workload("ingress", "istio-system")
    [found] = findings(pods, published("ingress", "istio-system"), AUTHORIZED.replace("FIELD", field))
    assert "AuthorizationPolicy istio-system/office decides" in found.message
    before = "annotations: {proxy.istio.io/config: '{gatewayTopology: {numTrustedProxies: 1}}'}"
    told = pods.replace("{labels: {app: ingress}}", f"{{labels: {{app: ingress}}, {before}}}")
    assert not findings(told, published("ingress", "istio-system"), AUTHORIZED.replace("FIELD", field))


def test_lists_of_ingresses() -> None:
    [found] = findings(NGINX, WEB, NGINX_RUNS, published("nginx", "edge"), SETTINGS.replace("DATA", "{}"))
    assert found.message == "Ingress shop/web decides by client addresses, which Service edge/nginx hides"
    for data in ('{use-proxy-protocol: "true"}', '{use-forwarded-headers: "true"}'):
        assert not findings(NGINX, WEB, NGINX_RUNS, published("nginx", "edge"), SETTINGS.replace("DATA", data))


@pytest.mark.parametrize(
    ("values", "is_hidden"),
    [
        ("{}", True),
        ("{service: {externalTrafficPolicy: Cluster}}", True),
        ("{service: {externalTrafficPolicy: Local}}", False),
        ("{hostNetwork: true}", False),
        ("{service: {type: ClusterIP}}", False),
        ('{config: {use-proxy-protocol: "true"}}', False),
    ],
)
def test_values_of_a_chart(values: str, is_hidden: bool) -> None:
    assert len(findings(NGINX, RELEASE.replace("{VALUES}", values))) == is_hidden


def test_lists_of_middlewares() -> None:
    runs = workload("traefik", "edge", "docker.io/traefik:v3.5.0")
    [found] = findings(MIDDLEWARE, runs, published("traefik", "edge"))
    assert "which 192.168.0.0/16 may hold" in found.label
    told = workload(
        "traefik", "edge", "traefik:v3.5.0", args='args: ["--entrypoints.web.proxyProtocol.trustedIPs=10.0.0.1"], '
    )
    assert not findings(MIDDLEWARE, told, published("traefik", "edge"))


BEHIND_PARAMETERS = (
    EG,
    gateway("edge", "edge", "[{name: http, port: 80, protocol: HTTP}]", PARAMETERS, "eg"),
    service("web", "edge"),
    route("web", "edge", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
)


@pytest.mark.parametrize(
    ("cilium", "more", "is_hidden"),
    [
        ("loadBalancer: {mode: snat}", "", True),
        ("loadBalancer: {mode: dsr}", "", False),
        ("loadBalancer: {mode: hybrid}", "", False),
        ("", ", annotations: {service.beta.kubernetes.io/aws-load-balancer-type: nlb-ip}", False),
        ("", ", annotations: {service.beta.kubernetes.io/aws-load-balancer-proxy-protocol: '*'}", False),
        ("", ", annotations: {lbipam.cilium.io/ips: 192.168.1.1}", True),
    ],
)
def test_what_keeps_addresses_does_so_at_gateways(cilium: str, more: str, is_hidden: bool) -> None:
    policy = at_gateway("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", ADDRESSES)
    proxy = PROXY.replace("POLICY", f"Cluster{more}")
    release = CILIUM.replace("VALUES", "").replace("OWN", cilium)
    assert bool(findings(*BEHIND_PARAMETERS, proxy, policy, release)) is is_hidden


def test_parameters_of_a_gateway() -> None:
    base = BEHIND_PARAMETERS
    policy = at_gateway("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", ADDRESSES)
    [found] = findings(*base, PROXY.replace("POLICY", "Cluster"), policy)
    assert "which EnvoyProxy edge/proxy hides" in found.message
    assert not findings(*base, PROXY.replace("POLICY", "Local"), policy)
    traffic = at_gateway("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "enableProxyProtocol: true")
    assert not findings(*base, PROXY.replace("POLICY", "Cluster"), policy, traffic)


@pytest.mark.parametrize(
    ("controller", "policy"),
    [
        ("istio.io/gateway-controller", ("security.istio.io/v1", "AuthorizationPolicy", "IP_BLOCKS")),
        ("kgateway.dev/kgateway", ("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", "ACL")),
    ],
)
def test_controllers_that_leave_it_out(controller: str, policy: tuple[str, str, str]) -> None:
    spec = {
        "IP_BLOCKS": f"rules: [{{from: [{{source: {{ipBlocks: [{OFFICE}]}}}}]}}]",
        "ACL": f"acl: {{defaultAction: deny, rules: [{{cidrs: [{OFFICE}], action: allow}}]}}",
    }[policy[2]]
    listeners = "[{name: http, port: 80, protocol: HTTP}]"
    base = gateway_class("here", controller), service("web", "edge")
    base = *base, route("web", "edge", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]")
    asked = at_gateway(*policy[:2], spec)
    [found] = findings(*base, gateway("edge", "edge", listeners, of_class="here"), asked)
    assert "which Gateway edge/edge hides" in found.message
    assert found.severity == "note"
    kept = "infrastructure: {annotations: {service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip}}"
    assert not findings(*base, gateway("edge", "edge", listeners, kept, "here"), asked)


def test_waypoints_have_no_clients_outside() -> None:
    waypoint = gateway_class("waypoint", "istio.io/mesh-controller"), gateway("edge", "edge", of_class="waypoint")
    asked = f"rules: [{{from: [{{source: {{ipBlocks: [{OFFICE}]}}}}]}}]"
    assert not findings(*waypoint, at_gateway("security.istio.io/v1", "AuthorizationPolicy", asked))
