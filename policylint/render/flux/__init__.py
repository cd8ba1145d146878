"""Rendering as Flux does it: clusters, Kustomizations, HelmReleases, ResourceSets and their substitutions."""

from __future__ import annotations
