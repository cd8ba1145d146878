"""GWP415 of rules of Traefik that no release parses, or not its own, and of routers without TLS at an entry point for
TLS.

Predicted from traefik/traefik pkg/rules/parser.go and pkg/server/router/router.go.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint
from tests.doors.asking import answer
from tests.worlds import simulated

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web:1}]}}
"""


def traefik(*more: str) -> str:
    arguments = ["--entrypoints.web.address=:80", "--entrypoints.websecure.address=:443", *more]
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: traefik, namespace: traefik}}
spec:
  selector: {{matchLabels: {{app: traefik}}}}
  template:
    metadata: {{labels: {{app: traefik}}}}
    spec: {{containers: [{{name: traefik, image: "traefik:v3.3", args: {arguments}}}]}}
"""


def route(rule: str, tls: str = "  tls: {}", kind: str = "IngressRoute", points: str = "websecure") -> str:
    return f"""
apiVersion: traefik.io/v1alpha1
kind: {kind}
metadata: {{name: web, namespace: shop}}
spec:
  entryPoints: [{points}]
  routes:
  - match: {rule}
    {"kind: Rule" if kind == "IngressRoute" else "priority: 1"}
    services: [{{name: web, port: 80}}]
{tls}
"""


def release(chart: str, values: str = "{}") -> str:
    return f"""
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: traefik, namespace: traefik}}
spec:
  chart: {{spec: {{chart: traefik, version: "{chart}", sourceRef: {{kind: HelmRepository, name: traefik}}}}}}
  values: {values}
