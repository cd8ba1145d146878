"""Envoy Gateway as a witness: what its translator and its CRDs say of a world, and what policylint says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from policylint.catalog.kinds import Catalog
from policylint.model import World
from policylint.report.simulate.status import stanzas
from policylint.schema.broken import BrokenObject, broken_objects
from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests.witness.envoy_gateway_worlds import CERTIFICATE, GATEWAY_API, GROUP, PRIVATE_KEY
from tests.witness.facts import Facts, of_statuses
from tests.witness.grammar import Manifest, manifest, name_of
from tests.witness.programs import Program

SOURCE = Path(__file__).parent / "envoy_gateway"
NOT_WRITTEN = ("Programmed", "OverlappingTLSConfig")
"""Conditions that hang on the proxies that run, or on the names in certificates, which few trees hold."""
REFUSED = " | API server"
NOT_COMPARED = ("Backend", "EnvoyProxy", "HTTPRouteFilter")
"""Kinds whose statuses policylint does not write."""
ABOUT = (
    "Its own translator and its CRDs: which objects the API server refuses, and the conditions, counts and kinds in the"
    " status of every Gateway, ListenerSet, route and policy."
)
CLASS = "eg"
_WAITING = {"conditions": [{"type": "Accepted", "status": "Unknown", "reason": "Pending"}]}
_FILLER = "filler"
_FILLERS = [
    manifest(
        f"{GATEWAY_API}/v1",
        "Gateway",
        _FILLER,
        _FILLER,
        spec={"gatewayClassName": _FILLER, "listeners": [{"name": "a", "port": 1, "protocol": "HTTP"}]},
    ),
    manifest(
        f"{GATEWAY_API}/v1",
        "ListenerSet",
        _FILLER,
        _FILLER,
        spec={"parentRef": {"name": _FILLER}, "listeners": [{"name": "b", "port": 2, "protocol": "HTTP"}]},
    ),
]
_OWN = {
    "envoy": {"tls.crt": CERTIFICATE, "tls.key": PRIVATE_KEY, "ca.crt": CERTIFICATE},
    "envoy-oidc-hmac": {"hmac-secret": "shop-shop-shop-shop-shop-shop-12"},
}
"""The Secrets that Envoy Gateway made for itself when it was installed."""


class Controller(Program):
    """The running translator, with a real certificate."""

    def __init__(self, program: Path, certificate: str, key: str) -> None:
        super().__init__(program)
        self._material = ((CERTIFICATE, certificate), (PRIVATE_KEY, key))

    def ask(self, objects: Sequence[Manifest], **options: bool) -> dict[str, Any]:
        """Return the answer of envoy_gateway/main.go: which of all are refused, and what comes of the others."""
        refused = self._ask(objects)["refused"]
        stored = [each for each in objects if name_of(each) not in refused]
        return self._ask(read_by_it(stored), **options) | {"refused": refused}

    def _ask(self, objects: Sequence[Manifest], **options: bool) -> dict[str, Any]:
        own = [manifest("v1", "Secret", name, "envoy-gateway-system", stringData=held) for name, held in _OWN.items()]
        return dict(self.answer(with_material({"objects": [*objects, *own], **options}, self._material)))


def with_material(value: Any, material: Sequence[tuple[str, str]]) -> Any:
    """Return a value with a real certificate and key in place of what stands for them."""
    text = json.dumps(value)
    for placeholder, real in material:
        text = text.replace(json.dumps(placeholder)[1:-1], json.dumps(real)[1:-1])
    return json.loads(text)


def simulated(objects: Sequence[Manifest]) -> Simulation:
    """Read a world as the commands read what a cluster holds (`--live`): what is not in it, is nowhere.

    Where the API server has refused the only object of a kind, another one says that its kind is in sight.
    """
    opened = open_workspace([_written(objects)])
    assert not opened.faults, opened.faults
    return opened.simulations[0]


class _JudgedError(Exception):
    """What ends the reading of a world whose objects are judged by their schemas."""


def broken(objects: Sequence[Manifest]) -> list[BrokenObject]:
    """Return what a simulation of a world says of its schemas, without what comes of the objects: most of the time."""
    found: list[BrokenObject] = []

    def judge(world: World, catalog: Catalog) -> Simulation:
        found.extend(broken_objects(world, [], catalog.releases, catalog.told))
        raise _JudgedError

    with patch("policylint.workspace.worlds.simulate", judge), suppress(_JudgedError):
        open_workspace([_written(objects)])
        raise AssertionError("nothing was judged")
    return found


def _written(objects: Sequence[Manifest]) -> str:
    """Return a file that holds a world."""
    file = Path(_place().name) / "cluster.yaml"
    items = [*objects, *_FILLERS]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(file)


@cache
def _place() -> TemporaryDirectory[str]:
    """Return the folder for one world after the other; removing it for each takes longer than reading the world."""
    return TemporaryDirectory()


def refusals(judged: Iterable[BrokenObject]) -> Facts:
    """Return the objects that the API server refuses, as policylint says."""
    return {
        f"{each.resource.key.kind} {each.resource.key.namespace}/{each.resource.key.name}{REFUSED}": "refused"
        for each in judged
        if each.resource.key.group in (GATEWAY_API, GROUP)
        and any(violation.code != "unknown-field" for violation in each.violations)
    }


def statuses(simulation: Simulation) -> Facts:
    """Return the statuses, as policylint says."""
    told = [
        {"kind": each["kind"], "namespace": "", **each["metadata"], "status": each["status"]}
        for each in stanzas(simulation)
        if each["metadata"]["name"] != _FILLER
    ]
    return of_statuses(told, NOT_WRITTEN)


def real_facts(controller: Controller, objects: Sequence[Manifest]) -> tuple[Facts, list[Manifest]]:
    """Return what Envoy Gateway says of a world, and the objects that the API server takes."""
    answer = controller.ask(objects)
    if answer.get("error"):
        return {"| failed": answer["error"]}, list(objects)
    refused = {f"{name}{REFUSED}": "refused" for name in answer["refused"]}
    stored = [each for each in objects if name_of(each) not in answer["refused"]]
    told = [each for each in answer["statuses"] if each["kind"] not in NOT_COMPARED]
    for each in _of_kind(stored, "Gateway"):
        if each["spec"]["gatewayClassName"] != CLASS:  # what its CRD fills in stays
            told.append({"kind": "Gateway", "namespace": _name(each)[0], "name": _name(each)[1], "status": _WAITING})
    return refused | of_statuses(told, NOT_WRITTEN), stored


def read_by_it(objects: Sequence[Manifest]) -> list[Manifest]:
    """Return what the controller hands to its translator: of ListenerSets those of its own Gateways."""
    own = {_name(each) for each in _of_kind(objects, "Gateway") if each["spec"]["gatewayClassName"] == CLASS}
    return [
        each
        for each in objects
        if each["kind"] != "ListenerSet"
        or (
            each["spec"]["parentRef"].get("namespace", each["metadata"]["namespace"]),
            each["spec"]["parentRef"]["name"],
        )
        in own
    ]


def _of_kind(objects: Sequence[Manifest], kind: str) -> list[Manifest]:
    return [each for each in objects if each["kind"] == kind]


def _name(manifest: Manifest) -> tuple[str, str]:
    return manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def our_facts(objects: Sequence[Manifest], stored: Sequence[Manifest]) -> Facts:
    """Return what policylint says: of all objects which are refused, and the statuses where only the others are."""
    simulation = simulated(stored)
    return refusals(simulation.broken if len(stored) == len(objects) else broken(objects)) | statuses(simulation)


def refused(facts: Facts) -> set[str]:
    """Return the objects that the API server refuses, of facts of the real side."""
    return {fact.removesuffix(REFUSED) for fact in facts if fact.endswith(REFUSED)}


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    required = re.findall(r"^\t(\S+) (v\S+)$", (SOURCE / "go.mod").read_text(), re.MULTILINE)
    versions = {name: version for name, version in required if name.endswith(("/gateway", "/gateway-api"))}
    return {"title": "Envoy Gateway", "about": ABOUT, "versions": versions}
