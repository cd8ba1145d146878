"""The hook in a real repository with the real pre-commit: what is judged is the commit, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from policylint.session.staged import is_relevant
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE

ROOT = Path(__file__).parents[2]
PRE_COMMIT = Path(sysconfig.get_path("scripts")) / "pre-commit"
SOUND = POLICY.replace("chekout", "checkout")
ATTACHED = f"{ROUTE}  rules: [{{backendRefs: [{{name: checkout, port: 80}}]}}]\n"

pytestmark = pytest.mark.skipif(not PRE_COMMIT.is_file(), reason="pre-commit is not installed")


class Repository:
    """A repository with the hook installed; pre-commit's own files go to a place beside it."""

    def __init__(self, place: Path) -> None:
        self.place = place / "repo"
        self.place.mkdir()
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT", "GITHUB"))
        }
        self.environment |= {
            "PRE_COMMIT_HOME": str(place / "home"),
            "HOME": str(place),
            "PYTHONPATH": str(ROOT),
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.com",
        }
        self.run("git", "init", "-q", "-b", "main")
        # As shipped, but run by this Python instead of installed from a clone, which would need the network.
        hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
        commands = [each["entry"].removeprefix("python ") for each in hooks]
        assert commands == [f"-I -m policylint {command} --hook" for command in ("lint", "diff", "diff --staged")]
        self.hooks = {
            each["id"]: {**each, "language": "system", "entry": f"{sys.executable} {command}"}
            for each, command in zip(hooks, commands, strict=True)
        }
        self.only("policylint", "policylint-diff")

    def only(self, *names: str) -> None:
        """Configure these hooks."""
        config = {"repos": [{"repo": "local", "hooks": [self.hooks[name] for name in names]}]}
        (self.place / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        self.run("git", "add", ".pre-commit-config.yaml")

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.place,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.place / f"{name}.yaml").write_text(text)

    def commit(self) -> subprocess.CompletedProcess[str]:
        return self.run("git", "commit", "-m", "x")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """All is well in it, and the hook is installed."""
    made = Repository(tmp_path)
    made.write(gateway=GATEWAY, route=ATTACHED, cors=SOUND, other=GATEWAY.replace("edge", "other"))
    made.run("git", "add", "-A")
    done = made.commit()
    assert done.returncode == 0, done.stderr
    installed = made.run(str(PRE_COMMIT), "install", "-t", "pre-commit", "-t", "pre-push")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return made


