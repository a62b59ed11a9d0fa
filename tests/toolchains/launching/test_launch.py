# SPDX-License-Identifier: BSD-3-Clause
"""The launch command of every family, as arguments and environment; nothing is launched here."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.toolchains.launching import Job, launch, launchers
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.launching.launchers import Launcher
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import Family, TransportSettings

BIND = str(Path(launch.__file__).with_name("bind_rank.sh"))
FOUR = (0, 1, 2, 3)
CPU = min(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same providers on every machine, and no FFTW that somebody added to its cache."""
    monkeypatch.setattr("haloscope.toolchains.libfabric.providers", lambda prefix: ("tcp", "verbs"))
    monkeypatch.setattr("haloscope.toolchains.fftw.library", lambda: None)


def of(family: Family, prefix: Path | None = None) -> Toolchain:
    return Toolchain("x", prefix, Path("/x/mpicxx"), Path("/x/mpirun"), family, "X MPI 1")


def command(family: Family, job: Job) -> list[str]:
    return launch_command(of(family), job, ["prog", "n=4"], {})[0]


def environment(family: Family, job: Job, **inherited: str) -> dict[str, str]:
    return launch_command(of(family), job, ["prog"], inherited)[1]


def test_openmpi() -> None:
    assert command("openmpi", Job(Layout(ppn=2), cpus=FOUR)) == [
        *("/x/mpirun", "-n", "2", "--host", "localhost:2", "--map-by", "slot:OVERSUBSCRIBE"),
        *("--bind-to", "none"),
        *("--mca", "btl", "^ofi", "sh", BIND, "0:1", "prog", "n=4"),
    ]


def test_mpich() -> None:
    assert command("mpich", Job(Layout(ppn=2, threads=2), cpus=FOUR)) == [
        *("/x/mpirun", "-n", "2", "-launcher", "fork", "-bind-to", "none"),
        *("sh", BIND, "0,1:2,3", "prog", "n=4"),
    ]


def test_impi() -> None:
    assert command("impi", Job(Layout(), cpus=FOUR)) == [
        *("/x/mpirun", "-n", "1", "sh", BIND, "0", "prog", "n=4"),
    ]
    env = environment("impi", Job(Layout(), cpus=FOUR))
    assert env["I_MPI_PIN"] == "0"
    assert env["I_MPI_FABRICS"] == "shm"
    assert env["I_MPI_HYDRA_BOOTSTRAP"] == "fork"


def test_intel_scripts_receive_their_installation_path(tmp_path: Path) -> None:
    env = launch_command(of("impi", tmp_path), Job(Layout(), cpus=FOUR), ["prog"], {})[1]
    assert env["I_MPI_ROOT"] == str(tmp_path)
    assert env["PATH"].split(os.pathsep)[0] == str(tmp_path / "bin")


def test_the_intel_library_finds_its_bundled_libfabric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers = tmp_path / "lib" / "prov"
    providers.mkdir(parents=True)
    (tmp_path / "lib" / "libfabric.so.1").touch()
    (providers / "libtcp-fi.so").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/mine")

    env = launch_command(of("impi", tmp_path), Job(Layout(), cpus=FOUR), ["prog"], {})[1]

    assert env["LD_LIBRARY_PATH"] == f"{tmp_path / 'lib'}:/opt/mine"
    assert env["FI_PROVIDER_PATH"] == str(providers)
    assert "LD_LIBRARY_PATH" not in of("impi").environment()
    assert "LD_LIBRARY_PATH" not in of("mpich", tmp_path).environment()


def test_openmpi_may_run_as_root() -> None:
    env = environment("openmpi", Job(Layout(), cpus=FOUR))
    assert env["OMPI_ALLOW_RUN_AS_ROOT"] == env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"


