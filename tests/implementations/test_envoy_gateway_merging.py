"""What Envoy Gateway's policies come to: replacement, mergeType, layer 4.

Source: docs/design/implementations/envoy-gateway.md §4 and §5.
"""

from __future__ import annotations

import json

import pytest

from policylint.checks import run
from policylint.policy.results import holds
from tests.implementations.worlds_envoy_gateway import CLASS, effective, message, policy, told
from tests.worlds import gateway, listener_set, route, service, simulated, state

RULES = "rules: [{name: pay, backendRefs: [{name: checkout, port: 80}]}, {backendRefs: [{name: checkout, port: 80}]}]"
SHOP = (CLASS, gateway(), route(more=RULES), service())
PAY = "HTTPRouteRule shop/checkout#pay"
REST = "HTTPRouteRule shop/checkout#rule-2"


def on_gateway(kind: str, spec: str, name: str = "wide", section: str = "") -> str:
    return policy(kind, name, f"Gateway/edge{section}", spec, namespace="infra")


def on_route(kind: str, spec: str, name: str = "narrow", section: str = "") -> str:
    return policy(kind, name, f"HTTPRoute/checkout{section}", spec)


PROVIDER = {"name": "a", "remoteJWKS": {"uri": "https://id.example/jwks"}}
OPTIONAL = f"jwt: {{optional: true, providers: [{json.dumps(PROVIDER)}]}}"


def test_without_merge_type_the_route_policy_replaces_the_gateways_whole() -> None:
    """§4: adding CORS to a route takes the Gateway's JWT away from it."""
    simulation = simulated(*SHOP, on_gateway("SP", OPTIONAL), on_route("SP", "cors: {}"))
    assert effective(simulation, "SP", PAY) == (
        {"cors": {}},
        ["narrow"],
        ["jwt/optional of wide by narrow", "jwt/providers of wide by narrow"],
    )
    assert state(simulation, "wide").verdict == "Overridden"
    assert [each.name for each in state(simulation, "wide").by] == ["narrow"]


def test_an_empty_policy_opts_a_route_out() -> None:
    """§4: a route that has any policy of the kind is skipped by broader ones."""
    simulation = simulated(*SHOP, on_gateway("SP", "cors: {maxAge: 1s}"), on_route("SP", ""))
    assert effective(simulation, "SP", PAY) == ({}, [], ["cors/maxAge of wide by narrow"])


def test_a_rule_policy_leaves_the_other_rules_to_the_route_policy() -> None:
    simulation = simulated(
        *SHOP, on_route("BTP", "timeout: {http: {requestTimeout: 9s}}"), on_route("BTP", "retry: {}", "pay", "#pay")
    )
    assert effective(simulation, "BTP", PAY) == (
        {"retry": {}},
        ["pay"],
        ["timeout/http/requestTimeout of narrow by pay"],
    )
    assert effective(simulation, "BTP", REST)[1] == ["narrow"]


@pytest.mark.parametrize("merge_type", ["StrategicMerge", "JSONMerge"])
def test_merge_type_patches_the_route_policy_onto_the_gateways(merge_type: str) -> None:
    """§5: child values win, object by object; what only the parent sets stays, and says whose it is."""
    simulation = simulated(
        *SHOP,
        on_gateway("BTP", "timeout: {tcp: {connectTimeout: 5s}, http: {requestTimeout: 9s}}, retry: {numRetries: 3}"),
        on_route("BTP", f"mergeType: {merge_type}, timeout: {{http: {{requestTimeout: 1s}}}}"),
    )
    spec, sources, lost = effective(simulation, "BTP", PAY)
    assert spec == {
        "timeout": {"tcp": {"connectTimeout": "5s"}, "http": {"requestTimeout": "1s"}},
        "retry": {"numRetries": 3},
    }
    assert sources == ["narrow", "wide"]
    assert lost == ["timeout/http/requestTimeout of wide by narrow"]
    origins = state(simulation, "wide").groups[0].effective.origins()
    assert {name: {key.name for key in keys} for name, keys in origins.items()} == {
        "retry": {"wide"},
        "timeout": {"narrow", "wide"},
    }


def test_a_null_is_a_field_that_is_not_set() -> None:
    """The controller merges typed objects: null takes nothing away from the parent."""
    simulation = simulated(
        *SHOP, on_gateway("BTP", "retry: {numRetries: 3}"), on_route("BTP", "mergeType: JSONMerge, retry: null")
    )
    assert effective(simulation, "BTP", PAY) == ({"retry": {"numRetries": 3}}, ["wide"], [])


