"""Kinds of policies for readers and programs: a table, a page each, docs/policy-kinds.md."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from policylint.catalog.entry import kind_entry
from policylint.catalog.kinds import load_catalog
from policylint.catalog.words import (
    conflicts_in_words,
    explain,
    in_short,
    merge_in_words,
    status_in_words,
    targets_in_words,
    verified_in_words,
)
from policylint.clusters.kinds import SUBJECTS
from policylint.model.policy_kind import PolicyKind
from policylint.network.kinds import EVALUATED as NETWORK_POLICIES
from policylint.report.kit.display import Paint, fitted
from policylint.report.kit.tables import table_head, table_row


def write(form: str, kinds: Iterable[PolicyKind], paint: Paint, *, whole: bool) -> str:
    """Return the kinds in a format (formats.py), ending in a newline.

    Args:
        whole: explain each in full; a table otherwise.
    """
    match form:
        case "json":
            return json.dumps({"version": "kinds-v1", "kinds": _entries(kinds)}, indent=2, ensure_ascii=False) + "\n"
        case "yaml":
            from policylint.report.kit.yaml_text import yaml_text

            return yaml_text({"version": "kinds-v1", "kinds": _entries(kinds)})
        case "markdown":
            return _markdown_pages(kinds) if whole else _markdown(kinds)
        case _:
            return _pages(kinds, paint) if whole else _table(kinds, paint)


def _entries(kinds: Iterable[PolicyKind]) -> list[dict[str, object]]:
    return [{"implementation": kind.implementation, **kind_entry(kind)} for kind in kinds]


def _evaluated(kind: PolicyKind) -> str:
    """Return how a kind is evaluated that targets nothing, "" for no way."""
    if (kind.group, kind.kind) in NETWORK_POLICIES:
        return "policylint evaluates it with all network policies: which connections and requests get through."
    placed = (kind.group, kind.kind) in SUBJECTS
    return "policylint evaluates on which clusters it is placed, and what it does there." if placed else ""


_WIDTH = 100
_LEGEND = (
    "MERGE  how a more specific policy meets a broader one: whole replaces it, by field fills it up;",
    "       * the policy itself may say otherwise. #: a section of the target may be named.",
    "`policylint kinds KIND` explains one in full.",
)
_HEAD = ("KIND", "CLASS", "MERGE", "CONFLICT", "VERIFIED", "TARGETS")


def _table(kinds: Iterable[PolicyKind], paint: Paint) -> str:
    """One block per implementation and group; long lists of targets go on below."""
    kinds = list(kinds)
    rows = [
        _HEAD,
        *((each.kind, each.policy_class, *in_short(each), each.verified, targets_in_words(each)) for each in kinds),
    ]
    head, *cells = fitted(rows, min(_WIDTH, paint.room or _WIDTH) - 2)
    text = {id(kind): lines for kind, lines in zip(kinds, cells, strict=True)}
    lines = [_line(line) for line in head]
    for (implementation, group), listed in groupby(kinds, key=lambda kind: (kind.implementation, kind.group)):
        lines += ["", f"{implementation or 'CRDs'}: {group or 'the core group'}"]
        lines += [_line(line) for kind in listed for line in text[id(kind)]]
    return paint.fit("\n".join([*lines, "", *_LEGEND]) + "\n")


def _line(cells: Sequence[str]) -> str:
    return "  ".join(["", *cells]).rstrip()


def _pages(kinds: Iterable[PolicyKind], paint: Paint) -> str:
    pages = []
    for kind in kinds:
        sections = [*explain(kind, _evaluated(kind)), *_settings(kind.implementation)]
        paragraphs = (
            textwrap.fill(
                sentences,
                min(_WIDTH, paint.room or _WIDTH),
                initial_indent=f"{heading:<12}",
                subsequent_indent=" " * 12,
                break_long_words=False,
                break_on_hyphens=False,
            )
            for heading, sentences in sections
        )
        pages.append("\n".join(paragraphs) + "\n")
    return "\n".join(pages)


def _settings(implementation: str) -> Iterator[tuple[str, str]]:
    """Yield a sentence on the controller's settings that change verdicts, with the defaults."""
    known = load_catalog().known_settings(implementation)
    if known:
        listed = " ".join(f"{name} (default {json.dumps(kind.default)}): {kind.about}" for name, kind in known.items())
        yield "Settings", f"Of the controller, under `implementations: {{{implementation}: …}}`: {listed}"


def _markdown_pages(kinds: Iterable[PolicyKind]) -> str:
    return "\n".join(
        f"## {kind}\n\n"
        + "".join(f"**{heading}.** {sentences}\n\n" for heading, sentences in explain(kind, _evaluated(kind)))[:-1]
        for kind in kinds
    )


def _markdown(kinds: Iterable[PolicyKind]) -> str:
    """docs/policy-kinds.md, generated: `policylint kinds -o markdown > docs/policy-kinds.md`."""
    lines = [
        "# Policy kinds",
        "",
        "Every policy kind that policylint knows without being told, from `schemas/policy-kinds/`. Kinds of CRDs in",
        "the input and of your configuration come on top. `#` marks targets with sections that may be named.",
        "*conflicts* says who is refused for another's sake, *status* which conditions the controller writes.",
        "*verified* says whether the facts were read in the implementation's code (`partly`: some are inferred or",
        "from documentation only), and in what; findings on kinds with `no` are assumed, never certain.",
        "`policylint kinds KIND` explains one in full.",
        "",
        "This page is generated by `policylint kinds -o markdown`.",
    ]
    implementation = ""
    for kind in kinds:
        if kind.implementation != implementation:
            implementation = kind.implementation
            lines += ["", f"## {implementation or 'CRDs'}", ""]
            lines.append(table_head("kind", "class", "targets", "merging", "conflicts", "status", "verified"))
        cells = (
            f"`{kind}`",
            kind.policy_class,
            targets_in_words(kind),
            merge_in_words(kind),
            conflicts_in_words(kind),
            status_in_words(kind),
            verified_in_words(kind),
        )
        lines.append(table_row(*(cell.replace("|", "\\|") for cell in cells)))
    return "\n".join(lines) + "\n"
