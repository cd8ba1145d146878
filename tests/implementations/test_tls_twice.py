"""DestinationRules that encrypt what clients encrypt themselves (istio/istio#36377; istio.io, «Double TLS»)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, service, simulated

HOST = "api.example.net"


def entry(port: str) -> str:
    spec = f"spec: {{hosts: [{HOST}], ports: [{port}], resolution: DNS}}"
    return manifest("networking.istio.io/v1", "ServiceEntry", "api", "shop", spec)


def rule(policy: str) -> str:
    spec = f"spec: {{host: {HOST}, trafficPolicy: {policy}}}"
    return manifest("networking.istio.io/v1", "DestinationRule", "api", "shop", spec)


def virtual(port: int) -> str:
    route = f"{{destination: {{host: {HOST}, port: {{number: {port}}}}}}}"
    spec = f"spec: {{hosts: [{HOST}], http: [{{route: [{route}]}}]}}"
    return manifest("networking.istio.io/v1", "VirtualService", "api", "shop", spec)


HTTPS, TLS, HTTP = (
    "{name: a, number: 443, protocol: HTTPS}",
    "{name: a, number: 8443, protocol: TLS}",
    "{name: a, number: 80, protocol: HTTP, targetPort: 443}",
)
SIMPLE = "{tls: {mode: SIMPLE}}"
NAMED = service("outside", more=f"type: ExternalName, externalName: {HOST}")


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ((entry(HTTPS), rule(SIMPLE)), True),
        ((entry(TLS), rule("{tls: {mode: MUTUAL}}")), True),
        ((entry(HTTPS), rule("{portLevelSettings: [{port: {number: 443}, tls: {mode: SIMPLE}}]}")), True),
        ((entry(HTTPS), rule("{portLevelSettings: [{port: {number: 80}, tls: {mode: SIMPLE}}]}")), False),
        ((entry(HTTPS), rule("{tls: {mode: DISABLE}}")), False),
        ((entry(HTTP), rule(SIMPLE)), False),  # where the mesh is to encrypt
        ((entry(HTTPS), rule(SIMPLE), virtual(443)), False),  # plain requests come by it
        ((entry(HTTPS), rule(SIMPLE), NAMED), False),
        ((entry(HTTPS),), False),
        ((rule(SIMPLE),), False),
    ],
)
def test_what_is_encrypted_twice(objects: tuple[str, ...], told: bool) -> None:
    found = list(run(simulated(*objects), select={"GWP415"}))
    assert [(each.severity, each.confidence) for each in found] == ([("warning", "assumed")] if told else [])
