"""Two objects for one host, of which sidecars take one (istio/istio#12590, #22997).

Predicted from pilot/pkg/networking/core/httproute.go, dedupeDomains, and destination_rule.go, mergeDestinationRule.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.worlds import manifest, simulated

MESH = "networking.istio.io/v1"
WHOLE = "web.shop.svc.cluster.local"


def virtual(name: str, host: str, more: str = "", namespace: str = "shop", created: str = "", rules: str = "") -> str:
    rules = rules or f"http: [{{route: [{{destination: {{host: {name}.shop.svc.cluster.local}}}}]}}]"
    return manifest(MESH, "VirtualService", name, namespace, f"spec: {{hosts: ['{host}'], {rules}{more}}}", created)


def rule(name: str, policy: str, host: str = WHOLE, namespace: str = "shop", more: str = "") -> str:
    spec = f"spec: {{host: '{host}'{f', trafficPolicy: {policy}' if policy else ''}{more}}}"
    return manifest(MESH, "DestinationRule", name, namespace, spec)


def told(*manifests: str) -> list[Finding]:
    objects = [manifest("v1", "Service", each, "shop", "spec: {ports: [{port: 80}]}") for each in ("web", "a", "b")]
    return [each for each in run(simulated(*objects, *manifests), select={"GWP415"}) if ", too" in each.message]


@pytest.mark.parametrize(
    ("second", "is_told"),
    [
        (virtual("b", WHOLE), True),
        (virtual("b", "web"), True),  # its short name
        (virtual("b", "Web.shop.svc.cluster.local"), True),
        (virtual("b", WHOLE, ", gateways: [mesh, edge]"), True),
        (virtual("b", WHOLE, ", gateways: [edge]"), False),  # Gateways merge them
        (virtual("b", "web", namespace="other"), False),  # another Service
        (virtual("b", WHOLE, ", exportTo: ['.']", namespace="other"), True),  # to clients there
        (virtual("b", WHOLE, ", exportTo: [third]"), False),
        (virtual("b", WHOLE, rules="tcp: [{route: [{destination: {host: b}}]}]"), False),
        (virtual("b", "*.shop.svc.cluster.local"), False),  # the exact one comes first
        (virtual("b", "${HOST}"), False),
    ],
)
def test_sidecars_take_one_virtual_service_of_a_host(second: str, is_told: bool) -> None:
    found = told(virtual("a", WHOLE), second)
    assert [each.severity for each in found] == (["warning"] if is_told else [])


def test_the_oldest_counts_where_their_age_is_known() -> None:
    first, second = (
        virtual(name, WHOLE, created=f"2026-0{month}-01T00:00:00Z") for name, month in (("a", 2), ("b", 1))
    )
    (found,) = told(first, second)
    assert found.message.startswith("VirtualService shop/a asks for host")
    assert "the oldest;" in found.label
    (found,) = told(virtual("a", WHOLE), virtual("b", WHOLE))
    assert "whichever that is" in found.label


def test_what_is_shown_to_different_clients_is_not_contended() -> None:
    hidden = virtual("a", "web.example.com", ", exportTo: ['.']")
    assert not told(hidden, virtual("b", "web.example.com", ", exportTo: ['.']", namespace="other"))


@pytest.mark.parametrize(
    ("second", "is_told"),
    [
        (rule("b", "{tls: {mode: DISABLE}}"), True),
        (rule("b", "{tls: {mode: DISABLE}}", "web"), True),
        (rule("b", "{tls: {mode: ISTIO_MUTUAL}}"), False),  # they agree
        (rule("b", "", more=", subsets: [{name: v1, labels: {v: one}}]"), False),  # which are added up
        (rule("b", "{tls: {mode: DISABLE}}", namespace="other"), False),  # for clients there
        (rule("b", "{tls: {mode: DISABLE}}", more=", workloadSelector: {matchLabels: {a: b}}"), False),
        (rule("b", "{tls: {mode: DISABLE}}", "*.local"), False),
        (rule("b", "{tls: {mode: DISABLE}}", more=", exportTo: [third]"), False),
    ],
)
def test_the_policy_of_one_destination_rule_counts(second: str, is_told: bool) -> None:
    found = told(rule("a", "{tls: {mode: ISTIO_MUTUAL}}"), second)
    assert [each.field for each in found] == (["spec.trafficPolicy"] if is_told else [])
