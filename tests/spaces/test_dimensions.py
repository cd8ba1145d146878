"""Atoms of a dimension: every value lies in one of them, and a predicate says the same of all values of an atom."""

from __future__ import annotations

import sys
from ipaddress import ip_address, ip_network
from itertools import product
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.regex import expression
from policylint.spaces.addresses import Range, address_of, address_set, cidrs, joined, number_of, without
from policylint.spaces.dimension import ABSENT, Dimension, addresses, paths, values
from policylint.spaces.predicates import Predicate
from policylint.spaces.samples import literal_start, sample, takes_all_below
from policylint.spaces.words import described, words
from policylint.spaces.words import networks as networks_in_words

STEPS = ("a", "b", "ab", "other")
PATHS = [
    "/",
    *("/" + "/".join(steps) + end for size in (1, 2, 3) for steps in product(STEPS, repeat=size) for end in ("", "/")),
]
EXPRESSIONS = ["/a.*", "/(a|b)/.+", "/[ab]+", ".*", "/a/[^/]+", "/b/.*", "/ab", ".*b"]
path_predicates = st.lists(
    st.builds(Predicate, st.sampled_from(["Exact", "PathPrefix"]), st.sampled_from(PATHS))
    | st.builds(Predicate, st.just("RegularExpression"), st.sampled_from(EXPRESSIONS)),
    max_size=8,
)


def holds(predicate: Predicate, value: str | None) -> bool:
    """What a predicate says of a value, in the words of Gateway API."""
    if value is None:
        return False
    match predicate.type:
        case "Exact":
            return value == predicate.value
        case "PathPrefix":
            steps, own = predicate.value.rstrip("/").split("/"), value.split("/")
            return own[: len(steps)] == steps
        case "RegularExpression":
            return bool(expression(predicate.value).is_whole(value))
        case _:
            return True


def said(dimension: Dimension, number: int) -> set[Predicate]:
    return {predicate for predicate, mask in dimension.masks.items() if mask >> number & 1}


@given(path_predicates)
def test_predicates_say_of_an_atom_what_they_say_of_its_witness(predicates: list[Predicate]) -> None:
    dimension = paths(predicates)
    for number, witness in enumerate(dimension.witnesses):
        assert said(dimension, number) == {predicate for predicate in predicates if holds(predicate, witness)}


@given(path_predicates)
def test_every_path_lies_in_an_atom(predicates: list[Predicate]) -> None:
    dimension = paths(predicates)
    known = [said(dimension, number) for number in range(len(dimension.witnesses))]
    assert all(known.count(atom) == 1 for atom in known)
    for path in PATHS:
        expected = {predicate for predicate in predicates if holds(predicate, path)}
        doubtful = {predicate for predicate in expected if predicate.value in dimension.undecided}
        assert expected in known or doubtful or dimension.undecided


def test_prefixes_and_exact_paths_are_always_decided() -> None:
    dimension = paths([Predicate("PathPrefix", "/a"), Predicate("PathPrefix", "/a/"), Predicate("Exact", "/a/")])
    assert (set(dimension.witnesses), dimension.undecided) == ({"/", "/a", "/a/"}, ())
    assert dimension.masks[Predicate("PathPrefix", "/a")] == dimension.masks[Predicate("PathPrefix", "/a/")]


def test_where_nothing_is_an_expression_each_value_is_looked_at_once() -> None:
    looked_at = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "said":
            looked_at.append(frame.f_locals["value"])

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        paths([Predicate("PathPrefix", "/a"), Predicate("Exact", "/b")])
    finally:
        sys.setprofile(before)
    assert len(looked_at) == len(set(looked_at)) == len(("/", "/a", "/b", "below /", "below /a"))


@pytest.mark.parametrize(
    ("predicates", "undecided"),
    [
        ([("PathPrefix", "/a"), ("RegularExpression", "/b/v[0-9]+")], ()),
        ([("PathPrefix", "/a"), ("RegularExpression", "/a/.*")], ()),
        ([("PathPrefix", "/a"), ("RegularExpression", r"/a/.*\.png")], ()),
        ([("PathPrefix", "/a"), ("RegularExpression", r".*/users/\d{3}")], ()),
        ([("RegularExpression", "/a/[0-9]+"), ("RegularExpression", "/a/1.*")], ()),
        ([("RegularExpression", "/a/[0-9]+"), ("RegularExpression", "/a/[b1]+")], ("/a/[0-9]+", "/a/[b1]+")),
        ([("RegularExpression", "/a.*"), ("RegularExpression", "/a/b.*"), ("RegularExpression", "/c.*")], ()),
        ([("RegularExpression", "(?i)/.*"), ("RegularExpression", "(?i)/a.*"), ("PathPrefix", "/a")], ()),
        ([("RegularExpression", "/a/.*"), ("RegularExpression", "/b/.*")], ()),
        ([("RegularExpression", f"(?i)/({name}(/.*)?).*") for name in "ab"] + [("RegularExpression", "(?i)/.*")], ()),
        ([("RegularExpression", "/(a)/.*"), ("RegularExpression", "/(b)?/.*")], ("/(a)/.*", "/(b)?/.*")),
        ([("RegularExpression", "(")], ()),
    ],
    ids=str,
)
def test_what_samples_decide(predicates: list[tuple[str, str]], undecided: tuple[str, ...]) -> None:
    assert paths([Predicate(kind, value) for kind, value in predicates]).undecided == undecided  # type: ignore[arg-type]


