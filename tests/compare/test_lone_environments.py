"""Environments of one side alone: those that nobody declared come and go with how directories exclude each other."""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides
from policylint.simulation import Simulation
from tests.compare.test_openings import EDGE, ON_EDGE, route
from tests.worlds import service, simulated

LOGIN = (EDGE, service(ports="[{port: 8080}]"), route(), ON_EDGE)


def environment(name: str, *manifests: str, declared: bool = False) -> Simulation:
    simulation = simulated(*manifests)
    simulation.world.name, simulation.world.by_deployer = name, declared
    return simulation


def changed(before: list[Simulation], after: list[Simulation]) -> set[str]:
    changes = compare(pair_sides(before, after))
    return {each.name for each in changes if each.change or (each.requests is not None and each.requests.changes)}


@pytest.mark.parametrize(("declared", "told"), [(False, set()), (True, {"loki"})])
def test_what_another_environment_has_is_not_gone(declared: bool, told: set[str]) -> None:
    both, lone = environment("default", *LOGIN), environment("loki", *LOGIN, declared=declared)
    assert changed([both, lone], [both]) == told
    assert changed([both], [both, lone]) == told


def test_what_is_gone_everywhere_is_told() -> None:
    before = [environment("default", *LOGIN), environment("loki", *LOGIN)]
    assert changed(before, [environment("default", *LOGIN[:-1])]) == {"default", "loki"}


def test_what_no_other_environment_has_is_gone() -> None:
    assert changed(
        [environment("default", service("other")), environment("loki", *LOGIN)],
        [environment("default", service("other"))],
    ) == {"loki"}
