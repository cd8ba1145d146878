"""GWP325 for network policies: who may come later, where no pods of the tree show it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.compare import compare, pair_sides
from policylint.compare.change import EnvironmentChange
from policylint.compare.pairing import Sides
from policylint.compare.peers import peers_widened
from policylint.model import Finding
from policylint.model.selectors import matches, within
from tests.worlds import opened

PODS = """
apiVersion: v1
kind: Namespace
metadata: {name: pay, labels: {team: pay}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, namespace: pay}
spec:
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: x, ports: [{containerPort: 80}]}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x, ports: [{containerPort: 80}]}]}}
"""


def policy(peer: str, ports: str = "[{port: 80}]", name: str = "db") -> str:
    return f"""
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}, namespace: pay}}
spec:
  podSelector: {{matchLabels: {{app: db}}}}
  policyTypes: [Ingress]
  ingress: [{{from: [{peer}], ports: {ports}}}]
"""


def admin(action: str, peer: str) -> str:
    return f"""
apiVersion: policy.networking.k8s.io/v1alpha1
kind: AdminNetworkPolicy
metadata: {{name: guard}}
spec:
  priority: 10
  subject: {{namespaces: {{matchLabels: {{team: pay}}}}}}
  ingress: [{{name: a, action: {action}, from: [{{namespaces: {peer}}}]}}]
