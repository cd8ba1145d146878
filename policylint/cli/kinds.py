"""`policylint kinds`: list the policy kinds that policylint knows, or explain one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from policylint.cli.completing import kind_names
from policylint.cli.options import Command, form_option

if TYPE_CHECKING:
    from policylint.model.policy_kind import PolicyKind


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint kinds                                          all of them
  policylint kinds SecurityPolicy
  policylint kinds BackendTLSPolicy.gateway.networking.k8s.io
  policylint kinds -o markdown                              the table of docs/policy-kinds.md
""",
)
@click.argument("kind", metavar="[KIND]", required=False, shell_complete=kind_names)
@form_option(("text", "json", "yaml", "markdown"), "Form of the output.")
def kinds(kind: str | None, form: str) -> None:
    """List the policy kinds of the catalog, or explain KIND in full.

    KIND is a name (SecurityPolicy), or a name with its group (SecurityPolicy.gateway.envoyproxy.io) where several
    implementations use one name.
    """
    from policylint.catalog.kinds import load_catalog

    known = load_catalog().kinds()
    wanted = known if kind is None else _named(kind, known)
    match form:
        case "json":
            import json

            click.echo(json.dumps({"version": "kinds-v1", "kinds": _entries(wanted)}, indent=2, ensure_ascii=False))
        case "yaml":
            from policylint.report.kit.yaml_text import yaml_text

            click.echo(yaml_text({"version": "kinds-v1", "kinds": _entries(wanted)}), nl=False)
        case "markdown":
            click.echo(_markdown(wanted) if kind is None else _markdown_pages(wanted), nl=False)
        case _:
            click.echo(_table(wanted) if kind is None else _pages(wanted), nl=False)


def _named(name: str, known: list[PolicyKind]) -> list[PolicyKind]:
    """The kinds of a name, case and plural forgiven; a usage error with a suggestion where there is none."""
    asked = name.lower()
    found = [each for each in known if asked in (str(each).lower(), each.kind.lower(), each.plural.lower())]
    if found:
        return found
    from difflib import get_close_matches

    names = {text.lower(): text for each in known for text in (each.kind, str(each)) if each.kind != "*"}
    close = [names[each] for each in get_close_matches(asked, sorted(names), n=3)]
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `policylint kinds` lists them."
    raise click.UsageError(f"no policy kind {name!r}{hint}")


def _entries(wanted: Iterable[PolicyKind]) -> list[dict[str, object]]:
    from policylint.catalog.entry import kind_entry

    return [{"implementation": each.implementation, **kind_entry(each)} for each in wanted]


_WIDTHS = (26, 9, 10, 10, 8)
"""Of all columns but the last; with the targets a line is at most 100 wide."""
_TARGETS = 100 - 2 - sum(_WIDTHS) - 2 * len(_WIDTHS)


def _table(wanted: Iterable[PolicyKind]) -> str:
    """One block per implementation and group; long lists of targets go on below."""
    import textwrap
    from itertools import groupby

    from policylint.catalog.words import in_short, targets_in_words

    lines = [_line("KIND", "CLASS", "MERGE", "CONFLICT", "VERIFIED", "TARGETS")]
    for (implementation, group), kinds in groupby(wanted, key=lambda each: (each.implementation, each.group)):
        lines += ["", f"{implementation or 'CRDs'}: {group or 'the core group'}"]
        for each in kinds:
            targets = textwrap.wrap(targets_in_words(each), _TARGETS, break_long_words=False)
            name = each.kind
            if len(name) > _WIDTHS[0]:
                lines.append(f"  {name}")
                name = ""
            lines.append(_line(name, each.policy_class, *in_short(each), each.verified, targets[0]))
            lines += [_line("", "", "", "", "", more) for more in targets[1:]]
    lines += [
        "",
        "MERGE  how a more specific policy meets a broader one: whole replaces it, by field fills it up;",
        "       * the policy itself may say otherwise. #: a section of the target may be named.",
        "`policylint kinds KIND` explains one in full.",
    ]
    return "\n".join(lines) + "\n"


def _line(*cells: str) -> str:
    *first, last = cells
    padded = [cell.ljust(width) for cell, width in zip(first, _WIDTHS, strict=True)]
    return "  ".join(["", *padded, last]).rstrip()


def _pages(wanted: Iterable[PolicyKind]) -> str:
    import textwrap

    from policylint.catalog.words import explain

    pages = []
    for each in wanted:
        sections = [*explain(each), *_settings(each.implementation)]
        paragraphs = (
            textwrap.fill(
                sentences,
                100,
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
    """What of the controller's settings changes verdicts, with the defaults."""
    import json

    from policylint.catalog.kinds import load_catalog

    known = load_catalog().known_settings(implementation)
    if known:
        listed = " ".join(f"{name} (default {json.dumps(each.default)}): {each.about}" for name, each in known.items())
        yield "Settings", f"Of the controller, under `implementations: {{{implementation}: …}}`: {listed}"


def _markdown_pages(wanted: Iterable[PolicyKind]) -> str:
    from policylint.catalog.words import explain

    return "\n".join(
        f"## {each}\n\n" + "".join(f"**{heading}.** {sentences}\n\n" for heading, sentences in explain(each))[:-1]
        for each in wanted
    )


def _markdown(wanted: Iterable[PolicyKind]) -> str:
    """docs/policy-kinds.md, generated: `policylint kinds -o markdown > docs/policy-kinds.md`."""
    from policylint.catalog.words import (
        conflicts_in_words,
        merge_in_words,
        status_in_words,
        targets_in_words,
        verified_in_words,
    )

    lines = [
        "# Policy kinds",
        "",
        "Every policy kind that policylint knows without being told, from `schemas/policy-kinds/`. Kinds of CRDs in",
        "the input and of your configuration come on top. `#` marks targets of which a section may be named.",
        "*conflicts* says who is refused for another's sake, *status* which conditions the controller writes.",
        "*verified* says whether the facts were read in the implementation's code (`partly`: some are inferred or",
        "from documentation only), and in what; findings on kinds with `no` are assumed, never certain.",
        "`policylint kinds KIND` explains one in full.",
        "",
        "This page is generated by `policylint kinds -o markdown`.",
    ]
    implementation = ""
    for each in wanted:
        if each.implementation != implementation:
            implementation = each.implementation
            lines += ["", f"## {implementation or 'CRDs'}", ""]
            lines += ["| kind | class | targets | merging | conflicts | status | verified |"]
            lines += ["|---|---|---|---|---|---|---|"]
        cells = (
            f"`{each}`",
            each.policy_class,
            targets_in_words(each),
            merge_in_words(each),
            conflicts_in_words(each),
            status_in_words(each),
            verified_in_words(each),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
