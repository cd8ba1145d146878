"""Selecting rules, and what holds of all findings together."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.checks import RULES, expand, name_of, run
from policylint.checks.kit.wording import Effort, Spellings, near
from policylint.checks.needs import anything
from policylint.checks.registry import RuleEntry
from policylint.model import Finding, Location, Spot, World
from policylint.simulation import Simulation, simulate
from policylint.trace import Tracer
from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, policy, route
from tests.render.trees import FIXTURES


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["GWP101"], {"GWP101"}),
        (["gwp101", "target-not-found"], {"GWP101"}),
        (["GWP51"], {"GWP510", "GWP511", "GWP512", "GWP513", "GWP514", "GWP515"}),
        (["GWP91"], {"GWP910", "GWP911", "GWP912", "GWP913", "GWP914", "GWP915"}),
        (["GWP"], set(RULES)),
        ([], set()),
    ],
)
def test_expand(names: list[str], expected: set[str]) -> None:
    assert expand(names) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("target-not-fuond", "unknown rule 'target-not-fuond' (did you mean 'target-not-found'?)"),
        ("GWP1O1", "unknown rule 'GWP1O1'"),
        ("GWP8", "unknown rule 'GWP8'"),
        ("", "unknown rule ''"),
        ("nonsense", "unknown rule 'nonsense'"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="unknown rule") as caught:
        expand([name])
    assert str(caught.value) == message


@pytest.mark.parametrize("rule", RULES)
def test_a_module_says_its_rule_in_its_first_line(rule: str) -> None:
    entry = RULES[rule]
    module = import_module(entry.module)
    assert module.__doc__ is not None
    assert rule in module.__doc__.partition("\n")[0]
    if entry.family:
        assert callable(entry.check)
    else:
        assert entry.where or (rule == module.RULE and callable(module.check))
    asks_requests = entry.where.startswith("policylint.reach.")  # a room above this one
    assert bool(entry.where) == (asks_requests or entry.runs in ("on changes", "in triage", "where required"))
    assert name_of(rule) == entry.identifier.replace("_", "-")


def test_a_rule_that_states_no_need_is_asked_of_an_empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Finding("GWP399", "note", "asked", Location(Spot("a.yaml")))
    module = ModuleType("policylint.checks.new_rule")
    monkeypatch.setattr(module, "check", lambda _: iter([said]), raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(RULES, "GWP399", RuleEntry("new_rule"))
    assert list(run(simulate(World("default", ()), load_catalog()), select={"GWP399"})) == [said]


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*/")), ids=lambda fixture: fixture.name)
def test_no_need_keeps_a_finding_back(fixture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulations = open_workspace([str(fixture)]).simulations
    asked = [list(run(simulation, select=set(RULES))) for simulation in simulations]
    for rule, entry in RULES.items():
        monkeypatch.setitem(RULES, rule, entry._replace(needs=anything))
    assert [list(run(simulation, select=set(RULES))) for simulation in simulations] == asked


def world(tmp_path: Path, *documents: str) -> Path:
    file = tmp_path / "world.yaml"
    file.write_text("---\n".join(documents), encoding="utf-8")
    return file


BROKEN = (
    GATEWAY,
    route(backend="port: 1"),
    SERVICE,
    policy("BackendTrafficPolicy", "b", "kind: HTTPRoute, name: nothing"),
    policy("BackendTrafficPolicy", "a", "kind: Service, name: checkout"),
)


def test_findings_are_sorted_by_place(tmp_path: Path) -> None:
    (simulation,) = open_workspace([str(world(tmp_path, *BROKEN))]).simulations
    places = [each.location.sort_key() for each in run(simulation)]
    assert places == sorted(places)
    assert len(places) > 3


def test_only_what_is_selected_runs(tmp_path: Path) -> None:
    (simulation,) = open_workspace([str(world(tmp_path, *BROKEN))]).simulations
    assert {each.rule for each in run(simulation, select={"GWP406", "GWP101"})} == {"GWP406", "GWP101"}
    assert list(run(simulation, select=set())) == []


def test_findings_do_not_hang_on_the_hash_seed(tmp_path: Path) -> None:
    file = world(tmp_path, *BROKEN)
    code = (
        "from policylint.workspace import open_workspace\n"
        f"for each in open_workspace([{str(file)!r}]).findings():\n"
        "    print(each.rule, each.location.at(), each._replace(location=None, related=()))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert "GWP406" in outputs.pop()


def test_near_misses() -> None:
    assert near("chekout", ["checkout", "cart"]) == "checkout"
    assert near("zzz", ["checkout", "cart"]) == ""
    assert Spellings(["edge", "edges", "shop"]).near("edge", 3) == ["edges"]


def test_near_misses_among_many_names_cost_little_and_end() -> None:
    names = [f"checkout-{number:04}" for number in range(3_000)]
    effort = Effort()
    spellings = Spellings(names, effort)
    before = effort.left
    assert spellings.near("chekout-1234", 1) == ["checkout-1234"]
    assert before - effort.left <= 64 * len("chekout-1234") * len("checkout-1234")
    while effort.left > 0:
        spellings.near("chekout-1234", 1)
    assert spellings.near("chekout-1234", 1) == []


def test_rules_that_follow_requests_share_a_tracer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    following = {"GWP301": "route-without-authentication", "GWP317": "preflight-not-routed", "GWP411": "redirect-loop"}
    made: list[str] = []
    init = Tracer.__init__

    def counted(self: Tracer, simulation: Simulation, **options: bool) -> None:
        made.append(simulation.world.name)
        init(self, simulation, **options)

    monkeypatch.setattr(Tracer, "__init__", counted)
    for rule, name in following.items():
        page = (FIXTURES.parent / "rules" / f"{rule}-{name}.md").read_text(encoding="utf-8")
        example = page.partition("```yaml bad\n")[2].partition("```")[0]
        (tmp_path / f"{rule}.yaml").write_text(example, encoding="utf-8")
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    assert following.keys() <= {finding.rule for finding in run(simulation)}
    assert len(made) == 1
    simulation.give_back()
    assert simulation.kept_tracer is None
