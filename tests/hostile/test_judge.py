"""A pull request that takes a login away, and configures, suppresses or names what would hide it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from policylint.report.diff import stored
from tests.diff.history import MAKE, ROOT, commit, run
from tests.hostile.test_action import Job
from tests.worlds import gateway, gateway_class, manifest, policy, route

WORLD = "---".join(
    (
        gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="envoy"),
        route("web", parents="[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        manifest("v1", "Service", "web", "shop", "spec: {ports: [{port: 80}]}"),
    )
)
SECURITY = ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy")
JWT = policy(
    *SECURITY,
    "jwt",
    "Gateway/edge",
    namespace="shop",
    spec="jwt: {providers: [{name: a, remoteJWKS: {uri: https://a/}}]}",
)
CORS = policy(*SECURITY, "cors", "HTTPRoute/web", namespace="shop", spec='cors: {allowOrigins: ["https://a"]}')
BEFORE = {"apps/world.yaml": WORLD, "apps/jwt.yaml": JWT, "empty/none.yaml": "# nothing\n"}
LOST = {"GWP201", "GWP302"}
SCHEMA = Draft202012Validator(json.loads((ROOT / "schemas/output/diff-json-v1.json").read_text()))


def judged(place: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a diff, and what it says."""
    code, out, err = run(place, "diff", *(arguments or ("HEAD^1..HEAD",)), "-o", "json")
    assert code in (0, 1), err
    answer: dict[str, Any] = json.loads(out)
    assert list(SCHEMA.iter_errors(answer)) == []
    return code, answer


def new(answer: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in answer["findings"] if finding["state"] == "new"}


ATTACKS = {
    "exclude": "exclude: [cors.yaml, apps/]\n",
    "paths": "paths: [empty]\n",
    "select": "select: [GWP1]\n",
    "ignore": "ignore: [GWP2, GWP3]\n",
    "ignore one": "ignore: [{rule: [GWP201, GWP302], resource: '*/*/*', reason: trust me}]\n",
    "severity": "severity: {GWP2: 'off', GWP3: note}\n",
    "fail-on": "fail-on: never\n",
    "min-severity": "min-severity: error\nfail-on: never\n",
    "environments": "environments: [{name: prod, roots: [empty]}]\n",
    "assume": "assume: [{kind: SecurityPolicy, namespace: shop, name: jwt}]\nfail-on: never\n",
    "kinds": "kinds: [{group: gateway.envoyproxy.io, kind: SecurityPolicy, targets: []}]\nfail-on: never\n",
    "semantics": "semantics: gep-713-2023\nexclude: [apps/]\n",
    "render": "render: 'off'\nexclude: [apps/]\n",
    "baseline": "baseline: accepted.json\nfail-on: never\n",
    "snapshot": "snapshot: empty/none.yaml\nexclude: [apps/]\n",
}
BASES = {"none": None, "one": "fail-on: error\n", "strict": "fail-on: warning\nlocked: [GWP2]\n"}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_change_does_not_configure_its_judge(tmp_path: Path, attack: str, base: str | None) -> None:
    commit(tmp_path, BEFORE if base is None else {**BEFORE, ".policylint.yaml": base})
    commit(tmp_path, {"apps/cors.yaml": CORS, ".policylint.yaml": attack, "accepted.json": "{}"})
    code, answer = judged(tmp_path)
    assert (code, new(answer) & LOST != set()) == (1, True)
    key = attack.partition(":")[0]
    assert key in answer["configuration"]["keys"]
    assert f"`{key}`" in answer["configuration"]["message"]
    assert run(tmp_path, "diff", "HEAD^1..HEAD")[0] == 1
    MAKE.git(tmp_path, "reset", "-q", "--soft", "HEAD^1")
    for arguments in (("--staged",), ("HEAD",)):
        code, answer = judged(tmp_path, *arguments)
        assert (code, new(answer) & LOST != set()) == (1, True)
        assert key in answer["configuration"]["keys"]


PLACES = {
    "pyproject": {"pyproject.toml": '[tool.policylint]\nfail-on = "never"\nexclude = ["apps/"]\n'},
    "first name": {".policylint.yaml": "fail-on: never\nexclude: [apps/]\n", ".policylint.yml": None},
    "another directory": {".config/policylint.yaml": "fail-on: never\nexclude: [apps/]\n", ".policylint.yml": None},
    "gone": {".policylint.yml": None},
}


@pytest.mark.parametrize("files", PLACES.values(), ids=PLACES)
def test_nor_by_another_file(tmp_path: Path, files: dict[str, str | None]) -> None:
    there = {} if "pyproject.toml" in files else {".policylint.yml": "fail-on: warning\n"}
    commit(tmp_path, {**BEFORE, **there})
    commit(tmp_path, {"apps/cors.yaml": CORS, **files})
    code, answer = judged(tmp_path)
    assert (code, new(answer) & LOST != set()) == (1, True)
    assert answer["configuration"]["change"] in ("added", "moved", "removed")


