"""What `istioctl analyze` finds of Istio's policies, and what it misses.

Source: docs/design/implementations/istio-analyzers.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import Said, lint
from tests.implementations.test_istio import deployment, gateway, policy

WAYPOINT = gateway("wp", cls="istio-waypoint")
AMBIENT = """
apiVersion: v1
kind: Namespace
metadata: {name: foo, labels: {istio.io/dataplane-mode: ambient}}
"""
SELECTOR = "selector: {matchLabels: {app: %s}}"
JWT = "jwtRules: [{issuer: x}]"
ALLOW = "rules: [{}]"
SERVICE_TARGET = "targetRefs: [{group: '', kind: Service, name: web}]"
CLASS_TARGET = "targetRefs: [{group: gateway.networking.k8s.io, kind: GatewayClass, name: istio-waypoint}]"


def service(labels: str = "") -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: foo, labels: {{{labels}}}}}
spec: {{ports: [{{name: http, port: 80}}], selector: {{app: web}}}}
"""


def only(found: list[Said]) -> Said:
    (said,) = found
    return said


@pytest.mark.parametrize("kind", ["AuthorizationPolicy", "RequestAuthentication", "Telemetry", "WasmPlugin"])
def test_a_missing_target_is_not_silent(tmp_path: Path, kind: str) -> None:
    """No analyzer looks at targetRefs; of all kinds but AuthorizationPolicy istiod says nothing either."""
    spec = {"AuthorizationPolicy": ALLOW, "RequestAuthentication": JWT, "Telemetry": "tracing: []"}.get(kind, "url: u")
    target = "targetRefs: [{group: '', kind: Service, name: websrv}]"
    found = lint(tmp_path, deployment(), service(), policy(kind, "p", f"{target}, {spec}"))
    said = only([each for each in found if each.rule == "GWP101"])
    assert (said.severity, said.message) == ("error", f"{kind} foo/p points at missing Service foo/websrv")
    assert said.pointed_at.startswith("websrv")


def test_a_gateway_in_another_namespace(tmp_path: Path) -> None:
    """istio/istio#43027, #49148: silently without effect."""
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    found = lint(tmp_path, gateway("edge", "infra"), policy("RequestAuthentication", "p", f"{target}, {JWT}"))
    said = only(found)
    assert (said.rule, said.confidence) == ("GWP101", "certain")
    assert said.help == ("fix: Gateway infra/edge exists: move the policy to namespace infra",)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("PeerAuthentication", "mtls: {mode: STRICT}", "mtls: {mode: PERMISSIVE}"),
        ("Telemetry", "tracing: [{randomSamplingPercentage: 1}]", "tracing: [{randomSamplingPercentage: 2}]"),
        (
            "RequestAuthentication",
            "jwtRules: [{issuer: x, jwksUri: 'https://a'}]",
            "jwtRules: [{issuer: x, jwksUri: 'https://b'}]",
        ),
    ],
)
@pytest.mark.parametrize(
    ("scope", "namespace", "node"),
    [
        ("", "foo", "Namespace foo"),
        ("", "istio-system", "Namespace istio-system"),
        (f"{SELECTOR % 'web'}, ", "foo", "Deployment foo/web"),
    ],
)
def test_duplicates_at_one_scope(
    tmp_path: Path, kind: str, one: str, other: str, scope: str, namespace: str, node: str
) -> None:
    policies = (policy(kind, "a", scope + one, namespace), policy(kind, "b", scope + other, namespace))
    said = only([each for each in lint(tmp_path, deployment(), *policies) if each.rule == "GWP206"])
    assert (said.severity, said.confidence) == ("warning", "certain")
    assert said.message.startswith(f"{node} gets {kind} ")
    assert said.help[-1] == "fix: merge the two policies into one"


def test_a_duplicate_whose_age_is_stated_is_overridden(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        deployment(),
        policy("PeerAuthentication", "a", "mtls: {mode: PERMISSIVE}", created="2026-01-02T00:00:00Z"),
        policy("PeerAuthentication", "b", "mtls: {mode: STRICT}", created="2026-01-01T00:00:00Z"),
    )
    said = only([each for each in found if each.rule in ("GWP202", "GWP203")])
    assert said.message.startswith("PeerAuthentication foo/a ")
    assert not [each for each in found if each.rule == "GWP206"]


def test_rules_for_different_issuers_are_no_duplicates(tmp_path: Path) -> None:
    policies = (
        policy("RequestAuthentication", "a", "jwtRules: [{issuer: x}]"),
        policy("RequestAuthentication", "b", "jwtRules: [{issuer: y}]"),
    )
    assert "GWP206" not in [said.rule for said in lint(tmp_path, deployment(), *policies)]


def test_a_selector_is_held_to_pod_templates(tmp_path: Path) -> None:
    """IST0127, without Pods."""
    said = only(lint(tmp_path, deployment(), policy("AuthorizationPolicy", "p", f"{SELECTOR % 'wbe'}, {ALLOW}")))
    assert (said.rule, said.severity, said.confidence) == ("GWP105", "warning", "certain")
    assert said.message == "AuthorizationPolicy foo/p selects no workload"
    assert said.label == "no workload in namespace foo has these labels"
    assert said.related == ("the closest match, Deployment foo/web, lacks app=wbe (is app=web)",)
    assert said.pointed_at.startswith("wbe")


@pytest.mark.parametrize("kind", ["AuthorizationPolicy", "RequestAuthentication", "PeerAuthentication", "Telemetry"])
@pytest.mark.parametrize(
    ("label", "around", "told"),
    [
        ("service.istio.io/canonical-name: web", "", False),
        ("service.istio.io/canonical-name: wbe", "", True),
        ("service.istio.io/canonical-revision: latest", "", False),
        ("service.istio.io/canonical-revision: v2", "", True),
        ("security.istio.io/tlsMode: istio", "", False),
        ("security.istio.io/tlsMode: disabled", "", True),
        ("service.istio.io/canonical-name: web", AMBIENT, True),
    ],
)
def test_a_selector_may_ask_for_what_the_injector_adds(
    tmp_path: Path, kind: str, label: str, around: str, told: bool
) -> None:
    """PacktPublishing/Bootstrap-Service-Mesh-Implementations-with-Istio, chapter 11."""
    spec = {"PeerAuthentication": "mtls: {mode: STRICT}", "RequestAuthentication": JWT, "Telemetry": "tracing: []"}
    selecting = f"selector: {{matchLabels: {{{label}}}}}, {spec.get(kind, ALLOW)}"
    found = lint(tmp_path, deployment(), *filter(None, [around]), policy(kind, "p", selecting))
    assert ("GWP105" in {said.rule for said in found}) is told


