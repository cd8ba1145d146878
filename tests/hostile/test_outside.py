"""Links, `..` and absolute paths of a stranger's repository: nothing outside is read into an output, or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diff.history import commit, run
from tests.hostile.test_action import GATEWAY, POLICY
from tests.render.trees import KUSTOMIZATION, ROUTE

SECRET = "s3cret-token"
OUTSIDE = ROUTE.replace("name: shop", f"name: {SECRET}")
COMMANDS = (
    ("lint", "."), ("lint", ".", "-o", "json"), ("lint", ".", "-o", "sarif"), ("lint", ".", "--strict"),
    ("lint", ".", "--render", "off"), ("simulate", ".", "-o", "yaml"), ("graph", "."), ("list", "routes"),
    ("lint",), ("baseline", "--file", "accepted.json"),
)  # fmt: skip


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is nobody's to read, with a file of manifests."""
    place = tmp_path / "outside"
    place.mkdir()
    (place / "secret.yaml").write_text(OUTSIDE)
    (place / "kustomization.yaml").write_text(KUSTOMIZATION + "resources: [secret.yaml]\n")
    (place / "Chart.yaml").write_text(f"name: {SECRET}\nversion: 1\n")
    return place


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    commit(place, {"gateway.yaml": GATEWAY, "a.yaml": POLICY.replace("NAME", "edge")})
    with (place / ".git" / "config").open("a") as config:
        config.write(f'[http]\n\textraheader = "AUTHORIZATION: {SECRET}"\n')
    return place


LINKS = {
    "a file": {"link.yaml": "OUT/secret.yaml"},
    "a directory": {"linked": "OUT"},
    "a kustomization": {"kustomization.yaml": "OUT/kustomization.yaml"},
    "a file relative": {"link.yaml": "../outside/secret.yaml"},
    "a chain": {"one.yaml": "two.yaml", "two.yaml": "OUT/secret.yaml"},
    "git's own files": {"config.yaml": ".git/config", "git": ".git"},
    "the configuration": {".policylint.yaml": "OUT/secret.yaml"},
    "git's configuration as ours": {".policylint.yaml": ".git/config"},
}


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("links", LINKS.values(), ids=LINKS)
def test_no_link_is_followed_out(tree: Path, outside: Path, links: dict[str, str], arguments: tuple[str, ...]) -> None:
    for name, target in links.items():
        (tree / name).symlink_to(target.replace("OUT", str(outside)))
    commit(tree, {})
    _, out, err = run(tree, *arguments)
    assert SECRET not in out + err
    written = tree / "accepted.json"
    assert not written.exists() or SECRET not in written.read_text()


NAMED = {
    "resources": "resources: [gateway.yaml, PATH/secret.yaml, PATH]\n",
    "components": "resources: [gateway.yaml]\ncomponents: [PATH]\n",
    "patches": "resources: [gateway.yaml]\npatches: [{path: PATH/secret.yaml}]\n",
    "a generator": "resources: [gateway.yaml]\nconfigMapGenerator: [{name: c, files: [PATH/secret.yaml]}]\n",
    "replacements": "resources: [gateway.yaml]\nreplacements: [{path: PATH/secret.yaml}]\n",
    "configurations": "resources: [gateway.yaml]\nconfigurations: [PATH/secret.yaml]\n",
    "a chart": "resources: [gateway.yaml]\nhelmGlobals: {chartHome: PATH}\nhelmCharts: [{name: '.'}]\n",
}


@pytest.mark.parametrize("text", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("path", ["ABSOLUTE", "../outside", "linked"])
def test_no_kustomization_names_a_way_out(tree: Path, outside: Path, path: str, text: str) -> None:
    (tree / "linked").symlink_to(outside)
    commit(tree, {"kustomization.yaml": KUSTOMIZATION + text.replace("PATH", path.replace("ABSOLUTE", str(outside)))})
    for arguments in (("lint", "."), ("simulate", ".", "-o", "yaml"), ("diff", "HEAD^1..HEAD", "-o", "json")):
        code, out, err = run(tree, *arguments)
        assert code in (0, 1)
        assert SECRET not in (out + err).replace(str(outside), "")


def test_what_an_annotation_names_is_not_opened(tree: Path, outside: Path) -> None:
    """kustomize's origin annotation can be written by hand."""
    (outside / "same.yaml").write_text(ROUTE.replace("shop.example.com", SECRET))
    annotated = "metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      path: PATH\n  name:"
    text = ROUTE.replace("metadata:\n  name:", annotated)
    assert text != ROUTE
    for path in ("../outside/same.yaml", str(outside / "same.yaml"), ".git/config"):
        commit(tree, {"route.yaml": text.replace("PATH", path)})
        for arguments in (("lint", "."), ("simulate", ".", "-o", "json"), ("explain", "HTTPRoute/shop")):
            _, out, err = run(tree, *arguments)
            assert SECRET not in out + err
            assert "outside/same.yaml" not in out


@pytest.mark.parametrize("path", ["../outside", "ABSOLUTE", "linked", "linked/../linked", ".git"])
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("paths: [PATH]\n", "1:9"),
        ("snapshot: PATH\n", "1:11"),
        ("baseline: PATH\n", "1:11"),
        ("environments: [{name: prod, roots: [gateways, PATH]}]\n", "1:47"),
    ],
)
def test_no_path_of_the_configuration_leads_out(tree: Path, outside: Path, text: str, column: str, path: str) -> None:
    (tree / "linked").symlink_to(outside)
    path = path.replace("ABSOLUTE", str(outside))
    commit(tree, {".policylint.yaml": text.replace("PATH", path)})
    for arguments in (("lint",), ("baseline",), ("simulate",), ("diff", "HEAD^1..HEAD")):
        code, _, err = run(tree, *arguments)
        said = f"policylint: .policylint.yaml:{column}: '{path}' leads out of the repository"
        assert (code, err.removesuffix(" (the configuration of HEAD)\n").rstrip()) == (2, said)


