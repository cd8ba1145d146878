"""What the configuration and Cilium's chart say beside policies: addresses, plugins, enforcement, data planes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import policylint
from policylint.cli import main
from policylint.network.facts import facts_of
from policylint.network.kinds import has_policies
from policylint.network.state import Network
from tests.graph.worlds import FIXTURES
from tests.network.worlds import hops_of, manifest, world

PODS = [
    manifest("v1", "Pod", name, "shop", labels={"app": name}, spec={"containers": [], "hostNetwork": name == "host"})
    for name in ("web", "client", "host")
]
CHART = {"chart": {"spec": {"chart": "cilium", "sourceRef": {"kind": "HelmRepository", "name": "cilium"}}}}


def allowing(cidr: str, *excepted: str) -> dict[str, Any]:
    peer = {"ipBlock": {"cidr": cidr, "except": list(excepted)}}
    spec = {"podSelector": {"matchLabels": {"app": "web"}}, "ingress": [{"from": [peer]}]}
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "web", "shop", spec=spec)


def release(**values: Any) -> dict[str, Any]:
    spec = {**CHART, "values": values}
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "cilium", "kube-system", spec=spec)


def network(stated: dict[str, Any], *manifests: dict[str, Any]) -> Network:
    known = world([*PODS, *manifests])
    known.network = stated
    return hops_of(known).network


def verdicts(read: Network) -> tuple[str, ...]:
    """Of a pod, a pod on its node's network, and the API server, to the pod `web`."""
    ports = read.universe.ports.at("TCP", 80)
    target = read.numbers["Pod shop/web"]
    sources = [read.numbers["Pod shop/client"], read.numbers["Pod shop/host"], len(read.universe.endpoints) - 1]
    return tuple(read.ask(source, target, ports).verdict for source in sources)


RANGES = {"pods": ["10.42.0.0/16"], "nodes": ["192.168.0.0/24"]}


@pytest.mark.parametrize(
    ("stated", "cidr", "want"),
    [
        ({}, "10.0.0.0/8", ("unknown", "unknown", "unknown")),
        ({}, "8.0.0.0/8", ("denied", "denied", "unknown")),
        (RANGES, "192.168.0.0/16", ("denied", "unknown", "unknown")),
        (RANGES, "10.0.0.0/8", ("unknown", "unknown", "denied")),
        (RANGES, "172.16.0.0/12", ("denied", "denied", "denied")),
        ({**RANGES, "plugin": "calico"}, "10.0.0.0/8", ("allowed", "unknown", "denied")),
        ({**RANGES, "plugin": "calico"}, "10.42.0.0/17", ("unknown", "unknown", "denied")),
        ({**RANGES, "plugin": "cilium"}, "0.0.0.0/0", ("denied", "denied", "denied")),
        ({"plugin": "cilium"}, "10.0.0.0/8", ("denied", "denied", "denied")),
    ],
)
def test_what_a_block_means(stated: dict[str, Any], cidr: str, want: tuple[str, ...]) -> None:
    assert verdicts(network(stated, allowing(cidr))) == want


def test_exceptions_of_a_block_that_holds_all_pods() -> None:
    stated = {**RANGES, "plugin": "calico"}
    assert verdicts(network(stated, allowing("10.0.0.0/8", "10.42.1.0/24")))[0] == "unknown"
    assert verdicts(network(stated, allowing("10.0.0.0/8", "10.99.0.0/16")))[0] == "allowed"


def test_the_chart_of_cilium_says_what_blocks_match() -> None:
    assert verdicts(network({}, allowing("10.0.0.0/8"), release())) == ("denied", "denied", "denied")
    to_nodes = release(policyCIDRMatchMode=["nodes"])
    assert verdicts(network({}, allowing("10.0.0.0/8"), to_nodes)) == ("denied", "denied", "unknown")


@pytest.mark.parametrize(
    ("stated", "more", "why"),
    [
        ({"enforcement": "audit"}, [], "only audits"),
        ({"enforcement": "never"}, [], "not to enforce"),
        (
            {},
            [release(policyAuditMode=True)],
            "only audits: what policies deny is logged, and gets through (HelmRelease",
        ),
        ({}, [release(policyEnforcementMode="never")], "not to enforce policies (HelmRelease kube-system/cilium)"),
        (
            {},
            [
                {
                    **manifest("v1", "ConfigMap", "cilium-config", "kube-system"),
                    "data": {"enable-policy": "default", "policy-audit-mode": "true"},
                }
            ],
            "only audits",
        ),
    ],
)
def test_policies_that_nothing_enforces_deny_nothing(stated: Any, more: Any, why: str) -> None:
    read = network(stated, allowing("8.0.0.0/8"), *more)
    assert why in read.universe.facts.idle
    assert set(verdicts(read)) == {"allowed"}
    (status,) = read.statuses.policies
    assert status.verdict == "NoEffect"


