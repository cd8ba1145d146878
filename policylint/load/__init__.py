"""From files to documents and objects: what is read at once, what is read late, and what the sides of a diff share."""

from __future__ import annotations
