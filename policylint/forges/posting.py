"""Keep one comment per key on a pull request: found by author and mark, changed in place, left alone when unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable

from policylint.forges.asking import BusyError, DeniedError, patiently
from policylint.forges.comments import Comments, Posted
from policylint.namedtuple import NamedTuple


class PostingError(Exception):
    """No comment could be posted. The message says why, for users."""


class Head(NamedTuple):
    """The commit that a pull request must have, and the repository that it must come from."""

    commit: str
    repository: str


class Posting(NamedTuple):
    """What became of a comment.

    Args:
        done: `created`, `updated`, `unchanged`, or `nothing` where there is nothing to say.
        address: where people read it, "" where that is not known.
    """

    done: str
    address: str = ""


def post(
    forge: Comments,
    body: str,
    *,
    has_content: bool,
    head: Head | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Posting:
    """Create, change or leave the comment whose first line is that of the body.

    Args:
        has_content: whether it is worth a new comment; one that is there is changed all the same.
        head: what the pull request must have, where its number comes from a stranger.

    Raises:
        PostingError: the forge refuses, or is busy for too long.
    """

    def act() -> Posting:
        if head is not None and not forge.is_head(*head):
            raise PostingError("the pull request does not have the head commit of that run")
        return _post(forge, body, has_content)

    try:
        return patiently(act, say)
    except DeniedError as error:
        raise PostingError(_refusal(error)) from None
    except BusyError as error:
        raise PostingError(_one_line(str(error))) from None
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise PostingError(f"the API answers otherwise than it should: {_one_line(str(error))}") from None


def _post(forge: Comments, body: str, has_content: bool) -> Posting:
    mark, author = body.partition("\n")[0], forge.author()
    for there in forge.all():
        if (author and there.author != author) or there.body.partition("\n")[0].strip() != mark:
            continue
        if _steady(there.body) == _steady(body):
            return Posting("unchanged")
        if changed := _changed(forge, there, body, is_known=bool(author)):
            return changed
    if not has_content:
        return Posting("nothing")
    return Posting("created", forge.create(body))


def _changed(forge: Comments, there: Posted, body: str, *, is_known: bool) -> Posting | None:
    """Return what became of a comment with our mark, None for one of another author, which no token may change."""
    try:
        return Posting("updated", forge.change(there, body))
    except DeniedError as error:
        if is_known or error.code != 403:
            raise
        return None


def _steady(body: str) -> str:
    """Return a comment without its time and the address of its run, which differ from run to run."""
    lines = body.replace("\r\n", "\n").split("\n")
    kept = (line for line in lines if not re.fullmatch(r"(?:<sub>)?\[whole report\]\(\S+\)(?:</sub>)?", line.strip()))
    return re.sub(r" · \d+\.\d s\b", "", "\n".join(kept)).strip()


def _refusal(error: DeniedError) -> str:
    why = {
        401: "the token is not valid or has expired",
        403: "the token may not comment there; the pipeline of a fork has none that may",
        404: "no such repository or pull request, or one that the token cannot see",
    }.get(error.code, "")
    return f"{_one_line(str(error))}: {why}" if why else _one_line(str(error))


def _one_line(text: str) -> str:
    return " ".join(text.split())
