"""What a release is made of: `.ci/release` as the workflow runs it, the bill of materials, the Dockerfile."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from policylint import __version__

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())


def release(*arguments: str, tree: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(tree / ".ci" / "release"), *arguments]
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout whose changelog has a date."""
    for name in (".ci", "policylint"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")
    shutil.copy(ROOT / "policylint" / "__init__.py", tmp_path / "policylint")
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## [{__version__}] - 2026-12-01\n\n### Added\n\n- It.\n\n## [0.0.1] - 2026-01-01\n\n- Old.\n"
    )
    return tmp_path


def test_a_tag_that_is_not_the_version_is_refused(tree: Path) -> None:
    assert release("version", f"v{__version__}", tree=tree).returncode == 0
    refused = release("version", "v9.9.9", tree=tree)
    assert refused.returncode == 1
    assert f"the tag is v9.9.9, and policylint/__init__.py states {__version__}" in refused.stderr


def test_a_release_without_a_date_is_refused(tree: Path) -> None:
    log = tree / "CHANGELOG.md"
    log.write_text(log.read_text().replace("2026-12-01", "unreleased"))
    refused = release("version", f"v{__version__}", tree=tree)
    assert refused.returncode == 1
    assert f"no section `## [{__version__}] - DATE`" in refused.stderr


def test_its_notes_are_its_section_of_the_changelog(tree: Path) -> None:
    assert release("notes", f"v{__version__}", tree=tree).stdout == "\n### Added\n\n- It.\n\n"


def test_the_bill_of_materials_is_the_lock() -> None:
    lock = ROOT / "requirements.lock"
    command = [sys.executable, "-I", str(ROOT / ".ci" / "sbom.py"), str(lock)]
    texts = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)}
    (text,) = texts
    bill = json.loads(text)
    packages = {(entry["name"], entry["version"]) for entry in bill["components"]}
    assert packages == set(re.findall(r"(?m)^([a-z0-9-]+)==([^ ;\\]+)", lock.read_text()))
    digests = [digest["content"] for entry in bill["components"] for digest in entry["hashes"]]
    assert sorted(digests) == sorted(re.findall(r"sha256:(\w{64})", lock.read_text()))


def test_only_the_publishing_job_has_an_identity_and_nothing_is_shared_with_it() -> None:
    jobs = WORKFLOW["jobs"]
    assert WORKFLOW["permissions"] == {}
    assert [name for name, job in jobs.items() if "id-token" in job["permissions"]] == ["pypi"]
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert not [step for step in jobs["pypi"]["steps"] if "checkout" in step.get("uses", "")]
    for job in jobs.values():
        for step in job["steps"]:
            assert re.search(r"@[0-9a-f]{40}$", step["uses"]) if "uses" in step else "${{" not in step["run"]


def test_the_image_runs_as_nobody() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "USER 65532:65532" in lines
    assert lines.index("USER 65532:65532") > max(at for at, line in enumerate(lines) if line.startswith("RUN"))
    assert any("--require-hashes --only-binary :all: -r requirements.lock" in line for line in lines)


def test_hadolint_finds_nothing() -> None:
    tool = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if tool is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([tool, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_wheel_has_the_schemas_of_all_outputs_and_the_address(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    build = "from hatchling.build import build_wheel; import sys; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    shipped = {f"policylint/_data/{file.relative_to(ROOT).as_posix()}" for file in (ROOT / "schemas").rglob("*.json")}
    assert len(shipped) > 10 and shipped <= names
    assert "policylint/_data/pyproject.toml" in names
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert not [line for line in needed if re.search(r"pygls|mcp|watchfiles", line)], "only with an extra"