def test_a_selector_in_the_wrong_namespace(tmp_path: Path) -> None:
    spec = f"{SELECTOR % 'api'}, {ALLOW}"
    said = only(lint(tmp_path, deployment(), deployment("api", "bar"), policy("AuthorizationPolicy", "p", spec)))
    assert said.rule == "GWP105"
    assert said.related == ("Deployment bar/api has these labels, but is in another namespace",)
    assert said.help == ("fix: move the policy to namespace bar",)


def test_a_selector_of_a_waypoint(tmp_path: Path) -> None:
    """IST0166."""
    spec = "selector: {matchLabels: {gateway.networking.k8s.io/gateway-name: wp}}"
    world = (deployment(), service("istio.io/use-waypoint: wp"), WAYPOINT)
    said = only(lint(tmp_path, *world, policy("AuthorizationPolicy", "p", f"{spec}, {ALLOW}")))
    assert said.rule == "GWP105"
    assert said.label == "only a waypoint has these labels, and waypoints take no selectors: name it in targetRefs"


@pytest.mark.parametrize(
    ("label", "namespace", "confidence", "why"),
    [
        ("", "", "unknown", "no label names a waypoint"),
        ("", "{apiVersion: v1, kind: Namespace, metadata: {name: foo}}\n", "certain", "no label names a waypoint"),
        ("istio.io/use-waypoint: other", "", "certain", "there is no waypoint foo/other"),
    ],
)
def test_a_service_that_no_waypoint_serves(
    tmp_path: Path, label: str, namespace: str, confidence: str, why: str
) -> None:
    target = policy("AuthorizationPolicy", "p", f"{SERVICE_TARGET}, {ALLOW}")
    world = [*([namespace] if namespace else []), deployment(), service(label), WAYPOINT]
    said = only(lint(tmp_path, *world, target))
    assert (said.rule, said.confidence) == ("GWP106", confidence)
    assert said.label == f"only a waypoint acts on it, and Service foo/web is bound to none: {why}"
    assert said.pointed_at.startswith("web")


@pytest.mark.parametrize(
    ("cls", "more", "confidence"),
    [
        ("kgateway-waypoint", "", "unknown"),
        ("own-waypoint", worlds.gateway_class("own-waypoint", "example.com/mesh"), "unknown"),
        ("istio", "", "certain"),  # a gateway of Istio's asks no policies on Services
        ("own", worlds.gateway_class("own", "istio.io/gateway-controller"), "certain"),
    ],
)
@pytest.mark.parametrize("kind", ["AuthorizationPolicy", "RequestAuthentication", "WasmPlugin"])
def test_a_waypoint_of_another_controller(tmp_path: Path, cls: str, more: str, confidence: str, kind: str) -> None:
    """Ztunnels send to whatever Gateway is named; what it makes of policies is up to its controller."""
    spec = {"AuthorizationPolicy": ALLOW, "RequestAuthentication": JWT, "WasmPlugin": "url: oci://example.com/a"}
    target = policy(kind, "p", f"{SERVICE_TARGET}, {spec[kind]}")
    world = [deployment(), service("istio.io/use-waypoint: wp"), gateway("wp", cls=cls), *([more] if more else [])]
    said = only(lint(tmp_path, *world, target))
    assert (said.rule, said.confidence) == ("GWP106", confidence)
    assert ("is a waypoint of another controller" in (said.label or "")) == (confidence == "unknown")


def test_a_service_behind_a_waypoint_is_fine(tmp_path: Path) -> None:
    world = (deployment(), service("istio.io/use-waypoint: wp"), WAYPOINT)
    assert not lint(tmp_path, *world, policy("AuthorizationPolicy", "p", f"{SERVICE_TARGET}, {ALLOW}"))


@pytest.mark.parametrize(
    ("kind", "namespace", "spec", "why"),
    [
        (
            "AuthorizationPolicy",
            "foo",
            f"{CLASS_TARGET}, {ALLOW}",
            "policies on a GatewayClass count in the root namespace istio-system only",
        ),
        (
            "AuthorizationPolicy",
            "istio-system",
            f"{CLASS_TARGET.replace('istio-waypoint', 'istio')}, {ALLOW}",
            "policies on a GatewayClass count for istio-waypoint only, whatever else its controller serves",
        ),
        (
            "PeerAuthentication",
            "istio-system",
            f"{SELECTOR % 'web'}, mtls: {{mode: STRICT}}",
            "a PeerAuthentication with a selector is ignored in the root namespace",
        ),
        (
            "EnvoyFilter",
            "foo",
            f"{SERVICE_TARGET}, configPatches: []",
            "EnvoyFilters are looked up for Gateways only, never for what is behind a waypoint",
        ),
    ],
)
def test_accepted_and_ignored(tmp_path: Path, kind: str, namespace: str, spec: str, why: str) -> None:
    world = (deployment(), service("istio.io/use-waypoint: wp"), WAYPOINT)
    said = only(lint(tmp_path, *world, policy(kind, "p", spec, namespace)))
    assert (said.rule, said.severity, said.confidence, said.label) == ("GWP106", "warning", "certain", why)
    assert said.help[0].startswith("fix: ")


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("PeerAuthentication", "mtls: {mode: STRICT}"),
        ("AuthorizationPolicy", "action: ALLOW, rules: [{from: [{source: {namespaces: [edge]}}]}]"),
        ("AuthorizationPolicy", "action: DENY, rules: [{to: [{operation: {ports: ['9090']}}]}]"),
    ],
)
def test_ztunnels_enforce_it_where_the_workloads_come_from_elsewhere(tmp_path: Path, kind: str, spec: str) -> None:
    assert lint(tmp_path, WAYPOINT, policy(kind, "p", spec)) == []


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("RequestAuthentication", JWT),
        ("AuthorizationPolicy", "action: ALLOW, rules: [{to: [{operation: {methods: [GET]}}]}]"),
        ("AuthorizationPolicy", "action: CUSTOM, provider: {name: authz}, rules: [{}]"),
    ],
)
def test_a_namespace_of_waypoints(tmp_path: Path, kind: str, spec: str) -> None:
    said = only(lint(tmp_path, WAYPOINT, policy(kind, "p", spec)))
    assert said.rule == "GWP106"
    assert said.label == "waypoints take only policies that name them or what is behind them"


@pytest.mark.parametrize(
    ("kind", "spec", "why"),
    [
        ("RequestAuthentication", JWT, "does not act on RequestAuthentication"),
        ("RequestAuthentication", f"{SELECTOR % 'web'}, {JWT}", "does not act on RequestAuthentication"),
        ("PeerAuthentication", "mtls: {mode: DISABLE}", "DISABLE is read as PERMISSIVE"),
        (
            "AuthorizationPolicy",
            "action: DENY, rules: [{to: [{operation: {methods: [GET]}}]}]",
            "enforces nothing of it",
        ),
    ],
)
def test_what_ztunnel_does_not_do(tmp_path: Path, kind: str, spec: str, why: str) -> None:
    """IST0167 knows this of Sidecars only."""
    said = only(lint(tmp_path, AMBIENT, deployment(), policy(kind, "p", spec)))
    assert said.rule == "GWP106"
    assert said.label.startswith("in ambient mode ")
    assert why in said.label


