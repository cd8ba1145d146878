"""`policylint reach`: the ways in, what is asked on each, and what is not known, as a user reads it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.matches import Match, Miss
from policylint.trace import Request
from tests.worlds import gateway, gateway_class, route, service

LISTENERS = "listeners: [{name: http, port: 80, protocol: HTTP}]"
RULES = """rules: [
    {name: admin, matches: [{path: {value: /admin}}], backendRefs: [{name: app, port: 80}]},
    {name: other, matches: [{path: {value: /}, method: GET}], backendRefs: [{name: app, port: 80}]}]"""
BELOW = "---".join(
    (
        service("app"),
        route("web", parents="[{name: edge}]", more=f'hostnames: [shop.example.com, "*.example.com"], {RULES}'),
    )
)
SHOP = "---".join(
    (
        gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("edge", "shop", LISTENERS.partition(": ")[2], of_class="eg"),
        BELOW,
    )
)
LOGIN = """
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web, sectionName: admin}]
  JWT
"""
JWT = "jwt: {OPTIONALproviders: [{name: id, issuer: 'https://id', remoteJWKS: {uri: 'https://id/keys'}}]}"


def ways(world: Path, *options: str) -> list[dict[str, Any]]:
    """Return the ways of a world that `reach -o json` lists."""
    done = CliRunner().invoke(main, ["reach", str(world), "-o", "json", *options], standalone_mode=False)
    assert done.exception is None, done.exception
    listed: list[dict[str, Any]] = json.loads(done.stdout)["ways"]
    return listed


def said(listed: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(way["host"], way["requests"], way["asked"]["authentication"]["state"]) for way in listed]


def written(directory: Path, *manifests: str) -> Path:
    file = directory / "world.yaml"
    file.write_text("".join(manifests))
    return file


def test_each_rule_gets_what_those_before_it_leave(tmp_path: Path) -> None:
    world = written(tmp_path, SHOP, LOGIN.replace("JWT", JWT.replace("OPTIONAL", "")))
    assert said(ways(world)) == [
        ("shop.example.com", "/admin/**", "asked"),
        ("shop.example.com", "GET /** except /admin/**", "open"),
        ("*.example.com", "/admin/**", "asked"),
        ("*.example.com", "GET /** except /admin/**", "open"),
    ]
    (asked,) = ways(world)[0]["asked"]["authentication"]["by"]
    assert asked == {"setting": "jwt", "policy": "SecurityPolicy shop/login", "required": True}


def test_without_a_login(tmp_path: Path) -> None:
    world = written(tmp_path, SHOP, LOGIN.replace("JWT", JWT.replace("OPTIONAL", "")))
    assert {way["requests"] for way in ways(world, "--without", "authentication")} == {"GET /** except /admin/**"}
    assert len(ways(world, "--without", "jwt")) == 2
    assert len(ways(world, "--without", "cors")) == 4


def test_what_lets_requests_pass_is_not_asked(tmp_path: Path) -> None:
    world = written(tmp_path, SHOP, LOGIN.replace("JWT", JWT.replace("OPTIONAL", "optional: true, ")))
    assert said(ways(world))[0] == ("shop.example.com", "/admin/**", "optional")
    assert len(ways(world, "--without", "authentication")) == 4


def test_a_gateway_that_was_not_seen(tmp_path: Path) -> None:
    world = written(tmp_path, BELOW, LOGIN.replace("JWT", JWT.replace("OPTIONAL", "")))
    listed = ways(world)
    assert [way["port"] for way in listed] == [None] * 4
    assert [state for *_, state in said(listed)] == ["asked", "unknown"] * 2, "a policy of its own may ask"


@pytest.mark.parametrize("kind", ["ListenerSet", "XListenerSet"])
def test_a_listener_set_that_was_not_seen(tmp_path: Path, kind: str) -> None:
    group = "gateway.networking.k8s.io" if kind == "ListenerSet" else "gateway.networking.x-k8s.io"
    parents = f"[{{group: {group}, kind: {kind}, name: edge}}]"
    below = BELOW.replace("parentRefs: [{name: edge}]", f"parentRefs: {parents}")
    assert below != BELOW
    listed = ways(written(tmp_path, below))
    assert {way["gateway"] for way in listed} == {f"{kind} shop/edge"}
    assert {state for _, _, state in said(listed)} == {"unknown"}


def test_a_filter_that_cannot_be_looked_into(tmp_path: Path) -> None:
    extension = "filters: [{type: ExtensionRef, extensionRef: {group: a.b, kind: Auth, name: x}}], backendRefs"
    world = written(
        tmp_path,
        SHOP.replace("name: admin, matches", f"name: admin, {extension.partition(', backendRefs')[0]}, matches"),
    )
    states = {way["rule"].partition("#")[2]: way["asked"].get("authentication", {}).get("state") for way in ways(world)}
    assert states["admin"] != "open"


@pytest.mark.parametrize("backend", ["app", "gone"])
def test_an_external_authoriser_is_a_login(tmp_path: Path, backend: str) -> None:
    asking = f"{{type: ExternalAuth, externalAuth: {{protocol: HTTP, backendRef: {{name: {backend}, port: 80}}}}}}"
    first = "{name: admin, matches: [{path: {value: /admin}}],"
    elsewhere = SHOP.replace("gateway.envoyproxy.io/gatewayclass-controller", "example.net/edge")  # which reads them
    world = written(tmp_path, elsewhere.replace(first, f"{first} filters: [{asking}],"))
    admin = [way for way in ways(world) if way["requests"].startswith("/admin")]
    end = (None, "asked") if backend == "app" else (500, None)
    asked = [way["asked"].get("authentication", {}).get("state") for way in admin]
    assert {(way["outcome"].get("status"), state) for way, state in zip(admin, asked, strict=True)} == {end}


def test_a_filter_that_only_rewrites_asks_for_nothing(tmp_path: Path) -> None:
    filters = (
        "filters: [{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: x}}]"
    )
    rewrite = """
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: HTTPRouteFilter
metadata: {name: x, namespace: shop}
spec: {urlRewrite: {hostname: {type: Backend}}}
"""
    world = written(tmp_path, SHOP.replace("name: admin, matches", f"name: admin, {filters}, matches"), rewrite)
    assert {state for *_, state in said(ways(world))} == {"open"}


def test_client_certificates_are_a_login(tmp_path: Path) -> None:
    tls = "tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}}}"
    https = SHOP.replace(
        LISTENERS,
        f"listeners: [{{name: https, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{{name: tls}}]}}}}], {tls}",
    )
    pem = "-----BEGIN CERTIFICATE-----\\nMII=\\n-----END CERTIFICATE-----\\n"
    ca = f'---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: ca, namespace: shop}}\ndata: {{ca.crt: "{pem}"}}\n'
    listed = ways(written(tmp_path, https, ca))
    assert [way["asked"]["authentication"]["by"] for way in listed] == [
        [{"setting": "client certificate", "policy": "Gateway shop/edge", "required": True}]
    ] * 4


def test_calls_are_ways_of_their_own(tmp_path: Path) -> None:
    call = """
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  hostnames: [calls.example.net]
  rules: [{matches: [{method: {service: pkg.Cart, method: Add}}], backendRefs: [{name: app, port: 80}]}]
