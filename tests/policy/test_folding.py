"""Every strategy against a naive fold: a dict from leaf to value, and a walk over the policies by their priority."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.documents import Pointer
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Effective
from policylint.policy.strategies import merge
from tests.policy.test_merge import attachment, kind

SCALARS = st.sampled_from([1, 2, "a", "b"])
PLAIN = st.recursive(SCALARS, lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, min_size=1), max_leaves=4)
LISTS = st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True)
NAMED = st.lists(
    st.builds(lambda name, more: {**more, "name": name}, st.sampled_from("abc"), st.dictionaries(st.just("n"), PLAIN)),
    min_size=1,
    max_size=3,
    unique_by=lambda item: item["name"],
)
MODES = st.sampled_from(["defaults", "overrides"])
MAPS = st.dictionaries(st.sampled_from("xyz"), PLAIN, min_size=1)
SPECS = st.fixed_dictionaries(
    {},
    optional={"p": MAPS, "q": PLAIN, "r": PLAIN, "listed": LISTS, "named": NAMED, "m": st.builds(dict, listed=LISTS)},
).filter(bool)
"""What is a list in one policy is a list in all of them: what becomes of its items is a matter of the strategy."""
LOOSE = st.dictionaries(
    st.sampled_from(["p", "q", "r", "named"]),
    st.recursive(
        SCALARS | st.none() | st.just({}) | st.lists(st.integers(0, 2)) | NAMED,
        lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, min_size=1, max_size=3),
        max_leaves=4,
    ),
)

Clash = Callable[[Pointer, Pointer], bool]
"""Whether two leaves cannot both stand."""
Flat = Iterator[tuple[Pointer, Pointer, Any]]
"""Per leaf what identifies it across policies, its pointer, and its value."""


def inside(one: Pointer, other: Pointer) -> bool:
    """The same place, or one inside the other."""
    return all(mine == theirs for mine, theirs in zip(one, other, strict=False))


def same_field(one: Pointer, other: Pointer) -> bool:
    return one[0] == other[0]


def everything(_: Pointer, __: Pointer) -> bool:
    return True


def flat(value: Any, pointer: Pointer = (), identity: Pointer = (), items: str = "") -> Flat:
    """The leaves of a spec. A list is one, or has one per item, which is known by its "value", "name" or "index"."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from flat(inner, (*pointer, name), (*identity, name), items)
    elif items == "name" and pointer == ("named",):
        for index, item in enumerate(value):
            yield from flat(item, (*pointer, index), (*identity, item["name"]), items)
    elif isinstance(value, list) and items in ("value", "index"):
        for index, item in enumerate(value):
            yield (*identity, f"item {item}" if items == "value" else index), (*pointer, index), item
    else:
        yield identity, pointer, value


def by_pattern(spec: dict[str, Any]) -> Flat:
    """Named units: the entries of `p` by key and those of `named` by name; all else by top-level field."""
    for name, value in spec.items():
        if name == "p":
            yield from (((name, key), (name, key), inner) for key, inner in value.items())
        elif name == "named":
            yield from (((name, item["name"]), (name, index), item) for index, item in enumerate(value))
        else:
            yield (name,), (name,), value


class Case(NamedTuple):
    """A strategy, and what the naive fold has to know of it.

    Args:
        strategy: its name in the catalog.
        granularity: as the policies declare it.
        clash: which leaves cannot both stand.
        leaves: of a spec.
        modes: whether overrides mean anything.
        agree: who says the same as another loses nothing.
        entry: more of the kind's merge entry.
    """

    strategy: str
    granularity: str
    clash: Clash
    leaves: Callable[[Any], Flat] = flat
    modes: bool = True
    agree: bool = False
    entry: dict[str, Any] = {}  # noqa: RUF012


CASES = [
    Case("atomic-defaults", "atomic", everything),
    Case("patch-defaults", "patch", inside),
    Case(
        "patch-overrides",
        "strategic",
        inside,
        lambda spec: flat(spec, items="name"),
        entry={"lists": {"named": "name"}},
    ),
    Case("custom", "custom", same_field, modes=False),
    Case("union", "union", inside, lambda spec: flat(spec, items="value"), agree=True),
    Case("units", "units", inside, by_pattern, entry={"units": ("p.*", "named.*")}),
]


