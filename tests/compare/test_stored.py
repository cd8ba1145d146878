"""What is kept of a comparison comes back as it was; what would not is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.compare.change import (
    Comparison,
    ContextChange,
    EnvironmentChange,
    FindingChange,
    Part,
    Responsible,
    Setting,
    Subject,
)
from policylint.compare.keeping import plain
from policylint.compare.stored import restored
from policylint.documents import read
from policylint.documents.serialize import StoredError
from policylint.model import Finding, Location, Node, PolicyKind, ResourceKey, Spot
from policylint.model.fix import Change, Fix
from policylint.policy.results import Effective

EVERY_KIND = load_catalog().kinds()
DOCUMENT = read(b"# first\nspec:\n  targetRef: {name: a}\n", "a.yaml").documents[0]
TARGET = Location(DOCUMENT, ("spec", "targetRef"), key=True)
ROUTE = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "shop", "a")


def there_and_back(comparison: Comparison) -> Comparison:
    return restored(json.loads(json.dumps(plain(comparison))))


def environment(**changes: Any) -> Comparison:
    return Comparison((EnvironmentChange("default", "", 1, **changes),), ())


def context(before: Effective | None, after: Effective | None, kind: PolicyKind = EVERY_KIND[0]) -> ContextChange:
    return ContextChange("default", kind, (Node(ROUTE), Node(ROUTE, "rule-1", "HTTPRouteRule")), "both", before, after)


def setting(kind: PolicyKind, before: Any, after: Any, location: Location | None = None) -> Comparison:
    changed = Setting(kind, "jwt", "changed", before, after, (Responsible(ROUTE, location),), because="moved")
    part = Part((), False, (ROUTE,), (changed,))
    return environment(subjects=(Subject("default", ROUTE, "changed", None, (part,)),))


@pytest.mark.parametrize("kind", EVERY_KIND, ids=str)
def test_every_kind_comes_back_whole(kind: PolicyKind) -> None:
    found = there_and_back(setting(kind, None, {}))
    assert found == setting(kind, None, {})
    assert found.environments[0].subjects[0].parts[0].settings[0].kind == kind


@pytest.mark.parametrize(
    "value", [None, "", "ü\U0001f600", 0, 10**30, 1.5, True, [], {}, {"b": [1, {"a": None}], "a": ""}, "\x1b", "a\nb"]
)
def test_values_come_back_with_their_types_and_order(value: Any) -> None:
    found = there_and_back(setting(EVERY_KIND[0], value, None)).environments[0].subjects[0].parts[0].settings[0].before
    assert (found, type(found), json.dumps(found)) == (value, type(value), json.dumps(value))


@pytest.mark.parametrize("value", [{1: "a"}, ("a",), {"a": [{None: 1}]}, b"a", {"a": {"b"}}], ids=repr)
def test_what_is_no_json_is_not_kept(value: Any) -> None:
    with pytest.raises(StoredError):
        plain(setting(EVERY_KIND[0], value, None))
    with pytest.raises(StoredError):
        plain(environment(contexts=(context(None, Effective({"a": value}, {}, (), ())),)))


def test_what_contexts_share_they_share_again() -> None:
    """Writers tell pairs of effective policies apart by identity: those that are equal and not the same stay two."""
    one, other = (Effective({"a": 1}, {("a",): ROUTE}, (), ()) for _ in range(2))
    found = there_and_back(environment(contexts=(context(one, other), context(one, None), context(None, other))))
    first, second, third = found.environments[0].contexts
    assert first.before is second.before
    assert first.after is third.after
    assert first.before is not first.after
    assert first.before is not None
    assert (first.before.spec, first.before.sources) == ({"a": 1}, (ROUTE,))


def test_places_have_the_lines_they_had_and_print_apart_as_they_did() -> None:
    twin = read(b"# first\nspec:\n  targetRef: {name: a}\n", "a.yaml").documents[0]
    places = [TARGET, TARGET._replace(key=False), TARGET._replace(document=twin), Location(Spot("b.yaml", 3, 7))]
    found = [
        there_and_back(setting(EVERY_KIND[0], 1, 2, each)).environments[0].subjects[0].parts[0].settings[0]
        for each in places
    ]
    back = [each.sources_before[0].location for each in found]
    assert [each and (each.at(), each.file) for each in back] == [(each.at(), each.file) for each in places]
    assert [repr(each) for each in back] == [repr(each) for each in places]


def test_a_fix_that_makes_a_list_knows_where_the_value_is() -> None:
    fix = Fix("write a list", (Change("list", TARGET, "targetRef", "targetRefs"),), safe=False)
    finding = Finding("GWP501", "error", "it is no list", TARGET, (ROUTE,), fixes=(fix,), environments=("default",))
    (back,) = there_and_back(Comparison((), (FindingChange(finding, "new"),))).findings
    location = back.finding.fixes[0].changes[0].location
    assert (location.at(), location._replace(key=False).at()) == ((3, 3), (3, 14))
    assert (back.state, back.finding.fixes[0].safe, back.finding.resources) == ("new", False, (ROUTE,))
    with pytest.raises(KeyError):
        location._replace(pointer=("spec",)).at()


def test_what_is_gone_from_an_effective_policy_cannot_be_asked_for() -> None:
    back = there_and_back(environment(contexts=(context(Effective({}, {}, (), ()), None),)))
    with pytest.raises(AttributeError):
        assert back.environments[0].contexts[0].before.lost == ()  # type: ignore[union-attr]


def test_a_comparison_has_one_shape() -> None:
    whole = plain(setting(EVERY_KIND[0], 1, 2, TARGET))
    for number in range(len(whole)):
        for value in (None, 1, "x", {}, [1], [[]], [None]):
            if number == len(whole) - 1 and value == {}:
                continue
            with pytest.raises(StoredError):
                restored([*whole[:number], value, *whole[number + 1 :]])
    for value in (None, 1, "x", [], whole[1:], [*whole, []]):
        with pytest.raises(StoredError):
            restored(value)
