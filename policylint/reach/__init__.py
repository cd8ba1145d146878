"""What can happen, for all requests at once: the ways into an environment, each with a set of requests and its outcome.

A way is what `trace` says of one request, said of a whole region of them: rules take their matches out of what is left
by those before them, and one request of each region is traced. Source: docs/design/reach.md.
"""

from __future__ import annotations

from policylint.reach.dimensions import Stated, is_for_anybody, is_grpc, is_of_client, is_possible, request_in
from policylint.reach.entries import Door, EntryPoint, Named, doors, entries, entries_at, entries_of_routes
from policylint.reach.inside import (
    IDENTIFIED,
    entries_at_pods,
    entries_inside,
    leading_to,
    with_routes,
)
from policylint.reach.purposes import asked
from policylint.reach.ways import WayIn, all_ways, end_in_words, in_words, stated, ways_in, ways_inside, ways_to

__all__ = [
    "IDENTIFIED",
    "Door",
    "EntryPoint",
    "Named",
    "Stated",
    "WayIn",
    "all_ways",
    "asked",
    "doors",
    "end_in_words",
    "entries",
    "entries_at",
    "entries_at_pods",
    "entries_inside",
    "entries_of_routes",
    "in_words",
    "is_for_anybody",
    "is_grpc",
    "is_of_client",
    "is_possible",
    "leading_to",
    "request_in",
    "stated",
    "ways_in",
    "ways_inside",
    "ways_to",
    "with_routes",
]