def test_disable_lifts_a_strict_of_the_mesh(tmp_path: Path) -> None:
    """ambient/authorization.go, convertedSelectorPeerAuthentications: it is no longer effectively strict."""
    strict = policy("PeerAuthentication", "mesh", "mtls: {mode: STRICT}", namespace="istio-system")
    open_again = policy("PeerAuthentication", "p", "mtls: {mode: DISABLE}")
    assert [said.rule for said in lint(tmp_path, AMBIENT, deployment(), strict, open_again)] == ["GWP203", "GWP215"]


def test_a_namespace_whose_workloads_were_not_seen_is_no_finding(tmp_path: Path) -> None:
    assert not lint(tmp_path, deployment("api", "bar"), policy("AuthorizationPolicy", "p", ALLOW))


# --- what policies say: docs/design/implementations/istio-analyzers.md §1 and §2 ---

ALL = "rules: [{}]"
SOME = "rules: [{to: [{operation: {paths: [/a], ports: ['80']}}]}]"


def authorization(name: str, spec: str, namespace: str = "foo") -> str:
    return policy("AuthorizationPolicy", name, spec, namespace)


@pytest.mark.parametrize(
    ("policies", "wanted"),
    [
        ((("some", SOME), ("all", ALL)), "AuthorizationPolicy foo/some has no effect: foo/all lets every request in"),
        (
            (("some", SOME), ("none", f"action: DENY, {ALL}")),
            "AuthorizationPolicy foo/some has no effect: foo/none denies every request",
        ),
        ((("some", SOME), ("other", f"{SELECTOR % 'other'}, {ALL}")), ""),  # not the same workload
        ((("one", ALL), ("two", ALL)), ""),  # the same thing twice
        ((("fence", "action: ALLOW"), ("all", ALL)), ""),  # allows nothing: for what is to come
        ((("some", f"action: DENY, {SOME}"), ("all", ALL)), ""),  # DENY is evaluated first
        ((("some", SOME), ("audit", f"action: AUDIT, {ALL}")), ""),  # only marks
        ((("some", SOME), ("all", "rules: [{when: [{key: source.ip, values: [10.0.0.1]}]}]")), ""),
    ],
)
def test_authorization_that_decides_nothing(tmp_path: Path, policies: tuple[tuple[str, str], ...], wanted: str) -> None:
    found = lint(tmp_path, deployment(), *(authorization(*each) for each in policies))
    assert [each.message for each in found if each.rule == "GWP210"] == ([wanted] if wanted else [])


OUTSIDE = "{from: [{source: {notNamespaces: [inside]}}]}"


@pytest.mark.parametrize(
    ("rules", "is_said"),
    [
        (f"{OUTSIDE}, {{to: [{{operation: {{paths: [/a]}}}}]}}", True),
        (f"{{to: [{{operation: {{paths: [/a]}}}}]}}, {OUTSIDE}", True),
        (f"{OUTSIDE[:-1]}, to: [{{operation: {{paths: [/a]}}}}]}}", False),
        ("{from: [{source: {namespaces: [bad]}}]}, {to: [{operation: {paths: [/a]}}]}", False),  # two denials
        (f"{OUTSIDE}, {{to: [{{operation: {{paths: [/a]}}}}]}}, {{to: [{{operation: {{paths: [/b]}}}}]}}", False),
    ],
)
def test_a_denial_for_all_but_some_and_one_of_requests(tmp_path: Path, rules: str, is_said: bool) -> None:
    """istio/istio#39297: two items are two rules, and either of them denies."""
    found = lint(tmp_path, deployment(), authorization("deny", f"action: DENY, rules: [{rules}]"))
    said = [(each.rule, each.severity) for each in found if each.rule == "GWP210"]
    assert said == ([("GWP210", "warning")] if is_said else [])


def test_a_policy_that_decides_somewhere_is_left_alone(tmp_path: Path) -> None:
    """Two workloads in the namespace, one of them open to all."""
    open_to_all = authorization("all", f"{SELECTOR % 'web'}, {ALL}")
    found = lint(tmp_path, deployment(), deployment("db"), authorization("some", SOME), open_to_all)
    assert [each for each in found if each.rule == "GWP210"] == []


@pytest.mark.parametrize(("other", "refused"), [("p2", True), ("p1", False)])
def test_two_authorizers_for_one_workload(tmp_path: Path, other: str, refused: bool) -> None:
    """authz/builder/builder.go: with two providers everything is denied."""
    policies = [
        authorization(name, f"action: CUSTOM, provider: {{name: {each}}}, {ALL}")
        for name, each in (("a", "p1"), ("b", other))
    ]
    found = [each for each in lint(tmp_path, deployment(), *policies) if each.rule == "GWP211"]
    assert [(each.severity, each.message) for each in found] == [
        ("error", "every request to Deployment foo/web is denied: foo/a and foo/b name two authorization providers")
    ] * refused


@pytest.mark.parametrize(
    ("one", "other", "unstated"),
    [
        ("phase: AUTHN", "phase: AUTHN", True),
        ("phase: AUTHN", "phase: AUTHZ", False),
        ("phase: AUTHN, priority: 1", "phase: AUTHN, priority: 2", False),
        ("", "priority: 0", False),  # an unset priority is the lowest there is
        ("", "", True),
    ],
)
def test_the_order_of_extensions(tmp_path: Path, one: str, other: str, unstated: bool) -> None:
    plugins = [policy("WasmPlugin", name, f"url: u, {spec}") for name, spec in (("a", one), ("b", other))]
    found = [each for each in lint(tmp_path, deployment(), *plugins) if each.rule == "GWP212"]
    assert [each.severity for each in found] == ["note"] * unstated


def envoy_filter(patch: str, priority: str = "", match: str = "") -> str:
    applies, _, operation = patch.partition(" ")
    entry = f"{{applyTo: {applies}, match: {{{match}}}, patch: {{operation: {operation}, value: {{name: x}}}}}}"
    return policy("EnvoyFilter", "f", f"{priority}configPatches: [{entry}]")


VERSIONED = "proxy: {proxyVersion: '^1.2'}"


