"""A case: one setting to be measured, and where its ranks and threads go."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from haloscope.quantities import count

Value = bool | int | float | str


@dataclass(frozen=True)
class Layout:
    """Where one case's ranks and threads are asked to go.

    placement: how two ranks lie to each other, one of machine.PLACEMENTS; None says nothing of it.
    """

    nodes: int = 1
    ppn: int = 1
    threads: int = 1
    places: str = "cores"
    bind: str = "close"
    placement: str | None = None

    @property
    def ranks(self) -> int:
        """All processes, over all nodes."""
        return self.nodes * self.ppn

    def __str__(self) -> str:
        """For people: 4 ranks x 2 threads on 2 nodes."""
        threads = f" x {count(self.threads, 'thread')}" if self.threads > 1 else ""
        nodes = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        usual = (self.places, self.bind) == (Layout.places, Layout.bind)
        binding = "" if usual else f", {self.places} {self.bind}"
        placement = f", {self.placement}" if self.placement else ""
        return f"{count(self.ranks, 'rank')}{threads}{nodes}{binding}{placement}"


@dataclass(frozen=True)
class Case:
    """One setting to be measured: the same setting has the same id, in any study.

    given: the parameters that were asked for; params: all of them, resolved by halobench.
    memory_bytes: predicted, summed over ranks. oversubscribed: more threads than cores there.
    transport: as a toolchain names it; None leaves it to the library.
    files: the folder with the files that its parameters name, where they name some.
    absent: why it can't run here, if it can't: it is then a record with that reason, no launch.
    stopped: where a precision was asked for, why there are no more launches: "narrow" intervals,
        or the cap on their "count".
    """

    kernel: str
    given: Mapping[str, Value]
    params: Mapping[str, Any]
    layout: Layout
    toolchain: str
    run: int
    launches: int
    timeout_s: float
    memory_bytes: int
    oversubscribed: bool = False
    transport: str | None = None
    files: str | None = None
    absent: str | None = None
    stopped: str | None = None

    @cached_property
    def id(self) -> str:
        """12 hexadecimal digits of all that makes this setting what it is."""
        setting = {
            "kernel": self.kernel,
            "params": dict(self.params),
            "layout": asdict(self.layout),
            "toolchain": self.toolchain,
            "transport": self.transport,
        }
        canonical = json.dumps(setting, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        """A line for people: kernel, given parameters, layout."""
        return f"{' '.join([self.kernel, *self.arguments])}, {self.layout}"

    @property
    def title(self) -> str:
        """Its label, with the MPI library and the transport."""
        return ", ".join([self.label, " ".join(filter(None, (self.toolchain, self.transport)))])

    @property
    def options(self) -> list[str]:
        """What halobench is told before the kernel's name."""
        return ["--files", self.files] if self.files else []

    @property
    def arguments(self) -> list[str]:
        """The given parameters as halobench takes them on its command line."""
        return [f"{key}={text(value)}" for key, value in self.given.items()]

    def as_dict(self) -> dict[str, Any]:
        """For plan.json."""
        return {"case": self.id, **asdict(self)}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Case:
        """The reverse of `as_dict`."""
        fields = {key: value for key, value in saved.items() if key != "case"}
        return cls(**{**fields, "layout": Layout(**saved["layout"])})


@dataclass(frozen=True)
class Job:
    """One launch of one case: a whole job."""

    case: Case
    launch: int


def text(value: Value) -> str:
    """A parameter's value as halobench takes it on its command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
