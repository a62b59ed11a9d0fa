# SPDX-License-Identifier: BSD-3-Clause
"""Time within a step: phases, sections, stragglers, timelines."""
