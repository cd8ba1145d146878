"""Worlds of the implementations that are mostly data, each predicted from a named source before it was run.

A module per implementation; `WORLDS` is its table. What the columns mean says `Predicted`, what is held of every world
`tests/implementations/test_predicted.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Predicted(NamedTuple):
    """A world, and what the controller makes of one request in it.

    Attributes:
        source: the key of a module's `SOURCES`, whose value is an address with a version.
        policies: the manifests in question, which a change takes away.
        end: `allowed`, `depends`, `unknown`, `reset`, or a status; for what reaches a backend with what it asks of
            requests, `allowed, key-auth required`.
        verdicts: of policies by name, those that the source decides.
        lint: the rules about references and attachment (GWP1xx, GWP4xx) that report at warning or error.
        request: what differs from the request of the module.
        base: the manifests that stay; None for the module's own.
        conditions: of routes (for any of their parents), Gateways, ListenerSets and listeners, as far as the source has
            them: `Accepted=True/Accepted`, or `!Type` for one that is not there.
        acts: the settings that the request meets and their owners by name, in the order in which they act; None where
            the source does not say.
        status: of policies and routes by name, conditions that the controller writes: `GATEWAY-OR-TARGET Type=Status/
            Reason`, the first of them alone for a policy without ancestors.
        effective: by dotted field, the name of the policy whose value the request meets; "" for nobody's.
    """

    source: str
    policies: tuple[str, ...]
    end: str
    verdicts: Mapping[str, str] = {}
    lint: tuple[str, ...] = ()
    request: Mapping[str, Any] = {}
    base: tuple[str, ...] | None = None
    conditions: Mapping[str, tuple[str, ...]] = {}
    acts: tuple[str, ...] | None = None
    status: Mapping[str, tuple[str, ...]] = {}
    effective: Mapping[str, str] = {}
