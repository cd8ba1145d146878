"""`policylint export`: one file for each table, its rows as the schema promises them, for databases (docs/fleet.md)."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from policylint.cli.export import TABLES
from policylint.report import export
from policylint.report.export import columns
from tests.diff.history import run

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures" / "envoy-gateway-shop"
SCHEMA = json.loads((ROOT / "schemas" / "output" / "export-v1.json").read_text())
Tables = dict[str, list[dict[str, Any]]]


def exported(world: Path, out: Path, *more: str, code: int = 0) -> Tables:
    """The rows that a command writes, by table."""
    done = run(world, "export", str(world), "--to", str(out), *more)
    assert done[0] == code, done
    return {file.stem: [json.loads(line) for line in file.open()] for file in sorted(out.glob("*.jsonl"))}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return exported(SHOP, tmp_path_factory.mktemp("shop"), "--repository", "shop")


def worlds() -> list[Path]:
    """The fixtures, each of them a small repository."""
    return [place for place in sorted((ROOT / "fixtures").iterdir()) if place.is_dir() and place.name != "history"]


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_rows_are_what_the_schema_says(world: Path, tmp_path: Path) -> None:
    tables = exported(world, tmp_path / "out")
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(tables)] == []
    assert tables.keys() == {*TABLES}
    for table, rows in tables.items():
        for row in rows:
            assert list(row) == list(columns(table))


def test_the_tables_of_the_command_are_those_of_the_report_and_of_the_schema() -> None:
    assert TABLES == export.TABLES == tuple(SCHEMA["properties"])


def test_every_row_says_where_it_is_from(shop: Tables) -> None:
    for rows in shop.values():
        assert {(row["version"], row["repository"], row["environment"]) for row in rows} <= {
            ("export-v1", "shop", "default")
        }
    assert {row["file"] for row in shop["policies"]} >= {"fixtures/envoy-gateway-shop/infra/edge-jwt.yaml"}


def test_what_became_of_policies_and_their_settings(shop: Tables) -> None:
    verdicts = {row["policy"]: row["verdict"] for row in shop["policies"]}
    assert verdicts["SecurityPolicy infra/edge-jwt"] == "PartiallyEnforced"
    lost = [row for row in shop["settings"] if row["state"] == "lost"]
    assert {(row["object"], *row["policies"], *row["by"]) for row in lost} == {
        (f"HTTPRouteRule shop/checkout#{rule}", "SecurityPolicy infra/edge-jwt", "SecurityPolicy shop/checkout-cors")
        for rule in ("all", "canary", "pay")
    }
    limits = [row for row in shop["settings"] if row["pointer"] == "/rateLimit"]
    assert {json.loads(row["value"])["type"] for row in limits} == {"Local"}


def test_findings_and_ways_agree_with_the_commands(shop: Tables) -> None:
    linted = json.loads(run(SHOP, "lint", str(SHOP), "-o", "json")[1])["findings"]
    assert [row["fingerprint"] for row in shop["findings"]] == [finding["fingerprint"] for finding in linted]
    ways = json.loads(run(SHOP, "reach", str(SHOP), "-o", "json")[1])["ways"]
    assert [row["authentication"] for row in shop["ways"]] == [way["asked"]["authentication"]["state"] for way in ways]


def test_only_one_table(tmp_path: Path) -> None:
    assert exported(SHOP, tmp_path, "--table", "objects").keys() == {"objects"}


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, said = run(SHOP, "export", str(SHOP), "--to", str(tmp_path / "file" / "out"))
    assert (code, "cannot write" in said) == (2, True)


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_parquet_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    code, _, said = run(SHOP, "export", str(SHOP), "--to", str(tmp_path), "-o", "parquet")
    assert (code, "pip install 'policylint[parquet]'" in said) == (2, True)


def test_parquet_holds_the_same_rows(shop: Tables, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    exported(SHOP, tmp_path, "--repository", "shop", "-o", "parquet")
    for table, rows in shop.items():
        assert parquet.read_table(tmp_path / f"{table}.parquet").to_pylist() == rows


HOSTILE = (
    "=HYPERLINK(\"https://a\")", "+cmd|' /C calc'!A0", "@SUM(1)", "../../outside", "a\0b",
    "a\nb,c\"d", "\u202edlrow", "1" * 400,
    "'; DROP TABLE findings; --", "\ud83d\ude00", "9007199254740993", "NaN", "true",
)  # fmt: skip
"""Words that are something else to a spreadsheet, a database, a file system or a reader of JSON."""


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_words_of_a_stranger_are_words_in_every_table(form: str, tmp_path: Path) -> None:
    """No column changes its type, no other file is written, and what was written is read again as it was."""
    world, out = tmp_path / "world", tmp_path / "out" / "deep"
    world.mkdir()
    routes = [
        {
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": word, "namespace": word}, "spec": {
                "parentRefs": [{"name": word}], "hostnames": [word],
                "rules": [{"matches": [{"path": {"value": f"/{word}"}, "headers": [{"name": word, "value": word}]}]}],
            },
        }
        for word in HOSTILE
    ]  # fmt: skip
    (world / "world.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": routes}))
    if form == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        exported(world, out, "--repository", HOSTILE[0], "-o", "parquet")
        tables = {table: parquet.read_table(out / f"{table}.parquet").to_pylist() for table in TABLES}
        plain = [parquet.read_schema(out / f"{table}.parquet") for table in TABLES]
        exported(SHOP, tmp_path / "shop", "-o", "parquet")
        assert plain == [parquet.read_schema(tmp_path / "shop" / f"{table}.parquet") for table in TABLES]
    else:
        tables = exported(world, out, "--repository", HOSTILE[0])
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(tables)] == []
    assert {row["repository"] for rows in tables.values() for row in rows} == {HOSTILE[0]}
    assert {path.name for path in out.iterdir()} == {f"{table}.{form}" for table in TABLES}
    assert {path.name for path in tmp_path.iterdir()} <= {"world", "out", "shop"}
    words = {word for row in tables["findings"] for word in HOSTILE if word in json.dumps(row, ensure_ascii=False)}
    assert len(words) > 3, "they are there"


def test_duckdb_asks_several_repositories_what_the_page_asks(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    for name, world in (("one", SHOP), ("two", ROOT / "fixtures" / "baker-parable")):
        exported(world, tmp_path / "fleet" / name, "--repository", name)
    page = (ROOT / "docs" / "fleet.md").read_text()
    questions = [part.partition("```")[0] for part in page.split("```sql\n")[1:]]
    assert len(questions) >= 3
    database = duckdb.connect()
    for question in questions:
        database.execute(question.replace("fleet/", f"{tmp_path}/fleet/")).fetchall()
    open_ways = database.execute(questions[0].replace("fleet/", f"{tmp_path}/fleet/")).fetchall()
    assert ("one", "default", "shop.example.com", "Gateway infra/edge") in open_ways


IN_RAY = """
import runpy, sys
import ray
ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@pytest.mark.slow
def test_tasks_of_ray_export_two_repositories_with_two_workers(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("pyarrow")
    arguments = [str(ROOT / "deploy" / "fleet.py"), str(tmp_path), str(SHOP), str(ROOT / "fixtures" / "baker-parable")]
    subprocess.run([sys.executable, "-c", IN_RAY, *arguments], check=True, timeout=300)
    assert {file.parent.name for file in tmp_path.glob("*/policies.parquet")} == {SHOP.name, "baker-parable"}
