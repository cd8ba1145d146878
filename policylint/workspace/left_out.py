"""What lies in the tree and was not checked: what nothing deploys, kinds that no evaluator reads, other languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policylint.load.reading import Loaded
from policylint.model.coverage import LeftOut
from policylint.model.kinds import ADMISSION_ENGINES, NETWORK_ENGINES, WAYS_IN
from policylint.model.words import leading
from policylint.patterns import Pattern
from policylint.simulation import Simulation
from policylint.sources import Source, SourceError
from policylint.sources.skipping import CUE, JSONNET, TERRAFORM

_KNOWN = " (reach and trace know {})"
_NETWORK_KIND = Pattern(r"\w*(?:NetworkPolicy|NetworkPolicyList|Firewall)")
_ADMISSION_KIND = Pattern(
    r"(?:Cluster)?Policy|\w*AdmissionPolicy(?:Group)?|(?:Validating|Mutating|Generating|Image\w*)Policy|ConstraintTemplate"
    r"|K8s\w+|Assign\w*|ModifySet"
)
_HOLDS_MANIFESTS = Pattern(rb"\b(?:kubernetes_manifest|kubectl_manifest|kubectl_file_documents)\b")
_NUMBER = Pattern(r"\d+")
_NUMBERED, _ENDING = Pattern(r"\d+|\b(?:is|are)\b"), Pattern(r"s\b")
"""What differs between one thing and several in a sentence."""
_MOST_NAMED = 3
_MOST_READ = 300
"""Terraform files that are looked into."""


def languages(source: Source, skipped: Mapping[str, int]) -> dict[str, int]:
    """Return the other languages in which files of the tree describe objects, with the number of files."""
    numbers = {language: skipped[language] for language in (JSONNET, CUE) if language in skipped}
    if number := sum(_holds_manifests(source, file) for file in source.skipped.get(TERRAFORM, [])[:_MOST_READ]):
        numbers[TERRAFORM] = number
    return numbers


def left_out(
    loaded: Loaded, simulations: Sequence[Simulation], other_languages: Mapping[str, int]
) -> Iterator[LeftOut]:
    """Yield what was not checked, what matters most first; `other_languages` as `languages` returns them."""
    worlds = [simulation.world for simulation in simulations]
    # Alternatives among plain files call each other's objects orphans, and each of them is checked.
    orphans = {key for world in worlds if not world.plain for key in world.orphans if key.group}
    if orphans:
        what = f"in {'a file' if len(orphans) == 1 else 'files'} that no Flux, Argo CD or kustomize root references"
        yield LeftOut(
            "orphans", len(orphans), f"Gateway API object or policy {what}", f"Gateway API objects and policies {what}"
        )
    if roots := list(dict.fromkeys(root for world in worlds for root in world.roots)):
        names = leading(roots, _MOST_NAMED)
        yield LeftOut("roots", len(roots), f"unused deployment root ({names})", f"unused deployment roots ({names})")
    known = {(kind.group, kind.kind) for simulation in simulations for kind in simulation.catalog.kinds()}
    kinds = Counter((document.api_version.rpartition("/")[0], document.kind) for document in loaded.unread)
    parsed = {resource.key for simulation in simulations for resource in simulation.world.resources.values()}
    kinds.update(key[:2] for key in parsed)
    of_engines, of_admission, ways = Counter[str](), Counter[str](), Counter[tuple[str, str, bool]]()
    for (group, kind), number in kinds.items():
        if (group, kind) in known:
            continue
        if (group, kind) in WAYS_IN:
            ways[WAYS_IN[group, kind]] += number
        elif group in NETWORK_ENGINES and _NETWORK_KIND.fullmatch(kind):
            of_engines[NETWORK_ENGINES[group]] += number
        elif group in ADMISSION_ENGINES and _ADMISSION_KIND.fullmatch(kind):
            of_admission[ADMISSION_ENGINES[group]] += number
    for (one, several, is_known), number in sorted(ways.items()):
        also = [_KNOWN.format(which) if is_known else "" for which in ("it", "them")]
        yield LeftOut("other ways in", number, one + also[0], several + also[1])
    for engine, number in sorted(of_engines.items()):
        yield LeftOut("network policies", number, f"{engine} network policy", f"{engine} network policies")
    for engine, number in sorted(of_admission.items()):
        yield LeftOut("admission policies", number, f"{engine} admission policy", f"{engine} admission policies")
    for language, number in other_languages.items():
        what = "Terraform file{s} with manifests" if language == TERRAFORM else f"{language} file{{s}}"
        yield LeftOut("other languages", number, what.format(s=""), what.format(s="s"))


def _holds_manifests(source: Source, file: str) -> bool:
    try:
        return _HOLDS_MANIFESTS.search(source.file(file).read()) is not None
    except SourceError:
        return False


def folded(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences of several environments, of those that differ in numbers alone the one with the largest."""
    alike: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        alike.setdefault(_ENDING.sub("", _NUMBERED.sub("", sentence)), []).append(sentence)
    most = [max(same, key=lambda sentence: list(map(int, _NUMBER.findall(sentence)))) for same in alike.values()]
    return tuple(
        f"up to {sentence}" if len(same) > 1 else sentence for sentence, same in zip(most, alike.values(), strict=True)
    )
