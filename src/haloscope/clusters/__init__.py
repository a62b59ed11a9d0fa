# SPDX-License-Identifier: BSD-3-Clause
"""Clusters as data: their files, checks for contradictions, and conversion for SimGrid."""
