"""Argo CD: Applications, ApplicationSets and the generators of their parameters."""

from __future__ import annotations
