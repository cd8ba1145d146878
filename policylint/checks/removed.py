"""What a change takes away is missing afterwards, and no longer merely unseen.

A reference to an object that no file has is uncertain while there are charts that were not rendered: one of them may
make it. But an object that was deployed from a file before the change is made by no chart, and if the change touches
nothing that makes objects out of sight, it is made by none afterwards. So whoever deletes a Gateway is told of the
routes that hang on it, whatever else the repository holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from policylint.model import Finding, ResourceKey
from policylint.simulation import Simulation

RULES = frozenset({"GWP101", "GWP401", "GWP406"})
"""Rules about one object that a reference names: the last of a finding's resources."""
MOST_FILES = 200
"""A change of more files than that is not looked through."""
Gone = Mapping[str, Mapping[ResourceKey, ResourceKey]]
"""By environment the objects that a change removes, each with what it is called now: itself, if it was not renamed."""
_MAKERS = re.compile(
    rb"(?m)^[ ]*kind:[ ]*[\"']?(?:Helm\w+|OCIRepository|GitRepository|Bucket|Application|ApplicationSet|ResourceSet\w*|"
    rb"FluxInstance|Kustomization|Component|ConfigMap|Secret|\w*ExternalSecret)\b"
)
"""Kinds out of which objects come that no file shows, and those that charts take values from."""
_REMOTE = re.compile(rb"helmCharts|helmChartInflation|generators|://|github\.com|\?ref=")
_COMMENT = re.compile(rb"(?m)(?:^|\s)#.*$")
_KIND = re.compile(rb"(?m)^kind:")


def uncertain(findings: Iterable[Finding]) -> list[Finding]:
    """Those that rest on an object that was not seen, and may be about one that is removed."""
    return [each for each in findings if each.confidence == "unknown" and each.rule in RULES and each.resources]


def gone(before: Sequence[Simulation], after: Sequence[Simulation]) -> Gone:
    """What only the side before has, in environments that both have."""
    now = {each.world.name: each.world.resources for each in after}
    return {
        each.world.name: {key: key for key in each.world.resources if key not in now[each.world.name]}
        for each in before
        if each.world.name in now
    }


def told(findings: list[Finding], removed: Gone, what: str, may_be_made: Callable[[], bool]) -> list[Finding]:
    """The findings, those that were uncertain and are about what the change removes as errors.

    Args:
        what: makes the change, e.g. `commit`.
        may_be_made: whether the change also touches what objects come from that no file shows (`may_make`); asked last.
    """
    about = {id(each) for each in uncertain(findings) if _is_gone(each, removed)}
    if not about or may_be_made():
        return findings
    return [_missing(each, removed, what) if id(each) in about else each for each in findings]


def _is_gone(finding: Finding, removed: Gone) -> bool:
    return all(finding.resources[-1] in removed.get(name, {}) for name in finding.environments)


def _missing(finding: Finding, removed: Gone, what: str) -> Finding:
    key = finding.resources[-1]
    said = finding.message.removesuffix(", which was not seen")
    new = removed[finding.environments[0]][key]
    done = "removes" if new == key else "renames"
    fix = f"keep {key}, or take this reference away as well" if new == key else f"refer to {new}, which it is now"
    return finding._replace(
        severity="error",
        confidence="assumed",
        message=f"{said}, which this {what} {done}" if said != finding.message else f"{said}: this {what} {done} {key}",
        label=f"{key} was deployed before",
        help=(*finding.help, f"fix: {fix}"),
    )


def is_kustomization(path: str) -> bool:
    return path.rpartition("/")[2].lower() in ("kustomization.yaml", "kustomization.yml", "kustomization")


def may_make(path: str, data: bytes) -> bool:
    """Whether a file as it stands after a change may be why objects come into being that no file shows."""
    if is_kustomization(path):
        return bool(_REMOTE.search(_COMMENT.sub(b"", data)))
    if "/templates/" in path or b"{{" in data:
        return True
    return not _KIND.search(data) or bool(_MAKERS.search(data))
