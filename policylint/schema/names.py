"""Names that no API server takes, whatever the release: what `metadata.name` must be.

Source: Kubernetes, «Object Names and IDs»: the names of custom resources and of most other objects are DNS subdomains,
those of Services and Namespaces labels. Kinds whose names are segments of paths (RBAC) are not judged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from policylint.model import Resource, is_symbolic
from policylint.model.kinds import DEFINITION
from policylint.patterns import Pattern

if TYPE_CHECKING:
    from policylint.schema.explain import Violation

PLACE = ("metadata", "name")
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_LABELLED = frozenset({("", "Namespace"), ("", "Service")})
BUILT_IN = _LABELLED | {
    ("", "ConfigMap"),
    ("", "Pod"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("networking.k8s.io", "NetworkPolicy"),
    DEFINITION,
}
"""Kinds of Kubernetes itself that matter to requests."""
_LONGEST, _LONGEST_LABEL = 253, 63
_WORD = Pattern(r"(?:^|[^A-Za-z0-9])(?:[A-Z]{4,}|[A-Z]+(?:_[A-Z0-9]+)+)(?:[^A-Za-z0-9]|$)")
"""A word of capitals alone, which no name of an object has."""

_PHRASE = Pattern(r"\w \w|(?i:^(?:your|my|insert|replace))[-_A-Z]|^[a-z\d]+(?:[A-Z][a-z\d]+){2,}$")
"""What a text in brackets says that is none: words, or several of them in one."""


def is_word_to_replace(value: object) -> bool:
    """Return whether a value is a word in capitals, which where no such text can stand is to be replaced: `PORT`."""
    return isinstance(value, str) and len(value) > 1 and value.isascii() and value.isupper()


def is_bracketed_to_replace(value: object) -> bool:
    """Return whether a list or a mapping is a word in brackets that is to be replaced, brackets and all, as it stands
    where a text is wanted: `[base64EncodedStorageKey]`, `[your key]`, `{KEY}`."""
    if isinstance(value, dict) and len(value) == 1:
        value = [name for name, inner in value.items() if inner is None]
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], str):
        return False
    return is_word_to_replace(value[0]) or _PHRASE.search(value[0]) is not None


def stands_for_another(value: str) -> bool:
    """Return whether a name or hostname is one to be filled in: `DOMAIN`, `tenant-COMPANY-NAME`."""
    return _WORD.search(value) is not None


def misnamed(resource: Resource) -> Violation | None:
    """Return what is wrong with an object's name, None where nothing is or where a variable stands in it."""
    name = resource.metadata.get("name")
    if resource.key[:2] == DEFINITION and isinstance(name, str):
        return _refused_definition(resource)
    is_label = resource.key[:2] in _LABELLED
    if not isinstance(name, str) or not name:
        return None
    if fits(name, is_label=is_label) or is_symbolic(name) or "{{" in name:
        return None
    if stands_for_another(name) and fits(filled_in(name), is_label=is_label):
        return None
    from policylint.schema.explain import Violation

    instead = f", such as {name.lower()}" if fits(name.lower(), is_label=is_label) else ""
    wanted = f"lower case letters, digits and - are allowed{'' if is_label else ', and . between them'}{instead}"
    return Violation("name", PLACE, (), f'is called "{name}", which no API server takes', wanted, name)


def _refused_definition(definition: Resource) -> Violation | None:
    """Return what is wrong with a CRD: its name, which says what it defines, its group or its versions."""
    from policylint.model.definitions import fault_of_definition

    fault = fault_of_definition(definition)
    if fault is None:
        return None
    from policylint.schema.explain import Violation

    place, says, wanted = fault
    name = definition.key.name if place == PLACE else None
    return Violation("name", place, (), f"{says}, which no API server takes", wanted, name)


def filled_in(name: str) -> str:
    """Return a name with its words of capitals as they may be filled in."""
    return name.lower().replace("_", "-")


def fits(name: str, *, is_label: bool) -> bool:
    """Return whether a name is a DNS subdomain, or a label of one."""
    if len(name) > (_LONGEST_LABEL if is_label else _LONGEST) or (is_label and "." in name):
        return False
    return _SUBDOMAIN.fullmatch(name) is not None
