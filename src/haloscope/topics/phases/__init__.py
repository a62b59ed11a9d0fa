# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a step goes: phases, sections, stragglers, timelines."""
