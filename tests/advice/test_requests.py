# SPDX-License-Identifier: BSD-3-Clause
"""What is pasted into job scripts, and the files that launchers read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from haloscope.advice import requests
from haloscope.advice.candidates import Candidate

BLOCK = Candidate(64, 4, 2, "close")


def test_slurm_is_asked_for_nodes_tasks_and_threads() -> None:
    assert requests.sbatch(BLOCK) == [
        "#SBATCH --nodes=4",
        "#SBATCH --ntasks=64",
        "#SBATCH --ntasks-per-node=16",
        "#SBATCH --cpus-per-task=2",
    ]


@pytest.mark.parametrize(
    ("mapping", "bind", "distribution"),
    [
        ("block", "close", "block:block"),
        ("block", "spread", "block:cyclic"),
        ("round_robin", "spread", "cyclic:cyclic"),
    ],
)
def test_srun_distributes_as_the_mapping_says(mapping: str, bind: str, distribution: str) -> None:
    one = Candidate(64, 4, 2, bind, mapping)
    assert f"--distribution={distribution} " in requests.launchers(one)["Slurm"]
    assert requests.files(one) == {}
    assert requests.script(one) == ""


def test_other_mappings_have_files_that_place_every_rank() -> None:
    nodes = [0, 1, 1, 0, 2, 2]
    one = Candidate(6, 3, 1, "close", ",".join(map(str, nodes)))
    found = requests.files(one)
    assert [int(line) for line in found[requests.NODES_FILE].split()] == nodes
    order = [int(rank) for rank in found[requests.ORDER_FILE].split(",")]
    placed = {rank: place // 2 for place, rank in enumerate(order)}  # nodes are filled in order
    assert [placed[rank] for rank in range(6)] == nodes


def test_the_script_writes_hosts_and_a_rankfile(tmp_path: Path) -> None:
    nodes = [0, 1, 1, 0]
    one = Candidate(4, 2, 2, "close", ",".join(map(str, nodes)))
    for name, content in requests.files(one).items():
        (tmp_path / name).write_text(content)
    hosts = "scontrol() { printf 'a1\\na2\\n'; }\n"
    subprocess.run(["sh", "-ec", hosts + requests.script(one)], cwd=tmp_path, check=True)
    assert (tmp_path / "hosts").read_text().split() == ["a1", "a2", "a2", "a1"]
    assert (tmp_path / "rankfile").read_text().splitlines() == [
        "rank 0=a1 slot=0-1",
        "rank 1=a2 slot=0-1",
        "rank 2=a2 slot=2-3",
        "rank 3=a1 slot=2-3",
    ]
