"""GWP501: what Gateway API demands in CEL, in its own words, and what looks like a breach and is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import GATEWAY, SERVICE, Said, lint, route

ROUTE = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: x, namespace: shop}\n"
GRPC = ROUTE.replace("HTTPRoute", "GRPCRoute")
LISTENERS = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: other, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: a, port: 1, protocol: HTTP}
"""
BACKEND_TLS = """
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: x, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: checkout}]
"""
CA = """---
apiVersion: v1
kind: ConfigMap
metadata: {name: ca, namespace: shop}
data: {ca.crt: "-----BEGIN CERTIFICATE-----\\nMII=\\n-----END CERTIFICATE-----\\n"}
"""
OWN = "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]"
SECRET = "certificateRefs: [{name: cert}]"


def listener(written: str) -> str:
    return f"{LISTENERS}    - {{{written}}}\n"


def ruled(written: str, head: str = ROUTE) -> str:
    """A route with one rule."""
    return f"{head}spec:\n  parentRefs: [{{name: edge, namespace: infra}}]\n  rules:\n    - {{{written}}}\n"


def parents(*written: str) -> str:
    return f"{ROUTE}spec:\n  parentRefs: [{', '.join(f'{{{each}}}' for each in written)}]\n"


def breaches(tmp_path: Path, document: str) -> list[Said]:
    found = lint(tmp_path, GATEWAY, route(), SERVICE, document)
    return [each for each in found if each.rule == "GWP501"]


REDIRECT = "{type: RequestRedirect, requestRedirect: {scheme: https}}"
REWRITE = "{type: URLRewrite, urlRewrite: {hostname: a.example.com}}"
PREFIX = "{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}"
WRONG_FIELD = "{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch}}}"
MATCH = "{path: {value: /}}"
BACKEND = "backendRefs: [{name: checkout, port: 8080}]"


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (
            listener(f"name: b, port: 2, protocol: HTTP, tls: {{{SECRET}}}"),
            "spec.listeners: tls must not be specified for protocols",
        ),
        (
            listener("name: b, port: 2, protocol: HTTPS, tls: {mode: Passthrough}"),
            "tls mode must be Terminate for protocol HTTPS",
        ),
        (
            listener("name: b, port: 2, protocol: HTTPS, tls: {}"),
            "spec.listeners[1].tls: no such key: options evaluating rule: certificateRefs or options must be",
        ),
        (listener("name: b, port: 2, protocol: TLS"), "tls mode must be set for protocol TLS"),
        (
            listener("name: b, port: 2, protocol: TCP, hostname: a.example.com"),
            "hostname must not be specified for protocols",
        ),
        (listener("name: a, port: 2, protocol: HTTP"), "has two entries of one name in spec.listeners"),
        (
            parents("name: edge, namespace: infra", "name: edge, namespace: infra"),
            "sectionName or port must be unique when parentRefs",
        ),
        (
            parents("name: edge, namespace: infra", "name: edge, namespace: infra, sectionName: http"),
            "sectionName or port must be specified when parentRefs",
        ),
        (f"{ruled('name: a')}    - {{name: a}}\n", "Rule name must be unique within the route (name a is there twice)"),
        (
            ruled(f"filters: [{{type: URLRewrite}}], {BACKEND}"),
            "filter.urlRewrite must be specified for URLRewrite filter.type",
        ),
        (
            ruled("filters: [{type: RequestRedirect, requestRedirect: {}, urlRewrite: {}}]"),
            "filter.urlRewrite must be nil if the filter.type is not URLRewrite",
        ),
        (ruled(f"filters: [{REWRITE}, {REWRITE}], {BACKEND}"), "URLRewrite filter cannot be repeated"),
        (ruled(f"filters: [{REDIRECT}, {REWRITE}]"), "but not both"),
        (
            ruled(f"filters: [{REDIRECT}], {BACKEND}"),
            "spec.rules[0]: RequestRedirect filter must not be used together with backendRefs",
        ),
        (
            ruled(f"matches: [{{path: {{type: Exact, value: /a}}}}], filters: [{PREFIX}], {BACKEND}"),
            "exactly one PathPrefix match must be specified",
        ),
        (ruled(f"filters: [{WRONG_FIELD}], {BACKEND}"), "replacePrefixMatch must be specified when type is set"),
        (
            ruled(f"matches: [{{path: {{value: shop}}}}], {BACKEND}"),
            "value must be an absolute path and start with '/'",
        ),
        (ruled(f"matches: [{{path: {{value: /a//b}}}}], {BACKEND}"), "must not contain '//'"),
        (ruled(f"matches: [{{path: {{value: '/a b'}}}}], {BACKEND}"), "must only contain valid characters"),
        (ruled(f"matches: [{{path: {{value: /a/..}}}}], {BACKEND}"), "must not end with '/..'"),
        (
            ruled(f"timeouts: {{request: 1s, backendRequest: 1m}}, {BACKEND}"),
            "backendRequest timeout cannot be longer than request timeout",
        ),
        (
            ruled(f"matches: [{{method: {{type: Exact}}}}], {BACKEND}", GRPC),
            "One or both of 'service' or 'method' must be specified",
        ),
        (
            f"{BACKEND_TLS}  validation: {{hostname: a.example.com}}\n",
            "must specify either CACertificateRefs or WellKnownCACertificates",
        ),
        (
            ruled("backendRefs: [{name: checkout}]"),
            "spec.rules[0].backendRefs[0]: Must have port for Service reference",
        ),
        (
            ROUTE + "spec:\n  rules:\n" + ("    - matches: [" + ", ".join([MATCH] * 43) + "]\n") * 3,
            "the total number of matches across all rules in a route must be less than 128",
        ),
        (
            BACKEND_TLS.replace("checkout}]", "checkout}, {group: '', kind: Service, name: checkout, sectionName: a}]")
            + "  validation: {hostname: a.example.com, wellKnownCACertificates: System}\n",
            "sectionName must be specified when targetRefs includes 2 or more references to the same target",
        ),
        (
            f"{BACKEND_TLS}  validation: {{hostname: a.example.com, wellKnownCACertificates: System, {OWN}}}\n{CA}",
            "must not contain both CACertificateRefs and WellKnownCACertificates",
        ),
    ],
)
def test_what_the_api_server_refuses(tmp_path: Path, document: str, says: str) -> None:
    found = breaches(tmp_path, document)
    assert found, "nothing was said"
    assert (found[0].severity, found[0].confidence) == ("error", "certain")
    assert says in found[0].message
    assert len(found) == 1, "one cause, one finding"


