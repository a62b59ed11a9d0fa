# SPDX-License-Identifier: BSD-3-Clause
"""Batch jobs of a result folder: submitted, followed, and driven from inside."""
