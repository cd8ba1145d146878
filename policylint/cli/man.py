"""`policylint man [COMMAND]`: manual pages, made from the commands as they are."""

from __future__ import annotations

from collections.abc import Iterator

import click

from policylint import __version__
from policylint.cli.commands import COMMANDS
from policylint.cli.options import Command


@click.command(
    cls=Command,
    examples="""\
  policylint man lint | man -l -
  policylint man --to /usr/local/share/man/man1
""",
)
@click.argument("command", default="", shell_complete=lambda *_: sorted(COMMANDS))
@click.option("--to", "folder", metavar="DIR", type=click.Path(file_okay=False), help="Write all pages there.")
@click.pass_context
def man(context: click.Context, command: str, folder: str | None) -> int:
    """Print the manual page of policylint, or of a command (section 1)."""
    from policylint.cli.commands import unknown_command
    from policylint.cli.output import put, save

    group = context.find_root().command
    assert isinstance(group, click.Group)
    if folder is not None:
        from pathlib import Path

        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.UsageError(f"cannot make {folder!r}: {(error.strerror or str(error)).lower()}") from None
        for name in ("", *COMMANDS):
            save(f"{folder.rstrip('/')}/{_title(name)}.1", page(group, name))
        return 0
    if command and command not in COMMANDS:
        raise click.UsageError(unknown_command(command))
    put(page(group, command))
    return 0


def page(group: click.Group, name: str) -> str:
    """Return the page of a command as roff; of the whole program where the name is ""."""
    root = click.Context(group, info_name="policylint", max_content_width=100)
    command = group.get_command(root, name) if name else group
    assert command is not None
    context = click.Context(command, info_name=name, parent=root) if name else root
    summary = COMMANDS.get(name, "lint and simulate Kubernetes Gateway API policy attachment, offline")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [
        f'.TH "{_title(name).upper()}" "1" "" "policylint {__version__}" "policylint"',
        ".SH NAME",
        f"{_title(name)} \\- {_text(summary[:1].lower() + summary[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_text(usage)}",
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
    ]
    options = [record for option in command.get_params(context) if (record := option.get_help_record(context))]
    if options:
        lines.append(".SH OPTIONS")
        for names, words in options:
            lines += [".TP", f"\\fB{_text(names)}\\fR", *_paragraphs(words)]
    if not name:
        lines.append(".SH COMMANDS")
        for other, line in COMMANDS.items():
            lines += [".TP", f"\\fBpolicylint\\-{_text(other)}\\fR(1)", _text(line)]
    for block in (command.epilog or "").split("\b\n"):
        heading, colon, body = block.strip("\n").partition(":")
        if colon:
            lines += [f".SH {heading.strip().upper()}", ".nf", *map(_text, body.strip("\n").splitlines()), ".fi"]
    if name:
        lines += [".SH SEE ALSO", "\\fBpolicylint\\fR(1)"]
    return "\n".join(lines) + "\n"


def _title(name: str) -> str:
    return f"policylint-{name}" if name else "policylint"


def _paragraphs(text: str) -> Iterator[str]:
    """Yield lines of roff, a paragraph macro between paragraphs; click's marks for verbatim blocks are dropped."""
    for number, block in enumerate(part for part in text.replace("\b\n", "").strip().split("\n\n") if part.strip()):
        if number:
            yield ".PP"
        yield from (_text(line.strip()) for line in block.splitlines())


def _text(line: str) -> str:
    """Return a line in which nothing is a macro or an escape."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
