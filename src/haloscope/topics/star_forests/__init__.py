# SPDX-License-Identifier: BSD-3-Clause
"""Star forests: latencies, grids, split phases, and launches on a device."""
