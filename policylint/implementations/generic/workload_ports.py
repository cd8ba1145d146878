"""Ports of workloads as policies and the like name them: those on which containers listen, not those of Services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource
from policylint.namedtuple import NamedTuple


class WorkloadPort(NamedTuple):
    """A port of the pods that something selects.

    Args:
        port: its number, or the name of a container's port.
        does: a clause that follows the name of the object and ends before the port: `sets mTLS for`.
        selector: of the pods, as a LabelSelector.
        everywhere: whether pods of all namespaces are selected.
        is_key: whether the port is the key of a mapping.
    """

    holder: Resource
    pointer: Pointer
    port: int | str
    does: str
    selector: Mapping[str, Any]
    everywhere: bool = False
    is_key: bool = False
