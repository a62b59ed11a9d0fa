# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries: detection, installation, builds, transports, and launchers."""
