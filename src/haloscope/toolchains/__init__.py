# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries: found, installed, built with, asked for a transport, and launched."""