@pytest.mark.parametrize(
    "document",
    [
        listener(f"name: b, port: 2, protocol: HTTPS, tls: {{{SECRET}}}"),
        listener("name: b, port: 2, protocol: HTTPS"),
        listener("name: b, port: 2, protocol: TLS, tls: {mode: Passthrough}"),
        listener("name: b, port: 2, protocol: TLS, tls: {options: {a: b}}"),
        listener("name: '${NAME}', port: 2, protocol: '${PROTOCOL}'"),
        parents("name: edge, namespace: infra, sectionName: http", "name: edge, namespace: infra, sectionName: admin"),
        parents("name: edge, namespace: infra, port: 80", "name: edge, namespace: infra, port: 8081"),
        parents("name: edge, namespace: infra", "name: edge, namespace: infra, sectionName: '${SECTION}'"),
        parents("name: edge, namespace: infra", "group: '', kind: Service, name: edge, namespace: infra"),
        ruled(f"filters: [{PREFIX}], {BACKEND}"),
        ruled(f"matches: [{{headers: [{{name: a, value: b}}]}}], filters: [{PREFIX}], {BACKEND}"),
        ruled(f"matches: [{{path: {{value: /a}}}}], filters: [{PREFIX}], {BACKEND}"),
        ruled(f"filters: [{{type: RequestMirror, requestMirror: {{backendRef: {{name: checkout, port: 8080}}}}}}, "
              f"{{type: RequestMirror, requestMirror: {{backendRef: {{name: checkout, port: 8080}}}}}}], {BACKEND}"),
        ruled(f"matches: [{{path: {{type: RegularExpression, value: 'a//b'}}}}], {BACKEND}"),
        ruled(f"matches: [{{path: {{value: '${{PREFIX}}'}}}}], {BACKEND}"),
        ruled(f"matches: [{{path: {{value: '/a/..b/%20/c.d;v=1'}}}}], {BACKEND}"),
        ruled(f"timeouts: {{request: 0s, backendRequest: 1m}}, {BACKEND}"),
        ruled(f"timeouts: {{request: 1h1m, backendRequest: 61m}}, {BACKEND}"),
        ruled(f"matches: [{{method: {{service: a.B}}}}], {BACKEND}", GRPC),
        f"{BACKEND_TLS}  validation: {{hostname: a.example.com, wellKnownCACertificates: System}}\n",
    ],
)  # fmt: skip
def test_what_it_takes(tmp_path: Path, document: str) -> None:
    assert breaches(tmp_path, document) == []


def test_types_come_first(tmp_path: Path) -> None:
    """An object whose types are wrong is refused for those."""
    found = breaches(tmp_path, ruled(f"filters: [{REDIRECT}], {BACKEND}, nonsense: 1"))
    assert [each.pointed_at[:8] for each in found] == ["nonsense"]


def test_a_crd_in_the_tree_has_rules_of_its_own(tmp_path: Path) -> None:
    crd = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: httproutes.gateway.networking.k8s.io}
spec:
  group: gateway.networking.k8s.io
  names:
    kind: HTTPRoute
    plural: httproutes
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {x-kubernetes-preserve-unknown-fields: true}}}}
"""
    document = ruled(f"filters: [{REDIRECT}], {BACKEND}")
    assert breaches(tmp_path, document)
    assert breaches(tmp_path, f"{document}---{crd}") == []