"""


def told(directory: Path, *manifests: str) -> list[tuple[str, str]]:
    return [(each.severity, each.message) for each in lint(directory, SERVICE, *manifests) if each.rule == "GWP415"]


@pytest.mark.parametrize(
    "rule",
    [
        "Host(`shop.example.com`)",
        'Host("shop.example.com") && PathPrefix("/it\'s")',
        "Host(`a.example.com`) && (PathPrefix(`/a`) || !Path(`/b`))",
        "hostregexp(`^.+\\.example\\.com$`) && Query(`a`, `b`) && ClientIP(`10.0.0.0/8`)",
        "Host(`${HOST}`)",
        "${RULE}",
        "HeadersRegexp(`a`, `b'c`)",
    ],
)
def test_rules_that_parse(tmp_path: Path, rule: str) -> None:
    assert told(tmp_path, route(rule)) == []


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("Host('shop.example.com')", "single quotes"),
        ("Host(`a`) || PathPrefix('/b')", "single quotes"),
        ("Host(shop.example.com)", "without quotes"),
        ("Host(`shop.example.com`) && PathPrefix(/api)", "without quotes"),
        ("Host(`shop.example.com`", "not closed"),
        ("Host(`shop.example.com)", "not closed"),
        ("Hosts(`shop.example.com`)", "no matcher"),
        ("HostSNI(`shop.example.com`)", "no matcher"),
    ],
)
def test_rules_that_do_not(tmp_path: Path, rule: str, why: str) -> None:
    ((severity, message),) = told(tmp_path, route(rule))
    assert severity == "error"
    assert why in message


@pytest.mark.parametrize(
    ("rule", "tls", "why"),
    [
        ("HostSNI(`db.example.com`)", "  tls: {passthrough: true}", ""),
        ("HostSNI(`*`)", "", ""),
        ("HostSNI(`*`) && ClientIP(`10.0.0.0/8`)", "", ""),
        ("HostSNI(`db.example.com`)", "", "which TLS alone tells"),
        ("ClientIP(`10.0.0.0/8`) && hostsni(`db.example.com`)", "", "which TLS alone tells"),
        ("HostSNIRegexp(`^.+$`)", "", ""),  # ParseHostSNI of pkg/muxer/tcp asks HostSNI alone
        ("HostSNIRegexp(`^.+$`) && HostSNI(`*`)", "", ""),
        ("Host(`db.example.com`)", "  tls: {}", "no matcher"),
    ],
)
def test_rules_of_connections(tmp_path: Path, rule: str, tls: str, why: str) -> None:
    found = told(tmp_path, route(rule, tls, "IngressRouteTCP"))
    assert [why in message for _, message in found] == ([True] if why else [])


@pytest.mark.parametrize(
    ("manifests", "lost"),
    [
        ((traefik(), route("Host(`a.example.com`)", "")), True),
        ((traefik(), route("Host(`a.example.com`)")), False),
        ((traefik("--entrypoints.websecure.http.tls=true"), route("Host(`a.example.com`)", "")), False),
        ((traefik(), route("Host(`a.example.com`)", "", points="web")), False),
        ((traefik(), route("Host(`a.example.com`)", "", points="web, websecure")), False),
        (
            (release("33.2.1", "{ports: {websecure: {tls: {enabled: false}}}}"), route("Host(`a.example.com`)", "")),
            True,
        ),
        ((release("38.0.1", "{ports: {websecure: {http: {tls: {enabled: false}}}}}"), route("Host(`a`)", "")), True),
        (
            (release("33.2.1", "{ports: {websecure: {tls: {enabled: true}}}}"), route("Host(`a.example.com`)", "")),
            False,
        ),
        ((release("33.2.1", "{ports: {web: {tls: {enabled: false}}}}"), route("Host(`a.example.com`)", "")), False),
        ((route("Host(`a.example.com`)", ""),), False),  # nothing tells how Traefik runs; its chart ends TLS there
    ],
)
def test_routers_without_tls(tmp_path: Path, manifests: tuple[str, ...], lost: bool) -> None:
    assert [severity for severity, _ in told(tmp_path, *manifests)] == (["warning"] if lost else [])


TEMPLATED = "HostRegexp(`{tenant:[a-z]+}.example.com`)"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (TEMPLATED, "letter by letter"),
        ("Host(`a.example.com`) && Path(`/orders/{id:[0-9]{3}}`)", "letter by letter"),
        ("PathPrefix(`/{lang}/shop`)", "letter by letter"),
        ("Host(`a.example.com`, `b.example.com`)", "2 values of Host"),
        ("Host(`a.example.com`) && Method(`GET`, `HEAD`)", "2 values of Method"),
        ("Headers(`x-team`, `a`)", "which is a matcher of Traefik 2"),
        ("HeadersRegexp(`x-team`, `a.*`)", "which is a matcher of Traefik 2"),
        ("HostRegexp(`^[a-z]{2,3}\\.example\\.com$`)", ""),
        ("PathRegexp(`^/orders/[0-9]{3}$`)", ""),
        ("Header(`x-team`, `a`) || Query(`a`, `b`)", ""),
        ("Host(`${HOST}`) && PathPrefix(`/a`)", ""),
    ],
)
def test_rules_in_the_syntax_of_traefik_2(tmp_path: Path, rule: str, why: str) -> None:
    found = told(tmp_path, traefik(), route(rule))
    assert [(severity, why in message) for severity, message in found] == ([("error", True)] if why else [])


@pytest.mark.parametrize(
    ("manifests", "is_lost"),
    [
        ((traefik(),), True),
        ((release("33.2.1"),), True),
        ((release("27.0.2"),), False),  # the last chart of Traefik 2
        ((release("27.0.2", "{image: {tag: v3.0.4}}"),), True),
        ((release("*"),), False),
        ((traefik().replace("v3.3", "v2.11"),), False),
        ((traefik().replace(":v3.3", ""),), False),
        ((traefik(), release("25.0.0")), False),  # two of them: which one reads the rule is not known
        ((traefik("--core.defaultRuleSyntax=v2"),), False),
        ((release("33.2.1", "{core: {defaultRuleSyntax: v2}}"),), False),
        ((release("33.2.1", "{additionalArguments: ['--core.defaultrulesyntax=v2']}"),), False),
        ((), False),
    ],
)
def test_whose_syntax_counts(tmp_path: Path, manifests: tuple[str, ...], is_lost: bool) -> None:
    assert bool(told(tmp_path, *manifests, route(TEMPLATED))) == is_lost
    of_its_own = route(TEMPLATED).replace("    kind: Rule", "    kind: Rule\n    syntax: v2")
    assert not told(tmp_path, *manifests, of_its_own)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("Host('shop.example.com')", "404"),
        ("Host(`shop.example.com`, `www.example.com`)", "404"),
        ("Host(`shop.example.com`) && Headers(`x-a`, `b`)", "404"),
        ("Host(`shop.example.com`)", "web"),
    ],
)
def test_requests_for_rules_of_which_no_router_is_made(rule: str, expected: str) -> None:
    world = simulated(SERVICE, traefik(), route(rule, points="web", tls=""))
    assert answer(world, "http://shop.example.com/", headers=("x-a: b",))[0] == expected
