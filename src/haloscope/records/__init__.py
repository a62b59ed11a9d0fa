# SPDX-License-Identifier: BSD-3-Clause
"""Data on disk between running and reporting: records, and their folder."""