"""


def compared(tmp_path: Path, before: list[str], after: list[str]) -> tuple[Sides, EnvironmentChange]:
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        simulations.append(opened(tmp_path / side, PODS, *manifests))
    (pair,) = pair_sides(simulations[:1], simulations[1:])
    (change,) = compare([pair])
    return pair, change


def found(tmp_path: Path, before: list[str], after: list[str]) -> list[Finding]:
    return list(peers_widened(*compared(tmp_path, before, after)))


WEB = "podSelector: {matchLabels: {app: web}}"
SHOP = f"{{namespaceSelector: {{matchLabels: {{team: shop}}}}, {WEB}}}"


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        (SHOP, f"{{namespaceSelector: {{}}, {WEB}}}", "warning"),
        (SHOP, f"{{namespaceSelector: {{matchExpressions: [{{key: team, operator: Exists}}]}}, {WEB}}}", "warning"),
        (
            SHOP,
            f"{{namespaceSelector: {{matchExpressions: [{{key: x, operator: NotIn, values: [z]}}]}}, {WEB}}}",
            "warning",
        ),
        (SHOP, f"{{namespaceSelector: {{matchExpressions: [{{key: x, operator: DoesNotExist}}]}}, {WEB}}}", "warning"),
        (SHOP, f"{{namespaceSelector: {{matchLabels: {{team: dev}}}}, {WEB}}}", "warning"),
        (SHOP, f"{SHOP}, {{podSelector: {{matchLabels: {{app: job}}}}}}", "warning"),
        (
            SHOP,
            f"{{namespaceSelector: {{matchExpressions: [{{key: team, operator: In, values: [shop]}}]}}, {WEB}}}",
            None,
        ),
        (SHOP, f"{{namespaceSelector: {{matchLabels: {{team: shop, tier: a}}}}, {WEB}}}", None),
        (
            SHOP,
            "{namespaceSelector: {matchLabels: {team: shop}}, podSelector: {matchLabels: {app: web, v: '2'}}}",
            None,
        ),
        (f"{{namespaceSelector: {{}}, {WEB}}}", SHOP, None),
        (SHOP, f"{SHOP}, {{namespaceSelector: {{matchLabels: {{team: '${{TEAM}}'}}}}}}", None),
    ],
)
def test_who_may_come_later(tmp_path: Path, before: str, after: str, severity: str | None) -> None:
    assert [each.severity for each in found(tmp_path, [policy(before)], [policy(after)])] == (
        [severity] if severity else []
    )


def test_what_connections_show_is_not_said_again(tmp_path: Path) -> None:
    job = PODS.rpartition("---")[2].replace("web", "job")
    assert found(tmp_path, [policy(SHOP), job], [policy("{namespaceSelector: {}}"), job]) == []


def test_a_port_more_for_pods_that_are_not_here(tmp_path: Path) -> None:
    job = "{podSelector: {matchLabels: {app: job}}}"
    assert [each.severity for each in found(tmp_path, [policy(job)], [policy(job, "[{port: 80}, {port: 81}]")])] == [
        "warning"
    ]
    assert found(tmp_path, [policy(job, "[{port: 80, endPort: 90}]")], [policy(job, "[{port: 81}]")]) == []


def test_a_new_policy_adds_to_those_that_close(tmp_path: Path) -> None:
    anywhere = policy(f"{{namespaceSelector: {{}}, {WEB}}}", name="more")
    assert [each.severity for each in found(tmp_path, [policy(SHOP)], [policy(SHOP), anywhere])] == ["warning"]
    assert found(tmp_path, [], [anywhere]) == []  # it closes what was open to all
    assert found(tmp_path, [policy(SHOP)], [policy(SHOP), policy(SHOP, name="more")]) == []


def test_a_denial_of_pods_that_are_not_here(tmp_path: Path) -> None:
    other, own = "{matchLabels: {team: dev}}", "{matchLabels: {team: dev, tier: x}}"
    (finding,) = found(tmp_path, [admin("Deny", other)], [admin("Deny", own)])
    assert finding.message.startswith("AdminNetworkPolicy guard denies fewer connections than before")
    assert found(tmp_path, [admin("Deny", own)], [admin("Deny", other)]) == []


NAMES, VALUES = st.sampled_from(["a", "b"]), st.sampled_from(["1", "2", "3"])
EXPRESSION = st.fixed_dictionaries(
    {"key": NAMES, "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"])},
    optional={"values": st.lists(VALUES, max_size=2)},
)
SELECTOR = st.fixed_dictionaries(
    {}, optional={"matchLabels": st.dictionaries(NAMES, VALUES), "matchExpressions": st.lists(EXPRESSION, max_size=3)}
)


@given(SELECTOR, SELECTOR, st.dictionaries(NAMES, VALUES | st.just("4")))
def test_what_lies_within_a_selector_satisfies_it(own: dict, other: dict, labels: dict[str, str]) -> None:  # type: ignore[type-arg]
    assert not (within(own, other) and matches(own, labels)) or matches(other, labels)
    assert within(own, own)


def closing(name: str, pods: str, ways: str = "[Ingress]", namespace: str = "pay") -> str:
    return f"""
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{podSelector: {pods}, policyTypes: {ways}}}
"""


NOT_RENDERED = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: more, namespace: pay}
spec: {chart: {spec: {chart: more, sourceRef: {kind: HelmRepository, name: charts}}}}
"""
DB, ALL, MORE = "{matchLabels: {app: db}}", "{}", "{matchLabels: {app: more}}"
CILIUM_ALL = """
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: all, namespace: pay}
spec: {endpointSelector: {}, ingress: [{}]}
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        # What closed the whole namespace is gone or narrower: pods that are not in the tree are open.
        ([closing("all", ALL), closing("db", DB)], [closing("db", DB)], "ingress of other pods in namespace pay"),
        ([closing("all", ALL), closing("db", DB)], [closing("all", DB)], "ingress of other pods in namespace pay"),
        (
            [closing("all", ALL, "[Ingress, Egress]"), closing("db", DB, "[Ingress, Egress]")],
            [closing("all", ALL), closing("db", DB, "[Ingress, Egress]")],
            "egress of other pods",
        ),
        ([CILIUM_ALL, closing("db", DB)], [closing("db", DB)], "ingress of other pods in namespace pay"),
        # Another one closes all of them, whatever it is called, or several do together.
        ([closing("all", ALL), closing("db", DB)], [closing("everything", ALL)], ""),
        (
            [closing("two", "{matchExpressions: [{key: app, operator: In, values: [more, less]}]}"), NOT_RENDERED],
            [closing("one", MORE), closing("other", "{matchLabels: {app: less}}"), NOT_RENDERED],
            "",
        ),
        # Pods by a label that none here has: there as long as what may make them is.
        ([closing("more", MORE), NOT_RENDERED], [NOT_RENDERED], "ingress of the pods that it selected"),
        ([closing("more", MORE), NOT_RENDERED], [], ""),
        ([closing("more", MORE)], [], ""),
        # The namespace has nothing left, or never had.
        ([closing("all", ALL, namespace="empty")], [], ""),
    ],
)
def test_pods_that_nothing_closes_any_more(tmp_path: Path, before: list[str], after: list[str], said: str) -> None:
    told = [each.message for each in found(tmp_path, before, after) if "nothing else limits" in each.message]
    assert len(told) == bool(said) and all(said in message for message in told)


OPEN_TO = """
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {{name: db, namespace: pay}}
spec:
  endpointSelector: {{matchLabels: {{app: vault}}}}
  ingress:
    - fromEndpoints: [{{matchLabels: {{app: web}}}}]
{more}
"""


@pytest.mark.parametrize(
    "more",
    [
        "    - fromEntities: [cluster]",
        "    - fromEntities: [world]",
        "    - fromCIDR: [0.0.0.0/0]",
    ],
)
def test_whoever_else_may_reach_pods_that_were_not_seen(tmp_path: Path, more: str) -> None:
    narrow, wide = OPEN_TO.format(more=""), OPEN_TO.format(more=more)
    (finding,) = found(tmp_path, [narrow, NOT_RENDERED], [wide, NOT_RENDERED])
    assert "allows connections that were not allowed before: spec.ingress[1]" in finding.message
    assert found(tmp_path, [wide, NOT_RENDERED], [narrow, NOT_RENDERED]) == []


def more_from(peer: str, name: str = "more") -> str:
    return policy(peer, name=name).replace("{app: db}", "{app: more}", 1)


CILIUM_DENIES = """
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: more, namespace: pay}
spec: {endpointSelector: {matchLabels: {app: more}}, ingressDeny: [{fromEndpoints: [{matchLabels: {app: x}}]}]}
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        # What may have been let in is not any more.
        ([closing("all", ALL), more_from(SHOP)], [closing("all", ALL)], "is gone, and what it allowed with it"),
        ([more_from(SHOP, "one"), more_from("podSelector: {}")], [more_from("podSelector: {}")], "is gone, and what"),
        ([more_from("namespaceSelector: {}")], [more_from(SHOP)], "allows fewer connections than before: spec.ingress"),
        ([], [closing("more", MORE, "[Ingress, Egress]")], "limits ingress and egress of pods that it did not"),
        ([], [CILIUM_DENIES], "denies more: spec.ingressDeny[0]"),
        ([closing("more", MORE)], [closing("more", MORE, "[Ingress, Egress]")], "limits egress of pods that"),
        ([], [admin("Deny", "{matchLabels: {team: dev}}").replace("team: pay", "team: more")], "denies more"),
        # Said otherwise, it means the same.
        ([more_from(SHOP)], [more_from(f"{SHOP}, {SHOP}")], ""),
        ([closing("more", MORE), closing("all", ALL)], [closing("all", ALL)], ""),
    ],
)
def test_what_is_closed_to_pods_that_were_not_seen_is_a_row(
    tmp_path: Path, before: list[str], after: list[str], said: str
) -> None:
    _, change = compared(tmp_path, [*before, NOT_RENDERED], [*after, NOT_RENDERED])
    reasons = [subject.reason for subject in change.subjects]
    assert len(reasons) == bool(said), reasons
    assert all(said in reason and reason.endswith("no such pods were seen") for reason in reasons)


