"""Lua of an EnvoyExtensionPolicy that stands in a ConfigMap: read as if it stood in the policy.

The entry `lua` counts; without it any entry that there is, whichever comes first in a map without order.

Source: internal/gatewayapi/envoyextensionpolicy.go @ 00ad67e, getLuaBodyFromLocalObjectReference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.references import ENTRY
from policylint.model import ResourceKey, World, mapping, sequence, text
from policylint.policy.results import Effective
from policylint.topology.secret_data import contents, hidden

SETTING = "lua"


def with_scripts(effective: Effective, spec: Mapping[str, Any], world: World) -> Mapping[str, Any]:
    """Return an effective spec with the scripts of ConfigMaps in the place of references, as far as they were seen."""
    entries = list(map(mapping, sequence(spec.get(SETTING))))
    scripts = [_script(entry, (SETTING, number), effective, world) for number, entry in enumerate(entries)]
    if not any(script is not None for script in scripts):
        return spec
    shown = [
        entry if script is None else {"type": "Inline", "inline": script}
        for entry, script in zip(entries, scripts, strict=True)
    ]
    return {**spec, SETTING: shown}


def _script(entry: Mapping[str, Any], place: Pointer, effective: Effective, world: World) -> str | None:
    """Return the script that an entry names, None where it names none or its ConfigMap was not seen."""
    name = text(mapping(entry.get("valueRef")).get("name"))
    owner = next((owner for at, owner in effective.owners.items() if at[:2] == place or place[: len(at)] == at), None)
    if not name or entry.get("type") == "Inline" or owner is None:
        return None
    key = ResourceKey("", "ConfigMap", owner.namespace, name)
    held = contents(world.resolve_inner(key).resource, world)
    if not held:
        return None
    script = held[ENTRY] if ENTRY in held else "\n".join(held[entry] for entry in sorted(held))
    return None if hidden(script) else script
