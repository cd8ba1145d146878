"""What several policies come to on one proxy, who owns and who loses what.

Source: docs/design/implementations/istio.md §1-§7.
"""

from __future__ import annotations

from typing import Any

import pytest

from policylint.policy.results import Effective
from tests.implementations.test_istio import (
    NAMESPACE,
    contexts,
    deployment,
    effective,
    gateway,
    lost,
    policy,
    select,
    service,
    simulated,
    state,
    to,
)

ROOT = "istio-system"


def origins(found: Effective) -> dict[str, list[str]]:
    return {field: [each.name for each in owners] for field, owners in found.origins().items()}


# §1 AuthorizationPolicy, §2 RequestAuthentication, §5 extensions, §6 EnvoyFilter: all act.


def test_authorization_adds_up_by_action_and_nothing_is_lost() -> None:
    policies = [
        policy("AuthorizationPolicy", "allow", "rules: [{}]"),
        policy("AuthorizationPolicy", "deny", "action: DENY, rules: [{}]", ROOT),
        policy("AuthorizationPolicy", "audit", "action: AUDIT, rules: [{}]"),
        policy("AuthorizationPolicy", "custom", "action: CUSTOM, provider: {name: x}, rules: [{}]"),
    ]
    found = effective(simulated(deployment(), *policies), "Deployment foo/web")
    assert list(found.spec) == ["CUSTOM", "DENY", "ALLOW", "AUDIT"]
    assert found.spec["DENY"] == ["AuthorizationPolicy istio-system/deny"]
    assert origins(found)["ALLOW"] == ["allow"]
    assert found.lost == ()


def test_the_order_of_authorization_policies_means_nothing() -> None:
    policies = [policy("AuthorizationPolicy", name, "rules: [{}]") for name in "ab"]
    assert simulated(deployment(), *policies).order_dependent == []


def test_jwt_rules_are_joined_by_issuer() -> None:
    policies = [
        policy("RequestAuthentication", "one", "jwtRules: [{issuer: z}, {issuer: m, jwksUri: https://one}]"),
        policy("RequestAuthentication", "two", "jwtRules: [{issuer: a}, {issuer: m, jwksUri: https://two}]", ROOT),
    ]
    found = effective(simulated(deployment(), *policies), "Deployment foo/web")
    assert [each["issuer"] for each in found.spec["jwtRules"]] == ["a", "m", "m", "z"]
    owners = {index: key.name for (_, index), key in found.owners.items()}  # its namespace before the root one
    assert owners == {0: "two", 1: "one", 2: "two", 3: "one"}


@pytest.mark.parametrize(("kind", "code"), [("WasmPlugin", "url: u"), ("TrafficExtension", "wasm: {url: u}")])
def test_extensions_run_by_phase_and_falling_priority(kind: str, code: str) -> None:
    policies = [
        policy(kind, "root", code, ROOT),
        policy(kind, "own", code),
        policy(kind, "unset", f"{code}, phase: AUTHZ"),
        policy(kind, "below", f"{code}, phase: AUTHZ, priority: -1"),
        policy(kind, "above", f"{code}, phase: AUTHZ, priority: 2"),
        policy(kind, "stats", f"{code}, phase: STATS"),
        policy(kind, "login", f"{code}, phase: AUTHN"),
    ]
    found = effective(simulated(deployment(), *policies), "Deployment foo/web")
    order = {phase: [each.partition("/")[2] for each in names] for phase, names in found.spec.items()}
    assert order == {
        "AUTHN": ["login"],
        "AUTHZ": ["above", "below", "unset"],
        "STATS": ["stats"],
        "UNSPECIFIED_PHASE": ["own", "root"],
    }


def test_envoy_filters_apply_by_rising_priority_the_root_namespace_first() -> None:
    policies = [
        policy("EnvoyFilter", "late", "priority: 5, configPatches: []", ROOT),
        policy("EnvoyFilter", "own", "configPatches: []"),
        policy("EnvoyFilter", "root", "configPatches: []", ROOT),
        policy("EnvoyFilter", "early", "priority: -5, configPatches: []"),
    ]
    found = effective(simulated(deployment(), *policies), "Deployment foo/web")
    assert [each.partition("/")[2] for each in found.spec["order"]] == ["early", "root", "own", "late"]


# §3 PeerAuthentication.


def mtls(name: str, mode: str, namespace: str = "foo", more: str = "", created: str = "") -> str:
    return policy("PeerAuthentication", name, f"mtls: {{mode: {mode}}}{more}", namespace, created)


