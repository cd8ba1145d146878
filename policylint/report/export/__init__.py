"""Tables for databases: what was computed of each environment, in rows that many repositories share (docs/fleet.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import Finding, Location
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple
from policylint.report.kit.identity import Names, json_lines, json_pointer
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.policy.results import Effective

VERSION = "export-v1"
Row = dict[str, Any]


class Export(NamedTuple):
    """What is exported.

    Args:
        repository: the name under which its rows stand beside those of others.
        revision: the commit, "" where there is none.
        findings: each with its fingerprint.
        relative: a file as shown → its path below the git root; None for what is no file of the tree.
    """

    simulations: Sequence[Simulation]
    repository: str
    revision: str
    findings: Sequence[tuple[Finding, str]] = ()
    relative: Callable[[str], str | None] = lambda file: file

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table, by environment; all have the same columns, in the order of the schema."""
        about = {"version": VERSION, "repository": self.repository, "revision": self.revision}
        for environment, row in _TABLES[table](self):
            yield {**about, "environment": environment, **row}

    def place(self, location: Location | None) -> Row:
        """Return the columns that say where something is written."""
        return self.spot() if location is None else self.spot(location.file, location.at()[0])

    def spot(self, file: str | None = None, line: int | None = None) -> Row:
        """Return the same for a line of a file."""
        return {"file": file and (self.relative(file) or file), "line": line}


def columns(table: str) -> dict[str, str]:
    """Return the columns of a table with their types in JSON Schema, in order, as the schema promises them."""
    schema = json.loads(shipped_data("schemas", "output", f"{VERSION}.json"))
    found = {}
    for name, about in schema["properties"][table]["items"]["properties"].items():
        sort = {**schema["$defs"].get(about.get("$ref", "").rpartition("/")[2], {}), **about}.get("type", "string")
        found[name] = sort if isinstance(sort, str) else sort[0]
    return found


def written(form: str, export: Export, table: str) -> bytes:
    """Return a table as a file in a format (formats.py).

    Raises:
        ImportError: Parquet is wanted, and pyarrow is not installed.
    """
    lines = json_lines(export.rows(table), "\n")
    if form == "jsonl":
        return f"{lines}\n".encode("utf-8", "replace") if lines else b""
    import pyarrow
    from pyarrow import parquet

    types = {"integer": pyarrow.int64(), "array": pyarrow.list_(pyarrow.string())}
    fields = [(name, types.get(kind, pyarrow.string())) for name, kind in columns(table).items()]
    rows = [json.loads(line) for line in lines.splitlines()]
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields)), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _objects(export: Export) -> Iterator[tuple[str, Row]]:
    for simulation, names in _each(export):
        for key, resource in sorted(simulation.world.resources.items()):
            row = {
                "object": names.key(key),
                "api_version": f"{key.group}/{resource.version}" if key.group else resource.version,
                "kind": key.kind,
                "namespace": key.namespace,
                "name": key.name,
                "labels": _json(resource.labels),
            }
            yield simulation.world.name, row | export.place(resource.location())


def _policies(export: Export) -> Iterator[tuple[str, Row]]:
    for simulation, names in _each(export):
        for state in simulation.policies.values():
            row = {
                "policy": names.key(state.key),
                "kind": state.key.kind,
                "namespace": state.key.namespace,
                "name": state.key.name,
                "class": state.kind.policy_class,
                "verdict": state.verdict,
                "by": names.keys(state.by),
                "targets": sorted({names.target(target) for target in state.targets}),
                "sets": sorted({str(name) for declared in state.declared for name in declared.proper}),
            }
            yield simulation.world.name, row | export.place(state.policy.name_location)


def _settings(export: Export) -> Iterator[tuple[str, Row]]:
    for simulation, names in _each(export):
        for group in simulation.groups:
            if group.effective.sources:
                kind = names.kind(group.kind.group, group.kind.kind)
                rows = [{"kind": kind, **row} for row in _of_effective(group.effective, names, export)]
                for path in group.contexts():
                    context = names.path(path)
                    for row in rows:
                        yield simulation.world.name, {"object": context[-1], "path": context, **row}


