# SPDX-License-Identifier: BSD-3-Clause
"""What OSU, IMB, HPCG, and ReFrame print, as records; and where a file is wrong."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import printed_outputs as printed
import pytest
from record_page import unknown
from recorded import bad, pingpong, poisson, write_folder

import haloscope
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.dossier import open_folder
from haloscope.analysis.fits import one_way
from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.outputs import hpcg, imb, osu, reframe
from haloscope.outputs import records as as_records
from haloscope.outputs.printed import PRINTERS, Output, PrintedRun
from haloscope.records.log import read
from haloscope.records.record import Record
from haloscope.report.composing import compose
from haloscope.report.document import Document

Reader = Callable[[Output], Sequence[PrintedRun]]


def raws(reader: Reader, *texts: str, **options: Any) -> list[dict[str, Any]]:
    outputs = [Output(f"file-{number}", text) for number, text in enumerate(texts, start=1)]
    found = [(one, 1795000000.0, reader(one)) for one in outputs]
    return as_records.records(found, as_records.ImportOptions(**options))


def imported(
    folder: Path, tool: str, *texts: str, options: Sequence[str] = ()
) -> list[MeasuredCase]:
    """The cases of a folder, as reports have them, after files with these texts were imported."""
    files = [folder / f"{tool}-{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    out = folder / "imported"
    assert main(["import", tool, *map(str, files), "-o", str(out), *options]) == 0
    assert len(read(out / "records.jsonl")) == sum(1 for _ in (out / "records.jsonl").open())
    return [*open_folder(out).cases]


def test_osu_latency_is_doubled_to_a_round_trip(tmp_path: Path) -> None:
    (case,) = imported(tmp_path, "osu", printed.OSU_LATENCY_5, printed.OSU_LATENCY_5 + "\n")

    assert (case.kernel, case.settings["mode"], case.settings["sizes"]) == (
        "pingpong",
        "osu",
        "0:8",
    )
    assert (case.ranks, len(case.launches), case.verified) == (2, 2, False)
    points = case.launches[0].points
    assert [point["size_bytes"] for point in points] == [0, 1, 2, 4, 8]
    assert points[4]["times_s"] == [pytest.approx(2 * 0.47e-6)]
    assert points[4]["result"]["latency_s"] == pytest.approx(0.47e-6)
    assert points[4]["result"]["bandwidth_bytes_per_s"] == pytest.approx(8 / 0.47e-6)
    source = case.launches[0].imported
    assert source is not None
    assert (source["tool"], source["version"], source["lines"]) == ("osu", "5.9", [2])


def test_percentiles_are_stored_per_size() -> None:
    (raw,) = raws(osu.read, printed.OSU_LATENCY_7)

    assert raw["params"]["sizes"] == "1:2,1M"
    last = raw["points"][-1]["result"]
    assert {name: last[f"latency_{name}_s"] for name in ("p50", "p90", "p99")} == {
        "p50": pytest.approx(168e-6),
        "p90": pytest.approx(175e-6),
        "p99": pytest.approx(190e-6),
    }


def test_percentile_columns_with_one_space_are_read() -> None:
    (raw,) = raws(osu.read, printed.OSU_BW_TAILS)

    (point,) = raw["points"]
    percentiles = [point["result"][f"bandwidth_p{percent}_bytes_per_s"] for percent in (50, 99)]
    assert percentiles == [pytest.approx(4.1e6), pytest.approx(3e6)]


def test_every_column_of_a_full_non_blocking_table_is_read() -> None:
    (raw,) = raws(osu.read, printed.OSU_IALLREDUCE_FULL, ranks=4)

    result = raw["points"][0]["result"]
    assert result["pure_communication_min_s"] == pytest.approx(5.5e-6)
    assert result["pure_communication_max_s"] == pytest.approx(6.5e-6)
    assert (result["initialisation_s"], result["transmitted_bytes"]) == (pytest.approx(1e-7), 4)


@pytest.mark.parametrize(
    "label", ["0: ", " 0: ", "[0] ", "[1,0]<stdout>:", "[prterun-node-17@1,0]<stdout>: "]
)
def test_rank_labels_added_by_a_launcher_are_skipped(label: str) -> None:
    lines = printed.OSU_LATENCY_5.splitlines()[1:]
    (plain,) = osu.read(Output("plain", "\n".join([*lines, ""])))

    (run,) = osu.read(Output("labelled", "".join(f"{label}{line}\n" for line in lines)))

    assert run == plain


@pytest.mark.parametrize(
    "content",
    [
        printed.OSU_LATENCY_5.encode("utf-8-sig"),
        printed.OSU_LATENCY_5.partition("\n")[2].encode("utf-8-sig"),
        printed.OSU_LATENCY_5.replace("\n", "\r\n").encode(),
        printed.OSU_LATENCY_5.replace("\n", "\r").encode(),
    ],
)
def test_byte_order_marks_and_crlf_line_ends_are_accepted(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "latency.txt").write_bytes(content)
    out = tmp_path / "out"

    assert main(["import", "osu", str(tmp_path / "latency.txt"), "-o", str(out)]) == 0

    (record,) = read(out / "records.jsonl")
    assert [one["size_bytes"] for one in record.points] == [0, 1, 2, 4, 8]


def test_an_aborted_osu_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aborted = "mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9."
    path = tmp_path / "latency.txt"
    path.write_text(f"{printed.OSU_LATENCY_5}{aborted}\n{printed.OSU_BW}")

    assert main(["import", "osu", str(path), "-o", str(tmp_path / "out")]) == 0

    assert len(read(tmp_path / "out" / "records.jsonl")) == 2
    assert f"{path}:9: " in capsys.readouterr().err


def test_sizes_that_imb_skipped_do_not_affect_the_others() -> None:
    output = Output("imb.txt", printed.IMB_NOT_MEASURED)
    (run,) = imb.read(output)

    assert (run.benchmark, run.ranks, run.version) == ("Alltoall", 4, "2018 Update 1")
    assert [row.size_bytes for row in run.rows] == [0]
    assert [one.split(": ")[0] for one in output.left_out] == [
        f"imb.txt:{number}" for number in (10, 11, 17)
    ]


def test_the_node_count_of_imb_is_that_of_its_largest_table() -> None:
    made = raws(imb.read, printed.IMB, nodes=2)

    layouts = {one["kernel"]: (one["layout"]["nodes"], one["layout"]["ppn"]) for one in made}
    assert layouts == {"pingpong": (1, 2), "collectives": (2, 2), "imb_exchange": (2, 2)}


def test_the_ranks_option_applies_to_tables_without_ranks() -> None:
    made = raws(osu.read, printed.OSU_LATENCY_5 + printed.OSU_BARRIER, ranks=8)

    ranks = {one["kernel"]: one["layout"]["ranks"] for one in made}
    assert ranks == {"pingpong": 2, "collectives": 8}


def test_a_file_given_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latency.txt").write_text(printed.OSU_LATENCY_5)
    same = [str(tmp_path / "latency.txt"), str(tmp_path / "." / "latency.txt")]

    assert main(["import", "osu", *same, "-o", str(tmp_path / "out")]) == 2

    assert not (tmp_path / "out").exists()


def test_an_import_reports_wrong_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bcast.txt").write_text(printed.OSU_VALIDATED.format(last="Fail"))
    words = ["import", "osu", str(tmp_path / "bcast.txt"), "--ranks", "2"]

    assert main([*words, "-o", str(tmp_path / "out")]) == 0

    (record,) = read(tmp_path / "out" / "records.jsonl")
    assert record.reason is not None and record.reason in capsys.readouterr().out


def test_a_zero_time_is_skipped_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = {one["size_bytes"] for one in raws(osu.read, printed.OSU_LATENCY_5)[0]["points"]}
    path = tmp_path / "latency.txt"
    path.write_text(line(printed.OSU_LATENCY_5, 6, "2   0.00"))

    assert main(["import", "osu", str(path), "-o", str(tmp_path / "out")]) == 0

    (record,) = read(tmp_path / "out" / "records.jsonl")
    assert {one["size_bytes"] for one in record.points} == whole - {2}
    assert f"{path}:6: the time of 2 B is 0" in capsys.readouterr().err


def test_a_folder_given_for_a_file_or_the_reverse_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    assert main(["import", "osu", str(tmp_path)]) == 2
    folder = capsys.readouterr().err
    assert main(["report", str(tmp_path / "file")]) == 2
    file = capsys.readouterr().err

    assert f"{tmp_path}: is a folder" in folder
    assert f"{tmp_path / 'file'}: is a file" in file


def test_a_zero_time_of_imb_is_skipped() -> None:
    before = imb.read(Output("imb.txt", printed.IMB))[0]
    row = next(row for row in before.rows if row.size_bytes)
    lines = printed.IMB.split("\n")
    number = next(k for k, one in enumerate(lines, 1) if one.split()[:1] == [str(row.size_bytes)])
    words = lines[number - 1].split()
    zeros = [*words[:2], *("0.00" for _ in words[2:])]
    output = Output("imb.txt", line(printed.IMB, number, " ".join(zeros)))

    after = imb.read(output)[0]

    assert [one for one in before.rows if one != row] == [*after.rows]
    places = [one.split(": ")[0] for one in output.left_out]
    overflow = next(k for k, one in enumerate(lines, 1) if "int-overflow" in one)
    assert places == [f"imb.txt:{number}", f"imb.txt:{overflow}"]


def test_bandwidths_become_the_time_of_a_pingpong_window() -> None:
    one_pair, two_pairs = raws(osu.read, printed.OSU_BW, printed.OSU_MBW_MR)

    small, large = one_pair["points"]
    assert (small["messages"], large["messages"]) == (64, 16)
    assert small["times_s"] == [pytest.approx(64 / 4e6)]
    assert large["times_s"] == [pytest.approx(16 * 2**22 / 10485.76e6)]
    assert large["result"]["bandwidth_bytes_per_s"] == pytest.approx(10485.76e6)
    assert (two_pairs["params"]["pairs"], two_pairs["layout"]["ranks"]) == ("0-2,1-3", 4)
    assert two_pairs["points"][0]["messages"] == 32
    assert two_pairs["points"][0]["times_s"] == [pytest.approx(64 / 8e6)]


def test_collectives_of_one_command_are_one_launch_each() -> None:
    texts = (printed.OSU_ALLREDUCE_FULL, printed.OSU_BARRIER)
    first, second = raws(osu.read, *texts, ranks=8, nodes=2, host="helios", toolchain="mvapich")

    assert (first["kernel"], first["params"]["operation"]) == ("collectives", "all")
    assert (first["launch"], second["launch"]) == (0, 1)
    assert (first["layout"]["nodes"], first["layout"]["ppn"]) == (2, 4)
    assert (first["machine"]["host"], first["toolchain"]["name"]) == ("helios", "mvapich")
    times = {(one["operation"], one["size_bytes"]): one["times_s"][0] for one in first["points"]}
    assert times == {
        ("allreduce", 8): pytest.approx(2.5e-6),
        ("allreduce", 16): pytest.approx(2.6e-6),
        ("barrier", 0): pytest.approx(1.25e-6),
    }
    allreduce = first["points"][0]
    assert allreduce["result"]["latency_s"] == pytest.approx(2.5e-6)
    assert allreduce["result"]["latency_mean_s"] == pytest.approx(2.0e-6)
    assert (allreduce["steps"], first["imported"]["lines"]) == (1000, [1, 1])
    assert [point["operation"] for point in second["points"]] == ["allreduce"] * 2


def test_reductions_of_two_datatypes_are_two_cases() -> None:
    def allreduce(datatype: str) -> str:
        head = f"# OSU MPI Allreduce Latency Test v7.4\n# Datatype: {datatype}.\n"
        return f"{head}# Size       Avg Latency(us)\n4                       3.05\n"

    barrier = "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n             1.25\n"
    made = raws(osu.read, barrier, allreduce("MPI_INT"), allreduce("MPI_FLOAT"), ranks=4)

    settings = [(one["params"].get("datatype"), one["params"]["operation"]) for one in made]
    assert settings == [("MPI_INT", "all"), ("MPI_FLOAT", "allreduce")]
    assert len({one["case"] for one in made}) == 2


def latencies(version: str, *sizes: int) -> str:
    rows = "".join(f"{size:<10} {1 + size / 1000:18.2f}\n" for size in sizes)
    return f"# OSU MPI Latency Test {version}\n# Size          Latency (us)\n{rows}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([(1, 2, 4)], [(1, 2, 4), (8, 16)]),
        ([(8, 16), (1, 2, 4)], [(1, 2, 4)]),
        ([(0, 1, 2, 4)], [(1, 2, 4, 8)]),
    ],
)
def test_imported_cases_are_compared_at_common_sizes(
    tmp_path: Path, first: list[tuple[int, ...]], second: list[tuple[int, ...]]
) -> None:
    for name, sides in (("a", first), ("b", second)):
        (tmp_path / name).mkdir()
        imported(tmp_path / name, "osu", *(latencies("v5.9", *sizes) for sizes in sides))
    table = tmp_path / "compared.csv"

    folders = [str(tmp_path / name / "imported") for name in "ab"]
    assert main(["compare", *folders, "--csv", str(table)]) == 1  # some sizes lack a time

    ratios = [row["times_as_fast"] for row in csv.DictReader(table.open())]
    assert sum(bool(ratio) for ratio in ratios) == 3


@pytest.mark.parametrize("tool", ["osu", "imb", "hpcg", "reframe"])
def test_imported_records_have_only_documented_keys(tool: str) -> None:
    reader, text = {
        "osu": (osu.read, printed.OSU_LATENCY_7),
        "imb": (imb.read, printed.IMB),
        "hpcg": (hpcg.read, printed.HPCG),
        "reframe": (reframe.read, printed.reframe_report()),
    }[tool]

    assert [name for raw in raws(reader, text) for name in unknown(raw)] == []


def test_other_benchmarks_are_separate_kernels() -> None:
    (overlapped,) = raws(osu.read, printed.OSU_IALLREDUCE, ranks=4)
    exchange = next(raw for raw in raws(imb.read, printed.IMB) if raw["kernel"] == "imb_exchange")

    assert overlapped["kernel"] == "osu_non_blocking_allreduce_latency"
    assert overlapped["points"][0]["times_s"] == [pytest.approx(10e-6)]
    assert overlapped["points"][0]["result"]["overlap_share"] == pytest.approx(0.1667)
    assert overlapped["program"]["units"]["compute_s"] == "s"
    assert exchange["points"][0]["times_s"] == [pytest.approx(1.2e-6)]
    assert exchange["program"]["version"] == "2021.7"


@pytest.mark.parametrize(
    ("test", "ranks", "is_message"),
    [
        ("MPI Non-blocking Allreduce Latency Test", 2, False),
        ("MPI Non-blocking Broadcast Latency Test", 4, False),
        ("MPI Multi-pair Latency Test", 4, False),
        ("MPI_Put Latency Test", 2, True),
    ],
)
def test_message_models_are_not_fitted_to_imported_collectives(
    tmp_path: Path, test: str, ranks: int, is_message: bool
) -> None:
    text = latencies("v7.4", *(2**k for k in range(8))).replace("MPI Latency Test", test)

    (case,) = imported(tmp_path, "osu", text, options=["--ranks", str(ranks)])

    assert (one_way(case) is not None) == is_message


@pytest.mark.parametrize(("last", "outcome"), [("Pass", "ok"), ("Fail", "wrong")])
def test_osu_validation_results_are_verified_or_wrong(last: str, outcome: str) -> None:
    (raw,) = raws(osu.read, printed.OSU_VALIDATED.format(last=last), ranks=2)

    assert (raw["outcome"], raw["imported"]["verified"]) == (outcome, last == "Pass")
    assert raw["params"]["operation"] == "bcast"


def test_imb_output_gives_process_counts_and_repetitions(tmp_path: Path) -> None:
    cases = imported(tmp_path, "imb", printed.IMB)

    assert {case.kernel: case.ranks for case in cases} == {
        "pingpong": 2,
        "collectives": 4,
        "imb_exchange": 4,
    }
    (pair,) = (case for case in cases if case.kernel == "pingpong")
    assert pair.settings["mode"] == "imb"
    points = pair.launches[0].points
    assert [(one["size_bytes"], one["steps"]) for one in points] == [
        (0, 1000),
        (1, 1000),
        (2**22, 10),
    ]
    assert points[2]["times_s"] == [pytest.approx(800e-6)]
    (all_,) = (case for case in cases if case.kernel == "collectives")
    assert {one["operation"] for one in all_.launches[0].points} == {"allreduce", "barrier"}


def test_a_real_imb_output_is_read_completely(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "data" / "imb_mpi1.txt").read_text(encoding="utf-8")
    cases = {case.kernel: case.launches[0] for case in imported(tmp_path, "imb", text)}

    assert {*cases} == {"pingpong", "collectives", "imb_sendrecv", "imb_uniband"}
    sizes = [0, *(2**k for k in range(11))]
    assert [one["size_bytes"] for one in cases["pingpong"].points] == sizes
    assert [one["size_bytes"] for one in cases["imb_uniband"].points] == sizes[1:]
    operations = [one["operation"] for one in cases["collectives"].points]
    assert set(operations) == {"allreduce", "barrier"}
    source = cases["pingpong"].imported
    assert source is not None and source["version"] == "2021.11"


def test_imb_output_gives_its_date() -> None:
    text = (Path(__file__).parents[1] / "data" / "imb_mpi1.txt").read_text(encoding="utf-8")

    at = datetime(2026, 11, 26, 3, 51, 48).astimezone(UTC)
    assert {raw["started"] for raw in raws(imb.read, text)} == {f"{at:%Y-%m-%dT%H:%M:%S}.000Z"}
    undated = text.replace("# Date ", "# A date ")
    assert {raw["started"] for raw in raws(imb.read, undated)} == {"2026-11-18T11:06:40.000Z"}


def test_multithreaded_imb_output_needs_no_final_line() -> None:
    (raw,) = raws(imb.read, printed.IMB_MT)

    assert (raw["layout"]["ranks"], [one["size_bytes"] for one in raw["points"]]) == (2, [4, 8])
    with pytest.raises(UserError, match="truncated"):
        raws(imb.read, printed.IMB_MT.replace("MT part", "MPI-1 part"))


@pytest.mark.parametrize(("version", "megabyte"), [("2019.6", 1e6), ("4.1 Update 1", 2.0**20)])
def test_the_meaning_of_mbyte_depends_on_the_imb_version(version: str, megabyte: float) -> None:
    (raw,) = raws(imb.read, printed.IMB_UNIBAND.format(version=version))

    (point,) = raw["points"]
    assert point["times_s"] == [pytest.approx(1024 / (1000 * megabyte))]


def test_hpcg_gives_time_per_iteration_and_its_rating(tmp_path: Path) -> None:
    (case,) = imported(tmp_path, "hpcg", printed.HPCG)

    (record,) = case.launches
    assert (case.kernel, case.ranks, case.settings["threads"], case.settings["nx"]) == (
        "hpcg",
        8,
        2,
        104,
    )
    assert record.times_s == [pytest.approx(60 / 500)]
    assert record.result["rating_flops_per_s"] == pytest.approx(1.4e9)
    assert {one["name"]: one["time_s"]["mean"] for one in record.phases}["MG"] == pytest.approx(
        0.09
    )
    assert case.unit("rating_flops_per_s") == "FLOP/s"
    assert case.verified


def test_an_invalid_hpcg_result_is_wrong() -> None:
    (raw,) = raws(
        hpcg.read, printed.HPCG.replace("is VALID with a GFLOP/s rating of=1.4", "is INVALID.=")
    )

    assert (raw["outcome"], raw["program"]["verified"]) == ("wrong", False)


def test_reframe_gives_a_case_per_executed_test(tmp_path: Path) -> None:
    good, bad = imported(tmp_path, "reframe", printed.reframe_report())

    assert (good.kernel, good.settings["num_threads"], good.settings["build_stem"]) == (
        "reframe_streamtest",
        4,
        "big",
    )
    (record,) = good.launches
    assert record.result == {"triad": pytest.approx(25.5e9)}
    assert record.times_s == [12.5]
    assert record.machine == {"host": "helios:batch"}
    assert (record.toolchain["name"], good.settings["threads"]) == ("gnu", 4)
    assert (bad.excluded[0].reason or "").split(": ") == ["sanity error", "pattern not found"]


def test_reframe_3_lists_variables_by_name() -> None:
    text = printed.reframe_report(
        perfvalues=None, perfvars=[{"name": "lat", "value": 3.0, "unit": "us"}]
    )
    good, _ = raws(reframe.read, text)

    assert good["times_s"] == [pytest.approx(3e-6)]
    assert (good["result"]["lat"], good["program"]["units"]["lat"]) == (pytest.approx(3e-6), "s")


def line(text: str, number: int, replaced: str) -> str:
    lines = text.split("\n")
    lines[number - 1] = replaced
    return "\n".join(lines)


WRONG = [
    pytest.param(osu.read, "hello\n", 1, "OSU MPI", id="not OSU"),
    pytest.param(
        osu.read, line(printed.OSU_LATENCY_5, 6, "2"), 6, "Size, Latency", id="OSU, a value short"
    ),
    pytest.param(
        osu.read, line(printed.OSU_LATENCY_5, 6, "2   fast"), 6, "a number", id="OSU, no number"
    ),
    pytest.param(osu.read, line(printed.OSU_LATENCY_5, 6, "2   nan"), 6, "a number", id="OSU, nan"),
    pytest.param(
        osu.read, line(printed.OSU_LATENCY_5, 6, "1   0.45"), 6, "once", id="OSU, a size twice"
    ),
    pytest.param(osu.read, line(printed.OSU_LATENCY_5, 3, ""), 4, "# Size", id="OSU, no heads"),
    pytest.param(
        osu.read,
        line(printed.OSU_LATENCY_5, 3, "# Size  Speed (us)"),
        3,
        "Avg",
        id="OSU, a new column",
    ),
    pytest.param(
        osu.read,
        line(printed.OSU_LATENCY_5, 3, "# Size  Avg Latency(ms)"),
        3,
        "Avg Latency(us)",
        id="OSU, another unit",
    ),
    pytest.param(
        osu.read, printed.OSU_LATENCY_5[:-3], 8, "end of the line", id="OSU, cut in a number"
    ),
    pytest.param(
        osu.read,
        "".join(printed.OSU_LATENCY_5.splitlines(True)[:3]),
        2,
        "row",
        id="OSU, cut after heads",
    ),
    pytest.param(imb.read, "hello\n", 1, "Benchmarking", id="not IMB"),
    pytest.param(
        imb.read, printed.IMB.partition("# Benchmarking Barrier")[0], 36, "Finalize", id="IMB, cut"
    ),
    pytest.param(
        imb.read, line(printed.IMB, 17, "1  1000  0.53"), 17, "Mbytes/sec", id="IMB, a value short"
    ),
    pytest.param(
        imb.read,
        line(printed.IMB, 15, "#bytes #repetitions t[msec] Mbytes/sec"),
        15,
        "usec",
        id="IMB, a new column",
    ),
    pytest.param(
        imb.read, line(printed.IMB_UNIBAND, 1, ""), 7, "VERSION", id="IMB, a unit not known"
    ),
    pytest.param(hpcg.read, "hello\n", 1, "HPCG-Benchmark", id="not HPCG"),
    pytest.param(hpcg.read, printed.HPCG.partition("GB/s")[0], 19, "truncated", id="HPCG, cut"),
    pytest.param(
        hpcg.read, printed.HPCG.replace("Total=60", "Total=x"), 19, "a number", id="HPCG, no number"
    ),
    pytest.param(reframe.read, printed.reframe_report()[:200], 12, "run report", id="ReFrame, cut"),
    pytest.param(reframe.read, "[1]", 1, "session_info", id="not ReFrame"),
    pytest.param(
        reframe.read,
        printed.reframe_report(perfvalues={"a:b:c": []}),
        1,
        "value",
        id="ReFrame, no value",
    ),
    pytest.param(
        reframe.read,
        printed.reframe_report(time_run=None, perfvalues={}),
        1,
        "time_run",
        id="ReFrame, no time",
    ),
]


@pytest.mark.parametrize(("reader", "text", "number", "expected"), WRONG)
def test_a_malformed_file_is_refused_with_line_and_expectation(
    reader: Reader, text: str, number: int, expected: str
) -> None:
    with pytest.raises(UserError) as refused:
        raws(reader, text)

    (problem,) = refused.value.problems
    assert problem.where == f"file-1:{number}"
    assert problem.remedy.startswith("expected ")
    assert expected in problem.remedy


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["allreduce.txt"], "--ranks N"),
        (["allreduce.txt", "--ranks", "0"], "--ranks 0"),
        (["allreduce.txt", "--ranks", "2", "--nodes", "3"], "--nodes 3"),
        (["latency.txt", "--ranks", "3"], "--ranks is 3"),
        (["lacking.txt"], "lacking.txt"),
        (["."], "is a folder"),
    ],
)
def test_a_failed_import_leaves_no_folder(
    words: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("allreduce.txt").write_text(printed.OSU_ALLREDUCE_FULL)
    Path("latency.txt").write_text(printed.OSU_LATENCY_5)

    assert main(["import", "osu", *words, "-o", "out"]) == 2
    assert expected in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_second_import_adds_launches_and_refuses_the_same_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text(printed.OSU_LATENCY_5)
    second.write_text(printed.OSU_LATENCY_5.replace("0.47", "0.48"))
    out = str(tmp_path / "out")

    assert main(["import", "osu", str(first), "-o", out]) == 0
    assert main(["import", "osu", str(second), "-o", out]) == 0
    assert main(["import", "osu", str(first), "-o", out]) == 2
    (case,) = open_folder(Path(out)).cases
    assert [record.launch for record in case.launches] == [0, 1]


@pytest.mark.parametrize("tool", ["osu", "imb"])
@pytest.mark.parametrize("mode", ["osu", "stream", "bistream"])
def test_haloscope_output_in_other_formats_can_be_imported(tool: str, mode: str) -> None:
    ours = Record.of(pingpong(sizes=[1, 8, 1024], mode=mode))
    for point in ours.points:
        point["result"] |= {"latency_s": point["result"]["latency_s"] if mode == "osu" else None}
    text = "\n".join(PRINTERS[tool](ours)) + "\n"
    reader = {"osu": osu.read, "imb": imb.read}[tool]
    head = "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n" if tool == "imb" else ""
    (run,) = reader(Output("ours", head + text))

    assert [row.size_bytes for row in run.rows] == [1, 8, 1024]
    for row, point in zip(run.rows, ours.points, strict=True):
        if mode == "osu":
            assert row.time_s == pytest.approx(point["result"]["latency_s"], abs=0.01e-6)
        else:
            speed = point["result"]["bandwidth_bytes_per_s"]
            assert row.results["bandwidth_bytes_per_s"] == pytest.approx(speed, abs=1e4)


def test_imported_cases_are_listed_with_native_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = [0, 1, 2, 4, 8]
    ours = [pingpong(launch=k, mode="osu", sizes=sizes) for k in range(6)]
    folder = write_folder(tmp_path / "ours", ours)
    texts = [printed.OSU_LATENCY_5 + k * "\n" for k in range(6)]
    imported(tmp_path, "osu", *texts)
    theirs = tmp_path / "imported"

    assert main(["show", str(theirs), "pingpong"]) == 0
    assert "470 ns" in capsys.readouterr().out
    table = tmp_path / "compared.csv"
    compared = ["compare", str(theirs), str(folder), "--csv", str(table)]
    assert main(compared) in (0, 1, 3)
    assert len(table.read_text().splitlines()) == 1 + len(sizes)
    assert EXPLAINED[Caveat.IMPORTED].remedy in " ".join(capsys.readouterr().out.split())
    assert main(["report", str(theirs), "--format", "html"]) == 0
    assert set(haloscope.load(theirs)["runner"]) == {"import"}


def test_compare_does_not_suggest_more_launches_of_imported_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        imported(tmp_path / name, "osu", printed.OSU_LATENCY_5)
    capsys.readouterr()

    assert main(["compare", *(str(tmp_path / name / "imported") for name in "ab")]) == 3

    output = capsys.readouterr().out
    assert EXPLAINED[Caveat.TOO_FEW].text in " ".join(output.split())
    assert "--launches" not in output and "--resume" not in output


def test_imported_cases_cannot_be_launched_again(tmp_path: Path) -> None:
    """Neither a case of one launch nor a launch that failed."""
    imported(tmp_path, "osu", printed.OSU_LATENCY_5)
    theirs = compose(tmp_path / "imported")
    ours = compose(
        write_folder(tmp_path / "ours", [pingpong(), bad(poisson(64), "failed", "killed")])
    )

    def remedies(report: Document) -> set[str]:
        texts = [*report.legend, *map(report.said, report.warnings)]
        return {words for words in ("--launches", "--resume") if words in " ".join(texts)}

    assert remedies(ours) == {"--launches", "--resume"}
    assert remedies(replace(ours, imported=True)) == remedies(theirs) == set()
