"""The configuration of the later side judges both: B's for A..B, the index's with --staged, else the work tree's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.diff.history import MAKE, commit, run
from tests.worlds import gateway, policy, route

ROUTE = "---".join(
    (
        gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="here"),
        route(parents="[{name: edge}]"),
        policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "open", "HTTPRoute/NAME", namespace="shop"),
    )
)
RULE = "GWP101"
IGNORED = f"ignore: [{RULE}, GWP409]\n"
LOUD = "ignore: [GWP409]\n"


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, list[str]]:
    """A target that is wrong, then wrong in another way: judged in full, then by a configuration that ignores the rule,
    then again in full."""
    place = tmp_path / "shop"
    ids = [commit(place, {"apps/route.yaml": ROUTE.replace("NAME", "chekout"), ".policylint.yaml": LOUD})]
    ids.append(commit(place, {"apps/route.yaml": ROUTE.replace("NAME", "checkut"), ".policylint.yaml": IGNORED}))
    ids.append(commit(place, {".policylint.yaml": LOUD}))
    return place, ids


def states(place: Path, *arguments: str) -> list[str]:
    """The states of the findings about targets that are not there."""
    code, out, err = run(place, "diff", *arguments, "-o", "json", "--show", "unchanged")
    assert code in (0, 1), err
    return sorted(each["state"] for each in json.loads(out)["findings"] if each["rule"] == RULE)


def test_of_two_revisions_the_later_one_says(repository: tuple[Path, list[str]]) -> None:
    place, (first, second, third) = repository
    assert states(place, f"{first}..{second}") == []  # the work tree, like the third, would report it
    assert states(place, f"{first}..{third}") == ["fixed", "new"]
    assert states(place, f"{second}..{third}") == ["unchanged"]
    assert states(place, f"{third}..{second}") == []


def test_a_bare_clone_has_one_too(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (first, second, third) = repository
    MAKE.git(tmp_path, "clone", "-q", "--bare", str(place), "bare.git")
    assert states(tmp_path / "bare.git", f"{first}..{second}") == []
    assert states(tmp_path / "bare.git", f"{first}..{third}") == ["fixed", "new"]


def test_it_is_looked_for_from_here_up_to_the_top(repository: tuple[Path, list[str]]) -> None:
    place, (first, second, _) = repository
    nearer = commit(place, {"apps/.policylint.yaml": IGNORED})
    assert states(place, f"{first}..{nearer}") == ["fixed", "new"]
    assert states(place / "apps", f"{first}..{nearer}") == []
    assert states(place / "apps", f"{first}..{second}") == []


def test_pyproject_counts_only_with_a_table_of_ours(repository: tuple[Path, list[str]]) -> None:
    place, (first, _, _) = repository
    foreign = commit(place, {".policylint.yaml": None, "pyproject.toml": "[tool.other]\nx = 1\n"})
    ours = commit(place, {"pyproject.toml": f'[tool.policylint]\nignore = ["{RULE}"]\n'})
    assert states(place, f"{first}..{foreign}") == ["fixed", "new"]
    assert states(place, f"{first}..{ours}") == []


def test_the_index_for_what_is_staged_and_the_work_tree_for_what_is_there(repository: tuple[Path, list[str]]) -> None:
    place, (first, _, _) = repository
    configuration = place / ".policylint.yaml"
    configuration.write_text(IGNORED, encoding="utf-8")
    assert states(place, "--staged", first) == ["fixed", "new"]
    assert states(place, first) == []
    MAKE.git(place, "add", "-A")
    configuration.write_text(LOUD, encoding="utf-8")
    assert states(place, "--staged", first) == []
    assert states(place, first) == ["fixed", "new"]


def test_what_the_user_names_counts_more(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (first, second, third) = repository
    named = tmp_path / "named.yaml"
    named.write_text(IGNORED, encoding="utf-8")
    assert states(place, f"{first}..{third}", "--config", str(named)) == []
    assert states(place, f"{first}..{second}", "--no-config") == ["fixed", "new"]


def test_paths_and_exclusions_are_those_of_the_later_side(repository: tuple[Path, list[str]]) -> None:
    place, (first, _, _) = repository
    excluding = commit(place, {".policylint.yaml": "exclude: [apps/]\n"})
    shutil.rmtree(place / "apps")
    (place / ".policylint.yaml").unlink()
    assert states(place, f"{first}..{excluding}") == []


def test_a_mistake_in_it_is_said_with_its_place(repository: tuple[Path, list[str]]) -> None:
    place, (first, _, _) = repository
    broken = commit(place, {".policylint.yaml": "ignroe: [GWP101]\n"})
    (place / ".policylint.yaml").write_text(LOUD, encoding="utf-8")
    code, _, said = run(place, "diff", f"{first}..{broken}")
    assert code == 2
    assert ".policylint.yaml:1:1" in said
