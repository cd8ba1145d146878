"""Byte-exact edits of manifests: fixes of findings made concrete, verified by reading the result, applied, previewed.

Whatever cannot be done exactly is not done: an anchor in the way, a block scalar, a file that changed meanwhile.
"""

from __future__ import annotations

from policylint.edit.plan import Plan, plan
from policylint.edit.text import Edit, edit_of

__all__ = ["Edit", "Plan", "edit_of", "plan"]
