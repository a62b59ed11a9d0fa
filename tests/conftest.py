# SPDX-License-Identifier: BSD-3-Clause
"""For every test: Ctrl-C interrupts, as in a terminal, and what is printed is as wide as anywhere.

Background jobs start with Ctrl-C ignored, and a shell may tell how wide and colourful its own
terminal is.
"""

import os
import signal

pytest_plugins = ["disks", "laboratory", "lab_up", "simulated_build"]

signal.signal(signal.SIGINT, signal.default_int_handler)
for of_a_terminal in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"):
    os.environ.pop(of_a_terminal, None)
