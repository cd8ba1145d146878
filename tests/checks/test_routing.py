"""GWP4xx beyond the examples of their pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policylint.checks import run
from policylint.trace import Request, Tracer
from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, WORLD, lint, only, route, rules
from tests.contract.test_contract import disagreements


@pytest.mark.parametrize(
    ("parent", "rule", "label", "pointed_at"),
    [
        (
            "name: egde, namespace: infra",
            "GWP401",
            'no Gateway "egde" in namespace infra (did you mean "edge"?)',
            "egde",
        ),
        (
            "kind: Service, group: '', name: chekout",
            "GWP401",
            'no Service "chekout" in namespace shop (did you mean "checkout"?)',
            "chekout",
        ),
        ("name: edge, namespace: infra, sectionName: htp", "GWP402", 'no listener "htp" (did you mean "http"?)', "htp"),
        ("name: edge, namespace: infra, port: 443", "GWP402", "no listener has port 443", "443"),
        ("name: edge, namespace: infra, sectionName: http, port: 81", "GWP402", 'no listener "http" has port 81', "81"),
        (
            "name: edge, namespace: infra, sectionName: admin",
            "GWP403",
            "Listener infra/edge#admin allows only its own namespace infra",
            "admin",
        ),
    ],
)
def test_parents(tmp_path: Path, parent: str, rule: str, label: str, pointed_at: str) -> None:
    found = lint(tmp_path, GATEWAY, route(parent=parent), SERVICE)
    said = only(found, rule)
    assert said.label == label
    assert said.pointed_at.startswith(pointed_at)
    assert rules(found) == [rule]


def test_one_listener_that_takes_the_route_is_enough(tmp_path: Path) -> None:
    assert rules(lint(tmp_path, *WORLD)) == []


def test_a_hostname_nobody_serves(tmp_path: Path) -> None:
    text = route(parent="name: edge, namespace: shop, sectionName: admin").replace(
        "  rules:", "  hostnames: [shop.example.com]\n  rules:", 1
    )
    gateway = GATEWAY.replace("namespace: infra", "namespace: shop")
    said = only(lint(tmp_path, gateway, text, SERVICE), "GWP404")
    assert said.message == "HTTPRoute shop/checkout has no hostname in common with Gateway shop/edge#admin"
    assert said.pointed_at.startswith("shop.example.com")


@pytest.mark.parametrize(
    ("backend", "message", "label"),
    [
        (
            "port: 80",
            "port 80 of Service shop/checkout, which it does not have (in 2 places)",
            "Service shop/checkout has ports 8080 and 9090",
        ),
        (
            "port: 80, kind: Sevice",
            "Sevice shop/checkout, which is not a kind of backend (in 2 places)",
            "Sevice is no kind of backend",
        ),
    ],
)
def test_backends(tmp_path: Path, backend: str, message: str, label: str) -> None:
    said = only(lint(tmp_path, GATEWAY, route(backend=backend), SERVICE), "GWP406")
    assert said.message == f"HTTPRoute shop/checkout sends requests to {message}"
    assert said.label == label


def test_grants_are_asked_for_once(tmp_path: Path) -> None:
    text = route(backend="namespace: bank, port: 8080")
    found = lint(tmp_path, GATEWAY, text, SERVICE.replace("namespace: shop", "namespace: bank"))
    said = only(found, "GWP405")
    assert said.message == ("HTTPRoute shop/checkout may not use Service bank/checkout (and 1 more reference like it)")
    grant = "from HTTPRoute of group gateway.networking.k8s.io in shop, to Service"
    assert said.help == (f"fix: add a ReferenceGrant to namespace bank: {grant}",)
    assert rules(found) == ["GWP405"]


def test_of_conflicting_listeners_the_later_ones_are_named(tmp_path: Path) -> None:
    more = "    - {name: again, port: 80, protocol: HTTP}\n    - {name: third, port: 80, protocol: HTTP}\n"
    found = [each for each in lint(tmp_path, GATEWAY + more, SERVICE) if each.rule == "GWP407"]
    assert [each.message for each in found] == [
        "Listener infra/edge#again conflicts with Listener infra/edge#http",
        "Listener infra/edge#third conflicts with Listener infra/edge#http and Listener infra/edge#again",
    ]
    assert found[0].label == "port 80 already has every host"


def test_a_class_of_a_tree_without_classes_comes_from_elsewhere(tmp_path: Path) -> None:
    assert only(lint(tmp_path, *WORLD), "GWP409").confidence == "unknown"


def test_a_class_that_its_controller_makes_is_there(tmp_path: Path) -> None:
    gateway = GATEWAY.replace("gatewayClassName: envoy", "gatewayClassName: istio-waypoint")
    assert [each for each in lint(tmp_path, gateway, route(), SERVICE) if each.rule == "GWP409"] == []


@pytest.mark.parametrize("name", ["internal", "envoi"])
def test_a_class_that_a_file_lacks_beside_another_one_is_missing(name: str, tmp_path: Path) -> None:
    """A file is the whole world, as for `trace`; a tree is not (`test_a_class_of_a_tree`)."""
    known = f"apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: {name}}}\n"
    missing = only(lint(tmp_path, known + "spec: {controllerName: a.example/b}\n", *WORLD), "GWP409")
    assert (missing.severity, missing.confidence) == ("warning", "certain")


@pytest.mark.parametrize(("name", "confidence"), [("internal", "unknown"), ("envoi", "certain")])
def test_a_class_of_a_tree(name: str, confidence: str, tmp_path: Path) -> None:
    """Classes come with their controllers, but for a name that is misspelt."""
    known = f"apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: {name}}}\n"
    lint(tmp_path, known + "spec: {controllerName: a.example/b}\n", *WORLD)
    found = [each.confidence for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP409"]
    assert found == [confidence]


def test_a_backend_of_a_kind_that_nobody_knows_is_up_to_the_controller(tmp_path: Path) -> None:
    foreign = route(backend="group: acme.io, kind: Bucket")
    assert only(lint(tmp_path, GATEWAY, foreign, SERVICE), "GWP406").confidence == "unknown"
    config_map = route(backend="kind: ConfigMap")
    assert only(lint(tmp_path, GATEWAY, config_map, SERVICE), "GWP406").confidence == "certain"


def test_a_backend_without_a_name_breaks_the_schema_and_is_not_missing(tmp_path: Path) -> None:
    nameless = route().replace("{name: checkout, port: 8080}", "{port: 8080}")
    assert set(rules(lint(tmp_path, GATEWAY, nameless, SERVICE))) == {"GWP501"}


def test_a_reference_without_a_name_is_told_of_once(tmp_path: Path) -> None:
    """By GWP501, which has its field: `missing Gateway infra/` and `may not use Service x/` end in nothing."""
    lost = route(parent='name: "", namespace: infra', backend="port: 8080, namespace: x").replace(
        "Refs: [{name: checkout,", 'Refs: [{name: "",'
    )
    found = lint(tmp_path, GATEWAY, lost)
    assert "GWP501" in rules(found)
    assert [said for said in found if re.search(r"/($| )", said.message)] == []


TARGETS = """
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {selector: {app: checkout}, ports: [{port: 8080, targetPort: %s}]}
"""


def pods(ports: str, kind: str = "Deployment", more: str = "", app: str = "checkout") -> str:
    containers = f"containers: [{{name: a, image: a}}, {{name: b, image: b, ports: [{ports}]}}]"
    template = f"template: {{metadata: {{labels: {{app: {app}}}}}, spec: {{{containers}}}}}"
    return f"""
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {app}-{kind.lower()}, namespace: shop}}
spec: {{{more}{template}}}
"""


NAMED = "{name: web, containerPort: 80}, {name: https, containerPort: 443}"


@pytest.mark.parametrize(
    ("target", "workloads", "severity"),
    [
        ("http", [pods(NAMED)], "error"),
        ("http", [pods("")], "error"),
        ("http", [pods("{name: http, containerPort: 80, protocol: UDP}")], "error"),
        ("http", [pods(NAMED, more="replicas: 0, ")], "warning"),
        ("http", [pods(NAMED), pods("{name: http, containerPort: 80}", "StatefulSet")], ""),
        ("web", [pods(NAMED)], ""),
        ("8081", [pods(NAMED)], ""),
        ("http", [], ""),
        ("http", [pods(NAMED, app="other")], ""),
    ],
    ids=["other", "none", "protocol", "scaled-down", "one-of-two", "named", "number", "unseen", "not-selected"],
)
def test_a_named_target_port(tmp_path: Path, target: str, workloads: list[str], severity: str) -> None:
    found = [said for said in lint(tmp_path, GATEWAY, route(), TARGETS % target, *workloads) if said.rule == "GWP410"]
    assert [said.severity for said in found] == ([severity] if severity else [])
    for said in found:
        assert said.message == (
            'HTTPRoute shop/checkout sends requests to Service shop/checkout, whose targetPort "http" no pod declares'
        )
        assert said.pointed_at.startswith("http")


def test_an_unrendered_chart_may_bring_other_pods(tmp_path: Path) -> None:
    release = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: checkout, namespace: shop}
spec: {chart: {spec: {chart: checkout, sourceRef: {kind: HelmRepository, name: a}}}}
"""
    said = only(lint(tmp_path, GATEWAY, route(), TARGETS % "http", pods(NAMED), release), "GWP410")
    assert (said.severity, said.confidence) == ("warning", "assumed")


