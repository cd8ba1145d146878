"""Which policies reach which proxies, and what the other tests of Istio share.

Source: docs/design/implementations/istio.md §0.
"""

from __future__ import annotations

import pytest

from policylint.model import Unseen
from policylint.policy.results import Effective
from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import manifest, reference, simulated, state

NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s}}}"


def policy(kind: str, name: str, spec: str = "", namespace: str = "foo", created: str = "", more: str = "") -> str:
    """A policy of one of Istio's kinds; spec in flow style."""
    group = {
        "AuthorizationPolicy": "security.istio.io/v1",
        "EnvoyFilter": "networking.istio.io/v1alpha3",
        "PeerAuthentication": "security.istio.io/v1",
        "ProxyConfig": "networking.istio.io/v1beta1",
        "RequestAuthentication": "security.istio.io/v1",
        "Telemetry": "telemetry.istio.io/v1",
        "TrafficExtension": "extensions.istio.io/v1alpha1",
        "WasmPlugin": "extensions.istio.io/v1alpha1",
    }[kind]
    return manifest(group, kind, name, namespace, f"spec: {{{spec}}}", created, more)


def deployment(name: str = "web", namespace: str = "foo", labels: str = "", annotations: str = "") -> str:
    pods = f"{{labels: {{app: {name}, {labels}}}, annotations: {{{annotations}}}}}"
    return manifest("apps/v1", "Deployment", name, namespace, f"spec: {{template: {{metadata: {pods}}}}}")


def gateway(name: str = "edge", namespace: str = "foo", cls: str = "istio", labels: str = "", more: str = "") -> str:
    listener = "{name: a, port: 80, protocol: HTTP}"
    if cls == "istio-waypoint":
        listener = "{name: mesh, port: 15008, protocol: HBONE}"
    return worlds.gateway(name, namespace, f"[{listener}]", more, cls, labels)


def service(name: str = "cart", namespace: str = "foo", labels: str = "") -> str:
    return worlds.service(name, namespace, more=f"selector: {{app: {name}}}", labels=labels)


def to(kind: str, name: str) -> str:
    """targetRefs with one entry."""
    kind = "ServiceEntry.networking.istio.io" if kind == "ServiceEntry" else kind
    return f"targetRefs: [{reference(f'{kind}/{name}')}]"


def select(app: str = "web") -> str:
    return f"selector: {{matchLabels: {{app: {app}}}}}"


def contexts(found: Simulation) -> dict[str, list[str]]:
    """Per context the policies that act there."""
    return {
        " > ".join(map(str, path)): [str(each) for each in group.effective.sources]
        for group in found.groups
        for path in group.contexts()
    }


def effective(found: Simulation, path: str) -> Effective:
    """What one context gets, of the only kind that reaches it."""
    (only,) = [
        group.effective for group in found.groups if path in [" > ".join(map(str, each)) for each in group.contexts()]
    ]
    return only


def lost(found: Effective) -> list[str]:
    """`/a/b of policy to policy`, sorted; with `gone` where nothing stands in its place."""
    return sorted(
        f"/{'/'.join(map(str, each.pointer))} of {each.policy.name} to {', '.join(key.name for key in each.by)}"
        + ("" if each.replaced else ", gone")
        for each in found.lost
    )


WIDE = policy("AuthorizationPolicy", "wide")

WORKLOADS = [
    ("apps/v1", "DaemonSet", "template: {metadata: {labels: {app: x}}}"),
    ("apps/v1", "Deployment", "template: {metadata: {labels: {app: x}}}"),
    ("apps/v1", "StatefulSet", "template: {metadata: {labels: {app: x}}}"),
    ("argoproj.io/v1alpha1", "Rollout", "template: {metadata: {labels: {app: x}}}"),
    ("batch/v1", "Job", "template: {metadata: {labels: {app: x}}}"),
    ("batch/v1", "CronJob", "jobTemplate: {spec: {template: {metadata: {labels: {app: x}}}}}"),
    ("networking.istio.io/v1", "WorkloadEntry", "labels: {app: x}"),
    ("networking.istio.io/v1", "WorkloadGroup", "metadata: {labels: {app: x}}, template: {}"),
]


@pytest.mark.parametrize(("version", "kind", "spec"), WORKLOADS)
def test_what_makes_pods_is_selected_by_their_labels(version: str, kind: str, spec: str) -> None:
    workload = f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: w, namespace: foo}}, spec: {{{spec}}}}}"
    found = simulated(workload, policy("AuthorizationPolicy", "one", select("x")))
    assert contexts(found) == {f"{kind} foo/w": ["AuthorizationPolicy foo/one"]}


