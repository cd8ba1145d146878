"""Merge strategies: what survives, who owns it, who lost it (GEP-713 «Merge strategies», RFC 7386)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.model import Node, PolicyKind, Resource, ResourceKey, Spot
from policylint.model.policy_kind import Directive, Merge, TargetKind
from policylint.policy.folding import Stack
from policylint.policy.results import Attachment, Declared, Effective, Target
from policylint.policy.strategies import merge
from policylint.policy.units import leaves

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 3)
    | st.sampled_from(["", "a", "b"])
    | st.lists(st.integers(0, 2), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)
SPECS = st.dictionaries(st.sampled_from("pqrs"), VALUES, max_size=4)


def kind(strategy: str, **merge_fields: Any) -> PolicyKind:
    return PolicyKind(
        "example.org",
        "ColorPolicy",
        "generic",
        "Inherited",
        Merge(strategy, {}, **merge_fields),
        (TargetKind("*", "*"),),
        (),
    )


def attachment(
    name: str, proper: dict[str, Any], mode: str = "defaults", granularity: str = "patch", node: str = "g"
) -> Attachment:
    key = ResourceKey("example.org", "ColorPolicy", "default", name)
    policy = Resource(key, "v1", {"spec": proper}, Spot("world.yaml"))
    target = ResourceKey("gateway.networking.k8s.io", "Gateway", "default", node)
    return Attachment(policy, Node(target), Target((), target), (Declared(proper, ("spec",), mode, granularity),))


def merged(*stack: Attachment, of: PolicyKind | None = None) -> Effective:
    """Merge a stack, least specific first."""
    return merge(Stack(of or kind("patch-defaults"), stack))


def rfc7386(target: Any, patch: Any) -> Any:
    """The pseudo code of RFC 7386, section 2."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = rfc7386(result.get(name), value)
    return result


def names(keys: Any) -> list[str]:
    return sorted(key.name for key in keys)


@given(SPECS, SPECS)
def test_patch_defaults_is_rfc_7386_with_the_challenger_as_patch(upper: dict[str, Any], lower: dict[str, Any]) -> None:
    assert merged(attachment("up", upper), attachment("low", lower)).spec == rfc7386(upper, lower)


@given(SPECS, SPECS)
def test_patch_overrides_is_rfc_7386_with_the_established_as_patch(
    upper: dict[str, Any], lower: dict[str, Any]
) -> None:
    result = merged(attachment("up", upper, mode="overrides"), attachment("low", lower))
    assert result.spec == rfc7386(lower, upper)


@given(
    st.lists(SPECS, min_size=1, max_size=4),
    st.lists(st.sampled_from(["defaults", "overrides"]), min_size=4, max_size=4),
)
def test_every_surviving_leaf_has_an_owner_that_set_it(specs: list[dict[str, Any]], modes: list[str]) -> None:
    """Provenance is complete and true: the owner's own spec holds the value; nothing that is lost is also owned."""
    before = copy.deepcopy(specs)
    stack = [attachment(f"p{n}", spec, mode) for n, (spec, mode) in enumerate(zip(specs, modes, strict=False))]
    result = merged(*stack)
    by_key = {each.key: each.declared[0].proper for each in stack}
    for unit in leaves(result.spec):
        if unit.value == {}:  # an empty mapping may be what is left of several policies
            continue
        owner = by_key[result.owners[unit.pointer]]
        assert {each.pointer: each.value for each in leaves(owner)}[unit.pointer] == unit.value
    for lost in result.lost:
        assert result.owners.get(lost.pointer) != lost.policy
        assert lost.policy not in lost.by
    assert specs == before, "a merge changes none of its inputs"


@given(
    st.lists(SPECS, min_size=2, max_size=4),
    st.lists(st.sampled_from(["defaults", "overrides"]), min_size=4, max_size=4),
)
def test_atomic_merges_are_the_fold_of_semantics_a3_step_6(specs: list[dict[str, Any]], modes: list[str]) -> None:
    """Bottom-up: overrides take the established spec, defaults the challenger, unless that is empty.

    Source: docs/design/semantics.md §6, traps 1 and 7.
    """
    stack = [
        attachment(f"p{n}", spec, mode, "atomic") for n, (spec, mode) in enumerate(zip(specs, modes, strict=False))
    ]
    expected = specs[-1]
    for spec, mode in list(zip(specs, modes, strict=False))[-2::-1]:
        expected = spec if (mode == "overrides" and spec) or not expected else expected
    result = merged(*stack, of=kind("atomic-defaults"))
    assert result.spec == expected
    assert len(result.sources) <= 1