TIES = {
    "a route without a hostname, a listener with one": ("shop.example.com", "", "[shop.example.com]", True),
    "a wildcard, a listener with one host": ("shop.example.com", "['*.example.com']", "[shop.example.com]", True),
    "both without a hostname of their own are told as any other": ("shop.example.com", "", "", False),
    "the listener leaves them different hosts": ("*.example.com", "", "[shop.example.com]", False),
    "the listener has every host": ("", "", "[shop.example.com]", False),
}


@pytest.mark.parametrize("case", TIES)
def test_routes_tie_where_the_listener_leaves_both_one_host(case: str) -> None:
    host, first, second, tied = TIES[case]
    hostname = f"hostname: '{host}', " if host else ""
    listeners = f"[{{name: http, port: 80, protocol: HTTP, {hostname}allowedRoutes: {{namespaces: {{from: All}}}}}}]"
    rules = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
    routes = [
        worlds.route(name, more=", ".join(filter(None, [f"hostnames: {names}" if names else "", rules])))
        for name, names in (("any", first), ("own", second))
    ]
    objects = worlds.gateway(listeners=listeners), *routes, worlds.service()
    for controller, by_intersection in (("traefik.io/gateway-controller", True), ("example.net/unknown", False)):
        simulation = worlds.simulated(worlds.gateway_class(controller=controller), *objects)
        said = [finding.message for finding in run(simulation, select={"GWP408"})]
        assert any("shop.example.com: both match" in message for message in said) is (tied and by_intersection)


