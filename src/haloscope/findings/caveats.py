# SPDX-License-Identifier: BSD-3-Clause
"""The closed list of caveats of findings, with one line of explanation each.

A report numbers the caveats it uses and explains each once. A new caveat is a name and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Caveat(StrEnum):
    """Names of caveats, as in documents."""

    INCOMPLETE = "incomplete"
    UNREADABLE = "unreadable_records"
    UNKNOWN_SETTING = "unknown_setting"
    MIXED = "mixed_conditions"
    CHANGED = "accepted_change"
    OVERSUBSCRIBED = "oversubscribed"
    UNVERIFIED = "unverified"
    EMULATED = "emulated_device"
    SIMULATED = "simulated"
    REPLICATES = "simulated_replicates"
    NOT_VALIDATED = "not_validated"
    MIXED_CORES = "mixed_cores"
    BUSY = "busy_machine"
    UNSTEADY = "unsteady_machine"
    DISTURBED_CALIBRATION = "disturbed_calibration"
    OUTDATED = "outdated_predictions"
    NOT_PREDICTED = "not_predicted"
    DIFFERENT_CONDITIONS = "different_conditions"
    DRIFT = "measured_in_turn"
    IMPORTED = "imported"
    IMPLAUSIBLE = "implausible"
    SEVERAL_OPERATIONS = "several_operations"
    NO_TIME = "no_time"
    NEAR_CACHE_SIZE = "near_cache_size"
    ONE_LAUNCH = "one_launch"
    FEW_LAUNCHES = "few_launches"
    TOO_FEW = "too_few_to_decide"
    ONE_ALLOCATION = "one_allocation"
    FEW_ALLOCATIONS = "too_few_allocations"
    OTHER_LEVEL = "other_cache_level"
    PARTLY_CACHED = "partly_cached"
    SUPERLINEAR = "superlinear"
    BANDWIDTH_GROWS = "bandwidth_grows"
    SUPERLINEAR_UNSHOWN = "superlinear_not_shown"
    DIFFERENT_PROGRAM = "different_program"
    STAND_IN = "stand_in"
    IN_SAMPLE = "in_sample"
    ONE_SOCKET = "one_socket"
    COLD = "cold_first_size"
    DOUBTFUL_FIT = "doubtful_fit"
    PARTS_DEVIATE = "parts_deviate"
    OF_THE_SIMULATOR = "simulated_algorithms"


@dataclass(frozen=True)
class Explanation:
    """Meaning and remedy of a caveat."""

    text: str
    remedy: str = ""

    def remedy_for(self, *, imported: bool) -> str:
        """Return the remedy; imported records, which haloscope cannot measure again, have their
        own.
        """
        return _OF_IMPORTED.get(self.remedy, self.remedy) if imported else self.remedy

    @property
    def line(self) -> str:
        """Return both as one text."""
        return f"{self.text} {self.remedy}".rstrip()


RERUN = "Rerun with more launches (--launches)."
_RETRY = "Retry: haloscope run --resume DIR."
_ALTERNATE = "Alternate launches of both: haloscope run --resume DIR --launches N."
_OF_IMPORTED = {RERUN: "Import the outputs of more runs.", _RETRY: "", _ALTERNATE: ""}
_PREDICT = "Run haloscope validate local --from DIR."
_ALLOCATE = "Submit further jobs: haloscope run --resume DIR --allocations N."
EXPLAINED: Mapping[Caveat, Explanation] = MappingProxyType({
    Caveat.INCOMPLETE: Explanation("Launches are missing from the tables.", _RETRY),
    Caveat.UNREADABLE: Explanation(
        "Lines of records.jsonl are not records; their launches may count as not run."
    ),
    Caveat.UNKNOWN_SETTING: Explanation("The study names a setting that no case has."),
    Caveat.MIXED: Explanation("Launches under one name were measured under different conditions."),
    Caveat.CHANGED: Explanation(
        "Some launches were measured after a change of MPI, code, or host (--accept-change)."
    ),
    Caveat.OVERSUBSCRIBED: Explanation(
        "Processes or threads shared cores, so times are not representative of the machine."
    ),
    Caveat.UNVERIFIED: Explanation("Numerical results were not verified."),
    Caveat.EMULATED: Explanation(
        "Emulated device: results are verified; timings are not representative of a GPU."
    ),
    Caveat.SIMULATED: Explanation("Simulated with SimGrid; not run on the real machine."),
    Caveat.REPLICATES: Explanation(
        "Confidence intervals are computed over simulated replicates with random differences "
        "between nodes."
    ),
    Caveat.NOT_VALIDATED: Explanation(
        "Some of these simulated times have not been validated against published times."
    ),
    Caveat.MIXED_CORES: Explanation(
        "Cores of several kinds ran together; the slowest core sets the time."
    ),
    Caveat.BUSY: Explanation(
        "Other programs were running at the start, so times may be too long.",
        "Rerun on an idle machine.",
    ),
    Caveat.UNSTEADY: Explanation(
        "Launches of the same case vary by more than 1.3x.",
        "Look for causes with haloscope doctor.",
    ),
    Caveat.DISTURBED_CALIBRATION: Explanation("The calibration was disturbed."),
    Caveat.OUTDATED: Explanation("The records changed after their times were predicted.", _PREDICT),
    Caveat.NOT_PREDICTED: Explanation("The times of this folder were not predicted.", _PREDICT),
    Caveat.DIFFERENT_CONDITIONS: Explanation(
        "The two folders differ in more than the compared setting."
    ),
    Caveat.DRIFT: Explanation(
        "The two folders were measured at different times; machine drift may explain differences.",
        _ALTERNATE,
    ),
    Caveat.IMPORTED: Explanation(
        "Imported from outputs of other benchmarks; repetitions and binding are not known.",
        "Cases are matched by kernel, parameters, and processes.",
    ),
    Caveat.IMPLAUSIBLE: Explanation(
        "No machine has such a latency or bandwidth.",
        "Check for shared cores, a busy machine, a wrong network, or wrong units.",
    ),
    Caveat.SEVERAL_OPERATIONS: Explanation(
        "Repetitions of one launch differ by 10x or more.",
        "Check that the patterns of program.toml match lines of one operation and size.",
    ),
    Caveat.NO_TIME: Explanation(
        "The program printed no valid time for these sizes in some launches. The total of a launch "
        "covers only the sizes that all launches have.",
        "Time more steps at once, or print more digits.",
    ),
    Caveat.NEAR_CACHE_SIZE: Explanation(
        "The working set is within 25 % of a cache size, where the node model has a step; these "
        "times are less reliable.",
    ),
    Caveat.ONE_LAUNCH: Explanation("One launch: no confidence interval.", RERUN),
    Caveat.FEW_LAUNCHES: Explanation(
        "Too few launches for a confidence interval: the range is given.", RERUN
    ),
    Caveat.TOO_FEW: Explanation("Too few launches for a significance test.", RERUN),
    Caveat.ONE_ALLOCATION: Explanation(
        "All launches ran in one allocation of the batch system; results may not hold on other "
        "nodes.",
        _ALLOCATE,
    ),
    Caveat.FEW_ALLOCATIONS: Explanation(
        "Too few allocations of the batch system for a test to show a difference.", _ALLOCATE
    ),
    Caveat.OTHER_LEVEL: Explanation("The compared working sets are in different levels of memory."),
    Caveat.PARTLY_CACHED: Explanation("Caches hold a part of this working set."),
    Caveat.SUPERLINEAR: Explanation("Efficiency above 100 %: cause not identified."),
    Caveat.BANDWIDTH_GROWS: Explanation(
        "Efficiency above 100 %: the bandwidth of STREAM triad over such a working set also grows "
        "faster than the number of cores."
    ),
    Caveat.SUPERLINEAR_UNSHOWN: Explanation(
        "These launches do not show that the efficiency is above 100 %."
    ),
    Caveat.DIFFERENT_PROGRAM: Explanation(
        "The published values are for a different program or variant."
    ),
    Caveat.STAND_IN: Explanation(
        "Kernels represent programs of the paper. Times of steps are not comparable with run times "
        "of the programs.",
    ),
    Caveat.IN_SAMPLE: Explanation(
        "The model uses the same simulated rates, so its error says nothing about the machine."
    ),
    Caveat.ONE_SOCKET: Explanation("Ranks of a node fill one socket first (bind = close)."),
    Caveat.COLD: Explanation("The time of the first size may include warm-up."),
    Caveat.PARTS_DEVIATE: Explanation(
        "At some sizes, the separately timed parts do not add up to the whole. The longest part "
        "may not dominate there.",
        "Compare both columns of the table that lists the parts.",
    ),
    Caveat.DOUBTFUL_FIT: Explanation("The fitted lines have impossible values for a ring."),
    Caveat.OF_THE_SIMULATOR: Explanation(
        "Collective operations use the algorithms of the simulator or of the cluster file, not "
        "those of an MPI library."
    ),
})  # fmt: skip