@pytest.mark.parametrize(
    ("modes", "winner"),
    [
        (("overrides", "defaults", "defaults"), "p0"),
        (("defaults", "overrides", "defaults"), "p1"),
        (("defaults", "defaults", "defaults"), "p2"),
        (("defaults", "defaults", "overrides"), "p2"),
    ],
)
def test_three_levels_reduce_from_the_most_specific_upwards(modes: tuple[str, ...], winner: str) -> None:
    stack = [attachment(f"p{n}", {"color": str(n)}, mode, "atomic") for n, mode in enumerate(modes)]
    assert names(merged(*stack, of=kind("atomic-defaults")).sources) == [winner]


def test_a_dropped_setting_and_a_replaced_one_are_told_apart() -> None:
    result = merged(
        attachment("up", {"jwt": {"issuer": "x"}, "cors": 1}, granularity="atomic"),
        attachment("low", {"cors": 2}, granularity="atomic"),
        of=kind("atomic-defaults"),
    )
    assert {each.pointer: each.replaced for each in result.lost} == {("cors",): True, ("jwt", "issuer"): False}


def test_an_empty_policy_counts_as_absent_unless_the_kind_says_that_it_opts_out() -> None:
    stack = (attachment("up", {"jwt": 1}, granularity="atomic"), attachment("low", {}, granularity="atomic"))
    assert merged(*stack, of=kind("atomic-defaults")).spec == {"jwt": 1}
    opted_out = merged(*stack, of=kind("atomic-defaults", empty_opts_out=True))
    assert opted_out.spec == {}
    assert [names(each.by) for each in opted_out.lost] == [["low"]]


def test_named_units_keep_the_lower_policys_own_and_fill_in_the_rest() -> None:
    units = kind("units", units=("limits.*", "when"))
    upper = attachment("up", {"limits": {"a": {"n": 1}, "b": {"n": 1}}, "when": ["x"]}, granularity="units")
    lower = attachment("low", {"limits": {"a": {"m": 2}}}, granularity="units")
    result = merged(upper, lower, of=units)
    assert result.spec == {"limits": {"a": {"m": 2}, "b": {"n": 1}}, "when": ["x"]}
    assert {each.pointer: names(each.by) for each in result.lost} == {("limits", "a"): ["low"]}


def test_named_list_items_are_told_apart_by_id_not_by_index() -> None:
    rules = kind("units", units=("rules.*",))
    upper = attachment("up", {"rules": [{"id": "a", "n": 1}, {"id": "b", "n": 1}]}, "overrides", "units")
    lower = attachment("low", {"rules": [{"id": "b", "n": 2}, {"id": "c", "n": 2}]}, granularity="units")
    result = merged(upper, lower, of=rules)
    assert {each["id"]: each["n"] for each in result.spec["rules"]} == {"a": 1, "b": 1, "c": 2}
    assert [(each.pointer, names(each.by)) for each in result.lost] == [(("rules", 0), ["up"])]


def test_the_challenger_decides_where_the_kind_reads_its_directive_there() -> None:
    """Envoy Gateway's mergeType stands on the route's policy."""
    directive = Directive("mergeType", {"JSONMerge": "patch"}, "challenger")
    of = kind("atomic-defaults", directive=directive)
    upper = attachment("up", {"a": 1, "b": 1}, granularity="atomic")
    assert merged(upper, attachment("low", {"a": 2}, granularity="patch"), of=of).spec == {"a": 2, "b": 1}
    assert merged(upper, attachment("low", {"a": 2}, granularity="atomic"), of=of).spec == {"a": 2}


def test_keyed_lists_merge_item_by_item_in_a_strategic_merge() -> None:
    of = kind("atomic-defaults", lists={"rules": "name"})
    upper = attachment("up", {"rules": [{"name": "x", "n": 1}, {"name": "y", "n": 1}]}, granularity="strategic")
    lower = attachment("low", {"rules": [{"name": "y", "n": 2}]}, granularity="strategic")
    assert merged(upper, lower, of=of).spec == {"rules": [{"name": "x", "n": 1}, {"name": "y", "n": 2}]}


@pytest.mark.parametrize("mode", ["overrides", "defaults"])
def test_in_the_edition_of_2023_a_struct_without_fields_keeps_no_scalar_out(mode: str) -> None:
    """Scalars are merged, never structs: `{}` sets none, and stands where nobody sets any (seen with gwctl v0.1.0)."""
    empty, full = ({"feature": {}}, {"feature": {"x": 1}})
    of = kind("field")
    for upper, lower in ((empty, full), (full, empty)):
        result = merged(attachment("upper", upper, mode), attachment("lower", lower, mode, node="below"), of=of)
        assert result.spec == full
    assert merged(attachment("only", empty, mode), of=of).spec == empty
