"""For every test: Ctrl-C interrupts, as in a terminal. Background jobs start with it ignored."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