def test_a_pod_is_a_workload_unless_something_else_made_it() -> None:
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: foo, labels: {app: x}%s}, spec: {}}"
    made = ", ownerReferences: [{kind: ReplicaSet, name: r}]"
    assert list(contexts(simulated(pod % ("a", ""), pod % ("b", made), WIDE))) == ["Pod foo/a"]


@pytest.mark.parametrize(
    ("namespace", "pod", "reached"),
    [
        ("", "", True),  # webhooks and revisions may put it into the mesh: nothing speaks against it
        ("istio-injection: enabled", "", True),
        ("istio-injection: disabled", "", False),
        ("istio-injection: disabled", "sidecar.istio.io/inject: 'true'", False),  # no webhook is asked
        ("istio-injection: disabled", "istio.io/rev: canary", False),
        ("istio-injection: 'false'", "", False),
        ("istio-injection: enabled", "sidecar.istio.io/inject: 'false'", False),
        ("istio.io/rev: canary", "", True),
        ("istio.io/dataplane-mode: ambient", "sidecar.istio.io/inject: 'false'", True),  # by ztunnel
        ("istio.io/dataplane-mode: ambient, istio-injection: disabled", "istio.io/dataplane-mode: none", False),
    ],
)
def test_labels_keep_a_workload_out_of_the_mesh(namespace: str, pod: str, reached: bool) -> None:
    found = simulated(NAMESPACE % ("foo", namespace), deployment(labels=pod), WIDE)
    assert bool(contexts(found)) is reached


def test_without_target_a_policy_covers_its_namespace_and_in_the_root_namespace_the_mesh() -> None:
    mesh = policy("AuthorizationPolicy", "mesh", namespace="istio-system")
    found = simulated(deployment("a"), deployment("b", "bar"), WIDE, mesh)
    assert contexts(found) == {
        "Deployment foo/a": ["AuthorizationPolicy foo/wide", "AuthorizationPolicy istio-system/mesh"],
        "Deployment bar/b": ["AuthorizationPolicy istio-system/mesh"],
    }
    assert str(state(found, "mesh").targets[0]) == "Namespace istio-system"


@pytest.mark.parametrize(
    ("kind", "reached"),
    [
        ("AuthorizationPolicy", ["Deployment bar/web", "Deployment istio-system/web"]),
        ("RequestAuthentication", ["Deployment bar/web", "Deployment istio-system/web"]),
        ("WasmPlugin", ["Deployment bar/web", "Deployment istio-system/web"]),
        ("Telemetry", ["Deployment istio-system/web"]),  # §4
        ("ProxyConfig", ["Deployment istio-system/web"]),  # §7
        ("PeerAuthentication", []),  # §3: ignored
    ],
)
def test_a_selector_in_the_root_namespace(kind: str, reached: list[str]) -> None:
    settings = {
        "RequestAuthentication": "jwtRules: [{issuer: a}]",
        "WasmPlugin": "url: oci://x",
        "Telemetry": "tracing: [{randomSamplingPercentage: 1}]",
        "ProxyConfig": "concurrency: 1",
        "PeerAuthentication": "mtls: {mode: STRICT}",
    }
    spec = f"{select()}, {settings.get(kind, 'rules: [{}]')}"
    found = simulated(
        deployment(namespace="istio-system"), deployment(namespace="bar"), policy(kind, "p", spec, "istio-system")
    )
    assert sorted(contexts(found)) == reached
    assert state(found, "p").verdict == ("Enforced" if reached else "NoEffect")


def test_a_selector_without_workload_is_missing_only_where_workloads_are_seen() -> None:
    one = policy("AuthorizationPolicy", "one", select("nobody"))
    assert state(simulated(deployment(), one), "one").verdict == "TargetNotFound"
    assert state(simulated(one), "one").verdict == "Unknown"
    chart = Unseen()
    chart.add("a chart is not rendered", "foo")
    assert state(simulated(deployment(), one, unseen=chart), "one").targets[0].resolution.unknown


def test_workloads_of_other_namespaces_say_nothing_of_one_that_shows_none() -> None:
    one = policy("AuthorizationPolicy", "one", select("nobody"))
    elsewhere = deployment(namespace="bar")
    assert state(simulated(elsewhere, one), "one").verdict == "Unknown"
    out = deployment("batch", labels="sidecar.istio.io/inject: 'false'")
    assert state(simulated(elsewhere, out, one), "one").verdict == "TargetNotFound"
    namesake = deployment("nobody", namespace="bar")  # then the namespace is the mistake
    assert state(simulated(namesake, one), "one").verdict == "TargetNotFound"


