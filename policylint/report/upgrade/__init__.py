"""The report of `upgrade`: as text, Markdown or JSON (docs/upgrading.md)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from policylint.catalog.releases import product, shown
from policylint.compare.requests import RequestChange, difference_in_words, doors_in_words, sets_in_words
from policylint.model.words import count, listing
from policylint.render.in_use import InUse
from policylint.report.diff.requests import MARKS, WORDS
from policylint.report.kit.display import Paint, one_line
from policylint.report.kit.escape import spoken
from policylint.report.kit.identity import json_text
from policylint.report.kit.tables import table_head, table_row
from policylint.trace.request import arguments
from policylint.upgrade import Consequence, Move, Upgrade

VERSION = "upgrade-v1"
HEADINGS = {"error": "must be done first", "warning": "does something else", "note": "will be removed"}
"""Severity → what it means here."""
_NOTHING = "nothing in the tree says which release is in use (--from, or `releases:` of the configuration, does)"


def write(form: str, upgrade: Upgrade, paint: Paint) -> str:
    """Return an upgrade in a format (formats.py), ending in a newline."""
    if form == "json":
        return json_text(_document(upgrade))
    lines = _markdown(upgrade) if form == "markdown" else _text(upgrade, paint)
    return "\n".join(lines) + "\n"


def _moves(upgrade: Upgrade) -> Iterator[tuple[str, str, str]]:
    """Yield what moves, why the release is taken to be in use, and in which environments, each once."""
    folded: dict[tuple[str, str], list[str]] = {}
    for move in upgrade.moves:
        was, now = (f" {each}" for each in move.channels) if move.channels else ("", "")
        title = f"{move.product.title} {shown(move.start)}{was} -> {shown(move.end)}{now}"
        folded.setdefault((title, _ground(move)), []).append(move.environment)
    for (title, ground), environments in folded.items():
        yield title, ground, _where(upgrade, environments)


def _ground(move: Move) -> str:
    if move.ground == "stated":
        return f"in use: {shown(move.start)}, as stated"
    if move.ground == "assumed":
        why = f"{move.uses[0].said} names no one release" if move.uses else _NOTHING
        return f"in use: {shown(move.start)}, assumed: {why}"
    use = move.uses[0]
    others = sorted({shown(each.release) for each in move.uses[1:]} - {shown(use.release)})
    also = f"; {listing(others)} elsewhere in it, the oldest counts" if others else ""
    return f"in use: {shown(use.release)}, {use.said} ({use.location.file}:{use.location.at()[0]}){also}"


def _where(upgrade: Upgrade, environments: tuple[str, ...] | list[str]) -> str:
    """Return `in prod, stage`, "" where that is everywhere."""
    everywhere = {move.environment for move in upgrade.moves}
    return "" if set(environments) == everywhere else f"in {listing(sorted(environments), most=4)}"


def _text(upgrade: Upgrade, paint: Paint) -> Iterator[str]:
    for title, ground, where in _moves(upgrade):
        yield paint("strong", one_line(title)) + (f" {where}" if where else "")
        yield f"  {one_line(ground)}"
    for severity, heading in HEADINGS.items():
        found = [each for each in upgrade.consequences if each.severity == severity]
        if found:
            yield ""
            yield paint(severity, heading)
        for each in found:
            where = _where(upgrade, each.environments)
            place = f"{each.file}:{each.line}  " if each.file else ""
            yield f"  {one_line(place + each.subject)} {one_line(each.says)}" + (f" ({where})" if where else "")
            since = f"since {shown(each.release)}: {each.effect}[{each.change}]"
            yield f"      {since}; do: {one_line(each.todo)}" if each.todo else f"      {since}"
    yield from _requests(upgrade)
    if upgrade.moves:
        yield ""
    yield summary(upgrade)


def _requests(upgrade: Upgrade) -> Iterator[str]:
    for environment, requests in upgrade.requests:
        changes = () if requests is None else requests.changes
        if requests is None or not (changes or requests.unknown):
            continue
        yield ""
        yield "requests" + (f" in {one_line(environment)}" if len(upgrade.requests) > 1 else "")
        for change in changes:
            yield f"  {MARKS[change.change]} {WORDS[change.change]}: {one_line(_whose(change))}"
            yield f"      {one_line(difference_in_words(change))}"
            yield f"      e.g. {one_line(_example(change))}"
        for why, hosts in requests.unknown:
            yield f"  ! not known for {count(hosts, 'host')}: {one_line(why)}"


def _whose(change: RequestChange) -> str:
    return f"{sets_in_words(change)}, {doors_in_words(change)}"


def _example(change: RequestChange) -> str:
    return f"policylint trace {shlex.join(arguments(change.example))}"


def summary(upgrade: Upgrade) -> str:
    """Return one line on all of it."""
    there = [*dict.fromkeys(f"{product(name).title} is there already: {use.said}" for name, use in upgrade.already)]
    if upgrade.absent:
        there.append(f"nothing here is of {listing(sorted(upgrade.absent), word='or')}")
    if not upgrade.moves:
        return "; ".join(there) or f"no release in use is known here that has a newer one: {_NOTHING}"
    parts = []
    for severity, one, several in (
        ("error", "must be changed first", "must be changed first"),
        ("warning", "does something else", "do something else"),
        ("note", "is deprecated", "are deprecated"),
    ):
        number = len({(each.subject, each.file) for each in upgrade.consequences if each.severity == severity})
        if number:
            parts.append(f"{count(number, 'place')} {one if number == 1 else several}")
    changed = sum(len(requests.changes) for _, requests in upgrade.requests if requests is not None)
    if changed:
        parts.append(f"{count(changed, 'set')} of requests {'is' if changed == 1 else 'are'} answered differently")
    said = "; ".join(parts) or "nothing that policylint knows of these releases concerns this tree"
    return "; ".join((said, *there))


def _markdown(upgrade: Upgrade) -> Iterator[str]:
    for title, ground, where in _moves(upgrade):
        yield f"### {spoken(title, table=False)}" + (f" {spoken(where, table=False)}" if where else "")
        yield ""
        yield f"{spoken(ground, table=False)[:1].upper()}{spoken(ground, table=False)[1:]}."
        yield ""
    said = spoken(summary(upgrade), table=False)
    yield f"**{said[:1].upper()}{said[1:]}**"
    for severity, heading in HEADINGS.items():
        found = [each for each in upgrade.consequences if each.severity == severity]
        if found:
            yield from ("", f"#### {heading[:1].upper()}{heading[1:]}", "", table_head("where", "what", "do", "since"))
        for each in found:
            where = _where(upgrade, each.environments)
            what = f"{each.subject} {each.says}" + (f" ({where})" if where else "")
            place = f"{each.file}:{each.line}" if each.file else ""
            yield table_row(spoken(place), spoken(what), spoken(each.todo), shown(each.release))
    if any(requests is not None and requests.changes for _, requests in upgrade.requests):
        yield from ("", "#### Requests", "", table_head("change", "requests", "before and after"))
    for _, requests in upgrade.requests:
        for change in () if requests is None else requests.changes:
            yield table_row(WORDS[change.change], spoken(_whose(change)), spoken(difference_in_words(change)))


def _document(upgrade: Upgrade) -> dict[str, Any]:
    return {
        "version": VERSION,
        "moves": [_move(move) for move in upgrade.moves],
        "consequences": [_consequence(each) for each in upgrade.consequences],
        "requests": [
            {
                "environment": environment,
                "changes": [] if requests is None else [_change(change) for change in requests.changes],
                "unknown": []
                if requests is None
                else [{"because": why, "hosts": hosts} for why, hosts in requests.unknown],
            }
            for environment, requests in upgrade.requests
        ],
        "absent": list(upgrade.absent),
        "already": [{"product": name, **_use(use)} for name, use in upgrade.already],
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "environment": move.environment,
        "product": move.product.name,
        "from": shown(move.start),
        "to": shown(move.end),
        "ground": move.ground,
        "uses": [_use(use) for use in move.uses],
    }


def _use(use: InUse) -> dict[str, Any]:
    return {"release": shown(use.release), "said": use.said, "file": use.location.file, "line": use.location.at()[0]}


def _consequence(each: Consequence) -> dict[str, Any]:
    return {
        "product": each.product,
        "since": shown(each.release),
        "effect": each.effect,
        "change": each.change,
        "severity": each.severity,
        "needed": each.needed,
        "subject": each.subject,
        "pointer": each.pointer,
        "says": each.says,
        "do": each.todo,
        "location": {"file": each.file, "line": each.line} if each.file else None,
        "environments": list(each.environments),
    }


def _change(change: RequestChange) -> dict[str, Any]:
    return {
        "change": change.change,
        "requests": _whose(change),
        "before": change.before,
        "after": change.after,
        "difference": difference_in_words(change),
        "example": _example(change),
    }
