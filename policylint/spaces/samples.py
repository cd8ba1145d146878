"""What can be said of regular expressions without automata: a text that one matches, and how all its texts begin."""

from __future__ import annotations

import re
from typing import Final

from policylint.patterns import Pattern

_PART: Final = Pattern(
    r"""(?:
        \(\?[a-zA-Z]+\)                             # flags
      | (?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])
      | (?P<escaped>\\.)
      | (?P<any>\.)
      | (?P<anchor>[\^$])
      | (?P<open>\((?:\?:|\?P?<\w+>)?)
      | (?P<close>\))
      | (?P<or>\|)
      | (?P<literal>[^\\\[\](){}.*+?^$|])
    )
    (?P<times>[*+?]\??|\{(?P<least>\d{1,3})[^}]*\})?""",
    re.VERBOSE | re.DOTALL,
)
_CLASSES: Final = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "n": "\n", "t": "\t", "b": "", "B": ""}
_LONGEST: Final = 1_000
_DEEPEST: Final = 8
"""Groups in one another that are looked into."""
_ANYTHING: Final = "-other"
"""What stands for `.*` in a longer sample: a text as nobody else writes it."""
FOLDED: Final = "(?i)"
"""How expressions begin that ignore case."""


def samples(pattern: str) -> tuple[str, ...]:
    """Return texts that an expression may match: `/admin` is not all that `/admin.*` matches."""
    return tuple(dict.fromkeys((sample(pattern), sample(pattern, longer=True))))


def sample(pattern: str, *, longer: bool = False) -> str:
    """Return a text that an expression may match: of alternatives the first one, of repetitions the fewest.

    Args:
        longer: of repetitions at least one instead.
    """
    texts: list[list[str]] = [[""]]  # the text of each open group; of its alternatives only the first one grows
    position = 0
    if len(pattern) > _LONGEST:
        return ""
    while part := _PART.match(pattern, position):
        position = part.end()
        if part["open"]:
            texts.append([""])
            continue
        if part["or"]:
            texts[-1].append("")
            continue
        if part["close"]:
            piece = texts.pop()[0] if len(texts) > 1 else ""
        else:
            piece = _ANYTHING if longer and part["any"] and (part["times"] or "?")[0] in "*+" else _text_of(part)
        optional = (part["times"] or "+")[0] in "*?" and not longer
        times = int(part["least"]) if part["least"] else 0 if optional else 1
        texts[-1][-1] = (texts[-1][-1] + piece * times)[:_LONGEST]
    return texts[0][0]


def literal_start(pattern: str) -> str:
    """Return with what every match of an expression begins, as far as it is written out, in groups as well."""
    if "|" in pattern or "(?" in pattern:
        return ""
    start, position, depth = "", 0, 0
    while part := _PART.match(pattern, position):
        position = part.end()
        if part["open"] and depth < _DEEPEST and not _is_optional(pattern, position):
            depth += 1
            continue
        if part["close"] and depth and not part["times"]:
            depth -= 1
            continue
        piece = part["literal"] or (part["escaped"] and not part["escaped"][1].isalnum() and part["escaped"][1]) or ""
        if (depth or not part["anchor"]) and (not piece or part["times"]):
            break
        start += piece
    return start


def _is_optional(pattern: str, position: int) -> bool:
    """Return whether a group that is open at a place of an expression may be left out, or is repeated."""
    depth = 1
    while depth and (part := _PART.match(pattern, position)):
        position = part.end()
        depth += 1 if part["open"] else -1 if part["close"] else 0
        if not depth:
            return part["times"] is not None
    return True


def literal(pattern: str) -> str | None:
    """Return the one text that an expression matches, None where it may match others, too."""
    bare = pattern.removeprefix("^").removesuffix("$")
    text = literal_start(bare)
    return text if _is_plain(bare) else None


def takes_all_below(pattern: str, beginning: str) -> bool:
    """Return whether an expression certainly matches every text with a beginning: `/shop/.*` those with `/shop/`."""
    start, bare = literal_start(pattern), pattern.removeprefix("^").removesuffix("$")
    rest = next((rest for rest in (".*", ".+") if bare.endswith(rest)), None)
    if rest is None or "$" in bare or not beginning.startswith(start) or (rest == ".+" and beginning == start):
        return False
    return literal_start(bare.removesuffix(rest)) == start == sample(bare.removesuffix(rest))


def unfolded(pattern: str) -> str:
    """Return an expression that ignores case as one for texts in lower case; any other one as it is."""
    return pattern.removeprefix(FOLDED).lower() if pattern.startswith(FOLDED) else pattern


def _is_plain(pattern: str) -> bool:
    """Return whether an expression is made of characters that stand for themselves."""
    position = 0
    while part := _PART.match(pattern, position):
        escaped = part["escaped"] and not part["escaped"][1].isalnum()
        if part["times"] or not (part["literal"] or escaped):
            return False
        position = part.end()
    return position == len(pattern)


def _text_of(part: re.Match[str]) -> str:
    if part["literal"]:
        return part["literal"]
    if part["any"]:
        return "a"
    if part["escaped"]:
        return _CLASSES.get(part["escaped"][1], part["escaped"][1])
    if not part["class"]:
        return ""
    inner = part["class"][1:-1]
    if inner.startswith("^"):
        return next((character for character in "a0-_z" if character not in inner), "a")
    first = inner[:2] if inner.startswith("\\") else inner[:1]
    return _CLASSES.get(first[1], first[1]) if len(first) == 2 else first
