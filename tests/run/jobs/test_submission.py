# SPDX-License-Identifier: BSD-3-Clause
"""How a campaign becomes jobs: how many, how long; and what its folder is cleared of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProgram
from lab_jobs import QUIET
from noted import shows
from recorded import poisson

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.programs.file import load
from haloscope.programs.trust import Trusted
from haloscope.records.folder import ResultFolder
from haloscope.run.campaign import resuming
from haloscope.run.jobs import driving, following, job_notes, submission
from haloscope.run.jobs.driving import of_shape
from haloscope.run.jobs.submission import Submission
from haloscope.run.places import places
from haloscope.run.places.batched import BatchPlace
from haloscope.sites import file as site_file
from haloscope.sites.jobs import Batch
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobState
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.sites.schema import BatchSite, Partition
from haloscope.stats import Rule
from haloscope.study.case import Case, Launch
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.plan import SavedPlan, Via
from haloscope.study.schema import Study
from programs import TOML, put

PARTITION = Partition(name="short", nodes=8, cores=4, memory_mb=1000, max_minutes=30)
SITE = BatchSite(
    name="taki", source="a test", scheduler="slurm", partition="short", partitions=(PARTITION,),
    launcher="srun", mpi="pmix",
)  # fmt: skip


class Queue(Slurm):
    """A Slurm with these jobs of the folder's name, by their ids and states; or away."""

    def output(self, *words: str, **_: object) -> str:
        if "away" in self.environment:
            raise NoAnswerError("away")
        jobs = self.environment.items()
        if words[-1] == "--format=%i|%j":
            return "".join(f"{job}|{state.split()[1]}\n" for job, state in jobs)
        return "".join(f"{job}|{state.split()[0]}|n1|None\n" for job, state in jobs)


def of(
    folder: Path,
    *,
    minutes: int | None = None,
    most: int | None = 30,
    timeout_s: float = 60.0,
    jobs: Mapping[str, str] | None = None,
) -> Submission:
    """Of a plan of one case on one node with ten launches."""
    runs = [{"kernel": "fake", "layout": {"ppn": 2}}]
    study = Study.model_validate(
        {"title": "t", "timeout_s": timeout_s, "launches": 10, "runs": runs}
    )
    cases = expand(study, Site(1, 4, 4, 2**30, False, ("fake",)), FakeProgram()).cases
    site = SITE.model_copy(
        update={"partitions": (PARTITION.model_copy(update={"max_minutes": most}),)}
    )
    plan = SavedPlan("t", "t", 1, cases, (), {}, {"host": "taki"}, on="taki")
    place = BatchPlace("taki", site, folder)
    return Submission(ResultFolder(folder), plan, place, Batch(Queue(jobs or {})), minutes)


class Taking(Batch):
    """A batch system that takes every job, and has ended it at once."""

    def __init__(self, jobs: Mapping[str, str] | None = None) -> None:
        super().__init__(Queue(jobs or {}))
        self.scripts: list[str] = []

    def submit(self, script: Path, name: str, comment: str) -> str:
        self.scripts.append(script.read_text())
        return str(len(self.scripts))


def lacking(folder: Path) -> None:
    """A check job has found that the nodes lack something."""
    problem = {"where": "on n1", "what": "no halobench", "remedy": "set HALOSCOPE_CACHE"}
    (folder / "jobs").mkdir()
    (folder / "jobs" / "check.json").write_text(json.dumps({"problems": [problem]}))


def test_nodes_that_lacked_something_are_checked_again(tmp_path: Path) -> None:
    lacking(tmp_path)
    batch = Taking()

    submission.submit_all(replace(of(tmp_path), batch=batch), QUIET)

    assert [("--check" in script) for script in batch.scripts] == [True, False]
    assert job_notes.lacking(tmp_path) == []


@pytest.mark.parametrize(("there", "asked"), [(0, 2), (1, 1), (2, 0)])
def test_jobs_not_submitted_by_a_killed_command_are_submitted(
    tmp_path: Path, there: int, asked: int
) -> None:
    """Of two, the first asks the nodes and measures nothing: nothing would be if it were all."""
    jobs = of(tmp_path)
    ids = ["71", "72"][:there]
    both = [jobs.check_asked(), *jobs.planned()]
    for one, job in zip(both, ids, strict=False):
        written = jobs.write(one)
        jobs.save([*jobs.noted()[:-1], replace(written, job=job)])
    batch = Taking({job: f"PENDING {jobs.name}" for job in ids})

    found = submission.submit_all(replace(jobs, batch=batch), QUIET)

    assert found == [*ids, *map(str, range(1, asked + 1))]
    assert len(batch.scripts) == asked
    assert there != 1 or "afterok:71" in batch.scripts[0]


