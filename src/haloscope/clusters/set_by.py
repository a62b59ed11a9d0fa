# SPDX-License-Identifier: BSD-3-Clause
"""Published cells that determined numbers of a cluster file, and checks that they exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from haloscope.clusters.quantity import Quantity, SetBy
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.defaults import Keys, defaults
from haloscope.errors import UserError, dotted, nearest
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable, PublishedValue


@dataclass(frozen=True)
class ChosenNumber:
    """A number of a cluster file, by its place, and the published cells that determined it."""

    place: Keys
    cells: SetBy

    @property
    def where(self) -> str:
        """The place, as in messages and cluster files."""
        return dotted(self.place)


def settings(cluster: Cluster) -> tuple[ChosenNumber, ...]:
    """Return all such numbers: those of the file in the order of its tables, then defaults."""
    absent = (ChosenNumber(one.place, cells) for one in defaults(cluster) for cells in one.set_by)
    return (*_found(cluster), *absent)


def set_by(
    cluster: Cluster, table: PaperTable, row: Mapping[str, PublishedValue]
) -> tuple[str, ...]:
    """Return the places of the numbers that a row of a published table set; () for none."""
    known = {**table.facts, **row}
    found = [one for one in settings(cluster) if _covers(one.cells, table, known)]
    return tuple(dict.fromkeys(one.where for one in found))


def contradictions(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield cells that are in no published table: key, what is wrong, what to do."""
    for one in _found(cluster):
        key = f"{one.where}.set_by"
        try:
            tables = [papers.load(one.cells.paper).table(name) for name in one.cells.tables]
        except UserError as error:
            for problem in error.problems:
                yield key, f"{problem.where}: {problem.what}", problem.remedy
            continue
        yield from _unknown(key, one.cells, tables)


def _unknown(
    key: str, cells: SetBy, tables: Sequence[PaperTable]
) -> Iterator[tuple[str, str, str]]:
    for column, values in cells.where.items():
        found = set()
        for table in tables:
            if column not in (known := [*table.columns, *table.facts]):
                yield key, f"table {table.id} has no column '{column}'", nearest(column, known)
                break
            found |= {{**table.facts, **row}[column] for row in table.rows}
        else:
            for value in (value for value in values if value not in found):
                remedy = f"give values of the tables: haloscope paper show {cells.paper} ..."
                yield key, f"no cell has {column} = {value}", remedy


def _covers(cells: SetBy, table: PaperTable, known: Mapping[str, PublishedValue]) -> bool:
    if (cells.paper, True) != (table.paper, table.id in cells.tables):
        return False
    return all(known[column] in values for column, values in cells.where.items())


def _found(part: object, place: Keys = ()) -> Iterator[ChosenNumber]:
    if isinstance(part, Quantity):
        yield from (ChosenNumber(place, cells) for cells in part.set_by)
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _found(getattr(part, name), (*place, name))
    elif isinstance(part, tuple | list):
        for index, one in enumerate(part):
            yield from _found(one, (*place, index))
    elif isinstance(part, dict):
        for name, one in part.items():
            yield from _found(one, (*place, str(name)))
