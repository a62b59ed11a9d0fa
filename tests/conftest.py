"""For every test: Ctrl-C interrupts, as in a terminal. Background jobs start with it ignored."""

import signal

pytest_plugins = ["disks", "laboratory", "lab_up", "simulated_build"]

signal.signal(signal.SIGINT, signal.default_int_handler)
