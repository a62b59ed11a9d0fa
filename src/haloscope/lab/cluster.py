# SPDX-License-Identifier: BSD-3-Clause
"""Start, inspect, and stop a lab; nothing of it remains."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from haloscope.errors import Problem, UserError, reject
from haloscope.host import machine
from haloscope.lab import FABRIC, FOLDER, HEAD, LINK, Lab, accounting, cages, slurm_files, wiring
from haloscope.lab.cages import Cage, output_of
from haloscope.paths import write_whole
from haloscope.quantities import count, cpu_list
from haloscope.sites import file as site_file
from haloscope.sites.detect import detected
from haloscope.sites.file import LAB, OF_THE_LAB
from haloscope.sites.schema import BatchSite

PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "munged": "munge",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
}
"""PROGRAMS are the commands that a lab needs, each with its Debian package."""
HOSTS = Path("/etc/hosts")
"""HOSTS is the file with the addresses of hosts; a minimal Debian does not have it."""
_SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"
"""_SYSTEM contains daemons and is not in every user's PATH."""
_PATIENCE_S = 300.0
"""Some seconds suffice if no other process uses the machine's cores."""
_KEY_BYTES = 128
"""_KEY_BYTES is the length of munge's shared key: twice that of the hash, as munge recommends."""


@dataclass(frozen=True)
class RunningLab:
    """A running lab. cages: its hosts and its switches, by name."""

    lab: Lab
    cages: dict[str, Cage]

    def host(self, name: str) -> Cage:
        """Return one of its hosts. Raise UserError if there is none of that name."""
        if name not in self.lab.hosts or name not in self.cages:
            hosts = ", ".join(host for host in self.lab.hosts if host in self.cages)
            raise UserError(Problem(f"host {name}", "unknown host", f"choose one of: {hosts}"))
        return self.cages[name]

    def start_controller(self) -> None:
        """Start the Slurm controller."""
        self.cages[HEAD].output(_daemon("slurmctld"))

    def start_daemon(self, node: str) -> None:
        """Start the Slurm daemon of a node."""
        cpus = self.lab.cpus_of(node, machine.physical_cores())
        self.cages[node].output(["taskset", "--cpu-list", cpu_list(cpus), *_daemon("slurmd")])


def problems(*, accounted: bool = False) -> Iterator[Problem]:
    """Yield why a lab cannot run here. accounted: with accounting."""
    if os.geteuid() != 0:
        what = "only root can create the namespaces and network links of a lab"
        yield Problem("haloscope lab", what, "run this command as root")
    if not HOSTS.exists():
        what = "does not exist; each host of a lab mounts its own file over it"
        yield Problem(str(HOSTS), what, f"create it: touch {HOSTS}")
    needed = PROGRAMS | (accounting.PROGRAMS if accounted else {})
    for program, package in needed.items():
        if not shutil.which(program, path=_path()):
            yield Problem(
                program, "not found", f"install it (Debian, Ubuntu: apt install {package})"
            )


def _path() -> str:
    return f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM}"


def environment() -> dict[str, str]:
    """Return the environment for commands of the lab's Slurm, on this machine too."""
    return {"SLURM_CONF": str(FOLDER / "slurm.conf")}


def up(lab: Lab, say: Callable[[str], None]) -> RunningLab:
    """Start a lab. Raise UserError, and leave nothing behind, if it fails or one is running."""
    reject(lab.problems(), problems(accounted=lab.accounting))
    with _alone():
        in_use = _in_use()
        if in_use is None:
            remedy = "to show it: haloscope lab status; to stop it: haloscope lab down"
            raise UserError(Problem("haloscope lab", "a lab is already running", remedy))
        _clear()
        try:
            running = _brought_up(lab, in_use, say)
        except BaseException:
            os.close(in_use)
            _take_down()
            raise
        os.close(in_use)
        return running


def _in_use() -> int | None:
    """Return a file descriptor whose lock shows that a lab exists; None if another process holds
    it.

    Each host holds it until it ends. The kernel therefore knows about a lab whose processes are not
    visible in this namespace, and that a killed lab which left files no longer exists.
    """
    descriptor = os.open(FOLDER / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _brought_up(lab: Lab, in_use: int, say: Callable[[str], None]) -> RunningLab:
    _write_files(lab)
    names = (FABRIC, *lab.hosts)
    made = {name: cages.cage(name, FOLDER / "hosts", holding=in_use) for name in names}
    running = RunningLab(lab, made)
    _wire(running)
    say(f"{count(lab.nodes, 'host')} connected; starting Slurm")
    head = made[HEAD]
    head.output([_where("munged"), "--force", *_munge_words()])
    if lab.accounting:
        say("starting MariaDB and slurmdbd for accounting")
        accounting.begin(head, FOLDER, _where, slurm_files.CLUSTER)
    running.start_controller()
    for node in lab.names:
        running.start_daemon(node)
    until_ready(lab)
    site_file.write(site(lab), OF_THE_LAB / "lab.toml")
    write_whole(FOLDER / "lab.json", json.dumps(asdict(lab)))
    return running


def _wire(running: RunningLab) -> None:
    lab, made = running.lab, running.cages
    pids = {name: one.pid for name, one in made.items()}
    output_of(["ip", "-batch", "-"], wiring.this_machine(pids))
    in_fabric = ["nsenter", "--target", str(made[FABRIC].pid), "--net"]
    output_of([*in_fabric, "ip", "-batch", "-"], wiring.fabric(lab, pids))
    for name in lab.hosts:
        made[name].output(["ip", "-batch", "-"], wiring.host(name))
    rates = {FABRIC: wiring.fabric_rates(lab)}
    rates |= {name: wiring.host_rates(lab, name) for name in lab.hosts}
    for name, lines in rates.items():
        try:
            made[name].output(["tc", "-batch", "-"], lines)
        except UserError as error:
            if lab.latency_s is None or "qdisc kind is unknown" not in error.problems[0].what:
                raise
            what = "requires netem, which this kernel does not support (CONFIG_NET_SCH_NETEM)"
            raise UserError(Problem("--latency", what, "remove --latency")) from error


def _write_files(lab: Lab) -> None:
    FOLDER.mkdir(mode=0o755, exist_ok=True)
    for name in ("state", *(f"{node}.spool" for node in lab.names)):
        (FOLDER / name).mkdir()
    memory_mb = machine.memory_available_bytes() // 2**20 // lab.nodes
    write_whole(FOLDER / "hosts", wiring.hosts_file(lab))
    write_whole(FOLDER / "slurm.conf", slurm_files.slurm_conf(lab, FOLDER, memory_mb))
    write_whole(FOLDER / "topology.conf", slurm_files.topology_conf(lab))
    write_whole(FOLDER / "cgroup.conf", slurm_files.CGROUP_CONF)
    write_whole(FOLDER / "mpi.conf", slurm_files.MPI_CONF)
    key = FOLDER / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(_KEY_BYTES))


