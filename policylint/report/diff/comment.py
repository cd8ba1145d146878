"""What the comment on a pull request says: consequences in rows, the worst first, each fact in one place.

A fact is what a comparison found: a request answered otherwise, a setting, a way in, a verdict, a connection, a
placement, a finding. Every row names the facts that it tells, so that nothing is said twice and nothing is forgotten;
`tests/diff/test_comment_model.py` counts them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from policylint.compare.requests import NO_RULE, UNTREATED, RequestChange, Said
from policylint.model import SEVERITIES, Finding, ResourceKey
from policylint.model.words import count, leading, listing
from policylint.namedtuple import NamedTuple
from policylint.report.diff.headline import headline_of
from policylint.report.diff.wording import (
    LikeChanges,
    cut,
    difference,
    fails,
    own_policies,
    policies_in_words,
    policies_of,
    reach_in_words,
    value_in_words,
    weakens,
)
from policylint.report.kit.placements import folded_placements
from policylint.spaces.words import EVERY_REQUEST

if TYPE_CHECKING:
    from policylint.compare.change import EnvironmentChange, Responsible, SettingChange, SubjectChange
    from policylint.compare.requests import Demands
    from policylint.report.diff.report import DiffReport

Kind = Literal[
    "fails", "lost", "weaker", "reachable", "moved", "connection", "placement", "rerouted", "changed", "closed",
    "stricter", "route", "setting",
]  # fmt: skip
_ORDER: tuple[Kind, ...] = (
    "fails", "lost", "weaker", "reachable", "moved", "closed", "connection", "placement", "rerouted", "changed",
    "stricter", "route", "setting",
)  # fmt: skip
OPENING: frozenset[Kind] = frozenset({"lost", "weaker", "reachable"})
QUIET: frozenset[Kind] = frozenset({"route", "setting"})
"""Rows that are folded where another one has a consequence."""
_SAY_OPENED = frozenset({"GWP201", "GWP204", "GWP205", "GWP207", "GWP301", "GWP302", "GWP304", "GWP305", "GWP324"})
"""Rules by which requests get in, or are asked less."""
MISSED_TARGET = frozenset({"GWP101", "GWP102", "GWP103", "GWP104", "GWP105"})
"""Rules by which a policy no longer has the target that it protected."""
_SAY_CLOSED = ("GWP1", "GWP4")
"""How the rules begin by which they do not get where they should."""
Fact = tuple[Hashable, ...]
_Thing = TypeVar("_Thing")


class CommentRow(NamedTuple):
    """One consequence, for all for which it is the same.

    Args:
        who: the hosts, or the objects.
        noun: what they are, in the singular.
        where: which requests or rules of each, "" for all.
        before, after: in words, by parts.
        by: what did it.
        moves: from where to where; "" where they do not.
        settings: the settings that change.
        example: the requests that it is about, with an example; None where it is about none.
        findings: that say the same.
        doubt: what was not seen.
        tells: the facts.
    """

    environment: str
    kind: Kind
    who: tuple[str, ...]
    noun: str
    where: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    by: tuple[Responsible, ...] = ()
    moves: str = ""
    settings: tuple[SettingChange, ...] = ()
    subjects: tuple[SubjectChange, ...] = ()
    example: RequestChange | None = None
    findings: tuple[Finding, ...] = ()
    doubt: str = ""
    tells: tuple[Fact, ...] = ()

    @property
    def rank(self) -> tuple[int, int]:
        """The worst first."""
        unsaid = SEVERITIES.index("warning") if self.kind in ("fails", "lost", "weaker") else len(SEVERITIES)
        severity = min((SEVERITIES.index(finding.severity) for finding in self.findings), default=unsaid)
        return severity, _ORDER.index(self.kind)


class Comment(NamedTuple):
    """What a comment says.

    Args:
        rows: the consequences, the worst first.
        new: the new findings that no row tells.
        policies: policies whose verdict changes, and no row names them.
        unknown: what is not known, in sentences.
    """

    headline: str
    warns: bool
    rows: tuple[CommentRow, ...]
    new: tuple[Finding, ...]
    policies: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]


def comment(report: DiffReport) -> Comment:
    """Return what there is to say of a diff."""
    new = report.folded("new")
    rows = [row for environment in report.comparison.environments for row in _rows(environment)]
    rows = sorted(_with_findings(rows, new), key=lambda row: row.rank)
    told = {id(finding) for row in rows for finding in row.findings}
    rest = tuple(finding for finding in new if id(finding) not in told)
    named = {key for row in rows for key in (*(who.policy for who in row.by), *_of_settings(row))}
    policies = tuple(
        (str(change.policy), verdicts)
        for environment in report.comparison.environments
        for _, change, verdicts in policies_in_words(environment.policies)
        if change.policy not in named
    )
    unknown = tuple(_unknown(report, {key for finding in new if finding.rule == "GWP304" for key in finding.resources}))
    reported = (finding.severity for row in rows for finding in row.findings)
    warns = any(row.kind in ("lost", "weaker", "fails") for row in rows) or any(each != "note" for each in reported)
    warns |= any(finding.severity != "note" for finding in rest)
    return Comment(headline_of(report, rows, rest, policies, unknown), warns, tuple(rows), rest, policies, unknown)


def _of_settings(row: CommentRow) -> Iterator[ResourceKey]:
    for subject in row.subjects:
        yield from policies_of(subject)


def _unknown(report: DiffReport, told: Collection[ResourceKey]) -> Iterator[str]:
    """Yield what is not known, but of objects whose findings say it."""
    for environment in report.comparison.environments:
        for why, hosts in () if environment.requests is None else environment.requests.unknown:
            yield f"not known for {count(hosts, 'host')}: {why}"
        reasons: dict[str, list[str]] = {}
        for subject in (each for each in environment.unknown if each.key not in told):
            reasons.setdefault(subject.reason.replace(str(subject.key), "it"), []).append(str(subject.key))
        for why, keys in reasons.items():
            yield f"not known for {leading([f'`{key}`' for key in keys], 3)}: {why}"


# Requests


class _Item(NamedTuple):
    """Requests to one host that are answered otherwise."""

    host: str
    gateway: ResourceKey
    words: str
    before: Said
    after: Said
    changes: tuple[RequestChange, ...]

    @property
    def change(self) -> RequestChange:
        return self.changes[0]


def _items(changes: Iterable[RequestChange]) -> list[_Item]:
    """Return the requests by host, what differs about the same ones together."""
    found: dict[tuple[object, ...], _Item] = {}
    for change in changes:
        own = change if change.change in ("rerouted", "changed") else None  # their words say what no answer does
        for each in change.requests:
            for host in each.hosts:
                place = (host, each.gateway, each.words, each.before, each.after, id(own))
                item = found.get(place)
                changes_of = (change,) if item is None else _once((*item.changes, change))
                found[place] = _Item(host, each.gateway, each.words, each.before, each.after, changes_of)
    return list(found.values())


def _moved(items: Sequence[_Item]) -> Iterator[tuple[_Item, _Item]]:
    """Yield what closes and what opens for one host of one route: it moved."""
    closed = [item for item in items if _is_left(item.after) and not item.before.end]
    opened = [item for item in items if _is_left(item.before) and not item.after.end]
    for one in closed:
        for other in opened:
            if one.host == other.host and not set(one.change.routes).isdisjoint(other.change.routes):
                yield one, other


def _with_kept_out(
    pairs: Sequence[tuple[_Item, _Item]],
) -> Iterator[tuple[tuple[_Item, _Item], tuple[_Item, ...]]]:
    """Yield requests to a host with those that are kept out on one side and are answered alike on the other one."""
    taken: set[int] = set()
    found = []
    for former, latter in pairs:
        if former.before.end and latter.after.end:
            continue
        kept = []
        for other, same in pairs:
            if other is not same or other.host != former.host or other is former or id(other) in taken:
                continue
            was_kept = _is_refusal(other.before) and not former.before.end and other.gateway == former.gateway
            is_kept = _is_refusal(other.after) and not latter.after.end and other.gateway == latter.gateway
            goes_along = other.after in (latter.after, former.after) or other.after.end == NO_RULE
            came_along = other.before in (former.before, latter.before) or other.before.end == NO_RULE
            left = former is not latter and other.gateway == former.gateway and other.before == former.before
            if (left and other.after.end) or (was_kept and goes_along) or (is_kept and came_along):
                kept.append(other)
                taken.add(id(other))
        found.append((former, latter, tuple(kept)))
    for former, latter, kept_out in found:
        if id(former) not in taken:
            yield (former, latter), kept_out
    for former, latter in pairs:
        if former.before.end and latter.after.end and id(former) not in taken:
            yield (former, latter), ()


def _is_left(said: Said) -> bool:
    """Tell whether no route has the requests, or one that sends them elsewhere: all of them to https, say."""
    return said.end == NO_RULE or said.end.startswith("3")


def _is_refusal(said: Said) -> bool:
    return said.end not in ("", NO_RULE)


class _Sides(NamedTuple):
    """Both cells of a row, by parts."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class _Draft(NamedTuple):
    """A row for one host, and what makes others like it."""

    row: CommentRow
    own: _Sides
    """Before and after with the names that may differ."""
    routes: tuple[ResourceKey, ...]


