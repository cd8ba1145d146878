"""What Flux deploys: clusters, Kustomizations, HelmReleases, ResourceSets and their substitutions."""

from __future__ import annotations
