"""`explain` as its users see it: the parable, names, folds, formats, what is not attached, what deleting changes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from policylint.explain.reach import reach
from tests import worlds
from tests.conftest import Golden

FIXTURES = Path(__file__).parents[2] / "fixtures"
BAKER, SHOP = "baker-parable", "envoy-gateway-shop"
WORLD = Path(__file__).parent / "worlds"


@pytest.fixture(autouse=True)
def _in_the_fixtures(apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are shown as seen from here, so that the golden files fit every checkout."""
    monkeypatch.chdir(apart / "fixtures")


def run(*words: str) -> Any:
    return CliRunner().invoke(main, ["explain", *words], standalone_mode=False)


def text(*words: str) -> str:
    result = run(*words)
    assert result.exception is None, repr(result.exception)
    return str(result.output)


def data(*words: str) -> dict[str, Any]:
    said = json.loads(text(*words, "-o", "json"))
    assert said["version"] == "explain-v1"
    (one,) = said["explanations"]
    found: dict[str, Any] = one
    return found


# The parable (GEP-713): «wait, you have to build tools to know if retries are turned on?»


def test_the_developer_learns_where_the_retries_come_from(golden: Golden) -> None:
    golden("baker-developer.txt", text("Deployment/baker/baker", "--field", "retry", BAKER))
    (setting,) = data("Deployment/baker/baker", BAKER)["contexts"][0]["policies"][0]["settings"]
    assert setting["policy"] == "RetryPolicy baker/retries-for-all"
    assert setting["level"] == "namespace"
    assert setting["location"]["file"].endswith("baker/retries.yaml") and setting["location"]["line"] == 13


def test_the_admin_learns_whom_it_carries(golden: Golden) -> None:
    golden("baker-admin.txt", text("RetryPolicy/baker/retries-for-all", BAKER))
    workloads = data("RetryPolicy/baker/retries-for-all", BAKER)["without"]["workloads"]
    assert workloads == ["Deployment baker/baker", "Deployment baker/oven", "StatefulSet baker/pantry"]


def test_a_route(golden: Golden) -> None:
    golden("checkout.txt", text("HTTPRoute/shop/checkout", SHOP))


def test_a_policy_that_loses(golden: Golden) -> None:
    golden("edge-jwt.txt", text("edge-jwt", SHOP))


def test_a_policy_with_a_misspelt_target() -> None:
    said = text("EnvoyExtensionPolicy/shop/headers", SHOP)
    assert 'no HTTPRoute "chekout"' in said or "chekout" in said
    assert "Reaches 1 of 1 route" in said and "error[GWP101]" in said


def test_a_listener_that_gets_none_of_the_requests_of_a_route(tmp_path: Path) -> None:
    """Of the listeners on a port the most specific one takes a host, whatever routes it has (GatewaySpec.Listeners)."""
    listeners = (
        "{name: any, port: 80, protocol: HTTP}, {name: wild, port: 80, protocol: HTTP, hostname: '*.example.com'}"
    )
    places = {"a.example.com": "any", "'*.example.com'": "any", "example.com": "", "'*.com'": ""}
    for host, idle in places.items():
        objects = (
            worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
            worlds.gateway("edge", "shop", f"[{listeners}]", of_class="eg"),
            worlds.service("app"),
            worlds.route("web", parents="[{name: edge}]", more=f"hostnames: [{host}]"),
        )
        (tmp_path / "world.yaml").write_text("---".join(objects))
        said = text("HTTPRoute/web", str(tmp_path / "world.yaml"))
        assert ("idle" in said, f"listener {idle} gets none" in said) == (bool(idle), bool(idle)), said


# Names


