"""Settings that a workload has of its own: the annotation `proxy.istio.io/config` of its pods.

Source: docs/design/implementations/istio.md §7.

They stand between the ProxyConfig of the namespace and the one that selects the workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer, read
from policylint.implementations.istio.labels import PROXY_ANNOTATION
from policylint.model import Resource, mapping
from policylint.policy.results import Attachment, Declared, Target
from policylint.topology import whole

_FIELDS = {"concurrency": "concurrency", "image": "image", "proxyMetadata": "environmentVariables"}
"""Fields of the mesh's ProxyConfig that the resource has too, under the names it gives them."""


def own_settings(workload: Resource, metadata: Mapping[str, Any], place: Pointer) -> Attachment | None:
    """What a workload says itself, as if it were a policy on itself; None without anything a ProxyConfig could say.

    `place` is where the pods' metadata stands.
    """
    written = mapping(metadata.get("annotations")).get(PROXY_ANNOTATION)
    if not isinstance(written, str):
        return None
    documents = read(written.encode(), workload.document.file).documents
    config = mapping(documents[0].value) if documents else {}
    proper = {name: config[field] for field, name in _FIELDS.items() if config.get(field) is not None}
    if not proper:
        return None
    prefix = (*place, "annotations", PROXY_ANNOTATION)
    target = Target(prefix, workload.key)
    return Attachment(workload, whole(workload.key), target, (Declared(proper, prefix, "defaults", "patch"),))


def is_own(attachment: Attachment) -> bool:
    """Whether it is the workload that speaks, not a policy."""
    return attachment.key == attachment.node.key
