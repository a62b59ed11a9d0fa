# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of topics: tables, figures, and notes as values, and construction of findings."""