@pytest.mark.parametrize(
    ("patch", "priority", "match", "wanted"),
    [
        ("CLUSTER REPLACE", "", "", [("GWP520", "error")]),  # IST0152
        ("VIRTUAL_HOST REPLACE", "priority: 1, ", "", []),  # istio/istio#59495
        ("HTTP_ROUTE ADD", "", "", [("GWP520", "error")]),  # IST0153
        ("ROUTE_CONFIGURATION REMOVE", "", "", [("GWP520", "error")]),  # IST0154
        ("HTTP_FILTER ADD", "", VERSIONED, []),
        ("HTTP_FILTER INSERT_FIRST", "", VERSIONED, []),
        ("HTTP_FILTER INSERT_BEFORE", "", "", [("GWP521", "note")]),  # IST0151
        ("NETWORK_FILTER REMOVE", "", "", [("GWP521", "note")]),
        ("HTTP_FILTER INSERT_AFTER", "", VERSIONED, [("GWP521", "warning")]),  # IST0155
        ("HTTP_FILTER INSERT_AFTER", "priority: 10, ", VERSIONED, []),
        ("HTTP_FILTER INSERT_AFTER", "priority: 0, ", VERSIONED, [("GWP521", "warning")]),
        ("${KIND} ADD", "", "", []),
    ],
)
def test_patches_of_envoy_filters(
    tmp_path: Path, patch: str, priority: str, match: str, wanted: list[tuple[str, str]]
) -> None:
    found = lint(tmp_path, deployment(), envoy_filter(patch, priority, match))
    assert [(each.rule, each.severity) for each in found if each.rule in ("GWP520", "GWP521")] == wanted


ENTRY = "{{applyTo: {}, match: {{{}}}, patch: {{operation: {}, value: {{name: x}}}}}}"


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        (("HTTP_FILTER", "", "INSERT_AFTER"), "note"),
        (("HTTP_FILTER", "context: GATEWAY", "INSERT_AFTER"), "note"),
        (("NETWORK_FILTER", "", "INSERT_AFTER"), "warning"),
        (("HTTP_FILTER", "", "INSERT_BEFORE"), "warning"),
        (("HTTP_FILTER", VERSIONED, "INSERT_AFTER"), "warning"),
    ],
)
def test_an_upgrade_takes_nothing_away_that_is_for_all_proxies_as_well(
    tmp_path: Path, other: tuple[str, str, str], severity: str
) -> None:
    entries = (ENTRY.format("HTTP_FILTER", VERSIONED, "INSERT_AFTER"), ENTRY.format(*other))
    found = lint(tmp_path, deployment(), policy("EnvoyFilter", "f", f"configPatches: [{', '.join(entries)}]"))
    assert [each.severity for each in found if each.rule == "GWP521"] == [severity]


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("stats-filter-1.12", False),
        ("metadata-exchange-1.7-1-8-5", False),
        ("tcp-stats-filter-1.13-canary", False),
        ("stats-filter", True),
        ("our-stats-filter-1.12", True),
    ],
)
def test_what_the_installation_brings_is_its_own(tmp_path: Path, name: str, is_told: bool) -> None:
    entry = ENTRY.format("HTTP_FILTER", VERSIONED, "INSERT_AFTER")
    found = lint(tmp_path, deployment(), policy("EnvoyFilter", f"'{name}'", f"configPatches: [{entry}]"))
    assert ("GWP521" in {each.rule for each in found}) is is_told


LOGS = "accessLogging: [{%s}]"


@pytest.mark.parametrize(
    ("telemetries", "ignored"),
    [
        ((("a", "foo", LOGS % "disabled: false"),), True),
        ((("a", "foo", LOGS % "disabled: true"),), False),
        ((("a", "foo", LOGS % "providers: [{name: envoy}]"),), False),
        ((("a", "foo", "accessLogging: [{providers: [{name: envoy}]}, {disabled: false}]"),), False),
        ((("a", "foo", LOGS % ""), ("m", "istio-system", LOGS % "providers: [{name: envoy}]")), False),  # inherited
        ((("a", "foo", LOGS % ""), ("m", "bar", LOGS % "providers: [{name: envoy}]")), True),
        ((("a", "foo", "tracing: [{randomSamplingPercentage: 1}]"),), False),
    ],
)
def test_access_logs_for_nobody(tmp_path: Path, telemetries: tuple[tuple[str, str, str], ...], ignored: bool) -> None:
    """IST0157, which takes no notice of what is inherited."""
    found = lint(tmp_path, deployment(), *(policy("Telemetry", name, spec, at) for name, at, spec in telemetries))
    said = [(each.severity, each.confidence) for each in found if each.rule == "GWP522"]
    assert said == [("warning", "assumed")] * ignored


@pytest.mark.parametrize(
    ("spec", "severity"),
    [
        ("action: DENY, rules: [{to: [{operation: {methods: [GET]}}]}]", "warning"),
        (f"{SELECTOR % 'web'}, action: DENY, rules: [{{to: [{{operation: {{paths: [/a]}}}}]}}]", "note"),
        ("action: DENY, rules: [{when: [{key: 'request.headers[x]', values: [b]}]}]", "warning"),
        ("action: DENY, rules: [{to: [{operation: {methods: [GET], ports: ['80']}}]}]", ""),
        ("action: DENY, rules: [{from: [{source: {namespaces: [x]}}], to: [{operation: {methods: [GET]}}]}]", ""),
        ("action: DENY, rules: [{from: [{source: {remoteIpBlocks: [10.0.0.0/8]}}]}]", ""),
        ("action: DENY, rules: [{}]", ""),
        ("action: ALLOW, rules: [{to: [{operation: {methods: [GET]}}]}]", ""),
    ],
)
def test_a_deny_by_http_reaches_connections(tmp_path: Path, spec: str, severity: str) -> None:
    """Part of IST0133: what a connection does not have is left out of the rule."""
    found = lint(tmp_path, deployment(), authorization("p", spec))
    assert [each.severity for each in found if each.rule == "GWP523"] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("listeners", "said"),
    [
        ("[{name: a, port: 80, protocol: HTTP}, {name: b, port: 443, protocol: HTTPS}]", 0),
        ("[{name: a, port: 80, protocol: HTTP}, {name: b, port: 5432, protocol: TCP}]", 1),
        ("[{name: a, port: 80, protocol: HTTP}, {name: b, port: 443, protocol: TLS}]", 1),
    ],
)
def test_a_gateway_that_takes_requests_alone(tmp_path: Path, listeners: str, said: int) -> None:
    edge = worlds.gateway("edge", "foo", listeners, of_class="istio")
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    deny = authorization("p", f"{target}, action: DENY, rules: [{{to: [{{operation: {{paths: [/a]}}}}]}}]")
    assert len([each for each in lint(tmp_path, edge, deny) if each.rule == "GWP523"]) == said


def test_ztunnel_drops_such_a_rule(tmp_path: Path) -> None:
    """In ambient mode it is the other way round: the rule does nothing, which GWP106 says."""
    found = lint(
        tmp_path,
        AMBIENT,
        deployment(),
        authorization("p", "action: DENY, rules: [{to: [{operation: {methods: [GET]}}]}]"),
    )
    assert [each.rule for each in found] == ["GWP106"]


def sidecar(name: str, selected: str = "", namespace: str = "foo") -> str:
    selector = f"workloadSelector: {{labels: {{{selected}}}}}, " if selected else ""
    return f"""
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{{selector}egress: [{{hosts: ['./*']}}]}}
"""


