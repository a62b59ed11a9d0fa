# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of other benchmarks: read into records, and records printed in their formats."""
