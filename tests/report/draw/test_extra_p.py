# SPDX-License-Identifier: BSD-3-Clause
"""Extra-P's own reader reads the points that a report writes for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from statistics import median

import pytest
from recorded import Raw, poisson, write_folder

from haloscope.report.composing import compose
from haloscope.report.draw import csv_files

READER = (
    *("extrap==4.2.5", "pycubexr==2.1.1", "marshmallow==3.26.2", "tqdm==4.70.1"),
    "packaging==26.3",
)
"""READER is Extra-P and what its reader imports beside numpy and matplotlib."""

PROGRAM = """\
import json, sys
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file

read = read_jsonlines_file(sys.argv[1])
((path, metric),) = read.measurements
points = [[*map(float, one.coordinate), one.median] for one in read.measurements[path, metric]]
names = [parameter.name for parameter in read.parameters]
print(json.dumps({"names": names, "path": path.name, "metric": metric.name, "points": points}))
"""

STUDY = 'title = "T"\n[[runs]]\nkernel = "poisson_cg"\n[[tables]]\nkind = "scaling_law"\n'


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Extra-P, which this environment has no need of."""
    folder = tmp_path_factory.mktemp("extra-p")
    venv.create(folder / "installer", with_pip=True)
    install = [str(folder / "installer" / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    there = folder / "packages"
    subprocess.run(
        [*install, "--no-deps", "--target", str(there), *READER], check=True, timeout=600
    )
    return there


def written(folder: Path, raws: list[Raw]) -> Path:
    """The file of the only law of these records."""
    folder.mkdir()
    csv_files.write(compose(write_folder(folder, raws, STUDY)), {}, folder)
    (path,) = folder.glob("tables/*.jsonl")
    return path


@pytest.mark.toolchains
def test_extra_p_files_have_the_median_launch_per_point(packages: Path, tmp_path: Path) -> None:
    over_processes = {
        p: [
            poisson(256, ranks=p, launch=k, time_s=(0.5 + 8.0 / p) * (1 + 0.001 * k**2))
            for k in range(6)
        ]
        for p in (1, 2, 4, 8, 16)
    }
    over_sizes = {
        n: [poisson(n, launch=k, time_s=1e-6 * n**2 * (1 + 0.001 * k**2)) for k in range(6)]
        for n in (64, 128, 256, 512, 1024)
    }
    for name, ladder in (("p", over_processes), ("n", over_sizes)):
        path = written(tmp_path / name, [raw for raws in ladder.values() for raw in raws])

        environment = {**os.environ, "PYTHONPATH": str(packages), "MPLBACKEND": "agg"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, path],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=600,
        )

        assert done.returncode == 0, done.stderr
        read = json.loads(done.stdout)
        assert (read["names"], read["metric"]) == ([name], "time")
        expected = [(x, median(raw["times_s"][0] for raw in raws)) for x, raws in ladder.items()]
        assert [tuple(point) for point in read["points"]] == pytest.approx(expected)
