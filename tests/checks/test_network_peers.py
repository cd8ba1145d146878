"""Peers that do not mean what they seem to: labels and addresses that nobody has, and alternatives that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint

POLICY = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [%s], %s: [{%s: [%s]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web}]}}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: data}
spec: {%s, %s ports: [{port: 5432}]}
"""


def found(
    tmp_path: Path,
    rule: str,
    peers: str,
    way: str = "Ingress",
    service: str = "clusterIP: 10.96.12.7",
    selector: str = "app: db",
) -> list[tuple[str, str]]:
    """The findings of a rule on a policy with some peers: severity and confidence."""
    field, list_of = ("ingress", "from") if way == "Ingress" else ("egress", "to")
    selects = f"selector: {{{selector}}}," if selector else ""
    text = POLICY % (way, field, list_of, peers, service, selects)
    return [(each.severity, each.confidence) for each in lint(tmp_path, text) if each.rule == rule]


@pytest.mark.parametrize(
    ("peers", "expected"),
    [
        ("{namespaceSelector: {}}, {podSelector: {matchLabels: {app: front}}}", True),
        ("{podSelector: {matchLabels: {app: front}}}, {namespaceSelector: {}}", True),
        ("{namespaceSelector: {}, podSelector: {}}, {podSelector: {matchLabels: {app: front}}}", True),
        ("{namespaceSelector: {}, podSelector: {matchLabels: {app: front}}}", False),
        ("{namespaceSelector: {}}", False),
        ("{namespaceSelector: {}}, {ipBlock: {cidr: 203.0.113.0/24}}", False),
        ("{namespaceSelector: {}}, {podSelector: {}}", False),
        ("{namespaceSelector: {matchLabels: {team: a}}}, {namespaceSelector: {}}", True),
        ("{namespaceSelector: {matchExpressions: [{key: a, operator: Exists}]}}, {namespaceSelector: {}}", True),
        ("{namespaceSelector: {matchLabels: {team: a}}}, {namespaceSelector: {matchLabels: {team: b}}}", False),
    ],
)
def test_labels_beside_every_pod_restrict_nothing(tmp_path: Path, peers: str, expected: bool) -> None:
    assert found(tmp_path, "GWP614", peers) == ([("warning", "certain")] if expected else [])


SYSTEM = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}"
BY_HAND = "{namespaceSelector: {matchLabels: {name: kube-system}}}"
OF_DNS = "{podSelector: {matchLabels: {k8s-app: kube-dns}}}"


@pytest.mark.parametrize(
    ("peers", "expected"),
    [
        (f"{SYSTEM}, {OF_DNS}", True),
        (f"{OF_DNS}, {SYSTEM}", True),
        (f"{OF_DNS}, {BY_HAND}", True),
        (f"{SYSTEM}, {{podSelector: {{matchLabels: {{app: web}}}}}}", False),  # pods that are here
        (f"{SYSTEM}, {{podSelector: {{}}}}", False),
        (f"{SYSTEM}, {{ipBlock: {{cidr: 203.0.113.0/24}}}}", False),
    ],
)
@pytest.mark.parametrize("way", ["Ingress", "Egress"])
def test_pods_that_are_not_at_home_may_be_those_of_the_namespace_next_to_them(
    tmp_path: Path, peers: str, expected: bool, way: str
) -> None:
    assert found(tmp_path, "GWP614", peers, way) == ([("note", "assumed")] if expected else [])


BUYER = """
apiVersion: v1
kind: Namespace
metadata: {name: store, labels: {zone: store}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: buyer, namespace: store}
spec:
  selector: {matchLabels: {app: buyer}}
  template: {metadata: {labels: {app: buyer}}, spec: {containers: [{name: main, image: a}]}}
"""


@pytest.mark.parametrize(
    ("peers", "expected"),
    [
        ("{namespaceSelector: {matchLabels: {zone: store}}}, {podSelector: {matchLabels: {app: buyer}}}", {"GWP614"}),
        ("{podSelector: {matchLabels: {app: buyer}}}, {namespaceSelector: {matchLabels: {zone: store}}}", {"GWP614"}),
        ("{podSelector: {matchLabels: {app: buyer}}}", {"GWP607"}),
        ("{namespaceSelector: {matchLabels: {zone: store}}}, {podSelector: {matchLabels: {app: nobody}}}", {"GWP607"}),
        ("{namespaceSelector: {matchLabels: {zone: store}}, podSelector: {matchLabels: {app: buyer}}}", set()),
    ],
)
@pytest.mark.parametrize("way", ["Ingress", "Egress"])
def test_pods_of_another_peer_are_told_of_once(tmp_path: Path, peers: str, expected: set[str], way: str) -> None:
    field, list_of = ("ingress", "from") if way == "Ingress" else ("egress", "to")
    text = POLICY % (way, field, list_of, peers, "clusterIP: 10.96.12.7", "selector: {app: db},")
    told = {each.rule for each in lint(tmp_path, text, BUYER)}
    assert told & {"GWP607", "GWP614"} == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("name: kube-system", True),
        ("namespace: kube-system", True),
        ("kubernetes.io/metadata.name: kube-system", False),
        ("name: monitoring", False),
        ("team: kube-system", False),
    ],
)
def test_kubernetes_gives_its_namespaces_no_other_label_than_their_name(
    tmp_path: Path, selector: str, expected: bool
) -> None:
    peers = f"{{namespaceSelector: {{matchLabels: {{{selector}}}}}}}"
    assert found(tmp_path, "GWP607", peers) == ([("note", "assumed")] if expected else [])


