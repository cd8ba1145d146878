"""What is in `.git`: settings that start programs, objects and references that deceive, other places."""

from __future__ import annotations

import subprocess

from tests.diff.history import MAKE
from tests.hostile.repositories.hostile import Hostile, Place
from tests.hostile.test_action import POLICY


def _attributes(place: Place) -> None:
    """Of what is committed already: git itself would apply them to what is added."""
    text = "*.yaml diff=x filter=x merge=x ident text eol=crlf working-tree-encoding=UTF-16 export-subst\n"
    (place.tree / ".gitattributes").write_text(text)
    MAKE.git(place.tree, "add", ".gitattributes")
    MAKE.git(place.tree, "commit", "-q", "-m", "attributes")


def _hooks(place: Place) -> None:
    for hook in ("fsmonitor-watchman", "post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction"):
        (place.tree / ".git" / "hooks" / hook).symlink_to(place.trap)


def _alternates(place: Place) -> None:
    """The objects of HEAD lie in a repository outside, as an `alternates` file of the attacker would have it."""
    store = place.outside / "store"
    store.mkdir()
    info = place.tree / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{store}\n/dev/zero\n")
    (info / "http-alternates").write_text(f"http://{place.address}/objects\n")


def _replaced(place: Place) -> None:
    ids = [str(MAKE.git(place.tree, "rev-parse", f"{name}:policy.yaml")).strip() for name in ("HEAD", "HEAD^1")]
    (place.tree / ".git" / "info" / "grafts").write_text(f"{ids[0]}\n")
    MAKE.git(place.tree, "tag", "evil", ids[0])
    (place.tree / ".git" / "refs" / "replace").mkdir(parents=True)
    (place.tree / ".git" / "refs" / "replace" / ids[0]).write_text(f"{ids[0]}\n")


def _refs_like_options(place: Place) -> None:
    head = str(MAKE.git(place.tree, "rev-parse", "HEAD")).strip()
    for name in ("--output=pwned", "-O", "--upload-pack=TRAP", "HEAD", "HEAD^1..HEAD", "--all", "-c"):
        for folder in ("heads", "tags"):
            file = place.tree / ".git" / "refs" / folder / place.filled(name).replace("/", "")
            file.write_text(f"{head}\n")


