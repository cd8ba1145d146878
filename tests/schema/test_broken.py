"""What the API server refuses does not act: objects that a CRD of the tree, or every release's schema, forbids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.checks import run
from policylint.documents import read
from policylint.load.facts import defined_by
from policylint.model import ResourceKey
from policylint.policy.results import PolicyState
from policylint.schema.known import shipped_schema
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests import worlds
from tests.worlds import ENVOY_EDGE, GATEWAY_API, opened

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: securitypolicies.gateway.envoyproxy.io}
spec:
  group: gateway.envoyproxy.io
  names: {kind: SecurityPolicy, plural: securitypolicies}
  versions:
    - name: v1alpha1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                targetRefs: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
                basicAuth: {type: object, x-kubernetes-preserve-unknown-fields: true}
                cors:
                  type: object
                  required: [allowOrigins]
                  properties:
                    allowOrigins: {type: array, items: {type: string, pattern: "^https?://"}}
                    maxAge: {type: integer, maximum: 60}
                    mode: {type: string, enum: [Strict, Loose]}
"""
SHOP = (
    "\n"
    + ENVOY_EDGE
    + """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  basicAuth: {users: {name: users}}
"""
)
POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: open, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  cors: CORS
"""
REFUSED = {
    "{maxAge: 5}": "spec.cors.allowOrigins: Required value",
    "{allowOrigins: [ftp://a]}": "spec.cors.allowOrigins[0]: Invalid value: does not match ^https?://",
    "{allowOrigins: [], maxAge: 61}": "spec.cors.maxAge: Invalid value: at most 60 is allowed",
    "{allowOrigins: [], maxAge: one}": "spec.cors.maxAge: Invalid value: this is a string, an integer is wanted",
    "{allowOrigins: [], mode: Odd}": 'spec.cors.mode: Unsupported value: "Odd": supported values: "Strict", "Loose"',
}


def policy(simulation: Simulation, name: str, kind: str = "SecurityPolicy") -> PolicyState:
    (state,) = (state for key, state in simulation.policies.items() if (key.kind, key.name) == (kind, name))
    return state


@pytest.mark.parametrize(("cors", "message"), REFUSED.items())
def test_a_refused_policy_is_invalid_and_beats_nobody(tmp_path: Path, cors: str, message: str) -> None:
    simulation = opened(tmp_path, CRD, SHOP, POLICY.replace("CORS", cors))
    refused, login = policy(simulation, "open"), policy(simulation, "login")
    assert (refused.verdict, refused.invalid, refused.groups, refused.ancestors) == ("Invalid", message, [], ())
    assert (login.verdict, login.by) == ("Enforced", ())
    said = [finding.rule for finding in run(simulation) if refused.key in finding.resources]
    assert said == ["GWP501"], "one finding, and none that it overrides anybody"


@pytest.mark.parametrize(
    "cors", ["{allowOrigins: [], maxAges: 5}", "{allowOrigins: ['${ORIGIN}']}", "{allowOrigins: []}"]
)
def test_what_may_pass_acts(tmp_path: Path, cors: str) -> None:
    """An unknown field is dropped or refused by the client's wish; a variable may become anything."""
    simulation = opened(tmp_path, CRD, SHOP, POLICY.replace("CORS", cors))
    assert (policy(simulation, "open").verdict, policy(simulation, "login").verdict) == ("Enforced", "Overridden")


def test_of_two_crds_one_may_let_it_pass(tmp_path: Path) -> None:
    other = CRD.replace("maximum: 60", "maximum: 90")
    simulation = opened(tmp_path, CRD, other, SHOP, POLICY.replace("CORS", "{allowOrigins: [], maxAge: 61}"))
    assert policy(simulation, "open").verdict == "Enforced"


TLS = """
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: shop}
spec: {targetRefs: [{group: "", kind: Service, name: web}], validation: VALIDATION}
"""


