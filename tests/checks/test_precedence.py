"""GWP2xx beyond the examples of their pages: who is spoken of, how badly, and by one rule only."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, WORLD, lint, only, policy, route, rules

ON_GATEWAY = "kind: Gateway, name: edge"
ON_ROUTE = "kind: HTTPRoute, name: checkout"
JWT = "jwt: {providers: [{name: staff, remoteJWKS: {uri: https://id.example.com/keys}}]}"


def security(name: str, target: str, settings: str) -> str:
    return policy("SecurityPolicy", name, target, settings, namespace="infra" if "Gateway" in target else "shop")


@pytest.mark.parametrize(
    ("above", "below", "severity", "lost"),
    [
        (JWT, "cors: {allowMethods: [GET]}", "error", "jwt"),
        (JWT, "basicAuth: {users: {name: users}}", "warning", "jwt"),
        ("authorization: {defaultAction: Deny}", "cors: {allowMethods: [GET]}", "warning", "authorization"),
        ("cors: {allowMethods: [GET]}", JWT, "note", "cors"),
        (JWT + "\n  cors: {allowMethods: [GET]}", "authorization: {defaultAction: Deny}", "error", "cors and jwt"),
    ],
)
def test_what_is_lost_decides_how_bad_it_is(tmp_path: Path, above: str, below: str, severity: str, lost: str) -> None:
    found = lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, above), security("checkout", ON_ROUTE, below))
    said = only(found, "GWP201")
    assert said.severity == severity
    assert said.message == f"HTTPRoute shop/checkout loses the {lost} of its Gateway"
    assert said.label == "this policy replaces SecurityPolicy infra/edge completely"
    assert said.related[0] == "this no longer applies to 2 rules of shop/checkout"
    assert rules(found) == ["GWP201"]


ALLOW = "authorization: {defaultAction: Allow}"


@pytest.mark.parametrize(
    ("below", "severity", "verb"),
    [
        (ALLOW, "note", "opts out of"),
        ("authorization: {defaultAction: Allow, rules: []}", "note", "opts out of"),
        (ALLOW + "\n  cors: {allowMethods: [GET]}", "error", "loses"),
        (
            "authorization: {defaultAction: Allow, rules: [{action: Deny, principal: {clientCIDRs: [10.0.0.0/8]}}]}",
            "error",
            "loses",
        ),
    ],
    ids=["allow", "allow without rules", "CORS too", "rules"],
)
def test_who_says_only_that_everybody_may_pass_means_it(tmp_path: Path, below: str, severity: str, verb: str) -> None:
    """An exemption that is written out is no accident; one by way of other settings may well be."""
    found = lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), security("checkout", ON_ROUTE, below))
    said = only(found, "GWP201")
    assert (said.severity, said.message) == (severity, f"HTTPRoute shop/checkout {verb} the jwt of its Gateway")


def test_several_routes_are_one_finding(tmp_path: Path) -> None:
    selector = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: cors, namespace: shop}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]
  cors: {allowMethods: [GET]}
"""
    said = only(lint(tmp_path, *WORLD, route("cart"), security("edge", ON_GATEWAY, JWT), selector), "GWP201")
    assert said.message == "2 routes lose the jwt of Gateway infra/edge"


def test_a_rule_is_its_own_subject(tmp_path: Path) -> None:
    on_rule = security("pay", ON_ROUTE + ", sectionName: all", "cors: {allowMethods: [GET]}")
    said = only(lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), on_rule), "GWP201")
    assert said.message == "HTTPRouteRule shop/checkout#all loses the jwt of its Gateway"
    assert said.related[0] == "this no longer applies to 1 rule of shop/checkout"


def test_what_the_winner_sets_itself_is_not_dropped(tmp_path: Path) -> None:
    found = lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), security("checkout", ON_ROUTE, JWT))
    assert rules(found) == ["GWP203", "GWP215"]
    assert only(found, "GWP203").severity == "note"


def test_another_authentication_in_its_place_is_worth_a_warning(tmp_path: Path) -> None:
    other = JWT.replace("staff", "anyone")
    found = lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), security("checkout", ON_ROUTE, other))
    assert only(found, "GWP203").severity == "warning"


def test_a_merge_drops_nothing(tmp_path: Path) -> None:
    below = security("checkout", ON_ROUTE, "mergeType: StrategicMerge\n  cors: {allowMethods: [GET]}")
    assert rules(lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), below)) == []


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("checkout", "warning"),
        ("checkout-public", "note"),
        ("checkout-no-auth", "note"),
        ("noauth", "note"),
        ("exception.checkout", "note"),
        ("public-api", "warning"),  # what is public there is the API
        ("open-webui", "warning"),
        ("publication", "warning"),
    ],
)
def test_an_empty_policy_may_say_that_it_is_meant(tmp_path: Path, name: str, severity: str) -> None:
    found = lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), security(name, ON_ROUTE, ""))
    assert only(found, "GWP205").severity == severity


def test_an_empty_policy_is_told_once(tmp_path: Path) -> None:
    found = lint(tmp_path, *WORLD, security("edge", ON_GATEWAY, JWT), security("checkout", ON_ROUTE, ""))
    assert rules(found) == ["GWP205"]


