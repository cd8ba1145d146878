"""`--render helm` over a chart and releases that a stranger wrote, with a stand-in that records what it is given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policylint.render.helm.program import HelmError, template
from policylint.render.sandbox import OutsideError, path_below, write_below
from policylint.workspace import Workspace, open_workspace
from tests.diff.history import commit, run
from tests.render.test_charts import CHART, FLUX, GATEWAY, RELEASE
from tests.render.test_helm import PRINTED, stand_in
from tests.render.trees import written

CHART_FILES = {"chart/Chart.yaml": b"name: x\nversion: 1\n"}
OPTIONS = ("--post-renderer=bash", "--kubeconfig", "-n", "--set-file=a=/etc/passwd", "--dependency-update", "-")
NOT_NAMES = (*OPTIONS, "a b", "A", "../x", "/etc", "", "a\n--debug", "x" * 300, "a/../../b", "\0")


@pytest.fixture
def helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which the stand-in records its arguments (`calls`)."""
    return stand_in(tmp_path / "bin", monkeypatch, PRINTED)


def rendered(place: Path, files: dict[str, str]) -> Workspace:
    return open_workspace([str(written(place, files))], render="helm")


def quoted(name: str) -> str:
    return '"' + name.replace("\n", "\\n").replace("\0", "\\0") + '"'


def arguments(helm: Path) -> list[str]:
    """What helm was given; nothing where it was not started."""
    return (helm / "calls").read_text().splitlines() if (helm / "calls").exists() else []


@pytest.mark.parametrize("name", NOT_NAMES)
@pytest.mark.parametrize("field", ["name", "namespace"])
def test_a_name_that_is_none_is_never_an_argument(tmp_path: Path, helm: Path, field: str, name: str) -> None:
    value = {"name": "front", "namespace": "shop"}[field]
    release = RELEASE.replace(f"{field}: {value}", f"{field}: {quoted(name)}", 1)
    rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": release})
    given = arguments(helm)
    assert name not in given
    if given:  # a release without a namespace, or a name, of its own
        assert given[given.index("--") + 1] not in OPTIONS
        assert not any(each.startswith(("--post", "--kubeconfig", "--set-file", "--dep")) for each in given)


@pytest.mark.parametrize("name", [name for name in NOT_NAMES if name])
def test_helm_refuses_what_kubernetes_does_not_allow(helm: Path, name: str) -> None:
    for release, namespace in ((name, "shop"), ("front", name)):
        with pytest.raises(HelmError, match="is no name that Kubernetes allows"):
            template(CHART_FILES, "chart", release, namespace, [])
    assert arguments(helm) == []


APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: front, namespace: argocd}
spec:
  destination: {namespace: shop, name: prod}
  source:
    repoURL: https://example.com/x
    path: charts/shop
    helm:
      releaseName: "--post-renderer=bash"
      parameters:
        - {name: --set-file=x, value: /etc/passwd}
        - {name: "a\\0b", value: x}
