"""GWP501: a sentence, or a word of capitals, where people are to write a host is no host that is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint, rules

KINDS = {
    "Ingress": """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}, rules: [{host: "HOST"}]}
""",
    "HTTPRoute": """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {hostnames: ["HOST"], rules: [{backendRefs: [{name: web, port: 80}]}]}
""",
    "Gateway": """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP, hostname: "HOST"}]}
""",
    "Backend": """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: far, namespace: shop}
spec: {endpoints: [{fqdn: {hostname: "HOST", port: 443}}]}
""",
}
TO_FILL_IN = [
    *("web.enter your domain", "your host here", "web.도메인을 입력하세요 ex) example.com", "<your host here>"),
    *("REPLACE_ME", "web.CHANGEME.example.com", "CHANGEME", "web.DOMAIN", "web.YOUR_DOMAIN"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("host", TO_FILL_IN)
def test_who_is_to_write_a_host_there_has_not_yet(kind: str, host: str, tmp_path: Path) -> None:
    assert "GWP501" not in rules(lint(tmp_path, KINDS[kind].replace("HOST", host)))


@pytest.mark.parametrize("kind", ["Ingress", "HTTPRoute", "Gateway"])
@pytest.mark.parametrize("host", ["a.example.com b.example.com", "Web.example.com", "web.example.com:8080", "web_1"])
def test_a_host_that_is_none_is_refused(kind: str, host: str, tmp_path: Path) -> None:
    assert "GWP501" in rules(lint(tmp_path, KINDS[kind].replace("HOST", host)))


@pytest.mark.parametrize("kind", ["HTTPRoute", "Gateway", "Backend"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("[base64EncodedStorageKey]", False),
        ("[your key]", False),
        ("[STORAGE_KEY]", False),
        ("[your-domain]", False),
        ("{KEY}", False),
        ("{your-domain}", False),
        ("{a}", True),
        ("[shop.example.com]", True),
        ("[a, b]", True),
        ("[YOUR_KEY, b]", True),
        ("{name: shop}", True),
        ("[]", True),
    ],
)
def test_a_word_in_brackets_is_to_be_replaced(kind: str, value: str, told: bool, tmp_path: Path) -> None:
    """wonkarthik/must-do-k8s: keys of an account at Azure."""
    assert ("GWP501" in rules(lint(tmp_path, KINDS[kind].replace('"HOST"', value)))) is told