def _request_rows(environment: EnvironmentChange) -> Iterator[CommentRow]:
    changes = () if environment.requests is None else environment.requests.changes
    items = _items(changes)
    pairs: list[tuple[_Item, _Item]] = []
    moved: set[int] = set()
    for one, other in _moved(items):
        if not {id(one), id(other)} & moved:
            moved |= {id(one), id(other)}
            pairs.append((one, other))
    pairs += [(item, item) for item in items if id(item) not in moved]
    drafts = [_draft(environment, pair, kept) for pair, kept in _with_kept_out(pairs)]
    folded: dict[tuple[object, ...], list[_Draft]] = {}
    for draft in drafts:
        row = draft.row
        kinds = tuple(sorted({who.policy.kind for who in row.by}))
        settings = ("" if row.example is None else row.example.settings) if row.before == row.after else ""
        folded.setdefault((row.kind, row.before, row.after, kinds, settings), []).append(draft)
    for same in folded.values():
        first = same[0].row
        is_one = len({draft.own for draft in same}) == 1
        sides = same[0].own if is_one else _Sides(first.before, first.after)
        by = tuple(dict.fromkeys(who for draft in same for who in draft.row.by))
        places = dict.fromkeys(place for draft in same for place in zip(draft.row.who, draft.row.where, strict=True))
        yield first._replace(
            who=tuple(host for host, _ in places),
            where=tuple(where for _, where in places),
            before=sides.before,
            after=sides.after,
            by=by,
            doubt=next((draft.row.doubt for draft in same if draft.row.doubt), ""),
            tells=tuple(dict.fromkeys(fact for draft in same for fact in draft.row.tells)),
        )