@pytest.mark.parametrize(
    "name",
    [
        "HTTPRoute/shop/checkout",
        "HTTPRoute/checkout",
        "httproute/checkout",
        "HTTPRoutes/checkout",
        "HTTPRoute shop/checkout",
        "HTTPRoute.gateway.networking.k8s.io/shop/checkout",
        "checkout",
        "shop/checkout",
    ],
)
def test_a_name_in_many_spellings(name: str) -> None:
    """A bare name that a route and its Service share means the route."""
    assert text(name, SHOP).startswith("HTTPRoute shop/checkout")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("HTTPRoute/shop/chekout",), "did you mean HTTPRoute/shop/checkout"),
        (("HTTPRoute/shop/check",), "did you mean HTTPRoute/shop/checkout"),
        (("HTPRoute/checkout",), "did you mean Service/shop/checkout or HTTPRoute/shop/checkout"),
        (("zzzzzz",), 'no object named "zzzzzz"; use Kind/namespace/name'),
        (("HTTPRoute/checkout", "--rule", "7"), "has no '7'; it has pay, canary, all"),
        (("HTTPRoute/checkout", "--without"), "HTTPRoute/shop/checkout is none"),
        (("HTTPRoute/checkout", "--without", "Service/cart"), "wants a policy: Service/shop/cart is none"),
        (("GWP299",), "no such rule: 'GWP299'"),
    ],
)
def test_names_that_are_not_clear_are_helped(words: tuple[str, ...], complaint: str) -> None:
    name, *rest = words
    assert complaint in str(run(name, *rest[:1], *rest[1:], "-C", SHOP).exception)


def test_a_wrong_name_exits_2() -> None:
    assert CliRunner().invoke(main, ["explain", "zzz", SHOP]).exit_code == 2


def test_a_rule_page() -> None:
    assert text("gwp201").startswith("GWP201 parent-setting-dropped")


# What is asked


def test_a_rule_by_number_or_name() -> None:
    one, other = data("HTTPRoute/checkout", "--rule", "2", SHOP), data("HTTPRoute/checkout#canary", SHOP)
    assert one == other
    assert one["object"] == "HTTPRouteRule shop/checkout#canary"
    assert all("HTTPRouteRule shop/checkout#canary" in path for each in one["contexts"] for path in each["paths"])


def test_a_field() -> None:
    said = text("HTTPRoute/checkout", "--field", "jwt", SHOP)
    assert "dropped by" in said and "rateLimit" not in said and "GWP201" in said
    assert "no policy sets nonsense" in text("HTTPRoute/checkout", "--field", "nonsense", SHOP)
    assert "requests 100" in text("HTTPRoute/checkout", "--field", "rateLimit.local", SHOP)


def test_a_listener() -> None:
    said = data("Gateway/infra/edge#https", SHOP)
    assert said["object"] == "Listener infra/edge#https"
    assert said["facts"][1]["value"].startswith("https: *.example.com:443 HTTPS, 2 routes") or said["facts"]


def test_contexts_that_differ_are_shown_apart() -> None:
    said = data("Gateway/edge", SHOP)
    assert [each["where"] for each in said["contexts"]] == ["HTTPRoute shop/checkout", "HTTPRoute shop/cart"]


def test_a_service_is_acted_on_by_what_its_requests_meet() -> None:
    said = data("Service/cart", SHOP)
    fields = {each["field"] for policy in said["contexts"][0]["policies"] for each in policy["settings"]}
    assert {"jwt", "rateLimit", "lua"} <= fields


def test_without_another_policy() -> None:
    said = data("HTTPRoute/cart", "--without", "edge-jwt", SHOP)
    assert said["without"]["changes"][0]["objects"] == ["HTTPRoute shop/cart"]
    assert said["without"]["changes"][0]["settings"][0]["field"] == "jwt"
    assert data("HTTPRoute/checkout", "--without", "edge-jwt", SHOP)["without"]["changes"] == []


def test_the_winner_gone_gives_the_loser_back() -> None:
    said = data("checkout-cors", SHOP)["without"]
    changes = {each["field"]: each["change"] for each in said["changes"][0]["settings"]}
    assert changes == {"cors": "-", "jwt": "+"}
    assert said["policies"] == [
        {"policy": "SecurityPolicy infra/edge-jwt", "before": "PartiallyEnforced", "after": "Enforced"}
    ]


# Formats


def test_yaml_is_the_same_data() -> None:
    said = yaml.safe_load(text("HTTPRoute/checkout", "-o", "yaml", SHOP))
    assert said["explanations"][0] == data("HTTPRoute/checkout", SHOP)