def test_the_shipped_file_is_valid() -> None:
    done = subprocess.run([PRE_COMMIT, "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], check=False)
    assert done.returncode == 0


def test_a_commit_that_breaks_nothing_passes(repository: Repository) -> None:
    repository.write(route=f"# more\n{ATTACHED}")
    repository.run("git", "add", "-A")
    done = repository.commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stderr


def test_a_commit_that_only_deletes_a_gateway_is_caught(repository: Repository) -> None:
    repository.run("git", "rm", "-q", "gateway.yaml")
    done = repository.commit()
    assert done.returncode == 1
    assert "GWP401" in done.stdout + done.stderr


def test_untracked_and_unstaged_files_are_not_judged(repository: Repository) -> None:
    repository.write(untracked=POLICY.replace("name: cors", "name: untracked"), route=f"# more\n{ATTACHED}")
    repository.run("git", "add", "route.yaml")
    repository.write(cors=POLICY)
    done = repository.commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert (repository.place / "cors.yaml").read_text() == POLICY


def test_what_is_staged_is_judged_though_the_work_tree_is_sound(repository: Repository) -> None:
    repository.write(cors=POLICY)
    repository.run("git", "add", "cors.yaml")
    repository.write(cors=SOUND)
    done = repository.commit()
    assert done.returncode == 1
    assert "GWP101" in done.stdout + done.stderr


def test_a_commit_is_judged_by_what_it_adds_and_its_lines_are_shown(repository: Repository) -> None:
    """`policylint-new` in the place of `policylint`, in a repository with an error of its own."""
    repository.write(cors=POLICY)
    repository.run("git", "add", "cors.yaml")
    assert repository.run("git", "commit", "-q", "--no-verify", "-m", "broken").returncode == 0
    repository.only("policylint-new")
    repository.write(more=SOUND.replace("name: cors", "name: more"))
    repository.run("git", "add", "more.yaml")
    done = repository.commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "shop/more (more.yaml:9)" in done.stderr, "shown, although it passes"
    repository.write(more=POLICY.replace("name: cors", "name: more"))
    repository.run("git", "add", "more.yaml")
    done = repository.commit()
    assert done.returncode == 1
    assert "1 new error" in done.stderr


def test_nothing_relevant_staged_is_nothing_to_say(repository: Repository) -> None:
    repository.write(cors=POLICY)
    repository.run("git", "add", "cors.yaml")
    assert repository.run("git", "commit", "-q", "--no-verify", "-m", "broken").returncode == 0
    (repository.place / "README.md").write_text("x\n")
    repository.run("git", "add", "README.md")
    assert repository.commit().returncode == 0, "the errors are not of this commit"


def test_all_files_and_a_push_are_judged(repository: Repository, tmp_path: Path) -> None:
    repository.run("git", "init", "-q", "--bare", str(tmp_path / "remote"))
    repository.run("git", "remote", "add", "origin", str(tmp_path / "remote"))
    assert repository.run("git", "push", "-q", "origin", "main").returncode == 0
    repository.write(cors=POLICY)
    repository.run("git", "add", "cors.yaml")
    repository.run("git", "commit", "-q", "--no-verify", "-m", "broken")
    done = repository.run(str(PRE_COMMIT), "run", "--all-files")
    assert done.returncode == 1 and "GWP101" in done.stdout
    repository.write(cors=SOUND)
    repository.run("git", "add", "cors.yaml")
    done = repository.run("git", "push", "origin", "main")
    assert done.returncode != 0, "what is pushed counts, not the index"
    assert "GWP101" in done.stdout + done.stderr


def test_a_first_push_has_nothing_to_be_compared_with_and_the_next_one_has(
    repository: Repository, tmp_path: Path
) -> None:
    """For the first push of a repository pre-commit names no revisions: the hook must not stand in its way."""
    repository.run("git", "init", "-q", "--bare", str(tmp_path / "remote"))
    repository.run("git", "remote", "add", "origin", str(tmp_path / "remote"))
    first = repository.run("git", "push", "origin", "main")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "policylint diff..." in first.stdout + first.stderr
    repository.write(
        cors=SOUND.replace("cors:", "jwt: {providers: [{name: a, remoteJWKS: {uri: https://id.example}}]}\n  cors:")
    )
    repository.run("git", "add", "cors.yaml")
    assert repository.commit().returncode == 0
    assert repository.run("git", "push", "origin", "main").returncode == 0, "what adds a login may be pushed"
    repository.write(cors=SOUND)
    repository.run("git", "add", "cors.yaml")
    assert repository.commit().returncode == 0, "by itself the state is sound"
    done = repository.run("git", "push", "origin", "main")
    assert done.returncode != 0
    assert "GWP302" in done.stdout + done.stderr


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: edge, namespace: shop}
spec: {chart: {spec: {chart: gateways, sourceRef: {kind: HelmRepository, name: us}}}}
"""


@pytest.fixture
def with_charts(repository: Repository) -> Repository:
    """A repository with a chart that is not rendered and may make anything in its namespace."""
    repository.write(release=RELEASE)
    repository.run("git", "add", "-A")
    assert repository.commit().returncode == 0
    return repository


def lint(repository: Repository, *arguments: str) -> str:
    done = repository.run(sys.executable, "-m", "policylint", "lint", "--hook", "-o", "concise", *arguments)
    return done.stdout


def test_what_a_commit_deletes_is_missing_although_charts_are_unseen(with_charts: Repository) -> None:
    with_charts.run("git", "rm", "-q", "gateway.yaml")
    said = lint(with_charts)
    assert "error[GWP401] HTTPRoute shop/checkout names parent Gateway shop/edge, which this commit removes" in said
    assert with_charts.commit().returncode == 1
    assert "GWP401" not in lint(with_charts, "--ignore", "GWP401")


def test_it_stays_uncertain_where_the_same_commit_changes_a_chart(with_charts: Repository) -> None:
    with_charts.run("git", "rm", "-q", "gateway.yaml")
    with_charts.write(release=f"# makes the Gateway from now on\n{RELEASE}")
    with_charts.run("git", "add", "-A")
    assert "GWP401" not in lint(with_charts)


def test_what_was_not_there_before_stays_uncertain(with_charts: Repository) -> None:
    with_charts.run("git", "rm", "-q", "other.yaml")
    with_charts.write(route=ATTACHED.replace("name: edge", "name: elsewhere"))
    with_charts.run("git", "add", "-A")
    assert "GWP401" not in lint(with_charts)


def test_what_a_push_deletes_is_missing(with_charts: Repository) -> None:
    with_charts.run("git", "rm", "-q", "gateway.yaml")
    with_charts.run("git", "commit", "-q", "--no-verify", "-m", "x")
    ends = [with_charts.run("git", "rev-parse", each).stdout.strip() for each in ("HEAD~1", "HEAD")]
    begin, end = ends
    done = with_charts.run(
        sys.executable, "-m", "policylint", "lint", "--hook", PRE_COMMIT_FROM_REF=begin, PRE_COMMIT_TO_REF=end
    )
    assert done.returncode == 1
    assert "which this push removes" in done.stdout.replace("\n  ", " ")


def test_outside_of_a_repository(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "policylint", "lint", "--hook"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("policylint: not a git repository: ")


def test_idle_runs_import_next_to_nothing(repository: Repository) -> None:
    (repository.place / "README.md").write_text("x\n")
    repository.run("git", "add", "README.md")
    code = (
        "import sys\nsys.argv = ['policylint', 'lint', '--hook']\nfrom policylint.cli import main\n"
        "try:\n main()\nexcept SystemExit as end:\n print(end.code, sorted(sys.modules))"
    )
    done = repository.run(sys.executable, "-c", code)
    code, _, modules = done.stdout.partition(" ")
    assert code == "0"
    assert not {"yaml", "json", "subprocess", "pathlib", "policylint.workspace"} & set(eval(modules))


@pytest.mark.parametrize(
    ("path", "relevant"),
    [
        ("a/b.yaml", True),
        ("a.YML", True),
        ("x.json", True),
        ("apps/Kustomization", True),
        ("pyproject.toml", True),
        ("README.md", False),
        ("yaml", False),
        ("main.go", False),
    ],
)
def test_what_is_relevant(path: str, relevant: bool) -> None:
    assert is_relevant(path) is relevant