def _draft(environment: EnvironmentChange, pair: tuple[_Item, _Item], kept: Sequence[_Item]) -> _Draft:
    """Return the row for one host: what the first item was before, and what the second is after.

    Args:
        kept: others of its requests, which are kept out on one side.
    """
    former, latter = pair
    changes = _once(change for item in (latter, former, *kept) for change in item.changes)
    before, after = former.before, latter.after
    kind = _kind(_once((*latter.changes, *former.changes)), before, after, is_moved=former is not latter)
    change = latter.change
    if kind in ("rerouted", "changed"):
        sides = _Sides(*((cut(said, 120),) if said != UNTREATED else () for said in (change.before, change.after)))
        plain = own = sides
    else:
        named = former is not latter or kind in ("reachable", "closed")
        one_place = former.gateway != latter.gateway and former.gateway.namespace == latter.gateway.namespace
        by_name = [key.name if one_place else key.path for key in (former.gateway, latter.gateway)]
        plain, own = (
            _Sides(
                tuple(_parts(before, after, by_name[0] if named and not before.end else "", names)),
                tuple(_parts(after, before, by_name[1] if named and not after.end else "", names)),
            )
            for names in (False, True)
        )
    left = any((each.gateway, each.before) == (former.gateway, former.before) for each in kept)
    was_limited = any(_is_refusal(each.before) for each in kept) or (
        former.words.startswith("from ") and latter.words == EVERY_REQUEST and not left
    )
    is_limited = any(_is_refusal(each.after) for each in kept if each.gateway == latter.gateway)
    limits = [f"only {item.words}" if on else "" for item, on in ((former, was_limited), (latter, is_limited))]
    plain, own = (
        _Sides(*((*side, limit) if limit else side for side, limit in zip(sides, limits, strict=True)))
        for sides in (plain, own)
    )
    where = "" if latter.words == EVERY_REQUEST or any(limits) else latter.words
    if change.partly:
        where = f"some of {where or 'all'}"
    if kind not in OPENING and any(each.change in ("opened", "less-asked") for item in kept for each in item.changes):
        kind = "weaker" if kind in ("stricter", "moved") else "reachable"  # of those that were kept out
    doubt = after.login.doubt or after.authorization.doubt if not after.end else ""
    if kind == "stricter":
        doubt = ""
    row = CommentRow(
        environment.name,
        kind,
        (latter.host,),
        "host",
        (where,),
        *plain,
        by=tuple(dict.fromkeys(who for each in changes for who in each.by)),
        moves=f"from {former.gateway.path} to {latter.gateway.path}" if former.gateway != latter.gateway else "",
        example=change,
        doubt=doubt,
        tells=tuple(("request", environment.name, id(each), latter.host, item.gateway, item.words)
                    for item in _once((*pair, *kept)) for each in item.changes),
    )  # fmt: skip
    return _Draft(row, own, tuple(key for each in changes for key in each.routes))


