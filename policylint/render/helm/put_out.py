"""Objects that stand whole in the values of charts: `extraObjects`, `extraDeploy`, `extraManifests`.

Published charts put out what stands there as it is, through `tpl`: traefik, argo-cd, grafana, loki, oauth2-proxy
(`extraObjects`), those of Bitnami (`extraDeploy`), kube-prometheus-stack (`extraManifests`), and `raw`, which makes
nothing else. Where such a chart is not rendered, they are taken to be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from policylint.budget import size_of
from policylint.model import mapping, text
from policylint.model.resource import PUT_OUT
from policylint.patterns import Pattern
from policylint.render.helm.app_template.release import FOR_AN_OBJECT, Release, filled_in
from policylint.render.inline import Texts
from policylint.render.provenance import Manifest, Provenance

_KEYS: Final = Pattern(r"(?:extra|additional)(?:Objects|Deploy|Manifests|Resources|K8sObjects|KubernetesObjects)")
_OF_RAW: Final = ("raw", "resources")
"""A chart that puts out what stands below a key of its own."""
_DEEPEST: Final = 3
"""Mappings around the key: components, charts that a chart contains."""
_TEMPLATE: Final = "{{"


def put_out(release: Release) -> tuple[list[Manifest], Any]:
    """Return the objects that stand whole in the values of a release, and the values without them.

    An object with a template that the release does not fill in stays among the values: what comes of it, nobody knows.
    """
    made: list[Manifest] = []
    return made, _rest(release, mapping(release.values), release.origin, made, 0)


def _rest(release: Release, values: Any, origin: Provenance, made: list[Manifest], depth: int) -> Any:
    """Return values without the objects in them, which are added to `made`; the values themselves stay as they are."""
    if not isinstance(values, dict) or depth > _DEEPEST or values.get("enabled") is False:
        return values
    rest = values
    for key, value in values.items():
        is_raw = release.chart == _OF_RAW[0] and key == _OF_RAW[1] and not depth
        if is_raw or (isinstance(key, str) and _KEYS.fullmatch(key)):
            left = _left(release, value, origin.child(key), made)
        elif isinstance(value, dict):
            left = _rest(release, value, origin.child(key), made, depth + 1)
        else:
            continue
        if left is not value:
            rest = {**rest, key: left}
    return rest


def _left(release: Release, value: Any, origin: Provenance, made: list[Manifest]) -> Any:
    """Return what is no object that is put out in the value of a key."""
    if isinstance(value, str):
        objects = list(_of_entry(release, value, origin))
        made += objects
        return "" if objects else value
    entries = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value if isinstance(value, list) else ()))
    )
    kept = []
    for step, entry in entries:
        objects = list(_of_entry(release, entry, origin.child(step)))
        made += objects
        if not objects:
            kept.append((step, entry))
    if len(kept) == len(entries):
        return value
    return dict(kept) if isinstance(value, dict) else [entry for _, entry in kept]


def _of_entry(release: Release, entry: Any, origin: Provenance) -> Iterator[Manifest]:
    """Yield the objects of an entry, or of a text in it; none where any of them is not known whole."""
    filled = filled_in(entry, release)
    written = Texts().documents(filled, origin)[0] if isinstance(filled, str) else [(filled, origin)]
    written = [(value, place) for value, place in written if value is not None]
    if all(_is_whole(value) for value, _ in written):
        for value, place in written:
            metadata = {"namespace": release.namespace, **mapping(value["metadata"])}
            release.budget.spend(FOR_AN_OBJECT + size_of(value)[0])
            yield Manifest({**value, "metadata": metadata}, place, provisional=PUT_OUT)


def _is_whole(value: Any) -> bool:
    """Return whether a value is an object with a name, and no template in it."""
    if not isinstance(value, dict) or not (text(value.get("apiVersion")) and text(value.get("kind"))):
        return False
    return bool(text(mapping(value.get("metadata")).get("name"))) and not _holds_template(value)


def _holds_template(value: Any) -> bool:
    if isinstance(value, str):
        return _TEMPLATE in value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds_template(each) for each in inner)
