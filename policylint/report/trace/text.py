"""A traced request as a person reads it: step by step with places, the result last (docs/trace.md shows one)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.explain.settings import settings, summary
from policylint.model import Node, ResourceKey
from policylint.model.resource import dotted
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import conditions
from policylint.policy.authorizing import Decision, NearestRule, PlacedDecision
from policylint.report.kit import extensions
from policylint.report.kit.display import Paint, aligned, one_line, padded, short_place, width
from policylint.report.kit.identity import Names
from policylint.trace import Asked, Trace

if TYPE_CHECKING:
    from policylint.report.trace import Traced
    from policylint.report.trace.environments import TracedRequest
    from policylint.topology import ListenerState

_MOST_SETTINGS = 40


class _Steps:
    """The numbered steps of a request, as rows of up to three cells: head, words, place."""

    def __init__(self) -> None:
        self.number = 0
        self.rows: list[tuple[str, str, str]] = []

    def begin(self, head: str) -> str:
        """Return the head of the next step."""
        self.number += 1
        return f" {self.number}  {head}"

    def add(self, head: str, words: str = "", where: str = "") -> None:
        bare = head.lstrip(" ")
        self.rows.append((" " * (len(head) - len(bare)) + one_line(bare), one_line(words), one_line(where)))

    def add_all(self, head: str, rows: Iterable[tuple[str, str]]) -> None:
        """Add a step with a row for each pair of words and place, without any no step."""
        for number, (words, where) in enumerate(rows):
            self.add("    " if number else self.begin(head), words, where)

    def text(self, paint: Paint, room: int) -> Iterator[str]:
        """Yield the rows in columns; a row whose words are long goes on in the next line."""
        first = min(max((width(head) for head, words, where in self.rows if words or where), default=0), 42)
        middle = max((width(words) for _, words, where in self.rows if where), default=0)
        last = max((width(where) for _, _, where in self.rows), default=0)
        second = max(min(middle, room - first - last - 4), 20)
        for head, words, where in self.rows:
            line = f"{padded(head, first)}  {words}" if words or where else head
            if where:
                line = f"{padded(line, first + 2 + second)}  {paint('faint', where)}"
            yield line.rstrip() + "\n"


def pages(traced: Traced, paint: Paint, room: int) -> Iterator[str]:
    """Yield one page per request, with its result at the revision to compare with."""
    for number, request in enumerate(traced.requests):
        if number:
            yield "\n"
        if traced.several:
            yield paint("faint", f"environment {one_line(request.environment)}") + "\n"
        yield from page(request.trace, traced.names, paint, room, request.login)
        yield from _followed(request, traced.names)
        if traced.before is not None and traced.before[0]:
            revision, former = traced.before
            yield from _was(request, revision, former.requests, traced.names)


def _followed(request: TracedRequest, names: Names) -> Iterator[str]:
    """Yield what a client meets that follows the redirects, a line for each request."""
    for trace, login in zip(request.followed.traces, request.logins, strict=True):
        yield f"Then    {one_line(f'{trace.request}: {result(trace, names, login)}')}\n"
    if request.followed.loops:
        yield "Then    the same request again: the redirects are a loop.\n"


def _was(request: TracedRequest, revision: str, former: Sequence[TracedRequest], names: Names) -> Iterator[str]:
    """Yield `On main: reaches shop/checkout, jwt required.`, or that nothing differs."""
    trace = request.trace
    same = [old for old in former if old.environment == request.environment and old.trace.request == trace.request]
    for old in same:
        sentence = result(old.trace, names, old.login)
        alike = _owners(trace) == _owners(old.trace) and trace.rule == old.trace.rule
        alike = alike and sentence == result(trace, names, request.login)
        words = ", by the same rule and policies" if alike else ""
        yield f"On {one_line(revision)}: {one_line(sentence.rstrip('.') + words)}.\n"
    if not same:
        yield f"On {one_line(revision)}: there was no such environment.\n"


def _owners(trace: Trace) -> list[object]:
    return [(met.group.kind.kind, met.group.effective.owners, met.group.effective.spec) for met in trace.policies]


def page(trace: Trace, names: Names, paint: Paint, room: int, login: Asked | None = None) -> Iterator[str]:
    """Yield the steps of one request."""
    yield paint("strong", one_line(str(trace.request))) + "\n"
    steps = _Steps()
    listener, route = trace.listener, trace.route
    if listener is not None:
        head = f"{names.key(listener.holder.key)}, listener {listener.name}"
        where = short_place(listener.holder.location(*listener.pointer))
        steps.add(steps.begin(head), _why(trace, listener), where)
    if trace.rule is not None and route is not None:
        head = steps.begin(_rule(trace.rule, names))
        steps.add(head, trace.match, short_place(route.location(*trace.rule_pointer)))
        for candidate in trace.considered[:4]:
            where = short_place(candidate.route.location(*candidate.pointer))
            steps.add(f"      not {_rule(candidate.rule, names, short=True)}", candidate.because, where)
        if len(trace.considered) > 4:
            steps.add(f"      and {len(trace.considered) - 4} more")
    for head, rows in _policies(trace, names, room):
        steps.add(steps.begin(head))
        for row in rows:
            steps.add(row)
    steps.add_all("Authorization", [_admission(admission, names) for admission in trace.admissions])
    for heading, bindings in extensions.headed(trace.extensions):
        steps.add(steps.begin(heading))
        named = [tuple(map(one_line, extensions.row(binding, names))) for binding in bindings]
        for line in aligned(named):
            steps.add("      " + "  ".join(line).rstrip())
    if route is not None:
        steps.add_all("Filter", [(each.what, short_place(route.location(*each.pointer))) for each in trace.steps])
    if trace.mirrors:
        steps.add(steps.begin("Mirror"), ", ".join(map(names.key, trace.mirrors)))
    shares = [share for share in trace.outcome.shares if share.weight or len(trace.outcome.shares) == 1]
    if trace.is_cut_off:  # the hops below say by what
        shares = [share._replace(problem="") for share in shares]
    naming = [share.route or route for share in shares]
    places = [
        short_place(by.location(*share.pointer)) if by is not None and share.pointer else ""
        for by, share in zip(naming, shares, strict=True)
    ]
    for number, (share, place) in enumerate(zip(shares, places, strict=True)):
        session = None if share.problem else trace.sessions.get((share.key, share.port))
        by_default = f", {session.words}" if session is not None and session.by is None else ""
        steps.add("    " if number else steps.begin("Backend"), f"{_backend(share, names)}{by_default}", place)
        if session is not None and session.by is not None:
            steps.add("    ", f"  {session.words}", short_place(session.by.location(*session.pointer)))
    if trace.network is not None and trace.network.hops:
        from policylint.report.trace.hops import rows as hop_rows

        steps.add(steps.begin("Network"))
        for hop_row in hop_rows(trace.network, names):
            steps.add(*hop_row)
    yield from steps.text(paint, room)
    if steps.number:
        yield "\n"
    cut_off = trace.network is not None and trace.network.verdict in ("denied", "partly")
    style = "strong" if trace.outcome.answered and not cut_off else "error"
    yield f"{paint(style, 'Result:')} {one_line(result(trace, names, login))}\n"
    for near in trace.nearest[1:]:
        yield f"        or {one_line(_near(near.node, names))} (needs {one_line(', '.join(near.needs))})\n"
    if trace.near_miss is not None:
        yield f"        {one_line(_near_miss(*trace.near_miss, names))}\n"
    for note in trace.notes:
        yield f"{paint('note', 'note:')} {one_line(note)}\n"


def result(trace: Trace, names: Names, login: Asked | None = None) -> str:
    """Return one sentence: where the request ends, and whether it is asked for a login."""
    outcome = trace.outcome
    if outcome.redirect is not None:
        to = outcome.redirect
        port = "" if to.port is None else f":{to.port}"
        return f"{to.status} redirect to {to.scheme}://{to.host or '<host>'}{port}{to.path}."
    backends = outcome.backends
    if backends and trace.network is not None and trace.network.verdict != "allowed":
        from policylint.report.trace.hops import result as network_result

        said = network_result(trace.network, [share.key for share in outcome.shares if share.share], names)
        asked = _protection(login).removeprefix(", ")
        return f"{said} {'Login: ' if asked != 'no login' else ''}{asked[:1].upper() + asked[1:]}." if asked else said
    if backends:
        parts = [
            f"{key.path} ({share:.0%})" if len(backends) > 1 or outcome.failing else key.path
            for key, share in backends.items()
        ]
        failing = f"; {outcome.failing:.0%} of the requests get an error" if outcome.failing else ""
        l7 = ""
        if trace.network is not None:
            from policylint.report.trace.hops import condition as l7_condition

            l7 = l7_condition(trace.network, names)
        is_open = login is None or login.state != "unknown"
        unread = f", unless {listing(trace.may_ask, most=2)} turns it away" if trace.may_ask and is_open else ""
        return f"reaches {', '.join(parts)}{_protection(login)}{_condition(trace)}{l7}{unread}{failing}."
    nearest = ""
    if trace.nearest:
        nearest = f"; nearest is {_near(trace.nearest[0].node, names)} (needs {', '.join(trace.nearest[0].needs)})"
    if trace.is_cut_off:
        return f"{outcome.reason}."
    if outcome.refused:
        return f"refused: {outcome.reason}{nearest}."
    if outcome.unknown:
        return f"unknown: {outcome.reason}."
    grpc = f" (gRPC {outcome.grpc_status})" if outcome.grpc_status else ""
    return f"{outcome.status or 'an error'}{grpc}: {outcome.reason}{nearest}."


def verdicts(requests: Sequence[TracedRequest], paint: Paint) -> Iterator[str]:
    """Yield `trace --check`: a line per request that fails, with what it did instead; then the number of requests."""
    failed = [request for request in requests if request.failed]
    for request in failed:
        yield f"{paint('error', 'FAILED')} {one_line(str(request.trace.request))}\n"
        for check in request.checks:
            if not check.holds:
                want, got = one_line(_in_words(check.want)), one_line(_in_words(check.got))
                yield f"    {check.fact}: expected {want}, got {got}\n"
        if request.trace.outcome.reason:
            yield f"    {one_line(request.trace.outcome.reason)}\n"
    checked = sum(bool(request.checks) for request in requests)
    unchecked = len(requests) - checked
    rest = f", {unchecked} without `expect`" if unchecked else ""
    yield f"{checked - len(failed)} of {checked} requests do what is expected{rest}\n"


def _why(trace: Trace, listener: ListenerState) -> str:
    host = listener.hostname or "every host"
    where = f"{host}:{listener.port}" if listener.hostname else f"{host} on port {listener.port}"
    if not trace.others:
        return f"{where}, {listener.protocol}"
    best = "has the route for the narrowest host" if trace.by_routes else "is the most specific"
    return f"{where} {best} of {trace.others + 1}"


def _rule(node: Node, names: Names, *, short: bool = False) -> str:
    """Return `HTTPRoute shop/checkout, rule 2`, `shop/checkout rule pay`."""
    name = node.section.removeprefix("rule-") if node.section.startswith("rule-") else node.section
    return f"{node.key.path} rule {name}" if short else f"{names.key(node.key)}, rule {name}"


def _near(node: Node, names: Names) -> str:
    return _rule(node, names, short=True) if node.role.endswith("Rule") else names.node(node)


def _near_miss(policy: ResourceKey | None, near: NearestRule, names: Names) -> str:
    """Return `nearest is rules[0] of AuthorizationPolicy shop/a, which asks for paths: /a`."""
    place = dotted(near.pointer[1:] if near.pointer[:1] == ("spec",) else near.pointer)
    rule = " of ".join(filter(None, (place, "" if policy is None else names.key(policy))))
    return f"nearest is {rule}, which asks for {near.unmet}"


def _backend(share: Any, names: Names) -> str:
    port = "" if share.port is None else f":{share.port}"
    weight = f"weight {share.weight}" if share.pointer else "no route applies"
    text = f"{names.key(share.key)}{port} ({weight})"
    return f"{text}: {share.problem}" if share.problem else text


class _Row(NamedTuple):
    """One setting: the implementation that orders it and its place there ("" and 0: nobody knows), and four cells."""

    by: str
    place: int
    cells: tuple[str, str, str, str]


def _policies(trace: Trace, names: Names, room: int) -> Iterator[tuple[str, list[str]]]:
    """Yield steps: the settings in their order, one step for each implementation that orders some, and the others."""
    rows = _settings(trace, names)
    orders = sorted({row.by for row in rows if row.by})
    for by in (*orders, ""):
        chosen = sorted((row for row in rows if row.by == by), key=lambda row: row.place)
        of_one = f" of {by}" if len(orders) > 1 else ""
        head = f"Policies in order{of_one}" if by else "Policies (order unknown)" if len(rows) > 1 else "Policies"
        if chosen:
            yield head, _lines([row.cells for row in chosen], room)


def _settings(trace: Trace, names: Names) -> list[_Row]:
    """Return `cors  shop/checkout-cors  checkout-cors.yaml:14  https://www.example.com`, then what is gone."""
    rows: list[_Row] = []
    gone: dict[tuple[str, str], _Row] = {}
    for met in trace.policies:
        of = met.group.kind.implementation
        only = "" if met.backend is None else f" (to {met.backend.path}{f' at {met.port}' * bool(met.port)})"
        unsaid = conditions(met.group.kind)
        for setting in settings(met.group):
            field, where = setting.field, "" if setting.location is None else short_place(setting.location)
            place = met.places.get(str(setting.pointer[0])) if setting.pointer else None
            order = ("", 0) if place is None else (of, place)
            if setting.state == "applies":
                policy = names.key(setting.policy).partition(" ")[2] + only
                value = "SKIPPED: its conditions do not hold" if met.skipped else summary(setting.value)
                value = f"MAY NOT ACT: {met.doubt}" if met.doubt else value
                rows.append(_Row(*order, (field, policy, where, value)))
            elif setting.state == "dropped" and field not in unsaid:
                by = ", ".join(key.path for key in setting.by)
                why = f"dropped by {by}" if by else "what it calls is not there"
                policy = setting.policy.path
                gone.setdefault((field, policy), _Row(*order, (field, policy, where, f"NONE: {why}")))
    kept = {row.cells[0] for row in rows}
    return [*rows, *(row for (field, _), row in gone.items() if field not in kept)]


def _lines(rows: Sequence[tuple[str, str, str, str]], room: int) -> list[str]:
    """Return rows in columns; a value that is too long is cut."""
    lines = []
    for *heads, value in aligned([tuple(map(one_line, row)) for row in rows[:_MOST_SETTINGS]]):
        line = "      " + "  ".join(heads)
        left = max(room - width(line) - 2, 16)
        lines.append(f"{line}  {value if width(value) <= left else value[: left - 1] + '…'}".rstrip())
    if len(rows) > _MOST_SETTINGS:
        lines.append(f"      and {len(rows) - _MOST_SETTINGS} more settings (-o json shows all)")
    return lines


def _admission(admission: PlacedDecision, names: Names) -> tuple[str, str]:
    """Return `allowed at Deployment shop/web by AuthorizationPolicy shop/a`, and where that is written."""
    decision = admission.decision
    by = "" if decision.by is None else f" by {names.key(decision.by.key)}"
    why = f": {decision.why}{admission.note}" if decision.why else ""
    verb = "depends" if decision.answer == "depends" else decision.answer
    where = "" if decision.by is None else short_place(decision.by.location(*decision.pointer))
    return f"{verb} at {names.key(admission.at.path[0].key)}{by}{why}", where


def _protection(login: Asked | None) -> str:
    """Return `, jwt required`, `, jwt optional`, `, no login` or `, login unknown: why`."""
    if login is None:
        return ""
    names = " and ".join(dict.fromkeys(demand.setting for demand in login.demands))
    seen = f" ({login.ground})" if login.ground else ""
    match login.state:
        case "asked":
            return f", {names} required"
        case "optional":
            return f", {names} optional{seen}"
        case "unknown":
            return f", login unknown: {login.why}"
    return f", no login{seen}"


def _condition(trace: Trace) -> str:
    """Return `, if SecurityPolicy shop/own allows it (jwt)` where that depends on what no manifest says."""
    words = [f"{judged.policy} allows it ({judged.decision.why})" for judged in trace.depends]
    doubts = [admission.decision for admission in trace.admissions if admission.decision.answer == "depends"]
    named = dict.fromkeys(f"{doubt.why}{_owner(doubt)}" for doubt in doubts)
    judged_by = " and ".join(dict.fromkeys(words))
    both = [judged_by] if judged_by else []
    both += [f"let in: that depends on {listing(list(named))}"] if named else []
    return "".join(f", {'and ' if number else ''}if {words}" for number, words in enumerate(both))


def _owner(doubt: Decision) -> str:
    """Return whose decision it is that depends: ` (shop/own)`, of a default ` (its default)`; of nobody's ""."""
    if doubt.by is not None:
        return f" ({doubt.by.key.path})"
    return " (its default)" if doubt.pointer else ""


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(inner)}" for name, inner in value.items()) or "nothing"
    if isinstance(value, list):
        return " or ".join(map(_in_words, value)) or "nothing"
    return "nothing" if value is None else str(value)
