# SPDX-License-Identifier: BSD-3-Clause
"""Ways to do the same, set against each other: exchanges, overlaps, operators, bindings."""
