"""Clients of a mesh that do not show a Service who they are: `reach` tells them apart; an account is its workloads."""

from __future__ import annotations

import pytest

from policylint.policy.authorizing import PRINCIPAL
from policylint.reach import WayIn, end_in_words, ways_in
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


REFUSING = SIDECAR.replace("egress:", "outboundTrafficPolicy: {mode: REGISTRY_ONLY}, egress:")
OF_MESH = RULE.replace("DISABLE", "ISTIO_MUTUAL")
OPEN = [*WORLD[:-1], manifest("security.istio.io/v1", "AuthorizationPolicy", "all", "bank", "spec: {rules: [{}]}")]
KEPT_IN = {
    "by a Sidecar": (OPEN, REFUSING),
    "by a Sidecar, before who is asked": (WORLD, REFUSING),
    "by a DestinationRule that pods cannot meet": (
        [*OPEN[1:], labelled("bank", "{istio-injection: disabled}")],
        OF_MESH,
    ),
}


@pytest.mark.parametrize(("world", "keeps"), KEPT_IN.values(), ids=KEPT_IN)
@pytest.mark.parametrize("named", ["ServiceAccount/front/", "Deployment/front/"])
def test_what_its_own_proxy_lets_out_is_asked_of_an_account_as_of_its_workload(
    world: list[str], keeps: str, named: str
) -> None:
    """Once the proxies were asked of a workload that was called by its name alone."""
    ends = {name: ended(*world, keeps, client=f"{named}{name}") for name in WAYS}
    assert (ends["web"], ends["job"] in ("refused", "503")) == ("bank/ledger", True)
    assert disagreements(simulated(*world, keeps), 50, mixed=True)[1] == []


def test_of_two_workloads_of_an_account_one_may_be_kept_in() -> None:
    world = simulated(*OPEN, workload("second", "front", "job"), REFUSING)
    asked = Request("http", "GET", "ledger.bank", "/", port=80, client="ServiceAccount/front/job")
    trace = Tracer(world).trace(asked._replace(service="Service/bank/ledger"))
    assert [each.decision.answer for each in trace.admissions][:1] == ["depends"]
    assert disagreements(world, 50, mixed=True)[1] == []


OF_FRONT = manifest(NETWORKING, "Sidecar", "all", "front", "spec: {egress: [{hosts: ['./*']}]}")
SHOWN = "annotations: {networking.istio.io/exportTo: .}, name: ledger,"
PASSED_BY = "annotations: {traffic.sidecar.istio.io/excludeOutboundPorts: '80'}, labels: {app: job}"
STRICT = manifest("security.istio.io/v1", "PeerAuthentication", "strict", "bank", "spec: {mtls: {mode: STRICT}}")
VIRTUAL = manifest(
    NETWORKING, "VirtualService", "ledger", "front", f"spec: {{hosts: [{HOST.partition(' ')[2]}], exportTo: [.]}}"
)
OF_ALL = RULE.replace(OF_JOB.replace("labels", "matchLabels"), "exportTo: [.]")
APART = {
    "a Sidecar of a namespace": [*WORLD, OF_FRONT],
    "a DestinationRule of a namespace": [*WORLD, OF_ALL],
    "a DestinationRule beside the Service, for some": [*WORLD, RULE.replace("front", "bank")],
    "a Service that other namespaces do not see": [
        *(each.replace("name: ledger,", SHOWN) if "kind: Service\n" in each else each for each in WORLD),
        STRICT,
    ],
    "a proxy that the port passes by": [each.replace("labels: {app: job}", PASSED_BY) for each in WORLD],
    "a VirtualService that one namespace sees": [*WORLD, VIRTUAL],
}


@pytest.mark.parametrize("world", APART.values(), ids=APART)
def test_clients_of_whom_no_workload_was_seen_are_told_apart_by_their_namespace(world: list[str]) -> None:
    """What is set for a namespace, or is hidden from it, is so for all accounts there, whatever their workloads."""
    simulation = simulated(*world)
    for seed in range(3):
        assert disagreements(simulation, 100, seed, mixed=True)[1] == []
    tracer = Tracer(simulation)
    ways = [way for entry in entries_inside(tracer) if entry.gateway.name == "ledger" for way in ways_in(tracer, entry)]
    asked = Request("http", "GET", "ledger.bank", "/", port=80, service="Service/bank/ledger")
    for account in ("front/web", "front/job", "front/unseen", "bank/unseen", "elsewhere/unseen"):
        trace = tracer.trace(asked._replace(client=f"ServiceAccount/{account}"))
        met = [way for way in ways if _holds(way, account)]
        assert [end_in_words(way.trace).partition(":")[0] for way in met] == [end_in_words(trace).partition(":")[0]]


def _holds(way: WayIn, account: str) -> bool:
    number = next(number for number, dimension in enumerate(way.dimensions) if dimension.name == PRINCIPAL)
    dimension = way.dimensions[number]
    said = {predicate for predicate in dimension.masks if predicate.takes(account)}
    bits = sum(
        1 << atom
        for atom, witness in enumerate(dimension.witnesses)
        if witness and {predicate for predicate in dimension.masks if predicate.takes(witness)} == said
    )
    return any(box[number] & bits for box in way.boxes)