def test_the_root_namespace_may_have_an_ingress_gateway_that_istioctl_installs() -> None:
    one = policy("AuthorizationPolicy", "one", "selector: {matchLabels: {istio: ingressgateway}}", "istio-system")
    assert state(simulated(deployment(), one), "one").verdict == "Unknown"
    of_root = deployment("istiod", namespace="istio-system")
    assert state(simulated(deployment(), of_root, one), "one").verdict == "TargetNotFound"


def test_targets_are_never_for_sidecars() -> None:
    found = simulated(deployment("cart"), service(), policy("AuthorizationPolicy", "one", to("Service", "cart")))
    assert contexts(found) == {}
    assert state(found, "one").verdict == "NoEffect"  # the Service is there, no waypoint is


def test_an_ingress_gateway_takes_wide_policies_selectors_and_targets() -> None:
    label = "selector: {matchLabels: {gateway.networking.k8s.io/gateway-name: edge}}"
    policies = [
        policy("AuthorizationPolicy", "by-label", label),
        policy("AuthorizationPolicy", "by-name", to("Gateway", "edge")),
        policy("AuthorizationPolicy", "elsewhere", to("Gateway", "edge"), namespace="bar"),
    ]
    found = simulated(gateway(), WIDE, *policies)
    names = ["by-label", "by-name", "wide"]
    assert contexts(found) == {"Gateway foo/edge": [f"AuthorizationPolicy foo/{each}" for each in names]}
    assert state(found, "elsewhere").verdict == "TargetNotFound"


def test_pods_of_a_gateway_bear_the_labels_of_its_infrastructure_or_its_own() -> None:
    one = policy("AuthorizationPolicy", "one", "selector: {matchLabels: {tier: front}}")
    assert contexts(simulated(gateway(labels="tier: front"), one))
    given = "infrastructure: {labels: {tier: back}}"
    assert not contexts(simulated(gateway(labels="tier: front", more=given), one))


def test_a_gateway_that_points_to_a_deployment_of_its_own_has_no_other() -> None:
    found = simulated(gateway(more="addresses: [{type: Hostname, value: ingress.foo.svc}]"), deployment(), WIDE)
    assert list(contexts(found)) == ["Deployment foo/web"]
    assert "Gateway foo/edge" in contexts(simulated(gateway(more="addresses: [{value: 10.0.0.1}]"), WIDE))


def test_a_deployment_with_the_label_of_a_gateway_is_its_proxy() -> None:
    own = deployment("mine", labels="gateway.networking.k8s.io/gateway-name: edge")
    unmanaged = gateway(more="addresses: [{type: Hostname, value: mine.foo.svc}]")
    found = simulated(own, unmanaged, policy("AuthorizationPolicy", "named", to("Gateway", "edge")))
    assert contexts(found) == {"Deployment foo/mine": ["AuthorizationPolicy foo/named"]}


def test_gateways_of_other_controllers_are_no_proxies() -> None:
    cls = """{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: other},
        spec: {controllerName: example.com/gateway}}"""
    named = policy("AuthorizationPolicy", "named", to("Gateway", "edge"))
    assert contexts(simulated(cls, gateway(cls="other"), WIDE, named)) == {}
    # Whose class it is nobody says: whoever names the Gateway knows, a policy for the namespace may not mean it.
    assert contexts(simulated(gateway(cls="other"), WIDE, named)) == {
        "Gateway foo/edge": ["AuthorizationPolicy foo/named"]
    }


WAYPOINT = gateway("wp", cls="istio-waypoint")
USES = NAMESPACE % ("foo", "istio.io/use-waypoint: wp")


@pytest.mark.parametrize(
    ("namespace", "service_labels", "waypoint", "bound"),
    [
        ("istio.io/use-waypoint: wp", "", "", True),
        ("", "istio.io/use-waypoint: wp", "", True),
        ("", "", "", False),
        ("istio.io/use-waypoint: wp", "istio.io/use-waypoint: none", "", False),
        ("istio.io/use-waypoint: none", "", "", False),
        ("istio.io/use-waypoint: other", "", "", False),
        ("istio.io/use-waypoint: wp", "", "istio.io/waypoint-for: workload", False),
        ("istio.io/use-waypoint: wp", "", "istio.io/waypoint-for: all", True),
        ("istio.io/use-waypoint: wp", "gateway.istio.io/managed: istio.io-mesh-controller", "", False),
        ("istio.io/use-waypoint: wp", "gateway.istio.io/managed: istio.io-eastwest-controller", "", False),
    ],
)
def test_labels_bind_a_service_to_a_waypoint(namespace: str, service_labels: str, waypoint: str, bound: bool) -> None:
    found = simulated(
        NAMESPACE % ("foo", namespace),
        service(labels=service_labels),
        gateway("wp", cls="istio-waypoint", labels=waypoint),
        policy("AuthorizationPolicy", "one", to("Service", "cart")),
    )
    assert (list(contexts(found)) == ["Gateway foo/wp > Service foo/cart"]) is bound