@pytest.mark.parametrize(
    ("sidecars", "scope"),
    [
        ((sidecar("a"), sidecar("b")), "namespace foo"),
        ((sidecar("a", "app: web"), sidecar("b", "app: web")), "Deployment foo/web"),
        ((sidecar("a"), sidecar("b", "app: web")), ""),
        ((sidecar("a"), sidecar("b", namespace="bar")), ""),
        ((sidecar("a", "app: web"), sidecar("b", "app: api")), ""),
        ((sidecar("a", "app: gone"), sidecar("b", "app: gone")), ""),
    ],
    ids=["namespace", "workload", "narrower", "other-namespace", "other-workload", "unseen"],
)
def test_two_sidecars(tmp_path: Path, sidecars: tuple[str, ...], scope: str) -> None:
    """IST0110, IST0111."""
    found = [each for each in lint(tmp_path, deployment(), deployment("api"), *sidecars) if each.rule == "GWP213"]
    assert [each.message for each in found] == (
        [f"{scope} has two Sidecars, foo/a and foo/b, and which of them applies is undefined"] if scope else []
    )


GATEWAY_TARGET = "{group: gateway.networking.k8s.io, kind: Gateway, name: way}"
WAYPOINTED = "istio.io/dataplane-mode: ambient, istio.io/use-waypoint: way"


@pytest.mark.parametrize(
    ("labels", "targets", "of_class", "said"),
    [
        (WAYPOINTED, "Service/web", "istio", ["GWP308"]),
        (f"{WAYPOINTED}, istio.io/ingress-use-waypoint: 'True'", "Service/web", "istio", []),
        (WAYPOINTED, "Service/web Gateway/edge", "istio", []),
        (WAYPOINTED, "Gateway/way", "istio", ["GWP308"]),
        (
            WAYPOINTED,
            "Service/web",
            "envoy",
            ["GWP308"],
        ),  # it sends to pods, captured or not: no address of the waypoint
        ("istio.io/dataplane-mode: ambient", "Service/web", "istio", []),  # no waypoint, which GWP106 says
    ],
)
def test_an_ingress_gateway_goes_past_a_waypoint(
    tmp_path: Path, labels: str, targets: str, of_class: str, said: list[str]
) -> None:
    entries = ", ".join(map(worlds.reference, targets.split()))
    found = lint(
        tmp_path,
        worlds.labelled("shop", f"{{{labels}}}"),
        worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway("way", "shop", "[{name: mesh, port: 15008, protocol: HBONE}]", of_class="istio-waypoint"),
        worlds.gateway("edge", "shop", of_class=of_class),
        worlds.route("web", "shop", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        worlds.service("web", "shop"),
        worlds.manifest(
            "security.istio.io/v1", "AuthorizationPolicy", "p", "shop", f"spec: {{targetRefs: [{entries}]}}"
        ),
    )
    assert [each.rule for each in found if each.rule == "GWP308"] == said


@pytest.mark.parametrize(
    ("around", "targets", "said"),
    [
        ("", GATEWAY_TARGET, ["20 % of the connections"]),
        ("", f"{GATEWAY_TARGET}, {{group: '', kind: Service, name: web}}", []),
        ("", f"{GATEWAY_TARGET}, {GATEWAY_TARGET.replace('way', 'new')}", []),
        ("annotations: {istio.io/use-waypoint-canary-weight: '0'}", GATEWAY_TARGET, []),
        ("annotations: {istio.io/use-waypoint-canary-weight: many}", GATEWAY_TARGET, []),
        ("annotations: {}", GATEWAY_TARGET, []),
    ],
)
def test_a_second_waypoint_takes_a_share(tmp_path: Path, around: str, targets: str, said: list[str]) -> None:
    """istio/istio#60801 (1.31): use-waypoint-canary and its weight, of a Service or its Namespace."""
    named = f"labels: {{{WAYPOINTED}, istio.io/use-waypoint-canary: new}}"
    weight = around or "annotations: {istio.io/use-waypoint-canary-weight: '20'}"
    listeners = "[{name: mesh, port: 15008, protocol: HBONE}]"
    found = lint(
        tmp_path,
        worlds.manifest("v1", "Namespace", "shop", more=f"{named}, {weight}"),
        worlds.gateway("way", "shop", listeners, of_class="istio-waypoint"),
        worlds.gateway("new", "shop", listeners, of_class="istio-waypoint"),
        service().replace("namespace: foo", "namespace: shop"),
        policy("AuthorizationPolicy", "p", f"targetRefs: [{targets}]", "shop"),
    )
    assert [each.message.partition(" to ")[0] for each in found if each.rule == "GWP308"] == said


CALLER = "rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/checkout]}}]}]"
CALLER_OF = "rules: [{{from: [{{source: {{{}}}}}]}}]"
ITSELF = "rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/way]}}]}]"


@pytest.mark.parametrize(
    ("labels", "policies", "said"),
    [
        (WAYPOINTED, {"p": CALLER}, ["GWP313"]),
        (WAYPOINTED, {"p": CALLER.replace("principals: [cluster.local/ns/", "ipBlocks: [10.0.0.0/8, ")}, []),
        (WAYPOINTED, {"p": CALLER_OF.format("ipBlocks: [10.244.1.46/32]")}, ["GWP313"]),
        (WAYPOINTED, {"p": CALLER_OF.format("ipBlocks: [198.51.0.0/16]")}, ["GWP313"]),  # no pod has such an address
        (WAYPOINTED, {"p": CALLER_OF.format("ipBlocks: [10.0.0.0/8]")}, []),  # the waypoint's, perhaps
        (WAYPOINTED, {"p": CALLER_OF.format("ipBlocks: [10.244.1.46/32]") + ", action: DENY"}, []),
        ("istio.io/dataplane-mode: ambient", {"p": CALLER_OF.format("ipBlocks: [10.244.1.46/32]")}, []),
        (WAYPOINTED, {"p": CALLER.replace("principals", "notPrincipals")}, []),
        (WAYPOINTED, {"p": "rules: [{from: [{source: {namespaces: [front]}}]}]"}, ["GWP313"]),
        (WAYPOINTED, {"p": "rules: [{from: [{source: {namespaces: [shop]}}]}]"}, []),
        (WAYPOINTED, {"p": CALLER, "q": ITSELF}, []),
        (WAYPOINTED, {"p": "rules: []"}, []),  # nothing gets in, by whichever way
        ("istio.io/dataplane-mode: ambient", {"p": CALLER}, []),
    ],
)
def test_callers_behind_a_waypoint(tmp_path: Path, labels: str, policies: dict[str, str], said: list[str]) -> None:
    found = lint(
        tmp_path,
        worlds.labelled("shop", f"{{{labels}}}"),
        worlds.gateway("way", "shop", "[{name: mesh, port: 15008, protocol: HBONE}]", of_class="istio-waypoint"),
        service().replace("namespace: foo", "namespace: shop"),
        deployment("web", "shop"),
        *(
            worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", name, "shop", f"spec: {{{spec}}}")
            for name, spec in policies.items()
        ),
    )
    assert [each.rule for each in found if each.rule == "GWP313"] == said


INJECTED = "istio-injection: enabled"
CHECKED = "jwtRules: [{issuer: https://id.example.com, jwksUri: https://id.example.com/keys}]"


TO_WEB = "backendRef: {name: web, port: 80}"


def behind_an_ingress_gateway(
    tmp_path: Path, labels: str, spec: str, checked: str, rule: str = "backendRefs: [{name: web, port: 80}]"
) -> list[str]:
    """What GWP313 says of pods with an AuthorizationPolicy, where tokens are checked as `checked` says."""
    found = lint(
        tmp_path,
        worlds.labelled("shop", f"{{{labels}}}"),
        worlds.gateway("edge", "infra", of_class="istio"),
        worlds.route("web", "shop", more=f"rules: [{{{rule}}}]"),
        service().replace("namespace: foo", "namespace: shop"),
        deployment("web", "shop"),
        worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "p", "shop", f"spec: {{{spec}}}"),
        checked,
    )
    return [each.rule for each in found if each.rule == "GWP313"]


