"""Explain one object of a Simulation: which policies act on it, setting by setting, and where a policy reaches.

Reads what the engine computed and computes no effective policy of its own.
"""

from __future__ import annotations
