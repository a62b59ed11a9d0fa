# SPDX-License-Identifier: BSD-3-Clause
"""Memory bandwidth: of STREAM loops, and its use by the solver."""