@pytest.mark.parametrize(
    ("labels", "spec", "said"),
    [
        (INJECTED, "rules: [{from: [{source: {namespaces: [shop]}}]}]", ["GWP313"]),
        (INJECTED, "rules: [{from: [{source: {namespaces: [infra]}}]}]", []),
        (INJECTED, "rules: [{from: [{source: {principals: [cluster.local/ns/infra/sa/edge-istio]}}]}]", []),
        (INJECTED, "rules: [{from: [{source: {requestPrincipals: ['*']}}]}]", ["GWP313"]),
        (INJECTED, "rules: [{to: [{operation: {paths: [/a]}}]}]", []),
        (INJECTED, "rules: [{from: [{source: {namespaces: [shop]}}]}, {to: [{operation: {paths: [/a]}}]}]", []),
        ("", "rules: [{from: [{source: {namespaces: [shop]}}]}]", []),  # perhaps nobody enforces it
    ],
)
def test_pods_behind_an_ingress_gateway(tmp_path: Path, labels: str, spec: str, said: list[str]) -> None:
    gateway = f"targetRefs: [{worlds.reference('Gateway/edge')}]"
    checked = worlds.manifest(
        *("security.istio.io/v1", "RequestAuthentication", "jwt", "infra"), f"spec: {{{gateway}, {CHECKED}}}"
    )
    assert behind_an_ingress_gateway(tmp_path, labels, spec, checked) == said


CAPTURED = "istio.io/dataplane-mode: ambient"


@pytest.mark.parametrize(
    ("labels", "mode", "tls", "told"),
    [
        (INJECTED, "STRICT", "tls: {mode: DISABLE}", True),
        (INJECTED, "STRICT", "tls: {mode: SIMPLE}", True),
        (INJECTED, "STRICT", "portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]", True),
        (INJECTED, "STRICT", "tls: {mode: ISTIO_MUTUAL}", False),
        (INJECTED, "STRICT", "portLevelSettings: [{port: {number: 81}, tls: {mode: DISABLE}}]", False),
        (INJECTED, "PERMISSIVE", "tls: {mode: DISABLE}", False),
        (CAPTURED, "STRICT", "tls: {mode: DISABLE}", False),  # the tunnel of HBONE shows a certificate
    ],
)
def test_a_destination_rule_that_takes_the_certificate_from_its_gateway(
    tmp_path: Path, labels: str, mode: str, tls: str, told: bool
) -> None:
    plain = worlds.manifest(
        "networking.istio.io/v1",
        "DestinationRule",
        "plain",
        "shop",
        f"spec: {{host: web.shop.svc.cluster.local, trafficPolicy: {{{tls}}}}}",
    )
    strict = worlds.manifest(
        "security.istio.io/v1", "PeerAuthentication", "strict", "shop", f"spec: {{mtls: {{mode: {mode}}}}}"
    )
    found = lint(
        tmp_path,
        worlds.labelled("shop", f"{{{labels}}}"),
        worlds.gateway("edge", "infra", of_class="istio"),
        worlds.route("web", "shop", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        service().replace("namespace: foo", "namespace: shop"),
        deployment("web", "shop"),
        plain,
        strict,
    )
    said = [each for each in found if each.rule == "GWP313"]
    assert bool(said) == told
    assert all(each.message.endswith("because of DestinationRule shop/plain") for each in said)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (f"filters: [{{type: RequestMirror, requestMirror: {{{TO_WEB}}}}}]", []),
        (f"filters: [{{type: ExternalAuth, externalAuth: {{protocol: HTTP, {TO_WEB}}}}}]", ["GWP313"]),
    ],
)
def test_nobody_waits_for_the_answer_to_a_copy(tmp_path: Path, rule: str, said: list[str]) -> None:
    spec = "rules: [{from: [{source: {namespaces: [shop]}}]}]"
    assert behind_an_ingress_gateway(tmp_path, INJECTED, spec, "", rule) == said


def test_a_token_that_pods_check_themselves_is_one(tmp_path: Path) -> None:
    spec = "rules: [{from: [{source: {requestPrincipals: ['*']}}]}]"
    checked = worlds.manifest("security.istio.io/v1", "RequestAuthentication", "jwt", "shop", f"spec: {{{CHECKED}}}")
    assert behind_an_ingress_gateway(tmp_path, INJECTED, spec, checked) == []


@pytest.mark.parametrize(
    ("listeners", "of_class", "source", "said"),
    [
        ("[{name: http, port: 80, protocol: HTTP}]", "istio", "principals: ['*']", ["GWP315"]),
        ("[{name: http, port: 80, protocol: HTTP}]", "istio", "notPrincipals: ['*']", []),
        ("[{name: http, port: 80, protocol: HTTP}]", "istio", "ipBlocks: [10.0.0.0/8]", []),
        ("[{name: mesh, port: 15008, protocol: HBONE}]", "istio-waypoint", "principals: ['*']", []),
        (
            "[{name: a, port: 443, protocol: HTTPS, tls: {options: {gateway.istio.io/tls-terminate-mode: MUTUAL}}}]",
            "istio",
            "principals: ['*']",
            [],
        ),
    ],
)
def test_identities_at_a_gateway(tmp_path: Path, listeners: str, of_class: str, source: str, said: list[str]) -> None:
    found = lint(
        tmp_path,
        worlds.gateway("edge", "shop", listeners, of_class=of_class),
        worlds.route("web", "shop", "[{name: edge}]"),
        worlds.manifest(
            "security.istio.io/v1",
            "AuthorizationPolicy",
            "p",
            "shop",
            f"spec: {{targetRefs: [{worlds.reference('Gateway/edge')}],"
            f" rules: [{{from: [{{source: {{{source}}}}}]}}]}}",
        ),
    )
    assert [each.rule for each in found if each.rule == "GWP315"] == said