SAME = "matches: [{path: {value: /pay}}]"
REDIRECT = "filters: [{type: RequestRedirect, requestRedirect: {hostname: other.example.com}}]"


def rule(match: str, *, filters: str = "", backend: str = "checkout") -> str:
    fields = (match, filters, f"backendRefs: [{{name: {backend}, port: 80}}]" if backend else "")
    return f"{{{', '.join(field for field in fields if field)}}}"


@pytest.mark.parametrize(
    ("rules", "controller", "said"),
    [
        (([rule(SAME)], [rule(SAME)]), "io.cilium/gateway-controller", "note"),
        (([rule(SAME, backend="")], [rule(SAME)]), "io.cilium/gateway-controller", "note"),
        (([rule(SAME)], [rule(SAME, backend="")]), "io.cilium/gateway-controller", "warning"),
        (([rule(SAME, backend=""), rule(SAME)],), "io.cilium/gateway-controller", "note"),
        (([rule(SAME, backend="")], [rule(SAME)]), "traefik.io/gateway-controller", "warning"),
        (([rule(SAME)], [rule(SAME)]), "traefik.io/gateway-controller", "warning"),
        (([rule(SAME), rule(SAME)],), "io.cilium/gateway-controller", "note"),
        (([rule(SAME, filters=REDIRECT, backend="")], [rule(SAME)]), "io.cilium/gateway-controller", "warning"),
        (([rule(SAME)], [rule(SAME, filters=REDIRECT, backend="")]), "io.cilium/gateway-controller", "warning"),
        (([rule(SAME)], [rule("matches: [{path: {value: /pay/x}}]")]), "io.cilium/gateway-controller", ""),
    ],
)
def test_some_balance_requests_over_all_rules_with_the_same_match(
    rules: tuple[list[str], ...], controller: str, said: str
) -> None:
    """Cilium keeps the filters of the first one, which may redirect, and the backends of all of them."""
    routes = [worlds.route(f"r{number}", more=f"rules: [{', '.join(each)}]") for number, each in enumerate(rules)]
    simulation = worlds.simulated(
        worlds.gateway_class(controller=controller), worlds.gateway(), *routes, worlds.service()
    )
    assert [each.severity for each in run(simulation, select={"GWP408"})] == ([said] if said else [])
    assert disagreements(simulation) == []


BY_LABEL = "allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {edge: 'yes'}}}}"


@pytest.mark.parametrize("controller", ["gateway.envoyproxy.io/gatewayclass-controller", "example.net/unknown"])
@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ((rule(""), rule("")), "shop/checkout#rule-2 can never win against"),
        ((rule(SAME), rule(SAME)), "shop/checkout#rule-2 can never win against"),
        ((rule(SAME), rule("")), ""),
        ((rule("matches: [{path: {value: /pay}, method: GET}]"), rule(SAME)), ""),
    ],
)
@pytest.mark.parametrize(
    "doubt",
    [
        (worlds.gateway(listeners=f"[{{name: http, port: 80, protocol: HTTP, {BY_LABEL}}}]"), ""),
        (
            worlds.gateway(listeners=f"[{{name: a, port: 80, protocol: HTTP, hostname: '*.example.com', {BY_LABEL}}}]"),
            "hostnames: ['${HOST}'], ",
        ),
        (
            worlds.gateway(listeners="[{name: http, port: 80, protocol: HTTP, hostname: '*.example.com', "
            "allowedRoutes: {namespaces: {from: All}}}]"),
            "hostnames: ['${HOST}'], ",
        ),
    ],
)  # fmt: skip
def test_rules_of_one_route_stand_beside_each_other_wherever_it_is_attached(
    doubt: tuple[str, str], rules: tuple[str, ...], said: str, controller: str
) -> None:
    """The first of two rules of one route with equal matches gets the requests (Gateway API, HTTPRouteRule: «the first
    matching rule (in list order)»), whether its namespace has the label of the listener or not."""
    edge, names = doubt
    route = worlds.route(more=f"{names}rules: [{', '.join(rules)}]")
    simulation = worlds.simulated(worlds.gateway_class(controller=controller), edge, route, worlds.service())
    (state,) = simulation.topology.routes
    assert state.parents[0].candidates[0].unknown
    found = [finding.message for finding in run(simulation, select={"GWP408"})]
    assert len(found) == bool(said) and all(said in message for message in found)
    assert disagreements(simulation) == []