@pytest.mark.parametrize(
    ("name", "world"),
    [
        ("HTTPRoute/checkout", SHOP),
        ("edge-jwt", SHOP),
        ("Gateway/edge", SHOP),
        ("RetryPolicy/baker/retries-for-all", BAKER),
        ("Deployment/baker/baker", BAKER),
        ("RateLimitPolicy/platform/api-ceiling", "kuadrant-platform"),
        ("Gateway/external", "kuadrant-platform"),
        ("Deployment/shop/checkout", "network-shop"),
        ("NetworkPolicy/shop/default-deny", "network-shop"),
        ("Policy/policies/deny-all", "ocm-fleet"),
    ],
)
def test_no_format_says_less_than_another(name: str, world: str) -> None:
    said = text(name, world).rpartition("More ")[0].replace("KIND / SETTING", "")
    page = text(name, world, "-o", "markdown").replace("&#8203;", "").replace("&gt;", ">").lower()
    words = {word for word in re.findall(r"[\w./-]*\w(?![\w…])", said.lower()) if word not in ("not", "value", "from")}
    assert {word for word in words if word not in page} == set()


def test_markdown(golden: Golden) -> None:
    golden("checkout.md", text("HTTPRoute/checkout", "-o", "markdown", SHOP))
    assert "```diff" in text("edge-jwt", "-o", "markdown", SHOP)


def test_what_manifests_hold_cannot_disturb(tmp_path: Path) -> None:
    bad = yaml.safe_load((FIXTURES / "envoy-gateway-shop/shop/checkout-cors.yaml").read_text())
    bad["spec"]["cors"] = {"allowOrigins": ["\x1b[31m|`evil`\n@team"]}
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(bad))
    (tmp_path / "b.yaml").write_text((FIXTURES / "envoy-gateway-shop/shop/checkout.yaml").read_text())
    (tmp_path / "c.yaml").write_text((FIXTURES / "envoy-gateway-shop/infra/gateway.yaml").read_text())
    assert "\x1b" not in text("HTTPRoute/checkout", str(tmp_path))
    said = text("HTTPRoute/checkout", "-o", "markdown", str(tmp_path))
    assert "@team" not in said.replace("@&#8203;team", "")


# A world of its own for what the fixtures do not have


def test_unattached_policies_say_why() -> None:
    said = {
        each["policy"].partition("/")[2]: each["why"] for each in data("HTTPRoute/shop/pay", str(WORLD))["notAttached"]
    }
    assert said["younger"] == "refused: shop/older claimed it first"
    assert said["typo"] == 'not attached: its target "payy" does not exist'
    assert said["section"].startswith("not attached: ")


def test_rules_that_differ_are_told_apart() -> None:
    wheres = {each["where"]: len(each["policies"]) for each in data("HTTPRoute/shop/pay", str(WORLD))["contexts"]}
    assert wheres == {"rule one": 1, "rule two": 2}


def test_a_namespace_that_no_manifest_makes() -> None:
    assert "(no manifest makes it)" in text("Namespace/shop", str(WORLD))


def test_names_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.shell_completion import ShellComplete

    (tmp_path / "routes.yaml").write_text((FIXTURES / "envoy-gateway-shop/shop/checkout.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    found = ShellComplete(main, {}, "policylint", "_POLICYLINT_COMPLETE").get_completions(
        ["explain"], "HTTPRoute/shop/c"
    )
    assert [each.value for each in found] == ["HTTPRoute/shop/checkout"]


def test_a_policy_on_two_gateways_is_told_once(tmp_path: Path) -> None:
    """Contexts that give the same answer are folded, though each Gateway has the policy by an attachment of its own."""
    gateway = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {0}, namespace: infra}}
spec:
  gatewayClassName: envoy
  listeners: [{{name: http, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}]
---"""
    (tmp_path / "world.yaml").write_text(
        gateway.format("inside")
        + gateway.format("outside")
        + """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: both, namespace: infra}
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: Gateway, name: inside}
    - {group: gateway.networking.k8s.io, kind: Gateway, name: outside}
  http3: {}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: inside, namespace: infra}, {name: outside, namespace: infra}]
  hostnames: ["Shop.${SECRET_DOMAIN}"]
  rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]
