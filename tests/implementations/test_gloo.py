"""Gloo Gateway's options (docs/design/implementations/kgateway-nginx-gloo.md §3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.policy.results import Effective
from policylint.report.simulate.status import stanzas
from policylint.simulation import Simulation
from tests.worlds import gateway, listener_set, opened, policy, route, service, simulated

OVERRIDES = "delegation.gateway.solo.io/enable-policy-overrides"


def delegating(to: str) -> str:
    return f"rules: [{{backendRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {to}}}]}}]"


def simulate(path: Path, *parts: str, top: str = "none", middle: str = "none") -> Simulation:
    """A chain of routes from top over middle to leaf."""
    of_top, of_middle = f"{OVERRIDES}: {top!r}", f"{OVERRIDES}: {middle!r}"
    own = "rules: [{name: own, backendRefs: [{name: web, port: 80}]}]"
    return opened(
        path,
        gateway("gw", "default", "[{name: http, port: 80, protocol: HTTP}]", of_class="gloo-gateway"),
        route("top", "default", "[{name: gw}]", more=delegating("middle"), annotations=of_top),
        route("middle", "default", parents="", more=delegating("leaf"), annotations=of_middle),
        route("leaf", "default", parents="", more=own),
        service("web", "default", "[{port: 80}]"),
        *parts,
    )


def option(name: str, target: str, options: str, *, kind: str = "RouteOption", created: str = "") -> str:
    return policy("gateway.solo.io/v1", kind, name, target, f"options: {{{options}}}", created=created)


def only(simulation: Simulation) -> Effective:
    (group,) = simulation.groups
    return group.effective


def test_only_what_is_empty_counts_as_unset(tmp_path: Path) -> None:
    """merge.go and options.proto: lists and maps with nothing in them; all scalars are wrapped, so that a false is
    set, and an empty message is."""
    simulation = simulate(
        tmp_path,
        option("a", "HTTPRoute/leaf", "appendXForwardedHost: false, prefixRewrite: '', upgrades: [], faults: {}"),
        option(
            "b",
            "HTTPRoute/leaf",
            "appendXForwardedHost: true, prefixRewrite: x, upgrades: [{websocket: {}}], faults: {abort: {}}",
        ),
        option("c", "HTTPRoute/leaf", "envoyMetadata: {}"),
        option("d", "HTTPRoute/leaf", "envoyMetadata: {a: {b: c}}, upgrades: [{connect: {}}]"),
    )
    result = only(simulation)
    assert result.spec == {
        "options": {
            "appendXForwardedHost": False,
            "prefixRewrite": "",
            "upgrades": [{"websocket": {}}],
            "faults": {},
            "envoyMetadata": {"a": {"b": "c"}},
        }
    }
    assert {(str(each.pointer[1]), each.policy.name) for each in result.lost} == {
        ("appendXForwardedHost", "b"),
        ("prefixRewrite", "b"),
        ("faults", "b"),
        ("upgrades", "d"),
    }


def test_the_members_of_a_oneof_are_one_field(tmp_path: Path) -> None:
    """options.proto: host_rewrite_type, rate_limit_config_type, jwt_config."""
    simulation = simulate(
        tmp_path,
        option("a", "HTTPRoute/leaf", "autoHostRewrite: true, jwt: {disable: true}"),
        option("b", "HTTPRoute/leaf", "hostRewrite: x, jwtStaged: {}, ratelimit: {}, cors: {}"),
        option("c", "HTTPRoute/leaf", "rateLimitConfigs: {}, ratelimitEarly: {}"),
    )
    result = only(simulation)
    assert sorted(result.spec["options"]) == ["autoHostRewrite", "cors", "jwt", "ratelimit", "ratelimitEarly"]
    assert {(str(each.pointer[1]), each.policy.name, each.by[0].name) for each in result.lost} == {
        ("hostRewrite", "b", "a"),
        ("jwtStaged", "b", "a"),
        ("rateLimitConfigs", "c", "b"),
    }


@pytest.mark.parametrize(("top", "owner"), [("hostRewriteType", "leaf"), ("hostRewrite", "top"), ("*", "leaf")])
def test_an_annotation_names_a_oneof_by_its_go_field(tmp_path: Path, top: str, owner: str) -> None:
    simulation = simulate(
        tmp_path,
        option("top", "HTTPRoute/top", "hostRewrite: a"),
        option("leaf", "HTTPRoute/leaf", "autoHostRewrite: true"),
        top=top,
    )
    assert {each.name for each in only(simulation).sources} == {owner}


RULES = """[
  {name: one, matches: [{path: {value: /a}}], filters: [FILTERS], backendRefs: [{name: web, port: 80}]},
  {name: two, backendRefs: [{name: web, port: 80}]}]"""


@pytest.mark.parametrize(
    ("filters", "one", "verdicts"),
    [
        (["there"], ["there", "wide"], {"there": "Enforced", "wide": "Enforced"}),
        (["gone"], [], {"there": "NoEffect", "wide": "PartiallyEnforced"}),
        (["there", "gone"], [], {"there": "NoEffect", "wide": "PartiallyEnforced"}),
    ],
)
def test_a_filter_that_names_nothing_takes_all_options_of_its_rule(
    tmp_path: Path, filters: list[str], one: list[str], verdicts: dict[str, str]
) -> None:
    """GetRouteOptionForRouteRule: the error ends it before the options that target the route are read."""
    named = ", ".join(
        f"{{type: ExtensionRef, extensionRef: {{group: gateway.solo.io, kind: RouteOption, name: {name}}}}}"
        for name in filters
    )
    filtered = route("r", "default", "[{name: gw}]", more=f"rules: {RULES.replace('FILTERS', named)}")
    untargeted = option("there", "", "timeout: 1s")
    simulation = simulate(tmp_path, filtered, untargeted, option("wide", "HTTPRoute/r", "extauth: {disable: true}"))
    found = {
        path[-1].section: [each.name for each in group.effective.sources]
        for group in simulation.groups
        for path in group.contexts()
    }
    assert found == {"two": ["wide"], **({"one": one} if one else {})}
    judged = {key.name: state for key, state in simulation.policies.items()}
    assert judged["wide"].verdict == verdicts["wide"]
    if filters != ["gone"]:
        assert judged["there"].verdict == verdicts["there"]
        assert (judged["there"].idle is not None) == (verdicts["there"] == "NoEffect")
    (state,) = (each for each in simulation.topology.routes if each.route.key.name == "r")
    resolved = next(each for each in state.parents[0].conditions if each.type == "ResolvedRefs")
    assert resolved.reason == ("BackendNotFound" if "gone" in filters else "ResolvedRefs")


def test_a_policy_that_is_there_twice_counts_where_it_comes_first(tmp_path: Path) -> None:
    """plugin_utils.go: its section counts, whatever comes before it."""
    twice = option("b", "Gateway/gw", "cors: {}", kind="VirtualHostOption").replace(
        "name: gw}]", "name: gw}, {group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: http}]"
    )
    old = option("a", "Gateway/gw", "cors: {allowOrigin: [a]}", kind="VirtualHostOption")
    result = only(simulate(tmp_path, twice, old))
    assert {each.name for each in result.sources} == {"b"}


def test_the_older_option_keeps_a_field_whole(tmp_path: Path) -> None:
    """§3: sorted by creation, then name; a later one fills only what is unset."""
    simulation = simulate(
        tmp_path,
        option(
            "young", "HTTPRoute/leaf", "faults: {delay: {percentage: 1}}, timeout: 1s", created="2026-01-02T00:00:00Z"
        ),
        option("old", "HTTPRoute/leaf", "faults: {abort: {httpStatus: 500}}", created="2026-01-01T00:00:00Z"),
    )
    result = only(simulation)
    assert result.spec == {"options": {"faults": {"abort": {"httpStatus": 500}}, "timeout": "1s"}}
    assert [(each.pointer, each.policy.name, each.by[0].name) for each in result.lost] == [
        (("options", "faults", "delay", "percentage"), "young", "old")
    ]


@pytest.mark.parametrize(
    ("top", "middle", "owner"),
    [
        ("none", "none", "top"),
        ("none", "*", "top"),
        ("TIMEOUT, faults", "none", "middle"),
        ("*", "timeout", "leaf"),
        ("", "", "top"),
    ],
)
def test_every_parent_of_a_chain_says_what_it_leaves_to_its_children(
    tmp_path: Path, top: str, middle: str, owner: str
) -> None:
    """§3, delegation: the parent wins but for the fields that its annotation frees, at each step of the chain."""
    simulation = simulate(
        tmp_path,
        option("top", "HTTPRoute/top", "timeout: 9s"),
        option("middle", "HTTPRoute/middle", "timeout: 5s, prefixRewrite: /middle"),
        option("leaf", "HTTPRoute/leaf", "timeout: 1s, hostRewrite: leaf"),
        top=top,
        middle=middle,
    )
    result = only(simulation)
    assert result.owners["options", "timeout"].name == owner
    assert result.owners["options", "prefixRewrite"].name == "middle"
    assert result.owners["options", "hostRewrite"].name == "leaf"


def test_of_listener_options_the_first_alone_applies(tmp_path: Path) -> None:
    """§3: section before whole; the others are lost whole, even where they set other fields."""
    simulation = simulate(
        tmp_path,
        option("whole", "Gateway/gw", "perConnectionBufferLimitBytes: 1", kind="ListenerOption"),
        option("section", "Gateway/gw#http", "proxyProtocol: {}", kind="ListenerOption"),
    )
    (result,) = {id(group.effective): group.effective for group in simulation.groups}.values()
    assert result.spec == {"options": {"proxyProtocol": {}}}
    verdicts = {key.name: state.verdict for key, state in simulation.policies.items()}
    assert verdicts == {"whole": "Overridden", "section": "Enforced"}


def test_virtual_host_options_are_all_merged(tmp_path: Path) -> None:
    """§3: the section first, then what the Gateway's options add."""
    simulation = simulate(
        tmp_path,
        option("whole", "Gateway/gw", "cors: {}, stats: {}", kind="VirtualHostOption"),
        option("section", "Gateway/gw#http", "cors: {allowOrigin: [a]}", kind="VirtualHostOption"),
    )
    assert only(simulation).origins() == {"options": sorted(key for key in simulation.policies)}
    assert only(simulation).spec == {"options": {"cors": {"allowOrigin": ["a"]}, "stats": {}}}


