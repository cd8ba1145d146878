"""The project's address stands in pyproject.toml, and everything else has it from there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from policylint.model.home import home
from policylint.report.findings import write
from tests.report.sample import Options, sample
from tests.scripts import module_of

ROOT = Path(__file__).parents[2]
STATED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]


@pytest.fixture(scope="module")
def carried() -> ModuleType:
    """.ci/home.py as a module."""
    return module_of(ROOT / ".ci" / "home.py")


def test_the_program_reads_what_pyproject_states() -> None:
    assert home() == ("" if STATED.startswith("https://github.com/example/") else STATED)


@pytest.mark.parametrize(
    "stated", ["https://github.com/acme/policylint", "https://github.com/example/policylint"], ids=["known", "unknown"]
)
def test_a_placeholder_is_no_address(stated: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project.urls]\nHomepage = "{stated}"\n')
    monkeypatch.setattr("policylint.model.home.data_directory", lambda: str(tmp_path))
    assert home() == (stated if "acme" in stated else "")


def test_every_text_names_that_home(carried: ModuleType) -> None:
    assert [(file.name, text) for file, text, _ in carried.differing(carried.owner())] == [], (
        "python .ci/home.py --write"
    )


def test_another_home_is_one_edit(carried: ModuleType) -> None:
    named = {file.relative_to(ROOT).as_posix() for file, _, _ in carried.differing("acme")}
    assert named >= {"README.md", "docs/ci.md", "docs/github-action.md", "pyproject.toml", "schemas/config.json"}
    right = {file.name: right for file, _, right in carried.differing("acme")}
    assert "uses: acme/policylint@v0.1.0" in right["README.md"]
    assert "example/policylint" not in right["README.md"] + right["pyproject.toml"] + right["config.json"]


def test_every_schema_lies_where_its_id_says() -> None:
    for file in (ROOT / "schemas").rglob("*.json"):
        if file.relative_to(ROOT).parts[1] in ("crds", "releases"):  # parts of CRDs, a line each
            continue
        schema = json.loads(file.read_text())
        if "$id" in schema:
            assert schema["$id"] == f"{STATED}/raw/main/{file.relative_to(ROOT).as_posix()}"


@pytest.mark.parametrize("form", ["text", "markdown", "sarif"])
def test_without_a_home_nothing_links_there(form: str) -> None:
    options = Options(links=True, addresses=True)
    linked, plain = write(form, sample(options=options)), write(form, sample(options=options, home=""))
    assert "/rules/GWP201-parent-setting-dropped.md" in linked and "GWP201" in plain
    assert "rules/GWP201" not in plain and "]()" not in plain and "\x1b]8" not in plain and '"helpUri"' not in plain
