"""What all tests share: golden files, the flag that writes them anew (`pytest --update-golden`; read the diff), and a
line at the end that says what was skipped and why."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from _pytest.runner import runtestprotocol
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from policylint.budget import STEPS, Budget
from policylint.lean import give_room
from policylint.model import faults
from policylint.schema import broken
from tests.nightly import NIGHTLY, examples

if TYPE_CHECKING:
    from tests.graph.browser import Browser

# Time limits per example say nothing on a shared machine. In CI the examples are the same in every run, so that a
# failure can be had again; at a desk and at night they are new each time, which is where they find something.
settings.register_profile("desk", deadline=None, max_examples=examples(100))
settings.register_profile("ci", deadline=None, max_examples=examples(100), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") and not NIGHTLY else "desk")
if not NIGHTLY:
    # Hypothesis draws constants of all modules that were imported, too: seconds for each process, and other examples by
    # what ran before.
    providers._get_local_constants = lambda: providers._local_constants

# The helm that `python -m tests.witness.run kustomize` built, where it is: modules look for it when they are imported.
if witness := os.environ.get("POLICYLINT_WITNESS"):
    os.environ["PATH"] = f"{witness}/bin{os.pathsep}{os.environ.get('PATH', '')}"

# Tests make and remove hundreds of thousands of small files: in memory, where there is room and programs may be run.
MEMORY = Path("/dev/shm")
if (
    "TMPDIR" not in os.environ
    and os.access(MEMORY, os.W_OK | os.X_OK)
    and shutil.disk_usage(MEMORY).free > 4 << 30
    and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# `yaml.safe_load` and `yaml.safe_dump` with libyaml: worlds are read and written ten times as fast.
yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[assignment, misc]
yaml.SafeDumper = yaml.CSafeDumper  # type: ignore[assignment, misc]

Golden = Callable[[str, str], None]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect with the collector of garbage off: 30,000 tests stay until the end, and it would visit them each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that are slow as a whole: at the end one process would wait for another's last test."""
    items.sort(key=lambda item: not any(mark.name == "slow" for mark in item.listchain()[-2].own_markers))


TOLD = 0.005
"""Seconds from which `--durations` names a set-up. That shorter ones have passed need not go from process to process:
of three reports of each test two say so."""


def _protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if (
            report.when == "call"
            or not report.passed
            or report.duration > TOLD
            or item.config.getoption("xmlpath", None)
        ):
            item.ihook.pytest_runtest_logreport(report=report)


# Two tests of 1.4 s took 23 s each where others had run before them.
give_room(_protocol)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as pytest does, with room on the stack; a process of xdist need not tell the other that it begins."""
    if not hasattr(item.config, "workerinput"):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    _protocol(item, nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing with them")


@pytest.fixture(autouse=True, scope="session")
def at_a_desk() -> Iterator[None]:
    """What commands print in the log of a CI system is tested where it is meant; elsewhere it must not hang on this."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_repository_has_examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`git init` copies fifteen examples of hooks into each of the hundreds of repositories that tests make."""
    template = tmp_path_factory.mktemp("template")
    for name in ("hooks", "info"):
        (template / name).mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_TEMPLATE_DIR", str(template))
        yield


def _raise(error: Exception) -> tuple[str, str]:
    raise error


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a twentieth of the work: for tests of what is said where there is too much of it."""
    begin, grant = Budget.__init__, Budget.grant

    def begun(self: Budget, documents: int = 0, steps: int = STEPS) -> None:
        begin(self, documents, steps // 20)

    monkeypatch.setattr(Budget, "__init__", begun)
    monkeypatch.setattr(Budget, "grant", lambda self, steps: grant(self, steps // 20))


@pytest.fixture(autouse=True, scope="session")
def errors_of_ours_are_raised() -> Iterator[None]:
    """No guard hides an error of ours from a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults, "described", _raise)
        yield


@pytest.fixture(autouse=True, scope="session")
def schemas_are_kept() -> Iterator[None]:
    """A `lint` gives the shipped schemas back, as the last thing that its process does: here the next test has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broken, "forget_shipped", lambda: None)
        yield


@pytest.fixture(scope="session")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of the examples alone. In ours, a command that is given one of them looks through all else that is
    there, for whoever speaks of it: half of the time of most."""
    place = tmp_path_factory.mktemp("apart").resolve()
    for name in ("fixtures", "tests/example"):
        shutil.copytree(Path(__file__).parents[1] / name, place / name, symlinks=True)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of a process: each takes a page of its own (`Browser.afresh`)."""
    from tests.graph.browser import Browser

    with Browser(tmp_path_factory.mktemp("browser") / "profile") as started:
        yield started


DESCRIBED = faults.described


@pytest.fixture
def guards_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the guards do what they do for users: for tests of the guards."""
    monkeypatch.setattr(faults, "described", DESCRIBED)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(name, text)`: the text must be what `golden/NAME` beside the test holds, byte for byte."""
    directory = Path(request.path).parent / "golden"

    def compare(name: str, text: str) -> None:
        place = directory / name
        if request.config.getoption("--update-golden"):
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(text.encode())
        assert place.exists(), f"no golden file {place}: run pytest --update-golden"
        assert text == place.read_bytes().decode(), f"{place.name} differs: pytest --update-golden, then read the diff"

    return compare


SHARED = Path(__file__).parents[2] / "shared"
_LACKING = re.compile(r"(?:no )?(?P<thing>.+?)(?: is not installed| is installed| here|: .*)$")


def skipped(reasons: Iterable[str]) -> str:
    """Return one line that counts skipped tests by what they need: `3 skipped: 2 need helm, 1 needs zsh`."""
    groups = Counter(map(_need, reasons))
    said = [
        f"{number} {'needs' if number == 1 else 'need'} {need}" if need else f"{number}: {reason}"
        for (need, reason), number in groups.most_common()
    ]
    return f"{sum(groups.values())} skipped: {', '.join(said)} (pytest -rs names them)" if said else ""


def _need(reason: str) -> tuple[str, str]:
    """Return what a skipped test needs, else "" and the reason as it is given."""
    if "../shared" in reason or "beside this checkout" in reason or "empty parameter set" in reason:
        return "../shared", ""
    found = _LACKING.match(reason)
    return ("", reason) if found is None else (found["thing"], "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not tried, and why."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = (report.longrepr[2].removeprefix("Skipped: ") for report in reports if isinstance(report.longrepr, tuple))
    line = skipped(reasons)
    if line:
        terminalreporter.write_line(line)
    if not SHARED.is_dir():
        terminalreporter.write_line("no ../shared: real trees, conformance cases and CRDs were not tried")


@pytest.fixture(autouse=True)
def stays_where_it_is() -> Iterator[None]:
    """Come back from where a test, or `-C` of a command that it ran, has gone: its directory may be removed."""
    here = Path.cwd()
    yield
    os.chdir(here)