def test_a_header_may_be_absent() -> None:
    dimension = values("header x", [Predicate("Exact", "1"), Predicate("Exact", "2")])
    assert dimension.witnesses == (ABSENT, "1", "2"), "any other value means what none means"
    present = values("header x", [Predicate("Exact", "1"), Predicate("Present")])
    assert present.witnesses == (ABSENT, "1", "other")


def test_a_method_is_always_there() -> None:
    dimension = values("method", [Predicate("Exact", "POST")], "GET")
    assert dimension.witnesses == ("GET", "POST")
    assert dimension.witness(dimension.all) == "GET"


@pytest.mark.parametrize(
    "pattern", ["/a", "/api/v[0-9]+/.*", r"/(x|y)/\d{3}\.png", "^/a$", "[^/a]+", "(?:ab)+c?", "a|b", r"[\d]+", "(?i)ab"]
)
def test_samples_are_matched(pattern: str) -> None:
    assert expression(pattern).is_whole(sample(pattern))


@pytest.mark.parametrize(
    ("pattern", "start"),
    [
        *(("/a/[0-9]", "/a/"), ("/ab?", "/a"), (r"/a\.b.*", "/a.b"), ("a|b", ""), ("^/a$", "/a"), (r"/a\d", "/a")),
        ("", ""),
        *(("/(ab)c.*", "/abc"), ("/(ab(/.*)?)", "/ab"), ("/a(b(c)d)e", "/abcde"), ("(/ab)/(.*)", "/ab/")),
        *(("/(ab)?c", "/"), ("/(ab)+c", "/"), ("/(ab){2}", "/"), ("/(ab", "/"), ("/(a|b)", ""), ("/(a$)b", "/a")),
        ("/" + "(" * 20 + "a" + ")" * 20, "/"),
    ],
)
def test_how_all_matches_begin(pattern: str, start: str) -> None:
    assert literal_start(pattern) == start


@pytest.mark.parametrize(
    ("pattern", "beginning", "takes"),
    [
        ("/.*", "/", True),
        ("/a/.*", "/a/b/", True),
        ("/a/.+", "/a/", False),
        ("/a/.*", "/", False),
        ("/a/[0-9]+", "/a/", False),
        ("/(a).*", "/a", True),
        ("/(a(/.*)?).*", "/a", True),
        ("/(a[0-9]).*", "/a", False),
        ("/(a$).*", "/a", False),
        ("/a$.*", "/a", False),
    ],
)
def test_what_takes_all_below(pattern: str, beginning: str, takes: bool) -> None:
    assert takes_all_below(pattern, beginning) is takes


SMALL = 64
"""Addresses from 10.0.0.0 on of which all is tried."""
BASE = number_of("10.0.0.0") or 0
network = st.builds(
    lambda start, bits: f"{address_of(BASE + start)}/{bits}", st.integers(0, SMALL - 1), st.integers(26, 32)
)
networks = st.lists(network, min_size=1, max_size=6).map(tuple)


def brute(texts: tuple[str, ...]) -> set[int]:
    """The last bits of the addresses of some networks, one by one."""
    held = [ip_network(text, strict=False) for text in texts]
    return {n for n in range(-2, SMALL + 2) if any(ip_address(address_of(BASE + n)) in network for network in held)}


@given(networks)
def test_equal_sets_of_addresses_have_equal_words(texts: tuple[str, ...]) -> None:
    whole = address_set(texts)
    assert {n for n in range(-2, SMALL + 2) if whole.holds(BASE + n)} == brute(texts)
    one_by_one = address_set(tuple(f"{address_of(BASE + n)}" for n in sorted(brute(texts))))
    assert whole.text == one_by_one.text
    assert address_set(tuple(whole.text.split(","))) == whole


