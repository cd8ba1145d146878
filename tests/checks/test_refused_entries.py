"""GWP415: ServiceEntries and Sidecars that Istio refuses (pkg/config/validation/validation.go), and short names."""

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


def said(folder: Path, kind: str, spec: str) -> str:
    """What GWP415 says of one object."""
    head = f"apiVersion: networking.istio.io/v1\nkind: {kind}\nmetadata: {{name: own, namespace: shop}}\n"
    (folder / "all.yaml").write_text(f"{SERVICE}{head}spec: {{{spec}}}\n")
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
