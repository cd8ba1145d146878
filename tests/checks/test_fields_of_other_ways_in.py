"""GWP501 at ways in that are no routes: fields that their CRDs do not have (projectcontour/contour#6065)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, service, simulated

PROXY = ("projectcontour.io/v1", "HTTPProxy", "virtualhost: {fqdn: a.example.com}, routes: [{%s}]")
TO = "services: [{name: checkout, port: 80}]"


@pytest.mark.parametrize(
    ("kind", "spec", "place"),
    [
        (PROXY, f"{TO}, timeoutPolicy: {{response: 5s}}", None),
        (PROXY, f"{TO}, timeoutPolicy: {{request: 5s}}", "spec.routes[0].timeoutPolicy.request"),
        (PROXY, f"{TO}, enableWebsocket: true", "spec.routes[0].enableWebsocket"),
        (PROXY, "services: [{name: checkout}]", "spec.routes[0].services[0].port"),
    ],
)
def test_fields_that_are_there(kind: tuple[str, str, str], spec: str, place: str | None) -> None:
    version, name, template = kind
    world = simulated(service(), manifest(version, name, "a", "shop", f"spec: {{{template % spec}}}"))
    found = [each.field for each in run(world, select={"GWP501"})]
    assert found == ([] if place is None else [place])
