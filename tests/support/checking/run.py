# SPDX-License-Identifier: BSD-3-Clause
"""Running the commands of steps, each with a log; interrupting them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Timer
from typing import TextIO

from checking.outcome import left_out, second_tries, skips
from checking.step import FAILED, SKIPPED, WELL, Ended, Step
from checking.tools import NotProvidedError

LONGEST_S = 3600
"""LONGEST_S is when a command is killed: it waits for ever."""
NO_TESTS = 5
"""NO_TESTS is pytest's exit code where it selected none."""
SHOWN = 6000
"""SHOWN is how many characters of a failed step's log are printed."""


@dataclass
class Runner:
    """Runs steps in a folder. logs: where theirs go. strict: a skipped step is a failed one.

    running: the commands that run, each the leader of a session: a terminal's Ctrl-C does not
    reach them. stopped: the signals that the check was sent.
    """

    root: Path
    logs: Path
    environment: Mapping[str, str]
    strict: bool = False
    running: set[int] = field(default_factory=set)
    stopped: list[int] = field(default_factory=list)

    def stop(self, number: int, _: object = None) -> None:
        """Interrupt the commands, which tidy up, and begin none; the second time kill them."""
        self.stopped.append(number)
        for group in [*self.running]:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL if len(self.stopped) > 1 else signal.SIGINT)

    def report(self, step: Step) -> Ended:
        """Run a step, and print how it ended as soon as it has, in one piece."""
        ended = self.run(step)
        if ended.outcome == SKIPPED and self.strict:
            ended = replace(ended, outcome=FAILED)
        times = f"{ended.seconds:7.1f} s{ended.processor:7.1f} s"
        print(f"{ended.outcome:8}{step.name:46}{times}  {ended.why}", flush=True)
        return ended

    def run(self, step: Step) -> Ended:
        """Run a step; the end of a failed one's log is printed."""
        start = time.monotonic()
        log = self.logs / f"{re.sub('[:,]', '', step.name).replace(' ', '-')}.log"
        code, processor = 0, 0.0
        with log.open("w") as file:
            try:
                if reason := step.skip():
                    number = self.tests_of(step) if step.tests else 0
                    elapsed = time.monotonic() - start
                    return Ended(step, SKIPPED, reason, elapsed, skipped={reason: number})
                for command in step.commands():
                    if self.stopped:
                        break
                    file.write(f"$ {_shortened(' '.join(command))}\n")
                    file.flush()
                    code, used = self.call(step, command, file)
                    processor += used
                    if code != 0:
                        break
            except (OSError, NotProvidedError) as error:
                file.write(f"{error}\n")
                code = 1
        text = log.read_text(errors="replace")
        outcome, why, skipped = WELL, left_out(text), {}
        if self.stopped:
            outcome, why = FAILED, "interrupted"
        elif code == NO_TESTS and step.tests:
            why = "no test of it was reached"
        elif code != 0:
            print(text[-SHOWN:])
            remedy = f"; remedy: {step.remedy}" if step.remedy else ""
            outcome, why = FAILED, f"exit code {code}; all of it: {log}{remedy}"
        elif skipped := skips(text):
            outcome, why = SKIPPED, f"in part; {why}" if why else "in part"
        again = second_tries(text)
        return Ended(step, outcome, why, time.monotonic() - start, processor, skipped, again)

    def call(self, step: Step, command: Sequence[str], log: TextIO) -> tuple[int, float]:
        """Return a command's exit code and processor seconds. It ends where the check does."""
        idle = ["chrt", "--idle", "0"] if step.gives_way and shutil.which("chrt") else []
        nice = [] if step.waits else [*idle, "nice", "-n", str(step.niceness)]
        process = subprocess.Popen(
            [*nice, *command], cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.running.add(process.pid)
        if self.stopped:  # between its start and the line above
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
        with suppress(OSError):  # Linux may give each session the same share, whatever its nice is
            Path(f"/proc/{process.pid}/autogroup").write_text(str(step.niceness))
        limit = Timer(LONGEST_S, os.killpg, (process.pid, signal.SIGKILL))
        limit.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        finally:
            limit.cancel()
            self.running.discard(process.pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, used.ru_utime + used.ru_stime

    def tests_of(self, step: Step) -> int:
        """How many tests a step of pytest has."""
        command = ["pytest", "-q", "--collect-only", *step.tests]
        done = subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        found = re.search(r"^(\d+)(?:/\d+)? tests? collected", done.stdout, re.M)
        return int(found[1]) if found else 0


def _shortened(text: str) -> str:
    """A command's words, without the end of a long list of files."""
    return text if len(text) < 300 else f"{text[:300]} ..."
