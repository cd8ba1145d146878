"""What a VirtualService of the mesh may do with requests for a Service is not sworn: not with variables in it, and not
to the clients of the namespaces that alone see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.reach import entries_inside, ways_in
from policylint.simulation import Simulation
from policylint.trace import Request, Tracer
from tests.worlds import manifest, opened, service

ELSEWHERE = "http: [{route: [{destination: {host: other}}]}]"


def namespace(name: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{istio-injection: enabled}}}}\n"


def workload(name: str, home: str) -> str:
    labels = f"{{app: {name}}}"
    template = f"{{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: app, image: 'app:1'}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {labels}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", name, home, spec)


def meshed(folder: Path, body: str, home: str = "shop") -> Simulation:
    return opened(
        folder,
        namespace("shop"),
        namespace("away"),
        workload("near", "shop"),
        workload("far", "away"),
        workload("db", "shop"),
        service("db", "shop", "[{port: 80, name: http}]", more="selector: {app: db}"),
        service("other", "shop", "[{port: 80, name: http}]", more="selector: {app: other}"),
        manifest("networking.istio.io/v1", "VirtualService", "v", home, body),
    )


def is_open(tracer: Tracer, client: str) -> bool:
    asked = Request(service="Service/shop/db", client=client, host="db.shop", path="/x")
    outcome = tracer.trace(asked).outcome
    assert outcome.unknown or [key.name for key in outcome.backends] == ["db"]
    assert not outcome.unknown or "VirtualService" in outcome.reason
    return outcome.unknown


@pytest.mark.parametrize(
    ("body", "home", "near", "far"),
    [
        (f"spec: {{hosts: [db], {ELSEWHERE}}}", "shop", True, True),
        (f"spec: {{hosts: [db.shop], gateways: [mesh, edge], {ELSEWHERE}}}", "away", True, True),
        (f"spec: {{hosts: [db], gateways: [edge], {ELSEWHERE}}}", "shop", False, False),
        (f"spec: {{hosts: [db], {ELSEWHERE}}}", "away", False, False),
        (f"spec: {{hosts: '${{HOSTS}}', {ELSEWHERE}}}", "shop", True, True),
        (f"spec: {{hosts: ['${{HOST}}.shop.svc.cluster.local'], {ELSEWHERE}}}", "away", True, True),
        (f"spec: {{hosts: ['${{HOST}}.away.svc.cluster.local'], {ELSEWHERE}}}", "away", False, False),
        (f"spec: {{hosts: [db], gateways: '${{GATEWAYS}}', {ELSEWHERE}}}", "shop", True, True),
        (f"spec: {{hosts: [db], gateways: ['${{NAMESPACE}}/edge'], {ELSEWHERE}}}", "shop", False, False),
        ("spec: '${SPEC}'", "shop", True, True),
        (f"spec: {{hosts: [db], exportTo: ['.'], {ELSEWHERE}}}", "shop", True, False),
        (f"spec: {{hosts: [db.shop], exportTo: ['.'], {ELSEWHERE}}}", "away", False, True),
        (f"spec: {{hosts: [db], exportTo: [away], {ELSEWHERE}}}", "shop", False, True),
        (f"spec: {{hosts: [db], exportTo: ['~'], {ELSEWHERE}}}", "shop", False, False),
        (f"spec: {{hosts: [db], exportTo: ['${{READERS}}'], {ELSEWHERE}}}", "shop", True, True),
    ],
)
def test_whom_a_virtual_service_may_lead_elsewhere(tmp_path: Path, body: str, home: str, near: bool, far: bool) -> None:
    tracer = Tracer(meshed(tmp_path, body, home))
    assert (is_open(tracer, "Deployment/shop/near"), is_open(tracer, "Deployment/away/far")) == (near, far)
    ways = (way for entry in entries_inside(tracer) if entry.gateway.name == "db" for way in ways_in(tracer, entry))
    assert any(way.trace.outcome.unknown for way in ways) == (near or far)


def test_who_alone_sees_one_may_be_of_a_namespace_that_is_not_in_the_tree(tmp_path: Path) -> None:
    tracer = Tracer(meshed(tmp_path, f"spec: {{hosts: [db], exportTo: [nowhere], {ELSEWHERE}}}"))
    ways = [way for entry in entries_inside(tracer) if entry.gateway.name == "db" for way in ways_in(tracer, entry)]
    assert sorted(way.trace.outcome.unknown for way in ways) == [False, True]
