"""Whom Envoy Gateway's policies reach and what the controller writes on them.

Source: docs/design/implementations/envoy-gateway.md §1 to §4, §8.
"""

from __future__ import annotations

import pytest

from tests.implementations.worlds_envoy_gateway import CLASS, message, policy, told
from tests.worlds import gateway, grant, labelled, listener_set, route, simulated, state

ACCEPTED = ["Accepted=True/Accepted"]
CONFLICTED = ["Accepted=False/Conflicted"]
RULES = "rules: [{name: pay}, {name: rest}]"
SHOP = (CLASS, gateway(), route(more=RULES))
ROUTE = policy("BTP", "route", "HTTPRoute/checkout")
WIDE = policy("BTP", "wide", "Gateway/edge", namespace="infra")


def other_class(controller: str) -> str:
    return CLASS.replace("gateway.envoyproxy.io/gatewayclass-controller", controller)


# §2 Who is there to attach to


def test_the_ancestors_of_a_route_policy_are_the_managed_parent_refs_as_spelled() -> None:
    parents = "[{name: edge, namespace: infra, sectionName: http}, {name: spare, namespace: infra}, {name: other}]"
    simulation = simulated(CLASS, gateway(), gateway("spare"), route(parents=parents), ROUTE)
    assert told(simulation, "route") == {"Gateway infra/edge#http": ACCEPTED, "Gateway infra/spare": ACCEPTED}


def test_a_parent_ref_that_refuses_the_route_is_an_ancestor_all_the_same() -> None:
    listeners = "[{name: http, port: 80, protocol: HTTP, hostname: a.example.com}]"
    parents = "[{name: edge, namespace: infra, sectionName: none}, {name: edge, namespace: infra, sectionName: http}]"
    simulation = simulated(CLASS, gateway(listeners=listeners), route(parents=parents), ROUTE)
    assert told(simulation, "route") == {"Gateway infra/edge#none": ACCEPTED, "Gateway infra/edge#http": ACCEPTED}


@pytest.mark.parametrize("controller", ["istio.io/gateway-controller", "example.com/nobody-knows"])
def test_a_gateway_of_another_controller_gives_no_status(controller: str) -> None:
    simulation = simulated(other_class(controller), gateway(), route(), ROUTE, WIDE)
    assert told(simulation, "route") == told(simulation, "wide") == {}


def test_a_gateway_that_another_implementation_serves_is_out_of_reach() -> None:
    simulation = simulated(other_class("istio.io/gateway-controller"), gateway(), route(more=RULES), WIDE)
    assert state(simulation, "wide").groups == []


def test_without_any_class_in_the_input_the_group_decides() -> None:
    simulation = simulated(gateway(), route(), ROUTE)
    assert told(simulation, "route") == {"Gateway infra/edge": ACCEPTED}


def test_a_gateway_with_an_address_type_that_is_not_supported_is_not_there() -> None:
    simulation = simulated(CLASS, gateway(more="addresses: [{type: NamedAddress, value: x}]"), WIDE)
    assert told(simulation, "wide") == {}


def test_a_policy_on_a_listener_set_that_is_not_let_in_is_accepted() -> None:
    """§2: allowedListeners is not looked at for policies; a route that comes only through it is not ours."""
    parents = "[{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra}]"
    simulation = simulated(
        CLASS,
        gateway(),
        listener_set("extra", "shop", "[{name: x, port: 90, protocol: HTTP}]"),
        route(parents=parents),
        policy("SP", "on-set", "ListenerSet/extra"),
        ROUTE,
    )
    assert told(simulation, "on-set") == {"ListenerSet shop/extra": ACCEPTED}
    assert told(simulation, "route") == {}


# §1 Targets


def selecting(more: str = "", kind: str = "HTTPRoute", labels: str = "{team: a}") -> str:
    field = f"targetSelectors: [{{kind: {kind}, matchLabels: {labels}{more}}}]"
    return policy("BTP", "selecting", "", field=field, namespace="infra")


