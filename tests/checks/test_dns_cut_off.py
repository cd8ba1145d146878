"""GWP610: what needs a name, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: ops}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: operator, image: example.com/operator:1}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: out, namespace: ops}
spec:
  podSelector: {}
  policyTypes: [Egress]
  egress: [{to: [%s], ports: [{port: 6443}]}]
"""
OF_OPENSHIFT = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-kube-apiserver}}}"
OF_KUBEADM = "{namespaceSelector: {}, podSelector: {matchLabels: {component: kube-apiserver}}}"
AN_APPLICATION = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}"


@pytest.mark.parametrize(
    ("peers", "found"),
    [
        (OF_OPENSHIFT, []),
        (OF_KUBEADM, []),
        (AN_APPLICATION, ["GWP610"]),
        (f"{OF_KUBEADM}, {AN_APPLICATION}", ["GWP610"]),
    ],
    ids=["OpenShift's API server", "kubeadm's API server", "an application", "both"],
)
def test_the_api_server_is_not_looked_up(tmp_path: Path, peers: str, found: list[str]) -> None:
    """Pods have the API server's address in KUBERNETES_SERVICE_HOST."""
    (tmp_path / "all.yaml").write_text(WORKLOAD % peers)
    findings = open_workspace([str(tmp_path)]).findings()
    assert [each.rule for each in findings if each.rule == "GWP610"] == found


@pytest.mark.parametrize(
    ("ports", "found"),
    [
        ("{port: 6443, protocol: TCP}", []),
        ("{port: 6443, protocol: TCP}, {port: 443, protocol: TCP}", []),
        ("{port: 443, protocol: TCP}", ["GWP610"]),
        ("{port: 6443, protocol: TCP}, {port: 8080, protocol: TCP}", ["GWP610"]),
    ],
    ids=["its port", "and that of its Service", "of any website", "and of an application"],
)
def test_the_port_of_the_api_server_is_meant_for_it(tmp_path: Path, ports: str, found: list[str]) -> None:
    policy = WORKLOAD.replace("[{to: [%s], ports: [{port: 6443}]}]", f"[{{ports: [{ports}]}}]")
    (tmp_path / "all.yaml").write_text(policy)
    assert [each.rule for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP610"] == found


OPENSHIFT = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-dns}}}"


