"""Guardrails: what must hold for all requests and connections, with a witness where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from policylint.guardrails import GuardrailVerdict, guardrails, verdicts
from tests.compare.test_requests import (
    ADMIN,
    ALLOW,
    APP,
    BASIC,
    CLASS,
    EDGE,
    JWT,
    NEW,
    OF_ADMIN,
    REST,
    UNSEEN,
    login,
    rule,
    web,
)
from tests.worlds import GATEWAY_API, manifest, opened, route, service

LOGIN = "{name: log in, ask: authentication}"


def judged(tmp_path: Path, entry: str, *manifests: str) -> GuardrailVerdict:
    """Return what becomes of one guardrail in a world of an Envoy Gateway."""
    (verdict,) = verdicts(opened(tmp_path, CLASS, EDGE, APP, *manifests), guardrails([yaml.safe_load(entry)]))
    return verdict


def whats(verdict: GuardrailVerdict) -> list[str]:
    return [breach.what for breach in verdict.breaches]


def test_all_are_asked(tmp_path: Path) -> None:
    verdict = judged(tmp_path, LOGIN, web(ADMIN, REST), login())
    assert (verdict.state, verdict.held) == ("holds", (("jwt by shop/login", 2),))


def test_a_rule_that_no_policy_is_about(tmp_path: Path) -> None:
    verdict = judged(tmp_path, LOGIN, web(ADMIN, REST), login(target=OF_ADMIN))
    assert verdict.state == "broken"
    assert whats(verdict) == ["shop.example.com /** except /admin/** through Gateway infra/edge"]
    (breach,) = verdict.breaches
    assert breach.shows == ("GET", "http://shop.example.com/", "--gateway", "Gateway/infra/edge")
    assert breach.why == "no authentication on the way to shop/app"


@pytest.mark.parametrize(
    ("narrowing", "left"),
    [
        ("requests: {gateway: infra/edge}", ["/** except /admin/**"]),
        ("requests: {gateway: 'infra/*'}", ["/** except /admin/**"]),
        ("requests: {gateway: other/edge}", []),
        ("requests: {gateway: Gateway/infra/edge}", ["/** except /admin/**"]),
        ("requests: {gateway: gateways/infra/*}", ["/** except /admin/**"]),
        ("requests: {gateway: Gateway infra/edge}", ["/** except /admin/**"]),
        ("requests: {gateway: Gateway.gateway.networking.k8s.io/infra/edge}", ["/** except /admin/**"]),
        ("requests: {gateway: Gateway.networking.istio.io/infra/edge}", []),
        ("requests: {gateway: IngressClass/infra/edge}", []),
        ("requests: {host: '*.example.com'}", ["/** except /admin/**"]),
        ("requests: {host: shop.example.net}", []),
        ("requests: {path: /admin/**}", []),
        ("requests: {path: /api/**}", ["/api/**"]),
        ("requests: {path: /api}", ["/api"]),
        ("requests: {method: post}", ["POST /** except /admin/**"]),
        ("except: [{path: /**}]", []),
        ("except: [{path: /healthz}]", ["/** except /admin/** or /healthz"]),
        (
            "except: [{path: /healthz, method: GET}]",
            ["not GET /** except /admin/** or /** except /admin/** or /healthz"],
        ),
        ("except: [{host: shop.example.com}]", []),
        ("except: [{host: www.example.com}]", ["/** except /admin/**"]),
    ],
)
def test_requests_and_exceptions(tmp_path: Path, narrowing: str, left: list[str]) -> None:
    entry = f"{{name: log in, ask: authentication, {narrowing}}}"
    verdict = judged(tmp_path, entry, web(ADMIN, REST), login(target=OF_ADMIN))
    said = [
        what.removeprefix("shop.example.com ").removesuffix(" through Gateway infra/edge") for what in whats(verdict)
    ]
    assert said == left


def test_a_host_that_only_the_guardrail_tells_apart(tmp_path: Path) -> None:
    entry = "{name: log in, ask: authentication, except: [{host: status.example.com}]}"
    verdict = judged(tmp_path, entry, web(hosts="*.example.com"))
    assert whats(verdict) == ["*.example.com every request through Gateway infra/edge"]
    assert (
        judged(
            tmp_path,
            entry.replace("status", "*").replace(": *.", ": '*.").replace(".com}", ".com'}"),
            web(hosts="*.example.com"),
        ).state
        == "idle"
    )


@pytest.mark.parametrize(
    ("ask", "setting", "state"),
    [
        ("jwt", JWT, "holds"),
        ("jwt", BASIC, "broken"),
        ("jwt", JWT.replace("jwt: {", "jwt: {optional: true, "), "broken"),
        ("authentication", BASIC, "holds"),
        ("authorization", f"{JWT}, {ALLOW}", "holds"),
        ("authorization", JWT, "broken"),
        ("cors", "cors: {allowOrigins: ['https://a.b']}", "holds"),
        ("{issuer: 'https://id'}", JWT, "holds"),
        ("{issuer: 'https://other'}", JWT, "broken"),
        ("{issuer: 'https://id'}", BASIC, "broken"),
    ],
)
def test_what_may_be_asked(tmp_path: Path, ask: str, setting: str, state: str) -> None:
    assert judged(tmp_path, f"{{name: x, ask: {ask}}}", web(), login(setting)).state == state


def test_redirects_give_nothing_away(tmp_path: Path) -> None:
    redirect = "{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}"
    assert judged(tmp_path, LOGIN, web(redirect)).state == "idle"


def test_what_rests_on_the_unseen_is_unknown(tmp_path: Path) -> None:
    (verdict,) = verdicts(opened(tmp_path, APP, web(parents=UNSEEN)), guardrails([yaml.safe_load(LOGIN)]))
    assert verdict.state == "unknown"
    assert verdict.breaches[0].unknown == "Gateway infra/elsewhere was not seen"


ALL_TO_APP = "rules: [{backendRefs: [{name: app, port: 80}]}]"
OUT_OF_SIGHT = {
    "two listeners": (
        web(name="one", parents="[{name: elsewhere, namespace: infra, sectionName: one}]"),
        web(rule("/", "new"), name="two", parents="[{name: elsewhere, namespace: infra, sectionName: two}]"),
    ),
    "connections": (route("one", kind="TCPRoute", parents=UNSEEN, more=ALL_TO_APP),),
    "datagrams": (route("one", kind="UDPRoute", parents=UNSEEN, more=ALL_TO_APP),),
    "server names": (route("one", kind="TLSRoute", parents=UNSEEN, more=f"hostnames: [a.example.com], {ALL_TO_APP}"),),
    "a port": (
        route("one", kind="TCPRoute", parents="[{name: elsewhere, namespace: infra, port: 5432}]", more=ALL_TO_APP),
    ),
}
KEEPING_OUT = ("never: {from: outside", "only: {from: 10.0.0.0/8")


@pytest.mark.parametrize("routes", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
@pytest.mark.parametrize(
    "entry",
    [
        LOGIN,
        "{name: x, ask: authentication, requests: {route: shop/one}}",
        *(f"{{name: x, {form}, to: Service/shop/app}}}}" for form in KEEPING_OUT),
    ],
)
def test_a_route_that_may_take_requests_out_of_sight_is_named(
    tmp_path: Path, entry: str, routes: tuple[str, ...]
) -> None:
    (verdict,) = verdicts(opened(tmp_path, APP, NEW, *routes), guardrails([yaml.safe_load(entry)]))
    assert verdict.state == "unknown"
    assert {breach.resource.path for breach in verdict.breaches} == {"shop/one"}


@pytest.mark.parametrize("host", ["shop.example.com", "www.example.com"])
def test_requests_out_of_sight_that_cannot_be_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr("policylint.reach.ways._MOST_CELLS", 0)
    entry = f"{{name: x, ask: authentication, requests: {{host: {host}}}}}"
    routes = web(parents="[{name: elsewhere, namespace: infra, port: 80}]")
    (verdict,) = verdicts(opened(tmp_path, APP, routes), guardrails([yaml.safe_load(entry)]))
    assert verdict.state == "unknown"
    assert {breach.resource.path for breach in verdict.breaches} == {"shop/web"}


def test_rules_that_are_not_told_apart_are_unknown(tmp_path: Path) -> None:
    first, second = (
        rule(f"'{path}'", more=f"name: {name}, ", kind="RegularExpression")
        for name, path in (("a", "/(a|b)[a-z]{0,9}"), ("b", "/[ab][a-z]{0,9}"))
    )
    verdict = judged(tmp_path, LOGIN, web(first, second), login())
    assert verdict.state == "unknown"
    assert "policylint cannot tell these requests apart" in verdict.breaches[0].unknown


NEVER = "{name: x, never: {from: outside, to: TO}}"


@pytest.mark.parametrize(
    ("target", "state"),
    [
        ("Service/shop/app", "broken"),
        ("Service/*", "broken"),
        ("namespace/shop", "broken"),
        ("Service/shop/other", "holds"),
    ],
)
def test_nothing_outside_gets_there(tmp_path: Path, target: str, state: str) -> None:
    assert judged(tmp_path, NEVER.replace("TO", target), web(), service("other")).state == state


def test_a_service_that_is_published_by_itself(tmp_path: Path) -> None:
    published = manifest("v1", "Service", "other", "shop", "spec: {type: LoadBalancer, ports: [{port: 80}]}")
    (breach,) = judged(tmp_path, NEVER.replace("TO", "Service/shop/other"), published).breaches
    assert breach.why == "reaches Service shop/other"


def workload(name: str, namespace: str) -> str:
    labels = f"{{app: {name}}}"
    template = f"{{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: a}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {labels}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", name, namespace, spec)


def allowing(*namespaces: str) -> str:
    peers = ", ".join(
        f"{{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {name}}}}}}}" for name in namespaces
    )
    spec = (
        f"spec: {{podSelector: {{}}, policyTypes: [Ingress], ingress: [{{from: [{peers}], ports: [{{port: 5432}}]}}]}}"
    )
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "db", "db", spec)


DB = (workload("postgres", "db"), workload("web", "shop"), workload("job", "labs"))
ONLY = "{name: x, only: {from: [namespace/shop], to: Deployment/db/postgres, port: 5432}}"
LABS = "{name: x, never: {from: namespace/labs, to: Deployment/db/postgres}}"


def connected(tmp_path: Path, entry: str, *manifests: str) -> GuardrailVerdict:
    (verdict,) = verdicts(opened(tmp_path, *manifests), guardrails([yaml.safe_load(entry)]))
    return verdict


def test_only_some_may_connect(tmp_path: Path) -> None:
    assert connected(tmp_path, ONLY, *DB, allowing("shop")).state == "holds"
    verdict = connected(tmp_path, ONLY, *DB, allowing("shop", "labs"))
    assert [(breach.what, breach.why) for breach in verdict.breaches] == [
        ("Deployment labs/job", "may connect to Deployment db/postgres on port 5432")
    ]
    assert verdict.breaches[0].shows[-2:] == ("--port", "5432")
    assert "an address outside" in whats(connected(tmp_path, ONLY, *DB))


def test_some_may_never_connect_on_any_port(tmp_path: Path) -> None:
    assert connected(tmp_path, LABS, *DB, allowing("shop")).state == "holds"
    assert connected(tmp_path, LABS, *DB, allowing("labs")).state == "broken"
    assert connected(tmp_path, LABS, *DB).state == "broken"


def run(directory: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*arguments, "--config", str(directory / ".policylint.yaml")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


def laid(tmp_path: Path, require: str, *manifests: str) -> Path:
    (tmp_path / "world").mkdir(parents=True)
    (tmp_path / "world" / "world.yaml").write_text("---\n".join((CLASS, EDGE, APP, *manifests)), encoding="utf-8")
    (tmp_path / ".policylint.yaml").write_text(f"require:\n  - {require}\n", encoding="utf-8")
    return tmp_path


def found(directory: Path, *options: str) -> list[dict[str, Any]]:
    _, out = run(directory, "lint", str(directory / "world"), "--select", "GWP320", "-o", "json", *options)
    listed: list[dict[str, Any]] = json.loads(out)["findings"]
    return listed


def test_the_finding_stands_at_the_rule(tmp_path: Path) -> None:
    directory = laid(tmp_path, LOGIN, web(ADMIN, REST), login(target=OF_ADMIN))
    (finding,) = found(directory)
    assert finding["message"].startswith(
        "guardrail `log in` does not hold: shop.example.com /** except /admin/** through"
    )
    assert finding["location"]["file"].endswith("world.yaml")
    _, out = run(directory, "lint", str(directory / "world"), "--select", "GWP320")
    assert "see: policylint trace GET http://shop.example.com/ --gateway Gateway/infra/edge\n" in out


def test_unknown_is_counted_and_shown_on_request(tmp_path: Path) -> None:
    directory = laid(tmp_path, LOGIN, web(parents=UNSEEN).replace("infra", "far"))
    assert found(directory) == []
    (finding,) = found(directory, "--show-unknown")
    assert finding["confidence"] == "unknown"
    assert "may not hold" in finding["message"]


def test_one_that_guards_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (finding,) = found(laid(tmp_path, "{name: log in, requests: {gateway: far/away}, ask: jwt}", web()))
    assert (finding["severity"], finding["location"]["line"]) == ("warning", 2)
    assert "guards nothing" in finding["message"]


@pytest.mark.parametrize(
    ("exception", "left"),
    [
        ("{route: shop/web}", []),
        ("{route: 'shop/*', path: /admin/**, reason: own login}", ["/** except /admin/**"]),
        ("{route: shop/other}", ["every request"]),
        ("{route: shop/web, host: www.example.com}", ["every request"]),
    ],
)
def test_a_route_is_exempt(tmp_path: Path, exception: str, left: list[str]) -> None:
    verdict = judged(tmp_path, f"{{name: log in, ask: authentication, except: [{exception}]}}", web(rule("/")))
    assert whats(verdict) == [f"shop.example.com {each} through Gateway infra/edge" for each in left]


def test_a_route_of_connections_is_exempt(tmp_path: Path) -> None:
    listeners = "[{name: db, port: 5432, protocol: TCP}]"
    edge = manifest(
        f"{GATEWAY_API}/v1", "Gateway", "db", "infra", f"spec: {{gatewayClassName: eg, listeners: {listeners}}}"
    )
    sent = "rules: [{backendRefs: [{name: db, port: 5432}]}]"
    route = manifest(
        f"{GATEWAY_API}/v1alpha2", "TCPRoute", "db", "infra", f"spec: {{parentRefs: [{{name: db}}], {sent}}}"
    )
    for exception, state in (("{route: infra/db}", "idle"), ("{path: /db}", "broken"), ("{route: infra/x}", "broken")):
        directory = tmp_path / exception[1:].partition(":")[0] / state
        directory.mkdir(parents=True)
        entry = f"{{name: log in, ask: authentication, except: [{exception}]}}"
        assert judged(directory, entry, edge, route, service("db", "infra", "[{port: 5432}]")).state == state


@pytest.mark.parametrize(
    ("exception", "named", "why"),
    [
        ("{path: /admin/**}", "/admin/**", "all of these requests are asked anyway"),
        ("{host: www.example.com}", "www.example.com", "no such request reaches a backend"),
        ("{route: shop/gone, reason: its own login}", "of route shop/gone", "no such request reaches a backend"),
    ],
)
def test_an_exemption_that_nothing_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exception: str, named: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    entry = f"{{name: log in, ask: authentication, except: [{{path: /**, method: GET}}, {exception}]}}"
    directory = laid(tmp_path, entry, web(ADMIN, REST), login(target=OF_ADMIN))
    broken, stale = sorted(found(directory), key=lambda finding: finding["severity"])
    assert stale["message"] == f"exemption `{named}` of guardrail `log in` exempts nothing: {why}"
    assert (stale["severity"], stale["location"]["line"]) == ("warning", 2)
    assert "does not hold" in broken["message"]


def test_what_is_not_known_may_need_an_exemption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entry = "{name: log in, ask: authentication, except: [{route: shop/gone}]}"
    assert found(laid(tmp_path, entry, web(parents=UNSEEN).replace("infra", "far"))) == []


def test_the_list_of_exemptions_and_what_they_let_pass(tmp_path: Path) -> None:
    exceptions = "{path: /admin/**, reason: own login}, {route: shop/web, path: /healthz}, {host: www.example.com}"
    entry = f"{{name: log in, ask: authentication, except: [{exceptions}]}}"
    directory = laid(tmp_path, entry, web(ADMIN, REST), login(target=OF_ADMIN))
    code, out = run(directory, "reach", str(directory / "world"), "--explain")
    assert code == 0
    lines = out.splitlines()
    assert lines[lines.index("  except /admin/**: own login") :] == [
        "  except /admin/**: own login",
        "    exempts nothing: all of these requests are asked anyway",
        "  except /healthz of route shop/web: no reason is given",
        "    shop.example.com /healthz through Gateway infra/edge to shop/app",
        "  except www.example.com: no reason is given",
        "    exempts nothing: no such request reaches a backend",
    ]
    bare = laid(tmp_path / "bare", LOGIN, web(rule("/")))
    assert "except" not in run(bare, "reach", str(bare / "world"), "--explain", "log in")[1]


def test_a_suppression_answers_for_one(tmp_path: Path) -> None:
    (reported,) = found(laid(tmp_path / "bare", LOGIN, web()))
    assert reported["resources"] == ["HTTPRoute shop/web"]
    comment = "# policylint: ignore[GWP320] public\nmetadata: {name: web"
    assert found(laid(tmp_path / "comment", LOGIN, web().replace("metadata: {name: web", comment))) == []
    configured = laid(tmp_path / "configured", LOGIN, web())
    config = configured / ".policylint.yaml"
    config.write_text(config.read_text() + "ignore: [{rule: GWP320, resource: HTTPRoute/shop/web, reason: public}]\n")
    assert found(configured) == []


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("{ask: jwt}", "lacks name"),
        ("{name: x}", "lacks one of ask, never, only"),
        ("{name: x, ask: jwt, requests: {path: healthz}}", "is not a path such as"),
        ("{name: x, never: {from: outside}}", "lacks to"),
        ("{name: x, ask: jwt, requests: {hosts: a}}", 'unknown key "hosts" (did you mean "host"?)'),
    ],
)
def test_a_wrong_entry_is_an_error_with_its_place(tmp_path: Path, entry: str, complaint: str) -> None:
    directory = laid(tmp_path, entry)
    done = CliRunner().invoke(main, ["lint", str(directory), "--config", str(directory / ".policylint.yaml")])
    assert done.exit_code == 2
    assert complaint in done.output


def test_why_one_holds(tmp_path: Path) -> None:
    directory = laid(tmp_path, LOGIN, web(rule("/")), login())
    assert run(directory, "reach", str(directory / "world"), "--explain", "log in") == (
        0,
        "log in: holds\n  1 way: jwt by shop/login\n",
    )
    done = CliRunner().invoke(
        main, ["reach", str(directory), "--explain", "x", "--config", str(directory / ".policylint.yaml")]
    )
    assert done.exit_code == 2
    assert "no guardrail 'x'; the configuration states 'log in'" in done.output


OFFICE_MAY = login(ALLOW)
"""10.0.0.0/8 is let in, nobody else."""
TO_APP = "to: Service/shop/app"


@pytest.mark.parametrize(
    ("entry", "policy", "state", "left"),
    [
        (f"never: {{from: 192.168.0.0/16, {TO_APP}}}", OFFICE_MAY, "holds", []),
        (f"never: {{from: 10.1.0.0/16, {TO_APP}}}", OFFICE_MAY, "broken", ["from 10.1.0.0/16"]),
        (f"never: {{from: 8.0.0.0/6, {TO_APP}}}", OFFICE_MAY, "broken", ["from 10.0.0.0/8"]),
        (f"never: {{from: [192.168.0.0/16, 10.1.2.3], {TO_APP}}}", OFFICE_MAY, "broken", ["from 10.1.2.3/32"]),
        (f"never: {{from: 0.0.0.0/0, {TO_APP}}}", OFFICE_MAY, "broken", ["from 10.0.0.0/8"]),
        (f"never: {{from: '2001:db8::/32', {TO_APP}}}", OFFICE_MAY, "holds", []),
        ("never: {from: 10.1.0.0/16, to: Service/shop/other}", OFFICE_MAY, "idle", []),
        (f"never: {{from: 10.1.0.0/16, {TO_APP}, port: 81}}", OFFICE_MAY, "holds", []),
        (f"only: {{from: 10.0.0.0/8, {TO_APP}}}", OFFICE_MAY, "holds", []),
        (f"only: {{from: [10.0.0.0/9, 10.128.0.0/9], {TO_APP}}}", OFFICE_MAY, "holds", []),
        (f"only: {{from: 10.0.0.0/9, {TO_APP}}}", OFFICE_MAY, "broken", ["from 10.128.0.0/9"]),
        (f"only: {{from: 10.0.0.0/8, {TO_APP}}}", "", "broken", ["from outside 10.0.0.0/8"]),
        (f"only: {{from: 0.0.0.0/0, {TO_APP}}}", OFFICE_MAY, "idle", []),
        ("requests: {from: 10.1.0.0/16}, ask: authentication", "", "broken", ["from 10.1.0.0/16"]),
        ("requests: {from: 192.168.0.0/16}, ask: authentication", OFFICE_MAY, "idle", []),
        ("except: [{from: 10.0.0.0/8}], ask: authentication", OFFICE_MAY, "idle", []),
        ("except: [{from: 10.0.0.0/9}], ask: authentication", OFFICE_MAY, "broken", ["from 10.128.0.0/9"]),
        ("except: [{from: 0.0.0.0/0}], ask: authentication", OFFICE_MAY, "idle", []),
        ("requests: {from: 10.1.0.0/16}, ask: authentication", login(f"{JWT}, {ALLOW}"), "holds", []),
    ],
)
def test_clients_by_address(tmp_path: Path, entry: str, policy: str, state: str, left: list[str]) -> None:
    verdict = judged(tmp_path, f"{{name: x, {entry}}}", web(), *filter(None, [policy]))
    assert verdict.state == state
    assert [
        what.removeprefix("shop.example.com ").removesuffix(" through Gateway infra/edge") for what in whats(verdict)
    ] == left


def test_the_witness_of_clients_has_an_address_and_trace_confirms_it(tmp_path: Path) -> None:
    entry = f"{{name: x, only: {{from: 10.0.0.0/9, {TO_APP}}}}}"
    (breach,) = judged(tmp_path, entry, web(), OFFICE_MAY).breaches
    assert breach.why == "reaches Service shop/app"
    assert breach.shows[2:4] == ("--from", "10.128.0.1")
    (tmp_path / "again").mkdir()
    directory = laid(tmp_path / "again", entry, web(), OFFICE_MAY)
    out = run(directory, "trace", *breach.shows, str(directory / "world"))[1]
    assert "Service shop/app" in out
    _, text = run(directory, "lint", str(directory / "world"), "--select", "GWP320")
    assert "see: policylint trace GET http://shop.example.com/ --from 10.128.0.1 --gateway" in text


@pytest.mark.parametrize(
    ("ranges", "entry", "state"),
    [
        ("[10.0.0.0/8]", "only: {from: 10.0.0.0/8, TO}", "holds"),
        ("[10.0.0.0/8]", "only: {from: 10.0.0.0/9, TO}", "broken"),
        ("[10.0.0.0/8]", "never: {from: 10.1.0.0/16, TO}", "broken"),
        ("[10.0.0.0/8]", "never: {from: 192.168.0.0/16, TO}", "holds"),
        ("[]", "never: {from: 192.168.0.0/16, TO}", "broken"),
        ("['${OFFICE}']", "never: {from: 192.168.0.0/16, TO}", "unknown"),
    ],
)
def test_a_published_service_has_ranges_of_its_own(tmp_path: Path, ranges: str, entry: str, state: str) -> None:
    spec = f"spec: {{type: LoadBalancer, loadBalancerSourceRanges: {ranges}, ports: [{{port: 80}}]}}"
    published = manifest("v1", "Service", "other", "shop", spec)
    entry = f"{{name: x, {entry.replace('TO', 'to: Service/shop/other')}}}"
    assert judged(tmp_path, entry, published).state == state


def test_what_only_the_server_decides_is_not_known(tmp_path: Path) -> None:
    by_variable = login(ALLOW.replace("10.0.0.0/8", "'${OFFICE}'"))
    entry = f"{{name: x, never: {{from: 192.168.0.0/16, {TO_APP}}}}}"
    assert judged(tmp_path, entry, web(), by_variable).state == "unknown"


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("requests: {from: 10.0.0.0/33}, ask: jwt", ".yaml:2:32: requests.from: '10.0.0.0/33' is neither"),
        ("requests: {from: office}, ask: jwt", "'office' is neither an address nor a network such as 10.0.0.0/8"),
        ("except: [{path: /}, {from: [10.0.0.1, 10.0.0.0/x]}], ask: jwt", "'10.0.0.0/x' is neither"),
        (f"never: {{from: 300.0.0.1, {TO_APP}}}", "never.from: '300.0.0.1' is neither"),
        (f"only: {{from: [10.0.0.0/8, namespace/shop], {TO_APP}}}", "only.from names addresses and objects"),
        ("requests: {from: 1}, ask: jwt", "must be"),
    ],
)
def test_what_is_no_address_is_an_error_with_its_place(tmp_path: Path, entry: str, complaint: str) -> None:
    directory = laid(tmp_path, f"{{name: x, {entry}}}")
    done = CliRunner().invoke(main, ["lint", str(directory), "--config", str(directory / ".policylint.yaml")])
    assert done.exit_code == 2
    assert complaint in done.output


@pytest.mark.parametrize("source", ["outside", "10.1.0.0/16"])
def test_hosts_that_are_cut_off_may_lead_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setattr("policylint.reach.ways._MOST_CONTENDERS", -1)
    entry = f"{{name: x, never: {{from: {source}, {TO_APP}}}}}"
    assert judged(tmp_path, entry, web()).state == "unknown"


@pytest.mark.parametrize("source", ["outside", "10.1.0.0/16"])
def test_a_rule_of_which_the_end_is_not_known_may_lead_to_its_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr("policylint.reach.ways._MOST_QUESTIONS", 1)
    entry = f"{{name: x, never: {{from: {source}, {TO_APP}}}}}"
    (breach,) = judged(tmp_path, entry, web(), OFFICE_MAY).breaches
    assert breach.unknown == "too many rules of authorization"


@pytest.mark.parametrize(
    ("host", "state", "found"),
    [
        ("shop.example.com", "broken", ["shop.example.com every request through Gateway infra/edge"]),
        ("SHOP.example.com", "broken", ["shop.example.com every request through Gateway infra/edge"]),
        ("'*.example.com'", "broken", ["shop.example.com every request through Gateway infra/edge"]),
        ("api.example.com", "idle", []),
    ],
)
def test_the_requests_for_one_host(tmp_path: Path, host: str, state: str, found: list[str]) -> None:
    open_to_all = web(REST, name="other", hosts="other.example.net")
    verdict = judged(tmp_path, f"{{name: x, requests: {{host: {host}}}, ask: authentication}}", web(REST), open_to_all)
    assert (verdict.state, whats(verdict)) == (state, found)
