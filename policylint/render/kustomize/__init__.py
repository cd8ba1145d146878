"""`kustomize build`, for everything that decides identity, references and the content of policies."""

from __future__ import annotations
