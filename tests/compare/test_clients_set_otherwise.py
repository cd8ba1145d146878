"""What is set for clients of a mesh decides which Services they get to: a change of it is compared at all of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.test_compare import sides
from tests.compare.test_requests import requests
from tests.reach.test_hidden_clients import HIDDEN, OF_ALL, OF_FRONT, OPEN, PASSED_BY, REFUSING, STRICT, WORLD
from tests.worlds import labelled, manifest

AMBIENT = "{istio.io/dataplane-mode: ambient}"
OF_WAYPOINT = "{istio.io/dataplane-mode: ambient, istio.io/use-waypoint: way}"
WAYPOINT = manifest(
    *("gateway.networking.k8s.io/v1", "Gateway", "way", "bank"),
    "spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}",
)
AT_WAYPOINT = manifest(
    *("security.istio.io/v1", "AuthorizationPolicy", "at-way", "bank"),
    "spec: {targetRefs: [{kind: Gateway, group: gateway.networking.k8s.io, name: way}], rules: []}",
)
BY_WAYPOINT = (labelled("bank", OF_WAYPOINT), *WORLD[2:-1], WAYPOINT, AT_WAYPOINT)
SENT = "policyTypes: [Egress], egress: []"
NETWORKS = {
    "of its pods": manifest(
        *("networking.k8s.io/v1", "NetworkPolicy", "job", "front"),
        f"spec: {{podSelector: {{matchLabels: {{app: job}}}}, {SENT}}}",
    ),
    "of its namespace": manifest(
        *("cilium.io/v2", "CiliumNetworkPolicy", "job", "front"),
        "spec: {endpointSelector: {matchLabels: {app: job}}, egressDeny: [{toEntities: [all]}]}",
    ),
    "of the cluster": manifest(
        *("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", "job"),
        "",
        "spec: {priority: 1, subject: {pods: {namespaceSelector: {}, podSelector: {matchLabels: {app: job}}}}, "
        "egress: [{name: none, action: Deny, to: [{namespaces: {}}]}]}",
    ),
}
CHANGES = {
    "a namespace leaves the waypoint": (
        (*BY_WAYPOINT, labelled("front", AMBIENT)),
        (*BY_WAYPOINT, labelled("front")),
        True,
    ),
    "a namespace comes to the waypoint": (
        (*BY_WAYPOINT, labelled("front")),
        (*BY_WAYPOINT, labelled("front", AMBIENT)),
        False,
    ),
    **{f"what hides one goes: {name}": ((*WORLD, each), WORLD, True) for name, each in HIDDEN.items()},
    **{f"what hides one comes: {name}": (WORLD, (*WORLD, each), False) for name, each in HIDDEN.items()},
    **{f"a network goes: {name}": ((*OPEN, each), OPEN, True) for name, each in NETWORKS.items()},
    **{f"a network comes: {name}": (OPEN, (*OPEN, each), False) for name, each in NETWORKS.items()},
    "what hides all goes: a Sidecar": ((*WORLD, OF_FRONT), WORLD, True),
    "what hides all goes: a DestinationRule": ((*WORLD, OF_ALL), WORLD, True),
    "its own Sidecar lets it out": ((*OPEN, REFUSING), OPEN, True),
    "its own proxy takes the port": (
        tuple(each.replace("labels: {app: job}", PASSED_BY) for each in (*WORLD, STRICT)),
        (*WORLD, STRICT),
        True,
    ),
}


@pytest.mark.parametrize(("before", "after", "opens"), CHANGES.values(), ids=CHANGES)
def test_the_services_are_compared_that_its_clients_call(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], opens: bool
) -> None:
    found = requests(sides(tmp_path, before, after))
    told = {
        (each.change, sets.words)
        for each in found.changes
        for sets in each.requests
        if sets.gateway.kind == "Service" and each.change in ("opened", "closed")
    }
    assert {change for change, _ in told} == {"opened" if opens else "closed"}
    assert all("front/" in words for _, words in told)


JOB = next(each for each in OPEN if "name: job" in each)


@pytest.mark.parametrize("comes", [False, True])
@pytest.mark.parametrize("kept", [*HIDDEN.values(), REFUSING, *NETWORKS.values()])
def test_a_client_that_comes_or_goes_is_neither_let_in_nor_kept_out(tmp_path: Path, kept: str, comes: bool) -> None:
    world = (*OPEN, kept)
    without = tuple(each for each in world if each != JOB)
    before, after = (without, world) if comes else (world, without)
    found = requests(sides(tmp_path, before, after))
    assert [each for each in found.changes for sets in each.requests if sets.gateway.kind == "Service"] == []


def test_a_new_client_that_a_policy_names_is_let_in(tmp_path: Path) -> None:
    named = WORLD[-1].replace("cluster.local/ns/front/sa/job", "cluster.local/ns/front/sa/new")
    new = tuple(each.replace("job", "new") for each in [JOB])
    found = requests(sides(tmp_path, (*WORLD[:-1], named.replace("sa/new", "sa/other")), (*WORLD[:-1], named, *new)))
    opened = [sets.words for each in found.changes if each.change == "opened" for sets in each.requests]
    assert opened == ["from front/new"]
