"""The baseline: findings that existed when somebody began to use the tool, so that only new ones are reported.

One line per finding, sorted, keyed by the fingerprint (rule, objects, field), never by line numbers: those move
(aws-cloudformation/cfn-lint#4144). Prefer `diff` for gating: it needs no file (docs/design/conventions.md §10).
"""

# pathlib is not imported for what `open` does.
# ruff: noqa: PTH123

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policylint.errors import FileError
from policylint.model import Finding
from policylint.namedtuple import NamedTuple
from policylint.outside import leads_out

VERSION = "baseline-v1"


class BaselineError(FileError):
    """A baseline that cannot be used; the message is for users."""


class BaselineEntry(NamedTuple):
    """An accepted finding: its identity, and what tells a reader which one it is."""

    fingerprint: str
    rule: str
    resources: tuple[str, ...]
    message: str


class BaselineComparison(NamedTuple):
    """The findings that are not in a baseline, how many are, and the entries that match no finding."""

    new: list[Finding]
    accepted: int
    stale: list[BaselineEntry]


def text(findings: Sequence[Finding], fingerprints: Sequence[str]) -> str:
    """Return the content of a baseline file; the same findings give the same bytes."""
    import json

    entries = sorted(
        {
            BaselineEntry(value, finding.rule, tuple(str(key) for key in finding.resources), finding.message)
            for finding, value in zip(findings, fingerprints, strict=True)
        },
        key=lambda entry: (entry.rule, entry.resources, entry.message, entry.fingerprint),
    )
    lines = [json.dumps(entry._asdict(), ensure_ascii=False) for entry in entries]
    body = "\n" + ",\n".join(lines) + "\n" if lines else ""
    return f'{{"version": "{VERSION}", "findings": [{body}]}}\n'


def read(file: str, data: bytes | None = None) -> dict[str, BaselineEntry]:
    """Return the entries of a baseline by fingerprint.

    Args:
        data: its content, where that is not the one on disk.

    Raises:
        BaselineError: it cannot be read, or is no baseline.
    """
    import json

    if data is None and leads_out(file):
        raise BaselineError(f"{file}: a symbolic link out of the repository cannot be the baseline")
    try:
        if data is None:
            with open(file, "rb") as stream:
                data = stream.read()
        content = json.loads(data.decode())
    except OSError as error:
        hint = "; `policylint baseline` writes one" if isinstance(error, FileNotFoundError) else ""
        raise BaselineError(f"cannot read baseline {file!r}: {(error.strerror or str(error)).lower()}{hint}") from None
    except ValueError as error:
        raise BaselineError(f"{file}: not JSON: {error}") from None
    except RecursionError:
        raise BaselineError(f"{file}: nested too deep") from None
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise BaselineError(f"{file}: not a baseline that this version can read ({VERSION})")
    try:
        return {entry.fingerprint: entry for entry in map(_entry, content["findings"])}
    except (KeyError, TypeError):
        raise BaselineError(f"{file}: not a baseline: an entry lacks its fingerprint or rule") from None


def _entry(value: Mapping[str, object]) -> BaselineEntry:
    """Return the entry that a JSON object describes."""
    resources = value.get("resources", ())
    named = tuple(map(str, resources)) if isinstance(resources, list) else ()
    return BaselineEntry(str(value["fingerprint"]), str(value["rule"]), named, str(value.get("message", "")))


def compare(
    findings: Sequence[Finding],
    fingerprints: Sequence[str],
    known: Mapping[str, BaselineEntry],
    ran: Iterable[str] | None,
) -> BaselineComparison:
    """Compare findings with a baseline.

    Args:
        known: the entries of the baseline by fingerprint.
        ran: ids of the rules that ran; entries of others cannot be called stale. None for all.
    """
    new = [finding for finding, value in zip(findings, fingerprints, strict=True) if value not in known]
    rules = None if ran is None else set(ran)
    seen = set(fingerprints)
    stale = [
        entry for entry in known.values() if entry.fingerprint not in seen and (rules is None or entry.rule in rules)
    ]
    return BaselineComparison(new, len(findings) - len(new), stale)
