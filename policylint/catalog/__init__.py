"""The catalog of policy kinds: from the shipped files, the user's configuration and the CRDs of the input."""

from __future__ import annotations
