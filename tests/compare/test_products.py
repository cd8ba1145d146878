"""What products outside of the catalog decide (schemas/products.yaml): a change, its reverse, a twin of each kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from policylint.catalog.products import product_table
from policylint.compare.protection.anywhere import directed_changes
from policylint.documents import read
from tests import worlds
from tests.compare.repositories import diff
from tests.diff.history import commit, run

CASES: list[tuple[str, str, str, str, str, str]] = [
    (
        "tailscale.com",
        "Connector",
        "{subnetRouter: {advertiseRoutes: [10.1.0.0/16]}}",
        "[10.1.0.0/16]",
        "[10.1.0.0/16, 10.2.0.0/16]",
        "advertiseRoutes",
    ),
    (
        "tailscale.com",
        "Connector",
        "{hostname: a, exitNode: false}",
        "false",
        "true",
        "exitNode",
    ),
    (
        "tailscale.com",
        "ProxyGroup",
        "{kubeAPIServer: {mode: auth}}",
        "auth",
        "noauth",
        "kubeAPIServer.mode",
    ),
    (
        "tailscale.com",
        "ProxyGroupPolicy",
        "{ingress: [a]}",
        "[a]",
        "[a, b]",
        "ingress",
    ),
    (
        "ngrok.k8s.ngrok.com",
        "AgentEndpoint",
        "{bindings: [internal]}",
        "internal",
        "public",
        "bindings",
    ),
    (
        "ngrok.k8s.ngrok.com",
        "CloudEndpoint",
        "{url: a, trafficPolicyName: login}",
        ", trafficPolicyName: login",
        "",
        "trafficPolicyName",
    ),
    (
        "ngrok.k8s.ngrok.com",
        "NgrokTrafficPolicy",
        "{policy: {on_http_request: [{name: a}, {name: b}]}}",
        "{name: a}, ",
        "",
        "on_http_request",
    ),
    (
        "resources.teleport.dev",
        "TeleportRoleV7",
        "{allow: {logins: [a]}}",
        "[a]",
        "[a, root]",
        "allow.*",
    ),
    (
        "resources.teleport.dev",
        "TeleportRoleV7",
        "{deny: {logins: [root, a]}}",
        "[root, a]",
        "[a]",
        "deny.*",
    ),
    (
        "resources.teleport.dev",
        "TeleportRole",
        "{options: {require_session_mfa: true}}",
        "true",
        "false",
        "require_session_mfa",
    ),
    (
        "resources.teleport.dev",
        "TeleportGithubConnector",
        "{teams_to_roles: [{team: a}]}",
        "[{team: a}]",
        "[{team: a}, {team: b}]",
        "teams_to_roles",
    ),
    (
        "resources.teleport.dev",
        "TeleportUser",
        "{roles: [a]}",
        "[a]",
        "[a, editor]",
        "roles",
    ),
    (
        "kyverno.io",
        "ClusterPolicy",
        "{rules: [{name: a, validate: {failureAction: Enforce}}]}",
        "Enforce",
        "Audit",
        "failureAction",
    ),
    (
        "kyverno.io",
        "Policy",
        "{rules: [{name: a, verifyImages: [{attestors: [{count: 2}]}]}]}",
        "2",
        "1",
        "count",
    ),
    (
        "kyverno.io",
        "Policy",
        "{rules: [{name: a}, {name: b}]}",
        "{name: a}, ",
        "",
        "rules",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        "{validations: [{expression: a}, {expression: b}]}",
        "{expression: a}, ",
        "",
        "validations",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        "{matchResources: {namespaceSelector: {matchLabels: {a: b}}}}",
        "a: b",
        "a: b, c: d",
        "matchLabels",
    ),
    (
        "external-secrets.io",
        "ClusterSecretStore",
        "{conditions: [{namespaces: [a]}]}",
        "[a]",
        "[a, b]",
        "namespaces",
    ),
    (
        "external-secrets.io",
        "ClusterSecretStore",
        "{provider: {}, conditions: [{namespaces: [a]}]}",
        ", conditions: [{namespaces: [a]}]",
        "",
        "conditions",
    ),
    (
        "cert-manager.io",
        "Certificate",
        "{secretName: a, isCA: false}",
        "false",
        "true",
        "isCA",
    ),
    (
        "policy.cert-manager.io",
        "CertificateRequestPolicy",
        "{allowed: {dnsNames: {values: [a]}}}",
        "[a]",
        "[a, '*']",
        "allowed.*.values",
    ),
    (
        "consul.hashicorp.com",
        "ServiceIntentions",
        "{sources: [{name: web, action: deny}]}",
        "deny",
        "allow",
        "sources.*.action",
    ),
    (
        "consul.hashicorp.com",
        "ServiceDefaults",
        "{mutualTLSMode: strict}",
        "strict",
        "permissive",
        "mutualTLSMode",
    ),
    (
        "consul.hashicorp.com",
        "Mesh",
        "{a: 1}",
        "a: 1",
        "a: 1, allowEnablingPermissiveMutualTLS: true",
        "allowEnablingPermissiveMutualTLS",
    ),
    (
        "consul.hashicorp.com",
        "ExportedServices",
        "{services: [{name: a, consumers: [{peer: b}]}]}",
        "{peer: b}",
        "{peer: b}, {peer: c}",
        "consumers",
    ),
    (
        "kuma.io",
        "MeshPassthrough",
        "{default: {passthroughMode: Matched}}",
        "Matched",
        "All",
        "passthroughMode",
    ),
    (
        "kuma.io",
        "MeshTLS",
        "{rules: [{default: {mode: Strict}}]}",
        "Strict",
        "Permissive",
        "mode",
    ),
    (
        "kuma.io",
        "Mesh",
        "{mtls: {enabledBackend: ca, backends: [{name: ca}]}}",
        "{name: ca}",
        "{name: ca, mode: PERMISSIVE}",
        "backends.*.mode",
    ),
    (
        "crd.nsx.vmware.com",
        "SecurityPolicy",
        "{rules: [{name: a, action: Drop}]}",
        "Drop",
        "Allow",
        "rules.*.action",
    ),
    (
        "security.openshift.io",
        "SecurityContextConstraints",
        "{users: [a]}",
        "[a]",
        "[a, b]",
        "users",
    ),
    (
        "config.openshift.io",
        "OAuth",
        "{identityProviders: [{name: a}]}",
        "{name: a}",
        "{name: a}, {name: b}",
        "identityProviders",
    ),
    (
        "spire.spiffe.io",
        "ClusterSPIFFEID",
        "{podSelector: {matchLabels: {a: b, c: d}}}",
        "a: b, ",
        "",
        "podSelector.matchLabels",
    ),
    (
        "spire.spiffe.io",
        "ClusterSPIFFEID",
        "{className: a}",
        "className: a",
        "className: a, admin: true",
        "admin",
    ),
    (
        "spire.spiffe.io",
        "ClusterStaticEntry",
        "{selectors: ['k8s:ns:a', 'k8s:sa:b']}",
        "'k8s:ns:a', ",
        "",
        "selectors",
    ),
    (
        "hydra.ory.sh",
        "OAuth2Client",
        "{redirectUris: [a]}",
        "[a]",
        "[a, b]",
        "redirectUris",
    ),
    (
        "hydra.ory.sh",
        "OAuth2Client",
        "{tokenEndpointAuthMethod: client_secret_basic}",
        "client_secret_basic",
        "none",
        "tokenEndpointAuthMethod",
    ),
    (
        "oathkeeper.ory.sh",
        "Rule",
        "{authorizer: {handler: remote_json}}",
        "remote_json",
        "allow",
        "authorizer.handler",
    ),
    (
        "k8s.keycloak.org",
        "KeycloakRealmImport",
        "{realm: {sslRequired: external}}",
        "external",
        "none",
        "sslRequired",
    ),
    (
        "k8s.keycloak.org",
        "Keycloak",
        "{http: {httpEnabled: false}}",
        "false",
        "true",
        "httpEnabled",
    ),
    (
        "capsule.clastix.io",
        "Tenant",
        "{owners: [{name: a}]}",
        "{name: a}",
        "{name: a}, {name: b}",
        "owners",
    ),
    (
        "kafka.strimzi.io",
        "Kafka",
        "{kafka: {authorization: {superUsers: [a]}}}",
        "[a]",
        "[a, b]",
        "superUsers",
    ),
    (
        "kafka.strimzi.io",
        "Kafka",
        "{kafka: {listeners: [{name: a, tls: true, authentication: {type: tls}}]}}",
        ", authentication: {type: tls}",
        "",
        "authentication",
    ),
    (
        "kafka.strimzi.io",
        "KafkaUser",
        "{authorization: {acls: [{resource: {name: orders}}]}}",
        "orders",
        "'*'",
        "resource.name",
    ),
    (
        "postgresql.cnpg.io",
        "Cluster",
        "{instances: 3}",
        "instances: 3",
        "instances: 3, enableSuperuserAccess: true",
        "enableSuperuserAccess",
    ),
    (
        "rabbitmq.com",
        "Permission",
        "{permissions: {write: orders}}",
        "orders",
        "'.*'",
        "permissions",
    ),
    (
        "rabbitmq.com",
        "User",
        "{tags: [monitoring]}",
        "[monitoring]",
        "[monitoring, administrator]",
        "tags",
    ),
    (
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        "{http: {tls: {selfSignedCertificate: {disabled: false}}}}",
        "false",
        "true",
        "disabled",
    ),
    (
        "storage.cnrm.cloud.google.com",
        "StorageBucket",
        "{publicAccessPrevention: enforced}",
        "enforced",
        "inherited",
        "publicAccessPrevention",
    ),
    (
        "run.cnrm.cloud.google.com",
        "RunService",
        "{ingress: INGRESS_TRAFFIC_INTERNAL_ONLY}",
        "INTERNAL_ONLY",
        "ALL",
        "ingress",
    ),
    (
        "sql.cnrm.cloud.google.com",
        "SQLInstance",
        "{settings: {ipConfiguration: {authorizedNetworks: [{value: 10.0.0.0/8}]}}}",
        "10.0.0.0/8}",
        "10.0.0.0/8}, {value: 1.2.3.4/32}",
        "authorizedNetworks",
    ),
    (
        "ec2.services.k8s.aws",
        "SecurityGroup",
        "{ingressRules: [{ipRanges: [{cidrIP: 10.0.0.0/8}]}]}",
        "10.0.0.0/8",
        "0.0.0.0/0",
        "cidrIP",
    ),
    (
        "ec2.aws.upbound.io",
        "SecurityGroupRule",
        "{forProvider: {cidrBlocks: [10.0.0.0/8]}}",
        "10.0.0.0/8",
        "0.0.0.0/0",
        "cidrBlocks",
    ),
    (
        "s3.services.k8s.aws",
        "Bucket",
        "{acl: private}",
        "private",
        "public-read",
        "acl",
    ),
]
CASES += [
    (
        "notification.toolkit.fluxcd.io",
        "Receiver",
        "{type: github, secretRef: {name: a}}",
        "github",
        "generic",
        "type",
    ),
    (
        "triggers.tekton.dev",
        "EventListener",
        "{triggers: [{name: a, interceptors: [{ref: {name: github}}]}]}",
        ", interceptors: [{ref: {name: github}}]",
        "",
        "interceptors",
    ),
]
NOTED: list[tuple[str, str, str, str, str, str]] = [
    (
        "kustomize.toolkit.fluxcd.io",
        "Kustomization",
        "{path: a, serviceAccountName: b}",
        ", serviceAccountName: b",
        "",
        "serviceAccountName",
    ),
]
EXPORT = (
    "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceExport\nmetadata: {name: checkout, namespace: shop}\n"
)


def spec(written: str) -> Any:
    return read(written.encode(), "spec.yaml").documents[0].value


@pytest.mark.parametrize(("group", "kind", "before", "old", "new", "path"), [*CASES, *NOTED])
def test_a_field_of_a_product(group: str, kind: str, before: str, old: str, new: str, path: str) -> None:
    assert old in before
    states = spec(before), spec(before.replace(old, new))
    found = [(each.weak.path, sure) for each, sure in directed_changes((group, kind), *states)]
    assert found and all(path in each for each, _ in found)
    assert any(sure for _, sure in found) == ((group, kind, before, old, new, path) in CASES)
    assert not any(sure for _, sure in directed_changes((group, kind), *reversed(states))), "its reverse is stronger"
    twin = spec("# written otherwise\n" + before.replace("{", "{ "))
    assert not list(directed_changes((group, kind), states[0], twin))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("action: Deny, source: {selector: app == 'web'}", "action: Deny, source: {selector: all()}"),
        ("action: Allow, source: {selector: app == 'web'}", 'action: Allow, source: {selector: app == "web"}'),
        ("action: Allow, destination: {ports: ['5432']}", "action: Allow, destination: {ports: [5432]}"),
    ],
)
def test_a_denial_of_more_and_another_way_to_write_it_are_silent(tmp_path: Path, before: str, after: str) -> None:
    policy = (
        "apiVersion: projectcalico.org/v3\nkind: NetworkPolicy\nmetadata: {name: db, namespace: shop}\n"
        "spec: {selector: app == 'db', ingress: [{RULE}]}\n"
    )
    for rule in (before, after):
        commit(tmp_path, {"policy.yaml": policy.replace("RULE", rule)})
    _, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD")
    assert "warning[" not in out
    assert "note[" not in out or before.startswith("action: Deny")


def test_every_kind_of_a_product_has_a_case() -> None:
    shown = {(group, kind) for group, kind, *_ in [*CASES, *NOTED]}
    for product in product_table()["products"]:
        assert product["source"]
        for entry in product["kinds"]:
            cases = [kind for group, kind in shown if group in product["groups"] and re.fullmatch(entry["kind"], kind)]
            assert cases or not entry.get("weaker"), entry["kind"]


def test_an_export_is_told(tmp_path: Path) -> None:
    tree = "---".join(
        (
            worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
            worlds.gateway(of_class="eg"),
            worlds.route(),
            worlds.service(),
        )
    )
    commit(tmp_path, {"tree.yaml": tree})
    commit(tmp_path, {"export.yaml": EXPORT})
    _, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD")
    assert "ServiceExport shop/checkout is new, it can be reached from elsewhere" in " ".join(out.split())


SPLITS = (
    ("split.smi-spec.io/v1alpha2", "TrafficSplit", "{service: checkout, backends: [{service: a, weight: 1}]}"),
    ("consul.hashicorp.com/v1alpha1", "ServiceSplitter", "{splits: [{service: a, weight: 1}]}"),
    ("multicluster.linkerd.io/v1alpha2", "Link", "{gatewayAddress: 10.0.0.1, weight: 1}"),
)


@pytest.mark.parametrize(("api", "kind", "spec"), SPLITS, ids=[each[1] for each in SPLITS])
@pytest.mark.parametrize(("after", "told"), [("weight: 9", True), ("'weight': 1", False)], ids=["more", "as it was"])
def test_what_splits_requests_is_never_said_to_answer_as_before(
    api: str, kind: str, spec: str, after: str, told: bool, tmp_path: Path
) -> None:
    around = (worlds.gateway_class(), worlds.gateway(), worlds.route(), worlds.service())
    first = worlds.manifest(api, kind, "s", "shop", f"spec: {spec}")
    printed = diff(
        tmp_path,
        {"world.yaml": "\n---\n".join((*around, first))},
        {"world.yaml": "\n---\n".join((*around, first.replace("weight: 1", after)))},
    )
    assert ("the effect on access is not known" in " ".join(printed.split())) == told
    assert ("answers all requests as before" in printed) != told