@given(networks, networks)
def test_one_set_of_addresses_without_another(texts: tuple[str, ...], excepted: tuple[str, ...]) -> None:
    left = without(address_set(texts).ranges, address_set(excepted).ranges)
    assert {n for low, high in left for n in range(low - BASE, high - BASE)} == brute(texts) - brute(excepted)
    assert joined(left) == joined(reversed(left))


@given(st.lists(networks, max_size=6))
def test_networks_say_the_same_of_all_addresses_of_an_atom(listed: list[tuple[str, ...]]) -> None:
    predicates = {Predicate("Network", address_set(texts).text): brute(texts) for texts in listed}
    dimension = addresses("client address", predicates)
    for number, witness in enumerate(dimension.witnesses):
        assert said(dimension, number) == {predicate for predicate in predicates if predicate.takes(witness)}
        atom = dimension.ranges[number]
        members = {n for n in range(-2, SMALL + 2) if any(low <= BASE + n < high for low, high in atom)}
        for predicate, own in predicates.items():
            assert members <= own if predicate in said(dimension, number) else not members & own
    atoms = [interval for ranges in dimension.ranges for interval in ranges]
    assert sum(interval.high - interval.low for interval in atoms) == (1 << 32) + (1 << 128)
    assert len({frozenset(said(dimension, number)) for number in range(len(dimension.ranges))}) == len(dimension.ranges)


def test_the_widest_and_the_smallest_networks() -> None:
    assert list(cidrs([Range(0, 1 << 32)])) == ["0.0.0.0/0"]
    assert address_set(("::/0",)).text == "::/0"
    assert address_set(("10.0.0.0/9", "10.128.0.0/9", "10.3.0.0/16")).text == "10.0.0.0/8"
    assert address_set(("10.0.0.1", "x")) == (address_set(("10.0.0.1/32",)).ranges, "x")


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("10.0.0.0/8 -10.1.0.0/16", "10.0.0.0/8 except 10.1.0.0/16"),
        ("-10.0.0.0/8", "outside 10.0.0.0/8"),
        ("-10.0.0.0/8 10.1.0.0/16", "10.1.0.0/16 or outside 10.0.0.0/8"),
        ("10.1.0.0/16 192.168.0.0/16", "10.1.0.0/16 or 192.168.0.0/16"),
    ],
)
def test_addresses_in_words(inside: str, expected: str) -> None:
    stated = [Predicate("Network", text) for text in ("10.0.0.0/8", "10.1.0.0/16", "192.168.0.0/16")]
    dimension = addresses("client address", stated)
    bits = 0 if not inside.startswith("-") else dimension.all
    for step in inside.split():
        mask = dimension.masks[Predicate("Network", step.removeprefix("-"))]
        bits = bits & ~mask if step.startswith("-") else bits | mask
    assert networks_in_words(dimension, bits) == expected


@given(path_predicates, st.data())
def test_words_are_the_same_whether_or_not_a_predicate_is_looked_up(
    predicates: list[Predicate], data: st.DataObject
) -> None:
    dimension = paths(predicates)
    bits = data.draw(st.integers(0, dimension.all) | st.sampled_from([dimension.all, *dimension.masks.values()]))
    if bits:
        assert words(dimension, bits) == words(dimension._replace(whole={}), bits)


@given(path_predicates)
def test_how_two_predicates_relate_is_what_their_atoms_say(predicates: list[Predicate]) -> None:
    """Where an expression is undecided, atoms may be too few; what is said of two is certain all the same."""
    dimension = paths(predicates)
    if dimension.undecided:
        return
    for one, other in product(predicates, repeat=2):
        own, others = dimension.masks[one], dimension.masks[other]
        assert one.within(other) in (not own & ~others, None), (one, other)
        assert one.overlaps(other) in (bool(own & others), None), (one, other)
        if "RegularExpression" not in (one.type, other.type):
            assert None not in (one.within(other), one.overlaps(other))


@pytest.mark.parametrize(
    ("brings", "told"),
    [
        ({"sub": True, "sub: alice": True}, "with claim sub: alice"),
        ({"sub": True, "sub: alice": False}, "with claim sub other than alice"),
        ({"sub": True, "sub: alice": False, "sub: bob": False}, "with claim sub other than alice or bob"),
        ({"roles": True, "roles: a": True, "roles: b": False}, "with claim roles: a without claim roles: b"),
        ({"sub": False}, "without claim sub"),
        ({"roles: a": False, "sub": True}, "without claim roles: a with claim sub"),
    ],
)
def test_conditions_on_one_claim_are_said_together(brings: dict[str, bool], told: str) -> None:
    claims = [Dimension(f"claim {name}", (None, "x"), {Predicate("Present"): 0b10}) for name in brings]
    assert described(claims, tuple(0b10 if brought else 0b01 for brought in brings.values())) == told
