"""What is asked of the requests of a way: what is demanded of the one that is traced, and whether it stands for all."""

from __future__ import annotations

from policylint.reach.ways import WayIn
from policylint.trace.requirements import Asked, Requirements


def asked(requirements: Requirements, way: WayIn, purpose: str, *, unread: bool = True) -> Asked:
    """Return what is asked of the requests of a way (`Requirements.of`).

    Where expressions are not told apart, another rule may take some of the requests: what is asked is known as long as
    all of these rules ask the same.
    """
    given = requirements.of(way.trace, purpose, identified=way.entry.inside and way.certificate, unread=unread)
    if given.state not in ("open", "optional") or not way.undecided:
        return given
    states = {requirements.of(rival, purpose, unread=unread).state for rival in way.rivals if rival.outcome.backends}
    return given if states == {given.state} else Asked("unknown", given.demands, f"not decided: {way.undecided[0]}")
