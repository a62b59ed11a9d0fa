# SPDX-License-Identifier: BSD-3-Clause
"""Reports: findings, tables, and figures as data, and their rendering."""
