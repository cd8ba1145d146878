"""The Markdown of forges: how long a comment may be, what folds, what hides its mark, how a line is linked to."""

from __future__ import annotations

from typing import Final

from policylint.namedtuple import NamedTuple


class Dialect(NamedTuple):
    """How one forge shows a comment.

    Args:
        most: characters of a comment, with room for the link to the run.
        mark: the first line, which is not shown, with the key of the comment.
        has_html: whether `<details>`, `<sub>` and `<br>` work; elsewhere what would be folded is only named.
        has_diagrams: whether mermaid is drawn.
        line: what leads to a line of a file.
    """

    most: int = 60_000
    mark: str = "<!-- policylint:v1 key={} -->"
    has_html: bool = True
    has_diagrams: bool = True
    line: str = "#L{}"


DIALECTS: Final = {
    "github": Dialect(),
    "gitlab": Dialect(),
    "azure": Dialect(has_diagrams=False, line="&line={0}&lineEnd={0}&lineStartColumn=1&lineEndColumn=200"),
    "bitbucket": Dialect(30_000, "[policylint:v1 key={}]: #\n", has_html=False, has_diagrams=False, line="#lines-{}"),
}
"""GitHub takes 65,536 characters, GitLab 1,000,000, Azure DevOps 150,000, Bitbucket 32,768, and shows HTML as text. No
comment of more than 60,000 is read to its end."""
