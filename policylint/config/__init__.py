"""The configuration: which file counts, its settings, and the place of each (docs/design/conventions.md §8).

Finding out that there is none costs a few `stat` calls; parsers and the schema are imported when there is one.
"""

from __future__ import annotations

from policylint.config.discovery import ConfigError, discover, discover_among
from policylint.config.settings import PROGRAMS, EnvironmentSettings, Ignore, Settings

__all__ = ["PROGRAMS", "ConfigError", "EnvironmentSettings", "Ignore", "Settings", "discover", "discover_among", "load"]


def load(file: str, data: bytes | None = None) -> Settings:
    """Return the settings of a configuration file; `data` is its content where that is not on disk.

    Raises:
        ConfigError: it cannot be read, or holds what schemas/config.json does not allow; the message names the place.
    """
    from policylint.config.loading import load as load_file

    return load_file(file, data)
