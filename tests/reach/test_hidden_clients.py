"""Clients of a mesh that do not show a Service who they are: `reach` tells them apart; an account is its workloads."""

from __future__ import annotations

import pytest

from policylint.reach import end_in_words, ways_in
from policylint.reach.inside import entries_inside
from policylint.trace import Request, Tracer
from tests.reach.test_agreement import disagreements
from tests.worlds import labelled, manifest, simulated

NETWORKING = "networking.istio.io/v1"
INJECTED = "{istio-injection: enabled}"


def workload(name: str, namespace: str, account: str = "") -> str:
    metadata = f"{{labels: {{app: {name}}}}}"
    spec = f"{{serviceAccountName: {account or name}, containers: [{{name: c, ports: [{{containerPort: 8080}}]}}]}}"
    selected = f"selector: {{matchLabels: {{app: {name}}}}}"
    body = f"spec: {{{selected}, template: {{metadata: {metadata}, spec: {spec}}}}}"
    return manifest("apps/v1", "Deployment", name, namespace, body)


ALLOWED = ", ".join(f"cluster.local/ns/front/sa/{name}" for name in ("web", "job"))
WORLD = (
    labelled("bank", INJECTED),
    labelled("front", INJECTED),
    workload("ledger", "bank"),
    workload("web", "front"),
    workload("job", "front"),
    manifest(
        "v1",
        "Service",
        "ledger",
        "bank",
        "spec: {selector: {app: ledger}, ports: [{name: http, port: 80, targetPort: 8080}]}",
    ),
    manifest(
        *("security.istio.io/v1", "AuthorizationPolicy", "only", "bank"),
        f"spec: {{action: ALLOW, rules: [{{from: [{{source: {{principals: [{ALLOWED}]}}}}]}}]}}",
    ),
)
OF_JOB = "workloadSelector: {labels: {app: job}}"
SIDECAR = manifest(NETWORKING, "Sidecar", "job", "front", f"spec: {{{OF_JOB}, egress: [{{hosts: ['./*']}}]}}")
HOST, PLAIN = "host: ledger.bank.svc.cluster.local", "trafficPolicy: {tls: {mode: DISABLE}}"
RULE = manifest(
    NETWORKING,
    "DestinationRule",
    "job",
    "front",
    f"spec: {{{HOST}, {OF_JOB.replace('labels', 'matchLabels')}, {PLAIN}}}",
)
OF_PORT = "trafficPolicy: {portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]}"
BY_PORT = RULE.replace(PLAIN, OF_PORT)
HIDDEN = {"a Sidecar": SIDECAR, "a DestinationRule": RULE, "of one port": BY_PORT}
WAYS = {"web": "bank/ledger", "job": "403"}


def ended(*texts: str, client: str) -> str:
    trace = Tracer(simulated(*texts)).trace(
        Request("http", "GET", "ledger.bank", "/", port=80, client=client, service="Service/bank/ledger")
    )
    return end_in_words(trace).partition(":")[0]


@pytest.mark.parametrize("hides", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("named", ["ServiceAccount/front/", "Deployment/front/"])
def test_a_client_is_the_same_by_its_account_and_by_its_workload(hides: str, named: str) -> None:
    """istio.io, Sidecar and DestinationRule: one with a selector is for the pods that it selects, and for no others."""
    assert {name: ended(*WORLD, hides, client=f"{named}{name}") for name in WAYS} == WAYS


@pytest.mark.parametrize("hides", HIDDEN.values(), ids=HIDDEN)
def test_ways_in_tell_such_clients_apart(hides: str) -> None:
    tracer = Tracer(simulated(*WORLD, hides))
    ways = [way for entry in entries_inside(tracer) if entry.gateway.name == "ledger" for way in ways_in(tracer, entry)]
    assert sorted(end_in_words(way.trace).partition(":")[0] for way in ways) == ["403", "bank/ledger"]
    assert [way.doubt for way in ways] == ["", ""]
    assert disagreements(simulated(*WORLD, hides), 50, mixed=True)[1] == []


def test_an_account_of_two_workloads_is_not_known_where_they_differ() -> None:
    second = workload("second", "front", "job")
    trace = Tracer(simulated(*WORLD, second, SIDECAR)).trace(
        Request(
            "http", "GET", "ledger.bank", "/", port=80, client="ServiceAccount/front/job", service="Service/bank/ledger"
        )
    )
    assert [each.decision.answer for each in trace.admissions] == ["depends"]
    assert disagreements(simulated(*WORLD, second, SIDECAR), 50, mixed=True)[1] == []


def test_without_such_objects_all_of_a_namespace_are_told_apart_by_policies_alone() -> None:
    everybody = manifest(NETWORKING, "Sidecar", "all", "front", "spec: {egress: [{hosts: ['./*']}]}")
    assert {name: ended(*WORLD, client=f"ServiceAccount/front/{name}") for name in WAYS} == dict.fromkeys(
        WAYS, "bank/ledger"
    )
    hidden = {name: ended(*WORLD, everybody, client=f"ServiceAccount/front/{name}") for name in WAYS}
    assert hidden == dict.fromkeys(WAYS, "403")
    assert disagreements(simulated(*WORLD, everybody), 50, mixed=True)[1] == []
