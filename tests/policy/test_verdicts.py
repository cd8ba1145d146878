"""Verdicts, claims and order: who is in force, who is refused by whom, and what hangs on an order nobody states."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.simulation import Simulation
from tests import worlds
from tests.policy.conftest import CRD, RULES, TOPOLOGY, World, color
from tests.worlds import gateway, route, service

OLD, NEW = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"


def verdicts(simulation: Simulation) -> dict[str, tuple[str, list[str]]]:
    return {key.name: (state.verdict, [each.name for each in state.by]) for key, state in simulation.policies.items()}


@pytest.mark.parametrize("above", ["overrides: {}", "defaults: {}"])
def test_what_sets_nothing_turns_nothing_off(world: World, above: str) -> None:
    found = world(color("gw", "Gateway/g", above) + color("route", "HTTPRoute/r", "color: blue"))
    assert verdicts(found) == {"gw": ("NoEffect", []), "route": ("Enforced", [])}
    assert all(group.effective.spec == {"color": "blue"} for group in found.groups)


@pytest.mark.parametrize(
    ("policies", "label", "expected"),
    [
        pytest.param(
            color("gw", "Gateway/g", "color: red") + color("route", "HTTPRoute/r", "color: blue"),
            "Inherited",
            {"gw": ("Overridden", ["route"]), "route": ("Enforced", [])},
            id="atomic defaults: the more specific policy replaces the other",
        ),
        pytest.param(
            color("gw", "Gateway/g", "color: red") + color("rule", "HTTPRoute/r#first", "color: blue"),
            "Inherited",
            {"gw": ("PartiallyEnforced", ["rule"]), "rule": ("Enforced", [])},
            id="on one rule only: partially",
        ),
        pytest.param(
            color("gw", "Gateway/g", "overrides: {color: red}") + color("route", "HTTPRoute/r", "color: blue"),
            "Inherited",
            {"gw": ("Enforced", []), "route": ("Overridden", ["gw"])},
            id="atomic overrides",
        ),
        pytest.param(
            color("a", "Service/s", "color: red", NEW) + color("b", "Service/s", "color: blue", OLD),
            "Direct",
            {"a": ("Conflicted", ["b"]), "b": ("Enforced", [])},
            id="direct: the oldest keeps the target",
        ),
        pytest.param(
            color("b", "Service/s", "color: red") + color("a", "Service/s", "color: blue"),
            "Direct",
            {"a": ("Enforced", []), "b": ("Conflicted", ["a"])},
            id="direct, equal age: first by namespace and name",
        ),
        pytest.param(
            color("whole", "Gateway/g", "color: red") + color("section", "Gateway/g#one", "color: blue"),
            "Direct",
            {"section": ("Enforced", []), "whole": ("PartiallyEnforced", ["section"])},
            id="direct: another section is another target, and takes it",
        ),
        pytest.param(
            color("gone", "HTTPRoute/missing", "color: red"),
            "Inherited",
            {"gone": ("TargetNotFound", [])},
            id="no such object",
        ),
        pytest.param(
            color("nowhere", "HTTPRoute/r#rule-2", "color: red"),
            "Inherited",
            {"nowhere": ("TargetNotFound", [])},
            id="an unnamed rule cannot be targeted",
        ),
        pytest.param(
            color("both", "Gateway/g", "defaults: {color: red}, overrides: {color: blue}"),
            "Inherited",
            {"both": ("Invalid", [])},
            id="defaults and overrides at once",
        ),
        pytest.param(
            color("odd", "Gateway/g", "defaults: {strategy: shuffle, color: red}"),
            "Inherited",
            {"odd": ("Invalid", [])},
            id="a strategy that the kind does not have",
        ),
    ],
)
def test_verdicts(world: World, policies: str, label: str, expected: dict[str, tuple[str, list[str]]]) -> None:
    assert verdicts(world(policies, label=label)) == expected


@pytest.mark.parametrize(
    ("group", "kind", "verdict"),
    [
        ("nobodys.example.com", "ExternalService", "Enforced"),
        ("example.org", "ExternalService", "Enforced"),  # the policy's own group, which serves no such kind
        ("example.org", "ColorPolicy", "TargetNotFound"),
        ("networking.istio.io", "ServiceEntry", "TargetNotFound"),
        ("apps", "Deployment", "TargetNotFound"),
        ("storage.k8s.io", "Pretence", "TargetNotFound"),
        ("gateway.networking.k8s.io", "Gatewey", "TargetNotFound"),
    ],
)
def test_a_target_of_a_group_that_no_api_server_knows_is_virtual(
    world: World, group: str, kind: str, verdict: str
) -> None:
    """GEP-713 «Targeting virtual types»: the controller knows what is meant, so nothing is missing."""
    policy = color("p", f"{kind}/foo.com", "color: red").replace("gateway.networking.k8s.io", group)
    simulation = world(policy)
    assert verdicts(simulation) == {"p": (verdict, [])}
    found = [str(node) for each in simulation.groups for path in each.contexts() for node in path]
    assert found == ([f"{kind} default/foo.com"] if verdict == "Enforced" else [])


def test_one_dangling_entry_of_several_is_seen_and_the_rest_judged(world: World) -> None:
    """A controller would say Accepted (kgateway-dev/kgateway#11160)."""
    policy = color("p", "HTTPRoute/r", "color: red").replace(
        "[{", "[{group: gateway.networking.k8s.io, kind: HTTPRoute, name: typo}, {", 1
    )
    simulation = world(policy)
    assert verdicts(simulation) == {"p": ("PartiallyEnforced", [])}
    (state,) = simulation.policies.values()
    assert [(target.problem, target.resolution.state) for target in state.targets] == [
        ("not-found", "missing"),
        ("", "found"),
    ]


@pytest.mark.parametrize("stated", [True, False])
def test_a_merge_that_hangs_on_creation_order_says_so_only_where_the_order_is_not_stated(
    world: World, stated: bool
) -> None:
    simulation = world(
        color("a", "HTTPRoute/r", "color: red", OLD if stated else "")
        + color("b", "HTTPRoute/r", "color: blue", NEW if stated else "")
    )
    assert verdicts(simulation) == {"a": ("Overridden", ["b"]), "b": ("Enforced", [])}
    assert [(each.winner.name, each.otherwise.name) for each in simulation.order_dependent] == (
        [] if stated else [("b", "a")]
    )


def test_policies_with_equal_settings_do_not_depend_on_their_order(world: World) -> None:
    simulation = world(color("a", "HTTPRoute/r", "color: red") + color("b", "HTTPRoute/r", "color: red"))
    assert simulation.order_dependent == []


def test_the_2023_edition_lets_the_oldest_win_per_field_and_knows_the_objects_own_values(world: World) -> None:
    policies = color("a", "HTTPRoute/r", "color: red, shade: dark", OLD) + color(
        "b", "HTTPRoute/r", "color: blue, size: 1", NEW
    )
    simulation = world(policies, semantics="gep-713-2023")
    assert verdicts(simulation) == {"a": ("Enforced", []), "b": ("PartiallyEnforced", ["a"])}
    own = world(policies, semantics="gep-713-2023", topology=_route_with("shade: light"))
    assert verdicts(own)["a"] == ("PartiallyEnforced", ["r"])  # b only adds a size
    assert {dict(group.effective.spec)["shade"] for group in own.groups} == {"light"}


def _route_with(field: str) -> str:
    from tests.policy.conftest import TOPOLOGY

    return TOPOLOGY.replace("spec: {parentRefs: [{name: g}]", f"spec: {{{field}, parentRefs: [{{name: g}}]")


def test_a_target_without_a_group_means_the_only_kind_of_that_name(world: World) -> None:
    """docs/design/semantics.md §6, trap 23: a schema that lets it pass has resolved it, and the tool says so."""
    simulation = world(color("a", "Gateway/g", "color: red").replace("group: gateway.networking.k8s.io, ", ""))
    (state,) = simulation.policies.values()
    assert state.verdict == "Enforced"
    assert state.targets[0].lenient == "no group is given, Gateway is of gateway.networking.k8s.io"
    (finding,) = (finding for finding in run(simulation) if finding.rule == "GWP102")
    assert finding.message == "ColorPolicy default/a gives no group for its target Gateway"
    assert finding.help[0] == "fix: write `group: gateway.networking.k8s.io`"


@pytest.mark.parametrize(
    ("spec", "verdict", "said"),
    [("", "NoEffect", 1), ("defaults: {}", "NoEffect", 1), ("color: red", "Enforced", 0)],
)
def test_a_policy_that_sets_nothing_is_not_enforced(world: World, spec: str, verdict: str, said: int) -> None:
    simulation = world(color("a", "Gateway/g", spec))
    assert verdicts(simulation) == {"a": (verdict, [])}
    assert len([finding for finding in run(simulation) if finding.rule == "GWP205"]) == said


@pytest.mark.parametrize(
    ("spec", "effective"),
    [
        ("mergeStrategy: AtomicDefaults, color: red", "blue"),
        ("mergeStrategy: AtomicOverrides, color: red", "red"),
        ("mergeStrategy: PatchOverrides, color: red", "red"),
        ("mergeStrategy: bogus, color: red", "blue"),
    ],
)
def test_the_strategies_of_the_gep_go_by_their_names(world: World, spec: str, effective: str) -> None:
    """GEP-713 «Merge strategies»; a value that the kind does not allow is refused."""
    simulation = world(color("a", "Gateway/g", spec) + color("b", "HTTPRoute/r", "color: blue"))
    (group,) = (group for group in simulation.groups if any("HTTPRoute" in str(path) for path in group.contexts()))
    assert group.effective.spec == {"color": effective}
    assert (verdicts(simulation)["a"][0] == "Invalid") is ("bogus" in spec)


@pytest.mark.parametrize(
    ("own", "count", "verdict"),
    [
        ("{request: 60s}", 2, "Overridden"),
        ("{request: 60s}", 1, "PartiallyEnforced"),
        ("{backendRequest: 60s}", 2, "Enforced"),
        ("{}", 2, "Enforced"),
    ],
)
def test_of_lists_of_structs_every_item_is_compared(world: World, own: str, count: int, verdict: str) -> None:
    """GEP-713 of 2023, «Merging into existing spec fields»."""
    rules = RULES.replace("port: 80}]", f"port: 80}}], timeouts: {own}", count)
    policies = color("a", "Gateway/g", "default: {rules: [{timeouts: {request: 5s}}]}")
    simulation = world(policies, semantics="gep-713-2023", topology=TOPOLOGY.replace(RULES, rules))
    assert verdicts(simulation)["a"][0] == verdict


@pytest.mark.parametrize(
    ("semantics", "whole"),
    [("gep-713", ("PartiallyEnforced", ["section"])), ("gep-713-2023", ("Conflicted", ["section"]))],
)
def test_in_2023_a_direct_policy_on_a_section_keeps_the_objects_off(
    world: World, semantics: str, whole: tuple[str, list[str]]
) -> None:
    """«Apply Policies to Sections of a Resource»: the less specific policy does not attach to the target."""
    policies = color("whole", "HTTPRoute/r", "color: red", OLD) + color(
        "section", "HTTPRoute/r#first", "color: blue", NEW
    )
    simulation = world(policies + color("other", "Gateway/g", "color: green"), label="Direct", semantics=semantics)
    assert verdicts(simulation) == {"other": ("Enforced", []), "section": ("Enforced", []), "whole": whole}


@pytest.mark.parametrize(
    ("target", "section", "expected"),
    [
        ("Namespace/a", "", ("Enforced", "found")),
        ("Namespace/elsewhere", "", ("TargetNotFound", "missing")),
        ("Service/s", "80", ("TargetNotFound", "missing")),
    ],
    ids=["a namespace that objects are in is there", "another one", "a number is no name of a port"],
)
def test_what_a_target_resolves_to(tmp_path: Path, target: str, section: str, expected: tuple[str, str]) -> None:
    kind, _, name = target.partition("/")
    named = f", sectionName: {section}" if section else ""
    simulation = worlds.opened(
        tmp_path,
        CRD.replace("LABEL", "Inherited").replace("example.org", "policies.example.com").removesuffix("---\n"),
        gateway("g", "a", of_class="c"),
        route("r", "a", "[{name: g}]", more="rules: [{backendRefs: [{name: s, port: 80}]}]"),
        service("s", "a"),
        worlds.manifest(
            "policies.example.com/v1",
            "ColorPolicy",
            "p",
            "a",
            f"spec: {{color: red, targetRefs: [{{group: '', kind: {kind}, name: {name}{named}}}]}}",
        ),
    )
    state = worlds.state(simulation, "p")
    assert (state.verdict, state.targets[0].resolution.state) == expected


@pytest.mark.parametrize(
    ("semantics", "verdict", "first"),
    [
        ("gep-713-2023", "Enforced", {"HTTPRoute b/client", "Gateway b/edge"}),
        ("gep-713", "Invalid", set()),
    ],
)
def test_in_2023_a_policy_on_another_namespace_is_for_clients_of_its_own(
    world: World, semantics: str, verdict: str, first: set[str]
) -> None:
    """GEP-713 of 2023, «Policy TargetRef API»; a ReferenceGrant is what later editions ask for."""
    to_service = "[{group: '', kind: Service, name: s, namespace: default, port: 80}]"
    backend = "rules: [{backendRefs: [{name: s, namespace: default, port: 80}]}]"
    trusted = (
        f"from: [{{group: {worlds.GATEWAY_API}, kind: HTTPRoute, namespace: b}}], to: [{{group: '', kind: Service}}]"
    )
    grant = worlds.manifest(
        f"{worlds.GATEWAY_API}/v1beta1", "ReferenceGrant", "routes", "default", f"spec: {{{trusted}}}"
    )
    clients = (
        route("client", "b", to_service, more=backend),
        gateway("edge", "b", of_class="c"),
        route("way", "b", "[{name: edge}]", more=backend),
        grant,
    )
    target = "spec: {targetRef: {group: '', kind: Service, name: s, namespace: default}, default: {color: red}}"
    policy = worlds.manifest("example.org/v1", "ColorPolicy", "clients", "b", target)
    found = world("---".join((*clients, policy)), semantics=semantics)
    assert verdicts(found)["clients"] == (verdict, [])
    acting = {path for group in found.groups for path in group.contexts()}
    origins = {next(str(node) for node in path if node.key.kind in ("Gateway", "HTTPRoute")) for path in acting}
    assert origins == first


def test_in_2023_a_policy_on_another_namespace_without_clients_acts_nowhere(world: World) -> None:
    target = "spec: {targetRef: {group: '', kind: Service, name: s, namespace: default}, default: {color: red}}"
    found = world(worlds.manifest("example.org/v1", "ColorPolicy", "clients", "b", target), semantics="gep-713-2023")
    assert (verdicts(found)["clients"], list(found.groups)) == (("NoEffect", []), [])
    assert [finding.rule for finding in run(found) if finding.rule.startswith("GWP1")] == ["GWP106"]
