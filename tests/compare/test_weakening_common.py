"""GWP304 by what names of fields mean in whatever kind they stand (schemas/weakenings.yaml), and beside policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.catalog.weakenings import common_weaknesses
from policylint.compare import compare
from policylint.compare.protection.spec import weakenings
from tests.checks.linting import GATEWAY, SERVICE, route
from tests.compare.test_weakening import WORLD, of, said, sides, weakened

SPECS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"tls": {"sni": "a"}}, {"tls": {"sni": "a", "insecureSkipVerify": True}}, "tls.insecureSkipVerify"),
    ({"tls": {"maxVersion": "1.3"}}, {"tls": {"maxVersion": "1.1"}}, "tls.maxVersion"),
    ({"tls": {"sni": "a"}}, {"tls": {"sni": "a", "maxVersion": "1.2"}}, ""),
    ({"tls": {"mode": "MUTUAL"}}, {"tls": {"mode": "SIMPLE"}}, "tls.mode"),
    ({"servers": [{"tls": {"mode": "MUTUAL"}}]}, {"servers": [{"tls": {"mode": "SIMPLE"}}]}, "servers.*.tls.mode"),
    ({"mtlsMode": "Strict"}, {"mtlsMode": "Permissive"}, "mtlsMode"),
    ({"spicedb": {"endpoint": "a"}}, {"spicedb": {"endpoint": "a", "insecure": True}}, "spicedb.insecure"),
    ({"apiKeyAuth": {"a": 1}}, {"apiKeyAuth": {"a": 1, "allNamespaces": True}}, "apiKeyAuth.allNamespaces"),
    ({"jwt": {"a": 1}}, {"jwt": {"a": 1, "forwardToken": True}}, "jwt.forwardToken"),
    (
        {"mutual": {"a": 1}},
        {"mutual": {"a": 1, "ignoreClientCertificateExpiry": True}},
        "ignoreClientCertificateExpiry",
    ),
    ({"waf": {"a": 1}}, {"waf": {"a": 1, "bundleFailOpen": True}}, "waf.bundleFailOpen"),
    ({"oidc": {"pkce": True}}, {"oidc": {"pkce": False}}, "oidc.pkce"),
    ({"auth": {"rules": [{"require": "All"}]}}, {"auth": {"rules": [{"require": "Any"}]}}, "require"),
    (
        {"extensions": [{"observabilityMode": False}]},
        {"extensions": [{"observabilityMode": True}]},
        "observabilityMode",
    ),
    ({"csrf": {"additionalOrigins": ["a"]}}, {"csrf": {"additionalOrigins": ["a", "b"]}}, "csrf.additionalOrigins"),
    ({"rateLimit": {"shared": True}}, {"rateLimit": {"shared": False}}, "rateLimit.shared"),
    ({"hcm": {"mergeSlashes": True}}, {"hcm": {"mergeSlashes": False}}, "hcm.mergeSlashes"),
    ({"policyEnforcementMode": "always"}, {"a": 1}, "policyEnforcementMode"),
    ({"wireguardEnabled": True, "a": 1}, {"a": 1}, "wireguardEnabled"),
    ({"visibility": "Internal"}, {"visibility": "Public"}, "visibility"),
    ({"tls": {"insecureSkipVerify": "Hostname"}}, {"tls": {"insecureSkipVerify": "All"}}, "tls.insecureSkipVerify"),
    ({"proxy": {"tlsVerify": True}}, {"proxy": {"tlsVerify": False}}, "proxy.tlsVerify"),
    ({"tls": {"minVersion": "VersionTLS12"}}, {"tls": {"minVersion": "VersionTLS10"}}, "tls.minVersion"),
    ({"tls": {"minVersion": "VersionTLS12"}}, {"tls": {"minVersion": "VersionTLS13"}}, ""),
    ({"tls": {"caSecret": {"name": "a"}, "sni": "a"}}, {"tls": {"sni": "a"}}, "tls.caSecret"),
    ({"tls": {"caSecret": {"name": "a"}}}, {"tls": {"caSecret": {"name": "b"}}}, ""),
    ({"tls": {"subjectAltNames": [{"exact": "a"}]}}, {"tls": {"subjectAltNames": [{"suffix": "a"}]}}, "exact"),
    ({"jwt": {"mode": "Strict"}}, {"jwt": {"mode": "Permissive"}}, "jwt.mode"),
    ({"session": {"mode": "Strict"}}, {"session": {"mode": "Permissive"}}, ""),
    ({"oidc": {"optional": False}}, {"oidc": {"optional": True}}, "oidc.optional"),
    ({"auth": {"secretRef": {"name": "a"}}}, {"auth": {"secretRef": {"name": "a", "optional": True}}}, ""),
    ({"login": {"requireEmail": True}}, {"login": {"requireEmail": False}}, "login.requireEmail"),
    ({"auth": {"audiences": ["a"], "issuer": "b"}}, {"auth": {"issuer": "b"}}, "auth.audiences"),
    ({"scheme": "internal"}, {"scheme": "internet-facing"}, "scheme"),
    ({"extProc": [{"name": "a"}]}, {"extProc": [{"name": "a", "failOpen": True}]}, "extProc.*.failOpen"),
    ({"check": {"failurePolicy": "Fail"}}, {"check": {"failurePolicy": "Ignore"}}, "check.failurePolicy"),
    ({"failStrategy": "FAIL_CLOSE"}, {"failStrategy": "FAIL_OPEN"}, "failStrategy"),
    ({"waf": {"rules": ["a"], "enabled": True}}, {"waf": {"rules": ["a"], "enabled": False}}, "waf"),
    ({"compression": {"enabled": True}}, {"compression": {"enabled": False}}, ""),
    ({"limit": {"dryRun": False}}, {"limit": {"dryRun": True}}, "limit.dryRun"),
    ({"waf": {"mode": "Prevention"}}, {"waf": {"mode": "Detection"}}, "waf.mode"),
    ({"csrf": {"percentageEnforced": 100}}, {"csrf": {"percentageEnforced": 10}}, "csrf.percentageEnforced"),
    ({"csrf": {"percentageEnforced": 10}}, {"csrf": {"percentageEnforced": 100}}, ""),
    ({"allowedCIDRs": ["10.0.0.0/8"]}, {"allowedCIDRs": ["10.0.0.0/8", "0.0.0.0/0"]}, "allowedCIDRs"),
    ({"deniedCIDRs": ["10.0.0.0/8"]}, {"deniedCIDRs": ["10.0.0.0/8", "0.0.0.0/0"]}, ""),
    ({"sourceRanges": ["10.0.0.0/8"], "a": 1}, {"a": 1}, "sourceRanges"),
    ({"limits": {"maxConnections": 100}}, {"limits": {"maxConnections": 10_000}}, "limits.maxConnections"),
    ({"limits": {"maxConnections": 100}}, {"limits": {"maxConnections": 10}}, ""),
    ({"body": {"maxSize": "1m"}}, {"body": {"maxSize": "0"}}, "body.maxSize"),
    ({"body": {"maxSize": "1m"}}, {"body": {"maxSize": "512k"}}, ""),
    ({"telemetry": {"accessLog": {"disable": False}}}, {"telemetry": {"accessLog": {"disable": True}}}, "accessLog"),
    ({"accessLogging": {"enabled": True}}, {"accessLogging": {"enabled": False}}, "accessLogging"),
    ({"auth": {"audiences": ["a"]}}, {"auth": {"audiences": ["a", "b"]}}, "auth.audiences"),
    ({"mcp": {"authorization": {"a": 1}, "b": 1}}, {"mcp": {"b": 1}}, "mcp.authorization"),
    ({"accessPolicy": "deny"}, {"accessPolicy": "all-unauthenticated"}, "accessPolicy"),
    ({"match": {"excludedNamespaces": ["a"]}}, {"match": {"excludedNamespaces": ["a", "b"]}}, "excludedNamespaces"),
    ({"validationActions": ["Deny"]}, {"validationActions": ["Audit"]}, "validationActions"),
    ({"jwt": {"a": 1}}, {"jwt": {"a": 1, "fromParams": ["token"]}}, "jwt.fromParams"),
    ({"cookie": {"sameSite": "Strict"}}, {"cookie": {"sameSite": "None"}}, "cookie.sameSite"),
    ({"cors": {"origins": ["https://a.example"]}}, {"cors": {"origins": ["*"]}}, "cors.origins"),
    ({"headers": {"stsSeconds": 31_536_000}}, {"headers": {"stsSeconds": 0}}, "headers.stsSeconds"),
    ({"requestHeadersToRemove": ["a", "b"]}, {"requestHeadersToRemove": ["b"]}, "requestHeadersToRemove"),
    ({"sslProtocols": "TLSv1.2 TLSv1.3"}, {"sslProtocols": "TLSv1.1 TLSv1.2"}, "sslProtocols"),
    ({"ciphers": "ECDHE-RSA-AES256-GCM-SHA384"}, {"ciphers": "ECDHE-RSA-AES256-GCM-SHA384:RC4-SHA"}, "ciphers"),
    ({"service": {"type": "ClusterIP"}}, {"service": {"type": "LoadBalancer"}}, "service.type"),
    ({"a": 1, "failure_mode_allow": False}, {"a": 1, "failure_mode_allow": True}, "failure_mode_allow"),
    ({"booleanExpr": "a && b"}, {"booleanExpr": "b && a"}, ""),
    ({"outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"}}, {"outboundTrafficPolicy": {"mode": "ALLOW_ANY"}}, "mode"),
    ({"podSelector": {"matchExpressions": [{"key": "a"}]}}, {"podSelector": {"matchExpressions": [{"key": "b"}]}}, ""),
    ({"authorization": {"action": "Require"}}, {"authorization": {"action": "Allow"}}, "authorization.action"),
    ({"guard": {"builtins": ["Ssn", "Card"]}}, {"guard": {"builtins": ["Card"]}}, "guard.builtins"),
    ({"waf": {"ruleStr": "SecRuleEngine On"}}, {"waf": {"ruleStr": "SecRuleEngine DetectionOnly"}}, "waf.ruleStr"),
    ({"processingMode": {"request": {}, "a": 1}}, {"processingMode": {"a": 1}}, "processingMode.request"),
    ({"processingMode": {"requestBodyMode": "BUFFERED"}}, {"processingMode": {"requestBodyMode": "NONE"}}, "BodyMode"),
    ({"accessLog": {"a": 1}}, {"accessLog": {"a": 1, "filter": "code >= 500"}}, "accessLog.filter"),
    ({"a": 1, "useRemoteAddress": True}, {"a": 1, "useRemoteAddress": False}, "useRemoteAddress"),
    ({"trustedAddresses": [{"value": "10.0.0.0/8"}]}, {"trustedAddresses": [{"value": "0.0.0.0/0"}]}, "value"),
    ({"a": 1, "sanitize": True}, {"a": 1}, "sanitize"),
    (
        {"secretSelector": {"matchLabels": {"a": 1, "b": 2}}},
        {"secretSelector": {"matchLabels": {"a": 1}}},
        "matchLabels",
    ),
    ({"providers": [{"name": "a", "default": True}]}, {"providers": [{"name": "a"}]}, "providers.*.default"),
    ({"routes": [{"name": "a"}]}, {"routes": [{"name": "a", "authPolicy": {"disabled": True}}]}, "authPolicy.disabled"),
    ({"service": "a"}, {"service": "a", "bypass_auth": True}, "bypass_auth"),
    ({"skip_auth_routes": ["/a"]}, {"skip_auth_routes": ["/a", "/b"]}, "skip_auth_routes"),
    ({"no-auth-locations": "/a"}, {"no-auth-locations": "/a,/b"}, "no-auth-locations"),
    ({"rateLimit": {"failClosed": True}}, {"rateLimit": {"timeout": "1s"}}, "rateLimit.failClosed"),
    ({"minimumDuration": "720h"}, {"minimumDuration": "1h"}, "minimumDuration"),
    (
        {"ingress": [{"action": "Allow", "source": {"nets": ["10.1.0.0/16"]}}]},
        {"ingress": [{"action": "Allow", "source": {"nets": ["10.0.0.0/8"]}}]},
        "source.nets",
    ),
    (
        {"ingress": [{"action": "Deny", "source": {"selector": "a"}}]},
        {"ingress": [{"action": "Deny", "source": {"selector": "a"}, "protocol": "TCP"}]},
        "protocol",
    ),
    ({"tls": {"termination": "reencrypt"}}, {"tls": {"termination": "edge"}}, "tls.termination"),
    ({"allowedCIDRs": ["10.1.0.0/16"]}, {"allowedCIDRs": ["10.0.0.0/8"]}, "allowedCIDRs"),
    ({"allowedCIDRs": ["10.0.0.0/8"]}, {"allowedCIDRs": ["10.0.0.0/9", "10.128.0.0/9"]}, ""),
    ({"a": 1, "permitInsecure": False}, {"a": 1, "permitInsecure": True}, "permitInsecure"),
    ({"tls": {"crlSecret": "a", "b": 1}}, {"tls": {"b": 1}}, "tls.crlSecret"),
    ({"tls": {"cert_required": True}}, {"tls": {"cert_required": False}}, "cert_required"),
    ({"email_domains": ["example.com"]}, {"email_domains": ["*"]}, "email_domains"),
    ({"use_keyless": False}, {"use_keyless": True}, "use_keyless"),
    (
        {"tls": {"clientCertificatePolicy": "Required"}},
        {"tls": {"clientCertificatePolicy": "Optional"}},
        "CertificateP",
    ),
    ({"authenticators": [{"a": 1}]}, {"authenticators": [{"a": 1}, {"anonymous": 1}]}, "authenticators"),
    ({"plugins": [{"name": "a"}, {"name": "b"}]}, {"plugins": [{"name": "b"}]}, "plugins"),
    ({"plugins": [{"name": "a", "enable": True}]}, {"plugins": [{"name": "a", "enable": False}]}, "plugins.*.enable"),
    (
        {"http": [{"plugins": [{"name": "a", "enabled": True}]}]},
        {"http": [{"plugins": [{"name": "a", "enabled": False}]}]},
        "plugins.*.enabled",
    ),
    ({"plugins": {"a": {"enable": True}}}, {"plugins": {"a": {"enable": False}}}, ""),
    ({"match": {"namespaces": ["a", "b"]}}, {"match": {"namespaces": ["b"]}}, "match.namespaces"),
    ({"requestBuffer": {"limit": "1Mi"}}, {"requestBuffer": {"limit": "9Mi"}}, "requestBuffer.limit"),
    ({"allow-http": "false"}, {"allow-http": "true"}, "allow-http"),
    ({"config": {"whitelist-source-range": "10.0.0.0/8", "a": 1}}, {"config": {"a": 1}}, "whitelist-source-range"),
]
EXCHANGED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"parameters": {"repos": ["a"]}}, {"parameters": {"repos": ["a", "b"]}}, "parameters.repos"),
    ({"rules": [{"name": "a", "path": "/a/*"}]}, {"rules": [{"name": "a", "path": "/a"}]}, "rules.*.path"),
    (
        {"rbac": {"policy": {"matchExpressions": ["a && b"]}}},
        {"rbac": {"policy": {"matchExpressions": ["a"]}}},
        "rbac.policy.matchExpressions",
    ),
    ({"config": {"limit_by": "ip"}}, {"config": {"limit_by": "header"}}, "config.limit_by"),
    (
        {"rbac": {"policy": {"matchExpressions": ["a && b"]}}},
        {"rbac": {"policy": {"matchExpressions": ["a"]}}},
        "rbac.policy.matchExpressions",
    ),
]


@pytest.mark.parametrize(("before", "after", "path"), SPECS)
def test_names_of_fields_mean_the_same_everywhere(before: dict[str, Any], after: dict[str, Any], path: str) -> None:
    found = [each.weak.path for each in weakenings(common_weaknesses("DoorPolicy", before, after), before, after)]
    assert len(found) == bool(path)
    assert all(path in each for each in found)
    back = {each.weak.path for each in weakenings(common_weaknesses("DoorPolicy", after, before), after, before)}
    assert not back & set(found), "its reverse weakens nothing"


@pytest.mark.parametrize(("before", "after", "path"), EXCHANGED)
def test_what_decides_is_another_one_in_either_direction(
    before: dict[str, Any], after: dict[str, Any], path: str
) -> None:
    for old, new in ((before, after), (after, before)):
        found = list(weakenings(common_weaknesses("DoorPolicy", old, new), old, new))
        assert [(each.weak.path, each.weak.severity) for each in found] == [(path, "note")]


def test_what_a_kind_says_of_its_own_fields_comes_first(tmp_path: Path) -> None:
    local = "rateLimit: {{type: Local, local: {{rules: [{{{}limit: {{requests: 9, unit: Minute}}}}]}}}}"
    on_route = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]\n  "
    before, after = (
        of("gateway.envoyproxy.io", "BackendTrafficPolicy", on_route + local.format(text))
        for text in ("", "shadowMode: true, ")
    )
    assert said(weakened(tmp_path, (*WORLD, before), (*WORLD, after))) == []  # it does nothing for local limits


BACKEND = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: bank, namespace: shop}
spec: {endpoints: [{fqdn: {hostname: bank.example.com, port: 443}}], tls: {wellKnownCACertificates: System}}
"""
TO_BANK = route("bank").replace(
    "backendRefs: [", "backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: bank}, "
)
RULE = """
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: bank, namespace: shop}
spec: {host: bank.example.com, trafficPolicy: {tls: {mode: MUTUAL, credentialName: bank}}}
"""
PARAMETERS = """
apiVersion: gateway.k8s.aws/v1beta1
kind: LoadBalancerConfiguration
metadata: {name: lb, namespace: infra}
spec: {scheme: internal, sourceRanges: [10.0.0.0/8]}
"""
WITH_PARAMETERS = GATEWAY.replace(
    "spec:\n",
    "spec:\n  infrastructure: {parametersRef: {group: gateway.k8s.aws, kind: LoadBalancerConfiguration, name: lb}}\n",
    1,
)
WASM = of("extensions.istio.io", "WasmPlugin", "url: oci://registry.example.com/waf:1\n  failStrategy: FAIL_CLOSE")
BESIDE = [
    (
        BACKEND + "---" + TO_BANK,
        "wellKnownCACertificates: System",
        "insecureSkipVerify: true",
        "tls.insecureSkipVerify",
    ),
    (BACKEND, "wellKnownCACertificates: System", "insecureSkipVerify: true", ""),  # no route leads there
    (RULE, "mode: MUTUAL", "mode: SIMPLE", "spec.trafficPolicy.tls.mode"),
    (RULE, RULE, "", "trafficPolicy.tls of DestinationRule shop/bank is gone"),
    (f"{PARAMETERS}---\n{WITH_PARAMETERS}", "scheme: internal", "scheme: internet-facing", "spec.scheme"),
]


@pytest.mark.parametrize(("world", "was", "now", "expected"), BESIDE)
def test_objects_beside_policies(tmp_path: Path, world: str, was: str, now: str, expected: str) -> None:
    before, after = (GATEWAY, SERVICE, route("checkout"), world), (GATEWAY, SERVICE, route("checkout"))
    changed = (*after, world.replace(was, now)) if world.replace(was, now) else after
    found = [message for _, message in said(weakened(tmp_path, before, changed))]
    assert len(found) == bool(expected)
    assert expected in "".join(found)


def test_what_is_not_evaluated_is_no_proof_that_requests_are_answered_as_before(tmp_path: Path) -> None:
    before = (GATEWAY, SERVICE, route("checkout"), RULE)
    (change,) = compare([sides(tmp_path, before, (*before[:3], RULE.replace("mode: MUTUAL", "mode: SIMPLE")))])
    assert change.requests is not None and not change.requests.same
    (unchanged,) = compare([sides(tmp_path, before, (*before[:3], RULE.replace("spec: {host", "spec: { host")))])
    assert unchanged.requests is not None and unchanged.requests.same
