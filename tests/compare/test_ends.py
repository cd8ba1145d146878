"""GWP325: what is behind a backend, and what policies go by, is the same after a change, or it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import pair_sides
from policylint.compare.ends import ends_changed
from policylint.simulation import Simulation
from tests.worlds import opened

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: eg
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [shop.example.com]
  rules: [{backendRefs: [{name: shop, port: 80}]}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: users, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]
  basicAuth: {users: {name: users}}
"""


def classed(name: str, controller: str) -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: {name}}}
spec: {{controllerName: {controller}}}
"""


USERS = "a:{SHA}UELRRmZ1GKGlAXZElGuGUKr8pEw="
MORE = f"{USERS}\\nc:{{SHA}}58lbTCgkPHnNQdlkwsiJpNKdJdo="
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
EG = classed("eg", CONTROLLER)


def service(spec: str, name: str = "shop") -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{ports: [{{port: 80}}], {spec}}}
"""


def deployment(name: str, labels: str = "", pod: str = "", port: str = "") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}{labels}}}}}
    spec: {{containers: [{{name: c, image: x, ports: [{{containerPort: 80{port}}}]}}]{pod}}}
"""


def secret(value: str, more: str = "") -> str:
    return f"""
apiVersion: v1
kind: Secret
metadata: {{name: users, namespace: shop}}
stringData: {{.htpasswd: "{value}"}}
{more}"""


CALLERS = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: callers, namespace: shop}
spec:
  selector: {matchLabels: {app: shop}}
  rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/web]}}]}]
"""
SLICE = """
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: shop-x, namespace: shop, labels: {kubernetes.io/service-name: shop}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.9]}]
"""
SHOP, ADMIN = deployment("shop"), deployment("admin")
SERVICE = service("selector: {app: shop}")
WORLD = (GATEWAY, EG, SERVICE, SHOP, ADMIN, secret(USERS))


def told(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[str]:
    simulations: list[Simulation] = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(parents=True)
        simulations.append(opened(tmp_path / side, *manifests))
    (pair,) = pair_sides(*([each] for each in simulations))
    return [f"{finding.severity}: {finding.message}" for finding in ends_changed(pair)]


def changed(one: str, other: str) -> tuple[str, ...]:
    assert one in WORLD
    return tuple(other if manifest == one else manifest for manifest in WORLD)


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (changed(SERVICE, service("selector: {app: admin}")),
         "warning: Service shop/shop now leads to Deployment shop/admin, no longer Deployment shop/shop"),
        (changed(ADMIN, deployment("admin", pod=", hostNetwork: true")), None),
        (changed(SHOP, deployment("shop", pod=", hostNetwork: true")),
         "error: Deployment shop/shop can be reached without a login through HostNetwork shop/shop"),
        (changed(SHOP, deployment("shop", port=", hostPort: 8080")),
         "error: Deployment shop/shop can be reached without a login through HostPort shop/shop"),
        (changed(SERVICE, service("selector: {app: shop}, type: NodePort")),
         "error: Deployment shop/shop can be reached without a login through NodePort shop/shop"),
        ((*WORLD, service("selector: {app: shop}, externalIPs: [192.0.2.1]", "second")),
         "error: Deployment shop/shop can be reached without a login through ExternalIP shop/second"),
        ((*WORLD, SLICE), "warning: Service shop/shop now also leads to 10.0.0.9 (by EndpointSlice shop/shop-x)"),
        ((*changed(SERVICE, service("sessionAffinity: None")), SLICE),
         ("warning: Service shop/shop now leads to 10.0.0.9, no longer Deployment shop/shop "
          "(by EndpointSlice shop/shop-x)")),
        (changed(WORLD[-1], secret(MORE)),
         "warning: SecurityPolicy shop/users relies on the content of Secret shop/users, which changes"),
        (changed(WORLD[-1], secret(MORE, "sops: {mac: x}\n")),
         "note: SecurityPolicy shop/users relies on the content of Secret shop/users, which changes"),
        (changed(EG, classed("eg", "gateway.envoyproxy.io/other")),
         f"warning: Gateway infra/edge is now served by gateway.envoyproxy.io/other instead of {CONTROLLER}"),
    ],
    ids=["other pods", "pods that nothing guards", "network of the node", "port of the node", "a node port",
         "a second Service", "addresses", "addresses alone", "contents", "encrypted contents", "controller"],
)  # fmt: skip
def test_what_is_said(after: tuple[str, ...], message: str | None, tmp_path: Path) -> None:
    assert told(tmp_path, WORLD, after) == ([] if message is None else [message])


