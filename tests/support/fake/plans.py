# SPDX-License-Identifier: BSD-3-Clause
"""Plans of runs with the fake kernel."""

from typing import Any

from fakes import FakeProgram

from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.plan import Plan
from haloscope.study.schema import Study

SITE = Site(nodes=1, cores=4, hardware_threads=8, memory_bytes=2**30, toolchains=("fake",))


def planned(*runs: dict[str, Any], site: Site = SITE, launches: int = 1) -> Plan:
    tables = [{"kernel": "fake", **run} for run in runs]
    study = Study.model_validate({"title": "t", "launches": launches, "runs": tables})
    return expand(study, site, FakeProgram())
