"""The other commands, and the program as a process: start-up, pipes, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from policylint import __version__
from policylint.cli import main
from policylint.cli.commands import COMMANDS
from policylint.report.rule_page import all_pages
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE

CHECKOUT = Path(__file__).parents[2]


def process(*arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.run(
        [sys.executable, "-m", "policylint", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env=environment,
        **settings,  # type: ignore[call-overload]
    )


@pytest.fixture
def world(tmp_path: Path) -> Path:
    place = tmp_path / "world.yaml"
    place.write_text("---\n".join((GATEWAY, ROUTE, POLICY)))
    return place


def test_version_names_the_rule_sets() -> None:
    result = CliRunner().invoke(main, ["--version"])
    first, second = result.stdout.splitlines()
    assert result.exit_code == 0
    assert first == f"policylint {__version__}"
    assert "rules: " in second and "Gateway API: 1.6" in second


@pytest.mark.parametrize("asked", [["lint"], [], ["list", "policies"], ["config", "show"]], ids=" ".join)
def test_a_directory_before_the_command_is_that_behind_it(world: Path, asked: list[str]) -> None:
    """Who writes `git -C DIR log` writes `policylint -C DIR lint`."""
    there = str(world.parent)
    before, behind = process("-C", there, *asked), process(*(asked or ["lint"]), "-C", there)
    assert before.stdout
    assert (before.stdout.rpartition(" (")[0], before.returncode) == (
        behind.stdout.rpartition(" (")[0],
        behind.returncode,
    )


def test_a_directory_that_is_not_there_is_named() -> None:
    result = process("-C", "/nowhere", "lint")
    assert (result.returncode, "'/nowhere' does not exist" in result.stderr) == (2, True)


def modules_of(*arguments: str) -> set[str]:
    """Return the modules that a command imports; garbage is collected again where its module is imported alone."""
    code = (
        f"import gc, sys\nsys.argv = {['policylint', *arguments]!r}\nfrom policylint.cli import main\n"
        "assert gc.isenabled()\ntry:\n main()\nexcept SystemExit:\n print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, check=True)
    return set(eval(done.stdout.splitlines()[-1]))


UNUSED = {"ast", "datetime", "dis", "gettext", "inspect", "locale", "platform", "tokenize", "uuid"}
"""Modules that click imports, and that policylint.lean keeps out."""


def test_version_imports_nothing_that_is_slow() -> None:
    modules = modules_of("--version")
    slow = {"yaml", "json", "dataclasses", "logging", "networkx", "jsonschema", "importlib.metadata", "pathlib"}
    assert not modules & (slow | UNUSED)
    assert {name for name in modules if name.startswith("policylint")} <= {
        "policylint",
        "policylint.cli",
        "policylint.cli.commands",
        "policylint.cli.version",
        "policylint.lean",
    }


def test_lint_of_a_plain_file_imports_nothing_that_only_others_need(world: Path) -> None:
    modules = modules_of("lint", str(world), "--isolated")
    assert "policylint.implementations.envoy_gateway" in modules
    assert not modules & UNUSED
    assert not modules & {
        "ipaddress",
        "json",
        "pathlib",
        "unicodedata",
        "policylint.cel.syntax",
        "policylint.documents.exact",
        "policylint.network.state",
        "policylint.policy.authorizing",
        "policylint.policy.strategies",
        "policylint.render.environments",
        "policylint.spaces.boxes",
        "policylint.spaces.dimension",
        "policylint.sources.listing",
        "policylint.triage",
    }


PLAIN = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [cart.example.com]
  rules: [{backendRefs: [{name: cart, port: 8080}]}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  jwt: {providers: [{name: id, remoteJWKS: {uri: https://id.example.com/jwks.json}}]}
"""
"""A route whose Gateway and backend are elsewhere, and a policy: what most files of an application hold."""


