# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of cluster files for SimGrid."""
