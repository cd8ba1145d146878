"""Compare two sides of a change in effect: settings, verdicts, findings and their blast radius.

The sides are simulations; this room knows nothing of git. Text that means the same (order, comments, labels that nobody
selects on) is no change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from policylint.budget import CUT_OFF
from policylint.checks import OF_CHANGES, guarded
from policylint.compare.at_home import at_home
from policylint.compare.change import Comparison, EnvironmentChange, FindingChange, PolicyChange, SubjectChange
from policylint.compare.connections import connection_changes
from policylint.compare.contexts import changed_contexts
from policylint.compare.creation_order import with_ages, with_reasons
from policylint.compare.defaulted import with_defaults
from policylint.compare.failures import with_failures
from policylint.compare.findings import changed_lines, finding_changes, on_changed_lines, with_moot
from policylint.compare.objects import changed_keys, object_changes
from policylint.compare.pairing import Pairing, Sides
from policylint.compare.placements import placement_changes
from policylint.compare.releases import NO_TEXT, TreeText, changes_of_releases, judged_otherwise, not_told_beside
from policylint.compare.subjects import subject_changes
from policylint.compare.texts import NO_TEXTS, TextChanges, commands_given, commands_run
from policylint.compare.unknown import undeployed_subjects, unknown_subjects
from policylint.model import SEVERITIES, Severity, World
from policylint.simulation import simulate

if TYPE_CHECKING:
    from policylint.compare.hosts import Called
    from policylint.compare.protection.cause import Cause, Weakened
    from policylint.model import Finding, ResourceKey
    from policylint.simulation import Simulation


def pair_sides(before: Sequence[Simulation], after: Sequence[Simulation]) -> list[Sides]:
    """Pair the environments by name, with the creation order that the change states, and certain of what only the other
    side has (`at_home`); a missing side is empty, but for what another environment has of one that nobody declared."""
    old = {simulation.world.name: simulation for simulation in before}
    new = {simulation.world.name: simulation for simulation in after}
    sides = []
    for name in sorted(old.keys() | new.keys()):
        catalog = (old.get(name) or new[name]).catalog
        left = old.get(name) or _counterpart(new[name], before) or simulate(World(name, ()), catalog)
        right = new.get(name) or _counterpart(old[name], after) or simulate(World(name, ()), catalog)
        left, right = with_defaults(left, right)
        if (name in old and name in new) or left.world.resources or right.world.resources:
            pairing = Pairing(left, right)
            aged = Sides(left, with_ages(right, pairing.new), pairing)
            sides.append(at_home(aged) if name in old and name in new else aged)
    return sides


def _counterpart(lone: Simulation, others: Sequence[Simulation]) -> Simulation | None:
    """Return what the other side has of an environment that is on one side alone, None where that is nothing.

    Environments that no deployer declares come and go with how directories exclude each other: what the likest of the
    others has of its objects has stayed. One that is declared is gone with all that it had.
    """
    own = lone.world.resources.keys()
    likest = max(others, key=lambda each: len(own & each.world.resources.keys()), default=None)
    if lone.world.by_deployer or likest is None or 2 * len(own & likest.world.resources.keys()) < len(own):
        return None
    beside = likest.world.resources.keys() - own
    there = likest.world.setting_aside(beside, f"it is in environment {likest.world.name}")
    there.name = lone.world.name
    return simulate(there, likest.catalog)


def compare(sides: Iterable[Sides], texts: TextChanges = NO_TEXTS) -> list[EnvironmentChange]:
    """Return what changes in each environment.

    Args:
        texts: what differs beside objects.
    """
    pairs = list(sides)
    # What nothing deploys is the same for all environments, and told once.
    undeployed = _undeployed(pairs, texts) if pairs else []
    return [_environment(pair, () if number else undeployed, texts) for number, pair in enumerate(pairs)]


def _undeployed(pairs: Sequence[Sides], texts: TextChanges) -> list[SubjectChange]:
    """Return what changes in files that nothing deploys: objects that were read, and what texts show of others."""
    told = undeployed_subjects(pairs[0], [pair.after.world for pair in pairs])
    if not texts.beside:
        return told
    from policylint.compare.unread import unread_subjects

    worlds = [side.world for pair in pairs for side in (pair.before, pair.after)]
    files = {subject.location.file for subject in told if subject.location is not None}
    after = pairs[0].after
    return [*told, *unread_subjects(after.world.name, texts, worlds, after.catalog, files)]


def _environment(sides: Sides, undeployed: Sequence[SubjectChange], texts: TextChanges) -> EnvironmentChange:
    """Return what changes in one environment, and beside it what changes in files that nothing deploys."""
    from policylint.compare.protection.anywhere import decides_beside
    from policylint.compare.protection.extensions import acts_beside
    from policylint.compare.protection.unjudged import changes_beside
    from policylint.compare.requests import request_changes
    from policylint.compare.unanswered import sets_otherwise, untold_subjects

    before, after, pairing = sides
    contexts = changed_contexts(before, after, pairing)
    subjects = subject_changes(sides, contexts.changes)
    connections = connection_changes(sides)
    known = {subject.key for subject in subjects}
    unknown = [*unknown_subjects(sides, known, texts.files), *undeployed]
    changed = changed_keys(sides)
    touched = {*changed, *_judged_otherwise(sides)}
    come_or_gone = _come_or_gone(sides)
    cut = any(side.cut or any(note.code == CUT_OFF for note in side.world.notes) for side in (before, after))
    doubts = unknown or texts.commands or contexts.truncated or cut
    whole = not (doubts or acts_beside(sides) or decides_beside(sides) or any(changes_beside(sides)))
    requests = None if come_or_gone else request_changes(sides, contexts.changes, touched, whole=whole)
    known |= {key for change in connections for key in change.by}
    untold = [each for each in untold_subjects(sides, contexts.changes, requests) if each.key not in known]
    if requests is not None and (untold or sets_otherwise(contexts.changes)):
        requests = requests._replace(same=False)
    told = {subject.key for subject in unknown}
    return EnvironmentChange(
        after.world.name,
        come_or_gone,
        len(after.topology.routes),
        contexts.changes,
        (*subjects, *unknown, *(subject for subject in untold if subject.key not in told)),
        tuple(_policy_changes(sides)),
        tuple(object_changes(sides, changed, contexts.changes, subjects)),
        contexts.truncated,
        pairing.renamed,
        connections,
        requests,
        placement_changes(sides),
    )


def _judged_otherwise(sides: Sides) -> set[ResourceKey]:
    """Return the objects that the release in use on each side reads otherwise, by their identity after."""
    if sides.before.catalog.is_as_released(sides.after.catalog):
        return set()
    return judged_otherwise(sides.before, sides.after, sides.pairing)


def _policy_changes(sides: Sides) -> list[PolicyChange]:
    """Return the policies whose verdict is not the same, sorted; a renamed policy is still the same policy."""
    before, after, pairing = sides
    changes = []
    for key, state in after.policies.items():
        was = before.policies.get(pairing.was(key))
        if was is None or was.verdict != state.verdict:
            old = "" if was is None else was.verdict
            former = pairing.was(key) if pairing.was(key) != key else None
            location = state.policy.name_location
            changes.append(PolicyChange(after.world.name, key, old, state.verdict, state.by, location, former))
    for key, state in before.policies.items():
        if pairing.key(key) not in after.policies:
            location = state.policy.name_location
            changes.append(PolicyChange(after.world.name, key, state.verdict, "", (), location))
    return sorted(changes, key=lambda change: change.policy)


def _come_or_gone(sides: Sides) -> Literal["", "added", "removed"]:
    """Return whether the whole environment is new or gone, "" if neither."""
    if bool(sides.before.world.resources) == bool(sides.after.world.resources):
        return ""
    return "removed" if sides.before.world.resources else "added"


def removed_protections(
    sides: Sequence[Sides],
    environments: Sequence[EnvironmentChange],
    chosen: Collection[str] | None = None,
    beside: Iterable[Finding] = (),
    tree: TreeText = NO_TEXT,
    texts: TextChanges = NO_TEXTS,
    *,
    whole: bool = True,
) -> list[Finding]:
    """Return the findings of the rules of changes, or of those chosen, each once for all environments that have it.

    Args:
        beside: what other rules find on the side after.
        tree: what stands in the files of both sides, beside objects.
        texts: what differs there.
        whole: whether policies of which nothing shows what they act on are judged, too, each apart.
    """
    rules = OF_CHANGES if chosen is None else OF_CHANGES.intersection(chosen)
    of_requests = rules & {"GWP302", "GWP304", "GWP324"}
    others = list(beside)
    worlds = [side.world for pair in sides for side in (pair.before, pair.after)]
    findings: list[Finding] = []
    if "GWP304" in rules:
        from policylint.compare.protection.values import values_weakened

        findings += [*commands_given(texts), *values_weakened(texts, [pair.after.world for pair in sides])]
    if "GWP325" in rules:
        from policylint.compare.missed import definitions_gone, unread_definitions

        unread = list(unread_definitions(texts))
    for pair, environment in zip(sides, environments, strict=True):
        if of_requests:
            from policylint.compare.hosts import hosts_called, hosts_found, without_names
            from policylint.compare.protection.assumed import assumed_weaker
            from policylint.compare.protection.placed import placed_less
            from policylint.compare.protection.revisions import paths_moved, revisions_moved
            from policylint.compare.protection.settings import weakened
            from policylint.compare.protection.unjudged import unjudged
            from policylint.compare.requests.findings import findings_of_requests
            from policylint.doors.peculiar import ENTRIES, IN_ORDER

            weaker: list[Weakened] = []
            called: Sequence[Called] = ()
            with guarded("GWP304", pair.after):
                called = hosts_called(pair)
                weaker = without_names(_beside_requests(weakened(pair, environment.contexts), environment), called)
                if "GWP304" in rules:
                    findings += [*revisions_moved(pair), *paths_moved(pair)]
                    findings += placed_less(pair, environment.placements)
            with guarded("GWP324", pair.after):
                told = findings_of_requests(pair, environment, weaker, others)
                findings += (finding for finding in told if finding.rule in of_requests)
            if "GWP325" in rules:
                findings += hosts_found(pair, called, weaker)
            if "GWP304" in rules:
                findings += commands_run(pair)
                with guarded("GWP304", pair.after):
                    if whole:
                        known = {key for finding in findings for key in finding.resources}
                        findings += assumed_weaker(pair, texts, worlds, known, first=pair is sides[0])
                with guarded("GWP304", pair.after):
                    shown = environment.requests.shown if environment.requests is not None else frozenset()
                    told_already = {key for finding in findings for key in finding.resources}
                    findings += unjudged(pair, told_already | {key for key in shown if key[:2] in (*ENTRIES, IN_ORDER)})
        of_connections: list[Finding] = []
        if "GWP620" in rules:
            from policylint.compare.connections import isolation_removed

            with guarded("GWP620", pair.after):
                of_connections += isolation_removed(pair)
        if "GWP621" in rules:
            from policylint.compare.opened import connections_opened

            with guarded("GWP621", pair.after):
                of_connections += connections_opened(pair, environment.connections)
        findings += of_connections
        if "GWP325" in rules:
            from policylint.compare.beside import decided_beside
            from policylint.compare.bypassed import logins_bypassed
            from policylint.compare.ends import ends_changed
            from policylint.compare.exchanged import others_named
            from policylint.compare.peers import peers_widened
            from policylint.compare.statements import statements_lost
            from policylint.compare.withdrawn import grants_withdrawn

            with guarded("GWP325", pair.after):
                findings += ends_changed(pair)
                findings += peers_widened(pair, environment, of_connections)
                findings += decided_beside(pair, () if environment.requests is None else environment.requests.shown)
                findings += logins_bypassed(pair)
                findings += others_named(pair)
                findings += statements_lost(pair)
                findings += grants_withdrawn(pair)
                findings += definitions_gone(pair, unread)
        if "GWP326" in rules:
            with guarded("GWP326", pair.after):
                findings += changes_of_releases(pair, tree)
    return _folded(findings)


def _beside_requests(weaker: Iterable[Weakened], environment: EnvironmentChange) -> list[Weakened]:
    """Leave out notes on a client that may be let in where a request of that client tells that it is."""
    changes = () if environment.requests is None else environment.requests.changes
    opening = {
        (who.policy, each.example.client.removeprefix("ServiceAccount/"))
        for each in changes
        if each.change in ("opened", "less-asked") and each.example.client.startswith("ServiceAccount/")
        for who in each.by
    }
    return [each for each in weaker if each.cause.severity != "note" or not _names_one(each.cause, opening)]


def _names_one(cause: Cause, clients: Collection[tuple[ResourceKey, str]]) -> bool:
    """Tell whether a cause is that one of some clients is named, by its account or its namespace."""
    return any(
        policy in cause.owners and cause.change.endswith((client.replace("/", "/sa/"), f" {client.partition('/')[0]}"))
        for policy, client in clients
    )


def compare_findings(
    sides: Sequence[Sides],
    environments: Sequence[EnvironmentChange],
    before: Iterable[Finding],
    after: Iterable[Finding],
    of_after: Callable[[str], str] = str,
) -> list[FindingChange]:
    """Return the findings of both sides with their states.

    One cause, one finding: GWP302 and GWP304 are left out where a new GWP201 says the same, GWP301 where a new GWP302
    says more, GWP326 where any other new one stands at the same place. `of_after` returns the name on the side after of
    a file of the side before.
    """
    renamed = {key: new for environment in environments for key, new in environment.renamed.items()}
    new = frozenset(key for pair in sides for key in pair.pairing.new)
    changes = with_failures(sides, finding_changes(before, with_reasons(after, new), renamed, of_after))
    reported = _ReportedLosses(change.finding for change in changes if change.state == "new")
    changes = [
        change for change in changes if change.finding.rule not in OF_CHANGES or not reported.covers(change.finding)
    ]
    weakened_keys = {change.finding.resources[0] for change in changes if change.finding.rule == "GWP302"}
    changes = [
        change
        for change in changes
        if change.finding.rule != "GWP301" or change.state != "new" or change.finding.resources[0] not in weakened_keys
    ]
    if any(change.finding.rule == "GWP326" for change in changes):
        changes = not_told_beside(changes)
    relaxed = {key for change in changes if change.finding.rule == "GWP304" for key in change.finding.resources[:1]}
    changes = [
        change
        for change in changes
        if change.finding.rule != "GWP712" or change.state != "new" or change.finding.resources[0] not in relaxed
    ]
    return sorted(changes, key=lambda change: (change.state, change.finding.sort_key()))


def _folded(findings: Iterable[Finding]) -> list[Finding]:
    """Fold equal findings of several environments into one that names them all."""
    environments: dict[Finding, list[str]] = {}
    for finding in findings:
        environments.setdefault(finding._replace(environments=()), []).extend(finding.environments)
    return [finding._replace(environments=tuple(sorted(set(names)))) for finding, names in environments.items()]


class _ReportedLosses:
    """The losses that new GWP201s report, by policy: a rule of changes that reports the same loss stays silent, unless
    it is worse, as where a policy opts out on purpose: that it does so now is for whoever reviews the change."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by: dict[ResourceKey, list[tuple[Severity, frozenset[ResourceKey], frozenset[str]]]] = defaultdict(list)
        for finding in findings:
            if finding.rule == "GWP201":
                about = finding.severity, frozenset(finding.resources), frozenset(finding.field.split(","))
                for key in about[1]:
                    self._by[key].append(about)

    def covers(self, removed: Finding) -> bool:
        """Return whether a GWP201 is about all the policies of a finding and includes its fields."""
        about, fields = set(removed.resources[1:]), set(removed.field.split(","))
        if len(about) < 2:
            return False
        fewest = min((self._by.get(key, []) for key in about), key=len)
        milder = SEVERITIES[SEVERITIES.index(removed.severity) + 1 :]
        return any(
            severity not in milder and about <= resources and fields <= lost for severity, resources, lost in fewest
        )


__all__ = [
    "Comparison",
    "EnvironmentChange",
    "FindingChange",
    "Sides",
    "TextChanges",
    "TreeText",
    "changed_lines",
    "compare",
    "compare_findings",
    "on_changed_lines",
    "pair_sides",
    "removed_protections",
    "with_moot",
]
