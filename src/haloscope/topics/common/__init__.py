# SPDX-License-Identifier: BSD-3-Clause
"""What topics share: tables, figures and notes as values, and what makes findings."""
