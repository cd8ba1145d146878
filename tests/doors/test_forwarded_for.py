"""Which address the lists of ingress controllers are held against where clients come through other proxies.

Predicted from nginx.tmpl of ingress-nginx, kong.conf, the docs of Contour and of HAProxy's controllers, and traefik
pkg/ip/strategy.go with pkg/middlewares/forwardedheaders.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from policylint.trace.result import Trace
from policylint.workspace import open_workspace
from tests.doors.asking import ingress
from tests.doors.test_traefik import SHOP, ingress_route, middleware, to
from tests.worlds import manifest, service, simulated

OFFICE, BETWEEN, BALANCER = "203.0.113.9", "10.1.1.1", "10.0.0.1"
HERE = "203.0.113.0/24"
PASSED_ON = f"X-Forwarded-For: {OFFICE}, {BETWEEN}"
SWITCH, PROXIES = "use-forwarded-headers: 'true'", "proxy-real-ip-cidr: 10.0.0.0/8"


def sent(*objects: str, header: str = PASSED_ON, client: str = BALANCER) -> Trace:
    tracer = Tracer(simulated(service("web"), *objects), nearest=False)
    return tracer.trace(from_url("GET", "http://shop.example.com/", [header] if header else [], client=client))


def answered(trace: Trace) -> str:
    if any(each.decision.answer == "depends" for each in trace.judged):
        return "depends"
    return "web" if trace.outcome.backends else str(trace.outcome.status)


def of_nginx(*data: str) -> str:
    return manifest("v1", "ConfigMap", "ingress-nginx-controller", "ingress-nginx", f"data: {{{', '.join(data)}}}")


@pytest.mark.parametrize(
    ("data", "client", "end", "words"),
    [
        (["a: b"], BALANCER, "403", f"not believed: the client's address is {BALANCER}"),
        ([SWITCH], BALANCER, "web", "the first one, which whoever connects may write"),
        ([SWITCH], "", "web", "trusts everybody"),
        (["enable-real-ip: 'true'"], BALANCER, "web", f"is {OFFICE}"),
        ([SWITCH, PROXIES], BALANCER, "web", f"is {OFFICE}, the last one beyond proxy-real-ip-cidr"),
        ([SWITCH, PROXIES], "192.0.2.1", "403", "in none of proxy-real-ip-cidr"),
        ([SWITCH, PROXIES], "", "depends", "depends on who connects"),
        ([PROXIES], BALANCER, "403", "not believed"),
        ([SWITCH, PROXIES, "forwarded-for-header: X-Real"], BALANCER, "403", "names X-Real"),
        (None, BALANCER, "depends", "not known: the settings of ingress-nginx were not seen"),
    ],
)
def test_ingress_nginx(data: list[str] | None, client: str, end: str, words: str) -> None:
    trace = sent(ingress(whitelist_source_range=HERE), *([of_nginx(*data)] if data else []), client=client)
    assert answered(trace) == end
    assert any(words in note for note in trace.notes), trace.notes


def test_without_the_header_it_is_who_connects() -> None:
    assert answered(sent(ingress(whitelist_source_range=HERE), header="", client=OFFICE)) == "web"


def kong(**variables: str) -> list[str]:
    named = ", ".join(f"{{name: {name}, value: '{value}'}}" for name, value in variables.items())
    pods = f"{{metadata: {{labels: {{a: k}}}}, spec: {{containers: [{{name: proxy, image: kong, env: [{named}]}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{a: k}}}}, template: {pods}}}"
    plugin = f"plugin: ip-restriction\nconfig: {{allow: [{HERE}]}}"
    return [
        ingress(of_class="kong", prefix="konghq.com/", plugins="office"),
        manifest("configuration.konghq.com/v1", "KongPlugin", "office", "shop", plugin),
        *([manifest("apps/v1", "Deployment", "kong", "kong", spec)] if variables else []),
    ]


BEHIND = {"KONG_TRUSTED_IPS": "10.0.0.0/8"}
BY_LIST = {**BEHIND, "KONG_REAL_IP_HEADER": "X-Forwarded-For"}


@pytest.mark.parametrize(
    ("variables", "end", "words"),
    [
        ({"KONG_DATABASE": "off"}, "403", "not believed"),
        (BEHIND, "403", "as trusted_ips names X-Real-IP"),
        (BY_LIST, "403", f"is {BETWEEN}, the last one"),
        ({**BY_LIST, "KONG_REAL_IP_RECURSIVE": "on"}, "web", f"is {OFFICE}"),
        ({}, "depends", "the settings of kong were not seen"),
    ],
)
def test_kong(variables: dict[str, str], end: str, words: str) -> None:
    trace = sent(*kong(**variables))
    assert answered(trace) == end
    assert any(words in note for note in trace.notes), trace.notes


@pytest.mark.parametrize(
    ("prefix", "of_class", "listing", "header", "end"),
    [
        ("haproxy.org/", "haproxy", {"allow_list": HERE, "src_ip_header": "X-Client"}, f"X-Client: {OFFICE}", "web"),
        ("haproxy.org/", "haproxy", {"allow_list": HERE, "src_ip_header": "X-Client"}, PASSED_ON, "403"),
        (
            "haproxy-ingress.github.io/",
            "haproxy",
            {"allowlist_source_range": HERE, "allowlist_source_header": "X-Client"},
            f"X-Client: {OFFICE}",
            "web",
        ),
    ],
)
def test_haproxy(prefix: str, of_class: str, listing: dict[str, str], header: str, end: str) -> None:
    assert answered(sent(ingress(of_class=of_class, prefix=prefix, **listing), header=header)) == end


def contour(source: str, hops: int | None) -> list[str]:
    entry = f"[{{source: {source}, cidr: {HERE}}}]"
    host = f"virtualhost: {{fqdn: shop.example.com, ipAllowPolicy: {entry}}}"
    proxy = f"spec: {{{host}, routes: [{{services: [{{name: web, port: 80}}]}}]}}"
    config = f"data: {{contour.yaml: {json.dumps(json.dumps({'network': {'num-trusted-hops': hops}}))}}}"
    return [
        manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", proxy),
        *([] if hops is None else [manifest("v1", "ConfigMap", "contour", "projectcontour", config)]),
    ]


@pytest.mark.parametrize(
    ("source", "hops", "client", "end"),
    [
        ("Peer", 2, BALANCER, "403"),
        ("Peer", 2, OFFICE, "web"),
        ("Remote", 2, BALANCER, "web"),
        ("Remote", 1, BALANCER, "403"),
        ("Remote", 0, OFFICE, "web"),
        ("Remote", None, BALANCER, "depends"),
    ],
)
def test_contour(source: str, hops: int | None, client: str, end: str) -> None:
    assert answered(sent(*contour(source, hops), client=client)) == end


def traefik(*arguments: str) -> str:
    said = ["--entryPoints.web.address=:8000/tcp", "--providers.kubernetescrd", *arguments]
    pods = (
        f"{{metadata: {{labels: {{a: t}}}}, spec: {{containers: [{{name: t, image: t, args: {json.dumps(said)}}}]}}}}"
    )
    spec = f"spec: {{selector: {{matchLabels: {{a: t}}}}, template: {pods}}}"
    return manifest("apps/v1", "Deployment", "traefik", "traefik", spec)


def of_k3s(values: str) -> str:
    body = f"spec: {{valuesContent: {json.dumps(values)}}}"
    return manifest("helm.cattle.io/v1", "HelmChartConfig", "traefik", "kube-system", body)


TRUSTED = "--entryPoints.web.forwardedHeaders.trustedIPs=10.0.0.0/8"
ROUTE = ingress_route(to(SHOP, more="middlewares: [{name: m}]"))


def allowing(strategy: str) -> str:
    return middleware(f"{{ipAllowList: {{sourceRange: [{HERE}], ipStrategy: {{{strategy}}}}}}}")


@pytest.mark.parametrize(
    ("strategy", "installed", "client", "end"),
    [
        ("depth: 2", traefik(TRUSTED), BALANCER, "web"),
        ("depth: 1", traefik(TRUSTED), BALANCER, "403"),
        ("depth: 3", traefik(TRUSTED), BALANCER, "403"),
        ("depth: 2", traefik(TRUSTED), OFFICE, "403"),
        ("depth: 2", traefik(TRUSTED), "", "depends"),
        ("depth: 2", traefik(), BALANCER, "403"),
        ("depth: 2", traefik("--entryPoints.web.forwardedHeaders.insecure"), "", "web"),
        ("depth: 2", traefik("--entryPoints.websecure.forwardedHeaders.trustedIPs=10.0.0.0/8"), BALANCER, "403"),
        ("depth: 2", "", BALANCER, "depends"),
        ("excludedIPs: [10.0.0.0/8]", traefik(TRUSTED), BALANCER, "web"),
        ("excludedIPs: [10.0.0.0/8, 203.0.113.9]", traefik(TRUSTED), BALANCER, "403"),
        ("", traefik(TRUSTED), OFFICE, "web"),
        ("depth: 2", of_k3s("ports: {web: {forwardedHeaders: {trustedIPs: [10.0.0.0/8]}}}"), BALANCER, "web"),
        ("depth: 2", of_k3s(f"additionalArguments: ['{TRUSTED}']"), BALANCER, "web"),
        ("depth: 2", of_k3s("ports: {web: {expose: true}}"), BALANCER, "403"),
    ],
)
def test_traefik(strategy: str, installed: str, client: str, end: str) -> None:
    assert answered(sent(ROUTE, allowing(strategy), *([installed] if installed else []), client=client)) == end


def dead_ends(root: Path, strategy: str, *arguments: str) -> list[str]:
    written = (service("web"), ROUTE, allowing(strategy), traefik(*arguments))
    (root / "all.yaml").write_text("\n---\n".join(written), encoding="utf-8")
    return [each.message for each in open_workspace([str(root)]).findings() if each.rule == "GWP415"]


@pytest.mark.parametrize(("arguments", "is_told"), [((), True), ((TRUSTED,), False)])
def test_a_strategy_without_a_header_that_is_believed_lets_nobody_in(
    arguments: tuple[str, ...], is_told: bool, tmp_path: Path
) -> None:
    assert any("takes that header off" in each for each in dead_ends(tmp_path, "depth: 1", *arguments)) is is_told


def test_a_strategy_that_reads_no_header_is_no_finding(tmp_path: Path) -> None:
    assert not dead_ends(tmp_path, "")
