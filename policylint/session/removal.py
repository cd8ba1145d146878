"""Findings about objects that a change removes: they are missing afterwards, no longer merely unseen.

A reference to an object that no file has is uncertain while there are charts that were not rendered: one of them may
make it. But an object that was deployed from a file before the change is made by no chart, and if the change touches
nothing that makes objects out of sight, it is made by none afterwards. So whoever deletes a Gateway is told of the
routes that hang on it, whatever else the repository holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.patterns import Pattern
from policylint.session.open import open_tree
from policylint.session.staged import changed_files, compared, former_listing, git, is_relevant, pushed_range

if TYPE_CHECKING:
    from policylint.compare import Sides
    from policylint.model import Finding, ResourceKey, Severity
    from policylint.session.diff import DiffSides
    from policylint.session.settings import Setup
    from policylint.simulation import Simulation
    from policylint.workspace import Workspace

RULES: Mapping[str, Severity] = {"GWP101": "error", "GWP401": "error", "GWP406": "error", "GWP409": "warning"}
"""Rules about one object that a reference names, the last of a finding's resources; how grave its removal is."""
MOST_FILES = 200
"""Changes of more files are not looked through."""
Gone = Mapping[str, "Mapping[ResourceKey, ResourceKey]"]
"""By environment the objects that a change removes, each with what it is called now: itself, if it was not renamed."""
_MAKERS = Pattern(
    rb"(?m)^[ ]*kind:[ ]*[\"']?(?:Helm\w+|OCIRepository|GitRepository|Bucket|Application|ApplicationSet|ResourceSet\w*|"
    rb"FluxInstance|Kustomization|Component|ConfigMap|Secret|\w*ExternalSecret)\b"
)
"""Kinds out of which objects come that no file shows, and those that charts take values from."""
_REMOTE = Pattern(rb"helmCharts|helmChartInflation|generators|://|github\.com|\?ref=")
_COMMENT = Pattern(rb"(?m)(?:^|\s)#.*$")
_KIND = Pattern(rb"(?m)^kind:")


def escalate_staged(findings: list[Finding], setup: Setup, workspace: Workspace) -> list[Finding]:
    """Return the findings of what is committed or pushed (`lint --hook`), those that were uncertain and are about what
    it removes as errors."""
    doubtful = _uncertain(findings)
    if not doubtful or not _removes(doubtful):
        return findings
    pushed = pushed_range()
    listing = former_listing(setup, pushed[0] if pushed else "HEAD")
    if listing is None:
        return findings
    setup = setup if workspace.scope is not None else setup.alone
    former = open_tree(setup._replace(options=setup.options._replace(strict=False)), listing=listing)
    gone = _gone(former.simulations, workspace.simulations)
    return escalate_removed(findings, gone, "push" if pushed else "commit", _may_make_staged)


def escalate_changed(findings: list[Finding], pairs: Sequence[Sides], sides: DiffSides) -> list[Finding]:
    """Return the findings of the later side of a diff, those that were uncertain and are about what the change removes
    as errors, or as what it is to remove that."""
    gone = {pair.after.world.name: {key: key for key in pair.pairing.removed} | pair.pairing.renamed for pair in pairs}
    told = [_without_guess(finding) if _names_removed(finding, gone) else finding for finding in findings]
    return escalate_removed(told, gone, "change", lambda: _may_come_otherwise(sides))


def _names_removed(finding: Finding, removed: Gone) -> bool:
    """Tell whether a finding is certain of a missing object, and the change is what removes it."""
    known = finding.confidence != "unknown" and finding.rule in RULES and bool(finding.resources)
    return known and bool(finding.environments) and _is_gone(finding, removed)


def _without_guess(finding: Finding) -> Finding:
    """Return the finding with what became of the object in place of a guess at what else was meant: it is missing for
    certain, since it was here."""
    kept = tuple(line for line in finding.help if not line.startswith("fix: write "))
    label = f"{finding.resources[-1]} was deployed before this change"
    if finding.confidence == "assumed" and finding.rule == "GWP101":
        finding = finding._replace(severity="error", confidence="certain", ground="")
    return finding._replace(label=label, help=kept, fixes=())


