# SPDX-License-Identifier: BSD-3-Clause
"""What cases need before they run: libraries, programs, matrices, and probes."""
