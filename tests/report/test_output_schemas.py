"""schemas/output: every document that a command writes for programs is what its schema says, and nothing else is."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from policylint import workspace
from policylint.cli import main
from policylint.compare.change import FindingState, ObjectChangeKind, SettingChangeKind, SubjectChangeKind
from policylint.explain.reach import Extent
from policylint.explain.settings import State as SettingState
from policylint.model.finding import Confidence, Severity
from policylint.model.policy_kind import PolicyClass
from policylint.model.resolution import State as Resolved
from policylint.model.suppression import Form
from policylint.policy.results import Verdict
from policylint.report.export import TABLES as EXPORTED
from policylint.report.export import Export
from policylint.report.trace.expecting import FACTS
from policylint.topology.state import Status
from policylint.trace.request import FIELDS
from policylint.trace.requirements import State as AskedState
from policylint.workspace import Workspace
from tests.diff.history import MAKE
from tests.nightly import sampled

ROOT = Path(__file__).parents[2]
HOMEPAGE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
SHARED = ROOT.parent / "shared"
FIXTURES = ROOT / "fixtures"
SHOP, PARABLE = "fixtures/envoy-gateway-shop", "fixtures/baker-parable"
TABLES = ("policies", "routes", "gateways", "listeners", "backends", "placements")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a key that stands there twice only the last value would count."""
    assert len(dict(pairs)) == len(pairs), f"one of {[key for key, _ in pairs]} stands there twice"
    return dict(pairs)


SCHEMAS = {
    file.stem: json.loads(file.read_text(), object_pairs_hook=once)
    for file in sorted((ROOT / "schemas" / "output").glob("*.json"))
}
KIND_ENTRY = json.loads((ROOT / "schemas" / "policy-kind.json").read_text())
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in (*SCHEMAS.values(), KIND_ENTRY)
)
VALIDATORS = {name: Draft202012Validator(schema, registry=REGISTRY) for name, schema in SCHEMAS.items()}


def problems(name: str, document: Any) -> list[str]:
    """Return what a schema has against a document."""
    errors = VALIDATORS[name].iter_errors(document)
    return [f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in errors]


def written(*arguments: str, incomplete: bool = False) -> Any:
    """Return the JSON document that a command writes."""
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code in ((0, 1, 3) if incomplete else (0, 1)), done.output
    return json.loads(done.stdout)


def documents(world: Path) -> Iterator[tuple[str, Any]]:
    """Return what every command that reads one world writes, each with the name of its schema; it is read once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "open_workspace", opened_once(workspace.open_workspace))
        yield from _documents(str(world))


def opened_once(open_workspace: Callable[..., Workspace]) -> Callable[..., Workspace]:
    """Return the function with its answers kept, and what was asked: another one may not come to lie where it lay."""
    known: dict[str, tuple[Workspace, object]] = {}

    def once(*arguments: Any, **options: Any) -> Workspace:
        asked = repr((Path.cwd(), arguments, sorted(options.items())))
        if asked not in known:
            known[asked] = open_workspace(*arguments, **options), (arguments, options)
        return known[asked][0]

    return once


def _documents(place: str) -> Iterator[tuple[str, Any]]:
    yield "lint-json-v1", written("lint", place, "-o", "json-v1", "--show-unknown", incomplete=True)
    yield "simulation-v1", written("simulate", place, "-o", "json", incomplete=True)
    yield "status", written("simulate", place, "--as", "status", "-o", "json", incomplete=True)
    yield "reach-v1", written("reach", place, "-o", "json", incomplete=True)
    for table in TABLES:
        rows = written("list", table, place, "-o", "json", incomplete=True)
        yield "list-v1", rows
        for row in rows[table][:1]:
            object_name = row[{"policies": "policy", "placements": "policy"}.get(table, table[:-1])].replace(
                " ", "/", 1
            )
            if table != "listeners":
                yield "explain-v1", written("explain", object_name, place, "-o", "json", incomplete=True)


def worlds() -> list[Path]:
    """Return the fixtures' worlds, and where they are there of every twentieth case half by day."""
    fixtures = [place for place in sorted(FIXTURES.iterdir()) if place.name != "history"]
    cases = [file.parent for file in sorted(SHARED.glob("cases/*/*/manifests.yaml"))[::20]]
    return [*fixtures, *sampled(cases, "schemas of cases", 2)]