def test_the_narrowest_mode_that_is_set_wins() -> None:
    mesh, wide = mtls("mesh", "STRICT", ROOT), mtls("wide", "PERMISSIVE")
    found = simulated(deployment(), mesh, wide, mtls("own", "UNSET", more=f", {select()}"))
    peer = effective(found, "Deployment foo/web")
    assert peer.spec == {"mtls": {"mode": "PERMISSIVE"}}
    assert origins(peer) == {"mtls": ["wide"]}
    assert lost(peer) == ["/mtls/mode of mesh to wide"]
    assert state(found, "mesh").verdict == "Overridden"


def test_a_port_whose_mode_is_unset_takes_the_workloads() -> None:
    ports = f", {select()}, portLevelMtls: {{80: {{mode: UNSET}}, 81: {{mode: DISABLE}}}}"
    found = simulated(deployment(), mtls("mesh", "STRICT", ROOT), mtls("own", "UNSET", more=ports))
    peer = effective(found, "Deployment foo/web")
    assert peer.spec == {
        "mtls": {"mode": "STRICT"},
        "portLevelMtls": {"80": {"mode": "STRICT"}, "81": {"mode": "DISABLE"}},
    }
    assert origins(peer) == {"mtls": ["mesh"], "portLevelMtls": ["own", "mesh"]}


def test_one_peer_authentication_counts_per_level_the_oldest() -> None:
    old, new = (
        mtls("z-old", "STRICT", created="2024-01-01T00:00:00Z"),
        mtls("a", "DISABLE", created="2024-02-01T00:00:00Z"),
    )
    found = simulated(deployment(), old, new)
    assert origins(effective(found, "Deployment foo/web")) == {"mtls": ["z-old"]}
    assert state(found, "a").verdict == "Overridden"
    assert [each.name for each in state(found, "a").by] == ["z-old"]
    assert found.order_dependent == []


def test_without_ages_the_result_hangs_on_an_order_that_is_not_stated() -> None:
    found = simulated(deployment(), mtls("a", "STRICT"), mtls("b", "DISABLE"))
    assert [(each.winner.name, each.otherwise.name) for each in found.order_dependent] == [("a", "b")]


def test_gateways_have_no_use_for_peer_authentication() -> None:
    assert contexts(simulated(gateway(), mtls("wide", "STRICT"))) == {}


# §7 ProxyConfig.


def test_proxy_config_merges_field_by_field_with_the_pods_annotation_between() -> None:
    policies = [
        policy("ProxyConfig", "mesh", "concurrency: 1, environmentVariables: {A: mesh, B: mesh}", ROOT),
        policy("ProxyConfig", "wide", "concurrency: 2, image: {imageType: debug}"),
        policy("ProxyConfig", "own", f"{select()}, environmentVariables: {{B: own}}"),
    ]
    plain = simulated(deployment(), *policies)
    found = effective(plain, "Deployment foo/web")
    assert found.spec == {
        "concurrency": 2,
        "environmentVariables": {"A": "mesh", "B": "own"},
        "image": {"imageType": "debug"},
    }
    assert lost(found) == ["/concurrency of mesh to wide", "/environmentVariables/B of mesh to own"]

    annotated = deployment(annotations='proxy.istio.io/config: "concurrency: 7\\nproxyMetadata: {B: pod, C: pod}"')
    found = effective(simulated(annotated, *policies), "Deployment foo/web")
    assert found.spec["concurrency"] == 7
    assert found.spec["environmentVariables"] == {"A": "mesh", "B": "own", "C": "pod"}
    assert origins(found)["concurrency"] == ["web"]
    assert "/concurrency of wide to web" in lost(found)
    assert all(each.policy.kind == "ProxyConfig" for each in found.lost)


def test_the_oldest_proxy_config_of_a_level_counts() -> None:
    old = policy("ProxyConfig", "z-old", "concurrency: 1", created="2024-01-01T00:00:00Z")
    new = policy("ProxyConfig", "a-new", "concurrency: 2", created="2024-02-01T00:00:00Z")
    found = effective(simulated(deployment(), old, new), "Deployment foo/web")
    assert found.spec == {"concurrency": 1}
    assert lost(found) == ["/concurrency of a-new to z-old"]


# §4 Telemetry.


def telemetry(name: str, spec: str, namespace: str = "foo", created: str = "") -> str:
    return policy("Telemetry", name, spec, namespace, created)


def of_web(*policies: str) -> Effective:
    return effective(simulated(deployment(), *policies), "Deployment foo/web")


