"""GWP1xx beyond the examples of their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.report.kit.display import Paint
from policylint.report.simulate.text import tables
from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, WORLD, lint, only, policy, route, rules
from tests.implementations.test_istio import deployment
from tests.implementations.test_istio import policy as mesh_policy

BTP = "BackendTrafficPolicy"
CHECKOUT = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout"
BINDING = """
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b, namespace: shop}
placementRef: {name: dev, kind: Placement, apiGroup: cluster.open-cluster-management.io}
subjects: []
"""
TIMEOUT = "timeout: {http: {requestTimeout: 5s}}"


def test_each_target_is_judged_by_itself(tmp_path: Path) -> None:
    text = policy(
        BTP,
        "retries",
        "kind: HTTPRoute, name: chekout}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart",
        TIMEOUT,
    )
    found = lint(tmp_path, *WORLD, route("cart"), text)
    said = only(found, "GWP101")
    assert said.message == "BackendTrafficPolicy shop/retries points at missing HTTPRoute shop/chekout"
    assert said.label == 'no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)'
    assert said.help[-1] == (
        "note: its other target, HTTPRoute shop/cart, is fine, so the cluster would report Accepted"
    )
    assert said.pointed_at.startswith("chekout}")
    assert rules(found) == ["GWP101"]


def test_a_target_of_another_namespace_is_found_there(tmp_path: Path) -> None:
    said = only(lint(tmp_path, *WORLD, policy(BTP, "x", "kind: Gateway, name: edge", TIMEOUT)), "GWP101")
    assert said.label == 'no Gateway "edge" in namespace shop (there is one in infra)'
    assert said.help == ("fix: Gateway infra/edge exists: move the policy to namespace infra",)
    assert (said.severity, said.confidence) == ("error", "certain")


@pytest.mark.parametrize(
    ("present", "reference", "rule", "label"),
    [
        (
            ("gateway.networking.k8s.io/v1", "GRPCRoute", "checkout", "{}"),
            policy(BTP, "x", CHECKOUT, TIMEOUT),
            "GWP101",
            'no HTTPRoute "checkout" in namespace shop (GRPCRoute shop/checkout is there)',
        ),
        (
            ("gateway.networking.k8s.io/v1", "ListenerSet", "edge", "{}"),
            route("checkout", "name: edge, namespace: shop"),
            "GWP401",
            'no Gateway "edge" in namespace shop (ListenerSet shop/edge is there)',
        ),
        (
            ("apps.open-cluster-management.io/v1", "PlacementRule", "dev", "{}"),
            BINDING,
            "GWP701",
            'no Placement "dev" in namespace shop (PlacementRule shop/dev is there)',
        ),
    ],
)
def test_a_directory_with_an_object_of_a_sibling_kind_shows_what_was_meant(
    tmp_path: Path, present: tuple[str, str, str, str], reference: str, rule: str, label: str
) -> None:
    """Without it the tree would leave objects of that kind to another repository, and nothing would be said."""
    version, kind, name, spec = present
    twin = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec: {spec}\n"
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
    (tmp_path / "all.yaml").write_text("---\n".join([namespace, twin, SERVICE, reference]))
    said = next(each for each in open_workspace([str(tmp_path)]).findings() if each.rule == rule)
    assert (said.severity, said.label) == ("error", label)


def test_what_kustomize_renames_is_named_by_its_new_name(tmp_path: Path) -> None:
    """`namePrefix` renames routes, and no reference in policies."""
    kustomization = "resources: [all.yaml, gone.yaml]\nnamePrefix: dev-\nnamespace: shop\n"
    files = {"all.yaml": "---\n".join([route("checkout"), policy(BTP, "x", CHECKOUT, TIMEOUT)])}
    elsewhere = route("checkout").replace("namespace: shop", "namespace: away")
    files |= {"gone.yaml": SERVICE, "kustomization.yaml": kustomization, "away/route.yaml": elsewhere}
    files["away/kustomization.yaml"] = "resources: [route.yaml]\n"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    said = next(each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP101")
    assert said.label == (
        'no HTTPRoute "checkout" in namespace shop '
        '(kustomize renames it to "dev-checkout" and leaves this reference as it is)'
    )
    assert not said.help
    assert not said.fixes


NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
ANOTHER = "no file has anything like it, and another repository may"
APART = route("cart").replace("namespace: shop", "namespace: cart")


@pytest.mark.parametrize(
    ("others", "ground"),
    [
        pytest.param({"web.yaml": route("checkout")}, "", id="routes of the namespace are here"),
        pytest.param({"web.yaml": f"{APART}---\n{SERVICE}"}, ANOTHER, id="a Service alone"),
        pytest.param({"web.yaml": f"{APART}---\n{SERVICE}---\n{NAMESPACE}"}, "", id="the namespace and a Service"),
        pytest.param({"web.yaml": route("checkout"), "lib.cue": "a: 1"}, "CUE files", id="another language"),
        pytest.param(
            {"web.yaml": route("checkout"), "app.tf": 'resource "kubernetes_manifest" "web" {}'},
            "Terraform files",
            id="manifests in Terraform",
        ),
        pytest.param({"web.yaml": route("checkout"), "dns.tf": 'resource "a" "b" {}'}, "", id="Terraform without any"),
        pytest.param(
            {"web.yaml": route("checkout"), "old.yaml": "apiVersion: v1\na: ["}, "old.yaml", id="a file that is no YAML"
        ),
        pytest.param(
            {
                "web.yaml": route("checkout"),
                "kustomization.yaml": "resources: [gateway.yaml, web.yaml, stray.yaml, gone.yaml]",
            },
            "resource 'gone.yaml' does not exist",
            id="a file that is not there",
        ),
    ],
)
def test_nothing_near(tmp_path: Path, others: dict[str, str], ground: str) -> None:
    """What would be in this tree is missing for certain; else another repository may have it."""
    stray = policy(BTP, "x", "kind: HTTPRoute, name: zzz", TIMEOUT)
    said = only(lint(tmp_path, *WORLD, stray), "GWP101")
    assert (said.severity, said.confidence) == ("error", "certain"), "the one file is all there is"
    assert said.help == ()
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in {"gateway.yaml": GATEWAY, "stray.yaml": stray, **others}.items():
        (tree / name).write_text(text)
    (finding,) = (finding for finding in open_workspace([str(tree)]).findings() if finding.rule == "GWP101")
    assert (finding.severity, finding.confidence) == (("warning", "assumed") if ground else ("error", "certain"))
    assert ground in finding.ground


def test_a_variable_is_never_a_defect(tmp_path: Path) -> None:
    found = lint(tmp_path, *WORLD, policy(BTP, "x", "kind: HTTPRoute, name: '${NAME}'", TIMEOUT))
    said = only(found, "GWP101")
    assert (said.severity, said.confidence) == ("note", "unknown")
    assert rules(found) == []


@pytest.mark.parametrize(
    ("target", "pointed_at", "label", "fix"),
    [
        ("kind: Service, name: checkout", "Service,", "BackendTrafficPolicy cannot be attached to Service", None),
        (
            "kind: httproute, name: checkout",
            "httproute,",
            "kinds are written HTTPRoute, not httproute",
            "write `kind: HTTPRoute`",
        ),
    ],
)
def test_kinds(tmp_path: Path, target: str, pointed_at: str, label: str, fix: str | None) -> None:
    said = only(lint(tmp_path, *WORLD, policy(BTP, "x", target, TIMEOUT)), "GWP102")
    assert said.label == label
    assert said.pointed_at.startswith(pointed_at)
    if fix is not None:
        assert said.help[0] == f"fix: {fix}"


def test_a_missing_group_is_what_is_wrong(tmp_path: Path) -> None:
    text = policy(BTP, "x", "kind: HTTPRoute, name: checkout", TIMEOUT).replace(
        "group: gateway.networking.k8s.io, ", ""
    )
    said = only(lint(tmp_path, *WORLD, text), "GWP102")
    assert said.label == "the group is missing: HTTPRoute is of group gateway.networking.k8s.io"


@pytest.mark.parametrize(
    ("target", "label", "help_"),
    [
        (
            "kind: Gateway, name: edge, sectionName: htp",
            'no listener "htp" (did you mean "http"?)',
            'note: its listeners are "http" and "admin"',
        ),
        (
            "kind: HTTPRoute, name: checkout, sectionName: rule-2",
            "a rule without a name cannot be targeted",
            "fix: give rule 2 a `name`",
        ),
        (
            "kind: HTTPRoute, name: checkout, sectionName: checkout",
            '"checkout" is a backend, not a rule',
            'note: its rule is "all"',
        ),
    ],
)
def test_sections(tmp_path: Path, target: str, label: str, help_: str) -> None:
    namespace = "infra" if "Gateway" in target else "shop"
    said = only(lint(tmp_path, *WORLD, policy(BTP, "x", target, TIMEOUT, namespace=namespace)), "GWP103")
    assert said.label == label
    assert said.help[0] == help_


@pytest.mark.parametrize(
    ("section", "fix"),
    [
        ('"8080"', "fix: write `sectionName: http`"),
        ('"9090"', "fix: write `sectionName: admin`"),
        ('"80"', "fix: give port 80 a name"),
        ("8080", "fix: write `sectionName: http`"),
    ],
)
def test_a_port_is_named_not_numbered(tmp_path: Path, section: str, fix: str) -> None:
    alone = SERVICE.replace("{name: http, port: 8080}, {name: admin, port: 9090}", "{port: 80}")
    manifests = [alone if each == SERVICE and "80 " in fix else each for each in WORLD]
    text = f"""
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {{name: tls, namespace: shop}}
spec:
  targetRefs: [{{group: "", kind: Service, name: checkout, sectionName: {section}}}]
  validation: {{hostname: example.com, wellKnownCACertificates: System}}
