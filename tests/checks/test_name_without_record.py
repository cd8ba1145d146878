"""GWP417: what ExternalDNS reads, by its arguments and by the values of its chart."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import gateway, manifest, route, simulated

NAMED = "hostnames: [db.example.com]"

VARIABLE = 'env: [{name: EXTERNAL_DNS_SOURCE, value: "gateway-httproute\\nservice"}]'


def running(*sources: str) -> str:
    args = ", ".join(f"--source={each}" for each in sources)
    container = f"{{name: dns, image: 'registry.k8s.io/external-dns/external-dns:v0.19.0', args: [{args}]}}"
    spec = f"spec: {{template: {{metadata: {{labels: {{app: dns}}}}, spec: {{containers: [{container}]}}}}}}"
    return manifest("apps/v1", "Deployment", sources[0], "dns", spec)


def installed(values: str, more: str = "") -> str:
    spec = f"spec: {{chart: {{spec: {{chart: external-dns}}}}, values: {values}{more}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "dns", "dns", spec)


def told(*objects: str) -> list[str]:
    routes = (route("db", kind="TLSRoute", more=NAMED), route("web", more="hostnames: [web.example.com]"))
    return [each.message for each in run(simulated(gateway(), *routes, *objects), select={"GWP417"})]


@pytest.mark.parametrize(
    "objects",
    [
        (running("gateway-httproute"),),
        (running("gateway-httproute"), running("service")),
        (installed("{sources: [gateway-httproute, service]}"),),
        (installed("{extraArgs: ['--source=gateway-httproute']}"),),
        (installed("{extraArgs: {source: gateway-httproute}}"),),
        (running("gateway-httproute").replace("--source=", "--source, "),),  # two words
        (running("gateway-httproute").replace("args: [--source=gateway-httproute]", VARIABLE),),
    ],
)
def test_a_kind_that_nobody_reads_is_told(objects: tuple[str, ...]) -> None:
    assert told(*objects) == [
        "ExternalDNS reads no TLSRoutes (--source=gateway-tlsroute), and makes no record for db.example.com"
    ]


@pytest.mark.parametrize(
    "objects",
    [
        (),
        (running("service"),),  # none reads routes: records come from elsewhere
        (running("gateway-httproute"), running("gateway-tlsroute")),
        (running("gateway-httproute"), installed("{}", ", valuesFrom: [{kind: Secret, name: dns}]")),
        (running("gateway-httproute", "${MORE}"),),
    ],
)
def test_what_may_be_read_is_not_told(objects: tuple[str, ...]) -> None:
    assert told(*objects) == []
