"""Which kinds groups have, by the schemas and data that are shipped: what was meant where one is misspelt.

A group and a kind are looked up letter by letter by an API server (Kubernetes, apimachinery pkg/api/meta,
NoKindMatchError), so that an object of a kind one letter off is applied by nobody, and no controller misses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import chain

from policylint.model.shipped import shipped_data, shipped_files
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_OWN: Mapping[str, frozenset[str]] = {
    "apps": frozenset({"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}),
    "batch": frozenset({"CronJob", "Job"}),
    "networking.k8s.io": frozenset({"IPAddress", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR"}),
}
"""The kinds of groups of Kubernetes itself, in all releases."""
_KINDS_IN_DATA = ("doors.yaml", "network-policies.yaml")
"""Data that name kinds of others, as GROUP/KIND: what is said of them is lost with a slip."""
_IN_DATA = Pattern(r"(?<![\w.-])(?P<group>[a-z0-9][a-z0-9.-]*\.[a-z]+)/(?P<kind>[A-Z]\w+)")
_VERSION = Pattern(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_ALIKE = 0.85
"""How alike a group is (difflib's ratio) to the one that it is taken for, whose kinds it has."""
_SHORTEST = 6
"""Letters of a kind from which on one that differs in one of them is taken for a misspelling."""


class Meant(NamedTuple):
    """What an object's kind was probably meant to be.

    Args:
        group, kind: those that there are.
        certain: whether nobody has a kind of the name that is written: it differs in case, is the plural,
            or is of a group of Kubernetes itself.
    """

    group: str
    kind: str
    certain: bool


@lru_cache(maxsize=256)
def is_no_version(version: str) -> bool:
    """Tell whether a version is written as no release of a known kind has one: `v1apha1`, `1`.

    Source: Kubernetes, «Versions in CustomResourceDefinitions», Version priority; all kinds that are known follow it.
    """
    return not _VERSION.fullmatch(version)


def is_known(group: str, kind: str) -> bool:
    """Tell whether a kind is one of Kubernetes itself that is listed here, one of which a schema is shipped, or one
    that data name."""
    return kind in _kinds(group)


@lru_cache(maxsize=1_024)
def meant(group: str, kind: str) -> Meant | None:
    """Return what a kind of which nothing is known was probably meant to be: the same in another case, or with one
    letter more, less, other, or two that changed places; or the same of another group of its project, or of one that
    is spelled nearly so. None where it is known, or resembles none."""
    here = _kinds(group)
    if not here:
        alike = (other for other, kinds in _groups() if kind in kinds and _is_alike(group, other))
        return next((Meant(other, kind, certain=False) for other in alike), None)
    if kind in here:
        return None
    for known in sorted(here):
        if kind.lower() in (known.lower(), f"{known.lower()}s", f"{known.lower()[:-1]}ies"):
            return Meant(group, known, certain=True)
    slips = ((group, known) for known in sorted(here) if len(known) >= _SHORTEST and _is_one_slip(kind, known))
    of_project = ((other, kind) for other, kinds in _groups() if kind in kinds and _project(other) == _project(group))
    is_own = group in _OWN  # nobody else may have kinds there
    return next((Meant(*each, certain=is_own) for each in chain(slips, of_project)), None)


def _groups() -> Iterator[tuple[str, Collection[str]]]:
    """Yield the groups of which kinds are known, with them."""
    yield from _OWN.items()
    yield from ((group, shipped_schemas(group)) for group in groups_with_schemas())
    yield from _in_data().items()


def _kinds(group: str) -> Collection[str]:
    return _OWN.get(group) or shipped_schemas(group) or _in_data().get(group, ())


@lru_cache(maxsize=1)
def _in_data() -> Mapping[str, Collection[str]]:
    """Return kinds of groups of which not all are known: those that are ways in, or policies for connections."""
    known, found = {*_OWN, *groups_with_schemas()}, defaultdict[str, set[str]](set)
    for name in _KINDS_IN_DATA:
        for named in _IN_DATA.finditer(shipped_data("schemas", name).decode()):
            if named["group"] not in known:
                found[named["group"]].add(named["kind"])
    return found


@lru_cache(maxsize=64)
def shipped_schemas(group: str) -> Mapping[str, str]:
    """Return the paths of what is shipped of a group's schemas, by kind; none of a group that is none of those.

    Both names come from manifests: they are looked up among what is there, and never become a path.
    """
    if group not in groups_with_schemas():
        return {}
    paths = ((_name(path), path) for path in shipped_files("schemas", "crds", group))
    return {name.removesuffix(".json"): path for name, path in paths if name.endswith(".json")}


@lru_cache(maxsize=1)
def groups_with_schemas() -> Collection[str]:
    """Return the groups that have schemas here."""
    return frozenset(map(_name, shipped_files("schemas", "crds")))


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _project(group: str) -> str:
    """Return the domain of whoever has a group: the last two parts of it."""
    return ".".join(group.rsplit(".", 2)[-2:])


def _is_alike(written: str, known: str) -> bool:
    """Tell whether a group is spelled nearly as another one: a whole label more is no slip, but a group of its own, as
    `config.gateway.envoyproxy.io` was."""
    from difflib import SequenceMatcher

    if written.endswith(f".{known}"):
        return False
    return SequenceMatcher(None, written, known).ratio() >= _ALIKE


def _is_one_slip(written: str, known: str) -> bool:
    """Tell whether two names are one slip apart: never at the first letter, since an X before a name is a kind of its
    own in Gateway API."""
    if written[:1] != known[:1]:
        return False
    if len(written) == len(known):
        at = [number for number, pair in enumerate(zip(written, known, strict=True)) if pair[0] != pair[1]]
        swapped = len(at) == 2 and written[at[0]] == known[at[1]] and written[at[1]] == known[at[0]]
        return len(at) == 1 or (swapped and at[1] == at[0] + 1)
    shorter, longer = sorted((written, known), key=len)
    return len(longer) - len(shorter) == 1 and any(
        shorter == longer[:at] + longer[at + 1 :] for at in range(len(longer))
    )