"""
    )
    said = data("HTTPRoute/shop/shop", str(tmp_path))
    (context,) = said["contexts"]
    assert len(context["paths"]) == 2
    assert len(said["chains"]) == 2
    assert {"name": "hosts", "value": "shop.${SECRET_DOMAIN}"} in said["facts"]
    assert "the same for 2 contexts" in text("HTTPRoute/shop/shop", str(tmp_path))


@pytest.mark.parametrize(
    "name",
    ["Listener infra/edge#https", "HTTPRouteRule shop/checkout#pay", "ServicePort shop/checkout#http"],
)
def test_sections_are_taken_as_the_output_writes_them(name: str) -> None:
    assert text(name, SHOP).startswith(name)


def test_a_revision_of_the_directory_that_is_named(tmp_path: Path) -> None:
    """-C names what is asked for also where it is that of a revision: files are named as seen from there, and what is
    deployed beside it is known, but not with --isolated."""
    import shutil
    import subprocess

    for name in (SHOP, "kuadrant-platform"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)
    said = data("Gateway/infra/edge", "-C", str(tmp_path / SHOP), "--at", "HEAD")
    assert said["location"]["file"] == "infra/gateway.yaml"
    assert data("Gateway/platform/external", "-C", str(tmp_path / SHOP), "--at", "HEAD")
    gone = run("Gateway/platform/external", "-C", str(tmp_path / SHOP), "--at", "HEAD", "--isolated")
    assert "no object named" in str(gone.exception)


@pytest.mark.parametrize("name", ["HTTPRoute/checkout", "HTTPRoute/cart", "edge-jwt", "EnvoyExtensionPolicy/headers"])
@pytest.mark.parametrize("columns", [80, 160])
def test_it_fits_the_terminal(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policylint.cli.output._on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = click.unstyle(text(name, SHOP)).splitlines()
    assert [line for line in lines if len(line) > columns] == []
    if columns > 100 and name != "EnvoyExtensionPolicy/headers":
        assert max(map(len, lines)) == columns, "the title goes to the end of the line"


def test_a_policy_that_sets_nothing_is_said_to(tmp_path: Path) -> None:
    empty = worlds.policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "none", "HTTPRoute/shop", "", "shop")
    route = worlds.route("shop", parents="[{name: edge}]", more="rules: [{backendRefs: [{name: shop, port: 80}]}]")
    manifests = "---".join((worlds.ENVOY_EDGE.removesuffix("---\n"), route, worlds.service("shop"), empty))
    (tmp_path / "all.yaml").write_text(manifests, encoding="utf-8")
    assert "not      HTTPRoute shop/shop: it sets nothing" in text("SecurityPolicy/shop/none", "-C", str(tmp_path))


def test_an_authorization_policy_without_rules_is_said_to_deny(tmp_path: Path) -> None:
    file = tmp_path / "nobody.yaml"
    kind = "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\n"
    file.write_text(kind + "metadata: {name: nobody, namespace: shop}\nspec: {}\n", encoding="utf-8")
    said = text("nobody", str(file))
    assert "does      denies everything" in said and "sets" not in said
    file.write_text(kind + "metadata: {name: nobody, namespace: shop}\nspec: {action: DENY}\n", encoding="utf-8")
    assert "does      denies nothing" in text("nobody", str(file))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{}", "denies everything"),
        ("{rules: [{}]}", "allows everything"),
        ("{rules: [{to: [{operation: {ports: ['80']}}]}]}", "allows what its rule matches"),
        ("{action: DENY, rules: [{}]}", "denies everything"),
        ("{action: DENY, rules: [{from: []}, {to: []}]}", "denies what one of its 2 rules matches"),
        ("{action: CUSTOM, provider: {name: opa}, rules: [{}]}", "asks opa about everything"),
    ],
)
@pytest.mark.parametrize("wide", [80, 160])
def test_a_workload_says_what_its_authorization_policies_do(
    spec: str, words: str, wide: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policylint.cli.output._on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(wide))
    file = tmp_path / "world.yaml"
    file.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"
        "spec: {template: {metadata: {labels: {app: web}}}}\n---\n"
        "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: who, namespace: shop}\n"
        f"spec: {spec}\n",
        encoding="utf-8",
    )
    assert (words if wide > 100 else words[:11]) in click.unstyle(text("Deployment/web", str(file)))


@pytest.mark.parametrize(("labels", "routes"), [("", 0), ("istio.io/ingress-use-waypoint: 'true'", 1)])
def test_a_policy_behind_a_waypoint_reaches_the_routes_that_pass_it(labels: str, routes: int) -> None:
    """Requests of an ingress Gateway go past the waypoint, unless a label says otherwise."""
    policy = worlds.policy("security.istio.io/v1", "AuthorizationPolicy", "p", "Service/web", "rules: [{}]", "shop")
    found = worlds.simulated(
        worlds.labelled("shop", "{istio.io/dataplane-mode: ambient, istio.io/use-waypoint: way}"),
        worlds.gateway("way", "shop", "[{name: mesh, port: 15008, protocol: HBONE}]", of_class="istio-waypoint"),
        worlds.gateway(of_class="istio"),
        worlds.route("web", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        worlds.service("web", labels=labels),
        policy,
    )
    assert len(reach(found, worlds.state(found, "p")).routes) == routes


def test_an_object_that_nothing_deploys_is_said_to_be_there(tmp_path: Path) -> None:
    for name, content in UNDEPLOYED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    said = str(run("NetworkPolicy/shop/closed", str(tmp_path)).exception)
    assert "/policies/closed.yaml, which nothing deploys here" in said
    assert "NetworkPolicy shop/closed" in text("NetworkPolicy/shop/closed", str(tmp_path / "policies"))


CLOSED = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: NAME, namespace: shop}
spec: {podSelector: {}}
"""
UNDEPLOYED = {
    "bootstrap/app.yaml": """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/platform.git, path: apps}
  destination: {server: https://kubernetes.default.svc, namespace: shop}
""",
    "apps/open.yaml": CLOSED.replace("NAME", "open"),
    "policies/closed.yaml": CLOSED.replace("NAME", "closed"),
}