"""
    said = only(lint(tmp_path, *manifests, text), "GWP103")
    assert said.help == (fix,)
    assert said.pointed_at.startswith(section)


def test_a_selector_says_which_label_differs(tmp_path: Path) -> None:
    selector = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: x, namespace: shop}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {app: web, tier: db}}]
"""
    labelled = route().replace("namespace: shop}", "namespace: shop, labels: {app: web, tier: front}}", 1)
    said = only(lint(tmp_path, GATEWAY, labelled, SERVICE, selector), "GWP105")
    assert said.related == ("the closest match, HTTPRoute shop/checkout, lacks tier=db (is tier=front)",)
    assert said.pointed_at.startswith("db")


def test_an_empty_selector_is_everything(tmp_path: Path) -> None:
    selector = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: x, namespace: shop}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]
  retry: {numRetries: 2}
"""
    assert rules(lint(tmp_path, *WORLD, selector)) == []


def test_a_policy_on_a_route_without_gateway_waits_for_the_route(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        GATEWAY,
        route(parent="name: egde"),
        SERVICE,
        policy(BTP, "x", "kind: HTTPRoute, name: checkout", TIMEOUT),
    )
    assert rules(found) == ["GWP106", "GWP401"]
    assert only(found, "GWP106").severity == "note"


def test_a_policy_that_names_nothing_is_not_also_without_effect(tmp_path: Path) -> None:
    assert rules(lint(tmp_path, *WORLD, policy(BTP, "x", "kind: HTTPRoute, name: chekout", TIMEOUT))) == ["GWP101"]


@pytest.mark.parametrize(
    ("spec", "message", "pointed_at"),
    [
        ("targetRefs: []", "has no target", "spec:"),
        ("retry: {numRetries: 1}", "has no target", "spec:"),
        (
            f"targetRef: {{{CHECKOUT}}}\n  targetRefs: [{{{CHECKOUT}}}]",
            "sets both `targetRef` and `targetRefs`",
            "targetRef",
        ),
    ],
)
def test_lists_of_targets(tmp_path: Path, spec: str, message: str, pointed_at: str) -> None:
    text = f"""
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {{name: x, namespace: shop}}
spec:
  {spec}
