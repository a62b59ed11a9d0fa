# SPDX-License-Identifier: BSD-3-Clause
"""Batch systems: what they say of a site and of jobs, job scripts, submission."""
