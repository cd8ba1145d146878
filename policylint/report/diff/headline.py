"""What the heading of a comment says: the consequence of the worst row, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from policylint.compare.requests import NO_RULE, purpose_in_words
from policylint.model import Finding
from policylint.model.words import count, leading, listing, verb
from policylint.report.diff import requests
from policylint.report.diff.wording import (
    cut,
    nothing_changes,
    renamed_objects,
)

if TYPE_CHECKING:
    from policylint.report.diff.comment import CommentRow
    from policylint.report.diff.report import DiffReport


def headline_of(
    report: DiffReport,
    rows: Sequence[CommentRow],
    new: Sequence[Finding],
    policies: Sequence[tuple[str, str]],
    unknown: Sequence[str],
) -> str:
    """Return the consequence that a reader must know first."""
    worst = next((finding for finding in new if finding.severity == "error"), None)
    first = rows[0] if rows else None
    if worst is not None and (first is None or first.rank[0] > 0):
        others = sum(finding.severity == "error" for finding in new) - 1
        return cut(worst.message, 160) + (f" (and {count(others, 'more error')})" if others else "")
    if first is not None:
        alike = [row for row in rows if row.kind == first.kind]
        return _consequence(first, alike)
    if policies:
        name, verdicts = policies[0]
        more = f" (and {count(len(policies) - 1, 'more policy', 'more policies')})" if len(policies) > 1 else ""
        return f"`{name}`: {verdicts}{more}"
    if new and new[0].severity != "note":
        return cut(new[0].message, 160)
    if unknown:
        return "no known change of a route; " + unknown[0]
    renamed = [sentence for environment in report.comparison.environments for sentence in renamed_objects(environment)]
    said = [nothing_changes(report), *requests.parts(report)]
    return "; ".join([*said, f"{count(len(renamed), 'object')} renamed"] if renamed else said)


def _consequence(row: CommentRow, alike: Sequence[CommentRow]) -> str:
    """Return the consequence of a row, of several of its kind for all together."""
    names = list(dict.fromkeys(name for each in alike if each.noun == row.noun for name in each.who))
    one = len(names) == 1
    who = names[0] if row.noun in ("connection", "placement") else f"`{names[0]}`" if one else ""
    if one and row.where[0] and row.noun == "host" and len(alike) == 1:
        who = f"`{names[0]} {cut(row.where[0], 60)}`"
    who = who if one else count(len(names), row.noun)
    match row.kind:
        case "lost":
            if all(any(part.endswith(", optional") for part in each.after) for each in alike):
                return f"the login of {who} is no longer required"
            lost = _lost(alike, one)
            return f"{who} {verb(len(names), 'loses')} {lost}"
        case "weaker":
            which = ", ".join(dict.fromkeys(f"`{each.name}`" for each in row.settings)) or _purposes(row)
            return f"{which} of {who} {'ask' if ',' in which else 'asks'} for less than before"
        case "reachable":
            logins = {part.partition(" (")[0] for each in alike for part in each.after if "login" in part}
            login = logins.pop() if len(logins) == 1 else ""
            login = " without a login" if login == "no login" else f" ({login})" if login else ""
            wheres = {where for each in alike for where in each.where}
            only = f" {cut(wheres.pop(), 80)}" if not one and len(wheres) == 1 else ""
            return f"{who} {verb(len(names), 'becomes')} reachable{only}{login}"
        case "moved":
            ways = {each.moves for each in alike}
            to = ways.pop() if len(ways) == 1 else "to another Gateway"
            return f"{who} {verb(len(names), 'moves')} {to}"
        case "closed":
            end = row.after[-1] if len({each.after for each in alike}) == 1 else ""
            if end[:3].isdigit() and end != NO_RULE:
                return f"{who} {verb(len(names), 'answers')} {end}"
            if end and "404" not in end and not end.startswith(("login", "authorization")):
                return f"{who}: {end}"
            return f"{who} {verb(len(names), 'is') if one else 'are'} no longer reachable"
        case "connection":
            if one:
                return _connection(row)
            happened = [(sum(side == ("none",) for side in sides), word) for sides, word in (
                ([each.before for each in alike], "open"), ([each.after for each in alike], "close"),
            )]  # fmt: skip
            happened.append((len(names) - sum(number for number, _ in happened), "change"))
            return listing([f"{count(number, 'connection')} {word}{'s' * (number == 1)}"
                            for number, word in happened if number])  # fmt: skip
        case "placement":
            return f"{who}: {row.before[0]} -> {row.after[0]}" if one else f"{len(names)} placements change"
        case "rerouted":
            ends = {each.after for each in alike}
            return f"requests to {who} go to {row.after[0] if len(ends) == 1 else 'other backends'}"
        case "changed":
            sides = {(each.before, each.after) for each in alike if each.before != each.after}
            if len(sides) == 1:
                did = "; ".join(row.after) or "no longer " + "; ".join(row.before)
                return f"requests to {who}: {cut(did, 80)}"
            return f"requests to {who} are treated differently"
        case "stricter":
            gained = {part.partition(": ")[0] for each in alike for part in each.after if part not in each.before}
            asked = {"login": "a login", "authorization": "authorization"}.get(gained.pop()) if len(gained) == 1 else ""
            return (
                f"{who} now {verb(len(names), 'requires')} {asked}"
                if asked
                else (f"{who} {verb(len(names), 'asks')} for more")
            )
        case "fails":
            return f"requests to {who} fail"
        case "route":
            return f"{who}: {cut('; '.join(row.after), 120)}" if one else f"{who} {verb(len(names), 'changes')}"
    changes = {setting.change for each in alike for setting in each.settings}
    happens = {"added": "gets", "removed": "loses"}.get(changes.pop()) if len(changes) == 1 else ""
    names_of = dict.fromkeys(f"`{setting.name}`" for each in alike for setting in each.settings)
    if happens:
        return f"{who} {verb(len(names), happens)} {leading(names_of, 3)}"
    return f"{leading(names_of, 3)} of {who} {'change' if len(names_of) > 1 else 'changes'}"


def _connection(row: CommentRow) -> str:
    """Return `A can no longer connect to B on TCP 5050`, or what the connection was and is."""
    source, _, target = row.who[0].partition(" to ")
    was, now = row.before[0], row.after[0]
    if was in ("", "none"):
        return f"{source} can now connect to {target}" + (f" on {now}" if now else "")
    if now == "none":
        return f"{source} can no longer connect to {target} on {was}"
    return f"{row.who[0]}: {was} -> {now}"


def _lost(rows: Sequence[CommentRow], one: bool) -> str:
    """Return `its login and its authorization`, or the settings that go."""
    their = "its" if one else "their"
    lost: Counter[str] = Counter()
    for row in rows:
        if row.noun != "host":
            lost.update(f"`{setting.name}`" for setting in row.settings)
        else:
            if any(map(_is_limit, row.before)) and not any(map(_is_limit, row.after)):
                lost[f"{their} allow-list"] += 1
            for purpose in ("login", "authorization"):
                was, now = (next((part for part in side if purpose in part), "") for side in (row.before, row.after))
                if was.startswith(f"{purpose}: ") and was != now and "optional" not in was:
                    lost[f"{their} {purpose}"] += 1
    return listing(list(lost), most=4) or f"{their} protection"


def _is_limit(part: str) -> bool:
    return part.startswith("only ")


def _purposes(row: CommentRow) -> str:
    purpose = "" if row.example is None else purpose_in_words(row.example.purpose)
    return f"the {purpose}" if purpose else "what is asked"
