"""Build hook of hatchling: a wheel carries the bundled model as recall/_models/, made first when it is missing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED = "multilingual-e5-small"


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds manifests, built folders and licences to a wheel. An editable install uses models/ as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is put together; `version` is "editable" or "standard"."""
        if version == "editable":
            return
        root = Path(self.root)
        recipe = root / "tools" / "build_e5_small.py"
        done = subprocess.run([sys.executable, str(recipe), "--no-proof"], stdout=sys.stderr, check=False)
        if done.returncode != 0:
            raise RuntimeError("The wheel needs the bundled model, and its recipe failed for the reason above.")
        models = root / "models"
        # Of the other models only the manifests: people fetch those by a command, if they want them.
        carried = [*sorted(models.glob("*.toml")), models / BUNDLED, *sorted(models.glob("LICENSE-*"))]
        for path in carried:
            build_data["force_include"][str(path)] = f"recall/_models/{path.name}"
