"""The coverage of a run: what it looked at, for the coverage line."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple


class LeftOut(NamedTuple):
    """Things of one sort that lie in the tree and were not checked.

    Args:
        sort: `orphans`, `roots` (directories at which a deployment could begin), `other ways in`, `network policies`,
            `admission policies` or `other languages`.
        number: how many.
        one, several: what one of them is called, and what several are.
    """

    sort: str
    number: int
    one: str
    several: str

    def __str__(self) -> str:
        return f"{self.number} {self.one if self.number == 1 else self.several}"


class Coverage(NamedTuple):
    """The files and objects that a run looked at, and what it did not see.

    Args:
        files, documents: how many were read; `unread` documents are of kinds that no rule reads.
        skipped: number of files that are no Kubernetes YAML, by what they are instead.
        not_rendered: sentences such as `3 HelmReleases not rendered`.
        resources, policies, routes, gateways: objects over all environments.
        network_policies, cluster_policies: those that are evaluated; they are not among `policies`.
        cut_off: whether rendering ended before it was done (`policylint.budget`).
        unevaluated: the objects that filters and annotations name and nobody judges: `2 KongPlugins by annotation`.
        unseen: the Gateways and ListenerSets, as `Kind namespace/name`, that routes name and that are not in the tree.
        left_out: what lies in the tree and was not checked, what matters most first.
        releases: those of Gateway API and implementations by which objects are judged, with what says so.
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
    cut_off: bool = False
    unseen: tuple[str, ...] = ()
    unevaluated: tuple[str, ...] = ()
    network_policies: int = 0
    cluster_policies: int = 0
    left_out: tuple[LeftOut, ...] = ()
    releases: tuple[str, ...] = ()

    @property
    def checked(self) -> int:
        """The number of policies, routes and Gateways."""
        return self.policies + self.network_policies + self.cluster_policies + self.routes + self.gateways

    @property
    def orphans(self) -> int:
        """The number of Gateway API objects and policies in files that nothing deploys."""
        return sum(entry.number for entry in self.left_out if entry.sort == "orphans")

    def plus(self, other: Coverage) -> Coverage:
        """Return the coverage of two runs over different paths."""
        skipped = {
            reason: self.skipped.get(reason, 0) + other.skipped.get(reason, 0)
            for reason in sorted(self.skipped.keys() | other.skipped.keys())
        }
        return Coverage(
            files=self.files + other.files,
            documents=self.documents + other.documents,
            unread=self.unread + other.unread,
            skipped=skipped,
            not_rendered=tuple(dict.fromkeys((*self.not_rendered, *other.not_rendered))),
            resources=self.resources + other.resources,
            policies=self.policies + other.policies,
            routes=self.routes + other.routes,
            gateways=self.gateways + other.gateways,
            network_policies=self.network_policies + other.network_policies,
            cluster_policies=self.cluster_policies + other.cluster_policies,
            cut_off=self.cut_off or other.cut_off,
            unseen=tuple(sorted({*self.unseen, *other.unseen})),
            unevaluated=tuple(dict.fromkeys((*self.unevaluated, *other.unevaluated))),
            left_out=tuple(dict.fromkeys((*self.left_out, *other.left_out))),
            releases=tuple(dict.fromkeys((*self.releases, *other.releases))),
        )