@pytest.mark.parametrize(
    ("egress", "said"),
    [
        ("{to: [{podSelector: {}}]}", "no rule opens UDP 53"),
        (f"{{to: [{AN_APPLICATION}]}}", "no rule opens UDP 53"),
        ("{to: [{podSelector: {}}]}, {to: [{namespaceSelector: {}}]}", ""),
        ("{to: [{podSelector: {}}]}, {to: [{namespaceSelector: {matchLabels: {role: system}}}]}", ""),
        ("{to: [{podSelector: {}}]}, {to: [{ipBlock: {cidr: 10.96.0.10/32}}]}", ""),
        ("{to: [{podSelector: {}}]}, {}", ""),
        (
            f"{{to: [{AN_APPLICATION}]}}, {{to: [{OPENSHIFT}], ports: [{{port: 53, protocol: UDP}}, {{port: 53}}]}}",
            "no rule opens UDP 5353, on which the DNS pods of OpenShift listen",
        ),
        (
            (
                f"{{to: [{AN_APPLICATION}]}}, "
                f"{{to: [{OPENSHIFT}], ports: [{{port: 5353, protocol: UDP}}, {{port: 5353}}]}}"
            ),
            "",
        ),
        (f"{{to: [{AN_APPLICATION}]}}, {{to: [{OPENSHIFT}]}}", ""),
    ],
)
def test_who_may_serve_names_and_where(tmp_path: Path, egress: str, said: str) -> None:
    """A rule without ports opens all of them, but only to its peers; policies see the port of the pods."""
    world = WORKLOAD[: WORKLOAD.index("  egress:")] + f"  egress: [{egress}]\n"
    (tmp_path / "all.yaml").write_text(world)
    found = [each.message for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP610"]
    assert [message.rpartition(": ")[2] for message in found] == ([said] if said else [])


def test_a_policy_that_states_no_namespace_may_land_where_others_open_it(tmp_path: Path) -> None:
    """An application's own repository holds one policy of several: what deploys it says in which namespace."""
    (tmp_path / "all.yaml").write_text((WORKLOAD % AN_APPLICATION).replace(", namespace: ops", ""))
    (found,) = (each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP610")
    assert (found.severity, found.confidence) == ("note", "unknown")


CLUSTER_DNS = """
apiVersion: v1
kind: Namespace
metadata: {name: ops}
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: kube-dns}}
  template:
    metadata: {labels: {k8s-app: kube-dns}}
    spec: {containers: [{name: coredns, image: example.com/coredns:1}]}
---
"""
OF_DNS = "podSelector: {matchLabels: {k8s-app: kube-dns}}"


@pytest.mark.parametrize(
    ("peer", "told"),
    [
        (f"{{{OF_DNS}}}", True),  # pods of its own namespace
        (f"{{namespaceSelector: {{matchLabels: {{name: kube-system}}}}, {OF_DNS}}}", True),  # a label nobody wrote
        (f"{{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: kube-system}}}}, {OF_DNS}}}", False),
        (f"{{namespaceSelector: {{}}, {OF_DNS}}}", False),
        ("{ipBlock: {cidr: 169.254.20.10/32}}", False),
    ],
)
def test_a_rule_for_dns_that_means_no_pod_opens_nothing(tmp_path: Path, peer: str, told: bool) -> None:
    ports = "ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]"
    egress = f"{AN_APPLICATION}], ports: [{{port: 8080}}]}}, {{to: [{peer}], {ports}}}"
    file = tmp_path / "all.yaml"
    file.write_text(CLUSTER_DNS + (WORKLOAD % "@").replace("@], ports: [{port: 6443}]}", egress))
    assert ("GWP610" in [each.rule for each in open_workspace([str(file)]).findings()]) == told


def test_pods_that_may_be_elsewhere_may_serve_names(tmp_path: Path) -> None:
    ports = "ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]"
    named = f"{{namespaceSelector: {{matchLabels: {{name: kube-system}}}}, {OF_DNS}}}"
    egress = f"{AN_APPLICATION}], ports: [{{port: 8080}}]}}, {{to: [{named}], {ports}}}"
    (tmp_path / "all.yaml").write_text((WORKLOAD % "@").replace("@], ports: [{port: 6443}]}", egress))
    assert "GWP610" not in [each.rule for each in open_workspace([str(tmp_path)]).findings()]


CACHE = """
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node-local-dns, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: node-local-dns}}
  template:
    metadata: {labels: {k8s-app: node-local-dns}}
    spec:
      hostNetwork: %s
      containers:
        - name: node-cache
          image: registry.k8s.io/dns/k8s-dns-node-cache:1.23.1
          args: ["-localip", "169.254.20.10,10.96.0.10", "-conf", /etc/Corefile]
"""
TO_DNS = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}"


@pytest.mark.parametrize(
    ("to", "on_host", "told"),
    [
        (f"to: [{TO_DNS}], ", "true", True),
        (f"to: [{TO_DNS}], ", "false", False),
        (f"to: [{TO_DNS}, {{ipBlock: {{cidr: 169.254.20.10/32}}}}], ", "true", False),
        ("to: [{ipBlock: {cidr: 0.0.0.0/0}}], ", "true", False),
        ("to: [{namespaceSelector: {}}], ", "true", True),
        ("", "true", False),
    ],
)
def test_a_cache_on_the_nodes(tmp_path: Path, to: str, on_host: str, told: bool) -> None:
    """kubernetes/kubernetes#70555: with NodeLocal DNSCache the pods of the DNS are not who is asked."""
    opened = WORKLOAD % AN_APPLICATION
    opened = opened.replace("egress: [", f"egress: [{{{to}ports: [{{port: 53, protocol: UDP}}, {{port: 53}}]}}, ")
    (tmp_path / "all.yaml").write_text(opened + CACHE % on_host)
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP610"]
    assert [(each.field, each.confidence) for each in found] == ([("cache", "assumed")] if told else [])


@pytest.mark.parametrize(("block", "told"), [("fd00::10/128", False), ("fd00::/64", False), ("fd00::/127", True)])
def test_a_cache_on_the_nodes_that_listens_on_an_ipv6_address(tmp_path: Path, block: str, told: bool) -> None:
    to = f"to: [{TO_DNS}, {{ipBlock: {{cidr: '{block}'}}}}], "
    opened = WORKLOAD % AN_APPLICATION
    opened = opened.replace("egress: [", f"egress: [{{{to}ports: [{{port: 53, protocol: UDP}}, {{port: 53}}]}}, ")
    cache = (CACHE % "true").replace("169.254.20.10,10.96.0.10", "fd00::10")
    (tmp_path / "all.yaml").write_text(opened + cache)
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP610"]
    fixes = [fix for each in found for fix in each.help]
    assert fixes == (["fix: open UDP and TCP 53 to fd00::10/128 (`ipBlock`)"] if told else [])
