"""A real PostgreSQL server of a test run's own: on loopback, in a folder of its own, gone when the run is.

with Server() as server:
    database = server.create_database("team")
    with psycopg.connect(server.url("postgres", database), password=server.password) as connection: ...
"""

import contextlib
import os
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, Self
from urllib.parse import quote, urlencode

import psutil
import psycopg
import trustme
from psycopg import sql

import postgres_programs as programs
from postgres_programs import NoServer
from tls_front import Front

HOST = "127.0.0.1"
SUPERUSER = "postgres"

#: Seconds in which a program of PostgreSQL's must have done its work on a machine that does other things too.
PATIENCE = 120

#: The folder of the data, in the server's own.
_DATA = "data"


class Server:
    """One server, and the folder that holds all of it. `tls`: clients must speak TLS, with a certificate for 127.0.0.1
    and localhost by the authority in the file `ca`. `statements`: log() then has each statement with its parameters,
    so that it shows what a client sent and the server did not keep (COPY's rows are not among them)."""

    def __init__(self, *, tls: bool = False, statements: bool = False) -> None:
        self.password = secrets.token_urlsafe(18)
        self.port = 0
        self._tls, self._statements = tls, statements
        self._front: Front | None = None
        self._inner_port = 0  # the server's, behind a front that speaks TLS in its stead
        self._programs = programs.find()
        self.root = _own_folder()
        self.ca = self.root / "ca.pem"
        self._certificate = self.root / "certificate.pem"
        self._data = self.root / _DATA
        self._log = self.root / "server.log"
        self._user = _server_user()
        # Ends the server and takes its folder away when this process is gone, however that came.
        self._guard = subprocess.Popen(
            [sys.executable, __file__, str(self.root)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Make the data folder where there is none yet, and start. Raises NoServer."""
        if not self._data.exists():
            self._make()
        self._control("start", "--wait", f"--log={self._log}")
        if self._tls and self._front is None and self.port != self._inner_port:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(self._certificate)
            self._front = Front(self.port, self._inner_port, context)

    def stop(self) -> None:
        """Stop as an office's server is stopped: connections are ended, what is committed is written."""
        if self.running():
            self._control("stop", "--wait", "--mode=fast")
        self._close_front()

    def kill(self) -> None:
        """End every process of the server at once, as a power failure does."""
        _end(self._data)
        # Where nobody collects dead processes, the next server would hold this one's for alive.
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def restart(self) -> None:
        """Start again on the same port, after kill() or as it runs."""
        self.stop()
        self.start()

    def processes(self) -> list[psutil.Process]:
        """Those of the server that live."""
        return _processes(self._data)

    def running(self) -> bool:
        return bool(self.processes())

    def close(self) -> None:
        """End the server and take its folder away."""
        with contextlib.suppress(NoServer):
            self.stop()
        _remove(self.root)
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait(PATIENCE)

    def url(self, user: str = SUPERUSER, database: str = "postgres", **parameters: str | Path) -> str:
        """The address without a password; `parameters` are libpq's: sslmode="verify-full", sslrootcert=server.ca."""
        words = f"?{urlencode({name: str(value) for name, value in parameters.items()})}" if parameters else ""
        return f"postgresql://{quote(user, safe='')}@{HOST}:{self.port}/{quote(database, safe='')}{words}"

    def connect(self, database: str = "postgres") -> "psycopg.Connection[Any]":
        """A connection of the superuser's; each statement is committed by itself."""
        return psycopg.connect(self._inner_url(database), password=self.password, autocommit=True)

    def create_database(self, name: str, owner: str = SUPERUSER) -> str:
        """The name, which may be any."""
        self._do("CREATE DATABASE {} OWNER {}", sql.Identifier(name), sql.Identifier(owner))
        return name

    def create_role(self, name: str, password: str) -> str:
        """The name; the role may log in and nothing else."""
        self._do("CREATE ROLE {} LOGIN PASSWORD {}", sql.Identifier(name), sql.Literal(password))
        return name

    def dump(self, database: str) -> bytes:
        """All that a database holds, as pg_dump's plain text, and behind it the contents of each bytea as they are."""
        command = [str(self._programs / "pg_dump"), "--no-password", f"--dbname={self._inner_url(database)}"]
        environment = _environment() | {"PGPASSWORD": self.password}
        done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=True)
        held = re.findall(rb"\\\\x((?:[0-9a-f]{2})+)", done.stdout)
        return b"\n".join([done.stdout, *(bytes.fromhex(one.decode("ascii")) for one in held)])

    def log(self) -> str:
        """What the server has written down since it was made."""
        return self._log.read_text("utf-8", errors="replace") if self._log.exists() else ""

    def _do(self, statement: LiteralString, *parts: sql.Composable) -> None:
        with self.connect() as connection:
            connection.execute(sql.SQL(statement).format(*parts))

    def _inner_url(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}@{HOST}:{self._inner_port}/{quote(database, safe='')}"

    def _make(self) -> None:
        """Make the data folder and its settings."""
        self._make_programs_reachable()
        secret = self.root / "password"
        secret.write_text(self.password, encoding="utf-8")
        self._hand_over(secret)
        words = ("--encoding=UTF8", "--locale=C", "--no-sync", "--auth=scram-sha-256")
        self._run("initdb", *words, f"--username={SUPERUSER}", f"--pwfile={secret}", f"--pgdata={self._data}")
        secret.unlink()
        self.port = self._inner_port = _free_port()
        lines = [*self._settings(), *(self._tls_settings() if self._tls else [])]
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.writelines(f"{line}\n" for line in lines)

    def _settings(self) -> list[str]:
        return [
            f"listen_addresses = '{HOST}'",
            f"port = {self._inner_port}",
            "unix_socket_directories = ''",
            "max_connections = 100",
            "fsync = off",  # what is lost then is lost with the machine, not with the process
            "lc_messages = 'C'",
            f"log_statement = '{'all' if self._statements else 'none'}'",
        ]

    def _tls_settings(self) -> list[str]:
        """Make the certificate; what the server must be told of it: nothing where a front speaks TLS in its stead."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.ca))
        issued = authority.issue_cert(HOST, "localhost")
        issued.private_key_and_cert_chain_pem.write_to_path(str(self._certificate))
        self._certificate.chmod(0o600)
        self._hand_over(self._certificate)
        if not programs.speaks_tls(self._programs):
            self.port = _free_port()
            return []
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"hostssl all all {HOST}/32 scram-sha-256\n", encoding="utf-8")
        place = str(self._certificate).replace("\\", "/")
        return ["ssl = on", f"ssl_cert_file = '{place}'", f"ssl_key_file = '{place}'"]

    def _make_programs_reachable(self) -> None:
        """A checkout may lie where the server's user may not go; then it gets a copy of the wheel's programs."""
        if self._user is None:
            return
        try:
            self._run("postgres", "--version")
        except PermissionError:
            self._programs = programs.copy(self._programs, self.root / "programs")

    def _control(self, verb: str, *words: str) -> None:
        self._run("pg_ctl", verb, *words, f"--timeout={PATIENCE // 2}", f"--pgdata={self._data}")

    def _run(self, program: str, *words: str) -> None:
        """Run one of PostgreSQL's programs as the server's user. Raises NoServer."""
        command = [str(self._programs / program), *words]
        # Not a pipe: on Windows the server inherits it, and its end would never come.
        with (self.root / "said").open("w+b") as said:
            try:
                code = subprocess.run(
                    command, cwd=self.root, env=_environment(), timeout=PATIENCE, stdin=subprocess.DEVNULL,
                    stdout=said, stderr=said, **(self._user or {}),
                ).returncode  # fmt: skip
            except subprocess.TimeoutExpired:
                code = None
            if code == 0:
                return
            said.seek(0)
            heard = said.read().decode("utf-8", errors="replace")
        how = f"found it running after {PATIENCE} s" if code is None else f"it ended with {code}"
        raise NoServer(f"expected {command[0]} {words[0]} to do its work, {how}: {heard}\nlog: {self.log()[-4000:]}")

    def _hand_over(self, path: Path) -> None:
        """Give a file to the server's user."""
        if self._user is not None:
            shutil.chown(path, self._user["user"], self._user["group"])

    def _close_front(self) -> None:
        if self._front is not None:
            self._front.close()
            self._front = None


class Database(NamedTuple):
    """A database with a role of its own that owns it. `url` is that one's, without the password."""

    server: Server
    name: str
    owner: str
    password: str

    @property
    def url(self) -> str:
        return self.server.url(self.owner, self.name)

    def dump(self) -> bytes:
        return self.server.dump(self.name)


@contextlib.contextmanager
def authority_of_somebody_else() -> Iterator[Path]:
    """A file with the certificate of an authority that no server of ours has its own from."""
    with trustme.CA().cert_pem.tempfile() as path:
        yield Path(path)


def _own_folder() -> Path:
    """A new folder that the server's user owns and nobody else may enter."""
    root = Path(tempfile.gettempdir()).resolve() / f"recall-postgres-{secrets.token_hex(6)}"
    # On Windows a mode of its own would shut out the reduced rights with which the server runs there.
    root.mkdir(mode=0o777 if os.name == "nt" else 0o700)
    user = _server_user()
    if user is not None:
        shutil.chown(root, user["user"], user["group"])
    return root


def _server_user() -> dict[str, Any] | None:
    """Whom the server runs as, as arguments for subprocess, where this process is root, which PostgreSQL refuses."""
    if os.name == "nt" or os.geteuid() != 0:
        return None
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _environment() -> dict[str, str]:
    """This process's, without what libpq or the server would take from it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


def _processes(data: Path) -> list[psutil.Process]:
    """The server's processes, orphans too: each works in the data folder."""
    found = psutil.process_iter(["cwd", "status"])
    return [one for one in found if one.info["cwd"] == str(data) and one.info["status"] != psutil.STATUS_ZOMBIE]


def _end(data: Path) -> None:
    """Kill the server's processes until there is none."""
    while processes := _processes(data):
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, timeout=0.2)


def _remove(root: Path) -> None:
    _end(root / _DATA)
    shutil.rmtree(root, ignore_errors=True)


def _guard(root: Path) -> None:
    """Wait for the end of the process that holds the other end of our stdin, then clear up behind it."""
    sys.stdin.buffer.read()
    _remove(root)


if __name__ == "__main__":
    _guard(Path(sys.argv[1]))
