"""The container from outside, without one: what the Dockerfile's lines do, run where a test may run them.

As a user without rights and without capabilities, from packages of the lock, over a tree that is somebody else's.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = ("setpriv", "--reuid", "65532", "--regid", "65532", "--clear-groups", "--bounding-set=-all", "--no-new-privs")
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: pay, namespace: shop}
spec: {parentRefs: [{name: edge, port: %d}], rules: [{backendRefs: [{name: pay, port: 80}]}]}
"""


class Instruction(NamedTuple):
    """A line of the Dockerfile, with those that it goes on in."""

    name: str
    rest: str


def stages() -> list[list[Instruction]]:
    """The instructions of each stage of the Dockerfile."""
    text = re.sub(r"(?m)^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    found: list[list[Instruction]] = []
    for line in filter(None, text.replace("\\\n", " ").split("\n")):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append(Instruction(name, " ".join(rest.split())))
    return found


def environment() -> dict[str, str]:
    """What ENV of the image adds, without its PATH."""
    said = [each for each in stages()[-1] if each.name == "ENV"]
    pairs = (word.partition("=") for each in said for word in shlex.split(each.rest))
    return {name: value for name, _, value in pairs if name != "PATH"}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may read, and nobody but its owner may write to."""
    made = Path(tempfile.mkdtemp(prefix="policylint-image-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def tree(place: Path) -> Path:
    """A repository of two commits, with a broken file that git ignores."""
    tree = place / "tree"
    tree.mkdir()

    def git(*words: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *names, "-C", str(tree), *words], check=True, capture_output=True)

    git("init", "-q")
    (tree / ".gitignore").write_text("ignored.yaml\n")
    (tree / "ignored.yaml").write_text("apiVersion: v1\nkind: Service\nspec: [\n")
    for port in (80, 81):
        (tree / "route.yaml").write_text(ROUTE % port)
        git("add", ".")
        git("commit", "-q", "-m", f"port {port}")
    return tree


def test_the_image_is_what_was_built_and_git_and_nothing_else() -> None:
    build, image = stages()
    assert build[0].rest.removesuffix(" AS build") == image[0].rest
    assert re.search(r":\d+\.\d+\.\d+-slim-\w+$", image[0].rest), "a version, not a moving tag"
    assert {each.rest for each in image if each.name in ("COPY", "ADD")} == {
        "--from=build /opt/policylint /opt/policylint"
    }
    assert [each.name for each in image if each.name in ("EXPOSE", "VOLUME", "SHELL", "HEALTHCHECK", "ONBUILD")] == []


def test_nobody_runs_it_and_no_shell_starts_it() -> None:
    image = stages()[-1]
    names = [each.name for each in image]
    (user,) = (each.rest for each in image if each.name == "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), "a number, which a cluster can tell from root"
    assert names.index("USER") > max(at for at, name in enumerate(names) if name in ("RUN", "COPY"))
    (entry,) = (each.rest for each in image if each.name == "ENTRYPOINT")
    assert json.loads(entry) == ["policylint"]
    assert environment() == {"PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"}


@pytest.mark.parametrize("is_image", [True, False])
def test_git_reads_the_tree_of_another_user(tree: Path, place: Path, is_image: bool) -> None:
    """By what the image writes into git's configuration; elsewhere the user is told, and no ignored file is silent."""
    (line,) = (each.rest for each in stages()[-1] if each.name == "RUN")
    (setting,) = (words for words in line.split("&&") if "git config" in words)
    settings, programs = place / "gitconfig", place / "bin"
    settings.touch()
    programs.mkdir()
    real = shutil.which("git")
    (programs / "git").write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    (programs / "git").chmod(0o755)
    known = {**os.environ, "GIT_CONFIG_SYSTEM": str(settings), "PATH": f"{programs}:{os.environ['PATH']}"}
    known = {**known, "GIT_CONFIG_GLOBAL": os.devnull, "PYTHONPATH": str(ROOT)}
    if is_image:
        subprocess.run(shlex.split(setting), check=True, env=known)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "policylint", *words]
        return subprocess.run(command, cwd=tree, env=known, capture_output=True, text=True, timeout=120, check=False)

    refused = subprocess.run(["git", "-C", str(tree), "status"], env=known, capture_output=True, check=False).returncode
    if not is_image and not refused:
        pytest.skip("this git does not ask who owns a repository")
    linted, compared = run("lint", ".", "-o", "concise"), run("diff", "HEAD~1..HEAD")
    if is_image:
        assert (linted.returncode, "GWP910" in linted.stdout, compared.returncode) == (0, False, 0)
        assert "Requests, of 1 host that the change touches" in compared.stdout
    else:
        assert "GWP910] git did not list the files" in linted.stdout
        assert (compared.returncode, "safe.directory" in compared.stderr) == (2, True)


@pytest.fixture
def tool(place: Path) -> Path:
    """policylint as the build stage installs it: its own lines, but for where."""
    folders = [Path(each) for each in os.environ.get("PIP_FIND_LINKS", "").split()]
    locked = re.findall(r"(?m)^([a-z0-9._-]+)==([^ ]+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    wheels = {re.sub(r"[-_.]+", "-", wheel.name.lower()) for each in folders for wheel in each.glob("*.whl")}
    there = {
        name
        for name, version in locked
        if any(each.startswith(f"{name}-{version}-".replace(".", "-")) for each in wheels)
    }
    lacking = sorted({name for name, _ in locked} - there)
    if lacking:
        pytest.skip(f"PIP_FIND_LINKS has no {', '.join(lacking)}")
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    build = "from hatchling.build import build_wheel; import sys; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(place)], cwd=ROOT, check=True, capture_output=True)
    shutil.copy(ROOT / "requirements.lock", place)
    known = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for each in stages()[0]:
        if each.name == "RUN":
            line = each.rest.replace("/opt/policylint", str(place / "opt"))
            line = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", line)
            done = subprocess.run(
                ["sh", "-ec", line], cwd=place, env=known, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
    for folder in place.glob("opt/**/"):
        folder.chmod(0o755)
    return place / "opt" / "bin" / "policylint"


@pytest.mark.slow
def test_packages_of_the_lock_are_all_that_nobody_needs(tool: Path, tree: Path) -> None:
    """Without rights, without a home, on files that cannot be written to: it answers, and leaves nothing behind."""
    listing = "from importlib.metadata import distributions as d; import json; print(json.dumps([e.name for e in d()]))"
    said = subprocess.run([tool.parent / "python", "-I", "-c", listing], capture_output=True, text=True, check=True)
    locked = re.findall(r"(?m)^([a-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    installed = {re.sub(r"[-_.]+", "-", name.lower()) for name in json.loads(said.stdout)} - {"setuptools"}
    assert installed <= {re.sub(r"[-_.]+", "-", name) for name in locked} | {"policylint"}
    assert "policylint" in installed and "pip" not in installed
    prefix = NOBODY if os.geteuid() == 0 and shutil.which("setpriv") else ()
    known = {**environment(), "PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": "/nonexistent"}
    if subprocess.run([*prefix, tool.parent / "python", "-c", ""], env=known, capture_output=True).returncode:
        pytest.skip("nobody may not run this Python")
    before = {path: path.stat().st_mtime_ns for path in tree.parent.rglob("*")}
    for words in (["lint", ".", "-o", "json-v1"], ["list", "routes"], ["graph", "-o", "svg"], ["--version"]):
        done = subprocess.run(
            [*prefix, tool, *words], cwd=tree, env=known, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in tree.parent.rglob("*")} == before
