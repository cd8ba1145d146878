"""Loading: from files to documents and objects."""

from __future__ import annotations
