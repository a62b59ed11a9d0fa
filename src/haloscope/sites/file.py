# SPDX-License-Identifier: BSD-3-Clause
"""Site files: find them by name, read them with all their problems, and write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from haloscope import toml
from haloscope.errors import Problem, UserError, dotted, nearest, reject
from haloscope.paths import write_whole
from haloscope.sites.schedulers.schedulers import ASKABLE, SCHEDULERS
from haloscope.sites.schema import BatchSite

OWN = Path("sites")
ELSEWHERE = "to use your own site file, save it as ./sites/NAME.toml and give NAME"
LAB = "lab"
LAB_UP = "start the test cluster first: haloscope lab up"
OF_THE_LAB = Path("/run/haloscope-lab/sites")


def ready() -> dict[str, Path]:
    """Return the site files by name: the lab's, and those in ./sites, which take precedence."""
    return {
        path.stem: path for folder in (OF_THE_LAB, OWN) for path in sorted(folder.glob("*.toml"))
    }


def found(name: str) -> Path:
    """Return the file of a site by name or path. Raise UserError if there is none."""
    known = ready()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        remedy = LAB_UP if name == LAB else f"{nearest(name, [*known])}\n    {ELSEWHERE}"
        raise UserError(Problem(f"site {name}", "not found", remedy))
    return path


def find(name: str) -> BatchSite:
    """Return the site of that name or file. Raise UserError with the nearest name if
    there is none.
    """
    return load(found(name))


def of_the_lab() -> BatchSite | None:
    """Return the lab's site, regardless of user files with that name; None without a lab."""
    path = OF_THE_LAB / f"{LAB}.toml"
    return load(path) if path.exists() else None


def load(path: Path) -> BatchSite:
    """Read a site file, whose name is the site's name. Raise UserError with all problems."""
    return _checked(
        path, toml.read(path, "give a site file, or write one with haloscope site detect")[1]
    )


def write(site: BatchSite, path: Path) -> None:
    """Write a site file without unknown values."""
    data = site.model_dump(exclude_none=True, exclude={"name"}, exclude_defaults=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, tomli_w.dumps(data))


def _checked(path: Path, data: dict[str, Any]) -> BatchSite:
    problems = []
    if "name" in data:
        what = f"not allowed, because the site is named after its file, '{path.stem}'"
        problems.append(Problem(f"{path}: name", what, "remove this key"))
    try:
        site = BatchSite.model_validate({**data, "name": path.stem})
    except ValidationError as error:
        problems += [_problem(path, one) for one in toml.worth_reporting(error.errors())]
        raise UserError(problems) from error
    reject(problems, _contradictions(path, site))
    return site


def _contradictions(path: Path, site: BatchSite) -> Iterator[Problem]:
    names = [one.name for one in site.partitions]
    if site.partition not in names:
        what = f"no [[partitions]] table is named '{site.partition}'"
        yield Problem(f"{path}: partition", what, nearest(site.partition, names))
    if len({*names}) < len(names):
        yield Problem(
            f"{path}: partitions", "two partitions have the same name", "remove one of them"
        )
    yield from _of_other_schedulers(path, site)
    scheduler = SCHEDULERS[site.scheduler]
    if "mpi" in scheduler.own_keys and site.launcher in scheduler.launchers and site.mpi is None:
        remedy = 'set mpi = "none" or a plugin listed by srun --mpi=list, such as "pmix"'
        yield Problem(
            f"{path}: mpi", f'missing, but required with launcher = "{site.launcher}"', remedy
        )


def _of_other_schedulers(path: Path, site: BatchSite) -> Iterator[Problem]:
    """Yield a problem for each key that the site's batch system does not support."""
    own = SCHEDULERS[site.scheduler]
    for other in SCHEDULERS.values():
        if other is own:
            continue
        if site.launcher in other.launchers:
            remedy = 'use launcher = "mpirun", the launcher of the MPI library'
            what = f'{site.launcher} requires scheduler = "{other.name}"'
            yield Problem(f"{path}: launcher", what, remedy)
        for key in other.own_keys:
            if getattr(site, key):
                what = f"supported only with {other.title}"
                yield Problem(f"{path}: {key}", what, "remove this key")
    for key in ASKABLE:
        if getattr(site, key) is not None and key not in own.asked_by:
            what = f'not supported with scheduler = "{own.name}"'
            remedy = "remove this key, or use your own job script ('template')"
            yield Problem(f"{path}: {key}", what, remedy)


def _problem(path: Path, detail: ErrorDetails) -> Problem:
    """Translate one of pydantic's errors."""
    table, description, _ = toml.look_up(BatchSite, detail["loc"])
    names = [name for name in toml.keys_of(table) if (table, name) != (BatchSite, "name")]
    where = f"{path}: {dotted([part for part in detail['loc'] if part != '[key]'])}"
    return toml.translated(where, detail, names, f"give {description}")
