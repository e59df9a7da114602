"""Every error that reaches a person: one sentence with what was expected, what was found and what to do.

RecallError                 exit 1
|-- UsageError              exit 2   the command line or its values are wrong
|-- ConfigError             exit 1   config.toml cannot be read or holds a wrong value
|-- SettingsError           exit 1   Claude Code's settings.json cannot be edited safely
|-- InstallError            exit 1   a version of the packed program cannot be installed
|   `-- ProgramDamaged      exit 4   its files are not those that were packed
|-- SourceError             exit 1   a record file cannot be read (collected as "skipped", never fatal)
|-- ModelError              exit 1   the model is missing, damaged or does not fit its manifest
|-- StoreError              exit 1   the index file
|   |-- StoreBusy                    another process is writing
|   |-- StoreDamaged                 not a database, or its pages are broken
|   `-- StoreTooNew                  written by a newer recall
|-- ShareError              exit 1   sharing with the machines of a team
|   |-- ShareUnreachable             the server does not answer
|   `-- ShareBusy                    another process is exchanging records at this moment
`-- DaemonError             exit 1   the daemon
    |-- DaemonUnreachable            nobody answers
    `-- DaemonRefused                it answered with an error or `busy`
        `-- DaemonMute               it takes a question and gives no answer
"""

import errno

from recall.wire.files import NotAFile


class RecallError(Exception):
    """Base of all errors meant for the person. `str(error)` is the whole sentence."""

    exit_code = 1


class UsageError(RecallError):
    """The command line or one of its values is wrong."""

    exit_code = 2


class ConfigError(RecallError):
    """config.toml cannot be read or holds a wrong value."""


class SettingsError(RecallError):
    """settings.json of Claude Code is not what we can edit without risk."""


class InstallError(RecallError):
    """A version of the packed program cannot be installed, changed or removed."""


class ProgramDamaged(InstallError):
    """The files of a program folder are not those that were packed."""

    exit_code = 4  # tells the carrier to unpack it again


class SourceError(RecallError):
    """A record file cannot be read; the sentence is the reason listed under `skipped`."""


class MaskingError(RecallError):
    """A text could not be searched for secrets and must not be used."""


class ModelError(RecallError):
    """The model is missing, damaged or does not fit its manifest."""


class StoreError(RecallError):
    """The index file cannot be used."""


class StoreBusy(StoreError):
    """Another process is writing to the index."""


class StoreDamaged(StoreError):
    """The index file is not a database or its pages are broken."""


class StoreTooNew(StoreError):
    """The index was written by a newer recall."""


class ShareError(RecallError):
    """Records cannot be shared with the machines of the team."""


class ShareUnreachable(ShareError):
    """The server of the team does not answer; what is here works on."""


class ShareBusy(ShareError):
    """Another process is exchanging records with the server."""


class DaemonError(RecallError):
    """Something between a command and the daemon went wrong."""


class DaemonUnreachable(DaemonError):
    """No daemon answers."""


class DaemonRefused(DaemonError):
    """The daemon answered, with an error or because it is busy."""


class DaemonMute(DaemonRefused):
    """Somebody takes the question and gives no answer in time."""


def system_error(error: OSError) -> str:
    """The sentence for a refusal of the system that nobody closer to it has put into words."""
    if error.errno == errno.ENOSPC:
        return "the disk is full; make room and try again"
    if isinstance(error, NotAFile):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}; check that it is there and yours"
