"""GWP526 on objects that are no policies: the catalog says what misleads in them (`objects`, `misleads`)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.worlds import manifest, simulated


def findings(*manifests: str) -> list[Finding]:
    return list(run(simulated(*manifests), select={"GWP526"}))


def proxy(rule: str, more: str = "virtualhost: {fqdn: shop.example.com}, ") -> str:
    routes = f"routes: [{{services: [{{name: web, port: 80}}], {rule}}}]"
    return manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{more}{routes}}}")


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ('timeoutPolicy: {response: "0s"}', "response"),
        ('timeoutPolicy: {response: "0"}', "response"),
        ('timeoutPolicy: {response: "0m0.0s"}', "response"),
        ("timeoutPolicy: {idle: 0s}", "idle"),
        ("timeoutPolicy: {idleConnection: 0ms}", "idleConnection"),
        ("retryPolicy: {count: 0, perTryTimeout: 1s}", "count"),
        ("timeoutPolicy: {response: 10m}", "timeoutPolicy"),
    ],
)
def test_zeros_of_contour_are_defaults(rule: str, field: str) -> None:
    for world in (proxy(rule), proxy(rule, more="")):  # one that others include as well
        [found] = findings(world)
        assert found.severity == "note"
        assert found.field is not None
        assert found.field.endswith(f".{field}")


@pytest.mark.parametrize(
    "rule",
    [
        "timeoutPolicy: {response: infinity, idle: infinite}",
        "timeoutPolicy: {response: 10s, idle: 0.5s, idleConnection: 1h0m0s}",
        "timeoutPolicy: {response: '${TIMEOUT}'}",
        "timeoutPolicy: {response: 10m, idle: 10m}",
        "timeoutPolicy: {response: 5m}",
        "retryPolicy: {count: -1}",
        "retryPolicy: {count: 3}",
        "retryPolicy: {perTryTimeout: 1s}",
    ],
)
def test_what_means_what_it_says(rule: str) -> None:
    assert not findings(proxy(rule))


def plugin(config: str, kind: str = "KongPlugin") -> str:
    return manifest("configuration.konghq.com/v1", kind, "limit", "shop", f"plugin: rate-limiting\nconfig: {config}")


@pytest.mark.parametrize("kind", ["KongPlugin", "KongClusterPlugin"])
def test_kong_counts_what_has_another_path_by_address(kind: str) -> None:
    [found] = findings(plugin("{limit_by: path, path: /abc, minute: 10}", kind))
    assert (found.severity, found.field) == ("note", "config.limit_by")
    assert "any other path by the client's address" in found.label
    [found] = findings(plugin("{identifier: path, path: /abc, limit: [10], window_size: [60]}", kind))
    assert found.field == "config.identifier"


@pytest.mark.parametrize(
    ("kind", "label", "misleads"),
    [("KongPlugin", "true", True), ("KongPlugin", "false", False), ("KongClusterPlugin", "true", False)],
)
def test_a_plugin_of_a_namespace_is_global_by_no_label(kind: str, label: str, misleads: bool) -> None:
    labels = f"labels: {{global: '{label}'}}, annotations: {{kubernetes.io/ingress.class: kong}}"
    namespace = "shop" if kind == "KongPlugin" else ""
    found = findings(manifest("configuration.konghq.com/v1", kind, "keys", namespace, "plugin: key-auth", more=labels))
    assert [(each.severity, each.field) for each in found] == [("warning", "metadata.labels.global")] * misleads


@pytest.mark.parametrize("by", ["limit_by: ip, ", "limit_by: consumer, ", "limit_by: header, header_name: x-key, ", ""])
def test_kong_counts_by_what_clients_have(by: str) -> None:
    assert not findings(plugin(f"{{{by}minute: 10, path: /abc}}"))


@pytest.mark.parametrize("kind", ["KongPlugin", "KongClusterPlugin"])
@pytest.mark.parametrize(
    ("config", "field"),
    [
        ('{echo_downstream: "true"}', "config.echo_downstream"),
        ("{policy: redis, redis: {host: cache, port: '6379'}}", "config.redis.port"),
        ("{claims_to_verify: exp}", "config.claims_to_verify"),
        ("{origins: https://a.example.com}", "config.origins"),
        ("{max_age: 1h}", "config.max_age"),
        ('{hide_credentials: "false"}', "config.hide_credentials"),
        ('{minute: "5"}', "config.minute"),
        ("{allow: 10.0.0.0/8}", "config.allow"),
        ("{deny: {a: b}}", "config.deny"),
    ],
)
def test_what_kong_refuses_by_its_type(kind: str, config: str, field: str) -> None:
    """Kong/kubernetes-ingress-controller#227; kong/plugins/*/schema.lua."""
    [found] = findings(plugin(config, kind))
    assert (found.severity, found.field) == ("warning", field)


@pytest.mark.parametrize(
    "config",
    [
        "{echo_downstream: true}",
        "{minute: 5}",
        "{second: 0.5}",
        "{allow: [10.0.0.0/8]}",
        "{minute: '${MINUTE}'}",
        "{}",
        "{origins: ['*'], max_age: 3600, redis: {port: 6379}}",
    ],
)
def test_values_of_kong_of_the_right_type(config: str) -> None:
    assert not findings(plugin(config))


@pytest.mark.parametrize("kind", ["KongPlugin", "KongClusterPlugin"])
@pytest.mark.parametrize(("field", "severity"), [("consumerRef", "warning"), ("run_on", "note")])
def test_fields_of_kong_that_nobody_reads_any_more(kind: str, field: str, severity: str) -> None:
    """Kong/kubernetes-ingress-controller#367; internal/dataplane/kongstate/plugin.go, kongPluginFromK8SPlugin."""
    [found] = findings(plugin(f"{{minute: 5}}\n{field}: all", kind))
    assert (found.severity, found.field) == (severity, field)


def limited(kind: str, spec: str) -> str:
    target = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}"
    version = "v1alpha1" if kind == "TokenRateLimitPolicy" else "v1"
    return manifest(f"kuadrant.io/{version}", kind, "limits", "shop", f"spec:\n  {target}\n  {spec}")


ASKED_TOO_EARLY = 'when: [{predicate: \'responseBodyJSON("/object") != "error"\'}]'
LIMIT = "rates: [{limit: 9, window: 1m}]"


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        *(
            (kind, spec)
            for kind in ("RateLimitPolicy", "TokenRateLimitPolicy")
            for spec in (
                f"limits: {{all: {{{LIMIT}, {ASKED_TOO_EARLY}}}}}",
                f"limits: {{all: {{{LIMIT}}}}}\n  {ASKED_TOO_EARLY}",
                f"defaults: {{limits: {{all: {{{LIMIT}, {ASKED_TOO_EARLY}}}}}}}",
                f"overrides: {{limits: {{all: {{{LIMIT}}}}}, {ASKED_TOO_EARLY}}}",
            )
        ),
        ("AuthPolicy", f"rules: {{authentication: {{all: {{anonymous: {{}}}}}}}}\n  {ASKED_TOO_EARLY}"),
    ],
)
def test_conditions_on_an_answer_that_is_not_there_yet(kind: str, spec: str) -> None:
    """Kuadrant/kuadrant-operator#2145."""
    [found] = findings(limited(kind, spec))
    assert found.severity == "warning"
    assert "before the backend has answered" in found.label
    assert not findings(limited(kind, spec.replace("responseBodyJSON", "requestBodyJSON")))