def test_pods_that_were_seen_are_not_said_to_be_unseen(tmp_path: Path) -> None:
    """What closes to the pods that are there is a connection less: the row is about those that may be there beside."""
    closed = [closing("all", ALL), NOT_RENDERED]
    _, change = compared(tmp_path, [policy("podSelector: {matchLabels: {app: later}}"), *closed], closed)
    (subject,) = change.subjects
    assert subject.reason.endswith("is gone, and what it allowed with it; others than were seen may be among its pods")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        # Pods of the repository: their connections tell.
        ([policy("namespaceSelector: {}")], [policy(SHOP)], ""),
        ([closing("all", ALL), policy(SHOP)], [closing("all", ALL)], ""),
        # None of those that it is for were seen, and nothing says why.
        ([closing("all", ALL), more_from(SHOP)], [closing("all", ALL)], "is gone, and what it allowed with it"),
        ([closing("other", ALL, namespace="elsewhere")], [], "is gone, and nothing else limits ingress"),
        (
            [closing("other", ALL, "[Ingress, Egress]", namespace="elsewhere")],
            [closing("other", ALL, "[Egress]", namespace="elsewhere")],
            "changes, and nothing else limits ingress",
        ),
    ],
)
def test_where_nothing_is_rendered_those_count_of_which_no_pods_were_seen(
    tmp_path: Path, before: list[str], after: list[str], said: str
) -> None:
    _, change = compared(tmp_path, before, after)
    assert [subject.reason.partition(";")[0] for subject in change.subjects] == ([said] if said else [])
