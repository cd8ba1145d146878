"""What must not leave: credentials in any text, and in excerpts the values of Secrets.

Reports are read by more people than manifests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_BETWEEN: Final = r"(?:\s|\\[nr]|\d+ \|)*"
"""Between the lines of a key: as it stands, as JSON writes it, in an excerpt with numbers."""
_BASE64: Final = "[A-Za-z0-9+/=]"
_PRIVATE_KEY: Final = (
    rf"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:{_BETWEEN}{_BASE64}{{16,}})*"
    rf"(?:{_BETWEEN}{_BASE64}{{1,15}}(?={_BETWEEN}-----|…))?(?:{_BETWEEN}-----END [A-Z ]*PRIVATE KEY-----)?"
)
_USER_INFO: Final = r"""://([^\s/:@"'`]*):[^\s/@"'`]+(?=@|…)"""
_JWT: Final = r"e(?<=\be)yJ[\w-]{8,}\.[\w-]*(?:\.[\w-]*)?"
_HASH: Final = r"\$(?:apr1|2[aby]|5|6|y)\$[./$A-Za-z0-9]{8,}"
_SHA: Final = rf"\{{S?SHA\}}{_BASE64}{{16,}}"
_GITHUB: Final = r"g(?<=\bg)(?:h[oprsu]|ithub_pat)_\w{20,}"
_OF_GITHUB: Final = ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_")
_TOKEN: Final = r"[\w.~+/=-]{12,}"
_AUTHORIZATION: Final = rf"([Bb](?:earer|asic) ){_TOKEN}(?:(?:(?<=[Bb]earer)|(?<=[Bb]asic)) {_TOKEN})*"
"""Private keys, passwords in addresses and of htpasswd, tokens. As text: most runs never compile them. Each begins with
a letter or a few: tried at every letter of a long report, the last one alone took 13 ms."""

_KIND: Final = r"""(?m)(?:^|[\s{,])["']?kind["']?\s*:\s*["']?([A-Z]\w*)["']?\s*(?=$|[#,}\n])"""
_DATA: Final = r"""(?:^|[\s{,"'-])(?:data|stringData|binaryData)["']?\s*:"""
_NAMED: Final = (
    r"""(?i)(?:^|[\s{,"'-])(?:[\w.-]{0,60}(?:password|passwd|secret[_-]?key|private[_-]?key|api[_-]?key|token|client[_-]?secret)"""
    r"""|literals|sops)["']?\s*:(?=\s)"""
)
_KEY: Final = r"""\s*(?:- )?(?:"[^"]*"|'[^']*'|[^\s:#"'{\[][^:]*)\s*:(?=\s|$)"""


def masked(text: str) -> str:
    """Return the text with `…` for what is unmistakably a credential; of an address the user stays."""
    if "PRIVATE KEY" in text:
        text = re.sub(_PRIVATE_KEY, "…", text)
    if "://" in text and ("@" in text or "…" in text):
        text = re.sub(_USER_INFO, r"://\1:…", text)
    if "eyJ" in text:
        text = re.sub(_JWT, "…", text)
    if "$" in text:
        text = re.sub(_HASH, "…", text)
    if "SHA}" in text:
        text = re.sub(_SHA, "…", text)
    if any(start in text for start in _OF_GITHUB):
        text = re.sub(_GITHUB, "…", text)
    if "earer " in text or "asic " in text:
        text = re.sub(_AUTHORIZATION, r"\1…", text)
    return text


def without_secrets(lines: list[str]) -> list[str]:
    """Return the lines of a file with `…` for the values of Secrets; keys stay, so that a place can be shown.

    Whatever stands behind or below `data:`, `stringData:` or `binaryData:` counts as a value, in all objects of a
    document that holds a Secret, or whose kind is not plain to see; in every document so does what stands behind or
    below a key such as `password:`.
    """
    starts = [number for number, text in enumerate(lines) if number == 0 or text.startswith("---")]
    kept: list[str] = []
    for start, end in pairwise([*starts, len(lines)]):
        document = lines[start:end]
        kinds = set(re.findall(_KIND, "\n".join(document)))
        hidden = not kinds or not kinds.isdisjoint({"Secret", "SecretList"})
        kept += _masked(document, hidden=hidden)
    return kept if "PRIVATE KEY" not in "".join(kept) else _without_keys(kept)


def _masked(document: list[str], *, hidden: bool) -> Iterator[str]:
    """Yield the lines of a document without the values of keys such as `password:`; `hidden`, of `data:`, too."""
    below: int | None = None
    flow = next((text for text in document if text.strip("- ")), "").lstrip("- ")[:1] in ("{", "[")
    for text in document:
        indent = len(text) - len(text.lstrip(" "))
        if below is not None and (indent > below or not text.strip() or (indent == below and text.lstrip()[:1] == "-")):
            key = re.match(_KEY, text)
            yield f"{key[0]} …" if key else f"{text[:indent]}…" if text.strip() else text
            continue
        found = (re.search(_DATA, text) if hidden else None) or re.search(_NAMED, text)
        below = None if found is None else -1 if flow else indent
        yield f"{text[: found.end()]} …" if found and text[found.end() :].strip() else masked(text)


def _without_keys(lines: list[str]) -> list[str]:
    """Return lines without those of private keys."""
    kept, inside = [], False
    for text in lines:
        inside = inside or ("-----BEGIN " in text and "PRIVATE KEY-----" in text)
        kept.append(f"{text[: len(text) - len(text.lstrip())]}…" if inside else text)
        inside = inside and "-----END " not in text
    return kept