def test_a_refused_policy_is_not_also_overridden(tmp_path: Path) -> None:
    found = lint(tmp_path, *WORLD, security("a", ON_ROUTE, JWT), security("b", ON_ROUTE, "cors: {allowMethods: [GET]}"))
    said = only(found, "GWP202")
    assert "the manifests do not say which of the two is older" in said.help[1]
    assert rules(found) == ["GWP202"]


def test_stated_ages_are_not_in_doubt(tmp_path: Path) -> None:
    old = security("b", ON_ROUTE, JWT).replace(
        "namespace: shop}", "namespace: shop, creationTimestamp: 2024-01-01T00:00:00Z}"
    )
    new = security("a", ON_ROUTE, "cors: {}").replace(
        "namespace: shop}", "namespace: shop, creationTimestamp: 2025-01-01T00:00:00Z}"
    )
    said = only(lint(tmp_path, *WORLD, old, new), "GWP202")
    assert said.message.startswith("SecurityPolicy shop/a conflicts with shop/b on HTTPRoute shop/checkout")
    assert said.help[1] == "note: shop/b is older, so it takes precedence"


def test_a_listener_takes_over_from_its_gateway(tmp_path: Path) -> None:
    whole = policy("ClientTrafficPolicy", "all", ON_GATEWAY, "tls: {minVersion: '1.3'}", namespace="infra")
    one = policy("ClientTrafficPolicy", "one", ON_GATEWAY + ", sectionName: admin", "http3: {}", namespace="infra")
    said = only(lint(tmp_path, GATEWAY, route(), SERVICE, whole, one), "GWP201")
    assert said.severity == "warning"
    assert said.message == "Listener infra/edge#admin loses the tls of its Gateway"


def kuadrant(name: str, kind: str, target: str, body: str) -> str:
    return f"""
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {{name: {name}, namespace: {"infra" if kind == "Gateway" else "shop"}}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: {kind}, name: {target}}}
  {body}
"""


LIMIT = "limits: {burst: {rates: [{limit: 5, window: 10s}]}}"


def test_overrides_of_a_parent_are_no_drop(tmp_path: Path) -> None:
    above = kuadrant("edge", "Gateway", "edge", "overrides: {" + LIMIT + "}")
    found = lint(tmp_path, *WORLD, above, kuadrant("mine", "HTTPRoute", "checkout", LIMIT.replace("burst", "daily")))
    said = only(found, "GWP203")
    assert said.message == "RateLimitPolicy shop/mine has no effect: infra/edge overrides all of it"
    assert said.severity == "warning"
    assert rules(found) == ["GWP203", "GWP215"]
    winner = only(found, "GWP215")
    assert (winner.severity, winner.message) == (
        "note",
        "RateLimitPolicy infra/edge overrides all of RateLimitPolicy shop/mine",
    )
    assert winner.related == ("RateLimitPolicy shop/mine has no effect there",)


def test_what_several_override_together_is_said_of_each_in_part(tmp_path: Path) -> None:
    above = kuadrant("edge", "Gateway", "edge", f"defaults: {{{LIMIT}}}")
    mine = kuadrant("mine", "HTTPRoute", "checkout", LIMIT)
    other = kuadrant("other", "HTTPRoute", "other", LIMIT)
    found = lint(tmp_path, *WORLD, route("other"), above, mine, other)
    assert [finding.message for finding in found if finding.rule == "GWP215"] == [
        "RateLimitPolicy shop/mine overrides limits of RateLimitPolicy infra/edge",
        "RateLimitPolicy shop/other overrides limits of RateLimitPolicy infra/edge",
    ]


def test_a_drop_is_told_at_the_winner_once(tmp_path: Path) -> None:
    own = security("own", ON_ROUTE, "cors: {allowMethods: [GET]}")
    assert rules(lint(tmp_path, *WORLD, security("login", ON_GATEWAY, JWT), own)) == ["GWP201"]


def test_conditions_of_a_policy_go_with_it_and_are_no_loss(tmp_path: Path) -> None:
    when = "when: [{predicate: \"request.path != '/docs'\"}]"
    above = kuadrant("edge", "Gateway", "edge", f"defaults: {{{when}, {LIMIT}}}")
    found = lint(tmp_path, *WORLD, above, kuadrant("mine", "HTTPRoute", "checkout", LIMIT))
    assert rules(found) == ["GWP203", "GWP215"]


def test_what_hangs_on_age_is_told_once(tmp_path: Path) -> None:
    one = kuadrant("a", "HTTPRoute", "checkout", LIMIT)
    other = kuadrant("b", "HTTPRoute", "checkout", LIMIT.replace("5", "50"))
    found = lint(tmp_path, *WORLD, one, other)
    assert rules(found) == ["GWP206"]
    assert only(found, "GWP206").related == ("if this one is older, it wins",)


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ("defaults: {strategy: patched, " + LIMIT + "}", "strategy 'patched' is not one of atomic, merge, patch"),
        ("defaults: {" + LIMIT + "}\n  " + LIMIT, "`limits` and `defaults`: settings are either bare or wrapped"),
    ],
)
def test_directives(tmp_path: Path, body: str, label: str) -> None:
    found = lint(tmp_path, *WORLD, kuadrant("edge", "Gateway", "edge", body))
    assert only(found, "GWP208").label == label
    assert rules(found) == ["GWP208"]