def _of_effective(effective: Effective, names: Names, export: Export) -> Iterator[Row]:
    """Yield what the rows of one effective policy have in common in all contexts: fields in force, then lost values."""
    first: dict[object, Pointer] = {}
    for pointer in effective.owners:
        first.setdefault(pointer[0] if pointer else None, pointer)
    for field, owners in effective.origins().items():
        yield {
            "state": "effective",
            "pointer": json_pointer((field,)),
            "value": _json(effective.spec.get(field)),
            "policies": names.keys(owners),
            "by": [],
            **export.place(effective.location_of(first[field])),
        }
    lost = {(json_pointer(each.pointer), each.policy, each.by): each.location for each in effective.lost}
    for (written_at, policy, by), location in sorted(lost.items(), key=lambda each: each[0]):
        yield {
            "state": "lost",
            "pointer": written_at,
            "value": None,
            "policies": [names.key(policy)],
            "by": names.keys(by),
            **export.place(location),
        }


def _ways(export: Export) -> Iterator[tuple[str, Row]]:
    from policylint.report.reach import Question, entry_of, find

    found = find(export.simulations, Question())
    for row in found.rows:
        entry = entry_of(row, found)
        outcome, asked = entry["outcome"], entry["asked"]
        yield (
            row.simulation.world.name,
            {
                "gateway": entry["gateway"],
                "scheme": entry["scheme"],
                "port": entry["port"],
                "host": entry["host"],
                "requests": entry["requests"],
                "clients": entry["clients"],
                "backends": sorted(outcome.get("backends", ())),
                "outcome": next(iter(outcome)),
                **{purpose: asked[purpose]["state"] if purpose in asked else None for purpose in _ASKED},
                "policies": sorted({by["policy"] for given in asked.values() for by in given["by"] if by["policy"]}),
                "route": entry["route"],
                "rule": entry["rule"],
                "example": entry["example"],
                **export.spot(**entry.get("location", {})),
            },
        )


def _findings(export: Export) -> Iterator[tuple[str, Row]]:
    for finding, fingerprint in export.findings:
        row = {
            "rule": finding.rule,
            "severity": finding.severity,
            "confidence": finding.confidence,
            "message": finding.message,
            "objects": [str(key) for key in finding.resources],
            "fingerprint": fingerprint,
            **export.place(finding.location),
        }
        for environment in finding.environments:
            yield environment, row


def _placements(export: Export) -> Iterator[tuple[str, Row]]:
    from policylint.clusters.kinds import has_policies

    for simulation, names in _each(export):
        world = simulation.world
        for key, placed in simulation.hub.policies.items() if has_policies(world) else ():
            for row in placed:
                yield (
                    world.name,
                    {
                        "policy": names.key(key),
                        "action": row.action or None,
                        "clusters": list(simulation.hub.fleet.named(row.clusters)),
                        "perhaps": list(simulation.hub.fleet.named(row.possible)),
                        "reason": row.reason,
                        **export.place(world.resources[key].name_location),
                    },
                )


def _each(export: Export) -> Iterator[tuple[Simulation, Names]]:
    names = Names.of(export.simulations)
    for simulation in sorted(export.simulations, key=lambda simulation: simulation.world.name):
        yield simulation, names


_json = json.JSONEncoder(ensure_ascii=False, default=str, sort_keys=True).encode


_ASKED = ("authentication", "authorization")
_TABLES: Mapping[str, Callable[[Export], Iterable[tuple[str, Row]]]] = {
    "objects": _objects,
    "policies": _policies,
    "settings": _settings,
    "ways": _ways,
    "findings": _findings,
    "placements": _placements,
}
TABLES = tuple(_TABLES)
