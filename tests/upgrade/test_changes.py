"""Each change of the catalog of releases is reported in a world that has it, and in none that has not.

The worlds are data: one file per product below `worlds/`. Of what the schemas of releases show (`change: validation`,
`field`, `served`, `schema-default`) there are worlds for what the notes of the releases call breaking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.catalog.releases import names, product, shown, version
from policylint.session.upgrade import run_upgrade
from policylint.upgrade import Consequence
from policylint.workspace import open_workspace

WORLDS = Path(__file__).parent / "worlds"
BY_SCHEMAS = {"validation", "field", "served", "schema-default"}
Entry = Mapping[str, Any]


def entries() -> Iterator[Any]:
    """Yield product, what comes before its worlds, and each world."""
    for path in sorted(WORLDS.glob("*.yaml")):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        for number, entry in enumerate(content["worlds"]):
            told = "-".join(str(entry[part]) for part in ("release", "change") if part in entry)
            yield pytest.param(path.stem, content.get("base", ""), entry, id=f"{path.stem}-{told}-{number}")


def consequences(name: str, text: str, entry: Entry, folder: Path) -> list[Consequence]:
    """Return what a release makes of a world, by the change that the entry is about."""
    about = product(name)
    stated = {change.name: change.release for change in about.changes}
    release = stated.get(entry["change"]) or version(entry["release"])
    assert release is not None
    before = max(each for each in about.releases if each < release)
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    if "kustomization" in entry:
        (folder / "kustomization.yaml").write_text(entry["kustomization"], encoding="utf-8")
    found = run_upgrade(open_workspace([str(folder)]), {name: release}, {name: before}).consequences
    return [each for each in found if each.change == entry["change"] and entry.get("says", "") in each.says]


@pytest.mark.parametrize(("name", "base", "entry"), [*entries()])
def test_a_change_is_told_where_it_shows(name: str, base: str, entry: Entry, tmp_path: Path) -> None:
    found = consequences(name, f"{base}\n---\n{entry['shows']}", entry, tmp_path)
    assert found, "not reported"
    assert all(each.line > 0 and each.file for each in found)


@pytest.mark.parametrize(("name", "base", "entry"), [*entries()])
def test_a_change_is_not_told_where_it_does_not_show(name: str, base: str, entry: Entry, tmp_path: Path) -> None:
    silent = {key: value for key, value in entry.items() if key != "kustomization"}
    assert consequences(name, f"{base}\n---\n{entry['silent']}", silent, tmp_path) == []


@pytest.mark.parametrize("name", names())
def test_every_change_has_its_worlds(name: str) -> None:
    tested = {entry.values[2]["change"] for entry in entries() if entry.values[0] == name} - BY_SCHEMAS
    assert tested == {change.name for change in product(name).changes}


@pytest.mark.parametrize("name", names())
def test_what_schemas_show_has_its_worlds(name: str) -> None:
    """What the notes call breaking, and no entry of the catalog but a schema tells, stands in the table as well."""
    told = {
        (version(entry.values[2]["release"]), entry.values[2]["about"])
        for entry in entries()
        if entry.values[0] == name and entry.values[2]["change"] in BY_SCHEMAS
    }
    assert told == set(product(name).by_schemas)


@pytest.mark.parametrize("name", names())
def test_changes_are_of_known_releases_and_effects(name: str) -> None:
    from policylint.catalog.releases import EFFECTS

    about = product(name)
    assert {change.effect for change in about.changes} <= EFFECTS.keys()
    assert {shown(change.release) for change in about.changes} <= {shown(release) for release in about.releases}
    assert len({change.name for change in about.changes}) == len(about.changes)
    for change in about.changes:
        assert change.says and change.todo and change.places, change.name


BACKEND = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: files, namespace: shop}
spec:
  endpoints: [{fqdn: {hostname: files.example.com, port: 443}}]
  tls: {insecureSkipVerify: true}
"""


def found_between(text: str, start: str, end: str, folder: Path) -> list[tuple[str, str]]:
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    first, last = (version(each) or () for each in (start, end))
    found = run_upgrade(open_workspace([str(folder)]), {"envoy-gateway": last}, {"envoy-gateway": first}).consequences
    return [(shown(each.release), each.change) for each in found]


def test_what_only_a_release_on_the_way_refuses_is_not_told(tmp_path: Path) -> None:
    """A Backend has TLS of its own from 1.5 on; what was no field at the start is not lost with a release that has it
    only for others."""
    assert not {"field", "validation"} & {change for _, change in found_between(BACKEND, "1.2", "1.9", tmp_path)}


def test_what_was_no_field_before_is_not_called_gone(tmp_path: Path) -> None:
    assert "field" not in {change for _, change in found_between(BACKEND, "1.2", "1.4", tmp_path)}


def test_a_path_over_several_releases_tells_what_each_of_them_changes(tmp_path: Path) -> None:
    """Changes of 1.3 and of 1.9 are told of one object, whatever lies between."""
    policy = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: p, namespace: shop}
spec:
  telemetry:
    tracing: {samplingFraction: {numerator: 1}, provider: {type: Zipkin, backendRefs: [{name: z, port: 9411}]}}
  provider:
    type: Kubernetes
    kubernetes:
      envoyDeployment: {patch: {value: {spec: {template: {spec: {containers: [{name: envoy, ports: []}]}}}}}}
"""
    told = found_between(policy, "1.2", "1.9", tmp_path)
    assert {("1.3", "container-ports"), ("1.8", "sampling-fraction"), ("1.9", "client-sampling")} <= {*told}
