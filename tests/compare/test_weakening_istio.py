"""GWP304 for Istio, whose policies are asked together: what lets in whom no policy let in before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.test_weakening import ISSUER, assert_is, of, said, weakened

WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout, namespace: shop}
spec:
  selector: {matchLabels: {app: checkout}}
  template: {metadata: {labels: {app: checkout}}, spec: {containers: [{name: c, image: i}]}}
"""


def istio(kind: str, spec: str, name: str = "login") -> str:
    return of("security.istio.io", kind, f"selector: {{matchLabels: {{app: checkout}}}}\n  {spec}", name, version="v1")


PERMIT = "from: [{source: {principals: [cluster.local/ns/web/sa/front]}}]"
ANOTHER = "from: [{source: {principals: [cluster.local/ns/a/sa/b]}}]"
VALID = "from: [{source: {requestPrincipals: ['*']}}]"
CLAIM = "when: [{key: 'request.auth.claims[a]', values: [b]}]"


def let(*rules: str, action: str = "ALLOW") -> str:
    return f"action: {action}\n  rules: [{', '.join(f'{{{each}}}' for each in rules)}]"


def deny(*rules: str) -> str:
    return let(*rules, action="DENY")


def to(operation: str) -> str:
    return f"to: [{{operation: {{{operation}}}}}]"


def blocks(block: str) -> str:
    return f"from: [{{source: {{ipBlocks: [{block}]}}}}]"