@pytest.mark.parametrize("grpc", [False, True])
@pytest.mark.parametrize("labels", ["", "{edge: 'yes'}", "{edge: 'no'}"])
def test_a_route_that_may_not_be_attached_takes_nothing_from_others(labels: str, grpc: bool) -> None:
    """What the older route takes it takes only where it is attached: an error of the other one is none without it."""
    kind, match = ("GRPCRoute", "matches: [{method: {service: a.B}}]") if grpc else ("HTTPRoute", SAME)
    spec = f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], rules: [{rule(match)}]}}"
    older, younger = (
        worlds.manifest("gateway.networking.k8s.io/v1", kind, name, home, spec, created)
        for name, home, created in (("old", "shop", OLD), ("young", "infra", YOUNG))
    )
    edge = worlds.gateway(listeners=f"[{{name: http, port: 80, protocol: HTTP, {BY_LABEL}}}]")
    home = worlds.labelled("infra", "{edge: 'yes'}")
    more = (worlds.labelled("shop", labels),) if labels else ()
    simulation = worlds.simulated(
        worlds.gateway_class(controller="example.net/unknown"),
        *(edge, older, younger, home, *more, worlds.service(), worlds.service(namespace="infra")),
    )
    found = [finding.message for finding in run(simulation, select={"GWP408"})]
    assert len(found) == (labels == "{edge: 'yes'}")
    assert disagreements(simulation) == []


@pytest.mark.parametrize(
    ("older", "younger", "loser"),
    [
        ([SAME], [SAME, "matches: [{path: {value: /other}}]"], "shop/old#rule-1"),
        ([SAME, "matches: [{path: {value: /other}}]"], [SAME], "shop/young#rule-1"),
        ([SAME], [SAME], "shop/young#rule-1"),
        ([SAME], [""], ""),
        # an expression has the priority of its length, as a prefix has
        (["matches: [{path: {type: RegularExpression, value: '/.*'}}]"], ["matches: [{path: {value: /abcd}}]"], ""),
    ],
)
def test_traefik_ranks_by_the_priority_of_routers(older: list[str], younger: list[str], loser: str) -> None:
    """The priority of a router counts before the age of its route (pkg/provider/kubernetes/gateway/httproute.go,
    buildMatchRule: one more for each rule that comes after it)."""
    routes = (
        worlds.route(name, more=f"rules: [{', '.join(map(rule, matches))}]", created=created)
        for name, matches, created in (("old", older, OLD), ("young", younger, YOUNG))
    )
    traefik = worlds.gateway_class(controller="traefik.io/gateway-controller")
    simulation = worlds.simulated(traefik, worlds.gateway(), *routes, worlds.service())
    found = [finding.message for finding in run(simulation, select={"GWP408"})]
    assert [message.split()[1] for message in found] == ([loser] if loser else [])
    assert disagreements(simulation) == []


def stream(name: str, created: str = "", section: str = "db", kind: str = "TCPRoute") -> str:
    sent = f"rules: [{{backendRefs: [{{name: {name}, port: 80}}]}}]"
    spec = f"spec: {{parentRefs: [{{name: db, sectionName: {section}}}], {sent}}}"
    return worlds.manifest("gateway.networking.k8s.io/v1", kind, name, "infra", spec, created)


PORTS = worlds.manifest(
    "gateway.networking.k8s.io/v1",
    "Gateway",
    "db",
    "infra",
    "spec: {gatewayClassName: eg, listeners: [{name: db, port: 5432, protocol: TCP}, {name: other, port: 5433, "
    "protocol: TCP}, {name: dns, port: 53, protocol: UDP}]}",
)
SERVED = tuple(worlds.service(name, "infra") for name in "ab")
OLD, YOUNG = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("routes", "said"),
    [
        ((stream("a"), stream("b")), [("TCPRoute infra/b", "assumed")]),
        ((stream("a", YOUNG), stream("b", OLD)), [("TCPRoute infra/a", "certain")]),
        (
            (stream("a", kind="UDPRoute", section="dns"), stream("b", kind="UDPRoute", section="dns")),
            [("UDPRoute infra/b", "assumed")],
        ),
        ((stream("a"), stream("b", section="other")), []),
        ((stream("a"), stream("b").replace("sectionName: db", "sectionName: db}, {name: db, sectionName: other")), []),
        ((stream("a"), stream("b", section="dns")), []),
    ],
    ids=["by name", "by age", "UDP", "another port", "one more port", "refused there"],
)
def test_one_route_of_connections_gets_all_of_a_port(
    tmp_path: Path, routes: tuple[str, ...], said: list[tuple[str, str]]
) -> None:
    found = lint(tmp_path, PORTS, *SERVED, *routes)
    assert [
        (finding.message.partition(" gets no connections")[0], finding.confidence)
        for finding in found
        if finding.rule == "GWP408"
    ] == said


