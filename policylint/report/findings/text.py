"""The report that people read in a terminal: verdicts with excerpts, then one line that counts.

error[GWP101]: BackendTrafficPolicy shop/retries points at nothing              target-not-found
  --> clusters/prod/shop/retries.yaml:12:13
   |
12 |       name: chekout
   |             ^^^^^^^ no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policylint.model import SEVERITIES, Finding, Severity
from policylint.model.words import count
from policylint.report.findings.report import Report, counts
from policylint.report.kit.display import Paint, one_line, plain, width, wrapped
from policylint.report.kit.snippet import Frame, excerpt
from policylint.report.kit.wording import address, how_much, looked_at, verdict

MOST_RELATED = 4
"""So many related places are shown, the others are counted."""
_MARGIN = 12
"""What stands before a note: its number column, `= see: `."""
_EXPLAINED = ("GWP2", "GWP3")
"""Families whose findings `policylint explain` shows setting by setting."""


def write(report: Report) -> str:
    """The whole report, ending in a newline."""
    paint = Paint(report.options.color)
    blocks: list[str] = []
    explained: set[str] = set()
    for finding in report.listed("warning"):
        blocks.append("\n".join(_finding(report, paint, finding, see=finding.rule not in explained)) + "\n")
        explained.add(finding.rule)
    blocks.append("\n".join(summary(report, paint)))
    return "\n".join(blocks) + "\n"


def summary(report: Report, paint: Paint) -> list[str]:
    """The last lines: what was found, what was looked at (one line where it fits the page), what was not seen."""
    number = counts(report.known)
    strong = "error" if number["error"] else "warning" if number["warning"] else "strong"
    parts = [paint(strong, verdict(report))]
    listed = counts(report.listed("warning"))
    hidden = [severity for severity in SEVERITIES if number[severity] > listed[severity]]
    if number["note"]:
        parts.append(count(number["note"], "note"))
    if hidden:
        parts[-1] += f" (--min-severity {hidden[-1]} shows {'it' if _one(number, hidden) else 'them'})"
    unknown = len(report.findings) - len(report.known)
    if unknown:
        parts.append(f"{unknown} uncertain (--show-unknown)")
    if report.suppressed:
        parts.append(f"{report.suppressed} suppressed")
    if report.accepted is not None:
        parts.append(f"{report.accepted} in the baseline")
    parts.append(f"{looked_at(report)} ({how_much(report)})")
    lines = [parts[0]]
    for part in parts[1:]:
        if width(plain(lines[-1])) + 3 + width(plain(part)) <= report.options.width:
            lines[-1] += f" · {part}"
        else:
            lines.append(f"  {part}")
    for sentence in report.coverage.not_rendered:
        first, *rest = wrapped(one_line(sentence), report.options.width - len("not seen: "))
        lines += [f"{paint('strong', 'not seen:')} {first}", *(" " * len("not seen: ") + each for each in rest)]
    return lines


def _one(number: Mapping[Severity, int], hidden: Sequence[Severity]) -> bool:
    return sum(number[severity] for severity in hidden) == 1


def _finding(report: Report, paint: Paint, finding: Finding, *, see: bool) -> list[str]:
    line, column = finding.location.at()
    related = [(each, *each.location.at()) for each in finding.related[:MOST_RELATED]]
    digits = max(len(str(number)) for number in (line, *(each[1] for each in related)))
    frame = Frame(digits, report.options.width, paint)
    shown = _header(report, paint, finding)
    shown.append(f"{' ' * digits}{paint('frame', '-->')} {one_line(finding.location.file)}:{line}:{column}")
    cause = excerpt(
        frame,
        report.source_lines(finding.location.file),
        line,
        column,
        "^",
        finding.severity,
        one_line(finding.label),
        context=True,
    )
    body = cause.copy()
    for each, number, start in related:
        lines = report.source_lines(each.location.file)
        said = one_line(each.message)
        part = excerpt(frame, lines, number, start, "-", "frame", said, context=False)
        place = f"{' ' * digits}{paint('frame', ':::')} {one_line(each.location.file)}:{number}:{start}"
        body += [*([frame.ruler()] if body else []), place if part else f"{place} {said}", *part]
    notes = _notes(report, finding, see)
    if finding.label and not cause:
        notes.insert(0, one_line(finding.label))
    if notes and body:
        body.append(frame.ruler())
    for note in notes:
        body += _note(frame, note)
    return shown + body


def _header(report: Report, paint: Paint, finding: Finding) -> list[str]:
    """The message with the rule's name at the right edge of its last line; both together decide where it breaks."""
    code = f"{finding.severity}[{finding.rule}]"
    name = report.name_of(finding.rule)
    page = report.options.width
    lines = _indented(f"{code}: {one_line(finding.message)}", page)
    if name and width(lines[-1]) + 2 + len(name) > page:
        lines = _indented(f"{code}: {one_line(finding.message)}", page - 2 - len(name))
        if width(lines[-1]) + 2 + len(name) > page:
            lines.append("")
    gap = " " * (page - width(lines[-1]) - len(name))
    styled = [paint("strong", each) for each in lines]
    styled[0] = _linked(report, finding.rule, paint(finding.severity, code)) + paint("strong", lines[0][len(code) :])
    styled[-1] += gap + paint("faint", name) if name else ""
    return styled


