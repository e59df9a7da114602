"""What keeps an agent from running any hook at all, in its own settings file or in Codex' config.toml."""

from recall.core.errors import RecallError
from recall.setup import codex
from recall.setup.places import HookFile
from recall.setup.registration import read_settings
from recall.setup.settings import hooks_disabled


def switched_off(file: HookFile) -> str:
    """The switch and the file that it stands in, in words; empty where nothing switches hooks off, or where that
    cannot be told."""
    names, value = file.agent.switch
    try:
        if file.agent is not codex.CODEX:
            off = hooks_disabled(read_settings(file.path) or b"", file.agent)
            return f"{'.'.join(names)} is {value} in {file.path}" if off else ""
        config = codex.config_of(file.path)
        switch = codex.switched_off(config)
        return f"{switch} is false in {config}" if switch else ""
    except RecallError:
        return ""


def unreadable(file: HookFile) -> str:
    """Why an agent cannot read a file that it needs besides the one that recall writes; empty where it can."""
    if file.agent is codex.CODEX:
        try:
            codex.read_config(codex.config_of(file.path))
        except RecallError as error:
            return str(error)
    return ""