def behind_aws(kind: str = "type: ClusterIP", *more: str, controller: str = "gateway.k8s.aws/alb") -> tuple[str, ...]:
    return (
        worlds.gateway_class("alb", controller),
        worlds.gateway(of_class="alb"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service("checkout", more=kind),
        *more,
    )


def target_group(spec: str) -> str:
    return worlds.manifest("gateway.k8s.aws/v1beta1", "TargetGroupConfiguration", "t", "shop", f"spec: {{{spec}}}")


IP = "defaultConfiguration: {targetType: ip}"


@pytest.mark.parametrize(
    ("world", "said"),
    [
        (behind_aws(), ["GWP414"]),
        (behind_aws(""), ["GWP414"]),
        (behind_aws("type: NodePort"), []),
        (behind_aws("type: LoadBalancer"), []),
        (behind_aws("", target_group(f"targetReference: {{name: checkout}}, {IP}")), []),
        (behind_aws("", target_group(IP)), []),
        (behind_aws("", target_group(f"targetReference: {{name: other}}, {IP}")), ["GWP414"]),
        (
            behind_aws("", target_group("targetReference: {name: checkout}, defaultConfiguration: {protocol: HTTP}")),
            ["GWP414"],
        ),
        (behind_aws(controller="gateway.envoyproxy.io/gatewayclass-controller"), []),
    ],
)
def test_a_load_balancer_of_instances_needs_node_ports(tmp_path: Path, world: tuple[str, ...], said: list[str]) -> None:
    """kubernetes-sigs/aws-load-balancer-controller#4804: with instances as targets a Service must have node ports."""
    assert [each.rule for each in lint(tmp_path, *world) if each.rule == "GWP414"] == said


@pytest.mark.parametrize(
    ("kind", "annotation", "said"),
    [
        ("HTTPRoute", "konghq.com/override: x", ["GWP114"]),
        ("GRPCRoute", "konghq.com/upstream-policy: x", ["GWP114"]),
        ("HTTPRoute", "konghq.com/plugins: x", []),
        ("HTTPRoute", "konghq.com/strip-path: 'true'", []),
        ("HTTPRoute", "override: x", []),
    ],
)
def test_annotations_that_nobody_reads_there(tmp_path: Path, kind: str, annotation: str, said: list[str]) -> None:
    """Kong/kubernetes-ingress-controller#2505: KongIngress is not supported with the routes of Gateway API."""
    annotated = worlds.route(
        kind=kind, annotations=annotation, more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"
    )
    world = (worlds.gateway_class("kong", "konghq.com/kic-gateway-controller"), worlds.gateway(of_class="kong"))
    found = lint(tmp_path, *world, annotated, worlds.service())
    assert [each.rule for each in found if each.rule == "GWP114"] == said


@pytest.mark.parametrize(
    ("group", "told"),
    [("''", True), ("gateway.envoyproxy.io", True), ("configuration.konghq.com", False), ("example.com", False)],
)
def test_a_filter_whose_group_has_no_such_kind(tmp_path: Path, group: str, told: bool) -> None:
    """A group of Kubernetes or of the catalog has the kinds that it has; a group that nobody knows may have any."""
    named = f"{{type: ExtensionRef, extensionRef: {{group: {group}, kind: KongPlugin, name: auth}}}}"
    made = worlds.route(more=f"rules: [{{filters: [{named}], backendRefs: [{{name: checkout, port: 8080}}]}}]")
    found = lint(tmp_path, GATEWAY, SERVICE, made)
    labels = [each.label for each in found if each.rule == "GWP406" and each.severity == "error"]
    assert labels == (['did you mean "configuration.konghq.com"?'] if told else [])


def test_a_listener_that_a_set_adds_is_one_of_the_set(tmp_path: Path) -> None:
    added = "[{name: extra, port: 8082, protocol: HTTP}]"
    everywhere = "allowedListeners: {namespaces: {from: All}}"
    gateway = worlds.gateway(more=everywhere, of_class="envoy")
    parent = "parentRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge, namespace: infra}"
    more = worlds.manifest(
        "gateway.networking.k8s.io/v1", "ListenerSet", "more", "shop", f"spec: {{{parent}, listeners: {added}}}"
    )
    found = lint(tmp_path, gateway, SERVICE, more, route(parent="name: edge, namespace: infra, sectionName: extra"))
    assert 'listener "extra" is one of ListenerSet shop/more' in only(found, "GWP402").label


@pytest.mark.parametrize(
    ("controller", "told"), [("traefik.io/gateway-controller", True), ("kgateway.dev/kgateway", False)]
)
def test_a_set_of_listeners_that_nobody_reads(tmp_path: Path, controller: str, told: bool) -> None:
    wanted = "spec: {parentRef: {name: edge, namespace: infra}, listeners: [{name: web, port: 8080, protocol: HTTP}]}"
    found = lint(
        tmp_path,
        worlds.gateway_class("own", controller),
        worlds.gateway(of_class="own", more="allowedListeners: {namespaces: {from: All}}"),
        worlds.manifest("gateway.networking.k8s.io/v1", "ListenerSet", "extra", "shop", wanted),
    )
    said = [each.label for each in found if each.rule == "GWP403"]
    assert said == (["Traefik reads no ListenerSets"] if told else [])


@pytest.mark.parametrize(
    ("namespaces", "told"),
    [
        ("{from: Selector, selector: {}}", True),
        ("{from: Selector, selector: {matchLabels: {}}}", True),
        ("{from: Selector, selector: {matchLabels: {}, matchExpressions: []}}", True),
        ("{from: Selector, selector: {matchLabels: {team: a}}}", False),
        ("{from: Selector, selector: {matchExpressions: [{key: team, operator: Exists}]}}", False),
        ("{from: All, selector: {}}", False),
        ("{from: Same}", False),
    ],
)
def test_a_listener_that_selects_every_namespace(tmp_path: Path, namespaces: str, told: bool) -> None:
    listener = f"[{{name: http, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {namespaces}}}}}]"
    of_routes = lint(tmp_path, worlds.gateway_class(), worlds.gateway(listeners=listener))
    assert [each.severity for each in of_routes if each.rule == "GWP603"] == (["note"] if told else [])
    of_sets = lint(
        tmp_path, worlds.gateway_class(), worlds.gateway(more=f"allowedListeners: {{namespaces: {namespaces}}}")
    )
    assert ("GWP603" in rules(of_sets)) == told


ANY = "allowedRoutes: {namespaces: {from: All}}"


@pytest.mark.parametrize(
    ("listener", "hosts", "lacking"),
    [
        ("hostname: example.com", "[example.com, www.example.com]", "www.example.com"),
        ("hostname: '*.example.com'", "[example.com, www.example.com]", "example.com"),
        ("hostname: '*.example.com'", "[a.example.com, '*.b.example.com']", ""),
        ("hostname: a.example.com", "['*.example.com', a.example.com]", ""),
        ("", "[example.com, www.example.org]", ""),
        ("hostname: '*.example.com'", "[www.example.com, www.example.org]", ""),
        ("hostname: '*.${DOMAIN}'", "[example.com, www.example.com]", ""),
    ],
)
def test_a_hostname_among_others_that_no_listener_serves(
    tmp_path: Path, listener: str, hosts: str, lacking: str
) -> None:
    """kubernetes-sigs/external-dns#4127."""
    edge = worlds.gateway(listeners=f"[{{name: http, port: 80, protocol: HTTP, {ANY}, {listener}}}]")
    text = worlds.route(more=f"hostnames: {hosts}")
    said = [each for each in lint(tmp_path, edge, text, worlds.service()) if each.rule == "GWP404"]
    assert [(each.severity, each.confidence) for each in said] == ([("warning", "certain")] if lacking else [])
    assert all(f"no request for {lacking}:" in each.message for each in said)


@pytest.mark.parametrize("prefix", ["external-dns.alpha.kubernetes.io", "external-dns.kubernetes.io"])
@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("shop.gtw.example.net", ["shop.gtw.example.net"]),
        ("www.example.com", []),
        ("'www.example.com, api.example.org'", ["api.example.org"]),
        ("'*.example.com'", []),
    ],
)
def test_external_dns_makes_records_of_what_a_listener_takes(
    tmp_path: Path, name: str, lacking: list[str], prefix: str
) -> None:
    """kubernetes-sigs/external-dns#6594."""
    edge = worlds.gateway(listeners="[{name: http, port: 80, protocol: HTTP, hostname: '*.example.com', " + ANY + "}]")
    annotated = f"{prefix}/hostname: {name}"
    text = worlds.route(more="hostnames: [shop.example.com]", annotations=annotated)
    found = lint(tmp_path, edge, text, worlds.service())
    said = [each for each in found if each.rule == "GWP404"]
    assert [each.message.partition(" for ")[2].partition(" of ")[0] for each in said] == lacking


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        ("haproxy.org/allow-list: 10.0.0.0/8", True),
        ("nginx.org/rewrites: a", True),
        ("nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/8", True),
        ("alb.ingress.kubernetes.io/target-type: ip", True),
        ("cert-manager.io/cluster-issuer: le", False),
        ("kubernetes.io/ingress.class: nginx", False),
    ],
)
def test_annotations_of_ingresses_do_nothing_on_routes(tmp_path: Path, annotation: str, told: bool) -> None:
    """kubernetes-sigs/aws-load-balancer-controller#4563."""
    text = route().replace("namespace: shop}", f"namespace: shop, annotations: {{{annotation}}}}}", 1)
    assert ("GWP114" in rules(lint(tmp_path, GATEWAY, text, SERVICE))) == told


