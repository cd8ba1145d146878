"""Open Cluster Management: on which clusters a Policy is placed, by which bindings, and whether it enforces there.

Reads Policy, PolicySet, PlacementBinding, Placement, PlacementRule (deprecated) and what decides about them. Clusters
are known from ManagedClusters and decisions in the input; without any, an answer is the selector in words.
"""

from __future__ import annotations
