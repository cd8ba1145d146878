"""Rules on values, with three answers; the same answers as cel-python, which is a dependency of the tests alone."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import celpy
import pytest
from celpy import json_to_cel
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.cel.evaluation import Program, Reads, are_broken
from policylint.cel.functions import FailedError
from policylint.cel.nodes import Fuel
from policylint.cel.syntax import tree
from policylint.model.shipped import shipped
from policylint.schema.known import read_shipped
from policylint.schema.rules import RULES as STATED
from policylint.schema.rules import rules_of
from tests.nightly import examples

ENTRY = {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "default": "Exact"},
        "name": {"type": "string"},
        "port": {"type": "integer"},
        "soft": {"type": ["string", "null"]},
        "since": {"type": "string", "format": "date-time"},
        "items": {"type": "array", "items": ENTRY},
        "tags": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "namespace": {"type": "string"},
    },
}


def answer(text: str, value: Any, fuel: Fuel | None = None) -> Any:
    result = Program(tree(text), SCHEMA, fuel or Fuel()).value(value)
    return str(result) if isinstance(result, FailedError) else result


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("self.type == 'Exact'", {}, True),
        ("has(self.type) && !has(self.name)", {"name": None}, True),
        ("self.type in ['Prefix', 'Exact']", {"type": "Other"}, False),
        ("self.__namespace__ == 'a'", {"namespace": "a"}, True),
        ("size(self.tags) == 2 && self.tags.exists_one(t, t == 'a')", {"tags": ["a", "b"]}, True),
        ("self.items.all(p, self.items.all(q, p.name == q.name))", {"items": [{"name": "a"}, {"name": "b"}]}, False),
        ("self.items.filter(i, has(i.port)).map(i, i.port)[0] == 7", {"items": [{"name": "a"}, {"port": 7}]}, True),
        ("self.labels.all(k, k.startsWith('a'))", {"labels": {"a": "1", "ab": "2"}}, True),
        ("duration(self.name) < duration('1m')", {"name": "59s"}, True),
        ("duration('1h1m') == duration('61m')", {}, True),
        ("self.name.matches('^[a-z]+$')", {"name": "abc\n"}, False),
        ("matches(self.name, '^[0-9]+s$')", {"name": "5"}, False),
        ("self.?name.orValue('b') == 'b'", {}, True),
        ("type(self.port) == int", {"port": 5}, True),
        ("-7 / 2 == -3 && -7 % 2 == -1", {}, True),
        ("isURL(self.name) && url(self.name).getScheme() == 'https'", {"name": "https://a.example/b"}, True),
        ("isURL(self.name)", {"name": "sha256:0"}, True),
        ("url('https://[2001:db8::1]:8443/x').getHostname() == '2001:db8::1'", {}, True),
        ("format.dns1123Label().validate(self.name).hasValue()", {"name": "A"}, True),
        ("format.named('dns1123Label').value().validate(self.name).hasValue()", {"name": "a"}, False),
        ("format.dns1123Label().validate(self.name) == null", {"name": "a"}, False),  # an optional is never null
        ("isIP('10.0.0.1') && !isIP('10.0.0.256') && isCIDR('10.0.0.0/8')", {}, True),
        # CEL's own errors, for which the API server refuses a value, unless the other side decides
        ("self.name == 'a'", {}, "no such key: name"),
        ("self.tags[1] == 'a'", {"tags": ["a"]}, "index out of bounds: 1"),
        ("duration(self.name) < duration('1m')", {"name": "soon"}, "'soon' is no duration"),
        ("int(self.name) > 1", {"name": "x"}, "'x' is no integer"),
        ("url(self.name).getScheme() == 'https'", {"name": "a.example"}, "'a.example' is no URL"),
        ("self.name == 'a' || self.port == 1", {"port": 1}, True),
        ("self.name == 'a' && self.port == 1", {"port": 2}, False),
        # not decided
        ("url(self.name).getScheme() == 'https'", {"name": "https://%SSO_HOST%/keys"}, None),
        ("isURL(self.name)", {"name": "https://%SSO_HOST%/keys"}, None),
        ("duration(self.name) < duration('1m')", {"name": "@TIMEOUT@"}, None),
        ("int(self.name) > 1", {"name": "__PORT__"}, None),
        ("duration(self.name) < duration('1m')", {"name": "1.5s"}, None),
        ("self.name == 'a'", {"name": "${NAME}"}, None),
        ("self.name.matches('^[a-z/]+$')", {"name": "/<team-name>"}, None),
        ("self.name.startsWith('<')", {"name": "<"}, True),
        ("self.name == 'a' || self.port > 0", {"name": "${NAME}", "port": 1}, True),
        ("self.tags.all(t, t == 'a')", {"tags": ["a", "${B}"]}, None),
        ("self.tags.all(t, t == 'a')", {"tags": ["c", "${B}"]}, False),
        ("'a' in self.tags", {"tags": ["${B}"]}, None),
        ("self.soft == 'a'", {"soft": None}, None),
        ("self.since == 'a'", {"since": "a"}, None),
        ("self.name == 'a' && self.tags[5] == 'b'", {"name": "${NAME}", "tags": []}, None),
        ("unheard(self.name)", {"name": "a"}, None),
        ("self.name.unheard()", {"name": "a"}, None),
        ("other == 1", {}, None),
        ("self.items == [{'name': 'a'}]", {"items": [{"name": "b"}]}, None),
        ("9223372036854775807 + self.port > 0", {"port": 1}, None),
        ("1 / self.port == 1", {"port": 0}, None),
        ("quantity(self.name).isGreaterThan(quantity('1'))", {"name": "2"}, None),
    ],
)
def test_answers(text: str, value: Any, expected: Any) -> None:
    assert answer(text, value) == expected


HOSTILE = {
    "nested loops": ("self.tags.all(a, self.tags.all(b, self.tags.all(c, self.tags.all(d, true))))", 2_000),
    "doubling": ("['a']" + ".map(x, x + x)" * 60 + ".size() == 0", 1),
    "deep": ("(" * 200 + "self" + ")" * 200 + " == self" + " + 1" * 3_000, 1),
}


@pytest.mark.parametrize(("text", "length"), HOSTILE.values(), ids=HOSTILE)
def test_the_work_of_hostile_rules_is_bounded(text: str, length: int) -> None:
    fuel = Fuel(100_000)
    assert answer(text, {"tags": ["a"] * length}, fuel) is None
    assert fuel.left > -100_000


# --- the same as cel-python -------------------------------------------------------------------------------------------

RULES = [
    "self.a == self.b",
    "self.a != 'x' || self.b == 'y'",
    "has(self.c) ? self.c > 3 : true",
    "!has(self.c) || (self.c >= 1 && self.c <= 5)",
    "(has(self.c) ? 1 : 0) + (has(self.d) ? 1 : 0) == 1",
    "has(self.d) && self.d.all(e, e.startsWith('x'))",
    "has(self.d) && self.d.exists(e, e == self.a)",
    "!has(self.d) || self.d.exists_one(e, e in ['x', 'xy'])",
    "!has(self.d) || self.d.filter(e, e.contains('y')).size() <= 1",
    "!has(self.d) || self.d.all(p, self.d.exists_one(q, p == q))",
    "!has(self.d) || size(self.d) < 2 || self.d[0] != self.d[1]",
    "self.a in ['x', 'y'] ? size(self.b) > 0 : self.b.endsWith('x')",
    "self.a.matches('^x?y?$')",
    "self.a + self.b != 'xy'",
    "self.c * 2 - 1 > 4 || self.c % 2 == 0",
    "!(has(self.e) && has(self.e.a)) || self.e.a == 'x'",
    "has(self.e) && self.e.a == 'x'",
    "self.d[1] == 'x'",
]
TEXTS = st.sampled_from(["", "x", "y", "xy", "yx"])
VALUES = st.fixed_dictionaries(
    {"a": TEXTS, "b": TEXTS},
    optional={
        "c": st.integers(-2, 7),
        "d": st.lists(TEXTS, max_size=3),
        "e": st.fixed_dictionaries({}, optional={"a": TEXTS}),
    },
)
TEXT = {"type": "string"}
OBJECT = {
    "type": "object",
    "properties": {
        "a": TEXT,
        "b": TEXT,
        "c": {"type": "integer"},
        "d": {"type": "array", "items": TEXT},
        "e": {"type": "object", "properties": {"a": TEXT}},
    },
}


@lru_cache
def program(rule: str) -> Any:
    environment = celpy.Environment()
    return environment.program(environment.compile(rule))


@settings(max_examples=examples(600), deadline=None)
@given(st.sampled_from(RULES), VALUES)
def test_agrees_with_cel_python(rule: str, value: Any) -> None:
    ours = Program(tree(rule), OBJECT, Fuel()).value(value)
    stored = Program(json.loads(json.dumps(tree(rule))), OBJECT, Fuel()).value(value)
    assert (ours is True, ours is False) == (stored is True, stored is False)
    try:
        theirs = bool(program(rule).evaluate({"self": json_to_cel(value)}))
    except celpy.CELEvalError:
        assert isinstance(ours, FailedError)
        return
    assert ours is theirs


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("!has(self.name) || self.name == 'a'", {"name"}),
        ("has(self.name) ? self.name == 'a' : true", {"name"}),
        ("has(self.name) && has(self.port) ? false : true", {"name", "port"}),
        ("!(has(self.name) && has(self.port))", {"name", "port"}),
        ("(!has(self.name) || false) && (!has(self.name) || !has(self.port))", {"name"}),
        ("has(self.name) || has(self.port)", set()),
        ("has(self.type) ? false : true", set()),  # it has a default
        ("has(self.soft) ? false : true", set()),  # a null is a value
        ("self.items.all(i, !has(i.name))", set()),
        ("!has(self.items.name)", set()),
    ],
)
def test_fields_without_which_a_rule_holds(text: str, without: set[str]) -> None:
    assert set(Program(tree(text), SCHEMA, Fuel()).holds_without) == without


@lru_cache
def ruled() -> list[dict[str, Any]]:
    """Every node of a shipped schema that states rules about an object."""
    nodes = []
    for path in sorted(shipped("schemas", "crds").glob("*/*.json")):
        pending: list[Any] = [read_shipped(path.read_text(encoding="utf-8"))]
        while pending:
            part = pending.pop()
            if isinstance(part, dict) and STATED in part and "properties" in part:
                nodes.append(part)
            pending += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return nodes


def test_a_rule_that_is_passed_over_would_have_held() -> None:
    """Of no shipped rule the answer is another one than True where a field is lacking without which it holds."""
    passed = 0
    for node in ruled():
        texts = dict.fromkeys(node["properties"], "text")
        for rule in rules_of(node, Fuel()):
            for name in () if rule.expression is None else rule.expression.holds_without:
                for lacking in ({}, {other: value for other, value in texts.items() if other != name}):
                    assert rule.expression is not None
                    assert rule.expression.value(lacking) is True, (rule.expression.holds_without, lacking)
                    passed += 1
    assert passed > 1000


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("self.all(a, self.exists_one(b, has(b.name) && a.name == b.name))", True),
        ("self.filter(f, f.type == 'A').size() <= 1", True),
        ("size(self) > 1 ? size(self[1].items) < 3 : true", True),
        ("self.all(a, a.tls.mode == 'B')", False),
        ("self.filter(f, f.type == 'A') == self", False),
        ("self.filter(f, f.type == 'A')[0].name == 'b'", False),
        ("self[0] == self[1]", False),
        ("self.all(a, a in self)", False),
        ("self.map(a, a.name).size() > 0", False),
    ],
)
def test_what_rules_on_lists_read_is_known(text: str, known: bool) -> None:
    assert Reads([Program(tree(text), {"type": "array", "items": SCHEMA}, Fuel())]).known == known


ENTRIES = st.dictionaries(
    st.sampled_from(["group", "kind", "name", "namespace", "port", "sectionName", "type", "matches", "cors", "value"]),
    st.sampled_from([None, True, 1, "", "a", "${B}", "CORS", ["a"], ["a", "b"], [1], {"a": 1}]),
)


@settings(max_examples=examples(600), deadline=None)
@given(st.lists(ENTRIES, min_size=1, max_size=3), ENTRIES)
def test_lists_of_which_the_same_is_read_are_answered_alike(entries: list[Any], changes: dict[str, Any]) -> None:
    """Whatever is changed in one entry: where another answer comes of it, what is read is another, too."""
    for programs, reads in listed():
        for name, value in {**changes, "more": 1}.items():
            changed = [*entries[:-1], {**entries[-1], name: value}]
            for one, other in ((entries, changed), ([*entries, entries[-1]], [*entries, changed[-1]])):
                if are_broken(programs, one) != are_broken(programs, other):
                    assert None in (reads.of(one), reads.of(other)) or reads.of(one) != reads.of(other)


@lru_cache
def listed() -> list[tuple[list[Program | None], Reads]]:
    """The rules of the lists of HTTPRoutes, as far as it is known what they read."""
    content = read_shipped(shipped("schemas", "crds", "gateway.networking.k8s.io", "HTTPRoute.json").read_text())
    pending, found = [content["versions"]["v1"]], []
    while pending:
        part = pending.pop()
        if isinstance(part, dict) and STATED in part and "items" in part:
            programs = [rule.expression for rule in rules_of(part, Fuel())]
            found.append((programs, Reads(programs)))
        pending += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    assert sum(reads.known for _, reads in found) >= 4
    assert any(reads.of([{"matches": [1]}]) != reads.of([{"matches": [1, 2]}]) for _, reads in found)
    assert any(reads.of([{"type": "CORS"}]) == reads.of([{"type": "CORS", "cors": {}}]) for _, reads in found)
    return [(programs, reads) for programs, reads in found if reads.known]
