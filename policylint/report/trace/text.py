"""A traced request as a person reads it: step by step with places, the result last (docs/trace.md shows one)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.explain.settings import settings, summary
from policylint.model import Location, Node
from policylint.report.kit.display import Paint, one_line, width
from policylint.report.kit.identity import Names
from policylint.trace import Trace

if TYPE_CHECKING:
    from policylint.trace.environments import TracedRequest

_MOST_SETTINGS = 40


class _Lines:
    """Rows of up to three cells, put below each other when the page is finished."""

    def __init__(self, paint: Paint, room: int) -> None:
        self.paint = paint
        self.room = room
        self.rows: list[tuple[str, str, str]] = []

    def add(self, head: str, words: str = "", place: str = "") -> None:
        self.rows.append((one_line(head) if head.strip() == head else head, one_line(words), one_line(place)))

    def text(self) -> Iterator[str]:
        """The rows in columns; a row whose words are long goes on in the next line."""
        heads = [width(head) for head, words, place in self.rows if words or place]
        first = min(max(heads, default=0), 42)
        middles = [width(words) for _, words, place in self.rows if place]
        last = max((width(place) for _, _, place in self.rows), default=0)
        second = max(min(max(middles, default=0), self.room - first - last - 4), 20)
        for head, words, place in self.rows:
            line = head + " " * (first - width(head)) if words or place else head
            if words or place:
                line += "  " + words
            if place:
                pad = first + 2 + second - width(line)
                line += " " * max(pad, 0) + "  " + self.paint("faint", place)
            yield line.rstrip() + "\n"


def pages(
    requests: Sequence[TracedRequest],
    names: Names,
    paint: Paint,
    room: int,
    several: bool,
    before: tuple[str, Sequence[TracedRequest]] = ("", ()),
) -> Iterator[str]:
    """One page per request; `before` is a revision and what became of the same requests there."""
    for number, one in enumerate(requests):
        if number:
            yield "\n"
        if several:
            yield paint("faint", f"environment {one_line(one.environment)}") + "\n"
        yield from page(one.trace, names, paint, room)
        if before[0]:
            yield from _was(one, *before, names)


def _was(one: TracedRequest, revision: str, former: Sequence[TracedRequest], names: Names) -> Iterator[str]:
    """`On main: reaches shop/checkout, jwt required.`, or that nothing differs."""
    same = [each for each in former if each.trace.request == one.trace.request and each.environment == one.environment]
    for each in same:
        said = result(each.trace, names)
        here = _owners(one.trace) == _owners(each.trace) and one.trace.rule == each.trace.rule
        word = ", by the same rule and policies" if here and said == result(one.trace, names) else ""
        yield f"On {one_line(revision)}: {one_line(said.rstrip('.') + word)}.\n"
    if not same:
        yield f"On {one_line(revision)}: there was no such environment.\n"


def _owners(trace: Trace) -> list[object]:
    return [(met.group.kind.kind, met.group.effective.owners, met.group.effective.spec) for met in trace.policies]


def page(trace: Trace, names: Names, paint: Paint, room: int) -> Iterator[str]:
    """The steps of one request."""
    yield paint("strong", one_line(str(trace.request))) + "\n"
    lines = _Lines(paint, room)
    step = 0
    if trace.listener is not None:
        step += 1
        lines.add(
            f" {step}  {_heard(trace, names)}",
            _why_listener(trace),
            place(trace.listener.holder.location(*trace.listener.pointer)),
        )
    if trace.rule is not None and trace.route is not None:
        step += 1
        lines.add(f" {step}  {_rule(trace.rule, names)}", trace.match, place(trace.route.location(*trace.rule_pointer)))
        for each in trace.considered[:4]:
            lines.add(
                f"      not {_rule(each.rule, names, short=True)}",
                each.because,
                place(each.route.location(*each.pointer)),
            )
        if len(trace.considered) > 4:
            lines.add(f"      and {len(trace.considered) - 4} more")
    rows = _policies(trace, names, room)
    if rows:
        step += 1
        lines.add(f" {step}  Policies in order")
        for row in rows:
            lines.add(row)
    if trace.steps and trace.route is not None:
        step += 1
        head = f" {step}  Filter"
        for filtered in trace.steps:
            lines.add(head, filtered.what, place(trace.route.location(*filtered.pointer)))
            head = "    "
    if trace.mirrors:
        step += 1
        lines.add(f" {step}  Mirror", ", ".join(map(names.key, trace.mirrors)))
    shares = [each for each in trace.outcome.shares if each.weight or len(trace.outcome.shares) == 1]
    if shares:
        step += 1
        head = f" {step}  Backend"
        for share in shares:
            where = "" if trace.route is None or not share.pointer else place(trace.route.location(*share.pointer))
            lines.add(head, _backend(share, names), where)
            head = "    "
    yield from lines.text()
    if step:
        yield "\n"
    style = "strong" if trace.outcome.answered else "error"
    yield f"{paint(style, 'Result:')} {one_line(result(trace, names))}\n"
    for near in trace.nearest[1:]:
        yield f"        or {_near(near.node, names)} (needs {one_line(', '.join(near.needs))})\n"
    for note in trace.notes:
        yield f"{paint('note', 'note:')} {one_line(note)}\n"


def result(trace: Trace, names: Names) -> str:
    """One sentence: where the request ends."""
    outcome = trace.outcome
    if outcome.redirect is not None:
        to = outcome.redirect
        port = "" if to.port is None else f":{to.port}"
        return f"{to.status} redirect to {to.scheme}://{to.host or '<host>'}{port}{to.path}."
    backends = outcome.backends
    if backends:
        parts = [
            f"{key.path} ({share:.0%})" if len(backends) > 1 or outcome.failing else key.path
            for key, share in backends.items()
        ]
        failing = f"; {outcome.failing:.0%} of the requests get an error" if outcome.failing else ""
        return f"reaches {', '.join(parts)}{_protection(trace)}{failing}."
    nearest = ""
    if trace.nearest:
        nearest = f"; nearest is {_near(trace.nearest[0].node, names)} (needs {', '.join(trace.nearest[0].needs)})"
    if outcome.refused:
        return f"refused: {outcome.reason}{nearest}."
    if outcome.unknown:
        return f"unknown: {outcome.reason}."
    grpc = f" (gRPC {outcome.grpc_status})" if outcome.grpc_status else ""
    return f"{outcome.status}{grpc}: {outcome.reason}{nearest}."


def verdicts(requests: Sequence[TracedRequest], paint: Paint) -> Iterator[str]:
    """`trace --check`: a line per request that fails, with what it did instead; then how many there were."""
    failed = 0
    for one in requests:
        if not one.checks:
            continue
        if not one.failed:
            continue
        failed += 1
        yield f"{paint('error', 'FAILED')} {one_line(str(one.trace.request))}\n"
        for each in one.checks:
            if not each.holds:
                yield f"    {each.fact}: expected {one_line(_said(each.want))}, got {one_line(_said(each.got))}\n"
        if one.trace.outcome.reason:
            yield f"    {one_line(one.trace.outcome.reason)}\n"
    checked = sum(bool(one.checks) for one in requests)
    unchecked = len(requests) - checked
    rest = f", {unchecked} without `expect`" if unchecked else ""
    yield f"{checked - failed} of {checked} requests do what is expected{rest}\n"


def place(location: Location) -> str:
    """`checkout.yaml:27`, the file by its last name."""
    return f"{location.file.rpartition('/')[2]}:{location.at()[0]}"


def _heard(trace: Trace, names: Names) -> str:
    listener = trace.listener
    assert listener is not None
    holder = names.key(listener.holder.key)
    return f"{holder}, listener {listener.name}"


def _why_listener(trace: Trace) -> str:
    listener = trace.listener
    assert listener is not None
    host = listener.hostname or "every host"
    where = f"{host}:{listener.port}" if listener.hostname else f"{host} on port {listener.port}"
    if trace.others:
        return f"{where} is the most specific of {trace.others + 1}"
    return f"{where}, {listener.protocol}"


def _rule(node: Node, names: Names, *, short: bool = False) -> str:
    """`HTTPRoute shop/checkout, rule 2`, `shop/checkout rule pay`."""
    name = node.section.removeprefix("rule-") if node.section.startswith("rule-") else node.section
    return f"{node.key.path} rule {name}" if short else f"{names.key(node.key)}, rule {name}"


def _near(node: Node, names: Names) -> str:
    return _rule(node, names, short=True) if node.role.endswith("Rule") else names.node(node)


def _backend(share: Any, names: Names) -> str:
    port = "" if share.port is None else f":{share.port}"
    weight = f"weight {share.weight}" if share.pointer else "no route applies"
    text = f"{names.key(share.key)}{port} ({weight})"
    return f"{text}: {share.problem}" if share.problem else text


def _policies(trace: Trace, names: Names, room: int) -> list[str]:
    """`cors  shop/checkout-cors  checkout-cors.yaml:14  https://www.example.com`, then what is gone."""
    rows: list[tuple[str, str, str, str]] = []
    gone: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for met in trace.policies:
        only = "" if met.backend is None else f" (to {met.backend.path})"
        for each in settings(met.group):
            where = "" if each.location is None else place(each.location)
            if each.state == "applies":
                rows.append((each.field, names.key(each.policy).partition(" ")[2] + only, where, summary(each.value)))
            elif each.state == "dropped":
                by = ", ".join(key.path for key in each.by) or "a more specific policy"
                row = (each.field, each.policy.path, where, f"NONE: dropped by {by}")
                gone.setdefault((each.field, each.policy.path), row)
    kept = {field for field, *_ in rows}
    rows += [row for row in gone.values() if row[0] not in kept]
    cells = [tuple(map(one_line, row)) for row in rows[:_MOST_SETTINGS]]
    sizes = [max(map(width, column)) for column in zip(*(row[:3] for row in cells), strict=True)]
    lines = []
    for *heads, value in cells:
        line = "      " + "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(heads, sizes, strict=True))
        left = max(room - width(line) - 2, 16)
        value = value if width(value) <= left else value[: left - 1] + "…"
        lines.append(f"{line}  {value}".rstrip())
    if len(rows) > _MOST_SETTINGS:
        lines.append(f"      and {len(rows) - _MOST_SETTINGS} more settings (-o json shows all)")
    return lines


def _protection(trace: Trace) -> str:
    """`, jwt required` or `, unauthenticated` where policies say anything about it."""
    held: set[str] = set()
    lost: set[str] = set()
    for met in trace.policies:
        wanted = set(met.group.kind.settings.authentication)
        held |= wanted & {str(pointer[0]) for pointer in met.group.effective.owners if pointer}
        lost |= wanted & {str(each.pointer[0]) for each in met.group.effective.lost if each.pointer}
    if held:
        return f", {' and '.join(sorted(held))} required"
    return ", unauthenticated" if lost else ""


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(each)}" for name, each in value.items()) or "nothing"
    if isinstance(value, list):
        return " or ".join(map(_said, value)) or "nothing"
    return "nothing" if value is None else str(value)