def labelled_route(name: str, namespace: str, labels: str = "{team: a}") -> str:
    return route(name, namespace).replace("metadata: {", f"metadata: {{labels: {labels}, ")


def test_a_selector_reaches_its_own_namespace_only() -> None:
    simulation = simulated(CLASS, gateway(), labelled_route("a", "infra"), labelled_route("b", "shop"), selecting())
    (target,) = state(simulation, "selecting").targets
    assert [str(node) for node in target.nodes] == ["HTTPRoute infra/a"]


GRANT = grant(
    "shop",
    "{group: gateway.envoyproxy.io, kind: BackendTrafficPolicy, namespace: infra}",
    "{group: gateway.networking.k8s.io, kind: HTTPRoute}",
)


BY_LABEL = "{from: Selector, selector: {matchLabels: {kind: app}}}"


@pytest.mark.parametrize(
    ("namespaces", "extra", "reached"),
    [
        ("{from: All}", (GRANT,), ["HTTPRoute shop/b"]),
        ("{from: All}", (), []),
        (
            "{from: Selector, selector: {matchLabels: {kind: app}}}",
            (GRANT, labelled("shop", "{kind: app}")),
            ["HTTPRoute shop/b"],
        ),
        (BY_LABEL, (GRANT, labelled("shop")), []),
        (BY_LABEL, (GRANT,), []),
    ],
)
def test_a_selector_across_namespaces_needs_a_grant_there(
    namespaces: str, extra: tuple[str, ...], reached: list[str]
) -> None:
    simulation = simulated(
        CLASS, gateway(), labelled_route("b", "shop"), *extra, selecting(f", namespaces: {namespaces}")
    )
    (target,) = state(simulation, "selecting").targets
    assert [str(node) for node in target.nodes] == reached
    assert bool(told(simulation, "selecting")) is bool(reached)


def test_a_selection_without_a_grant_says_why_it_is_empty() -> None:
    """The controller drops it silently; a linter must not."""
    simulation = simulated(CLASS, gateway(), labelled_route("b", "shop"), selecting(", namespaces: {from: All}"))
    (target,) = state(simulation, "selecting").targets
    assert (target.problem, str(target.key)) == ("not-granted", "HTTPRoute shop/b")


def test_a_reference_to_what_a_selector_chose_adds_nothing() -> None:
    field = (
        "targetSelectors: [{kind: Gateway, matchLabels: {team: a}}], "
        "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    )
    labelled_gateway = gateway().replace("metadata: {", "metadata: {labels: {team: a}, ")
    simulation = simulated(CLASS, labelled_gateway, policy("BTP", "both", "", field=field, namespace="infra"))
    assert len(state(simulation, "both").targets) == 1
    assert told(simulation, "both") == {"Gateway infra/edge": ACCEPTED}


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ("", {}),  # the API server refuses it
        ("targetSelectors: [], ", {}),
        ("targetSelectors: [{kind: Gateway, matchLabels: {team: b}}], ", {"Gateway infra/edge": ACCEPTED}),
    ],
)
def test_beside_selectors_target_ref_hides_target_refs(selectors: str, expected: dict[str, list[str]]) -> None:
    one, other = (f"{{group: gateway.networking.k8s.io, kind: Gateway, name: {name}}}" for name in ("edge", "other"))
    field = f"{selectors}targetRef: {one}, targetRefs: [{other}]"
    simulation = simulated(
        CLASS, gateway(), gateway("other"), policy("BTP", "both", "", field=field, namespace="infra"), WIDE
    )
    warned = {ancestor: [*conditions, "Warning=True/DeprecatedField"] for ancestor, conditions in expected.items()}
    assert told(simulation, "both") == warned


