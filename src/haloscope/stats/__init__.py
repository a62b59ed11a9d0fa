# SPDX-License-Identifier: BSD-3-Clause
"""Pure statistics: estimates with their spread, comparisons, and when to stop measuring."""
