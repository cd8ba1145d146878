"""Repositories as an attacker would make them, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.hostile.repositories.bombs import BOMBS
from tests.hostile.repositories.configuration import CONFIGURATION
from tests.hostile.repositories.fields import NAMING
from tests.hostile.repositories.files import LINKS
from tests.hostile.repositories.git import GIT
from tests.hostile.repositories.hostile import SECRET, Hostile, Place
from tests.hostile.repositories.python import PYTHON

REPOSITORIES: Mapping[str, Hostile] = {**GIT, **PYTHON, **LINKS, **NAMING, **CONFIGURATION, **BOMBS}

__all__ = ["REPOSITORIES", "SECRET", "Hostile", "Place"]
