"""What a release is made of: `.ci/release` as the workflow runs it, the bill of materials, the Dockerfile."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
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


def manifests(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A checkout with what the manifests name, and the checksums of that."""
    for name in (".ci", "deploy"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (tmp_path / "dist").mkdir()
    named = ("kubectl-policylint.tar.gz", "kubectl-policylint-windows.tar.gz", f"policylint-{__version__}.tar.gz")
    for name in named:
        (tmp_path / "dist" / name).write_text(name)
    return tmp_path, {name: hashlib.sha256(name.encode()).hexdigest() for name in named}


def test_the_plugin_is_there_for_every_system(tmp_path: Path) -> None:
    tree, checksums = manifests(tmp_path)
    manifest = yaml.safe_load(release("krew", f"v{__version__}", tree=tree).stdout)
    assert manifest["spec"]["version"] == f"v{__version__}"
    for platform in manifest["spec"]["platforms"]:
        name = platform["uri"].rpartition("/")[2]
        assert f"/v{__version__}/" in platform["uri"] and platform["sha256"] == checksums[name]
        assert platform["bin"] in [file["from"] for file in platform["files"]]
    assert [platform["bin"] for platform in manifest["spec"]["platforms"]] == [
        "kubectl-policylint",
        "kubectl-policylint.exe",
    ]


def test_the_program_for_windows_is_a_launcher_with_a_script_that_finds_policylint_by_path_alone(
    tmp_path: Path,
) -> None:
    pytest.importorskip("distlib", reason="distlib is not installed")
    program = tmp_path / "kubectl-policylint.exe"
    subprocess.run([sys.executable, "-I", str(ROOT / ".ci" / "windows.py"), str(program)], check=True)
    assert program.read_bytes()[:2] == b"MZ" and b"#!/usr/bin/env python\n" in program.read_bytes()
    (tmp_path / "bin").mkdir()
    (tmp_path / "policylint.exe").write_text("#!/bin/sh\necho of the folder\n")
    (tmp_path / "bin" / "policylint.exe").write_text('#!/bin/sh\necho "asked: $*"\nexit 1\n')
    for file in tmp_path.rglob("policylint.exe"):
        file.chmod(0o755)
    for path, code, said in ((f".:{tmp_path / 'bin'}:/bin", 1, "asked: lint --live"), (".", 1, "")):
        command = [sys.executable, str(program), "lint", "--live"]
        done = subprocess.run(command, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (code, said)
        assert said or "policylint is not installed" in done.stderr


def test_formula_and_recipe_name_this_release_and_what_it_needs(tmp_path: Path) -> None:
    tree, checksums = manifests(tmp_path)
    sdist = f"policylint-{__version__}.tar.gz"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    formula = release("formula", f"v{__version__}", tree=tree).stdout
    home = project["urls"]["Homepage"]
    assert f'url "{home}/releases/download/v{__version__}/{sdist}"' in formula
    assert f'sha256 "{checksums[sdist]}"' in formula and f'homepage "{home}"' in formula
    recipe = yaml.safe_load(release("conda", f"v{__version__}", tree=tree).stdout)
    assert recipe["context"]["version"] == __version__ and recipe["source"]["sha256"] == checksums[sdist]
    assert recipe["requirements"]["host"][2:] == [spaced(project_build()[0])]
    needed = [spaced(each.partition(";")[0]) for each in project["dependencies"]]
    assert recipe["requirements"]["run"] == [f"python {project['requires-python']}", *needed]
    scripts = [f"{name} = {entry}" for name, entry in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts


def packaged_commands(pages: Path) -> list[list[str]]:
    """The commands that the formula, the recipe and the image run, with `pages` as the directory of manual pages."""
    formula = (ROOT / "deploy" / "homebrew" / "policylint.rb").read_text()
    calls = re.findall(r'system bin/"policylint", (.+)', formula)
    given = [[str(pages) if word == "man1" else word.strip('"') for word in call.split(", ")] for call in calls]
    given += [shlex.split(call) for call in re.findall(r'bin}/policylint ([^"]+)"', formula)]
    recipe = yaml.safe_load((ROOT / "deploy" / "conda" / "recipe.yaml").read_text().replace("${{", "$[["))
    lines = [line for each in recipe["tests"] for line in each.get("script", ())]
    return [*given, *(shlex.split(line)[1:] for line in lines)]


def test_what_packages_run_is_still_there(tmp_path: Path) -> None:
    commands = packaged_commands(tmp_path / "man1")
    assert {words[0] for words in commands} == {"man", "rule", "--version"}
    for words in commands:
        done = subprocess.run([sys.executable, "-m", "policylint", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
    assert (tmp_path / "man1" / "policylint-lint.1").is_file()


def project_build() -> list[str]:
    requires: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    return requires


def spaced(requirement: str) -> str:
    """A requirement as conda writes it: `pyyaml >=6.0.1,<7`."""
    name, bounds = re.fullmatch(r"([\w.-]+)(.*)", requirement.strip()).groups()  # type: ignore[union-attr]
    return f"{name.lower()} {bounds.strip()}"
