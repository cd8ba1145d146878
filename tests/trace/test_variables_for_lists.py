"""A variable in the place of a list or an object leaves open what requests and connections meet there."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.reach.entries import entries
from policylint.simulation import Simulation
from policylint.trace import Request, Requirements, Tracer, request
from tests.worlds import gateway, gateway_class, manifest, opened, route, service

RULES = "rules: [{backendRefs: [{name: web, port: 80}]}]"


def routed(folder: Path, more: str, *others: str) -> Simulation:
    return opened(
        folder,
        gateway_class("c", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("gw", "default", "[{name: http, port: 80, protocol: HTTP}]", of_class="c"),
        service("web", "default", "[{port: 80}]"),
        route("app", "default", "[{name: gw}]", more=more),
        *others,
    )


@pytest.mark.parametrize(
    "more",
    [
        "rules: '${RULES}'",
        "rules: [{matches: '${MATCHES}', backendRefs: [{name: web, port: 80}]}]",
        "rules: [{backendRefs: '${BACKENDS}'}]",
        "rules: [{filters: '${FILTERS}', backendRefs: [{name: web, port: 80}]}]",
    ],
)
def test_what_a_variable_says_of_requests_is_not_known(tmp_path: Path, more: str) -> None:
    asked = request({"scheme": "http", "host": "app.example.com", "path": "/x"})
    outcome = Tracer(routed(tmp_path, f"hostnames: [app.example.com], {more}")).trace(asked).outcome
    assert (outcome.unknown, outcome.status) == (True, None)
    assert "variable" in outcome.reason


def test_parents_that_a_variable_stands_for_may_be_any(tmp_path: Path) -> None:
    simulation = opened(
        tmp_path,
        gateway_class("c", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("gw", "default", "[{name: http, port: 80, protocol: HTTP}]", of_class="c"),
        service("web", "default", "[{port: 80}]"),
        route("app", "default", "'${PARENTS}'", more=f"hostnames: [app.example.com], {RULES}"),
        route("own", "default", "[{name: gw}]", more=f"hostnames: [own.example.com], {RULES}"),
    )
    tracer = Tracer(simulation)
    outcomes = [
        tracer.trace(request({"scheme": "http", "host": f"{host}.example.com", "path": "/x"})).outcome
        for host in ("app", "own", "other")
    ]
    assert [(each.unknown, each.status) for each in outcomes] == [(True, None), (False, None), (False, 404)]
    assert outcomes[0].reason == "the Gateway that HTTPRoute default/app is for stands in a variable"


def _httpproxy(host: str) -> str:
    spec = f"spec: {{virtualhost: {{fqdn: {host}}}, routes: [{{services: [{{name: web, port: 80}}]}}]}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "own", "shop", spec)


@pytest.mark.parametrize(
    "way_in",
    [
        _httpproxy("own.example.com"),
        manifest(
            "networking.k8s.io/v1", "Ingress", "own", "shop",
            "spec: {rules: [{host: own.example.com, http: {paths: [{path: /, pathType: Prefix, "
            "backend: {service: {name: web, port: {number: 80}}}}]}}]}",
        ),
        manifest(
            "k8s.nginx.org/v1", "VirtualServer", "own", "shop",
            "spec: {host: own.example.com, upstreams: [{name: web, service: web, port: 80}], "
            "routes: [{path: /, action: {pass: web}}]}",
        ),
        manifest(
            "route.openshift.io/v1", "Route", "own", "shop",
            "spec: {host: own.example.com, to: {kind: Service, name: web}}",
        ),
    ],
    ids=lambda text: text.split("kind: ")[1].split()[0],
)  # fmt: skip
def test_parents_that_a_variable_stands_for_are_gateways(tmp_path: Path, way_in: str) -> None:
    """What comes in past Gateways meets no route of Gateway API, whatever the variable says."""
    adrift = route("app", "shop", "'${PARENTS}'", more=RULES)
    simulation = opened(tmp_path, service("web", "shop", "[{port: 80}]"), adrift, way_in)
    tracer = Tracer(simulation)
    for door in entries(tracer):
        for path in ("/x", "/y"):
            asked = request({"scheme": door.scheme, "host": "other.example.com", "path": path, "gateway": door.gateway})
            assert "variable" not in tracer.trace(asked).outcome.reason


def test_listeners_that_a_variable_stands_for_may_be_there(tmp_path: Path) -> None:
    simulation = opened(
        tmp_path,
        gateway_class("c", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("gw", "default", "'${LISTENERS}'", of_class="c"),
        service("web", "default", "[{port: 80}]"),
        route("app", "default", "[{name: gw}]", more=f"hostnames: [app.example.com], {RULES}"),
    )
    outcome = Tracer(simulation).trace(request({"scheme": "http", "host": "app.example.com", "path": "/x"})).outcome
    told = "which listeners Gateway default/gw has is not known: a variable stands at spec.listeners"
    assert (outcome.unknown, outcome.reason) == (True, told)


def test_hosts_that_a_variable_stands_for_may_be_any(tmp_path: Path) -> None:
    asked = request({"scheme": "http", "host": "app.example.com", "path": "/x"})
    trace = Tracer(routed(tmp_path, f"hostnames: '${{HOSTS}}', {RULES}")).trace(asked)
    assert [str(key) for key in trace.outcome.backends] == ["Service default/web"]
    assert any("${HOSTS} is taken to be app.example.com" in note for note in trace.notes)


def workload(name: str) -> str:
    labels = f"{{app: {name}}}"
    template = f"{{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: app, image: 'app:1'}}]}}}}"
    return manifest(
        "apps/v1", "Deployment", name, "shop", f"spec: {{selector: {{matchLabels: {labels}}}, template: {template}}}"
    )


POLICIES = {
    "rules": """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec: {podSelector: {matchLabels: {app: db}}, ingress: '${RULES}'}
