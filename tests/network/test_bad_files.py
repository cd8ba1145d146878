"""What people write wrong in a file: one finding with its line, and right answers for the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.network.state import Network

PODS = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {containers: [{name: main, image: a, ports: [{name: http, containerPort: 80}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: shop, labels: {app: client}}
spec: {containers: [{name: main, image: a}]}
---
apiVersion: v1
kind: Pod
metadata: {name: sound, namespace: shop, labels: {app: sound}}
spec: {containers: [{name: main, image: a}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: sound, namespace: shop}
spec: {podSelector: {matchLabels: {app: sound}}}
---
"""
LINE = PODS.count("\n") + 5
"""The line of the odd part."""


def policy(ingress: str, selector: str = "{matchLabels: {app: web}}") -> str:
    head = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: odd, namespace: shop}\n"
    return f"{PODS}{head}spec: {{podSelector: {selector}, ingress: [\n  {ingress}]}}\n"


def opened(folder: Path, text: str) -> tuple[Network, list[tuple[str, int]]]:
    """The network of a file, and the findings about how the odd policy is written."""
    file = folder / "odd.yaml"
    file.write_text(text, encoding="utf-8")
    (simulation,) = policylint.open(file, no_config=True).simulations
    findings = policylint.lint(file, no_config=True).findings
    return simulation.network, [
        (finding.rule, finding.location.at()[0]) for finding in findings if finding.rule.startswith(("GWP5", "GWP9"))
    ]


def verdict(read: Network, target: str, port: int) -> str:
    ends = read.numbers["Pod shop/client"], read.numbers[f"Pod shop/{target}"]
    return read.ask(*ends, read.universe.ports.at("TCP", port)).verdict


@pytest.mark.parametrize("port", ["0", "65536", "-1", '"80"', "80.5", "true", "1e9", "'a--b'", "0o200001", "[80]"])
def test_a_port_that_the_api_server_refuses(tmp_path: Path, port: str) -> None:
    read, findings = opened(tmp_path, policy(f"{{ports: [{{port: {port}}}]}}"))
    assert findings == [("GWP501", LINE)]
    assert verdict(read, "web", 80) == "allowed", "it decides nothing"
    assert verdict(read, "sound", 80) == "denied", "the others do"


@pytest.mark.parametrize(("port", "number"), [("80.0", 80), ("0o17", 15), ("017", 15), ("0x50", 80), ("8e1", 80)])
def test_numbers_are_those_that_the_api_server_gets(tmp_path: Path, port: str, number: int) -> None:
    read, findings = opened(tmp_path, policy(f"{{ports: [{{port: {port}}}]}}"))
    assert findings == []
    assert verdict(read, "web", number) == "allowed"
    assert verdict(read, "web", number + 1) == "denied"


@pytest.mark.parametrize(
    "block",
    [
        "{cidr: fe80::1%eth0/64}",
        "{cidr: 10.0.0.0}",
        "{cidr: 10.0.0.0/33}",
        "{cidr: 010.0.0.0/8}",
        "{cidr: 7}",
        "{}",
        "[]",
        "{cidr: 10.0.0.0/8, except: [10.0.0.0/8]}",
        "{cidr: 10.0.0.0/8, except: ['2001:db8::/32']}",
        "{cidr: 10.0.0.0/8, except: 10.1.0.0/16}",
    ],
)
def test_a_block_that_the_api_server_refuses(tmp_path: Path, block: str) -> None:
    read, findings = opened(tmp_path, policy(f"{{from: [{{ipBlock: {block}}}]}}"))
    assert findings == [("GWP501", LINE)]
    assert (verdict(read, "web", 80), verdict(read, "sound", 80)) == ("allowed", "denied")


