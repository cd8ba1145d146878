"""Words of manifests that scripts replace before they apply the files: `sed "s#ISSUER#$ISSUER#" policy.yaml | kubectl`.

What such a word stands for is not in the file. It need not look like a placeholder: a tutorial replaces the name of a
backend by one that a command has just printed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from policylint.patterns import Pattern
from policylint.render.by_hand import places, starts
from policylint.render.scripts import Scripts, ScriptText

_COMMAND = Pattern(r"(?:s(?<=\bs)ed|p(?<=\bp)erl)\s[^\n]{0,1000}")
_EXPRESSION = Pattern(r"(?<![\w.-])s([/#|,@!~%:])((?:(?!\1)[^\n\\]|\\.){3,200})\1(?:(?!\1)[^\n\\]|\\.){0,300}\1")
"""`s/FROM/TO/`, with whatever separates the two."""
_FILE = Pattern(r"[\w./${}()*-]+\.(?:ya?ml|json)(?:\.\w+)?(?![\w.-])")
_ESCAPED = Pattern(r"\\(.)")
_OF_EXPRESSIONS = Pattern(r"[\[\]*+?()|^\\]|\$$|\.[^\w]|\.$")
"""What is left of an expression that is no plain text, once its escapes are read; a dot between letters is one."""
_LEAST = 3
_MOST = 500
"""Commands of a script that are looked at."""


def words_replaced(scripts: Scripts) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the words that scripts replace in files, or in those of a directory, each with the script, by path."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for script, text in scripts.naming(b"kubectl", b"oc "):
        start: tuple[str, ...] = ()
        for match in text.all(_COMMAND)[:_MOST]:
            words = list(_words(match[0]))
            if not words:
                continue
            start = start or starts(script, text)
            line = text.text.rfind("\n", 0, match.start()) + 1
            for file in _FILE.findall(_without_expressions(text, line, match.end())):
                for path in places(start, file):
                    for word in words:
                        found[path].setdefault(word, script)
    return {path: tuple(words.items()) for path, words in found.items()}


def _words(command: str) -> Iterator[str]:
    """Yield what the expressions of a command replace, where that is plain text."""
    for _, written in _EXPRESSION.findall(command):
        word = _ESCAPED.sub(lambda each: "\\" + each[1] if each[1].isalnum() else "\0", written)
        if _OF_EXPRESSIONS.search(word) is None:
            plain = _ESCAPED.sub(r"\1", written).strip()
            if len(plain) >= _LEAST:
                yield plain


def _without_expressions(text: ScriptText, start: int, end: int) -> str:
    return _EXPRESSION.sub(" ", text.text[start:end])
