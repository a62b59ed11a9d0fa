# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from pathlib import Path

import pytest

from haloscope.errors import Problem, UserError
from haloscope.study import schema
from haloscope.study.file import load, read, ready

Write = Callable[[str], Path]


def keys_of(path: Path) -> list[str]:
    return [problem.where.removeprefix(f"{path}: ") for problem in read(path).problems]


def the_problem(path: Path) -> Problem:
    (problem,) = read(path).problems
    return problem


def test_a_good_study_is_read_with_its_defaults(study_file: Write) -> None:
    read = load(
        study_file(
            """
            title = "ours"
            [[runs]]
            kernel = "fake"
            params = { n = [1, 2], flag = true, sizes = "1K:4K" }
            layout = { ppn = "cores", threads = [1, 2] }
            [[tables]]
            kind = "scaling"
            where = { n = 1, exchange = ["blocking"] }
            """
        )
    )
    run = read.runs[0]
    assert (read.launches, read.timeout_s, read.paper) == (1, 600.0, None)
    assert run.params == {"n": [1, 2], "flag": [True], "sizes": ["1K:4K"]}
    assert (run.layout.nodes, run.layout.ppn, run.layout.threads) == ([1], ["cores"], [1, 2])
    assert (run.layout.places, run.layout.bind) == (["cores"], ["close"])
    assert read.tables[0].where == {"n": [1], "exchange": ["blocking"]}


def test_every_problem_is_found_at_once(study_file: Write) -> None:
    path = study_file(
        """
        titel = "x"
        launches = 0
        timeout_s = "long"
        [[runs]]
        kernel = "fake"
        params = { n = [8, [3]], m = { a = 1 } }
        layout = { ppm = [1], ppn = [0, "cores", 2.5, true], nodes = 0, places = "core" }
        [[runs]]
        kernal = "fake"
        [[runs]]
        kernel = "fake"
        launchs = 3
        [[tables]]
        kind = "scalin"
        [[figures]]
        size = 1
        """
    )
    found = keys_of(path)

    assert sorted(found) == sorted(
        [
            "title",
            "titel",
            "launches",
            "timeout_s",
            "runs#1.params.n#2",
            "runs#1.params.m#1",
            "runs#1.layout.ppm",
            "runs#1.layout.ppn#1",
            "runs#1.layout.ppn#3",
            "runs#1.layout.ppn#4",
            "runs#1.layout.nodes#1",
            "runs#1.layout.places#1",
            "runs#2.kernel",
            "runs#2.kernal",
            "runs#3.launchs",
            "tables#1.kind",
            "figures#1.kind",
            "figures#1.size",
        ]
    )


def test_valid_keys_are_kept_for_further_checks_despite_problems(study_file: Write) -> None:
    draft = read(
        study_file(
            """
            launches = 0
            [[runs]]
            kernal = "fake"
            [[runs]]
            kernel = "other"
            params = { n = [8, [3]] }
            layout = { ppn = 2.5, nodes = [1, 0, 2, -1] }
            """
        )
    )
    assert draft.study is not None
    assert [run.kernel for run in draft.study.runs] == ["other"]
    assert draft.study.runs[0].params == {"n": [8]}
    assert draft.study.runs[0].layout.nodes == [1, 2]
    assert draft.study.runs[0].layout.ppn is None
    assert draft.where(0, "params.n") == f"{draft.path}: runs#2.params.n"


def test_tables_are_kept_for_further_checks_if_all_runs_are_valid(
    study_file: Write,
) -> None:
    element = """
        [[tables]]
        kind = "summary"
        where = { size = 3 }
        """
    runs = """
        [[runs]]
        kernel = "fake"
        layout = { ppn = 0 }
        """
    draft = read(study_file(f"launches = 0\n{runs}{element}"))
    assert draft.study is not None
    assert [one.where for one in draft.study.tables] == [{"size": [3]}]

    draft = read(study_file(f"{runs}[[runs]]\nkernal = 'fake'\n{element}"))
    assert draft.study is not None and draft.study.tables == []


@pytest.mark.parametrize(
    ("line", "value", "allowed"),
    [
        ("launchs = 2", "'launchs'", "'launches'?"),
        ("launches = 0", "0", "from 1 to 10,000"),
        ("launches = true", "true", "from 1 to 10,000"),
        ('launches = "5"', 'the string "5"', "from 1 to 10,000"),
        ("timeout_s = 0", "0", "above 0"),
        ('paper = "hpcf-1999"', "'hpcf-1999'", "hpcf-2018-10"),
    ],
)
def test_a_problem_states_the_key_the_value_and_what_is_allowed(
    study_file: Write, line: str, value: str, allowed: str
) -> None:
    path = study_file(f'title = "x"\n{line}\n[[runs]]\nkernel = "fake"\n')
    problem = the_problem(path)
    assert problem.where == f"{path}: {line.split(' ')[0]}"
    assert value in problem.what and allowed in problem.remedy


def test_a_study_without_runs_is_refused(study_file: Write) -> None:
    assert keys_of(study_file('title = "x"')) == ["runs"]


@pytest.mark.parametrize(
    ("axis", "place", "meant"),
    [
        ("allocation = ['by_pod', 'rnd']", "allocation#2", "'random'?"),
        ("mapping = 'roundrobin'", "mapping#1", "'round_robin'?"),
        ("bind = ['Spred']", "bind#1", "'spread'?"),
        ("ppn = 'core'", "ppn#1", "'cores'?"),
        ("allocation_seed = [1, 0]", "allocation_seed#2", "from 1"),
    ],
)
def test_an_error_in_an_axis_value_names_the_axis(
    study_file: Write, axis: str, place: str, meant: str
) -> None:
    """Not by its place in the list."""
    path = study_file(f"title = 'x'\n[[runs]]\nkernel = 'a'\nlayout = {{ {axis} }}\n")
    problem = the_problem(path)
    assert problem.where == f"{path}: runs#1.layout.{place}"
    assert meant in problem.remedy


