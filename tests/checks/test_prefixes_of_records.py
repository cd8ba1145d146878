"""GWP114 and GWP404: by which annotations an ExternalDNS that is there reads (kubernetes-sigs/external-dns#6424)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import gateway, manifest, route, simulated

OLD, NEW = "external-dns.alpha.kubernetes.io/", "external-dns.kubernetes.io/"


def running(image: str, *args: str, name: str = "dns") -> str:
    said = ", ".join(("--source=gateway-httproute", *args))
    container = f"{{name: dns, image: '{image}', args: [{said}]}}"
    spec = f"spec: {{template: {{metadata: {{labels: {{app: dns}}}}, spec: {{containers: [{container}]}}}}}}"
    return manifest("apps/v1", "Deployment", name, "dns", spec)


def installed(values: str) -> str:
    spec = f"spec: {{chart: {{spec: {{chart: external-dns}}}}, values: {values}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "dns", "dns", spec)


def told(annotations: str, *objects: str) -> list[str]:
    parts = (gateway(), route(annotations=annotations), *objects)
    return [each.message for each in run(simulated(*parts), select={"GWP114"})]


IMAGE = "registry.k8s.io/external-dns/external-dns"


@pytest.mark.parametrize(
    ("made", "unread"),
    [
        ((running(f"{IMAGE}:v0.22.0"),), [OLD]),
        ((running(f"{IMAGE}:v0.23.1@sha256:0a"),), [OLD]),
        ((running(f"{IMAGE}:v0.21.0"),), [NEW]),
        ((running(f"{IMAGE}:v0.22.0"), running(f"{IMAGE}:v0.19.0", name="old")), []),
        ((running(f"{IMAGE}:v0.22.0", f"--annotation-prefix={OLD}"),), [NEW]),
        ((running(f"{IMAGE}:v0.22.0", "--annotation-prefix", "inside.example.com/"),), [OLD, NEW]),
        ((running(f"{IMAGE}:latest"),), []),
        ((running(f"{IMAGE}:v0.22.0"), running(f"{IMAGE}:${{TAG}}", name="other")), []),
        ((installed("{image: {tag: v0.22.0}}"),), [OLD]),
        ((installed(f"{{image: {{tag: v0.22.0}}, annotationPrefix: {OLD}}}"),), [NEW]),
        ((installed("{}"),), []),
        ((), []),
    ],
)
@pytest.mark.parametrize("prefix", [OLD, NEW])
def test_the_beginning_is_that_of_the_release(made: tuple[str, ...], unread: list[str], prefix: str) -> None:
    found = told(f"{prefix}ttl: 1m", *made)
    assert len(found) == (prefix in unread)
    assert all(f"{prefix}ttl does nothing on HTTPRoute" in each and "ExternalDNS reads" in each for each in found)


def test_both_at_once_lose_nothing() -> None:
    both = f"{OLD}ttl: 1m, {NEW}ttl: 1m"
    assert told(both, running(f"{IMAGE}:v0.22.0")) == []


@pytest.mark.parametrize("kind", ["Service", "Ingress"])
def test_services_and_ingresses_bear_them_too(kind: str) -> None:
    version = "v1" if kind == "Service" else "networking.k8s.io/v1"
    made = manifest(version, kind, "web", "shop", "spec: {}", more=f"annotations: {{{OLD}hostname: a.example.com}}")
    parts = (gateway(), made, running(f"{IMAGE}:v0.22.0"))
    assert [str(each.resources[0]) for each in run(simulated(*parts), select={"GWP114"})] == [f"{kind} shop/web"]


@pytest.mark.parametrize(("tag", "said"), [("v0.22.0", 0), ("v0.21.0", 1)])
def test_a_name_that_is_not_read_is_no_record_that_is_missing(tag: str, said: int) -> None:
    edge = gateway(
        listeners="[{name: http, port: 80, protocol: HTTP, hostname: '*.example.com', "
        "allowedRoutes: {namespaces: {from: All}}}]"
    )
    named = route(more="hostnames: [a.example.com]", annotations=f"{OLD}hostname: a.example.net")
    found = run(simulated(edge, named, running(f"{IMAGE}:{tag}")), select={"GWP404"})
    assert len(list(found)) == said
