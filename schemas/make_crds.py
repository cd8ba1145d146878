"""Make schemas/crds/ from the CRDs that Gateway API and its implementations publish.

usage: python schemas/make_crds.py CRDS [--output DIR]

CRDS holds a folder per project (`SOURCES`). One file per kind comes out, `GROUP/KIND.json`: types, enums, patterns,
limits, required fields, defaults and rules in CEL, parsed, by version, without prose. Gateway API publishes two
channels: where both have a version, the file holds the wider one, the experimental, with `x-experimental: true` on
every field that the standard one lacks. The output depends on nothing but the input.

What a file says more than once stands in it once, on a line of its own; `{"": 5}` means what the sixth line says, and
the last line is the whole. So a reader parses it once, and keeps it once (policylint/schema/known.py).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policylint.cel.syntax import tree
from policylint.documents import read
from policylint.schema.known import read_shipped
from policylint.schema.rules import RULES
from policylint.schema.structural import structural

SOURCES = {
    "agentgateway": "agentgateway @ 75b4e6ce6",
    "ai-gateway": "Envoy AI Gateway @ c217da8a5",
    "aws": "AWS Gateway API Controller",
    "aws-load-balancer-controller": "AWS Load Balancer Controller @ 225f44568",
    "contour": "Contour @ 31c4bb38e",
    "envoy-gateway": "Envoy Gateway @ d32f282942",
    "gateway-api": "Gateway API v1.6.1",
    "gke": "GKE Gateway @ fc40d60",
    "gloo": "Gloo @ 8d57572e5",
    "istio": "Istio @ 86c9f01fd73",
    "kgateway": "kgateway @ 48460f7f9",
    "kong": "Kong @ b6e8d4f",
    "kuadrant": "Kuadrant @ ae698811",
    "linkerd": "Linkerd",
    "network-policy-api": "Network Policy API",
    "nginx-gateway-fabric": "NGINX Gateway Fabric @ e55bfe339",
    "open-cluster-management": "Open Cluster Management",
    "traefik": "Traefik",
}
"""Folder of CRDS → what its files come from, with the version where the project states one; NOTICE has the licences."""
CHANNELS = ("standard", "experimental")
"""Subfolders of a project that publishes its CRDs twice."""
UNGUARDED = "self.portSpecification == "
"""How rules of GKE begin that fail for want of a field which its documentation leaves out: no cluster has them so."""
SHORTEST = 12
"""The characters from which on it pays to name a value instead of repeating it."""
Versions = dict[str, dict[str, Any]]
Definition = dict[str, Any]


def definitions(folder: Path) -> Iterator[Definition]:
    """Yield every CRD right in a folder, by file name; of a chart's template what does not hang on its values."""
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml")):
        lines = path.read_bytes().splitlines(keepends=True)
        reading = read(b"".join(line for line in lines if b"{{" not in line), str(path), wanted=_is_definition)
        if reading.problems:
            raise ValueError(reading.problems)
        yield from (document.value for document in reading.documents)


def _is_definition(api_version: str, kind: str) -> bool:  # noqa: ARG001
    return kind == "CustomResourceDefinition"


def versions(crd: Mapping[str, Any]) -> Versions:
    """Return the schemas of a CRD by version, those that are no longer served included: trees hold them."""
    return {
        version["name"]: parsed(structural(version["schema"]["openAPIV3Schema"])) for version in crd["spec"]["versions"]
    }


def parsed(schema: Any) -> Any:
    """Return a schema whose rules are trees, without what only the API server asks for."""
    if isinstance(schema, list):
        return [parsed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: rules(value) if name == RULES else parsed(value) for name, value in schema.items()}