def test_an_address_in_the_place_of_another_is_said_with_it(tmp_path: Path) -> None:
    (said,) = told(tmp_path, (*WORLD, SLICE), (*WORLD, SLICE.replace("10.0.0.9", "10.0.0.7")))
    assert said == (
        "warning: Service shop/shop now leads to 10.0.0.7, no longer 10.0.0.9 (by EndpointSlice shop/shop-x)"
    )


OPEN = (GATEWAY.partition("---\napiVersion: gateway.envoyproxy.io")[0], *WORLD[1:])
"""The same without a login: what opens a door takes nothing from it."""


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (SHOP, deployment("shop", port=", hostPort: 8080"),
         "warning: Deployment shop/shop can now be reached at its nodes: hostPort 8080"),
        (SERVICE, service("selector: {app: shop}, type: NodePort"),
         "warning: Service shop/shop can now be reached without a Gateway: type NodePort"),
    ],
    ids=["port of the node", "a node port"],
)  # fmt: skip
def test_doors_past_no_login(one: str, other: str, message: str, tmp_path: Path) -> None:
    after = tuple(other if manifest == one else manifest for manifest in OPEN)
    assert told(tmp_path, OPEN, after) == [message]


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: legacy, namespace: shop, annotations: {NOTES}}
spec:
  ingressClassName: nginx
  rules:
    - host: legacy.example.com
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}]}
"""


@pytest.mark.parametrize(
    ("notes", "count"), [("", 1), ("nginx.ingress.kubernetes.io/auth-url: https://sso.example.com", 0)]
)
def test_an_ingress_beside_a_login(notes: str, count: int, tmp_path: Path) -> None:
    said = told(tmp_path, WORLD, (*WORLD, INGRESS.replace("NOTES", notes)))
    door = "IngressClass nginx and Ingress shop/legacy"
    assert said == [f"error: Deployment shop/shop can be reached without a login through {door}"] * count


@pytest.mark.parametrize(
    "after",
    [
        changed(SERVICE, service("selector: {app: shop}, sessionAffinity: ClientIP")),
        changed(SHOP, deployment("shop", labels=", tier: web")),
        (*WORLD, deployment("canary", labels=", app: shop").replace("app: canary, app: shop", "app: shop")),
        (*WORLD, deployment("new"), service("selector: {app: new}, type: LoadBalancer", "new")),
        changed(WORLD[-1], secret(USERS, "type: Opaque\n")),
        (*WORLD[:1], *WORLD[2:]),
        tuple(reversed(WORLD)),
    ],
    ids=["affinity", "a label more", "a new workload behind it", "a new Service for new pods", "same contents",
         "the class moves elsewhere", "another order"],
)  # fmt: skip
def test_what_is_no_change_of_ends(after: tuple[str, ...], tmp_path: Path) -> None:
    assert told(tmp_path, WORLD, after) == []


def test_an_account_that_a_policy_lets_in(tmp_path: Path) -> None:
    before = (CALLERS, ADMIN, SHOP)
    after = (CALLERS, deployment("admin", pod=", serviceAccountName: web"), SHOP)
    (said,) = told(tmp_path, before, after)
    assert said.startswith("warning: Deployment shop/admin now runs as ServiceAccount shop/web, which AuthorizationPol")
    (tmp_path / "other").mkdir()
    other = (CALLERS, deployment("admin", pod=", serviceAccountName: other"), SHOP)
    assert told(tmp_path / "other", before, other) == []


def leading(name: str, backend: str, path: str = "/") -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec:
  parentRefs: [{{name: edge, namespace: infra}}]
  hostnames: [{name}.example.com]
  rules: [{{matches: [{{path: {{value: {path}}}}}], backendRefs: [{{name: {backend}, port: 80}}]}}]
"""


