# SPDX-License-Identifier: BSD-3-Clause
"""Published tables: papers as CSV files, read and checked by what paper.toml says of them."""
