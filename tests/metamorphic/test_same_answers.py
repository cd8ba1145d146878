"""How a tree is written changes no answer about it: order, files, style, overlays, what has nothing to do with it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from policylint.implementations.istio.labels import BACKEND_TRAFFIC
from policylint.model import mapping, sequence
from policylint.reach import all_ways, asked, end_in_words
from policylint.trace import Tracer
from policylint.trace.requirements import Requirements
from policylint.workspace import open_workspace
from tests.implementations.test_predicted import WORLDS, base_of
from tests.nightly import NIGHTLY

SEED = 713
ABOUT_FILES = ("GWP5", "GWP9")
"""Families of rules that speak of how something is written, and may."""
UNRELATED = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "far-away", "labels": {"team": "nobody"}}},
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "far", "namespace": "far-away"},
        "data": {"app": "value"},
    },
    {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "far", "namespace": "far-away"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    },
    {
        "apiVersion": "security.istio.io/v1",
        "kind": "PeerAuthentication",
        "metadata": {"name": "far", "namespace": "far-away"},
        "spec": {"mtls": {"mode": "PERMISSIVE"}, "selector": {"matchLabels": {"app": "far"}}},
    },
)


class Said(NamedTuple):
    """What is said of a tree, without where it is written."""

    verdicts: frozenset[tuple[str, str]]
    ways: frozenset[tuple[str, ...]]
    findings: frozenset[tuple[str, ...]]


def said(place: Path) -> Said:
    """Read a tree, and return what readers say of it."""
    (simulation,) = (workspace := open_workspace([str(place)])).simulations
    verdicts = {(str(key), state.verdict) for key, state in simulation.policies.items() if not is_far(str(key))}
    requirements = Requirements(Tracer(simulation))
    ways = {
        (
            way.entry.host, str(way.entry.gateway), str(way.entry.port), way.requests, end_in_words(way.trace),
            *(str(asked(requirements, way, each)._replace(why="")) for each in ("authentication", "authorization")),
        )
        for way in all_ways(simulation)
    }  # fmt: skip
    findings = {
        (finding.rule, finding.severity, finding.confidence, finding.message)
        for finding in workspace.findings()
        if not finding.rule.startswith(ABOUT_FILES) and not is_far(finding.message)
    }
    return Said(frozenset(verdicts), frozenset(ways), frozenset(findings))


def is_far(words: str) -> bool:
    return "far-away" in words


Bodies = list[dict[str, Any]]


class _Writer(yaml.SafeDumper):
    """Quotes what Kubernetes reads as a boolean, and PyYAML as a text: a route may be called `n`."""


def _text(writer: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "'" if value in ("y", "Y", "n", "N") else None
    return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Writer.add_representer(str, _text)


def in_one_file(bodies: Bodies) -> dict[str, str]:
    return {"world.yaml": yaml.dump_all(bodies, Dumper=_Writer, sort_keys=False)}


def reversed_order(bodies: Bodies) -> dict[str, str]:
    return in_one_file(bodies[::-1])


def keys_sorted(bodies: Bodies) -> dict[str, str]:
    return {"world.yaml": yaml.dump_all(bodies, Dumper=_Writer, sort_keys=True, default_flow_style=True, width=4000)}


def carriage_returns(bodies: Bodies) -> dict[str, str]:
    return {name: text.replace("\n", "\r\n") for name, text in in_one_file(bodies).items()}


def as_json(bodies: Bodies) -> dict[str, str]:
    return {"world.yaml": "\n---\n".join(json.dumps(body, indent=1) for body in bodies)}


def as_a_list(bodies: Bodies) -> dict[str, str]:
    return {"world.yaml": yaml.dump({"apiVersion": "v1", "kind": "List", "items": bodies}, Dumper=_Writer)}


def a_file_each(bodies: Bodies) -> dict[str, str]:
    names = random.Random(SEED).sample(range(1000), len(bodies))
    return {
        f"{'abc'[name % 3]}/{name}.yaml": yaml.dump(body, Dumper=_Writer)
        for name, body in zip(names, bodies, strict=True)
    }


def in_an_overlay(bodies: Bodies) -> dict[str, str]:
    files = a_file_each(bodies)
    return files | {"kustomization.yaml": yaml.safe_dump({"resources": sorted(files)})}


def beside_unrelated(bodies: Bodies) -> dict[str, str]:
    """A policy of Istio tells which mesh serves routes of Services, and that somebody reads XBackendTrafficPolicies, so
    that it is none of these beside such a route or policy."""
    parents = [mapping(each) for body in bodies for each in sequence(mapping(body.get("spec")).get("parentRefs"))]
    asks_who = any(each.get("kind") == "Service" for each in parents) or any(
        body.get("kind") == BACKEND_TRAFFIC for body in bodies
    )
    tells_more = asks_who and "istio.io" not in json.dumps(bodies)
    return in_one_file([*bodies, *UNRELATED[: -1 if tells_more else None]])


WAYS: tuple[Callable[[Bodies], dict[str, str]], ...] = (
    reversed_order, keys_sorted, carriage_returns, as_json, as_a_list, a_file_each, in_an_overlay, beside_unrelated,
)  # fmt: skip


def written(place: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return place


def bodies_of(name: str) -> Bodies:
    """Return the objects of a predicted world, which nobody changes in place."""
    return [body for text in (*base_of(name), *WORLDS[name][1].policies) for body in _bodies(text)]


@cache
def _bodies(text: str) -> tuple[dict[str, Any], ...]:
    """Read a text once: worlds of one implementation stand on the same ones."""
    return tuple(body for body in yaml.safe_load_all(text) if body)


def sampled() -> Iterator[Any]:
    """Yield worlds, each with a way to write it: the same in every run, or all with POLICYLINT_NIGHTLY=1."""
    generator = random.Random(SEED)
    names = sorted(WORLDS)
    generator.shuffle(names)
    for number, name in enumerate(names):
        for way in WAYS:
            drawn = number % len(WAYS) == WAYS.index(way) and number < 30 * len(WAYS)
            if drawn or NIGHTLY:
                yield pytest.param(name, way, id=f"{name}-{way.__name__}")


@pytest.mark.parametrize(("name", "way"), list(sampled()))
def test_answers_are_about_objects_and_not_about_texts(
    name: str, way: Callable[[Bodies], dict[str, str]], tmp_path: Path
) -> None:
    bodies = bodies_of(name)
    plain = said(written(tmp_path / "plain", in_one_file(bodies)))
    other = said(written(tmp_path / "other", way(bodies)))
    for kind, ours, theirs in zip(Said._fields, plain, other, strict=True):
        assert ours ^ theirs == frozenset(), kind