"""
    other = SHOP.replace("gateway.envoyproxy.io/gatewayclass-controller", "kgateway.dev/kgateway")
    (way,) = [way for way in ways(written(tmp_path, other, call)) if way["host"] == "calls.example.net"]
    assert (way["requests"], way["example"]) == ("pkg.Cart Add", "GRPC http://calls.example.net/pkg.Cart/Add")
    (way,) = [way for way in ways(written(tmp_path, SHOP, call)) if way["host"] == "calls.example.net"]
    assert (way["requests"], way["example"]) == ("/pkg.Cart/Add", "GET http://calls.example.net/pkg.Cart/Add"), (
        "Envoy Gateway takes every request with the path of a call"
    )


@pytest.mark.parametrize(("option", "value", "number"), [("--gateway", "edge", 4), ("--to", "Service/shop/app", 4)])
def test_ways_to_an_object(tmp_path: Path, option: str, value: str, number: int) -> None:
    assert len(ways(written(tmp_path, SHOP), option, value)) == number


def test_a_name_that_means_nothing(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["reach", str(written(tmp_path, SHOP)), "--to", "Service/shop/ap"])
    assert done.exit_code == 2
    assert "no object named 'Service/shop/ap'; did you mean Service shop/app?" in done.output


def test_the_list_for_a_spreadsheet(tmp_path: Path) -> None:
    world = written(tmp_path, SHOP.replace("/admin", "'=1+1'"))
    done = CliRunner().invoke(main, ["reach", str(world), "-o", "csv"], standalone_mode=False)
    table = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["goes to"] for row in table] == ["shop/app"] * len(table)
    assert not [cell for row in table for cell in row.values() if cell.startswith(("=", "+", "@"))]


def test_a_long_document_is_written_way_by_way_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = written(tmp_path, SHOP)
    whole = ways(world)
    monkeypatch.setattr("policylint.report.reach.MOST_INDENTED", 1)
    monkeypatch.setattr("policylint.report.reach._AT_ONCE", 2)
    done = CliRunner().invoke(main, ["reach", str(world), "-o", "json"], standalone_mode=False)
    assert json.loads(done.stdout)["ways"] == whole
    assert len(whole) > 2
    assert len(done.stdout.splitlines()) == len(whole) + 5


@pytest.mark.parametrize("bound", ["_MOST_STEPS", "_MOST_CELLS", "_MOST_CONTENDERS"])
def test_too_many_matches_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(f"policylint.reach.ways.{bound}", 2 if bound == "_MOST_STEPS" else 1)
    listed = ways(written(tmp_path, SHOP), "--to", "Service/shop/app")
    cut = [way for way in listed if "undecided" in way]
    assert {tuple(way["undecided"]) for way in cut} == {("too many matches",)}
    assert {way["asked"]["authentication"]["state"] for way in cut} == {"unknown"}
    assert {way["outcome"]["unknown"] for way in cut} == {True}
    done = CliRunner().invoke(main, ["reach", str(tmp_path / "world.yaml")], standalone_mode=False)
    assert "not known: too many matches to tell the requests of this host apart" in " ".join(done.stdout.split())


@pytest.mark.parametrize(("form", "number"), [("PathPrefix", 200), ("RegularExpression", 100)])
def test_the_work_grows_with_the_rules_and_not_with_their_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, number: int
) -> None:
    backends = "backendRefs: [{name: app, port: 80}]"
    values = [f"{{type: {form}, value: '/(a|b)*a(a|b){{20}}{each}'}}" for each in range(number)]
    rules = ", ".join(f"{{matches: [{{path: {value}}}], {backends}}}" for value in values)
    evaluated = 0
    original = Match.misses

    def counted(match: Match, request: Request) -> Iterator[Miss]:
        nonlocal evaluated
        evaluated += 1
        return original(match, request)

    monkeypatch.setattr(Match, "misses", counted)
    world = written(tmp_path, SHOP.replace(RULES, f"rules: [{rules}]").replace(', "*.example.com"', ""))
    assert len(ways(world)) > 50
    assert evaluated < 8 * number


def test_as_markdown(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["reach", str(written(tmp_path, SHOP)), "-o", "markdown"], standalone_mode=False)
    assert "| \\*.example.com | /admin/\\*\\* | shop/app | none |" in done.stdout


FIXTURES = sorted(place for place in (Path(__file__).parents[2] / "fixtures").iterdir() if place.is_dir())


@pytest.mark.parametrize("fixture", FIXTURES[::4], ids=lambda place: place.name)
def test_markdown_says_every_word_of_the_text(fixture: Path) -> None:
    def words(form: str) -> set[str]:
        told = CliRunner().invoke(main, ["reach", str(fixture), "-o", form], standalone_mode=False).stdout
        return set(re.findall(r"[\w/:%-]+", re.sub(r"[\\*]", " ", told).lower()))

    assert words("text") - words("markdown") == set()


MAKER = "\n---\napiVersion: aigateway.envoyproxy.io/v1alpha1\nkind: {}\nmetadata: {{name: chat, namespace: shop}}\n"


@pytest.mark.parametrize(
    ("more", "maker"),
    [
        ("", ""),
        (MAKER.format("AIGatewayRoute"), "AIGatewayRoute shop/chat makes HTTPRoute shop/chat"),
        (MAKER.format("MCPRoute"), "MCPRoute shop/chat makes HTTPRoute shop/ai-eg-mcp-main-chat"),
        (MAKER.format("BackendSecurityPolicy"), ""),
    ],
)
def test_routes_that_were_not_seen_are_named(tmp_path: Path, more: str, maker: str) -> None:
    world = written(tmp_path, SHOP + more)
    listed = CliRunner().invoke(main, ["reach", str(world)]).stdout
    missing = f"not listed: routes that {maker.partition(' makes ')[0]} may bring"
    assert (missing in listed.splitlines()) == bool(maker)
    assert (missing in CliRunner().invoke(main, ["reach", str(world), "-o", "markdown"]).stdout) == bool(maker)
    for host, open_to_it in (("chat.example.net", True), ("shop.example.com", False)):
        traced = CliRunner().invoke(main, ["trace", "GET", f"http://{host}/", str(world)]).stdout
        assert (f"note: a route that was not seen may take it: {maker}" in traced.splitlines()) == (
            bool(maker) and open_to_it
        )


def test_long_words_of_one_way_do_not_move_the_others(tmp_path: Path) -> None:
    long = "x-" + "a" * 80
    rules = f"""rules: [
        {{matches: [{{headers: [{{name: {long}, value: b}}]}}], backendRefs: [{{name: app, port: 80}}]}},
        {{matches: [{{path: {{value: /b}}}}], backendRefs: [{{name: app, port: 80}}]}}]"""
    world = written(tmp_path, SHOP.replace(RULES, rules))
    done = CliRunner().invoke(main, ["reach", str(world)], standalone_mode=False)
    assert any(long in line for line in done.stdout.splitlines())
    assert all(len(line) < 100 for line in done.stdout.splitlines() if long not in line)


def test_a_gateway_that_no_controller_serves_is_named(tmp_path: Path) -> None:
    """A file is the whole world: what it does not hold is missing, and lint and reach say the same of it."""
    file = tmp_path / "world.yaml"
    file.write_text(SHOP.replace("gatewayClassName: eg", "gatewayClassName: internal"))
    said = {
        name: CliRunner().invoke(main, [name, str(file)], standalone_mode=False).output for name in ("reach", "lint")
    }
    assert "not listed: Gateway shop/edge is not served" in said["reach"]
    assert "warning[GWP409]: Gateway shop/edge names missing GatewayClass internal" in said["lint"]


def models(*logins: str) -> str:
    """Two routes of one host by expressions of a header that have values in common, with logins at some of them."""
    world = [gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")]
    world += [gateway("edge", "shop", LISTENERS.partition(": ")[2], of_class="eg"), service("app")]
    for name, expression in (("vendor", "^[a-z-]+/.+"), ("claude", "^claude-.*")):
        match = f"{{headers: [{{name: x-model, type: RegularExpression, value: '{expression}'}}]}}"
        rules = f"rules: [{{matches: [{match}], backendRefs: [{{name: app, port: 80}}]}}]"
        world.append(route(name, parents="[{name: edge}]", more=f"hostnames: [ai.example.com], {rules}"))
    login = "apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: [{headers: [x-key]}]}"
    for target in logins:
        world.append(
            "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: SecurityPolicy, "
            f"metadata: {{name: {target}, namespace: shop}}, spec: {{targetRefs: [{{group: gateway.networking.k8s.io, "
            f"kind: HTTPRoute, name: {target}}}], {login}}}}}"
        )
    return "\n---\n".join(world)


@pytest.mark.parametrize(
    ("logins", "said"),
    [
        ((), {"open"}),  # whichever rule takes a request, nothing is asked
        (("vendor", "claude"), {"asked"}),
        (("vendor",), {"asked", "unknown"}),  # some of what the other one shows may be taken by the rule with a login
    ],
)
def test_rules_that_are_not_told_apart_and_ask_the_same(
    tmp_path: Path, logins: tuple[str, ...], said: set[str]
) -> None:
    listed = [way for way in ways(written(tmp_path, models(*logins))) if way.get("undecided")]
    assert {way["asked"]["authentication"]["state"] for way in listed if way["outcome"].get("backends")} == said
