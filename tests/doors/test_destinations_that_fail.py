"""Destinations of VirtualServices at which requests end, as GWP415 says of the object: `trace` says so of requests."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.test_istio import SHOP, gateway, virtual
from tests.worlds import manifest, service, simulated


def web(annotation: str = "") -> str:
    more = f"annotations: {{networking.istio.io/exportTo: '{annotation}'}}" if annotation else ""
    return manifest(
        "v1", "Service", "web", "shop", "spec: {selector: {app: web}, ports: [{name: http, port: 80}]}", more=more
    )


PODS = manifest(
    "apps/v1",
    "Deployment",
    "istio-ingressgateway",
    "istio-system",
    "spec: {selector: {matchLabels: {istio: ingressgateway}}, template: {metadata: {labels: {istio: ingressgateway}}, "
    "spec: {containers: [{name: istio-proxy, image: auto}]}}}",
)


def rule(spec: str) -> str:
    return manifest("networking.istio.io/v1", "DestinationRule", "web", "shop", f"spec: {{host: web, {spec}}}")


def to(*subsets: str) -> str:
    ways = (f"{{destination: {{host: web, subset: {each}}}, weight: {100 // len(subsets)}}}" for each in subsets)
    return f"[{{route: [{', '.join(ways)}]}}]"


V1 = "subsets: [{name: v1, labels: {app: web}}]"
DELEGATING = "[{delegate: {name: inner, namespace: shop}}]"


@pytest.mark.parametrize(
    ("world", "problems", "assumed"),
    [
        ((web(), rule(V1), virtual(to("v1"))), [""], False),
        ((web(), rule(V1), virtual(to("v2"))), ["subset v2"], False),
        ((web(), rule(V1), virtual(to("v1", "v2"))), ["", "subset v2"], False),
        (
            (web(), rule(V1), virtual(DELEGATING), virtual(to("v2"), name="inner", hosts="[]", gateways="")),
            ["subset v2"],
            False,
        ),
        ((web(), rule(f"{V1}, exportTo: ['.']"), virtual(to("v1")), PODS), ["not shown"], False),
        ((web(), rule(f"{V1}, exportTo: [istio-system]"), virtual(to("v1")), PODS), [""], False),
        ((web(), rule(f"{V1}, exportTo: ['.']"), virtual(to("v1"))), [""], True),
        ((web("."), virtual(), PODS), ["not shown"], False),
        ((web("istio-system"), virtual(), PODS), [""], False),
        ((web("."), virtual()), [""], True),
    ],
)
def test_requests_end_where_their_object_leads_nowhere(
    world: tuple[str, ...], problems: list[str], assumed: bool
) -> None:
    simulation = simulated(gateway(), service("other"), *world)
    trace = Tracer(simulation).trace(from_url("GET", f"{SHOP}/"))
    shares = trace.outcome.shares
    assert [bool(each.problem) for each in shares] == [bool(each) for each in problems]
    assert all(said in each.problem for said, each in zip(problems, shares, strict=True))
    assert any("taken to be there" in note for note in trace.notes) == assumed
    told = [each for each in run(simulation) if each.rule == "GWP415"]
    assert bool(told) == (assumed or any(problems))