def login(route: str) -> str:
    return f"""
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: {route}, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {route}}}]
  basicAuth: {{users: {{name: users}}}}
"""


OTHER_WAY = "HTTPRoute shop/cart now leads to Service shop/shop without the login of HTTPRoute shop/shop"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([leading("cart", "cart")], [leading("cart", "shop")], [OTHER_WAY]),
        ([], [leading("cart", "shop")], [OTHER_WAY]),
        ([], [leading("cart", "shop"), login("cart")], []),
        ([leading("cart", "shop")], [leading("cart", "shop", "/new")], []),
        ([leading("open", "shop")], [leading("open", "shop"), leading("cart", "shop")], []),  # it was open before
        ([leading("cart", "cart")], [leading("cart", "other")], []),
    ],
)
def test_another_way_to_a_service_behind_a_login(
    tmp_path: Path, before: list[str], after: list[str], said: list[str]
) -> None:
    services = [service("selector: {app: a}"), service("selector: {app: b}", "cart")]
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir()
        simulations.append(opened(tmp_path / side, EG, GATEWAY, *services, *manifests))
    (pair,) = pair_sides(simulations[:1], simulations[1:])
    assert [each.message for each in ends_changed(pair)] == said


def test_a_service_that_stands_for_a_host_of_others(tmp_path: Path) -> None:
    outside = service("type: ExternalName, externalName: shop.partner.example")
    said = told(tmp_path, WORLD, (GATEWAY, EG, outside, SHOP, ADMIN, secret(USERS)))
    assert said == ["warning: Service shop/shop now leads to host shop.partner.example, no longer Deployment shop/shop"]


DOORS = {
    "Ingress": """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: shop}
spec: {defaultBackend: {service: {name: shop, port: {number: 80}}}}
""",
    "IngressRoute": """
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: shop, namespace: shop}
spec: {routes: [{kind: Rule, match: PathPrefix(`/`), services: [{name: shop, port: 80}]}]}
""",
    "HTTPProxy": """
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec: {virtualhost: {fqdn: shop.example.com}, routes: [{services: [{name: shop, port: 80}]}]}
""",
    "VirtualServer": """
apiVersion: k8s.nginx.org/v1
kind: VirtualServer
metadata: {name: shop, namespace: shop}
spec:
  host: shop.example.com
  upstreams: [{name: shop, service: shop, port: 80}]
  routes: [{path: /, action: {pass: shop}}]
""",
    "TransportServer": """
apiVersion: k8s.nginx.org/v1
kind: TransportServer
metadata: {name: shop, namespace: shop}
spec: {listener: {name: a, protocol: TCP}, upstreams: [{name: shop, service: shop, port: 80}], action: {pass: shop}}
""",
    "Route": """
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: shop, namespace: shop}
spec: {host: shop.example.com, to: {kind: Service, name: shop}}
""",
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("now", "more", "said"),
    [
        ("selector: {app: admin}", "", "Deployment shop/admin, no longer Deployment shop/shop"),
        ("sessionAffinity: None", SLICE, "10.0.0.9, no longer Deployment shop/shop (by EndpointSlice shop/shop-x)"),
        ("type: ExternalName, externalName: a.example", "", "host a.example, no longer Deployment shop/shop"),
    ],
)
def test_a_service_that_requests_come_to_beside_gateways(
    tmp_path: Path, door: str, now: str, more: str, said: str
) -> None:
    after = (DOORS[door], service(now), SHOP, ADMIN, *filter(None, [more]))
    found = told(tmp_path, (DOORS[door], SERVICE, SHOP, ADMIN), after)
    assert found == [f"warning: Service shop/shop now leads to {said}"]


def test_a_service_that_no_route_leads_to(tmp_path: Path) -> None:
    """Whoever calls a Service inside the cluster sends what it sends to another host from now on."""
    outside = service("type: ExternalName, externalName: a.example")
    said = "warning: Service shop/shop now leads to host a.example, no longer Deployment shop/shop"
    assert told(tmp_path, (SERVICE, SHOP), (outside, SHOP)) == [said]
    assert told(tmp_path / "b", (outside, SHOP), (outside.replace("a.example", "b.example"), SHOP)) == []


