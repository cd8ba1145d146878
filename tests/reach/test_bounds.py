"""What takes too long to tell apart is said, for the host or for all that come later, and the run is incomplete."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.reach.ways import all_ways
from policylint.trace import Request, Trace, Tracer
from policylint.trace.precedence import RuleCandidate
from policylint.workspace import open_workspace
from tests.compare.test_requests import APP, CLASS, EDGE, ON_EDGE, login, rule, rules, web

TEAMS = [f"{{action: Allow, principal: {{headers: [{{name: x-team, values: [{team}]}}]}}}}" for team in "abcdef"]
HOSTS = ("one", "two", "three")
TOO_MANY = "too many rules of authorization"
NOT_TOLD = "authorization asks for the header x-team, which is not told apart"
WHOLE = {"x-team: a or b or c or d or e or f", "x-team: others"}


def laid(place: Path, *listed: str) -> Path:
    """Write three hosts, and the rules of a policy about them."""
    routes = [web(rule("/"), name=name, hosts=f"{name}.example.com") for name in HOSTS]
    place.mkdir(exist_ok=True)
    policy = login(rules(*listed), target=ON_EDGE, namespace="infra")
    (place / "world.yaml").write_text("---\n".join([CLASS, EDGE, APP, *routes, policy]))
    return place


def reached(place: Path) -> tuple[int, list[set[str]]]:
    """Return the exit code, and what becomes of the requests of each host, in the order of the hosts."""
    done = CliRunner().invoke(main, ["reach", str(place), "-o", "json"])
    ends: dict[str, set[str]] = {}
    for way in json.loads(done.stdout)["ways"]:
        ends.setdefault(way["host"], set()).update(way.get("undecided", [way["requests"]]))
    return done.exit_code, [ends[host] for host in sorted(ends)]


def test_rules_that_can_be_told_apart_are(tmp_path: Path) -> None:
    code, ends = reached(laid(tmp_path, *TEAMS))
    assert code == 0
    assert ends == [WHOLE] * len(HOSTS)


@pytest.mark.parametrize(
    ("bound", "number", "said"), [("_MOST_QUESTIONS", 20, TOO_MANY), ("_MOST_PREDICATES", 3, NOT_TOLD)]
)
def test_rules_that_are_too_many_for_a_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, number: int, said: str
) -> None:
    monkeypatch.setattr(f"policylint.reach.ways.{bound}", number)
    assert reached(laid(tmp_path, *TEAMS)) == (3, [{said}] * len(HOSTS))


def test_hosts_times_rules_that_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = laid(tmp_path, *TEAMS)
    _, whole = reached(place)
    monkeypatch.setattr("policylint.reach.ways._MOST_QUESTIONS_OF_ALL", 300)
    code, ends = reached(place)
    assert code == 3
    assert ends[0] == whole[0]
    assert not any(end == full for end, full in zip(ends[2:], whole[2:], strict=True))


def test_a_diff_of_rules_that_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = laid(tmp_path / "before", *TEAMS[:5]), laid(tmp_path / "after", *TEAMS)
    given = ["diff", "--rendered-before", str(before), "--rendered-after", str(after)]
    assert CliRunner().invoke(main, given).exit_code == 0
    monkeypatch.setattr("policylint.reach.ways._MOST_QUESTIONS", 20)
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 3
    assert "policylint cannot tell these requests apart: too many rules of authorization" in " ".join(
        done.stdout.split()
    )


def test_the_first_region_of_a_rule_is_asked_about_once(tmp_path: Path) -> None:
    asked: list[Request] = []

    class Counting(Tracer):
        def trace(self, request: Request, among: Sequence[RuleCandidate] | None = None) -> Trace:
            asked.extend(() if request.blank else (request,))
            return super().trace(request, among)

    simulation = open_workspace([str(laid(tmp_path, *TEAMS))]).simulations[0]
    ways = list(all_ways(simulation, tracer=Counting(simulation)))
    assert sum(bool(way.cells) for way in ways) == len(HOSTS) * len(WHOLE)
    assert len(asked) == len({repr(each) for each in asked})
