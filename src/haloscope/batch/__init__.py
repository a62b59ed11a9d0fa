# SPDX-License-Identifier: BSD-3-Clause
"""Batch systems: sites and jobs as they report them, job scripts, submission."""
