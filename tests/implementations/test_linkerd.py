"""Linkerd (docs/design/implementations/kgateway-nginx-gloo.md §4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.worlds import manifest, opened, policy, route, service

WEB_PODS = "spec: {podSelector: {matchLabels: {app: web}}, port: 8080}"
SERVER = manifest("policy.linkerd.io/v1beta3", "Server", "web", "default", WEB_PODS)


def limit(name: str, server: str, created: str) -> str:
    target = f"Server.policy.linkerd.io/{server}"
    return policy(
        "policy.linkerd.io/v1alpha1",
        "HTTPLocalRateLimitPolicy",
        name,
        target,
        "total: {requestsPerSecond: 1}",
        created=created,
        field="targetRef",
    )


def test_the_oldest_rate_limit_of_a_server_counts(tmp_path: Path) -> None:
    """One flat status: Accepted, or why not."""
    simulation = opened(
        tmp_path,
        SERVER,
        limit("young", "web", "2026-01-02T00:00:00Z"),
        limit("old", "web", "2026-01-01T00:00:00Z"),
        limit("lost", "absent", "2026-01-01T00:00:00Z"),
    )
    said = {key.name: (state.verdict, state.conditions[0].reason) for key, state in simulation.policies.items()}
    assert said == {
        "old": ("Enforced", "Accepted"),
        "young": ("Conflicted", "RateLimitReasonAlreadyExists"),
        "lost": ("TargetNotFound", "NoMatchingTarget"),
    }


def authorization(name: str, target: str, *asked: str) -> str:
    spec = f"spec: {{targetRef: {target}, requiredAuthenticationRefs: [{', '.join(asked)}]}}"
    return manifest("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", name, "default", spec)


WEB = "{group: policy.linkerd.io, kind: Server, name: web}"
TLS = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: tls}"
NETWORK = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: office}"
ACCOUNT = "{kind: ServiceAccount, name: caller}"


def test_authorizations_of_one_server_are_alternatives(tmp_path: Path) -> None:
    """A request passes if one policy lets it; what one of them asks for it asks for together."""
    found = opened(
        tmp_path, SERVER, authorization("a", WEB, TLS, NETWORK), authorization("b", "{kind: Namespace, name: default}")
    )
    (group,) = found.groups
    names = [[each["name"] for each in asked] for asked in group.effective.spec["requiredAuthenticationRefs"]]
    assert names == [["tls", "office"], []]
    assert [each.name for each in group.effective.sources] == ["a", "b"]
    assert {state.verdict for state in found.policies.values()} == {"Enforced"}


@pytest.mark.parametrize(
    ("target", "server", "verdict", "contexts"),
    [
        ("{kind: Namespace, name: default}", SERVER, "Enforced", ["Server default/web"]),
        ("{group: core, kind: Namespace, name: default}", SERVER, "Enforced", ["Server default/web"]),
        ("{kind: Namespace, name: default}", SERVER.replace("namespace: default", "namespace: b"), "NoEffect", []),
        ("{kind: Namespace, name: b}", SERVER.replace("namespace: default", "namespace: b"), "Invalid", []),
    ],
)
def test_a_namespace_means_every_server_of_the_policys_own(
    tmp_path: Path, target: str, server: str, verdict: str, contexts: list[str]
) -> None:
    """No manifest of the Namespace is needed: the policy is in it. The webhook refuses any other."""
    found = opened(tmp_path, server, authorization("one", target, TLS))
    assert [state.verdict for state in found.policies.values()] == [verdict]
    assert [" > ".join(map(str, path)) for group in found.groups for path in group.contexts()][
        : len(contexts)
    ] == contexts


def test_another_namespace_is_refused_whether_it_was_seen_or_not(tmp_path: Path) -> None:
    opened(tmp_path, SERVER, authorization("one", "{kind: Namespace, name: b}", TLS))
    assert [state.verdict for state in open_workspace([str(tmp_path)]).simulations[0].policies.values()] == ["Invalid"]


@pytest.mark.parametrize(
    ("asked", "valid"),
    [
        ((TLS, NETWORK), True),
        ((ACCOUNT,), True),
        ((), True),
        ((TLS, TLS), False),
        ((TLS, ACCOUNT), False),
        ((NETWORK, NETWORK), False),
        (("{kind: Secret, name: x}",), False),
    ],
)
def test_what_an_authorization_may_ask_for(tmp_path: Path, asked: tuple[str, ...], valid: bool) -> None:
    found = opened(tmp_path, SERVER, authorization("one", WEB, *asked))
    assert [state.verdict for state in found.policies.values()] == ["Enforced" if valid else "Invalid"]


@pytest.mark.parametrize(
    "reference",
    [
        "{group: policy.linkerd.io, kind: meshtlsauthentication, name: tls}",
        "{group: policy.linkerd.io, kind: NETWORKAUTHENTICATION, name: office}",
        "{kind: serviceaccount, name: caller}",
        "{group: core, kind: ServiceAccount, name: caller}",
    ],
)
def test_kinds_of_authentications_are_compared_without_case(tmp_path: Path, reference: str) -> None:
    """policy-controller/k8s/api/src/policy.rs, targets_kind."""
    objects = (
        manifest("policy.linkerd.io/v1alpha1", "MeshTLSAuthentication", "tls", "default", "spec: {identities: ['*']}"),
        manifest(
            "policy.linkerd.io/v1alpha1",
            "NetworkAuthentication",
            "office",
            "default",
            "spec: {networks: [{cidr: 10.0.0.0/8}]}",
        ),
    )
    found = opened(tmp_path, SERVER, *objects, authorization("one", WEB, reference))
    assert [state.verdict for state in found.policies.values()] == ["Enforced"]


@pytest.mark.parametrize(("group", "kind"), [("policy.linkerd.io", "server"), ("POLICY.Linkerd.io", "SERVER")])
def test_group_and_kind_of_a_target_are_compared_without_case(tmp_path: Path, group: str, kind: str) -> None:
    """policy-controller/k8s/api/src/policy/target_ref.rs: eq_ignore_ascii_case."""
    spec = f"spec: {{targetRef: {{group: {group}, kind: {kind}, name: web}}, requiredAuthenticationRefs: []}}"
    simulation = opened(
        tmp_path, SERVER, manifest("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", "all", "default", spec)
    )
    (state,) = simulation.policies.values()
    assert [(str(target.key), target.lenient, target.problem) for target in state.targets] == [
        ("Server default/web", "", "")
    ]


@pytest.mark.parametrize("annotated", ["linkerd.io/inject: enabled", "linkerd.io/inject: disabled"])
@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute"])
def test_backends_of_other_namespaces_need_no_grant(tmp_path: Path, kind: str, annotated: str) -> None:
    """The policy controller reads no grants; who the mesh is, an annotation of a Namespace tells."""
    to_next = "rules: [{backendRefs: [{name: next, namespace: other, port: 80}]}]"
    simulation = opened(
        tmp_path,
        manifest("v1", "Namespace", "shop", more=f"annotations: {{{annotated}}}"),
        route("web", parents="[{group: core, kind: Service, name: web, port: 80}]", kind=kind, more=to_next),
        service("web"),
        service("next", "other"),
    )
    ((backend,),) = (each.backends for each in simulation.topology.routes)
    assert (backend.granted, backend.reason) == ((True, "") if "enabled" in annotated else (False, "RefNotPermitted"))


def test_routes_in_a_group_of_its_own_need_no_grant_whatever_else_is_here(tmp_path: Path) -> None:
    """No annotation tells of the mesh: the kind does."""
    parent = "parentRefs: [{group: core, kind: Service, name: web, port: 80}]"
    spec = f"spec: {{{parent}, rules: [{{backendRefs: [{{name: next, namespace: other, port: 80}}]}}]}}"
    simulation = opened(
        tmp_path,
        manifest("policy.linkerd.io/v1beta3", "HTTPRoute", "web", "shop", spec),
        service("web"),
        service("next", "other"),
    )
    ((backend,),) = (each.backends for each in simulation.topology.routes)
    assert (backend.granted, backend.reason) == (True, "")
