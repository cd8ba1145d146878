"""What CI and the action fetch is held to hashes or stated versions; what is shipped is listed with its licence."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripts import module_of

ROOT = Path(__file__).parents[2]
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
NPM = ROOT / ".ci" / "npm"
EXTENSION = ROOT / "deploy" / "vscode"
PERMISSIVE = {"Apache-2.0", "BSD-3-Clause", "MIT", "PSF-2.0"}
"""Licences of what is installed with policylint, which ask its users for no more than its own does."""


@pytest.fixture(scope="module")
def licences() -> ModuleType:
    """.ci/licences.py as a module."""
    return module_of(ROOT / ".ci" / "licences.py")


def test_licences_are_listed(licences: ModuleType) -> None:
    try:
        table = licences.table()
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert table in text, "put what python .ci/licences.py prints into docs/dependencies.md"


def test_what_is_installed_with_it_asks_for_no_more(licences: ModuleType) -> None:
    found = {package: licences.licence(package) for package in licences.pinned("requirements.lock")}
    assert len(found) > 5
    assert {package: name for package, name in found.items() if name not in PERMISSIVE} == {}


@pytest.mark.parametrize("place", [NPM, EXTENSION], ids=lambda place: place.name)
def test_every_package_of_npm_has_a_hash(place: Path) -> None:
    lock = json.loads((place / "package-lock.json").read_text())
    package = json.loads((place / "package.json").read_text())
    asked = package["dependencies"] | package.get("devDependencies", {})
    packages = {path: entry for path, entry in lock["packages"].items() if path}
    assert {name: packages[f"node_modules/{name}"]["version"] for name in asked} == asked
    assert [path for path, entry in packages.items() if not entry["integrity"].startswith("sha512-")] == []
    assert [path for path, entry in packages.items() if "resolved" in entry] == [], "whichever registry is set"


def test_the_layout_of_the_page_is_what_npm_has() -> None:
    """`dagre.min.js` is shipped unchanged."""
    modules = Path(os.environ.get("POLICYLINT_NODE_MODULES", ROOT / "node_modules"))
    package = modules / "@dagrejs" / "dagre"
    if not package.is_dir():
        pytest.skip("no @dagrejs/dagre: `npm ci` in .ci/npm, or name its node_modules in POLICYLINT_NODE_MODULES")
    assets = ROOT / "policylint" / "report" / "graph" / "assets"
    assert (assets / "dagre.min.js").read_bytes() == (package / "dist" / "dagre.min.js").read_bytes()
    for name in ("dagre", "graphlib"):
        version = json.loads((package.parent / name / "package.json").read_text())["version"]
        assert f"@dagrejs/{name} {version} " in (assets / "dagre.LICENSE.txt").read_text()


def test_ci_installs_nothing_that_no_lock_or_list_states() -> None:
    """Each command that fetches; after the first pip has no index."""
    lines = [line.strip() for line in RUN.replace("\\\n", " ").splitlines() if not line.lstrip().startswith("#")]
    fetching = [line for line in lines if re.search(r"\bpip (install|download)|npm (ci|install)|apt-get install", line)]
    first, *others = [line for line in fetching if " pip " in line]
    assert re.search(r" pip download .*--require-hashes --only-binary :all: .*-r requirements-ci\.lock$", first)
    assert "offline" in lines[lines.index(first) + 1 : lines.index(others[0])]
    assert lines[lines.index('step "environment" environment') + 2] == "offline"
    assert [line for line in fetching if "npm" in line and "npm ci " not in line] == []
    assert all("--ignore-scripts" in line for line in fetching if "npm ci " in line)
    debian = (ROOT / ".ci" / "debian.txt").read_text().splitlines()
    assert debian and all(re.fullmatch(r"[a-z0-9.+-]+=[0-9][^ =]*", line) for line in debian)
    assert not re.search(r"\b(curl|wget|pipx|uvx?|npx|go install|docker)\b", "\n".join(lines))


def test_the_build_backend_is_pinned_for_every_build() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (asked,) = project["build-system"]["requires"]
    assert re.fullmatch(r"hatchling>=[\d.]+,<\d+", asked)
    assert re.search(r"(?m)^hatchling==", (ROOT / "requirements-ci.lock").read_text())
    assert all("--no-isolation" in line for line in RUN.splitlines() if "-m build " in line)


@pytest.mark.slow
def test_the_sdist_has_every_file_of_the_repository(tmp_path: Path) -> None:
    """So that its tests are the repository's."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout: this is an sdist already")
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    build = "from hatchling.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        members = {member.name.partition("/")[2] for member in file if not member.isdir()}
    listing = subprocess.run([git, "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True, text=True)
    tracked = {name for name in listing.stdout.split("\0") if name and os.path.lexists(ROOT / name)}
    assert tracked - members == set(), "pyproject.toml, [tool.hatch.build.targets.sdist]"
    assert members - tracked >= {"PKG-INFO"}
