"""Pods that Istio's own Gateways select are proxies; who connects to a server without mutual TLS has no identity."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, simulated

PODS = """apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress, namespace: edge}
spec:
  selector: {matchLabels: {app: ingress}}
  template:
    metadata: {labels: {app: ingress}}
    spec: {containers: [{name: proxy, image: example.com/proxy:1, ports: [{containerPort: 8080}]}]}
"""


def gateway(tls: str = "", selector: str = "{app: ingress}", protocol: str = "HTTPS") -> str:
    servers = f"[{{port: {{number: 8443, name: one, protocol: {protocol}}}, hosts: [shop.example.com]{tls}}}]"
    return manifest(
        "networking.istio.io/v1", "Gateway", "edge", "shop", f"spec: {{selector: {selector}, servers: {servers}}}"
    )


def policy(source: str, action: str = "ALLOW") -> str:
    spec = f"selector: {{matchLabels: {{app: ingress}}}}, action: {action}, rules: [{{from: [{{source: {source}}}]}}]"
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "some", "edge", f"spec: {{{spec}}}")


@pytest.mark.parametrize(
    ("tls", "told"),
    [
        (", tls: {mode: SIMPLE, credentialName: c}", True),
        (", tls: {mode: PASSTHROUGH}", True),
        (", tls: {mode: MUTUAL, credentialName: c}", False),
        (", tls: {mode: ISTIO_MUTUAL}", False),
    ],
)
@pytest.mark.parametrize("pods", [(PODS,), ()])
def test_servers_without_mutual_tls(tls: str, told: bool, pods: tuple[str, ...]) -> None:
    found = list(run(simulated(*pods, gateway(tls), policy("{namespaces: [shop]}")), select={"GWP315"}))
    assert bool([each for each in found if "it lets no client in" in each.message]) == (told and bool(pods))
    assert told or not found


@pytest.mark.parametrize(
    ("source", "action", "says"),
    [
        ("{notPrincipals: [cluster.local/ns/a/sa/b]}", "DENY", "every client is another one, and denied"),
        ("{notNamespaces: [a]}", "ALLOW", "every client is another one, and let in"),
        ("{principals: [cluster.local/ns/a/sa/b]}", "DENY", "it denies nothing"),
        ('{notPrincipals: ["*"]}', "DENY", ""),
        ("{namespaces: [a], notPrincipals: [cluster.local/ns/a/sa/b]}", "ALLOW", "it lets no client in"),
    ],
)
def test_who_a_client_is_not(source: str, action: str, says: str) -> None:
    tls = ", tls: {mode: SIMPLE, credentialName: c}"
    found = run(simulated(PODS, gateway(tls), policy(source, action)), select={"GWP315"})
    assert [each.message.rpartition(": ")[2] for each in found] == ([says] if says else [])


def test_a_gateway_of_other_pods() -> None:
    other = gateway(", tls: {mode: SIMPLE, credentialName: c}", "{app: other}")
    assert not list(run(simulated(PODS, other, policy("{namespaces: [shop]}")), select={"GWP315"}))
