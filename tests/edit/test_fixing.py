"""`policylint lint --fix`, `--diff` and `--unsafe-fixes` from the command to the file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from tests.checks.linting import GATEWAY, SERVICE, policy, route

SARIF = Path(__file__).parents[3] / "shared" / "sarif" / "sarif-schema-2.1.0.json"
GRANTLESS = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: lent, namespace: other}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [lent.example.com]
  rules: [{backendRefs: [{name: checkout, namespace: shop, port: 8080}]}]
"""
OLD = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: old, namespace: shop}
spec:
  targetRef:  # one
    group: gateway.networking.k8s.io
    kind: HTTPRoute
    name: chekout
  retry: {numRetries: 3}
"""
ATOMIC = (
    policy("BackendTrafficPolicy", "edge", "kind: Gateway, name: edge", "retry: {numRetries: 3}", namespace="infra"),
    policy("BackendTrafficPolicy", "own", "kind: HTTPRoute, name: checkout", "timeout: {http: {requestTimeout: 5s}}"),
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "world.yaml"


def write(file: Path, *documents: str) -> bytes:
    file.write_text("---".join(documents), encoding="utf-8")
    return file.read_bytes()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["lint", *arguments, "."])


def test_fix_edits_and_reports_what_is_left(world: Path) -> None:
    before = write(world, GATEWAY, route(), SERVICE, OLD)
    result = run("--fix", "--unsafe-fixes", "-o", "concise")
    assert result.exit_code == 0
    assert "fixed 2 findings in 1 file" in result.stderr
    after = world.read_bytes()
    assert after == before.replace(b"  targetRef:  # one\n    group", b"  targetRefs:  # one\n    - group").replace(
        b"    kind: HTTPRoute\n    name: chekout", b"      kind: HTTPRoute\n      name: checkout"
    )
    assert "fixed 0 findings" in run("--fix", "--unsafe-fixes").stderr
    assert world.read_bytes() == after


def test_diff_changes_nothing(world: Path) -> None:
    before = write(world, GATEWAY, route(), SERVICE, OLD)
    assert "would fix 1 of 2 findings (1 more with --unsafe-fixes)" in run("--diff").stderr
    result = run("--diff", "--unsafe-fixes")
    assert result.exit_code == 1
    assert "-    name: chekout\n" in result.stdout
    assert "+      name: checkout\n" in result.stdout
    assert "would fix 2 of 2 findings" in result.stderr
    assert world.read_bytes() == before


def test_unsafe_fixes_want_to_be_asked_for(world: Path) -> None:
    before = write(world, GATEWAY, route(), SERVICE, GRANTLESS, *ATOMIC)
    assert "fixed 0 findings (2 more with --unsafe-fixes)" in run("--fix").stderr
    assert world.read_bytes() == before
    assert "fixed 2 findings in 1 file" in run("--fix", "--unsafe-fixes").stderr
    after = world.read_text(encoding="utf-8")
    assert "mergeType: StrategicMerge" in after
    assert "kind: ReferenceGrant" in after
    assert run().exit_code == 0
    assert "fixed 0 findings\n" in run("--fix", "--unsafe-fixes").stderr


def test_what_is_read_from_stdin_cannot_be_fixed() -> None:
    result = CliRunner().invoke(main, ["lint", "--fix", "-"], input=OLD)
    assert result.exit_code == 2
    assert "work on files in the work tree" in result.output


def test_reports_carry_the_fixes(world: Path) -> None:
    write(world, GATEWAY, route(), SERVICE, OLD, GRANTLESS)
    content = json.loads(run("-o", "json").stdout)
    by_rule = {each["rule"]: each["fixes"] for each in content["findings"]}
    line = OLD.splitlines()
    ((only,),) = (each["edits"] for each in by_rule["GWP101"])
    assert only["text"] == "checkout"
    assert only["end_column"] - only["column"] == len("chekout")
    assert [each["safe"] for each in (*by_rule["GWP101"], *by_rule["GWP405"])] == [False, False]
    assert len(by_rule["GWP502"][0]["edits"]) == len([each for each in line if each.startswith("    ")]) + 1
    sarif = json.loads(run("-o", "sarif").stdout)
    fixes = [fix for each in sarif["runs"][0]["results"] for fix in each.get("fixes", [])]
    assert {fix["description"]["text"] for fix in fixes} >= {"Write `name: checkout`."}
    if SARIF.is_file():
        import jsonschema

        jsonschema.validate(sarif, json.loads(SARIF.read_text(encoding="utf-8")))


def test_a_fix_that_brings_about_another_error_is_not_made(world: Path) -> None:
    """With the name put right, one policy of a kind would stand against another one of the same target."""
    first = policy("SecurityPolicy", "first", "kind: HTTPRoute, name: checkout", "cors: {allowOrigins: ['*']}")
    second = policy("SecurityPolicy", "second", "kind: HTTPRoute, name: chekout", "cors: {allowOrigins: ['*']}")
    before = write(world, GATEWAY, route(), SERVICE, first, second)
    assert "fixed 0 findings" in run("--fix", "--unsafe-fixes").stderr
    assert world.read_bytes() == before
    assert "would fix 0 of" in run("--diff", "--unsafe-fixes").stderr


def test_what_a_file_has_that_nothing_deploys_is_not_guessed(world: Path) -> None:
    folder = world.parent
    (folder / "kustomization.yaml").write_text("resources: [deployed.yaml]\n", encoding="utf-8")
    (folder / "cart.yaml").write_text(SERVICE.replace("name: checkout", "name: checkouts"), encoding="utf-8")
    (folder / "parent.yaml").write_text(GATEWAY.replace("name: edge", "name: edges"), encoding="utf-8")
    lost = route(parent="name: edges, namespace: infra").replace(
        "backendRefs: [{name: checkout,", "backendRefs: [{name: checkouts,"
    )
    write(folder / "deployed.yaml", GATEWAY, SERVICE, lost)
    text = run().stdout
    assert "nothing deploys parent.yaml, which has it" in text
    assert "nothing deploys cart.yaml, which has it" in text
    assert "fixed 0 findings\n" in run("--fix", "--unsafe-fixes").stderr


def test_what_a_change_removes_is_not_guessed(world: Path) -> None:
    """With `checkouts` still there, a policy of the deleted `checkout` is told of no misspelling."""

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], cwd=world.parent, check=True
        )

    retries = policy("BackendTrafficPolicy", "retries", "kind: HTTPRoute, name: checkout", "retry: {numRetries: 3}")
    write(world, GATEWAY, SERVICE, route(), route("checkouts"), retries)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "before")
    write(world, GATEWAY, SERVICE, route("checkouts"), retries)
    result = CliRunner().invoke(main, ["diff", "HEAD", "-o", "json"])
    (finding,) = (each for each in json.loads(result.stdout)["findings"] if each["rule"] == "GWP101")
    assert "did you mean" not in result.stdout
    assert "write `name" not in str(finding)
    text = CliRunner().invoke(main, ["diff", "HEAD"]).stdout
    assert "did you mean" not in text
