# SPDX-License-Identifier: BSD-3-Clause
"""`python -m haloscope` is the command line."""

import sys

from haloscope.cli import main
from haloscope.host import scratch

scratch.settle()  # of this process alone: who calls `main` keeps folders of their own
sys.exit(main())
