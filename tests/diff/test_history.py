"""Every commit of fixtures/history, as its readers see it, and what must hold of any diff."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonpatch  # type: ignore[import-untyped]
import pytest

from policylint.compare import Sides, compare, pair_sides
from policylint.compare.contexts import identity
from policylint.load.shared_facts import SharedFacts
from policylint.report.diff import json_v1
from policylint.simulation import Simulation
from policylint.sources.git import Repository
from policylint.sources.revision import at_revision
from policylint.workspace import Workspace, open_workspace
from tests.conftest import Golden
from tests.diff.history import MAKE, SHARED, run, steady
from tests.nightly import sampled

History = tuple[Path, list[str]]
STEPS = range(1, len(MAKE.COMMITS))
FAILING = {2, 8, 9, 11, 14, 21}
"""Commits (counted from 1) that bring a new error."""
QUIET = {4, 5, 20}
"""Commits that change nothing in effect."""


@pytest.mark.parametrize("step", STEPS)
def test_text_of_a_commit(history: History, golden: Golden, step: int) -> None:
    directory, ids = history
    code, out, _ = run(directory, "diff", f"{ids[step - 1]}..{ids[step]}")
    golden(f"{step + 1:02}.txt", out)
    assert code == (1 if step + 1 in FAILING else 0)
    assert run(directory, "diff", f"{ids[step - 1]}..{ids[step]}", "--fail-on", "never")[0] == 0


@pytest.mark.parametrize("step", STEPS)
def test_comment_of_a_commit(history: History, golden: Golden, step: int) -> None:
    directory, ids = history
    links = "https://github.com/example/shop/blob/0123456789abcdef"
    _, out, _ = run(directory, "diff", f"{ids[step - 1]}..{ids[step]}", "-o", "markdown", "--links", links)
    golden(f"{step + 1:02}.md", steady(out))
    assert re.match("<!-- policylint:v1 key=default -->\n### (\u26a0\ufe0f )?policylint: ", out)
    assert len(out) < 60_000


@pytest.mark.parametrize("step", STEPS)
def test_exit_code_tells_of_changes_in_effect(history: History, step: int) -> None:
    directory, ids = history
    code, _, _ = run(directory, "diff", f"{ids[step - 1]}..{ids[step]}", "--exit-code", "--fail-on", "never")
    unknown = step + 1 == 18
    assert code == (0 if step + 1 in QUIET or unknown else 1)


def open_two(directory: Path, one: str, other: str) -> tuple[Workspace, Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        repository, shared_facts = Repository("."), SharedFacts()
        first, second = at_revision(repository, one), at_revision(repository, other)
        before, after = (open_workspace(source=each, shared_facts=shared_facts) for each in (first, second))
        return before, after


def effective(simulation: Simulation, sides: Sides | None = None) -> dict[Any, Any]:
    """(kind, path) → spec; paths as they are after the change where `sides` is given."""
    found = {}
    for group in simulation.groups:
        for path in group.contexts():
            place = identity(path)
            key = (str(group.kind), sides.pairing.path(place) if sides else place)
            if group.effective.spec:
                found[key] = group.effective.spec
    return found


@pytest.mark.parametrize("step", STEPS)
def test_patches_lead_from_before_to_after(history: History, step: int) -> None:
    directory, ids = history
    before, after = open_two(directory, ids[step - 1], ids[step])
    for sides in pair_sides(before.simulations, after.simulations):
        (environment,) = compare([sides])
        specs = effective(sides.before, sides)
        for change in environment.contexts:
            place = identity(change.path)
            if change.standing == "gone":
                place = sides.pairing.path(place)
            key = (str(change.kind), place)
            was = specs.pop(key, {})
            assert was == (change.before.spec if change.before else {})
            now = change.after.spec if change.after else {}
            made = jsonpatch.make_patch(was, now).apply(was)
            assert made == now
            if made:
                specs[key] = made
        assert specs == effective(sides.after)


@pytest.mark.parametrize("step", STEPS)
def test_there_and_back_mirror_each_other(history: History, step: int) -> None:
    directory, ids = history
    before, after = open_two(directory, ids[step - 1], ids[step])
    # Of two policies in conflict a new one is the younger, and nobody knows whether one that goes was
    # (tests/compare/test_creation_order.py).
    in_conflict = {
        refusal.attachment.key.kind
        for side in (*before.simulations, *after.simulations)
        for state in side.policies.values()
        for refusal in state.refused
        if not refusal.stated
    }

    def changes(one: Workspace, other: Workspace, *, turned: bool) -> list[str]:
        found = []
        for environment in compare(pair_sides(one.simulations, other.simulations)):
            for each in environment.contexts:
                if each.kind.kind in in_conflict:
                    continue
                pair = [each.before and each.before.spec, each.after and each.after.spec]
                found.append(
                    json.dumps([str(each.kind), len(each.path), pair[::-1] if turned else pair], sort_keys=True)
                )
            for policy in environment.policies:
                if policy.policy.kind in in_conflict:
                    continue
                verdicts = (policy.before, policy.after)
                found.append(str((policy.policy.kind, verdicts[::-1] if turned else verdicts)))
        return sorted(found)

    assert changes(before, after, turned=False) == changes(after, before, turned=True)


def trees() -> list[Path]:
    fixtures = [each for each in (MAKE_ROOT / "fixtures").iterdir() if each.is_dir() and each.name != "history"]
    shared = [each for each in (SHARED / "trees").iterdir() if each.is_dir()] if (SHARED / "trees").is_dir() else []
    return sorted(fixtures) + sampled(sorted(shared), "itself")


MAKE_ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: tree.name)
def test_a_tree_does_not_differ_from_itself(tree: Path) -> None:
    code, out, _ = run(tree, "diff", "--rendered-before", ".", "--rendered-after", ".", "-o", "json-v1", "--exit-code")
    found = json.loads(out)
    assert (code, found["changes"], found["routes"], found["policies"], found["objects"]) == (0, [], [], [], [])
    assert {each["state"] for each in found["findings"]} <= {"unchanged"}


def test_json_lists_what_the_interface_promises(history: History) -> None:
    directory, ids = history
    found = json.loads(run(directory, "diff", f"{ids[0]}..{ids[1]}", "-o", "json-v1")[1])
    change = next(each for each in found["changes"] if each["path"][-1].endswith("#rule-1"))
    assert change["kind"] == "SecurityPolicy"
    assert change["path"][1] == "Gateway infra/edge"
    assert jsonpatch.apply_patch(change["before"], change["patch"]) == change["after"]
    assert (change["from_before"], change["from_after"]) == (
        ["SecurityPolicy infra/edge-jwt"],
        ["SecurityPolicy shop/checkout-cors"],
    )
    (touched,) = found["objects"]
    assert (touched["object"], touched["change"]) == ("SecurityPolicy shop/checkout-cors", "added")
    assert (touched["routes"], touched["hostnames"], touched["namespaces"]) == (
        ["HTTPRoute shop/checkout"],
        ["shop.example.com"],
        ["shop"],
    )
    assert {(each["rule"], each["state"]) for each in found["findings"]} >= {("GWP201", "new")}


def test_a_long_document_is_the_same_only_not_indented(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, ids = history
    command = ("diff", f"{ids[0]}..{ids[1]}", "-o", "json-v1")
    indented = run(directory, *command)[1]
    monkeypatch.setattr(json_v1, "MOST_INDENTED", 0)
    flat = run(directory, *command)[1]
    assert json.loads(flat) == json.loads(indented)
    assert flat.count("\n") < 40 < indented.count("\n")


def test_blast_radius_of_a_gateway_wide_policy(history: History) -> None:
    directory, ids = history
    found = json.loads(run(directory, "diff", f"{ids[11]}..{ids[12]}", "-o", "json")[1])
    (touched,) = found["objects"]
    assert (touched["object"], touched["change"]) == ("BackendTrafficPolicy infra/edge-limits", "removed")
    assert touched["routes"] == ["HTTPRoute blog/posts", "HTTPRoute shop/cart", "HTTPRoute shop/checkout"]
    assert len(touched["rules"]) == 6
    assert touched["namespaces"] == ["blog", "shop"]


def test_findings_in_the_formats_of_lint(history: History) -> None:
    directory, ids = history
    sarif = json.loads(run(directory, "diff", f"{ids[0]}..{ids[1]}", "-o", "sarif")[1])
    result, before = sarif["runs"][0]["results"]
    assert before["ruleId"].startswith("GWP110"), "what a report leaves out, code scanning takes for mended"
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], place["artifactLocation"]["uri"]) == ("GWP201", "apps/shop/checkout-cors.yaml")
    assert "GWP302" in {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    concise = run(directory, "diff", f"{ids[0]}..{ids[1]}", "-o", "concise")[1]
    assert concise.splitlines()[0].startswith("~ HTTPRoute shop/checkout changed: jwt removed (infra/edge-jwt)") or (
        "jwt removed" in concise
    )


def test_a_suppression_of_a_rule_of_changes_is_heeded_and_never_unused(history: History, tmp_path: Path) -> None:
    place = tmp_path / "clone"
    MAKE.git(tmp_path, "clone", "-q", str(history[0]), str(place))
    MAKE.git(place, "checkout", "-q", history[1][13])
    policy = place / "infra" / "edge-jwt.yaml"
    text = policy.read_text()
    policy.write_text(text.replace("name: edge\n", "name: edge # policylint: ignore[GWP302] staff are on the VPN\n"))
    code, out, _ = run(place, "diff", "HEAD~1", "-o", "json")
    found = json.loads(out)
    assert (code, found["summary"]["suppressed"]) == (0, 1)
    assert not [each for each in found["findings"] if each["rule"] in ("GWP302", "GWP901")]
    assert "GWP901" not in run(place, "lint", "-o", "concise")[1]
