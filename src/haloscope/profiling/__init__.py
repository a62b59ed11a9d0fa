# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks of any MPI program, counted by a preloaded library."""
