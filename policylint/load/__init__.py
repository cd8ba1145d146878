"""From files to documents and objects: what is read at once, what is read late, and what is remembered of a file."""

from __future__ import annotations
