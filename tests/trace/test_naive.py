"""Precedence against a naive evaluation: try every match of every rule, then compare the table of §4 line by line.

Source: docs/design/request-precedence.md.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.catalog.kinds import load_catalog
from policylint.simulation import simulate
from policylint.trace import Tracer, request
from tests.nightly import examples
from tests.worlds import gateway, world

HOSTS = ("a.test", "*.test", "b.a.test", "*.a.test", "")
PATHS = ("/", "/x", "/x/y", "/xy", "/x/")
STAMPS = ("", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z")

a_match = st.fixed_dictionaries(
    {},
    optional={
        "path": st.builds(
            lambda kind, value: {"type": kind, "value": value},
            st.sampled_from(["Exact", "PathPrefix"]),
            st.sampled_from(PATHS),
        ),
        "method": st.sampled_from(["GET", "POST"]),
        "headers": st.lists(
            st.builds(
                lambda name, value: {"name": name, "value": value},
                st.sampled_from(["h", "H", "i"]),
                st.sampled_from("12"),
            ),
            max_size=2,
        ),
        "queryParams": st.lists(
            st.builds(
                lambda name, value: {"name": name, "value": value}, st.sampled_from(["q", "r"]), st.sampled_from("12")
            ),
            max_size=2,
        ),
    },
)
a_rule = st.lists(a_match, max_size=2)
a_route = st.tuples(
    st.lists(st.sampled_from(HOSTS[:4]), max_size=2, unique=True),
    st.sampled_from(STAMPS),
    st.lists(a_rule, min_size=1, max_size=3),
)
some_routes = st.lists(a_route, min_size=1, max_size=4)
a_request = st.fixed_dictionaries(
    {
        "host": st.sampled_from(["a.test", "b.a.test", "c.b.a.test", "z.test", "other"]),
        "path": st.sampled_from(["/", "/x", "/x/", "/x/y", "/xy", "/x/y/z"]),
    },
    optional={
        "method": st.sampled_from(["GET", "POST", "PUT"]),
        "headers": st.dictionaries(st.sampled_from(["H", "i"]), st.sampled_from("12")),
    },
)
a_query = st.lists(st.tuples(st.sampled_from("qr"), st.sampled_from("12")), max_size=3)


@settings(max_examples=examples(250), deadline=None)
@given(some_routes, a_request, a_query)
def test_the_first_rule_is_the_naive_one(
    routes: list[Any], asked: dict[str, Any], query: list[tuple[str, str]]
) -> None:
    if query:
        asked = {**asked, "path": asked["path"] + "?" + "&".join(f"{name}={value}" for name, value in query)}
    manifests = [gateway()]
    for number, (hosts, stamp, rules) in enumerate(routes):
        spec = {
            "parentRefs": [{"name": "edge", "namespace": "infra"}],
            "hostnames": hosts,
            "rules": [{"matches": matches} for matches in rules],
        }
        metadata = {"name": f"r{number}", "namespace": "shop", **({"creationTimestamp": stamp} if stamp else {})}
        body = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": metadata, "spec": spec}
        manifests.append(json.dumps(body))
    trace = Tracer(simulate(world(*manifests), load_catalog())).trace(request(asked))
    said = None if trace.rule is None else (trace.rule.key.name, int(trace.rule.section.removeprefix("rule-")))
    assert said == naive(routes, asked, query)


def naive(routes: list[Any], asked: dict[str, Any], query: list[tuple[str, str]]) -> tuple[str, int] | None:
    """Everything that matches, compared pair by pair in the words of the table."""
    found = []
    for number, (hosts, stamp, rules) in enumerate(routes):
        for host in hosts or [""]:
            if not serves(host, asked["host"]):
                continue
            for place, matches in enumerate(rules):
                for match in matches or [{}]:
                    if fits(match, asked, query):
                        found.append((host, match, stamp, f"shop/r{number}", place))
    if not found:
        return None
    best = sorted(found, key=functools.cmp_to_key(compare))[0]
    return best[3].removeprefix("shop/"), best[4] + 1


def compare(one: Any, other: Any) -> int:
    def more(left: int, right: int) -> int:
        return right - left

    def first(left: Any, right: Any) -> int:
        return (left > right) - (left < right)

    rows = [
        more(exact_length(one[0]), exact_length(other[0])),
        more(len(one[0]), len(other[0])),
        more(kind(one[1]) == "Exact", kind(other[1]) == "Exact"),
        more(len(path(one[1])), len(path(other[1]))),
        more("method" in one[1], "method" in other[1]),
        more(len(headers(one[1])), len(headers(other[1]))),
        more(len(queries(one[1])), len(queries(other[1]))),
        first(one[2] or "9", other[2] or "9"),
        first(one[3], other[3]),
        first(one[4], other[4]),
    ]
    return next((row for row in rows if row), 0)


def exact_length(host: str) -> int:
    return 0 if host.startswith("*") else len(host)


def kind(match: Any) -> str:
    return str(match.get("path", {}).get("type", "PathPrefix"))


def path(match: Any) -> str:
    return str(match.get("path", {}).get("value", "/"))


def headers(match: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in match.get("headers", []):
        found.setdefault(each["name"].lower(), each["value"])
    return found


def queries(match: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in match.get("queryParams", []):
        found.setdefault(each["name"], each["value"])
    return found


def serves(pattern: str, host: str) -> bool:
    if not pattern:
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and host != pattern[1:]
    return host == pattern


def fits(match: Any, asked: dict[str, Any], query: list[tuple[str, str]]) -> bool:
    bare = asked["path"].partition("?")[0]
    if kind(match) == "Exact":
        if bare != path(match):
            return False
    else:
        wanted = [each for each in path(match).split("/") if each]
        if [each for each in bare.split("/") if each][: len(wanted)] != wanted:
            return False
    if match.get("method", asked.get("method", "GET")) != asked.get("method", "GET"):
        return False
    sent = {name.lower(): value for name, value in asked.get("headers", {}).items()}
    if any(sent.get(name) != value for name, value in headers(match).items()):
        return False
    given: dict[str, str] = {}
    for name, value in query:
        given.setdefault(name, value)
    return all(given.get(name) == value for name, value in queries(match).items())