def test_nor_by_a_link(tmp_path: Path) -> None:
    commit(tmp_path, {**BEFORE, ".policylint.yaml": "fail-on: error\n", "other.yml.txt": "exclude: [apps/]\n"})
    (tmp_path / ".policylint.yaml").unlink()
    (tmp_path / ".policylint.yaml").symlink_to("other.yml.txt")
    commit(tmp_path, {"apps/cors.yaml": CORS})
    code, answer = judged(tmp_path)
    assert (code, answer["configuration"]["keys"]) == (1, ["exclude"])


def test_a_root_of_the_base_is_no_link_of_the_change(tmp_path: Path) -> None:
    """What was deployed from `apps` is what the change is compared with, wherever `apps` leads now."""
    stated = {".policylint.yaml": "environments: [{name: prod, roots: [apps]}]\n"}
    commit(tmp_path, {**BEFORE, **stated, "apps/kustomization.yaml": "resources: [world.yaml, jwt.yaml]\n"})
    (tmp_path / "apps").rename(tmp_path / "moved")
    (tmp_path / "apps").symlink_to("moved")
    commit(tmp_path, {"moved/jwt.yaml": None, "moved/kustomization.yaml": "resources: [world.yaml]\n"})
    code, answer = judged(tmp_path)
    assert answer["routes"], "what was there is seen to change"
    assert "SecurityPolicy shop/jwt" in {change["policy"] for change in answer["policies"]}
    assert code in (0, 1)


DUMP = "apiVersion: v1\nkind: List\nitems: []\n"


def dumped(*manifests: str) -> str:
    return "---".join(manifests)


def test_the_snapshot_is_the_base_s(tmp_path: Path) -> None:
    """An object that is only in the snapshot would be there whatever the change takes away."""
    broken = policy(*SECURITY, "aim", "HTTPRoute/webs", namespace="shop", spec="cors: {}")
    there = {**BEFORE, ".policylint.yaml": "snapshot: dump.yaml\nexclude: [dump.yaml]\n", "dump.yaml": DUMP}
    commit(tmp_path, there)
    commit(tmp_path, {"apps/aim.yaml": broken, "dump.yaml": route("webs", parents="[{name: edge}]")})
    for arguments in (("HEAD^1..HEAD",), ("HEAD^1",), ("--staged", "HEAD^1")):
        code, answer = judged(tmp_path, *arguments)
        assert (code, "GWP101" in new(answer)) == (1, True), arguments
    named = new(judged(tmp_path, "HEAD^1..HEAD", "--snapshot", "dump.yaml")[1])
    assert named == {"GWP201"}, "unless the caller names it: then it is there, and loses the login of its Gateway"


def test_a_snapshot_that_the_change_brings_is_refused_and_one_that_git_does_not_know_is_read(tmp_path: Path) -> None:
    broken = policy(*SECURITY, "aim", "HTTPRoute/gone", namespace="shop", spec='cors: {allowOrigins: ["https://a"]}')
    settings = "snapshot: dump.yaml\nexclude: [dump.yaml]\n"
    commit(tmp_path, {**BEFORE, ".policylint.yaml": settings, ".gitignore": "dump.yaml\n"})
    commit(tmp_path, {"apps/aim.yaml": broken})
    dump = tmp_path / "dump.yaml"
    dump.write_text(route("gone", parents="[{name: edge}]"))
    assert "GWP101" not in new(judged(tmp_path)[1]), "made for this run"
    MAKE.git(tmp_path, "add", "-f", "dump.yaml")
    commit(tmp_path, {})
    code, out, err = run(tmp_path, "diff", "HEAD~2..HEAD")
    assert (code, out) == (2, "")
    assert ".policylint.yaml:1:11: 'dump.yaml' is not in `HEAD~2`" in err
    assert "what judges a change cannot come with it" in err


def test_the_baseline_of_a_named_configuration_is_its_revision_s(tmp_path: Path) -> None:
    broken = policy(*SECURITY, "aim", "HTTPRoute/webs", namespace="shop", spec='cors: {allowOrigins: ["https://a"]}')
    commit(tmp_path, {**BEFORE, ".policylint.yaml": "baseline: accepted.json\n"})
    run(tmp_path, "baseline")
    commit(tmp_path, {})
    (tmp_path / "apps/aim.yaml").write_text(broken)
    run(tmp_path, "baseline")
    commit(tmp_path, {})
    assert run(tmp_path, "lint")[0] == 0, "a state is linted by its own"
    code, out, _ = run(tmp_path, "lint", "-o", "concise", "--config", "HEAD^1:.policylint.yaml")
    assert (code, "GWP101" in out) == (1, True)


REASON = "checked by the app"
COMMENT = f"# policylint: ignore[GWP201,GWP302] {REASON}{CORS}"
ANNOTATED = ", ".join(f'ignore.policylint.dev/{rule}: "{REASON}"' for rule in sorted(LOST))
ANNOTATION = CORS.replace("metadata: {", f"metadata: {{annotations: {{{ANNOTATED}}}, ")


