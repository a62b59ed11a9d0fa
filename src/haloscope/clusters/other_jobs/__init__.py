# SPDX-License-Identifier: BSD-3-Clause
"""Other jobs on a simulated cluster."""