"""


def test_an_application_names_no_options(tmp_path: Path, helm: Path) -> None:
    rendered(tmp_path / "tree", {**CHART, "apps/front.yaml": APPLICATION})
    assert arguments(helm) == []
    plain = APPLICATION.replace("--post-renderer=bash", "front").replace('        - {name: "a\\0b", value: x}\n', "")
    rendered(tmp_path / "other", {**CHART, "apps/front.yaml": plain})
    given = arguments(helm)
    assert "--set=--set-file=x=/etc/passwd" in given, "a value that is odd, and no flag"
    assert not any(each.startswith(("--set-file", "--post-renderer")) for each in given)


KUSTOMIZATION = "helmGlobals: {{chartHome: {home}}}\nhelmCharts: [{{name: {name}, releaseName: {release}}}]\n"


@pytest.mark.parametrize(
    ("home", "name", "release"),
    [
        ("charts", "shop", "--post-renderer=bash"),
        ("../outside", "shop", "front"),
        ("/etc", "shop", "front"),
        ("charts", "../../outside/shop", "front"),
    ],
)
def test_charts_of_kustomizations_stay_in_the_tree(
    tmp_path: Path, helm: Path, home: str, name: str, release: str
) -> None:
    written(tmp_path / "outside", {"shop/Chart.yaml": "name: shop\nversion: 1\n"})
    text = KUSTOMIZATION.format(home=home, name=name, release=release)
    own = CHART if (home, name) == ("charts", "shop") else {}  # a chart of the tree is rendered for itself
    rendered(tmp_path / "tree", {**own, "kustomization.yaml": text, "gateway.yaml": GATEWAY})
    assert arguments(helm) == []


@pytest.mark.parametrize("name", ["../../../escaped", "..", ".", "a/b", "/tmp/escaped", "a\\b", "-x", ""])
def test_a_dependency_is_written_below_the_chart_or_not_at_all(tmp_path: Path, helm: Path, name: str) -> None:
    """Its name is that of a directory: `../../x` was written where the name says."""
    record = tmp_path / "files"
    program = helm / "helm"
    listing = f'for last; do :; done; cd "$last/.."; find .. -type f | sort > "{record}"\n'
    program.write_text(program.read_text().replace("cat <<'END'", f"{listing}cat <<'END'", 1))
    chart = (
        f"apiVersion: v2\nname: shop\nversion: 1\ndependencies: [{{name: {quoted(name)}, repository: file://../lib}}]\n"
    )
    files = {
        **FLUX,
        "charts/shop/Chart.yaml": chart.replace("\\b", "\\\\b"),
        "charts/lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1\n",
        "charts/lib/evil.pth": "import os\n",
        "clusters/prod/shop.yaml": RELEASE,
    }
    before = set(tmp_path.rglob("*.pth"))
    rendered(tmp_path / "tree", files)
    listed = record.read_text().split()
    assert "../charts/shop/Chart.yaml" in listed
    assert not any("evil.pth" in path for path in listed)
    assert set(tmp_path.rglob("*.pth")) - before == {tmp_path / "tree/charts/lib/evil.pth"}


def test_files_of_charts_cannot_leave_the_copy(helm: Path) -> None:
    for path in ("../x", "chart/../../x", "/etc/x", "chart//x", "chart/./x", "chart/\0"):
        with pytest.raises(HelmError, match="leads out of the tree"):
            template({**CHART_FILES, path: b""}, "chart", "front", "shop", [])
    with pytest.raises(HelmError, match="leads out of the tree"):
        template(CHART_FILES, "../chart", "front", "shop", [])
    with pytest.raises(HelmError, match="cannot be copied"):
        template({**CHART_FILES, "chart/Chart.yaml/x": b""}, "chart", "front", "shop", [])
    with pytest.raises(HelmError, match="cannot be copied"):
        template({**CHART_FILES, "x" * 300: b""}, "chart", "front", "shop", [])
    assert arguments(helm) == []


def test_what_helm_gets_to_know(tmp_path: Path, helm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials, no plugins, no kubeconfig, and none of what an attacker's workflow could have set."""
    program = helm / "helm"
    program.write_text(program.read_text().replace("cat <<'END'", f"env > {tmp_path}/env\ncat <<'END'", 1))
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "KUBECONFIG", "HELM_PLUGINS", "SSH_AUTH_SOCK", "PYTHONPATH"):
        monkeypatch.setenv(name, "s3cret")
    rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    known = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert "s3cret" not in known.values()
    assert known["KUBECONFIG"] == os.devnull
    assert known["HOME"] == known["HELM_PLUGINS"] != os.environ["HOME"]


def test_safe_paths(tmp_path: Path) -> None:
    assert path_below("/a", "b/c") == "/a/b/c"
    write_below(str(tmp_path), "b/c", b"x")
    assert (tmp_path / "b/c").read_bytes() == b"x"
    for path in ("", "/", "..", "b/..", "b/../c", "./b", "b/", "\0"):
        with pytest.raises(OutsideError):
            path_below("/a", path)


@pytest.mark.parametrize("render", ["helm", "external"])
@pytest.mark.parametrize("command", ["lint .", "diff HEAD..", "explain Gateway/edge", "simulate", "graph"])
def test_the_configuration_of_the_tree_starts_no_program(tmp_path: Path, helm: Path, render: str, command: str) -> None:
    """It is the pull request's; the flag and the environment are not."""

    kustomizations = {
        "vars/kustomization.yaml": "resources: [gateway.yaml]\nvars: [{name: X}]\n",
        "vars/gateway.yaml": GATEWAY,
    }
    tree = {**FLUX, "clusters/prod/shop.yaml": RELEASE, **kustomizations, ".policylint.yaml": f"render: {render}\n"}
    commit(tmp_path / "tree", dict(tree))
    commit(tmp_path / "tree", {"more.yaml": GATEWAY.replace("edge", "more")})
    for name in ("kubectl", "kustomize"):
        (helm / name).write_text((helm / "helm").read_text())
        (helm / name).chmod(0o755)
    code, _, said = run(tmp_path / "tree", *command.split())
    assert arguments(helm) == []
    assert code in (0, 1)
    assert said.count(f"policylint: .policylint.yaml:1:9: a configuration file may not start programs: `{render}`") == 1
    if render == "helm":
        for given in ({"POLICYLINT_RENDER": "helm"}, {}):
            (helm / "calls").unlink(missing_ok=True)
            option = () if given else ("--render", "helm")
            assert "may not start" not in run(tmp_path / "tree", *command.split(), *option, **given)[2]
            assert arguments(helm)[0] == "template"
