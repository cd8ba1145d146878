"""Policies: their targets, their order, how they merge, what is effective, and the verdict on each."""

from __future__ import annotations