@pytest.mark.parametrize(
    ("ranks", "threads", "bind", "thread_bind", "cpus"),
    [
        (1, 1, "close", "close", [(4,)]),
        (2, 2, "close", "close", [(4, 5), (6, 7)]),
        (2, 2, "close", "spread", [(4, 5), (6, 7)]),
        (2, 1, "spread", "close", [(4,), (8,)]),
        (1, 2, "spread", "spread", [(4, 8)]),
        (1, 2, "close", "spread", [(4, 8)]),
        (1, 2, "spread", "close", [(4, 5)]),
        (2, 2, "spread", "close", [(4, 5), (8, 9)]),
        (2, 2, "spread", "spread", [(4, 6), (8, 10)]),
        (3, 1, "spread", "close", [(4,), (6,), (9,)]),
        (3, 2, "spread", "close", [(4, 5), (6, 7), (9, 10)]),
        (4, 2, "spread", "close", [(4, 5), (6, 7), (8, 9), (10, 11)]),
        (2, 2, "none", "close", [(4, 5, 6, 7, 8, 9, 10, 11)] * 2),
    ],
)
def test_close_fills_the_first_cores_and_spread_uses_all(
    ranks: int, threads: int, bind: str, thread_bind: str, cpus: list[tuple[int, ...]]
) -> None:
    layout = Layout(ppn=ranks, threads=threads, bind=bind, thread_bind=thread_bind)
    assert Job(layout, cpus=(4, 5, 6, 7, 8, 9, 10, 11)).cpus_of_ranks() == cpus


def test_openmp_receives_the_thread_count_and_places() -> None:
    env = environment(
        "mpich", Job(Layout(threads=2, places="sockets", thread_bind="spread"), cpus=FOUR)
    )
    words = {name: value for name, value in env.items() if name.startswith("OMP_")}
    assert words == {
        "OMP_NUM_THREADS": "2",
        "OMP_DYNAMIC": "false",
        "OMP_PLACES": "sockets",
        "OMP_PROC_BIND": "spread",
    }