@pytest.mark.parametrize(
    ("merge_type", "types", "sources"),
    [("StrategicMerge", ["Gzip", "Brotli"], ["narrow", "wide"]), ("JSONMerge", ["Brotli"], ["narrow"])],
)
def test_keyed_lists_join_in_a_strategic_merge_and_replace_in_a_json_merge(
    merge_type: str, types: list[str], sources: list[str]
) -> None:
    """§5: compressor is keyed by type."""
    simulation = simulated(
        *SHOP,
        on_gateway("BTP", "compressor: [{type: Gzip, minContentLength: 1}]"),
        on_route("BTP", f"mergeType: {merge_type}, compressor: [{{type: Brotli}}]"),
    )
    spec, found, _ = effective(simulation, "BTP", PAY)
    assert [each["type"] for each in spec["compressor"]] == types
    assert found == sources


def test_items_of_one_key_merge_field_by_field() -> None:
    simulation = simulated(
        *SHOP,
        on_gateway(
            "BTP", "compressor: [{type: Brotli}, {type: Gzip, minContentLength: 1, gzip: {level: 1, window: 9}}]"
        ),
        on_route("BTP", "mergeType: StrategicMerge, compressor: [{type: Gzip, gzip: {level: 5}}]"),
    )
    spec, sources, lost = effective(simulation, "BTP", PAY)
    assert spec["compressor"] == [
        {"type": "Brotli"},
        {"type": "Gzip", "minContentLength": 1, "gzip": {"level": 5, "window": 9}},
    ]
    assert sources == ["narrow", "wide"]
    assert "compressor/1/gzip/level of wide by narrow" in lost


def test_both_rate_limits_stand_side_by_side() -> None:
    """§5: the controller merges translated limits, whose names hold their policy, so none replaces another."""
    rules = "rateLimit: {global: {rules: [{limit: {requests: %d, unit: Hour}}]}}"
    simulation = simulated(
        *SHOP, on_gateway("BTP", rules % 9), on_route("BTP", "mergeType: StrategicMerge, " + rules % 1)
    )
    spec, sources, lost = effective(simulation, "BTP", PAY)
    assert [each["limit"]["requests"] for each in spec["rateLimit"]["global"]["rules"]] == [9, 1]
    assert (sources, lost) == (["narrow", "wide"], [])


def test_the_parent_is_the_nearest_policy_of_each_listener() -> None:
    """§5: a listener's own policy stands in for the Gateway's; only one level is merged."""
    more = "protocol: HTTP, allowedRoutes: {namespaces: {from: All}}"
    two = f"[{{name: a, port: 80, {more}}}, {{name: b, port: 81, {more}}}]"
    simulation = simulated(
        CLASS,
        gateway(listeners=two),
        route(more=RULES),
        service(),
        on_gateway("SP", OPTIONAL),
        on_gateway("SP", "csrf: {additionalOrigins: []}", "listener", "#a"),
        on_route("SP", "mergeType: StrategicMerge, cors: {maxAge: 1s}"),
    )
    assert effective(simulation, "SP", "Listener infra/edge#a")[:2] == (
        {"csrf": {"additionalOrigins": []}, "cors": {"maxAge": "1s"}},
        ["listener", "narrow"],
    )
    assert effective(simulation, "SP", "Listener infra/edge#b")[1] == ["narrow", "wide"]
    assert told(simulation, "narrow") == {
        "Gateway infra/edge#a": ["Merged=True/Merged"],
        "Gateway infra/edge#b": ["Merged=True/Merged"],
        "Gateway infra/edge": ["Accepted=True/Accepted"],
    }
    assert message(simulation, "wide", "Merged").endswith("for these routes: [shop/checkout]")
    assert "routes" not in message(simulation, "wide", "Overridden")


def test_a_route_policy_is_no_parent_of_a_rule_policy() -> None:
    """§5: the rule's policy merges with the Gateway's, past the route's."""
    simulation = simulated(
        *SHOP,
        on_gateway("SP", OPTIONAL),
        on_route("SP", "csrf: {additionalOrigins: []}"),
        on_route("SP", "mergeType: JSONMerge, cors: {maxAge: 1s}", "pay", "#pay"),
    )
    spec, sources, lost = effective(simulation, "SP", PAY)
    assert spec == {"jwt": {"optional": True, "providers": [PROVIDER]}, "cors": {"maxAge": "1s"}}
    assert sources == ["pay", "wide"]
    assert lost == ["csrf/additionalOrigins of narrow by pay wide"]


