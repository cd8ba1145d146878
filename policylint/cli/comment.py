"""`policylint comment`: compare as diff does, and keep the one comment of the pull request up to date."""

from __future__ import annotations

import os

import click

from policylint.cli import options
from policylint.cli.commands import INCOMPLETE, OK, say
from policylint.cli.diff import MARKDOWN, DiffRun, compared, comparing, put_all, shown_in_markdown
from policylint.cli.options import INPUT, Command, option
from policylint.cli.run import gather, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.forges.pull_request import PullRequest
    from policylint.report.diff.report import DiffReport

WHERE = "Where it is posted"
MOST_SAID = 500
"""Characters of what a forge says."""


class CommentRun(DiffRun):
    """A run of comment."""

    hook = staged = False
    from_json: str | None
    key: str
    forge: str | None
    api: str
    repository: str
    number: str
    head_of: tuple[str, str] | None
    always: bool
    dry_run: bool


@click.command(
    cls=Command,
    examples="""\
  policylint comment                        in a job of a pull request, which says the rest
  policylint comment clusters --output junit=policylint.xml
  policylint comment --dry-run --on gitlab main...HEAD
  policylint comment --from-json diff.json --on github --repository shop/clusters --number 12
""",
    exit_codes="""as of diff; 3 also where the forge takes no comment. Without a token, as in
pipelines of forks, nothing is posted, one line says so, and the exit code is that of diff.""",
)
@comparing
@option(INPUT, "--from-json", metavar="FILE", help="Read no tree, but what `diff -o json-v1` wrote.")
@option(
    WHERE,
    "--on",
    "forge",
    type=click.Choice(("github", "gitlab", "azure", "bitbucket")),
    help="The forge. Default: the one whose job this is.",
)
@option(WHERE, "--api", metavar="URL", default="", help="Its API. Default: as the job says.")
@option(
    WHERE,
    "--repository",
    metavar="NAME",
    default="",
    help="OWNER/NAME; the project of GitLab, also by number; the repository's id of Azure DevOps.",
)
@option(WHERE, "--number", metavar="N", default="", help="Of the pull request or merge request.")
@option(
    WHERE,
    "--head-of",
    nargs=2,
    metavar="SHA NAME",
    default=None,
    help="Post only where this commit of this repository is its head; GitHub alone.",
)
@option(WHERE, "--always", is_flag=True, help="Post even where there is nothing to say and no comment yet.")
@option(WHERE, "--dry-run", is_flag=True, help="Print the comment and open no connection.")
@shown_in_markdown
@option(MARKDOWN, "--key", metavar="KEY", default="default", help="Tells several comments of a pull request apart.")
@options.form_option(("auto", *FORMATS["diff"]), "Format of the report on stdout.", default="auto")
@options.outputs
@showing
@gather(CommentRun)
def comment(run: CommentRun) -> int:
    """Post what a change does as the one comment of its pull request, or update the comment that is there.

    Without a revision: what the pull request of this job changes. The token is in POLICYLINT_TOKEN, or in GITHUB_TOKEN,
    GITLAB_TOKEN, SYSTEM_ACCESSTOKEN or BITBUCKET_TOKEN. This is the only command that opens a connection.
    """
    from policylint.forges.pull_request import checked, forge_of, place_of, token_of

    forge = run.forge or forge_of(os.environ)
    if not forge:
        raise click.UsageError("this is no job of GitHub, GitLab, Azure Pipelines or Bitbucket: say which with --on")
    place = place_of(forge, os.environ)
    place = place._replace(
        api=run.api or place.api, repository=run.repository or place.repository, number=run.number or place.number
    )
    token, _ = token_of(forge, os.environ)
    if not run.dry_run and token:
        place = checked(place)
    if run.head_of and forge != "github":
        raise click.UsageError("--head-of is for GitHub")
    run.links, run.revisions = run.links or place.links, run.revisions or place.readers
    report, code = _compared(run, place)
    text = _text(report, place)
    if run.dry_run:
        from policylint.cli.output import put

        put(text)
        return code
    if not token:
        from policylint.forges.pull_request import TOKENS

        say(f"no comment was posted: none of {', '.join(TOKENS[forge])} holds a token")
        return code
    return code if _posted(run, place, token, text, report.has_content) else INCOMPLETE


def _compared(run: CommentRun, place: PullRequest) -> tuple[DiffReport, int]:
    """Return what there is to say, for the forge, and the exit code of what was found."""
    from policylint.report.diff.dialect import DIALECTS

    if run.from_json is None:
        run.paths = _with_base(run, place)
        form, files = run.formats(FORMATS["diff"])
        report, code = compared(run, {form, "markdown", *(name for name, _ in files)})
        put_all(run, report, "" if run.dry_run else form, files)
    else:
        report, code = _stored(run, run.from_json), OK
    return report._replace(dialect=DIALECTS[place.forge], key=run.key), code


def _stored(run: CommentRun, file: str) -> DiffReport:
    """Return a diff that was stored as JSON, by whomever.

    Raises:
        click.UsageError: the file cannot be read or is no such diff, or something is asked for that it cannot give.
    """
    from policylint.report.diff.stored import MOST_BYTES, NotADiffError, read

    if run.paths:
        raise click.UsageError("--from-json takes no revision and no PATH")
    if run.outputs or run.form != "auto":
        raise click.UsageError("--from-json writes the comment and nothing else")
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib is not imported for this
            report = read(stream.read(MOST_BYTES + 1))
    except OSError as error:
        raise click.UsageError(f"cannot read {file!r}: {(error.strerror or str(error)).lower()}") from None
    except NotADiffError as error:
        raise click.UsageError(f"{file!r} is not a diff written by policylint: {error}") from None
    return report._replace(links=run.links, graph=run.graph, readers=run.revisions or report.readers)


def _with_base(run: CommentRun, place: PullRequest) -> tuple[str, ...]:
    """Return the arguments with the revisions of the job, where neither they nor other sides are named."""
    if run.rendered_before or run.rendered_after or run.live or not place.base:
        return run.paths
    if run.paths and not os.path.lexists(run.paths[0]):
        return run.paths
    return place.base, *run.paths


def _text(report: DiffReport, place: PullRequest) -> str:
    from policylint.report.diff.markdown import write

    text = write(report)
    if not place.run:
        return text
    link = f"[whole report]({place.run})"
    return f"{text}\n{f'<sub>{link}</sub>' if report.dialect.has_html else link}\n"


def _posted(run: CommentRun, place: PullRequest, token: str, text: str, has_content: bool) -> bool:
    """Return whether the comment is as it should be; say what became of it."""
    from policylint.forges.comments import FORGES
    from policylint.forges.posting import Head, PostingError, post

    head = Head(*run.head_of) if run.head_of else None
    forge = FORGES[place.forge](place, token)
    sent = forge.headers(place, token).get("Authorization", token).rpartition(" ")[2]

    def tell(said: str) -> None:
        """Say what a forge, or a proxy before it, may have written: it knows the token, and need not come to an end."""
        say(said.replace(token, "…").replace(sent, "…")[:MOST_SAID])

    try:
        outcome = post(forge, text, has_content=has_content or run.always, head=head, say=tell)
    except PostingError as error:
        tell(f"no comment was posted: {error}")
        return False
    said = {"nothing": "there is nothing to say, and no comment that says otherwise"}
    where = f": {outcome.address}" if outcome.address else ""
    tell(said.get(outcome.done, f"comment {outcome.done}{where}"))
    return True


for _parameter in comment.params:
    if _parameter.name == "paths":
        _parameter.metavar = "[A..B] [PATH]..."
__all__ = ["comment"]
