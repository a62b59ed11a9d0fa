# SPDX-License-Identifier: BSD-3-Clause
"""Places: this machine, clusters with a batch system, and simulated clusters."""
