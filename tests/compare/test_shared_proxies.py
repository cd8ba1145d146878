"""Requests at a Gateway that only one side has, and whose proxy others share: another one of them takes them there."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests.compare.test_compare import sides
from tests.compare.test_requests import APP, NEW, rule, web
from tests.contract.own import MERGED
from tests.worlds import gateway, manifest

ALL = "[{name: http, port: 80, protocol: HTTP}]"
NARROW = "[{name: http, port: 80, protocol: HTTP, hostname: new.example.com}]"
FIRST = (*MERGED, gateway("edge", "shop", ALL), web(parents="[{name: edge}]", hosts="*.example.com"), APP, NEW)
SECOND = (
    gateway("second", "shop", NARROW),
    web(rule("/", "new"), name="second", parents="[{name: second}]", hosts="new.example.com"),
)
LOGIN = manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "login",
    "shop",
    """spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  jwt: {providers: [{name: own, issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com/keys}}]}""",
)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (FIRST, (*FIRST, *SECOND), ("rerouted", "shop/app", "shop/new")),
        ((*FIRST, *SECOND), FIRST, ("rerouted", "shop/new", "shop/app")),
    ],
    ids=["comes", "goes"],
)
def test_what_a_gateway_takes_from_another_one(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], says: tuple[str, str, str]
) -> None:
    (environment,) = compare([sides(tmp_path, before, after)])
    assert environment.requests is not None
    (change,) = environment.requests.changes
    assert (change.change, change.before, change.after) == says


def test_a_login_at_the_gateway_that_had_the_requests_is_lost(tmp_path: Path) -> None:
    pair = sides(tmp_path, (*FIRST, LOGIN), (*FIRST, LOGIN, *SECOND))
    (environment,) = compare([pair])
    assert environment.requests is not None
    assert "opened" in [each.change for each in environment.requests.changes]
    assert [each.severity for each in removed_protections([pair], [environment], {"GWP302"})] == ["error"]