def test_tracing_is_inherited_field_by_field_and_tags_as_a_whole() -> None:
    found = of_web(
        telemetry("mesh", "tracing: [{providers: [{name: a}, {name: b}], customTags: {x: {}, y: {}}}]", ROOT),
        telemetry("wide", "tracing: [{customTags: {z: {}}, randomSamplingPercentage: 0}]"),
        telemetry("own", f"{select()}, tracing: [{{providers: [{{name: c}}]}}]"),
    )
    assert found.spec == {"tracing": {"provider": "c", "customTags": {"z": {}}, "randomSamplingPercentage": 0}}
    assert origins(found) == {"tracing": ["own", "wide"]}
    assert lost(found) == ["/tracing/0/customTags of mesh to wide", "/tracing/0/providers of mesh to own"]
    assert found.lost[0].location.pointer == ("spec", "tracing", 0, "customTags")


def test_sides_are_printed_where_they_differ() -> None:
    found = of_web(
        telemetry("mesh", "tracing: [{randomSamplingPercentage: 1}]", ROOT),
        telemetry("wide", "tracing: [{match: {mode: CLIENT}, randomSamplingPercentage: 2}]"),
    )
    assert found.spec["tracing"] == {
        "CLIENT": {"randomSamplingPercentage": 2},
        "SERVER": {"randomSamplingPercentage": 1},
    }
    assert found.lost == ()  # the mesh's still stands on one side


def test_gateways_are_clients_and_waypoints_servers() -> None:
    side = "{match: {mode: %s}, randomSamplingPercentage: %s}"
    sides = f"tracing: [{side % ('CLIENT', 1)}, {side % ('SERVER', 2)}]"
    found = simulated(gateway(), gateway("wp", cls="istio-waypoint"), telemetry("wide", sides))
    assert effective(found, "Gateway foo/edge").spec == {"tracing": {"randomSamplingPercentage": 1}}
    assert effective(found, "Gateway foo/wp").spec == {"tracing": {"randomSamplingPercentage": 2}}


LOGS = telemetry("mesh", "accessLogging: [{providers: [{name: a}, {name: b}]}]", ROOT)


@pytest.mark.parametrize(
    ("narrower", "spec", "owners"),
    [
        ("{disabled: true}", {"a": {"disabled": True}, "b": {"disabled": True}}, ["wide"]),
        ("{providers: [{name: b}], disabled: true}", {"b": {"disabled": True}}, ["wide"]),
        ("{providers: [{name: c}]}", {"c": {"disabled": False}}, ["wide"]),
        (  # the level's providers are the union of its entries
            "{providers: [{name: c}]}, {providers: [{name: d}], disabled: true}",
            {"c": {"disabled": False}, "d": {"disabled": True}},
            ["wide"],
        ),
        (  # an entry without providers is about those of the entry before
            "{providers: [{name: c}], disabled: true}, {filter: {expression: e}}",
            {"c": {"disabled": False, "filter": {"expression": "e"}}},
            ["wide"],
        ),
    ],
)
def test_access_logging_by_provider(narrower: str, spec: dict[str, Any], owners: list[str]) -> None:
    found = of_web(LOGS, telemetry("wide", f"accessLogging: [{narrower}]"))
    assert found.spec == {"accessLogging": spec}
    assert origins(found) == {"accessLogging": owners}


def test_providers_that_a_narrower_level_no_longer_names_are_gone() -> None:
    found = of_web(LOGS, telemetry("wide", "accessLogging: [{providers: [{name: c}]}]"))
    assert lost(found) == ["/accessLogging/0 of mesh to wide, gone"]


def test_providers_of_one_side_say_nothing_of_the_other() -> None:
    """mergeLogs passes over entries of the other mode before it looks at their providers."""
    found = of_web(LOGS, telemetry("wide", "accessLogging: [{providers: [{name: c}], match: {mode: CLIENT}}]"))
    assert found.spec == {
        "accessLogging": {
            "CLIENT": {"c": {"disabled": False}},
            "SERVER": {"a": {"disabled": False}, "b": {"disabled": False}},
        }
    }


def test_the_last_entry_takes_the_filter_away() -> None:
    filtered = telemetry("mesh", "accessLogging: [{providers: [{name: a}], filter: {expression: e}}]", ROOT)
    found = of_web(filtered, telemetry("wide", "accessLogging: [{disabled: false}]"))
    assert found.spec == {"accessLogging": {"a": {"disabled": False}}}
    assert "/accessLogging/0/filter of mesh to wide, gone" in lost(found)


def test_access_logging_without_any_provider_is_ignored() -> None:
    """IST0157: meshConfig names no default provider."""
    assert contexts(simulated(deployment(), telemetry("wide", "accessLogging: [{disabled: false}]"))) == {
        "Deployment foo/web": []
    }


