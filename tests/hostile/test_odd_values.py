"""A list, a map, a number, nothing or a truth value where a manifest has anything else: answers, and no error of ours.

What is looked up in a set, is a key of a dict or of a cache, or is asked for its beginning must be a text; YAML has
anything there.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.checks import run
from policylint.compare import compare, pair_sides, removed_protections
from policylint.model import faults
from policylint.reach import entries, entries_inside, ways_in
from policylint.simulation import Simulation
from policylint.trace import Tracer
from policylint.workspace import open_workspace
from tests.contract.own import WORLDS
from tests.nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^```yaml (?:bad|good)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
ODD: tuple[Any, ...] = (["x"], {"a": "b"}, 3, None, True)
_SEED, _WORLDS, _AT_ONCE, _ENTRIES, _MOST = 20261201, 2_000 if NIGHTLY else 30, 3, 6, 20


def _texts() -> list[str]:
    """Return worlds: those of the contract, the examples of the rules, and the files of small fixtures."""
    found = ["---\n".join(manifests) for manifests in WORLDS.values()]
    pages = sorted((ROOT / "rules").glob("GWP*.md"))
    found += [text for page in pages for text in EXAMPLE.findall(page.read_text(encoding="utf-8"))]
    return found + [file.read_text(encoding="utf-8") for file in sorted((ROOT / "fixtures").rglob("*.yaml"))]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key below a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


def _opened(documents: list[Any]) -> list[Simulation]:
    Path("world.yaml").write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    return open_workspace(["world.yaml"], alternatives=False).simulations


def _ask(before: list[Simulation], after: list[Simulation]) -> None:
    for simulation in after:
        list(run(simulation))
        tracer = Tracer(simulation)
        for entry in [*entries(tracer), *entries_inside(tracer)][:_ENTRIES]:
            list(ways_in(tracer, entry))
    for sides in (pair_sides(before, after), pair_sides(after, before)):
        removed_protections(sides, compare(sides))


def _raised(error: Exception) -> tuple[str, str]:
    raise error


def test_whatever_stands_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(faults, "described", _raised)  # no guard hides an error
    draw = random.Random(_SEED)
    worlds = [list(filter(None, yaml.safe_load_all(text))) for text in draw.choices(_texts(), k=_WORLDS)]
    for documents in (world for world in worlds if 0 < len(world) <= _MOST):
        before, changed = _opened(documents), deepcopy(documents)
        for _ in range(_AT_ONCE):
            held = [*_places(draw.choice(changed))]
            container, key = draw.choice(held) if held else ({}, "")
            container[key] = deepcopy(draw.choice(ODD))
        try:
            _ask(before, _opened(changed))
        except Exception as error:
            error.add_note(yaml.safe_dump_all(changed))
            raise


SERVICE = "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {type: NodePort, ports: [%s]}}"
ROUTE = (
    "{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: web, namespace: shop}, "
    "spec: {host: shop.example.com, to: {name: web}, port: {targetPort: %s}}}"
)
EGRESS = (
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web, namespace: shop}, spec: "
    "{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 80}], to: [{ipBlock: {cidr: 10.0.0.1/32}}]}]}}"
)


@pytest.mark.parametrize("odd", ["[x]", "{a: b}", "3", "null", "true"])
@pytest.mark.parametrize(
    ("port", "beside"),
    [
        ("{port: 80, nodePort: 30000, targetPort: ODD}", ""),
        ("{port: 80, name: ODD}", ROUTE % "web"),
        ("{port: 80}", ROUTE % "ODD"),
        ("{port: 80, targetPort: ODD}", EGRESS),
        ("{port: ODD}", EGRESS),
    ],
    ids=["published", "by name", "a Route", "leads on", "a port"],
)
def test_of_ports(odd: str, port: str, beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(faults, "described", _raised)
    held = SERVICE.replace("type: NodePort", "type: NodePort, clusterIP: 10.0.0.1") % port
    documents = [yaml.safe_load(each.replace("ODD", odd)) for each in (held, beside) if each]
    whole = _opened(yaml.safe_load_all(held.replace(", targetPort: ODD", "").replace("ODD", "80")))
    _ask(whole, _opened(documents))
