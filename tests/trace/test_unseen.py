"""What a tree leaves to other repositories refuses no request: `trace` claims nothing that `lint` calls not seen.

Predicted from what a cluster does once the other repository is applied, too: the request goes on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.report.kit.display import Paint
from policylint.report.reach import Question, find, write
from policylint.trace import Trace, Tracer, request
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, grant, route, service

EDGE = gateway("edge", "infra", of_class="eg")
EG = gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
OF_EXTENSION = "{group: gateway.envoyproxy.io, kind: Backend, name: away}"
OTHER_SERVICE = service("other", "other")


def elsewhere(wanted: str) -> tuple[str, ...]:
    """The note on an object, written as `Kind namespace/name`."""
    kind, _, path = wanted.partition(" ")
    why = f"no {kind} of namespace {path.partition('/')[0]} is in the tree, so they come from elsewhere"
    return (f"{wanted} is taken to be there: {why}",)


def to(backend: str) -> str:
    parents = "[{name: edge, namespace: infra}]"
    return route("web", parents=parents, more=f"hostnames: [a.test], rules: [{{backendRefs: [{backend}]}}]")


WEB = to("{name: app, port: 80}")


@pytest.mark.parametrize(
    ("manifests", "notes"),
    [
        pytest.param(
            (EG, EDGE, OTHER_SERVICE, WEB),
            elsewhere("Service shop/app"),
            id="no Service of its namespace is here",
        ),
        pytest.param(
            (EG, EDGE, service("app"), to(OF_EXTENSION)),
            elsewhere("Backend shop/away"),
            id="no Backend is here",
        ),
        pytest.param(
            (EG, EDGE, service("app"), to("{name: api, namespace: billing, port: 80}")),
            elsewhere("Service billing/api"),
            id="nothing of the other namespace is here, its grants neither",
        ),
        pytest.param(
            (EG, gateway("edge", "infra", of_class="cloud"), service("app"), WEB),
            (),
            id="classes come with their controllers, and another one is here",
        ),
    ],
)  # fmt: skip
def test_what_comes_from_elsewhere_is_taken_to_be_there(
    tmp_path: Path, manifests: tuple[str, ...], notes: tuple[str, ...]
) -> None:
    trace = traced(tmp_path, *manifests)
    assert trace.outcome.backends
    assert trace.notes == notes


@pytest.mark.parametrize(
    ("manifests", "reason"),
    [
        pytest.param(
            (EG, EDGE, service("app"), to("{name: apq, port: 80}")),
            "nothing deploys Service shop/apq",
            id="Services of the namespace are here",
        ),
        pytest.param(
            (EG, EDGE, service("app"), OTHER_SERVICE, to("{name: other, namespace: other, port: 80}")),
            "no ReferenceGrant in namespace other lets HTTPRoute shop/web name Service other/other",
            id="the other namespace is here",
        ),
        pytest.param(
            (gateway_class("envoy"), gateway("edge", "infra", of_class="envoi"), service("app"), WEB),
            "Gateway infra/edge is not served: waiting for a controller: nothing deploys GatewayClass envoi",
            id="a class one letter away is here",
        ),
    ],
)  # fmt: skip
def test_what_has_its_place_here_is_missing(tmp_path: Path, manifests: tuple[str, ...], reason: str) -> None:
    outcome = traced(tmp_path, *manifests).outcome
    assert not outcome.backends
    assert outcome.reason == reason


def test_a_grant_that_is_here_needs_no_note(tmp_path: Path) -> None:
    allowed = grant(
        "other", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}", "{group: '', kind: Service}"
    )
    trace = traced(tmp_path, EG, EDGE, OTHER_SERVICE, allowed, to("{name: other, namespace: other, port: 80}"))
    assert trace.outcome.backends
    assert trace.notes == ()


def traced(directory: Path, *manifests: str) -> Trace:
    (directory / "world.yaml").write_text("---\n".join(manifests), encoding="utf-8")
    simulation = open_workspace([str(directory)]).simulations[0]
    return Tracer(simulation).trace(request({"host": "a.test", "path": "/"}))


def test_a_route_that_the_api_server_refuses_is_named(tmp_path: Path) -> None:
    trace = traced(tmp_path, EG, EDGE, service("app"), to("{name: app, port: '80'}"))
    assert trace.notes[0].startswith("the API server refuses HTTPRoute shop/web (spec.rules[0].backendRefs[0].port")
    assert trace.notes[0].endswith("so that a cluster has its former state, or none")
    found = find(open_workspace([str(tmp_path)]).simulations, Question())
    said = "".join(write("text", found, Paint(on=False)))
    assert said.endswith("HTTPRoute shop/web as written, which the API server refuses (GWP501)\n")


@pytest.mark.parametrize(
    "match",
    [
        "{path: {type: 'PathP${END}', value: /}}",
        "{path: {value: '/${AREA}'}}",
        "{path: {value: '${PATH}'}}",
        "{headers: [{name: x-a, value: '${VALUE}'}], path: {value: /shop}}",
        "{method: '${METHOD}'}",
        "'${MATCH}'",
    ],
)
@pytest.mark.parametrize("seen", [(), (EG, EDGE)], ids=["a Gateway that was not seen", "one that was"])
def test_what_a_variable_may_take_is_nobody_elses(tmp_path: Path, match: str, seen: tuple[str, ...]) -> None:
    """Whether the Gateway was seen makes no difference to which of two routes takes a request."""
    one = route(
        "one", more=f"hostnames: [a.test], rules: [{{matches: [{match}], backendRefs: [{{name: app, port: 80}}]}}]"
    )
    rest = route("rest", more="hostnames: [a.test], rules: [{backendRefs: [{name: other, port: 80}]}]")
    (tmp_path / "world.yaml").write_text(
        "---\n".join((*seen, service("app"), service("other"), one, rest)), encoding="utf-8"
    )
    (simulation,) = open_workspace([str(tmp_path / "world.yaml")]).simulations
    asked = request({"host": "a.test", "path": "/shop", "headers": {"x-a": "b"} if "headers" in match else {}})
    found = Tracer(simulation).trace(asked)
    assert found.outcome.unknown
    assert "variable" in found.outcome.reason
