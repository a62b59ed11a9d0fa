# SPDX-License-Identifier: BSD-3-Clause
"""Run the command line with `python -m haloscope`."""

import sys

from haloscope.cli import main
from haloscope.host import scratch

scratch.settle()  # only for this process: callers of `main` keep their own folders
sys.exit(main())
