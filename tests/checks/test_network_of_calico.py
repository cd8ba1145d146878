"""GWP611 and GWP618: when a policy of Calico closes the pods of all namespaces, and what refusals alone close."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint, only, rules

GROUPS = ("crd.projectcalico.org/v1", "projectcalico.org/v3")
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web:1}]}}
"""


def calico(version: str, kind: str, spec: str) -> str:
    home = ", namespace: shop" * (kind == "NetworkPolicy")
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: closed{home}}}\nspec: {{{spec}}}\n"


@pytest.mark.parametrize("version", GROUPS)
@pytest.mark.parametrize("selection", ["", "selector: all(), "])
def test_a_global_policy_of_all_pods_closes_all_namespaces(version: str, selection: str, tmp_path: Path) -> None:
    said = only(lint(tmp_path, WEB, calico(version, "GlobalNetworkPolicy", f"{selection}types: [Ingress]")), "GWP611")
    assert said.message == (
        "GlobalNetworkPolicy closed closes the pods of all namespaces for ingress: DNS and the system, too"
    )


@pytest.mark.parametrize("version", GROUPS)
@pytest.mark.parametrize("selection", ["", "selector: all(), "])
@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_a_policy_in_a_namespace_is_for_its_pods(version: str, selection: str, direction: str, tmp_path: Path) -> None:
    closing = calico(version, "NetworkPolicy", f"{selection}types: [{direction}]")
    assert "GWP611" not in rules(lint(tmp_path, WEB, closing))


@pytest.mark.parametrize("version", GROUPS)
def test_who_leaves_namespaces_out_is_left_alone(version: str, tmp_path: Path) -> None:
    spec = "namespaceSelector: has(team), types: [Ingress]"
    assert "GWP611" not in rules(lint(tmp_path, WEB, calico(version, "GlobalNetworkPolicy", spec)))


DENY = "{action: Deny, protocol: TCP, destination: {nets: [192.0.2.0/24], ports: [5432]}}"
FROM = "{action: Deny, source: {selector: app == 'job'}}"
JOB = WEB.replace("web", "job")


def refusing(rules: str, way: str = "egress", more: str = "", kind: str = "NetworkPolicy") -> str:
    spec = f"selector: app == 'web', types: [{way.capitalize()}], {way}: [{rules}]{more}"
    return calico("projectcalico.org/v3", kind, spec)


def tier(name: str, action: str = "") -> str:
    spec = f"spec: {{order: 10{action and f', defaultAction: {action}'}}}"
    return f"apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata: {{name: {name}}}\n{spec}\n"


OPEN = refusing("{action: Allow}").replace("closed", "open")


@pytest.mark.parametrize(
    ("manifests", "way"),
    [
        ([refusing(DENY)], "egress"),
        ([refusing(DENY, kind="GlobalNetworkPolicy")], "egress"),
        ([refusing(FROM, "ingress")], "ingress"),
        ([refusing(f"{{action: Log}}, {DENY}")], "egress"),
        ([refusing(DENY, more=", tier: guard"), tier("guard")], "egress"),
        # what a tier after it allows is not asked any more
        ([refusing(DENY, more=", tier: guard"), tier("guard"), OPEN], "egress"),
        # a rule that looks at the pods themselves is a part of its own
        ([refusing("{action: Deny, source: {selector: app == 'web'}, destination: {nets: [192.0.2.0/24]}}")], "egress"),
    ],
)  # fmt: skip
def test_refusals_alone_close_pods(tmp_path: Path, manifests: list[str], way: str) -> None:
    """projectcalico/calico#4352."""
    said = only(lint(tmp_path, WEB, JOB, *manifests), "GWP618")
    assert said.message.endswith(f"denies some {way}, which closes all other {way} of Deployment shop/web")
    assert "`action: Allow`" in said.help[0]


@pytest.mark.parametrize(
    "manifests",
    [
        [refusing(f"{DENY}, {{action: Allow}}")],
        [refusing(f"{DENY}, {{action: Pass}}")],
        [refusing("{action: Deny}")],
        [refusing("{action: Deny, destination: {nets: [0.0.0.0/0]}}")],
        [refusing("")],
        [refusing(DENY), refusing("{action: Allow, destination: {selector: app == 'job'}}").replace("closed", "open")],
        [refusing(DENY), refusing("").replace("closed", "shut")],
        [refusing(DENY, more=", tier: guard"), tier("guard", "Pass")],
        [refusing(DENY).replace("app == 'web'", "app == 'nobody'")],
        [refusing(DENY).replace("app == 'web'", "all()").replace("NetworkPolicy", "GlobalNetworkPolicy")],  # GWP611
    ],
)
def test_who_opens_or_closes_on_purpose_is_left_alone(tmp_path: Path, manifests: list[str]) -> None:
    assert "GWP618" not in rules(lint(tmp_path, WEB, JOB, *manifests))
