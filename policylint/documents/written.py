"""What documents that nobody parses say that they are: templates, texts in scripts, manifests that nothing deploys.

It is a likely reading, by lines. Whether an object may be left unparsed, `chunks.identity` says, which is sure.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_END = Pattern(r"(?m)^[ \t]*---.*$")
_HEAD = Pattern(r"(?m)^([ \t]*)(?:apiVersion|kind):")
_GROUP = Pattern(r"(?m)^([ \t]*)apiVersion:[ \t]*[\"']?(?:([\w.-]+)/)?[\w-]+[\"']?[ \t]*(?:#.*)?\r?$")
_KIND = Pattern(r"(?m)^([ \t]*)kind:[ \t]*[\"']?(\w+)")
_METADATA = Pattern(r"(?m)^([ \t]*)metadata:[ \t]*\r?\n((?:(?:\1[ \t].*|[ \t]*\r?)\n)+)")
_FIELD = Pattern(r"(?m)^[ \t]+(name|namespace):[ \t]*(.*?)[ \t]*\r?$")
_COMMENT = Pattern(r"(?:^|[ \t]+)#.*$")


class WrittenDocument(NamedTuple):
    """A document by its text.

    Args:
        group: None where no plain `apiVersion` says it.
        kinds: as they stand beside it; the branches of a template may write several.
        name, namespace: as written, which may be a template; "" where they do not stand there.
        line: of the kind, from 1.
        first: how many lines there are before it.
    """

    group: str | None
    kinds: tuple[str, ...]
    name: str
    namespace: str
    line: int
    text: str
    first: int


def written(text: str) -> Iterator[WrittenDocument]:
    """Yield the documents of a text that say of which kind they are."""
    start = 0
    for end in [*_END.finditer(text), None]:
        body = text[start : len(text) if end is None else end.start()]
        head = _HEAD.search(body)
        indented = None if head is None else head[1]
        kinds = [match for match in _KIND.finditer(body) if match[1] == indented]
        if kinds:
            groups = (match[2] or "" for match in _GROUP.finditer(body) if match[1] == indented)
            blocks = (match[2] for match in _METADATA.finditer(f"{body}\n") if match[1] == indented)
            fields = dict(reversed(_FIELD.findall(next(blocks, ""))))
            name, namespace = (_COMMENT.sub("", fields.get(field, "")).strip("\"'") for field in ("name", "namespace"))
            first = text.count("\n", 0, start)
            line = first + body.count("\n", 0, kinds[0].start()) + 1
            names = tuple(each[2] for each in kinds)
            yield WrittenDocument(next(groups, None), names, name, namespace, line, body, first)
        start = len(text) if end is None else end.end()