def _kind(changes: Sequence[RequestChange], before: Said, after: Said, *, is_moved: bool) -> Kind:
    kinds = {change.change for change in changes}
    if not before.end and not after.end and "rerouted" not in kinds and "changed" not in kinds:
        lost = [was.state == "asked" != now.state for was, now in _both(before, after)]
        gained = [now.state == "asked" != was.state for was, now in _both(before, after)]
        if any(lost):
            return "lost"
        if "less-asked" in kinds or ("opened" in kinds and not is_moved):
            return "weaker"
        return "stricter" if any(gained) or not is_moved else "moved"
    if "opened" in kinds or "less-asked" in kinds:
        return "reachable"
    return "closed" if "closed" in kinds else "stricter" if "more-asked" in kinds else (
        "rerouted" if "rerouted" in kinds else "changed"
    )  # fmt: skip


def _both(before: Said, after: Said) -> tuple[tuple[Demands, Demands], tuple[Demands, Demands]]:
    return (before.login, after.login), (before.authorization, after.authorization)


def _parts(said: Said, other: Said, gateway: str, names: bool) -> Iterator[str]:
    """Yield `infra/edge`, `login: jwt (infra/edge-jwt)`; of what both sides answer alike only the login."""
    if gateway:
        yield gateway
    if said.end:
        yield cut(said.end, 120)
        return
    yield _demand("login", said.login, names)
    if said.authorization.state not in ("", "open") or other.authorization.state not in ("", "open"):
        yield _demand("authorization", said.authorization, names)


def _demand(purpose: str, given: Demands, names: bool) -> str:
    """Return `no login`, `login: jwt (infra/edge-jwt)`, `login: unknown`."""
    by = f" ({given.by})" if names and given.by else ""
    match given.state:
        case "asked":
            return f"{purpose}: {given.words}{by}"
        case "optional":
            return f"{purpose}: {given.words}{by}, optional"
        case "unknown":
            return f"{purpose}: {f'{given.words}{by}, perhaps' if given.words else 'unknown'}"
    return f"no {purpose}"


# Settings, routes, connections, placements


