"""Which plain files may well be for one cluster, where nothing says what is deployed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def are_together(relative: Callable[[], Mapping[str, str]], file: str, other: str) -> bool:
    """Return whether they are: they lie below the same directory of the root, or the first one is for all of the tree,
    right below the root or in a directory there (`crds/`).

    Args:
        relative: returns the paths of the files below the root, by the paths that findings show.
    """
    place, place_of_other = (relative().get(each, each).split("/") for each in (file, other))
    return len(place) <= len(("crds", "file")) or place[0] == place_of_other[0]