@pytest.mark.parametrize(("more", "expected"), [("", True), (", monitoring", False)])
def test_a_namespace_of_kubernetes_named_by_an_expression(tmp_path: Path, more: str, expected: bool) -> None:
    """One value of `In` is what `matchLabels` says."""
    selector = f"matchExpressions: [{{key: name, operator: In, values: [kube-system{more}]}}]"
    peers = f"{{namespaceSelector: {{{selector}}}}}"
    assert bool(found(tmp_path, "GWP607", peers)) is expected


def test_a_namespace_whose_manifest_has_the_label_is_named(tmp_path: Path) -> None:
    """The other way round is GWP607's own: a manifest without it."""
    namespace = "\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, labels: {name: kube-system}}\n"
    peers = "{namespaceSelector: {matchLabels: {name: kube-system}}}"
    text = POLICY % ("Ingress", "ingress", "from", peers, "clusterIP: 10.96.12.7", "selector: {app: db},")
    assert "GWP607" not in {each.rule for each in lint(tmp_path, text, namespace)}


@pytest.mark.parametrize(
    ("cidr", "way", "service", "selector", "expected"),
    [
        ("10.96.12.7/32", "Egress", "clusterIP: 10.96.12.7", "app: db", True),
        ("10.40.0.13/32", "Egress", "loadBalancerIP: 10.40.0.13", "app: db", True),
        ("203.0.113.9/32", "Egress", "externalIPs: [203.0.113.9]", "app: db", True),
        ("2001:db8::7/128", "Egress", "clusterIPs: [10.96.12.7, '2001:db8::7']", "app: db", True),
        ("10.96.12.0/24", "Egress", "clusterIP: 10.96.12.7", "app: db", False),
        ("10.96.12.8/32", "Egress", "clusterIP: 10.96.12.7", "app: db", False),
        ("10.96.12.7/32", "Ingress", "clusterIP: 10.96.12.7", "app: db", False),
        ("10.96.12.7/32", "Egress", "clusterIP: 10.96.12.7", "", False),  # its endpoints are addresses outside
    ],
)
def test_policies_see_the_pods_behind_the_address_of_a_service(
    tmp_path: Path, cidr: str, way: str, service: str, selector: str, expected: bool
) -> None:
    """projectcalico/calico#10664, #5129: nodes translate the address before policies are asked."""
    said = found(tmp_path, "GWP622", f"{{ipBlock: {{cidr: '{cidr}'}}}}", way, service, selector)
    assert said == ([("warning", "assumed")] if expected else [])


@pytest.mark.parametrize(("port", "told"), [("", True), ("5432", True), ("445", False)])
def test_an_address_at_another_port_is_not_that_of_the_service(tmp_path: Path, port: str, told: bool) -> None:
    """An external address of a Service is that of a node, where something else listens, too."""
    peers = "{ipBlock: {cidr: 203.0.113.9/32}}"
    text = POLICY % ("Egress", "egress", "to", peers, "externalIPs: [203.0.113.9]", "selector: {app: db},")
    text = text.replace(f"{peers}]", f"{peers}], ports: [{{port: {port}}}]") if port else text
    assert ("GWP622" in {each.rule for each in lint(tmp_path, text)}) is told


@pytest.mark.parametrize(
    ("declared", "opened", "told"),
    [
        ("{name: sql, containerPort: 5432}", "6443", False),
        ("{name: sql, containerPort: 6443}", "6443", True),
        ("{name: sql, containerPort: 5432}", "5433", True),  # the Service's own
        ("{name: metrics, containerPort: 9090}", "6443", True),  # no pod declares it: its number is not known
    ],
)
def test_a_port_of_the_pods_by_name_is_what_they_declare(
    tmp_path: Path, declared: str, opened: str, told: bool
) -> None:
    peers = "{ipBlock: {cidr: 203.0.113.9/32}}"
    text = POLICY % ("Egress", "egress", "to", peers, "externalIPs: [203.0.113.9]", "selector: {app: db},")
    text = text.replace(f"{peers}]", f"{peers}], ports: [{{port: {opened}}}]")
    text = text.replace("ports: [{port: 5432}]", "ports: [{port: 5433, targetPort: sql}]")
    pods = f"""
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: data}}
spec:
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec: {{containers: [{{name: db, image: example.com/db, ports: [{declared}]}}]}}
"""
    assert ("GWP622" in {each.rule for each in lint(tmp_path, text, pods)}) is told
    assert "GWP622" in {each.rule for each in lint(tmp_path, text)}  # whose pods are not seen