def test_a_merge_without_parent_is_the_policy_alone() -> None:
    simulation = simulated(*SHOP, on_route("SP", "mergeType: StrategicMerge, cors: {maxAge: 1s}"))
    assert effective(simulation, "SP", PAY) == ({"cors": {"maxAge": "1s"}}, ["narrow"], [])
    assert told(simulation, "narrow") == {"Gateway infra/edge": ["Accepted=True/Accepted"]}


def test_below_a_listener_set_its_policy_beats_the_gateways() -> None:
    """§4: rule > route > ListenerSet listener > ListenerSet > Gateway."""
    more = "allowedListeners: {namespaces: {from: All}}"
    listeners = "[{name: x, port: 90, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    parents = "[{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra}]"
    simulation = simulated(
        CLASS,
        gateway(more=more),
        listener_set("extra", "shop", listeners),
        route(parents=parents, more=RULES),
        service(),
        on_gateway("SP", OPTIONAL),
        policy("SP", "set", "ListenerSet/extra", "cors: {maxAge: 1s}"),
    )
    assert effective(simulation, "SP", PAY)[1:] == (
        ["set"],
        ["jwt/optional of wide by set", "jwt/providers of wide by set"],
    )
    assert message(simulation, "wide", "Overridden").endswith("for these listenersets: [shop/extra]")


def test_on_layer_4_a_field_left_out_is_taken_from_the_broader_policy() -> None:
    """§4: BackendTrafficPolicy on TCP, TLS and UDP routes; each top-level field whole."""
    tcp = "[{name: tcp, port: 9, protocol: TCP, allowedRoutes: {namespaces: {from: All}}}]"
    backend = "rules: [{name: only, backendRefs: [{name: checkout, port: 80}]}]"
    simulation = simulated(
        CLASS,
        gateway(listeners=tcp),
        route(kind="TCPRoute", more=backend),
        service(),
        on_gateway("BTP", "timeout: {tcp: {connectTimeout: 5s}}, tcpKeepalive: {probes: 3}"),
        policy("BTP", "narrow", "TCPRoute/checkout", "tcpKeepalive: {idleTime: 1s}"),
    )
    spec, sources, lost = effective(simulation, "BTP", "TCPRoute shop/checkout")
    assert spec == {"tcpKeepalive": {"idleTime": "1s"}, "timeout": {"tcp": {"connectTimeout": "5s"}}}
    assert (sources, lost) == (["narrow", "wide"], ["tcpKeepalive/probes of wide by narrow"])


def test_every_lost_leaf_says_where_it_is_written() -> None:
    simulation = simulated(
        *SHOP,
        on_gateway("BTP", "compressor: [{type: Gzip, gzip: {level: 1}}], retry: {numRetries: 3}"),
        on_route(
            "BTP", "mergeType: StrategicMerge, compressor: [{type: Gzip, gzip: {level: 5}}], retry: {numRetries: 1}"
        ),
    )
    wide = state(simulation, "wide")
    (group,) = {id(each): each for each in wide.groups if each.effective.lost}.values()
    for each in group.effective.lost:
        assert each.location.pointer == ("spec", *each.pointer)
        assert holds(wide.policy.body, each.location.pointer)
        assert each.replaced


WILD_AND_EXACT = (
    "[{name: wild, port: 80, protocol: HTTP, hostname: '*.example.com', allowedRoutes: {namespaces: {from: All}}}, "
    "{name: exact, port: 80, protocol: HTTP, hostname: a.example.com, allowedRoutes: {namespaces: {from: All}}}]"
)


@pytest.mark.parametrize(
    ("hostnames", "owner", "verdict"),
    [
        ("[a.example.com]", "exact", "NoEffect"),  # the wildcard listener hands it over: its policy protects nothing
        ("[b.example.com]", "wild", "Enforced"),
        ("[a.example.com, b.example.com]", "both", "Enforced"),
    ],
)
def test_a_listener_carries_no_hostname_that_another_one_names(hostnames: str, owner: str, verdict: str) -> None:
    """§2: the hostnames that listeners leave to each other decide which of them carry a route's traffic."""
    simulation = simulated(
        CLASS,
        gateway(listeners=WILD_AND_EXACT),
        route(more=f"hostnames: {hostnames}, {RULES}"),
        service(),
        on_gateway("SP", OPTIONAL, "wild", "#wild"),
        on_gateway("SP", "cors: {}", "exact", "#exact"),
    )
    found = {
        name.name: [path for group in simulation.groups for path in group.contexts() if name in group.effective.sources]
        for name in simulation.policies
    }
    assert {name for name, paths in found.items() if paths} == ({owner} if owner != "both" else {"wild", "exact"})
    assert state(simulation, "wild").verdict == verdict
    assert told(simulation, "wild") == {"Gateway infra/edge#wild": ["Accepted=True/Accepted"]}


