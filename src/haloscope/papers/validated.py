# SPDX-License-Identifier: BSD-3-Clause
"""Published cells with their predictions: papers/ID/predicted.csv (validate --write-bands)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from statistics import median

from haloscope.grouped import grouped
from haloscope.papers.file import Scalar
from haloscope.paths import share

FILE = "predicted.csv"
COLUMNS = (
    *("cluster", "platform", "kernel", "table", "settings", "over"),
    *("published", "predicted", "fitted"),
)
_HOST = "memory=host"


@dataclass(frozen=True)
class ValidatedCell:
    """A published cell that was simulated, with enough digits for an error.

    platform: state of the cluster file in the simulation. settings: of the case. over: settings
    that differ in the other case, if the value is the ratio of both. fitted: whether it set a
    number of the cluster file, so that its error is not that of a prediction.
    """

    cluster: str
    platform: str
    kernel: str
    paper: str
    table: str
    settings: Mapping[str, Scalar]
    over: Mapping[str, Scalar]
    published: float
    predicted: float
    fitted: bool

    @property
    def error(self) -> float:
        """Error relative to the published value."""
        return self.predicted / self.published - 1

    @property
    def program(self) -> str:
        """The variant and memory, which are validated separately."""
        return program_of(self.settings)

    @property
    def way(self) -> str:
        """How a device's messages are sent and waited for."""
        return way_of(self.settings)

    @property
    def row(self) -> dict[str, object]:
        """Its line of the file."""
        return {
            "cluster": self.cluster,
            "platform": self.platform,
            "kernel": self.kernel,
            "table": self.table,
            "settings": _text(self.settings),
            "over": _text(self.over),
            "published": f"{self.published:.6g}",
            "predicted": f"{self.predicted:.6g}",
            "fitted": int(self.fitted),
        }


def program_of(settings: Mapping[str, object]) -> str:
    """Return a kernel's variant and memory, which are validated separately."""
    variant, memory = settings.get("variant"), f"memory={settings.get('memory') or 'host'}"
    if variant is None:
        return memory
    return str(variant) if memory == _HOST else f"{variant}, {memory}"


WAYS_OF_A_DEVICE = {"sync": "default_stream", "mpi": "gpu_aware"}
"""Default settings of a device's messages, as in PETSc; differences from these are ways."""


def way_of(settings: Mapping[str, object]) -> str:
    """Return how a device's messages are sent and waited for, if it differs from PETSc; otherwise
    "".
    """
    if settings.get("memory") != "device":
        return ""
    own = {name: settings.get(name, usual) for name, usual in WAYS_OF_A_DEVICE.items()}
    return ", ".join(f"{k}={v}" for k, v in own.items() if v != WAYS_OF_A_DEVICE[k])


def called(kernel: str, program: str) -> str:
    """Return "poisson_cg (textbook)", or only the kernel if it has no variants."""
    return kernel if program == _HOST else f"{kernel} ({program})"


@dataclass(frozen=True)
class Validated:
    """One published table that was predicted from a cluster file.

    cells: number of cells that set no number of the file. median, worst: of their relative errors.
    over: the reference of the times, if only relative times were predicted.
    """

    cluster: str
    kernel: str
    variant: str
    paper: str
    table: str
    cells: int
    median: float
    worst: float
    over: str

    @property
    def settings(self) -> dict[str, str]:
        """The kernel, and the variant if it has several."""
        variant = {} if self.variant == _HOST else {"variant": self.variant}
        return {"kernel": self.kernel, **variant}


@cache
def validated() -> tuple[Validated, ...]:
    """Return every table that was predicted."""
    by_table = grouped(
        (one for one in validated_cells() if not one.fitted),
        lambda one: (one.cluster, one.kernel, one.program, one.paper, one.table),
    )
    found = []
    for key, own in by_table.items():
        errors = [abs(one.error) for one in own]
        over = "other nodes" if any(one.over for one in own) else ""
        found.append(Validated(*key, len(own), median(errors), max(errors), over))
    return tuple(found)


@cache
def validated_cells() -> tuple[ValidatedCell, ...]:
    """Return every predicted cell of every paper."""
    return tuple(
        one
        for path in sorted(share("papers").glob(f"*/{FILE}"))
        for one in _read(path.parent.name, path.read_text(encoding="utf-8"))
    )


def _read(paper: str, text: str) -> Iterator[ValidatedCell]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        yield ValidatedCell(
            row["cluster"],
            row["platform"],
            row["kernel"],
            paper,
            row["table"],
            _settings(row["settings"]),
            _settings(row["over"]),
            float(row["published"]),
            float(row["predicted"]),
            row["fitted"] == "1",
        )


def text_of(cells: Sequence[ValidatedCell], origin: str) -> str:
    """Return the text of a file of cells. origin: the command that made it, and its commit."""
    file = StringIO(newline="")
    file.write(f"# {origin}\n")
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(one.row for one in cells)
    return file.getvalue()


def _text(settings: Mapping[str, Scalar]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _settings(text: str) -> dict[str, Scalar]:
    pairs = (word.split("=", 1) for word in text.split())
    return {key: int(value) if value.isdigit() else value for key, value in pairs}
