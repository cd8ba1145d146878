"""What a policy names goes or comes, and requests are different response: the text, the comment and JSON name it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import worlds
from tests.compare.test_optional_logins import LESS, through
from tests.compare.test_weakening import of
from tests.compare.test_weakening_kinds import ON_ROUTE, agent
from tests.diff.history import run

SHOP = (
    worlds.gateway(), worlds.service(), worlds.service("web"),
    worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
)  # fmt: skip
AUTH = worlds.service("auth")
CONTROLLERS = {
    "agentgateway": "agentgateway.dev/agentgateway",
    "envoy": "gateway.envoyproxy.io/gatewayclass-controller",
    "kgateway": "kgateway.dev/kgateway",
}


def shop(controller: str, *more: str) -> tuple[str, ...]:
    return (worlds.gateway_class("any", CONTROLLERS[controller]), *SHOP, *more)


def envoy(more: str, namespace: str = "") -> str:
    backend = f"{{name: auth, port: 80{namespace and f', namespace: {namespace}'}}}"
    spec = f"{ON_ROUTE}extAuth: {{{more}http: {{backendRefs: [{backend}]}}}}"
    return of("gateway.envoyproxy.io", "SecurityPolicy", spec)


def asking_for(more: str) -> str:
    return agent(f"traffic: {{extAuth: {{{more}backendRef: {{name: auth, port: 80}}, http: {{}}}}}}")


GRANT = worlds.grant(
    "back", "{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: shop}", "{group: '', kind: Service}"
)
ACROSS = (envoy("", "back"), worlds.service("auth", "back"))
EXTENSION, POLICY = through("")
WORLDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str, str]] = {
    "an open login loses its service": (
        shop("envoy", envoy("failOpen: true, "), AUTH), shop("envoy", envoy("failOpen: true, ")), "opened",
        "Service shop/auth"),
    "a closed one does": (shop("envoy", envoy(""), AUTH), shop("envoy", envoy("")), "closed", "Service shop/auth"),
    "and gets it": (shop("envoy", envoy("")), shop("envoy", envoy(""), AUTH), "opened", "Service shop/auth"),
    "a grant goes": (shop("envoy", *ACROSS, GRANT), shop("envoy", *ACROSS), "closed", "ReferenceGrant back/grant"),
    "of agentgateway, open": (
        shop("agentgateway", asking_for("failureMode: FailOpen, "), AUTH),
        shop("agentgateway", asking_for("failureMode: FailOpen, ")), "opened", "Service shop/auth"),
    "of agentgateway, closed": (
        shop("agentgateway", asking_for(""), AUTH), shop("agentgateway", asking_for("")), "closed",
        "Service shop/auth"),
    "what a policy acts through": (
        shop("kgateway", EXTENSION, POLICY), shop("kgateway", *through(LESS)), "opened", "GatewayExtension shop/idp"),
    "the policy itself before what it names": (
        shop("envoy", envoy("failOpen: true, "), AUTH), shop("envoy"), "opened", "SecurityPolicy shop/login"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_the_object_that_did_it_is_named(name: str, tmp_path: Path) -> None:
    before, after, change, who = WORLDS[name]
    for side, manifests in (("old", before), ("new", after)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(manifests))
    command = ("diff", "--rendered-before", "old", "--rendered-after", "new")
    _, out, _ = run(tmp_path, *command, "-o", "json-v1")
    (found,) = [each for environment in json.loads(out)["requests"] for each in environment["changes"]]
    assert (found["change"], [by["object"] for by in found["by"]]) == (change, [who])
    _, text, _ = run(tmp_path, *command)
    assert f"      by {who} (world.yaml:" in text
    _, comment, _ = run(tmp_path, *command, "-o", "markdown")
    assert who in comment or f"`{who.split()[1]}`" in comment
