# SPDX-License-Identifier: BSD-3-Clause
"""Checks of cluster files: contradictions and doubtful values."""
