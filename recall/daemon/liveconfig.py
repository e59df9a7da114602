"""config.toml as the daemon sees it: read again when the file changes, the last good settings while it is wrong."""

import os
from pathlib import Path

from recall.core.config import Config, load_config
from recall.core.errors import ConfigError


class LiveConfig:
    """`current()` costs one `stat`; `problem` is the sentence about a file that cannot be used, else empty."""

    def __init__(self, path: str) -> None:
        self.problem = ""
        self._path = path
        self._seen: tuple[int, int] | str | None = "never"
        self._config = Config()

    def current(self) -> Config:
        seen = self._look()
        if seen != self._seen:
            self._seen = seen
            try:
                self._config = load_config(Path(self._path))
                self.problem = ""
            except ConfigError as error:
                self.problem = str(error)
        return self._config

    def _look(self) -> tuple[int, int] | None:
        """What tells one version of the file from another; None without a file."""
        try:
            state = os.stat(self._path)  # noqa: PTH116
        except OSError:
            return None
        return state.st_size, state.st_mtime_ns
