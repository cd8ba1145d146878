"""Sets of requests as boxes over dimensions of atoms, and lists of decisions over them. Nothing here knows Kubernetes.

A *dimension* is cut into the coarsest classes that no predicate of a question divides, its *atoms*: a predicate is a
bit set of them, an `int`. A *box* is one bit set per dimension. Source: docs/design/reach.md §1.
"""
