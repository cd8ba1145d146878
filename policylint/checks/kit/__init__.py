"""Shared by the rules: locations, suggestions, wording, fixes, and results that several rules need."""

from __future__ import annotations
