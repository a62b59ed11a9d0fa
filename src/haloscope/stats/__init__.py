# SPDX-License-Identifier: BSD-3-Clause
"""Statistics: estimates with their spread, comparisons, and stopping rules."""
