# SPDX-License-Identifier: BSD-3-Clause
"""Commands on result folders: reports, tables, comparisons, and files of other programs."""