@pytest.mark.parametrize("world", worlds(), ids=lambda world: f"{world.parent.name}-{world.name}")
def test_what_commands_write_of_a_world(apart: Path, world: Path) -> None:
    place = apart / "fixtures" / world.name if world.parent == FIXTURES else world
    for name, document in documents(place):
        assert problems(name, document) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "tree", sampled([place for place in sorted(SHARED.glob("trees/*")) if place.is_dir()], "schemas")
)
def test_what_commands_write_of_a_real_tree(tree: Path) -> None:
    for name, document in documents(tree):
        assert problems(name, document) == []


def test_explanations_of_every_object_of_a_shop(apart: Path) -> None:
    asked = (
        "HTTPRoute/shop/checkout",
        "Gateway/infra/edge#https",
        "SecurityPolicy/infra/edge-jwt",
        "Service/shop/cart",
    )
    shop = str(apart / SHOP)
    for name in asked:
        assert problems("explain-v1", written("explain", name, shop, "-o", "json")) == []
    without = written("explain", "HTTPRoute/shop/cart", "--without", asked[2], shop, "-o", "json")
    assert without["explanations"][0]["without"]["changes"]
    assert problems("explain-v1", without) == []


@pytest.mark.parametrize("file", sorted((ROOT / "tests" / "trace" / "worlds").glob("*.requests.yaml")))
def test_traces(file: Path) -> None:
    world = file.with_name(file.name.replace(".requests", ""))
    traced = written("trace", "--requests", str(file), "--check", str(world), "-o", "json")
    assert all(request["checks"] for request in traced["requests"])
    assert problems("trace-v1", traced) == []


def test_traces_of_conformance_cases() -> None:
    cases = [
        file for file in sorted(SHARED.glob("cases/gateway-api/*/expected.yaml")) if "\nrequests:" in file.read_text()
    ]
    if not cases:
        pytest.skip("no ../shared/cases")
    for file in cases[::4]:
        traced = written("trace", "--requests", str(file), str(file.with_name("manifests.yaml")), "-o", "json")
        assert problems("trace-v1", traced) == []


def test_diffs_and_traces_of_two_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = MAKE.make(tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    kinds_of_change = set()
    for before, after in pairwise(commits):
        changed = written("diff", f"{before}..{after}", "-o", "json-v1", incomplete=True)
        assert problems("diff-json-v1", changed) == []
        kinds_of_change |= {name for name in ("changes", "routes", "policies", "objects", "findings") if changed[name]}
    assert kinds_of_change == {"changes", "routes", "policies", "objects", "findings"}
    asked = ("GET", "https://shop.example.com/checkout", "--at", f"{commits[0]}..{commits[-1]}", "-o", "json")
    traced = written("trace", *asked, incomplete=True)
    assert traced["before"]
    assert problems("trace-v1", traced) == []


def test_what_is_suppressed_and_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "world.yaml").write_text(
        "# policylint: ignore[GWP101] reason=not made yet\n"
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: jwt, namespace: shop}\n"
        "spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: nowhere}\n  cors: {}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["baseline"]).exit_code == 0
    baseline = json.loads((tmp_path / ".policylint-baseline.json").read_text())
    assert baseline["findings"] and problems("baseline-v1", baseline) == []
    linted = written("lint", "--baseline", "-o", "json")
    assert linted["suppressed"] and linted["summary"]["baseline"]
    assert problems("lint-json-v1", linted) == []


