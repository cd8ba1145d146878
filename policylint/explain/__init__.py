"""One object through one Simulation: which policies act on it, setting by setting; where a policy reaches.

Reads what the engine computed and computes no effective policy of its own.
"""

from __future__ import annotations
