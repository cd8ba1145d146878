"""Completion in the three shells, as click answers them."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.commands import COMMANDS
from tests.cli.test_lint import GATEWAY, ROUTE

CHECKOUT = Path(__file__).parents[2]
CLUSTERS = CHECKOUT / "fixtures" / "kustomize-two-clusters"


def complete(line: str, place: Path = CHECKOUT / "fixtures" / "envoy-gateway-shop") -> list[str]:
    words = line.split(" ")
    environment = {
        **os.environ,
        "PYTHONPATH": str(CHECKOUT),
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_POLICYLINT_COMPLETE": "bash_complete",
    }
    command = [sys.executable, "-c", "from policylint.cli import main; main(prog_name='policylint')"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True, cwd=place)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_objects_of_the_tree() -> None:
    assert complete("policylint explain -C . HTTPRoute/shop/ch") == ["HTTPRoute/shop/checkout"]
    assert complete("policylint explain -C . infra/") == [
        "BackendTrafficPolicy/infra/edge-limits",
        "SecurityPolicy/infra/edge-jwt",
        "Gateway/infra/edge",
    ]
    assert complete("policylint explain checkout -C . --without Sec") == [
        "SecurityPolicy/infra/edge-jwt",
        "SecurityPolicy/shop/checkout-cors",
    ]
    assert complete("policylint graph -C . Gateway/") == ["Gateway/infra/edge", "Gateway/"], (
        "or a path, which the shell completes"
    )
    assert complete("policylint graph -C . shop HTTP") == ["HTTP"], "behind the first word paths alone"


def test_whom_a_request_is_from_and_for() -> None:
    baker = CHECKOUT / "fixtures" / "baker-parable"
    assert complete("policylint trace GET http://oven -C . --from ", baker) == [
        "Deployment/baker/baker",
        "Deployment/baker/oven",
        "StatefulSet/baker/pantry",
    ]
    assert complete("policylint trace GET http://oven -C . --to Service/baker/o", baker) == ["Service/baker/oven"]
    assert complete("policylint trace GET http://oven -C . --gateway Ga", baker) == ["Gateway/platform/shopfront"]


def test_environments_of_the_tree() -> None:
    assert complete("policylint lint -C . --env ", CLUSTERS) == ["prod", "staging"]
    assert complete("policylint lint -C . --env prod --env s", CLUSTERS) == ["staging"]


def test_kinds() -> None:
    assert "SecurityPolicy" in complete("policylint kinds sec")
    assert "BackendTrafficPolicy.gateway.envoyproxy.io" in complete("policylint kinds BackendT")


def test_a_name_without_a_namespace_is_offered_as_it_is_typed(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{GATEWAY}---\n{ROUTE}".replace(", namespace: shop", ""))
    (tmp_path / "kustomization.yaml").write_text("resources: [all.yaml, ${MORE}]\n")
    assert [each for each in complete("policylint explain HTTP", tmp_path) if "?" in each] == []


def test_what_cannot_be_read_offers_nothing(tmp_path: Path) -> None:
    (tmp_path / ".policylint.yaml").write_text("nonsense: true\n")
    assert complete("policylint explain HTTP", tmp_path) == []
    assert complete("policylint explain -C nowhere HTTP", tmp_path) == []


def test_commands_options_and_rules() -> None:
    assert set(complete("policylint ")) == set(COMMANDS)
    assert complete("policylint lint --fail-on n") == ["note", "never"]
    assert "--add-ignore" in complete("policylint lint --add")
    assert complete("policylint rule GWP90") == ["GWP901", "GWP902", "GWP903", "GWP904"]
    assert set(complete("policylint rule parent-s")) == {"parent-section-not-found", "parent-setting-dropped"}
    assert complete("policylint lint --select GWP101,gwp90") == [f"GWP101,GWP90{n}" for n in range(1, 5)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert f"_POLICYLINT_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=result.stdout, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def command(tmp_path: Path) -> dict[str, str]:
    """An environment in which `policylint` is this checkout."""
    place = tmp_path / "bin" / "policylint"
    place.parent.mkdir()
    code = "from policylint.cli import main; main(prog_name='policylint')"
    place.write_text(f'#!/bin/sh\nPYTHONPATH={CHECKOUT} exec {sys.executable} -c "{code}" "$@"\n')
    place.chmod(0o755)
    return {"PATH": f"{place.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def typed(shell: list[str], setup: str, line: str, until: str, environment: dict[str, str]) -> str:
    """What an interactive shell on a terminal shows once a line is typed that ends in tabs."""
    pty = pytest.importorskip("pty")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(CHECKOUT / "fixtures" / "envoy-gateway-shop")
        os.execvpe(shell[0], shell, environment)
    shown = ""

    def wait(text: str) -> None:
        nonlocal shown
        end = monotonic() + 30
        while text not in shown and monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")

    try:
        os.write(terminal, f"{setup}; echo re''ady\n".encode())
        wait("ready")
        shown = ""
        os.write(terminal, line.encode())
        wait(until)
        return shown
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(policylint completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -u -D; eval "$(policylint completion zsh)"'),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_real_shell_completes(shell: str, command: dict[str, str]) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    start, setup = SHELLS[shell]
    shown = typed(start, setup, "policylint explain -C . HTTPRoute/shop/che\t", "checkout", command)
    assert "HTTPRoute/shop/checkout" in shown
    shown = typed(start, setup, "policylint lint --fail-on n\t\t", "never", command)
    assert "note" in shown and "never" in shown


def test_fish_completes(command: dict[str, str]) -> None:
    if not shutil.which("fish"):
        pytest.skip("no fish here")

    def offered(line: str) -> list[str]:
        script = f"policylint completion fish | source; complete -C '{line}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", script],
            capture_output=True,
            text=True,
            env=command,
            cwd=CHECKOUT / "fixtures" / "envoy-gateway-shop",
            timeout=60,
            check=True,
        )
        return [each.partition("\t")[0] for each in done.stdout.splitlines()]

    assert offered("policylint explain -C . HTTPRoute/shop/che") == ["HTTPRoute/shop/checkout"]
    assert offered("policylint lint --fail-on n") == ["never", "note"]
    assert offered("policylint lint sh") == ["shop/"]
