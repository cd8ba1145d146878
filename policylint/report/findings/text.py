"""The report that people read in a terminal: verdicts with excerpts, then one line that counts.

error[GWP101]: BackendTrafficPolicy shop/retries points at nothing              target-not-found
  --> clusters/prod/shop/retries.yaml:12:13
   |
12 |       name: chekout
   |             ^^^^^^^ no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from policylint.model import SEVERITIES, Finding
from policylint.model.words import count, listing
from policylint.report.findings.report import Report
from policylint.report.kit.display import Paint, hanging, one_line, plain, width, wrapped

if TYPE_CHECKING:
    from policylint.report.kit.snippet import Frame

MOST_RELATED = 4
"""Related places that are shown; the others are counted."""
_MARGIN = 12
"""Columns before a note: its number column, `= see: `."""
_EXPLAINED = ("GWP2", "GWP3")
"""Families whose findings `policylint explain` shows setting by setting."""


def write(report: Report) -> str:
    """Write the whole report, ending in a newline."""
    paint = Paint(report.options.color)
    read = report.source_lines

    @lru_cache(maxsize=64)
    def source_lines(file: str) -> list[str]:
        from policylint.report.kit.secrets import without_secrets

        return without_secrets(read(file))

    report = report._replace(source_lines=source_lines)
    blocks: list[str] = []
    explained: set[str] = set()
    for finding in report.folded("warning"):
        blocks.append("\n".join(_finding(report, paint, finding, see=finding.rule not in explained)) + "\n")
        explained.add(finding.rule)
    blocks.append("\n".join(summary(report, paint)))
    return "\n".join(blocks) + "\n"


def summary(report: Report, paint: Paint) -> list[str]:
    """Return the last lines: what was found, what was looked at (on one line where it fits), what was not seen."""
    number = report.counted(report.known)
    strong = "error" if number["error"] else "warning" if number["warning"] else "strong"
    parts = [paint(strong, report.verdict)]
    listed = report.counted(report.listed("warning"))
    hidden = [severity for severity in SEVERITIES if number[severity] > listed[severity]]
    if number["note"]:
        parts.append(count(number["note"], "note"))
    if hidden:
        left = sum(number[severity] - listed[severity] for severity in hidden)
        one, several = ("the other", "the others") if any(listed[severity] for severity in hidden) else ("it", "them")
        pronoun = one if left == 1 else several
        parts[-1] += f" (--min-severity {hidden[-1]} shows {pronoun})"
    if unknown := sum(finding.confidence == "unknown" for finding in report.known):
        parts.append(f"{unknown} of them uncertain")
    if unknown := len(report.findings) - len(report.known):
        parts.append(f"{unknown} uncertain (--show-unknown)")
    parts += [*report.answered, f"{report.looked_at} ({report.effort})"]
    lines = [parts[0]]
    for part in parts[1:]:
        if width(plain(lines[-1])) + 3 + width(plain(part)) <= report.options.width:
            lines[-1] += f" · {part}"
        else:
            lines.append(f"  {part}")
    return lines + not_seen(report, paint)


def not_seen(report: Report, paint: Paint) -> list[str]:
    """Return the sentences on the releases that count, on what was not checked or not rendered, and on what nobody
    judges, each with its head."""
    lines: list[str] = []
    sentences = [("judged by: ", release) for release in report.coverage.releases]
    sentences += [("not checked: ", str(entry)) for entry in report.coverage.left_out]
    sentences += [("not seen: ", sentence) for sentence in report.coverage.not_rendered]
    if report.coverage.unevaluated:
        sentences.append(("not evaluated: ", listing(report.coverage.unevaluated)))
    for head, sentence in sentences:
        first, *rest = hanging(one_line(sentence), report.options.width - len(head), " " * len(head))
        lines += [f"{paint('strong', head.strip())} {first}", *rest]
    return lines


def _finding(report: Report, paint: Paint, finding: Finding, *, see: bool) -> list[str]:
    from policylint.report.kit.snippet import Frame, excerpt

    line, column = finding.location.at()
    related = [(place, *place.location.at()) for place in finding.related[:MOST_RELATED]]
    digits = max(len(str(number)) for number in (line, *(number for _, number, _ in related)))
    frame = Frame(digits, report.options.width, paint)
    head = _header(report, paint, finding)
    head.append(f"{' ' * digits}{paint('frame', '-->')} {one_line(finding.location.file)}:{line}:{column}")
    lines, label = report.source_lines(finding.location.file), one_line(finding.label)
    cause = excerpt(frame, lines, line, column, "^", finding.severity, label, context=True)
    body = cause.copy()
    for place, number, start in related:
        lines, label = report.source_lines(place.location.file), one_line(place.message)
        part = excerpt(frame, lines, number, start, "-", "frame", label, context=False)
        where = f"{' ' * digits}{paint('frame', ':::')} {one_line(place.location.file)}:{number}:{start}"
        body += [*([frame.ruler()] if body else []), where if part else f"{where} {label}", *part]
    notes = _notes(report, finding, see)
    if finding.label and not cause:
        notes.insert(0, one_line(finding.label))
    if notes and body:
        body.append(frame.ruler())
    for note in notes:
        body += _note(frame, note)
    return head + body


def _header(report: Report, paint: Paint, finding: Finding) -> list[str]:
    """Return the message with the rule's name at the right edge of its last line, broken so that both fit."""
    code = f"{finding.severity}[{finding.rule}]"
    name = report.name_of(finding.rule)
    page = report.options.width
    lines = _indented(f"{code}: {one_line(finding.message)}", page)
    if name and width(lines[-1]) + 2 + len(name) > page:
        lines = _indented(f"{code}: {one_line(finding.message)}", page - 2 - len(name))
        if width(lines[-1]) + 2 + len(name) > page:
            lines.append("")
    gap = " " * (page - width(lines[-1]) - len(name))
    styled = [paint("strong", line) for line in lines]
    styled[0] = _linked(report, finding.rule, paint(finding.severity, code)) + paint("strong", lines[0][len(code) :])
    styled[-1] += gap + paint("faint", name) if name else ""
    return styled


