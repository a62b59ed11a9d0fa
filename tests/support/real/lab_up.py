# SPDX-License-Identifier: BSD-3-Clause
"""A lab for tests: four hosts of two cores on two switches, up once and taken down at the end."""

from __future__ import annotations

from collections.abc import Iterator

import lab_jobs
import pytest

from haloscope.lab import Lab, cluster
from haloscope.lab.cluster import RunningLab
from haloscope.toolchains import library

LAB = Lab(nodes=4, cores=2, switches=2, rate_bits_per_s=1e9)


@pytest.fixture(scope="session")
def lab() -> Iterator[RunningLab]:
    if problems := [*cluster.problems()]:
        pytest.skip("no cluster in a box: " + "; ".join(f"{p.where}: {p.what}" for p in problems))
    running = cluster.up(LAB, lambda _: None)
    try:
        yield running
    finally:
        cluster.down()


@pytest.fixture
def whole(lab: RunningLab) -> Iterator[RunningLab]:
    """The lab, whose nodes are all there again afterwards, and wait for jobs."""
    yield lab
    lab_jobs.mended(lab)


@pytest.fixture(scope="session")
def built() -> str:
    """The toolchain that halobench is built with."""
    return library.ensure(None, say=lambda _: None).name
