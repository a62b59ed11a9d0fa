# SPDX-License-Identifier: BSD-3-Clause
"""Site files: read whole, or refused with every problem's file, key, value and remedy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.sites import file as site_file
from haloscope.sites.schedulers.slurm import Slurm

GOOD = """
source = "sinfo"
scheduler = "slurm"
partition = "short"
launcher = "srun"
mpi = "pmix"

[[partitions]]
name = "short"
nodes = 8
cores = 16
memory_mb = 64000
max_minutes = 30
"""


def written(folder: Path, text: str, name: str = "taki") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path) -> list[str]:
    with pytest.raises(UserError) as caught:
        site_file.load(path)
    return [str(problem) for problem in caught.value.problems]


def test_a_site_is_named_after_its_file(tmp_path: Path) -> None:
    site = site_file.load(written(tmp_path, GOOD))

    assert (site.name, site.used.cores, site.used.max_minutes) == ("taki", 16, 30)


def test_a_written_site_file_is_read_back(tmp_path: Path) -> None:
    site = site_file.load(written(tmp_path, GOOD + "\n[environment]\nSLURM_CONF = '/etc/x'\n"))

    site_file.write(site, tmp_path / "sites" / "taki.toml")

    assert site_file.load(tmp_path / "sites" / "taki.toml") == site


def test_a_user_file_is_found_by_name_and_others_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sites").mkdir()
    written(tmp_path / "sites", GOOD)

    assert site_file.find("taki").name == "taki"
    with pytest.raises(UserError, match="'taki'"):
        site_file.find("takis")


@pytest.mark.parametrize(
    ("old", "new", "what", "remedy"),
    [
        (
            'mpi = "pmix"',
            'mpi = "--x"',
            'mpi: .*"--x"',
            "pmix, pmix_v4, pmi2, cray_shasta, or none",
        ),
        ('mpi = "pmix"', "", 'mpi: .*launcher = "srun"', "--mpi=list"),
        ('launcher = "srun"', 'lancher = "srun"', "lancher: unknown key", "'launcher'"),
        (
            'scheduler = "slurm"',
            'scheduler = "sge"',
            'scheduler: .*"sge"',
            "slurm, pbs",
        ),
        ('scheduler = "slurm"', 'scheduler = "pbs"', "launcher: ", "mpirun"),
        ('scheduler = "slurm"', 'scheduler = "lsf"', "mpi: ", "remove"),
        ("nodes = 8", "nodes = 0", "partitions#1.nodes: .* 0", "from 1 to"),
        ("nodes = 8", "", "partitions#1.nodes: .*missing", "from 1 to"),
        ("cores = 16", "core = 16", "partitions#1.core: unknown key", "'cores'"),
        (
            'partition = "short"',
            'partition = "long"',
            "partition: .*'long'",
            "the only known name is 'short'",
        ),
        ('partition = "short"', 'partition = "a b"', 'partition: .*"a b"', "partitions"),
        ('mpi = "pmix"', 'mpi = "pmix"\nmodules = ["gcc", "-f"]', '"-f"', "module load"),
        ('mpi = "pmix"', 'mpi = "pmix"\nmodules = ["*"]', r'"\*"', "module load"),
        ('mpi = "pmix"', 'mpi = "pmix"\nmodules = ["{a,b}"]', '"{a,b}"', "module load"),
        ('mpi = "pmix"', 'mpi = "pmix"\nmodules = ["~x"]', '"~x"', "module load"),
        ('mpi = "pmix"', 'mpi = "pmix"\nmodules = ["/x/y"]', '"/x/y"', "module load"),
        ('mpi = "pmix"', 'mpi = "pmix"\nmodules = ["a/../b"]', r'"a/\.\./b"', "module"),
        ('mpi = "pmix"', 'mpi = "pmix"\nconstraint = "a b"', 'constraint: .*"a b"', "features"),
        ('mpi = "pmix"', 'mpi = "pmix"\nqos = "--x"', '"--x"', "quality"),
        ('mpi = "pmix"', 'mpi = "pmix"\ngpus = 0', "gpus: .* 0", "GPUs per node"),
        (
            'mpi = "pmix"',
            'mpi = "pmix"\nmemory = "4 GB"',
            'memory: .*"4 GB"',
            "sbatch --mem",
        ),
        ('mpi = "pmix"', 'mpi = "pmix"\ntasks_per_node = 0', "tasks_per_node: .* 0", "from 1"),
        ('source = "sinfo"', 'name = "x"\nsource = "s"', "name: .*'taki'", "remove"),
    ],
)
def test_an_invalid_value_is_named_with_the_allowed_ones(
    tmp_path: Path, old: str, new: str, what: str, remedy: str
) -> None:
    said = refused(written(tmp_path, GOOD.replace(old, new)))

    assert any(re.search(f"taki.toml: .*{what}", line) and remedy in line for line in said), said


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("cores = 16", "cores = -1").replace('mpi = "pmix"', "mpi = 3")

    assert len(refused(written(tmp_path, text))) == 2


def test_common_cluster_names_are_accepted(tmp_path: Path) -> None:
    more = 'modules = ["gcc/12.2.0", "openmpi/4.1.5-gcc_12", "intel@2021+x", "PrgEnv-gnu"]'
    more += '\nconstraint = "[rack1|rack2]&gpu*2"\naccount = "m1234.p-x"'
    site = site_file.load(written(tmp_path, GOOD.replace("[[part", f"{more}\n\n[[part")))

    assert len(site.modules) == 4
    assert site.constraint == "[rack1|rack2]&gpu*2"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("memory = 0", ["--mem=0"]),
        ('memory = "64G"', ["--mem=64G"]),
        ("tasks_per_node = 16", ["--ntasks-per-node=16"]),
        ("", []),
    ],
)
def test_memory_and_task_options_of_a_site_are_requested(
    tmp_path: Path, line: str, options: list[str]
) -> None:
    site = site_file.load(written(tmp_path, GOOD.replace("[[part", f"{line}\n[[part")))

    assert Slurm().of_site(site) == ["--partition=short", *options]
