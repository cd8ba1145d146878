"""certificateRefs, client validation and client certificates (docs/design/request-precedence.md §7 and §9)."""

from __future__ import annotations

import base64
import json

import pytest

from tests.worlds import conditions, gateway, grant, manifest, topology

BLOCK = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"
PEM = base64.b64encode(BLOCK.encode()).decode()


def secret(name: str = "tls", namespace: str = "infra", data: str = f"{{tls.crt: {PEM}, tls.key: {PEM}}}") -> str:
    return manifest("v1", "Secret", name, namespace, f"data: {data}")


def config_map(name: str = "ca", namespace: str = "infra", data: str = f"{{ca.crt: {json.dumps(BLOCK)}}}") -> str:
    return manifest("v1", "ConfigMap", name, namespace, f"data: {data}")


def https(reference: str, more: str = "") -> str:
    return gateway(
        listeners=f"[{{name: https, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{reference}]}}}}]", more=more
    )


def made(api_version: str, kind: str, name: str, spec: str) -> str:
    return manifest(api_version, kind, name, "infra", f"spec: {spec}")


SOPS = secret(data="{tls.crt: 'ENC[AES256_GCM,data:x]', tls.key: 'ENC[AES256_GCM,data:x]'}") + "sops: {}\n"
TO_SECRETS = grant(
    "certs",
    "{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}",
    "{group: '', kind: Secret}",
)
ELSEWHERE = secret("other")


@pytest.mark.parametrize(
    ("reference", "others", "reason", "state"),
    [
        ("{name: tls}", [secret()], "ResolvedRefs", "found"),
        ("{group: '', kind: Secret, name: tls, namespace: infra}", [secret()], "ResolvedRefs", "found"),
        ("{name: tls}", [ELSEWHERE], "InvalidCertificateRef", "missing"),
        ("{name: tls}", [], "InvalidCertificateRef", "missing"),
        ("{name: '${TLS}'}", [ELSEWHERE], "ResolvedRefs", "unknown"),
        ("{kind: WrongKind, name: tls}", [secret()], "InvalidCertificateRef", "missing"),
        ("{group: wrong.io, name: tls}", [secret()], "InvalidCertificateRef", "missing"),
        ("{name: tls}", [secret(data="{tls.crt: SGVsbG8=, tls.key: SGVsbG8=}")], "InvalidCertificateRef", "found"),
        ("{name: tls}", [secret(data="{}")], "InvalidCertificateRef", "found"),
        ("{name: tls}", [secret(data="{tls.crt: '%%', tls.key: 3}")], "InvalidCertificateRef", "found"),
        ("{name: tls}", [SOPS], "ResolvedRefs", "found"),
        ("{name: tls, namespace: certs}", [secret(namespace="certs")], "RefNotPermitted", "found"),
        ("{name: tls, namespace: certs}", [secret(namespace="certs"), TO_SECRETS], "ResolvedRefs", "found"),
        ("{}", [secret()], "InvalidCertificateRef", "missing"),
    ],
)
def test_a_certificate_of_a_listener(reference: str, others: list[str], reason: str, state: str) -> None:
    listener = topology(https(reference), *others).gateways[0].listeners[0]
    assert next(each.reason for each in listener.conditions if each.type == "ResolvedRefs") == reason
    assert listener.references[0].resolution.state == state
    assert listener.references[0].pointer == ("spec", "listeners", 0, "tls", "certificateRefs", 0)


@pytest.mark.parametrize(
    "maker",
    [
        made("cert-manager.io/v1", "Certificate", "c", "{secretName: tls}"),
        made("external-secrets.io/v1", "ExternalSecret", "tls", "{}"),
        made("external-secrets.io/v1", "ExternalSecret", "e", "{target: {name: tls}}"),
        made("bitnami.com/v1alpha1", "SealedSecret", "tls", "{}"),
    ],
)
def test_a_secret_that_something_in_the_tree_makes_is_unknown_not_missing(maker: str) -> None:
    listener = topology(https("{name: tls}"), ELSEWHERE, maker).gateways[0].listeners[0]
    assert listener.references[0].resolution.unknown
    assert not listener.references[0].reason