def test_lint_of_a_route_with_a_policy_needs_nothing_of_gateways_and_findings(tmp_path: Path) -> None:
    file = tmp_path / "cart.yaml"
    file.write_text(PLAIN)
    modules = modules_of("lint", str(file), "--isolated")
    assert not modules & {
        "policylint.catalog.releases",
        "policylint.checks.kit.fixes",
        "policylint.checks.target_not_found",
        "policylint.cli.completing",
        "policylint.documents.tokens",
        "policylint.implementations.envoy_gateway.backends",
        "policylint.implementations.envoy_gateway.listener_conflicts",
        "policylint.implementations.generic.sessions",
        "policylint.model.definitions",
        "policylint.model.selectors",
        "policylint.network.endpoints",
        "policylint.policy.patching",
        "policylint.render.helm.mentions",
        "policylint.render.journal",
        "policylint.render.provenance",
        "policylint.render.tree",
        "policylint.report.kit.secrets",
        "policylint.report.kit.snippet",
        "policylint.topology.listener_conflicts",
        "policylint.topology.listeners",
        "policylint.topology.workloads",
    }
    assert sum(name.startswith("policylint") for name in modules) < 242  # each takes a thousandth of a lint of one file


@pytest.mark.parametrize("what", [PLAIN, "\n---\n".join((PLAIN, GATEWAY, POLICY))], ids=["a route", "with a Gateway"])
def test_lint_parses_of_the_catalog_what_its_objects_are_of(tmp_path: Path, what: str) -> None:
    file = tmp_path / "cart.yaml"
    file.write_text(what)
    code = (
        f"import sys\nsys.argv = ['policylint', 'lint', {str(file)!r}, '--isolated']\n"
        "from policylint.cli import main\ntry:\n main()\nexcept SystemExit:\n pass\n"
        "from policylint.catalog.kinds import shipped_catalog\n"
        "print(sorted(each.implementation for each in shipped_catalog() if each._content is not None))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, check=True)
    assert eval(done.stdout.splitlines()[-1]) == ["envoy-gateway", "gateway-api"]


def test_every_command_has_help_with_examples() -> None:
    for name in COMMANDS:
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0, name
        assert "Examples:" in result.stdout


def test_a_group_without_a_command_prints_its_help() -> None:
    done = CliRunner().invoke(main, ["config"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == CliRunner().invoke(main, ["config", "--help"]).stdout


def test_the_list_of_commands_is_complete() -> None:
    text = CliRunner().invoke(main, ["--help"]).stdout
    words = " ".join(text.split())
    for name, line in COMMANDS.items():
        assert f"{name} {line}" in words
    assert "policylint completion bash|zsh|fish" in text


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_simulate_for_programs(world: Path, form: str) -> None:
    result = CliRunner().invoke(main, ["simulate", str(world), "-o", form])
    assert result.exit_code == 0
    content = yaml.safe_load(result.stdout) if form == "yaml" else json.loads(result.stdout)
    assert content["version"] == "simulation-v1"
    assert content["policies"][0]["status"] == "TargetNotFound"


def test_simulate_for_people(world: Path) -> None:
    result = CliRunner().invoke(main, ["simulate", str(world)])
    assert result.exit_code == 0
    assert "SecurityPolicy shop/cors  TargetNotFound" in result.stdout


def test_simulate_of_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["simulate", str(tmp_path), "--strict"])
    assert result.exit_code == 3
    assert "no Gateway API manifests" in result.stderr


def test_a_rule_by_id_and_by_name() -> None:
    pages = all_pages()
    if not pages:
        pytest.skip("no rule pages yet")
    page = pages[0]
    for name in (page.id, page.id.lower(), page.name):
        result = CliRunner().invoke(main, ["rule", name])
        assert result.exit_code == 0
        assert result.stdout.startswith(f"{page.id} {page.name}\n")
    listed = CliRunner().invoke(main, ["rule"]).stdout
    assert [line.split()[0] for line in listed.splitlines()] == [each.id for each in pages]
    wrong = CliRunner().invoke(main, ["rule", page.name + "s"])
    assert wrong.exit_code == 2
    assert f"did you mean {page.name}?" in wrong.stderr


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\x01\x02",
        b"a: [",
        b"\xff\xfe\xfa",
        b"apiVersion: v1\nkind: HTTPRoute\nmetadata: 7\nspec: []\n",
        b"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: x}\nspec: {rules: 3}\n",
        b"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: [x]}\nspec: {listeners: 1}\n",
        b"apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: x}\nspec: 4\n",
        b"[" * 20_000,
        b"",
    ],
)
def test_broken_input_never_ends_in_a_traceback(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.yaml").write_bytes(content)
    for command in ("lint", "simulate"):
        done = process(command, str(tmp_path))
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr


def test_exit_codes_of_the_process(world: Path, tmp_path: Path) -> None:
    assert process("lint", str(world)).returncode == 1
    assert process("lint", str(tmp_path / "nowhere")).returncode == 2
    assert process("lint", str(world), "--fail-on", "never").returncode == 0


@pytest.mark.parametrize(
    ("beside", "is_taken_apart"),
    [
        ("pass", False),
        ("sys.setprofile(lambda *_: None)", True),
        ("threading.Thread(target=threading.main_thread().join).start()", True),
    ],
)
def test_a_process_ends_with_its_command(world: Path, beside: str, is_taken_apart: bool) -> None:
    code = (
        f"import atexit, sys, threading, time\nsys.argv = {['policylint', 'lint', str(world)]!r}\n"
        f"from policylint.cli import program\natexit.register(print, 'taken apart')\n{beside}\nprogram()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, timeout=60)
    assert done.returncode == 1
    assert "GWP" in done.stdout
    assert done.stdout.endswith("taken apart\n") == is_taken_apart


def test_standard_input() -> None:
    manifests = "---\n".join((GATEWAY, ROUTE, POLICY))
    text = process("lint", "-", input=manifests)
    assert text.returncode == 1
    assert "--> <stdin>:22:13\n" in text.stdout
    sarif = process("lint", "-", "-o", "sarif", input=manifests)
    assert json.loads(sarif.stdout)["runs"][0]["results"] == []


def test_who_stops_reading_is_left_in_peace(world: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "policylint", "simulate", str(world), "-o", "json"],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            timeout=60,
        )
    finally:
        os.close(writing)
    assert done.returncode == 130
    assert done.stderr == b""


@pytest.mark.parametrize(("redirection", "code"), [(">&-", 1), (">/dev/full", 3)])
def test_output_that_cannot_be_written(world: Path, redirection: str, code: int) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    command = f'"{sys.executable}" -m policylint lint "{world}" {redirection}'
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == code
    assert done.stderr == ("" if code == 1 else "policylint: No space left on device\n")


def test_output_is_utf8_whatever_the_locale(world: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "policylint", "lint", str(world)]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60)
    assert " · " in done.stdout.decode("utf-8")