EG_BACKEND = ("gateway.envoyproxy.io/v1alpha1", "Backend")
KGATEWAY_BACKEND = ("gateway.kgateway.dev/v1alpha1", "Backend")
AGENTS = ("agentgateway.dev/v1alpha1", "AgentgatewayBackend")


@pytest.mark.parametrize(
    ("kind", "was", "now", "said"),
    [
        (
            EG_BACKEND,
            "endpoints: [{fqdn: {hostname: shop.shop.svc.cluster.local, port: 80}}]",
            "endpoints: [{fqdn: {hostname: shop.staging.svc.cluster.local, port: 80}}]",
            "Backend shop/away now leads to Service staging/shop port 80, no longer Service shop/shop port 80",
        ),
        (
            EG_BACKEND,
            "endpoints: [{ip: {address: 10.0.0.1, port: 80}}]",
            "endpoints: [{ip: {address: 10.0.0.1, port: 80}}, {ip: {address: 10.0.0.9, port: 80}}]",
            "Backend shop/away now also leads to host 10.0.0.9 port 80",
        ),
        (
            KGATEWAY_BACKEND,
            "type: Static, static: {hosts: [{host: a.example, port: 443}]}",
            "type: Static, static: {hosts: [{host: b.example, port: 443}]}",
            "Backend shop/away now leads to host b.example port 443, no longer host a.example port 443",
        ),
        (
            AGENTS,
            "static: {host: a.example, port: 443}",
            "static: {host: b.example, port: 443}",
            "AgentgatewayBackend shop/away now leads to host b.example port 443, no longer host a.example port 443",
        ),
        (
            EG_BACKEND,
            "endpoints: [{fqdn: {hostname: shop.shop.svc.cluster.local, port: 80}}]",
            "endpoints: [{fqdn: {hostname: shop.shop.svc, port: 80}}]",
            "",
        ),
    ],
)
@pytest.mark.parametrize("seen", [True, False])
def test_a_backend_that_stands_for_another_host(
    tmp_path: Path, kind: tuple[str, str], was: str, now: str, said: str, seen: bool
) -> None:
    group = kind[0].partition("/")[0]
    named = f"{{group: {group}, kind: {kind[1]}, name: away, port: 80}}"
    route = leading("away", "away").replace("{name: away, port: 80}", named)

    def backend(spec: str) -> str:
        return f"apiVersion: {kind[0]}\nkind: {kind[1]}\nmetadata: {{name: away, namespace: shop}}\nspec: {{{spec}}}\n"

    others = (route, SERVICE, SHOP, *((GATEWAY, EG) if seen else ()))
    found = told(tmp_path, (*others, backend(was)), (*others, backend(now)))
    assert found == ([f"warning: {said}"] if said else [])


@pytest.mark.parametrize(
    ("was", "now", "count"), [("gke-l7-rilb", "gke-l7-gxlb", 1), ("gke-l7-gxlb", "gke-l7-rilb", 0), ("a", "public", 0)]
)
def test_a_class_that_by_its_name_is_reached_from_outside(was: str, now: str, count: int, tmp_path: Path) -> None:
    sides = ((GATEWAY.replace("gatewayClassName: eg", f"gatewayClassName: {name}"), SERVICE) for name in (was, now))
    assert sum("changes from class" in message for message in told(tmp_path, *sides)) == count


PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: shop, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: shop}}}}
  template:
    metadata: {{labels: {{app: shop}}}}
    spec: {{containers: [{containers}]}}
