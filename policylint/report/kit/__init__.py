"""Parts that writers share: display, excerpts, escaping, wording, identities."""

from __future__ import annotations
