"""Protections that a change takes away or weakens (GWP302 and GWP304)."""

from __future__ import annotations