def test_passthrough_needs_no_certificate() -> None:
    listeners = "[{name: p, port: 443, protocol: TLS, tls: {mode: Passthrough, certificateRefs: [{name: gone}]}}]"
    assert topology(gateway(listeners=listeners), ELSEWHERE).gateways[0].listeners[0].references == ()


@pytest.mark.parametrize(
    ("reference", "resolved", "accepted"),
    [
        ("{group: '', kind: ConfigMap, name: ca}", "ResolvedRefs", "Accepted"),
        ("{group: '', kind: ConfigMap, name: gone}", "InvalidCACertificateRef", "NoValidCACertificate"),
        ("{group: '', kind: ConfigMap, name: empty}", "InvalidCACertificateRef", "NoValidCACertificate"),
        ("{group: '', kind: ConfigMap, name: cut}", "InvalidCACertificateRef", "NoValidCACertificate"),
        ("{group: '', kind: Service, name: ca}", "InvalidCACertificateKind", "NoValidCACertificate"),
        ("{group: '', kind: ConfigMap, name: ca, namespace: far}", "RefNotPermitted", "NoValidCACertificate"),
        (
            "{group: '', kind: ConfigMap, name: ca}, {group: '', kind: ConfigMap, name: gone}",
            "InvalidCACertificateRef",
            "Accepted",
        ),
    ],
)
@pytest.mark.parametrize(
    "place", ["default: {{validation: {0}}}", "perPort: [{{port: 443, tls: {{validation: {0}}}}}]"]
)
def test_the_cas_of_client_validation(reference: str, resolved: str, accepted: str, place: str) -> None:
    frontend = place.format(f"{{caCertificateRefs: [{reference}]}}")
    found = topology(
        https("{name: tls}", more=f"tls: {{frontend: {{{frontend}}}}}"),
        secret(),
        config_map(),
        config_map("empty", data="{}"),
        config_map("cut", data="{ca.crt: '-----BEGIN CERTIFICATE-----'}"),
        config_map(namespace="far"),
    ).gateways[0]
    assert conditions(found.listeners[0].conditions) == [
        f"Accepted={accepted == 'Accepted'}/{accepted}",
        "Conflicted=False/NoConflicts",
        f"ResolvedRefs={resolved == 'ResolvedRefs'}/{resolved}",
    ]


def test_a_port_of_its_own_has_its_own_validation() -> None:
    frontend = (
        "tls: {frontend: {default: {validation: {caCertificateRefs: [{kind: ConfigMap, name: gone}]}},"
        " perPort: [{port: 443, tls: {validation: {caCertificateRefs: [{kind: ConfigMap, name: ca}]}}}]}}"
    )
    found = topology(https("{name: tls}", more=frontend), secret(), config_map()).gateways[0]
    assert [each.reason for each in found.listeners[0].references] == ["", ""]


def test_insecure_fallback_is_a_condition_of_the_gateway() -> None:
    frontend = "tls: {frontend: {perPort: [{port: 443, tls: {validation: {mode: AllowInsecureFallback}}}]}}"
    found = topology(https("{name: tls}", more=frontend), secret()).gateways[0]
    assert "InsecureFrontendValidationMode=True/ConfigurationChanged" in conditions(found.conditions)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("{name: tls}", "ResolvedRefs"),
        ("{name: gone}", "InvalidClientCertificateRef"),
        ("{kind: Wrong, name: tls}", "InvalidClientCertificateRef"),
        ("{name: tls, namespace: certs}", "RefNotPermitted"),
    ],
)
def test_the_client_certificate_towards_backends_does_not_touch_accepted(reference: str, reason: str) -> None:
    more = f"tls: {{backend: {{clientCertificateRef: {reference}}}}}"
    found = topology(gateway(more=more), secret(), secret(namespace="certs")).gateways[0]
    assert conditions(found.conditions) == [
        "Accepted=True/Accepted",
        f"ResolvedRefs={reason == 'ResolvedRefs'}/{reason}",
    ]