EVERYWHERE = {"policyEnforcementMode": "always"}
CONFIG_MAP = manifest("v1", "ConfigMap", "cilium-config", "kube-system")
OTHER = manifest(
    "networking.k8s.io/v1", "NetworkPolicy", "host", "away", spec={"podSelector": {"matchLabels": {"app": "nobody"}}}
)


@pytest.mark.parametrize(
    ("stated", "more", "want"),
    [
        ({}, release(**EVERYWHERE), "denied"),
        ({}, {**CONFIG_MAP, "data": {"enable-policy": "always"}}, "denied"),
        ({}, manifest("cilium.io/v1alpha1", "CiliumConfig", "cilium", "cilium", spec=EVERYWHERE), "denied"),
        ({}, {**CONFIG_MAP, "data": {"enable-policy": "default"}}, "allowed"),
        ({"enforcement": "default"}, release(**EVERYWHERE), "allowed"),
        ({"enforcement": "never"}, release(**EVERYWHERE), "allowed"),
    ],
)
def test_always_closes_pods_that_no_policy_selects(stated: dict[str, Any], more: dict[str, Any], want: str) -> None:
    read = network(stated, OTHER, more)
    assert verdicts(read)[0] == want
    assert [status.key.name for status in read.statuses.policies] == ["host"]


def test_always_is_told_without_any_policy() -> None:
    """What asks whether there are policies asks for the mode as well."""
    assert has_policies(world([*PODS, release(**EVERYWHERE)]))
    assert not has_policies(world([*PODS, release()]))


def test_always_is_not_certain_where_other_values_may_come_in() -> None:
    values_from = release(**EVERYWHERE)
    values_from["spec"]["valuesFrom"] = [{"kind": "Secret", "name": "values"}]
    other = {**CONFIG_MAP, "data": {"enable-policy": "default"}}
    assert verdicts(network({}, OTHER, values_from))[0] == "unknown"
    assert verdicts(network({}, OTHER, release(**EVERYWHERE), other))[0] == "unknown"


def test_always_leaves_what_both_ends_allow() -> None:
    opened = []
    for name, rule in (("web", {"ingress": [{}]}), ("client", {"egress": [{}]})):
        spec = {"podSelector": {"matchLabels": {"app": name}}, **rule}
        opened.append(manifest("networking.k8s.io/v1", "NetworkPolicy", name, "shop", spec=spec))
    assert verdicts(network({}, *opened, release(**EVERYWHERE)))[0] == "allowed"
    assert verdicts(network({}, opened[0], release(**EVERYWHERE)))[0] == "denied"


def test_enforcement_by_default_is_taken_for_granted() -> None:
    for values in ({}, {"policyAuditMode": False}, {"policyEnforcementMode": "default"}):
        assert not facts_of(world([release(**values)])).idle


def configured(folder: Path, network: str) -> Path:
    for file in (FIXTURES / "network-shop").glob("*.yaml"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / ".policylint.yaml").write_text(f"network:\n{network}", encoding="utf-8")
    return folder


def test_a_data_plane_of_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(configured(tmp_path, "  data-planes: [{gateway: infra/*, namespace: shop, ports: {80: 8000}}]\n"))
    (simulation,) = policylint.open(".").simulations
    (plane,) = next(iter(simulation.hops.planes.values()))
    assert (plane.endpoint.namespace, plane.container_port(80), plane.container_port(443)) == ("shop", 8000, 443)
    assert [finding.rule for finding in policylint.lint(".").findings] == ["GWP604"]


def test_an_audit_opens_everything_and_a_diff_says_so(tmp_path: Path) -> None:
    for side, audits in (("before", "false"), ("after", "true")):
        (tmp_path / side).mkdir()
        for file in (FIXTURES / "network-shop").glob("*.yaml"):
            (tmp_path / side / file.name).write_bytes(file.read_bytes())
        (tmp_path / side / "cilium.yaml").write_text(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
            "metadata: {name: cilium, namespace: kube-system}\n"
            "spec:\n  chart: {spec: {chart: cilium, sourceRef: {kind: HelmRepository, name: cilium}}}\n"
            f"  values: {{policyAuditMode: {audits}}}\n",
            encoding="utf-8",
        )
    sides = ["--rendered-before", str(tmp_path / "before"), "--rendered-after", str(tmp_path / "after")]
    said = CliRunner().invoke(main, ["diff", *sides])
    assert said.exit_code == 1
    assert "GWP620" in said.stdout
    asked = CliRunner().invoke(main, ["trace", "GET", "http://shop.example.com/", str(tmp_path / "after")])
    assert "allowed: Cilium only audits" in asked.stdout
    assert "reaches shop/checkout" in asked.stdout


def test_what_is_no_cidr_is_an_error_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(configured(tmp_path, "  nodes:\n    - 10.0.0.0/99\n"))
    said = CliRunner().invoke(main, ["lint"])
    assert said.exit_code == 2
    assert ".policylint.yaml:3:7: '10.0.0.0/99' is no CIDR" in said.stderr
