# SPDX-License-Identifier: BSD-3-Clause
"""Findings as values, the closed list of caveats, and the renderer of sentences."""
