"""Several AuthorizationPolicies of Linkerd at one Server: one of them is enough, and each asks for all that it names.

Source: linkerd2 policy-controller/k8s/index/src/inbound/authorization_policy.rs; without a name everybody is let in.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.repositories import diff
from tests.trace.test_admissions import deployment
from tests.worlds import labelled, manifest, service

KINDS = {"one": "MeshTLSAuthentication", "two": "MeshTLSAuthentication", "office": "NetworkAuthentication"}
SPECS = {
    "MeshTLSAuthentication": "identities: [{0}.shop.serviceaccount]",
    "NetworkAuthentication": "networks: [{{cidr: 10.0.0.0/8}}]",
}
SERVER = manifest(
    "policy.linkerd.io/v1beta3",
    "Server",
    "web",
    "shop",
    "spec: {podSelector: {matchLabels: {app: checkout}}, port: http}",
)


def authorization(name: str, *asked: str) -> str:
    """An AuthorizationPolicy at the Server that asks for some authentications."""
    refs = ", ".join(f"{{group: policy.linkerd.io, kind: {KINDS[each]}, name: {each}}}" for each in asked)
    target = "targetRef: {group: policy.linkerd.io, kind: Server, name: web}"
    spec = f"spec: {{{target}, requiredAuthenticationRefs: [{refs}]}}"
    return manifest("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", name, "shop", spec)


def said(root: Path, before: tuple[str, ...], after: tuple[str, ...], *pods: str) -> str:
    """What diff says of policies; where no pod is seen no request shows what they do."""
    authentications = (
        manifest("policy.linkerd.io/v1alpha1", kind, name, "shop", f"spec: {{{SPECS[kind].format(name)}}}")
        for name, kind in KINDS.items()
    )
    around = (labelled("shop"), service(), SERVER, *authentications, *pods)
    first, second = ("---".join((*around, *policies)) for policies in (before, after))
    return diff(root, {"all.yaml": first}, {"all.yaml": second})


ONE, TWO = authorization("a", "one"), authorization("b", "two")
OFFICE = authorization("c", "office")
BOTH = authorization("b", "two", "office")
ANYBODY = authorization("b")
CHANGES: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    ((ONE, TWO, OFFICE), (ONE, TWO), ""),
    ((ONE, BOTH), (ONE, TWO), "AuthorizationPolicy shop/b loses office"),
    ((ONE, TWO), (ONE, BOTH), ""),
    ((ONE, TWO), (ONE, ANYBODY), "AuthorizationPolicy shop/b loses"),
    ((ONE, ANYBODY), (ONE, TWO), ""),
    ((ONE, ANYBODY, OFFICE), (ONE, TWO, OFFICE), ""),
    ((BOTH,), (TWO,), "AuthorizationPolicy shop/b loses office"),
    ((TWO,), (BOTH,), ""),
]


@pytest.mark.parametrize(("before", "after", "told"), CHANGES)
def test_one_that_asks_for_less_is_a_loss_and_one_less_is_none(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], told: str
) -> None:
    words = " ".join(said(tmp_path, before, after).split())
    assert ("GWP304" in words, told in words) == (bool(told), True), words


@pytest.mark.parametrize(("before", "after", "_"), CHANGES)
def test_all_of_them_are_in_force_whoever_was_first(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], _: str
) -> None:
    assert "created first" not in " ".join(said(tmp_path, before, after, deployment("checkout", "shop")).split())
