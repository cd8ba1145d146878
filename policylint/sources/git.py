"""Objects of a git repository by subprocess: revisions, trees, the index, and blobs through one `cat-file --batch`.

Never `git diff` text, never the network: a partial clone is not asked to fetch what it lacks
(docs/design/performance.md §3).
"""

# Paths stay strings with os.path here, as in the other sources.

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize, ref

from policylint.errors import AbsentError, UsageError
from policylint.namedtuple import NamedTuple
from policylint.outside import git_command, git_environment, git_root
from policylint.sources.listing import GIT_TIMEOUT, refusal
from policylint.sources.regular_file import too_large
from policylint.sources.source import MAX_BYTES, SourceError

if TYPE_CHECKING:
    from subprocess import Popen

LFS_POINTER: Final = "lfs-pointer"
_POINTER: Final = b"version https://git-lfs.github.com/spec/v1\n"
_REFETCH: Final = (
    "is not in this clone (a partial one?), and policylint fetches nothing: run `git fetch --refetch --no-filter`; "
    "in CI, check out with fetch-depth: 0 and without a filter"
)
_EMPTY_TREES: Final = {40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}

FILE, LINK, DIRECTORY = "100", "120000", "040000"
"""Modes of entries beside SUBMODULE: regular files have two, executable or not."""


_MOST_WAITING: Final = 8
"""Repositories whose `cat-file` waits for more: whoever asks many of them, as an editor does, runs out of files."""
_WAITING: Final[list[ref[Repository]]] = []
"""Those, the longest waiting first."""


class RevisionError(UsageError):
    """A revision, or the repository itself, that cannot be read; the message is for users."""


class TreeEntry(NamedTuple):
    """One path of a tree or of the index."""

    mode: str
    oid: str
    path: str


_PATH: Final = itemgetter(2)
"""Of an entry."""