def test_unbound_threads_are_placed_by_the_operating_system() -> None:
    env = environment("mpich", Job(Layout(threads=2, bind="none"), cpus=FOUR))
    words = {name: value for name, value in env.items() if name.startswith("OMP_")}
    assert words == {"OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}


def test_oversubscribed_ranks_share_all_processors_unbound_and_yield() -> None:
    job = Job(Layout(ppn=3), cpus=(0, 1), oversubscribe=True)
    assert job.oversubscribed
    assert command("openmpi", job)[-7:] == [
        *("mpi_yield_when_idle", "1", "sh", BIND, "0,1:0,1:0,1", "prog", "n=4"),
    ]
    assert environment("openmpi", job)["OMP_PROC_BIND"] == "false"
    assert "OMP_PLACES" not in environment("openmpi", job)
    assert environment("impi", job)["I_MPI_THREAD_YIELD"] == "3"


def test_permission_to_oversubscribe_has_no_effect_with_enough_cores() -> None:
    asked = Job(Layout(ppn=2), cpus=(0, 1), oversubscribe=True)
    assert command("openmpi", asked) == command("openmpi", Job(Layout(ppn=2), cpus=(0, 1)))


def test_a_transport_is_requested_in_the_syntax_of_the_library() -> None:
    tcp = Job(Layout(ppn=2), transport="tcp", cpus=FOUR)
    assert command("openmpi", tcp)[9:15] == ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp"]
    verbs = command("openmpi", Job(Layout(ppn=2), transport="verbs", cpus=FOUR))
    assert verbs[verbs.index("mtl_ofi_provider_include") + 1] == "verbs"
    assert environment("mpich", tcp)["FI_PROVIDER"] == "tcp"
    assert environment("impi", tcp)["I_MPI_FABRICS"] == "ofi"
    assert "FI_PROVIDER" not in environment("impi", Job(Layout(ppn=2), cpus=FOUR))


def test_variables_of_an_outer_job_are_removed_and_user_tuning_kept() -> None:
    env = environment(
        "openmpi",
        Job(Layout(), cpus=FOUR),
        HOME="/home/x",
        OMPI_COMM_WORLD_RANK="3",
        OMPI_MCA_orte_hnp_uri="x",
        OMPI_MCA_btl_tcp_if_include="lo",
        PMIX_RANK="3",
        PMI_RANK="3",
        MPI_LOCALRANKID="3",
        SLURM_JOB_ID="7",
        OMP_NUM_THREADS="99",
        KMP_AFFINITY="compact",
        GOMP_CPU_AFFINITY="7",
    )
    ours = ("OMP_", "OMPI_ALLOW")
    kept = {name: value for name, value in env.items() if not name.startswith(ours)}
    assert kept == {"HOME": "/home/x", "OMPI_MCA_btl_tcp_if_include": "lo"}
    assert env["OMP_NUM_THREADS"] == "1"


def test_all_problems_are_reported_at_once() -> None:
    job = Job(
        Layout(ppn=0, threads=-1, places="core", bind="tight", thread_bind="none"),
        transport="carrier-pigeon",
        cpus=FOUR,
    )
    with pytest.raises(UserError) as caught:
        command("openmpi", job)
    assert [problem.where for problem in caught.value.problems] == [
        *("ranks", "threads", "places", "bind", "thread_bind", "transport"),
    ]
    assert "did you mean 'cores'" in caught.value.problems[2].remedy


def test_oversubscription_needs_permission() -> None:
    with pytest.raises(UserError, match=r"2 ranks x 3 threads.*\n.*--oversubscribe"):
        command("openmpi", Job(Layout(ppn=2, threads=3), cpus=FOUR))


@pytest.mark.parametrize(
    "name",
    [
        *("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"),
        *("PALS_LOCAL_RANKID", "JSM_NAMESPACE_LOCAL_RANK"),
    ],
)
def test_a_rank_binds_itself_to_its_processor_list(name: str) -> None:
    done = run_bind_rank(f"9999:{CPU}", {name: "1"})
    assert f"Cpus_allowed_list:\t{CPU}\n" in done.stdout


def test_a_rank_without_a_number_or_processor_list_does_not_run() -> None:
    assert run_bind_rank(f"{CPU}", {}).returncode != 0
    assert run_bind_rank("9999", {"MPI_LOCALRANKID": "0"}).returncode != 0


def run_bind_rank(lists: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", BIND, lists, "cat", "/proc/self/status"],
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        check=False,
    )


TWO = Job(Layout(2, 2), cpus=FOUR, hosts=("n1", "n2"), bootstrap="slurm")
ONE = replace(TWO, layout=Layout(ppn=4), hosts=("n1",))


def mapped(mapping: str, seed: int | None = None) -> Job:
    return replace(TWO, layout=replace(TWO.layout, mapping=mapping, mapping_seed=seed))


def test_ranks_are_distributed_evenly_over_hosts() -> None:
    assert command("openmpi", TWO)[3:5] == ["--host", "n1:2,n2:2"]
    assert command("mpich", TWO)[3:9] == ["-hosts", "n1,n2", "-ppn", "2", "-bind-to", "none"]
    assert command("impi", TWO)[3:7] == ["-hosts", "n1,n2", "-ppn", "2"]
    assert environment("impi", TWO)["I_MPI_HYDRA_BOOTSTRAP"] == "slurm"
    assert environment("impi", TWO)["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] == "0"
    assert "I_MPI_FABRICS" not in environment("impi", TWO)
    assert command("impi", TWO)[-3:] == ["0:1", "prog", "n=4"]
    assert not Job(Layout(2, 4), cpus=FOUR, hosts=("n1", "n2")).oversubscribed
    with pytest.raises(UserError, match="ranks: 1 "):
        command("impi", Job(Layout.of(1, 2), cpus=FOUR, hosts=("n1", "n2")))


def test_uneven_ranks_are_counted_per_host() -> None:
    uneven = replace(TWO, layout=Layout.of(5, 2))

    assert command("openmpi", uneven)[3:5] == ["--host", "n1:3,n2:2"]
    assert command("mpich", uneven)[3:5] == ["-hosts", "n1:3,n2:2"]
    assert command("impi", uneven)[3:5] == ["-hosts", "n1:3,n2:2"]
    argv, _ = by_srun(uneven)
    assert argv[argv.index("--nodelist") + 1] == "n1,n1,n1,n2,n2"
    assert "--distribution=arbitrary" in argv
    assert argv[-2] == "0:1:2"  # of a full host, which the others begin like
    assert not Job(Layout.of(8, 3), cpus=FOUR, hosts=("n1", "n2", "n3")).oversubscribed
    assert Job(Layout.of(13, 3), cpus=FOUR, hosts=("n1", "n2", "n3")).oversubscribed


def test_ranks_are_distributed_round_robin() -> None:
    turns = mapped("round_robin")

    assert command("openmpi", turns)[3:7] == [
        "--host",
        "n1,n2,n1,n2",
        "--map-by",
        "seq:OVERSUBSCRIBE",
    ]
    assert command("mpich", turns)[3:7] == ["-hosts", "n1,n2", "-ppn", "1"]
    assert command("impi", turns)[3:7] == ["-hosts", "n1,n2", "-ppn", "1"]


def test_open_mpi_accepts_any_host_order() -> None:
    mixed = mapped("random", 0)

    assert command("openmpi", mixed)[3:7] == [
        "--host",
        "n2,n1,n1,n2",
        "--map-by",
        "seq:OVERSUBSCRIBE",
    ]


def by_srun(job: Job, family: Family = "openmpi") -> tuple[list[str], dict[str, str]]:
    toolchain = replace(of(family), mpirun=Path("srun"), launcher="srun-pmix")
    return launch_command(toolchain, job, ["prog"], {"SLURM_JOB_ID": "7", "PMIX_RANK": "3"})


def test_srun_starts_ranks_on_a_subset_of_nodes_without_binding() -> None:
    argv, env = by_srun(TWO)

    assert argv == [
        *("srun", "--mpi=pmix", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2"),
        *("--nodelist", "n1,n2", "--distribution=block", "--overlap", "--overcommit"),
        *("--cpu-bind=none", "--kill-on-bad-exit=1", "--export=ALL"),
        *("sh", BIND, "0:1", "prog"),
    ]
    assert env["SLURM_JOB_ID"] == "7" and "PMIX_RANK" not in env
    assert env["OMPI_MCA_btl"] == "^ofi"


def test_srun_maps_ranks_according_to_the_layout() -> None:
    turns, _ = by_srun(mapped("round_robin"))
    assert "--distribution=cyclic" in turns

    for job in (mapped("random", 0), mapped("1,0,0,1")):
        mixed, _ = by_srun(job)

        assert mixed[mixed.index("--nodelist") + 1] == "n2,n1,n1,n2"
        assert "--distribution=arbitrary" in mixed and "--ntasks-per-node=2" not in mixed


def test_srun_passes_the_variables_of_the_library_launcher() -> None:
    assert by_srun(replace(TWO, transport="tcp"))[1]["OMPI_MCA_btl"] == "self,tcp"
    assert by_srun(replace(TWO, transport="tcp"), "impi")[1]["FI_PROVIDER"] == "tcp"
    assert "I_MPI_FABRICS" not in by_srun(TWO, "impi")[1]
    assert by_srun(ONE, "impi")[1]["I_MPI_FABRICS"] == "shm"


@pytest.mark.parametrize("family", ["openmpi", "mpich", "impi"])
def test_a_native_launcher_needs_the_batch_job_only_for_other_hosts(family: Family) -> None:
    outer = {"SLURM_JOB_ID": "7", "PBS_JOBID": "8", "LSB_HOSTS": "n1"}

    assert outer.keys() <= launch_command(of(family), TWO, ["prog"], outer)[1].keys()
    assert not outer.keys() & launch_command(of(family), ONE, ["prog"], outer)[1].keys()


def test_intel_mpi_needs_a_bootstrap_option_only_under_slurm() -> None:
    assert "I_MPI_HYDRA_BOOTSTRAP" not in environment("impi", replace(TWO, bootstrap=None))


def test_ranks_are_not_bound_to_processors_that_hosts_share() -> None:
    job = replace(TWO, shared=True, oversubscribe=True)

    assert job.oversubscribed
    assert command("mpich", job)[-3:] == ["0,1,2,3:0,1,2,3", "prog", "n=4"]


class Throwaway(Launcher):
    """A batch system's launcher, as somebody might add it."""

    keeps = ("SLURM_",)

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        return [
            f"--ntasks={job.layout.ranks}",
            f"--nodelist={','.join(job.hosts)}",
            "--cpu-bind=none",
        ]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        return {f"OMPI_MCA_{key}": value for key, value in transport.items()}


def test_a_launcher_needs_only_a_class_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other file knows of it: the ranks bind themselves, as with any other."""
    known = {**launchers.LAUNCHERS, "throwaway": Throwaway()}
    monkeypatch.setattr(launchers, "LAUNCHERS", known)
    toolchain = replace(of("openmpi"), mpirun=Path("/x/srun"), launcher="throwaway")
    outer = {"SLURM_JOB_ID": "7", "PMIX_RANK": "3"}

    argv, env = launch_command(toolchain, TWO, ["prog"], outer)

    assert argv == [
        *("/x/srun", "--ntasks=4", "--nodelist=n1,n2", "--cpu-bind=none"),
        *("sh", BIND, "0:1", "prog"),
    ]
    assert env["OMPI_MCA_btl"] == "^ofi"
    assert env["OMP_NUM_THREADS"] == "1"
    assert env["SLURM_JOB_ID"] == "7" and "PMIX_RANK" not in env


LEAKS = {
    "SLURM_CPUS_PER_TASK": "16",
    "SRUN_CPUS_PER_TASK": "16",
    "SLURM_TRES_PER_TASK": "cpu=16",
    "SLURM_GPUS_PER_TASK": "1",
    "SLURM_NTASKS_PER_NODE": "1",
    "SLURM_NTASKS_PER_CORE": "1",
    "SLURM_CPU_BIND": "quiet,mask_cpu:0x1",
    "SLURM_CPU_BIND_TYPE": "mask_cpu:",
    "SLURM_CPU_BIND_LIST": "0x1",
    "SLURM_MEM_BIND": "local",
    "SLURM_GPU_BIND": "single:1",
    "SLURM_MEM_PER_CPU": "1000",
    "SLURM_MEM_PER_NODE": "4000",
    "SLURM_DISTRIBUTION": "cyclic",
    "SLURM_HINT": "nomultithread",
    "SLURM_THREADS_PER_CORE": "1",
    "SLURM_EXPORT_ENV": "NONE",
    "SLURM_MPI_TYPE": "pmi2",
    "SLURM_HOSTFILE": "/tmp/hosts",
    "SLURM_ARBITRARY_NODELIST": "n2,n1",
    "SLURM_NTASKS_PER_TRES": "2",
    "SLURM_CONSTRAINT": "gpu",
    "SLURM_TASK_PROLOG": "/tmp/prolog",
    "SLURM_BCAST": "/tmp/program",
    "SLURM_WAIT": "1",
    "SLURM_REMOTE_CWD": "/",
    "SLURM_PRIO_PROCESS": "10",
    "SLURM_DEBUG": "3",
    "LSB_AFFINITY_HOSTFILE": "/tmp/affinity",
}
"""LEAKS are variables of an outer job by which srun, or a launcher that calls it, would start its
ranks differently than requested: srun(1), INPUT ENVIRONMENT VARIABLES."""
NEEDED = {
    "SLURM_JOB_ID": "7",
    "SLURM_CONF": "/etc/slurm/slurm.conf",
    "SLURM_JOB_NODELIST": "n[1-2]",
    "SLURM_NODELIST": "n[1-2]",
    "SLURM_TASKS_PER_NODE": "16(x2)",
    "SLURM_JOB_CPUS_PER_NODE": "16(x2)",
    "SLURM_NNODES": "2",
    "SLURM_GPUS_PER_NODE": "4",
}
"""NEEDED are those by which launchers know the job's nodes, and what of each it has."""


@pytest.mark.parametrize("launcher", ["srun-pmix", "openmpi", "mpich", "impi"])
def test_a_launch_keeps_the_nodes_of_an_outer_job_but_not_its_step(launcher: str) -> None:
    toolchain = replace(of("openmpi"), mpirun=Path("srun"), launcher=launcher)

    env = launch_command(toolchain, TWO, ["prog"], {**LEAKS, **NEEDED})[1]

    theirs = ("SLURM", "SRUN", "LSB")
    assert {key: value for key, value in env.items() if key.startswith(theirs)} == NEEDED


def test_an_srun_only_library_runs_on_a_node_of_a_job() -> None:
    """As of Cray's library. On a login node it would ask for a job of its own, and wait."""
    cray = replace(of("mpich"), mpirun=Path("srun"), launcher="srun")
    inside = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n4"}

    argv, _ = launch_command(cray, Job(Layout(ppn=2), cpus=FOUR), ["prog"], inside)

    assert argv[:6] == [
        *("srun", "--nodes=1", "--ntasks=2", "--ntasks-per-node=2", "--nodelist", "n4"),
    ]
    with pytest.raises(UserError, match="inside a Slurm job"):
        launch_command(cray, Job(Layout(ppn=2), cpus=FOUR), ["prog"], {})


def test_an_salloc_shell_is_in_a_job_but_on_none_of_its_nodes() -> None:
    cray = replace(of("mpich"), mpirun=Path("srun"), launcher="srun")

    with pytest.raises(UserError) as caught:
        launch_command(cray, Job(Layout(ppn=2), cpus=FOUR), ["prog"], {"SLURM_JOB_ID": "7"})

    (problem,) = caught.value.problems
    assert "job 7" in problem.what and "only inside" not in problem.what
    assert "srun --pty bash" in problem.remedy


def by(launcher: str, family: Family = "openmpi") -> Toolchain:
    return replace(of(family), mpirun=Path(f"/x/{launcher}"), launcher=launcher)


IN_PBS = {"PBS_JOBID": "7.far", "PBS_NODEFILE": "/var/spool/pbs/aux/7.far"}
IN_LSF = {"LSB_JOBID": "7", "LSB_DJOB_HOSTFILE": "/home/me/.lsbatch/7.hostfile"}


def test_pals_fills_the_named_hosts_without_binding() -> None:
    """The words are those of ALCF's and Dragon's command lines for it."""
    outer = {**IN_PBS, "PALS_LOCAL_RANKID": "3", "PALS_RANKID": "3", "PALS_PING_PERIOD": "240"}

    argv, env = launch_command(
        by("pals", "mpich"), replace(TWO, layout=Layout.of(3, 2)), ["prog"], outer
    )

    assert argv == [
        *("/x/pals", "-n", "3", "--ppn", "2", "--hosts", "n1,n2", "--cpu-bind", "none"),
        *("sh", BIND, "0:1", "prog"),
    ]
    assert {**IN_PBS, "PALS_PING_PERIOD": "240"}.items() <= env.items()
    assert "PALS_LOCAL_RANKID" not in env and "PALS_RANKID" not in env


def test_pals_starts_local_ranks_only_inside_a_job() -> None:
    argv, _ = launch_command(by("pals", "mpich"), Job(Layout(ppn=2), cpus=FOUR), ["prog"], IN_PBS)

    assert argv[:7] == ["/x/pals", "-n", "2", "--ppn", "2", "--cpu-bind", "none"]
    with pytest.raises(UserError, match="inside a PBS job") as caught:
        launch_command(by("pals", "mpich"), Job(Layout(ppn=2), cpus=FOUR), ["prog"], {})
    assert "qsub -I" in caught.value.problems[0].remedy


@pytest.mark.parametrize(("mapping", "dealt"), [("block", "packed"), ("round_robin", "cyclic")])
def test_jsrun_uses_a_resource_set_per_host_without_binding(mapping: str, dealt: str) -> None:
    outer = {**IN_LSF, "JSM_NAMESPACE_LOCAL_RANK": "3"}

    argv, env = launch_command(by("jsrun"), mapped(mapping), ["prog"], outer)

    assert argv == [
        *("/x/jsrun", "--nrs=2", "--rs_per_host=1", "--tasks_per_rs=2", "--cpu_per_rs=ALL_CPUS"),
        *("--gpu_per_rs=ALL_GPUS", f"--launch_distribution={dealt}", "--bind=none"),
        *("--exit_on_error=1", "sh", BIND, "0:1", "prog"),
    ]
    assert {**IN_LSF, "OMPI_MCA_btl": "^ofi", "OMP_NUM_THREADS": "1"}.items() <= env.items()
    assert "JSM_NAMESPACE_LOCAL_RANK" not in env


FAKES = {
    "pals": """
while :; do case $1 in
  -n) n=$2; shift 2;; --ppn|--hosts|--cpu-bind) shift 2;;
  -*) echo "mpiexec: unrecognized option $1" >&2; exit 1;; *) break;;
esac; done
for rank in $(seq 0 $((n - 1))); do PALS_RANKID=$rank PALS_LOCAL_RANKID=$rank "$@" & done; wait""",
    "jsrun": """
while :; do case $1 in
  --tasks_per_rs=*) n=${1#*=}; shift;;
  --nrs=1|--rs_per_host=1|--cpu_per_rs=ALL_CPUS|--gpu_per_rs=ALL_GPUS) shift;;
  --launch_distribution=packed|--bind=none|--exit_on_error=1) shift;;
  -*) echo "jsrun: unrecognized option $1" >&2; exit 1;; *) break;;
esac; done
for rank in $(seq 0 $((n - 1))); do JSM_NAMESPACE_LOCAL_RANK=$rank "$@" & done; wait""",
}
"""FAKES take the options of PALS's mpiexec and of jsrun, and set their variables."""


@pytest.mark.parametrize("launcher", FAKES)
def test_ranks_of_other_launchers_bind_themselves(tmp_path: Path, launcher: str) -> None:
    program = tmp_path / launcher
    program.write_text(f"#!/bin/sh{FAKES[launcher]}\n")
    program.chmod(0o755)
    toolchain = replace(by(launcher), mpirun=program)
    job = Job(Layout(ppn=2), cpus=(CPU,), oversubscribe=True, hosts=("n1",))
    outer = {"PATH": os.environ["PATH"], **IN_PBS, **IN_LSF, "PALS_LOCAL_RANKID": "7"}

    argv, env = launch_command(toolchain, job, ["cat", "/proc/self/status"], outer)
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)

    assert done.stdout.count(f"Cpus_allowed_list:\t{CPU}\n") == 2


@pytest.mark.parametrize(
    ("launcher", "job", "supported"),
    [
        ("pals", mapped("round_robin"), "block mapping"),
        ("pals", Job(Layout.of(7, 3), cpus=FOUR, hosts=("n1", "n2", "n3")), "node but the last"),
        ("jsrun", Job(Layout.of(3, 2), cpus=FOUR, hosts=("n1", "n2")), "equal numbers"),
        ("jsrun", mapped("random", 0), "equal numbers"),
        ("jsrun", Job(Layout(ppn=2), cpus=FOUR), "--on NAME"),
        ("mpich", mapped("random", 0), "round_robin"),
        ("impi", mapped("random", 0), "round_robin"),
    ],
)
def test_a_layout_a_launcher_does_not_support_is_refused_by_name(
    launcher: str, job: Job, supported: str
) -> None:
    with pytest.raises(UserError) as caught:
        launch_command(by(launcher), job, ["prog"], {**IN_PBS, **IN_LSF})

    (problem,) = caught.value.problems
    assert problem.what.startswith(launcher) and supported in problem.what


SRUN_READS = """
ACCOUNT ACCTG_FREQ BCAST BCAST_EXCLUDE BURST_BUFFER CLUSTERS COMPRESS CONF CONSTRAINT CORE_SPEC
CPU_BIND CPU_FREQ_REQ CPUS_PER_GPU DEBUG DEBUG_FLAGS DELAY_BOOT DEPENDENCY DISABLE_STATUS
DIST_PLANESIZE DISTRIBUTION EPILOG EXACT EXCLUSIVE EXIT_ERROR EXIT_IMMEDIATE EXPORT_ENV GPU_BIND
GPU_FREQ GPUS GPUS_PER_NODE GPUS_PER_TASK GRES GRES_FLAGS HINT IMMEDIATE JOB_ID JOB_NAME
JOB_NUM_NODES KILL_BAD_EXIT LABELIO MEM_BIND MEM_PER_CPU MEM_PER_GPU MEM_PER_NODE MPI_TYPE
MULTI_PROG NETWORK NNODES NO_KILL NPROCS NTASKS NTASKS_PER_CORE NTASKS_PER_GPU NTASKS_PER_NODE
NTASKS_PER_SOCKET OPEN_MODE OVERCOMMIT OVERLAP PARTITION PMI_KVS_NO_DUP_KEYS POWER PROFILE PROLOG
QOS REMOTE_CWD REQ_SWITCH RESERVATION RESV_PORTS SEND_LIBS SIGNAL SPREAD_JOB
SRUN_REDUCE_TASK_EXIT_MSG STDERRMODE STDINMODE STDOUTMODE STEP_GRES STEP_KILLED_MSG_NODE_ID
TASK_EPILOG TASK_PROLOG TEST_EXEC THREAD_SPEC THREADS THREADS_PER_CORE TIMELIMIT UMASK UNBUFFEREDIO
USE_MIN_NODES WAIT WAIT4SWITCH WCKEY WORKING_DIR
"""
"""SRUN_READS are the names after SLURM_ in srun(1), INPUT ENVIRONMENT VARIABLES, Slurm 22.05."""


KEPT = {
    "SLURM_CONF",
    "SLURM_CLUSTERS",
    "SLURM_JOB_ID",
    "SLURM_JOB_NUM_NODES",
    "SLURM_NNODES",
    "SLURM_NPROCS",
    "SLURM_NTASKS",
    "SLURM_GPUS_PER_NODE",
    "SLURM_JOB_NAME",
}
"""KEPT describe the job and its nodes, or are given on the command line of each launch."""


def test_each_srun_variable_is_kept_or_removed_for_a_reason() -> None:
    others = (
        *("SLURMD_DEBUG", "SRUN_CPUS_PER_TASK", "SRUN_CONTAINER", "SRUN_EXPORT_ENV"),
        *("PMI_FANOUT", "PMI_FANOUT_OFF_HOST", "PMI_TIME"),
    )
    known = {*(f"SLURM_{name}" for name in SRUN_READS.split()), *others}

    assert known <= {*KEPT, *launch.REMOVED}
    assert not KEPT & {*launch.REMOVED}
    assert not any(map(launch.is_removed, KEPT))
    assert all(launch.REMOVED.values())


@pytest.mark.parametrize("launcher", ["srun-pmix", "openmpi", "mpich", "impi"])
def test_a_launch_receives_only_the_kept_srun_variables(launcher: str) -> None:
    toolchain = replace(of("openmpi"), mpirun=Path("srun"), launcher=launcher)
    outer = {"SLURM_JOB_ID": "7", **dict.fromkeys({*KEPT, *launch.REMOVED}, "1")}

    env = launch_command(toolchain, TWO, ["prog"], outer)[1]

    assert {name for name in outer if name in env} == KEPT
