# SPDX-License-Identifier: BSD-3-Clause
"""External programs as kernels: the keys of program.toml, and interpretation of their output."""
