# SPDX-License-Identifier: BSD-3-Clause
"""A finding as a value, the closed list of caveats, and the one place that writes sentences."""
