# SPDX-License-Identifier: BSD-3-Clause
"""Start ranks with an MPI library: jobs, launchers, and the settings of a launch."""
