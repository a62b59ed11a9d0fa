# SPDX-License-Identifier: BSD-3-Clause
"""Detect a site from its batch system, and compare a site file with the batch system."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from haloscope.errors import Problem, UserError, nearest
from haloscope.quantities import count
from haloscope.sites import file as site_file
from haloscope.sites.schedulers import schedulers, slurm, srun_kinds
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.sites.schema import BatchSite, Partition

_NODES = "%P|%l|%D|%X|%Y|%Z|%m"


def detected(name: str | None, environment: Mapping[str, str]) -> BatchSite:
    """Return the site of the Slurm on this machine. Raise UserError if none answers."""
    commands = Slurm(environment)
    try:
        with _answered():
            partitions, default = _partitions(commands)
            kinds = srun_kinds.asked(commands)
            called = name or commands.configured("ClusterName") or "cluster"
    except UserError as error:
        raise UserError([*error.problems, *_others()]) from error
    mpi = next(iter(kinds.usable), None)
    return BatchSite(
        name=called,
        source=f"sinfo and srun on {date.today().isoformat()}",
        scheduler="slurm",
        partition=default,
        partitions=partitions,
        launcher="srun" if mpi else "mpirun",
        mpi=mpi,
        environment=dict(environment),
        shared_cores=_shared_cores(environment),
    )


def _shared_cores(environment: Mapping[str, str]) -> int | None:
    """Return the cores that all nodes of a test cluster (haloscope lab) share; None elsewhere."""
    lab = site_file.of_the_lab()
    conf = environment.get("SLURM_CONF")
    if lab is None or conf is None:
        return None
    its_own = Path(lab.environment["SLURM_CONF"]).resolve() == Path(conf).resolve()
    return lab.shared_cores if its_own else None


@contextmanager
def _answered() -> Iterator[None]:
    """Raise UserError if Slurm does not answer a required query."""
    try:
        yield
    except (NoAnswerError, RefusedError) as error:
        remedy = "run this command where sinfo works; SLURM_CONF selects the Slurm configuration"
        raise UserError(Problem("Slurm", str(error), remedy)) from error


def notes(environment: Mapping[str, str]) -> list[str]:
    """Return notes about how srun starts ranks. Raise UserError if no Slurm answers."""
    with _answered():
        return srun_kinds.notes(srun_kinds.asked(Slurm(environment)))


def _others() -> Iterator[Problem]:
    for command, scheduler in (("qsub", "pbs"), ("bsub", "lsf"), ("flux", "flux")):
        if shutil.which(command):
            what = "found, but haloscope site detect supports only Slurm"
            remedy = (
                f'write sites/NAME.toml by hand, with scheduler = "{scheduler}" (docs/sites.md)'
            )
            yield Problem(command, what, remedy)


def _partitions(commands: Slurm) -> tuple[tuple[Partition, ...], str]:
    """Return all partitions, and the name of the default one or else of the first.

    If nodes differ, the fewest cores and the least memory are used, which every job has.
    """
    found: dict[str, Partition] = {}
    default = None
    printed = commands.output("sinfo", "--noheader", f"--format={_NODES}")
    for name, limit, nodes, sockets, cores, threads, memory in slurm.rows(printed, 7):
        if int(nodes) == 0:  # for example a partition without nodes yet
            continue
        called = name.rstrip("*")
        default = called if name.endswith("*") else default
        one = Partition(
            name=called,
            nodes=int(nodes),
            cores=slurm.whole(sockets) * slurm.whole(cores),
            threads_per_core=slurm.whole(threads),
            memory_mb=slurm.whole(memory),
            max_minutes=slurm.minutes(limit),
        )
        found[called] = _together(found[called], one) if called in found else one
    if not found:
        raise RefusedError("no partition has nodes")
    most = _most_nodes(commands)
    limited = (one.model_copy(update={"max_nodes": most.get(name)}) for name, one in found.items())
    return tuple(limited), default or next(iter(found))


def _most_nodes(commands: Slurm) -> dict[str, int]:
    printed = slurm.settings(commands.output("scontrol", "--oneliner", "show", "partition"))
    limits = {one.get("PartitionName", ""): one.get("MaxNodes", "") for one in printed}
    return {name: int(limit) for name, limit in limits.items() if limit.isdecimal() and int(limit)}


def _together(one: Partition, other: Partition) -> Partition:
    least = ("cores", "threads_per_core", "memory_mb")
    fewest = {key: min(getattr(one, key), getattr(other, key)) for key in least}
    return one.model_copy(update={"nodes": one.nodes + other.nodes, **fewest})


def disagreements(site: BatchSite) -> Iterator[Problem]:
    """Yield differences between a site file and its batch system. Raise UserError without answer.

    For PBS, LSF, and Flux only the queue is checked.
    """
    if not schedulers.of(site).describes_nodes:
        yield from _without_queue(site)
        return
    now = detected(site.name, site.environment)
    where, there = f"site {site.name}", {one.name: one for one in now.partitions}
    for one in site.partitions:
        if (seen := there.get(one.name)) is None:
            what = f"unknown partition '{one.name}' in Slurm"
            yield Problem(f"{where}: partitions", what, nearest(one.name, [*there]))
            continue
        for key in ("nodes", "cores", "threads_per_core", "memory_mb", "max_minutes", "max_nodes"):
            in_file, is_now = getattr(one, key), getattr(seen, key)
            if is_now is not None and (in_file is None or in_file > is_now):
                what = f"{in_file or 'no limit'} in the file, but {is_now} in Slurm"
                remedy = f"set {key} = {is_now}"
                yield Problem(f"{where}: {key} of partition '{one.name}'", what, remedy)
    if now.shared_cores and site.shared_cores != now.shared_cores:
        what = f"{site.shared_cores or 'no value'} in the file, but the nodes of this test cluster "
        what += f"share {count(now.shared_cores, 'core')}"
        yield Problem(f"{where}: shared_cores", what, f"set shared_cores = {now.shared_cores}")
    commands = Slurm(site.environment)
    with _answered():
        kinds = srun_kinds.asked(commands, site.mpi)
    if site.launcher == "srun" and site.mpi is not None:
        yield from _of_mpi(f"{where}: mpi", site.mpi, kinds)
    with _answered():
        yield from _would_not_start(site, commands)


def _of_mpi(where: str, mpi: str, kinds: srun_kinds.Kinds) -> Iterator[Problem]:
    """Yield a problem if srun does not have, or cannot load, the plugin of a site file."""
    if mpi not in kinds.listed:
        yield Problem(where, f"srun has no MPI plugin '{mpi}'", nearest(mpi, kinds.listed))
    elif why := kinds.broken.get(mpi):
        others = " or ".join(f'mpi = "{kind}"' for kind in kinds.usable) or 'launcher = "mpirun"'
        remedy = f"set {others}" + (f", or {srun_kinds.NO_PMIX}" if mpi.startswith("pmix") else "")
        yield Problem(where, f"srun cannot load its MPI plugin '{mpi}': {why}", remedy)


def _without_queue(site: BatchSite) -> Iterator[Problem]:
    scheduler, where = schedulers.of(site), f"site {site.name}: partition"
    try:
        scheduler.require_queue(site.partition)
    except RefusedError as error:
        what = f"unknown queue '{site.partition}' in {scheduler.title} ({error})"
        yield Problem(where, what, "choose an existing queue")
    except NoAnswerError as error:
        remedy = "try again on a node where jobs can be submitted, such as a login node"
        raise UserError(Problem(scheduler.title, f"no answer: {error}", remedy)) from error


def _would_not_start(site: BatchSite, commands: Slurm) -> Iterator[Problem]:
    """Yield why Slurm would refuse a job of one minute on one node: account, QOS, constraint."""
    options = commands.of_site(site)
    try:
        commands.output("sbatch", "--test-only", "--nodes=1", "--time=1", *options, "--wrap=true")
    except RefusedError as error:
        remedy = (
            "correct 'partition', 'account', 'qos', 'constraint', 'reservation', or 'gpus' in the "
            "site file"
        )
        yield Problem(f"site {site.name}: sbatch --test-only", str(error), remedy)