@pytest.mark.parametrize(
    ("blocks", "ranges"),
    [
        (["0.0.0.0/0", "0.0.0.0/0"], ["0.0.0.0-255.255.255.255"]),
        (["8.8.8.8/8"], ["8.0.0.0-8.255.255.255"]),
        (["2001:db8::/32"], ["2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"]),
        (
            ["::/0", "0.0.0.0/0"],
            ["0.0.0.0-255.255.255.255", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
        ),
        (["8.0.0.0/9", "8.128.0.0/9"], ["8.0.0.0-8.255.255.255"]),
    ],
)
def test_blocks_that_it_takes(tmp_path: Path, blocks: list[str], ranges: list[str]) -> None:
    peers = ", ".join(f"{{ipBlock: {{cidr: '{block}'}}}}" for block in blocks)
    read, findings = opened(tmp_path, policy(f"{{from: [{peers}]}}"))
    assert findings == []
    (column,) = read.row(read.numbers["Pod shop/web"], "ingress")
    from policylint.network.selecting import numbers_of

    assert read.universe.addresses.words(numbers_of(column.allowed & read.universe.addresses.all)) == ranges


@pytest.mark.parametrize(
    "selector",
    [
        "[]",
        "7",
        "{matchLabels: []}",
        "{matchLabels: {app: 7}}",
        "{matchLabels: {app: null}}",
        "{matchLabels: {app: [web]}}",
        "{matchExpressions: {key: app}}",
        "{matchExpressions: [null]}",
        "{matchExpressions: [{key: app, operator: Gt, values: ['1']}]}",
        "{matchExpressions: [{key: app, operator: In, values: [7]}]}",
        "{matchExpressions: [{key: app, operator: In, values: null}]}",
        "{matchExpressions: [{key: app, operator: Exists, values: [a]}]}",
        "{matchExpressions: [{operator: Exists}]}",
    ],
)
def test_a_selector_that_the_api_server_refuses(tmp_path: Path, selector: str) -> None:
    read, findings = opened(tmp_path, policy("{}", selector))
    assert findings == [("GWP501", LINE - 1)]
    assert (verdict(read, "web", 80), verdict(read, "sound", 80)) == ("allowed", "denied")
    read, findings = opened(tmp_path, policy(f"{{from: [{{podSelector: {selector}}}]}}"))
    assert findings == [("GWP501", LINE)]
    assert verdict(read, "web", 80) == "allowed"


def test_lists_of_ten_thousand(tmp_path: Path) -> None:
    values = ", ".join(f"a{number}" for number in range(10_000))
    read, findings = opened(
        tmp_path, policy("{}", f"{{matchExpressions: [{{key: app, operator: NotIn, values: [{values}]}}]}}")
    )
    assert findings == []
    excepted = ", ".join(f"8.{number // 250}.{number % 250}.0/24" for number in range(5_000))
    read, findings = opened(tmp_path, policy(f"{{from: [{{ipBlock: {{cidr: 8.0.0.0/8, except: [{excepted}]}}}}]}}"))
    assert findings == []
    assert verdict(read, "web", 80) == "denied", "addresses of pods are not public"


@pytest.mark.parametrize("text", ["", "spec:\n", "spec: {}\n"])
def test_a_policy_without_spec_isolates_all_pods_of_its_namespace(tmp_path: Path, text: str) -> None:
    head = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: odd, namespace: shop}\n"
    read, _ = opened(tmp_path, PODS + head + text)
    assert verdict(read, "web", 80) == "denied"


def test_of_two_baselines_one_counts(tmp_path: Path) -> None:
    head = "apiVersion: policy.networking.k8s.io/v1alpha1\nkind: BaselineAdminNetworkPolicy\n"
    deny = "spec:\n  subject: {namespaces: {}}\n  ingress: [{action: Deny, from: [{namespaces: {}}]}]\n"
    text = "---\n".join([f"{head}metadata: {{name: {name}}}\n{deny}" for name in ("default", "other")])
    read, findings = opened(tmp_path, PODS + text)
    assert findings == [("GWP501", PODS.count("\n") + 8)]
    assert verdict(read, "web", 80) == "denied"
    read, _ = opened(tmp_path, PODS + text.partition("---\n")[2])
    assert verdict(read, "web", 80) == "allowed", "it is not called `default`"
    read, findings = opened(tmp_path, PODS + text.replace("name: other", "name: default"))
    assert [rule for rule, _ in findings] == ["GWP503"]
    assert verdict(read, "web", 80) == "denied"
