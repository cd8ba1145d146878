"""Names of objects, namespaces and hosts, exchanged for others everywhere: nothing but the names may change."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

Bodies = list[dict[str, Any]]
_MEANT = frozenset(
    [
        *("default", "istio", "istio-system", "kube-system", "kube-public", "http", "https", "grpc", "mesh", "gateway"),
        *("kubernetes", "service", "namespace", "route", "policy", "admin", "test", "prod", "public", "internal"),
        *("external", "local", "cluster", "same", "selector", "name", "data", "kind", "spec", "port", "waypoint"),
        *("openshift-ingress", "kuadrant-system", "gateway-system", "envoy-gateway-system", "openshift-default"),
        "other",
    ]
)
"""Names that mean something by themselves, somewhere; the last one begins what `reach` shows as an example of hosts."""


class Renaming(NamedTuple):
    """One name, and what it becomes: it sorts among the others as before."""

    was: str
    name: str

    def of(self, bodies: Bodies) -> Bodies:
        """Return objects with the name exchanged wherever it stands as a word."""
        renamed: Bodies = json.loads(self._pattern(self.was).sub(self.name, json.dumps(bodies, default=str)))
        return renamed

    def back(self, words: str) -> str:
        """Return what is said with the former name."""
        return self._pattern(self.name).sub(self.was, words)

    @staticmethod
    def _pattern(name: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")


def _decoded(text: str) -> Iterator[bytes]:
    """Yield what stands in base64: certificates, which name hosts, and Secrets that hold some."""
    for written in re.findall(r"(?:[A-Za-z0-9+/]{16,}=*\n?)+", text):
        content = written.replace("\n", "").rstrip("=")
        try:
            found = b64decode(content + "=" * (-len(content) % 4))
        except ValueError:
            continue
        yield found
        yield from _decoded(found.decode("ascii", "replace")) if b"-----BEGIN" in found else ()


def renaming(random: Random, bodies: Bodies) -> Renaming | None:
    """Draw a name that may be exchanged, None where there is none."""
    text = json.dumps(bodies, default=str)
    words = {word.lower() for word in re.findall(r"[\w-]+", text)}
    said = (
        "apiVersion",
        "group",
        "kind",
        "controllerName",
        "controller",
        "gatewayClassName",
        "ingressClassName",
        "type",
        "plugin",
    )
    for field in said:
        for value in re.findall(rf'"{field}": "([^"]+)"', text):
            words.update(f"{word}-" for word in re.findall(r"[\w-]+", value.lower()))
    for entities in re.findall(r'"(?:from|to)Entities": \[([^\]]*)\]|reserved:([\w-]+)', text):
        words.update(f"{word}-" for word in re.findall(r"[\w-]+", " ".join(entities)))  # of Cilium: `ingress`, `host`
    of_keys = {word for key in re.findall(r'"([^"]+)": ', text) for word in re.findall(r"[\w-]+", key)}
    names = {str(body.get("metadata", {}).get(field)) for body in bodies for field in ("name", "namespace")}
    names |= {f"{host.group(1)}" for host in re.finditer(r"([a-z0-9-]{4,})\.(?:com|org|net|io)\b", text)}
    encoded = b" ".join(_decoded(text.replace("\\n", "\n")))
    free = [
        name
        for name in sorted(names)
        if re.fullmatch(r"[a-z][a-z0-9-]{3,30}", name)
        and name not in _MEANT | of_keys
        and not any(word != name and (word.startswith(name) or name in re.split(r"[-_]", word)) for word in words)
        and f"{name}0" not in words
        and name.encode() not in encoded
    ]
    return Renaming(name := random.choice(free), f"{name}0") if free else None
