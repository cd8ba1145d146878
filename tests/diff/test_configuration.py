"""The configuration of the side before judges both, and what the change does to it is said in every format."""

from __future__ import annotations

import json
import re
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


def said(place: Path, *arguments: str) -> str:
    """What a diff says about the configuration; "" where it says nothing."""
    code, out, err = run(place, "diff", *arguments, "-o", "json")
    assert code in (0, 1), err
    message = json.loads(out).get("configuration", {}).get("message", "")
    return re.sub(r"\([0-9a-f]{7}\)|`[0-9a-f]{7}`", "(id)", message)


def test_of_two_revisions_the_former_one_says(repository: tuple[Path, list[str]]) -> None:
    place, (first, second, third) = repository
    assert states(place, f"{first}..{second}") == ["fixed", "new"]
    assert states(place, f"{first}..{third}") == ["fixed", "new"]
    assert states(place, f"{second}..{third}") == []
    assert states(place, f"{third}..{second}") == ["unchanged"]
    assert said(place, f"{first}..{second}") == (
        "`.policylint.yaml` changes `ignore`; this diff is judged by the configuration of (id)"
    )
    assert said(place, f"{first}..{third}") == "", "it says the same"


def test_a_bare_clone_has_one_too(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (first, second, third) = repository
    MAKE.git(tmp_path, "clone", "-q", "--bare", str(place), "bare.git")
    assert states(tmp_path / "bare.git", f"{first}..{second}") == ["fixed", "new"]
    assert states(tmp_path / "bare.git", f"{second}..{third}") == []


def test_it_is_looked_for_from_here_up_to_the_top(repository: tuple[Path, list[str]]) -> None:
    place, _ = repository
    nearer = commit(place, {"apps/.policylint.yaml": IGNORED})
    last = commit(place, {"apps/route.yaml": ROUTE.replace("NAME", "chekout"), "apps/.policylint.yaml": LOUD})
    assert states(place, f"{nearer}..{last}") == ["fixed", "new"]
    assert states(place / "apps", f"{nearer}..{last}") == []
    assert said(place, f"{nearer}..{last}") == ""
    assert said(place / "apps", f"{nearer}..{last}").startswith("`.policylint.yaml` changes `ignore`; ")
    assert said(place / "apps", f"{nearer}^..{nearer}") == (
        "`.policylint.yaml` takes the place of `../.policylint.yaml` and changes `ignore`; "
        f"this diff is judged by the configuration of `{nearer}^` (id)"
    )


def test_pyproject_counts_only_with_a_table_of_ours(repository: tuple[Path, list[str]]) -> None:
    place, _ = repository
    other = {"apps/route.yaml": ROUTE.replace("NAME", "chekout")}
    foreign = commit(place, {".policylint.yaml": None, "pyproject.toml": "[tool.other]\nx = 1\n"})
    ours = commit(place, {"pyproject.toml": f'[tool.policylint]\nignore = ["{RULE}"]\n', **other})
    last = commit(place, {"pyproject.toml": None, "apps/route.yaml": ROUTE.replace("NAME", "checkut")})
    assert states(place, f"{foreign}..{ours}") == ["fixed", "new"]
    assert states(place, f"{ours}..{last}") == []
    assert said(place, f"{foreign}..{ours}") == (
        "`pyproject.toml` is new and sets `ignore`; this diff is judged by the defaults, since (id) has none"
    )
    assert said(place, f"{ours}..{last}") == (
        "`pyproject.toml` is gone, and with it `ignore`; this diff is judged by the configuration of (id)"
    )


def test_neither_the_index_nor_the_work_tree_judges(repository: tuple[Path, list[str]]) -> None:
    place, (first, second, _) = repository
    (place / ".policylint.yaml").write_text(IGNORED + "exclude: [apps/]\nfail-on: never\n", encoding="utf-8")
    assert states(place, "--staged", first) == states(place, first) == ["fixed", "new"]
    assert said(place, "--staged", first) == "", "nothing is staged"
    changes = (
        "`.policylint.yaml` changes `exclude`, `ignore` and `fail-on`; this diff is judged by the configuration of "
    )
    assert said(place, first) == f"{changes}(id)"
    assert said(place) == f"{changes}`HEAD` (id)"
    MAKE.git(place, "add", "-A")
    assert states(place, "--staged", first) == ["fixed", "new"]
    assert said(place, "--staged") == f"{changes}`HEAD` (id)"
    assert states(place, second) == []
    assert run(place, "diff", first)[0] == 1, "`fail-on` is the base's, too"


def test_the_merge_base_judges_what_is_compared_with_it(repository: tuple[Path, list[str]]) -> None:
    place, (first, *_) = repository
    MAKE.git(place, "checkout", "-q", "-b", "topic", first)
    commit(place, {".policylint.yaml": IGNORED, "apps/route.yaml": ROUTE.replace("NAME", "chekot")})
    assert states(place, "main...topic") == ["fixed", "new"]
    assert said(place, "main...topic").endswith("this diff is judged by the configuration of the merge base (id)")


def test_what_the_user_names_counts_more(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (first, second, third) = repository
    named = tmp_path / "named.yaml"
    named.write_text(IGNORED, encoding="utf-8")
    assert states(place, f"{first}..{third}", "--config", str(named)) == []
    assert states(place, f"{first}..{second}", "--no-config") == ["fixed", "new"]
    (place / ".policylint.yaml").write_text(IGNORED, encoding="utf-8")
    assert states(place, f"{first}..{third}", "--config", ".policylint.yaml") == []
    assert said(place, f"{first}..{second}", "--config", ".policylint.yaml") == ""


def test_the_user_may_name_one_of_a_revision(repository: tuple[Path, list[str]]) -> None:
    place, (first, second, third) = repository
    (place / ".policylint.yaml").unlink()
    assert states(place, f"{first}..{third}", "--config", f"{second}:.policylint.yaml") == []
    assert states(place, f"{second}..{third}", "--config", f"{first}:.policylint.yaml") == ["unchanged"]
    assert states(place / "apps", f"{first}..{third}", "--config", f"{second}:../.policylint.yaml") == []
    assert RULE in run(place, "lint", "-o", "concise", "--config", f"{first}:.policylint.yaml")[1]
    assert RULE not in run(place, "lint", "-o", "concise", "--config", f"{second}:.policylint.yaml")[1]
    assert RULE not in run(place, "lint", "-o", "concise", POLICYLINT_CONFIG=f"{second}:.policylint.yaml")[1]
    for name in (f"{first}:none.yaml", "no-such:.policylint.yaml", f"{first}:../../x.yaml"):
        code, out, err = run(place, "lint", "--config", name)
        assert (code, out) == (2, "")
        assert f"cannot read configuration '{name}'" in err


def test_paths_and_exclusions_are_those_of_the_side_before(repository: tuple[Path, list[str]]) -> None:
    place, (first, _, _) = repository
    excluding = commit(place, {".policylint.yaml": "exclude: [apps/]\n"})
    including = commit(place, {".policylint.yaml": LOUD})
    elsewhere = commit(place, {".policylint.yaml": "paths: [other]\n"})
    assert states(place, f"{first}..{excluding}") == states(place, f"{first}..{elsewhere}") == ["fixed", "new"]
    assert states(place, f"{excluding}..{including}") == states(place, f"{elsewhere}..{including}") == []


@pytest.mark.parametrize("form", ["text", "concise", "markdown", "summary", "github", "sarif"])
def test_every_format_that_can_says_what_changes(repository: tuple[Path, list[str]], form: str) -> None:
    place, (first, second, third) = repository
    out = " ".join(run(place, "diff", f"{first}..{second}", "-o", form)[1].split())
    assert "`.policylint.yaml` changes `ignore`; this diff is judged by the configuration of" in out
    assert "changes `ignore`" not in run(place, "diff", f"{first}..{third}", "-o", form)[1]
    if form == "sarif":
        (notice,) = json.loads(run(place, "diff", f"{first}..{second}", "-o", form)[1])["runs"][0]["invocations"]
        assert notice["toolConfigurationNotifications"][0]["level"] == "note"


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_mistake_in_it_is_said_with_its_place(repository: tuple[Path, list[str]], side: str) -> None:
    place, (first, _, _) = repository
    broken = commit(place, {".policylint.yaml": "ignroe: [GWP101]\n"})
    (place / ".policylint.yaml").write_text(LOUD, encoding="utf-8")
    span = f"{broken}..{first}" if side == "before" else f"{first}..{broken}"
    code, out, err = run(place, "diff", span)
    assert (code, out) == (2, "")
    assert ".policylint.yaml:1:1" in err
    assert f"(the configuration of {'`' if side == 'before' else ''}{broken[:7]}" in err