def _scaled(replicas: str) -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: checkout, namespace: shop}}
spec:
  {replicas}
  selector: {{matchLabels: {{app: checkout}}}}
  template: {{metadata: {{labels: {{app: checkout}}}}, spec: {{containers: [{{name: a, image: b}}]}}}}
"""


SELECTING = SERVICE.replace("spec: {", "spec: {selector: {app: checkout}, ")


@pytest.mark.parametrize(
    ("documents", "times"),
    [
        ([_scaled("replicas: 0")], 2),
        ([_scaled("replicas: 1")], 0),
        ([_scaled("paused: false")], 0),
        ([_scaled("replicas: 0"), _scaled("replicas: 2").replace("name: checkout, ", "name: canary, ")], 0),
        ([], 0),
    ],
)
def test_a_service_without_replicas(tmp_path: Path, documents: list[str], times: int) -> None:
    """nginx/nginx-gateway-fabric#2696: 503 for Services without ready endpoints, as Gateway API has it."""
    found = [each for each in lint(tmp_path, GATEWAY, route(), SELECTING, *documents) if each.rule == "GWP415"]
    assert [each.severity for each in found] == ["note"] * times


@pytest.mark.parametrize(
    ("controller", "service", "said"),
    [
        ("application-networking.k8s.aws/gateway-api-controller", worlds.service("checkout", "other"), []),
        ("application-networking.k8s.aws/gateway-api-controller", worlds.service("another", "other"), ["GWP406"]),
        ("gateway.k8s.aws/alb", worlds.service("checkout", "other"), ["GWP405"]),
    ],
)
def test_who_asks_for_a_grant(controller: str, service: str, said: list[str]) -> None:
    """VPC Lattice takes a Service of another namespace as it is; `trace` says so as well."""
    rule = "rules: [{backendRefs: [{name: checkout, namespace: other, port: 80}]}]"
    simulation = worlds.simulated(
        worlds.gateway_class(controller=controller), worlds.gateway(), worlds.route(more=rule), service
    )
    assert [each.rule for each in run(simulation, select={"GWP405", "GWP406"})] == said
    trace = Tracer(simulation).trace(Request(host="shop.example.com", path="/"))
    assert bool(trace.outcome.backends) == (not said)


