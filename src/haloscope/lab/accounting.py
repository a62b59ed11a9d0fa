# SPDX-License-Identifier: BSD-3-Clause
"""Job accounting of a lab: slurmdbd and its database, MariaDB, on the controller's host."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.lab import HEAD, address
from haloscope.lab.cages import Cage

PROGRAMS = {
    "slurmdbd": "slurmdbd",
    "mariadbd": "mariadb-server-core",
    "mariadb-install-db": "mariadb-server-core",
    "my_print_defaults": "mariadb-client-core",
}
"""PROGRAMS are the additional commands for accounting, each with its Debian package."""
_PATIENCE_S = 300.0
"""Some seconds suffice if no other process uses the machine's cores."""
_SMALL = ("--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M")
"""_SMALL limits the database, which otherwise allocates 100 MB on disk."""


def slurmdbd_conf(folder: Path) -> str:
    """Return slurmdbd.conf. A variable names the socket of the database."""
    lines = [
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge.socket",
        f"DbdHost={HEAD}",
        f"DbdAddr={address(HEAD)}",
        "SlurmUser=root",
        "StorageType=accounting_storage/mysql",
        "StorageHost=localhost",
        "StorageUser=root",
        "StorageLoc=slurm_acct_db",
        f"LogFile={folder}/slurmdbd.log",
        f"PidFile={folder}/slurmdbd.pid",
    ]
    return "\n".join(lines) + "\n"


def begin(head: Cage, folder: Path, where: Callable[[str], str], name: str) -> None:
    """Start both, and register the cluster of that name. Raise UserError if they do not start."""
    conf = folder / "slurmdbd.conf"
    conf.touch(mode=0o600)  # slurmdbd requires these permissions
    conf.write_text(slurmdbd_conf(folder), encoding="utf-8")
    socket = _database(head, folder, where)
    variables = [f"SLURM_CONF={folder}/slurm.conf", f"MYSQL_UNIX_PORT={socket}"]
    quiet = f'exec "$@" </dev/null >{folder}/slurmdbd.start 2>&1'
    head.output(["env", *variables, "sh", "-c", quiet, "slurmdbd", where("slurmdbd")])
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            head.output(["env", *variables, "sacctmgr", "--immediate", "add", "cluster", name])
            return
        except UserError as error:
            if time.monotonic() > deadline:
                what = f"not ready: {error.problems[0].what}"
                raise UserError(Problem("slurmdbd", what, f"see {folder}/*.log")) from error
        time.sleep(0.2)


def _database(head: Cage, folder: Path, where: Callable[[str], str]) -> Path:
    data, socket, log = folder / "database", folder / "database.socket", folder / "database.log"
    common = ["--no-defaults", "--user=root", f"--datadir={data}", *_SMALL]
    by_socket = ("--auth-root-authentication-method=socket", "--auth-root-socket-user=root")
    head.output([where("mariadb-install-db"), *common, *by_socket, "--skip-test-db"])
    server = [where("mariadbd"), *common, "--skip-networking", f"--socket={socket}"]
    head.output(["sh", "-c", f'"$@" </dev/null >{log} 2>&1 &', "mariadbd", *server])
    deadline = time.monotonic() + _PATIENCE_S
    while not socket.exists():
        if time.monotonic() > deadline:
            raise UserError(Problem("mariadbd", "not ready", f"see {log}"))
        time.sleep(0.1)
    return socket