def escalate_removed(
    findings: list[Finding], removed: Gone, event: str, may_be_made: Callable[[], bool]
) -> list[Finding]:
    """Return the findings, those that were uncertain and are about what the change removes as errors.

    Args:
        event: what makes the change, e.g. `commit`.
        may_be_made: whether the change also touches what objects come from that no file shows (`may_make`); asked last.
    """
    about = {id(finding) for finding in _uncertain(findings) if _is_gone(finding, removed)}
    if not about or may_be_made():
        return findings
    return [_missing(finding, removed, event) if id(finding) in about else finding for finding in findings]


def _uncertain(findings: Iterable[Finding]) -> list[Finding]:
    """Return those that rest on an object that was not seen, and may be about one that is removed."""
    return [
        finding
        for finding in findings
        if finding.confidence == "unknown" and finding.rule in RULES and finding.resources
    ]


def _gone(before: Sequence[Simulation], after: Sequence[Simulation]) -> Gone:
    """Return what only the side before has, in environments that both have."""
    now = {simulation.world.name: simulation.world.resources for simulation in after}
    return {
        simulation.world.name: {key: key for key in simulation.world.resources if key not in now[simulation.world.name]}
        for simulation in before
        if simulation.world.name in now
    }


def _is_gone(finding: Finding, removed: Gone) -> bool:
    return all(finding.resources[-1] in removed.get(name, {}) for name in finding.environments)


def _missing(finding: Finding, removed: Gone, event: str) -> Finding:
    key = finding.resources[-1]
    new = removed[finding.environments[0]][key]
    action = "removes" if new == key else "renames"
    fix = f"keep {key}, or take this reference away as well" if new == key else f"refer to {new}, which it is now"
    known = finding.message.removesuffix(", which is not among these manifests")
    unseen = known != finding.message
    return finding._replace(
        severity=RULES[finding.rule],
        confidence="assumed",
        ground=f"nothing else in the tree makes {key.kind} {key.name}",
        message=f"{known}, which this {event} {action}" if unseen else f"{known}: this {event} {action} {key}",
        label=f"{key} was deployed before",
        help=(*finding.help, f"fix: {fix}"),
    )


def _is_kustomization(path: str) -> bool:
    return path.rpartition("/")[2].lower() in ("kustomization.yaml", "kustomization.yml", "kustomization")


def may_make(path: str, data: bytes) -> bool:
    """Tell whether a file as it stands after a change may be why objects come into being that no file shows."""
    if _is_kustomization(path):
        return bool(_REMOTE.search(_COMMENT.sub(b"", data)))
    if "/templates/" in path or b"{{" in data:
        return True
    return not _KIND.search(data) or bool(_MAKERS.search(data))


def _may_come_otherwise(sides: DiffSides) -> bool:
    """Tell whether an object that is gone may come from where nothing was seen: a file that differs makes objects out
    of sight, or the object went where this comparison does not look."""
    of_paths = sides.request.of_paths
    is_whole = of_paths.is_whole or (sides.scope is not None and not of_paths.options.environments)
    if sides.directories is None and not is_whole:
        return True
    before, after = sides.contents
    paths = [path for path in after if before.get(path) != after[path]]
    if len(paths) > MOST_FILES or sides.skipped_differ():
        return True
    return any(may_make(path, "\n".join(sides.after.source_lines(path)).encode()) for path in paths)


def _removes(findings: Sequence[Finding]) -> bool:
    """Tell whether lines are removed that may have made one of the objects, or kustomizations change; or nobody knows,
    since a partial clone lacks what was there."""
    diff = git("diff", "-U0", "--no-renames", "--no-ext-diff", "--no-color", *compared())
    if diff is None:
        return True
    lines = b"\n".join(line for line in diff.split(b"\n") if line.startswith(b"-"))
    names = {finding.resources[-1].name.encode() for finding in findings}
    return any(name in lines for name in names) or any(_is_kustomization(path) for path in changed_files())


def _may_make_staged() -> bool:
    """Tell whether the change adds or alters anything out of which objects may come that no file shows."""
    paths = [path for path in changed_files("--diff-filter=d") if is_relevant(path)]
    pushed = pushed_range()
    revision = pushed[1] if pushed else ""
    return len(paths) > MOST_FILES or any(may_make(path, git("show", f"{revision}:{path}") or b"") for path in paths)