def _linked(report: Report, rule: str, text: str) -> str:
    """The text as a link to the rule's page, for terminals that follow links; nothing is said twice elsewhere."""
    name = report.name_of(rule)
    if not report.options.links or not name:
        return text
    return f"\x1b]8;;{address(rule, name, report.version)}\x1b\\{text}\x1b]8;;\x1b\\"


def _indented(text: str, room: int) -> list[str]:
    first, *rest = wrapped(text, room)
    return [first, *(f"  {each}" for each in wrapped(" ".join(rest), room - 2) if rest)]


def _notes(report: Report, finding: Finding, see: bool) -> list[str]:
    notes = [one_line(each) for each in finding.help]
    more = len(finding.related) - MOST_RELATED
    if more > 0:
        notes.insert(0, f"note: and {more} more {'place' if more == 1 else 'places'}")
    if finding.confidence != "certain":
        notes.append(f"note: this is {finding.confidence}, it rests on something outside these files")
    if len(finding.environments) > 1 or (finding.environments and len(report.environments) > 1):
        notes.append(f"note: in {', '.join(one_line(each) for each in finding.environments)}")
    further = [*_explained(report, finding), *([_page(report, finding.rule)] if see else [])]
    return notes + [f"see: {each}" for each in _together(further, report.options.width - _MARGIN)]


def _together(commands: Sequence[str], room: int) -> list[str]:
    """Beside each other where they fit: a command that is broken cannot be copied."""
    given = [each for each in commands if each]
    line = "   ·   ".join(given)
    return [line] if given and width(line) <= room else given


def _page(report: Report, rule: str) -> str:
    """Where a rule is explained, "" for one that is not known."""
    name = report.name_of(rule)
    if not name:
        return ""
    return address(rule, name, report.version) if report.options.addresses else f"policylint rule {rule}"


def _explained(report: Report, finding: Finding) -> list[str]:
    """What shows how the object of a finding about precedence or exposure comes to its policies."""
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
    """`= fix: …`, further lines under its first word; what is to be copied stays on one line, however long it is."""
    word, colon, rest = note.partition(": ")
    head = f"{word}{colon}" if colon and " " not in word else ""
    text = rest if head else note
    start = " " * (frame.digits + 1) + frame.paint("frame", "=") + " " + frame.paint("strong", head)
    hanging = frame.digits + 3 + len(head)
    first, *more = [text] if head == "see: " else wrapped(text, frame.page - hanging)
    return [start + first, *(" " * hanging + each for each in more)]
