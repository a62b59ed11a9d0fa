# SPDX-License-Identifier: BSD-3-Clause
"""Site files: found by name, read with all that is wrong in them, written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from haloscope import toml
from haloscope.errors import Problem, UserError, dotted, nearest
from haloscope.paths import write_whole
from haloscope.sites.schema import ASKED, BatchSite, Partition

OWN = Path("sites")
"""OWN is where a user's files lie, in the folder that haloscope is called in."""
ELSEWHERE = "your site files: NAME for ./sites/NAME.toml"
"""ELSEWHERE is where site files are looked for."""
LAB = "lab"
"""LAB is what the cluster in a box is called."""
LAB_UP = "it is the cluster in a box, which is there after: haloscope lab up"
"""LAB_UP is what to do where it is not there."""
OF_THE_LAB = Path("/run/haloscope-lab/sites")
"""OF_THE_LAB has the file of the cluster in a box, while there is one."""


def ready() -> dict[str, Path]:
    """The site files by name: the lab's, and those in ./sites, which come first."""
    return {
        path.stem: path for folder in (OF_THE_LAB, OWN) for path in sorted(folder.glob("*.toml"))
    }


def found(name: str) -> Path:
    """The file of a site of that name, or that file itself. UserError where there is none."""
    known = ready()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        mend = LAB_UP if name == LAB else f"{nearest(name, [*known])}\n    {ELSEWHERE}"
        raise UserError(Problem(f"site {name}", "there is no such file", mend))
    return path


def find(name: str) -> BatchSite:
    """The site of that name, or of a file. UserError, with the nearest, where there is none."""
    return load(found(name))


def of_the_lab() -> BatchSite | None:
    """The cluster in a box, whatever a user's own file of that name says; None: there is none."""
    path = OF_THE_LAB / f"{LAB}.toml"
    return load(path) if path.exists() else None


def load(path: Path) -> BatchSite:
    """Read a site file; the site is called as the file. UserError with all that is wrong."""
    return _checked(
        path, toml.read(path, "give a site file, or make one: haloscope site detect")[1]
    )


def write(site: BatchSite, path: Path) -> None:
    """Write a site file; what is not known is left out of it."""
    data = site.model_dump(exclude_none=True, exclude={"name"}, exclude_defaults=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, tomli_w.dumps(data))


def _checked(path: Path, data: dict[str, Any]) -> BatchSite:
    problems = []
    if "name" in data:
        mend = "leave it out: a site is called as its file"
        problems.append(Problem(f"{path}: name", f"it is '{path.stem}'", mend))
    try:
        site = BatchSite.model_validate({**data, "name": path.stem})
    except ValidationError as error:
        problems += [_problem(path, one) for one in toml.worth_telling(error.errors())]
        raise UserError(problems) from error
    if problems := [*problems, *_contradictions(path, site)]:
        raise UserError(problems)
    return site


def _contradictions(path: Path, site: BatchSite) -> Iterator[Problem]:
    names = [one.name for one in site.partitions]
    if site.partition not in names:
        what = f"there is no [[partitions]] table of '{site.partition}'"
        yield Problem(f"{path}: partition", what, nearest(site.partition, names))
    if len({*names}) < len(names):
        yield Problem(f"{path}: partitions", "two have one name", "leave one of them out")
    yield from _of_other_schedulers(path, site)
    if site.scheduler == "slurm" and site.launcher == "srun" and site.mpi is None:
        mend = "give pmix, pmi2, cray_shasta or none (srun --mpi=list says which there are)"
        yield Problem(f"{path}: mpi", "is missing, and srun needs it", mend)


def _of_other_schedulers(path: Path, site: BatchSite) -> Iterator[Problem]:
    """Keys that the site's batch system has nothing for, which are some other one's."""
    if site.scheduler != "slurm":
        if site.launcher == "srun":
            mend = "give mpirun, for the MPI library's own"
            yield Problem(f"{path}: launcher", "srun is Slurm's alone", mend)
        for key in ("mpi", "environment"):
            if getattr(site, key):
                yield Problem(f"{path}: {key}", "is Slurm's alone", "leave it out")
    for key in ASKED["slurm"]:
        if getattr(site, key) is not None and key not in ASKED[site.scheduler]:
            what = f"jobs of scheduler {site.scheduler} are asked for without it"
            mend = "leave it out, or say it in a job script of your own: template"
            yield Problem(f"{path}: {key}", what, mend)


def _problem(path: Path, detail: ErrorDetails) -> Problem:
    """One thing that is wrong: where, what, and what the key may be."""
    place = [part for part in detail["loc"] if part != "[key]"]
    where = f"{path}: {dotted(place)}"
    table: type[BaseModel] = Partition if place[0] == "partitions" and len(place) > 1 else BatchSite
    names = [name for name in table.model_fields if (table, name) != (BatchSite, "name")]
    if detail["type"] == "extra_forbidden":
        return Problem(where, "unknown key", nearest(str(place[-1]), names))
    key = next((str(part) for part in reversed(place) if part in names), None)
    field = table.model_fields[key] if key else BatchSite.model_fields["partitions"]
    wanted = f"give {field.description}"
    if detail["type"] == "missing":
        return Problem(where, "is missing", wanted)
    return Problem(where, f"{detail['input']!r} won't do", toml.guess_of(detail) + wanted)
