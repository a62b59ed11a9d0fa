#!/usr/bin/env -S python3 -I -S
# SPDX-License-Identifier: BSD-3-Clause
"""A halobench without MPI: one kernel, whose parameter `fault` selects a failure.

It is started many times: what it imports is what the tests take.
"""
# ruff: noqa: PTH123, SIM115

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

DEFAULTS: dict[str, Any] = {
    "n": 8,
    "fault": "none",
    "flag": "false",
    "repetitions": 2,
    "warmup": 0,
    "steps": 1,
}


def parsed(arguments: list[str]) -> dict[str, str]:
    return dict(argument.split("=", 1) for argument in arguments)


def resolved(given: dict[str, str]) -> dict[str, Any]:
    params = {**DEFAULTS, **given}
    return {**params, "n": int(params["n"]) if str(params["n"]).isdigit() else params["n"]}


def plan(given: dict[str, str], ranks: int) -> dict[str, Any]:
    params = resolved(given)
    problems = []
    if not isinstance(params["n"], int) or params["n"] < 1:
        problems.append({"key": "n", "value": str(params["n"]), "message": "give 1 or more"})
    elif ranks > params["n"]:
        what = f"n is {params['n']}: give no more ranks than rows"
        problems.append({"key": "ranks", "value": str(ranks), "message": what})
    memory = 8 * params["n"] ** 2 if isinstance(params["n"], int) else 0
    held = {"memory_bytes": memory, "device_bytes": 0}
    return {"params": params, **held, "problems": problems, "absent": None}


def seen(ranks: int, threads: int, fault: str) -> list[dict[str, Any]]:
    def cpus(rank: int, thread: int) -> list[int]:
        return [0] if fault == "misplaced" else [rank * threads + thread]

    return [
        {
            "rank": rank,
            "host": "here",
            "cpus": sorted({cpu for thread in range(threads) for cpu in cpus(rank, thread)}),
            "thread_cpus": [cpus(rank, thread) for thread in range(threads)],
        }
        for rank in range(ranks)
    ]


def record(params: dict[str, Any], fault: str) -> dict[str, Any]:
    ranks, threads = int(os.environ["FAKE_RANKS"]), int(os.environ["FAKE_THREADS"])
    return {
        "schema": 1,
        "kernel": "fake",
        "params": params,
        "clock": "wall",
        "outcome": "wrong" if fault == "wrong" else "ok",
        "reason": "the error is 0.5, allowed are 0.1" if fault == "wrong" else None,
        "times_s": [0.25, 0.5],
        "steps": 1,
        "warmup": 0,
        "synchronisation": "barrier",
        "points": [],
        "phases": [],
        "result": {"answer": 42},
        "work": {"bytes": 64, "flops": 8, "messages": 0},
        "memory": {"predicted_bytes": 512, "allocated_bytes": 512, "rss_bytes": 1, "peak_bytes": 1},
        "timer": {"function": "MPI_Wtime", "resolution_s": 1e-9, "cost_s": 2e-8},
        "layout": {"seen": seen(ranks, threads, fault)},
        "toolchain": {"mpi": "Fake MPI 1.0", "compiler": "none", "flags": "-O0"},
    }


def run(out: str, arguments: list[str]) -> int:
    params = resolved(parsed(arguments))
    fault = params["fault"]
    if fault == "hang":
        time.sleep(600)
    if fault == "once" and not os.access(os.environ["FAKE_MARK"], os.F_OK):
        open(os.environ["FAKE_MARK"], "w").close()
        fault = "crash"
    if fault == "crash":
        sys.stderr.write("boom\n")
        os.kill(os.getpid(), 11)
    if fault == "refuse":
        sys.stderr.write("halobench: n=16: not today\n")
        return 2
    if fault == "silent":
        return 0
    text = json.dumps(record(params, fault))
    with open(out, "w") as file:
        file.write(text[: len(text) // 2] if fault == "cut" else text + "\n")
    return {"wrong": 1, "late": 3}.get(fault, 0)


def terminated(file: BinaryIO) -> Iterator[str]:
    """The words of a file, of which each is ended by a zero byte."""
    word = b""
    while byte := file.read(1):
        if byte == b"\0":
            yield word.decode()
            word = b""
        else:
            word += byte


def main(arguments: list[str]) -> int:
    if arguments[0] == "--list":
        print(json.dumps({"kernels": [{"name": "fake", "summary": "not a measurement"}]}))
        return 0
    if arguments[0] == "--describe":
        keys = ("minimum", "maximum", "unit")
        parameters = [
            {"name": name, "type": "integer", "default": value, "choices": [], "help": "a help"}
            | dict.fromkeys(keys)
            for name, value in DEFAULTS.items()
        ]
        described = {"name": "fake", "summary": "not a measurement", "paper": None}
        result = {"name": "answer", "type": "integer", "unit": "s", "absent": "null", "help": "it"}
        found = {"results": [result], "point_results": []}
        print(json.dumps({**described, "parameters": parameters, **found}))
        return 0
    if arguments[0] == "--plan":
        words: list[str] = []
        for word in terminated(sys.stdin.buffer):
            words.append(word)
            if not word:
                given = parsed(words[1:-1])
                given.pop("threads")
                given.pop("files", None)
                print(json.dumps(plan(given, int(given.pop("ranks")))), flush=True)
                words.clear()
        return 0
    assert arguments[0] == "--out" and arguments[2] == "fake"
    return run(arguments[1], arguments[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