def _rows(environment: EnvironmentChange) -> Iterator[CommentRow]:
    """Yield all rows of an environment, each fact in one of them."""
    of_requests = list(_request_rows(environment))
    told = _told(environment, of_requests)
    for number, row in enumerate(of_requests):
        own = [fact for fact, at in told.items() if at == number]
        settings = tuple(each[2] for each in _settings(environment) if _fact(*each) in own)
        after = row.after
        changed = [setting for setting in settings if setting.change == "changed"]
        if row.kind in ("weaker", "stricter", "changed") and row.before == row.after and changed:
            after = (*(f"`{each.name}`: {difference(each.before, each.after, 80)}" for each in changed[:2]),)
        elif row.kind in ("weaker", "stricter") and row.before == row.after:
            values = f"other values of {listing([f'`{name}`' for name in row.example.settings])}" if row.example else ""
            after = (values or "other values",)
        yield row._replace(settings=settings, after=after, tells=(*row.tells, *own))
    yield from _setting_rows(environment, told)
    yield from _route_rows(environment, told)
    for connection in environment.connections:
        if not connection.targets:  # a workload that comes or goes
            continue
        fact = ("connection", environment.name, id(connection))
        ends = leading([f"`{name}`" for name in connection.sources], 3)
        ends += f" to {leading([f'`{name}`' for name in connection.targets], 3)}"
        was, now = connection.before or "", connection.after or connection.because or ""
        owners = tuple(map(_unplaced, connection.by))
        yield CommentRow(environment.name, "connection", (ends,), "connection", ("",), (was,), (now,), owners,
                  tells=(fact,))  # fmt: skip
    for folded in folded_placements(environment.placements):
        first = folded.first
        on = f" on {leading(first.clusters, 3)}" if first.clusters else ""
        who = leading([f"`{key}`" for key in folded.policies], 3)
        facts = tuple(
            ("placement", environment.name, id(change))
            for change in environment.placements
            if change.policy in folded.policies and (change.clusters, change.before, change.after)
            == (first.clusters, first.before, first.after)
        )  # fmt: skip
        owners = tuple(map(_unplaced, [key for key in first.by if key not in folded.policies] or first.by))
        yield CommentRow(
            environment.name,
            "placement",
            (f"{who}{on}",),
            "placement",
            ("",),
            (first.before,),
            (first.after,),
            owners,
            tells=facts,
        )


def _unplaced(key: ResourceKey) -> Responsible:
    from policylint.compare.change import Responsible

    return Responsible(key, None)


def _settings(environment: EnvironmentChange) -> Iterator[tuple[SubjectChange, str, SettingChange]]:
    """Yield all settings that change, with whose they are and for which rules."""
    for subject in environment.known:
        for part in subject.parts:
            scope = "" if part.all_rules else ", ".join(node.section for node in part.rules[:4])
            for setting in (*part.settings, *part.lost):
                if setting.change not in ("unchanged", "moved") or setting in part.lost:
                    yield subject, scope, setting


def _asking(changes: Iterable[RequestChange]) -> set[str]:
    """Return the settings that ask requests for something on one side."""
    sides = (side for change in changes for each in change.requests for side in (each.before, each.after))
    words = (given.words for side in sides for given in (side.login, side.authorization) if given.words)
    return {setting.partition(".")[0] for each in words for setting in each.split(" and ")}


def _fact(subject: SubjectChange, scope: str, setting: SettingChange) -> Fact:
    """Return what a setting is known by: subjects that change alike share its value."""
    kind = setting.kind.group, setting.kind.kind
    return "setting", subject.environment, subject.key, scope, kind, setting.name, setting.change


def _told(environment: EnvironmentChange, rows: Sequence[CommentRow]) -> dict[Fact, int]:
    """Return the facts that rows about requests tell beside those of requests, each with the number of its row."""
    told: dict[Fact, int] = {}
    changes = () if environment.requests is None else environment.requests.changes
    by_id = {id(change): change for change in changes}
    for number, row in enumerate(rows):
        of_row = [by_id[each] for each in dict.fromkeys(fact[2] for fact in row.tells) if each in by_id]
        routes = {route for change in of_row for route in change.routes}
        names = {setting.partition(".")[0] for change in of_row for setting in change.settings}
        by = {who.policy for who in row.by}
        ends = any(not change.purpose for change in of_row)
        closes = all(change.change in ("closed", "more-asked") for change in of_row)
        if ends:
            names |= _asking(of_row)
        for subject, scope, setting in _settings(environment):
            owners = {origin.policy for origin in (*setting.sources_before, *setting.sources_after, *setting.by)}
            decides = setting.name in setting.kind.settings.asking or (closes and weakens(setting))
            is_theirs = setting.name in names or (decides and ends and not owners.isdisjoint(by))
            if subject.key in routes and is_theirs:
                told.setdefault(_fact(subject, scope, setting), number)
        if ends:
            for subject in environment.known:
                if subject.key in routes:
                    told.update(
                        (("reach", id(reach)), number) for reach in subject.reach if ("reach", id(reach)) not in told
                    )
                    if subject.change in ("added", "removed"):
                        told.setdefault(("subject", id(subject)), number)
    return told


