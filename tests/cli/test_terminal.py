"""On a terminal: progress for what takes long, links for those that can follow them; nothing of it anywhere else."""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.output import wants_addresses, wants_links
from policylint.report.findings import Options, write
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE
from tests.report.sample import sample

CHECKOUT = Path(__file__).parents[2]

pty = pytest.importorskip("pty")


def on_terminal(code: str) -> str:
    """What a program writes to stderr when that is a terminal."""
    reading, writing = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=writing, env=environment)
    return _shown(child, reading, writing)


def _shown(child: subprocess.Popen[bytes], reading: int, writing: int) -> str:
    """What a program that ends well has written to a terminal, whose other end stays open until then: Linux may throw
    away what was not read when the last one who writes is gone."""
    seen = b""
    while True:
        has_ended = child.poll() is not None
        if select.select([reading], [], [], 0.02)[0]:
            seen += os.read(reading, 65536)
        elif has_ended:
            break
    os.close(writing)
    os.close(reading)
    assert child.wait(timeout=60) == 0
    return seen.decode()


def busy(seconds: float) -> str:
    return (
        "from policylint.cli.progress import progress\nfrom time import perf_counter\n"
        f"with progress('reading'):\n end = perf_counter() + {seconds}\n while perf_counter() < end: pass\n"
    )


def test_progress_after_half_a_second_and_gone_at_the_end() -> None:
    shown = on_terminal(busy(0.9))
    assert "policylint: reading … " in shown
    assert shown.endswith("\r\x1b[K")


def test_no_progress_for_what_is_quick_or_where_nobody_watches() -> None:
    assert on_terminal(busy(0.1)) == ""
    done = subprocess.run(
        [sys.executable, "-c", busy(0.7)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert done.stderr == b""


def test_links_only_add() -> None:
    plain = write("text", sample())
    linked = write("text", sample(options=Options(links=True)))
    link = "\x1b]8;;https://github.com/example/policylint/blob/v0.1.0/rules/GWP201-parent-setting-dropped.md\x1b\\"
    assert f"{link}error[GWP201]\x1b]8;;\x1b\\: " in linked
    assert (
        "".join(part.partition("\x1b\\")[2] if at else part for at, part in enumerate(linked.split("\x1b]8;;")))
        == plain
    )


def test_who_gets_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wants_links("always", {})
    assert wants_links("auto", {"FORCE_HYPERLINK": "1"})
    assert not wants_links("auto", {"FORCE_HYPERLINK": "0"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "all.yaml").write_text("---\n".join((GATEWAY, ROUTE, POLICY)))
    assert "\x1b" not in CliRunner().invoke(main, ["lint", "."]).stdout


def test_in_a_ci_log_addresses_take_the_place_of_commands_nobody_can_run_there() -> None:
    there = write("text", sample(options=Options(addresses=True), again=()))
    here = write("text", sample(again=()))
    page = "https://github.com/example/policylint/blob/v0.1.0/rules/GWP201-parent-setting-dropped.md"
    assert f"= see: {page}\n" in there and "policylint rule" not in there and "policylint explain" not in there
    assert "= see: policylint explain HTTPRoute/shop/checkout   ·   policylint rule GWP201\n" in here


def test_commands_that_do_not_fit_beside_each_other_stay_whole() -> None:
    shown = write("text", sample(again=("clusters/production/a very long directory name/with another below",)))
    command = (
        "policylint explain HTTPRoute/shop/checkout 'clusters/production/a very long directory name/with another below'"
    )
    assert f"   = see: {command}\n" in shown
    assert "   = see: policylint rule GWP201\n" in shown


@pytest.mark.parametrize("arguments", [["-C", "PLACE", "."], ["PLACE"], ["PLACE/infra", "PLACE/shop"]])
def test_the_commands_that_are_named_work(apart: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apart)
    given = [each.replace("PLACE", "fixtures/envoy-gateway-shop") for each in arguments]
    shown = CliRunner().invoke(main, ["lint", *given]).stdout
    (command,) = re.findall(r"= see: policylint (explain .*)", shown)
    monkeypatch.chdir(apart)
    result = CliRunner().invoke(main, shlex.split(command))
    assert result.exit_code == 0
    assert "dropped by" in result.stdout


def test_who_gets_addresses() -> None:
    assert wants_addresses({"CI": "true"})
    assert not wants_addresses({"CI": "false"})
    assert not wants_addresses({})


def in_ci(place: Path, stdout: int, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "policylint", "lint", "-o", "text", "."],
        cwd=place,
        stdout=stdout,
        env={name: os.environ[name] for name in ("PATH",)} | {"PYTHONPATH": str(CHECKOUT)} | environment,
        check=False,
    )
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"GITHUB_ACTIONS": "true"}, True),
        ({"GITLAB_CI": "true"}, True),
        ({"GITHUB_ACTIONS": "true", "NO_COLOR": "1"}, False),
        ({}, False),
    ],
)
def test_logs_that_show_colours_get_them_and_files_do_not(
    tmp_path: Path, environment: dict[str, str], coloured: bool
) -> None:
    (tmp_path / "all.yaml").write_text("---\n".join((GATEWAY, ROUTE, POLICY)))
    reading, writing = os.pipe()
    in_ci(tmp_path, writing, **environment)
    os.close(writing)
    with os.fdopen(reading, "rb") as log:
        assert (b"\x1b[" in log.read()) is coloured
    with (tmp_path / "log.txt").open("wb") as file:
        in_ci(tmp_path, file.fileno(), **environment)
    assert b"\x1b[" not in (tmp_path / "log.txt").read_bytes()


TABLES = [
    "kinds",
    "rule",
    "list policies fixtures/kuadrant-platform",
    "list routes fixtures/kuadrant-platform",
    "list gateways fixtures/kuadrant-platform",
    "list listeners fixtures/kuadrant-platform",
    "list backends fixtures/kuadrant-platform",
    "list connections fixtures/network-shop",
    "reach fixtures/kuadrant-platform",
    "simulate fixtures/kuadrant-platform",
    "trace GET https://shop.example.com/checkout fixtures/envoy-gateway-shop",
    "reach fixtures/envoy-gateway-shop --config fixtures/exemptions.yaml --explain",
]


WIDTHS = (60, 80, 100, 140)
RESIZED = """
import fcntl, struct, sys, termios
from policylint.cli import main
for columns in map(int, sys.argv[1].split()):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        main(sys.argv[2:], prog_name="policylint")
    except SystemExit as ending:
        assert ending.code in (0, None)
    print("WIDTH", columns, flush=True)
"""


@pytest.mark.parametrize("command", TABLES)
def test_tables_fit_the_terminal(apart: Path, command: str) -> None:
    """Each line of what a person sees on a terminal of so many columns is no longer than that."""
    pytest.importorskip("fcntl"), pytest.importorskip("termios")
    reading, writing = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "CI", "FORCE_COLOR")}
    words = [sys.executable, "-c", RESIZED, " ".join(map(str, WIDTHS)), *shlex.split(command)]
    environment |= {"TERM": "xterm", "NO_COLOR": "1", "PYTHONPATH": str(CHECKOUT)}
    child = subprocess.Popen(words, stdout=writing, stderr=subprocess.DEVNULL, cwd=apart, env=environment)
    shown = _shown(child, reading, writing).replace("\r", "")
    for columns in WIDTHS:
        of_width, ending, shown = shown.partition(f"WIDTH {columns}\n")
        lines = of_width.splitlines()
        assert ending and len(lines) > 1
        whole = "    policylint "  # a command that is copied
        assert [line for line in lines if len(line) > columns and not line.startswith(whole)] == []
