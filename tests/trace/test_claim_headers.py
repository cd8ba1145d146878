"""Headers that are written from tokens: what rules find in them, and that what clients write there does not count.

Sources: Envoy's jwt_authn (extractor.cc, sanitizeHeaders: such headers are taken off before a token is looked for);
istio/istio#53212 (they are gone without a token, too, as intended); gateway.envoyproxy.io, «JWT Claim-Based
Authorization»; kgateway, «JWT», claimsToHeaders.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from tests.network.worlds import manifest

VERSION = "gateway.networking.k8s.io/v1"
TARGETS = {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"}]}
ISSUER = {"issuer": "https://id.example.com"}
KEYS = {**ISSUER, "jwksUri": "https://id.example.com/jwks"}
OF_ROLE, OF_PAYLOAD = (
    {"outputClaimToHeaders": [{"header": "X-Role", "claim": "role"}]},
    {"outputPayloadToHeader": "x-role"},
)
_KEY = {"kty": "RSA", "kid": "a", "n": "sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri", "e": "AQAB"}
JWKS = json.dumps({"keys": [_KEY]})
REFUSED, REACHES, OPEN = "Result: 403", "Result: reaches shop/web", "depends on the token that it brings"


def shop(controller: str, *policies: dict[str, Any]) -> list[dict[str, Any]]:
    listeners = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    rules = [{"backendRefs": [{"name": "web", "port": 80}]}]
    return [
        manifest(VERSION, "GatewayClass", "c", "", spec={"controllerName": controller}),
        manifest(VERSION, "Gateway", "edge", "shop", spec={"gatewayClassName": "c", "listeners": listeners}),
        manifest(VERSION, "HTTPRoute", "web", "shop", spec={"parentRefs": [{"name": "edge"}], "rules": rules}),
        manifest("v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]}),
        *policies,
    ]


def istio(written: dict[str, Any], *more: dict[str, Any]) -> list[dict[str, Any]]:
    rules = {**TARGETS, "jwtRules": [{**KEYS, **written}]}
    when = [{"key": "request.headers[x-role]", "values": ["admin"]}]
    security = "security.istio.io/v1"
    return shop(
        "istio.io/gateway-controller",
        manifest(security, "RequestAuthentication", "jwt", "shop", spec=rules),
        manifest(security, "AuthorizationPolicy", "admins", "shop", spec={**TARGETS, "rules": [{"when": when}]}),
        *more,
    )


def envoy_gateway(written: bool) -> list[dict[str, Any]]:
    provider = {"name": "id", **ISSUER, "remoteJWKS": {"uri": "https://id.example.com/jwks"}}
    if written:
        provider["claimToHeaders"] = [{"header": "X-Role", "claim": "role"}]
    rule = {"action": "Allow", "principal": {"headers": [{"name": "x-role", "values": ["admin"]}]}}
    rules = {"defaultAction": "Deny", "rules": [rule]}
    spec = {**TARGETS, "jwt": {"optional": True, "providers": [provider]}, "authorization": rules}
    policy = manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "jwt", "shop", spec=spec)
    return shop("gateway.envoyproxy.io/gatewayclass-controller", policy)


def kgateway(written: bool) -> list[dict[str, Any]]:
    provider: dict[str, Any] = {"name": "id", **ISSUER, "jwks": {"local": {"inline": JWKS}}}
    if written:
        provider["claimsToHeaders"] = [{"name": "role", "header": "x-role"}]
    spec = {"jwt": {"providers": [provider]}}
    version = "gateway.kgateway.dev/v1alpha1"
    extension = manifest(version, "GatewayExtension", "id", "shop", spec=spec)
    rbac = {"policy": {"matchExpressions": ["request.headers['x-role'] == 'admin'"]}}
    spec = {**TARGETS, "jwtAuth": {"extensionRef": {"name": "id"}}, "rbac": rbac}
    return shop("kgateway.dev/kgateway", extension, manifest(version, "TrafficPolicy", "jwt", "shop", spec=spec))


FORGED, NONE = ("-H", "x-role: admin"), ("--claim", "")
ADMIN = ("--claim", "role=admin", "--claim", "iss=https://id.example.com")
USER = ("--claim", "role=user", "--claim", "iss=https://id.example.com")


def asked(directory: Path, world: list[dict[str, Any]], *options: str) -> str:
    file = directory / "world.yaml"
    file.write_text(yaml.safe_dump_all(world), encoding="utf-8")
    arguments = ["trace", "GET", "http://web.example.com/", *options, str(file)]
    return " ".join(CliRunner().invoke(main, arguments).stdout.split())


@pytest.mark.parametrize("world", [istio(OF_ROLE), envoy_gateway(written=True), kgateway(written=True)])
def test_claims_count_and_what_clients_write_does_not(world: list[dict[str, Any]], tmp_path: Path) -> None:
    assert REACHES in asked(tmp_path, world, *ADMIN)
    assert REFUSED in asked(tmp_path, world, *USER, *FORGED)
    assert REACHES not in asked(tmp_path, world, *NONE, *FORGED)


@pytest.mark.parametrize("world", [istio({}), envoy_gateway(written=False)])
def test_what_clients_write_counts_where_nothing_writes_it(world: list[dict[str, Any]], tmp_path: Path) -> None:
    assert REACHES in asked(tmp_path, world, *NONE, *FORGED)


def test_all_claims_in_one_header(tmp_path: Path) -> None:
    assert REFUSED in asked(tmp_path, istio(OF_PAYLOAD), *NONE, *FORGED)
    assert OPEN in asked(tmp_path, istio(OF_PAYLOAD), *ADMIN)


def test_reach_tells_requests_apart_by_the_claim(tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    file.write_text(yaml.safe_dump_all(istio(OF_ROLE)), encoding="utf-8")
    said = " ".join(CliRunner().invoke(main, ["reach", str(file)]).stdout.split())
    assert "with claim role: admin shop/web" in said


@pytest.mark.parametrize(("written", "warned"), [(OF_ROLE, False), (OF_PAYLOAD, False), ({}, True)])
def test_such_a_header_asks_for_a_token(written: dict[str, Any], *, warned: bool, tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    file.write_text(yaml.safe_dump_all(istio(written)), encoding="utf-8")
    assert ("GWP305" in CliRunner().invoke(main, ["lint", "--isolated", str(file)]).stdout) is warned


def test_a_header_of_tokens_that_another_gateway_does_not_write(tmp_path: Path) -> None:
    """GWP319: where no token is checked it is what clients write."""
    other = {"targetRefs": [{**TARGETS["targetRefs"][0], "name": "other"}]}
    when = [{"key": "request.headers[X-Role]", "values": ["admin"]}]
    rules = manifest(
        "security.istio.io/v1", "AuthorizationPolicy", "o", "shop", spec={**other, "rules": [{"when": when}]}
    )
    listeners = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    gateway = manifest(VERSION, "Gateway", "other", "shop", spec={"gatewayClassName": "c", "listeners": listeners})
    backends = [{"backendRefs": [{"name": "web", "port": 80}]}]
    route = manifest(VERSION, "HTTPRoute", "o", "shop", spec={"parentRefs": [{"name": "other"}], "rules": backends})
    file = tmp_path / "world.yaml"

    def said(*more: dict[str, Any]) -> str:
        file.write_text(yaml.safe_dump_all(istio(OF_ROLE, *more)), encoding="utf-8")
        return " ".join(CliRunner().invoke(main, ["lint", "--isolated", str(file)]).stdout.split())

    told = "reads X-Role, which no policy sets for Gateway shop/other"
    assert told in said(rules, gateway, route)
    assert told not in said(rules, gateway)  # a waypoint, say, to which requests come from the other one
    everywhere = manifest(
        "security.istio.io/v1", "RequestAuthentication", "all", "shop", spec={"jwtRules": [{**KEYS, **OF_ROLE}]}
    )
    assert told not in said(rules, gateway, route, everywhere)
