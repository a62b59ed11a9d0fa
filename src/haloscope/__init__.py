# SPDX-License-Identifier: BSD-3-Clause
"""haloscope: a laboratory for the communication performance of parallel (MPI) programs."""

__version__ = "0.1.0"
"""The version is stored here alone; asking the installed package's metadata takes as long as all
else that --help does."""
