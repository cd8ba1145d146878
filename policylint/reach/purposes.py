"""What is asked of the requests of a way: what is demanded of the one that is traced, and whether it stands for all."""

from __future__ import annotations

from policylint.reach.ways import WayIn
from policylint.trace.requirements import Asked, Requirements


def asked(requirements: Requirements, way: WayIn, purpose: str, *, unread: bool = True) -> Asked:
    """Return what is asked of the requests of a way (`Requirements.of`)."""
    given = requirements.of(way.trace, purpose, identified=way.entry.inside and way.certificate, unread=unread)
    if given.state in ("open", "optional") and way.undecided:
        return Asked("unknown", given.demands, f"not decided: {way.undecided[0]}")
    return given