def _munge_words() -> list[str]:
    files = {
        "socket": "munge.socket",
        "key-file": "munge.key",
        "pid-file": "munge.pid",
        "log-file": "munge.log",
        "seed-file": "munge.seed",
    }
    return [f"--{option}={FOLDER / name}" for option, name in files.items()]


def _where(program: str) -> str:
    return shutil.which(program, path=_path()) or program


def _daemon(program: str) -> list[str]:
    words = ["-f", str(FOLDER / "slurm.conf")]
    quiet = f'exec "$@" </dev/null >{FOLDER}/{program}.start 2>&1'
    return ["sh", "-c", quiet, program, _where(program), *words]


def until_ready(lab: Lab) -> None:
    """Wait until every node accepts jobs. Raise UserError with Slurm's message otherwise."""
    deadline = time.monotonic() + _PATIENCE_S
    said = ""
    while time.monotonic() < deadline:
        try:
            said = states()
        except UserError as error:
            said = error.problems[0].what
        if said.split() == [f"{name}=idle" for name in lab.names]:
            return
        time.sleep(0.2)
    raise UserError(Problem("Slurm", f"nodes are not ready: {said}", f"see {FOLDER}/*.log"))


def site(lab: Lab) -> BatchSite:
    """Return the lab as a site."""
    found, cores = detected(LAB, environment()), len(machine.physical_cores())
    return BatchSite(
        name=LAB,
        source="haloscope lab up",
        scheduler="slurm",
        partition=found.partition,
        partitions=found.partitions,
        launcher=found.launcher,
        mpi=found.mpi,
        environment=environment(),
        shared_cores=None if lab.has_cores_of_its_own(cores) else cores,
    )


def states() -> str:
    """Return Slurm's state of each node, such as lab1=idle."""
    words = ["env", *(f"{key}={value}" for key, value in environment().items())]
    words += ["sinfo", f"--partition={slurm_files.PARTITION}", "--noheader", "--Node"]
    lines = output_of([*words, "--format=%N=%t"])
    return " ".join(sorted(lines.split(), key=lambda line: int(line.split("=")[0][3:])))


def running() -> RunningLab | None:
    """Return the running lab; None without one, or with a part of one. Raise UserError without
    root.
    """
    _require_root()
    try:
        lab = Lab(**json.loads((FOLDER / "lab.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    found = {one.name: one for one in cages.there()}
    return RunningLab(lab, found) if {FABRIC, *lab.hosts} <= found.keys() else None


def _require_root() -> None:
    if os.geteuid() != 0:
        what = "only root can see and change a lab"
        raise UserError(Problem("haloscope lab", what, "run this command as root"))


def down() -> int:
    """Stop a lab, or the remaining parts of one; return the number of hosts and switches."""
    _require_root()
    with _alone():
        return _take_down()


def _take_down() -> int:
    number = cages.end_all()
    deadline = time.monotonic() + _PATIENCE_S
    while (Path("/sys/class/net") / LINK).exists() and time.monotonic() < deadline:
        time.sleep(0.02)  # the kernel removes it with its other end
    in_use = _in_use()
    if in_use is None:
        what = "a lab is running in another container or process namespace"
        raise UserError(
            Problem(
                "haloscope lab", what, "run 'haloscope lab down' in that container or namespace"
            )
        )
    _clear()
    os.close(in_use)
    return number


def _clear() -> None:
    if FOLDER.exists():
        for path in FOLDER.iterdir():
            if path.name in (_LOCK, _IN_USE):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


_LOCK = ".lock"
_IN_USE = ".in-use"


@contextmanager
def _alone() -> Iterator[None]:
    FOLDER.mkdir(mode=0o755, exist_ok=True)
    lock = FileLock(FOLDER / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        what = "another haloscope command is starting or stopping the lab"
        raise UserError(Problem("haloscope lab", what, "wait until that command ends")) from error
    try:
        yield
    finally:
        lock.release()
