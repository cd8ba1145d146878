"""GWP415: groups that an `acl` of Kong lets in, and in which nobody is (Kong/kubernetes-ingress-controller#5202)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import ingress
from tests.worlds import manifest, service, simulated

KONG = "configuration.konghq.com/v1"
CONTROLLER = "ingress-controllers.konghq.com/kong"
CLASS = manifest("networking.k8s.io/v1", "IngressClass", "kong", body=f"spec: {{controller: {CONTROLLER}}}")


def plugin(name: str, sort: str, config: str = "{}") -> str:
    return manifest(KONG, "KongPlugin", name, "shop", f"plugin: {sort}\nconfig: {config}")


def consumer(*credentials: str) -> str:
    return manifest(KONG, "KongConsumer", "one", "shop", f"username: one\ncredentials: [{', '.join(credentials)}]")


def secret(name: str, sort: str, data: str) -> str:
    return manifest("v1", "Secret", name, "shop", data, more=f"labels: {{konghq.com/credential: {sort}}}")


KEY = secret("key", "key-auth", "stringData: {key: x}")
MEMBER = secret("member", "acl", "stringData: {group: staff}")
CODED = secret("member", "acl", "data: {group: c3RhZmY=}")
SEALED = secret("member", "acl", "stringData: {group: 'ENC[AES256_GCM,data:x]'}\nsops: {version: 3.9.0}")
PARTLY = secret("member", "acl", "data: {group: 'ENC[AES256_GCM,data:x]'}")
REPLACED = secret("member", "acl", "stringData: {group: '${GROUP}'}")
STAFF = "{allow: [staff]}"


@pytest.mark.parametrize(
    ("manifests", "confidence"),
    [
        ((plugin("only", "acl", STAFF), consumer("key"), KEY), "certain"),
        ((plugin("only", "acl", STAFF), consumer("key", "member"), KEY, MEMBER), ""),
        ((plugin("only", "acl", STAFF), consumer("key", "member"), KEY, CODED), ""),
        ((plugin("only", "acl", "{allow: [others]}"), consumer("key", "member"), KEY, MEMBER), "certain"),
        ((plugin("only", "acl", "{deny: [others]}"), consumer("key"), KEY), ""),
        ((plugin("only", "acl", STAFF), consumer("key", "unseen"), KEY), "assumed"),
        ((plugin("only", "acl", STAFF), consumer("key", "member"), KEY, SEALED), "assumed"),
        ((plugin("only", "acl", STAFF), consumer("key", "member"), KEY, PARTLY), "assumed"),
        ((plugin("only", "acl", STAFF), consumer("key", "member"), KEY, REPLACED), "assumed"),
        ((plugin("only", "acl", STAFF), KEY), ""),
        ((plugin("only", "acl", STAFF), plugin("login", "openid-connect"), consumer("key"), KEY), ""),
        ((plugin("only", "acl", "{allow: [staff], include_consumer_groups: true}"), consumer("key"), KEY), ""),
        ((plugin("only", "acl", "{allow: ['${GROUP}']}"), consumer("key"), KEY), ""),
    ],
)
def test_groups(manifests: tuple[str, ...], confidence: str) -> None:
    simulation = simulated(CLASS, ingress(namespace="shop", of_class="kong"), service("web", "shop"), *manifests)
    found = [each for each in run(simulation, select={"GWP415"}) if "no KongConsumer" in each.message]
    assert [each.confidence for each in found] == ([confidence] if confidence else [])
