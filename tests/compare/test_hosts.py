"""What a change does to the hosts that pods may call: by the names that policies state, evaluated on both sides.

Predicted from docs.cilium.io, «DNS based», «TLS SNI», and network-policy-api.sigs.k8s.io, NPEP-133.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.compare import removed_protections as findings
from tests.compare.test_compare import sides
from tests.worlds import manifest

A, B, ALL = "{matchName: a.example.com}", "{matchName: b.example.com}", '{matchPattern: "*.example.com"}'
DNS = (
    "{toEndpoints: [{matchLabels: {k8s-app: kube-dns, 'k8s:io.kubernetes.pod.namespace': kube-system}}], "
    "toPorts: [{ports: [{port: '53', protocol: ANY}], rules: {dns: [{matchPattern: '*'}]}}]}"
)


def workload(name: str, namespace: str = "shop", label: str = "app") -> str:
    template = f"template: {{metadata: {{labels: {{{label}: {name}}}}}, spec: {{containers: [{{name: c}}]}}}}"
    return manifest(
        "apps/v1",
        "Deployment",
        name,
        namespace,
        f"spec: {{selector: {{matchLabels: {{{label}: {name}}}}}, {template}}}",
    )


PODS = (workload("web"), workload("kube-dns", "kube-system", "k8s-app"))


def out(egress: str, kind: str = "CiliumNetworkPolicy", name: str = "out") -> str:
    spec = f"spec: {{endpointSelector: {{matchLabels: {{app: web}}}}, egress: [{DNS}, {egress}]}}"
    return manifest("cilium.io/v2", kind, name, "shop" if kind == "CiliumNetworkPolicy" else "", spec)


def names(*listed: str, port: int = 443) -> str:
    return f"{{toFQDNs: [{', '.join(listed)}], toPorts: [{{ports: [{{port: '{port}'}}]}}]}}"


def shown(*listed: str) -> str:
    asked = f", serverNames: [{', '.join(listed)}]" if listed else ""
    return f"{{toEntities: [world], toPorts: [{{ports: [{{port: '443'}}]{asked}}}]}}"


def calico(*listed: str) -> str:
    rule = f"{{action: Allow, protocol: TCP, destination: {{domains: [{', '.join(listed)}], ports: [8443]}}}}"
    spec = f"spec: {{selector: app == 'web', types: [Egress], egress: [{rule}]}}"
    return manifest("projectcalico.org/v3", "NetworkPolicy", "out", "shop", spec)


def told(tmp_path: Path, before: str, after: str) -> tuple[list[str], list[str]]:
    pair = sides(tmp_path, (*PODS, before), (*PODS, after))
    environments = compare([pair])
    said = sorted(each.message for each in findings([pair], environments, {"GWP304", "GWP325"}))
    unknown = [str(row.key) for each in environments for row in each.subjects if row.change == "unknown"]
    return said, unknown


def may(host: str, by: str = "CiliumNetworkPolicy shop/out", *, closed: bool = False) -> str:
    verb = "can no longer call" if closed else "may call"
    return f"Deployment shop/web {verb} {host}: {by} names other hosts, or other ports of them"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (out(names(A, B)), out(names(A)), [may("b.example.com:443", closed=True)]),
        (out(names(ALL)), out(names(A)), [may("*.example.com:443", closed=True)]),
        (out(names(A)), out(names(B)), [may("a.example.com:443", closed=True), may("b.example.com:443")]),
        (out(names(A)), out(names(A, port=80)), [may("a.example.com:443", closed=True), may("a.example.com:80")]),
        (out(names(A, B)), out(names(B.replace("b.", "B."), A)), []),
        (out(names(ALL)), out(names(ALL, A)), []),
        (out(shown()), out(shown("a.example.com")), [may("any other host:443", closed=True)]),
        (
            out(shown("a.example.com", "b.example.com")),
            out(shown("a.example.com")),
            [may("b.example.com:443", closed=True)],
        ),
        (
            calico("a.example.com", "b.example.com"),
            calico("a.example.com"),
            [may("b.example.com:8443", "NetworkPolicy shop/out", closed=True)],
        ),
        (
            calico("a.example.com"),
            calico("'*.example.com'"),
            [may("*.example.com:8443", "NetworkPolicy shop/out")],
        ),
        (
            out(names(A, B), "CiliumClusterwideNetworkPolicy"),
            out(names(A), "CiliumClusterwideNetworkPolicy"),
            [may("b.example.com:443", "CiliumClusterwideNetworkPolicy out", closed=True)],
        ),
    ],
)
def test_what_no_word_of_the_catalog_tells(before: str, after: str, expected: list[str], tmp_path: Path) -> None:
    assert told(tmp_path, before, after) == (expected, [])


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        (out(names(A)), out(names(A, B)), "toFQDNs"),
        (out(names(A)), out(names(ALL)), "toFQDNs"),
        (out(shown("a.example.com")), out(shown()), "serverNames"),
        (out(shown("a.example.com")), out(shown("a.example.com", "b.example.com")), "serverNames"),
    ],
)
def test_what_words_tell_is_told_once(before: str, after: str, field: str, tmp_path: Path) -> None:
    said, unknown = told(tmp_path, before, after)
    assert said
    assert all(field in each and "less protected" in each for each in said), said
    assert unknown == []


def test_names_for_pods_that_nobody_saw_stay_unknown(tmp_path: Path) -> None:
    before, after = (out(names(*listed)).replace("app: web", "app: other") for listed in ((A, B), (A,)))
    said, unknown = told(tmp_path, before, after)
    assert not any("no longer call" in each for each in said)
    assert unknown == ["CiliumNetworkPolicy shop/out"]
