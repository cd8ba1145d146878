"""Rules of network policies about requests: who gets a 403, on which side, and what several of them make together.

Sources: docs.cilium.io, «Layer 7 Policies»; cilium/cilium pkg/envoy (getHTTPRule) and pkg/policy/l4.go (rules of one
port add up, and one without rules for requests lets all of them in); docs.tigera.io, «Application layer policy».
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from tests.network.test_semantics import pod, policy
from tests.network.worlds import manifest

SERVICE = manifest(
    "v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}
)
WEB = {"matchLabels": {"app": "web"}}
CLIENT = {"matchLabels": {"app": "client"}}


def traced(directory: Path, request: str, *policies: dict[str, Any], options: tuple[str, ...] = ()) -> str:
    file = directory / "world.yaml"
    found = {(each["kind"], each["metadata"]["name"]): each for each in (pod("web"), pod("client"), SERVICE, *policies)}
    file.write_text(yaml.safe_dump_all(found.values()), encoding="utf-8")
    method, _, path = request.partition(" ")
    url = f"http://web.shop{path}"
    arguments = ["trace", "--from", "Pod/shop/client", *options, method, url, str(file)]
    return " ".join(CliRunner().invoke(main, arguments).stdout.split())


def cilium(*http: dict[str, Any], name: str = "l7", whom: dict[str, Any] = CLIENT, **more: Any) -> dict[str, Any]:
    port = {"ports": [{"port": "8080", "protocol": "TCP"}], **({"rules": {"http": list(http)}} if http else {}), **more}
    return policy(
        name, "CiliumNetworkPolicy", endpointSelector=WEB, ingress=[{"fromEndpoints": [whom], "toPorts": [port]}]
    )


def calico() -> dict[str, Any]:
    rule = {"action": "Allow", "http": {"methods": ["GET"], "paths": [{"exact": "/a"}, {"prefix": "/b"}]}}
    spec = {"selector": "app == 'web'", "types": ["Ingress"], "ingress": [rule]}
    return manifest("projectcalico.org/v3", "NetworkPolicy", "l7", "shop", spec=spec)


GET = {"method": "GET", "path": "/public(/.*)?"}
NEAREST = "nearest is ingress[0] of CiliumNetworkPolicy shop/l7, which asks for method GET"
DENIED, REACHES = "Result: 403: CiliumNetworkPolicy shop/l7 turns it away at Pod shop/web", "Result: reaches shop/web"


@pytest.mark.parametrize(
    ("http", "request_line", "options", "said"),
    [
        ([GET], "GET /public/a", (), REACHES),
        ([GET], "GET /admin", (), DENIED),
        ([GET], "POST /public", (), f"{DENIED}: none of its rules takes such a request. {NEAREST}"),
        ([GET], "GET /public?page=1", (), DENIED),  # the expression takes the path with its query, whole
        ([GET], "GET /publicity", (), DENIED),
        ([GET, {"path": "/admin"}], "DELETE /admin", (), REACHES),
        ([{"path": "/.*"}], "GET /any?a=b", (), REACHES),
        ([{"host": "web.shop"}], "GET /", (), REACHES),
        ([{"host": "web"}], "GET /", (), DENIED),
        ([{"headers": ["X-Team: a"]}], "GET /", (), DENIED),
        ([{"headers": ["X-Team: a"]}], "GET /", ("-H", "x-team: a"), REACHES),
        ([{"headers": ["X-Team"]}], "GET /", ("-H", "x-team: b"), REACHES),
        ([{"headerMatches": [{"name": "X-Team", "value": "a"}]}], "GET /", (), DENIED),
        ([{"headerMatches": [{"name": "X-Team", "value": "a", "mismatch": "ADD"}]}], "GET /", (), REACHES),
        ([{"headerMatches": [{"name": "X-Team", "secret": {"name": "s"}}]}], "GET /", (), "where L7 rules of"),
        ([{}], "GET /admin", (), REACHES),
        ([{"method": "GET|HEAD"}], "HEAD /", (), REACHES),
    ],
)  # fmt: skip
def test_what_rules_for_http_take(
    http: list[dict[str, Any]], request_line: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    assert said in traced(tmp_path, request_line, cilium(*http), options=options)


def test_rules_of_one_port_add_up(tmp_path: Path) -> None:
    admin = cilium({"path": "/admin"}, name="more")
    assert REACHES in traced(tmp_path, "GET /admin", cilium(GET), admin)
    assert "Result: 403" in traced(tmp_path, "GET /else", cilium(GET), admin)


def test_a_rule_without_rules_for_requests_lets_all_in(tmp_path: Path) -> None:
    said = traced(tmp_path, "GET /admin", cilium(GET), cilium(name="all"))
    assert REACHES in said
    assert "L7" not in said


def test_a_rule_for_others_changes_nothing(tmp_path: Path) -> None:
    others = cilium(name="all", whom={"matchLabels": {"app": "other"}})
    assert DENIED in traced(tmp_path, "GET /admin", cilium(GET), others)


def test_what_the_client_may_send(tmp_path: Path) -> None:
    port = {"ports": [{"port": "8080", "protocol": "TCP"}], "rules": {"http": [GET]}}
    sending = policy(
        "l7", "CiliumNetworkPolicy", endpointSelector=CLIENT, egress=[{"toEndpoints": [WEB], "toPorts": [port]}]
    )
    assert "403: CiliumNetworkPolicy shop/l7 turns it away at Pod shop/client" in traced(
        tmp_path, "GET /admin", sending
    )
    assert REACHES in traced(tmp_path, "GET /public", sending)


@pytest.mark.parametrize("more", [{"rules": {"kafka": [{"topic": "a"}]}}, {"rules": {"l7proto": "r2d2"}}])
def test_what_is_no_rule_for_http_is_left_open(more: dict[str, Any], tmp_path: Path) -> None:
    assert "where L7 rules of CiliumNetworkPolicy shop/l7 let it through" in traced(tmp_path, "GET /", cilium(**more))


def test_a_denial_of_the_port_comes_first(tmp_path: Path) -> None:
    deny = policy("l7", "CiliumNetworkPolicy", endpointSelector=WEB, ingressDeny=[{"fromEndpoints": [CLIENT]}])
    assert "Result: cut off by CiliumNetworkPolicy shop/l7" in traced(
        tmp_path, "GET /public", cilium(GET, name="x"), deny
    )


def test_calico_takes_methods_and_paths(tmp_path: Path) -> None:
    for request in ("GET /a", "GET /b/c"):
        assert REACHES in traced(tmp_path, request, calico())
    for request in ("GET /a/b", "POST /a"):
        assert "Result: 403: NetworkPolicy shop/l7 turns it away" in traced(tmp_path, request, calico())


# What is TLS on the wire is no request: docs.cilium.io, «Integration with Istio» (mutual TLS and HTTP policies do not
# go together); cilium/cilium#32567 («wrong version number»); cilium/proxy, cilium/tls_wrapper.cc.
MESH = manifest("v1", "Namespace", "shop", "", labels={"istio-injection": "enabled"})
LINKED = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "annotations": {"linkerd.io/inject": "enabled"}},
}
OUT = {"sidecar.istio.io/inject": "false"}
TLS = "turns it away at Pod shop/web: it looks for HTTP and finds TLS: "


def peers(mode: str, **spec: Any) -> dict[str, Any]:
    return manifest("security.istio.io/v1", "PeerAuthentication", "p", "shop", spec={"mtls": {"mode": mode}, **spec})


def ruled(mode: str) -> dict[str, Any]:
    spec = {"host": "web.shop.svc.cluster.local", "trafficPolicy": {"tls": {"mode": mode}}}
    return manifest("networking.istio.io/v1", "DestinationRule", "d", "shop", spec=spec)


def without_sidecar(name: str) -> dict[str, Any]:
    return manifest("v1", "Pod", name, "shop", labels={"app": name, **OUT}, spec=pod(name)["spec"])


L4 = cilium(name="l4")
OTHERS = cilium({"method": "GET"}, name="l7", whom={"matchLabels": {"app": "other"}})
ENDING = {"terminatingTLS": {"secret": {"name": "tls"}}}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([MESH], f"{TLS}Istio encrypts it (mutual TLS)"),
        ([MESH, peers("STRICT")], f"{TLS}Istio encrypts it"),
        ([MESH, peers("DISABLE")], REACHES),
        ([MESH, peers("STRICT", selector=WEB, portLevelMtls={8080: {"mode": "DISABLE"}})], REACHES),
        ([MESH, without_sidecar("client")], REACHES),
        ([MESH, without_sidecar("web")], REACHES),
        ([MESH, ruled("DISABLE")], REACHES),
        ([MESH, without_sidecar("web"), ruled("SIMPLE")], f"{TLS}DestinationRule shop/d has clients use TLS"),
        ([MESH, ruled("ISTIO_MUTUAL")], f"{TLS}Istio encrypts it"),
        (
            [MESH, L4],
            f"CiliumNetworkPolicy shop/l7 {TLS}",
        ),  # the port goes to the parser for all that the other lets in
        ([LINKED], f"{TLS}Linkerd encrypts it (mutual TLS)"),
        ([manifest("v1", "Namespace", "shop", "")], REACHES),
    ],
)
def test_rules_for_http_find_tls_of_a_mesh(more: list[dict[str, Any]], said: str, tmp_path: Path) -> None:
    traced_here = traced(tmp_path, "GET /public", cilium(GET), *more)
    assert said in traced_here, traced_here


def test_rules_for_http_find_tls_of_the_client(tmp_path: Path) -> None:
    def asked(*policies: dict[str, Any]) -> str:
        file = tmp_path / "world.yaml"
        file.write_text(yaml.safe_dump_all([pod("web"), pod("client"), SERVICE, *policies]), encoding="utf-8")
        arguments = ["trace", "--from", "Pod/shop/client", "https://web.shop:80/public", str(file)]
        return " ".join(CliRunner().invoke(main, arguments).stdout.split())

    assert f"{TLS}its client uses TLS" in asked(cilium(GET))
    assert REACHES in asked(OTHERS, L4)
    assert REACHES in asked(cilium(GET, **ENDING))
    assert "where L7 rules" in asked(calico())


def test_rules_of_calico_are_asked_behind_the_sidecar(tmp_path: Path) -> None:
    assert REACHES in traced(tmp_path, "GET /a", MESH, calico())
    assert "Result: 403" in traced(tmp_path, "POST /a", MESH, calico())


GATEWAY = manifest(
    "gateway.networking.k8s.io/v1", "Gateway", "web", "shop",
    spec={"gatewayClassName": "eg", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
)  # fmt: skip
CLASS = manifest(
    "gateway.networking.k8s.io/v1", "GatewayClass", "eg", "",
    spec={"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
)  # fmt: skip
ROUTE = manifest(
    "gateway.networking.k8s.io/v1", "HTTPRoute", "web", "shop",
    spec={"parentRefs": [{"name": "web"}], "rules": [{"backendRefs": [{"name": "web", "port": 80}]}]},
)  # fmt: skip
SECURED = manifest(
    "gateway.networking.k8s.io/v1", "BackendTLSPolicy", "web", "shop",
    spec={"targetRefs": [{"group": "", "kind": "Service", "name": "web"}],
          "validation": {"hostname": "web.example.com", "wellKnownCACertificates": "System"}},
)  # fmt: skip


def test_rules_for_http_find_tls_of_a_gateway(tmp_path: Path) -> None:
    anyone = policy(
        "l7", "CiliumNetworkPolicy", endpointSelector=WEB,
        ingress=[{"toPorts": [{"ports": [{"port": "8080", "protocol": "TCP"}], "rules": {"http": [GET]}}]}],
    )  # fmt: skip
    file = tmp_path / "world.yaml"

    def asked(*more: dict[str, Any], url: str = "http://web.example.com/public") -> str:
        file.write_text(yaml.safe_dump_all([pod("web"), SERVICE, anyone, *more]), encoding="utf-8")
        return " ".join(CliRunner().invoke(main, ["trace", url, str(file)]).stdout.split())

    assert REACHES in asked(CLASS, GATEWAY, ROUTE)
    assert f"{TLS}BackendTLSPolicy shop/web has it sent by TLS" in asked(CLASS, GATEWAY, ROUTE, SECURED)
    ingress = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    rule = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web", "port": {"number": 80}}}}
    ingress["spec"] = {"ingressClassName": "nginx", "rules": [{"host": "web.example.com", "http": {"paths": [rule]}}]}
    assert TLS not in asked(ingress)
    ingress["metadata"]["annotations"] = {"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"}
    assert f"{TLS}Ingress shop/web has it sent by TLS" in asked(ingress)
