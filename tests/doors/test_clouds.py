"""Ingresses of GKE and of Azure's Application Gateway: what their Services, BackendConfigs and annotations ask."""

from __future__ import annotations

import pytest

from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, simulated


def service(note: str = "") -> str:
    """Return a Service whose annotation names BackendConfigs."""
    more = f"annotations: {{cloud.google.com/backend-config: '{note}'}}" if note else ""
    return manifest("v1", "Service", "web", "shop", "spec: {selector: {app: web}, ports: [{port: 80}]}", more=more)


def config(spec: str, name: str = "iap") -> str:
    return manifest("cloud.google.com/v1", "BackendConfig", name, "shop", f"spec: {spec}")


GKE = ingress(of_class="gce", paths="/* ImplementationSpecific web", prefix="networking.gke.io/")
IAP = config("{iap: {enabled: true, oauthclientCredentials: {secretName: s}}}")


@pytest.mark.parametrize(
    ("objects", "asked"),
    [
        ((service(),), ""),
        ((service('{"default": "iap"}'), IAP), "login"),
        ((service('{"ports": {"80": "iap"}}'), IAP), "login"),
        ((service('{"ports": {"81": "iap"}}'), IAP), ""),
        ((service('{"default": "iap"}'), config("{iap: {enabled: false}}")), ""),
        ((service('{"default": "iap"}'), config("{timeoutSec: 5}")), ""),
        ((service('{"default": "iap"}'),), "not known"),
    ],
)
def test_a_login_of_google(objects: tuple[str, ...], asked: str) -> None:
    assert answer(simulated(*objects, GKE), "http://shop.example.com/x") == ("web", asked)


def test_cloud_armor_protects() -> None:
    armed = config("{securityPolicy: {name: armor}}")
    tracer = Tracer(simulated(service('{"default": "iap"}'), armed, GKE), nearest=False)
    trace = tracer.trace(from_url("GET", "http://shop.example.com/"))
    assert [name for met in trace.policies for name in met.group.effective.spec] == ["firewall"]
    assert Requirements(tracer).of(trace, "authentication").state == "open"


AZURE = "appgw.ingress.kubernetes.io/"


@pytest.mark.parametrize(
    ("paths", "url", "end"),
    [
        ("/api/* ImplementationSpecific web", "http://shop.example.com/api/x", "web"),
        ("/api ImplementationSpecific web", "http://shop.example.com/api/x", "404"),
        ("/api Prefix web", "http://shop.example.com/apix", "web"),
        ("/api Exact web", "http://shop.example.com/api", "web"),
    ],
)
def test_paths_of_the_application_gateway(paths: str, url: str, end: str) -> None:
    door = ingress(of_class="azure-application-gateway", paths=paths, prefix=AZURE)
    assert answer(simulated(service(), door), url)[0] == end


def test_the_application_gateway_redirects() -> None:
    door = ingress(of_class="azure-application-gateway", prefix=AZURE, tls=True, ssl_redirect="true")
    assert answer(simulated(service(), door), "http://shop.example.com/x")[0] == "301 https://shop.example.com/x"
    plain = ingress(of_class="azure-application-gateway", prefix=AZURE, tls=True)
    assert answer(simulated(service(), plain), "http://shop.example.com/x")[0] == "web"


MESHED = (
    manifest("v1", "Namespace", "shop", more="labels: {istio-injection: enabled}"),
    manifest(
        "apps/v1",
        "Deployment",
        "web",
        "shop",
        "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, "
        "spec: {containers: [{name: web, image: i, ports: [{containerPort: 80}]}]}}}",
    ),
    manifest("security.istio.io/v1", "PeerAuthentication", "default", "shop", "spec: {mtls: {mode: STRICT}}"),
)


@pytest.mark.parametrize(
    ("of_class", "mode", "end"),
    [
        ("alb", "STRICT", "refused"),
        ("gce", "STRICT", "refused"),
        ("azure-application-gateway", "STRICT", "refused"),
        ("alb", "PERMISSIVE", "web"),
        ("nginx", "STRICT", "depends"),
        ("someones", "STRICT", "depends"),
    ],
)
def test_a_load_balancer_outside_is_in_no_mesh(of_class: str, mode: str, end: str) -> None:
    """istio/istio#43056: it shows no certificate of the mesh; the pods of a controller may have a sidecar."""
    objects = (*(each.replace("STRICT", mode) for each in MESHED), service(), ingress(of_class=of_class))
    trace = Tracer(simulated(*objects), nearest=False).trace(from_url("GET", "http://shop.example.com/"))
    answers = {placed.decision.answer for placed in trace.admissions}
    reached = next((key.name for key in trace.outcome.backends), "refused")
    assert ("depends" if "depends" in answers else reached) == end
