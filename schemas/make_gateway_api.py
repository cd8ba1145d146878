"""Make schemas/gateway-api/ from the CRDs of a Gateway API release.

usage: python schemas/make_gateway_api.py CRDS [--output DIR]

CRDS holds the folders `standard` and `experimental` with the YAML that a release publishes. One file per kind comes
out: types, enums, patterns, limits and required fields by version, without prose. Where both channels have a version,
the file holds the wider one, the experimental, with `x-experimental: true` on every field that the standard one lacks.
The output depends on nothing but the input.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from policylint.schema.structural import structural

CHANNELS = ("standard", "experimental")
Versions = dict[str, dict[str, Any]]


def definitions(folder: Path) -> Iterator[dict[str, Any]]:
    """Every CRD below a folder, by file name."""
    for path in sorted(folder.glob("*.yaml")):
        for document in yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
            if document and document["kind"] == "CustomResourceDefinition":
                yield document


def versions(crd: Mapping[str, Any]) -> Versions:
    """The schemas of a CRD by version, those that are no longer served included: trees hold them."""
    return {each["name"]: structural(each["schema"]["openAPIV3Schema"]) for each in crd["spec"]["versions"]}


def united(standard: Any, experimental: Any, path: str) -> Any:
    """What either channel allows: the experimental schema with its own fields marked, without what only it forbids."""
    if not isinstance(standard, dict) or not isinstance(experimental, dict):
        return experimental
    found: dict[str, Any] = {}
    for name, value in experimental.items():
        if name == "properties":
            missing = standard.get(name, {}).keys() - value.keys()
            if missing:
                raise SystemExit(f"{path}: only the standard channel has {sorted(missing)}")
            found[name] = {
                field: united(standard[name][field], each, f"{path}.{field}")
                if field in standard.get(name, {})
                else {"x-experimental": True, **each}
                for field, each in value.items()
            }
        elif name in ("items", "additionalProperties"):
            found[name] = united(standard.get(name), value, f"{path}[]")
        elif name == "enum":
            found[name] = value if set(value) >= set(standard.get(name, ())) else [*value, *standard[name]]
        elif name in standard:
            if value != standard[name]:
                raise SystemExit(f"{path}: the channels differ in {name}: {standard[name]} and {value}")
            found[name] = value
    return found


def kinds(source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The content of every file by kind."""
    channels = {channel: list(definitions(source / channel)) for channel in CHANNELS}
    by_kind: dict[str, dict[str, dict[str, Any]]] = {}
    for channel, crds in channels.items():
        for crd in crds:
            by_kind.setdefault(crd["spec"]["names"]["kind"], {})[channel] = crd
    for kind, found in sorted(by_kind.items()):
        any_of_them = next(iter(found.values()))
        schemas: Versions = versions(found["standard"]) if "standard" in found else {}
        for version, schema in versions(found["experimental"]).items() if "experimental" in found else ():
            schemas[version] = united(schemas.get(version), schema, f"{kind} {version}")
        yield (
            kind,
            {
                "group": any_of_them["spec"]["group"],
                "kind": kind,
                "channel": "standard" if "standard" in found else "experimental",
                "versions": shared(schemas),
            },
        )


def shared(schemas: Versions) -> dict[str, Any]:
    """Versions newest first; one with the schema of a newer one names that instead of repeating it."""
    found: dict[str, Any] = {}
    for version in sorted(schemas, key=lambda each: ("alpha" in each, "beta" in each, each)):
        same = next((other for other in found if found[other] == schemas[version]), None)
        found[version] = schemas[version] if same is None else same
    return found


def main() -> None:
    """Write the files, and remove those of kinds that are gone."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("crds", type=Path)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "gateway-api")
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    written = set()
    for kind, content in kinds(chosen.crds):
        path = chosen.output / f"{kind}.json"
        path.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
        written.add(path)
    for path in sorted(chosen.output.glob("*.json")):
        if path not in written:
            path.unlink()


if __name__ == "__main__":
    main()
