"""GWP415: what Istio refuses (pkg/config/validation: validation.go, virtualservice.go), and hosts that nobody has."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
"""


DELEGATE = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: other, namespace: shop}
spec: {http: [{route: [{destination: {host: web}}]}]}
---
"""


def said(folder: Path, kind: str, spec: str) -> str:
    """What GWP415 says of one object."""
    head = f"apiVersion: networking.istio.io/v1\nkind: {kind}\nmetadata: {{name: own, namespace: shop}}\n"
    (folder / "all.yaml").write_text(f"{SERVICE}{DELEGATE}{head}spec: {{{spec}}}\n")
    found = [each.message for each in open_workspace([str(folder)]).findings() if each.rule == "GWP415"]
    return found[0].removeprefix(f"{kind} shop/own ") if found else ""


HTTP = "ports: [{number: 80, name: http, protocol: HTTP}]"
TCP = "ports: [{number: 5432, name: db, protocol: TCP}]"


@pytest.mark.parametrize(
    ("spec", "about"),
    [
        (f"hosts: ['*.example.com'], resolution: DNS, {HTTP}", "looked up"),
        (f"hosts: ['*.example.com'], resolution: DNS_ROUND_ROBIN, {HTTP}", "looked up"),
        (f"hosts: ['*.example.com'], resolution: DNS, {HTTP}, endpoints: [{{address: a.example.com}}]", ""),
        (f"hosts: ['*.example.com'], resolution: NONE, {HTTP}", ""),
        (f"hosts: ['*.example.com'], {HTTP}", ""),
        (f"hosts: ['*.example.com'], resolution: DYNAMIC_DNS, {HTTP}", ""),
        (f"hosts: [api.example.com], resolution: DYNAMIC_DNS, {HTTP}", "DYNAMIC_DNS is for wildcards"),
        (f"hosts: ['*'], {HTTP}", "host `*`"),
        (f"hosts: ['${{HOST}}'], resolution: DNS, {HTTP}", ""),
        (f"hosts: [api.example.com], addresses: [10.0.0.0/8], resolution: DNS, {HTTP}", "ranges of addresses"),
        (f"hosts: [api.example.com], addresses: [10.0.0.0/8], {HTTP}", ""),
        (f"hosts: [api.example.com], {HTTP}, endpoints: [{{address: 10.0.0.1}}]", "has endpoints"),
        (f"hosts: [a.example.com, b.example.com], resolution: DNS, {TCP}", "several hosts on a port of TCP"),
        (f"hosts: [a.example.com, b.example.com], resolution: DNS, {HTTP}", ""),
        (f"hosts: [a.example.com, b.example.com], {TCP}", ""),
        ("hosts: [a.example.com], resolution: DNS, ports: [{number: 80, name: a}, {number: 80, name: b}]", "number 80"),
    ],
)
def test_a_service_entry(tmp_path: Path, spec: str, about: str) -> None:
    found = said(tmp_path, "ServiceEntry", spec)
    assert about in found
    assert bool(found) is bool(about)


@pytest.mark.parametrize(
    ("spec", "about"),
    [
        ("", "is empty"),
        ("egress: [{hosts: ['./*']}]", ""),
        ("egress: [{hosts: []}]", "no hosts in egress[0]"),
        ("egress: [{hosts: ['./*']}, {port: {number: 80}, hosts: ['./*']}]", "after egress[0]"),
        ("egress: [{port: {number: 80}, hosts: ['./*']}, {hosts: ['./*']}]", ""),
        ("egress: [{hosts: [web.shop.svc.cluster.local]}]", "NAMESPACE/HOST"),
        ("egress: [{hosts: [./web]}]", "compared by their whole names"),
        ("egress: [{hosts: ['*/web.shop']}]", "compared by their whole names"),
        ("egress: [{hosts: [./web.shop.svc.cluster.local]}]", ""),
        ("egress: [{hosts: [other/web]}]", ""),
        ("ingress: [{port: {number: 80}}, {port: {number: 80}}]", "two listeners on port 80"),
        ("ingress: [{port: {number: 80}, defaultEndpoint: '127.0.0.1:8080'}]", ""),
        ("ingress: [{port: {number: 80}, defaultEndpoint: '10.0.0.1:8080'}]", "not of the pod itself"),
    ],
)
def test_a_sidecar(tmp_path: Path, spec: str, about: str) -> None:
    found = said(tmp_path, "Sidecar", spec)
    assert about in found
    assert bool(found) is bool(about)


SIMPLE = "tls: {mode: SIMPLE, credentialName: cert}"


def server(more: str = "", protocol: str = "HTTP", name: str = "web", hosts: str = "['*']") -> str:
    port = f"port: {{number: 80, name: {name}, protocol: {protocol}}}"
    return f"{{hosts: {hosts}, {port}{', ' if more else ''}{more}}}"


@pytest.mark.parametrize(
    ("servers", "about"),
    [
        ("", "no server"),
        (server(), ""),
        (server(protocol="HTTPS"), "HTTPS without `tls`"),
        (server(protocol="TLS"), "TLS without `tls`"),
        (server(SIMPLE, "HTTPS"), ""),
        (server(SIMPLE), "TLS settings for a server of HTTP"),
        (server("tls: {httpsRedirect: true}"), ""),
        (server(hosts="[]"), "without hosts"),
        (server() + ", " + server(), "two servers with a port called web"),
        (server() + ", " + server(name="other"), ""),
        (server("tls: {mode: ISTIO_MUTUAL, credentialName: cert}", "HTTPS"), "ISTIO_MUTUAL"),
        (server("tls: {mode: ISTIO_MUTUAL}", "HTTPS"), ""),
        (server("tls: {mode: SIMPLE, credentialName: a, credentialNames: [b]}", "HTTPS"), "from two places"),
    ],
)
def test_a_gateway(tmp_path: Path, servers: str, about: str) -> None:
    found = said(tmp_path, "Gateway", f"selector: {{istio: ingressgateway}}, servers: [{servers}]")
    assert about in found
    assert bool(found) is bool(about)


WEB = "destination: {host: web.shop.svc.cluster.local}"
ROUTED = f"http: [{{route: [{{{WEB}}}]}}]"


@pytest.mark.parametrize(
    ("spec", "about"),
    [
        (f"hosts: [web], {ROUTED}", ""),
        ("hosts: [web]", "no rule"),
        ("hosts: [web], http: [{match: [{uri: {prefix: /}}]}]", "nothing to send requests to in http[0]"),
        (f"hosts: ['*'], {ROUTED}", "`*` for clients in the mesh"),
        (f"hosts: ['*'], gateways: [edge], {ROUTED}", ""),
        (
            f"hosts: [a.example.com, '*.example.com'], gateways: [edge], {ROUTED}",
            "hosts a.example.com and *.example.com",
        ),
        (f"hosts: [a.example.com, '*.a.example.com'], gateways: [edge], {ROUTED}", ""),
        (
            f"hosts: [web], http: [{{route: [{{{WEB}, weight: 0}}, {{{WEB}, weight: 0}}]}}]",
            "2 destinations of no weight",
        ),
        (f"hosts: [web], http: [{{route: [{{{WEB}, weight: 0}}, {{{WEB}, weight: 1}}]}}]", ""),
        (f"hosts: [web], tcp: [{{route: [{{{WEB}, weight: 0}}, {{{WEB}, weight: 0}}]}}]", "of no weight in tcp[0]"),
        (f"hosts: [web], tls: [{{route: [{{{WEB}}}]}}]", "no match in tls[0]"),
        (f"hosts: [web], http: [{{route: [{{{WEB}}}], redirect: {{uri: /b}}}}]", "both `route` and `redirect`"),
        ("hosts: [web], http: [{redirect: {uri: /b}, rewrite: {uri: /c}}]", "both `rewrite` and `redirect`"),
        ("hosts: [web], http: [{directResponse: {status: 200}}]", ""),
        ("hosts: [web], http: [{delegate: {name: other}}]", ""),
        (
            f"hosts: [web], http: [{{delegate: {{name: other}}, route: [{{{WEB}}}]}}]",
            "both `delegate` and `route` in http[0]",
        ),
        *(
            (f"hosts: [web], http: [{{{rule}}}]", about)
            for rule, about in (
                ("redirect: {redirectCode: 301}", "a redirect to where the request was in http[0]"),
                ("redirect: {scheme: https, redirectCode: 200}", "a redirect with status 200"),
                ("redirect: {uri: /a, prefixRewrite: /b}", "both `uri` and `prefixRewrite`"),
                ("match: [{uri: {exact: /a}}], redirect: {prefixRewrite: /b}", "not matched by `prefix`"),
                ("match: [{uri: {prefix: /a}}], redirect: {prefixRewrite: /b}", ""),
                ("redirect: {scheme: ftp}", "a redirect to scheme ftp"),
                ("redirect: {derivePort: FROM_REQUEST_PORT}", ""),
                ("directResponse: {status: 700}", "an answer with status 700"),
                *(
                    (f"route: [{{{WEB}}}], {more}", about)
                    for more, about in (
                        (
                            "rewrite: {uri: /a, uriRegexRewrite: {match: /b, rewrite: /c}}",
                            "`uri` and `uriRegexRewrite`",
                        ),
                        ("rewrite: {uriRegexRewrite: {match: /b}}", "without `match` or `rewrite`"),
                        ("rewrite: {}", "a rewrite of nothing"),
                        ("rewrite: {authority: a}, headers: {request: {set: {Host: b}}}", "in more than one place"),
                        ("rewrite: {authority: a}, headers: {request: {set: {x-host: b}}}", ""),
                        ("fault: {}", "neither `abort` nor `delay`"),
                        ("fault: {abort: {httpStatus: 503, percentage: {value: 110}}}", "for 110 % of the requests"),
                        ("mirrors: [{destination: {host: next}, percentage: {value: 120}}]", "mirror of 120 %"),
                        ("mirrors: [{percentage: {value: 20}}]", "a mirror without a `destination`"),
                        ("corsPolicy: {allowMethods: [get]}", "method get in `allowMethods`"),
                        ("corsPolicy: {allowOrigins: [{exact: ''}]}", "an empty entry in `allowOrigins`"),
                        ("corsPolicy: {allowOrigins: [{exact: 'https://a.example'}], allowMethods: [GET]}", ""),
                    )
                ),
            )
        ),
        (ROUTED, ""),
        (f"gateways: [edge], {ROUTED}", "has no hosts"),
        ("http: [{delegate: {name: other}}]", "what was delegated to it"),
    ],
)
def test_a_virtual_service(tmp_path: Path, spec: str, about: str) -> None:
    found = said(tmp_path, "VirtualService", spec)
    assert about in found
    assert bool(found) is bool(about)


def test_a_destination_rule(tmp_path: Path) -> None:
    subset = "{name: v1, labels: {version: v1}}"
    assert "two subsets called v1" in said(tmp_path, "DestinationRule", f"host: web, subsets: [{subset}, {subset}]")
    assert not said(tmp_path, "DestinationRule", f"host: web, subsets: [{subset}]")


TO_WEB = "http: [{route: [{destination: {host: web}}]}]"


@pytest.mark.parametrize(
    ("kind", "spec", "about"),
    [
        ("VirtualService", f"hosts: ['web.example.com:8080'], gateways: [edge], {TO_WEB}", "neither scheme nor port"),
        (
            "VirtualService",
            f"hosts: ['https://web.example.com'], gateways: [edge], {TO_WEB}",
            "neither scheme nor port",
        ),
        ("VirtualService", f"hosts: ['2001:db8::1:80'], gateways: [edge], {TO_WEB}", ""),
        ("VirtualService", f"hosts: ['${{HOST}}:80'], gateways: [edge], {TO_WEB}", ""),
        ("Gateway", "servers: [{}]".format(server(hosts="['shop/web.example.com:80']")), "neither scheme nor port"),
        ("Gateway", "servers: [{}]".format(server(hosts="['shop/web.example.com']")), ""),
    ],
)
def test_hosts_are_names(tmp_path: Path, kind: str, spec: str, about: str) -> None:
    found = said(tmp_path, kind, spec)
    assert about in found
    assert bool(found) is bool(about)


@pytest.mark.parametrize(
    ("spec", "about"),
    [
        (f"hosts: [web.example.com], {TO_WEB}", "for web.example.com in the mesh alone"),
        (f"hosts: [web.example.com], gateways: [mesh], {TO_WEB}", "for web.example.com in the mesh alone"),
        (f"hosts: [web.example.com], gateways: [edge], {TO_WEB}", ""),
        (f"hosts: [web.example.com, web], {TO_WEB}", ""),
        (f"hosts: [web.shop.svc.cluster.local], {TO_WEB}", ""),
        (f"hosts: ['*.example.com'], {TO_WEB}", ""),
        ("hosts: [web.example.com], http: [{route: [{destination: {host: api.example.com}}]}]", ""),
    ],
)
def test_hosts_that_nobody_has(tmp_path: Path, spec: str, about: str) -> None:
    found = said(tmp_path, "VirtualService", spec)
    assert about in found
    assert bool(found) is bool(about)


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {rules: [{host: %s}]}
---
"""
VIRTUAL = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: own, namespace: shop}
spec: {hosts: [web.example.com], %s}
"""


@pytest.mark.parametrize(("host", "is_told"), [("web.example.com", False), ("other.example.com", True)])
@pytest.mark.parametrize("directory", ["routing", "ingress"])
def test_what_an_ingress_sends_on_has_its_host(tmp_path: Path, directory: str, host: str, is_told: bool) -> None:
    """Its controller may be in the mesh, and in another directory, of which this one is the next chapter."""
    files = {
        "routing/all.yaml": SERVICE + VIRTUAL % TO_WEB,
        f"{directory}/ingress.yaml": INGRESS % host + (SERVICE if directory == "ingress" else ""),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP415"]
    assert bool(found) is is_told
