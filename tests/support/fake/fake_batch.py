#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PBS, LSF and Flux in a folder, for tests: their commands, by the name that this is called by.

What a real one refuses is refused here: options that it has not, jobs that it does not know. Jobs
run on this machine, one after the other as they depend on each other. FAKE_BATCH is the folder; in
it, `away` has commands answer as if the server were down, and `deaf` has one job taken without an
answer. Nothing outside that folder is known: a job's variables are those of its batch system alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

FOLDER = Path(os.environ["FAKE_BATCH"])
HOST = os.uname().nodename
DIRECTIVES = {"qsub": "#PBS", "bsub": "#BSUB", "flux": "#FLUX:"}
Known = dict[str, Any]


def options(command: str) -> argparse.ArgumentParser:
    """The options that a command that submits has, of those that a script can ask for."""
    parser = argparse.ArgumentParser(prog=command, allow_abbrev=False)
    add = parser.add_argument
    if command == "qsub":
        for name in ("-N", "-q", "-A", "-W", "-r", "-o", "-e"):
            add(name)
        add("-l", action="append", default=[])
    elif command == "bsub":
        for name in ("-J", "-q", "-P", "-U", "-R", "-w", "-o", "-e"):
            add(name)
        add("-n", type=int)
        add("-W", type=int)
        for name in ("-x", "-ti", "-rn"):
            add(name, action="store_true")
    else:
        for name in ("job-name", "queue", "bank", "requires", "time-limit", "output", "error"):
            add(f"--{name}")
        add("--nodes", type=int)
        add("--nslots", type=int)
        add("--exclusive", action="store_true")
        add("--dependency", action="append", default=[])
    return parser


def asked(command: str, script: str) -> Known:
    """The job that a script requests."""
    words = []
    for line in script.splitlines()[1:]:
        if not line.startswith("#"):
            break
        if line.startswith(DIRECTIVES[command]):
            words += shlex.split(line.removeprefix(DIRECTIVES[command]))
    given = options(command).parse_args(words)
    if command == "qsub":
        (select,) = (one for one in given.l if one.startswith("select="))
        assert "place=scatter:exclhost" in given.l and given.r == "n"
        nodes, cpus = re.fullmatch(r"select=(\d+):ncpus=(\d+):mpiprocs=\2", select).groups()  # type: ignore[union-attr]
        after = re.findall(r"(after\w+):([^,]+)", (given.W or "").removeprefix("depend="))
        return {
            "name": given.N,
            "queue": given.q,
            "nodes": int(nodes),
            "slots": int(cpus),
            "after": after,
        }
    if command == "bsub":
        slots = int(re.fullmatch(r"span\[ptile=(\d+)\]", given.R)[1])  # type: ignore[index]
        assert given.x and given.rn and given.ti == bool(given.w)
        kinds = {"done": "afterok", "ended": "afterany"}
        after = [(kinds[kind], job) for kind, job in re.findall(r"(\w+)\((\d+)\)", given.w or "")]
        return {
            "name": given.J,
            "queue": given.q,
            "nodes": given.n // slots,
            "slots": slots,
            "after": after,
        }
    after = [tuple(one.split(":")) for one in given.dependency]
    return {
        "name": given.job_name,
        "queue": given.queue,
        "nodes": given.nodes,
        "slots": 1,
        "after": after,
    }


def read(job: str) -> Known:
    known: Known = json.loads((FOLDER / f"{job.partition('.')[0]}.json").read_text())
    return known


def put(name: str, text: str) -> None:
    """A file that is there with all of its text, whoever else writes or reads it just then."""
    draft = FOLDER / f"{name}.{os.getpid()}.new"
    draft.write_text(text)
    draft.rename(FOLDER / name)


def write(known: Known) -> None:
    put(f"{known['number']}.json", json.dumps(known))


def every() -> list[Known]:
    return [json.loads(path.read_text()) for path in sorted(FOLDER.glob("[0-9]*.json"))]


def refuse(said: str, code: int = 1) -> NoReturn:
    print(said, file=sys.stderr)
    sys.exit(code)


