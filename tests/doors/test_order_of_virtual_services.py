# ruff: noqa: E501 - matches on one line each
"""GWP408 of VirtualServices: the first rule that fits counts (istio/istio#18849, #39188, #46410)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, simulated

TO = "route: [{destination: {host: web}}]"


def told(*rules: str) -> list[str]:
    http = ", ".join(f"{{{rule}, {TO}}}" if rule else f"{{{TO}}}" for rule in rules)
    spec = f"spec: {{hosts: [shop.example.com], gateways: [edge], http: [{http}]}}"
    found = run(simulated(manifest("networking.istio.io/v1", "VirtualService", "web", "shop", spec)), select={"GWP408"})
    return [
        each.message.removeprefix("spec.").replace(" of VirtualService shop/web is never used", "") for each in found
    ]


def uri(kind: str, value: str, more: str = "") -> str:
    return f"match: [{{uri: {{{kind}: '{value}'}}{more}}}]"


LAST = ["http[1]: spec.http[0] takes its requests"]


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ((uri("prefix", "/shop"), uri("prefix", "/shopping")), LAST),
        ((uri("prefix", "/shop/"), uri("prefix", "/shopping")), []),
        ((uri("prefix", "/shopping"), uri("prefix", "/shop")), []),
        ((uri("prefix", "/"), uri("prefix", "/shop")), LAST),
        (("", uri("prefix", "/shop")), LAST),
        ((uri("regex", ".*"), uri("exact", "/shop")), LAST),
        ((uri("prefix", "/shop"), uri("exact", "/shop")), LAST),
        ((uri("exact", "/shop"), uri("prefix", "/shop")), []),
        ((uri("prefix", "/shop"), uri("regex", "/shop/.*")), []),
        ((uri("prefix", "/", ", headers: {x: {exact: a}}"), uri("prefix", "/")), []),
        ((uri("prefix", "/", ", headers: {x: {exact: a}}"), uri("prefix", "/", ", headers: {x: {exact: a}}")), LAST),
        ((uri("prefix", "/"), uri("prefix", "/a", ", headers: {x: {exact: a}}")), LAST),
        ((uri("prefix", "/", ", port: 80"), uri("prefix", "/a", ", port: 443")), []),
        ((uri("prefix", "/", ", gateways: [mesh]"), uri("prefix", "/a")), []),
        ((uri("prefix", "/", ", sourceLabels: {app: a}"), uri("prefix", "/a")), []),
        ((uri("prefix", "/Shop", ", ignoreUriCase: true"), uri("prefix", "/shop/a")), LAST),
        ((uri("prefix", "/shop"), uri("prefix", "/Shop/a", ", ignoreUriCase: true")), []),
        ((uri("prefix", "/${BASE}"), uri("prefix", "/${BASE}/a")), []),
        ((uri("prefix", "/a"), "match: [{uri: {prefix: /b}}, {uri: {prefix: /a/b}}]"), []),
        ((uri("prefix", "/a"), uri("prefix", "/b"), "match: [{uri: {prefix: /b/c}}, {uri: {prefix: /a/b}}]"),
         ["http[2]: spec.http[1] takes its requests"]),
    ],
)  # fmt: skip
def test_rules_that_come_too_late(rules: tuple[str, ...], found: list[str]) -> None:
    assert told(*rules) == found


def test_a_delegate_may_leave_some() -> None:
    http = f"[{{delegate: {{name: b}}}}, {{{TO}}}]"
    spec = f"spec: {{hosts: [a.example.com], gateways: [edge], http: {http}}}"
    world = simulated(manifest("networking.istio.io/v1", "VirtualService", "web", "shop", spec))
    assert not list(run(world, select={"GWP408"}))


@pytest.mark.parametrize(
    ("section", "matches", "is_told"),
    [
        ("tcp", ("", "match: [{port: 80}], "), True),
        ("tcp", ("match: [{port: 80}], ", ""), False),
        ("tcp", ("match: [{port: 80}], ", "match: [{port: 80, sourceLabels: {app: a}}], "), True),
        ("tcp", ("match: [{port: 80}], ", "match: [{port: 81}], "), False),
        ("tcp", ("match: [{destinationSubnets: [10.0.0.0/8]}], ", "match: [{port: 80}], "), False),
        ("tls", ("match: [{sniHosts: [a.example.com, b.example.com]}], ", "match: [{sniHosts: [a.example.com]}], "), True),
        ("tls", ("match: [{sniHosts: [a.example.com]}], ", "match: [{sniHosts: [a.example.com, b.example.com]}], "), False),
        ("tls", ("match: [{sniHosts: ['*.example.com']}], ", "match: [{sniHosts: [a.example.com]}], "), False),
        ("tls", ("match: [{port: 443, sniHosts: [a.example.com]}], ", "match: [{sniHosts: [a.example.com]}], "), False),
    ],
)  # fmt: skip
def test_rules_of_connections_come_too_late(section: str, matches: tuple[str, str], is_told: bool) -> None:
    rules = ", ".join(f"{{{match}{TO}}}" for match in matches)
    spec = f"spec: {{hosts: [shop.example.com], {section}: [{rules}]}}"
    found = list(
        run(simulated(manifest("networking.istio.io/v1", "VirtualService", "web", "shop", spec)), select={"GWP408"})
    )
    assert [each.location.pointer for each in found] == [("spec", section, 1)] * is_told
