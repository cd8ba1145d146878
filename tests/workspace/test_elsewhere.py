"""Pods that no manifest shows though the tree names what makes them: its own charts, operators of its resources."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.test_alternatives import loud, tree

POLICY = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: web, namespace: {namespace}}}
spec: {{podSelector: {{matchLabels: {{{labels}}}}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {{name: backup, namespace: {namespace}}}
spec: {{jobTemplate: {{spec: {{template: {{metadata: {{labels: {{app: backup}}}}}}}}}}}}
"""
MESH = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, rules: [{}]}
"""
TEMPLATE = "apiVersion: apps/v1\nkind: {kind}\nmetadata:\n  name: x\nspec:\n  labels:\n    app: {label}\n"
ISSUER = "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: a}\nspec: {}\n"


def rules(root: Path, labels: str, more: dict[str, str], namespace: str = "shop") -> list[str]:
    found = loud(tree(root, {"policy.yaml": POLICY.format(labels=labels, namespace=namespace), **more}))
    return [finding.rule for finding in found if finding.confidence != "unknown"]


def chart(name: str, label: str, kind: str = "Deployment") -> dict[str, str]:
    return {
        f"charts/{name}/Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n",
        f"charts/{name}/templates/all.yaml": TEMPLATE.format(kind=kind, label=label),
    }


@pytest.mark.parametrize(
    ("labels", "name", "label"),
    [
        ("app: web", "web", "{{ .Chart.Name }}"),
        ("app: web", "shop", "web"),
        ("app: web, app.kubernetes.io/instance: prod", "web", '{{ include "name" . }}'),
        ("app: web, tier: web", "shop", '"web"'),
    ],
)
def test_a_chart_of_the_tree_may_make_them(tmp_path: Path, labels: str, name: str, label: str) -> None:
    assert rules(tmp_path, labels, chart(name, label)) == []


@pytest.mark.parametrize(
    "more",
    [{}, chart("shop", "{{ .Chart.Name }}"), chart("web", "web", kind="ConfigMap")],
    ids=["no chart", "one of another name", "one without workloads"],
)
def test_another_chart_does_not(tmp_path: Path, more: dict[str, str]) -> None:
    assert rules(tmp_path, "app: web", more) == ["GWP601"]


def test_workloads_of_a_mesh_may_come_from_a_chart_too(tmp_path: Path) -> None:
    assert rules(tmp_path, "app: backup", {"mesh.yaml": MESH}) == ["GWP105"]
    assert rules(tmp_path, "app: backup", {"mesh.yaml": MESH, **chart("web", "{{ .Chart.Name }}")}) == []


@pytest.mark.parametrize(
    ("label", "namespace", "expected"),
    [
        ("cert-manager", "cert-manager", []),
        ("cert-manager-webhook", "cert-manager", []),
        ("webhook", "cert-manager", ["GWP601"]),
        ("cert-manager", "shop", ["GWP601"]),
    ],
)
def test_the_pods_of_an_operator_run_where_it_does(
    tmp_path: Path, label: str, namespace: str, expected: list[str]
) -> None:
    labels = f"app.kubernetes.io/name: {label}"
    assert rules(tmp_path, labels, {"issuer.yaml": ISSUER}, namespace) == expected
    assert rules(tmp_path, labels, {"issuer.yaml": "{}"}, namespace) == ["GWP601"]


SEVERAL = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}, namespace: shop}}
spec: {{podSelector: {{matchLabels: {{app: {name}}}}}}}
---
"""


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (["cart", "payments"], []),
        (["backup"], ["GWP601"]),
        (["cart", "backups"], []),
        (["cart", "back"], ["GWP601"] * 3),
    ],
    ids=["most are not there", "half are there", "another name", "one that is called like a workload"],
)
def test_a_repository_of_policies_has_few_of_the_workloads(
    tmp_path: Path, others: list[str], expected: list[str]
) -> None:
    more = {f"{name}.yaml": SEVERAL.format(name=name) for name in others}
    assert rules(tmp_path, "app: web", more) == expected


@pytest.mark.parametrize(("word", "expected"), [("FROM_POD", []), ("MY-APP", []), ("WEB", ["GWP601"])])
def test_a_word_to_be_filled_in_is_no_label(tmp_path: Path, word: str, expected: list[str]) -> None:
    assert rules(tmp_path, f"app: {word}", {}) == expected


def test_the_gateway_of_a_mesh_is_the_mesh_s_own(tmp_path: Path) -> None:
    more = {"mesh.yaml": MESH.replace("app: web", "istio: ingressgateway").replace("shop", "istio-system")}
    assert rules(tmp_path, "app: backup", more, "istio-system") == []


BY_HAND = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: web{namespace}}}
spec:
  podSelector: {{matchLabels: {{{labels}}}}}
  ingress: [{{from: [{{podSelector: {{matchLabels: {{{peer}}}}}}}]}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: web{namespace}, labels: {{app: frontend, app.kubernetes.io/name: shop}}}}
