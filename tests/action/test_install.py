"""The action's first steps: which Python, which installer, which cache; with stand-ins on PATH and no network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.action.test_action import pytestmark
from tests.diff.history import ROOT

__all__ = ["pytestmark"]
UV = """\
#!/bin/sh
echo "$@" >> RECORD
env | grep CACHE_DIR >> RECORD
for last in "$@"; do :; done
case "$*" in
  *" venv "*) PYTHON -m venv --without-pip "$last" ;;
  *) test WORKS = yes && for site in "TEMP"/policylint/lib/*/site-packages; do echo SITE > "$site/lock.pth"; done ;;
esac
"""
"""Makes an environment that sees the packages of this one."""


class Job:
    """A job whose PATH holds what a test puts there, and nothing else."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.temp = place / "runner temp"
        self.tools = place / "tools"
        self.record = place / "record"
        for folder in (self.temp, self.tools, place / "checkout"):
            folder.mkdir()
        for name in ("env", "mkdir", "cp", "cksum", "grep"):
            found = shutil.which(name)
            assert found is not None
            (self.tools / name).symlink_to(found)

    def tool(self, name: str, text: str) -> None:
        """Put a program on PATH."""
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def old_python(self, name: str, version: str) -> None:
        """Put a Python there that is nothing but its version."""
        self.tool(name, f"#!/bin/sh\necho {version}\n")

    def this_python(self, name: str) -> None:
        self.tool(name, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')

    def uv(self, *, works: bool) -> None:
        site = Path(click.__file__).parents[1]
        text = UV.replace("RECORD", f"'{self.record}'").replace("PYTHON", f"'{sys.executable}'")
        text = text.replace("WORKS", "yes" if works else "no").replace("SITE", f"'{site}'")
        self.tool("uv", text.replace("TEMP", str(self.temp)))

    def script(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.tools), "RUNNER_TEMP": str(self.temp), "ACTION_PATH": str(ROOT)}
        environment |= {"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "GITHUB_OUTPUT": str(self.place / "output")}
        bash = shutil.which("bash")
        assert bash is not None
        return subprocess.run(
            [bash, str(ROOT / ".github" / "action" / name)],
            cwd=self.place / "checkout", env=environment | given, capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.9", "3.10"])
def test_a_python_that_is_too_old_is_said_in_one_line(job: Job, version: str) -> None:
    job.old_python("python3", version)
    done = job.script("install.sh")
    said = f"{job.tools}/python3 is Python {version}: add actions/setup-python before this step"
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == f"::error::policylint needs Python 3.11 or newer, and {said}\n"


def test_without_any_python(job: Job) -> None:
    done = job.script("install.sh")
    assert (done.returncode, done.stderr) == (3, "")
    assert "and there is no python3 outside of the checkout: add actions/setup-python" in done.stdout


def test_a_newer_one_beside_it_and_uv_are_taken(job: Job) -> None:
    job.old_python("python3", "3.9")
    job.this_python("python3.12")
    job.uv(works=True)
    done = job.script("install.sh")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("policylint 0.")
    made, installed = job.record.read_text().splitlines()
    venv = f"{job.temp}/policylint"
    assert made == f"--no-config --quiet venv --no-project --clear --python {job.tools}/python3.12 {venv}"
    assert installed == (
        f"--no-config --quiet pip install --python {venv}/bin/python "
        f"--require-hashes --only-binary :all: --requirement {ROOT}/requirements.lock"
    )


@pytest.mark.parametrize("given", [{"PIP_INDEX_URL": "https://mirror.example/simple"}, {"PIP_NO_INDEX": "1"}])
def test_pip_is_asked_where_it_alone_knows_the_index(job: Job, given: dict[str, str]) -> None:
    job.tool("stub", f"#!/bin/sh\necho pip \"$@\" >> '{job.record}'\n")
    making = f'for last in "$@"; do :; done; mkdir -p "$last/bin" && cp "{job.tools}/stub" "$last/bin/python"'
    job.tool("python3", f"#!/bin/sh\ncase $* in *'-m venv'*) {making} ;; *) exec {sys.executable} \"$@\" ;; esac\n")
    job.uv(works=True)
    assert job.script("install.sh", **given).returncode == 0
    first, *_ = job.record.read_text().splitlines()
    assert first.startswith("pip -I -m pip install") and "--require-hashes --only-binary :all:" in first
    job.record.unlink()
    assert job.script("install.sh", **given, UV_DEFAULT_INDEX="https://mirror.example/simple").returncode == 0
    assert job.record.read_text().startswith("--no-config")
    job.record.unlink()
    job.uv(works=False)
    done = job.script("install.sh")
    assert done.returncode == 0, "uv is a convenience"
    assert "policylint: uv could not install the packages; trying pip\n" in done.stdout
    assert "pip -I -m pip install" in job.record.read_text()


def test_the_cache_is_a_folder_of_the_job_and_only_where_it_is_wanted(job: Job) -> None:
    job.this_python("python3")
    job.uv(works=True)
    assert job.script("install.sh", PL_CACHE="false").returncode == 0
    assert "CACHE_DIR" not in job.record.read_text()
    assert job.script("install.sh", PL_CACHE="true").returncode == 0
    assert f"UV_CACHE_DIR={job.temp}/policylint-cache/uv\n" in job.record.read_text()


def test_the_cache_is_named_by_the_version_of_the_lock(job: Job) -> None:
    assert job.script("cache.sh").returncode == 0
    (line,) = (job.place / "output").read_text().splitlines()
    size = (ROOT / "requirements.lock").stat().st_size
    assert line.startswith("key=policylint-Linux-X64-") and line.endswith(f"-{size}")
    other = job.place / "other"
    shutil.copytree(ROOT / ".github" / "action", other / ".github" / "action")
    lock = (ROOT / "requirements.lock").read_bytes()
    (other / "requirements.lock").write_bytes(lock.replace(b"attrs==2", b"attrs==3"))
    assert job.script("cache.sh", ACTION_PATH=str(other)).returncode == 0
    assert len(set((job.place / "output").read_text().splitlines())) == 2
    assert (other / "requirements.lock").stat().st_size == size
