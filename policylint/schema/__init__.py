"""Structural schemas: the fields and values that a CRD allows, by the API server's rules (pruning, nulls, defaults).

`structural` turns a CRD's schema into plain JSON Schema, `Checker` decides quickly whether a value is valid, `explain`
describes what is wrong with one that is not, `known` finds the schema of a kind.
"""

from __future__ import annotations

from policylint.schema.checker import Checker

__all__ = ["Checker"]
