"""Paths and settings in, the simulations of their environments out, with coverage: every command starts here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from policylint.budget import CUT_OFF, Budget
from policylint.catalog.content import NOTHING_EDITED, Edited, ReadSet
from policylint.clusters.kinds import POLICY
from policylint.errors import UsageError
from policylint.load.definitions import Definitions
from policylint.load.left_unread import LeftUnread
from policylint.load.objects import cluster_scoped_kinds
from policylint.load.reading import Loaded, load
from policylint.load.shared_facts import SharedFacts
from policylint.model import Finding, mapping
from policylint.model.coverage import Coverage
from policylint.model.faults import Fault
from policylint.model.unseen import Custom
from policylint.model.words import count
from policylint.network.kinds import EVALUATED
from policylint.render.in_use import Naming, naming
from policylint.schema.broken import forget_valid
from policylint.simulation import Simulation
from policylint.sources import Source, SourceError, open_source
from policylint.workspace.assumptions import Assumptions
from policylint.workspace.elsewhere import PodsElsewhere
from policylint.workspace.left_out import folded, languages, left_out
from policylint.workspace.templates import Templates
from policylint.workspace.worlds import NOTHING_GIVEN, ReadTree

if TYPE_CHECKING:
    from policylint.render.scripts import Scripts
    from policylint.render.shared import Shared
    from policylint.workspace.scope import ReportScope, WorldScope

SEMANTICS = ("gep-713", "gep-713-2023")
RENDERERS = ("builtin", "external", "helm", "off")
"""Ways to find out what is deployed."""
_OTHERWISE = "another of the alternatives among these files does not have it"


class Workspace:
    """The simulated environments of some paths.

    Attributes:
        simulations: one per environment, sorted by name.
        coverage: how much was read, and what could not be.
        mentioning: files (as shown) with the word `policylint` in them: they may hold suppressions.
        scope: what its findings are to concern; None for everything.
        kustomizations: those that may name releases of controllers and CRDs.
    """

    def __init__(
        self,
        source: Source,
        simulations: list[Simulation],
        coverage: Coverage,
        mentioning: frozenset[str] = frozenset(),
        scope: ReportScope | None = None,
        beside: Sequence[Simulation] = (),
        kustomizations: tuple[Naming, ...] = (),
    ) -> None:
        self.kustomizations = kustomizations
        self._source = source
        self._beside = beside
        self.scope = scope
        self.simulations = simulations
        self.coverage = coverage
        self.mentioning = mentioning

    @property
    def by_deployer(self) -> bool:
        """Whether Flux, Argo CD or the configuration alone say what is deployed in its environments."""
        return any(simulation.world.by_deployer for simulation in self.simulations)

    @property
    def root(self) -> str | None:
        """The git root, or the directory given; None for stdin."""
        return self._source.root

    @property
    def alternatives(self) -> frozenset[str]:
        """The names of the alternatives among plain files; empty where something arranges them, or none is written
        twice."""
        return frozenset(simulation.world.name for simulation in self.simulations if simulation.world.alternative_of)

    @property
    def faults(self) -> list[Fault]:
        """Errors of our own so far, each once for all environments: what they stopped was not done whole."""
        of_all = (fault for simulation in self.simulations for fault in simulation.world.faults)
        return list({str(fault): fault for fault in of_all}.values())

    @property
    def files(self) -> list[str]:
        """The files that were read, as shown."""
        return [file.path for file in self._source.files()]

    def source_lines(self, file: str) -> list[str]:
        """Return the lines of a file for snippets; none when it cannot be read any more."""
        return self._source.text(file)

    def findings(
        self, select: set[str] | None = None, *, spent: dict[str, float] | None = None, last: bool = False
    ) -> list[Finding]:
        """Return all findings by file and place; the same finding of several environments once, with their names and
        what it rests on in the first of them.

        Args:
            select: the ids of the rules that run; None for all that are on by default.
            spent: takes the seconds that each rule took, over all environments.
            last: whether hardly anything is asked of an environment once it is judged: what was looked up is given
                back before the next one is.
        """
        from policylint.checks import run

        if last:
            forget_valid()
        folded: dict[Finding, tuple[Finding, list[str]]] = {}
        for simulation in (*self.simulations, *self._beside):
            for finding in run(simulation, select=select, spent=spent):
                folded.setdefault(finding._replace(ground=""), (finding, []))[1].append(simulation.world.name)
            if last:
                simulation.give_back()
        named = [finding._replace(environments=tuple(sorted(set(names)))) for finding, names in folded.values()]
        if self.alternatives:
            named = self._of_alternatives(named)
        return sorted(named, key=finding_order)

    def _of_alternatives(self, findings: list[Finding]) -> list[Finding]:
        """Return findings, those as unknown that only some of the alternatives have which share the file: for which of
        them it is meant, nothing says."""
        having: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for finding in findings:
            having[_place(finding)].update(finding.environments)
        judged = []
        worlds = [simulation.world for simulation in (*self.simulations, *self._beside)]
        for finding in findings:
            having_file = [world for world in worlds if finding.location.file in world.files]
            concerned = having_file or [world for world in worlds if {*finding.resources[:1]} & world.resources.keys()]
            sharing: dict[str, set[str]] = defaultdict(set)
            for world in concerned:  # a patch is in the file of no object
                sharing[world.alternative_of or world.name].add(world.name)
            # What all of them stand on is no alternative itself, where it is an environment as well.
            told = (names - {of} or names for of, names in sharing.items())
            if sharing and not any(names <= having[_place(finding)] for names in told):
                finding = finding._replace(severity="note", confidence="unknown", ground=_OTHERWISE)
            judged.append(finding)
        return judged

    def scopes(self) -> dict[str, list[WorldScope]]:
        """Return what concerns the scope in each environment, by name; nothing where everything does."""
        if self.scope is None:
            return {}
        worlds = (simulation.world for simulation in self.simulations)
        return {world.name: [self.scope.of(world)] for world in worlds}

    def has_part(self, scope: ReportScope) -> bool:
        """Tell whether anything in an environment concerns a scope."""
        return any(scope.of(simulation.world).has_part() for simulation in self.simulations)

    def joined(self, apart: Workspace) -> Workspace:
        """Return the environments of this workspace beside those of one of the same source, in which nothing is out of
        scope."""
        names = {simulation.world.name for simulation in self.simulations}
        for simulation in apart.simulations:
            world = simulation.world
            while world.name in names:
                world.name = f"{world.name} alone"
            names.add(world.name)
        simulations = sorted((*self.simulations, *apart.simulations), key=lambda simulation: simulation.world.name)
        mentioning = self.mentioning | apart.mentioning
        coverage = self.coverage.plus(apart.coverage)
        kustomizations = (*self.kustomizations, *apart.kustomizations)
        return Workspace(self._source, simulations, coverage, mentioning, self.scope, self._beside, kustomizations)

    def with_simulations(self, simulations: Iterable[Simulation]) -> Workspace:
        """Return the same workspace with other states of its environments; those of others are left out."""
        names = {simulation.world.name for simulation in self.simulations}
        kept = [simulation for simulation in simulations if simulation.world.name in names]
        return Workspace(
            self._source, kept, self.coverage, self.mentioning, self.scope, kustomizations=self.kustomizations
        )


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.rule, *finding.location.sort_key()


def finding_order(finding: Finding) -> tuple[object, ...]:
    """Return a sort key: by file and place, then by rule and message."""
    return finding.location.sort_key(), finding.rule, finding.message


def open_workspace(
    paths: Sequence[str] = (),
    *,
    semantics: str = "gep-713",
    snapshot: str | None = None,
    dump: bytes | None = None,
    strict: bool = False,
    given: Assumptions = NOTHING_GIVEN,
    source: Source | None = None,
    env: Sequence[str] = (),
    render: str = "builtin",
    rendered: str = "",
    stated: Mapping[str, Sequence[str]] | None = None,
    shared_facts: SharedFacts | None = None,
    shared: Shared | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    alternatives: bool = True,
    leftovers: bool = True,
    undeployed: bool = False,
    scope: ReportScope | None = None,
    all_environments: bool = False,
    picking: ReportScope | None = None,
    edited: Edited = NOTHING_EDITED,
) -> Workspace:
    """Read, place and simulate what is below some paths.

    Args:
        paths: files, directories, or `-` for stdin; none means the current directory.
        semantics: the edition of the pattern for kinds that do not say (docs/design/interfaces.md).
        snapshot: a `kubectl get -o yaml` dump: real creation timestamps, and objects that are not in git.
        dump: its content, where that is not the one on disk.
        strict: parse every document, also those that no rule reads.
        given: what the configuration says of the world.
        source: where the files are, if not in the work tree below `paths`.
        env: only these environments, by name; none means all.
        stated: environments of the configuration: name → directories at which it begins.
        render: how to find out what is deployed where (RENDERERS); `off` takes the files as they are.
        rendered: the directory of charts that were rendered before; "" for none.
        shared_facts: what is known of contents from another workspace of the run.
        shared: what was read and rendered for another workspace, taken over where it is the same.
        settings: of controllers that stand in no manifest, by implementation and name (docs/implementations.md); they
            win over those of `given`.
        alternatives: whether plain directories that write the same objects are environments of their own.
        leftovers: whether what Flux or Argo CD leave over is arranged as if they were not there, where it is more.
        undeployed: whether files are taken as they are where nothing of what is to be checked is deployed.
        scope: what findings are to concern.
        all_environments: whether environments in which nothing concerns the scope are simulated as well.
        picking: in its place, of what is rendered, the scope in which an environment that is simulated has a part.
        edited: what a change touches, which is read whoever names it.

    Raises:
        UsageError: a path is not there, the snapshot cannot be read, a configured kind is none, or the edition, the
            environment or the way to render is unknown.
    """
    if render not in RENDERERS:
        raise UsageError(f"unknown renderer {render!r} (known: {', '.join(RENDERERS)})")
    if semantics not in SEMANTICS:
        raise UsageError(f"unknown semantics {semantics!r} (known: {', '.join(SEMANTICS)})")
    if settings:
        given = given._replace(settings={**given.settings, **settings})
    try:
        source = source or open_source(list(paths) or ["."], exclude=given.excluded or ())
    except SourceError as error:
        raise UsageError(str(error)) from error
    groups = known_groups() | given.groups()
    read_set = ReadSet(given.kinds, edited)
    loaded = load(
        source, groups, everything=strict, shared_facts=shared_facts, read_set=read_set, rendered=render != "off"
    )
    cluster_scoped = loaded.cluster_scoped | cluster_scoped_kinds(loaded.documents)
    definitions = Definitions(source, loaded)
    others = languages(source, loaded.skipped)
    templates = Templates(source, charts=render != "helm")
    scripts = cache(partial(_scripts, source))
    pods = PodsElsewhere(
        source,
        charts=render != "helm",
        groups=partial(_third_parties, loaded),
        started=cache(partial(_started, scripts)),
        unread=loaded.unread,
    )
    tree = ReadTree(
        *(source, loaded, definitions, LeftUnread(loaded.unread, definitions.read), groups, cluster_scoped, given),
        *(semantics, snapshot, dump, shared, others, templates, pods),
        installed=cache(partial(_installed, scripts)),
        by_hand=cache(partial(_charts, scripts)),
        scripts=scripts,
        relative=cache(lambda: {file.path: file.relative for file in loaded.files}),
        kustomizations=naming(loaded.documents, loaded.files) if loaded.places else (),
    )
    budget, faults = Budget(len(loaded.documents)), list(loaded.faults)
    picked = None if all_environments else scope
    simulations = (
        None
        if render == "off"
        else tree.rendered(
            *(env, stated, render, budget, faults, picking or picked, rendered),
            alternatives=alternatives,
            leftovers=leftovers,
        )
    )
    beside: list[Simulation] = []
    if simulations is None:
        written = tree.as_written(env, faults, alternatives=alternatives, render=render, cut=budget.cut)
        simulations = [simulation for simulation in written if not picked or picked.of(simulation.world).has_part()]
        beside = [simulation for simulation in written if simulation not in simulations]
    coverage = _coverage(loaded, simulations, others, cut_off=budget.cut is not None)
    if (
        undeployed
        and not (coverage.checked or env or stated or scope)
        and (lonely := _not_deployed(coverage, simulations))
    ):
        simulations = tree.as_written(
            (), faults, alternatives=alternatives, render="off", cut=budget.cut, not_seen=(lonely,)
        )
        coverage = _coverage(loaded, simulations, others, cut_off=budget.cut is not None)
    return Workspace(source, simulations, coverage, loaded.mentioning, scope, beside, tree.kustomizations)


def _not_deployed(coverage: Coverage, simulations: Sequence[Simulation]) -> str:
    """Return a sentence for the coverage line on what nothing deploys; "" where nothing is, where a build that fails is
    why, and where more than that is a way in: Ingresses, Services that are published."""
    from policylint.doors import entrances
    from policylint.render.stops import explains

    number = coverage.orphans
    if not number or any(explains(note) for simulation in simulations for note in simulation.world.notes):
        return ""
    if sum(1 for simulation in simulations for _ in entrances(simulation)) >= number:
        return ""
    what = "it" if number == 1 else "them"
    return f"what deploys {count(number, 'object')}: no Flux, Argo CD or kustomize root references {what}"


def _installed(scripts: Callable[[], Scripts]) -> Sequence[Custom]:
    """Return the releases that scripts and Terraform of a tree install, what these make themselves, what is written in
    values of such, and what its controllers may make."""
    from policylint.render.by_hand import installed
    from policylint.render.rights import may_make
    from policylint.render.terraform import made_by_terraform
    from policylint.render.values_files import may_be_put_out

    known = scripts()
    return [*installed(known), *made_by_terraform(known), *may_be_put_out(known), *may_make(known)]


def _charts(scripts: Callable[[], Scripts]) -> Sequence[tuple[str, str, str]]:
    """Return script, chart and version of what scripts of a tree install."""
    from policylint.render.by_hand import charts

    return list(charts(scripts()))


def _started(scripts: Callable[[], Scripts]) -> Sequence[tuple[str, Mapping[str, str]]]:
    """Return script and labels of the pods that scripts of a tree start."""
    from policylint.render.by_hand import started

    return list(started(scripts()))


def _scripts(source: Source) -> Scripts:
    """Return the scripts of a source."""
    from policylint.render.scripts import scripts_of

    return scripts_of(source)


def _third_parties(loaded: Loaded) -> frozenset[str]:
    """Return the API groups of the objects of a tree that are no part of Kubernetes."""
    groups = {document.api_version.rpartition("/")[0] for document in loaded.unread}
    groups.update(
        str(mapping(document.value).get("apiVersion", "")).rpartition("/")[0] for document in loaded.documents
    )
    return frozenset(group for group in groups if not group.endswith("k8s.io"))


def known_groups() -> frozenset[str]:
    """Return the API groups of the shipped catalog, without parsing it."""
    from policylint.catalog.kinds import shipped_groups

    return shipped_groups()


def _coverage(
    loaded: Loaded, simulations: Sequence[Simulation], other_languages: Mapping[str, int], *, cut_off: bool
) -> Coverage:
    locked = [f"{count(len(loaded.encrypted), 'encrypted file')}"] if loaded.encrypted else []
    return Coverage(
        files=len(loaded.files),
        documents=len(loaded.documents) + len(loaded.unread) + loaded.idle_documents,
        unread=len(loaded.unread),
        skipped=dict(sorted(loaded.skipped.items())),
        not_rendered=(*folded(line for simulation in simulations for line in simulation.world.not_rendered), *locked),
        resources=sum(len(simulation.world.resources) for simulation in simulations),
        policies=sum(len(simulation.policies) for simulation in simulations),
        routes=sum(len(simulation.topology.routes) for simulation in simulations),
        gateways=sum(len(simulation.topology.gateways) for simulation in simulations),
        network_policies=sum(len(simulation.world.of_kind(*kind)) for simulation in simulations for kind in EVALUATED),
        cluster_policies=sum(len(simulation.world.of_kind(*POLICY)) for simulation in simulations),
        cut_off=cut_off or any(map(_is_cut_off, simulations)),
        unseen=tuple(sorted({str(key) for simulation in simulations for key in simulation.topology.unseen})),
        unevaluated=_unevaluated(simulations),
        left_out=tuple(left_out(loaded, simulations, other_languages)),
        releases=_releases(simulations),
    )


def _is_cut_off(simulation: Simulation) -> bool:
    """Return whether something of an environment takes too much work, or is a chart that one side alone renders."""
    if simulation.cut or not simulation.world.notes:
        return bool(simulation.cut)
    from policylint.render.journal import LOST

    return any(note.code in (CUT_OFF, LOST) for note in simulation.world.notes)


def _releases(simulations: Sequence[Simulation]) -> tuple[str, ...]:
    """Return the releases by which environments are judged, with what says that they are in use."""
    if not any(simulation.catalog.releases or simulation.catalog.other_releases for simulation in simulations):
        return ()
    from policylint.workspace.releases import in_words

    return in_words(simulations)


def _unevaluated(simulations: Sequence[Simulation]) -> tuple[str, ...]:
    """Return the kinds that have no evaluator, with the number of objects: those that filters and annotations name, and
    policies of kinds that are known by their shape alone."""
    shaped = {key for simulation in simulations for key, state in simulation.policies.items() if state.is_of_shape}
    found = {
        (binding.wanted, binding.form)
        for simulation in simulations
        for binding in simulation.unevaluated
        if binding.resolution.found and binding.form != "target" and binding.wanted not in shaped
        if not binding.is_read
    }
    numbers: dict[tuple[str, str], int] = {}
    for wanted, form in sorted(found):
        numbers[wanted.kind, form] = numbers.get((wanted.kind, form), 0) + 1
    named = [f"{count(number, kind)} by {form}" for (kind, form), number in numbers.items()]
    unknown = Counter(key.kind for key in sorted(shaped))
    named += [f"{count(number, kind, f'{kind[:-1]}ies')} of an unknown kind" for kind, number in unknown.items()]
    return tuple(named)


__all__ = ["RENDERERS", "SEMANTICS", "Coverage", "UsageError", "Workspace", "finding_order", "open_workspace"]