def test_a_policy_that_prevails_says_over_whom() -> None:
    over = data("RateLimitPolicy/platform/api-ceiling", "kuadrant-platform")["overrides"]
    assert over == [
        {"policy": "RateLimitPolicy platform/fair-use", "settings": ["limits"], "whole": False},
        {"policy": "RateLimitPolicy team-b/orders", "settings": ["limits"], "whole": False},
    ]
    named = "limits of RateLimitPolicy platform/fair-use and limits of RateLimitPolicy team-b/orders"
    assert f"  overrides  {named}\n" in text("RateLimitPolicy/platform/api-ceiling", "kuadrant-platform")
    assert f"- overrides: {named}\n" in text(
        "RateLimitPolicy/platform/api-ceiling", "kuadrant-platform", "-o", "markdown"
    ).replace("\\", "")
    assert data("RateLimitPolicy/platform/fair-use", "kuadrant-platform")["overrides"] == []


KUADRANT_RULES = "rules: {authentication: {id: {jwt: {issuerUrl: 'https://id.example.com'}}}}"


@pytest.mark.parametrize(("other", "said"), [("/", True), ("/pay-later", False)])
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_policy_that_acts_on_some_requests_of_a_rule_says_so(
    tmp_path: Path, form: str, other: str, said: bool
) -> None:
    """Kuadrant's filter chooses by the letters of a path: /pay-later begins with /pay, and the rest of / does not."""
    to = "backendRefs: [{name: checkout, port: 80}]"
    pay, more = (
        f"{{name: {name}, matches: [{{path: {{type: PathPrefix, value: {path}}}}}], {to}}}"
        for name, path in (("pay", "/pay"), ("more", other))
    )
    file = tmp_path / "world.yaml"
    objects = (
        worlds.gateway_class("any", "istio.io/gateway-controller"),
        worlds.gateway(),
        worlds.route(more=f"rules: [{pay}, {more}]"),
        worlds.service(),
        worlds.policy(
            "kuadrant.io/v1", "AuthPolicy", "own", "HTTPRoute/checkout#pay", KUADRANT_RULES, "shop", field="targetRef"
        ),
    )
    file.write_text("---\n".join(objects))
    words = "someRequests" if form == "json" else "some of its requests"
    of_policy = run("AuthPolicy/shop/own", str(file), "-o", form).output
    of_route = run("HTTPRoute/shop/checkout", str(file), "-o", form).output
    assert (words in " ".join(of_policy.split())) == said
    assert (("someRequests" if form == "json" else "to some requests") in " ".join(of_route.split())) == said
