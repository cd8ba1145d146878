"""Calico's policies for endpoints of hosts: what Felix keeps open before them, and hosts that no rule finds.

Source: projectcalico/calico @ 87c15906f2, felix/config/config_params.go, felix/rules/endpoints.go and libcalico-go,
hostendpointprocessor.go; projectcalico/calico#7785 and #2956.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.worlds import manifest, simulated

API = "projectcalico.org/v3"


def host(more: str = "", role: str = "master") -> str:
    spec = f"spec: {{node: {role}, interfaceName: eth0{more}}}"
    return manifest(API, "HostEndpoint", role, "", spec, more=f"labels: {{role: {role}}}")


def policy(rules: str, more: str = "selector: role == 'master'", kind: str = "GlobalNetworkPolicy") -> str:
    return manifest(API, kind, "own", "shop" if kind == "NetworkPolicy" else "", f"spec: {{{more}, {rules}}}")


def felix(spec: str, name: str = "default") -> str:
    return manifest(API, "FelixConfiguration", name, "", f"spec: {{{spec}}}")


def told(*objects: str) -> list[Finding]:
    return [found for found in run(simulated(*objects)) if found.rule == "GWP526"]


def deny(ports: str, protocol: str = "TCP", way: str = "ingress") -> str:
    return f"{way}: [{{action: Deny, protocol: {protocol}, destination: {{ports: {ports}}}}}]"


@pytest.mark.parametrize(
    ("rules", "what"),
    [
        (deny("[6443, 2379, 8080]"), "does not deny TCP 6443 and TCP 2379"),
        (deny("[22]"), "does not deny TCP 22"),
        (deny("[68]", "UDP"), "does not deny UDP 68"),
        (deny("[53]", "UDP", "egress"), "does not deny UDP 53"),
        (deny("[22]", way="egress"), ""),  # not from hosts
        (deny("['1:65535']"), ""),  # everything, but for what is to stay open
        (deny("[8080]"), ""),
        (deny("[22]").replace("Deny", "Allow"), ""),
        ("ingress: [{action: Deny}]", ""),
    ],
)
def test_ports_that_stay_open(rules: str, what: str) -> None:
    found = told(host(", expectedIPs: [192.0.2.1]"), policy(rules))
    assert [each.message.partition(" own ")[2] for each in found] == ([what] if what else [])


@pytest.mark.parametrize(
    ("more", "is_told"),
    [
        ("selector: role == 'master'", True),
        ("selector: has(role), applyOnForward: true, preDNAT: true", True),
        ("selector: all()", True),
        ("selector: role == 'worker'", False),
        ("namespaceSelector: has(team)", False),
    ],
)
def test_it_is_said_of_what_is_for_hosts(more: str, is_told: bool) -> None:
    found = told(host(", expectedIPs: [192.0.2.1]"), policy(deny("[6443]"), more))
    assert bool(found) is is_told
    alone = told(policy(deny("[6443]"), more))  # without an endpoint of a host
    assert not any("deny" in each.message for each in alone)


@pytest.mark.parametrize(
    ("beside", "denied"),
    [
        (felix("failsafeInboundHostPorts: [{protocol: tcp, port: 22}]"), True),
        (felix("failsafeInboundHostPorts: []"), True),
        (felix("failsafeInboundHostPorts: [{protocol: tcp, port: 6443, net: 10.0.0.0/8}]"), True),
        (felix("failsafeInboundHostPorts: [{port: 6443}]"), False),
        (felix("failsafeOutboundHostPorts: []"), False),
        (felix("logSeverityScreen: Info"), False),
    ],
)
def test_what_felix_is_told_to_keep_open(beside: str, denied: bool) -> None:
    found = told(host(", expectedIPs: [192.0.2.1]"), policy(deny("[6443]")), beside)
    assert bool(found) is not denied


def test_what_its_environment_says_is_not_read() -> None:
    env = "env: [{name: FELIX_FAILSAFEINBOUNDHOSTPORTS, value: 'tcp:22'}]"
    node = manifest(
        "apps/v1",
        "DaemonSet",
        "calico-node",
        "kube-system",
        f"spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, "
        f"spec: {{containers: [{{name: calico-node, image: calico/node, {env}}}]}}}}}}",
    )
    assert not told(host(", expectedIPs: [192.0.2.1]"), policy(deny("[6443]")), node)


def taking(side: str, selector: str, way: str = "ingress") -> str:
    return f'{way}: [{{action: Allow, {side}: {{selector: "{selector}"}}}}]'


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        (taking("source", "role == 'master'"), "spec.ingress[0].source.selector"),
        (taking("destination", "role == 'master'", "egress"), "spec.egress[0].destination.selector"),
        (taking("destination", "role == 'master'"), ""),  # the host's own side: it is found by name
        (taking("source", "app == 'web'"), ""),
        (taking("source", "has(role)"), ""),  # another one has addresses
    ],
)
def test_a_host_without_addresses_is_nobody(rules: str, field: str) -> None:
    found = told(host(), host(", expectedIPs: [192.0.2.2]", "worker"), policy(rules, "selector: role == 'worker'"))
    assert [each.field for each in found] == ([field] if field else [])
    assert not told(host(", expectedIPs: [192.0.2.1]"), policy(rules, "selector: role == 'worker'"))


AUTOMATIC = "spec: {controllers: {node: {hostEndpoint: {autoCreate: %s}}}}"


@pytest.mark.parametrize(
    ("stated", "beside", "is_told"),
    [
        ("preDNAT: true, applyOnForward: true", "", True),
        ("doNotTrack: true, applyOnForward: true", "", True),
        ("preDNAT: true", host(role="other"), False),  # what it selects is another question
        ("preDNAT: true", manifest(API, "KubeControllersConfiguration", "default", "", AUTOMATIC % "Enabled"), False),
        ("preDNAT: true", manifest(API, "KubeControllersConfiguration", "default", "", AUTOMATIC % "Disabled"), True),
        ("applyOnForward: true", "", False),
        ("preDNAT: false", "", False),
    ],
)
def test_policies_for_hosts_without_hosts(stated: str, beside: str, is_told: bool) -> None:
    """preDNAT and doNotTrack are for endpoints of hosts alone (projectcalico/calico#3379)."""
    found = told(policy("ingress: [{action: Deny}]", stated), *filter(None, [beside]))
    assert [each.confidence for each in found] == ["assumed"] * is_told
