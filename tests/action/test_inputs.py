"""The inputs that say what is compared, and how: environments, rendered manifests, further options."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.action.test_action import Runner, pytestmark
from tests.diff.history import MAKE, ROOT, commit
from tests.hostile.test_action import GATEWAY, POLICY
from tests.worlds import gateway, gateway_class, route

__all__ = ["pytestmark"]
EXAMPLE = ROOT / "fixtures" / "diff-example"
DANGLING = POLICY.replace("NAME", "egde")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A checkout with two environments, of which `a` has an error."""
    place = tmp_path / "checkout"
    config = "environments: [{name: a, roots: [a]}, {name: b, roots: [b]}]\n"
    commit(place, {".policylint.yaml": config, "a/all.yaml": f"{GATEWAY}---\n{DANGLING}", "b/all.yaml": GATEWAY})
    return Runner(tmp_path, place)


def linted(runner: Runner, **given: str) -> dict[str, str]:
    return runner.report(GITHUB_EVENT_NAME="workflow_dispatch", **given)


def rendered(runner: Runner, **given: str) -> dict[str, str]:
    """Compare two directories of manifests that the job made outside of the checkout, as a pull request's."""
    for side in ("before", "after"):
        shutil.copytree(EXAMPLE / side, runner.temp / side, dirs_exist_ok=True)
    places = {f"PL_RENDERED_{side.upper()}": str(runner.temp / side) for side in ("before", "after")}
    return runner.report(**places | given)


@pytest.mark.parametrize(("names", "code"), [("", "1"), ("b", "0"), (" b\n a ", "1"), ("c", "2"), ("--help", "2")])
def test_environments(runner: Runner, names: str, code: str) -> None:
    assert linted(runner, PL_ENVIRONMENTS=names)["exit-code"] == code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("", "1"),
        ("--ignore GWP101", "0"),
        ("--ignore\n  'GWP101'  --render \"off\"", "0"),
        ("--no-config $(touch pwned)", "2"),
        ("; touch pwned; `touch pwned` | touch pwned", "2"),
        ("-- --no-config", "2"),
    ],
)
def test_further_options_are_words_and_no_commands(runner: Runner, words: str, code: str) -> None:
    assert linted(runner, PL_ARGS=words)["exit-code"] == code
    assert not list(runner.directory.parent.rglob("*pwned*"))


def test_an_open_quotation_is_said_in_one_line(runner: Runner) -> None:
    done = runner.script("run.sh", PL_ARGS="--ignore 'GWP101")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == "::error::policylint: a quotation mark in the input args is not closed\n"


@pytest.fixture
def plain(runner: Runner) -> Runner:
    """The same without a configuration: its environments are directories of the checkout."""
    commit(runner.directory, {".policylint.yaml": None})
    return runner


def test_rendered_manifests_take_the_place_of_revisions(plain: Runner) -> None:
    for event in ("pull_request", "workflow_dispatch"):
        outputs = rendered(plain, GITHUB_EVENT_NAME=event, PL_BASE="HEAD" if event == "pull_request" else "")
        assert (outputs["exit-code"], outputs["new-findings"], outputs["routes-changed"]) == ("1", "1", "1")
        assert "GWP201" in plain.summary.read_text()
        assert "/blob/" not in Path(outputs["comment-file"]).read_text(), "the repository has no such files"
        plain.output.unlink()


def test_rendered_manifests_of_the_repository_are_linked_to(plain: Runner) -> None:
    for side in ("before", "after"):
        shutil.copytree(EXAMPLE / side, plain.directory / "out" / side)
    MAKE.git(plain.directory, "add", "-A")
    outputs = plain.report(PL_RENDERED_BEFORE="out/before", PL_RENDERED_AFTER="out/after", PL_BASE="HEAD")
    assert outputs["new-findings"] == "1"
    assert f"/blob/{'feed' * 10}/out/after/checkout-cors.yaml#L" in Path(outputs["comment-file"]).read_text()


@pytest.mark.parametrize("given", [{"PL_PATH": "a b"}, {"PL_RENDERED_AFTER": ""}, {"PL_RENDERED_AFTER": "nowhere"}])
def test_what_does_not_go_together_is_refused(runner: Runner, given: dict[str, str]) -> None:
    assert rendered(runner, **{"PL_BASE": "HEAD"} | given)["exit-code"] == "2"


@pytest.mark.parametrize("name", [".policylint.yaml", "pyproject.toml"])
def test_rendered_manifests_are_judged_by_the_configuration_of_the_base(plain: Runner, name: str) -> None:
    """Git knows no side before of them; the pull request does not choose its judge all the same."""
    ignoring = {
        ".policylint.yaml": "ignore: [GWP201, GWP302]\n",
        "pyproject.toml": '[tool.policylint]\nignore = ["GWP201", "GWP302"]\n',
    }[name]
    commit(plain.directory, {"c.yaml": GATEWAY, name: ignoring})
    assert rendered(plain, PL_BASE="HEAD^1")["exit-code"] == "1"
    plain.output.unlink()
    assert rendered(plain, PL_BASE="HEAD")["exit-code"] == "0"


@pytest.mark.parametrize(("charts", "code"), [("charts", "1"), ("charts with", "0"), ("nowhere", "2")])
def test_charts_that_the_job_rendered(runner: Runner, charts: str, code: str) -> None:
    """A policy for the route of a chart: missing where the chart makes none, and was not there before either."""
    release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cart, namespace: shop}\n"
    flux = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\n"
    )
    flux += "spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}\n"
    tree = {
        "clusters/prod/a.yaml": flux,
        "apps/release.yaml": release
        + "spec: {chart: {spec: {chart: cart, sourceRef: {kind: HelmRepository, name: x}}}}\n",
    }
    policy = (
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: cors, namespace: shop}\n"
    )
    tree["apps/edge.yaml"] = "---\n".join(
        (gateway_class(), gateway(namespace="shop"), route("other", parents="[{name: edge}]"))
    )
    policy += "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}], cors: {}}\n"
    made = "apiVersion: v1\nkind: Service\nmetadata: {name: cart}\nspec: {ports: [{port: 80}]}\n"
    made_route = route("cart", parents="[{name: edge}]")
    runner.directory = runner.directory.parent / "charted"
    commit(runner.directory, tree)
    commit(runner.directory, {"apps/cors.yaml": policy})
    for name, text in (("charts", made), ("with", f"{made}---\n{made_route}")):
        (runner.directory / name / "shop").mkdir(parents=True)
        (runner.directory / name / "shop" / "cart.yaml").write_text(text)
    assert runner.report(PL_CHARTS=charts)["exit-code"] == code