def test_merge_type_on_a_gateway_is_refused() -> None:
    """§1: by the CRD, so that no controller writes anything."""
    simulation = simulated(CLASS, gateway(), policy("BTP", "wide", "Gateway/edge", "mergeType: JSONMerge", "infra"))
    assert (state(simulation, "wide").verdict, told(simulation, "wide")) == ("Invalid", {})


# §3 Order and conflicts


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "b"), ("", "", "a")],
)
def test_the_oldest_policy_holds_a_scope(first: str, second: str, winner: str) -> None:
    simulation = simulated(
        *SHOP,
        policy("BTP", "a", "HTTPRoute/checkout", created=first),
        policy("BTP", "b", "HTTPRoute/checkout", created=second),
    )
    loser = "a" if winner == "b" else "b"
    assert told(simulation, winner) == {"Gateway infra/edge": ACCEPTED}
    assert told(simulation, loser) == {"Gateway infra/edge": CONFLICTED}
    assert state(simulation, loser).verdict == "Conflicted"
    assert [each.name for each in state(simulation, loser).by] == [winner]


def test_ties_are_broken_by_namespace_before_name() -> None:
    """`a` before `a-b`, though the text `a-b/x` sorts before `a/y`."""
    namespaced = [
        policy(
            "BTP", f"in-{each}", "", field="targetSelectors: [{kind: Gateway, namespaces: {from: All}}]", namespace=each
        )
        for each in ("a-b", "a")
    ]
    grants = [
        grant(
            "infra",
            f"{{group: gateway.envoyproxy.io, kind: BackendTrafficPolicy, namespace: {each}}}",
            "{group: gateway.networking.k8s.io, kind: Gateway}",
        ).replace("name: grant", f"name: grant-{each}")
        for each in ("a-b", "a")
    ]
    simulation = simulated(CLASS, gateway(), *namespaced, *grants)
    assert told(simulation, "in-a") == {"Gateway infra/edge": ACCEPTED}
    assert told(simulation, "in-a-b") == {"Gateway infra/edge": CONFLICTED}


def test_a_policy_is_judged_target_by_target() -> None:
    names = ("checkout", "other")
    references = ", ".join(f"{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {name}}}" for name in names)
    simulation = simulated(
        *SHOP,
        route("other", parents="[{name: edge, namespace: infra, sectionName: http}]", more=RULES),
        policy("BTP", "a", "HTTPRoute/checkout"),
        policy("BTP", "b", "", "retry: {numRetries: 1}", field=f"targetRefs: [{references}]"),
    )
    assert told(simulation, "b") == {"Gateway infra/edge": CONFLICTED, "Gateway infra/edge#http": ACCEPTED}
    assert state(simulation, "b").verdict == "PartiallyEnforced"


def test_other_sections_and_other_kinds_do_not_conflict() -> None:
    simulation = simulated(
        *SHOP, ROUTE, policy("BTP", "pay", "HTTPRoute/checkout#pay"), policy("SP", "security", "HTTPRoute/checkout")
    )
    assert told(simulation, "pay") == told(simulation, "security") == {"Gateway infra/edge": ACCEPTED}


@pytest.mark.parametrize(
    ("target", "namespace", "ancestor", "text"),
    [
        ("HTTPRoute/checkout#none", "shop", "Gateway infra/edge", "HTTPRoute shop/checkout"),
        ("Gateway/edge#none", "infra", "Gateway infra/edge#none", "Gateway infra/edge"),
    ],
)
def test_a_section_that_is_not_there_is_target_not_found(target: str, namespace: str, ancestor: str, text: str) -> None:
    simulation = simulated(*SHOP, policy("BTP", "lost", target, namespace=namespace))
    assert told(simulation, "lost") == {ancestor: ["Accepted=False/TargetNotFound"]}
    assert message(simulation, "lost", "Accepted") == f"No section name none found for {text}"


def test_an_object_that_is_not_there_is_met_with_silence() -> None:
    simulation = simulated(*SHOP, policy("BTP", "lost", "HTTPRoute/none"))
    assert (state(simulation, "lost").verdict, told(simulation, "lost")) == ("TargetNotFound", {})


