"""Fingerprints of findings, which stay while lines move: `policylint/v1`, and GitHub's own hash of a line.

`policylint/v1` is for baselines and readers of json; code scanning reads `primaryLocationLineHash` alone, and computes
it in the way written here when it is absent (github/codeql-action `src/fingerprints.ts`; docs/design/conventions.md
§1, decision 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from policylint.model import Finding
from policylint.report.findings.report import Report

WINDOW = 100
BASE = 37
END_OF_FILE = "\uffff"
MOST_CHARACTERS = 8_000_000
"""Files longer than this get no line hash: upload-sarif computes it by itself."""


def fingerprint(report: Report, finding: Finding) -> str:
    """Return the sha256 of rule, subject, the second object it is about, and the field: no line numbers, no order.

    A finding about no object (a file that cannot be read) is told apart by its file below the git root.
    """
    from hashlib import sha256

    subject = ["/".join(key) for key in finding.resources[:2]] or [report.path_of(finding.location.file)]
    return sha256("\0".join([finding.rule, *subject, finding.field]).encode("utf-8", "replace")).hexdigest()


def fingerprints(report: Report, findings: Sequence[Finding]) -> list[str]:
    """Return one fingerprint per finding; the second finding with the same one gets `:2`, and so on."""
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        value = fingerprint(report, finding)
        seen[value] = seen.get(value, 0) + 1
        result.append(value if seen[value] == 1 else f"{value}:{seen[value]}")
    return result


def line_hashes(lines: Sequence[str], wanted: Iterable[int]) -> dict[int, tuple[str, int, int]]:
    """Return GitHub's hash of the wanted (1-based) lines: number → (hash in hex, which line with it, of how many).

    The hash of a line is the polynomial of base 37 modulo 2^64 over the first 100 UTF-16 units from its start on,
    through the following lines: spaces and tabs are left out, every line end is one LF, the end of the file is 65535,
    then zeros. Lines with the same 100 units have the same hash, so only wanted lines need theirs worked out.

    Args:
        lines: without their ends; a final "" stands for a final line end.
        wanted: lines outside of the file have no hash.
    """
    compact = [_utf16(line.replace(" ", "").replace("\t", "")) for line in lines]
    text = "\n".join(compact) + END_OF_FILE + "\0" * (WINDOW - 1)
    if len(text) > MOST_CHARACTERS:
        return {}
    windows: list[str] = []
    start = 0
    for line in compact:
        windows.append(text[start : start + WINDOW])
        start += len(line) + 1
    hashes: dict[int, tuple[str, int, int]] = {}
    asked, of_all, so_far = set(wanted), Counter(windows), Counter[str]()
    for number, window in enumerate(windows, 1):
        so_far[window] += 1
        if number in asked:
            hashes[number] = f"{_polynomial(window):x}", so_far[window], of_all[window]
    return hashes


def _polynomial(window: str) -> int:
    value = 0
    for unit in window:
        value = value * BASE + ord(unit)
    return value % (1 << 64)


def _utf16(text: str) -> str:
    """Replace characters beyond U+FFFF by their two surrogates, as JavaScript counts them."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[at] | units[at + 1] << 8) for at in range(0, len(units), 2))