def _linked(report: Report, rule: str, text: str) -> str:
    """Return the text as a link to the rule's page, for terminals that follow links."""
    if not report.options.links or not report.name_of(rule) or not (address := report.address_of(rule)):
        return text
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def _indented(text: str, room: int) -> list[str]:
    first, *rest = wrapped(text, room)
    return [first, *(f"  {line}" for line in wrapped(" ".join(rest), room - 2) if rest)]


def _notes(report: Report, finding: Finding, see: bool) -> list[str]:
    notes = [one_line(_asking_there(report, note)) for note in finding.notes]
    more = len(finding.related) - MOST_RELATED
    if more > 0:
        notes.insert(0, f"note: and {more} more {'place' if more == 1 else 'places'}")
    if finding.confidence != "certain" and not finding.ground:
        notes.append(f"note: this is {finding.confidence}, it rests on something outside these files")
    if len(finding.environments) > 1 or (finding.environments and len(report.environments) > 1):
        notes.append(f"note: in {', '.join(one_line(name) for name in finding.environments)}")
    further = _explained(report, finding)
    if see and report.name_of(finding.rule):
        address = report.address_of(finding.rule) if report.options.addresses else ""
        further.append(address or f"policylint rule {finding.rule}")
    return notes + [f"see: {line}" for line in _together(further, report.options.width - _MARGIN)]


def _asking_there(report: Report, note: str) -> str:
    """Return a note, a command of which asks the cluster that was asked here."""
    again = [*(report.again or ())]
    if "--live" not in again or not note.startswith("see: policylint "):
        return note
    from shlex import join

    return f"{note} {join(again[again.index('--live') :])}"


def _together(commands: list[str], room: int) -> list[str]:
    """Put commands beside each other where they fit: a command that is broken cannot be copied."""
    line = "   ·   ".join(commands)
    return [line] if commands and width(line) <= room else commands


def _explained(report: Report, finding: Finding) -> list[str]:
    """Return the command that shows how the object of a finding on precedence or exposure comes to its policies."""
    if report.again is None or report.options.addresses or finding.rule[:4] not in _EXPLAINED:
        return []
    routes = [key for key in finding.resources if key.kind.endswith("Route")]
    for key in [*routes, *finding.resources][:1]:
        if key.unplaced or not f"{key.kind}{key.path}".isprintable():
            return []
        from shlex import join

        return [join(["policylint", "explain", f"{key.kind}/{key.path}", *report.again])]
    return []


def _note(frame: Frame, note: str) -> list[str]:
    """Return `= fix: …`, further lines under its first word; commands stay on one line, however long."""
    word, colon, rest = note.partition(": ")
    head = f"{word}{colon}" if colon and " " not in word else ""
    text = rest if head else note
    start = " " * (frame.digits + 1) + frame.paint("frame", "=") + " " + frame.paint("strong", head)
    indent = frame.digits + 3 + len(head)
    first, *more = [text] if head == "see: " else hanging(text, frame.page - indent, " " * indent)
    return [start + first, *more]
