"""The words of `weaker` in the catalog, one by one: two specs, and what the second one weakens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
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
EACH = {"path": "login.of", "list": "each"}
DENIED = {"path": "rules", "list": "demands", "entries": {"do": "deny"}}
ASKS = {"path": "login.token", "presence": "demands"}
OPENS = {"path": "users.*.anybody", "presence": "grants"}
RULED = {"path": "rules.*.by", "presence": "demands"}
LIMIT = {"path": "limits.*", "rate": {"number": "requests", "each": "unit"}}
TEXT = {"path": "limits.*.rate", "rate": {"number": "."}}
AVERAGE = {"path": "limit", "rate": {"number": "average", "each": "period", "none": 0}}
HOPS = {"path": "hops", "grows": True, "unset": 0}
KEYS = {"path": "keys.*.set", "anchor": "keys"}
SERVER = {"path": "keys.*.url", "anchor": "server"}
TEXTS = {"path": "policy", "anchor": "value"}
DOCUMENT = {**TEXTS, "entries": {"Effect": "Allow"}}
ALLOW, OTHER, DENY = ({"Effect": effect, "Principal": who} for effect, who in (("Allow", 1), ("Allow", 2), ("Deny", 3)))


def statements(*listed: dict[str, Any], version: int = 1) -> dict[str, Any]:
    """A spec with a document of JSON that grants and denies."""
    return {"policy": json.dumps({"Version": version, "Statement": listed})}


RANGES = {"path": "rules.*.from", "everybody": ["0.0.0.0/0"], "where": {"do": ["let", None]}}


def login(**fields: Any) -> dict[str, Any]:
    return {"login": fields}


def limits(*rates: tuple[int, str]) -> dict[str, Any]:
    return {"limits": [{"requests": number, "unit": unit} for number, unit in rates]}


def limit(**fields: Any) -> dict[str, Any]:
    return {"limit": fields}


def keys(**fields: Any) -> dict[str, Any]:
    return {"keys": [{"name": "id", **fields}]}


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
    (ONE_OF, login(of=["app.a"]), login(of=["*.a"]), "now holds *.a"),
    (ONE_OF, login(of=["*.a"]), login(of=["app.a"]), None),
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
    (
        DENIED,
        {"rules": [{"do": "deny", "from": [{"ip": ["1.2.3.4"]}]}]},
        {"rules": []},
        "loses the entry with do deny, ip 1.2.3.4",
    ),
    (DENIED, {"rules": [{"name": "a", "do": "let"}]}, {"rules": [{"name": "b", "do": "deny"}]}, None),
    # presence
    (ASKS, login(token={"of": "a"}), login(other=1), "is gone"),
    (ASKS, login(token={"of": "a"}), {}, "is gone"),
    (ASKS, login(token=["a"]), login(token=[]), "is gone"),
    (ASKS, login(token={"of": "a"}), login(token={"disable": {}}), "is gone"),
    (ASKS, login(token={"of": "a"}), login(token={"of": "b"}), None),
    ({**ASKS, "unless": ["login.key"]}, login(token="a"), login(key="b"), None),
    ({**ASKS, "unless": ["login.key"]}, login(token="a", key="b"), login(key="b"), "is gone"),
    (OPENS, {"users": {"a": {}}}, {"users": {"a": {}, "b": {"anybody": {}}}}, "is new"),
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
    # rate
    (LIMIT, limits((10, "Minute")), limits((20, "Minute")), "goes from 10 per Minute to 20 per Minute"),
    (LIMIT, limits((10, "Minute")), limits((10, "Second")), "goes from 10 per Minute to 10 per Second"),
    (LIMIT, limits((10, "1m")), limits((1, "s")), "goes from 10 per 1m to 1 per s"),
    (LIMIT, limits((10, "Minutes")), limits((600, "Hours")), None),  # the same
    (LIMIT, limits((10, "Minute")), limits((5, "Minute")), None),
    (LIMIT, limits((10, "Minute")), limits((20, "${UNIT}")), None),
    (LIMIT, limits((1, "s"), (2, "s")), limits((1, "s"), (3, "s")), "goes from 2 per s to 3 per s"),
    (LIMIT, limits((1, "s")), limits((1, "s"), (3, "s")), None),
    (TEXT, {"limits": [{"rate": "10r/s"}]}, {"limits": [{"rate": "700r/m"}]}, "goes from 10r/s to 700r/m"),
    (TEXT, {"limits": [{"rate": "10r/s"}]}, {"limits": [{"rate": "600r/m"}]}, None),
    (AVERAGE, limit(average=5), limit(average=5, period="500ms"), "goes from 5 per 1s to 5 per 500ms"),
    (AVERAGE, limit(average=5), limit(average=0), "goes from 5 per 1s to 0 per 1s"),
    (AVERAGE, limit(average=0), limit(average=5), None),
    # grows
    (HOPS, {"hops": 1}, {"hops": 2}, "goes from 1 to 2"),
    (HOPS, {"a": 1}, {"a": 1, "hops": 1}, "goes from 0 to 1"),
    (HOPS, {"hops": 2}, {"a": 1}, None),
    (HOPS, {"hops": "1m"}, {"hops": "90s"}, "goes from 1m to 90s"),
    (HOPS, {"hops": "60s"}, {"hops": "1m"}, None),
    # anchor
    (KEYS, keys(set='{"keys": [{"kid": "a"}]}'), keys(set='{"keys":[{"kid":"a"}]}'), None),
    (KEYS, keys(set='{"keys": [{"kid": "a"}]}'), keys(set='{"keys": [{"kid": "b"}]}'), "holds other keys"),
    (KEYS, keys(set='{"keys": [{"kid": "a"}]}'), keys(set='{"keys": [{"kid": "a"}, {"kid": "b"}]}'), "gains a key"),
    (KEYS, keys(set='{"keys": [{"kid": "a"}, {"kid": "b"}]}'), keys(set='{"keys": [{"kid": "b"}]}'), None),
    (KEYS, keys(set="PEM a"), keys(set="PEM b"), "is a different one"),
    (KEYS, keys(set="${KEYS}"), keys(set="PEM b"), None),
    (SERVER, keys(url="https://a/x"), keys(url="https://b/x"), "goes from https://a to https://b"),
    (SERVER, keys(url="https://a/x"), keys(url="http://a/x"), "goes from https://a to http://a"),
    (SERVER, keys(url="https://A/x"), keys(url="https://a:443/y"), None),
    (SERVER, keys(url="https://a@b/x"), keys(url="https://b/x"), None),
    (TEXTS, {"policy": "allow = false"}, {"policy": "allow = true"}, "goes from allow = false to allow = true"),
    (TEXTS, {"policy": "x" * 100}, {"policy": "y" * 100}, "is a different text"),
    (TEXTS, {"policy": "x"}, {"other": 1}, None),
    (DOCUMENT, statements(ALLOW), statements(ALLOW, DENY), None),
    (DOCUMENT, statements(ALLOW, OTHER), statements(ALLOW), None),
    (DOCUMENT, statements(ALLOW, OTHER), statements(OTHER, DENY), None),
    (DOCUMENT, statements(ALLOW, DENY), statements(ALLOW), "is a different text"),
    (DOCUMENT, statements(ALLOW), statements(ALLOW, OTHER), "is a different text"),
    (DOCUMENT, statements(ALLOW), statements(OTHER), "is a different text"),
    (DOCUMENT, statements(ALLOW, DENY), statements({**DENY, "Principal": 4}), "is a different text"),
    (DOCUMENT, statements(ALLOW), statements(ALLOW, DENY, version=2), "is a different text"),
    (DOCUMENT, statements(ALLOW), {"policy": "allow"}, "is a different text"),
    (TEXTS, {"policy": ["x"]}, {"policy": ["x", "y"]}, None),
    (TEXTS, {"policy": ["x", "y"]}, {"policy": ["y"]}, None),
    (TEXTS, {"policy": ["x", "y"]}, {"policy": ["y", "z"]}, 'goes from ["x", "y"] to ["y", "z"]'),
    (EACH, login(of=["a", "b"]), login(of=["c", "b"]), "loses a"),
    (EACH, login(of=["a"]), login(of=["a", "b"]), None),
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
    assert found.change == "is new"


def test_a_provider_that_moves_is_told_once() -> None:
    words = [weakness({**SERVER, "says": ""}), weakness({"path": "keys.*.issuer", "anchor": "value", "says": ""})]
    before, after = keys(url="https://a/x", issuer="https://a"), keys(url="https://b/x", issuer="https://b")
    (found,) = weakenings(words, before, after)
    assert found.change == "goes from https://a to https://b"


FIELDS = st.sampled_from(["login", "mode", "of", "rules", "do", "from", "set", "url", "requests", "unit"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["Hard", "Off", "a", "10r/s", "1m", '{"keys": [1]}']) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
)
SPECS = st.dictionaries(
    st.sampled_from(["login", "users", "rules", "when", "ports", "limits", "limit", "hops", "keys", "policy"]),
    VALUES,
    max_size=4,
)
EVERY = [weakness({**each[0], "says": ""}) for each in TABLE]


@example({}, {"rules": [None, []]})
@example({"rules": [["a"], None, 1]}, {"rules": [[None], "a"]})
@given(SPECS, SPECS)
def test_whatever_the_specs_hold_what_stays_weakens_nothing(before: dict[str, Any], after: dict[str, Any]) -> None:
    list(weakenings(EVERY, before, after))
    assert list(weakenings(EVERY, before, before)) == []
