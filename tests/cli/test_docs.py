"""The pages of docs/ that speak of the command line say what is so."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.commands import COMMANDS
from policylint.config import load
from policylint.report.formats import FORMATS

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)


def test_the_index_of_rules_is_fresh() -> None:
    fresh = CliRunner().invoke(main, ["rule", "-o", "markdown"]).stdout
    assert page("rules.md") == fresh, "run: policylint rule -o markdown > docs/rules.md"


def test_rules_for_programs() -> None:
    content = json.loads(CliRunner().invoke(main, ["rule", "GWP101", "-o", "json"]).stdout)
    assert content["version"] == "rules-v1"
    assert (content["rules"][0]["id"], len(content["rules"])) == ("GWP101", 1)


def test_every_key_of_the_configuration_is_described() -> None:
    schema = json.loads((DOCS.parent / "schemas" / "config.json").read_text())
    described = re.findall(r"^\| `([\w-]+)` \|", page("configuration.md"), re.MULTILINE)
    assert [key for key in schema["properties"] if key not in described] == []


def test_the_example_configurations_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".policylint.yaml").write_text(blocks("configuration.md", "yaml")[0])
    (tmp_path / "pyproject.toml").write_text(blocks("configuration.md", "toml")[0])
    assert load(".policylint.yaml").severity["GWP201"] == "error"
    assert tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert load("pyproject.toml").suppressions[0].path == "vendor/"
    for name in (".policylint.yaml", "pyproject.toml"):
        assert CliRunner().invoke(main, ["config", "show", "--config", name]).exit_code == 0


def test_the_example_suppressions_are_understood() -> None:
    from policylint.triage.comments import suppressions

    (example,) = blocks("suppressing.md", "yaml")
    found = suppressions("x", example.split("\n"))
    covered = [(each.rules, each.first, each.last, each.expires) for each in found]
    assert covered == [
        (("GWP106",), 2, 13, "2027-01-31"),
        (("GWP101",), 7, 12, ""),
        (("GWP201", "GWP203"), 12, 12, ""),
    ]


def test_formats_and_commands_that_pages_name_exist() -> None:
    for name in FORMATS["lint"]:
        assert f"`{name}`" in page("ci.md")
    for file in DOCS.glob("*.md"):
        for block in blocks(file.name, "sh"):
            for command in re.findall(r"^policylint ([a-z]+)\b", block, re.MULTILINE):
                assert command in COMMANDS, f"{file.name}: {command}"


def test_links_between_pages_lead_somewhere() -> None:
    for file in (*DOCS.glob("*.md"), *DOCS.parent.glob("*.md"), *DOCS.parent.glob("bench/*.md")):
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)", file.read_text()):
            there = file.parent / target if target else file
            assert there.exists(), f"{file.name}: {target}"
            if anchor:
                assert anchor[1:] in anchors(there), f"{file.name}: {target}{anchor}"


def test_the_readme_is_for_its_first_reader_and_whole_on_pypi() -> None:
    """Sixty lines; and links that lead somewhere without the repository around them."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    own = [target.partition("/blob/main/")[2] for target in targets if "/policylint/blob/main/" in target]
    assert len(own) > 8
    for path, _, anchor in (target.partition("#") for target in own):
        assert (DOCS.parent / path).exists(), path
        assert not anchor or anchor in anchors(DOCS.parent / path)


def anchors(file: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in headings}


def test_every_option_of_lint_is_described() -> None:
    from policylint.cli.lint import lint

    text = page("lint.md")
    shown = [parameter for parameter in lint.params if not getattr(parameter, "hidden", False)]
    options = {name for option in shown for name in (*option.opts, *option.secondary_opts) if name.startswith("--")}
    assert options - {"--help"} == {name for name in options if f"`{name}" in text}


BLOCK = re.compile(r"^```console\n\$ (policylint [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
HELD_ELSEWHERE = {"diff.md": 1, "clusters.md": 1, "python.md": 1, "remote-charts.md": 1}
"""Pages with output whose command needs commits, another language or another tree, and how many such blocks."""
TIME = re.compile(r", [0-9.]+ s\)")
PAGES = [
    page
    for page in (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("tasks/*.md")))
    if page.name not in ("migrating.md", "comment.md")
    and BLOCK.search(page.read_text(encoding="utf-8"))  # held in tests/doors and tests/project
]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_what_a_page_shows_is_what_the_command_prints(
    page: Path, apart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Golden files inside of pages: `--update-golden` writes them."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(apart)
    if page.name == "configuration.md":  # its mistake stands in line 7 of a configuration
        monkeypatch.chdir(tmp_path)
        (tmp_path / ".policylint.yaml").write_text("\n" * 6 + "sevrity: {GWP2: note}\n")

    def printed(block: re.Match[str]) -> str:
        with contextlib.chdir(Path.cwd()):  # -C leaves it
            done = CliRunner().invoke(main, shlex.split(block[1])[1:], prog_name="policylint")
        said = (done.stdout or done.stderr.partition("\nTry ")[0]).rstrip() + "\n"
        taken = TIME.search(block[2])
        return f"```console\n$ {block[1]}\n{TIME.sub(taken[0], said) if taken else said}```"

    shown = page.read_text(encoding="utf-8")
    real = BLOCK.sub(printed, shown)
    if request.config.getoption("--update-golden"):
        page.write_text(real, encoding="utf-8")
    else:
        assert real == shown, f"pytest --update-golden {Path(__file__).name}, then read the diff"


def test_no_page_shows_what_no_test_prints() -> None:
    """Output stands under the command that prints it; what a command alone cannot print is counted."""
    pages = (DOCS.parent / "README.md", *DOCS.glob("*.md"), *DOCS.glob("tasks/*.md"))
    unheld = {}
    for page in pages:
        blocks = FENCED.findall(page.read_text(encoding="utf-8"))
        unheld[page.name] = sum(
            language in ("", "text") or (language == "console" and not shown.startswith("$ policylint "))
            for _, language, shown in blocks
        )
    assert {name: count for name, count in unheld.items() if count} == HELD_ELSEWHERE
