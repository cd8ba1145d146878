"""Suppressions in their three forms: what each covers, when it counts, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from policylint.triage.comments import suppressions
from tests.cli.test_lint import GATEWAY, POLICY, REDIRECTING, ROUTE

TARGET = "      name: chekout"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one error: the policy's target is misspelt."""
    for name in ("GITHUB_ACTIONS", "POLICYLINT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    (tmp_path / "route.yaml").write_text(REDIRECTING)
    (tmp_path / "cors.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["lint", *arguments])
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result


def found(*arguments: str, policy: str = POLICY, config: str = "") -> list[str]:
    """The rules found among 101 and 90x, `-1` for one that is suppressed."""
    Path("cors.yaml").write_text(policy)
    Path(".policylint.yaml").write_text(config)
    content = json.loads(run("-o", "json", *arguments).stdout)
    assert content["summary"]["suppressed"] == len(content["suppressed"])
    rules = [each["rule"] for each in content["findings"] if each["rule"].startswith(("GWP1", "GWP90"))]
    return sorted([*rules, *(f"-{each['rule']}" for each in content["suppressed"])])


def with_comment(comment: str) -> str:
    return POLICY.replace(TARGET, f"{TARGET} {comment}")


@pytest.mark.parametrize(
    "policy",
    [
        with_comment("# policylint: ignore[GWP101] reason"),
        with_comment("# policylint: ignore[target-not-found] reason"),
        with_comment("#policylint:ignore[GWP102,GWP101]: reason").replace("GWP102,", ""),
        with_comment("# sic # policylint: ignore[GWP101] reason"),
        with_comment("# policylint: ignore[gwp101] reason (expires 2999-01-01)"),
        POLICY.replace(TARGET, f"      # policylint: ignore[GWP101] reason\n\n      # more\n{TARGET}"),
        POLICY.replace("    - group", "    # policylint: ignore[GWP101] reason\n    - group"),
        POLICY.replace("    - group", "    - # policylint: ignore[GWP101] reason\n      group"),
        POLICY.replace("  targetRefs", "  # policylint: ignore[GWP101] reason\n  targetRefs"),
        POLICY.replace("  targetRefs", "  # policylint: ignore[GWP101] reason\n  targetRefs").replace("    ", "  "),
        POLICY.replace("spec:", "# policylint: ignore[GWP101] reason\nspec:"),
        POLICY.replace("name: cors,", "name: cors, # policylint: ignore[GWP101] reason\n "),
        f"# policylint: ignore[GWP101] reason\n{POLICY}",
        f"---\n# policylint: ignore[GWP101] reason\n{POLICY}",
        f"# policylint: ignore[GWP101] reason\n---\n{POLICY}",
        f"--- # policylint: ignore[GWP101] reason\n{POLICY}",
        f"kind: X\n# policylint: ignore[GWP101] reason\n---\n{POLICY}",
        with_comment("# policylint: ignore[GWP101] reason").replace("\n", "\r\n"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_comments_that_cover(policy: str) -> None:
    assert found(policy=policy) == ["-GWP101"]


@pytest.mark.parametrize(
    ("policy", "also"),
    [
        (POLICY.replace("  cors:", "  # policylint: ignore[GWP101] reason\n  cors:"), ["GWP901"]),
        (f"# policylint: ignore[GWP101] reason\n---\nkind: X\n---\n{POLICY}", ["GWP901"]),
        (f"{POLICY}# policylint: ignore[GWP101] reason\n", ["GWP901"]),
        (f"{POLICY}  x: '\n    # policylint: ignore[GWP101] reason\n    '\n", []),
        (f"{POLICY}  x: |\n    # policylint: ignore[GWP101] reason\n", []),
        (f'{POLICY}  x: "# policylint: ignore[GWP101] reason"\n', []),
        (f"{POLICY}  x: a#policylint:ignore[GWP101]\n", []),
    ],
)
@pytest.mark.usefixtures("tree")
def test_comments_that_do_not_cover(policy: str, also: list[str]) -> None:
    assert found(policy=policy) == sorted(["GWP101", *also])


@pytest.mark.parametrize(
    ("comment", "rules"),
    [
        ("# policylint: ignore[GWP101]", ["GWP101", "GWP903"]),
        ("# policylint: ignore[GWP101] -", ["GWP101", "GWP903"]),
        ("# policylint: ignore[GWP101] reason expires 2024-01-01", ["GWP101", "GWP904"]),
        ("# policylint: ignore[GWP101,target-not-fund] reason", ["-GWP101", "GWP902"]),
        ("# policylint: ignore[GWP1] reason", ["GWP101", "GWP902"]),
        ("# policylint: ignore reason", ["GWP101", "GWP902"]),
        ("# policylint: ignore[] reason", ["GWP101", "GWP902"]),
        ("# policylint: ignore[GWP102] reason", ["GWP101", "GWP901"]),
        ("# policylint: ignore[GWP101] a # policylint: ignore[GWP102] b", ["-GWP101", "GWP901"]),
    ],
)
@pytest.mark.usefixtures("tree")
def test_what_is_wrong_with_a_suppression(comment: str, rules: list[str]) -> None:
    assert found(policy=with_comment(comment)) == rules


@pytest.mark.usefixtures("tree")
def test_a_rule_that_does_not_run_has_no_unused_suppressions() -> None:
    policy = with_comment("# policylint: ignore[GWP102] reason")
    assert found("--ignore", "GWP102", policy=policy) == ["GWP101"]
    assert found("--select", "GWP101", policy=policy) == ["GWP101"]
    assert found("--ignore", "GWP901", policy=policy) == ["GWP101"]


@pytest.mark.usefixtures("tree")
def test_a_part_of_a_repository_has_no_unused_suppressions() -> None:
    policy = with_comment("# policylint: ignore[GWP102] reason")
    assert found("gateway.yaml", "route.yaml", "cors.yaml", policy=policy) == ["GWP101"]
    assert found("--env", "default", policy=policy) == ["GWP101"]
    assert found(".", policy=policy) == ["GWP101", "GWP901"]


@pytest.mark.usefixtures("tree")
def test_no_ignores_shows_everything() -> None:
    assert found("--no-ignores", policy=with_comment("# policylint: ignore[GWP101,X] reason")) == ["GWP101"]


def annotated(name: str, value: str, policy: str = POLICY) -> str:
    return policy.replace("namespace: shop}", f"namespace: shop, annotations: {{{name}: {value}}}}}", 1)


@pytest.mark.parametrize(
    ("name", "value", "rules"),
    [
        ("ignore.policylint.dev/GWP101", "reason", ["-GWP101"]),
        ("ignore.policylint.dev/target-not-found", "'reason, expires: 2999-01-01'", ["-GWP101"]),
        ("ignore.policylint.dev/GWP101", "''", ["GWP101", "GWP903"]),
        ("ignore.policylint.dev/GWP101", "4", ["GWP101", "GWP903"]),
        ("ignore.policylint.dev/GWP101", "reason expires 2024-01-01", ["GWP101", "GWP904"]),
        ("ignore.policylint.dev/GWP999", "reason", ["GWP101", "GWP902"]),
        ("ignore.policylint.dev/GWP102", "reason", ["GWP101", "GWP901"]),
        ("ignore.example.com/GWP101", "policylint", ["GWP101"]),
    ],
)
@pytest.mark.usefixtures("tree")
def test_annotations(name: str, value: str, rules: list[str]) -> None:
    assert found(policy=annotated(name, value)) == rules


@pytest.mark.usefixtures("tree")
def test_a_reason_that_yaml_cuts_off() -> None:
    block = POLICY.replace(
        "metadata: {name: cors, namespace: shop}",
        "metadata:\n  name: cors\n  namespace: shop\n  annotations:\n    ignore.policylint.dev/GWP101: see #123",
    )
    assert found(policy=block) == ["-GWP101", "GWP903"]
    assert found(policy=block.replace("see #123", "'see #123'")) == ["-GWP101"]
    assert found(policy=block.replace("see #123", "#123")) == ["GWP101", "GWP903"]


def test_the_annotation_may_stand_on_any_of_the_resources(tree: Path) -> None:
    """GWP201 is about the route, its policy and the Gateway's policy."""
    jwt = POLICY.replace("name: cors", "name: jwt")
    jwt = jwt.replace("kind: HTTPRoute\n      name: chekout", "kind: Gateway\n      name: edge")
    jwt = jwt.replace(
        'cors:\n    allowOrigins: ["https://www.example.com"]',
        "jwt: {providers: [{name: a, remoteJWKS: {uri: https://id.example}}]}",
    )
    route = f"{ROUTE}  rules: [{{backendRefs: [{{name: checkout, port: 80}}]}}]\n"
    sound = POLICY.replace("chekout", "checkout")
    files = {"jwt.yaml": jwt, "cors.yaml": sound, "route.yaml": route}
    for file, text in files.items():
        (tree / file).write_text(text)
    assert "error[GWP201]" in run().stdout
    for file, text in files.items():
        (tree / file).write_text(annotated("ignore.policylint.dev/GWP201", "reason", policy=text))
        assert "GWP201" not in run("-o", "concise").stdout, file
        (tree / file).write_text(text.replace("shop}", "shop}  # policylint: ignore[GWP201] reason", 1))
        assert "GWP201" not in run("-o", "concise").stdout, file
        (tree / file).write_text(text)


@pytest.mark.parametrize(
    ("entry", "rules"),
    [
        ("rule: GWP101, resource: SecurityPolicy/shop/cors", ["-GWP101"]),
        ("rule: target-not-found, resource: '*/shop/*'", ["-GWP101"]),
        ("rule: [GWP101], resource: SecurityPolicy.gateway.envoyproxy.io/cors", ["-GWP101"]),
        ("rule: GWP101, resource: SecurityPolicy.example.com/cors", ["GWP101", "GWP901"]),
        ("rule: GWP101, resource: SecurityPolicy/other/*", ["GWP101", "GWP901"]),
        ("rule: GWP101, path: /cors.yaml", ["-GWP101"]),
        ("rule: GWP101, path: '*.yml'", ["GWP101", "GWP901"]),
        ("rule: GWP101, path: '*.yaml', resource: Gateway/shop/edge", ["GWP101", "GWP901"]),
        ("rule: GWP999, path: /cors.yaml", ["GWP101", "GWP902"]),
        ("rule: GWP101, path: /cors.yaml, expires: 2024-01-01", ["GWP101", "GWP904"]),
        ("rule: GWP101, path: /cors.yaml, expires: 2999-01-01", ["-GWP101"]),
    ],
)
@pytest.mark.usefixtures("tree")
def test_suppressions_of_the_configuration(entry: str, rules: list[str]) -> None:
    assert found(config=f"ignore: [{{{entry}, reason: reason}}]\n") == rules


@pytest.mark.usefixtures("tree")
def test_locked_rules_are_suppressed_by_the_configuration_only() -> None:
    locked = "locked: [GWP1]\n"
    assert found(policy=with_comment("# policylint: ignore[GWP101] reason"), config=locked) == ["GWP101", "GWP901"]
    assert found(policy=annotated("ignore.policylint.dev/GWP101", "reason"), config=locked) == ["GWP101", "GWP901"]
    both = f"{locked}ignore: [{{rule: GWP101, path: /cors.yaml, reason: reason}}]\n"
    assert found(policy=POLICY, config=both) == ["-GWP101"]


@pytest.mark.usefixtures("tree")
def test_the_summary_counts_and_verbose_says_where() -> None:
    Path("cors.yaml").write_text(with_comment("# policylint: ignore[GWP101] JWT is elsewhere"))
    result = run("--verbose")
    assert result.exit_code == 0
    assert " · 1 suppressed" in result.stdout
    assert "suppressed GWP101 at cors.yaml:8 by comment at cors.yaml:8: JWT is elsewhere\n" in result.stderr
    assert "suppressed" in run("-o", "markdown").stdout
    assert json.loads(run("-o", "sarif").stdout)["runs"][0]["results"] == []


def test_a_broken_document_does_not_hide_the_comments_of_others() -> None:
    lines = ["a: [", "---", "b: 1  # policylint: ignore[GWP101] reason", ""]
    (found,) = suppressions("x.yaml", lines)
    assert (found.first, found.last, found.reason) == (3, 3, "reason")