def _setting_rows(environment: EnvironmentChange, told: Collection[Fact]) -> Iterator[CommentRow]:
    """Yield a row for the settings that change for one reason, of all subjects for which they do."""
    left = [each for each in _settings(environment) if _fact(*each) not in told]
    ways = LikeChanges(list(environment.known))
    causes: dict[tuple[str, bool, object], dict[str, list[tuple[SubjectChange, SettingChange]]]] = {}
    for subject, scope, setting in left:
        is_weaker = weakens(setting) and not fails(subject) and not _is_judged(environment, subject, setting)
        apart = setting.name if setting.change == "changed" else ""
        cause: object = (subject.key.kind, subject.change, ways.cause(setting), apart)
        causes.setdefault((scope, is_weaker, cause), {}).setdefault(setting.name, []).append((subject, setting))
    rows: dict[tuple[str, bool, object], list[list[tuple[SubjectChange, SettingChange]]]] = {}
    for (scope, is_weaker, cause), by_name in causes.items():
        for affected in by_name.values():
            keys = tuple(subject.key for subject, _ in affected)
            rows.setdefault((scope, is_weaker, (cause, keys)), []).append(affected)
    for (scope, is_weaker, _), by_setting in rows.items():
        subjects = _once(subject for subject, _ in by_setting[0])
        first = by_setting[0][0][1]
        names = [affected[0][1].name for affected in by_setting]
        before, after = zip(*(_values([setting for _, setting in affected]) for affected in by_setting), strict=True)
        removed = first.change == "removed"
        owners = first.by if removed else first.sources_after or first.by
        yield CommentRow(
            environment.name,
            "setting" if not is_weaker else "lost" if removed else "weaker",
            tuple(subject.key.path if subject.is_route else str(subject.key) for subject in subjects),
            _noun(subjects),
            (scope,) * len(subjects),
            before,
            after if not removed else (f"no {listing([f'`{name}`' for name in names])}",),
            owners or first.sources_before,
            settings=tuple(setting for affected in by_setting for _, setting in affected),
            subjects=subjects,
            tells=tuple(_fact(subject, scope, setting) for affected in by_setting for subject, setting in affected),
        )


def _is_judged(environment: EnvironmentChange, subject: SubjectChange, setting: SettingChange) -> bool:
    """Return whether requests show what a change of a setting does: where none does, nobody is asked for less."""
    requests = environment.requests
    return requests is not None and requests.tells(subject.key) and setting.name in setting.kind.settings.asking


def _noun(subjects: Sequence[SubjectChange]) -> str:
    kinds = {subject.key.kind for subject in subjects}
    return "route" if all(subject.is_route for subject in subjects) else min(kinds) if len(kinds) == 1 else "object"


def _values(settings: Sequence[SettingChange]) -> tuple[str, str]:
    """Return what a setting of several subjects was and is; where they differ, the values of the first."""
    first = settings[0]
    differ = any((other.before, other.after) != (first.before, first.after) for other in settings)
    eg = "e.g. " if differ else ""
    name = f"`{first.name}`"
    was = f"no {name}" if first.change == "added" else f"{name}: {eg}{value_in_words(first.before, 60)}"
    if first.change == "changed":
        return was, f"{name}: {eg}{difference(first.before, first.after, 80)}"
    if first.change == "removed":
        return was, ""
    return was, f"{name}: {eg}{value_in_words(first.after, 60)}"