def test_an_unknown_kind_of_table_gets_a_suggestion(study_file: Write) -> None:
    path = study_file('title = "x"\n[[runs]]\nkernel = "a"\n[[tables]]\nkind = "walltime"\n')
    problem = the_problem(path)
    assert problem.where == f"{path}: tables#1.kind"
    assert "'walltime_grid'?" in problem.remedy


def test_an_unknown_answer_gets_a_suggestion(study_file: Write) -> None:
    path = study_file('title = "x"\nanswer = "speedups"\n[[runs]]\nkernel = "a"\n')
    problem = the_problem(path)
    assert problem.where == f"{path}: answer"
    assert "'speedup'?" in problem.remedy


def test_every_ready_study_has_a_question() -> None:
    studies = [load(path) for path in ready()]

    assert [one.title for one in studies if not (one.question or "").endswith("?")] == []


def test_a_toml_syntax_error_names_the_line(study_file: Write) -> None:
    path = study_file('title = "x"\nlaunches = = 3\n')
    with pytest.raises(UserError) as caught:
        read(path)
    (problem,) = caught.value.problems
    assert problem.where == str(path) and "line 2" in problem.what


def test_a_missing_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'quick'"):
        read("quik")
    with pytest.raises(UserError) as caught:
        read(tmp_path / "none.toml")
    assert [one.where for one in caught.value.problems] == [str(tmp_path / "none.toml")]


def test_every_ready_study_is_valid() -> None:
    assert [path.stem for path in ready()] == [
        "calibrate",
        "cg-variants",
        "characterization",
        "collectives",
        "fft",
        "gpu-messages",
        "heat",
        "jacobi",
        "launches",
        "network",
        "pingpong",
        "pingpong-libraries",
        "pingpong-transports",
        "poisson-affinity",
        "poisson-convergence",
        "poisson-exchange",
        "poisson-hybrid",
        "poisson-overlay",
        "poisson-scaling",
        "quick",
        "ring",
        "sf-device",
        "sf-device-grid",
        "sf-grid",
        "sf-latency",
        "spmv-device",
        "spmv-overlap",
        "spmv-scaling",
        "sum3d",
        "task-mapping",
        "task-mapping-bigfft",
        "task-mapping-cab",
        "task-mapping-lammps",
        "task-mapping-minife",
        "validate-local",
    ]
    for path in ready():
        load(path)


def test_ready_study_tables_and_figures_filter_by_measured_settings() -> None:
    layout = {"kernel", *schema.LayoutAxes.model_fields}
    for path in ready():
        read = load(path)
        measured = layout.union(*(run.params for run in read.runs))
        for element in [*read.tables, *read.figures]:
            assert set(element.where) <= measured, f"{path.name}: {element.where}"


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="UTF-8"):
        load(path)


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("timeout_s = 1e10", "timeout_s", "2,592,000"),
        ("timeout_s = inf", "timeout_s", "inf"),
        ("timeout_s = nan", "timeout_s", "nan"),
        ("precision = 0.1\nmost_time_s = nan", "most_time_s", "nan"),
        ("precision = nan", "precision", "nan"),
        ("launches = 1000000000", "launches", "10,000"),
        ("precision = 0.1\nmost_launches = 99999", "most_launches", "99999"),
        (f"launches = 1{'0' * 300}", "launches", f"1{'0' * 199}..."),
    ],
)
def test_an_excessive_number_is_reported_with_its_limit(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "ours"\n{text}\n[[runs]]\nkernel = "fake"\n')

    assert keys_of(path) == [key]
    assert said in str(the_problem(path))


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("layout = { ppn = 5000 }", ".layout.ppn#1", "4096"),
        ("layout = { threads = 100000 }", ".layout.threads#1", "4096"),
        ("layout = { nodes = 10000000 }", ".layout.nodes#1", "1,000,000"),
        ("launches = 10001", ".launches", "10,000"),
        ("params = { n = inf }", ".params.n#1", "inf"),
        ('params = { n = "a\\u0000b" }', ".params.n", "NUL"),
        (f"params = {{ n = {list(range(400))}, m = {list(range(400))} }}", "", "160,000"),
    ],
)
def test_an_excessive_run_is_reported_with_its_limit(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "ours"\n[[runs]]\nkernel = "fake"\n{text}\n')

    with pytest.raises(UserError) as caught:
        load(path)
    (problem,) = caught.value.problems
    assert problem.where == f"{path}: runs#1{key}"
    assert said in str(problem)


@pytest.mark.parametrize(
    ("inside", "remedy"),
    [(None, "haloscope list"), ("mine.toml", "mine.toml"), ("plan.json", "haloscope run --resume")],
)
def test_a_folder_is_refused_as_a_study(inside: str | None, remedy: str, tmp_path: Path) -> None:
    if inside:
        (tmp_path / inside).write_text("")
    with pytest.raises(UserError) as refused:
        read(tmp_path)
    (problem,) = refused.value.problems
    assert "is a folder" in problem.what
    assert remedy in problem.remedy


@pytest.mark.parametrize(("key", "table"), [("n = 64", "params"), ("ppn = 2", "layout")])
def test_a_key_outside_its_table_has_a_hint(study_file: Write, key: str, table: str) -> None:
    found = the_problem(study_file(f'title = "ours"\n[[runs]]\nkernel = "fake"\n{key}\n'))
    assert f" {table} = " in found.remedy