class Repository:
    """A repository, seen from a directory in it: a clone, a worktree, bare or shallow.

    Attributes:
        top: the top of the work tree; None in a bare repository.
    """

    def __init__(self, directory: str = ".") -> None:
        self._directory = directory
        self._resolved: dict[str, str | None] = {}
        self.top = git_root(directory)
        answer = self._git("rev-parse", "--is-bare-repository", "--is-shallow-repository")
        if answer is None:
            raise RevisionError(refusal(directory) or f"not a git repository: {os.path.realpath(directory)}")
        bare, shallow = answer.decode().split()
        self.shallow = shallow == "true"
        if bare == "true":
            self.top = None
        self._blobs: dict[str, bytes | None] = {}
        self._wanted: dict[str, None] = {}
        self._entries: dict[str, list[TreeEntry]] = {}
        self._index: list[TreeEntry] | None = None
        self._records: dict[str, TreeEntry] = {}
        self._classifications: dict[Hashable, dict[TreeEntry, Any]] = {}
        self._asked: Popen[bytes] | None = None

    # Revisions.

    def tree(self, revision: str) -> str:
        """Return what `ls-tree` takes for a revision; all zeros (no branch before a push) stand for an empty tree.

        Raises:
            RevisionError: unknown revision; the message says what to do about it in CI.
        """
        if revision and not revision.strip("0") and len(revision) >= 40:
            return self._empty_tree()
        oid = self._resolve(revision, "commit") or self._resolve(revision, "tree")
        if oid is None:
            raise RevisionError(self._unknown(revision))
        return oid

    def commit(self, revision: str) -> str | None:
        """Return the id of a commit, None where a revision is none."""
        return self._resolve(revision, "commit")

    def knows(self, revision: str) -> bool:
        """Return whether a text names a revision (all zeros do)."""
        if len(revision) >= 40 and not revision.strip("0"):
            return True
        return (self._resolve(revision, "commit") or self._resolve(revision, "tree")) is not None

    def remote(self, name: str) -> str:
        """Return the address of a remote, "" where there is none of that name."""
        return (self._git("remote", "get-url", name) or b"").decode("utf-8", "replace").strip()

    def dated(self, commit: str) -> tuple[str, str]:
        """Return the short name of a commit and its day: `7fc0405`, `2026-11-23`."""
        answer = self._git("rev-list", "-1", "--format=%h %cs", "--end-of-options", commit) or b""
        short, _, day = answer.decode().partition("\n")[2].strip().partition(" ")
        return short, day

    def branch(self) -> str:
        """Return the branch that is checked out, "" where none is."""
        return (self._git("symbolic-ref", "--quiet", "--short", "HEAD") or b"").decode("utf-8", "replace").strip()

    def merge_base(self, one: str, other: str) -> str:
        """Return the id of the best common ancestor of two revisions.

        Raises:
            RevisionError: there is none, or one of them is unknown.
        """
        for revision in (one, other):
            if self._resolve(revision, "commit") is None:
                raise RevisionError(self._unknown(revision))
        answer = self._git("merge-base", "--end-of-options", one, other)
        if not answer:
            advice = " In CI set fetch-depth: 0." if self.shallow else ""
            raise RevisionError(f"{one!r} and {other!r} have no common ancestor here.{advice}")
        return answer.split()[0].decode()

    def resolve(self, revisions: Iterable[str]) -> None:
        """Resolve revisions with one start of git; where one is not plain or unknown, later calls do so one by one."""
        names = [f"{revision}^{{{kind}}}" for revision in revisions for kind in ("commit", "tree")]
        if any(not name[0].isalnum() for name in names):
            return
        answer = (self._git("rev-parse", *names, "--") or b"").decode().split()
        if len(answer) == len(names) + 1:
            self._resolved.update(zip(names, answer, strict=False))

    def _resolve(self, revision: str, kind: str) -> str | None:
        if not revision or revision.startswith(("-", "^")):
            return None
        name = f"{revision}^{{{kind}}}"
        if name not in self._resolved:
            answer = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", name)
            self._resolved[name] = answer.decode().split()[-1] if answer else None
        return self._resolved[name]

    def _empty_tree(self) -> str:
        answer = self._git("hash-object", "-t", "tree", "--stdin")
        return answer.decode().strip() if answer else _EMPTY_TREES[40]

    def _unknown(self, revision: str) -> str:
        """Return `cannot read revision 'main': unknown. In CI set fetch-depth: 2 (have: HEAD only).`"""
        said = f"cannot read revision {revision!r}: unknown."
        if self._resolve("HEAD", "commit") is None:
            return f"{said} The repository has no commit yet."
        if self.shallow:
            count = self._git("rev-list", "--count", "HEAD")
            have = int(count) if count else 1
            return f"{said} In CI set fetch-depth: 2, or 0 (have: {'HEAD only' if have == 1 else f'{have} commits'})."
        if self._resolve(f"origin/{revision}", "commit") is not None:
            return f"{said} Did you mean 'origin/{revision}'?"
        if near := self._like(revision):
            return f"{said} Did you mean {near!r}?"
        return f"{said} In CI set fetch-depth: 0." if os.environ.get("CI") else said

    def _like(self, revision: str) -> str:
        """Return the branch or tag that is called most like a revision, "" where none is."""
        from difflib import get_close_matches

        answer = (
            self._git("for-each-ref", "--format=%(refname:short)", "--count=5000", "refs/heads", "refs/tags") or b""
        )
        return next(iter(get_close_matches(revision, answer.decode("utf-8", "replace").split(), n=1)), "")

    # What is in them.

    def entries(self, tree: str) -> list[TreeEntry]:
        """Return all files, links and submodules of a tree, sorted by path.

        Raises:
            AbsentError: a directory was not fetched.
        """
        # Without the sizes: git would open every object, and a partial clone does not know them.
        known = self._entries.get(tree)
        if known is None:
            answer = self._git("ls-tree", "-r", "-z", "--full-tree", tree)
            if answer is None:
                raise AbsentError(f"a directory of {tree[:12]} {_REFETCH}")
            known = self._entries[tree] = sorted(_tree_entries(answer, self._records), key=_PATH)
        return known

    def entries_at(self, tree: str, paths: Iterable[str]) -> list[TreeEntry]:
        """Return the files and links that exist at some paths of a tree.

        Raises:
            AbsentError: a directory on the way was not fetched.
        """
        answer = self._git("ls-tree", "-z", "--full-tree", "--", tree, *paths)
        if answer is None:
            raise AbsentError(f"a directory of {tree[:12]} {_REFETCH}")
        return [entry for entry in _tree_entries(answer, {}) if entry.mode != DIRECTORY]

    def classifications(self, circumstances: Hashable) -> dict[TreeEntry, Any]:
        """Return the classifications of entries under some circumstances; to be filled in."""
        return self._classifications.setdefault(circumstances, {})

    def index(self) -> list[TreeEntry]:
        """Return what is staged; of a file with conflicts our side. It is read once, whatever is staged meanwhile."""
        if self._index is not None:
            return self._index
        answer = self._git("ls-files", "-s", "-z", "--full-name", at_top=True)
        if answer is None:
            raise RevisionError(f"git ls-files failed: {self._complaint('ls-files', '-s')}")
        self._index = sorted(_index_entries(answer), key=_PATH)
        return self._index

    def want(self, oids: Iterable[str]) -> None:
        """Announce blobs to read: all announced ones are fetched with the first that is read."""
        self._wanted.update(dict.fromkeys(oid for oid in oids if oid not in self._blobs))

    def blob(self, entry: TreeEntry, shown: str) -> bytes:
        """Return the content of a file.

        Raises:
            AbsentError: it was not fetched.
            SourceError: it is a pointer of Git LFS, or too large.
        """
        if entry.oid not in self._blobs:
            if self._wanted:
                self.want([entry.oid])
                self._fetch()
            else:
                self._blobs[entry.oid] = self._single(entry.oid)
        data = self._blobs.get(entry.oid)
        if data is None:
            raise AbsentError(f"the content of {shown} {_REFETCH}")
        if data.startswith(_POINTER):
            raise SourceError(LFS_POINTER, "a Git LFS pointer: the content is not in git", shown)
        if len(data) > MAX_BYTES:
            raise too_large(len(data), shown)
        return data

    def _fetch(self) -> None:
        oids = list(self._wanted)
        self._wanted = {}
        if not self._batch(oids):
            # An object that a partial clone lacks ends `cat-file`: ask for those alone that are here.
            here = self._local()
            self._batch([oid for oid in oids if oid not in self._blobs and oid in here])
        for oid in oids:
            self._blobs.setdefault(oid, None)

    def _single(self, oid: str) -> bytes | None:
        """Return one blob that nobody announced, from a `cat-file` that stays open for more."""
        if self._asked is None:
            import subprocess

            with suppress(OSError):
                self._asked = subprocess.Popen(
                    [*self._command(self._directory), "cat-file", "--batch"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=git_environment(),
                )  # fmt: skip
                finalize(self, _ended, self._asked)
                _WAITING.append(ref(self))
                while len(_WAITING) > _MOST_WAITING:
                    oldest = _WAITING.pop(0)()
                    if oldest is not None:
                        oldest._end()
        process = self._asked
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(f"{oid}\n".encode())
            process.stdin.flush()
            words = process.stdout.readline().split()
            if len(words) != 3:  # missing; where a partial clone lacks it, git may have ended, too
                return None
            length = int(words[2])
            data = process.stdout.read(length + 1)
        except OSError:
            return None
        finally:
            if process.poll() is not None:
                self._asked = None
        return data[:length] if len(data) > length else None

    def _end(self) -> None:
        """End the `cat-file` that waits; another one is started for the next blob that nobody announced."""
        if self._asked is not None:
            _ended(self._asked)
            self._asked = None

    def _batch(self, oids: list[str]) -> bool:
        """Read blobs; return False if git gave up on the way."""
        answer = self._git("cat-file", "--batch", "--buffer", stdin="".join(f"{oid}\n" for oid in oids), partly=True)
        here, size = 0, len(answer or b"")
        read = 0
        while answer is not None and here < size:
            end = answer.find(b"\n", here)
            if end < 0:
                break
            words = answer[here:end].split()
            here = end + 1
            read += 1
            if len(words) == 3:
                length = int(words[2])
                if here + length > size:
                    break
                self._blobs[words[0].decode()] = answer[here : here + length]
                here += length + 1
        return read == len(oids)

    def _local(self) -> frozenset[str]:
        answer = self._git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
        return frozenset((answer or b"").decode().split())

    # git itself.

    def _git(self, *arguments: str, stdin: str = "", partly: bool = False, at_top: bool = False) -> bytes | None:
        """Return what git prints; None if it fails (with `partly` what it printed until then)."""
        code, answer, _ = self._run(arguments, stdin, at_top)
        return answer if code == 0 or partly else None

    def _command(self, directory: str) -> list[str]:
        """Return the beginning of a git command.

        Raises:
            RevisionError: git is not installed.
        """
        command = git_command(directory)
        if command is None:
            raise RevisionError("git cannot be run: it is not installed")
        return command

    def _complaint(self, *arguments: str) -> str:
        return " ".join(self._run(arguments, "", False)[2].decode("utf-8", "replace").split())

    def _run(self, arguments: Iterable[str], stdin: str, at_top: bool) -> tuple[int, bytes, bytes]:
        import subprocess

        command = [*self._command(self.top if at_top and self.top is not None else self._directory), *arguments]
        room = _room()
        try:
            done = subprocess.run(
                command,
                input=stdin.encode(),
                stdout=subprocess.PIPE if room is None else room,
                stderr=subprocess.PIPE,
                timeout=GIT_TIMEOUT,
                check=False,
                env=git_environment(),
            )
            answer = done.stdout if room is None else _whole(room)
        except subprocess.TimeoutExpired as error:
            raise RevisionError(f"git gave no answer in {GIT_TIMEOUT:.0f} s") from error
        except OSError as error:
            raise RevisionError(f"git cannot be run: {error.strerror or error}") from error
        finally:
            if room is not None:
                os.close(room)
        return done.returncode, answer, done.stderr


def _room() -> int | None:
    """Return a file in memory for the output of git, which comes through a pipe in thousands of pieces; None where the
    system has no such files.
    """
    make = getattr(os, "memfd_create", None)
    try:
        return None if make is None else int(make("git"))
    except OSError:
        return None


def _whole(file: int) -> bytes:
    """Return all that was written to an open file."""
    os.lseek(file, 0, os.SEEK_SET)
    with open(file, "rb", buffering=0, closefd=False) as opened:
        return opened.read()


def _ended(process: Popen[bytes]) -> None:
    """End a `cat-file` that waits."""
    with suppress(OSError, ValueError):
        process.communicate(timeout=1)


def _tree_entries(answer: bytes, known: dict[str, TreeEntry]) -> Iterator[TreeEntry]:
    r"""Parse `100644 blob <oid>\\t<path>`, ended by NUL. Records that another tree has as well are `known`."""
    for record in os.fsdecode(answer).split("\0"):
        entry = known.get(record)
        if entry is None:
            about, tab, path = record.partition("\t")
            if not tab:
                continue
            mode, _, oid = about.split()
            entry = known[record] = TreeEntry(mode, oid, path)
        yield entry


def _index_entries(answer: bytes) -> Iterator[TreeEntry]:
    r"""Parse `100644 <oid> <stage>\\t<path>`, ended by NUL."""
    for record in answer.split(b"\0"):
        about, tab, path = record.partition(b"\t")
        if tab:
            mode, oid, stage = about.split()
            if stage in (b"0", b"2"):
                yield TreeEntry(mode.decode(), oid.decode(), os.fsdecode(path))