PAY = to("paths: [/pay]")
FIRST = "spec.rules[0] of AuthorizationPolicy shop/login"
FEWER = "AuthorizationPolicy shop/login turns fewer requests away"
ISTIO = [
    (let(f"{PERMIT}, {PAY}"), let(PAY), ("error", f"{FEWER}, checkout /pay from others than web/front get in")),
    (let(PERMIT), let(""), ("error", f"{FEWER}, checkout from others than web/front get in")),
    (let(VALID), "", ("error", "AuthorizationPolicy shop/login is gone, checkout without claim principal get in")),
    (let(f"{VALID}, {CLAIM}"), let(VALID), ("error", f"{FEWER}, checkout without claim a: b")),
    (let(f"{PERMIT}, {PAY}"), let(PERMIT), ("error", f"{FEWER}, checkout /** except /pay from web/front")),
    (let(PERMIT), let(PERMIT, to("paths: [/health]")), None),  # a new entry names them: GWP324
    (let(blocks("10.0.0.0/8")), let(blocks("0.0.0.0/0")), ("error", f"{FEWER}, checkout from outside 10.0.0.0/8")),
    (let(blocks("10.0.0.0/8")), let(blocks("10.1.0.0/16")), None),
    (let(PERMIT), let(PERMIT, ANOTHER), None),
    (let(PERMIT), let(), None),  # lets nobody in
    (let(PAY), let(f"{PERMIT}, {PAY}"), None),
    (deny(PAY), "", ("error", f"{FIRST} is gone, checkout /pay get in")),
    (
        deny(PAY),
        deny(to("paths: [/pay], methods: [POST]")),
        ("error", f"{FIRST} turns fewer requests away, checkout n"),
    ),
    (deny(PAY), let("", action="AUDIT"), ("error", f"{FIRST} turns fewer requests away, checkout /pay get in")),
    (deny(to("paths: [/a, /b]")), deny(to("paths: [/b]"), to("paths: [/a]")), None),
    (deny(PAY), deny(to("paths: ['/p*']")), None),
    (deny("from: [{source: {notRequestPrincipals: ['*']}}]"), let(VALID), None),
    (
        let("from: [{source: {principals: ['${WHO}']}}]"),
        let(""),
        ("error", f"{FIRST} turns fewer requests away, checkout, every req"),
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), ISTIO)
def test_authorization_policy(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    world = (WORKLOAD, istio("RequestAuthentication", f"jwtRules: [{{{ISSUER}}}]"))
    policies = [(istio("AuthorizationPolicy", each),) if each else () for each in (before, after)]
    found = weakened(tmp_path, (*world, *policies[0]), (*world, *policies[1]))
    assert_is(said(found), expected)
    assert all(each.message.startswith("Deployment shop/checkout ") for each in found)


def test_another_policy_still_refuses(tmp_path: Path) -> None:
    denied = istio("AuthorizationPolicy", deny(PAY), "deny")
    allow, everybody = (istio("AuthorizationPolicy", let(each)) for each in (PERMIT, ""))
    for after in ((denied, everybody), (denied,)):
        (found,) = weakened(tmp_path, (WORKLOAD, denied, allow), (WORKLOAD, *after))
        assert found.severity == "error"
        assert "checkout /** except /pay from others than web/front get in" in found.message


def test_rules_that_move_to_another_policy(tmp_path: Path) -> None:
    one = istio("AuthorizationPolicy", deny(PAY), "one")
    other = istio("AuthorizationPolicy", deny(PAY, PERMIT), "other")
    assert weakened(tmp_path, (WORKLOAD, one), (WORKLOAD, other)) == []


PEER = [
    (
        "mtls: {mode: STRICT}",
        "mtls: {mode: PERMISSIVE}",
        ("error", "mtls.mode of PeerAuthentication shop/login goes from STRICT to PERMISSIVE, plain text is taken"),
    ),
    (
        "mtls: {mode: STRICT}",
        "",
        ("error", "mtls.mode of PeerAuthentication shop/login goes from STRICT to PERMISSIVE"),
    ),
    ("mtls: {mode: PERMISSIVE}", "", None),
    ("mtls: {mode: PERMISSIVE}", "mtls: {mode: STRICT}", None),
    (
        "mtls: {mode: STRICT}",
        "mtls: {mode: STRICT}\n  portLevelMtls: {8080: {mode: PERMISSIVE}}",
        ("warning", "portLevelMtls.8080.mode of PeerAuthentication shop/login goes from STRICT to PERMISSIVE"),
    ),
    ("mtls: {mode: STRICT}", "mtls: {mode: STRICT}\n  portLevelMtls: {8080: {mode: STRICT}}", None),
]


@pytest.mark.parametrize(("before", "after", "expected"), PEER)
def test_peer_authentication(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    policies = [(istio("PeerAuthentication", each),) if each else () for each in (before, after)]
    assert_is(said(weakened(tmp_path, (WORKLOAD, *policies[0]), (WORKLOAD, *policies[1]))), expected)


def test_request_authentication_takes_one_more_issuer(tmp_path: Path) -> None:
    one = istio("RequestAuthentication", f"jwtRules: [{{{ISSUER}}}]")
    two = istio("RequestAuthentication", f"jwtRules: [{{{ISSUER}}}, {{issuer: https://b}}]")
    world = (WORKLOAD, istio("AuthorizationPolicy", let(VALID)))
    (found,) = weakened(tmp_path, (*world, one), (*world, two))
    assert said([found]) == [
        ("warning", "jwtRules of RequestAuthentication shop/login gains https://b, tokens of one more issuer are taken")
    ]
    assert weakened(tmp_path, (*world, two), (*world, one)) == []


@pytest.mark.parametrize("keys", ["https://a/jwks", "https://b/jwks"])
def test_request_authentication_takes_another_issuer(tmp_path: Path, keys: str) -> None:
    """Whoever may write the issuer may write where its keys are: both together are no safer than one."""
    one = istio("RequestAuthentication", "jwtRules: [{issuer: https://a, jwksUri: https://a/jwks}]")
    two = istio("RequestAuthentication", f"jwtRules: [{{issuer: https://b, jwksUri: {keys}}}]")
    world = (WORKLOAD, istio("AuthorizationPolicy", let(VALID)))
    (found,) = said(weakened(tmp_path, (*world, one), (*world, two)))
    assert found[0] == "warning"
    assert found[1].startswith(
        "jwtRules of RequestAuthentication shop/login holds https://b in place of https://a, tokens"
    )


def test_where_no_token_is_needed_none_more_weakens(tmp_path: Path) -> None:
    one = istio("RequestAuthentication", f"jwtRules: [{{{ISSUER}}}]")
    two = istio("RequestAuthentication", f"jwtRules: [{{{ISSUER}}}, {{issuer: https://b}}]")
    by_identity = istio("AuthorizationPolicy", let(PERMIT))
    for world in ((WORKLOAD,), (WORKLOAD, by_identity)):
        assert weakened(tmp_path, (*world, one), (*world, two)) == []
