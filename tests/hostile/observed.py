"""Run commands in a child and tell what it started, opened, wrote and connected to.

The child's own audit hook sees what Python does, as written; strace, where it is there, sees what the kernel is asked
by the child and by every program below it. Both are read into the same events. As a script this file is the child; or,
with `serve`, an observer's, which has imported the program and forks a child for each repository (`Observer`).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import re
import resource
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import policylint
from policylint.lean import give_room

Event = tuple[str, str]
"""What happened (`starts`, `reads`, `writes`, `connects`), and to what."""

STRACE = shutil.which("strace")
CALLS = (
    "execve,execveat,socket,connect,bind,open,openat,openat2,creat,truncate,rename,renameat,renameat2,unlink,unlinkat,"
    "mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,lchown,fchownat,setxattr"
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
TRACED = re.compile(r"(?P<call>\w+)\((?P<arguments>.*)\) += (?P<code>-?\d+|\?)(?:<(?P<path>.*)>)?(?: .*)?$")
AUDITED = {
    "subprocess.Popen": "starts", "os.system": "starts", "os.exec": "starts", "os.posix_spawn": "starts",
    "os.spawn": "starts", "pty.spawn": "starts", "os.listdir": "reads", "os.scandir": "reads", "os.remove": "writes",
    "os.rename": "writes", "os.mkdir": "writes", "os.rmdir": "writes", "os.link": "writes", "os.symlink": "writes",
    "os.truncate": "writes", "os.chmod": "writes", "os.chown": "writes", "os.utime": "writes",
    "tempfile.mkstemp": "writes", "tempfile.mkdtemp": "writes",
}  # fmt: skip


class Outcome(NamedTuple):
    """How one command ended."""

    arguments: list[str]
    code: int | str
    """The exit code, or the name of an exception that came through."""
    seconds: float
    """CPU time of the process and of those it started."""
    megabytes: int
    """The most memory that the process had at a time until now."""


class Observation(NamedTuple):
    """What a child did."""

    outcomes: list[Outcome]
    events: set[Event]
    output: str


def observe(
    commands: Sequence[Sequence[str]],
    directory: Path,
    environment: Mapping[str, str],
    log: Path,
    strace: str | None = STRACE,
) -> Observation:
    """Run `policylint COMMAND` for each of the commands, in one process.

    Args:
        log: a directory for what is observed, which is made.
    """
    log.mkdir()
    command = [str(log / "audit"), json.dumps([list(each) for each in commands])]
    done = subprocess.run(
        _traced(command, strace, log), cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    return _observation(log, log.glob("strace.*"), done.stdout + done.stderr)


def _traced(arguments: Sequence[str], strace: str | None, log: Path) -> list[str]:
    """Return the command that runs this file as a child."""
    command = [sys.executable, "-I", "-B", __file__, *arguments]
    if strace is None:
        return command
    tracing = ["-ff", "--seccomp-bpf", "-y", "-q", "-s", "4096", "-e", f"trace={CALLS}", "-e", "signal=none"]
    return [strace, *tracing, "-o", str(log / "strace"), "--", *command]


def _observation(log: Path, straces: Iterable[Path], output: bytes) -> Observation:
    lines = [json.loads(line) for line in (log / "audit").read_text().splitlines()]
    events = {(kind, subject) for kind, subject in (line for line in lines if isinstance(line, list))}
    for file in straces:
        events.update(traced(file.read_text(errors="surrogateescape")))
    outcomes = [Outcome(**line) for line in lines if isinstance(line, dict)]
    return Observation(outcomes, events, output.decode(errors="replace"))


class Observer:
    """Runs commands for one repository after the other, each in a child of a process that has imported the program and
    has done nothing else: a third of what a repository takes, observed as it is, is to import it.

    Args:
        log: a directory of its own.
    """

    def __init__(self, log: Path, strace: str | None = STRACE) -> None:
        self._log, self._strace = log, strace
        self._server = subprocess.Popen(
            _traced(["serve"], strace, log), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def observe(
        self, commands: Sequence[Sequence[str]], directory: Path, environment: Mapping[str, str], log: Path
    ) -> Observation:
        """As the function of that name does."""
        log.mkdir()
        before = set(self._log.glob("strace.*"))
        asked = {"commands": commands, "directory": str(directory), "environment": dict(environment), "log": str(log)}
        assert self._server.stdin is not None
        print(json.dumps(asked), file=self._server.stdin, flush=True)
        self._answer()
        return _observation(log, self._ended(before), (log / "stdout").read_bytes() + (log / "stderr").read_bytes())

    def _answer(self) -> None:
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == "done\n", "the observer is gone"

    def _ended(self, before: set[Path]) -> set[Path]:
        """Return what strace wrote of the processes since then, each of which has ended: the last line says so."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            new = set(self._log.glob("strace.*")) - before
            if all(file.read_bytes().rstrip().endswith(b" +++") for file in new):
                assert new or self._strace is None
                return new
            time.sleep(0.01)
        raise AssertionError("a process goes on")

    def close(self) -> None:
        """End the process."""
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(60)
        self._server.stdout.close()


