"""The identity of a Kubernetes object, and of a named section of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policylint.model.kinds import GATEWAY_GROUP as GATEWAY_GROUP
from policylint.model.kinds import ROUTE_KINDS as ROUTE_KINDS
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_PLACEHOLDER: Final = (
    r"\$\(?\w+\)?|(?<!\{)\{[A-Z][A-Z0-9_]+\}(?!\})|@\w+@|(?<!\w)__\w+?__(?!\w)|%[A-Za-z_]\w*%|\[\[[^][]*\]\]"
    r"|(?i:\b(?:replace|change|your|insert)_\w+|\b[a-z0-9]{1,40}_here\b)"
    r"|(?i:\b(?:[a-z0-9]{1,40}_){1,6}(?:placeholder|domain|host|hostname|namespace|name|address|port)\b)"
    r"|\b(?:[A-Z0-9]{1,40}_){1,6}(?:ACCOUNT|BUCKET|CIDR|ORG|PREFIX|PROJECT|REGION|REPO|REPOSITORY|TLD|URI|URL)\b"
    r"|(?i:(?:\b|_)placeholder_[a-z0-9_]{1,80})"
    r"|\b(?i:(?:change|replace|fix)-?me)\b|(?<![\w.-])(?:TODO|TBD)(?![\w-])"
    r"|\.[A-Z]{4,63}(?=\.[a-z])|(?:^|\.)(?:SUB)?DOMAIN(?:\.|$)|\.(?:HOST|HOSTNAME|NAMESPACE|TLD)$"
)
"""What scripts and people replace in a file before they apply it (envsubst). No name, host or label has such a part."""
_FILLED_IN_LATER: Final = Pattern(_PLACEHOLDER)
_SENTENCE: Final = Pattern(r"(?:^|[^\w-])[^\W\d_]{2,} +[^\W\d_]{2,}(?:[^\w-]|$)")
"""Two words of letters alone, in whatever language; names of hosts in a row have dots."""
VARIABLES: Final = Pattern(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\{\{.*?\}\}|<[^>]*>|" + _PLACEHOLDER)
"""The variables and placeholders in a text that `is_symbolic`."""
UNKNOWN_NAMESPACE = "?"
"""First character of an object's namespace where something outside its file (a kustomization, a chart) decides it.

What follows is the directory: objects side by side without a namespace are taken to land in the same one. It prints
as `?`.
"""


class ResourceKey(NamedTuple):
    """The identity of an object: group, kind, namespace and name, never the version.

    `namespace` is "" for cluster-scoped kinds and UNKNOWN_NAMESPACE where the files do not say it.
    Prints as `HTTPRoute shop/checkout`, cluster-scoped as `GatewayClass envoy`.
    """

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.path}" if self.kind else self.path

    @property
    def path(self) -> str:
        """`namespace/name`, or the name alone for cluster-scoped kinds; GEP-713's tie-break compares this text."""
        if not self.namespace:
            return self.name
        return f"{'?' if self.unplaced else self.namespace}/{self.name}"

    @property
    def unplaced(self) -> bool:
        """Whether the namespace is decided elsewhere."""
        return self.namespace[:1] == UNKNOWN_NAMESPACE


class Node(NamedTuple):
    """A resource, or a named section of one, in the topology.

    `role` is the resource's kind, or Listener, <Route>Rule or ServicePort for sections, so that nodes print as
    docs/design/interfaces.md asks: `Listener infra/edge#https`, `HTTPRouteRule shop/checkout#rule-1`.
    """

    key: ResourceKey
    section: str = ""
    role: str = ""

    def __str__(self) -> str:
        if not self.section:
            return str(self.key)
        return f"{self.role or self.key.kind} {self.key.path}#{self.section}"


ENCRYPTED_VALUE = "ENC["
"""How a value begins that SOPS encrypted in place."""


def holds_variable(text: object) -> bool:
    """Return whether a value holds a variable that a renderer fills in (`${PORT}`, `{{ .Values.port }}`, `<port>`), or
    what SOPS encrypted in place.

    Values have dollar signs of their own (hashes, expressions, the variables of NGINX); for names see `is_symbolic`.
    """
    if not isinstance(text, str):
        return False
    return "${" in text or "{{" in text or ("<" in text and ">" in text) or ENCRYPTED_VALUE in text


def is_no_host_yet(text: str) -> bool:
    """Return whether a hostname `is_symbolic`, or tells people what to write: two words side by side are no name."""
    return is_symbolic(text) or (" " in text and _SENTENCE.search(text) is not None)


def filled_in(written: str, name: str) -> list[str] | None:
    """Return what the variables in a text would stand for if it became a name, in their order; None if it can't.

    A variable stands for at least one character. What is between two of them is taken where it comes first.
    """
    first, *rest = VARIABLES.split(written)
    return taken_between(first, rest, name)


def taken_between(first: str, rest: Sequence[str], name: str) -> list[str] | None:
    """Return what a name has between a beginning and each of the parts behind it, at least a character each; None if
    the name does not have these parts."""
    if not rest:
        return [] if name == first else None
    position, end = len(first), len(name) - len(rest[-1])
    if not name.startswith(first) or not name.endswith(rest[-1]):
        return None
    taken = []
    for part in rest[:-1]:
        found = name.find(part, position + 1)
        if found < 0:
            return None
        taken.append(name[position:found])
        position = found + len(part)
    return [*taken, name[position:end]] if position < end else None


def is_symbolic(text: object) -> bool:
    """Return whether a name, namespace, kind or hostname still holds a variable or placeholder.

    Such a text can never be missing, mismatched or duplicate (docs/design/field-notes.md §1, need 8): `${DOMAIN}`,
    `{{ .Release.Name }}`, `<placeholder>`, and what scripts replace before they apply a file: `$DOMAIN`, `@DOMAIN@`,
    `{DOMAIN}`, `__DOMAIN__`, `%DOMAIN%`, `[[ .Domain ]]`, `REPLACE_ME`, `ROOT_DOMAIN`, `CHANGEME`, `web.DOMAIN.com`.
    """
    if holds_variable(text):
        return True
    if not isinstance(text, str):
        return False
    may_be = "$" in text or "{" in text or "_" in text or "@" in text or "%" in text or "[[" in text
    may_be = may_be or "eme" in text or "-me" in text or "EME" in text or text.isupper()
    may_be = may_be or ("." in text and not text.islower())
    return may_be and _FILLED_IN_LATER.search(text) is not None
