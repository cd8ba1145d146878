"""Sets of requests as boxes over dimensions of atoms, and lists of decisions over them. Nothing here knows Kubernetes.

A *dimension* is cut into the coarsest classes that no predicate of a question divides, its *atoms*: a predicate is a
bit set of them, an `int`. A *box* is one bit set per dimension. Source: docs/design/reach.md §1.
"""

from __future__ import annotations

from policylint.spaces.boxes import Box, intersect, is_empty, merged, regions, subtract, widened
from policylint.spaces.dimension import ABSENT, Dimension, addresses, most_pairs, pairs, paths, values
from policylint.spaces.predicates import Predicate, below, containing, ending, globbed, matching, starting

__all__ = [
    "ABSENT",
    "Box",
    "Dimension",
    "Predicate",
    "addresses",
    "below",
    "containing",
    "ending",
    "globbed",
    "intersect",
    "is_empty",
    "matching",
    "merged",
    "most_pairs",
    "pairs",
    "paths",
    "regions",
    "starting",
    "subtract",
    "values",
    "widened",
]
