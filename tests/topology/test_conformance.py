"""Statuses of the Gateway API conformance suite, from the cases shared beside the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.documents import read
from policylint.model import World
from policylint.topology import build
from tests.worlds import resources

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "gateway-api"
FOLDERS = sorted(each.parent for each in CASES.glob("*/expected.yaml"))
RUNTIME = {"Programmed", "Ready"}


def test_the_cases_are_there() -> None:
    if not FOLDERS:
        pytest.skip(f"no conformance cases at {CASES}")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_status_that_the_suite_asks_for(folder: Path) -> None:
    expected: Any = read((folder / "expected.yaml").read_bytes(), "expected.yaml").documents[0].value
    manifests = (folder / "manifests.yaml").read_bytes()
    found = build(World("default", resources(manifests, "manifests.yaml")))
    routes = {str(each.route.key): each for each in found.routes}
    for want in expected.get("routes") or []:
        for parent in want.get("parents") or []:
            states = [
                each
                for each in routes[want["route"]].parents
                if each.text == parent["parent"] and parent.get("port") in (None, each.port)
            ]
            assert any(_missing(parent, each.conditions) == [] for each in states), (want["route"], parent)
    holders: dict[str, Any] = {str(each.gateway.key): each for each in found.gateways}
    holders.update((str(each.listener_set.key), each) for each in found.listener_sets)
    for kind in ("gateway", "listenerset"):
        for want in expected.get(f"{kind}s") or []:
            state = holders[want[kind]]
            assert _missing(want, state.conditions) == [], want[kind]
            if "attachedListenerSets" in want:
                assert state.attached_listener_sets == want["attachedListenerSets"]
            listeners = {each.name: each for each in state.listeners}
            for listener in want.get("listeners") or []:
                _compare(listener, listeners[listener["name"]])


def _compare(want: Any, state: Any) -> None:
    assert _missing(want, state.conditions) == [], want["name"]
    if "attachedRoutes" in want:
        assert state.attached_routes == want["attachedRoutes"]
    if "supportedKinds" in want:
        # A lower bound; an empty list means none.
        assert set(want["supportedKinds"]) <= set(state.supported_kinds)
        assert want["supportedKinds"] or not state.supported_kinds


def _missing(want: Any, conditions: Any) -> list[str]:
    """The wanted conditions that are not there; one without a reason takes any."""
    return [
        f"{each['type']}={each['status']}/{each.get('reason')}"
        for each in want.get("conditions") or []
        if each["type"] not in RUNTIME
        and not any(
            (said.type, said.status) == (each["type"], each["status"]) and each.get("reason") in (None, said.reason)
            for said in conditions
        )
    ]
