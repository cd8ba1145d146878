"""What requests are answered otherwise than before, for all requests at once (docs/design/reach.md §4).

Both sides are cut into regions over the predicates of both. Where two regions meet and their answers differ, one
request of what they have in common is traced on both sides, and what is said is what both traces say of it.
"""

from __future__ import annotations

from policylint.compare.requests.answers import MIRRORED, NO_RULE, UNTREATED, Change, Demands, Said
from policylint.compare.requests.changes import OPENED, RequestChange, RequestChanges, RequestSet, request_changes
from policylint.compare.requests.words import (
    difference_in_words,
    doors_in_words,
    example_in_words,
    purpose_in_words,
    sets_in_words,
    what_differs,
)

__all__ = [
    "MIRRORED",
    "NO_RULE",
    "OPENED",
    "UNTREATED",
    "Change",
    "Demands",
    "RequestChange",
    "RequestChanges",
    "RequestSet",
    "Said",
    "difference_in_words",
    "doors_in_words",
    "example_in_words",
    "purpose_in_words",
    "request_changes",
    "sets_in_words",
    "what_differs",
]