def default_denial(part: str) -> tuple[str, ...]:
    """Kuadrant's guide: a Gateway that denies everything, and a route with a policy of its own."""
    return (
        GATEWAY.replace("gatewayClassName: envoy", "gatewayClassName: istio"),
        route(),
        SERVICE,
        """
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: deny-all, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  defaults: {rules: {PART: {rule: {opa: {rego: allow = false}}}}}
""".replace("PART", part),
        """
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: checkout, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}
  rules: {authentication: {keys: {apiKey: {selector: {matchLabels: {app: shop}}}}}}
""",
    )


def test_a_default_denial_that_every_route_overrides_is_a_note(tmp_path: Path) -> None:
    said = only(lint(tmp_path, *default_denial("authorization")), "GWP203")
    assert said.severity == "note"
    assert said.help == ("note: it still denies routes that have no policy of their own",)


OPA = "authorization: {rule: {opa: {rego: allow = true}}}"
KEYS = "authentication: {keys: {apiKey: {selector: {matchLabels: {app: shop}}}}}"


@pytest.mark.parametrize(
    ("gateway", "own", "severity"),
    [
        (f"defaults: {{rules: {{{KEYS}}}}}", KEYS.replace("shop", "own"), "note"),
        (f"rules: {{{KEYS}}}", KEYS.replace("shop", "own"), "note"),  # bare rules are defaults
        (f"defaults: {{rules: {{{KEYS}, {OPA}}}}}", KEYS.replace("shop", "own"), "note"),  # a login all the same
        (f"defaults: {{rules: {{{OPA}}}}}", OPA.replace("true", "false"), "note"),
        (f"defaults: {{rules: {{{KEYS}}}}}", OPA, "warning"),  # the route asks for no login
        (f"overrides: {{rules: {{{KEYS}}}}}", KEYS.replace("shop", "own"), ""),  # the route's has no effect
    ],
)
def test_stated_defaults_that_give_way_do_what_they_are_for(
    tmp_path: Path, gateway: str, own: str, severity: str
) -> None:
    """A login of a Gateway that every route there replaces by one of its own is there for the routes to come; in
    Kuadrant's policies overrides are what has to hold everywhere."""
    *world, _, _ = default_denial("authentication")
    target = "targetRef: {{group: gateway.networking.k8s.io, kind: {}, name: {}}}, "
    policies = [
        worlds.manifest("kuadrant.io/v1", "AuthPolicy", name, namespace, f"spec: {{{target.format(*at)}{settings}}}")
        for name, namespace, at, settings in (
            ("wide", "infra", ("Gateway", "edge"), gateway),
            ("own", "shop", ("HTTPRoute", "checkout"), f"rules: {{{own}}}"),
        )
    ]
    found = lint(tmp_path, *world, *policies)
    said = [each for each in found if each.rule == "GWP203" and "infra/wide has" in each.message]
    assert [each.severity for each in said] == ([severity] if severity else [])
    assert all((each.severity == "note") == ("it still " in each.help[0]) for each in said)


LOGIN = (
    "oauth2: {backendRef: {name: id, port: 443}, issuerURI: 'https://id.example.com', redirectURI: "
    "'https://shop.example.com/oauth2', credentials: {clientID: shop, clientSecretRef: {name: login}}}"
)


@pytest.mark.parametrize("settings", [("oauth2", "apiKeyAuth"), ("apiKeyAuth", "oauth2")])
def test_what_another_policy_sets_is_named_in_one_order(settings: tuple[str, str]) -> None:
    """How a policy is written down changes no word of a finding, by which it is known again."""
    bodies = {
        "oauth2": "oauth2: {extensionRef: {name: login}}",
        "apiKeyAuth": "apiKeyAuth: {disable: {}, keySources: []}",
    }
    kind = "gateway.kgateway.dev/v1alpha1", "TrafficPolicy"
    simulation = worlds.simulated(
        worlds.gateway_class(controller="kgateway.dev/kgateway"),
        worlds.gateway(),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(*kind, "login", "Gateway/edge", ", ".join(map(bodies.__getitem__, settings)), "infra"),
        worlds.manifest("gateway.kgateway.dev/v1alpha1", "GatewayExtension", "login", "infra", f"spec: {{{LOGIN}}}"),
        worlds.manifest("v1", "Secret", "login", "infra", "stringData: {client-secret: example}"),
        worlds.service("id", "infra", ports="[{name: https, port: 443}]"),
        worlds.policy(*kind, "no-login", "HTTPRoute/checkout", "extAuth: {disable: {}}", "shop"),
    )
    (found,) = run(simulation, select={"GWP207"})
    assert found.message.endswith("TrafficPolicy infra/login sets apiKeyAuth and oauth2")
