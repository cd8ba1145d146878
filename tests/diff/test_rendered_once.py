"""What the sides of a diff share of rendering changes nothing of what it says; helm is run once for equal input."""

from __future__ import annotations

import shutil
import stat
from itertools import pairwise
from pathlib import Path

import pytest

from policylint.load.shared_facts import SharedFacts
from policylint.render.shared import Shared
from policylint.session import diff as diff_sides
from policylint.workspace import open_workspace
from tests.diff.history import commit, run, steady
from tests.diff.test_trees import TREES, edited
from tests.nightly import NIGHTLY, sampled
from tests.render.trees import FIXTURES, written

FORMATS = ("json-v1", "markdown", "sarif")
WORLDS = sorted(each for each in FIXTURES.iterdir() if any(each.rglob("*.yaml")))


def told(directory: Path, out: Path, *arguments: str) -> dict[str, str]:
    out.mkdir(exist_ok=True)
    outputs = [part for form in FORMATS for part in ("--output", f"{form}={out / form}")]
    code, text, err = run(directory, "diff", *arguments, "--show-unknown", *outputs)
    assert "Traceback" not in err
    found = {form: steady((out / form).read_text(encoding="utf-8")) for form in FORMATS}
    return {"code": str(code), "text": steady(text), "err": err, **found}


def assert_same(directory: Path, out: Path, *arguments: str) -> None:
    """Hold a diff whose sides share what was rendered against one whose sides share nothing, in every format."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff_sides, "Shared", lambda: None)
        alone = told(directory, out, *arguments)
    assert told(directory, out, *arguments) == alone


def repository(place: Path, world: Path) -> list[str]:
    """The ids of three commits: a world, and two times the same after careless edits."""
    found = []
    for seed in (None, 0, 1):
        for each in place.iterdir() if place.exists() else ():
            if each.name != ".git":
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        made = place.parent / f"{place.name}-{seed}"
        if seed is None:
            shutil.copytree(world, made, symlinks=True)
        else:
            edited(world, made, seed)
        shutil.copytree(made, place, symlinks=True, dirs_exist_ok=True)
        found.append(commit(place, {}))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("world", [*WORLDS, *sampled(TREES, "rendered once")], ids=lambda each: each.name)
def test_it_says_the_same(world: Path, tmp_path: Path) -> None:
    place = tmp_path / "repository"
    first, second, third = repository(place, world)
    spans = [f"{first}..{second}", *([f"{third}..{first}", first] if world in WORLDS else [])]
    for span in spans if NIGHTLY else spans[[*WORLDS, *TREES].index(world) % len(spans) :][:1]:
        assert_same(place, tmp_path / "out", span)


def test_it_says_the_same_of_every_commit_of_the_history(history: tuple[Path, list[str]], tmp_path: Path) -> None:
    directory, commits = history
    for one, other in pairwise(commits):
        assert_same(directory, tmp_path / "out", f"{one}..{other}")


ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: NAME}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: ["NAME.${DOMAIN}"]
"""
KUSTOMIZATION = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec:
  path: ./apps/NAME
  targetNamespace: NAME
  commonMetadata: {labels: {app: NAME}}
  postBuild: {substitute: {DOMAIN: example.com}}
  sourceRef: {kind: GitRepository, name: flux-system}
"""
FLUX: dict[str, str | None] = {
    f"{place}/{name}.yaml": text.replace("NAME", name)
    for name in ("one", "two")
    for place, text in ((f"apps/{name}", ROUTE), ("clusters/prod", KUSTOMIZATION))
}


@pytest.mark.parametrize(
    ("old", "new", "host", "label"),
    [
        ("example.com", "example.org", "one.example.org", "one"),
        ("{labels: {app: NAME}}", "{labels: {app: other}}", "one.example.com", "other"),
        ("postBuild", "# postBuild", "one.${DOMAIN}", "one"),
    ],
)
def test_what_is_filled_in_after_the_build_is_the_second_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, host: str, label: str
) -> None:
    monkeypatch.chdir(written(tmp_path, {path: str(text) for path, text in FLUX.items()}))
    shared_facts, shared = SharedFacts(), Shared()
    found = []
    for text in (KUSTOMIZATION, KUSTOMIZATION.replace(old, new)):
        written(tmp_path, {"clusters/prod/one.yaml": text.replace("NAME", "one")})
        (side,) = open_workspace(["."], shared_facts=shared_facts, shared=shared).simulations
        found.append(
            {each.key.name: (each.body["spec"]["hostnames"], each.body["metadata"]["labels"]["app"])
             for each in side.world.resources.values() if each.key.kind == "HTTPRoute"}
        )  # fmt: skip
    other = (["two.example.com"], "two")
    assert found == [{"one": (["one.example.com"], "one"), "two": other}, {"one": ([host], label), "two": other}]


HELM = """#!/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin
for last; do :; done
echo "$@" >> "$(dirname "$0")/calls"
printf -- '---\\n# Source: shop/templates/route.yaml\\n'
cat "$last/templates/route.yaml"
"""
INFLATED = "helmGlobals: {chartHome: ../charts}\nhelmCharts: [{name: shop, releaseName: shop}]\n"
CHART: dict[str, str | None] = {
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "charts/shop/templates/route.yaml": ROUTE.replace("NAME", "shop"),
    "charts/shop/values.yaml": "a: b\n",
    "apps/kustomization.yaml": INFLATED,
}


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({"README.md": "text\n"}, 1),
        ({"charts/shop/values.yaml": "a: c\n"}, 2),
        ({"charts/shop/templates/notes.txt": "text\n"}, 2),
        ({"apps/kustomization.yaml": INFLATED.replace("releaseName: shop", "releaseName: x")}, 2),
    ],
    ids=["nothing", "values", "a file of the chart", "the release"],
)  # fmt: skip
def test_helm_is_run_once_for_what_both_sides_give_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str | None], calls: int
) -> None:
    program = written(tmp_path, {"bin/helm": HELM}) / "bin/helm"
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    directory = tmp_path / "repository"
    first, second = commit(directory, CHART), commit(directory, changes)
    code, _, err = run(directory, "diff", f"{first}..{second}", "--render", "helm")
    assert (code, err) == (0, "")
    assert len((tmp_path / "bin/calls").read_text().splitlines()) == calls
    assert_same(directory, tmp_path / "out", f"{first}..{second}", "--render", "helm")


def test_a_chart_that_cannot_be_rendered_is_noted_on_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = written(tmp_path, {"bin/helm": "#!/bin/sh\necho 'Error: no' >&2\nexit 1\n"}) / "bin/helm"
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    directory = tmp_path / "repository"
    first, second = commit(directory, CHART), commit(directory, {"README.md": "text\n"})
    assert_same(directory, tmp_path / "out", f"{first}..{second}", "--render", "helm")
