"""What runs or installs ExternalDNS: what each reads, and by which annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from policylint.load.charts import values_of
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

PREFIXES = ("external-dns.kubernetes.io/", "external-dns.alpha.kubernetes.io/")
"""How annotations begin by default, since release 0.22 and before (kubernetes-sigs/external-dns#6424)."""
_CHART, _IMAGE = "external-dns", "/external-dns"
_SOURCE, _PREFIX = "--source", "--annotation-prefix"
_VARIABLES = {_SOURCE: "EXTERNAL_DNS_SOURCE", _PREFIX: "EXTERNAL_DNS_ANNOTATION_PREFIX"}
_BY_DEFAULT = ("service", "ingress")
"""What the chart has it read where its values do not say."""
_CHANGED = (0, 22)
_RELEASE = Pattern(r"v?(\d+)\.(\d+)")


class RecordMaker(NamedTuple):
    """One ExternalDNS.

    Args:
        holder: what runs or installs it.
        sources: the kinds that it reads.
        prefix: how the annotations begin that it reads; "" where that is not known.
    """

    holder: Resource
    sources: tuple[str, ...]
    prefix: str


def record_makers(world: World) -> list[RecordMaker] | None:
    """Return each ExternalDNS there is; None where not all is known of one."""
    found = [*_running(world)]
    for release, values, is_whole in values_of(world, _CHART):
        if not is_whole:
            return None
        more = values.get("extraArgs")
        stated = [f"--{name}={value}" for name, value in more.items()] if isinstance(more, dict) else texts(more)
        own = (*(texts(values.get("sources")) or _BY_DEFAULT), *_stated(stated, _SOURCE))
        prefixes = (text(values.get("annotationPrefix")), *_stated(stated, _PREFIX))
        image = f"{_CHART}:{text(mapping(values.get('image')).get('tag'))}"
        found.append(RecordMaker(release, own, _prefix(prefixes, image)))
    known = all(each.sources and not any(map(is_symbolic, each.sources)) for each in found)
    return found if known else None


def prefixes_read(world: World) -> tuple[str, ...]:
    """Return how the annotations begin that an ExternalDNS there reads; none where that is not known of each."""
    found = [each.prefix for each in world.once(record_makers) or ()]
    return tuple(dict.fromkeys(found)) if all(found) else ()


def _running(world: World) -> Iterator[RecordMaker]:
    for workload in world.of_kind("apps", "Deployment"):
        from policylint.topology.workloads import pod_spec

        for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
            image = text(container.get("image"))
            if _IMAGE in image.partition(":")[0]:
                stated = texts(container.get("args"))
                said = {option: _stated(stated, option) or _in_environment(container, option) for option in _VARIABLES}
                yield RecordMaker(workload, said[_SOURCE], _prefix(said[_PREFIX], image))


def _prefix(stated: Sequence[str], image: str) -> str:
    """Return how annotations begin: as stated, else by the release that an image is of; "" where neither says."""
    said = next(filter(None, stated), "")
    release = _RELEASE.match(image.partition("@")[0].rpartition(":")[2])
    if said or release is None:
        return "" if is_symbolic(said) else said
    return PREFIXES[0] if (int(release[1]), int(release[2])) >= _CHANGED else PREFIXES[1]


def _in_environment(container: Mapping[str, Any], option: str) -> tuple[str, ...]:
    """Return what a variable states in place of arguments, one a line."""
    variables = map(mapping, sequence(container.get("env")))
    stated = next((text(each.get("value")) for each in variables if each.get("name") == _VARIABLES[option]), "")
    return tuple(stated.split())


def _stated(arguments: list[str], option: str) -> tuple[str, ...]:
    """Return what arguments state of an option, as one word or as two."""
    beginning = f"{option}="
    return (
        *(argument.removeprefix(beginning) for argument in arguments if argument.startswith(beginning)),
        *(value for name, value in pairwise(arguments) if name == option),
    )