"""
    found = lint(tmp_path, *WORLD, text)
    said = only(found, "GWP107")
    assert said.message == f"BackendTrafficPolicy shop/x {message}, so it is refused"
    assert said.pointed_at.startswith(pointed_at)
    assert rules(found) == ["GWP107"]


@pytest.mark.parametrize(
    ("documents", "unknown"),
    [
        ((policy(BTP, "x", "kind: HTTPRoute, name: checkout", TIMEOUT),), "GWP101"),
        ((GATEWAY, policy(BTP, "x", "kind: Gateway, name: edge", TIMEOUT, namespace="infra")), "GWP106"),
        ((route(), SERVICE), "GWP401"),
        ((GATEWAY, route()), "GWP406"),
    ],
)
def test_what_a_tree_holds_none_of_comes_from_elsewhere(
    tmp_path: Path, documents: tuple[str, ...], unknown: str
) -> None:
    found = lint(tmp_path, *documents)
    assert rules(found) == []
    said = only(found, unknown)
    assert (said.severity, said.confidence) == ("note", "unknown")


def test_a_gateway_beside_the_routes_of_another_one(tmp_path: Path) -> None:
    other = GATEWAY.replace("name: edge", "name: spare")
    found = lint(tmp_path, *WORLD, other, policy(BTP, "x", "kind: Gateway, name: spare", TIMEOUT, namespace="infra"))
    said = only(found, "GWP106")
    assert said.label == "no route is attached to Gateway infra/spare"
    assert said.severity == "warning"


@pytest.mark.parametrize(
    ("selector", "section", "severity"),
    [
        ("{matchLabels: {team: a}}", ", sectionName: tenants", "note"),
        ("{matchLabels: {team: a}}", "", "note"),
        ("{matchLabels: {kubernetes.io/metadata.name: tenant}}", ", sectionName: tenants", "note"),
        ("{matchLabels: {kubernetes.io/metadata.name: shop}}", ", sectionName: tenants", "warning"),
        ("{matchLabels: {team: b}}", ", sectionName: tenants", "warning"),
        ("{matchLabels: {team: a}}", ", sectionName: own", "warning"),
    ],
)
def test_routes_of_namespaces_that_are_not_here(tmp_path: Path, selector: str, section: str, severity: str) -> None:
    tenants = f"allowedRoutes: {{namespaces: {{from: Selector, selector: {selector}}}}}"
    listeners = f"[{{name: tenants, port: 81, protocol: HTTP, {tenants}}}, {{name: own, port: 82, protocol: HTTP}}]"
    spare = worlds.gateway("spare", listeners=listeners, of_class="envoy")
    team = "apiVersion: v1\nkind: Namespace\nmetadata: {name: b, labels: {team: b}}\n"
    target = f"kind: Gateway, name: spare{section}"
    found = lint(tmp_path, *WORLD, team, spare, policy(BTP, "x", target, TIMEOUT, namespace="infra"))
    said = only(found, "GWP106")
    assert said.severity == severity
    assert said.label.endswith("takes those of namespaces that are not in the tree") == (severity == "note")


def test_a_listener_whose_hostnames_are_all_another_ones(tmp_path: Path) -> None:
    """docs/design/implementations/envoy-gateway.md §2: the policy looks attached, and every request goes past it."""
    rule = "allowedRoutes: {namespaces: {from: All}}"
    world = f"""
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: two, namespace: infra}}
spec:
  gatewayClassName: envoy
  listeners:
    - {{name: wild, port: 80, protocol: HTTP, hostname: '*.example.com', {rule}}}
    - {{name: exact, port: 80, protocol: HTTP, hostname: a.example.com, {rule}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: own, namespace: shop}}
