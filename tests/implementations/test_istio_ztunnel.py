"""What ztunnel enforces where there are no sidecars (docs/design/implementations/istio.md §1; ztunnel src/rbac.rs)."""

from __future__ import annotations

import pytest

from tests.implementations.test_istio import AMBIENT, contexts, deployment, policy, simulated

HTTP = "rules: [{to: [{operation: {methods: [GET]}}]}]"
DEV = "from: [{source: {namespaces: [dev]}}]"


@pytest.mark.parametrize(
    ("kind", "spec", "enforced"),
    [
        ("AuthorizationPolicy", "action: DENY, rules: [{from: [{source: {namespaces: [dev]}}]}]", True),
        ("AuthorizationPolicy", f"action: ALLOW, {HTTP}", True),  # the rule is left out: nothing is allowed
        ("AuthorizationPolicy", f"action: DENY, {HTTP}", False),  # nothing is left
        # A source, an operation and each condition must match, and one of which nothing is left never does.
        ("AuthorizationPolicy", f"action: DENY, rules: [{{{DEV}, to: [{{operation: {{methods: [GET]}}}}]}}]", False),
        (
            "AuthorizationPolicy",
            f"action: DENY, rules: [{{{DEV}, when: [{{key: request.host, values: [b]}}]}}]",
            False,
        ),
        (
            "AuthorizationPolicy",
            f"action: DENY, rules: [{{{DEV}, when: [{{key: source.ip, values: [10.0.0.1]}}]}}]",
            True,
        ),
        ("AuthorizationPolicy", "action: DENY, rules: [{to: [{operation: {ports: ['80'], methods: [GET]}}]}]", True),
        ("AuthorizationPolicy", f"action: DENY, {HTTP[:-1]}, {{{DEV}}}]", True),  # the other rule acts
        ("AuthorizationPolicy", "action: DENY, rules: [{}]", True),
        ("AuthorizationPolicy", "action: DENY, rules: [{from: [{source: {trustDomains: [td]}}]}]", False),
        ("AuthorizationPolicy", "action: AUDIT, rules: [{}]", False),
        ("AuthorizationPolicy", "action: CUSTOM, provider: {name: x}, rules: [{}]", False),
        ("PeerAuthentication", "mtls: {mode: STRICT}", True),
        ("RequestAuthentication", "jwtRules: [{issuer: a}]", False),
        ("WasmPlugin", "url: oci://x", False),
        ("EnvoyFilter", "configPatches: []", False),
    ],
)
def test_ztunnel_enforces_what_is_known_of_connections(kind: str, spec: str, enforced: bool) -> None:
    found = simulated(AMBIENT, deployment(), policy(kind, "one", spec))
    assert bool(contexts(found)) is enforced


@pytest.mark.parametrize(("written", "enforced"), [("true", False), ("1", False), ("T", False), ("no", True)])
def test_a_dry_run_is_not_enforced(written: str, enforced: bool) -> None:
    """Whatever Go's ParseBool takes for true is a dry run, with sidecars and in ambient mode."""
    dry = policy("AuthorizationPolicy", "dry", more=f"annotations: {{istio.io/dry-run: '{written}'}}")
    assert bool(contexts(simulated(deployment(), dry))) is enforced
    assert bool(contexts(simulated(AMBIENT, deployment(), dry))) is enforced
