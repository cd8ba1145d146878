"""The tables of `list`."""

from __future__ import annotations
