"""The recipe of docs/comment.md for GitLab, run as its runner does, in a checkout that a stranger filled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.diff.history import ROOT, history
from tests.forges.stub import TOKEN, Stub, serving
from tests.forges.test_comment import Job

__all__ = ["history"]
PAGE = (ROOT / "docs" / "comment.md").read_text(encoding="utf-8")
RECIPE = yaml.safe_load(PAGE.partition("## GitLab")[2].partition("```yaml\n")[2].partition("```")[0])["policylint"]
REPORTS = ("gl-code-quality-report.json", "policylint.xml")


@pytest.mark.parametrize("planted", ["files", "links", "links to nowhere"])
def test_a_checkout_takes_no_part_in_the_job(history: tuple[Path, list[str]], tmp_path: Path, planted: str) -> None:
    """Nothing of it is run or imported, its reports are not uploaded, the token goes to the API alone."""
    job, sprung, secret = Job(history, tmp_path), tmp_path / "sprung", tmp_path / "secret"
    secret.write_text("s3cret")
    for name in ("sitecustomize.py", "usercustomize.py", "click.py", "yaml.py", "policylint.py", "http/client.py"):
        (job.tree / name).parent.mkdir(exist_ok=True)
        (job.tree / name).write_text(f"open({str(sprung)!r}, 'a').write({name!r})\n")
    for name in ("git", "rm", "policylint"):
        place = job.tree / "bin" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\necho {name} >> {sprung}\n")
        place.chmod(0o755)
    (job.tree / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    for name in REPORTS:
        if planted == "files":
            (job.tree / name).write_text('[{"description": "forged"}]')
        else:
            (job.tree / name).symlink_to(secret if planted == "links" else tmp_path / "made")
    with serving(Stub("gitlab")) as stub:
        known = job.environment(stub) | {"PATH": f"{Path(sys.executable).parent}:{os.defpath}:/usr/local/bin"}
        lines = [line.replace(" clusters", "") for line in RECIPE["script"]]
        done = subprocess.run(
            ["sh", "-ec", "\n".join(lines)], cwd=job.tree, env=known, capture_output=True, text=True, check=False
        )
    assert done.returncode == 1, done.stderr
    assert not sprung.exists(), sprung.read_text()
    assert set(stub.headers) == {TOKEN}
    assert len(stub.bodies()) == 1 and TOKEN not in stub.bodies()[0] + done.stdout + done.stderr
    assert secret.read_text() == "s3cret" and not (tmp_path / "made").exists()
    for name in REPORTS:
        assert not (job.tree / name).is_symlink()
        assert "forged" not in (job.tree / name).read_text()


def test_only_what_a_merge_request_changes_is_told_and_nothing_but_the_job_has_the_token() -> None:
    """The text of the recipe: no other trigger, no token in it, reports taken away before they are written."""
    assert RECIPE["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert not [name for name in RECIPE["variables"] if "TOKEN" in name]
    assert RECIPE["script"][0].startswith("rm -f ")
    assert set(RECIPE["script"][0].split()[2:4]) == set(REPORTS) == set(RECIPE["artifacts"]["reports"].values())
    assert "allow_failure" not in RECIPE and "||" not in " ".join(RECIPE["script"])