@pytest.mark.parametrize(
    ("namespaces", "pods", "told"),
    [
        ("", "k8s-app: kube-dns", False),
        ("", "app.kubernetes.io/name: coredns", False),
        ("matchLabels: {kubernetes.io/metadata.name: kube-system}", "k8s-app: kube-dns", False),
        ("matchLabels: {kubernetes.io/metadata.name: shop}", "k8s-app: kube-dns", True),
        ("matchLabels: {team: shop}", "k8s-app: kube-dns", True),
        ("", "app: clinet", True),
    ],
)
def test_every_cluster_runs_dns_whatever_the_tree_holds(tmp_path: Path, namespaces: str, pods: str, told: bool) -> None:
    peer = f"{{namespaceSelector: {{{namespaces}}}, podSelector: {{matchLabels: {{{pods}}}}}}}"
    text = POLICY % ("Egress", "egress", "to", f"{peer}, {{podSelector: {{}}}}", "clusterIP: 10.96.12.7", "")
    labelled = "\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: shop}}\n"
    opens = text.replace(
        "}, {podSelector: {}}]}]", "}], ports: [{port: 53, protocol: UDP}, {port: 53}]}, {to: [{podSelector: {}}]}]"
    )
    found = {each.rule for each in lint(tmp_path, opens, labelled)}
    assert (found & {"GWP607", "GWP610"}) == ({"GWP607", "GWP610"} if told else set())


@pytest.mark.parametrize(("runs", "told"), [("component: observability", False), ("k8s-app: coredns", True)])
def test_dns_runs_beside_what_the_tree_has_in_the_same_namespace(tmp_path: Path, runs: str, told: bool) -> None:
    system = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}"
    peer = f"{{{system}, podSelector: {{matchLabels: {{k8s-app: kube-dns}}}}}}"
    text = POLICY % ("Egress", "egress", "to", f"{peer}, {{podSelector: {{}}}}", "clusterIP: 10.96.12.7", "")
    pods = f"""
apiVersion: v1
kind: Pod
metadata: {{name: other, namespace: kube-system, labels: {{{runs}}}}}
spec: {{containers: [{{name: app, image: example.com/app:1}}]}}
"""
    assert ("GWP607" in {each.rule for each in lint(tmp_path, text, pods)}) is told


ADMIN = """
apiVersion: policy.networking.k8s.io/%s
kind: %s
metadata: {name: default}
spec:
  %s
  priority: 10
  subject: {namespaces: %s}
  ingress: [{name: a, action: Deny, from: [{namespaces: %s}]}]
"""
LABELS = "{matchLabels: {team: a}}"


@pytest.mark.parametrize(
    ("version", "kind", "subject", "peer", "expected"),
    [
        ("v1alpha1", "AdminNetworkPolicy", LABELS, "{namespaceSelector: {matchLabels: {team: b}}}", "warning/assumed"),
        ("v1alpha1", "BaselineAdminNetworkPolicy", LABELS, "{sameLabels: [team]}", "warning/assumed"),
        ("v1alpha1", "AdminNetworkPolicy", LABELS, "{notSameLabels: [team]}", "warning/assumed"),
        ("v1alpha1", "AdminNetworkPolicy", LABELS, "{namespaceSelector: {}}", ""),
        ("v1alpha1", "AdminNetworkPolicy", LABELS, "{podSelector: {matchLabels: {team: b}}}", "error/certain"),
        ("v1alpha1", "AdminNetworkPolicy", "{namespaceSelector: {matchLabels: {a: b}}}", "{}", "error/certain"),
        ("v1alpha2", "ClusterNetworkPolicy", LABELS, "{namespaceSelector: {matchLabels: {a: b}}}", "error/certain"),
    ],
)
def test_keys_that_earlier_crds_have(
    tmp_path: Path, version: str, kind: str, subject: str, peer: str, expected: str
) -> None:
    """network-policy-api v0.1.2 and v0.1.5, apis/v1alpha1/shared_types.go: NamespacedPeer, then a LabelSelector."""
    tier = "tier: Admin" if version == "v1alpha2" else "{}"
    text = ADMIN % (version, kind, tier, subject, peer)
    text = text if version == "v1alpha2" else text.replace("\n  {}\n", "\n")
    told = [f"{each.severity}/{each.confidence}" for each in lint(tmp_path, text) if each.rule == "GWP603"]
    assert told == ([expected] if expected else [])
