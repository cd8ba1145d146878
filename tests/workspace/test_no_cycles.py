"""What a lint no longer needs goes with the last reference to it: nobody looks for what refers to itself.

The collector is off while a tree is read and simulated, and what is there at the end is exempt from it (`Run.open`).
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from policylint.schema import broken
from policylint.schema.known import forget_shipped
from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, policy, route
from tests.render.trees import FIXTURES

UNREADABLE = "kind: Service\nspec: {a: [1, 2}\n"
TEMPLATE = "{{- if .Values.enabled }}\nkind: Service\n{{- end }}\n"
REFUSED = policy(
    "SecurityPolicy", "login", "kind: HTTPRoute, name: checkout", "jwt: {providers: [{name: a, issuer: b}]}"
)


@pytest.fixture(autouse=True)
def schemas_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a run of the program; otherwise tests share them."""
    monkeypatch.setattr(broken, "forget_shipped", forget_shipped)


def garbage(do: Callable[[], object]) -> Counter[str]:
    """By class what of ours is left of something that only a search for cycles would find."""
    do()  # what is imported and kept for all runs
    gc.unfreeze()
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        kept = do()
        gc.unfreeze()
        gc.collect()
        return Counter(type(each).__name__ for each in gc.garbage if _is_ours(each))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        if was_enabled:
            gc.enable()
        del kept


def _is_ours(each: object) -> bool:
    return type(each).__module__.startswith("policylint") or type(each).__name__ == "frame"


@pytest.mark.parametrize("text", [UNREADABLE, TEMPLATE, SERVICE + "---\n" + UNREADABLE, "a: &b 1\na: *b\n"])
def test_what_was_read_of_files_that_cannot_be_read_is_not_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE, encoding="utf-8")
    (tmp_path / "broken.yaml").write_text(text, encoding="utf-8")
    assert garbage(lambda: open_workspace([str(tmp_path)])) == {}


@pytest.mark.parametrize("name", ["envoy-gateway-shop", "flux-shop", "kuadrant-platform", "network-shop"])
def test_schemas_go_when_they_are_given_back(name: str) -> None:
    def opened() -> object:
        workspace = open_workspace([str(FIXTURES / name)])
        broken.forget_valid()
        return workspace

    assert garbage(opened) == {}


def test_those_of_what_is_refused_go_as_well(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("---\n".join((GATEWAY, route(), SERVICE, REFUSED)), encoding="utf-8")

    def opened() -> object:
        (simulation,) = open_workspace([str(tmp_path)]).simulations
        assert [str(each.resource.key) for each in simulation.broken] == ["SecurityPolicy shop/login"]
        broken.forget_valid()
        return simulation

    assert garbage(opened) == {}
