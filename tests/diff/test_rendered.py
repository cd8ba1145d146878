"""Two directories of rendered manifests are two states of one tree: a file is the same file on both sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.diff.history import commit, run
from tests.worlds import gateway, grant, route

GATEWAY = gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="envoy")
ROUTE = route("web", parents="[{name: edge}]")


def tree(directory: Path, **files: str) -> None:
    directory.mkdir(parents=True)
    for name, text in files.items():
        (directory / f"{name}.yaml").write_text(text)


@pytest.mark.parametrize("before", ["old", "old/", "./old"])
def test_findings_about_files_are_matched(tmp_path: Path, before: str) -> None:
    """A file that is broken on both sides is neither new nor fixed (it has no object to be matched by)."""
    broken = "kind: A\na: [\n"
    tree(tmp_path / "old", gateway=GATEWAY, broken=broken)
    tree(tmp_path / "new", gateway=GATEWAY, broken=broken, worse=broken)
    _, out, _ = run(tmp_path, "diff", "--rendered-before", before, "--rendered-after", "new", "-o", "json-v1")
    states = {each["location"]["file"]: each["state"] for each in json.loads(out)["findings"]}
    assert states == {"new/broken.yaml": "unchanged", "new/worse.yaml": "new"}


def test_from_inside_one_of_them(tmp_path: Path) -> None:
    for name in ("old", "new"):
        tree(tmp_path / name, gateway=GATEWAY, broken="kind: A\na: [\n")
    _, out, _ = run(tmp_path / "new", "diff", "--rendered-before", "../old", "--rendered-after", ".", "-o", "json-v1")
    assert {each["state"] for each in json.loads(out)["findings"]} == {"unchanged"}


def test_a_new_finding_stands_on_a_line_that_the_change_touches(tmp_path: Path) -> None:
    """The second ReferenceGrant is what the change brings; the first one, which counts, was there before."""
    later = grant("x", "{group: '', kind: A, namespace: b}", "{group: '', kind: Service}")
    tree(tmp_path / "old", gateway=GATEWAY, later=later)
    tree(tmp_path / "new", gateway=GATEWAY, later=later, first=later)
    _, out, _ = run(tmp_path, "diff", "--rendered-before", "old", "--rendered-after", "new", "-o", "json-v1")
    (found,) = [each for each in json.loads(out)["findings"] if each["rule"] == "GWP503"]
    assert (found["state"], found["location"]["file"]) == ("new", "new/first.yaml")


def test_files_that_differ_are_counted(tmp_path: Path) -> None:
    tree(tmp_path / "old", gateway=GATEWAY, route=ROUTE)
    tree(tmp_path / "new", gateway=f"# a comment\n{GATEWAY}", route=ROUTE)
    _, out, _ = run(tmp_path, "diff", "--rendered-before", "old", "--rendered-after", "new")
    assert "(1 file differs)" in out


@pytest.mark.parametrize(("text", "files"), [(GATEWAY, 0), (GATEWAY.replace("edge", "front"), 1)])
def test_ends_of_lines_that_git_writes_itself_make_no_file_another_one(tmp_path: Path, text: str, files: int) -> None:
    commit(tmp_path, {"edge.yaml": GATEWAY, "other.yaml": GATEWAY.replace("edge", "other")})
    (tmp_path / "edge.yaml").write_bytes(text.replace("\n", "\r\n").encode())
    said = run(tmp_path, "diff", "HEAD", "-o", "json-v1")[1]
    assert json.loads(said)["coverage"]["files_differ"] == files