""",
    "rule": """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec: {podSelector: {matchLabels: {app: db}}, ingress: ['${RULE}']}
""",
    "peers": """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec: {podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{from: '${PEERS}'}]}
""",
    "subject": """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec: {podSelector: '${PODS}', policyTypes: [Ingress]}
""",
    "label": """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec: {podSelector: {matchLabels: {'${LABEL}': db}}, policyTypes: [Ingress]}
""",
    "Cilium, subject": """apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: p, namespace: shop}
spec: {endpointSelector: '${PODS}', ingress: [{}]}
""",
    "Cilium, denials": """apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: p, namespace: shop}
spec: {endpointSelector: {matchLabels: {app: db}}, ingressDeny: '${RULES}'}
""",
    "Calico, rules": """apiVersion: projectcalico.org/v3
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec: {selector: app == 'db', types: [Ingress], ingress: '${RULES}'}
""",
    "cluster, subject": """apiVersion: policy.networking.k8s.io/v1alpha1
kind: AdminNetworkPolicy
metadata: {name: p}
spec: {priority: 10, subject: '${PODS}', ingress: [{name: all, action: Deny, from: [{namespaces: {}}]}]}
""",
    "cluster, peers": """apiVersion: policy.networking.k8s.io/v1alpha1
