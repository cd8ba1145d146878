"""GWP415 and `trace` where an annotation asks for TLS to pass, and a flag of the controller decides (argo-cd#2649)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

CLASS = manifest("networking.k8s.io/v1", "IngressClass", "nginx", body="spec: {controller: k8s.io/ingress-nginx}")
HAPROXY = manifest(
    "networking.k8s.io/v1", "IngressClass", "haproxy", body="spec: {controller: haproxy-ingress.github.io/controller}"
)


def controller(*arguments: str, image: str = "registry.k8s.io/ingress-nginx/controller:v1.12.1") -> str:
    written = ", ".join(map(repr, ("/nginx-ingress-controller", *arguments)))
    pod = f"template: {{spec: {{containers: [{{name: controller, image: {image!r}, args: [{written}]}}]}}}}"
    return manifest("apps/v1", "Deployment", "controller", "ingress-nginx", f"spec: {{{pod}}}")


def chart(arguments: str) -> str:
    values = f"controller: {{extraArgs: {arguments}}}"
    spec = f"spec: {{chart: {{spec: {{chart: ingress-nginx}}}}, values: {{{values}}}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "nginx", "ingress-nginx", spec)


PASSING = {"ssl_passthrough": "true", "auth_url": "http://sso/"}


@pytest.mark.parametrize(
    ("objects", "annotations", "severity", "login"),
    [
        ((controller(),), PASSING, "error", "externalAuth"),
        ((controller("--enable-ssl-passthrough=false"),), PASSING, "error", "externalAuth"),
        ((controller("--enable-ssl-passthrough"),), PASSING, "", "not known"),
        ((controller("--enable-ssl-passthrough=true"),), PASSING, "", "not known"),
        ((controller(image="registry.example.com/other:1"),), PASSING, "", "not known"),
        ((), PASSING, "", "not known"),
        ((chart("{}"),), PASSING, "error", "externalAuth"),
        ((chart("{enable-ssl-passthrough: ''}"),), PASSING, "", "not known"),
        ((controller(),), {**PASSING, "backend_protocol": "HTTPS"}, "warning", "externalAuth"),
        ((controller(),), {"auth_url": "http://sso/"}, "", "externalAuth"),
    ],
)
def test_tls_that_a_flag_lets_pass(
    objects: tuple[str, ...], annotations: dict[str, str], severity: str, login: str
) -> None:
    simulation = simulated(CLASS, ingress(tls=True, **annotations), service("web"), *objects)
    found = [each for each in run(simulation, select={"GWP415"}) if "passthrough" in each.message]
    assert [each.severity for each in found] == ([severity] if severity else [])
    assert answer(simulation, "https://shop.example.com/") == ("web", login)


def test_other_controllers_need_no_flag() -> None:
    door = ingress(tls=True, of_class="haproxy", prefix="haproxy-ingress.github.io/", ssl_passthrough="true")
    simulation = simulated(HAPROXY, door, service("web"), controller())
    assert not [each for each in run(simulation, select={"GWP415"}) if "passthrough" in each.message]
    assert answer(simulation, "https://shop.example.com/") == ("web", "not known")
