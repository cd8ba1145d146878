"""`import policylint`: trees, revisions and texts are opened, linted, compared and asked from Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import policylint
from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, policy, route
from tests.diff.history import commit, run

BROKEN = policy("SecurityPolicy", "cors", "kind: HTTPRoute, name: chekout")
TREE = "---\n".join((GATEWAY, route(), SERVICE))


def rules(findings: list[policylint.Finding]) -> list[str]:
    return [finding.rule for finding in findings]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: a tree without a fault, then a policy whose target is misspelt. The work tree has mended it."""
    directory = tmp_path / "shop"
    commit(directory, {"world.yaml": TREE})
    commit(directory, {"policy.yaml": BROKEN})
    (directory / "policy.yaml").write_text(BROKEN.replace("chekout", "checkout"), encoding="utf-8")
    return directory


def test_a_directory_a_file_and_both(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(TREE, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(BROKEN, encoding="utf-8")
    world, broken = tmp_path / "world.yaml", tmp_path / "policy.yaml"
    assert rules(policylint.lint(tmp_path).known) == ["GWP101"]
    assert rules(policylint.lint(world).known) == []
    assert rules(policylint.lint(str(world), broken).known) == ["GWP101"]


def test_a_revision(repository: Path) -> None:
    assert rules(policylint.lint(repository).known) == []
    assert rules(policylint.lint(repository, revision="HEAD").known) == ["GWP101"]
    assert rules(policylint.lint(repository / "world.yaml", revision="HEAD").known) == []
    assert rules(policylint.lint(repository, revision="HEAD~1").known) == []
    with pytest.raises(policylint.UsageError, match="cannot read revision 'nope'"):
        policylint.open(repository, revision="nope")
    with pytest.raises(policylint.UsageError, match="no such file or directory in HEAD~1"):
        policylint.open(repository / "policy.yaml", revision="HEAD~1")


@pytest.mark.parametrize("encoded", [False, True])
def test_a_text(encoded: bool) -> None:
    text = f"{TREE}---{BROKEN}"
    result = policylint.lint(text=text.encode() if encoded else text)
    (finding,) = result.known
    line, _ = finding.location.at()
    assert (finding.rule, finding.location.file) == ("GWP101", "<text>")
    assert "chekout" in result.workspace.source_lines("<text>")[line - 1]
    assert policylint.lint(text="").coverage.documents == 0
    assert rules(policylint.lint(text="a: [").known) == ["GWP910"]
    with pytest.raises(policylint.UsageError, match="cannot be combined with paths"):
        policylint.open("here", text="")


def test_no_configuration_holds_for_a_text_but_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".policylint.yaml").write_text("ignore: [GWP101]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = f"{TREE}---{BROKEN}"
    assert rules(policylint.lint(text=text).known) == ["GWP101"]
    assert rules(policylint.lint(text=text, config=tmp_path / ".policylint.yaml").known) == []


def test_what_is_suppressed_is_not_among_the_findings(tmp_path: Path) -> None:
    """Though the workspace has them."""
    comment = "# policylint: ignore[GWP101] comes with the next release\n"
    (tmp_path / "world.yaml").write_text(TREE, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(comment + BROKEN.lstrip(), encoding="utf-8")
    result = policylint.lint(tmp_path)
    assert "GWP101" in rules(open_workspace([str(tmp_path)]).findings())
    assert rules(result.known) == []
    assert [entry.finding.rule for entry in result.suppressed] == ["GWP101"]
    assert result.suppressed[0].by.reason == "comes with the next release"


def test_the_configuration_is_that_of_the_tree_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "apps").mkdir(parents=True)
    (tree / ".git").mkdir()
    (tree / "apps" / "all.yaml").write_text(f"{TREE}---{BROKEN}", encoding="utf-8")
    (tree / ".policylint.yaml").write_text("severity: {GWP101: note}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for path in ("tree", "tree/apps", tree / "apps" / "all.yaml"):
        assert [finding.severity for finding in policylint.lint(path).known] == ["note"]
    assert [finding.severity for finding in policylint.lint("tree", no_config=True).known] == ["error"]
    (tree / ".policylint.yaml").write_text("severty: {}\n", encoding="utf-8")
    with pytest.raises(policylint.UsageError, match=r"^tree/.policylint.yaml:1:1: "):
        policylint.lint("tree")


def test_the_rules_that_run(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{TREE}---{BROKEN}", encoding="utf-8")
    assert rules(policylint.lint(tmp_path, ignore=["GWP1"]).known) == []
    assert rules(policylint.lint(tmp_path, select=["target-not-found"]).known) == ["GWP101"]
    with pytest.raises(policylint.UsageError, match="unknown rule 'nope'"):
        policylint.lint(tmp_path, select=["nope"])


def test_it_says_what_the_command_says(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    (repository / "policy.yaml").write_text(BROKEN, encoding="utf-8")
    said = json.loads(run(repository, "lint", "-o", "json", "--show-unknown")[1])["findings"]
    result = policylint.lint()
    assert [(each["rule"], each["message"]) for each in said] == [
        (finding.rule, finding.message) for finding in result.findings
    ]


def test_what_two_revisions_differ_in(repository: Path) -> None:
    change = policylint.diff("HEAD~1..HEAD", repository=repository)
    assert rules(change.new) == ["GWP101"]
    assert rules(change.fixed) == []
    back = policylint.diff("HEAD..HEAD~1", repository=repository)
    assert (rules(back.new), rules(back.fixed)) == ([], ["GWP101"])
    now = policylint.diff(repository=repository)
    assert (rules(now.fixed), now.files_differ) == (["GWP101"], 1)
    assert rules(policylint.diff("HEAD", repository=repository, staged=True).fixed) == []
    assert rules(policylint.diff("HEAD~1..HEAD", repository / "world.yaml", repository=repository).new) == []
    with pytest.raises(policylint.UsageError, match="unknown"):
        policylint.diff("HEAD..nope", repository=repository)


def test_what_is_suppressed_is_not_among_the_new_findings(repository: Path) -> None:
    commit(repository, {"policy.yaml": "# policylint: ignore[GWP101] comes with the next release\n" + BROKEN.lstrip()})
    change = policylint.diff("HEAD~2..HEAD", repository=repository)
    assert (rules(change.new), change.suppressed) == ([], 1)


def test_rendered_directories(tmp_path: Path) -> None:
    for name, text in (("before", TREE), ("after", f"{TREE}---{BROKEN}")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.yaml").write_text(text, encoding="utf-8")
    assert rules(policylint.diff(rendered=(tmp_path / "before", tmp_path / "after")).new) == ["GWP101"]


def test_an_open_tree_is_asked() -> None:
    timeout = policy(
        "BackendTrafficPolicy", "slow", "kind: HTTPRoute, name: checkout", 'timeout: {http: {requestTimeout: "5s"}}'
    )
    tree = policylint.open(text=f"{TREE}---{timeout}")
    (route_explained,) = tree.explain("HTTPRoute/shop/checkout")
    (answer,) = route_explained.answers.listed
    assert [dict(group.effective.spec) for group in answer.groups] == [{"timeout": {"http": {"requestTimeout": "5s"}}}]
    (policy_explained,) = tree.explain("slow")
    assert policy_explained.state is not None
    assert policy_explained.state.verdict == "Enforced"
    (traced,) = tree.trace("GET", "http://shop.example.com/checkout/more", gateway="edge")
    assert str(traced.trace.rule) == "HTTPRouteRule shop/checkout#rule-2"
    assert [str(met.group.effective.stack[0].key) for met in traced.trace.policies] == [
        "BackendTrafficPolicy shop/slow"
    ]
    with pytest.raises(policylint.UsageError, match="no object named"):
        tree.explain("nope")
    with pytest.raises(policylint.UsageError, match="is not a header"):
        tree.trace("GET", "http://shop.example.com/", headers=["x"])
    assert [simulation.world.name for simulation in tree.simulations] == ["default"]
    assert tree.coverage.routes == 1


def test_findings_of_an_explanation_are_triaged(tmp_path: Path) -> None:
    comment = "# policylint: ignore[GWP101] comes with the next release\n"
    (tmp_path / "all.yaml").write_text(f"{TREE}---\n{comment}{BROKEN.lstrip()}", encoding="utf-8")
    (explained,) = policylint.open(tmp_path).explain("SecurityPolicy/shop/cors")
    assert explained.findings == ()


def test_nothing_is_printed_written_or_left_behind(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(30):
        (tree / f"{number}.yaml").write_text(route(f"r{number}"), encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    for variable in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(home))
    monkeypatch.chdir(tmp_path)
    policylint.lint(tree)
    assert capfd.readouterr() == ("", "")
    assert sorted(place.name for place in tmp_path.iterdir()) == ["home", "tree"]
    assert [*home.iterdir()] == []
    assert len([*tree.iterdir()]) == 30


def test_names_are_there_and_no_others() -> None:
    for name in policylint.__all__:
        assert getattr(policylint, name)
    assert policylint.Session.__name__ == "Session"
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        policylint.nope  # noqa: B018


def test_click_is_not_imported_and_nothing_before_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{TREE}---{BROKEN}", encoding="utf-8")
    code = (
        "import sys, policylint\n"
        "print(sorted(name for name in sys.modules if name.startswith('policylint')))\n"
        "tree = policylint.open(sys.argv[1])\n"
        "tree.lint(); tree.explain('HTTPRoute/checkout'); tree.trace('GET', 'http://a/checkout')\n"
        "policylint.diff(rendered=(sys.argv[1], sys.argv[1]))\n"
        "print('click' in sys.modules, any(name.startswith('policylint.cli') for name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['policylint']", "False False"]
