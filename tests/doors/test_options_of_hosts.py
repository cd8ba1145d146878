"""Options of TLS are chosen by host, and annotations that a controller cannot use close what bears them."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.doors import with_doors
from policylint.workspace import open_workspace
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

WEB, ADMIN = service("web", "shop"), service("admin", "shop")
HOST = "https://shop.example.com"
MTLS = manifest(
    "traefik.io/v1alpha1",
    "TLSOption",
    "mtls",
    "shop",
    "spec: {clientAuth: {secretNames: [ca], clientAuthType: RequireAndVerifyClientCert}}",
)
OTHER = manifest("traefik.io/v1alpha1", "TLSOption", "modern", "shop", "spec: {minVersion: VersionTLS13}")
DEFAULT = MTLS.replace("name: mtls", "name: default")
NGINX = manifest("networking.k8s.io/v1", "IngressClass", "nginx", body="spec: {controller: k8s.io/ingress-nginx}")


def routed(name: str, rule: str, tls: str = "", points: str = "websecure") -> str:
    routes = f"[{{kind: Rule, match: '{rule}', services: [{{name: {name}, port: 80}}]}}]"
    spec = f"spec: {{entryPoints: [{points}], routes: {routes}, tls: {{secretName: tls{tls}}}}}"
    return manifest("traefik.io/v1alpha1", "IngressRoute", name, "shop", spec)


BY_MTLS = ", options: {name: mtls}"
PATH = "Host(`shop.example.com`) && PathPrefix(`/admin`)"
ALL = "Host(`shop.example.com`)"


def said(folder: Path, rule: str, *manifests: str) -> list[str]:
    (folder / "all.yaml").write_text("\n---\n".join(manifests))
    return [each.message for each in open_workspace([str(folder)]).findings() if each.rule == rule]


@pytest.mark.parametrize(
    ("routes", "is_asked"),
    [
        ((routed("admin", PATH, BY_MTLS), routed("web", ALL, BY_MTLS)), True),
        ((routed("admin", PATH, BY_MTLS), routed("web", ALL)), False),
        ((routed("admin", PATH, BY_MTLS), routed("web", ALL, ", options: {name: modern}"), OTHER), False),
        ((routed("admin", PATH, BY_MTLS), routed("web", ALL), DEFAULT), True),
        ((routed("admin", PATH, BY_MTLS), routed("web", ALL, points="internal")), True),
        ((routed("admin", PATH, BY_MTLS), routed("web", "Host(`www.example.com`)")), True),
        ((routed("admin", PATH), routed("web", ALL, BY_MTLS)), False),
        ((routed("admin", "HostRegexp(`^shop[.]example[.]com$`)", BY_MTLS),), False),
    ],
)
def test_certificates_are_asked_of_a_host(routes: tuple[str, ...], is_asked: bool) -> None:
    _, asked = answer(with_doors(simulated(*routes, MTLS, WEB, ADMIN)), f"{HOST}/admin")
    assert asked == ("clientCertificate" if is_asked else "")


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("RequireAnyClientCert", "clientCertificate"),
        ("VerifyClientCertIfGiven", "optionalClientCertificate?"),
        ("RequestClientCert", "optionalClientCertificate?"),
        ("NoClientCert", ""),
    ],
)
def test_certificates_that_clients_may_show(kind: str, asked: str) -> None:
    options = MTLS.replace("RequireAndVerifyClientCert", kind)
    world = with_doors(simulated(routed("admin", PATH, BY_MTLS), options, WEB, ADMIN))
    assert answer(world, f"{HOST}/admin")[1] == asked


def test_an_ingress_of_the_same_host_takes_them_away(tmp_path: Path) -> None:
    beside = ingress("web", of_class="traefik", tls=True)
    found = said(tmp_path, "GWP526", routed("admin", PATH, BY_MTLS), beside, MTLS, WEB, ADMIN)
    where = "at host shop.example.com, for which IngressRoute shop/admin names it"
    assert found == [f"TLSOption shop/mtls asks no client for a certificate {where}"]


def test_no_host_no_options(tmp_path: Path) -> None:
    found = said(tmp_path, "GWP526", routed("admin", "PathPrefix(`/`)", BY_MTLS), MTLS, ADMIN)
    assert found == ["TLSOption shop/mtls asks no client for a certificate for IngressRoute shop/admin"]


def test_options_that_agree(tmp_path: Path) -> None:
    routes = routed("admin", PATH, BY_MTLS), routed("web", ALL, BY_MTLS)
    assert said(tmp_path, "GWP526", *routes, MTLS, WEB, ADMIN) == []


@pytest.mark.parametrize(
    ("annotations", "closes"),
    [
        ({"auth_url": "http://heimdall:4456$request_uri"}, True),
        ({"auth_url": "/auth"}, True),
        ({"auth_url": "heimdall/auth"}, True),
        ({"auth_url": "http://heimdall:4456/auth$request_uri"}, False),
        ({"auth_url": "https://user@sso.example.com?x=1"}, False),
        ({"auth_url": "http://[2001:db8::1]:80/auth"}, False),
        ({"auth_type": "basic"}, True),
        ({"auth_type": "basic", "auth_secret": "infra/users"}, True),
        ({"auth_type": "basic", "auth_secret": "users"}, False),
    ],
)
def test_annotations_that_close(tmp_path: Path, annotations: dict[str, str], closes: bool) -> None:
    there = ingress(namespace="shop", **annotations), service("web", "shop")
    end, _ = answer(with_doors(simulated(NGINX, *there)), "http://shop.example.com/")
    assert (end == "503") == closes
    found = [each for each in said(tmp_path, "GWP415", NGINX, *there) if "cannot use" in each]
    assert bool(found) == closes


def test_the_class_that_was_seen_reads_its_annotations() -> None:
    """What is asked at a door is asked by whoever the door is of, also where no policy of theirs is in the catalog."""
    there = ingress(namespace="shop", whitelist_source_range="10.0.0.0/8"), service("web", "shop")
    settings = manifest("v1", "ConfigMap", "ingress-nginx-controller", "edge", "data: {}")
    end, _ = answer(with_doors(simulated(NGINX, settings, *there)), "http://shop.example.com/", client="203.0.113.9")
    assert end == "403"