MESH = """
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data:
  mesh: |
    extensionProviders:
    - {name: opa, envoyExtAuthzGrpc: {service: opa, port: 1}}
    - {name: zipkin, zipkin: {}}
"""


@pytest.mark.parametrize(
    ("mesh", "provider", "label"),
    [
        (MESH, "opa", ""),
        (MESH, "zipkin", 'there is "opa"'),
        (MESH.replace("extensionProviders", "others"), "opa", "there is none"),
        (MESH.replace("name: istio,", "name: other,"), "gone", ""),
    ],
    ids=["there", "no authorizer", "none", "not seen"],
)
def test_authorizers_of_the_mesh(tmp_path: Path, mesh: str, provider: str, label: str) -> None:
    custom = policy("AuthorizationPolicy", "p", f"action: CUSTOM, provider: {{name: {provider}}}, rules: [{{}}]")
    found = [said for said in lint(tmp_path, mesh, deployment(), custom) if said.rule == "GWP216"]
    assert [said.label.rpartition("; ")[2] for said in found] == ([label] if label else [])


WAY = """
apiVersion: v1
kind: Namespace
metadata: {name: foo, labels: {istio.io/dataplane-mode: ambient%s}}
"""
BATCH = "principals: [cluster.local/ns/batch/sa/job]"


@pytest.mark.parametrize(
    ("label", "action", "source", "said"),
    [
        (", istio.io/use-waypoint: wp", "DENY", BATCH, ["GWP315"]),
        (", istio.io/use-waypoint: wp", "DENY", "namespaces: [batch]", ["GWP315"]),
        (", istio.io/use-waypoint: wp", "DENY", "serviceAccounts: [batch/job]", ["GWP315"]),
        (", istio.io/use-waypoint: wp", "DENY", "principals: [cluster.local/ns/foo/sa/wp]", []),
        (", istio.io/use-waypoint: wp", "DENY", "namespaces: [foo]", []),
        (", istio.io/use-waypoint: wp", "DENY", "principals: ['*']", []),
        (", istio.io/use-waypoint: wp", "DENY", "ipBlocks: [10.0.0.0/8]", []),
        ("", "DENY", BATCH, []),
        (", istio.io/use-waypoint: other", "DENY", BATCH, []),
    ],
)
def test_a_denial_by_clients_behind_a_waypoint(
    tmp_path: Path, label: str, action: str, source: str, said: list[str]
) -> None:
    """The waypoint sends as itself; istio.io, «Use Layer 4 security policy»."""
    rule = f"selector: {{matchLabels: {{app: web}}}}, action: {action}, rules: [{{from: [{{source: {{{source}}}}}]}}]"
    found = lint(tmp_path, WAY % label, WAYPOINT, service(), deployment(), policy("AuthorizationPolicy", "p", rule))
    assert [each.rule for each in found if each.rule == "GWP315"] == said


def transport(mode: str, namespace: str = "foo") -> str:
    return policy("PeerAuthentication", "transport", f"mtls: {{mode: {mode}}}", namespace)


@pytest.mark.parametrize(
    ("action", "source", "beside", "expected"),
    [
        ("DENY", "namespaces: [dev]", (), ["assumed"]),
        ("DENY", "principals: ['*/ns/dev/*']", (transport("PERMISSIVE"),), ["certain"]),
        ("DENY", "serviceAccounts: [dev/batch]", (transport("DISABLE"),), ["certain"]),
        ("DENY", "namespaces: [dev]", (transport("STRICT"),), []),
        ("DENY", "namespaces: [dev]", (transport("STRICT", "istio-system"),), []),
        ("DENY", "notNamespaces: [foo]", (), []),
        ("DENY", "notPrincipals: ['*/ns/foo/*']", (), []),
        ("DENY", "ipBlocks: [10.0.0.0/8]", (), []),
        ("ALLOW", "namespaces: [dev]", (), []),
        ("DENY", "namespaces: [dev]", (policy("AuthorizationPolicy", "callers", "rules: [{}]", "foo"),), []),
    ],
)
def test_a_deny_by_identity_does_not_hold_for_plain_text(
    tmp_path: Path, action: str, source: str, beside: tuple[str, ...], expected: list[str]
) -> None:
    """istio/istio#34355: what has no certificate of the mesh has no identity that a DENY could name."""
    spec = f"action: {action}, rules: [{{from: [{{source: {{{source}}}}}]}}]"
    injected = worlds.manifest("v1", "Namespace", "foo", "", "", more="labels: {istio-injection: enabled}")
    found = lint(tmp_path, injected, deployment(), policy("AuthorizationPolicy", "deny", spec, "foo"), *beside)
    assert [each.confidence for each in found if each.rule == "GWP315"] == expected


@pytest.mark.parametrize(
    ("key", "values", "told"),
    [
        ("source.namespace", "values: [dev]", True),
        ("source.principal", "values: ['*/ns/dev/*']", True),
        ("source.serviceAccount", "values: [dev/batch]", True),
        ("source.namespace", "notValues: [foo]", False),
        ("source.ip", "values: [10.0.0.0/8]", False),
    ],
)
def test_a_condition_asks_who_a_client_is_as_a_source_does(tmp_path: Path, key: str, values: str, told: bool) -> None:
    """istio.io, «Authorization Policy Conditions»: these are of mutual TLS, as the fields of `from` are."""
    spec = f"action: DENY, rules: [{{when: [{{key: {key}, {values}}}]}}]"
    injected = worlds.manifest("v1", "Namespace", "foo", "", "", more="labels: {istio-injection: enabled}")
    found = lint(tmp_path, injected, deployment(), policy("AuthorizationPolicy", "deny", spec, "foo"))
    message = f"AuthorizationPolicy foo/deny denies by {key}, and so not clients that send plain text"
    assert [each.message for each in found if each.rule == "GWP315"] == ([message] if told else [])