def test_rules_and_kinds() -> None:
    assert problems("rules-v1", written("rule", "-o", "json")) == []
    assert problems("kinds-v1", written("kinds", "-o", "json")) == []


def sample(name: str, apart: Path) -> Any:
    """Return a small real document of a schema."""
    shop, parable = str(apart / SHOP), str(apart / PARABLE)
    match name:
        case "lint-json-v1":
            return written("lint", shop, "-o", "json")
        case "diff-json-v1":
            sides = (str(apart / "fixtures" / "diff-example" / side) for side in ("before", "after"))
            return written("diff", "--rendered-before", next(sides), "--rendered-after", next(sides), "-o", "json")
        case "explain-v1":
            return written("explain", "HTTPRoute/shop/checkout", shop, "-o", "json")
        case "trace-v1":
            return written("trace", "--requests", f"{parable}/requests.yaml", parable, "-o", "json")
        case "reach-v1":
            return written("reach", shop, "-o", "json")
        case "upgrade-v1":
            releases = ("--from", "envoy-gateway=1.8", "--to", "envoy-gateway=1.9")
            return written("upgrade", *releases, shop, "-o", "json", "--fail-on", "never")
        case "list-v1":
            return written("list", "policies", shop, "-o", "json")
        case "export-v1":
            export = Export(workspace.open_workspace([shop]).simulations, "shop", "")
            return {table: list(export.rows(table)) for table in EXPORTED}
        case "simulation-v1":
            return written("simulate", shop, "-o", "json")
        case "status":
            return written("simulate", shop, "--as", "status", "-o", "json")
        case "rules-v1":
            return written("rule", "GWP201", "-o", "json")
        case "kinds-v1":
            return written("kinds", "SecurityPolicy", "-o", "json")
        case "baseline-v1":
            entry = {"fingerprint": "0" * 64, "rule": "GWP101", "resources": [], "message": "nothing is there"}
            return {"version": "baseline-v1", "findings": [entry]}
    raise AssertionError(f"no sample of {name}: give it one here")


REQUIRED = {
    "baseline-v1": ["findings", "findings/0/fingerprint"],
    "diff-json-v1": ["summary/routes/unknown", "changes/0/patch", "routes/0/settings", "findings/0/location/line"],
    "explain-v1": ["explanations/0/contexts", "explanations/0/contexts/0/policies/0/settings/0/how"],
    "kinds-v1": ["kinds/0/implementation", "kinds/0/merge/strategy"],
    "lint-json-v1": ["findings/0/confidence", "findings/0/location/end_column", "summary/note"],
    "export-v1": ["ways", "policies/0/verdict", "settings/0/by", "ways/0/authentication"],
    "list-v1": ["version", "policies/0/verdict"],
    "reach-v1": ["ways/0/outcome", "ways/0/asked/authentication/state", "ways/3/asked/authentication/by/0/policy"],
    "rules-v1": ["rules/0/references"],
    "simulation-v1": ["affected", "policies/0/status", "effective/0/origins", "routes/0/parents/0/conditions"],
    "status": ["items/0/status", "items/0/metadata/name"],
    "upgrade-v1": ["moves/0/ground", "consequences/0/needed", "requests/0/changes/0/example"],
    "trace-v1": ["requests/0/outcome", "requests/0/response/headers"],
}
"""Properties that every document of a schema has, as paths into its sample."""