"""
PROXY, APP = "{name: proxy, ports: [{name: proxy, containerPort: 4180}]}", "{name: app, ports: [{containerPort: 3000}]}"
SILENT = "{name: app}"
PROXIED = service("selector: {app: shop}").replace("{port: 80}", "{port: 80, targetPort: 4180}")


@pytest.mark.parametrize(
    ("containers", "target", "left", "now"),
    [
        (f"{PROXY}, {APP}", "targetPort: 3000", f"{PROXY}, {APP}", "container app"),
        (f"{PROXY}, {SILENT}", "targetPort: 3000", f"{PROXY}, {SILENT}", "another port"),
        (f"{PROXY}, {APP}", "targetPort: 3000", APP, "container app"),
        (f"{PROXY}, {APP}", "targetPort: proxy", f"{PROXY}, {APP}", ""),
        (f"{PROXY}, {APP}", "targetPort: 4180", f"{PROXY.replace('name: proxy, p', 'name: front, p')}, {APP}", ""),
        (f"{PROXY}, {APP}", "targetPort: 4180", f"{APP}, {PROXY}", ""),
    ],
    ids=["past the proxy", "port that nobody names", "the proxy is gone", "by name", "renamed", "in another order"],
)
def test_a_port_that_leads_past_a_container(containers: str, target: str, left: str, now: str, tmp_path: Path) -> None:
    before = (GATEWAY, EG, PROXIED, PODS.format(containers=containers), secret(USERS))
    after = (GATEWAY, EG, PROXIED.replace("targetPort: 4180", target), PODS.format(containers=left), secret(USERS))
    expected = (
        f"warning: port 80 of Service shop/shop now leads to {now} of Deployment shop/shop instead of container proxy"
    )
    assert told(tmp_path, before, after) == ([expected] if now else [])


TWIN = "{port: 80, protocol: UDP, name: quic, targetPort: 4433}"


@pytest.mark.parametrize("ports", [f"{TWIN}, PORT", f"PORT, {TWIN}"], ids=["after it", "before it"])
def test_a_port_of_the_same_number_by_udp_says_nothing_of_it(ports: str, tmp_path: Path) -> None:
    held = (ports.replace("PORT", f"{{port: 80, name: http, targetPort: {target}}}") for target in (4180, 3000))
    services = (PROXIED.replace("{port: 80, targetPort: 4180}", each) for each in held)
    pods = PODS.format(containers=f"{PROXY}, {APP}")
    said = told(tmp_path, *((GATEWAY, EG, each, pods, secret(USERS)) for each in services))
    (words,) = (each for each in said if "leads to" in each)
    assert words.startswith("warning: port 80 of Service shop/shop now leads to container app of Deployment shop/shop")


KEYS = """
apiVersion: v1
kind: ConfigMap
metadata: {{name: keys, namespace: shop}}
data: {{jwks: '{jwks}'}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: users, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}}]
  jwt:
    providers:
      - name: idp
        localJWKS: {{type: ValueRef, valueRef: {{group: "", kind: ConfigMap, name: keys}}}}
"""
ROUTED = GATEWAY.rpartition("---")[0]


@pytest.mark.parametrize(("jwks", "count"), [('{"keys": [{"kid":"a"}]}', 0), ('{"keys":[{"kid":"b"}]}', 1)])
def test_json_that_is_written_otherwise_is_the_same_content(jwks: str, count: int, tmp_path: Path) -> None:
    sides = ((ROUTED, EG, SERVICE, SHOP, KEYS.format(jwks=each)) for each in ('{"keys":[{"kid":"a"}]}', jwks))
    assert len(told(tmp_path, *sides)) == count


ASKED = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: users, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]
  extAuth: {grpc: {backendRefs: [{name: opa, port: 80}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: rules, namespace: shop}
data: {policy.rego: "default allow = false"}
"""


@pytest.mark.parametrize(("volume", "count"), [(", volumes: [{name: a, configMap: {name: rules}}]", 1), ("", 0)])
def test_what_those_go_by_whom_policies_ask(volume: str, count: int, tmp_path: Path) -> None:
    world = (ROUTED, EG, SERVICE, SHOP, service("selector: {app: opa}", "opa"), deployment("opa", pod=volume))
    said = told(tmp_path, (*world, ASKED), (*world, ASKED.replace("allow = false", "allow = true")))
    expected = "SecurityPolicy shop/users asks Deployment shop/opa, whose ConfigMap shop/rules changes"
    assert said == [f"warning: {expected}"] * count
