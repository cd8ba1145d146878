"""GWP415: credentials of Istio's own Gateways that are not where the proxies read them (istio/istio#27740)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.test_istio import gateway, pods
from tests.worlds import manifest, simulated

SERVER = "{port: {number: 443, name: https, protocol: HTTPS}, hosts: ['*'], tls: {mode: SIMPLE, credentialName: c}}"
MUTUAL = SERVER.replace("mode: SIMPLE, credentialName: c", "mode: MUTUAL, credentialName: c, caCertCredentialName: ca")


def secret(namespace: str, name: str = "c") -> str:
    return manifest("v1", "Secret", name, namespace, "type: Opaque")


def certificate(namespace: str) -> str:
    return manifest("cert-manager.io/v1", "Certificate", "web", namespace, "spec: {secretName: c}")


@pytest.mark.parametrize(
    ("servers", "objects", "fields"),
    [
        (SERVER, (pods(), secret("shop")), ["credentialName"]),
        (SERVER, (pods(), certificate("shop")), ["credentialName"]),
        (MUTUAL, (pods(), secret("shop"), secret("shop", "ca")), ["credentialName", "caCertCredentialName"]),
        (MUTUAL, (pods(), secret("istio-system"), secret("shop", "ca")), ["caCertCredentialName"]),
        # there, too; made there; nobody's; of pods that were not seen, or that run beside the Gateway
        (SERVER, (pods(), secret("shop"), secret("istio-system")), []),
        (SERVER, (pods(), secret("shop"), certificate("istio-system")), []),
        (SERVER, (pods(),), []),
        (SERVER, (secret("shop"),), []),
        (SERVER, (pods("shop"), secret("shop")), []),
    ],
)
def test_where_proxies_read_them(servers: str, objects: tuple[str, ...], fields: list[str]) -> None:
    found = run(simulated(gateway(f"[{servers}]", namespace="shop"), *objects), select={"GWP415"})
    told = [(each.field.rpartition(".")[2], each.confidence) for each in found if "look for in" in each.message]
    assert told == [(field, "assumed") for field in fields]
