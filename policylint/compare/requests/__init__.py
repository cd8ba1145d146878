"""What requests are answered otherwise than before, for all requests at once (docs/design/reach.md §4).

Both sides are cut into regions over the predicates of both. Where two regions meet and their answers differ, one
request of what they have in common is traced on both sides, and what is said is what both traces say of it.
"""

from __future__ import annotations

from policylint.compare.requests.answers import MIRRORED, Change
from policylint.compare.requests.changes import RequestChange, RequestChanges, RequestSet, request_changes

__all__ = ["MIRRORED", "Change", "RequestChange", "RequestChanges", "RequestSet", "request_changes"]
