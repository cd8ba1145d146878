"""GWP910: a file, or a document in it, that could not be read; what it holds was not checked."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents.problem import TEMPLATE_BELOW
from policylint.model import Finding, Location, Spot
from policylint.simulation import Simulation

RULE = "GWP910"
_SUBJECT = {
    "too-large": "file is too large to be read",
    "not-utf8": "file is not UTF-8",
    "binary": "file is not text",
    "too-deep": "document is nested too deeply to be read",
    "alias-bomb": "document expands to more than can be read",
    "unreadable": "file cannot be read",
    "not-found": "file no longer exists",
    "not-a-regular-file": "file is not a regular file",
    "symlink-loop": "symbolic link leads back to itself",
    "broken-symlink": "symbolic link leads nowhere",
    "lfs-pointer": "file is kept in Git LFS, so it was not checked",
    "sparse-checkout": "files are not in the work tree, so they were not checked",
    "git": "git did not list the files",
}


def check(simulation: Simulation) -> Iterator[Finding]:
    for problem in simulation.world.problems:
        if problem.code == "duplicate-key":
            continue
        stops = problem.file in simulation.world.stopping
        is_template = problem.message == TEMPLATE_BELOW and not stops
        what = "a template" if is_template else "not valid YAML"
        says = "deployed and not valid YAML" if stops else f"{what}, so it was not checked"
        yield Finding(
            RULE,
            "error" if stops else "note" if is_template else "warning",
            _SUBJECT.get(problem.code, f"document is {says}"),
            Location(Spot(problem.file, problem.line, problem.column)),
            label=problem.message,
            help=simulation.world.stopping.get(problem.file, ()),
            field=problem.code,
        )


def of_faults(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each error of our own; asked for last, when all rules had their turn."""
    for fault in simulation.world.faults:
        yield Finding(
            RULE,
            "warning",
            f"{fault.stopped} was stopped by an internal error, so not everything was checked",
            Location(Spot(fault.file)) if fault.about is None else fault.about.name_location,
            resources=() if fault.about is None else (fault.about.key,),
            label=f"{fault.error}: please report it",
            field=f"internal-error {fault.stopped}",
        )
