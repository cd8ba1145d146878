"""A variable within what is demanded leaves open what it takes: never more is sworn than any value bears out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.spaces.dimension import pairs, paths, values
from policylint.spaces.predicates import Predicate, containing, ending, globbed, matching, starting

SPELLINGS = [
    "${V}",
    "${V:-1}",
    "{{ .Values.v }}",
    "<your-name>",
    "$VALUE",
    "__VALUE__",
    "@VALUE@",
    "[[ .V ]]",
    "replace-me",
]
pieces = st.sampled_from(["a", "b", "ab", "a.b", "(x)", "+"])
fillings = st.sampled_from(["a", "b", "a/b", "b.a", "x"])
WAYS = {
    "exact": lambda text: Predicate("Exact", text),
    "prefix": lambda text: Predicate("PathPrefix", text),
    "beginning": starting,
    "end": ending,
    "part": containing,
    "glob": lambda text: globbed(f"{text}*"),
    "expression": lambda text: matching(
        re.sub(r"\(x\)|\+|a\.b|b\.a", lambda part: re.escape(part[0]), text) + "(?:/b)?"
    ),
}


@pytest.mark.parametrize("way", WAYS)
@given(
    before=st.lists(pieces, max_size=2),
    after=st.lists(pieces, max_size=2),
    spelling=st.sampled_from(SPELLINGS),
    filling=fillings,
    asked=st.lists(pieces, max_size=4),
)
def test_what_any_value_takes_may_be_taken(
    way: str, before: list[str], after: list[str], spelling: str, filling: str, asked: list[str]
) -> None:
    start, end = "/" + "/".join([*before, ""]), "/".join(["", *after])
    written, filled = (WAYS[way](f"{start}{each}{end}") for each in (spelling, filling))
    other = WAYS[way](f"{start}{'z' * 9}{end}")
    assert written.is_open and not filled.is_open
    for value in ("/" + "/".join(asked), f"{start}{filling}{end}", f"{start}{filling}{end}/b"):
        taken = written.takes(value)
        assert taken is not True
        assert taken is None or not filled.takes(value)
        if taken is False:
            assert not other.takes(value)
    assert written.takes(f"{start}{filling}{end}") is None
    assert written.overlaps(filled) is None
    assert written.within(filled) is not False
    assert filled.within(written) is None


def test_who_lacks_a_property_does_not_have_it_whatever_the_variable_is() -> None:
    assert Predicate("Exact", "${V}").takes(None) is False


@pytest.mark.parametrize(
    ("written", "never", "maybe"),
    [
        (Predicate("PathPrefix", "/api/${V}"), "/apis/v1", "/api/v1/x"),
        (Predicate("PathPrefix", "/${V}/api"), "/v1/apis", "/v1/api/x"),
        (Predicate("Exact", "/api/${V}"), "/api", "/api/v1"),
        (Predicate("Pair", "shop/${SA}"), "infra/web", "shop/web"),
        (Predicate("Pair", "${NS}/web-${X}-${Y}"), None, "shop/web-a-b"),
        (Predicate("RegularExpression", "/v[${DIGITS}]/.*"), "/w1/x", "/v1/x"),
        (Predicate("RegularExpression", "/v[0-9]{${TIMES}}"), "/w1", "/v11"),
        (Predicate("RegularExpression", "/(${A}|b)/.*"), "/", "/b/x"),
    ],
)
def test_what_is_written_around_it_is_certain(written: Predicate, never: str | None, maybe: str) -> None:
    assert written.takes(never) is False
    assert written.takes(maybe) is None


@pytest.mark.parametrize(
    "written",
    [
        *("/cart$", "/a{2}", "/(?P<name>a)", "/[[:alpha:]]+", "/__debug__/", "/{id}", "/user_name", "/a%20b%2F"),
        *("/$metadata", "^/a$", "/x<y>1", "/<details>", "PROD", "a@b.example", "/(?<name>a)"),
    ],
)
def test_signs_of_their_own_are_no_variables(written: str) -> None:
    for kind in ("Exact", "RegularExpression"):
        assert not Predicate(kind, written).is_open  # type: ignore[arg-type]


def test_dimensions_are_cut_by_what_may_be_taken() -> None:
    first, second = Predicate("PathPrefix", "/a/${V}"), Predicate("PathPrefix", "/a/${W}")
    plain = Predicate("Exact", "/a/b")
    found = paths([first, second, plain])
    assert found.masks[first] == found.masks[second] and found.masks[first] & found.masks[plain]
    assert not any("$" in witness for witness in found.witnesses if witness)
    header = Predicate("Exact", "${V}")
    found = values("header x", [header])
    assert [witness for number, witness in enumerate(found.witnesses) if not found.masks[header] >> number & 1] == [
        None
    ]
    account = Predicate("Pair", "shop/${SA}")
    found = pairs("principal", [account, Predicate("Pair", "infra/web")])
    assert all(
        (found.masks[account] >> number & 1) == (witness or "").startswith("shop/")
        for number, witness in enumerate(found.witnesses)
    )
