"""What plugins of Kong call consumers by, and nobody is: groups of an `acl` (Kong/kubernetes-ingress-controller#5202),
and the consumer for whoever does not log in (Kong/kong#2898)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer, ingress
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


GUEST = manifest(KONG, "KongConsumer", "visitor", "shop", "username: guest\ncustom_id: guest-42")
TURNED_AWAY = manifest(KONG, "KongConsumer", "visitor", "shop", "username: guest", more="annotations: {NOTES}").replace(
    "NOTES", "konghq.com/plugins: closed, kubernetes.io/ingress.class: kong"
)
CLOSED = plugin("closed", "request-termination")


@pytest.mark.parametrize("sort", ["jwt", "key-auth", "basic-auth"])
@pytest.mark.parametrize(
    ("manifests", "name", "confidence", "login"),
    [
        ((GUEST,), "guest", "", "optional"),
        ((GUEST,), "guest-42", "certain", "asked"),
        ((GUEST,), "visitor", "certain", "asked"),
        ((GUEST,), "somebody", "assumed", "optional"),
        ((GUEST,), "0f5f2f64-35a1-4f53-9f9f-0c1c6a2a4f10", "", "optional"),
        ((), "guest-42", "", "optional"),
        # as at routes of Gateway API, who does not log in may be turned away as that consumer
        ((TURNED_AWAY, CLOSED), "guest", "", "asked"),
    ],
)
def test_whoever_does_not_log_in(manifests: tuple[str, ...], name: str, confidence: str, login: str, sort: str) -> None:
    """kong/pdk/client.lua, load_consumer; kong/plugins/*/handler.lua, set_anonymous_consumer: 500 where nobody is."""
    door = ingress(namespace="shop", of_class="kong", prefix="konghq.com/", plugins="login")
    simulation = simulated(
        CLASS, door, service("web", "shop"), plugin("login", sort, f"{{anonymous: {name}}}"), *manifests
    )
    found = [each for each in run(simulation, select={"GWP415"}) if "username" in each.message]
    assert [each.confidence for each in found] == ([confidence] if confidence else [])
    told = {"optional": f"{sort}?", "asked": sort}[login]
    assert answer(simulation, "http://shop.example.com/") == ("web", told)


def login(name: str, sort: str = "key-auth", config: str = "{key_names: [apikey]}", of: str = "web") -> tuple[str, str]:
    """A login, and the Service that names it."""
    named = f"annotations: {{konghq.com/plugins: '{name}'}}"
    return plugin(name, sort, config), manifest("v1", "Service", of, "shop", "spec: {ports: [{port: 80}]}", more=named)


def named_consumer(name: str) -> str:
    return manifest(KONG, "KongConsumer", name, "shop", f"username: {name}\ncredentials: [{name}-key]")


TWO = named_consumer("one"), named_consumer("two")
LIMITED = manifest(
    "v1", "Service", "web", "shop", "spec: {ports: [{port: 80}]}", more="annotations: {konghq.com/plugins: 'a, only'}"
)


@pytest.mark.parametrize(
    ("manifests", "told"),
    [
        ((*login("a"), *login("b", of="other"), *TWO), ["a", "b"]),
        ((*login("a"), *login("b", of="other"), TWO[0]), []),
        ((*login("a"), *TWO), []),  # one login for all is no surprise
        ((*login("a"), *login("b", config="{key_names: [other]}", of="other"), *TWO), []),
        ((*login("a"), *login("b", "jwt", of="other"), *TWO), []),
        ((login("a")[0], LIMITED, *login("b", of="other"), plugin("only", "acl", STAFF), *TWO), ["b"]),
        ((login("a")[0], login("b")[0], *TWO), []),  # nothing names them
    ],
)
def test_credentials_belong_to_the_whole_gateway(manifests: tuple[str, ...], told: list[str]) -> None:
    simulation = simulated(CLASS, ingress(namespace="shop", of_class="kong"), *manifests)
    found = [each for each in run(simulation, select={"GWP526"}) if "any consumer: one and two" in each.message]
    assert [each.message.split()[1] for each in found] == [f"shop/{name}" for name in told]
