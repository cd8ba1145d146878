"""The result of `read`: documents, problems, documents left unread; and the stable codes of the problems."""

from __future__ import annotations

from typing import Final

from policylint.documents.position import Document, Pointer
from policylint.namedtuple import NamedTuple

# Codes are part of the tool's output: never renamed, never reused.
YAML_SYNTAX: Final = "yaml-syntax"  # libyaml, or the API server's reader, refuses the document
DUPLICATE_KEY: Final = "duplicate-key"  # a mapping has the key twice; the last one counts
TOO_LARGE: Final = "too-large"  # the file is over MAX_BYTES
TOO_DEEP: Final = "too-deep"  # nested deeper than MAX_DEPTH
ALIAS_BOMB: Final = "alias-bomb"  # aliases expand to more than MAX_NODES nodes
NOT_UTF8: Final = "not-utf8"  # bytes that are not UTF-8 (nor UTF-16 with a byte order mark)
BINARY: Final = "binary"  # NUL bytes

ENCRYPTED: Final = "encrypted"  # the form of a file that is encrypted whole
TEMPLATE_BELOW: Final = "not YAML: it looks like a template; what stands above it is read"
"""The message of a document that a template engine would fill in, below others that are YAML."""
ENVSUBST: Final = "envsubst-template"  # the form of a file that envsubst fills in line by line

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_DEPTH: Final = 200  # the API server stops at 10,000; consumers that recurse must stay far from Python's own limit
MAX_NODES: Final = 1_000_000  # that one document may stand for once its aliases are expanded
MAX_ALIASED: Final = 300_000  # nodes that the aliases of one tree may stand for, beside those that are written
MAX_PIECES: Final = 4_000_000  # lines and commas in one file: real files of MAX_BYTES have about a million
MAX_PROBLEMS: Final = 1000  # in one file; then it is given up


class Problem(NamedTuple):
    """A problem of a file that its author should know; how severe it is, the caller decides.

    `line` and `column` are 1-based; 1, 1 where the problem concerns the whole file.
    """

    code: str
    message: str
    file: str
    line: int
    column: int
    pointer: Pointer | None


class Unread(NamedTuple):
    """A document skipped unparsed because its kind was not asked for; `read_unread` parses it after all.

    `start` and `end` are offsets into the file's bytes as UTF-8 without byte order mark; `above` is the number of line
    breaks before `start`.
    """

    file: str
    line: int
    api_version: str
    kind: str
    start: int
    end: int
    number: int
    above: int


class FileReading:
    """The documents and problems of one file.

    `form` is `yaml`, `json`, `empty` (nothing but comments), or the template that the file was recognised as instead of
    Kubernetes YAML: `helm-template`, `jinja`, `terraform-template`, `erb-template`, `other-template`; or `encrypted`.
    Neither has documents or problems. `templated` says that something fills in the rest of a file that has documents as
    well.
    """

    __slots__ = ("documents", "form", "problems", "templated", "unread")

    def __init__(self, form: str = "yaml") -> None:
        self.documents: list[Document] = []
        self.problems: list[Problem] = []
        self.unread: list[Unread] = []
        self.form = form
        self.templated = False
