# SPDX-License-Identifier: BSD-3-Clause
"""What can't be true in a cluster file, and what is doubtful."""
