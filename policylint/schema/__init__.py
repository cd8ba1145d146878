"""Structural schemas: what a CRD allows, read by the rules of the API server (pruning, nulls, defaults).

`structural` turns a CRD's schema into plain JSON Schema, `Checker` says quickly whether a value is valid, `explain`
says what is wrong with one that is not, `known` finds the schema of a kind.
"""

from __future__ import annotations

from policylint.schema.checker import Checker

__all__ = ["Checker"]
