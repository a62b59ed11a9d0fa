# SPDX-License-Identifier: BSD-3-Clause
"""Who sends how much to whom in any MPI program: counted by a library that is loaded before it."""