def take(command: str, script: str) -> str:
    """A job taken; its number. It begins by itself."""
    known = asked(command, script)
    if known["queue"] != "short":
        refuse(f"{command}: Unknown queue {known['queue']}")
    number = str(len(every()) + 100)
    (FOLDER / f"{number}.sh").write_text(script)
    write({**known, "number": number, "system": command, "state": "waiting", "status": None})
    program = [sys.executable, __file__, number]
    life = subprocess.Popen(
        program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, env={**os.environ, "FAKE_BATCH_RUN": "1"},
    )  # fmt: skip
    put(f"life{number}.pid", str(life.pid))
    if (FOLDER / "deaf").exists():
        (FOLDER / "deaf").unlink()
        refuse("Connection timed out")
    return number


def run(number: str) -> None:
    """A job's life: it waits for others, runs, and ends."""
    for kind, other in read(number)["after"]:
        while (before := read(other))["state"] != "ended":
            time.sleep(0.05)
        if kind == "afterok" and before["status"] != 0:
            write({**read(number), "state": "ended", "status": 271})
    while (FOLDER / "hold").exists() and read(number)["state"] == "waiting":
        time.sleep(0.05)
    known = read(number)
    if known["state"] == "ended":
        return
    hosts = FOLDER / f"{number}.hosts"
    there = int((FOLDER / "nodes").read_text()) if (FOLDER / "nodes").exists() else known["nodes"]
    names = [HOST, *(f"other{index}" for index in range(1, there))]
    hosts.write_text("".join(f"{name}\n" for name in names for _ in range(known["slots"])))
    env = {
        key: os.environ[key]
        for key in ("PATH", "HOME", "FAKE_BATCH", "TMPDIR")
        if key in os.environ
    }
    env |= {
        "qsub": {"PBS_JOBID": f"{number}.fake", "PBS_NODEFILE": str(hosts), "PBS_QUEUE": "short"},
        "bsub": {"LSB_JOBID": number, "LSB_DJOB_HOSTFILE": str(hosts), "LSB_QUEUE": "short"},
        "flux": {"FAKE_FLUX_JOB": number, "FAKE_FLUX_HOSTS": str(hosts)},
    }[known["system"]]
    script = ["/bin/bash", str(FOLDER / f"{number}.sh")]
    done = subprocess.Popen(script, env=env, start_new_session=True)
    put(f"{number}.pid", str(done.pid))
    write({**known, "state": "running", "pid": done.pid})
    code = done.wait()
    if (now := read(number))["state"] == "running":
        write({**now, "state": "ended", "status": code if code >= 0 else 256 - code})


def cancel(job: str, over: str) -> None:
    known = read(job)
    if known["state"] == "ended":
        refuse(over)
    write({**known, "state": "ended", "status": 271, "cancelled": True})
    if "pid" in known:
        with suppress(ProcessLookupError):
            os.killpg(known["pid"], signal.SIGKILL)


def qstat(known: Known) -> Known:
    letter = {"waiting": "Q", "running": "R", "ended": "F"}[known["state"]]
    said: Known = {"Job_Name": known["name"], "job_state": letter, "run_count": 1}
    if letter == "Q":
        said["comment"] = "Not Running: Insufficient amount of resource: ncpus"
    if letter != "Q":
        said["exec_host"] = "+".join(f"{HOST}/{index}*4" for index in range(known["nodes"]))
    if letter == "F":
        said["Exit_status"] = known["status"]
    return said


def pbs(command: str, words: list[str]) -> None:
    if command == "qsub":
        (script,) = words
        print(f"{take(command, Path(script).read_text())}.fake")
    elif command == "qselect":
        assert words[:2] == ["-x", "-u"] and words[3] == "-N"
        print(*(f"{one['number']}.fake" for one in every() if one["name"] == words[4]), sep="\n")
    elif command == "qdel":
        (job,) = words
        cancel(job, f"qdel: Job has finished {job}")
    elif words[0] == "-Q":
        if words[1] != "short":
            refuse(f"qstat: Unknown queue {words[1]}", 170)
    else:
        assert words[:4] == ["-x", "-f", "-F", "json"]
        (job,) = words[4:]
        try:
            print(json.dumps({"pbs_version": "20", "Jobs": {job: qstat(read(job))}}))
        except FileNotFoundError:
            refuse(f"qstat: Unknown Job Id {job}", 153)