@pytest.mark.parametrize(
    ("text", "form"), [(COMMENT, "comment"), (ANNOTATION, "annotation")], ids=["comment", "annotation"]
)
def test_what_a_change_suppresses_is_listed(tmp_path: Path, text: str, form: str) -> None:
    assert text != CORS
    commit(tmp_path, BEFORE)
    commit(tmp_path, {"apps/cors.yaml": text})
    code, answer = judged(tmp_path)
    assert (code, new(answer) & LOST) == (0, set())
    (entry,) = (each for each in answer["suppressed"] if each["rule"] == "GWP201")
    assert entry["by"] == {"form": form, "reason": REASON, "location": entry["by"]["location"]}
    assert (entry["name"], entry["by"]["location"]["file"]) == ("parent-setting-dropped", "apps/cors.yaml")
    for form_of_output in ("text", "concise", "markdown", "github", "sarif"):
        out = " ".join(run(tmp_path, "diff", "HEAD^1..HEAD", "-o", form_of_output)[1].split())
        assert f"by a {form} at apps/cors.yaml" in out
        assert REASON in out
    commit(tmp_path, {"apps/other.yaml": "# nothing\n"})
    assert "suppressed" not in judged(tmp_path)[1], "it was there before"


def test_what_is_suppressed_is_not_fixed(tmp_path: Path) -> None:
    commit(tmp_path, {**BEFORE, "apps/cors.yaml": CORS})
    commit(tmp_path, {"apps/cors.yaml": COMMENT})
    code, answer = judged(tmp_path)
    assert (code, answer["summary"]["fixed"], new(answer)) == (0, 0, set())
    assert {entry["rule"] for entry in answer["suppressed"]} == {"GWP201"}
    out = run(tmp_path, "diff", "HEAD^1..HEAD")[1]
    assert "1 newly suppressed" in out.splitlines()[0]
    assert "fixed" not in out
    commit(tmp_path, {"apps/cors.yaml": None})
    assert judged(tmp_path)[1]["summary"]["fixed"] == 0, "it was no finding before"


def test_what_the_base_locks_is_not_suppressed(tmp_path: Path) -> None:
    commit(tmp_path, {**BEFORE, ".policylint.yaml": "locked: [GWP2, GWP3]\n"})
    commit(tmp_path, {"apps/cors.yaml": COMMENT, ".policylint.yaml": "fail-on: error\n"})
    code, answer = judged(tmp_path)
    assert (code, "GWP201" in new(answer), "suppressed" in answer) == (1, True, False)


def test_a_program_is_not_started_by_either_side(tmp_path: Path) -> None:
    trap = tmp_path / "bin" / "kubectl"
    trap.parent.mkdir()
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    place = tmp_path / "tree"
    kustomization = {"apps/kustomization.yaml": "resources: [world.yaml, jwt.yaml]\n"}
    commit(place, {**BEFORE, **kustomization, ".policylint.yaml": "render: external\n"})
    commit(place, {".policylint.yaml": "render: helm\n"})
    path = f"{trap.parent}{os.pathsep}{os.environ['PATH']}"
    for arguments in (("diff", "HEAD^1..HEAD"), ("diff", "HEAD^1"), ("lint", "--config", "HEAD:.policylint.yaml")):
        _, _, err = run(place, *arguments, PATH=path)
        assert "a configuration file may not start programs" in err
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(os.name == "nt", reason="the action's scripts are for bash")
@pytest.mark.parametrize("known", [True, False], ids=["in the base", "brought by the change"])
def test_the_file_that_the_action_is_given_is_the_base_s(tmp_path: Path, known: bool) -> None:
    job = Job(tmp_path)
    commit(job.checkout, {**BEFORE, **({"ci/lint.yaml": "fail-on: error\n"} if known else {})})
    attack = "exclude: [apps/]\nignore: [GWP2, GWP3]\n"
    commit(job.checkout, {"apps/cors.yaml": CORS, "ci/lint.yaml": attack})
    job.installed()
    given = {"GITHUB_EVENT_NAME": "pull_request", "PL_PR": "12", "PL_BASE": "HEAD^1", "PL_CONFIG": "ci/lint.yaml"}
    done = job.step(ROOT / "action.yml", "Run policylint", **given)
    assert (done.returncode, done.stderr) == (0, "")
    assert job.outputs()["exit-code"] == "1"
    assert job.outputs()["new-findings"] != "0"
    assert ("HEAD^1 has no ci/lint.yaml" in done.stdout) is not known


@pytest.mark.skipif(os.name == "nt", reason="the action's scripts are for bash")
def test_the_action_comments_where_only_the_configuration_changes(tmp_path: Path) -> None:
    job = Job(tmp_path)
    commit(job.checkout, BEFORE)
    commit(job.checkout, {".policylint.yaml": "fail-on: never\n"})
    job.installed()
    done = job.step(ROOT / "action.yml", "Run policylint", GITHUB_EVENT_NAME="pull_request", PL_PR="12")
    data = Path(job.outputs()["data-file"]).read_bytes()
    assert (done.returncode, stored.read(data).has_content) == (0, True)
    assert "`.policylint.yaml` is new and sets `fail-on`" in done.stdout
