"""What can happen, for all requests at once: the ways into an environment, each with a set of requests and its outcome.

A way is what `trace` says of one request, said of a whole region of them: rules take their matches out of what is left
by those before them, and one request of each region is traced. Source: docs/design/reach.md.
"""

from __future__ import annotations

from policylint.reach.entries import EntryPoint
from policylint.reach.purposes import PURPOSES, Asked, Asker, asked
from policylint.reach.ways import WayIn, all_ways, ways_in

__all__ = ["PURPOSES", "Asked", "Asker", "EntryPoint", "WayIn", "all_ways", "asked", "ways_in"]
