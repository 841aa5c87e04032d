"""Run a command beside a PostgreSQL and a MariaDB that listen on the loopback interface alone.

`python tests/support/servers.py pytest tests/export` sets HORNBEAM_POSTGRES and HORNBEAM_MYSQL to their addresses, and
stops the servers at the end. They are those of Debian: `apt-get install postgresql mariadb-server`.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


def main(command: list[str]) -> int:
    """Start the servers, run the command and return its exit code."""
    with ExitStack() as stack:
        addresses = {
            "HORNBEAM_POSTGRES": stack.enter_context(postgres()),
            "HORNBEAM_MYSQL": stack.enter_context(mariadb()),
        }
        return subprocess.run(command, env=os.environ | addresses, check=False).returncode


@contextmanager
def postgres() -> Iterator[str]:
    with _folder("postgres") as folder:
        port, data = _free_port(), folder / "data"
        _run("postgres", _program("initdb"), "-D", data, "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -k {folder}"
        control = _program("pg_ctl"), "-D", data, "-w"
        _run("postgres", *control, "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://{_user('postgres')}@127.0.0.1:{port}/postgres"
        finally:
            _run("postgres", *control, "-m", "immediate", "stop")


@contextmanager
def mariadb() -> Iterator[str]:
    with _folder("mysql") as folder:
        port, data = _free_port(), folder / "data"
        _run("mysql", _program("mariadb-install-db"), "--no-defaults", f"--datadir={data}", "--skip-test-db",
             "--auth-root-authentication-method=normal")  # fmt: skip
        options = [
            f"--datadir={data}",
            f"--port={port}",
            f"--socket={folder}/socket",
            f"--pid-file={folder}/pid",
        ]
        command = _as("mysql", _program("mariadbd"), "--no-defaults", *options, "--bind-address=127.0.0.1")
        with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
            try:
                _wait(port, server)
                yield f"mysql://root@127.0.0.1:{port}"
            finally:
                server.terminate()


@contextmanager
def _folder(user: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=user) as name:
        if os.getuid() == 0:
            shutil.chown(name, user)
        yield Path(name)


def _program(name: str) -> str:
    """Find a program of a server; Debian has those of PostgreSQL outside of the path."""
    places = [*map(str, Path("/usr/lib/postgresql").glob("*/bin")), "/usr/sbin", os.environ["PATH"]]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        raise SystemExit(f"There is no {name}: apt-get install postgresql mariadb-server")
    return found


def _user(user: str) -> str:
    """The owner of a server: root may not start one."""
    return user if os.getuid() == 0 else Path.home().owner()


def _as(user: str, *command: object) -> list[str]:
    return [*(["runuser", "-u", user, "--"] if os.getuid() == 0 else []), *map(str, command)]


def _run(user: str, *command: object) -> None:
    subprocess.run(_as(user, *command), check=True, stdout=subprocess.DEVNULL)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server accepts connections."""
    for _ in range(300):
        if server.poll() is not None:
            raise SystemExit("The server ended while it started.")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("The server did not start within a minute.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
