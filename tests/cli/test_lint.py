"""`policylint lint` as users meet it: what it prints where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from policylint.cli.commands import COMMANDS

GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: http, port: 80, protocol: HTTP}
"""
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: checkout, namespace: shop}
spec:
  parentRefs: [{name: edge}]
"""
REDIRECTING = f"{ROUTE}  rules: [{{filters: [{{type: RequestRedirect, requestRedirect: {{scheme: https}}}}]}}]\n"
POLICY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: cors, namespace: shop}
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: chekout
  cors:
    allowOrigins: ["https://www.example.com"]
"""


@pytest.fixture(autouse=True)
def no_colour_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "POLICYLINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one error: the policy's target is misspelt."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    (tmp_path / "route.yaml").write_text(ROUTE)
    (tmp_path / "cors.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def sound(tree: Path) -> Path:
    (tree / "cors.yaml").write_text(POLICY.replace("chekout", "checkout"))
    return tree


def policylint(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert "Traceback" not in result.output
    return result


@pytest.mark.usefixtures("tree")
def test_a_finding_is_exit_code_1() -> None:
    result = policylint("lint", ".")
    assert result.exit_code == 1
    assert result.stdout.startswith("error[GWP101]: ")
    assert "--> cors.yaml:8:13\n" in result.stdout
    assert "^^^^^^^ " in result.stdout
    assert result.stderr == ""


@pytest.mark.usefixtures("sound")
def test_clean_is_exit_code_0_and_says_what_was_looked_at() -> None:
    result = policylint("lint", ".", "--select", "GWP101")
    assert result.exit_code == 0
    assert result.stdout.startswith("0 findings · 1 policy on 1 route, 1 gateway (3 files, ")


def test_without_a_command_it_lints_the_git_root(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / ".git").mkdir()
    (tree / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tree / "deep" / "down")
    for arguments in ((), ("lint",)):
        result = policylint(*arguments)
        assert result.exit_code == 1
        assert "--> ../../cors.yaml:8:13\n" in result.stdout


def test_directory_option_is_that_of_git(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert "--> cors.yaml:8:13\n" in policylint("lint", "-C", str(tree), ".").stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 1),
        (["--fail-on", "note"], 1),
        (["--fail-on", "never"], 0),
        (["--fail-on", "never"], 0),
        (["--ignore", "GWP1"], 0),
        (["--select", "target-not-found"], 1),
        (["--select", "GWP4,GWP5"], 0),
        (["-o", "sarif"], 1),
        (["-o", "json", "--min-severity", "error"], 1),
    ],
)
@pytest.mark.usefixtures("tree")
def test_exit_codes_are_the_same_for_every_format(options: list[str], code: int) -> None:
    assert policylint("lint", ".", *options).exit_code == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lint", "nowhere"], "policylint: no such file or directory: 'nowhere'"),
        (["lint", "--select", "GWP999"], "policylint: unknown rule 'GWP999'"),
        (["lint", "--format", "xml"], "policylint: invalid value for '-o' / '--format': 'xml' is not one of"),
        (["lint", "--output", "sarif"], "policylint: invalid value for --output: 'sarif' is not FORMAT=FILE"),
        (["lint", ".", "--output", "json=no/such/place"], "policylint: cannot write 'no/such/place': no such file"),
        (["lint", ".", "--snapshot", "nowhere"], "policylint: cannot read snapshot 'nowhere'"),
        (["lnt"], "policylint: no such command: 'lnt' (did you mean 'lint'?)"),
        (["route.yaml"], "policylint: no such command: 'route.yaml' (to lint that path: policylint lint route.yaml)"),
        (["rule", "GWP999"], "policylint: no such rule: 'GWP999'"),
        (["rule", "gwp20"], "policylint: no such rule: 'gwp20' (there are GWP201, GWP202, "),
        (["--nonsense"], "policylint: no such option: '--nonsense'\n"),
        (["lint", "--selct", "GWP1"], "policylint: no such option: '--selct' (did you mean '--select'?)\n"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_wrong_usage_is_exit_code_2(arguments: list[str], message: str) -> None:
    result = policylint(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stderr.lower().startswith(message.lower()), result.stderr


def test_nothing_to_check_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    result = policylint("lint", str(tmp_path))
    assert result.exit_code == 0
    assert result.stderr == (
        "no Gateway API manifests in 1 file; run it in the repository's root, or pipe: "
        "helm template … | policylint lint -\n"
    )
    assert policylint("lint", str(tmp_path), "--strict").exit_code == 3


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("traefik.io/v1alpha1, kind: IngressRoute", "2 IngressRoutes of Traefik"),
        ("networking.k8s.io/v1, kind: Ingress", "2 Ingresses"),
        ("apisix.apache.org/v2, kind: ApisixRoute", "2 ApisixRoutes"),
    ],
)
def test_other_ways_in_alone_are_said(tmp_path: Path, kind: str, named: str) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"{{apiVersion: {kind}, metadata: {{name: {name}}}, spec: {{}}}}\n")
    result = policylint("lint", str(tmp_path), "--strict")
    assert result.exit_code == 0
    assert result.stderr == (
        f"no Gateways, routes or policies in 2 files, but {named}: what these name is checked (Services, middlewares, "
        "certificates), and no policy of their own\n"
    )


