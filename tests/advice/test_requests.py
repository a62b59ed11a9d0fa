# SPDX-License-Identifier: BSD-3-Clause
"""What is pasted into job scripts, and the files that launchers read."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from haloscope.advice import requests
from haloscope.advice.candidates import Candidate
from haloscope.errors import UserError
from haloscope.study import file
from haloscope.study.layouts import layouts

BLOCK = Candidate.of(64, 4, threads=2)


def test_slurm_options_request_nodes_tasks_and_threads() -> None:
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
def test_srun_options_match_the_mapping(mapping: str, bind: str, distribution: str) -> None:
    one = Candidate.of(64, 4, threads=2, bind=bind, mapping=mapping)
    assert f"--distribution={distribution} " in requests.launchers(one)["Slurm"]
    assert [*requests.files(one)] == [requests.LAYOUT_FILE]
    assert requests.script(one) == ""


UNEVEN = Candidate.of(16, 3)
"""UNEVEN has nodes of 6, 5, and 5 tasks."""


def test_uneven_task_counts_per_node_use_files() -> None:
    found = requests.files(UNEVEN)
    nodes = [int(line) for line in found[requests.NODES_FILE].split()]
    assert nodes == [0] * 6 + [1] * 5 + [2] * 5
    lines = requests.launchers(UNEVEN)
    assert "arbitrary" in lines["Slurm"] and "rankfile" in lines["Open MPI 5"]
    assert lines["MPICH"] == "mpiexec -n 16 -f machines"
    dealt = replace(UNEVEN, mapping="round_robin")  # which launchers do themselves
    assert requests.script(dealt) == "" and "cyclic" in requests.launchers(dealt)["Slurm"]


def test_the_machine_file_names_each_node_once_with_its_ranks(tmp_path: Path) -> None:
    nodes = [0, 2, 2, 1, 0, 2, 0]
    one = Candidate.of(7, 3, mapping=",".join(map(str, nodes)))
    (tmp_path / requests.NODES_FILE).write_text(requests.files(one)[requests.NODES_FILE])
    script = requests.script(one).replace("scontrol show hostnames", "printf 'a\\nb\\nc\\n'")
    subprocess.run(["sh", "-ec", script], cwd=tmp_path, check=True)
    assert (tmp_path / "machines").read_text().split() == ["a:3", "b:1", "c:3"]


@pytest.mark.parametrize(
    ("tasks", "threads", "bind", "mapping", "sockets", "expected"),
    [
        (64, 2, "close", "block", 2, "--map-by ppr:16:node:PE=2 --bind-to core"),
        (64, 2, "spread", "block", 2, "--map-by ppr:8:socket:PE=2 --bind-to core"),
        (64, 2, "spread", "block", 1, "--map-by ppr:16:node:PE=2 --bind-to core"),
        (64, 2, "spread", "block", None, "--map-by ppr:16:node --bind-to none"),
        (12, 1, "spread", "block", 2, "--map-by ppr:3:node --bind-to none"),
        (4, 24, "spread", "block", 2, "--map-by ppr:1:node:PE=24 --bind-to core"),
        (64, 2, "close", "round_robin", 2, "--map-by node:PE=2 --bind-to core"),
        (64, 2, "spread", "round_robin", 2, "--map-by node --bind-to none"),
    ],
)
def test_open_mpi_distributes_ranks_over_sockets_as_simulated(
    tasks: int, threads: int, bind: str, mapping: str, sockets: int | None, expected: str
) -> None:
    one = Candidate.of(tasks, 4, threads=threads, bind=bind, mapping=mapping)
    assert requests.launchers(one, sockets)["Open MPI"] == f"mpirun -n {tasks} {expected}"
    assert requests.as_data(one, sockets)["environment"] == f"export OMP_NUM_THREADS={threads}"


def test_other_mappings_write_files_that_place_every_rank() -> None:
    nodes = [0, 1, 1, 0, 2, 2]
    one = Candidate.of(6, 3, mapping=",".join(map(str, nodes)))
    found = requests.files(one)
    assert [int(line) for line in found[requests.NODES_FILE].split()] == nodes
    order = [int(rank) for rank in found[requests.ORDER_FILE].split(",")]
    placed = {rank: place // 2 for place, rank in enumerate(order)}  # nodes are filled in order
    assert [placed[rank] for rank in range(6)] == nodes
    # a machine file of Hydra would start ranks of one node that share no memory
    assert requests.launchers(one)["MPICH"] == "mpiexec -n 6 -ppn 2"
    # Open MPI 4 does not know the modifier of 5, which warns of the option of 4
    assert "--map-by rankfile:FILE=rankfile" in requests.launchers(one)["Open MPI 5"]
    assert "--rankfile rankfile" in requests.launchers(one)["Open MPI 4"]


@pytest.mark.parametrize(("mapping", "seed"), [("block", None), ("random", 3), ("0,1,1,0", None)])
def test_a_run_accepts_an_exported_layout(tmp_path: Path, mapping: str, seed: int | None) -> None:
    one = Candidate.of(4, 2, threads=2, bind="spread", mapping=mapping, mapping_seed=seed)
    (tmp_path / "layout.toml").write_text(requests.files(one)[requests.LAYOUT_FILE])
    (found,) = layouts(axes := file.layout(tmp_path / "layout.toml"), axes.nodes, 8)
    assert Candidate(**vars(found)) == one


def test_all_problems_of_a_layout_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "layout.toml"
    path.write_text("nodes = 0\ntask = 4\n")
    with pytest.raises(UserError) as error:
        file.layout(path)
    assert [one.where for one in error.value.problems] == [f"{path}: nodes#1", f"{path}: task"]
    assert "tasks" in error.value.problems[1].remedy


def test_contradictory_numbers_are_reported_for_the_layout_file(tmp_path: Path) -> None:
    path = tmp_path / "layout.toml"
    path.write_text('nodes = 2\ntasks = 4\nmapping = "0,1,1"\n')
    with pytest.raises(UserError) as error:
        file.layout(path)
    assert [one.where for one in error.value.problems] == [str(path)]


def test_the_script_writes_hosts_and_a_rankfile(tmp_path: Path) -> None:
    nodes = [0, 1, 1, 0]
    one = Candidate.of(4, 2, threads=2, mapping=",".join(map(str, nodes)))
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
