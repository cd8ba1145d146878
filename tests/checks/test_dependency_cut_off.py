"""GWP623: what pods cannot do without, and what a rule may open of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

OPERATOR = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: ops}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {serviceAccountName: operator, %scontainers: [{name: operator, image: example.com/operator:1}]}
---
"""
BOUND = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: operator, namespace: %s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects: [{kind: ServiceAccount, name: operator, namespace: ops}]
---
"""
ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: operator, namespace: %s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
"""
OF_CLUSTER = (BOUND % "ops").replace("kind: Role,", "kind: ClusterRole,")
ROLE_OF_CLUSTER = (ROLE % "ops").replace("kind: Role\n", "kind: ClusterRole\n").replace(", namespace: ops", "")
OUT = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: out, namespace: ops}
spec: {podSelector: {}, policyTypes: [Egress], egress: [%s]}
---
"""
CILIUM = """
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: out, namespace: ops}
spec: {endpointSelector: {}, egress: [%s]}
---
"""
SHOP = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}"
MESHED = """
apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {istio-injection: enabled}}
---
"""
LINKED = """
apiVersion: v1
kind: Namespace
metadata: {name: ops, annotations: {linkerd.io/inject: enabled}}
---
"""
AMBIENT = MESHED.replace("istio-injection: enabled", "istio.io/dataplane-mode: ambient")


def said(folder: Path, *manifests: str) -> list[str]:
    """What GWP623 says of manifests."""
    (folder / "all.yaml").write_text("\n---\n".join(manifests))
    return [each.message for each in open_workspace([str(folder)]).findings() if each.rule == "GWP623"]


@pytest.mark.parametrize(
    ("policies", "is_cut"),
    [
        (OUT % "", True),
        (OUT % "{to: [{namespaceSelector: {}}]}", True),
        (OUT % "{to: [{namespaceSelector: {}}], ports: [{port: 443}, {port: 6443}]}", True),
        (OUT % "{ports: [{port: 53, protocol: UDP}, {port: 53}]}", True),
        (OUT % "{to: [{ipBlock: {cidr: 0.0.0.0/0}}], ports: [{port: 5432}]}", True),
        (OUT % "{ports: [{port: 443}]}", False),
        (OUT % "{}", False),
        (OUT % "{to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 6443}]}", False),
        (OUT % "{to: [{ipBlock: {cidr: 10.0.0.7/32}}], ports: [{port: 7443}]}", False),
        (OUT % "{to: [{namespaceSelector: {}, podSelector: {matchLabels: {component: kube-apiserver}}}]}", False),
        (OUT % "{to: [{namespaceSelector: {}, podSelector: {matchLabels: {app: keda-metrics-apiserver}}}]}", True),
        (OUT % "{to: [{namespaceSelector: {matchLabels: {app: openshift-kube-apiserver}}}]}", False),
        (
            OUT % "{to: [{podSelector: {matchExpressions: [{key: app, operator: In, values: [kube-apiserver]}]}}]}",
            False,
        ),
        (OUT % "{to: [{podSelector: {}}]}" + OUT.replace("name: out", "name: more") % "{ports: [{port: 6443}]}", False),
        (CILIUM % "{toEndpoints: [{}]}", True),
        (CILIUM % "{toEndpoints: [{matchLabels: {component: kube-apiserver}}]}", True),
        (CILIUM % "{toCIDR: [10.0.0.0/8]}", True),
        (CILIUM % "{toEntities: [host, remote-node]}", False),
        (CILIUM % "{toEntities: [kube-apiserver]}", False),
        (CILIUM % "{toEntities: [all]}", False),
        (CILIUM % "{toPorts: [{ports: [{port: '6443', protocol: TCP}]}]}", False),
        ("", False),
    ],
)
def test_a_controller_must_reach_the_api_server(tmp_path: Path, policies: str, is_cut: bool) -> None:
    assert bool(said(tmp_path, OPERATOR % "", BOUND % "ops" + ROLE % "ops", policies)) is is_cut


ANYWHERE = OUT % "{to: [{ipBlock: {cidr: 0.0.0.0/0}}], ports: [{port: 443}, {port: 6443}]}"
OF_OTHERS = (
    CILIUM.replace("endpointSelector: {}", "endpointSelector: {matchLabels: {app: other}}") % "{toEntities: [all]}"
)
SETTINGS = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec:
  chart: {spec: {chart: cilium, sourceRef: {kind: HelmRepository, name: cilium}}}
  values: {policyCIDRMatchMode: [%s]}
---
"""


CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {%s}
---
"""


@pytest.mark.parametrize(
    ("around", "severity"),
    [
        ("", []),
        (OF_OTHERS, ["note"]),
        (SETTINGS % "", ["note"]),
        (OF_OTHERS + SETTINGS % "nodes", []),
        (CONFIG_MAP % "enable-policy: default", ["note"]),
        (CONFIG_MAP % "policy-cidr-match-mode: nodes", []),
    ],
    ids=["of any plugin", "Cilium is here", "installed", "nodes, too", "its ConfigMap", "nodes, too, by that"],
)
def test_addresses_are_no_nodes_for_cilium(tmp_path: Path, around: str, severity: list[str]) -> None:
    """The API server of a managed cluster runs elsewhere, and its addresses are such: a note."""
    (tmp_path / "all.yaml").write_text("\n---\n".join((OPERATOR % "", BOUND % "ops" + ROLE % "ops", ANYWHERE, around)))
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP623"]
    assert [each.severity for each in found] == severity
    assert {each.confidence for each in found} <= {"assumed"}


@pytest.mark.parametrize(
    "manifests",
    [
        (OPERATOR % "",),
        (OPERATOR % "automountServiceAccountToken: false, ", BOUND % "ops" + ROLE % "ops"),
        (OPERATOR % "hostNetwork: true, ", BOUND % "ops" + ROLE % "ops"),
    ],
    ids=["no rights", "no token", "on the network of its node"],
)
def test_pods_that_do_not_ask_it_or_not_from_their_own_network(tmp_path: Path, manifests: tuple[str, ...]) -> None:
    assert said(tmp_path, *manifests, OUT % "") == []


@pytest.mark.parametrize(
    ("binding", "is_cut"),
    [
        (BOUND % "ops", False),
        (BOUND % "ops" + ROLE % "shop", False),
        (BOUND % "ops" + ROLE % "ops", True),
        (BOUND % "kube-system", True),
        (OF_CLUSTER, False),
        (OF_CLUSTER.replace("kind: RoleBinding", "kind: ClusterRoleBinding"), False),
        (OF_CLUSTER.replace("name: operator}\nsubjects", "name: view}\nsubjects"), True),
        (OF_CLUSTER.replace("name: operator}\nsubjects", "name: 'system:auth-delegator'}\nsubjects"), True),
        (OF_CLUSTER + ROLE_OF_CLUSTER, True),
    ],
)
def test_a_role_that_was_not_seen_shows_no_need(tmp_path: Path, binding: str, is_cut: bool) -> None:
    assert bool(said(tmp_path, OPERATOR % "", binding, OUT % "")) is is_cut


@pytest.mark.parametrize(
    ("subject", "is_cut"),
    [
        ("{kind: User, name: 'system:serviceaccount:ops:operator'}", True),
        ("{kind: User, name: 'system:serviceaccount:shop:operator'}", False),
        ("{kind: User, name: operator}", False),
        ("{kind: Group, name: 'system:serviceaccounts:ops'}", False),
        ("{kind: ServiceAccount, name: operator}", True),
    ],
)
def test_an_account_is_a_user_to_the_api_server(tmp_path: Path, subject: str, is_cut: bool) -> None:
    binding = (BOUND % "ops" + ROLE % "ops").replace("{kind: ServiceAccount, name: operator, namespace: ops}", subject)
    assert subject in binding
    assert bool(said(tmp_path, OPERATOR % "", binding, OUT % "")) is is_cut


def test_rights_in_another_namespace_are_used_there(tmp_path: Path) -> None:
    (only,) = said(tmp_path, OPERATOR % "", BOUND % "shop" + ROLE % "shop", OUT % "")
    assert only == ("NetworkPolicy ops/out keeps Deployment ops/operator from the API server: no rule opens its port")


@pytest.mark.parametrize(
    ("around", "rules", "missing"),
    [
        (MESHED, "", "from istiod: no rule opens TCP 15012 to it"),
        (MESHED, f"{{to: [{SHOP}]}}", "from istiod: no rule opens TCP 15012 to it"),
        (MESHED, f"{{to: [{SHOP.replace('shop', 'istio-system')}]}}", ""),
        (MESHED, "{to: [{namespaceSelector: {}}], ports: [{port: 15012}]}", ""),
        (MESHED, f"{{to: [{SHOP}], ports: [{{port: 15012}}]}}", ""),
        (MESHED, "{ports: [{port: 443}]}", "from istiod: no rule opens TCP 15012 to it"),
        (AMBIENT, "", ""),
        (LINKED, "{ports: [{port: 8080}]}", "from Linkerd's control plane: no rule opens TCP 8086, 8090 to it"),
        (LINKED, f"{{to: [{SHOP.replace('shop', 'linkerd')}]}}", ""),
        ("", "", ""),
    ],
)
def test_a_sidecar_must_reach_its_control_plane(tmp_path: Path, around: str, rules: str, missing: str) -> None:
    found = said(tmp_path, around, OPERATOR % "", OUT % rules)
    assert found == ([f"NetworkPolicy ops/out keeps Deployment ops/operator {missing}"] if missing else [])


def test_an_annotation_asks_for_no_sidecar(tmp_path: Path) -> None:
    """The injector is asked about pods by their labels."""
    own = OPERATOR.replace("metadata: {labels: {app: operator}}", "metadata: {labels: {app: operator}, %s}")
    labelled = "{labels: {app: operator, sidecar.istio.io/inject: 'true'}}"
    by_annotation = own % ("annotations: {sidecar.istio.io/inject: 'true'}", "")
    by_label = OPERATOR.replace("{labels: {app: operator}}", labelled) % ""
    assert [len(said(tmp_path, each, OUT % "")) for each in (by_annotation, by_label)] == [0, 1]


AUTHORIZER = """
apiVersion: v1
kind: Service
metadata: {name: authorizer, namespace: login}
spec: {selector: {app: authorizer}, ports: [{port: 9000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: authorizer, namespace: login}
spec:
  selector: {matchLabels: {app: authorizer}}
  template:
    metadata: {labels: {app: authorizer}}
    spec: {containers: [{name: authorizer, image: example.com/authorizer:1}]}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: login, namespace: login}
spec:
  from: [{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: infra}]
  to: [{group: "", kind: Service}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: in, namespace: login}
spec: {podSelector: {}, ingress: [{from: [%s], ports: [{port: %s}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: infra}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: %s
metadata: {name: asks, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: %s, name: %s}]
  %s
"""
ASKS = "{backendRefs: [{name: authorizer, namespace: login, port: 9000}]}"
EDGE = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: envoy-gateway-system}}}"


@pytest.mark.parametrize(
    ("port", "asks", "target", "is_cut"),
    [
        (8080, ("SecurityPolicy", f"extAuth: {{grpc: {ASKS}}}"), ("Gateway", "edge"), True),
        (8080, ("SecurityPolicy", f"extAuth: {{http: {ASKS}}}"), ("HTTPRoute", "web"), True),
        (8080, ("EnvoyExtensionPolicy", f"extProc: [{ASKS}]"), ("Gateway", "edge"), False),  # no grant for its kind
        (9000, ("SecurityPolicy", f"extAuth: {{grpc: {ASKS}}}"), ("Gateway", "edge"), False),
        (8080, ("SecurityPolicy", "cors: {allowOrigins: ['*']}"), ("Gateway", "edge"), False),
    ],
)
def test_a_gateway_must_reach_what_policies_have_it_ask(
    tmp_path: Path, port: int, asks: tuple[str, str], target: tuple[str, str], is_cut: bool
) -> None:
    found = said(tmp_path, AUTHORIZER % (EDGE, port, asks[0], *target, asks[1]))
    wanted = (
        "NetworkPolicy login/in blocks Gateway infra/edge from Service login/authorizer on TCP 9000, which "
        "SecurityPolicy infra/asks has it ask"
    )
    assert found == ([wanted] if is_cut else [])
