"""A campaign of hostile repositories: no program but git, no connection, nothing read or written outside, no crash."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.diff.history import ROOT
from tests.hostile.observed import STRACE, Event, Hook, Observation, Observer, observe, traced
from tests.hostile.repositories import REPOSITORIES, SECRET, Hostile, Place
from tests.hostile.repositories.fields import FUNCTION
from tests.hostile.test_kustomize import Listener
from tests.nightly import NIGHTLY

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
COMMANDS = (
    ("lint", "-o", "json"), ("explain", "Gateway/shop/edge"), ("diff", "HEAD^1..HEAD", "-o", "json"),
    ("diff", "--staged"), ("graph", "-o", "html"), ("simulate", "-o", "yaml"),
)  # fmt: skip
"""All that read a tree; by day a repository is asked by half of them, which differ from one to the next."""
MOST_SECONDS, MOST_MEGABYTES = 10, 500
"""CPU time and memory that one command may take."""
INTERPRETER = tuple({os.path.realpath(place) for place in (ROOT, sys.prefix, sys.base_prefix, *filter(None, sys.path))})

LIBRARY = re.compile(r"/(usr/)?lib[^/]*/.*\.so[\d.]*$|/sys/devices/system/cpu/online$")
"""Shared libraries, and what the C library's allocator looks at when several threads want memory."""


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture(scope="module")
def observer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observer]:
    started = Observer(tmp_path_factory.mktemp("observer").resolve())
    yield started
    started.close()


def run(
    repository: Hostile, place: Place, observer: Observer, commands: Sequence[tuple[str, ...]] = COMMANDS
) -> Observation:
    """Make the repository and run the commands in it, with an environment that points into it."""
    repository.make(place)
    given = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    given["PATH"] = f".:{place.tree}:{place.tree}/bin::{given['PATH']}"
    given |= {"HOME": str(place.directory / "home"), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    given |= {name: place.filled(value) for name, value in repository.environment.items()}
    return observer.observe(commands, place.tree, given, place.directory / "log")


def asked(name: str) -> Sequence[tuple[str, ...]]:
    """Return the commands that are run in a repository: every other one, by its number, but for the night."""
    return COMMANDS if NIGHTLY else COMMANDS[list(REPOSITORIES).index(name) % 2 :: 2]


def snapshot(place: Place) -> dict[str, tuple[int, int]]:
    """Size and time of every file around the repository and in it, but for those of the observer."""
    found = {}
    for directory, _, names in os.walk(place.directory):
        for name in names:
            if not directory.startswith(str(place.directory / "log")):
                state = os.lstat(os.path.join(directory, name))  # noqa: PTH118
                found[os.path.join(directory, name)] = (state.st_size, state.st_mtime_ns)  # noqa: PTH118
    return found


def elsewhere(observation: Observation, place: Place) -> set[str]:
    """What was read outside of the repository and of Python's own directories."""
    own = (str(place.tree), str(place.directory / "home"), *INTERPRETER)
    read = {subject for kind, subject in observation.events if kind == "reads"}
    return {
        path for path in read
        if not (path in own or path.startswith(tuple(f"{top}/" for top in own)) or LIBRARY.match(path))
    }  # fmt: skip


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory, listener: Listener, observer: Observer) -> set[str]:
    """What is read outside of a sound repository: shared libraries, the system's settings of git."""
    place = Place(tmp_path_factory.mktemp("sound").resolve(), listener.address)
    observation = run(Hostile(), place, observer)
    assert [outcome.code for outcome in observation.outcomes] == [0, 0, 0, 0, 0, 0], observation.output
    found = elsewhere(observation, place)
    assert not [path for path in found if path.startswith((str(place.directory), "/home", "/etc/passwd"))]
    return found


@pytest.fixture(scope="module")
def git() -> tuple[str, ...]:
    """The program, and the directory of those that it consists of."""
    program = shutil.which("git")
    assert program is not None
    parts = subprocess.run([program, "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
    return program, os.path.realpath(program), f"{parts}/"


def foreign(events: set[Event], place: Place, git: tuple[str, ...]) -> list[Event]:
    """What may not happen at all: programs but git, connections, writing."""
    allowed = {("starts", git[0]), ("starts", git[1]), ("starts", sys.executable), ("writes", os.devnull)}
    allowed.add(("writes", str(place.directory / "log" / "audit")))
    rest = {event for event in events - allowed if not (event[0] == "starts" and event[1].startswith(git[2]))}
    return sorted(event for event in rest if event[0] != "reads")


@pytest.mark.parametrize("name", REPOSITORIES)
def test_reading_is_all_that_happens(
    name: str, tmp_path: Path, listener: Listener, usual: set[str], git: tuple[str, ...], observer: Observer
) -> None:
    place = Place(tmp_path.resolve(), listener.address)
    connected = listener.connections
    commands = asked(name)
    observation = run(REPOSITORIES[name], place, observer, commands)
    assert foreign(observation.events, place, git) == []
    assert sorted(elsewhere(observation, place) - usual) == []
    assert listener.connections == connected
    assert not place.canary.exists(), place.canary.read_text()
    assert SECRET not in observation.output
    assert "Traceback" not in observation.output and "internal error" not in observation.output
    assert len(observation.outcomes) == len(commands), observation.output[-2000:]
    for outcome in observation.outcomes:
        assert outcome.code in (0, 1, 2, 3), observation.output[-2000:]
        assert outcome.seconds <= MOST_SECONDS, outcome
        assert outcome.megabytes <= MOST_MEGABYTES, outcome


def test_there_are_enough() -> None:
    assert len(REPOSITORIES) >= 60
    assert {command for name in REPOSITORIES for command in asked(name)} == set(COMMANDS)


@pytest.mark.parametrize("strace", [None, STRACE], ids=["audit hook", "strace"])
def test_nothing_escapes_the_observers(
    tmp_path: Path, listener: Listener, git: tuple[str, ...], strace: str | None
) -> None:
    """What a user may ask for is seen as what a repository may not."""
    place = Place(tmp_path.resolve(), listener.address)
    uncovered = "resources: [gateway.yaml]\ntransformers: [t.yaml]\n"
    Hostile({"kustomization.yaml": uncovered, "t.yaml": FUNCTION}).make(place)
    programs, report = place.directory / "bin", place.outside / "report.json"
    programs.mkdir()
    (programs / "kubectl").symlink_to(place.trap)
    path = f"{programs}:{os.environ['PATH']}"
    asked = ("lint", "--snapshot", f"{place.outside}/secret.yaml", "--output", f"json={report}", "--render", "external")
    events = observe([asked], place.tree, {"PATH": path}, place.directory / "log", strace).events
    assert ("reads", f"{place.outside}/secret.yaml") in events
    assert ("writes", str(report)) in events
    assert [event for event in foreign(events, place, git) if event[0] == "starts"]


def test_connections_are_seen() -> None:
    trace = (
        "socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3<socket:[1]>\nconnect(3<socket:[1]>, {...}, 16) = -1 EINTR (x)\n"
    )
    assert [kind for kind, _ in traced(trace)] == ["connects", "connects"]
    reading, writing = os.pipe()
    with os.fdopen(reading) as said:
        Hook(writing)("socket.connect", (None, ("127.0.0.1", 80)))
        os.close(writing)
        assert said.read().startswith('["connects", "socket.connect')