def test_a_route_for_every_hostname_goes_through_all_listeners() -> None:
    """§2: without hostnames of its own a route has those of each listener."""
    simulation = simulated(
        CLASS,
        gateway(listeners=WILD_AND_EXACT),
        route(more=RULES),
        service(),
        on_gateway("SP", "cors: {}", "wild", "#wild"),
        on_gateway("SP", "cors: {}", "exact", "#exact"),
    )
    assert {state(simulation, name).verdict for name in ("wild", "exact")} == {"Enforced"}


PER_CLIENT = "{clientSelectors: [{sourceCIDR: {value: 10.0.0.0/8}}], limit: {requests: 5, unit: Second}}"
FOR_ALL = "{limit: {requests: 100, unit: Second}}"


@pytest.mark.parametrize(
    ("parent", "child", "kept"),
    [
        (f"local: {{rules: [{PER_CLIENT}]}}", "local: {rules: []}", [5]),
        (f"local: {{rules: [{PER_CLIENT}, {FOR_ALL}]}}", "local: {rules: []}", [5]),
        (f"local: {{rules: [{FOR_ALL}]}}", "local: {rules: []}", []),
        (f"local: {{rules: [{PER_CLIENT}]}}", f"local: {{rules: [{FOR_ALL}]}}", [5, 100]),
        (f"local: {{rules: [{PER_CLIENT}]}}", f"local: {{rules: [{PER_CLIENT.replace('5', '7', 1)}]}}", [7]),
        (f"global: {{rules: [{FOR_ALL}]}}", "global: {rules: []}", [100]),
    ],
)
def test_an_empty_list_of_limits_switches_nothing_off(parent: str, child: str, kept: list[int]) -> None:
    """Limits are merged as the translator has made them: without its empty lists, a rule for all clients apart.

    Envoy Gateway, internal/gatewayapi/backendtrafficpolicy.go (`buildLocalRateLimit`, the merge of `tfGW.RateLimit`);
    issue 9233.
    """
    simulation = simulated(
        *SHOP,
        on_gateway("BTP", f"rateLimit: {{{parent}}}"),
        on_route("BTP", f"mergeType: JSONMerge, rateLimit: {{{child}}}"),
    )
    spec, _, _ = effective(simulation, "BTP", PAY)
    (limits,) = spec["rateLimit"].values()
    assert [rule["limit"]["requests"] for rule in limits["rules"]] == kept


def test_a_selected_route_without_a_grant_is_named() -> None:
    """The controller leaves it out and says nothing (§1)."""
    select = "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespaces: {from: All}}]"
    simulation = simulated(
        *SHOP,
        route("own", "infra", "[{name: edge}]"),
        policy("BTP", "all", "", "retry: {}", "infra", field=select),
    )
    (finding,) = (finding for finding in run(simulation) if finding.rule == "GWP104")
    assert (finding.severity, finding.message) == (
        "note",
        "BackendTrafficPolicy infra/all selects HTTPRoute shop/checkout, but does not act on it",
    )


def test_conditions_stand_in_the_order_in_which_they_are_set() -> None:
    """Accepted, the warning, Merged, Overridden; a route's Merged stands with the listener that it passes.

    internal/gatewayapi/backendtrafficpolicy.go: processBackendTrafficPolicyForGateway and …ForRoute.
    """
    warned = "targetRef: {group: gateway.networking.k8s.io, kind: GATEWAY, name: NAME}"
    on_edge = warned.replace("GATEWAY", "Gateway").replace("NAME", "edge")
    on_checkout = warned.replace("GATEWAY", "HTTPRoute").replace("NAME", "checkout")
    other = route("other", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
    simulation = simulated(
        *SHOP,
        other,
        policy("BTP", "wide", "", "retry: {}", "infra", field=on_edge),
        policy("BTP", "narrow", "", "mergeType: StrategicMerge, timeout: {}", field=on_checkout),
        policy("BTP", "other", "HTTPRoute/other", "timeout: {}"),
        on_route("BTP", "timeout: {}", "pay", "#pay"),
    )
    orders = {
        name: sorted(
            [condition.type for condition in ancestor.conditions] for ancestor in state(simulation, name).ancestors
        )
        for name in ("wide", "narrow")
    }
    assert orders["wide"] == [["Accepted", "Warning", "Merged", "Overridden"]]
    assert orders["narrow"] == [["Accepted", "Warning", "Overridden"], ["Merged"]]
