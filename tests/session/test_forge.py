"""Links to a forge: from remotes that surely are one, to files that it has as they were read, without credentials."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.session.forge import forge_of, links

COMMIT = "0123456789" * 4
FILE = "shop.yaml"


@pytest.mark.parametrize(
    ("remote", "base"),
    [
        ("https://github.com/shop/clusters.git", "https://github.com/shop/clusters/blob"),
        ("git@github.com:shop/clusters.git", "https://github.com/shop/clusters/blob"),
        ("github.com:shop/clusters", "https://github.com/shop/clusters/blob"),
        (
            "ssh://git@gitlab.example.com:2222/team/sub/clusters.git",
            "https://gitlab.example.com/team/sub/clusters/-/blob",
        ),
        ("https://gitlab.example.com:8443/team/clusters/", "https://gitlab.example.com:8443/team/clusters/-/blob"),
        ("https://gitea.example.com/shop/clusters", "https://gitea.example.com/shop/clusters/src/commit"),
        ("https://codeberg.org/shop/clusters", "https://codeberg.org/shop/clusters/src/commit"),
        ("https://bitbucket.org/shop/clusters", "https://bitbucket.org/shop/clusters/src"),
        ("https://x-access-token:secret@github.com/shop/clusters", "https://github.com/shop/clusters/blob"),
    ],
)
def test_forges_are_told_from_the_remote(remote: str, base: str) -> None:
    forge = forge_of(remote, COMMIT)
    assert forge is not None
    assert forge.base == f"{base}/{COMMIT}/"
    assert forge.line == ("#lines-" if "bitbucket" in base else "#L")


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "../clusters",
        "/srv/git/github.com/shop/clusters.git",
        "C:/github/clusters",
        "file:///github.com/shop/clusters",
        "http://github.com/shop/clusters",
        "javascript://github.com/shop/clusters",
        "javascript:alert(1)//github.com/shop/clusters",
        "https://git.example.com/shop/clusters",
        "https://example.com/github/clusters",
        "https://github.com.example.com/shop/clusters",
        "https://bitbucket.example.com/shop/clusters",
        "https://github.com@example.com/shop/clusters",
        "https://github.com/../clusters/x",
        'https://github.com/shop/clusters"><script>',
        "https://github.com/shop/clusters?x=1",
        "https://github.com/shop/clusters#x",
        "https://github.com/shop/clu sters",
    ],
)
def test_what_is_no_known_forge_gives_no_links(remote: str) -> None:
    assert forge_of(remote, COMMIT) is None


def test_a_commit_is_an_id() -> None:
    assert forge_of("https://github.com/shop/clusters", "main/../..") is None


def git(place: Path, *arguments: str) -> str:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    return subprocess.run(["git", *named, *arguments], cwd=place, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One commit with two files."""
    for name in (FILE, "other.yaml"):
        (tmp_path / name).write_text(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n"
            f"metadata: {{name: {name[:-5]}, namespace: shop}}\nspec: {{gatewayClassName: x, listeners: []}}\n"
        )
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "remote", "add", "origin", "https://user:hunter2secret@github.com/shop/clusters.git")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_only_files_that_are_as_the_commit_has_them_are_linked(repository: Path) -> None:
    (repository / "other.yaml").write_text("changed: true\n")
    (repository / "new.yaml").write_text("a: 1\n")
    found = links(str(repository), "", [FILE, "other.yaml", "new.yaml", "-", "<stdin>", "../outside.yaml"])
    assert found is not None
    assert found.files == {FILE: FILE}
    commit = git(repository, "rev-parse", "HEAD").strip()
    assert found.forge.base == f"https://github.com/shop/clusters/blob/{commit}/"
    of_commit = links(str(repository), "HEAD", [FILE, "other.yaml"])
    assert of_commit is not None
    assert set(of_commit.files) == {FILE, "other.yaml"}


def test_the_page_holds_the_address_and_no_credentials(repository: Path) -> None:
    written = CliRunner().invoke(main, ["graph", "-o", "html"]).output
    assert "hunter2secret" not in written
    data = json.loads(written.partition('id="data">')[2].partition("</script>")[0])
    assert data["forge"]["base"].startswith("https://github.com/shop/clusters/blob/")
    assert data["forge"]["files"] == {FILE: FILE, "other.yaml": "other.yaml"}
    git(repository, "remote", "remove", "origin")
    again = CliRunner().invoke(main, ["graph", "-o", "html"]).output
    assert json.loads(again.partition('id="data">')[2].partition("</script>")[0])["forge"] is None