spec:
  parentRefs: [{{name: two, namespace: infra}}]
  hostnames: [a.example.com]
  rules: [{{backendRefs: [{{name: checkout, port: 8080}}]}}]
"""
    on_wild = policy(BTP, "x", "kind: Gateway, name: two, sectionName: wild", TIMEOUT, namespace="infra")
    said = only(lint(tmp_path, *WORLD, world, on_wild), "GWP106")
    assert said.message == "BackendTrafficPolicy infra/x has no effect on Listener infra/two#wild"
    wanted = "other listeners on the port have the hostnames of the routes attached to Listener infra/two#wild"
    assert (said.severity, said.label) == ("warning", wanted)


def test_a_policy_of_a_mesh_needs_no_route(tmp_path: Path) -> None:
    text = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: viewer, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: cart}]
"""
    cart = SERVICE.replace("name: checkout", "name: cart")
    assert rules(lint(tmp_path, *WORLD, cart, text)) == []


def test_a_selector_that_looks_into_other_namespaces_is_left_alone(tmp_path: Path) -> None:
    text = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: x, namespace: elsewhere}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespaces: {from: All}}]
"""
    assert "GWP105" not in rules(lint(tmp_path, *WORLD, text))


def test_names_that_differ_in_numbers_or_are_there_already_are_not_guessed_away(tmp_path: Path) -> None:
    """`--unsafe-fixes` may not make two references of one, nor of version 1 version 2."""

    def fixes(*documents: str) -> list[object]:
        file = tmp_path / "world.yaml"
        file.write_text("---\n".join(documents), encoding="utf-8")
        found = open_workspace([str(file)]).findings({"GWP101"})
        assert found
        return [(fix.title, fix.safe) for each in found for fix in each.fixes]

    one = policy("BackendTrafficPolicy", "retries", "kind: HTTPRoute, name: chekout", "retry: {numRetries: 3}")
    assert fixes(GATEWAY, SERVICE, route(), one) == [("write `name: checkout`", False)]
    both = one.replace("chekout}", "chekout}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}")
    assert fixes(GATEWAY, SERVICE, route(), both) == []
    versioned = one.replace("chekout", "checkout-v1")
    assert fixes(GATEWAY, SERVICE, route("checkout-v2"), versioned) == []


def _rewritten(tmp_path: Path, spec: str, workloads: dict[str, str], kustomization: str = "namespace: b") -> list[str]:
    """What GWP112 and GWP105 say of a PeerAuthentication that is written for namespace `a` and lands in `b`."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "apps.yaml").write_text("---".join(deployment(name, home) for name, home in workloads.items()))
    (tmp_path / "policies/p.yaml").write_text(mesh_policy("PeerAuthentication", "mtls", spec, "a"))
    (tmp_path / "policies/kustomization.yaml").write_text(f"resources: [p.yaml]\n{kustomization}\n")
    (tmp_path / "kustomization.yaml").write_text("resources: [apps.yaml, policies]\n")
    found = open_workspace([str(tmp_path)]).findings({"GWP105", "GWP112"})
    return [f"{each.rule} {each.confidence}" for each in found]


