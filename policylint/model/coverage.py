"""What was looked at."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple


class Coverage(NamedTuple):
    """What was looked at, and what was not seen.

    Args:
        files, documents: read; `unread` documents are of kinds that no rule reads.
        skipped: files that are no Kubernetes YAML, by what they are instead.
        not_rendered: sentences such as `3 HelmReleases not rendered`.
        resources, policies, routes, gateways: objects over all environments.
    """

    files: int
    documents: int
    unread: int
    skipped: dict[str, int]
    not_rendered: tuple[str, ...]
    resources: int
    policies: int
    routes: int
    gateways: int