def traced(text: str) -> Iterator[Event]:
    """Yield the events of one process in what strace wrote of it; what failed is none, but for a socket's."""
    for line in text.splitlines():
        found = TRACED.match(line)
        if found is None:
            continue
        call, arguments = found["call"], found["arguments"]
        if call in ("socket", "connect", "bind"):
            yield "connects", arguments
        elif found["code"].startswith("-"):
            continue
        elif call.startswith("exec"):
            yield "starts", arguments.partition('"')[2].partition('"')[0]
        elif call.startswith("open"):
            path = re.sub(r"^/proc/\d+/", "/proc/self/", found["path"] or arguments)
            yield "writes" if re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", arguments) else "reads", path
        elif call.startswith("rename"):
            yield from (("writes", name) for name in re.findall(r'"((?:[^"\\]|\\.)*)"', arguments))
        else:
            yield "writes", f"{call}({arguments})"


_real = cache(os.path.realpath)


def real(path: str) -> str:
    """Return where a path leads, looked up once: a tree stands still while it is read, and each step is a look-up."""
    return _real(os.path.join(os.getcwd(), path))  # noqa: PTH109, PTH118


class Hook:
    """An audit hook that writes events as lines of JSON."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.on = True

    def say(self, line: object) -> None:
        os.write(self.descriptor, json.dumps(line).encode() + b"\n")

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, (str, bytes)):
                place = real(os.fsdecode(path))
                self.say(("writes" if flags & WRITING else "reads", re.sub(r"^/proc/\d+/", "/proc/self/", place)))
        elif event.startswith("socket."):
            self.say(("connects", f"{event} {arguments[1:]}"))
        elif event in AUDITED:
            for subject in arguments[:2] if event == "os.rename" else arguments[:1]:
                name = os.fsdecode(subject) if isinstance(subject, (str, bytes)) else "."
                self.say((AUDITED[event], name if AUDITED[event] == "starts" else real(name)))


WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def serve() -> None:
    """Be the process of an observer: import what the program may import, and fork a child for each request."""
    for module in pkgutil.walk_packages(policylint.__path__, "policylint."):
        if module.name.split(".")[1] not in ("__main__", "assistant", "editor"):  # of other programs
            importlib.import_module(module.name)
    gc.freeze()  # a child that looks for garbage copies no page of this
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    print("done", file=answers, flush=True)
    for line in requests:
        asked = json.loads(line)
        audit, *said = (os.open(f"{asked['log']}/{name}", WRITTEN, 0o600) for name in ("audit", "stdout", "stderr"))
        child = os.fork()
        if child == 0:
            for descriptor, stream in enumerate(said, 1):
                os.dup2(stream, descriptor)
            for descriptor in (requests.fileno(), answers.fileno(), *said):
                os.close(descriptor)
            os.chdir(asked["directory"])
            os.environ.clear()
            os.environ.update(asked["environment"])
            try:
                main(audit, asked["commands"])
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)
        for descriptor in (audit, *said):
            os.close(descriptor)
        os.waitpid(child, 0)
        print("done", file=answers, flush=True)


def main(log: int, commands: list[list[str]]) -> None:
    """Be the child.

    Args:
        log: the descriptor of the file of what is observed.
    """
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    hook = Hook(log)
    sys.addaudithook(hook)
    from policylint.cli import main as policylint

    for arguments in commands:
        before = sum(os.times()[:4])
        code: int | str
        try:
            code = policylint(arguments, prog_name="policylint") or 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException as error:
            traceback.print_exc()
            code = type(error).__name__
        sys.stdout.flush()
        hook.on = False
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
            (peak,) = [int(line.split()[1]) for line in status if line.startswith("VmHWM:")]
        hook.on = True
        outcome = Outcome(arguments, code, round(sum(os.times()[:4]) - before, 2), peak // 1024)
        hook.say(outcome._asdict())


give_room(main)  # without, four of five seconds of the bombs were the system's

if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        main(os.open(sys.argv[1], WRITTEN, 0o600), json.loads(sys.argv[2]))
