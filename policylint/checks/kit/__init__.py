"""What rules share: locations, suggestions, wording, fixes, and what is read once for several of them."""

from __future__ import annotations
