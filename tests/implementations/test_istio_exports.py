"""Destinations of VirtualServices that are not shown to the proxies which go by them: `exportTo`, of all that has it.

Predicted from istio/istio, pilot/pkg/model/push_context.go (servicesExportedToNamespace, destinationRule).
"""

from __future__ import annotations

import pytest

from policylint.catalog.naming import shipped_schemas
from policylint.checks import run
from policylint.model import Finding, mapping
from policylint.schema.known import _shipped
from tests.worlds import manifest, simulated

MESH = "networking.istio.io/v1"
HOST = "web.shop.svc.cluster.local"
CLIENT = manifest(
    "apps/v1",
    "Deployment",
    "gateway",
    "edge",
    "spec: {selector: {matchLabels: {istio: gw}}, template: {metadata: {labels: {istio: gw}}, spec: {containers: []}}}",
)
GATEWAY = manifest(
    MESH,
    "Gateway",
    "gw",
    "team",
    "spec: {selector: {istio: gw}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}",
)


WEB = "template: {metadata: {labels: {app: web}}, spec: {containers: []}}"
PODS = manifest("apps/v1", "Deployment", "web", "shop", f"spec: {{selector: {{matchLabels: {{app: web}}}}, {WEB}}}")


def web(exported: str = "") -> str:
    more = f"annotations: {{networking.istio.io/exportTo: '{exported}'}}" if exported else ""
    spec = "spec: {selector: {app: web}, ports: [{port: 80}]}"
    return f"{manifest('v1', 'Service', 'web', 'shop', spec, more=more)}---{PODS}"


def rule(exported: str) -> str:
    spec = f"spec: {{host: {HOST}, exportTo: [{exported}], subsets: [{{name: v1, labels: {{app: web}}}}]}}"
    return manifest(MESH, "DestinationRule", "d", "shop", spec)


def virtual(gateways: str, field: str = "http", subset: str = "", exported: str = "") -> str:
    match = ", match: [{sniHosts: [shop.example.com]}]" if field == "tls" else ""
    destination = f"{{host: {HOST}{subset and ', subset: ' + subset}}}"
    spec = f"hosts: [shop.example.com], gateways: [{gateways}], exportTo: [{exported}]"
    return manifest(
        MESH,
        "VirtualService",
        "v",
        "team",
        f"spec: {{{spec}, {field}: [{{route: [{{destination: {destination}}}]{match}}}]}}",
    )


def told(*objects: str) -> list[Finding]:
    found = run(simulated(GATEWAY, CLIENT, *objects), select={"GWP415"})
    return [each for each in found if "not show" in each.message]


@pytest.mark.parametrize("field", ["http", "tcp", "tls"])
@pytest.mark.parametrize("exported", [".", "~", "shop", "shop, team"])
def test_a_service_that_gateways_do_not_see(field: str, exported: str) -> None:
    [found] = told(web(exported), virtual("gw", field))
    assert found.message.endswith(
        "sends requests to Service shop/web, which is not shown to namespace edge, where its proxies are"
    )
    assert (found.severity, found.confidence) == ("error", "certain")


@pytest.mark.parametrize("exported", ["", "*", "edge", "shop,edge", "${WHO}"])
def test_a_service_that_they_see_or_may_see(exported: str) -> None:
    assert not told(web(exported), virtual("gw"))


def test_a_subset_whose_rule_is_for_other_clients() -> None:
    [found] = told(web(), rule("'.'"), virtual("gw", subset="v1"))
    assert "subset v1 of Service shop/web, which is not shown to namespace edge" in found.message
    assert not told(web(), rule("'*'"), virtual("gw", subset="v1"))
    assert not told(web(), rule("edge"), virtual("gw", subset="v1"))
    assert not told(web(), rule("'.'"), virtual("gw"))


@pytest.mark.parametrize(("exported", "confidence"), [("'.'", "certain"), ("", "assumed")])
def test_clients_in_the_mesh(exported: str, confidence: str) -> None:
    [found] = told(web(), rule("'.'"), virtual("mesh", subset="v1", exported=exported))
    assert found.confidence == confidence
    assert "not shown to namespace team" in found.message


def test_one_of_several_readers_is_enough() -> None:
    assert not told(web("team"), virtual("gw, mesh"))


def entry(exported: str, name: str = "api") -> str:
    spec = (
        f"hosts: [{HOST}], exportTo: [{exported}], resolution: DNS, ports: [{{number: 80, name: http, protocol: HTTP}}]"
    )
    return manifest(MESH, "ServiceEntry", name, "shop", f"spec: {{{spec}}}")


@pytest.mark.parametrize(
    ("exported", "shown"), [("'.'", False), ("shop", False), ("'*'", True), ("edge", True), ("", True)]
)
def test_a_host_that_an_entry_knows(exported: str, shown: bool) -> None:
    found = told(entry(exported), virtual("gw"))
    assert ["does not show to namespace edge" in each.message for each in found] == [True] * (not shown)
    assert not told(entry("'.'"), entry("'*'", "other"), virtual("gw"))


def test_every_kind_that_has_such_a_field_is_one_of_these() -> None:
    """Whoever gives another kind an `exportTo` asks here as well: these are looked at by what sends requests to them,
    a VirtualService by its Gateways (doors/istio.py, hidden)."""
    kinds = list(shipped_schemas("networking.istio.io"))
    having = set()
    for kind in kinds:
        versions = _shipped("networking.istio.io", kind)["versions"].values()
        latest = next(each for each in reversed(versions) if not isinstance(each, str))
        spec = mapping(mapping(latest.get("properties")).get("spec"))
        having |= {kind} if "exportTo" in mapping(spec.get("properties")) else set()
    assert having == {"DestinationRule", "ServiceEntry", "VirtualService"}