@pytest.mark.parametrize("text", ["{}", '{"problem": []}', '{"problems": [1]}', "no"])
def test_a_damaged_node_check_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "check.json").write_text(text)

    with pytest.raises(UserError, match=r"check\.json: damaged"):
        job_notes.lacking(tmp_path)


def test_jobs_recorded_during_a_search_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by `status` while `run` submits."""
    jobs = of(tmp_path)
    lost = jobs.write(jobs.check_asked())

    def found(self: Queue, name: str, comment: str) -> str:
        jobs.write(jobs.check_asked())
        return "7"

    monkeypatch.setattr(Queue, "found", found)
    jobs.found_again()

    assert [one.job for one in jobs.noted()] == ["7", None]
    assert jobs.noted()[0].comment == lost.comment


def test_jobs_are_found_through_any_link_to_their_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert of(tmp_path / "link").name == of(tmp_path / "real").name


def test_a_job_that_could_not_be_cancelled_is_reported(tmp_path: Path) -> None:
    class Kept(Queue):
        def cancel(self, job: str) -> None:
            raise RefusedError("Access/permission denied")

        def _remembered(self, job: str) -> None:
            return None

        def _accounted(self, job: str) -> JobState:
            return JobState(GONE)

    Batch(Kept({})).cancel(["7"])  # it has ended
    with pytest.raises(UserError, match="job 7: .*Access/permission denied"):
        Batch(Kept({"7": "RUNNING x"})).cancel(["7"])


@pytest.mark.parametrize("command", ["status", "collect"])
def test_missing_node_software_is_reported_without_following(
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lacking(tmp_path)
    jobs = of(tmp_path)
    jobs.folder.save(jobs.plan)
    monkeypatch.setattr(submission, "of_folder", lambda _: jobs)

    main([command, str(tmp_path)])

    said = " ".join(capsys.readouterr().out.split())
    assert shows(said, " n1: no halobench ", " HALOSCOPE_CACHE")


@pytest.mark.parametrize(
    ("minutes", "most", "wall_s", "expected"),
    [
        (None, 30, None, (1, 30)),  # nothing is known: as long as it may, but no more than usual
        (None, 600, None, (1, 60)),
        (None, None, None, (1, 60)),
        (5, 600, None, (1, 5)),
        (None, 30, 6.0, (1, 4)),  # ten of 6 s are a minute, 1.5 times that, and two to begin
        (20, 30, 6.0, (1, 20)),  # as the user says
        (None, None, 600.0, (1, 152)),
        (None, 30, 600.0, (6, 30)),  # 152 minutes in jobs of 30, each but half a launch's limit
        (2, 30, 60.0, (17, 2)),
    ],
)
def test_the_number_and_length_of_jobs_follow_from_the_launches(
    tmp_path: Path,
    minutes: int | None,
    most: int | None,
    wall_s: float | None,
    expected: tuple[int, int],
) -> None:
    jobs = of(tmp_path, minutes=minutes, most=most)
    (case,) = jobs.plan.cases
    launches = [Launch(case, number) for number in range(10)]

    assert jobs._length(launches, {} if wall_s is None else {case.id: [wall_s]}) == expected


def test_the_first_job_has_time_to_detect_broken_communication(tmp_path: Path) -> None:
    jobs = of(tmp_path)
    (case,) = jobs.plan.cases

    def minutes(*transports: str | None, most: int | None = 30, ranks: int = 2) -> int:
        layout = replace(case.layout, ppn=ranks)
        cases = tuple(replace(case, transport=one, layout=layout) for one in transports)
        plan = replace(jobs.plan, cases=cases)
        return replace(of(tmp_path, most=most), plan=plan).check_asked().minutes

    assert minutes(None, ranks=1) == 1
    assert minutes(None) == 2  # two of 30 s, and what it takes to begin, before it is warned
    assert minutes("tcp", "shm") == 5  # and by the library's own choice
    assert minutes("tcp", "shm", most=3) == 3


def test_a_job_of_unknown_launches_has_time_for_one(tmp_path: Path) -> None:
    jobs = of(tmp_path, most=600, timeout_s=7200)
    launches = [Launch(jobs.plan.cases[0], 0)]

    assert jobs._length(launches, {}) == (1, 122)
    assert of(tmp_path, most=120, timeout_s=7200)._length(launches, {}) == (1, 120)


def test_jobs_receive_the_program_folders_named_by_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = '[needs.it]\nkind = "file"\nvariable = "WHERE_IT_IS"\nget = "somewhere"\n'
    mine = put(tmp_path / "mine", "named", TOML + need) / "program.toml"
    own = put(tmp_path / "own", "trusted") / "program.toml"

    jobs = replace(of(tmp_path), programs=(load(Trusted(mine, named=True)), load(Trusted(own))))

    for job in (jobs.check_asked(), *jobs.planned()):
        assert job.command[-2:] == ["--program", str(mine)]
        assert job.command.count("--program") == 1
        assert job.variables == ("WHERE_IT_IS",)
    monkeypatch.setenv("WHERE_IT_IS", "/a place")
    assert "export WHERE_IT_IS='/a place'\n" in jobs._script(jobs.check_asked())


def test_a_precision_uses_several_jobs_each_with_some_launches(tmp_path: Path) -> None:
    jobs = of(tmp_path)
    jobs = replace(jobs, plan=replace(jobs.plan, rule=Rule(0.1, 7, 15)))
    (case,) = jobs.plan.cases
    launches = [Launch(case, number) for number in range(10)]

    assert [one.number for one in jobs._in_a_job(launches)] == [0, 1, 2]
    assert [one.minutes for one in jobs.planned()] == [30] * 5
    assert len(of(tmp_path).planned()) == 1


def test_simulated_cases_share_jobs_regardless_of_their_nodes(tmp_path: Path) -> None:
    jobs = of(tmp_path, minutes=None, most=600)
    (one,) = jobs.plan.cases
    other = replace(one, layout=replace(one.layout, nodes=64))
    jobs = replace(jobs, plan=replace(jobs.plan, cases=(one, other), via=Via("taki", 3)))

    assert [(job.nodes, "--nodes" in job.command) for job in jobs.planned()] == [(3, True)]
    launches = jobs.plan.launches()
    assert of_shape(jobs.plan, launches, 3) == launches
    assert of_shape(jobs.plan, launches, 64) == []
    walls = {one.id: [720.0], other.id: [720.0]}  # 20 launches: 4 hours, on 12 cores 20 minutes
    assert jobs._length(launches, walls) == (1, 2 + 30)


def test_concurrent_cases_share_a_job_with_the_largest_node_count(tmp_path: Path) -> None:
    jobs = of(tmp_path, minutes=None, most=600)
    (one,) = jobs.plan.cases
    few = replace(one, layout=replace(one.layout, nodes=1), launches=3)
    many = replace(one, layout=replace(one.layout, nodes=8), launches=2)
    jobs = replace(jobs, plan=replace(jobs.plan, cases=(few, many)))

    assert [job.nodes for job in jobs.planned()] == [1, 8]
    jobs = replace(jobs, plan=replace(jobs.plan, together=True))
    assert [job.nodes for job in jobs.planned()] == [8]
    assert len(of_shape(jobs.plan, jobs.plan.launches(), 8)) == 5


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (0, "--minutes 0: "),
        (-5, "--minutes -5: "),
        (1_000_001, "--minutes 1000001: "),
        (31, "30 minutes"),
    ],
)
def test_an_impossible_job_time_is_refused(tmp_path: Path, minutes: int, said: str) -> None:
    assert any(said in str(problem) for problem in of(tmp_path, minutes=minutes).problems())


def test_a_job_shorter_than_a_launch_is_refused(tmp_path: Path) -> None:
    (problem,) = of(tmp_path, minutes=5, timeout_s=600).problems()
    assert problem.where == "--minutes 5"
    assert "600 s" in problem.what and " 10" in problem.remedy
    assert [*of(tmp_path, minutes=10, timeout_s=600).problems()] == []


@pytest.mark.parametrize("minutes", [1, 30, None])
def test_a_valid_job_time_is_accepted(tmp_path: Path, minutes: int | None) -> None:
    assert [*of(tmp_path, minutes=minutes).problems()] == []


@pytest.mark.parametrize(
    ("job", "removed"), [(None, 1), ("RUNNING", 0), ("PENDING", 0), ("COMPLETED", 1)]
)
def test_remains_of_killed_launches_are_removed_if_no_job_exists(
    tmp_path: Path, job: str | None, removed: int
) -> None:
    name = of(tmp_path).name
    jobs = of(tmp_path, jobs={"7": f"{job} {name}"} if job else {})
    (tmp_path / "haloscope-scratch-x").mkdir()
    if job:
        noted = jobs.write(jobs.check_asked())
        jobs.save([replace(noted, job="7")])

    assert following.tidy(jobs) == removed
    assert (tmp_path / "haloscope-scratch-x").exists() is (removed == 0)


def test_without_the_batch_system_nothing_is_removed(tmp_path: Path) -> None:
    (tmp_path / "haloscope-scratch-x").mkdir()

    assert following.tidy(of(tmp_path, jobs={"away": ""})) == 0


def test_without_the_batch_system_nothing_is_submitted(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Slurm: no answer: away"):
        submission.submit_all(of(tmp_path, jobs={"away": ""}), QUIET)


def test_a_site_without_srun_cannot_simulate_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = SITE.model_copy(update={"scheduler": "pbs", "launcher": "mpirun", "mpi": None})
    site_file.write(site, tmp_path / "sites" / "far.toml")

    with pytest.raises(UserError, match="--via far: .*PBS"):
        places.place("stampede2", via=Via("far", 1))


def test_a_site_sets_the_node_model_of_its_nodes(tmp_path: Path) -> None:
    def place(cluster: str | None, cores: int) -> BatchPlace:
        partition = PARTITION.model_copy(update={"cores": cores})
        update = {"cluster": cluster, "partitions": (partition,)}
        return BatchPlace("taki", SITE.model_copy(update=update), tmp_path)

    assert place(None, 48).identity() == {"host": "taki", "cores": 48, "partition": "short"}
    named = place("stampede2", 48).identity()
    assert (named["cluster"], len(named["platform"])) == ("stampede2", 12)
    with pytest.raises(UserError, match="stampede2 have 48 cores"):
        place("stampede2", 16).identity()
    with pytest.raises(UserError, match="stampede3"):
        place("stampede3", 48).identity()


def in_allocations(folder: Path, number: int, done: int = 0) -> Submission:
    """Of a plan of so many allocations with two launches each, of which some are done."""
    jobs = of(folder)
    plan = replace(jobs.plan, cases=(a_case(2),)).in_allocations(number)
    jobs.folder.create("title = 't'\n", plan)
    text = "".join(json.dumps(poisson(64, launch=k, time_s=1.0)) + "\n" for k in range(done))
    jobs.folder.records.write_text(text)
    return replace(jobs, plan=plan)


def a_case(launches: int) -> Case:
    """The case of recorded.poisson(64), as a plan has it."""
    raw = poisson(64, time_s=1.0)
    name = raw["toolchain"]["name"]
    case = Case("poisson_cg", {"n": 64}, raw["params"], Layout(), name, 0, launches, 60.0, 1000)
    assert case.id == raw["case"]
    return case


@pytest.mark.parametrize(("done", "jobs"), [(0, 3), (1, 3), (2, 2), (5, 1), (6, 0)])
def test_each_allocation_that_lacks_a_launch_has_a_job(
    tmp_path: Path, done: int, jobs: int
) -> None:
    assert len(in_allocations(tmp_path, 3, done).planned()) == jobs


def test_one_job_runs_all_launches_of_an_allocation(tmp_path: Path) -> None:
    """The first that has untried ones: what failed in another is not worth an allocation."""
    jobs = in_allocations(tmp_path, 3, done=2)
    left = jobs.left()

    own = driving._for_one_allocation(jobs.plan, left, jobs.folder)

    assert sorted(one.number for one in left) == [2, 3, 4, 5]
    assert sorted(one.number for one in own) == [2, 3]
    assert driving._for_one_allocation(replace(jobs.plan, allocations=None), left, jobs.folder) == (
        left
    )


@pytest.mark.parametrize(
    ("allocations", "launches", "asked", "refused"),
    [
        (None, 4, 3, "--launches"),
        (None, 4, None, None),
        (None, None, 3, None),
        (2, 4, None, "--allocations"),
        (2, 4, 3, "--allocations"),
        (2, None, 3, None),
    ],
)
def test_requested_allocations_determine_the_planned_launches(
    tmp_path: Path,
    allocations: int | None,
    launches: int | None,
    asked: int | None,
    refused: str | None,
) -> None:
    plan = replace(in_allocations(tmp_path, 2).plan, allocations=allocations)

    found = [remedy for _, remedy in resuming._unfit_allocations(plan, launches, asked)]

    assert bool(found) is (refused is not None)
    assert refused is None or refused in found[0]


def test_additional_allocations_keep_existing_ones(tmp_path: Path) -> None:
    plan = in_allocations(tmp_path, 2).plan.in_allocations(5)

    assert (plan.allocations, [case.launches for case in plan.cases]) == (5, [10])
    numbers = [plan.allocation_of(one) for one in sorted(plan.launches(), key=lambda o: o.number)]
    assert numbers == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_only_missing_jobs_are_submitted(tmp_path: Path) -> None:
    """Three are wanted, and a killed command has submitted the one that asks, and one more."""
    jobs = in_allocations(tmp_path, 3)
    for one, job in zip([jobs.check_asked(), *jobs.planned()], ["71", "72"], strict=False):
        written = jobs.write(one)
        jobs.save([*jobs.noted()[:-1], replace(written, job=job)])
    batch = Taking({job: f"PENDING {jobs.name}" for job in ("71", "72")})

    submission.submit_all(replace(jobs, batch=batch), QUIET)

    assert len(batch.scripts) == 2
