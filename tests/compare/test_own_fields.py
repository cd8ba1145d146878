"""What a rule of a route says itself stays, whether or not a policy says it, too."""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides
from policylint.compare.settings import settings
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

EDGE = [gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"), gateway(), service()]
BACKEND = "backendRefs: [{name: checkout, port: 80}]"
RETRY = "retry: {numRetries: 2}"
TIMEOUT = "timeout: {http: {requestTimeout: 5s}}"


def shop(own: str) -> str:
    return route(more=f"rules: [{{{own}{BACKEND}}}]")


def traffic(*given: str) -> str:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    body = f"spec: {{{', '.join((target, *given))}}}"
    return manifest("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "edge", "infra", body)


def changed(before: list[str], after: list[str]) -> list[str]:
    pairs = pair_sides([simulated(*EDGE, *before)], [simulated(*EDGE, *after)])
    (environment,) = compare(pairs)
    return [
        f"{setting.change} {setting.name}{f' ({setting.because})' if setting.because else ''}"
        for context in environment.contexts
        for setting in settings(context.kind, context.before, context.after, pairs[0])
        if setting.change != "unchanged"
    ]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("timeouts: {request: 9s}, ", []),  # the request's timeout is the rule's, before and after
        ("", ["removed timeout (no longer sets it)"]),
    ],
)
def test_a_policy_stops_saying_what_the_rule_says(own: str, said: list[str]) -> None:
    assert changed([shop(own), traffic(RETRY, TIMEOUT)], [shop(own), traffic(RETRY)]) == said
    assert changed([shop(own), traffic(RETRY)], [shop(own), traffic(RETRY, TIMEOUT)]) == (
        ["added timeout"] if said else []
    )


def test_a_rule_stops_saying_it() -> None:
    own = "timeouts: {request: 9s}, "
    assert changed([shop(own), traffic(RETRY, TIMEOUT)], [shop(""), traffic(RETRY, TIMEOUT)]) == ["changed timeout"]
    assert changed([shop(own), traffic(RETRY, TIMEOUT)], [shop(""), traffic(RETRY)]) == ["removed timeout"]
