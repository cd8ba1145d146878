"""One policy that goes is one finding, at however many workloads it turned requests away."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests import worlds
from tests.compare.test_compare import sides
from tests.trace.test_admissions import INJECTED, deployment, rule, service

NAMES = ("web", "cart", "pay")
AROUND = (
    worlds.labelled("shop", INJECTED),
    *(made for name in NAMES for made in (service(name), deployment(name, "shop"))),
)
ALL = rule("all", "rules: [{from: [{source: {namespaces: [ops]}}]}]")
ONE = rule("one", "selector: {matchLabels: {app: web}}, rules: [{from: [{source: {namespaces: [ops]}}]}]")
OTHER = rule("other", "selector: {matchLabels: {app: pay}}, rules: [{from: [{source: {namespaces: [ops]}}]}]")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ((ALL,), (), ["Deployment shop/cart and 2 more are less protected: AuthorizationPolicy shop/all is gone"]),
        ((ONE,), (), ["Deployment shop/web is less protected: AuthorizationPolicy shop/one is gone"]),
        (
            (ONE, OTHER),
            (),
            [
                "Deployment shop/pay is less protected: AuthorizationPolicy shop/other is gone",
                "Deployment shop/web is less protected: AuthorizationPolicy shop/one is gone",
            ],
        ),
        ((ALL,), (ALL,), []),
    ],
    ids=["gone", "of one workload", "two policies", "as it was"],
)
def test_a_policy_is_told_once(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], said: list[str]
) -> None:
    pair = sides(tmp_path, (*AROUND, *before), (*AROUND, *after))
    found = list(removed_protections([pair], compare([pair]), {"GWP304"}))
    assert sorted(each.message.partition(", ")[0] for each in found) == said
    for finding in found:
        workloads = [key for key in finding.resources if key.kind == "Deployment"]
        assert len(workloads) == (len(NAMES) if "more are" in finding.message else 1)


def test_requests_beyond_two_sorts_are_counted(tmp_path: Path) -> None:
    pair = sides(tmp_path, (*AROUND, ALL), AROUND)
    (found,) = removed_protections([pair], compare([pair]), {"GWP304"})
    assert found.message.endswith("more get in")