BY_CLIENT = "{from: [{source: {principals: [cluster.local/ns/foo/sa/cart]}}]}"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (f"{BY_CLIENT}, {{}}", ["every request"]),
        (f"{BY_CLIENT}, {{to: [{{operation: {{hosts: [web.foo]}}}}]}}", ["whoever calls web.foo"]),
        (f"{BY_CLIENT}, {{to: [{{operation: {{hosts: ['*.foo.svc.cluster.local:*']}}}}]}}", ["whoever calls"]),
        (f"{BY_CLIENT}, {{to: [{{operation: {{hosts: [other.foo]}}}}]}}", []),
        (f"{BY_CLIENT}, {{to: [{{operation: {{hosts: [web.foo], paths: [/healthz]}}}}]}}", []),
        (f"{BY_CLIENT}, {{to: [{{operation: {{methods: [GET]}}}}]}}", []),
        ("{when: [{key: source.principal, values: ['*/ns/front/*']}]}, {}", ["every request"]),
        ("{when: [{key: 'request.auth.claims[group]', values: [admin]}]}, {}", ["every request"]),
        ("{when: [{key: 'request.headers[x-a]', values: [b]}]}, {}", []),
        ("{from: [{source: {namespaces: [foo]}}], to: [{operation: {hosts: [web.foo]}}]}", []),
        ("{to: [{operation: {hosts: [web.foo]}}]}", []),
    ],
)
def test_a_rule_that_lets_in_whoever_calls_makes_one_about_clients_idle(
    tmp_path: Path, rules: str, said: list[str]
) -> None:
    """istio/istio#24665: `from` and `to` as two items are two rules."""
    injected = worlds.manifest("v1", "Namespace", "foo", "", "", more="labels: {istio-injection: enabled}")
    documents = (injected, deployment(), service(), policy("AuthorizationPolicy", "rules", f"rules: [{rules}]", "foo"))
    found = [each.message for each in lint(tmp_path, *documents) if each.rule == "GWP210"]
    assert len(found) == len(said)
    assert all(words in message for words, message in zip(said, found, strict=True))


@pytest.mark.parametrize(
    ("server", "rule", "told"),
    [
        ("{number: 443, protocol: TLS}, tls: {mode: PASSTHROUGH}", "hosts: [a.example.com]", "hosts"),
        ("{number: 443, protocol: HTTPS}, tls: {mode: PASSTHROUGH}", "paths: [/admin]", "paths"),
        ("{number: 5432, protocol: TCP}", "methods: [POST], hosts: [a.example.com]", "hosts and methods"),
        ("{number: 5432, protocol: TCP}", "hosts: [a.example.com], ports: ['80']", ""),
        ("{number: 5432, protocol: TCP}", "ports: ['5432']", ""),
        ("{number: 443, protocol: HTTPS}, tls: {mode: SIMPLE}", "hosts: [a.example.com]", ""),
    ],
)
def test_a_denial_of_some_addresses_loses_its_hosts_on_connections(
    tmp_path: Path, server: str, rule: str, told: str
) -> None:
    """istio/istio#29119: a DENY for one host also cut off what another one's TLS passes through."""
    gateway = worlds.manifest(
        "networking.istio.io/v1", "Gateway", "edge", "foo",
        f"spec: {{selector: {{app: web}}, servers: [{{hosts: ['*'], port: {server}}}]}}",
    )  # fmt: skip
    spec = (
        f"action: DENY, rules: [{{from: [{{source: {{notIpBlocks: [10.0.0.0/8]}}}}], to: [{{operation: {{{rule}}}}}]}}]"
    )
    injected = worlds.manifest("v1", "Namespace", "foo", "", "", more="labels: {istio-injection: enabled}")
    found = lint(tmp_path, injected, deployment(), gateway, policy("AuthorizationPolicy", "deny", spec, "foo"))
    messages = [each.message for each in found if each.rule == "GWP523"]
    assert [message.rpartition(" whatever their ")[2] for message in messages] == ([told] if told else [])


SHOWN = """
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data:
  mesh: |
    extensionProviders:
      - {name: ext, envoyExtAuthzHttp: {service: a.b, port: 80, includeRequestHeadersInCheck: [x-user, X-Payload]}}
"""


@pytest.mark.parametrize(
    ("rule", "custom", "times"),
    [
        ("outputPayloadToHeader: x-payload", "provider: {name: ext}", 1),
        (
            "outputClaimToHeaders: [{header: x-user, claim: sub}, {header: x-other, claim: a}]",
            "provider: {name: ext}",
            1,
        ),
        ("outputPayloadToHeader: x-unread", "provider: {name: ext}", 0),
        ("outputPayloadToHeader: x-payload", "provider: {name: other}", 0),
        ("outputPayloadToHeader: x-payload", "provider: {name: ext}, selector: {matchLabels: {app: b}}", 0),
    ],
)
def test_an_authorizer_is_asked_before_tokens_are_checked(tmp_path: Path, rule: str, custom: str, times: int) -> None:
    """istio/istio#35941: the authorizer did not get the header that a RequestAuthentication puts the payload into."""
    checked = policy("RequestAuthentication", "jwt", f"jwtRules: [{{issuer: x, {rule}}}]")
    asked = authorization("ext", f"action: CUSTOM, rules: [{{}}], {custom}")
    found = [each.message for each in lint(tmp_path, deployment(), SHOWN, checked, asked) if each.rule == "GWP526"]
    assert len(found) == times


OWN_DOOR = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress, namespace: istio-system}
spec:
  selector: {matchLabels: {istio: ingressgateway}}
  template:
    metadata:
      labels: {istio: ingressgateway, sidecar.istio.io/inject: "true"}
      annotations: {inject.istio.io/templates: gateway}
    spec: {serviceAccountName: ingress, containers: [{name: istio-proxy, image: auto}]}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gateway, namespace: shop}
spec:
  selector: {istio: ingressgateway}
  servers: [{hosts: [a.example.com], port: {name: http, number: 80, protocol: HTTP}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [a.example.com], gateways: [gateway], http: [{route: [{destination: {host: web, port: {number: 80}}}]}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web, ports: [{containerPort: 8080}]}]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: office, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, action: ALLOW, rules: [{from: [{source: {%s}}]}]}
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ipBlocks: [203.0.113.0/24]", "does not see the addresses of clients that reach Service shop/web through"),
        ("principals: [cluster.local/ns/other/sa/x]", "rejects every request that reaches Service shop/web through"),
        ("ipBlocks: [10.0.0.0/8]", ""),
        ("principals: [cluster.local/ns/istio-system/sa/ingress]", ""),
    ],
)
def test_what_a_gateway_of_istios_own_sends_is_asked_at_the_pods(tmp_path: Path, source: str, said: str) -> None:
    """istio/istio#30895."""
    found = [each.message for each in lint(tmp_path, OWN_DOOR % source) if each.rule == "GWP313"]
    whole = f"AuthorizationPolicy shop/office {said} Deployment istio-system/ingress"
    assert found == ([whole] if said else [])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *(("stats-filter-1.12", False), ("tcp-stats-filter-1.5", False), ("metadata-exchange-1.4", False)),
        *(("tcp-metadata-exchange-1.11", False), ("stackdriver-filter-1.12", False)),
        *(("stats-filter-shop", True), ("stats", True), ("my-stats-filter-1.12", True)),
    ],
)
def test_what_istio_installs_per_version_is_its_own_affair(tmp_path: Path, name: str, said: bool) -> None:
    patch = envoy_filter("HTTP_FILTER INSERT_BEFORE", "", VERSIONED).replace("name: f,", f"name: {name},")
    assert f"name: {name}," in patch
    assert [each.rule for each in lint(tmp_path, deployment(), patch)] == ["GWP521"] * said
