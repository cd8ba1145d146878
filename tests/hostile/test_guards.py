"""The guards of last resort: an error of our own stops one rule, object, CRD, file or rendering, and is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from policylint.documents import MAX_DEPTH
from tests.diff.history import run
from tests.worlds import GATEWAY_API

WORLD = f"""
apiVersion: {GATEWAY_API}/v1
kind: Gateway
metadata: {{name: edge}}
spec: {{gatewayClassName: any, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}
---
apiVersion: {GATEWAY_API}/v1
kind: HTTPRoute
metadata: {{name: good}}
spec: {{parentRefs: [{{name: nowhere}}], rules: [{{backendRefs: [{{name: none, port: 80}}]}}]}}
---
apiVersion: {GATEWAY_API}/v1
kind: HTTPRoute
metadata: {{name: odd}}
spec: {{parentRefs: [{{name: edge}}], rules: [{{backendRefs: [{{name: none, port: 80}}]}}]}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: on-odd}}
spec: {{targetRefs: [{{group: {GATEWAY_API}, kind: HTTPRoute, name: odd}}], cors: {{}}}}
"""
pytestmark = pytest.mark.usefixtures("guards_at_work")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "world.yaml").write_text(WORLD)
    (tmp_path / "other.yaml").write_text(f"apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: other}}\n")
    return tmp_path


def breaking(monkeypatch: pytest.MonkeyPatch, place: str, when: Callable[..., bool] = lambda *_, **__: True) -> None:
    """Make a function of the tool fail: no manifest is known that does."""
    module, _, name = place.rpartition(".")
    whole = __import__(module, fromlist=[name])
    original = getattr(whole, name)

    def broken(*arguments: Any, **named: Any) -> Any:
        if when(*arguments, **named):
            raise KeyError("s3cret")
        return original(*arguments, **named)

    monkeypatch.setattr(whole, name, broken)


def linted(tree: Path) -> tuple[set[str], list[dict[str, Any]], str]:
    """Return the rules that found something, the internal errors among the findings, and stderr."""
    code, out, err = run(tree, "lint", ".", "--no-config", "-o", "json")
    assert code == 3
    findings = json.loads(out)["findings"]
    ours = [finding for finding in findings if "internal error" in finding["message"]]
    assert {finding["rule"] for finding in ours} == {"GWP910"}
    assert "Traceback" not in out + err
    assert "s3cret" not in out + err
    assert "Please report it" in err
    return {finding["rule"] for finding in findings}, ours, err


def test_a_rule_that_fails_is_said_and_the_others_go_on(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import policylint.checks.parent_not_found as rule

    original = rule.check

    def check(simulation: Any) -> Iterator[Any]:
        for finding in original(simulation):
            yield finding
            for resource in simulation.world.of_kind(GATEWAY_API, "HTTPRoute"):
                if resource.key.name == "odd":
                    raise KeyError("s3cret")

    monkeypatch.setattr(rule, "check", check)
    rules, (ours,), err = linted(tree)
    assert {"GWP401", "GWP501"} <= rules
    assert "rule GWP401" in ours["message"]
    assert "HTTPRoute default/odd" in str(ours["resources"])
    assert "rule GWP401 was stopped at HTTPRoute default/odd by an internal error (KeyError at test_guards.py:" in err


def test_an_object_that_cannot_be_simulated_is_set_aside(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "policylint.topology.routes._hostnames", lambda route: route.key.name == "odd")
    rules, (ours,), _ = linted(tree)
    assert "GWP401" in rules
    assert "GWP101" not in rules, "the policy's target is unknown, not missing"
    assert "odd" in str(ours)


def test_where_no_object_can_be_blamed_none_is_judged(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "policylint.simulation.build", lambda world, **_: bool(world.resources))
    rules, (ours,), _ = linted(tree)
    assert rules == {"GWP910"}
    assert "the simulation of default" in ours["message"]


def test_a_file_that_cannot_be_read_for_a_fault_of_ours(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "policylint.load.shared_facts.facts_of", lambda _, file, *__: file.endswith("other.yaml"))
    rules, (ours,), err = linted(tree)
    assert "GWP401" in rules
    assert "other.yaml" in ours["location"]["file"]
    assert "reading was stopped at other.yaml" in err


def test_a_crd_whose_kind_cannot_be_told(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crd = Path(__file__).parent / "corpus" / "crd.yaml"
    (tree / "crd.yaml").write_bytes(crd.read_bytes())
    breaking(monkeypatch, "policylint.catalog.crd_kind.kind_of_crd")
    rules, (ours,), _ = linted(tree)
    assert "GWP401" in rules
    assert "shapepolicies.example.com" in str(ours)


def test_a_rendering_that_fails_leaves_the_files_as_they_are(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "kustomization.yaml").write_text("resources: [world.yaml, other.yaml]\n")
    breaking(monkeypatch, "policylint.render.environments.environments")
    rules, (ours,), _ = linted(tree)
    assert rules == {"GWP501", "GWP910"}, "where the objects land is unknown"
    assert "rendering" in ours["message"]


@pytest.mark.parametrize(
    "arguments",
    [("explain", "HTTPRoute/good"), ("list", "routes"), ("simulate",), ("graph",), ("trace", "GET", "http://a/")],
)
def test_commands_that_show_say_it_too(tree: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    breaking(monkeypatch, "policylint.topology.routes._hostnames", lambda route: route.key.name == "odd")
    code, out, err = run(tree, *arguments, *(() if arguments[0] == "explain" else (".",)))
    assert code == 3
    assert out
    assert "internal error" in err


def test_a_diff_says_it_of_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text(WORLD.replace("nowhere", side))
    breaking(monkeypatch, "policylint.compare.protection.settings.weakened")
    code, _, err = run(tmp_path, "diff", "--rendered-before", "before", "--rendered-after", "after")
    assert (code, "rule GWP304 was stopped" in err) == (3, True)


def test_the_traceback_is_for_whoever_asks(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "policylint.topology.routes._hostnames", lambda route: route.key.name == "odd")
    assert "Traceback" in run(tree, "lint", ".", POLICYLINT_DEBUG="1")[2]


def test_nesting_within_the_bound_is_no_internal_error(tree: Path) -> None:
    """The deepest document that is read: every recursion over it ends."""
    deep = "{a: " * (MAX_DEPTH - 2) + "1" + "}" * (MAX_DEPTH - 2)
    (tree / "deep.yaml").write_text(
        f"apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: deep}}\nspec: {deep}\n"
    )
    assert run(tree, "lint", ".", "-o", "json")[0] == 1
