"""A policy that asks for less closes nothing; its reverse opens nothing, and is no weakening."""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests.contract.environment import Change
from tests.implementations.test_predicted import WORLDS
from tests.metamorphic.renaming import renaming
from tests.metamorphic.test_same_answers import SEED, Bodies, bodies_of, in_one_file, said, written
from tests.metamorphic.weaker import Body, weaker
from tests.nightly import NIGHTLY

SAMPLED = 60
LESS = frozenset({"GWP302", "GWP304", "GWP325", "GWP620", "GWP621"})
"""Rules that speak of less protection."""


def wrong(place: Path, before: Bodies, after: Bodies) -> Iterator[tuple[str, str]]:
    """Yield what is said wrongly of a change after which less is asked, and of its reverse."""
    opened: list[tuple[Simulation, ...]] = []
    for side, bodies in (("before", before), ("after", after)):
        file = written(place / side, in_one_file(bodies)) / "world.yaml"
        opened.append(tuple(open_workspace([str(file)], alternatives=False, render="off").simulations))
    if [len(each) for each in opened] != [1, 1]:
        return
    if any(broken.refusal is not None for each in opened for one in each for broken in one.broken):
        return
    ((old,), (new,)) = opened
    for change, requests, connections in (
        (Change(old, new), "closed", ("closed", "narrowed")),
        (mended := Change(new, old), "opened", ("opened", "widened")),
    ):
        found = change.found.requests
        told = [str(each) for each in (() if found is None else found.changes) if each.change == requests]
        told += [str(each) for each in change.found.connections if each.change in connections]
        if told:
            yield requests, told[0]
    less = [each for each in mended.findings if each.rule in LESS and each.severity != "note"]
    if less:
        yield f"its reverse is {less[0].rule}", "\n".join(each.message for each in less)


def offered() -> Iterator[tuple[str, int, str, Body | None]]:
    for name in sorted(WORLDS):
        for number, body in enumerate(bodies_of(name)):
            for words, other in weaker(body):
                yield name, number, words, other


def sampled() -> list[object]:
    """Draw a change of each sort for each kind: the same in every run, or all with POLICYLINT_NIGHTLY=1."""
    every = list(offered())
    random.Random(SEED).shuffle(every)
    of_sort = {(str(bodies_of(each[0])[each[1]].get("kind")), each[2]): each for each in every}
    drawn = sorted(every if NIGHTLY else of_sort.values(), key=lambda each: each[:3])
    return [pytest.param(*each, id=f"{each[0]}-{each[1]}-{each[2]}") for each in drawn]


@pytest.mark.parametrize(("name", "number", "words", "other"), sampled())
def test_a_policy_that_asks_for_less_closes_nothing(
    name: str, number: int, words: str, other: Body | None, tmp_path: Path
) -> None:
    bodies = bodies_of(name)
    after = [*bodies[:number], *([] if other is None else [other]), *bodies[number + 1 :]]
    assert list(wrong(tmp_path, bodies, after)) == [], words


@pytest.mark.parametrize("name", sorted(WORLDS) if NIGHTLY else random.Random(SEED).sample(sorted(WORLDS), SAMPLED))
def test_names_change_nothing(name: str, tmp_path: Path) -> None:
    bodies = bodies_of(name)
    chosen = renaming(random.Random(f"{SEED}/{name}"), bodies)
    if chosen is None:
        pytest.skip("every name of it means something")
    plain = said(written(tmp_path / "plain", in_one_file(bodies)))
    other = said(written(tmp_path / "other", in_one_file(chosen.of(bodies))))
    for kind in ("verdicts", "ways"):
        ours, theirs = (
            {tuple(chosen.back(word) for word in entry) for entry in getattr(each, kind)} for each in (plain, other)
        )
        assert ours == theirs, chosen
    assert sorted(entry[:3] for entry in plain.findings) == sorted(entry[:3] for entry in other.findings), chosen


def of_cilium(peers: str, namespace: str) -> Bodies:
    """A policy of Cilium beside a namespace that is called as one of its entities is."""
    policy = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": {"name": "checkout", "namespace": namespace},
        "spec": yaml.safe_load(f"{{endpointSelector: {{}}, egress: [{peers}]}}"),
    }
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, policy]


@pytest.mark.parametrize("name", ["ingress", "world", "host"])
@pytest.mark.parametrize("peers", ["toEntities: [{0}]", "toEndpoints: [{{matchLabels: {{'reserved:{0}': ''}}}}]"])
def test_an_entity_is_no_name_that_may_be_exchanged(name: str, peers: str) -> None:
    """Renaming a namespace renames no entity, so a world that names both is not asked with one name for the two."""
    drawn = {renaming(random.Random(seed), of_cilium(f"{{{peers.format(name)}}}", name)) for seed in range(20)}
    assert {each and each.was for each in drawn} == {"checkout"}


def test_the_name_of_examples_is_no_name_that_may_be_exchanged() -> None:
    """Where a world names `other.example.com`, another host is the example, and with the name exchanged it is not."""
    route = {
        "kind": "HTTPRoute",
        "metadata": {"name": "checkout", "namespace": "other"},
        "spec": {"hostnames": ["*.example.com", "other.example.com"]},
    }
    assert {(each := renaming(random.Random(seed), [route])) and each.was for seed in range(20)} == {
        "checkout",
        "example",
    }


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_host_in_a_certificate_is_no_name_that_may_be_exchanged(*, wrapped: bool) -> None:
    """Its bytes would go on naming the former one (GWP420); in a Secret they are encoded twice."""
    content = b64encode(b"\x30\x82" * 30 + b"shop-one.example.com" + b"\x82" * 30).decode()
    pem = f"-----BEGIN CERTIFICATE-----\n{content[:64]}\n{content[64:]}\n-----END CERTIFICATE-----\n"
    secret = {"kind": "Secret", "data": {"tls.crt": b64encode(pem.encode()).decode() if wrapped else pem}}
    route = {"kind": "HTTPRoute", "metadata": {"name": "checkout"}, "spec": {"hostnames": ["shop-one.example.com"]}}
    drawn = {renaming(random.Random(seed), [secret, route]) for seed in range(20)}
    assert {each and each.was for each in drawn} == {"checkout"}
    assert {renaming(random.Random(seed), [route]) for seed in range(20)} > drawn
