"""What several controllers take of backendRefs that Gateway API refuses."""

from __future__ import annotations

from policylint.topology import BackendState


def regardless_of_grants(backend: BackendState) -> BackendState:
    """Return a backend as a controller takes it that reads no ReferenceGrants: whether it is there counts."""
    if backend.granted is True or backend.reason == "InvalidKind":
        return backend
    found = backend.resolution
    reason, message = ("BackendNotFound", found.reason) if found.missing else ("", "")
    return backend._replace(granted=True, reason=reason, message=message)
