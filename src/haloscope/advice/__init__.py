# SPDX-License-Identifier: BSD-3-Clause
"""Advice: which layout to request for a kernel, by measured or simulated candidates."""
