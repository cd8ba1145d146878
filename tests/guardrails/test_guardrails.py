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
    OF_ADMIN,
    REST,
    UNSEEN,
    login,
    rule,
    web,
)
from tests.worlds import manifest, opened, service

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
    assert breach.why == "not asked for authentication on the way to shop/app"


@pytest.mark.parametrize(
    ("narrowing", "left"),
    [
        ("requests: {gateway: infra/edge}", ["/** except /admin/**"]),
        ("requests: {gateway: 'infra/*'}", ["/** except /admin/**"]),
        ("requests: {gateway: other/edge}", []),
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


def test_rules_that_are_not_told_apart_are_unknown(tmp_path: Path) -> None:
    first, second = (
        rule(f"'{path}'", more=f"name: {name}, ", kind="RegularExpression")
        for name, path in (("a", "/(a|b)[a-z]{0,9}"), ("b", "/[ab].*"))
    )
    verdict = judged(tmp_path, LOGIN, web(first, second), login())
    assert verdict.state == "unknown"
    assert "are not told apart" in verdict.breaches[0].unknown


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
    assert breach.why == "is published outside as a Service of type LoadBalancer"


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
    (tmp_path / "world").mkdir()
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


def test_a_suppression_answers_for_one(tmp_path: Path) -> None:
    directory = laid(tmp_path, LOGIN, web().replace("name: web", "name: web # policylint: ignore[GWP320] public"))
    config = directory / ".policylint.yaml"
    config.write_text(config.read_text() + "ignore: [{rule: GWP320, resource: HTTPRoute/shop/web, reason: public}]\n")
    assert found(directory) == []


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