def _partial(place: Place) -> None:
    """A promisor remote, and the blobs of the first commit gone."""
    for name in ("policy.yaml", "gateway.yaml"):
        blob = str(MAKE.git(place.tree, "rev-parse", f"HEAD^1:{name}")).strip()
        (place.tree / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def _submodule(place: Place) -> None:
    head = str(MAKE.git(place.tree, "rev-parse", "HEAD")).strip()
    MAKE.git(place.tree, "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    (place.tree / "module").mkdir()
    (place.tree / "module" / ".git").write_text(f"gitdir: {place.outside}\n")
    MAKE.git(place.tree, "commit", "-q", "-m", "module")


def _git_file_outside(place: Place) -> None:
    """A directory of the tree that says its repository is elsewhere."""
    inner = place.tree / "inner"
    inner.mkdir()
    (inner / ".git").write_text(f"gitdir: {place.outside}/.git\n")
    (inner / "policy.yaml").write_text(POLICY.replace("NAME", "edge"))


def _bare_inside(place: Place) -> None:
    inner = place.tree / "clusters"
    MAKE.git(place.tree, "init", "-q", "--bare", str(inner))
    with (inner / "config").open("a") as config:
        config.write(f"[core]\n\tbare = false\n\tworktree = {place.outside}\n\tfsmonitor = {place.trap}\n")
    (inner / "policy.yaml").write_text(POLICY.replace("NAME", "edge"))


def _index(place: Place) -> None:
    """An index that says nothing is new, and one with an unmerged path that leads out."""
    MAKE.git(place.tree, "update-index", "--assume-unchanged", "policy.yaml")
    blob = str(MAKE.git(place.tree, "rev-parse", "HEAD:policy.yaml")).strip()
    listing = "".join(f"100644 {blob} {stage}\tconflict.yaml\n" for stage in (1, 2, 3))
    command = ["git", "-C", str(place.tree), "update-index", "--index-info"]
    subprocess.run(command, input=listing, text=True, check=True, capture_output=True)


def _tree_with_ways_out(place: Place) -> None:
    """A commit whose tree has entries called `..` and `.git`, which git itself would not check out."""
    blob = str(MAKE.git(place.tree, "rev-parse", "HEAD:policy.yaml")).strip()
    top = str(MAKE.git(place.tree, "rev-parse", "HEAD^{tree}")).strip()
    names = ["..", ".git", "a\\..\\b.yaml"]
    entries = b"".join(f"100644 {name}".encode() + b"\0" + bytes.fromhex(blob) for name in sorted(names))
    entries += b"40000 x\0" + bytes.fromhex(top)
    command = ["git", "-C", str(place.tree), "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    made = subprocess.run(command, input=entries, check=True, capture_output=True).stdout.decode().strip()
    head = str(MAKE.git(place.tree, "commit-tree", made, "-p", "HEAD", "-m", "out")).strip()
    MAKE.git(place.tree, "update-ref", "HEAD", head)


PARTIAL = {
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "extensions.partialClone": "origin",
}
GIT = {
    "a file-system monitor": Hostile(settings={"core.fsmonitor": "TRAP", "core.fsmonitorHookVersion": "2"}),
    "hooks": Hostile(after=_hooks),
    "hooks elsewhere": Hostile({"hooks/post-index-change": "#!/bin/sh\nTRAP\n"}, settings={"core.hooksPath": "hooks"}),
    "an external diff": Hostile(after=_attributes, settings={"diff.external": "TRAP", "diff.x.command": "TRAP"}),
    "textconv": Hostile(after=_attributes, settings={"diff.x.textconv": "TRAP", "diff.x.cachetextconv": "true"}),
    "filters": Hostile(
        after=_attributes, settings={"filter.x.clean": "TRAP", "filter.x.smudge": "TRAP", "filter.x.required": "true"}
    ),
    "a filter process": Hostile(
        after=_attributes, settings={"filter.x.process": "TRAP", "merge.x.driver": "TRAP %O %A"}
    ),
    "a pager and an editor": Hostile(
        settings={"core.pager": "TRAP", "pager.diff": "TRAP", "pager.ls-files": "TRAP", "core.editor": "TRAP"}
    ),
    "a program for signatures": Hostile(
        settings={"gpg.program": "TRAP", "log.showSignature": "true", "gpg.ssh.program": "TRAP"}
    ),
    "aliases of commands": Hostile(
        settings={f"alias.{name}": "!TRAP" for name in ("ls-files", "cat-file", "diff-tree", "rev-parse", "status")}
    ),
    "includes": Hostile(
        {"evil.inc": "[core]\n\tfsmonitor = TRAP\n"},
        settings={"include.path": "TOP/evil.inc", "includeIf.gitdir:/.path": "TOP/evil.inc"},
    ),
    "attributes and excludes elsewhere": Hostile(
        settings={"core.attributesFile": "OUT/secret.yaml", "core.excludesFile": "OUT/secret.yaml"}
    ),
    "alternates": Hostile(after=_alternates, settings={"core.alternateRefsCommand": "TRAP"}),
    "objects replaced by themselves": Hostile(after=_replaced),
    "references called like options": Hostile(after=_refs_like_options),
    "a partial clone over ssh": Hostile(
        settings=PARTIAL | {"remote.origin.url": "ssh://ADDRESS/x", "core.sshCommand": "TRAP"}, after=_partial
    ),
    "a partial clone over ext": Hostile(
        settings=PARTIAL | {"remote.origin.url": "ext::TRAP %S", "protocol.ext.allow": "always"}, after=_partial
    ),
    "a partial clone over http": Hostile(
        settings=PARTIAL
        | {"remote.origin.url": "http://ADDRESS/x", "credential.helper": "!TRAP", "http.proxy": "http://ADDRESS"},
        after=_partial,
    ),
    "a partial clone from outside": Hostile(
        settings=PARTIAL | {"remote.origin.url": "file://OUT", "uploadpack.packObjectsHook": "TRAP"}, after=_partial
    ),
    "a submodule": Hostile(
        {".gitmodules": '[submodule "module"]\n\tpath = module\n\turl = ext::TRAP\n\tupdate = !TRAP\n'},
        after=_submodule,
        settings={"submodule.recurse": "true", "submodule.module.update": "!TRAP", "diff.submodule": "log"},
    ),
    "a work tree elsewhere": Hostile(settings={"core.worktree": "OUT"}),
    "a git file that leads out": Hostile(after=_git_file_outside),
    "a bare repository in the tree": Hostile(after=_bare_inside),
    "an index that deceives": Hostile(
        after=_index, settings={"core.splitIndex": "true", "core.untrackedCache": "true", "index.skipHash": "true"}
    ),
    "a tree that leads out": Hostile(after=_tree_with_ways_out),
    "an extension that git does not know": Hostile(
        settings={"core.repositoryformatversion": "1", "extensions.evil": "true"}
    ),
    "variables of git": Hostile(
        environment={
            "GIT_EXTERNAL_DIFF": "TRAP",
            "GIT_PAGER": "TRAP",
            "GIT_SSH_COMMAND": "TRAP",
            "GIT_ASKPASS": "TRAP",
            "GIT_EXEC_PATH": "TOP",
            "GIT_PROXY_COMMAND": "TRAP",
            "GIT_TEMPLATE_DIR": "TOP",
            "GIT_TRACE": "OUT/trace",
            "GIT_ATTR_SOURCE": "HEAD",
            "GIT_EDITOR": "TRAP",
            "PAGER": "TRAP",
            "SSH_ASKPASS": "TRAP",
            "BROWSER": "TRAP",
        }
    ),
}
