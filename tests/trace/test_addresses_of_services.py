"""Rules of network policies that open the address of a Service, and not the pods that its connections go on to."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Request, Tracer
from tests.worlds import manifest, simulated

ADDRESS = "10.40.0.13"
SAYING = {
    "clusterIP": f"clusterIP: {ADDRESS}",
    "clusterIPs": f"clusterIPs: ['fd00::1', {ADDRESS}]",
    "externalIPs": f"externalIPs: [{ADDRESS}]",
    "loadBalancerIP": f"type: LoadBalancer, loadBalancerIP: {ADDRESS}",
}
ANNOTATED = {
    name: f"{name}: '{value}'"
    for name, value in (
        ("metallb.io/loadBalancerIPs", ADDRESS),
        ("metallb.universe.tf/loadBalancerIPs", f"10.40.0.12, {ADDRESS}"),
        ("lbipam.cilium.io/ips", ADDRESS),
        ("io.cilium/lb-ipam-ips", f"fd00::1,{ADDRESS}"),
        ("kube-vip.io/loadbalancerIPs", ADDRESS),
    )
}


def pods(name: str, namespace: str) -> str:
    template = f"template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: {name}}}]}}}}"
    return manifest(
        "apps/v1", "Deployment", name, namespace, f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, {template}}}"
    )


def world(block: str, spec: str = "", annotation: str = "", status: str = "") -> tuple[str, ...]:
    rule = f"egress: [{{to: [{{ipBlock: {{{block}}}}}], ports: [{{port: 443}}]}}]"
    ports = "ports: [{port: 443, targetPort: 8443}]"
    return (
        pods("client", "test"),
        pods("web", "shop"),
        manifest(
            "v1",
            "Service",
            "web",
            "shop",
            f"spec: {{selector: {{app: web}}, {ports}{', ' if spec else ''}{spec}}}{status}",
            more=annotation and f"annotations: {{{annotation}}}",
        ),
        manifest(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "lan",
            "test",
            f"spec: {{podSelector: {{}}, policyTypes: [Egress], {rule}}}",
        ),
    )


def notes(*objects: str) -> list[str]:
    request = Request("tcp", host="web.shop", port=443, client="Deployment/test/client", service="Service/shop/web")
    trace = Tracer(simulated(*objects)).trace(request)
    assert trace.is_cut_off
    return [note for note in trace.notes if "an address of" in note]


SAID = f"NetworkPolicy test/lan opens {ADDRESS}, an address of Service shop/web: policies see its pods in its place"


@pytest.mark.parametrize("spec", SAYING.values(), ids=SAYING)
@pytest.mark.parametrize("block", ["cidr: 10.40.0.0/16", f"cidr: {ADDRESS}/32"])
def test_a_denial_says_what_the_rule_meant(block: str, spec: str) -> None:
    assert notes(*world(block, spec)) == [SAID]


@pytest.mark.parametrize("annotation", ANNOTATED.values(), ids=ANNOTATED)
def test_addresses_of_load_balancers_are_annotations(annotation: str) -> None:
    objects = world(f"cidr: {ADDRESS}/32", "type: LoadBalancer", annotation)
    assert notes(*objects) == [SAID]
    assert [found.rule for found in run(simulated(*objects), select={"GWP622"})] == ["GWP622"]


def test_what_the_cluster_gave_it() -> None:
    status = f"\nstatus: {{loadBalancer: {{ingress: [{{ip: {ADDRESS}}}]}}}}"
    assert notes(*world("cidr: 10.40.0.0/16", "type: LoadBalancer", status=status)) == [SAID]


@pytest.mark.parametrize(
    ("block", "spec"),
    [
        ("cidr: 10.41.0.0/16", SAYING["loadBalancerIP"]),
        (f"cidr: 10.40.0.0/16, except: [{ADDRESS}/32]", SAYING["loadBalancerIP"]),
        ("cidr: 10.40.0.0/16", "type: LoadBalancer"),
        ("cidr: 10.40.0.0/16", "clusterIP: None"),
    ],
)
def test_a_rule_about_something_else(block: str, spec: str) -> None:
    assert notes(*world(block, spec)) == []