@pytest.mark.parametrize(
    ("gateways", "said"), [([GATEWAY], ("error", "certain")), ([], ("warning", "assumed"))], ids=["seen", "not seen"]
)
def test_without_its_gateway_nothing_says_who_reads_a_route(
    tmp_path: Path, gateways: list[str], said: tuple[str, str]
) -> None:
    """It may be the controller of VPC Lattice, which asks for no grant."""
    bank = SERVICE.replace("namespace: shop", "namespace: bank")
    found = only(lint(tmp_path, *gateways, route(backend="namespace: bank, port: 8080"), bank), "GWP405")
    assert (found.severity, found.confidence) == said


def test_a_filter_that_was_not_seen_makes_no_route_invalid(tmp_path: Path) -> None:
    """envoyproxy/gateway#7545: GWP406 says, where it is certain, that a filter is not there."""
    classes = (
        worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway_class("istio", "istio.io/gateway-controller"),
    )
    named = "{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: away}}"
    spec = f"rules: [{{filters: [{named}], backendRefs: [{{name: checkout, port: 8080}}]}}]"
    for of_class, times in (("envoy", 0), ("istio", 1)):
        gateway = worlds.gateway(of_class=of_class)
        documents = (*classes, gateway, SERVICE, worlds.route(more=spec))
        (tmp_path / of_class).mkdir()
        (tmp_path / of_class / "all.yaml").write_text("---\n".join(documents), encoding="utf-8")
        found = open_workspace([str(tmp_path / of_class)]).findings()
        assert [each.severity for each in found if each.rule == "GWP416"] == ["error"] * times


MATCH = "{path: {value: /a}}"
IN_A_TREE = {
    "two equal matches of one rule": f"{{matches: [{MATCH}, {MATCH}]}}",
    "two equal rules": f"{{matches: [{MATCH}]}}, {{matches: [{MATCH}]}}",
    "a rule after an expression": "{matches: [{path: {type: RegularExpression, value: '/.*'}}]}, "
    "{matches: [{path: {type: RegularExpression, value: '/.*'}}]}",
}


@pytest.mark.parametrize("case", IN_A_TREE)
def test_matches_of_one_route_tie_wherever_it_lands(tmp_path: Path, case: str) -> None:
    """A plain file without a namespace may be applied to any: two routes of one name may be one, and two matches of
    one route are in a tie in each."""
    head = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
    parents = "parentRefs: [{name: edge, namespace: infra}]"
    body = f"metadata: {{name: one}}\nspec: {{{parents}, rules: [{IN_A_TREE[case]}]}}\n"
    (tmp_path / "edge.yaml").write_text("---\n".join((worlds.gateway_class(), worlds.gateway())))
    (tmp_path / "one.yaml").write_text(head + body)
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    assert simulation.world.partial
    (found,) = run(simulation, select={"GWP408"})
    assert "can never win" in found.message