kind: AdminNetworkPolicy
metadata: {name: p}
spec: {priority: 10, subject: {namespaces: {}}, ingress: [{name: all, action: Deny, from: '${PEERS}'}]}
""",
}


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_variable_says_of_connections_is_not_known(tmp_path: Path, policy: str) -> None:
    simulation = opened(
        tmp_path, workload("web"), workload("db"), service("db", "shop", more="selector: {app: db}"), POLICIES[policy]
    )
    asked = Request(scheme="tcp", service="Service/shop/db", port=80, client="Deployment/shop/web")
    trace = Tracer(simulation).trace(asked)
    assert trace.unsettled
    assert not trace.outcome.refused
    assert not [each for each in simulation.network_policies if each.refused]


TOKENS = "jwt: {providers: [{name: id, remoteJWKS: {uri: 'https://id.example.com/jwks'}}]}"


@pytest.mark.parametrize(
    ("targets", "state"),
    [
        ("targetRefs: '${TARGETS}'", "unknown"),
        ("targetRefs: ['${TARGET}']", "unknown"),
        ("targetSelectors: '${TARGETS}'", "unknown"),
        ("targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: other}]", "open"),
    ],
)
def test_a_variable_may_stand_for_any_target(tmp_path: Path, targets: str, state: str) -> None:
    login = manifest(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "p", "default", f"spec: {{{targets}, {TOKENS}}}"
    )
    tracer = Tracer(routed(tmp_path, f"hostnames: [app.example.com], {RULES}", login))
    trace = tracer.trace(request({"scheme": "http", "host": "app.example.com", "path": "/x"}))
    assert Requirements(tracer).of(trace, "authentication").state == state


@pytest.mark.parametrize(
    ("rules", "decision"),
    [
        ("rules: '${RULES}'", "depends"),
        ("rules: ['${RULE}']", "depends"),
        ("rules: [{from: '${SOURCES}'}]", "depends"),
        ("rules: [{from: ['${SOURCE}']}]", "depends"),
        ("rules: [{from: [{source: '${SOURCE}'}]}]", "depends"),
        ("rules: [{to: [{operation: {paths: '${PATHS}'}}]}]", "depends"),
        ("rules: [{when: '${CONDITIONS}'}]", "depends"),
        ("rules: [{to: [{operation: {paths: ['/y'], methods: '${METHODS}'}}]}]", "depends"),
        ("action: DENY, rules: '${RULES}'", "depends"),
        ("rules: [{when: [{key: source.namespace, values: '${NAMES}'}]}]", "depends"),
        ("rules: []", "denied"),
        ("rules: [{}]", "allowed"),
    ],
)
def test_what_a_variable_lets_in_is_not_known(tmp_path: Path, rules: str, decision: str) -> None:
    meshed = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}\n"
    chosen = manifest(
        "security.istio.io/v1",
        "AuthorizationPolicy",
        "p",
        "shop",
        f"spec: {{selector: {{matchLabels: {{app: db}}}}, {rules}}}",
    )
    served = service("db", "shop", more="selector: {app: db}")
    simulation = opened(tmp_path, meshed, workload("web"), workload("db"), served, chosen)
    asked = Request(service="Service/shop/db", client="Deployment/shop/web", host="db.shop", path="/x")
    trace = Tracer(simulation).trace(asked)
    assert trace.authorization == decision


OF_ISTIO = manifest(
    "networking.istio.io/v1", "Gateway", "gw", "shop",
    "spec: {selector: {istio: own}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}",
)  # fmt: skip


def virtual_service(more: str) -> str:
    return manifest(
        "networking.istio.io/v1", "VirtualService", "app", "shop", f"spec: {{hosts: [app.example.com], {more}}}"
    )


TO_WEB = "kind: Rule, services: [{name: web, port: 80}]"


def ingress_route(more: str) -> str:
    return manifest("traefik.io/v1alpha1", "IngressRoute", "app", "shop", f"spec: {{tls: {{}}, {more}}}")


@pytest.mark.parametrize(
    ("objects", "names"),
    [
        ((OF_ISTIO, virtual_service("gateways: [gw], http: '${RULES}'")), "what it matches stands in a variable"),
        ((ingress_route("routes: '${RULES}'"),), "what it matches stands in a variable"),
        (
            (manifest("networking.k8s.io/v1", "Ingress", "app", "shop", "spec: {rules: '${RULES}'}"),),
            "what it matches stands in a variable",
        ),
        *(
            (
                (
                    manifest(
                        "projectcontour.io/v1", "HTTPProxy", "app", "shop",
                        f"spec: {{virtualhost: {{fqdn: app.example.com}}, {field}: '${{RULES}}'}}",
                    ),
                ),
                "what ${RULES} stands for was not seen",
            )
            for field in ("routes", "includes")
        ),
        (
            (
                manifest(
                    "k8s.nginx.org/v1", "VirtualServer", "app", "shop",
                    "spec: {host: app.example.com, routes: '${RULES}'}",
                ),
            ),
            "what it matches stands in a variable",
        ),
    ],
)  # fmt: skip
def test_what_a_variable_says_of_rules_of_other_ways_in_is_not_known(
    tmp_path: Path, objects: tuple[str, ...], names: str
) -> None:
    simulation = opened(tmp_path, service("web", "shop", "[{port: 80}]"), *objects)
    tracer = Tracer(simulation)
    found = [
        tracer.trace(request({"scheme": scheme, "host": "app.example.com", "path": "/x"})).outcome
        for scheme in ("http", "https")
    ]
    assert any(each.unknown and names in each.reason for each in found), found


@pytest.mark.parametrize(
    "objects",
    [
        (OF_ISTIO, virtual_service("gateways: ['${GATEWAY}'], http: [{route: [{destination: {host: web}}]}]")),
        (OF_ISTIO, virtual_service("gateways: '${GATEWAYS}', http: [{route: [{destination: {host: web}}]}]")),
        (OF_ISTIO, virtual_service("gateways: ['${SPACE}/gw'], http: [{route: [{destination: {host: web}}]}]")),
        *(
            (ingress_route(f"entryPoints: {points}, routes: [{{match: Host(`app.example.com`), {TO_WEB}}}]"),)
            for points in ("['${POINT}']", "'${POINTS}'", "[websecure, '${POINT}']")
        ),
    ],
)  # fmt: skip
def test_where_a_variable_says_that_rules_are_they_may_be_anywhere(tmp_path: Path, objects: tuple[str, ...]) -> None:
    tracer = Tracer(opened(tmp_path, service("web", "shop", "[{port: 80}]"), *objects))
    scheme = "http" if len(objects) == 2 else "https"
    trace = tracer.trace(request({"scheme": scheme, "host": "app.example.com", "path": "/x"}))
    assert [str(key) for key in trace.outcome.backends] == ["Service shop/web"]
    assert any("stands in a variable" in note for note in trace.notes)


MATCH = "match: Host(`app.example.com`)"
ROUTES = "routes: [{services: [{name: web, port: 80}]}]"


def proxy(host: str, more: str = ROUTES) -> str:
    spec = f"spec: {{virtualhost: {{fqdn: app.example.com, tls: {{secretName: own{host}, {more}}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "app", "shop", spec)


def server(more: str, of_route: str = "") -> str:
    routes = f"routes: [{{path: /, {of_route}action: {{pass: web}}}}]"
    ends = "upstreams: [{name: web, service: web, port: 80}]"
    spec = f"spec: {{host: app.example.com, tls: {{secret: own}}, {more}{ends}, {routes}}}"
    return manifest("k8s.nginx.org/v1", "VirtualServer", "app", "shop", spec)


@pytest.mark.parametrize(
    ("written", "asks"),
    [
        (ingress_route(f"routes: [{{{MATCH}, {TO_WEB}, middlewares: '${{ASKED}}'}}]"), True),
        (ingress_route(f"routes: [{{{MATCH}, {TO_WEB}, middlewares: ['${{ASKED}}']}}]"), True),
        (ingress_route(f"routes: [{{{MATCH}, {TO_WEB}, middlewares: []}}]"), False),
        (server("policies: '${ASKED}', "), True),
        (server("policies: ['${ASKED}'], "), True),
        (server("", "policies: '${ASKED}', "), True),
        (server(""), False),
        (proxy("}, authorization: '${ASKED}'}"), True),
        (proxy("}, jwtProviders: '${ASKED}'}"), True),
        (proxy(", clientValidation: '${ASKED}'}}"), True),
        (proxy("}}", ROUTES.replace("[{", "[{jwtVerificationPolicy: '${ASKED}', ", 1)), True),
        (proxy("}}"), False),
    ],
)
def test_what_a_variable_asks_for_is_not_known(tmp_path: Path, written: str, asks: bool) -> None:
    tracer = Tracer(opened(tmp_path, service("web", "shop", "[{port: 80}]"), written))
    trace = tracer.trace(request({"scheme": "https", "host": "app.example.com", "path": "/x"}))
    assert [str(key) for key in trace.outcome.backends] == ["Service shop/web"]
    found = Requirements(tracer).of(trace, "authentication")
    assert found.state == ("unknown" if asks else "open")


INCLUDING = "includes: [{name: part, conditions: [{prefix: /part}]}], routes: [{services: [{name: web, port: 80}]}]"


def part(routes: str) -> str:
    return manifest("projectcontour.io/v1", "HTTPProxy", "part", "shop", f"spec: {{routes: {routes}}}")


def below(more: str = "", of_route: str = "", of_child: str = "") -> tuple[str, str]:
    """Return a server that leaves its paths to another object, with what each of the two says."""
    child = f"subroutes: [{{path: /, {of_child}action: {{pass: web}}}}]"
    ends = "upstreams: [{name: web, service: web, port: 80}]"
    named = f"spec: {{host: app.example.com, tls: {{secret: own}}, {more}routes: [{{path: /, {of_route}route: part}}]}}"
    return (
        manifest("k8s.nginx.org/v1", "VirtualServer", "app", "shop", named),
        manifest(
            "k8s.nginx.org/v1",
            "VirtualServerRoute",
            "part",
            "shop",
            f"spec: {{host: app.example.com, {ends}, {child}}}",
        ),
    )


@pytest.mark.parametrize(
    ("objects", "asks"),
    [
        ((proxy("}, authorization: '${ASKED}'}", INCLUDING), part("[{services: [{name: web, port: 80}]}]")), True),
        ((proxy("}, ipAllowPolicy: '${ASKED}'}", INCLUDING), part("[{services: [{name: web, port: 80}]}]")), True),
        ((proxy("}}", INCLUDING), part("[{services: [{name: web, port: 80}]}]")), False),
        (below(), False),
        (below("policies: '${ASKED}', "), True),
        (below(of_route="policies: '${ASKED}', "), True),
        (below(of_child="policies: ['${ASKED}'], "), True),
    ],
)
def test_what_a_variable_of_another_object_asks_for_is_not_known(
    tmp_path: Path, objects: tuple[str, str], asks: bool
) -> None:
    """What holds a rule is asked by what leads to it, too."""
    tracer = Tracer(opened(tmp_path, service("web", "shop", "[{port: 80}]"), *objects))
    trace = tracer.trace(request({"scheme": "https", "host": "app.example.com", "path": "/part/x"}))
    assert [str(key) for key in trace.outcome.backends] == ["Service shop/web"]
    assert Requirements(tracer).of(trace, "authentication").state == ("unknown" if asks else "open")


@pytest.mark.parametrize("routes", ["'${ROUTES}'", "['${ROUTE}']"])
def test_what_is_included_is_open_below_its_conditions_alone(tmp_path: Path, routes: str) -> None:
    objects = proxy("}}", INCLUDING), part(routes)
    tracer = Tracer(opened(tmp_path, service("web", "shop", "[{port: 80}]"), *objects))
    asked = [request({"scheme": "https", "host": "app.example.com", "path": path}) for path in ("/part/x", "/x")]
    assert [tracer.trace(each).outcome.unknown for each in asked] == [True, False]
