"""GWP526 setting-misleads: settings that do something else than they seem to say.

Which they are says the catalog (`misleads`), with an expression that is false of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.content import places
from policylint.cel.evaluation import Program, are_broken
from policylint.cel.nodes import Fuel
from policylint.cel.syntax import tree
from policylint.checks.kit.locations import path
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP526"
_STEPS = 100_000


def check(simulation: Simulation) -> Iterator[Finding]:
    programs: dict[str, Program | None] = {}
    for state in simulation.policies.values():
        for misleading in () if state.invalid_code else state.kind.misleads:
            for pointer, value in places(state.policy.spec, misleading.path, ("spec",)):
                if misleading.holds not in programs:
                    read = tree(misleading.holds)
                    programs[misleading.holds] = None if read is None else Program(read, {}, Fuel(_STEPS))
                if are_broken((programs[misleading.holds],), value):
                    yield Finding(
                        RULE,
                        "note",
                        f"{path(pointer)} of {state.key} does not do what it appears to do",
                        state.policy.location(*pointer, key=isinstance(pointer[-1], str)),
                        resources=(state.key,),
                        label=misleading.says,
                        help=(f"fix: {misleading.repair}",) if misleading.repair else (),
                        field=path(pointer),
                    )