@pytest.mark.parametrize(
    ("validation", "verdict"),
    [
        ("{wellKnownCACertificates: System}", "Invalid"),
        ("{wellKnownCACertificates: System, hostname: 5}", "Invalid"),
        ("{wellKnownCACertificates: System, hostname: a.test}", "Enforced"),
        ("{wellKnownCACertificates: System, hostname: a.test, unheard: of}", "Enforced"),
    ],
)
def test_of_a_shipped_schema_what_every_release_demands_counts(tmp_path: Path, validation: str, verdict: str) -> None:
    simulation = opened(tmp_path, SHOP, TLS.replace("VALIDATION", validation))
    assert policy(simulation, "tls", "BackendTLSPolicy").verdict == verdict


GATEWAY_CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gateways.gateway.networking.k8s.io}
spec:
  group: gateway.networking.k8s.io
  names:
    kind: Gateway
    plural: gateways
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, required: [owner], x-kubernetes-preserve-unknown-fields: true}
"""


def test_below_a_refused_gateway_nothing_is_enforced(tmp_path: Path) -> None:
    """What the cluster has of that name is another state, so it is unknown and not missing."""
    simulation = opened(tmp_path, GATEWAY_CRD, SHOP, POLICY.replace("CORS", "{allowOrigins: []}"))
    gateway = ResourceKey(GATEWAY_API, "Gateway", "shop", "edge")
    assert gateway in simulation.world.resources
    assert simulation.topology.gateway(gateway) is None
    assert policy(simulation, "login").verdict == "Unknown"
    missing = [finding for finding in run(simulation, select={"GWP101", "GWP401"}) if finding.confidence != "unknown"]
    assert not missing


JWT = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: open, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  SETTING: {providers: [{name: example, remoteJWKS: {uri: "https://example.com/keys"}}]}
"""


def test_without_a_crd_in_the_tree_the_shipped_one_of_the_implementation_counts(tmp_path: Path) -> None:
    simulation = opened(tmp_path, SHOP, JWT.replace("SETTING", "jwtt"))
    (finding,) = run(simulation, select={"GWP501"})
    assert (finding.severity, finding.confidence, finding.message) == (
        "error",
        "certain",
        "SecurityPolicy shop/open sets spec.jwtt, which is no field",
    )


def test_what_another_release_may_allow_is_assumed(tmp_path: Path) -> None:
    simulation = opened(tmp_path, SHOP, JWT.replace("SETTING: ", "authorization: {defaultAction: Alow}\n  jwt: "))
    (finding,) = run(simulation, select={"GWP501"})
    assert (finding.severity, finding.confidence) == ("warning", "assumed")
    assert (
        "it rests on the CRD of Envoy Gateway @ d32f282942, and the cluster may have another version" in finding.ground
    )


def test_an_unknown_field_is_no_setting(tmp_path: Path) -> None:
    simulation = opened(tmp_path, SHOP, JWT.replace("SETTING", "jwtt"))
    assert [declared.proper for declared in policy(simulation, "open").declared] == [{}]
    assert simulation.world.resources[policy(simulation, "open").key].spec["jwtt"], "the manifest stays as it is"


def test_a_field_that_resembles_none_may_be_one_of_another_release(tmp_path: Path) -> None:
    simulation = opened(tmp_path, SHOP, JWT.replace("SETTING", "futuristic"))
    (finding,) = run(simulation, select={"GWP501"})
    assert (finding.severity, finding.confidence) == ("note", "assumed")
    assert list(policy(simulation, "open").declared[0].proper) == ["futuristic"]


def test_a_crd_of_the_tree_beats_the_shipped_one(tmp_path: Path) -> None:
    other = CRD.replace(
        "basicAuth: {", "jwtt: {type: object, x-kubernetes-preserve-unknown-fields: true}\n                basicAuth: {"
    )
    simulation = opened(tmp_path, other, SHOP, JWT.replace("SETTING", "jwtt"))
    assert not [*run(simulation, select={"GWP501"})]
    assert list(policy(simulation, "open").declared[0].proper) == ["jwtt"]


@pytest.mark.parametrize(("group", "kind"), [("..", "config"), ("gateway.networking.k8s.io/..", "x"), ("a.b", "../x")])
def test_names_of_manifests_become_no_path(group: str, kind: str) -> None:
    assert shipped_schema(group, kind, "v1") == ()


