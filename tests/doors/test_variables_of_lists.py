"""Lists of addresses, and of what asks, for which a variable stands: whom they let in is not known.

The siblings of what `test_variables.py` holds: fields of single values, nested objects, and objects that rules name.
"""

from __future__ import annotations

import pytest

from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests.doors.asking import ingress
from tests.worlds import manifest, service, simulated

KONG = manifest(
    "networking.k8s.io/v1", "IngressClass", "kong", "", "spec: {controller: ingress-controllers.konghq.com/kong}"
)
URL, CLIENT = "http://shop.example.com/", "192.0.2.7"


def traefik(middleware: str, more: str = "") -> str:
    rule = "match: 'Host(`shop.example.com`)', middlewares: [{name: m}], services: [{name: web, port: 80}]"
    return "---".join(
        (
            manifest("traefik.io/v1alpha1", "Middleware", "m", "shop", f"spec: {middleware}"),
            manifest(
                "traefik.io/v1alpha1",
                "IngressRoute",
                "web",
                "shop",
                f"spec: {{entryPoints: [web], routes: [{{kind: Rule, {rule}}}]}}",
            ),
            more,
        )
    )


def kong(config: str) -> str:
    plugin = manifest(
        "configuration.konghq.com/v1", "KongPlugin", "m", "shop", f"plugin: ip-restriction\nconfig: {config}"
    )
    named = ingress(of_class="kong", prefix="konghq.com/", plugins="m")
    return f"{KONG}---{plugin}---{named}"


def nginx(section: str) -> str:
    asked = manifest("k8s.nginx.org/v1", "Policy", "m", "shop", f"spec: {section}")
    fields = (
        "policies: [{name: m}], upstreams: [{name: w, service: web, port: 80}], routes: [{path: /, action: {pass: w}}]"
    )
    return f"{asked}---" + manifest(
        "k8s.nginx.org/v1", "VirtualServer", "web", "shop", f"spec: {{host: shop.example.com, {fields}}}"
    )


BELOW = manifest("traefik.io/v1alpha1", "Middleware", "below", "shop", 'spec: {chain: "${M}"}')


@pytest.mark.parametrize(
    ("written", "is_open"),
    [
        (traefik('{ipAllowList: {sourceRange: "${NETS}"}}'), True),
        (traefik('{ipAllowList: {sourceRange: ["${NETS}"]}}'), True),
        (traefik('{ipAllowList: "${LIST}"}'), True),
        (traefik('{ipWhiteList: {sourceRange: "${NETS}"}}'), True),
        (traefik('{chain: "${M}"}'), True),
        (traefik('{chain: {middlewares: "${M}"}}'), True),
        (traefik('{chain: {middlewares: ["${M}"]}}'), True),
        (traefik("{chain: {middlewares: [{name: below}]}}", BELOW), True),
        (traefik("{ipAllowList: {sourceRange: [192.0.2.0/24]}}"), False),
        (traefik("{chain: {middlewares: []}}"), False),
        (kong('{allow: "${NETS}"}'), True),
        (kong('{deny: ["${NETS}"]}'), True),
        (kong('"${CONFIG}"'), True),
        (kong("{allow: [192.0.2.0/24]}"), False),
        (nginx('{accessControl: {allow: "${NETS}"}}'), True),
        (nginx('{accessControl: {deny: ["${NETS}"]}}'), True),
        (nginx("{accessControl: {allow: [192.0.2.0/24]}}"), False),
    ],
)
def test_who_is_let_in_hangs_on_a_variable(written: str, is_open: bool) -> None:
    tracer = Tracer(simulated(service("web"), written), nearest=False)
    trace = tracer.trace(from_url("GET", URL, (), client=CLIENT))
    login = Requirements(tracer).of(trace, "authentication").state
    assert (bool(trace.depends) or login == "unknown") == is_open
    assert [key.name for key in trace.outcome.backends] == ["web"]