def _route_rows(environment: EnvironmentChange, told: Collection[Fact]) -> Iterator[CommentRow]:
    """Yield a row for routes that come, go, or hang on other listeners, where no requests say so."""
    folded: dict[tuple[str, str, object], list[tuple[SubjectChange, tuple[Fact, ...]]]] = {}
    for subject in environment.known:
        left = [reach for reach in subject.reach if ("reach", id(reach)) not in told]
        is_new = subject.change in ("added", "removed", "renamed") and ("subject", id(subject)) not in told
        if not left and not is_new:
            continue
        facts: tuple[Fact, ...] = tuple(("reach", id(reach)) for reach in left)
        facts += (("subject", id(subject)),) if is_new else ()
        states = tuple((reach.what, reach.name, reach.before, reach.after, reach.message) for reach in left)
        was = subject.was.path if subject.was is not None else ""
        happened = {"added": "new"}.get(subject.change, subject.change) if is_new else ""
        folded.setdefault((happened, was, (subject.key.kind, states)), []).append((subject, facts))
    for (happened, was, _), same in folded.items():
        subjects = tuple(subject for subject, _ in same)
        first = subjects[0]
        left = [reach for reach in first.reach if ("reach", id(reach)) in same[0][1]]
        failing = fails(first) or fails(first, "some requests")
        after = [happened] if happened else []
        after += [f"{reach_in_words(reach)}{f': {cut(reach.message, 120)}' if reach.message else ''}" for reach in left]
        yield CommentRow(
            environment.name,
            "fails" if failing else "route",
            tuple(subject.key.path if subject.is_route else str(subject.key) for subject in subjects),
            _noun(subjects),
            ("",) * len(subjects),
            (f"was {was}",) if was else (),
            tuple(after),
            subjects=subjects,
            tells=tuple(fact for _, facts in same for fact in facts),
        )


# Findings


def _with_findings(rows: Sequence[CommentRow], findings: Iterable[Finding]) -> list[CommentRow]:
    """Return the rows with the new findings that say the same as one of them."""
    of_rows: dict[int, list[Finding]] = {}
    for finding in findings:
        numbers = [number for number, row in enumerate(rows) if _says(finding, row)]
        if numbers:
            fields = {field.strip().partition(".")[0] for field in finding.field.split(",")}
            named = (number for number in numbers if not fields.isdisjoint(each.name for each in rows[number].settings))
            of_rows.setdefault(next(named, numbers[0]), []).append(finding)
    return [
        row._replace(
            findings=tuple(of_rows.get(number, ())),
            tells=(*row.tells, *(("finding", id(finding)) for finding in of_rows.get(number, ()))),
        )
        for number, row in enumerate(rows)
    ]


def _says(finding: Finding, row: CommentRow) -> bool:
    """Return whether a finding says what a row says: of its routes, and because of the same objects if it names any."""
    if finding.environments and row.environment not in finding.environments:
        return False
    routes = {subject.key for subject in row.subjects}
    if row.example is not None:
        routes |= set(row.example.routes)
    about = set(finding.resources)
    if row.kind in OPENING or row.kind == "moved":
        if finding.rule in _SAY_OPENED:
            return not about.isdisjoint(routes | {who.policy for who in row.by})
        lost = {origin.policy for setting in row.settings for origin in setting.sources_before}
        return finding.rule in MISSED_TARGET and not about.isdisjoint(lost)
    if row.kind == "setting" and finding.rule == "GWP201":
        return not about.isdisjoint(routes) and any(setting.change == "removed" for setting in row.settings)
    if row.kind in ("closed", "route", "fails"):
        owners = {origin.policy for setting in row.settings for origin in setting.sources_before}
        owners |= {who.policy for who in row.by}
        return finding.rule.startswith(_SAY_CLOSED) and not about.isdisjoint(routes | owners)
    if row.kind == "connection":
        return finding.rule in ("GWP620", "GWP621") and not about.isdisjoint({who.policy for who in row.by})
    return False


# The headline


def _once(things: Iterable[_Thing]) -> tuple[_Thing, ...]:
    """Return each thing once: they hold values that cannot be looked up."""
    return tuple({id(thing): thing for thing in things}.values())


def own(row: CommentRow) -> frozenset[ResourceKey]:
    """The policies that stand for those of the other subjects of a row."""
    return own_policies(row.subjects)
