# SPDX-License-Identifier: BSD-3-Clause
"""External programs as kernels: what a program.toml may say, and what a program's words mean."""