RULED = CRD.replace(
    "                cors:\n",
    """                cors:
                  x-kubernetes-validations:
                    - rule: "!has(self.maxAge) || self.maxAge > size(self.allowOrigins)"
                      messageExpression: "'maxAge must be above ' + string(size(self.allowOrigins))"
""",
)


def test_a_rule_of_a_crd_in_the_tree_refuses_for_certain(tmp_path: Path) -> None:
    simulation = opened(tmp_path, RULED, SHOP, POLICY.replace("CORS", '{allowOrigins: ["https://a"], maxAge: 1}'))
    refused = policy(simulation, "open")
    assert (refused.verdict, refused.invalid) == ("Invalid", "spec.cors: Invalid value: maxAge must be above 1")
    (finding,) = run(simulation, select={"GWP501"})
    assert (finding.confidence, finding.message) == (
        "certain",
        "SecurityPolicy shop/open breaks a rule on spec.cors: maxAge must be above 1",
    )
    assert policy(simulation, "login").verdict == "Enforced"


def test_rules_of_the_tree_have_a_budget_and_its_end_is_said(tmp_path: Path) -> None:
    loops = "self.allowOrigins.all(a, self.allowOrigins.all(b, self.allowOrigins.all(c, true)))"
    endless = RULED.replace("!has(self.maxAge) || self.maxAge > size(self.allowOrigins)", loops)
    origins = ", ".join(['"https://a"'] * 300)
    simulation = opened(tmp_path, endless, SHOP, POLICY.replace("CORS", f"{{allowOrigins: [{origins}]}}"))
    (note,) = simulation.cut
    assert (note.rule, note.code) == ("GWP911", "limit")
    assert "rules of the CRDs for SecurityPolicy" in note.message
    assert policy(simulation, "open").verdict == "Enforced"


AIMED = """
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: aimed, namespace: shop}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: KIND, name: NAME}], SETTINGS}
"""


@pytest.mark.parametrize(
    ("kind", "name", "settings", "verdict"),
    [
        ("Gateway", "edge", "urlRewrite: {pathRegex: {pattern: ^/a, substitution: /b}}", "Invalid"),
        ("HTTPRoute", "web", "urlRewrite: {pathRegex: {pattern: ^/a, substitution: /b}}", "Enforced"),
        ("Gateway", "edge", "autoHostRewrite: true", "Invalid"),
        ("Gateway", "edge", "buffer: {}", "Invalid"),  # a rule about content: unless the cluster has another CRD
    ],
)
def test_where_a_shipped_rule_lets_no_policy_act_none_does(
    tmp_path: Path, kind: str, name: str, settings: str, verdict: str
) -> None:
    """Rules about targets count with the release by which policies are attached here."""
    shop = SHOP.replace("gateway.envoyproxy.io/gatewayclass-controller", "kgateway.dev/kgateway")
    manifest = AIMED.replace("KIND", kind).replace("NAME", name).replace("SETTINGS", settings)
    simulation = opened(tmp_path, shop, manifest)
    assert policy(simulation, "aimed", "TrafficPolicy").verdict == verdict
    said = [finding for finding in run(simulation) if finding.rule == "GWP501"]
    assert [finding.confidence for finding in said] == ([] if name == "web" else ["assumed"])


def with_csrf(tmp_path: Path, rule: str) -> Simulation:
    """A route with one rule, and a policy on it."""
    target = "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}], csrf: {}}"
    return worlds.opened(
        tmp_path,
        worlds.gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(),
        worlds.service("app", "shop"),
        worlds.route(more=f"rules: [{rule}]"),
        worlds.manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "csrf", "shop", target),
    )


REPEATED = "{type: URLRewrite, urlRewrite: {hostname: a}}, {type: URLRewrite, urlRewrite: {hostname: b}}"