def test_the_same_input_gives_the_same_bytes(world: Path) -> None:
    outputs = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "policylint", "lint", str(world), "-o", "sarif"]
        outputs.add(subprocess.run(command, capture_output=True, env=environment, timeout=60).stdout)
    assert len(outputs) == 1


def test_a_path_that_is_nearly_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clusters" / "production").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert "did you mean 'clusters/production'?" in process("lint", "clusters/producton").stderr
    assert "did you mean 'clusters/production'?" in process("lint", "cluster/producton").stderr


def test_a_url_alone_is_a_get_and_a_word_alone_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.yaml").write_text("---\n".join([GATEWAY, ROUTE]), encoding="utf-8")
    alone, whole = process("trace", "https://shop.example.com/"), process("trace", "GET", "https://shop.example.com/")
    assert (alone.returncode, alone.stdout) == (0, whole.stdout)
    assert "try https://shop.example.com" in process("trace", "shop.example.com").stderr


def test_tables_have_a_singular(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert process("list", "policy").stdout == process("list", "policies").stdout
    assert process("list", "gateway").returncode == 0


def test_the_help_lists_every_command_once_by_what_it_is_for() -> None:
    said = process("--help").stdout
    headings = [said.index(f"\n{heading}:") for heading in ("Check", "Ask", "Manage", "Integrate")]
    assert headings == sorted(headings)
    listed = [line.split()[0] for line in said[headings[0] :].splitlines() if line[:3].strip() and line[:2] == "  "]
    assert sorted(name for name in listed if name in COMMANDS) == sorted(COMMANDS)