WEB = "selector: {matchLabels: {app: web}}, mtls: {mode: STRICT}"
PATCH = """
patches:
  - target: {kind: PeerAuthentication}
    patch: '[{op: replace, path: /metadata/namespace, value: b}]'
"""


@pytest.mark.parametrize(
    ("spec", "workloads", "expected"),
    [
        (WEB, {"web": "a"}, ["GWP112 certain"]),
        ("mtls: {mode: STRICT}", {"web": "a"}, ["GWP112 certain"]),
        (WEB, {"other": "a"}, ["GWP112 assumed"]),
        ("mtls: {mode: STRICT}", {"web": "c"}, []),
        (WEB, {"web": "b"}, []),
        ("mtls: {mode: STRICT}", {"web": "a", "other": "b"}, []),
    ],
    ids=["selected", "whole", "not-seen", "whole-not-seen", "moved-with-it", "whole-namespace-moved"],
)
def test_a_namespace_that_a_kustomization_rewrites(
    tmp_path: Path, spec: str, workloads: dict[str, str], expected: list[str]
) -> None:
    assert _rewritten(tmp_path, spec, workloads) == expected


def test_a_namespace_that_a_patch_of_the_policy_sets_is_meant(tmp_path: Path) -> None:
    assert _rewritten(tmp_path, "mtls: {mode: STRICT}", {"web": "a"}, PATCH) == []