class Naive:
    """What stands by leaf, and who lost which leaf to whom."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.standing: dict[Pointer, tuple[Any, str]] = {}
        self.lost: dict[tuple[str, Pointer], set[str]] = {}

    def fold(self, policy: str, spec: dict[str, Any], *, stronger: bool) -> None:
        """Let one more policy in, over or under all that stands."""
        before = dict(self.standing)
        for leaf, _, value in self.case.leaves(spec):
            rivals = [other for other in before if self.case.clash(leaf, other)]
            if self.case.agree and rivals == [leaf] and before[leaf][0] == value:
                # Both say the same. A scalar is the patch's, an item of a list is the base's, which has it already.
                if stronger != str(leaf[-1]).startswith("item"):
                    self.standing[leaf] = value, policy
            elif not rivals or stronger:
                for rival in rivals:
                    self.lost[before[rival][1], rival] = {policy}
                    if self.standing.get(rival) is before[rival]:
                        del self.standing[rival]
                self.standing[leaf] = value, policy
            else:
                self.lost[policy, leaf] = {before[rival][1] for rival in rivals}

    def losses(self) -> dict[tuple[str, Pointer], tuple[set[str], bool]]:
        """Who prevailed over each lost leaf, and whether something stands in its place now."""
        found = {}
        for (policy, leaf), by in self.lost.items():
            holder = self.standing[leaf][1] if leaf in self.standing else None
            replaced = any(inside(leaf, other) for other in self.standing)
            found[policy, leaf] = (by if holder is None or holder in by else {holder}), replaced
        return found


def told(effective: Effective, case: Case) -> dict[Pointer, tuple[Any, str]]:
    """What stands by leaf; of a list that one policy owns every item is the policy's."""
    owners = effective.owners
    return {
        leaf: (value, next(owners[pointer[:end]].name for end in range(len(pointer), 0, -1) if pointer[:end] in owners))
        for leaf, pointer, value in case.leaves(effective.spec)
    }


def told_lost(effective: Effective, case: Case) -> dict[tuple[str, Pointer], tuple[set[str], bool]]:
    """Who lost which leaf to whom; a list that was lost as a whole was lost with every item."""
    specs = {each.key: each.declared[0].proper for each in effective.stack}
    return {
        (lost.policy.name, leaf): ({key.name for key in lost.by}, lost.replaced)
        for lost in effective.lost
        for leaf, pointer, _ in case.leaves(specs[lost.policy])
        if pointer[: len(lost.pointer)] == lost.pointer
    }


def stack_of(case: Case, specs: list[dict[str, Any]], modes: list[str]) -> Stack:
    attachments = [
        attachment(f"p{number}", spec, mode, case.granularity, f"node-{number}")
        for number, (spec, mode) in enumerate(zip(specs, modes, strict=False))
    ]
    return Stack(kind(case.strategy, **case.entry), tuple(attachments))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.granularity)
@given(st.lists(SPECS, min_size=1, max_size=4), st.lists(MODES, min_size=4, max_size=4))
def test_a_strategy_is_the_naive_fold(case: Case, specs: list[dict[str, Any]], modes: list[str]) -> None:
    """From the most specific policy up: overrides over all that stands, defaults under it; nothing else is there."""
    before = copy.deepcopy(specs)
    stack = stack_of(case, specs, modes)
    naive = Naive(case)
    for attached in reversed(stack.attachments):
        declared = attached.declared[0]
        naive.fold(attached.key.name, dict(declared.proper), stronger=case.modes and declared.mode == "overrides")
    effective = merge(stack)
    assert told(effective, case) == naive.standing
    assert told_lost(effective, case) == naive.losses()
    assert specs == before, "a merge changes none of its inputs"


@given(st.lists(SPECS, min_size=1, max_size=4), st.lists(MODES, min_size=4, max_size=4))
def test_the_2023_edition_is_the_naive_walk(specs: list[dict[str, Any]], modes: list[str]) -> None:
    """Overrides from the top down, then defaults from the bottom up: the first that sets a leaf has it."""
    case = Case("field", "field", inside)
    stack = stack_of(case, specs, modes)
    overrides = [each for each in stack.attachments if each.declared[0].mode == "overrides"]
    defaults = [each for each in reversed(stack.attachments) if each.declared[0].mode == "defaults"]
    naive = Naive(case)
    for attached in (*overrides, *defaults):
        naive.fold(attached.key.name, dict(attached.declared[0].proper), stronger=False)
    effective = merge(stack)
    assert told(effective, case) == naive.standing
    assert told_lost(effective, case) == naive.losses()


@given(st.lists(SPECS, min_size=1, max_size=4), st.booleans())
def test_offers_and_joins_are_the_naive_walk(specs: list[dict[str, Any]], joined: bool) -> None:
    """The first policy has a field whole; where all join, leaf by leaf, and every list has the items of all."""
    case = Case("custom", "custom", inside if joined else same_field, agree=joined)
    stack = stack_of(case, specs, ["defaults"] * 4).attachments
    folding, naive = Folding(), Naive(case)
    lists: dict[Pointer, list[tuple[Any, str]]] = {}
    for attached in stack:
        proper = dict(attached.declared[0].proper)
        for name, value in proper.items():
            (folding.join if joined else folding.offer)(attached, (name,), value)
        for leaf, _, items in case.leaves(proper):
            if joined and isinstance(items, list):
                lists.setdefault(leaf, []).extend((item, attached.key.name) for item in items)
        naive.fold(attached.key.name, without_lists(proper) if joined else proper, stronger=False)
    effective = folding.effective(stack)
    standing = told(effective, case._replace(leaves=lambda spec: flat(spec, items="index")) if joined else case)
    expected = {(*leaf, index): item for leaf, items in lists.items() for index, item in enumerate(items)}
    assert standing == {**naive.standing, **expected}
    assert told_lost(effective, case) == naive.losses()