def test_metrics_overrides_add_up_by_metric_and_tag() -> None:
    found = of_web(
        telemetry(
            "mesh",
            "metrics: [{providers: [{name: prometheus}], overrides: [{match: {metric: REQUEST_COUNT}, "
            "tagOverrides: {a: {value: mesh}, b: {value: mesh}}}]}]",
            ROOT,
        ),
        telemetry(
            "wide",
            "metrics: [{overrides: [{match: {metric: REQUEST_COUNT}, disabled: true, tagOverrides: {b: {value: w}}}]}]",
        ),
    )
    assert found.spec == {
        "metrics": {
            "prometheus": {
                "REQUEST_COUNT": {"disabled": True, "tagOverrides": {"a": {"value": "mesh"}, "b": {"value": "w"}}}
            }
        }
    }
    assert lost(found) == ["/metrics/0/overrides/0/tagOverrides/b of mesh to wide"]


def test_an_override_for_all_metrics_is_written_once() -> None:
    found = of_web(telemetry("wide", "metrics: [{overrides: [{tagOverrides: {a: {operation: REMOVE}}}]}]"))
    assert found.spec == {"metrics": {"prometheus": {"ALL_METRICS": {"tagOverrides": {"a": {"operation": "REMOVE"}}}}}}


def test_metrics_that_are_all_disabled_come_back_with_a_later_override() -> None:
    off = telemetry("mesh", "metrics: [{overrides: [{match: {metric: ALL_METRICS}, disabled: true}]}]", ROOT)
    assert of_web(off).spec == {"metrics": {"prometheus": {"disabled": True}}}
    on = telemetry("wide", "metrics: [{overrides: [{match: {metric: REQUEST_SIZE}, disabled: false}]}]")
    assert of_web(off, on).spec == {"metrics": {"prometheus": {"REQUEST_SIZE": {"disabled": False}}}}
    tagged = "metrics: [{overrides: [{match: {metric: GRPC_REQUEST_MESSAGES}, tagOverrides: {a: {value: x}}}]}]"
    found = of_web(telemetry("mesh", tagged, ROOT), telemetry("wide", off.partition("spec: {")[2].strip()[:-1]))
    assert found.spec == {"metrics": {"prometheus": {"disabled": True}}}
    assert lost(found) == ["/metrics/0/overrides/0/tagOverrides/a of mesh to wide, gone"]


def test_providers_of_metrics_are_those_of_the_lowest_level() -> None:
    found = of_web(
        telemetry("mesh", "metrics: [{providers: [{name: a}], reportingInterval: 5s}]", ROOT),
        telemetry("wide", "metrics: [{providers: [{name: b}], reportingInterval: 9s}]"),
    )
    assert found.spec == {"metrics": {"b": {"reportingInterval": "9s"}}}


def test_one_telemetry_counts_for_a_namespace_and_all_that_are_attached() -> None:
    one = "tracing: [{randomSamplingPercentage: %s}]"
    found = simulated(
        deployment(),
        telemetry("z-old", one % 1, created="2024-01-01T00:00:00Z"),
        telemetry("a-new", one % 2, created="2024-02-01T00:00:00Z"),
        telemetry("first", f"{select()}, tracing: [{{enableIstioTags: true, randomSamplingPercentage: 3}}]"),
        telemetry("second", f"{select()}, {one % 4}"),
    )
    web = effective(found, "Deployment foo/web")
    assert web.spec == {"tracing": {"enableIstioTags": True, "randomSamplingPercentage": 4}}
    assert origins(web) == {"tracing": ["first", "second"]}
    assert [each.name for each in state(found, "a-new").by] == ["first", "second"]


def test_attached_telemetries_are_looked_for_in_the_services_namespace_alone() -> None:
    """§4, «Gaps»: neither those of a shared waypoint's namespace nor those for its class reach another namespace."""
    waypoint = gateway("wp", "infra", cls="istio-waypoint").replace(
        "protocol: HBONE", "protocol: HBONE, allowedRoutes: {namespaces: {from: All}}"
    )
    tracing = "tracing: [{randomSamplingPercentage: 1}]"
    found = simulated(
        NAMESPACE % ("foo", "istio.io/use-waypoint: wp, istio.io/use-waypoint-namespace: infra"),
        waypoint,
        service(),
        telemetry("gw", f"{to('Gateway', 'wp')}, {tracing}", "infra"),
        telemetry("cls", f"{to('GatewayClass', 'istio-waypoint')}, {tracing}", ROOT),
        telemetry("svc", f"{to('Service', 'cart')}, {tracing}"),
    )
    assert contexts(found) == {"Gateway infra/wp > Service foo/cart": ["Telemetry foo/svc"]}