@pytest.mark.parametrize(
    ("cls", "protocol", "told"),
    [
        ("envoy", "HTTP", True),
        ("kgateway-waypoint", "HTTP", False),
        ("enterprise", "istio.io/PROXY", False),
        ("enterprise", "HBONE", False),
    ],
)
def test_a_waypoint_needs_no_route(tmp_path: Path, cls: str, protocol: str, told: bool) -> None:
    waypoint = worlds.gateway("wp", "shop", f"[{{name: mesh, port: 15088, protocol: {protocol}}}]", of_class=cls)
    found = lint(tmp_path, *WORLD, waypoint, policy(BTP, "limits", "kind: Gateway, name: wp", TIMEOUT))
    assert ("GWP106" in rules(found)) == told


@pytest.mark.parametrize("section", ["", "#all"])
@pytest.mark.parametrize(("target", "seen"), [("GRPCRoute/calls", False), ("HTTPRoute/chekout", True)])
def test_simulate_has_the_three_answers_of_lint(tmp_path: Path, target: str, seen: bool, section: str) -> None:
    """Of a tree, what lint calls not seen is Unknown; where others of the kind are in it, one that is not is missing.

    Files that are named are the whole world for simulate.
    """
    text = worlds.policy("gateway.envoyproxy.io/v1alpha1", BTP, "p", f"{target}{section}", TIMEOUT, "shop")
    (tmp_path / "all.yaml").write_text("---\n".join((*WORLD, text)), encoding="utf-8")
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    state = worlds.state(simulation, "p")
    (finding,) = (each for each in run(simulation) if each.rule in ("GWP101", "GWP103"))
    assert (state.verdict, finding.severity) == (("TargetNotFound", "error") if seen else ("Unknown", "note"))
    assert ("is not among" in finding.message) is not seen
    assert state.targets[0].resolution.state == ("missing" if seen else "unknown")
    assert ("come from elsewhere" in " ".join("".join(tables([simulation], Paint(False))).split())) is not seen


@pytest.mark.parametrize(
    ("controller", "api", "kind"),
    [
        ("gateway.envoyproxy.io/gatewayclass-controller", "gateway.envoyproxy.io/v1alpha1", "EnvoyProxy"),
        ("gateway.nginx.org/nginx-gateway-controller", "gateway.nginx.org/v1alpha2", "NginxProxy"),
        ("gateway.k8s.aws/alb", "gateway.k8s.aws/v1beta1", "LoadBalancerConfiguration"),
        ("kgateway.dev/kgateway", "gateway.kgateway.dev/v1alpha1", "GatewayParameters"),
    ],
)
@pytest.mark.parametrize(
    ("of_class", "of_gateway", "told"),
    [("", "", True), ("mine", "", False), ("", "mine", False), ("", "${NAME}", False), ("other", "", True)],
)
def test_parameters_have_to_be_named(
    tmp_path: Path, controller: str, api: str, kind: str, of_class: str, of_gateway: str, told: bool
) -> None:
    group = api.partition("/")[0]
    reference = f"parametersRef: {{group: {group}, kind: {kind}, "
    found = lint(
        tmp_path,
        worlds.gateway_class("any", controller, of_class and f"{reference}name: {of_class}, namespace: infra}}"),
        worlds.gateway(more=of_gateway and f"infrastructure: {{{reference}name: '{of_gateway}'}}}}"),
        worlds.manifest(api, kind, "mine", "infra", "spec: {}"),
    )
    assert ("GWP115" in {each.rule for each in found}) == told