def test_what_the_api_server_refuses_is_something(tmp_path: Path) -> None:
    kind = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
    (tmp_path / "a.yaml").write_text(f"{kind}metadata: {{name: n, namespace: a}}\nspec: {{}}\n")
    result = policylint("lint", str(tmp_path))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "GWP505" in result.stdout


def test_where_there_are_only_charts_the_way_to_render_them_is_said(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    (tmp_path / "templates" / "route.yaml").write_text("kind: HTTPRoute\nmetadata: {name: {{ .Release.Name }}}\n")
    said = policylint("lint", str(tmp_path)).stderr
    assert said.endswith(
        "no Gateway API manifests in 0 files; 1 Helm template left out (--render helm has your helm render charts)\n"
    )


def test_unread_files_are_exit_code_3_with_strict(sound: Path) -> None:
    (sound / "broken.yaml").write_text("apiVersion: v1\nkind: [\n")
    assert policylint("lint", ".", "--select", "GWP910").exit_code == 0
    result = policylint("lint", ".", "--strict", "--select", "GWP910")
    assert result.exit_code == 3
    assert "error[GWP910]" in result.stdout


def test_one_run_writes_many_formats(tree: Path) -> None:
    result = policylint("lint", ".", "-o", "concise", "--output", "sarif=out.sarif", "--output", "json=out.json")
    assert result.stdout.startswith("cors.yaml:8:13: error[GWP101] ")
    run = json.loads((tree / "out.sarif").read_text())["runs"][0]
    assert {each["ruleId"] for each in run["results"]} >= {"GWP101"}
    found = json.loads((tree / "out.json").read_text())
    assert found["version"] == "json-v1"
    assert found["summary"]["error"] >= 1


def test_sarif_paths_are_below_the_git_root(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / ".git").mkdir()
    (tree / "clusters" / "my prod").mkdir(parents=True)
    (tree / "cors.yaml").rename(tree / "clusters" / "my prod" / "cors.yaml")
    monkeypatch.chdir(tree / "clusters")
    run = json.loads(policylint("lint", "..", "-o", "sarif", "--select", "GWP101").stdout)["runs"][0]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    assert places == ["clusters/my%20prod/cors.yaml"]


@pytest.mark.usefixtures("tree")
def test_colour_only_when_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in policylint("lint", ".").stdout
    assert "\x1b[" in policylint("lint", ".", "--color", "always").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in policylint("lint", ".").stdout
    assert "\x1b[" not in policylint("lint", ".", "--color", "never").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in policylint("lint", ".").stdout


@pytest.mark.usefixtures("tree")
def test_what_was_read_and_how_long_it_took_go_to_stderr() -> None:
    result = policylint("lint", ".", "--verbose", "--timing")
    assert "policylint: read 3 files, 3 documents" in result.stderr
    assert " s  rules\n" in result.stderr
    assert "rules\n" not in result.stdout


@pytest.mark.usefixtures("tree")
def test_timing_tells_the_slowest_rules_first() -> None:
    from policylint.cli.run import by_rule

    result = policylint("lint", ".", "--timing", "--select", "GWP1")
    shown = [line.split() for line in result.stderr.splitlines() if " GWP1" in line or " rules\n" in f"{line}\n"]
    seconds = [float(each[1]) for each in shown if each[3].startswith("GWP")]
    assert seconds == sorted(seconds, reverse=True)
    assert "GWP4" not in result.stderr, "a rule that did not run took no time"
    assert list(by_rule({"GWP101": 0.0111, "GWP201": 0.2, "GWP202": 0.0001, "GWP203": 0.0002})) == [
        "   0.200 s    GWP201 parent-setting-dropped",
        "   0.011 s    GWP101 target-not-found",
        "   0.000 s    2 other rules",
    ]


@pytest.mark.usefixtures("tree")
def test_an_internal_error_is_one_line_and_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oh\nno")

    monkeypatch.setattr("policylint.workspace.open_workspace", broken)
    result = policylint("lint", ".")
    assert result.exit_code == 3
    assert result.stderr.startswith("policylint: internal error: KeyError: ")
    assert result.stderr.count("\n") == 1
    assert ". Please report it" in result.stderr
    monkeypatch.setenv("POLICYLINT_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["lint", "."]).exception, KeyError)


@pytest.mark.usefixtures("tree")
def test_interruption_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("policylint.workspace.open_workspace", interrupted)
    result = policylint("lint", ".")
    assert (result.exit_code, result.output) == (130, "")


@pytest.mark.parametrize("command", [*COMMANDS, "config show"])
def test_help_of_every_command_has_examples_that_fit_the_page(command: str) -> None:
    text = policylint(*command.split(), "--help").stdout
    assert "  Examples:\n    policylint" in text
    assert max(map(len, text.split("\n"))) <= 100


def test_help_shows_options_in_groups() -> None:
    text = policylint("lint", "--help").stdout
    for heading in ("What is read:", "What is reported:", "How it is shown:", "Examples:", "Exit codes:"):
        assert heading in text
    assert max(map(len, text.split("\n"))) <= 100