@pytest.mark.parametrize(
    ("rule", "served"),
    [
        ("{backendRefs: [{name: app, port: 80}]}", True),
        (f"{{filters: [{REPEATED}], backendRefs: [{{name: app, port: 80}}]}}", False),
        ("{matches: [{path: {value: /a/..}}], backendRefs: [{name: app, port: 80}]}", False),
        ("{backendRefs: [{name: app}]}", False),  # a Service needs a port
        ("{backendRefs: [{name: app, port: '80'}]}", False),
        ("{filters: [{type: Sparkle}], backendRefs: [{name: app, port: 80}]}", True),  # a later release may know it
        ("{name: Not a name, backendRefs: [{name: app, port: 80}]}", True),  # limits and patterns are loosened
    ],
)
def test_a_route_that_the_api_server_refuses_is_said_to_be(tmp_path: Path, rule: str, served: bool) -> None:
    """A cluster has its former state: what is wrong with it beside that is reported, and `trace` says that it is."""
    found = with_csrf(tmp_path, rule)
    assert worlds.verdicts(found) == {"csrf": "Enforced"}
    trace = Tracer(found).trace(request({"host": "a.example", "path": "/a/.."}))
    assert served != any(note.startswith("the API server refuses HTTPRoute shop/checkout (") for note in trace.notes)
    said = {(finding.severity, finding.confidence) for finding in run(found) if finding.rule == "GWP501"}
    assert served or ("error", "certain") in said


@pytest.mark.parametrize(
    ("provider", "asked"),
    [
        ("{name: id, remoteJWKS: {uri: https://id.example}}", True),
        ("{remoteJWKS: {uri: https://id.example}}", False),  # lacks a name
        ("{name: 5, remoteJWKS: {uri: https://id.example}}", False),  # a type
        ("{name: id}", False),  # a rule: no keys
        ("{remoteJWKS: {uri: https://id.example}, freshlyAdded: 1}", True),  # a sign of another release
    ],
)
def test_a_policy_that_a_shipped_schema_refuses_protects_nothing(tmp_path: Path, provider: str, asked: bool) -> None:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]"
    spec = f"spec: {{{target}, jwt: {{providers: [{provider}]}}}}"
    found = worlds.opened(
        tmp_path,
        worlds.gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(),
        worlds.service("app", "shop"),
        worlds.route(more="rules: [{backendRefs: [{name: app, port: 80}]}]"),
        worlds.manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "login", "shop", spec),
    )
    assert worlds.verdicts(found) == {"login": "Enforced" if asked else "Invalid"}
    trace = Tracer(found).trace(request({"host": "a.example", "path": "/"}))
    assert bool(trace.policies) == asked
    unless = "SecurityPolicy shop/login is refused, unless the cluster has another CRD ("
    assert any(note.startswith(unless) for note in trace.notes) != asked


LAID_OUT = {
    "as generators do it": (
        "spec:\n  group: gateway.networking.k8s.io\n  scope: Namespaced\n"
        "  names:\n    kind: HTTPRoute\n    plural: httproutes\n"
        "  versions:\n    - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
        "x-kubernetes-preserve-unknown-fields: true}}}\n"
    ),
    "in flow style": (
        "spec: {group: gateway.networking.k8s.io, scope: Namespaced, names: {kind: HTTPRoute, plural: httproutes}, "
        "versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
        "x-kubernetes-preserve-unknown-fields: true}}}]}\n"
    ),
}
DEFINED = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    "metadata: {name: httproutes.gateway.networking.k8s.io}\n"
)


@pytest.mark.parametrize("how", [*LAID_OUT, "in JSON"])
def test_a_version_that_the_definition_does_not_list_acts_nowhere(tmp_path: Path, how: str) -> None:
    definition = DEFINED + LAID_OUT.get(how, LAID_OUT["in flow style"])
    if how == "in JSON":
        definition = json.dumps(read(definition.encode(), "a").documents[0].value, indent=4)
    simulation = opened(tmp_path, SHOP, definition)
    (key,) = simulation.refused
    assert (key.kind, simulation.topology.routes) == ("HTTPRoute", [])


@pytest.mark.parametrize("how", LAID_OUT)
def test_what_a_definition_defines_is_read_however_it_is_laid_out(how: str) -> None:
    definition = (DEFINED + LAID_OUT[how]).replace("Namespaced", "Cluster")
    assert defined_by(definition.encode()) == ("gateway.networking.k8s.io", "HTTPRoute", "Cluster")