def test_options_elsewhere_have_no_target(tmp_path: Path) -> None:
    """§3: only options in the namespace of their target are read."""
    elsewhere = option("far", "HTTPRoute/leaf", "timeout: 1s").replace("namespace: default", "namespace: far")
    simulation = simulate(tmp_path, elsewhere.replace("name: leaf", "name: leaf, namespace: default"))
    (state,) = simulation.policies.values()
    assert state.verdict == "TargetNotFound"


def test_the_status_is_solo_kits(tmp_path: Path) -> None:
    """§3: a Warning for a VirtualHostOption that adds nothing; nothing at all of a RouteOption that does."""
    simulation = simulate(
        tmp_path,
        option("whole", "Gateway/gw", "cors: {}", kind="VirtualHostOption"),
        option("section", "Gateway/gw#http", "cors: {allowOrigin: [a]}", kind="VirtualHostOption"),
        option("first", "HTTPRoute/leaf", "timeout: 1s"),
        option("second", "HTTPRoute/leaf", "timeout: 2s"),
        option("nowhere", "HTTPRoute/laef", "timeout: 2s"),
    )
    found = {key.name: state.stanza for key, state in simulation.policies.items()}
    reason = "not attached to listener due to conflict with more specific or older VirtualHostOptions"
    assert found == {
        "whole": {"statuses": {"gloo-system": {"state": "Warning", "reason": reason}}},
        "section": {"statuses": {"gloo-system": {"state": "Accepted"}}},
        "first": {"statuses": {"gloo-system": {"state": "Accepted"}}},
        "second": {},
        "nowhere": {},
    }
    written = [each for each in stanzas(simulation) if each["kind"] == "VirtualHostOption"]
    assert [each["status"] for each in written] == [found["section"], found["whole"]]


