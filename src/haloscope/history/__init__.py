# SPDX-License-Identifier: BSD-3-Clause
"""Result folders over time: an index of their launches, series of cases, and changes."""
