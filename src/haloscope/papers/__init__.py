# SPDX-License-Identifier: BSD-3-Clause
"""Published tables: papers as CSV files, described and validated by paper.toml."""