spec: {{containers: [{{name: web, image: example.com/web}}]}}
"""


@pytest.mark.parametrize(
    ("labels", "peer", "namespace", "severity"),
    [
        ("app: client", "app: frontend", "", {"GWP601": "note"}),
        ("app: frontend", "app: client", "", {"GWP607": "note"}),
        ("app: forntend", "app: frontend", "", {"GWP601": "warning"}),  # a slip
        ("name: frontend", "app: frontend", "", {"GWP601": "warning"}),  # another key has it
        ("app: frontend", "app.kubernetes.io/name: shpo", "", {"GWP607": "warning"}),
        ("app: client", "app: frontend", ", namespace: shop", {"GWP601": "warning"}),
        ("app: frontend", "app: client", ", namespace: shop", {"GWP607": "warning"}),
    ],
)
def test_pods_may_be_started_by_hand_beside_a_plain_file(
    tmp_path: Path, labels: str, peer: str, namespace: str, severity: dict[str, str]
) -> None:
    """Neither file nor tree says where it lands: a workshop, whose steps start the clients."""
    root = tree(tmp_path, {"policy.yaml": BY_HAND.format(labels=labels, peer=peer, namespace=namespace)})
    found = root.findings()
    assert {each.rule: each.severity for each in found if each.rule in ("GWP601", "GWP607")} == severity


def test_pods_beside_a_file_that_is_applied_are_in_the_tree(tmp_path: Path) -> None:
    files = {
        "app/policy.yaml": BY_HAND.format(labels="app: client", peer="app: frontend", namespace=""),
        "app/kustomization.yaml": "resources: [policy.yaml]",
    }
    found = tree(tmp_path, files).findings()
    assert [each.severity for each in found if each.rule == "GWP601"] == ["warning"]


STARTS = [
    ("kubectl run client --image=a --labels 'app=client,tier=a' -n shop -- sleep 1\n", "app: client"),
    ("kubectl -n shop run --rm -it --image a -l app=client client \\\n  --overrides='{}'\n", "app: client"),
    ("oc run client --image a\n", "run: client"),
    ("kubectl create deployment client --image=a --replicas 2\n", "app: client"),
]


@pytest.mark.parametrize(("script", "labels"), STARTS)
@pytest.mark.parametrize("name", ["verify.sh", "README.md", "notes.txt"])
def test_a_script_starts_the_pods_that_a_policy_means(tmp_path: Path, script: str, labels: str, name: str) -> None:
    files = {"policy.yaml": BY_HAND.format(labels=labels, peer=labels, namespace=", namespace: shop"), name: script}
    found = {each.rule for each in tree(tmp_path, files).findings()} & {"GWP601", "GWP607"}
    assert found == ({"GWP601", "GWP607"} if name == "notes.txt" else set())


@pytest.mark.parametrize(("script", "labels"), STARTS)
def test_other_pods_of_a_script_are_no_reason(tmp_path: Path, script: str, labels: str) -> None:
    policy = BY_HAND.format(
        labels=labels.replace("client", "other"), peer="app: frontend", namespace=", namespace: shop"
    )
    found = [each.rule for each in tree(tmp_path, {"policy.yaml": policy, "a.sh": script}).findings()]
    assert "GWP601" in found


OTHER = """
apiVersion: {version}
kind: {kind}
metadata: {{name: x, namespace: shop}}
spec:
  template:
    metadata: {{labels: {{app: {label}}}}}
    spec:
      containers: [{{name: a, image: a}}]
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec: {template: {metadata: {labels: {app: other-api}}, spec: {containers: [{name: a, image: a}]}}}
"""
OTHERS = [
    *("v1 ReplicationController", "apps.openshift.io/v1 DeploymentConfig", "apps.kruise.io/v1alpha1 CloneSet"),
    *("extensions/v1beta1 Deployment", "serving.knative.dev/v1 Service", "apps/v1beta1 StatefulSet"),
]
SUBSET = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {metadata: {labels: {app: web, version: v1}}, spec: {containers: [{name: a, image: a}]}}}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [web], http: [{route: [{destination: {host: web, subset: v2}}]}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec: {host: web, subsets: [{name: v2, labels: {version: v2}}]}
"""


@pytest.mark.parametrize("label", ["web", '"web"', "other", "web-2"])
@pytest.mark.parametrize("other", [each for each in OTHERS if "." not in each.partition("/")[0]])
def test_workloads_of_a_kind_that_nothing_reads_may_make_them(tmp_path: Path, other: str, label: str) -> None:
    version, kind = other.split()
    written = OTHER.format(version=version, kind=kind, label=label)
    found = loud(tree(tmp_path, {"policy.yaml": MESH, "other.yaml": written, "web.yaml": WEB}))
    assert bool(found) is (label.strip('"') != "web")


@pytest.mark.parametrize("labels", ["app: web, version: v2", "version: 'v2', app: \"web\"", "app: web, version: v3"])
@pytest.mark.parametrize("other", OTHERS)
def test_nor_is_a_subset_empty_of_which_such_a_workload_makes_pods(tmp_path: Path, other: str, labels: str) -> None:
    version, kind = other.split()
    written = OTHER.format(version=version, kind=kind, label="w").replace("app: w", labels)
    found = loud(tree(tmp_path, {"mesh.yaml": SUBSET, "other.yaml": written}))
    assert [each.rule for each in found] == (["GWP415"] if "v3" in labels else [])


def test_what_describes_no_pods_makes_none(tmp_path: Path) -> None:
    written = OTHER.format(version="v1", kind="ConfigMap", label="web").replace("containers", "panels")
    assert loud(tree(tmp_path, {"policy.yaml": MESH, "other.yaml": written, "web.yaml": WEB}))


@pytest.mark.parametrize(
    ("namespace", "label", "is_told"),
    [("${NAMESPACE}", "web", False), ("shop", "web", False), ("other", "web", True), ("${NAMESPACE}", "api", True)],
)
def test_pods_in_a_namespace_that_is_filled_in_may_be_here(
    tmp_path: Path, namespace: str, label: str, is_told: bool
) -> None:
    workload = OTHER.format(version="apps/v1", kind="Deployment", label=label).replace("e: shop", f"e: {namespace!r}")
    found = loud(tree(tmp_path, {"policy.yaml": MESH, "web.yaml": WEB, "all.yaml": workload}))
    assert bool([each for each in found if each.rule == "GWP105"]) is is_told