def test_a_configuration_of_the_user_may_name_what_it_likes(tree: Path, outside: Path, tmp_path: Path) -> None:
    (outside / "dump.yaml").write_text(GATEWAY)
    (tmp_path / "mine.yaml").write_text("snapshot: outside/dump.yaml\n")
    assert run(tree, "lint", ".", "--config", str(tmp_path / "mine.yaml"))[0] == 0


def test_a_path_that_the_user_names_is_not_moved_by_a_link(tree: Path, outside: Path) -> None:
    """`path: clusters` of the action, and a pull request that makes `clusters` a link."""
    (tree / "clusters").symlink_to(outside)
    commit(tree, {})
    for path in ("clusters", "clusters/secret.yaml", "./clusters/"):
        code, out, err = run(tree, "lint", path)
        assert (code, out) == (2, "")
        assert "is a symbolic link out of the repository, which is not followed" in err
        assert SECRET not in run(tree, "diff", "HEAD^1..HEAD", path)[1]
    assert SECRET in run(tree, "simulate", str(outside))[1], "the place itself may be named"


@pytest.mark.parametrize(
    "target", ["OUT/new", "OUT/secret.yaml", ".git/hooks/pre-commit", "../outside/new", "gateway.yaml", "new.yaml"]
)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (".policylint.yaml", ("init", "--force")),
        (".policylint-baseline.json", ("baseline",)),
        ("report.md", ("lint", ".", "--no-config", "--output", "markdown=report.md")),
        ("report.json", ("diff", "HEAD..", "--no-config", "--output", "json=report.json")),
        ("deep/report.svg", ("graph", ".", "--no-config", "--output", "svg=deep/report.svg")),
    ],
)
def test_nothing_is_written_through_a_link(
    tree: Path, outside: Path, name: str, arguments: tuple[str, ...], target: str
) -> None:
    before = {file: file.read_bytes() for file in outside.iterdir()}
    link = tree / name
    if link.parent != tree:
        target = {"OUT": str(outside), "..": str(outside), ".g": ".git"}.get(target[:3].rstrip("/"), "apps")
        (tree / "apps").mkdir()
        link.parent.symlink_to(target)
    else:
        link.symlink_to(target.replace("OUT", str(outside)))
    code, _, err = run(tree, *arguments)
    assert code == 2
    assert "its path goes through a symbolic link in the repository" in err
    assert (tree / "gateway.yaml").read_text() == GATEWAY
    assert not (tree / "new.yaml").exists()
    assert not (tree / "apps/report.svg").exists()
    assert {file: file.read_bytes() for file in outside.iterdir()} == before
    assert not (tree / ".git/hooks/pre-commit").exists()
    assert not (tree / ".git/report.svg").exists()


@pytest.mark.parametrize("arguments", [("--fix",), ("--fix", "--unsafe-fixes"), ("--add-ignore", "for now")])
def test_no_edit_leaves_the_repository(tree: Path, outside: Path, arguments: tuple[str, ...]) -> None:
    (outside / "policy.yaml").write_text(POLICY.replace("NAME", "egde"))
    before = (outside / "policy.yaml").read_bytes()
    (tree / "policy.yaml").symlink_to(outside / "policy.yaml")
    (tree / "linked").symlink_to(outside)
    for path in (".", "policy.yaml", "linked"):
        run(tree, "lint", path, *arguments)
    assert (outside / "policy.yaml").read_bytes() == before


@pytest.mark.parametrize("arguments", [("--fix", "--unsafe-fixes"), ("--add-ignore", "for now")])
def test_no_edit_goes_through_a_link_of_the_tree(tree: Path, arguments: tuple[str, ...]) -> None:
    """`scripts/run` under another name is no manifest, and is not written to because a manifest's name leads there."""
    (tree / "script").write_text(POLICY.replace("NAME", "egde"))
    before = (tree / "script").read_bytes()
    (tree / "policy.yaml").symlink_to("script")
    (tree / "direct.yaml").write_text(POLICY.replace("NAME", "egde").replace("retries", "others"))
    assert "egde" in run(tree, "lint", "-o", "json")[1]
    run(tree, "lint", *arguments)
    assert (tree / "script").read_bytes() == before
    assert (tree / "direct.yaml").read_bytes() != before, "what is no link is edited"


def test_a_tree_without_git_has_no_links_to_write_through_either(outside: Path, tmp_path: Path) -> None:
    place = tmp_path / "unpacked"
    place.mkdir()
    (place / "gateway.yaml").write_text(GATEWAY)
    (place / ".policylint-baseline.json").symlink_to(outside / "new")
    code, _, err = run(place, "baseline")
    assert (code, "its path goes through a symbolic link in the repository" in err) == (2, True)
    assert not (outside / "new").exists()
    (tmp_path / "mine").symlink_to(outside)
    assert run(place, "baseline", "--to", str(tmp_path / "mine/accepted.json"))[0] == 0, "a link of the user"