@pytest.mark.parametrize(
    ("of_class", "own", "bound"),
    [("workload", "", False), ("all", "", True), ("workload", "service", True), ("service", "none", False)],
)
def test_a_waypoint_is_for_what_its_class_says_unless_it_says_something_else(
    of_class: str, own: str, bound: bool
) -> None:
    """gatewayToWaypointTransform: the label of the Gateway comes before that of the GatewayClass."""
    cls = f"""
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: istio-waypoint, labels: {{istio.io/waypoint-for: {of_class}}}}}
spec: {{controllerName: istio.io/mesh-controller}}
"""
    waypoint = gateway("wp", cls="istio-waypoint", labels=f"istio.io/waypoint-for: {own}" if own else "")
    found = simulated(USES, cls, waypoint, service(), policy("AuthorizationPolicy", "one", to("Service", "cart")))
    assert bool(contexts(found)) is bound


@pytest.mark.parametrize(("allowed", "bound"), [("All", True), ("Same", False)])
def test_a_waypoint_lets_other_namespaces_in_by_its_listener(allowed: str, bound: bool) -> None:
    shared = gateway("wp", "infra", cls="istio-waypoint").replace(
        "protocol: HBONE", f"protocol: HBONE, allowedRoutes: {{namespaces: {{from: {allowed}}}}}"
    )
    uses = NAMESPACE % ("foo", "istio.io/use-waypoint: wp, istio.io/use-waypoint-namespace: infra")
    found = simulated(uses, shared, service(), policy("AuthorizationPolicy", "one", to("Service", "cart")))
    assert bool(contexts(found)) is bound


def test_a_waypoint_takes_only_policies_that_name_it_its_class_or_a_service() -> None:
    policies = [
        policy("AuthorizationPolicy", "gw", to("Gateway", "wp")),
        policy("AuthorizationPolicy", "svc", to("Service", "cart")),
        policy("AuthorizationPolicy", "cls", to("GatewayClass", "istio-waypoint"), namespace="istio-system"),
        policy("AuthorizationPolicy", "cls-elsewhere", to("GatewayClass", "istio-waypoint")),
    ]
    found = simulated(USES, WAYPOINT, service(), service("stock"), WIDE, *policies)
    both = ["AuthorizationPolicy foo/gw", "AuthorizationPolicy istio-system/cls"]
    assert contexts(found) == {
        "Gateway foo/wp > Service foo/cart": [both[0], "AuthorizationPolicy foo/svc", both[1]],
        "Gateway foo/wp > Service foo/stock": both,
    }
    affected = {str(node): [key.name for key in keys] for node, keys in found.acting.affected().items()}
    assert affected["Gateway foo/wp"] == ["gw", "cls"]
    assert affected["Service foo/cart"] == ["gw", "svc", "cls"]
    assert state(found, "wide").verdict == "NoEffect"


def test_a_service_entry_is_served_like_a_service() -> None:
    entry = "{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: ext, namespace: foo}, spec: {}}"
    found = simulated(USES, WAYPOINT, entry, policy("WasmPlugin", "one", f"url: oci://x, {to('ServiceEntry', 'ext')}"))
    assert contexts(found) == {"Gateway foo/wp > ServiceEntry foo/ext": ["WasmPlugin foo/one"]}


def test_wide_telemetry_reaches_waypoints_too() -> None:
    """§4: unlike the other kinds."""
    wide = policy("Telemetry", "wide", "tracing: [{randomSamplingPercentage: 1}]")
    assert list(contexts(simulated(USES, WAYPOINT, service(), wide))) == ["Gateway foo/wp > Service foo/cart"]


def test_envoy_filters_for_services_never_match() -> None:
    """§6: the matcher is built without services."""
    found = simulated(
        USES, WAYPOINT, service(), policy("EnvoyFilter", "one", f"{to('Service', 'cart')}, configPatches: []")
    )
    assert contexts(found) == {}
    assert state(found, "one").verdict == "NoEffect"


AMBIENT = NAMESPACE % ("foo", "istio.io/dataplane-mode: ambient")


def test_contexts_with_the_same_policies_share_one_result() -> None:
    found = simulated(*(deployment(f"d{number}") for number in range(50)), WIDE)
    assert len(found.groups) == 1
    assert len(list(found.groups[0].contexts())) == 50
