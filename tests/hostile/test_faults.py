"""Full disks, closed pipes, signals, little memory, no git, no home: one clear line, the documented exit code."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from policylint.cli.commands import FOUND, INCOMPLETE, INTERRUPTED, USAGE

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures" / "envoy-gateway-shop"
TOOL = (sys.executable, "-I", "-m", "policylint")
MEMORY = 512 * 2**20
COMMANDS = (
    ("lint", ".", "-o", "text"), ("lint", ".", "-o", "sarif"), ("simulate", ".", "-o", "json"),
    ("graph", ".", "-o", "html"), ("explain", "HTTPRoute/shop/checkout", ".", "-o", "text"), ("list", "policies", "."),
)  # fmt: skip


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "NO_COLOR": "1", **more}


def ran(
    arguments: Sequence[str], prepare: Callable[[], None] | None = None, **more: object
) -> subprocess.CompletedProcess[bytes]:
    """Run the tool in a process of its own; under a limit it keeps no compiled modules, which others would find cut
    off."""
    tool = TOOL if prepare is None else (TOOL[0], "-B", *TOOL[1:])
    given: dict[str, object] = {"stdout": subprocess.PIPE, "env": environment(), "cwd": SHOP, **more}
    return subprocess.run(
        [*tool, *arguments], stderr=subprocess.PIPE, preexec_fn=prepare, timeout=120, check=False, **given
    )  # type: ignore[call-overload, no-any-return]


def said(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Return the lines on stderr, none of which is of a traceback."""
    lines = done.stderr.decode().splitlines()
    assert not [line for line in lines if "Traceback" in line or "Exception ignored" in line], done.stderr.decode()
    return lines


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk_on_stdout(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = ran(arguments, stdout=full)
    assert done.returncode == INCOMPLETE
    assert said(done) == ["policylint: No space left on device"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [("lint", ".", "--output", "sarif=/dev/full"), ("graph", ".", "--output", "html=/dev/full")]
)
def test_a_full_disk_under_a_file(arguments: tuple[str, ...]) -> None:
    done = ran(arguments)
    assert done.returncode == USAGE
    assert said(done)[0] == "policylint: cannot write '/dev/full': no space left on device"


@pytest.mark.parametrize(
    "command", [("lint", ".", "--output", "sarif={}"), ("graph", ".", "--output", "html={}")], ids=" ".join
)
def test_a_file_stays_as_it_was_where_a_new_one_does_not_fit(command: tuple[str, ...], tmp_path: Path) -> None:
    good = tmp_path / "report"
    good.write_text("a good report")
    good.chmod(0o640)
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))  # noqa: E731
    done = ran([argument.format(good) for argument in command], limited)
    assert done.returncode == USAGE
    assert said(done)[0] == f"policylint: cannot write '{good}': file too large"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("report", "a good report")]
    assert ran([argument.format(good) for argument in command]).returncode in (0, FOUND)
    assert good.stat().st_size > 2048 and good.stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_that_leaves(arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = ran(arguments, stdout=write)
    os.close(write)
    assert (done.returncode, said(done)) == (INTERRUPTED, [])


def test_no_stdout_and_no_stderr_at_all() -> None:
    def close() -> None:
        os.close(1)
        os.close(2)

    done = subprocess.run([*TOOL, "lint", "."], cwd=SHOP, env=environment(), preexec_fn=close, timeout=120, check=False)
    assert done.returncode in (FOUND, INCOMPLETE)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_in_the_middle(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """The tool waits for the end of its input when it comes."""
    output = tmp_path / "out.json"
    arguments = [*TOOL, "lint", "-", "--output", f"json={output}"]
    with subprocess.Popen(
        arguments,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # what runs in the background may ignore it
    ) as child:
        assert child.stdin is not None and child.stderr is not None
        child.stdin.write(b"apiVersion: v1\n" * 20_000)  # more than a pipe holds: it is reading
        child.stdin.flush()
        time.sleep(0.2)
        child.send_signal(number)
        _, err = child.communicate(timeout=60)
    assert child.returncode == code
    assert b"Traceback" not in err
    assert not output.exists()


def test_little_memory_is_enough() -> None:
    named = ("lint", "../../tests", "-o", "json")  # test data is judged where it is named
    done = ran(named, lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    assert (done.returncode, said(done)) == (FOUND, [])


@pytest.mark.slow
def test_too_little_memory_is_said(tmp_path: Path) -> None:
    """Ten megabytes of objects do not fit: one line, and the run says that it was not done whole."""
    head = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
    item = head + "metadata: {name: route-%d}\nspec: {rules: [%s]}\n---\n"
    rules = ", ".join(f"{{name: a{number}}}" for number in range(200))
    text = "".join(item % (number, rules) for number in range(1_500))
    for number in range(4):
        (tmp_path / f"{number}.yaml").write_text(text)
    limit = 110 * 2**20
    done = ran(("lint", "."), lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), cwd=tmp_path)
    assert done.returncode == INCOMPLETE
    assert said(done)[-1:] == ["policylint: there is not enough memory to do this"]


def test_without_git_on_the_path(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    done = ran(("lint", str(SHOP), "-o", "json"), cwd=tmp_path, env=environment(PATH=str(empty)))
    assert (done.returncode, said(done)) == (FOUND, [])
    done = ran(("diff", "HEAD~1..HEAD"), env=environment(PATH=str(empty)))
    assert done.returncode == USAGE
    assert "git" in said(done)[0]


@pytest.mark.parametrize("home", ["/nonexistent", "/proc/1", ""])
def test_a_home_that_cannot_be_written(home: str) -> None:
    done = ran(("lint", ".", "-o", "json"), env=environment(HOME=home, XDG_CONFIG_HOME=home, XDG_CACHE_HOME=home))
    assert (done.returncode, said(done)) == (FOUND, [])


def test_two_at_once_write_what_one_writes() -> None:
    """Nothing is shared between runs: no cache, no lock."""
    arguments = [*TOOL, "lint", ".", "-o", "json"]
    children = [
        subprocess.Popen(arguments, cwd=SHOP, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert len({child.communicate(timeout=120)[0] for child in children}) == 1