SET = "[{name: http, port: 81, protocol: HTTP}, {name: extra, port: 82, protocol: HTTP}]"
OWN, OF_SET, EXTRA = "Listener infra/edge#http", "XListenerSet infra/more#http", "XListenerSet infra/more#extra"
AIMS = {
    "whole": "Gateway/edge",
    "own": "Gateway/edge#http",
    "of-set": "Gateway/edge#extra",
    "set": "XListenerSet.gateway.networking.x-k8s.io/more",
    "one": "XListenerSet.gateway.networking.x-k8s.io/more#extra",
}


@pytest.mark.parametrize("kind", ["VirtualHostOption", "ListenerOption"])
@pytest.mark.parametrize(
    ("aims", "expected"),
    [
        (("whole",), {OWN: "whole", OF_SET: "whole", EXTRA: "whole"}),
        (("whole", "own"), {OWN: "own", OF_SET: "own", EXTRA: "whole"}),
        (("whole", "of-set"), {OWN: "whole", OF_SET: "whole", EXTRA: "of-set"}),
        (("own", "of-set", "set"), {OWN: "own", OF_SET: "set", EXTRA: "set"}),
        (("whole", "own", "of-set", "set", "one"), {OWN: "own", OF_SET: "set", EXTRA: "one"}),
        (("of-set",), {EXTRA: "of-set"}),
    ],
)
def test_listeners_of_a_set_take_the_gateways_options_too(
    kind: str, aims: tuple[str, ...], expected: dict[str, str]
) -> None:
    """Section of a set, set, section of the Gateway, Gateway; sections are names of listeners, wherever they are from.

    projects/gateway2/translator/utils: GetPrioritizedListenerPolicies, of the version that knows XListenerSet.
    """
    options = [
        policy(
            "gateway.solo.io/v1", kind, aim, AIMS[aim], f"options: {{perConnectionBufferLimitBytes: {number}}}", "infra"
        )
        for number, aim in enumerate(aims)
    ]
    listeners = listener_set("more", "infra", SET).replace("ListenerSet", "XListenerSet")
    simulation = simulated(
        gateway(of_class="gloo-gateway", more="allowedListeners: {namespaces: {from: All}}"),
        listeners.replace("gateway.networking.k8s.io/v1", "gateway.networking.x-k8s.io/v1alpha1"),
        *options,
    )
    found = {
        str(path[-1]): sorted(key.name for key in group.effective.sources)
        for group in simulation.groups
        for path in group.contexts()
    }
    assert found == {listener: [aim] for listener, aim in expected.items()}
