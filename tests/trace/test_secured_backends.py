"""Policies beside BackendTLSPolicy by which proxies speak TLS to backends, and the names that they check.

Source: kgateway-dev/kgateway api/v1alpha1/kgateway/backend_config_policy_types.go, TLS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from tests.network.test_semantics import pod
from tests.network.worlds import manifest
from tests.trace.test_claim_headers import shop

CONTROLLER = "kgateway.dev/kgateway"
TO_WEB = {"targetRefs": [{"group": "", "kind": "Service", "name": "web"}]}


def policy(**spec: Any) -> dict[str, Any]:
    return manifest("gateway.kgateway.dev/v1alpha1", "BackendConfigPolicy", "web", "shop", spec={**TO_WEB, **spec})


def run(directory: Path, command: str, *world: dict[str, Any]) -> str:
    file = directory / "world.yaml"
    file.write_text(yaml.safe_dump_all(world), encoding="utf-8")
    of_trace = ["trace", *(["-o", "json"] if command == "json" else []), "http://web.example.com/"]
    arguments = ["lint", "--isolated"] if command == "lint" else of_trace
    return " ".join(CliRunner().invoke(main, [*arguments, str(file)]).stdout.split())


def test_a_policy_for_a_backend_has_requests_sent_by_tls(tmp_path: Path) -> None:
    secured = policy(tls={"insecureSkipVerify": True, "sni": "web.internal"})
    assert '"backend_tls": true' in run(tmp_path, "json", *shop(CONTROLLER, secured))
    assert '"backend_tls": true' not in run(tmp_path, "json", *shop(CONTROLLER, policy(connectTimeout="5s")))


def test_rules_about_requests_find_that_tls(tmp_path: Path) -> None:
    port = {"ports": [{"port": "80", "protocol": "TCP"}], "rules": {"http": [{"method": "GET"}]}}
    spec = {"endpointSelector": {"matchLabels": {"app": "web"}}, "ingress": [{"toPorts": [port]}]}
    rules = manifest("cilium.io/v2", "CiliumNetworkPolicy", "l7", "shop", spec=spec)
    secured = policy(tls={"insecureSkipVerify": True, "sni": "web.internal"})
    said = run(tmp_path, "trace", *shop(CONTROLLER, pod("web"), rules, secured))
    assert "finds TLS: BackendConfigPolicy shop/web has it sent by TLS" in said
    assert "finds TLS" not in run(tmp_path, "trace", *shop(CONTROLLER, pod("web"), rules))


def test_its_names_are_held_against_the_certificate(tmp_path: Path) -> None:
    """GWP420: of a name that is only asked for (`sni`) the certificate need not be."""
    volumes = [{"name": "tls", "secret": {"secretName": "web-tls"}}]
    spec = {**pod("web")["spec"], "volumes": volumes}
    serving = manifest("v1", "Pod", "web", "shop", labels={"app": "web"}, spec=spec)
    stated = {"secretName": "web-tls", "dnsNames": ["web.shop.svc"], "issuerRef": {"name": "ca"}}
    certificate = manifest("cert-manager.io/v1", "Certificate", "web", "shop", spec=stated)

    def said(**tls: Any) -> str:
        secured = policy(tls={"wellKnownCACertificates": "System", **tls})
        return run(tmp_path, "lint", *shop(CONTROLLER, serving, certificate, secured))

    assert "GWP420" in said(verifySubjectAltNames=["web.internal"])
    assert "GWP420" not in said(verifySubjectAltNames=["web.shop.svc"])
    assert "GWP420" not in said(sni="web.internal")


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        ({"caCertificateRefs": [{"kind": "ConfigMap", "name": "ca"}]}, "by TLS, verified by ConfigMap ca"),
        ({"verifySubjectAltNames": ["a.example"]}, "by TLS, verified for a.example by the authorities of the system"),
        ({"sni": "a.example"}, "by TLS, verified by the authorities of the system"),
        ({"insecureSkipVerify": "All"}, "by TLS, without verifying the certificate"),
        ({"insecureSkipVerify": "Hostname"}, "by TLS, verified by the authorities of the system"),
    ],
)
def test_a_policy_of_agentgateway_for_a_backend(tmp_path: Path, tls: dict[str, Any], said: str) -> None:
    """agentgateway/agentgateway controller/api/v1alpha1/agentgateway/agentgateway_policy_types.go, BackendTLS."""
    spec = {**TO_WEB, "backend": {"tls": tls}}
    secured = manifest("agentgateway.dev/v1alpha1", "AgentgatewayPolicy", "web", "shop", spec=spec)
    assert said in run(tmp_path, "trace", *shop("agentgateway.dev/agentgateway", secured))
