"""From documents to the objects that land together in one environment."""

from __future__ import annotations
