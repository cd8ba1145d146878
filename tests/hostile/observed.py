"""Run commands in a child and tell what it started, opened, wrote and connected to.

The child's own audit hook sees what Python does, as written; strace, where it is there, sees what the kernel is asked
by the child and by every program below it. Both are read into the same events. As a script this file is the child.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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
    command = [sys.executable, "-I", "-B", __file__, str(log / "audit"), json.dumps([list(each) for each in commands])]
    if strace is not None:
        tracing = ["-ff", "--seccomp-bpf", "-y", "-qq", "-s", "4096", "-e", f"trace={CALLS}", "-e", "signal=none"]
        command = [strace, *tracing, "-o", str(log / "strace"), "--", *command]
    done = subprocess.run(
        command, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
        check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in (log / "audit").read_text().splitlines()]
    events = {(kind, subject) for kind, subject in (line for line in lines if isinstance(line, list))}
    for file in log.glob("strace.*"):
        events.update(traced(file.read_text(errors="surrogateescape")))
    output = (done.stdout + done.stderr).decode(errors="replace")
    return Observation([Outcome(**line) for line in lines if isinstance(line, dict)], events, output)


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


def main(log: str, commands: list[list[str]]) -> None:
    """Be the child."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    hook = Hook(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
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


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