def bjobs(known: Known) -> Known:
    state = {"waiting": "PEND", "running": "RUN"}.get(known["state"]) or (
        "DONE" if known["status"] == 0 else "EXIT"
    )
    why = "TERM_OWNER: job killed by owner" if known.get("cancelled") else ""
    return {
        "JOBID": known["number"], "STAT": state, "JOB_NAME": known["name"], "PEND_REASON": "",
        "EXIT_REASON": why, "EXEC_HOST": f"{known['slots']}*{HOST}" if state != "PEND" else "",
        "START_TIME": "",
    }  # fmt: skip


def lsf(command: str, words: list[str]) -> None:
    if command == "bsub":
        assert not words
        print(f"Job <{take(command, sys.stdin.read())}> is submitted to queue <short>.")
    elif command == "bkill":
        (job,) = words
        cancel(job, f"Job <{job}>: Job has already finished")
        print(f"Job <{job}> is being terminated")
    elif command == "bqueues":
        if words != ["short"]:
            refuse(f"{words[0]}: No such queue", 255)
    elif "-J" in words:
        if not (found := [one["number"] for one in every() if one["name"] == words[-1]]):
            refuse(f"Job <{words[-1]}> is not found", 255)
        print(*found)
    else:
        records = [bjobs(one) for one in every() if one["number"] == words[-1]]
        lost = [{"JOBID": words[-1], "ERROR": f"Job <{words[-1]}> is not found"}]
        print(json.dumps({"COMMAND": "bjobs", "JOBS": 1, "RECORDS": records or lost}))


def flux(words: list[str]) -> None:  # noqa: C901
    match words:
        case ["batch", script]:
            print(f"f{int(take('flux', Path(script).read_text())):x}")
        case ["job", "id", "--to=dec", job]:
            print(int(job.removeprefix("f"), 16))
        case ["getattr", "jobid"] if "FAKE_FLUX_JOB" in os.environ:
            print(f"f{int(os.environ['FAKE_FLUX_JOB']):x}")
        case ["getattr", "hostlist"]:
            print(",".join(dict.fromkeys(Path(os.environ["FAKE_FLUX_HOSTS"]).read_text().split())))
        case ["cancel", job]:
            cancel(job, f"flux-cancel: ERROR: {job}: job is inactive")
        case ["queue", "status", name]:
            if name != "short":
                refuse(f"flux-queue: ERROR: {name}: unknown queue")
        case ["jobs", "-a", "--no-header", name, "--format={id.dec}"]:
            own = name.removeprefix("--name=")
            print(*(one["number"] for one in every() if one["name"] == own), sep="\n")
        case [
            "jobs",
            "-a",
            "--no-header",
            "--format={id.dec}|{name}|{state}|{result}|{nodelist}",
            job,
        ]:
            if not (FOLDER / f"{job}.json").exists():
                refuse(f"flux-jobs: ERROR: JobID {job} unknown")
            one = read(job)
            state = {"waiting": "SCHED", "running": "RUN", "ended": "INACTIVE"}[one["state"]]
            result = "COMPLETED" if one["status"] == 0 else "FAILED"
            result = "CANCELED" if one.get("cancelled") else result
            print(job, one["name"], state, result if state == "INACTIVE" else "", HOST, sep="|")
        case _:
            refuse(f"flux: unknown: {words}")


def main(command: str, words: list[str]) -> None:
    if "FAKE_BATCH_RUN" in os.environ:
        run(words[0])
    elif (FOLDER / "away").exists():
        refuse("Connection refused")
    elif command == "flux":
        flux(words)
    elif command.startswith("b"):
        lsf(command, words)
    else:
        pbs(command, words)


if __name__ == "__main__":
    main(Path(sys.argv[0]).name, sys.argv[1:])