@pytest.mark.parametrize("arranged", [False, True])
@pytest.mark.parametrize(("later", "is_told"), [("class", False), ("gateway", False), ("other", True)])
def test_parameters_that_the_next_step_names(tmp_path: Path, later: str, is_told: bool, arranged: bool) -> None:
    """`02-class.yaml` is the class of `01-class.yaml` once more, with its parameters."""
    named = "parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: mine"
    gateway = worlds.gateway(more=f"infrastructure: {{{named}}}}}")
    controller = "gateway.envoyproxy.io/gatewayclass-controller"
    steps = {
        "class": worlds.gateway_class("any", controller, f"{named}, namespace: infra}}"),
        "gateway": gateway,
        "other": worlds.gateway_class("other", controller),
    }
    files = {
        "steps/01-class.yaml": worlds.gateway_class("any", controller),
        "steps/02-gateway.yaml": worlds.gateway(),
        "steps/03-proxy.yaml": worlds.manifest(
            "gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "mine", "infra", "spec: {}"
        ),
        "steps/04-again.yaml": steps[later],
    }
    if arranged:
        files |= {"app/kustomization.yaml": "resources: [web.yaml]\n", "app/web.yaml": worlds.service("web", "shop")}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP115"]
    assert [each.confidence != "unknown" for each in found] in ([is_told], [] if not is_told else [True])


def test_parameters_that_a_class_of_a_chart_may_name(tmp_path: Path) -> None:
    made = worlds.manifest("gateway.nginx.org/v1alpha2", "NginxProxy", "mine", "infra", "spec: {}")
    found = lint(tmp_path, worlds.gateway(of_class="nginx"), made)
    assert "GWP115" not in {each.rule for each in found}


@pytest.mark.parametrize("prefix", ["external-dns.alpha.kubernetes.io", "external-dns.kubernetes.io"])
@pytest.mark.parametrize(
    ("above", "routes", "said"),
    [
        ("", {"a": "x.example.com"}, ["HTTPRoute shop/a"]),
        ("", {"a": "x.example.com", "b": "q.a"}, ["HTTPRoute shop/a and 1 other HTTPRoute"]),
        ("x.example.com", {"a": "x.example.com"}, []),
        ("x.example.com", {"a": "y.example.com"}, ["HTTPRoute shop/a"]),
    ],
)
def test_an_annotation_that_is_read_from_gateways(
    above: str, routes: dict[str, str], said: list[str], prefix: str
) -> None:
    """kubernetes-sigs/external-dns#4056: `target` of a route is not read; nothing is lost if the Gateway says it."""
    target = f"{prefix}/target"
    gateway = worlds.gateway()
    if above:
        gateway = gateway.replace("namespace: infra", f"namespace: infra, annotations: {{{target}: {above}}}", 1)
    made = [worlds.route(name, annotations=f"{target}: {value}") for name, value in routes.items()]
    found = run(worlds.simulated(gateway, *made), select={"GWP114"})
    assert [each.message for each in found] == [f"{target} does nothing on {whom}" for whom in said]


@pytest.mark.parametrize(
    ("name", "is_read"), [("controller", True), ("target", True), ("ttl", False), ("hostname", False)]
)
def test_what_gateways_say_to_external_dns(name: str, is_read: bool) -> None:
    """kubernetes-sigs/external-dns#6545: a Gateway of another `controller` is passed over, as routes are."""
    said = f"annotations: {{external-dns.alpha.kubernetes.io/{name}: x}}"
    gateway = worlds.gateway().replace("namespace: infra", f"namespace: infra, {said}", 1)
    route = worlds.route("a", annotations="external-dns.alpha.kubernetes.io/controller: x")
    found = run(worlds.simulated(gateway, route), select={"GWP114"})
    assert [each.resources[0].kind for each in found] == ([] if is_read else ["Gateway"])
