"""GWP302 of a route that stays protected where it was, and can be reached without it on a way that is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.compare import compare, compare_findings, removed_protections
from policylint.model import Finding
from tests.checks.linting import SERVICE, policy
from tests.compare.test_compare import sides

JWT = "jwt: {providers: [{name: staff, issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com}}]}"
ALL = "allowedRoutes: {namespaces: {from: All}}"


def listener(name: str, port: int, hostname: str = "") -> str:
    host = f"hostname: {hostname}, " if hostname else ""
    return f"    - {{name: {name}, port: {port}, protocol: HTTP, {host}{ALL}}}\n"


def gateway(name: str, *listeners: str) -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: infra}}
spec:
  gatewayClassName: envoy
  listeners:
{"".join(listeners or (listener("http", 80),))}"""


def route(
    *rules: str,
    parents: str = "{name: edge, namespace: infra}",
    hosts: str = "shop.example.com",
    name: str = "checkout",
) -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec:
  parentRefs: [{parents}]
  hostnames: [{hosts}]
  rules:
{"".join(rules or (rule("all", "/"),))}"""


def rule(name: str, path: str, more: str = "", backend: str = "backendRefs: [{name: checkout, port: 8080}]") -> str:
    named = f"name: {name}, " if name else ""
    return f"    - {{{named}matches: [{{path: {{value: {path}}}{more}}}], {backend}}}\n"


def jwt(target: str, namespace: str = "infra", name: str = "login", fields: str = JWT) -> str:
    return policy("SecurityPolicy", name, target, fields, namespace=namespace)


EDGE = gateway("edge")
ON_EDGE = jwt("kind: Gateway, name: edge")
ON_RULE = jwt("kind: HTTPRoute, name: checkout, sectionName: all", "shop")
BOTH = "{name: edge, namespace: infra}, {name: side, namespace: infra}"


def opened(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[Finding]:
    pair = sides(tmp_path, (*before, SERVICE), (*after, SERVICE))
    return removed_protections([pair], compare([pair]), {"GWP302"})


def test_a_second_gateway_that_asks_for_nothing(tmp_path: Path) -> None:
    side = gateway("side")
    (found,) = opened(tmp_path, (EDGE, side, route(), ON_EDGE), (EDGE, side, route(parents=BOTH), ON_EDGE))
    assert found.severity == "error"
    assert found.message == (
        "HTTPRoute shop/checkout can be reached without its authentication through Listener infra/side#http: "
        "jwt of SecurityPolicy infra/login does not apply there"
    )
    assert [str(each) for each in found.resources] == [
        "HTTPRoute shop/checkout",
        "SecurityPolicy infra/login",
        "Gateway infra/side",
    ]


def test_a_second_gateway_that_asks_too(tmp_path: Path) -> None:
    side = gateway("side")
    too = jwt("kind: Gateway, name: side", name="too", fields="basicAuth: {users: {name: x}}")
    assert opened(tmp_path, (EDGE, side, route(), ON_EDGE, too), (EDGE, side, route(parents=BOTH), ON_EDGE, too)) == []


def test_a_policy_of_the_route_follows_it(tmp_path: Path) -> None:
    own = jwt("kind: HTTPRoute, name: checkout", "shop")
    side = gateway("side")
    assert opened(tmp_path, (EDGE, side, route(), own), (EDGE, side, route(parents=BOTH), own)) == []


def test_a_route_that_moves_to_where_nobody_asks(tmp_path: Path) -> None:
    side = gateway("side")
    moved = route(parents="{name: side, namespace: infra}")
    (found,) = opened(tmp_path, (EDGE, side, route(), ON_EDGE), (EDGE, side, moved, ON_EDGE))
    assert "through Listener infra/side#http" in found.message


def test_a_gateway_gains_a_listener_outside_the_section_of_its_policy(tmp_path: Path) -> None:
    of_one = jwt("kind: Gateway, name: edge, sectionName: http")
    more = gateway("edge", listener("http", 80), listener("alt", 8080))
    routes = (route(), route(name="cart", hosts="cart.example.com"))
    (found,) = opened(tmp_path, (EDGE, *routes, of_one), (more, *routes, of_one))
    assert found.message.startswith(
        "2 routes can be reached without their authentication through Listener infra/edge#alt"
    )


def test_a_hostname_that_another_listener_answers_to(tmp_path: Path) -> None:
    two = gateway("edge", listener("shop", 80, "shop.example.com"), listener("www", 80, "www.example.com"))
    of_one = jwt("kind: Gateway, name: edge, sectionName: shop")
    both = route(hosts="shop.example.com, www.example.com")
    (found,) = opened(tmp_path, (two, route(), of_one), (two, both, of_one))
    assert "through Listener infra/edge#www" in found.message
    assert "Listener infra/edge#www serves one of these" in [each.message for each in found.related]


@pytest.mark.parametrize(
    ("new", "severity"),
    [
        pytest.param(rule("gifts", "/gifts"), "error", id="takes-from-the-rule-with-a-login"),
        pytest.param(rule("gifts", "/", ", headers: [{name: x-gift, value: a}]"), "error", id="by-a-header"),
        pytest.param(rule("gifts", "/gifts", backend="filters: [{type: RequestRedirect, requestRedirect: {}}]"), "",
                     id="redirects"),
        pytest.param(rule("gifts", "/gifts", backend="filters: [{type: ExtensionRef, extensionRef: {group: x, kind: Y, "
                          "name: z}}], backendRefs: [{name: checkout, port: 8080}]"), "", id="a-filter-may-ask"),
    ],
)  # fmt: skip
def test_a_new_rule_beside_one_with_a_login(tmp_path: Path, new: str, severity: str) -> None:
    found = opened(tmp_path, (EDGE, route(), ON_RULE), (EDGE, route(new, rule("all", "/")), ON_RULE))
    assert [each.severity for each in found] == [severity] * bool(severity)
    if found:
        assert found[0].message.startswith(
            "HTTPRoute shop/checkout loses its authentication for what its new rule gifts takes over"
        )


@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        ("/api", "/public", "warning"),
        ("/api", "/", "warning"),  # requests for /api go where they went
        ("/api", "/apis", "warning"),
        ("/api", "/api", "error"),  # of equals the first rule gets them
        ("/api", "/api/health", "error"),
    ],
)
def test_a_new_rule_takes_requests_or_brings_its_own(tmp_path: Path, old: str, new: str, severity: str) -> None:
    before = route(rule("all", old))
    after = route(rule("more", new), rule("all", old))
    (found,) = opened(tmp_path, (EDGE, before, ON_RULE), (EDGE, after, ON_RULE))
    assert found.severity == severity


@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        ("type: RegularExpression, value: '/api/v[0-9]+'", "type: Exact, value: /api/v1", "error"),
        ("type: RegularExpression, value: '/api/v[0-9]+'", "type: Exact, value: /api/x", "warning"),
        ("type: PathPrefix, value: /api", "type: RegularExpression, value: '/api/v[0-9]+'", "error"),  # who is first?
        ("type: RegularExpression, value: '/api/.*'", "type: RegularExpression, value: '/api/.*'", "error"),
    ],
)
def test_what_an_expression_takes_is_told_by_a_request(tmp_path: Path, old: str, new: str, severity: str) -> None:
    def with_path(name: str, path: str) -> str:
        return rule(name, "PATH").replace("value: PATH", path)

    before = route(with_path("all", old))
    after = route(with_path("more", new), with_path("all", old))
    (found,) = opened(tmp_path, (EDGE, before, ON_RULE), (EDGE, after, ON_RULE))
    assert found.severity == severity
    ranked = "RegularExpression" not in new or severity == "warning"
    assert (found.confidence == "certain") is ranked


def test_a_route_with_an_open_rule_may_have_another(tmp_path: Path) -> None:
    before = route(rule("all", "/api"), rule("health", "/health"))
    after = route(rule("all", "/api"), rule("health", "/health"), rule("ready", "/ready"))
    assert opened(tmp_path, (EDGE, before, ON_RULE), (EDGE, after, ON_RULE)) == []


def test_a_route_that_was_open_on_one_way_may_open_another(tmp_path: Path) -> None:
    worlds = (EDGE, gateway("side"), gateway("third"))
    before = route(parents=BOTH)
    after = route(parents=f"{BOTH}, {{name: third, namespace: infra}}")
    assert opened(tmp_path, (*worlds, before, ON_EDGE), (*worlds, after, ON_EDGE)) == []


def test_what_is_lost_everywhere_is_said_once(tmp_path: Path) -> None:
    side = gateway("side")
    found = opened(tmp_path, (EDGE, side, route(), ON_EDGE), (EDGE, side, route(parents=BOTH)))
    assert len(found) == 1
    assert "loses its authentication" in found[0].message


def test_a_policy_that_was_not_seen_may_ask(tmp_path: Path) -> None:
    side = gateway("side")
    unseen = jwt("kind: HTTPRoute, name: '${NAME}'", "shop", "other")
    before, after = (EDGE, side, route(), ON_EDGE, unseen), (EDGE, side, route(parents=BOTH), ON_EDGE, unseen)
    assert opened(tmp_path, before, after) == []


def test_one_cause_one_finding(tmp_path: Path) -> None:
    """The same opening is what GWP301 says of one state: that it is new is the better story."""
    names = ("checkout", "cart", "account")
    routes = [route(name=each, hosts=f"{each}.example.com", parents=BOTH) for each in names]
    side = jwt("kind: HTTPRoute, name: cart", "shop", "cart"), jwt("kind: HTTPRoute, name: account", "shop", "account")
    before = (EDGE, gateway("side"), route(hosts="checkout.example.com"), *routes[1:], ON_EDGE, *side, SERVICE)
    after = (EDGE, gateway("side"), *routes, ON_EDGE, *side, SERVICE)
    pair = sides(tmp_path, before, after)
    environments = compare([pair])
    found = [*run(pair.after), *removed_protections([pair], environments)]
    assert "GWP301" in {each.rule for each in found}
    new = [
        each.finding for each in compare_findings([pair], environments, run(pair.before), found) if each.state == "new"
    ]
    assert [each.rule for each in new if each.rule.startswith("GWP3")] == ["GWP302"]
    assert "through Listener infra/side#http" in next(each.message for each in new if each.rule == "GWP302")


def test_a_setting_that_is_switched_off_is_lost(tmp_path: Path) -> None:
    """`disable` in a child policy leaves the field there, and nothing that asks."""
    kgateway = """
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]
  apiKeyAuth: {value}
"""
    asks = kgateway.format(
        name="login", namespace="infra", target="kind: Gateway, name: edge", value="{secretRef: {name: keys}}"
    )
    off = kgateway.format(
        name="open", namespace="shop", target="kind: HTTPRoute, name: checkout", value="{disable: {}}"
    )
    keys = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: infra}\n"
    edge = EDGE.replace("gatewayClassName: envoy", "gatewayClassName: kgateway")
    (found,) = opened(tmp_path, (edge, route(), keys, asks), (edge, route(), keys, asks, off))
    assert "loses its authentication: apiKeyAuth" in found.message
    assert found.label == "TrafficPolicy shop/open prevails over it"


def test_a_rule_that_was_there_takes_over(tmp_path: Path) -> None:
    others = rule("rest", "/")
    (found,) = opened(
        tmp_path,
        (EDGE, route(rule("all", "/admin"), others), ON_RULE),
        (EDGE, route(rule("all", "/admins"), others), ON_RULE),
    )
    assert found.message.startswith(
        "HTTPRoute shop/checkout loses its authentication for what its rule rest takes over"
    )
