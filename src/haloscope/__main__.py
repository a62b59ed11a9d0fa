"""`python -m haloscope` is the command line."""

import sys

from haloscope.cli import main

sys.exit(main())
