"""The words of `weaker` in the catalog, one by one: two specs, and what the second one weakens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.compare.protection.spec import weakenings
from policylint.model.weakness import weakness

MODE = {"path": "login.mode", "order": ["Hard", ["Soft", "Mild"], "Off"]}
USUALLY = {**MODE, "unset": "Hard"}
ALWAYS = {**MODE, "without": "Soft"}
OPTIONAL = {"path": "login.optional", "order": [False, True], "unset": False}
PORTS = {"path": "ports.*.mode", "order": ["Hard", "Soft"], "instead": "login.mode", "without": "Soft"}
ONE_OF = {"path": "login.of", "list": "alternatives"}
IF = {"path": "when", "list": "conditions"}
ALL_OF = {"path": "login.of", "list": "demands"}
DENIED = {"path": "rules", "list": "demands", "entries": {"do": "deny"}}
ASKS = {"path": "login.token", "presence": "demands"}
OPENS = {"path": "users.*.anybody", "presence": "grants"}
RULED = {"path": "rules.*.by", "presence": "demands"}
RANGES = {"path": "rules.*.from", "everybody": ["0.0.0.0/0"], "where": {"do": ["let", None]}}


def login(**fields: Any) -> dict[str, Any]:
    return {"login": fields}


TABLE = [
    # order
    (MODE, login(mode="Hard"), login(mode="Soft"), "goes from Hard to Soft"),
    (MODE, login(mode="Soft"), login(mode="Off"), "goes from Soft to Off"),
    (MODE, login(mode="Soft"), login(mode="Mild"), None),
    (MODE, login(mode="Off"), login(mode="Hard"), None),
    (MODE, login(mode="Hard"), login(mode="${MODE}"), None),
    (MODE, login(mode="Hard"), login(other=1), None),
    (USUALLY, login(other=1), login(mode="Off"), "goes from Hard to Off"),
    (USUALLY, {}, login(mode="Off"), None),  # asked for nothing before
    (USUALLY, login(mode="Hard"), {}, None),
    (ALWAYS, login(mode="Hard"), {}, "goes from Hard to Soft"),
    (ALWAYS, {}, login(mode="Off"), "goes from Soft to Off"),
    (OPTIONAL, login(a=1), login(a=1, optional=True), "goes from false to true"),
    (OPTIONAL, login(optional=False), login(optional=0), None),
    (PORTS, login(mode="Hard"), {**login(mode="Hard"), "ports": {"80": {"mode": "Soft"}}}, "goes from Hard to Soft"),
    (PORTS, {**login(mode="Soft"), "ports": {"80": {"mode": "Hard"}}}, login(mode="Soft"), "goes from Hard to Soft"),
    (PORTS, {**login(mode="Soft"), "ports": {"80": {"mode": "Soft"}}}, login(mode="Soft"), None),
    # list
    (ONE_OF, login(of=["a"]), login(of=["a", "b"]), "gains b"),
    (ONE_OF, login(of=["a"]), login(of=["b", "a"]), "gains b"),
    (ONE_OF, login(of=["a"]), login(of=["b"]), None),
    (ONE_OF, login(of=["a", "b"]), login(of=["a"]), None),
    (ONE_OF, login(other=1), login(of=["a"]), None),
    (ONE_OF, login(of=[{"name": "a", "x": 1}]), login(of=[{"name": "a", "x": 2}]), None),
    (ONE_OF, login(of={"a": {}}), login(of={"a": {}, "b": {}, "c": {}}), "gains b and c"),
    (ONE_OF, login(of=["a"]), login(of=["a", "${MORE}"]), None),
    (IF, {"a": 1}, {"a": 1, "when": ["x"]}, "gains x"),
    (IF, {"when": ["x"]}, {"when": ["x", "y"]}, "gains y"),
    (IF, {"when": ["x"]}, {"a": 1}, None),
    (IF, {"when": ["x"]}, {"when": ["y"]}, None),
    (ALL_OF, login(of=["a", "b"]), login(of=["a"]), "loses b"),
    (ALL_OF, login(of=["a"]), login(other=1), "loses a"),
    (ALL_OF, login(of=["a"]), login(of=["b"]), None),
    (ALL_OF, login(of=["a"]), {}, None),  # the whole setting is gone: another word, another rule
    (DENIED, {"rules": [{"name": "a", "do": "deny"}]}, {"rules": [{"name": "a", "do": "let"}]}, "loses a"),
    (DENIED, {"rules": [{"name": "a", "do": "let"}]}, {"rules": [{"name": "b", "do": "deny"}]}, None),
    # presence
    (ASKS, login(token={"of": "a"}), login(other=1), "is gone"),
    (ASKS, login(token={"of": "a"}), {}, "is gone"),
    (ASKS, login(token=["a"]), login(token=[]), "is gone"),
    (ASKS, login(token={"of": "a"}), login(token={"disable": {}}), "is gone"),
    (ASKS, login(token={"of": "a"}), login(token={"of": "b"}), None),
    ({**ASKS, "unless": ["login.key"]}, login(token="a"), login(key="b"), None),
    ({**ASKS, "unless": ["login.key"]}, login(token="a", key="b"), login(key="b"), "is gone"),
    (OPENS, {"users": {"a": {}}}, {"users": {"a": {}, "b": {"anybody": {}}}}, "is there now"),
    (OPENS, {"users": {"a": {"anybody": {}}}}, {"users": {"b": {"anybody": {}}}}, None),
    (OPENS, {}, {"users": {"b": {"anybody": {}}}}, None),
    (RULED, {"rules": [{"by": 1, "x": 1}, {"y": 2}]}, {"rules": [{"y": 2}, {"by": 1, "x": 1}]}, None),
    (RULED, {"rules": [{"by": 1, "x": 1}, {"y": 2}]}, {"rules": [{"y": 2}, {"x": 1}]}, "is gone"),
    (
        RULED,
        {"rules": [{"by": 1, "x": 1}]},
        {"rules": [{"x": 1}, {"y": 2}]},
        None,
    ),  # which one it is cannot be told
    # everybody
    (RANGES, {"rules": [{"from": ["10.0.0.0/8"]}]}, {"rules": [{"from": ["0.0.0.0/0"]}]}, "now holds 0.0.0.0/0"),
    (RANGES, {"rules": [{"from": ["10.0.0.0/8"]}]}, {"rules": [{"from": ["0.0.0.0/0"], "do": "deny"}]}, None),
    (RANGES, {"rules": [{"from": ["0.0.0.0/0"]}]}, {"rules": [{"do": "let", "from": ["0.0.0.0/0", "a"]}]}, None),
    (RANGES, {"a": 1}, {"rules": [{"from": ["0.0.0.0/0"]}]}, None),
]


@pytest.mark.parametrize(("word", "before", "after", "change"), TABLE)
def test_words(word: dict[str, Any], before: dict[str, Any], after: dict[str, Any], change: str | None) -> None:
    found = list(weakenings([weakness({**word, "says": ""})], before, after))
    assert [each.change for each in found] == ([] if change is None else [change])


@pytest.mark.parametrize(
    ("after", "opens"),
    [
        (login(mode="Off"), True),
        ({**login(mode="Off"), "rules": [{"do": "let"}]}, True),
        ({**login(mode="Off"), "rules": [{"do": "deny"}]}, False),
        ({**login(mode="Off"), "key": {}}, False),
        ({**login(mode="Off"), "key": {"disable": True}}, True),
    ],
)
def test_a_purpose_is_open_unless_something_else_serves_it(after: dict[str, Any], opens: bool) -> None:
    word = weakness({**USUALLY, "says": "", "opens": "authentication", "unless": ["rules.*.do=deny", "key"]})
    (found,) = weakenings([word], login(mode="Hard"), after)
    assert found.opens is opens


def test_one_new_entry_is_told_once() -> None:
    words = [weakness({**OPENS, "says": ""}), weakness({"path": "users", "list": "alternatives", "says": ""})]
    (found,) = weakenings(words, {"users": {"a": {}}}, {"users": {"a": {}, "b": {"anybody": {}}}})
    assert found.change == "is there now"


FIELDS = st.sampled_from(["login", "mode", "of", "rules", "do", "from"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["Hard", "Off", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
)
SPECS = st.dictionaries(st.sampled_from(["login", "users", "rules", "when", "ports"]), VALUES, max_size=4)
EVERY = [weakness({**each[0], "says": ""}) for each in TABLE]


@given(SPECS, SPECS)
def test_whatever_the_specs_hold_what_stays_weakens_nothing(before: dict[str, Any], after: dict[str, Any]) -> None:
    list(weakenings(EVERY, before, after))
    assert list(weakenings(EVERY, before, before)) == []