CLASS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: CONTROLLER}
"""


@pytest.mark.parametrize(
    ("controller", "severity", "confidence"),
    [
        ("gateway.envoyproxy.io/gatewayclass-controller", "error", "certain"),
        ("projectcontour.io/gateway-controller", "error", "certain"),
        ("example.com/own-controller", "warning", "assumed"),
        ("", "error", "certain"),  # the class was not seen
    ],
)
@pytest.mark.parametrize("rule", ["GWP403", "GWP405", "GWP405 of a certificate"])
def test_controllers_that_nobody_knows_may_ask_less(
    tmp_path: Path, controller: str, severity: str, confidence: str, rule: str
) -> None:
    named = GATEWAY.partition("gatewayClassName: ")[2].split()[0]
    parent = "name: edge, namespace: infra" + (", sectionName: admin" if rule == "GWP403" else "")
    backend = "port: 8080" if rule == "GWP403" else "namespace: bank, port: 8080"
    gateway = GATEWAY
    if rule.endswith("certificate"):
        tls = "tls: {certificateRefs: [{name: web, namespace: bank}]}"
        gateway, backend = f"{GATEWAY}    - {{name: tls, port: 443, protocol: HTTPS, {tls}}}\n", "port: 8080"
    services = SERVICE + "---\n" + SERVICE.replace("namespace: shop", "namespace: bank")
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: bank}\ntype: kubernetes.io/tls\n"
    of_class = CLASS.replace("name: class", f"name: {named}").replace("CONTROLLER", controller) if controller else ""
    found = lint(tmp_path, gateway, of_class, route(parent=parent, backend=backend), services, secret)
    said = only(found, rule.partition(" ")[0])
    assert (said.severity, said.confidence) == (severity, confidence)


BY_HEADER = "matches: [{path: {value: /pay}, headers: [{name: a, value: b}]}]"


@pytest.mark.parametrize("grpc", [False, True])
@pytest.mark.parametrize(("created", "loses"), [((OLD, YOUNG), True), ((YOUNG, OLD), False)])
def test_a_route_that_may_not_be_attached_loses_to_one_that_is(
    created: tuple[str, str], loses: bool, grpc: bool
) -> None:
    """Whether it is attached or not, it gets none of the requests that the older route of another namespace takes."""
    kind, match = ("GRPCRoute", "matches: [{method: {service: a.B}}]") if grpc else ("HTTPRoute", SAME)
    spec = f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], rules: [{rule(match)}]}}"
    certain, doubtful = (
        worlds.manifest("gateway.networking.k8s.io/v1", kind, name, home, spec, at)
        for name, home, at in (("certain", "infra", created[0]), ("doubtful", "shop", created[1]))
    )
    edge = worlds.gateway(listeners=f"[{{name: http, port: 80, protocol: HTTP, {BY_LABEL}}}]")
    simulation = worlds.simulated(
        worlds.gateway_class(controller="example.net/unknown"),
        *(edge, certain, doubtful, worlds.labelled("infra", "{edge: 'yes'}")),
        *(worlds.service(), worlds.service(namespace="infra")),
    )
    found = [finding.message for finding in run(simulation, select={"GWP408"})]
    assert [("shop/doubtful" in message.split(" against ")[0]) for message in found] == [True] * loses
    assert disagreements(simulation) == []


@pytest.mark.parametrize(
    ("controller", "unmade"),
    [
        ("gateway.envoyproxy.io/gatewayclass-controller", "sessionPersistence: {idleTimeout: 1h}"),
        (
            "traefik.io/gateway-controller",
            "filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: gone}}]",
        ),
        ("networking.gke.io/gateway", "timeouts: {request: 1s}"),
    ],
)
@pytest.mark.parametrize("made", [True, False])
def test_a_rule_of_which_nothing_is_made_takes_nothing_from_others(controller: str, unmade: str, made: bool) -> None:
    first = worlds.route("first", more=f"rules: [{rule(SAME if made else f'{SAME}, {unmade}')}]")
    second = worlds.route("second", more=f"rules: [{rule(SAME)}]")
    simulation = worlds.simulated(
        worlds.gateway_class(controller=controller), worlds.gateway(), first, second, worlds.service()
    )
    assert len(list(run(simulation, select={"GWP408"}))) == made
    assert disagreements(simulation) == []


@pytest.mark.parametrize(("rules", "loser"), [((5, 1), "young"), ((1, 2), "old")])
def test_a_tie_for_what_a_listener_leaves_is_settled_as_the_proxy_ranks(rules: tuple[int, int], loser: str) -> None:
    """Of routers for one host Traefik adds the number of rules of a route that are left to their priority
    (pkg/provider/kubernetes/gateway/httproute.go, loadHTTPRoute, v3.7.13)."""
    more = [rule(SAME), *(rule(f"matches: [{{path: {{value: /{name}}}}}]") for name in "abcd")]
    old, young = (
        worlds.manifest(
            "gateway.networking.k8s.io/v1",
            "HTTPRoute",
            name,
            "shop",
            f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], hostnames: ['{host}'], "
            f"rules: [{', '.join(more[:number])}]}}",
            at,
        )
        for name, host, number, at in (
            ("old", "*.example.com", rules[0], OLD),
            ("young", "shop.example.com", rules[1], YOUNG),
        )
    )
    edge = worlds.gateway(
        listeners="[{name: http, port: 80, protocol: HTTP, hostname: shop.example.com, "
        "allowedRoutes: {namespaces: {from: All}}}]"
    )
    simulation = worlds.simulated(
        worlds.gateway_class(controller="traefik.io/gateway-controller"), edge, old, young, worlds.service()
    )
    told = [finding.message for finding in run(simulation, select={"GWP408"})]
    assert [f"shop/{loser}" in message.split(" against ")[0] for message in told] == [True]
    assert disagreements(simulation) == []


def test_a_route_at_a_listener_set_that_its_gateway_does_not_take(tmp_path: Path) -> None:
    """GWP403: the set is to be allowed, whatever its listeners' `allowedRoutes` say."""
    parents = "[{group: gateway.networking.k8s.io, kind: ListenerSet, name: more}]"
    of_set = worlds.listener_set("more", "shop", "[{name: http, port: 81, protocol: HTTP}]")
    led = worlds.route(parents=parents, more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
    found = [each for each in lint(tmp_path, worlds.gateway(), of_set, led) if each.rule == "GWP403"]
    assert len(found) == 2
    (of_route,) = [each for each in found if each.message.startswith("HTTPRoute")]
    assert of_route.label == "its Gateway does not allow the ListenerSet"
    assert "`allowedListeners`" in of_route.help[0]