def holder(document: Any, path: str) -> tuple[Any, str]:
    """Return the object of a document that holds the last step of a path, and that step."""
    *steps, last = path.split("/")
    for step in steps:
        document = document[int(step) if step.isdigit() else step]
    return document, last


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_refuses_what_lacks_a_property_or_has_one_too_many(name: str, apart: Path) -> None:
    document = sample(name, apart)
    assert problems(name, document) == []
    for path in REQUIRED[name]:
        broken = copy.deepcopy(document)
        held, last = holder(broken, path)
        del held[last]
        assert problems(name, broken), f"without {path}"
        broken = copy.deepcopy(document)
        holder(broken, path)[0]["surprise"] = 1
        assert problems(name, broken), f"with one more beside {path}"


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Return every subschema that says which properties there may be."""
    if isinstance(schema, dict):
        if "additionalProperties" in schema and "properties" in schema:
            yield schema
        for inner in schema.values():
            yield from parts(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from parts(inner)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_whole(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"{HOMEPAGE}/raw/main/schemas/output/{name}.json"
    assert f"schemas/output/{name}.json" in (ROOT / "docs" / "json.md").read_text()
    for part in parts(schema):
        assert part["additionalProperties"] is False
        assert set(part.get("required", ())) <= part["properties"].keys()
        for field, value in part["properties"].items():
            target = value.get("$ref", "")
            shared = schema.get("$defs", {}).get(target.rpartition("/")[2], {})
            assert target.startswith("../") or "description" in {**shared, **value}, field


def test_definitions_of_one_name_are_the_same_in_every_schema() -> None:
    by_name: dict[str, Any] = {}
    for schema in SCHEMAS.values():
        for name, definition in schema.get("$defs", {}).items():
            assert by_name.setdefault(name, definition) == definition, name


def test_kinds_have_the_fields_of_the_catalog() -> None:
    fields = SCHEMAS["kinds-v1"]["properties"]["kinds"]["items"]["properties"]
    assert fields.keys() - {"implementation"} == KIND_ENTRY["$defs"]["kind"]["properties"].keys()


def at(name: str, *steps: str) -> Any:
    """Return a part of a schema."""
    part = SCHEMAS[name]
    for step in steps:
        part = part[step]
    return part


def test_closed_vocabularies_are_those_of_the_code() -> None:
    def values(name: str, *steps: str) -> set[Any]:
        return set(at(name, *steps)["enum"])

    change = ("properties", "routes", "items", "properties")
    assert values("lint-json-v1", "$defs", "severity") == set(get_args(Severity))
    assert values("lint-json-v1", "$defs", "confidence") == set(get_args(Confidence))
    by = ("properties", "suppressed", "items", "properties", "by", "properties")
    assert values("lint-json-v1", *by, "form") == set(get_args(Form))
    for name in ("explain-v1", "list-v1", "simulation-v1"):
        assert values(name, "$defs", "verdict") == set(get_args(Verdict))
    assert values("diff-json-v1", "$defs", "verdictOrNull") == {*get_args(Verdict), None}
    assert values("diff-json-v1", "$defs", "findingChange", "properties", "state") == set(get_args(FindingState))
    assert values("diff-json-v1", *change, "change") == set(get_args(SubjectChangeKind))
    settings = values("diff-json-v1", *change, "settings", "items", "properties", "change")
    assert settings == set(get_args(SettingChangeKind)) - {"unchanged"}
    assert values("diff-json-v1", "properties", "objects", "items", "properties", "change") == set(
        get_args(ObjectChangeKind)
    )
    assert values("explain-v1", "$defs", "resolution") == set(get_args(Resolved))
    assert values("explain-v1", "$defs", "setting", "properties", "how") == set(get_args(SettingState))
    explanation = ("$defs", "explanation", "properties")
    assert values("explain-v1", *explanation, "class") == set(get_args(PolicyClass))
    assert values("explain-v1", *explanation, "reaches", "items", "properties", "extent") == set(get_args(Extent))
    assert values("simulation-v1", "$defs", "conditions", "items", "properties", "status") == set(get_args(Status))
    assert values("reach-v1", "$defs", "answer", "properties", "state") == set(get_args(AskedState))
    assert at("trace-v1", "$defs", "asked", "properties").keys() == {*FIELDS} - {"expect"}
    facts = ("$defs", "trace", "properties", "checks", "items", "properties", "fact")
    assert values("trace-v1", *facts) == set(FACTS)