def rules(stated: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rules as trees, each with what its message is made of; those on changes are left out, and UNGUARDED."""
    result = []
    for rule in stated:
        expression = tree(rule["rule"])
        if expression is None:
            raise SystemExit(f"no expression: {rule['rule']}")
        if "oldSelf" in rule["rule"] or rule["rule"].startswith(UNGUARDED):
            continue
        entry = {"rule": expression, **{name: rule[name] for name in ("message", "fieldPath") if name in rule}}
        if "messageExpression" in rule:
            entry["messageExpression"] = tree(rule["messageExpression"])
        elif "message" not in rule:
            entry["message"] = f"failed rule: {rule['rule'].strip()}"
        result.append(entry)
    return result


def united(standard: Any, experimental: Any, path: str) -> Any:
    """Return what either channel allows: the experimental schema with its own fields marked.

    The rules are the experimental ones, which know all fields. They are the standard ones for who sets none of its own.
    """
    if not isinstance(standard, dict) or not isinstance(experimental, dict):
        return experimental
    result: dict[str, Any] = {}
    for name, value in experimental.items():
        if name == "properties":
            missing = standard.get(name, {}).keys() - value.keys()
            if missing:
                raise SystemExit(f"{path}: only the standard channel has {sorted(missing)}")
            result[name] = {
                field: united(standard[name][field], schema, f"{path}.{field}")
                if field in standard.get(name, {})
                else {"x-experimental": True, **schema}
                for field, schema in value.items()
            }
        elif name in ("items", "additionalProperties"):
            result[name] = united(standard.get(name), value, f"{path}[]")
        elif name == "enum":
            result[name] = value if set(value) >= set(standard.get(name, ())) else [*value, *standard[name]]
        elif name == RULES:
            result[name] = value
        elif name in standard:
            if value != standard[name]:
                raise SystemExit(f"{path}: the channels differ in {name}: {standard[name]} and {value}")
            result[name] = value
    return result


def kinds(source: Path) -> Iterator[dict[str, Any]]:
    """Yield the content of every file."""
    for folder, origin in SOURCES.items():
        if not (source / folder).is_dir():
            print(f"{folder}: no folder of this name, its files stay as they are")
            continue
        channels = [channel for channel in CHANNELS if (source / folder / channel).is_dir()]
        by_kind: dict[tuple[str, str], list[Definition]] = {}
        for channel in channels or ["."]:
            for crd in definitions(source / folder / channel):
                by_kind.setdefault((crd["spec"]["group"], crd["spec"]["names"]["kind"]), []).append(crd)
        for (group, kind), crds in sorted(by_kind.items()):
            schemas: Versions = {}
            for crd in crds:
                for version, schema in versions(crd).items():
                    schemas[version] = (
                        united(schemas[version], schema, f"{kind} {version}") if version in schemas else schema
                    )
            yield {"group": group, "kind": kind, "origin": origin, "versions": shared(schemas)}


def shared(schemas: Versions) -> dict[str, Any]:
    """Return the versions newest first; one with the schema of a newer one names that instead of repeating it."""
    result: dict[str, Any] = {}
    for version in sorted(schemas, key=lambda name: ("alpha" in name, "beta" in name, name)):
        same = next((other for other in result if result[other] == schemas[version]), None)
        result[version] = schemas[version] if same is None else same
    return result


def written(content: Mapping[str, Any]) -> str:
    """Return the text of a file."""
    numbers: dict[str, int] = {}
    times: dict[str, int] = {}

    def count(value: Any) -> None:
        text = texts[id(value)] = compact(value)
        if isinstance(value, dict | list) and len(text) >= SHORTEST:
            times[text] = times.get(text, 0) + 1
            for inner in (value.values() if isinstance(value, dict) else value) if times[text] == 1 else ():
                count(inner)

    def place(value: Any) -> Any:
        text = texts.get(id(value)) or compact(value)
        if text in numbers:
            return {"": numbers[text]}
        if isinstance(value, list):
            short: Any = [place(inner) for inner in value]
        elif isinstance(value, dict):
            short = {name: place(value[name]) for name in sorted(value)}
        else:
            return value
        if times.get(text, 0) < 2:
            return short
        lines.append(compact(short))
        numbers[text] = len(lines) - 1
        return {"": numbers[text]}

    lines: list[str] = []
    texts: dict[int, str] = {}
    count(content)
    whole = place(content)
    return "\n".join([*lines, compact(whole)]) + "\n"


def compact(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def main() -> None:
    """Write the files, and remove those of kinds that are gone."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("crds", type=Path)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "crds")
    chosen = parser.parse_args()
    absent = {origin for folder, origin in SOURCES.items() if not (chosen.crds / folder).is_dir()}
    before = sorted(chosen.output.glob("*/*.json"))
    made = {path for path in before if read_shipped(path.read_text(encoding="utf-8"))["origin"] in absent}
    for content in kinds(chosen.crds):
        path = chosen.output / content["group"] / f"{content['kind']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written(content), encoding="utf-8")
        made.add(path)
    for path in before:
        if path not in made:
            path.unlink()


if __name__ == "__main__":
    main()