def without_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: without_lists(inner) for name, inner in value.items() if not isinstance(inner, list)}


def check_provenance(effective: Effective) -> None:
    """Nothing is invented: an owner says what stands; whoever lost has lost to another of the stack, and says where."""
    specs = {each.key: each.declared[0].proper for each in effective.stack}
    for pointer, owner in effective.owners.items():
        value = at(effective.spec, pointer)
        assert any(value == inner for _, _, inner in everywhere(specs[owner])), (pointer, owner)
    for lost in effective.lost:
        assert lost.by
        assert lost.policy not in lost.by
        assert set(lost.by) <= set(specs)
        assert lost.location.pointer == ("spec", *lost.pointer)
        at(specs[lost.policy], lost.pointer)


def at(value: Any, pointer: Pointer) -> Any:
    for step in pointer:
        value = value[step]
    return value


def everywhere(value: Any) -> Flat:
    """Every value below a spec, lists and mappings too."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        yield (step,), (step,), below
        yield from everywhere(below)


@pytest.mark.parametrize("case", [*CASES, Case("field", "field", inside)], ids=lambda case: case.granularity)
@given(st.lists(LOOSE, min_size=1, max_size=4), st.lists(MODES, min_size=4, max_size=4))
def test_nothing_is_invented_and_every_loss_has_a_winner(
    case: Case, specs: list[dict[str, Any]], modes: list[str]
) -> None:
    """Whatever stands where: nulls, empty mappings, lists where others have scalars."""
    check_provenance(merge(stack_of(case, specs, modes)))


@pytest.mark.parametrize("case", [each for each in CASES if not each.agree], ids=lambda case: case.granularity)
@given(st.lists(SPECS, min_size=1, max_size=3), st.lists(MODES, min_size=3, max_size=3))
def test_a_policy_on_two_nodes_loses_nothing_to_itself(
    case: Case, specs: list[dict[str, Any]], modes: list[str]
) -> None:
    """Folding the most specific policy in once more changes nothing."""
    stack = stack_of(case, specs, modes)
    twice = merge(stack._replace(attachments=(*stack.attachments, stack.attachments[-1])))
    once = merge(stack)
    assert twice.spec == once.spec
    assert told(twice, case) == told(once, case)
    assert twice.lost == once.lost


@pytest.mark.parametrize("modes", [["overrides"] * 2, ["defaults"] * 2], ids=lambda modes: modes[0])
@given(SPECS, SPECS)
def test_on_one_level_of_the_2023_edition_the_older_prevails(
    modes: list[str], older: dict[str, Any], younger: dict[str, Any]
) -> None:
    stack = stack_of(Case("field", "field", inside), [older, younger], modes)
    on_one_node = tuple(each._replace(node=stack.attachments[0].node) for each in stack.attachments)
    effective = merge(stack._replace(attachments=on_one_node))
    assert {lost.policy.name for lost in effective.lost} <= {"p1"}
    assert {owner.name for pointer, owner in effective.owners.items() if pointer[0] in older} <= {"p0", "p1"}
    for leaf, _, value in flat(older):
        assert at(effective.spec, leaf) == value


def test_lists_that_add_up_have_the_broader_policys_items_first_and_no_item_twice() -> None:
    case = next(each for each in CASES if each.strategy == "union")
    effective = merge(stack_of(case, [{"listed": [1, 2]}, {"listed": [2, 3]}], ["defaults"] * 2))
    assert effective.spec == {"listed": [1, 2, 3]}
    assert [effective.owners["listed", index].name for index in range(3)] == ["p0", "p0", "p1"]


def test_what_a_rival_takes_away_is_lost_to_the_rival_though_others_came_first() -> None:
    first, second, rival = (attachment(name, {"tls": {"mode": name}}) for name in ("first", "second", "rival"))
    folding = Folding()
    for each in (first, second):
        folding.offer(each, ("tls",), each.declared[0].proper["tls"])
    folding.clear(("tls",), rival.key)
    effective = folding.effective((first, second))
    assert (effective.spec, effective.owners) == ({}, {})
    assert [(lost.policy.name, [key.name for key in lost.by], lost.replaced) for lost in effective.lost] == [
        ("first", ["rival"], False),
        ("second", ["rival"], False),
    ]
