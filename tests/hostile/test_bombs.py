"""Small inputs that ask for much: each ends at the work budget, in one finding with its line and exit code 3."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.shapes import rendering as shapes
from policylint.budget import CUT_OFF, MOST_STEPS, Budget, ExhaustedError, size_of
from policylint.cel.syntax import is_expression
from policylint.report.diff.requests import AS_BEFORE
from policylint.report.formats import FORMATS
from policylint.workspace import Workspace, open_workspace
from tests.diff.history import commit, run
from tests.render.trees import ROUTE, place, written

Shape = Callable[[Path, int], list[str]]
BOMBS: dict[Shape, tuple[int, str]] = {
    shapes.doubling_bases: (40, "kustomization.yaml"),
    shapes.long_prefix: (600, "kustomization.yaml:1"),
    shapes.one_component: (300, "kustomization.yaml"),
    shapes.doubling_replacements: (40, "kustomization.yaml"),
    shapes.nesting_replacements: (40, "kustomization.yaml"),
    shapes.generated_from_one_file: (1500, "kustomization.yaml"),
    shapes.substitution_of_one_text: (3000, "clusters/prod/apps.yaml:5"),
    shapes.go_template: (150, "sets/s.yaml"),
}
"""Shape → a size that earlier versions took gigabytes or minutes for, and where it is cut off."""
NOT_WHOLE = "this is not the whole: something was left out"


def cut(found: Workspace) -> list[str]:
    """Where rendering was cut off, in every environment."""
    return [
        f"{note.location.file}:{note.location.at()[0]}"
        for simulation in found.simulations
        for note in simulation.world.notes
        if note.code == CUT_OFF
    ]


@pytest.mark.parametrize("shape", BOMBS, ids=lambda shape: shape.__name__)
def test_it_is_cut_off_soon(tmp_path: Path, shape: Shape) -> None:
    size, expected = BOMBS[shape]
    _, path = shape(tmp_path, size)
    before = resource.getrusage(resource.RUSAGE_SELF)
    found = open_workspace([path])
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert found.coverage.cut_off
    places = cut(found)
    assert len(places) == len(found.simulations) and len(set(places)) == 1
    assert expected in places[0]
    assert after.ru_utime - before.ru_utime < 10
    assert after.ru_maxrss - before.ru_maxrss < 400 * 1024


LINEAR: tuple[Shape, ...] = (
    shapes.patches_by_name,
    shapes.merges_by_name,
    shapes.deletions,
    shapes.replacements,
    shapes.generators,
    shapes.argo_merge,
    shapes.apps_of_apps,
    shapes.flux_dependencies,
    shapes.flux_waiting_chain,
    shapes.flux_variables,
    shapes.argo_applications,
)
"""Shapes whose work must grow as their size does, if it is not to grow as the square."""


@pytest.mark.parametrize("shape", LINEAR, ids=lambda shape: shape.__name__)
def test_twice_the_size_is_twice_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Shape) -> None:
    """Counted in steps, not in seconds."""
    spent = []
    spend = Budget.spend

    def counted(self: Budget, steps: int) -> None:
        spent[-1] += steps
        spend(self, steps)

    monkeypatch.setattr(Budget, "spend", counted)
    for size in (100, 400):
        spent.append(0)
        _, path = shape(tmp_path / str(size), size)
        assert not open_workspace([path]).coverage.cut_off
    assert spent[1] < 4.6 * spent[0]


def test_one_finding_at_its_line_and_exit_code_three(tmp_path: Path) -> None:
    shapes.doubling_replacements(tmp_path, 40)
    code, output, errors = run(tmp_path, "lint", ".")
    assert (code, errors) == (3, f"policylint: {NOT_WHOLE} (GWP911 of `lint` says where)\n")
    assert output.count("warning[GWP911]") == 1
    assert "warning[GWP911]: this replacement would exceed the work budget" in " ".join(output.split())
    assert "kustomization.yaml:" in output
    assert run(tmp_path, "lint", ".", "--ignore", "GWP911")[0] == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "HTTPRoute/default/r0"), ("trace", "GET", "http://a/"), ("reach",), ("reach", "-o", "json"),
        ("list", "routes"), ("list", "policies", "-o", "json"), ("simulate",), ("simulate", "-o", "json"),
        ("graph", "--format", "dot"), ("export", "--to", "out"), ("baseline",), ("upgrade",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_command_says_that_it_saw_a_part(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    shapes.doubling_replacements(tmp_path, 40)
    code, _, said = run(tmp_path, *arguments)
    assert (code, NOT_WHOLE in said) == (3, True)


@pytest.mark.parametrize("form", sorted(FORMATS["diff"]))
def test_a_diff_of_a_part_says_nothing_of_the_whole(tmp_path: Path, form: str) -> None:
    shapes.doubling_replacements(tmp_path / "tree", 40)
    commit(tmp_path / "tree", {})
    code, said, errors = run(tmp_path / "tree", "diff", "HEAD", "-o", form)
    assert (code, NOT_WHOLE in errors, '"as_before": true' in said) == (3, True, False)
    assert AS_BEFORE not in said or form == "sarif", "that has the pages of rules in it"


def test_what_rests_on_it_is_unknown(tmp_path: Path) -> None:
    shapes.doubling_replacements(tmp_path, 40)
    found = open_workspace([str(tmp_path)])
    assert all(resource.provisional for resource in found.simulations[0].world.resources.values())
    assert {finding.confidence for finding in found.findings() if finding.rule != "GWP911"} <= {"unknown"}


def test_rendering_that_is_cut_off_before_anything_is_known_says_so(tmp_path: Path) -> None:
    """Else the files would be judged as they are written, as if nothing deployed them."""
    shapes.argo_matrix(tmp_path, 400)
    found = open_workspace([str(tmp_path)])
    assert found.coverage.cut_off
    assert len(cut(found)) == len(found.simulations) > 0
    assert all(simulation.world.unseen.of_routes() for simulation in found.simulations)


def test_a_budget_once_exhausted_stays_so() -> None:
    budget = Budget()
    with pytest.raises(ExhaustedError):
        budget.spend(MOST_STEPS)
    with budget.bounded("this", "here") as at:
        at.place = "there"
        budget.spend(0)
    with budget.bounded("that", "elsewhere"):
        budget.spend(0)
    assert budget.cut == ("this", "there")


def test_values_are_counted_with_aliases_expanded() -> None:
    assert size_of({"a": [1, 2], "b": "x"}) == (5, 2)
    shared: list[object] = ["x"]
    for _ in range(60):
        shared = [shared, shared]
    assert size_of(shared)[0] == MOST_STEPS


DEEP = {
    "operations that nest": "patches:\n- target: {kind: HTTPRoute}\n  patch: |\n"
    + "".join(f"    - {{op: add, path: /metadata{'/a' * depth}, value: {{}}}}\n" for depth in range(1, 400)),
    "a field path": "replacements:\n- source: {kind: HTTPRoute, fieldPath: metadata.name}\n  targets:\n"
    f"  - {{select: {{kind: HTTPRoute}}, fieldPaths: [spec{'.a' * 2000}], options: {{create: true}}}}\n",
    "a field path that is read": f"replacements:\n- source: {{kind: HTTPRoute, fieldPath: spec{'.a' * 5000}}}\n"
    "  targets: [{select: {kind: HTTPRoute}}]\n",
    "a path of labels": "labels:\n- pairs: {a: b}\n  fields: [{create: true, path: " + "a/" * 3000 + "b}]\n",
    "an object in itself": "replacements:\n" + "- source: {kind: HTTPRoute, fieldPath: spec}\n"
    "  targets: [{select: {kind: HTTPRoute}, fieldPaths: [spec.a], options: {create: true}}]\n" * 300,
}


@pytest.mark.parametrize("kustomization", DEEP.values(), ids=DEEP)
def test_what_is_deep_never_meets_pythons_limit(tmp_path: Path, kustomization: str) -> None:
    written(tmp_path, {"kustomization.yaml": f"resources: [route.yaml]\n{kustomization}", "route.yaml": ROUTE})
    code, output, errors = run(tmp_path, "lint", ".")
    assert (code, errors) != (2, "") and code in (0, 1, 3)
    assert "recursion" not in output + errors and "internal error" not in errors


@pytest.mark.parametrize("depth", [100, 249, 250, 20_000])
@pytest.mark.parametrize(("left", "right"), [("(", ")"), ("[", "]"), ("f(", ")"), ("{a: ", "}"), ("B{x: ", "}")])
def test_expressions_nest_as_deep_as_the_reference_parser_lets_them(depth: int, left: str, right: str) -> None:
    assert is_expression(left * depth + "a" + right * depth) is (depth < 250)


@pytest.mark.parametrize("depth", [10, 200, 20_000])
def test_branches_count_as_nesting(depth: int) -> None:
    assert is_expression("a ? b : " * depth + "c") is (depth < 250)


def test_the_place_is_that_of_the_entry(tmp_path: Path) -> None:
    shapes.doubling_replacements(tmp_path, 40)
    (finding,) = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP911"]
    file, _, line = place(finding.location, tmp_path).partition(":")
    assert file == "kustomization.yaml" and int(line) > 5