# §4 Overridden


def test_overridden_names_what_is_narrower() -> None:
    simulation = simulated(*SHOP, WIDE, ROUTE, policy("BTP", "listener", "Gateway/edge#http", namespace="infra"))
    assert told(simulation, "wide") == {"Gateway infra/edge": [*ACCEPTED, "Overridden=True/Overridden"]}
    assert message(simulation, "wide", "Overridden") == (
        "This policy is being overridden by other backendTrafficPolicies for "
        "these gateway listeners: [infra/edge/http] and these routes: [shop/checkout]"
    )


def test_a_rule_policy_overrides_its_route_policy_and_names_the_rule() -> None:
    simulation = simulated(*SHOP, ROUTE, policy("BTP", "pay", "HTTPRoute/checkout#pay"))
    assert message(simulation, "route", "Overridden").endswith("for these route rules: [pay]")


def test_a_refused_route_policy_still_overrides_the_gateways() -> None:
    """§4: edges are recorded before the checks."""
    simulation = simulated(*SHOP, WIDE, policy("BTP", "lost", "HTTPRoute/checkout#none"))
    assert "Overridden=True/Overridden" in told(simulation, "wide")["Gateway infra/edge"]
    assert state(simulation, "wide").verdict == "Enforced"


# §8 Warnings and too many ancestors


def test_deprecated_fields_are_warned_of() -> None:
    old = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}"
    simulation = simulated(*SHOP, policy("BTP", "old", "", "compression: [{type: Gzip}]", field=old))
    assert told(simulation, "old") == {"Gateway infra/edge": [*ACCEPTED, "Warning=True/DeprecatedField"]}
    assert message(simulation, "old", "Warning") == (
        "spec.compression is deprecated, use spec.compressor instead; "
        "spec.targetRef is deprecated, use spec.targetRefs instead"
    )


def test_a_conflicted_policy_is_not_warned() -> None:
    old = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}"
    simulation = simulated(*SHOP, policy("BTP", "a", "HTTPRoute/checkout"), policy("BTP", "old", "", field=old))
    assert told(simulation, "old") == {"Gateway infra/edge": CONFLICTED}


def test_more_than_sixteen_ancestors_are_cut_and_the_last_one_says_so() -> None:
    names = [f"g{number:02}" for number in range(20)]
    parents = "[" + ", ".join(f"{{name: {name}, namespace: infra}}" for name in names) + "]"
    simulation = simulated(CLASS, *(gateway(name) for name in names), route(parents=parents), ROUTE)
    found = told(simulation, "route")
    assert list(found) == [f"Gateway infra/{name}" for name in names[:16]]
    assert found["Gateway infra/g15"] == [*ACCEPTED, "Aggregated=True/Aggregated"]


EDGE_NAMED = "{group: gateway.networking.k8s.io, kind: Gateway, name: edge}"
SELECTED = "targetSelectors: [{kind: Gateway, matchLabels: {app: edge}}]"


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (f"targetRefs: [{EDGE_NAMED}]", ACCEPTED),
        (f"targetRefs: [{EDGE_NAMED}, {EDGE_NAMED}]", CONFLICTED),
        (f"{SELECTED}, targetRefs: [{EDGE_NAMED}]", ACCEPTED),  # what a selector found is not named again
    ],
)
def test_a_policy_that_names_a_target_twice_is_in_conflict_with_itself_and_acts(
    targets: str, expected: list[str]
) -> None:
    """The conflict is in its status alone: it has the target by then."""
    own = policy("SP", "own", "", "cors: {allowOrigins: ['*']}", "infra", field=targets)
    simulation = simulated(CLASS, gateway(labels="app: edge"), route(more=RULES), own)
    assert told(simulation, "own") == {"Gateway infra/edge": expected}
    found = state(simulation, "own")
    assert (found.verdict, len(found.groups), found.refused) == ("Enforced", 1, [])
