# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether the cases of a study can run in a place, and whether its tables can
have content.
"""
